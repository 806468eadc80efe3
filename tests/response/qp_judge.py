"""Judge of solutions of quadratic programs: scaled KKT residuals, certificates, and an exact solver of tiny problems.

Nothing here is shared with `impinge.solve_qp`; sums are taken in long double, and the solver works in rational numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .qp_problems import Problem

Floats = np.ndarray
_Row = list[Fraction]

_EPS = 2.0**-53
_ROUNDINGS = 4  # of each entry of x and of the multipliers
_NOTHING = 1e-7  # of the size of all unknowns: what rows are compared with whose own terms are less
_CANCELLED = 1e-6  # of b over the diagonal of K: an x of less is what cancellation leaves


@dataclass(frozen=True)
class Residuals:
    """How far (x, μ, ν) is from Kx − b + Jᵀμ + Eᵀν = 0, Jx ≤ c, Ex = e, μ ≥ 0, μ (Jx − c) = 0; all are scaled.

    rounding : what rounding x and the multipliers to doubles can do to the stationarity, so that no solver can be
        asked for less; above 1e-9 only where K is ill-conditioned.
    """

    stationarity: float
    violation: float
    complementarity: float
    negative: float
    rounding: float

    @property
    def largest(self) -> float:
        return max(self.stationarity - self.rounding, self.violation, self.complementarity, self.negative)


def _largest(*arrays: Floats) -> Any:
    return max((np.abs(array).max(initial=0) for array in arrays), default=0)


def _longs(*values: Any) -> list[Floats]:
    return [np.asarray(value.toarray() if hasattr(value, "toarray") else value, np.longdouble) for value in values]


def _row_scales(rows: Floats, bounds: Floats, diagonal: Floats, x: Floats, least: Floats) -> Floats:
    terms = np.abs(rows) @ np.abs(x)
    roots = np.sqrt(diagonal)
    sizes = np.maximum(np.minimum(_largest(x), _largest(roots * x) / roots), least / roots)
    reach = np.sqrt(((rows * sizes) ** 2).sum(axis=1))
    scales = np.maximum(np.maximum(terms, np.abs(bounds)), _NOTHING * reach)
    return np.where(scales > 0, scales, 1)


def residuals(problem: Problem, x: Floats, multipliers: Floats, equality_multipliers: Floats) -> Residuals:
    """Scaled KKT residuals; each row by the sizes of its own terms."""
    K, b, J, c, E, e = _longs(*problem.arrays())
    x, mu, nu = _longs(x, multipliers, equality_multipliers)
    assert x.shape == b.shape
    assert mu.shape == c.shape
    assert nu.shape == e.shape
    if not all(np.isfinite(array).all() for array in (x, mu, nu)):
        return Residuals(*4 * [np.inf], rounding=0.0)
    tiny = np.finfo(np.float64).tiny
    terms = K @ x, -b, J.T @ mu, E.T @ nu
    size = max(_largest(*terms), tiny)
    rounding = _ROUNDINGS * _EPS * _largest(np.abs(K) @ np.abs(x) + np.abs(J).T @ np.abs(mu) + np.abs(E).T @ np.abs(nu))
    is_bound = np.isfinite(c)  # the others forbid nothing
    J, c, mu = J[is_bound], c[is_bound], mu[is_bound]
    slack, off = J @ x - c, E @ x - e
    # Where x is 0 but for rounding, its size is what b would make of it.
    diagonal = np.diag(K)
    least = _CANCELLED * _largest(b / np.sqrt(diagonal))
    scales, scales_e = _row_scales(J, c, diagonal, x, least), _row_scales(E, e, diagonal, x, least)
    # A multiplier counts as a part of the largest, but no more than it does beside the other forces, so that noise
    # where no multiplier is needed does no harm.
    pushes = mu * np.minimum(np.abs(J).max(axis=1, initial=0) / size, 1 / max(_largest(mu), tiny))
    return Residuals(
        stationarity=float(_largest(sum(terms)) / size),
        violation=float(_largest(np.maximum(slack, 0) / scales, off / scales_e)),
        complementarity=float(_largest(pushes * slack / scales)),
        negative=float(_largest(np.minimum(pushes, 0))),
        rounding=float(rounding / size),
    )


def objective(problem: Problem, x: Floats) -> float:
    """½ xᵀKx − bᵀx."""
    K, b, x = _longs(problem.K, problem.b, x)
    return float(x @ (K @ x) / 2 - b @ x)


# Certificates


def excluded(problem: Problem, multipliers: Floats, equality_multipliers: Floats) -> float:
    """How far out a Farkas certificate proves that no x satisfies the rows; at least 1e8 is asked for.

    With g = Jᵀy + Eᵀz and y ≥ 0, a feasible x has gᵀx ≤ cᵀy + eᵀz. If the right side is −δ < 0, then ‖x‖ ≥ δ/‖g‖, in
    the norm of diag K: no feasible x is nearer to 0. The unit is the distance from 0 of the farthest row used.
    """
    K, _, J, c, E, e = _longs(*problem.arrays())
    y, z = _longs(multipliers, equality_multipliers)
    if not (np.isfinite(y).all() and np.isfinite(z).all() and (y >= 0).all()):
        return 0.0
    weights = 1 / np.sqrt(np.diag(K))
    g = (J.T @ y + E.T @ z) * weights
    delta = -(c @ y + e @ z)
    used, bounds = np.vstack([J[y > 0], E[z != 0]]) * weights, np.concatenate([c[y > 0], e[z != 0]])
    lengths = np.sqrt((used**2).sum(axis=1))
    unit = max((abs(bound) / length for bound, length in zip(bounds, lengths, strict=True) if length > 0), default=0)
    if not delta > 0:
        return 0.0
    norm = np.sqrt(g @ g)
    return float(delta / (norm * unit)) if norm * unit > 0 else np.inf


# The solver in rational numbers


def _fractions(array: Any) -> list[_Row]:
    return [[Fraction(float(value)) for value in row] for row in np.atleast_2d(array)]


def solve_exactly(matrix: list[_Row], right: _Row) -> _Row | None:
    """Solution of a square system, or none if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i, row in enumerate(rows):
            if i != k and row[k]:
                rows[i] = [a - row[k] * b for a, b in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]


