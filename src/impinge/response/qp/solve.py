"""The quadratic program: minimise ½ xᵀKx − bᵀx subject to Jx ≤ c, Ex = e."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import ConvergenceError, InputError
from impinge.response.qp.interior import solve_interior
from impinge.response.qp.objective import accurate_objective
from impinge.response.qp.points import check_definite, is_banded, solve_banded, solve_points
from impinge.response.qp.program import Fixed, Floats, Infeasible, Kinds, Program, is_finite, read_program
from impinge.response.qp.proof import check_empty_rows, prove_infeasible
from impinge.response.qp.rounds import Rounds
from impinge.response.qp.solution import QPSolution
from impinge.sparse.cholesky import Cholesky, Structure

_MANY = 0.5  # rows that matter for each unknown, from which on G = J K⁻¹ Jᵀ is larger than K


def solve_qp(
    K: Any,
    b: Any,
    J: Any = None,
    c: Any = None,
    *,
    E: Any = None,
    e: Any = None,
    warm: QPSolution | None = None,
    tol: float = 1e-9,
) -> QPSolution:
    """Minimise ½ xᵀKx − bᵀx subject to Jx ≤ c and Ex = e.

    Parameters
    ----------
    K : (n, n) sparse or dense
        Symmetric and positive definite.
    b : (n,)
    J, c : (m, n) sparse or dense, (m,); optional
        Inequalities, in any number, also dependent on each other; c may be inf.
    E, e : (p, n) sparse or dense, (p,); optional
        Equalities; those of a single unknown are satisfied exactly.
    warm : QPSolution, optional
        The solution of a problem of the same shape, to start from; the nearer, the faster. The answer is the same up to
        `tol`. If K has entries at the same places, its order of elimination is used again.
    tol : float
        Largest residual of the solution (`QPSolution.residuals`).

    Raises
    ------
    InfeasibleError
        Nothing satisfies all constraints; the error has the proof.
    ConvergenceError
        The tolerance was not reached: it is too small for what rounding leaves of this problem.
    """
    tol = _check.positive("tol", tol)
    program = read_program(K, b, J, c, E, e)
    if warm is not None:
        _check_warm(warm, program)
    fixed = Fixed(program)
    reduced = fixed.reduce(program)
    empty = check_empty_rows(program, reduced, fixed, tol)
    kind = np.where(empty, np.int8(-1), reduced.free)
    factor = check_definite(reduced, None if warm is None else warm.structure)

    def solve(way: Callable[..., tuple[Floats, Floats, int]], *start: Any) -> tuple[QPSolution, float]:
        # The terms of the reduced program may be twice as small.
        found = way(reduced, kind, *start, 0.5 * tol)
        return _describe(program, fixed, *found, None if factor is None else factor.structure)

    try:
        return _best(solve, partial(solve_program, factor=factor), _starts(warm, reduced, fixed, empty), tol)
    except Infeasible as found:
        raise prove_infeasible(program, fixed, found.multipliers) from None


def _best(solve: Callable[..., tuple[QPSolution, float]], usual: Any, starts: list[Any], tol: float) -> QPSolution:
    """The first solution that leaves next to nothing, of the usual way from each start and of the interior one; if
    there is none, the one that leaves the least.

    A guess may be too far off, and makes nothing infeasible; the last start is no guess.
    """
    best, least = None, np.inf
    for number, start in enumerate(starts, 1):
        try:
            best, least = solve(usual, *start)
        except (ConvergenceError, Infeasible) as error:
            if number == len(starts) and isinstance(error, Infeasible):
                raise
            best, least = None, np.inf
        if best is not None and least <= tol:
            return best
    try:
        sharper, left = solve(solve_interior)
    except (ConvergenceError, Infeasible):
        if best is None:
            raise
        return best
    return sharper if best is None or left < least else best


def _starts(
    warm: QPSolution | None, reduced: Program, fixed: Fixed, empty: NDArray[np.bool_]
) -> list[tuple[Floats, Floats]]:
    """Points and multipliers to start from: the guess, if there is one, and nothing."""
    nothing = np.zeros(len(reduced.right)), np.zeros(len(empty))
    if warm is None:
        return [nothing]
    x, multipliers = warm.x.copy(), np.concatenate([warm.equality_multipliers, warm.multipliers])
    multipliers[empty] = 0.0
    x[fixed.unknowns] = 0.0
    return [(x, multipliers), nothing]


def solve_program(
    program: Program, kind: Kinds, x: Floats, mu: Floats, tol: float, factor: Cholesky | None = None
) -> tuple[Floats, Floats, int]:
    """Point, multipliers and iterations of a program without fixed unknowns, from a guess of the first two.

    kind : as `Program.free`, −1 for rows to be left out
    factor : of K, if it is known already
    """
    if is_banded(program):
        found = solve_banded(program, kind, x, mu, tol)
        if found is not None:
            return found
    limit = _MANY * len(x)
    has_many = int((kind >= 0).sum()) > limit
    rounds = None if has_many and factor is None else Rounds(program, kind, tol, factor)
    if has_many and (rounds is None or rounds.count(x, mu) > limit):
        found = solve_points(program, kind, x, mu, tol)
        if found is not None:
            return found
    rounds = rounds or Rounds(program, kind, tol)
    try:
        return *rounds.solve(x, mu), rounds.iterations
    except ConvergenceError:  # J K⁻¹ Jᵀ of many dependent rows with an ill-conditioned K has no digits left
        found = solve_points(program, kind, x, mu, tol)
        if found is None:
            raise
        return found


def _check_warm(warm: Any, program: Program) -> None:
    if not isinstance(warm, QPSolution):
        raise InputError(f"warm: found {type(warm).__name__}, expected a QPSolution")
    found = len(warm.x), len(warm.multipliers), len(warm.equality_multipliers)
    equalities = int(program.free.sum())
    wanted = len(program.right), len(program.free) - equalities, equalities
    if found != wanted:
        raise InputError(f"warm: found a solution of {found} unknowns, rows and equalities, expected {wanted}")
    if not (is_finite(warm.x) and is_finite(warm.multipliers) and is_finite(warm.equality_multipliers)):
        raise InputError("warm: found numbers that are not finite, expected a solution")


def _describe(
    program: Program, fixed: Fixed, x: Floats, multipliers: Floats, iterations: int, structure: Structure | None
) -> tuple[QPSolution, float]:
    """The solution of the whole program from that of the reduced one, and what it leaves (`Measured.aim`)."""
    if len(fixed.rows):
        x[fixed.unknowns] = fixed.x[fixed.unknowns]
        multipliers[fixed.rows] = 0.0
        fixed.complete(multipliers, program.right - program.times(x) - program.from_rows(multipliers))
    residuals, objective, aim = program.measure(x, multipliers)
    if not (is_finite(x) and is_finite(multipliers) and np.isfinite(objective)):
        raise ConvergenceError("x: found numbers beyond the range of floats, expected other units, or a better K")
    objective, count = accurate_objective(program, x, objective), int(program.free.sum())
    mu = multipliers[count:].copy()
    active = np.flatnonzero(mu > 0)
    return QPSolution(x, mu, multipliers[:count].copy(), active, objective, iterations, residuals, structure), aim
