"""Proofs that nothing satisfies the rows of a quadratic program, after Farkas."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from impinge import _check
from impinge.errors import InfeasibleError
from impinge.response.qp import _rows
from impinge.response.qp.program import Fixed, Floats, Program

_SMALL = 1e-12  # of the largest multiplier: less is none
_UNUSED = 1e-7  # likewise, in what linear programming finds
_LARGE = 20_000  # entries of rows beyond which a proof is left as it was found


def prove_infeasible(program: Program, fixed: Fixed, y: Floats) -> InfeasibleError:
    """The error for multipliers y of a reduced program with Jᵀy = 0 and cᵀy < 0."""
    y = np.where(program.free == 1, y, np.maximum(y, 0.0))
    y[np.abs(y) < _SMALL * np.abs(y).max()] = 0.0
    y[fixed.rows] = 0.0
    y = _shorter(program, fixed, y)
    fixed.complete(y, -program.from_rows(y))
    y /= np.abs(y).max()
    count = int(program.free.sum())
    rows, equalities = np.flatnonzero(y[count:]), np.flatnonzero(y[:count])
    parts = [f"{name} {list(map(int, some[:8]))}{' …' * (len(some) > 8)}"
             for name, some in (("rows of J", rows), ("rows of E", equalities)) if len(some)]  # fmt: skip
    message = f"no x satisfies all constraints: {' and '.join(parts)} contradict each other"
    return InfeasibleError(message, y[count:], y[:count])


def _shorter(program: Program, fixed: Fixed, y: Floats) -> Floats:
    """A proof with few of the rows of another, and Jᵀy = 0 to the last digits; the same if there is none to be found.

    What the solvers find is spread over all rows that are in each other's way. A vertex of { y ≥ 0, Jᵀy = 0, cᵀy = −1 }
    needs at most one row more than there are unknowns, and its equations have one solution.
    """
    used = np.flatnonzero(y)
    indptr, indices, values = program.rows
    if len(used) < 2 or int(np.diff(indptr)[used].sum()) > _LARGE:
        return y
    whole = sp.csr_array((values, indices, indptr), shape=(len(y), len(program.right)))
    rows, bounds = whole[used], program.bounds[used] - whole[used] @ fixed.x
    rows = rows[:, np.setdiff1d(np.unique(rows.indices), fixed.unknowns)]
    sizes = np.maximum(np.abs(rows).max(axis=1).toarray().ravel(), 1e-300)
    rows, bounds = sp.diags_array(1 / sizes) @ rows, bounds / sizes
    bounds = bounds / np.abs(bounds).max()
    is_equal = program.free[used] == 1
    equations, right = sp.vstack([rows.T, bounds[None, :]], format="csc"), np.append(np.zeros(rows.shape[1]), -1.0)
    limits = [(None, None) if free else (0.0, None) for free in is_equal]
    found = linprog(np.where(is_equal, 0.0, 1.0), A_eq=equations, b_eq=right, bounds=limits, method="highs-ds")
    if found.x is None:
        return y
    kept = np.flatnonzero(np.abs(found.x) > _UNUSED * np.abs(found.x).max(initial=0.0))
    sharp, *_ = np.linalg.lstsq(equations[:, kept].toarray(), right, rcond=None)
    shorter = np.zeros_like(y)
    shorter[used[kept]] = sharp / sizes[kept]
    is_sharper = _left(equations, sharp, kept) < _left(equations, y[used] * sizes)
    return shorter if is_sharper and (sharp[~is_equal[kept]] > 0.0).all() else y


def _left(equations: sp.csc_array, y: Floats, kept: NDArray[np.int64] | slice = slice(None)) -> float:
    """The largest of Jᵀy, by the terms that it is the sum of, if cᵀy is negative."""
    terms = equations[:, kept]
    total, size = terms @ y, np.abs(terms) @ np.abs(y)
    return float(np.abs(total[:-1]).max(initial=0.0) / size[:-1].max(initial=1e-300)) if total[-1] < 0 else np.inf


def check_empty_rows(program: Program, reduced: Program, fixed: Fixed, tol: float) -> NDArray[np.bool_]:
    """Which rows say nothing about the unknowns that are left; an error if one of them is wrong."""
    indptr, _, factors = reduced.rows
    empty = np.empty(len(reduced.bounds), np.bool_)
    _rows.find_empty(indptr, factors, empty)
    if empty.any():
        slack = np.where(reduced.free == 1, -np.abs(reduced.bounds), reduced.bounds)
        for row in np.flatnonzero(empty & (slack < 0.0)):
            if slack[row] < -tol * program.row_scale(fixed.x, int(row)):
                y = np.zeros(len(empty))
                y[row] = -np.sign(reduced.bounds[row])
                raise prove_infeasible(program, fixed, y)
        reduced.bounds = _check.frozen(np.where(empty, 0.0, reduced.bounds))
    return empty
