"""How well an answer satisfies the conditions of Karush, Kuhn and Tucker."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.qp_test.problems import Floats, Program


class Answer(NamedTuple):
    """What a solver says: Kx − b + Jᵀμ + Eᵀν = 0."""

    x: Floats
    mu: Floats
    nu: Floats
    note: str = ""  # status or iterations, in its own words


@dataclass(frozen=True)
class Errors:
    """Each relative to its own terms.

    stationarity : the largest |Kx − b + Jᵀμ + Eᵀν|, in the largest of the four terms
    violation : the largest (Jx − c)+ or |Ex − e| of a row, in the size of its terms
    complementarity : the largest μ |Jx − c| of a row, its push in the largest force and its slack in the size of its
        terms; and the largest push of the wrong sign
    """

    stationarity: float
    violation: float
    complementarity: float

    @property
    def largest(self) -> float:
        values = asdict(self).values()
        return max(values) if all(np.isfinite(value) for value in values) else np.inf


def _largest(*arrays: Floats) -> float:
    return float(max(np.abs(array).max(initial=0.0) for array in arrays))


def _row_sizes(rows: Any, bounds: Floats, x: Floats) -> Floats:
    reach = np.sqrt(rows.multiply(rows).sum(axis=1)).A1 * _largest(x) if rows.shape[0] else np.zeros(0)
    sizes: Floats = np.maximum(np.maximum(abs(rows) @ np.abs(x), np.abs(bounds)), reach)
    return np.where(sizes > 0, sizes, 1.0)


def measure(program: Program, answer: Answer) -> Errors:
    """Errors of an answer, the same for all solvers."""
    K, b, J, c, E, e = program.K, program.b, program.J, program.c, program.E, program.e
    x, mu, nu, _ = answer
    terms = K @ x, -b, J.T @ mu, E.T @ nu
    force = max(_largest(*terms), np.finfo(float).tiny)
    slack, off = J @ x - c, E @ x - e
    sizes = _row_sizes(J, c, x)
    entries = abs(J).max(axis=1).toarray().ravel() if len(c) else np.zeros(0)
    pushes = mu * entries / force
    return Errors(
        stationarity=_largest(sum(terms)) / force,
        violation=_largest(np.maximum(slack, 0) / sizes, off / _row_sizes(E, e, x)),
        complementarity=_largest(pushes * slack / sizes, np.minimum(pushes, 0)),
    )