def _independent(rows: list[_Row]) -> list[int]:
    """Indices of a largest set of rows that do not depend on each other, the first ones."""
    kept: list[int] = []
    reduced: list[tuple[int, _Row]] = []  # the place of a 1, and the row
    for i, row in enumerate(rows):
        for place, other in reduced:
            if row[place]:
                row = [a - row[place] * b for a, b in zip(row, other, strict=True)]
        place = next((k for k, value in enumerate(row) if value), None)
        if place is not None:
            reduced.append((place, [value / row[place] for value in row]))
            kept.append(i)
    return kept


def _dot(row: _Row, x: _Row) -> Fraction:
    return sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0))


def exact_solution(problem: Problem) -> _Row | None:
    """The x of a tiny problem, by trial of all active sets; none if the rows contradict each other.

    A solution has multipliers on rows that are independent of each other and of the equalities (Carathéodory), and K
    is positive definite: so one of these sets gives it, and any that satisfies all conditions is it.
    """
    K, J, E = (_fractions(matrix) if matrix.size else [] for matrix in _dense(problem.K, problem.J, problem.E))
    b, c, e = ([Fraction(float(value)) for value in vector] for vector in (problem.b, problem.c, problem.e))
    n = len(b)
    kept = _independent(E)
    for count in range(n - len(kept) + 1):
        for chosen in itertools.combinations(range(len(c)), count):
            rows = [E[i] for i in kept] + [J[i] for i in chosen]
            matrix = [K[i] + [row[i] for row in rows] for i in range(n)]
            matrix += [row + len(rows) * [Fraction(0)] for row in rows]
            found = solve_exactly(matrix, b + [e[i] for i in kept] + [c[i] for i in chosen])
            if found is None or any(value < 0 for value in found[n + len(kept) :]):
                continue
            x = found[:n]
            if all(_dot(row, x) <= bound for row, bound in zip(J, c, strict=True)) and all(
                _dot(row, x) == value for row, value in zip(E, e, strict=True)
            ):
                return x
    return None


def _dense(*matrices: Any) -> list[Floats]:
    return [matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix) for matrix in matrices]
