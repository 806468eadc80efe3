"""Programs solved for their unknowns, with a new factor for each guess of the active rows: where factors are cheap."""

from __future__ import annotations

import numpy as np

from impinge.errors import InputError
from impinge.response.qp import _banded, _points
from impinge.response.qp.program import Floats, Infeasible, Kinds, Program

_SOFTNESS = 1e-4  # of J diag(K)⁻¹ Jᵀ, which may be far below J K⁻¹ Jᵀ
_WIDEST = 24  # couplings of unknowns in a band


def is_banded(program: Program) -> bool:
    """Whether all unknowns are coupled with near ones only, in the order given."""
    width = _banded.bandwidth(program.indptr, program.indices, *program.rows[:2])
    return bool(width <= _WIDEST and 4 * width < len(program.right))


def solve_banded(program: Program, kind: Kinds, x: Floats, mu: Floats, tol: float) -> tuple[Floats, Floats, int] | None:
    """Point, multipliers and iterations, from a guess; nothing if rounding spoils it."""
    n, count = len(x), len(mu)
    soft = np.empty(count)
    _points.estimate_compliance(program.indptr, program.indices, program.values, *program.rows, soft)
    soft = np.where(kind < 0, 1.0, _SOFTNESS * soft)
    state = np.zeros(_points.FIELDS)
    state[_points.SOFTNESS], state[_points.LEFT] = _SOFTNESS, np.inf
    x, mu, y = x.copy(), mu.copy(), np.zeros(count)
    scratch = np.empty(count), y, np.zeros(count, np.bool_), np.empty(n)
    width = _banded.bandwidth(program.indptr, program.indices, *program.rows[:2])
    band = np.empty((n, width + 1))
    code, failed = _banded.solve_banded(program.arrays, kind, soft, state, tol, x, mu, *scratch, band)
    if code == _points.INFEASIBLE:
        raise Infeasible(y)
    if code == _points.DONE:
        return x, y, int(state[_points.STEPS])
    if failed >= 0 and state[_points.STEPS] == 0 and not y.any():
        raise InputError(f"K: found a matrix that is not positive definite (at unknown {failed})")
    return None
