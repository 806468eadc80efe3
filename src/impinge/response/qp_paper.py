"""The solvers of [Raghupathi2006] for quadratic programs of contact, as corrected, for comparison and teaching.

    minimise  ½ xᵀKx − bᵀx   subject to   Jx ≤ c

All of them are Algorithm 1, an active set that exchanges rows in blocks, and differ in how they solve the equations of
the rows held, (8):

    [ K  −Jᵀ ] [x]   [ b]
    [−J    0 ] [λ] = [−c]        with λ = −μ, and μ ≥ 0 at the solution

The paper asks for λ ≥ 0, which contradicts its own Lagrangian (6): rows are released here where μ < 0. It also goes
back to line 2, which forgets the rows that hold with equality; here the active set is kept. Where rows depend on each
other, (8) has no unique solution: that is what (23) is for. `impinge.solve_qp` is the solver to use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.response import qp_paper_equations as equations
from impinge.response.qp_paper_equations import (
    Floats,
    Ints,
    Problem,
    Solved,
    condition_number,
    kkt_matrix,
    kkt_operator,
    schur_diagonal,
)

__all__ = [
    "Exchange", "PaperSolution", "algorithm_1", "condition_number", "kkt_matrix", "kkt_operator", "matrix_free",
    "perturbed", "schur_cg", "schur_diagonal",
]  # fmt: skip

_Bools = NDArray[np.bool_]

_SOLVED, _CYCLED = "solved", "cycled"
_INNER = 1e-4  # of the tolerance of decisions: accuracy asked of iterative solvers


@dataclass(frozen=True)
class Exchange:
    """One iteration of the active set: rows that came in as they were violated, and rows that went as μ < 0."""

    came: Ints
    went: Ints
    inner_iterations: int  # of the solver of (8), 0 for factorisations
    is_single: bool = False  # by the safeguard


@dataclass(frozen=True)
class PaperSolution:
    """What a variant found.

    Attributes
    ----------
    x : (n,) float64
    multipliers : (m,) float64, at least 0
    active : sorted indices of the rows held
    status : str
        "solved"; "cycled" (an active set came up again), "singular" (rows depend on each other), "broke down" (of plain
        CG: no curvature along its direction) or "stopped" (too many iterations); x is then that of the last solve.
    exchanges : the rows that are held at first, then one for each solve of (8)
    """

    x: Floats
    multipliers: Floats
    active: Ints
    status: str
    exchanges: tuple[Exchange, ...]

    @property
    def iterations(self) -> int:
        """Solves of (8)."""
        return len(self.exchanges) - 1

    @property
    def inner_iterations(self) -> int:
        """Iterations of the solver of (8), in all."""
        return sum(exchange.inner_iterations for exchange in self.exchanges)

    @property
    def toggles(self) -> Ints:
        """How often each row came back after it had gone, (m,)."""
        count, has_gone = np.zeros(len(self.multipliers), np.int64), np.zeros(len(self.multipliers), bool)
        for exchange in self.exchanges:
            count[exchange.came] += has_gone[exchange.came]
            has_gone[exchange.went] = True
        return count


def _vector(name: str, value: ArrayLike, count: int) -> Floats:
    array = _check.numbers(name, value, f"{count} numbers").astype(np.float64)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InputError(f"{name}: found shape {array.shape}, expected {count} finite numbers")
    return array


def _read(K: Any, b: ArrayLike, J: Any, c: ArrayLike) -> Problem:
    matrix, rows = sp.csc_array(K, dtype=np.float64), sp.csr_array(J, dtype=np.float64)
    n = matrix.shape[0]
    if matrix.shape != (n, n):
        raise InputError(f"K: found shape {matrix.shape}, expected a square matrix")
    if rows.shape[1] != n:
        raise InputError(f"J: found shape {rows.shape}, expected (m, {n})")
    return Problem(matrix, _vector("b", b, n), rows, _vector("c", c, rows.shape[0]))


# Algorithm 1


class _ActiveSet:
    """Rows that are held, and who came and went."""

    def __init__(self, problem: Problem, x: Floats, tol: float) -> None:
        self._problem, self._tol = problem, tol
        self._sizes = np.abs(problem.J)
        self.held = self._violated(x)
        self.exchanges = [Exchange(np.flatnonzero(self.held), np.empty(0, np.int64), 0)]
        self.is_single = False
        self._seen = {self.held.tobytes()}

    def _violated(self, x: Floats) -> _Bools:
        J, c = self._problem.J, self._problem.c
        result: _Bools = J @ x - c > self._tol * (self._sizes @ np.abs(x) + np.abs(c))
        return result

    def exchange(self, x: Floats, mu: Floats, inner_iterations: int) -> bool:
        """Let violated rows in and wrong-signed ones out; false if there are none."""
        came = self._violated(x) & ~self.held
        went = mu < -self._tol * np.abs(mu).max(initial=0.0)
        if self.is_single:
            first = np.flatnonzero(came | went)[:1]
            only = np.isin(np.arange(len(mu)), first)
            came, went = came & only, went & only
        self.held = (self.held | came) & ~went
        self.exchanges.append(Exchange(np.flatnonzero(came), np.flatnonzero(went), inner_iterations, self.is_single))
        return bool((came | went).any())

    def comes_again(self) -> bool:
        """Whether the rows held were held before, all of them and no others."""
        key = self.held.tobytes()
        if key in self._seen:
            return True
        self._seen.add(key)
        return False


def _solve(problem: Problem, solve: Callable[[Ints], Solved], safeguard: bool, tol: float) -> PaperSolution:
    """Algorithm 1, from the rows that the x without rows violates, whatever solves (8)."""
    x, mu = equations.factorise(problem.K)(problem.b), np.zeros(len(problem.c))
    rows = _ActiveSet(problem, x, tol)
    most = 10 * sum(problem.J.shape)  # the paper's 3n + m is enough for blocks, not for single rows
    status = equations.STOPPED
    while len(rows.exchanges) <= most:
        active = np.flatnonzero(rows.held)
        try:
            x, mu_active, count = solve(active)
        except equations.Fails as failure:
            status = str(failure)
            break
        mu = np.zeros(len(problem.c))
        mu[active] = mu_active
        if not rows.exchange(x, mu, count):
            status = _SOLVED
            break
        if not rows.is_single and rows.comes_again():
            rows.is_single = safeguard
            if not safeguard:
                status = _CYCLED
                break
    return PaperSolution(x, np.maximum(mu, 0.0), np.flatnonzero(rows.held), status, tuple(rows.exchanges))


def algorithm_1(
    K: Any, b: ArrayLike, J: Any, c: ArrayLike, *, safeguard: bool = True, tol: float = 1e-9
) -> PaperSolution:
    """[Raghupathi2006] Algorithm 1 as corrected: all violated rows in, all rows with μ < 0 out, (8) factorised anew.

    Parameters
    ----------
    K, J : sparse or dense, (n, n) symmetric positive definite and (m, n)
    b, c : (n,), (m,)
    safeguard : bool
        Blocks can come up again and again. With it, once one does, rows are exchanged singly from then on, the lowest
        first, which ends for independent rows [Murty1974]; without, the status is "cycled".
    tol : float
        Relative to the terms of a row, and to the largest multiplier: what is less has no sign.
    """
    problem = _read(K, b, J, c)
    return _solve(problem, equations.Factorised(problem), safeguard, tol)


def schur_cg(
    K: Any,
    b: ArrayLike,
    J: Any,
    c: ArrayLike,
    *,
    preconditioned: bool = True,
    safeguard: bool = True,
    tol: float = 1e-9,
) -> PaperSolution:
    """CG on the Schur complement, [Raghupathi2006] (20) and (21): J K⁻¹ Jᵀ μ = J K⁻¹ b − c, x = K⁻¹(b − Jᵀμ).

    K is factorised once. With `preconditioned`, by diag(J K⁻¹ Jᵀ). Dependent rows do no harm as long as they do not
    contradict each other. Other parameters as in `algorithm_1`.
    """
    problem = _read(K, b, J, c)
    return _solve(problem, equations.SchurCG(problem, preconditioned, _INNER * tol), safeguard, tol)


def matrix_free(
    K: Any,
    b: ArrayLike,
    J: Any,
    c: ArrayLike,
    *,
    method: str = "minres",
    preconditioned: bool = True,
    safeguard: bool = True,
    tol: float = 1e-9,
) -> PaperSolution:
    """Nothing factorised, [Raghupathi2006] 5.1: (8) by its products (18), (19) alone.

    Parameters
    ----------
    method : str
        "minres"; "projected-cg", which stays among the x that satisfy the rows held; or "cg", the paper's choice: (8)
        is indefinite as soon as a row is held, so that this one can break down.
    preconditioned : bool
        By the diagonals of K and of J diag(K)⁻¹ Jᵀ.
    K, b, J, c, safeguard, tol : as in `algorithm_1`
    """
    problem = _read(K, b, J, c)
    method = _check.choice("method", method, ("minres", "projected-cg", "cg"))
    solver: Callable[[Ints], Solved]
    if method == "projected-cg":
        solver = equations.ProjectedCG(problem, preconditioned, _INNER * tol)
    else:
        solver = equations.MatrixFree(problem, method, preconditioned, _INNER * tol)
    return _solve(problem, solver, safeguard, tol)


def perturbed(
    K: Any,
    b: ArrayLike,
    J: Any,
    c: ArrayLike,
    *,
    size: float = 1e-9,
    printed_sign: bool = False,
    safeguard: bool = True,
    tol: float = 1e-9,
) -> PaperSolution:
    """The perturbation of [Raghupathi2006] (23), (24): [K −Jᵀ; −J −L], which dependent rows do not make singular.

    It makes rows compliant: Jx = c + Lμ where they are held.

    Parameters
    ----------
    size : float
        L = size · diag(J K⁻¹ Jᵀ); the paper's 10⁻³, in whatever unit, may be anything beside that.
    printed_sign : bool
        +L, as (23) is printed: not quasi-definite, and singular where L meets an eigenvalue of J K⁻¹ Jᵀ.
    K, b, J, c, safeguard, tol : as in `algorithm_1`
    """
    problem = _read(K, b, J, c)
    L = _check.positive("size", size) * schur_diagonal(problem.K, problem.J)
    return _solve(problem, equations.Factorised(problem, -L if printed_sign else L), safeguard, tol)
