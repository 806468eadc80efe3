"""Programs solved for their unknowns, with a new factor for each guess of the active rows: where factors are cheap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from impinge.errors import InputError
from impinge.response.qp import _banded, _points
from impinge.response.qp.program import Floats, Infeasible, Kinds, Program
from impinge.sparse.cholesky import Cholesky, Structure

# Softness at first, of J diag(K)⁻¹ Jᵀ, which may be far below J K⁻¹ Jᵀ. Firm rows of a band are found out in few steps;
# of thousands of bounds on unknowns that are all coupled, each step frees or catches a few, unless they are soft.
_SOFTNESS, _BANDED_SOFTNESS = 0.1, 1e-4
_LONG, _IDLE = 20, 5  # steps in a round after which it is watched; those of them that may change nothing
_WIDEST = 24  # couplings of unknowns in a band


def is_banded(program: Program) -> bool:
    """Whether all unknowns are coupled with near ones only, in the order given."""
    return program.bandwidth <= _WIDEST and 4 * program.bandwidth < len(program.right)


def check_definite(program: Program, known: Structure | None) -> Cholesky | None:
    """Raise an error if K is not positive definite; else its factor, or nothing if it is banded.

    Rows may make up for what K lacks, so that no solver notices.

    known : a structure that is used if it is of the same pattern
    """
    factor = None
    if is_banded(program):
        failed = _banded.factorise(program.band.copy())
    else:
        if known is None or not _is_of(known, program):
            # Copies: the arrays belong to the user, who may change them before the structure is used again.
            known = Structure(program.indptr.copy(), program.indices.copy())
        factor = Cholesky(known)
        failed = factor.factorise(program.values)
    if failed >= 0:
        raise InputError(f"K: found a matrix that is not positive definite (at unknown {failed})")
    return factor


def _is_of(structure: Structure, program: Program) -> bool:
    """Whether a structure is of the pattern of K."""
    pairs = (structure.indptr, program.indptr), (structure.indices, program.indices)
    return all(np.array_equal(one, other) for one, other in pairs)


class _Newton:
    """The state of Newton's method, as the kernels want it."""

    def __init__(self, program: Program, kind: Kinds, x: Floats, mu: Floats, tol: float, softness: float) -> None:
        soft = np.empty(len(mu))
        _points.estimate_compliance(program.roots, *program.rows, soft)
        self.soft = np.where(kind < 0, 1.0, softness * soft)
        self.state = np.zeros(_points.FIELDS)
        self.state[_points.SOFTNESS], self.state[_points.LEFT] = softness, np.inf
        self.x, self.y, self.active, self.rest = x.copy(), np.zeros(len(mu)), np.zeros(len(mu), np.bool_), x.copy()
        self.setting = program.arrays, kind, self.soft
        self.control = self.state, tol
        self.arrays = self.x, mu.copy(), np.empty(len(mu)), self.y, self.active, self.rest

    def watch(self) -> Iterator[bool]:
        """After each step, whether rounding alone is left: forces are balanced, and still other rows are active each
        time. That is so where all of many rows go through the answer and it is next to 0, as no row has a size then.
        """
        first, idle, rounds = 0, 0, 0.0
        while True:
            if self.state[_points.ROUNDS] != rounds:
                first, idle, rounds = int(self.state[_points.STEPS]), 0, float(self.state[_points.ROUNDS])
            elif self.state[_points.STEPS] > first + _LONG:
                idle += _points.measure(self.setting[0], self.setting[1], self.x, self.y)[0] == 0.0
            yield idle > _IDLE

    def result(self, code: int) -> tuple[Floats, Floats, int] | None:
        """Point, multipliers and iterations; nothing if rounding has spoiled it."""
        if code == _points.INFEASIBLE:
            raise Infeasible(self.y)
        return (self.x, self.y, int(self.state[_points.STEPS])) if code == _points.DONE else None


def solve_banded(program: Program, kind: Kinds, x: Floats, mu: Floats, tol: float) -> tuple[Floats, Floats, int] | None:
    """Point, multipliers and iterations, from a guess; nothing if rounding spoils it."""
    newton = _Newton(program, kind, x, mu, tol, _BANDED_SOFTNESS)
    plain = program.band
    code = _banded.solve_banded(*newton.setting, *newton.control, *newton.arrays, plain, np.empty_like(plain))
    return newton.result(code)


def solve_points(program: Program, kind: Kinds, x: Floats, mu: Floats, tol: float) -> tuple[Floats, Floats, int] | None:
    """The same for any couplings; K need not be positive definite if the active rows make up for it."""
    newton = _Newton(program, kind, x, mu, tol, _SOFTNESS)
    factor = Cholesky(Structure(program.indptr, program.indices, rows=program.rows[:2]))
    _points.begin(*newton.setting, *newton.arrays)
    code, is_idle = _points.FACTORISE, newton.watch()
    while code in (_points.SOLVE, _points.FACTORISE):
        if code == _points.FACTORISE:
            weights = np.where(newton.active, 1.0 / newton.soft, 0.0)
            if factor.factorise(program.values, program.rows[2], weights) >= 0:
                return None
        code = _points.advance(*newton.setting, *newton.control, *newton.arrays, factor.solve(newton.rest))
        if next(is_idle):
            return None
    return newton.result(code)
