"""Ways to solve the equations of the rows held, (8) of [Raghupathi2006], with the notation of `qp_paper`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.sparse.linalg import LinearOperator, minres, splu

__all__ = [
    "BROKE_DOWN", "SINGULAR", "STOPPED", "Factorised", "Fails", "Floats", "Ints", "MatrixFree", "Problem",
    "ProjectedCG", "SchurCG", "Solved", "condition_number", "factorise", "kkt_matrix", "kkt_operator", "schur_diagonal",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SINGULAR, BROKE_DOWN, STOPPED = "singular", "broke down", "stopped"
_FLAT = 1e-14  # of the largest value it could have: a curvature that is zero but for rounding
_RESTARTS = 8  # of MINRES, which judges itself by the norm of the whole matrix
_MOST = 30  # iterations per unknown; without rounding 1 would do
_LOST = 1e-3  # relative error of a solution from which on the matrix counts as singular
_DEPENDENT = 1e-12  # eigenvalues of rows scaled to 1 that count as 0
_CONTRADICTS = 1e-8  # relative: rows held that no x satisfies


class Problem(NamedTuple):
    """½ xᵀKx − bᵀx, Jx ≤ c."""

    K: Any  # csc
    b: Floats
    J: Any  # csr
    c: Floats


class Solved(NamedTuple):
    """Solution of (8)."""

    x: Floats
    mu: Floats  # of the active rows
    iterations: int


class Fails(Exception):
    """(8) could not be solved; the argument is the status."""


def factorise(K: Any) -> Callable[[Floats], Floats]:
    """Solves with K, symmetric and positive definite."""
    solve: Callable[[Floats], Floats] = splu(
        sp.csc_matrix(K), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).solve
    return solve


# The matrix of (8) and (23)


def kkt_matrix(K: Any, J: Any, L: Floats | None = None) -> Any:
    """[K −Jᵀ; −J −L], sparse: (8), or (23) with the sign that makes it quasi-definite; L (m,) is the diagonal."""
    corner = None if L is None else -sp.diags_array(L)
    return sp.block_array([[sp.csc_array(K), -J.T], [-J, corner]], format="csc")


def kkt_operator(K: Any, J: Any, L: Floats | None = None) -> LinearOperator:
    """The same as a product alone, [Raghupathi2006] (18), (19) and (24): y = (Kx − Jᵀλ, −Jx − Lλ)."""
    m, n = J.shape
    transposed = J.T.tocsr()

    def product(vector: Floats) -> Floats:
        x, multipliers = vector[:n], vector[n:]
        below = -(J @ x) if L is None else -(J @ x) - L * multipliers
        return np.concatenate([K @ x - transposed @ multipliers, below])

    return LinearOperator((n + m, n + m), matvec=product, rmatvec=product, dtype=np.float64)


def condition_number(matrix: Any) -> float:
    """Largest over smallest singular value; infinite if the matrix is singular. Dense: for small problems."""
    values = np.linalg.svd(matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else np.inf


def schur_diagonal(K: Any, J: Any) -> Floats:
    """diag(J K⁻¹ Jᵀ), (m,): what μ = 1 at a row alone does to that row."""
    solve = factorise(K)
    rows = sp.csr_array(J)
    return np.array([(rows[[i]] @ solve(rows[[i]].toarray()[0]))[0] for i in range(rows.shape[0])])


def _estimate(K: Any, rows: Any) -> Floats:
    """diag(J diag(K)⁻¹ Jᵀ), 1 for rows without entries."""
    found = rows.multiply(rows) @ (1 / K.diagonal())
    return np.where(found > 0, found, 1.0)


# Solvers of (8)


def _cg(
    product: Callable[[Floats], Floats],
    right: Floats,
    precondition: Callable[[Floats], Floats],
    start: Floats,
    tol: float,
    most: int,
) -> tuple[Floats, int]:
    """Preconditioned conjugate gradients, which say so where there is no curvature left."""
    x, r = start.copy(), right - product(start)
    wanted = tol * max(np.abs(right).max(initial=0.0), np.finfo(float).tiny)
    z = precondition(r)
    direction, rz = z.copy(), float(r @ z)
    for iteration in range(most):
        if np.abs(r).max(initial=0.0) <= wanted:
            return x, iteration
        image = product(direction)
        curvature = float(direction @ image)
        if abs(curvature) <= _FLAT * float(np.abs(direction) @ np.abs(image)):
            raise Fails(BROKE_DOWN)
        step = rz / curvature
        x, r = x + step * direction, r - step * image
        z = precondition(r)
        rz, before = float(r @ z), rz
        direction = z + rz / before * direction
    raise Fails(STOPPED)


class Factorised:
    """(8) or (23) by LU with pivoting; `L` may have either sign."""

    def __init__(self, problem: Problem, L: Floats | None = None) -> None:
        self._problem, self._L = problem, L

    def __call__(self, active: Ints) -> Solved:
        K, b, J, c = self._problem
        rows = J[active]
        matrix = kkt_matrix(K, rows, None if self._L is None else self._L[active])
        try:
            solve = splu(matrix).solve
        except RuntimeError:  # "Factor is exactly singular"
            raise Fails(SINGULAR) from None
        # What is singular but for rounding does not give back a solution that is known.
        known = np.concatenate([1 / np.sqrt(K.diagonal()), 1 / np.sqrt(_estimate(K, rows))])
        with np.errstate(all="ignore"):
            if not (np.abs(solve(matrix @ known) / known - 1) < _LOST).all():
                raise Fails(SINGULAR)
        found = solve(np.concatenate([b, -c[active]]))
        return Solved(found[: len(b)], -found[len(b) :], 0)


class SchurCG:
    """CG on (20), with K factorised once, then (21)."""

    def __init__(self, problem: Problem, preconditioned: bool, tol: float) -> None:
        self._problem, self._tol = problem, tol
        self._solve = factorise(problem.K)
        m = len(problem.c)
        self._scale = 1 / schur_diagonal(problem.K, problem.J) if preconditioned else np.ones(m)
        self._last = np.zeros(m)  # from the active set before

    def __call__(self, active: Ints) -> Solved:
        _, b, J, c = self._problem
        rows, scale = J[active], self._scale[active]
        transposed = rows.T.tocsr()
        mu, count = _cg(
            lambda vector: rows @ self._solve(transposed @ vector),
            rows @ self._solve(b) - c[active],
            lambda vector: scale * vector,
            self._last[active],
            self._tol,
            _MOST * (len(active) + 1),
        )
        self._last[:] = 0
        self._last[active] = mu
        return Solved(self._solve(b - transposed @ mu), mu, count)


class MatrixFree:
    """(8) by products (18) and (19) alone, with MINRES or, to see it break down, with plain CG."""

    def __init__(self, problem: Problem, method: str, preconditioned: bool, tol: float) -> None:
        self._problem, self._method, self._preconditioned, self._tol = problem, method, preconditioned, tol

    def __call__(self, active: Ints) -> Solved:
        K, b, J, c = self._problem
        rows = J[active]
        operator, right = kkt_operator(K, rows), np.concatenate([b, -c[active]])
        inverse = np.ones(len(right))
        if self._preconditioned:
            inverse = 1 / np.concatenate([K.diagonal(), _estimate(K, rows)])
        most = _MOST * len(right)
        if self._method == "cg":
            found, count = _cg(operator.matvec, right, lambda r: inverse * r, np.zeros(len(right)), self._tol, most)
        else:
            found, count = self._minres(operator, right, inverse, most)
        return Solved(found[: len(b)], -found[len(b) :], count)

    def _minres(self, operator: LinearOperator, right: Floats, inverse: Floats, most: int) -> tuple[Floats, int]:
        """Restarted on what is left, as it stops when that is small beside the norm of the whole matrix."""
        found, count = np.zeros(len(right)), 0

        def tick(_: Floats) -> None:
            nonlocal count
            count += 1

        diagonal = sp.diags_array(inverse)
        for _ in range(_RESTARTS):
            left = right - operator.matvec(found)
            if np.abs(left).max() <= self._tol * np.abs(right).max():
                return found, count
            found += minres(operator, left, M=diagonal, rtol=self._tol, maxiter=most, callback=tick)[0]
        raise Fails(STOPPED)


class ProjectedCG:
    """CG on (8) among the x that satisfy the rows: residuals are projected, and projected again [Gould2001].

    The projection is along the metric of diag K, or of the identity: [G Jᵀ; J 0] [g; w] = [r; 0].
    """

    def __init__(self, problem: Problem, preconditioned: bool, tol: float) -> None:
        self._problem, self._tol = problem, tol
        self._metric = problem.K.diagonal() if preconditioned else np.ones(len(problem.b))

    def __call__(self, active: Ints) -> Solved:
        K, b, J, c = self._problem
        rows = J[active]
        transposed, inverse = rows.T.tocsr(), 1 / self._metric
        gram = (rows @ sp.diags_array(inverse) @ transposed).toarray()
        size = 1 / np.sqrt(_estimate(sp.diags_array(self._metric), rows))
        solve = size[:, None] * pinvh(size[:, None] * gram * size, rtol=_DEPENDENT) * size if len(active) else gram

        def multipliers(r: Floats) -> Floats:
            result: Floats = solve @ (rows @ (inverse * r))
            return result

        x = inverse * (transposed @ (solve @ c[active]))
        if (np.abs(rows @ x - c[active]) > _CONTRADICTS * (np.abs(rows) @ np.abs(x) + np.abs(c[active]))).any():
            raise Fails(SINGULAR)
        r = b - K @ x
        wanted = self._tol * max(np.abs(b).max(), np.abs(K @ x).max(), np.finfo(float).tiny)
        mu = multipliers(r)
        r = r - transposed @ mu
        direction, before = np.zeros(len(b)), np.inf
        for iteration in range(_MOST * len(b)):
            again = multipliers(r)  # the residual drifts off the plane otherwise
            mu, r = mu + again, r - transposed @ again
            if np.abs(r).max() <= wanted:
                return Solved(x, mu, iteration)
            g = inverse * r
            rg = float(r @ g)
            direction, before = g + rg / before * direction, rg
            image = K @ direction
            step = rg / float(direction @ image)
            x, r = x + step * direction, r - step * image
        raise Fails(STOPPED)
