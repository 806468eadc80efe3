"""What comes out of a quadratic program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from impinge.facts import html_table
from impinge.sparse.cholesky import Structure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Residuals:
    """How well a solution satisfies the conditions of Karush, Kuhn and Tucker; each relative to its own terms.

    stationarity : the largest |Kx − b + Jᵀμ + Eᵀν| beyond rounding, in the largest |Kx|, |b|, |Jᵀμ| or |Eᵀν|
    violation : the largest (Jx − c)+ or |Ex − e| of a row, in the size of its own terms: Σ|J_ij x_j| or |c_i|; where
        they are less, in 1e-7 of √(Σ J_ij² u_j²), with u_j what x_j would be if it were as large as the others: the
        lesser of the largest |x| and of the largest √K |x| over √K_jj, but not less than 1e-6 of the largest |b|/√K
        over √K_jj
    complementarity : the largest product of a row's |Jx − c|, in the size of its terms, and its |Jᵀμ|, in that above
    """

    stationarity: float
    violation: float
    complementarity: float

    @property
    def largest(self) -> float:
        """The largest of the three."""
        return max(self.stationarity, self.violation, self.complementarity)


@dataclass(frozen=True, eq=False)
class QPSolution:
    """The minimiser of ½ xᵀKx − bᵀx subject to Jx ≤ c, Ex = e.

    x : (n,) float64
    multipliers : (m,) float64, μ ≥ 0 of the rows of J
    equality_multipliers : (p,) float64, ν of the rows of E;  Kx − b + Jᵀμ + Eᵀν = 0
    active : int64, the rows of J whose multiplier is above 0, sorted
    objective : ½ xᵀKx − bᵀx
    iterations : systems of equations that were solved for a guess of the active rows
    residuals : what is left of the conditions
    structure : the order of elimination, for a warm start with a K of the same pattern; None if none was needed
    """

    x: Floats
    multipliers: Floats
    equality_multipliers: Floats
    active: NDArray[np.int64]
    objective: float
    iterations: int
    residuals: Residuals
    structure: Structure | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        facts = [("unknowns", len(self.x)), ("rows", len(self.multipliers)), ("active", len(self.active)),
                 ("equalities", len(self.equality_multipliers)), ("objective", self.objective),
                 ("iterations", self.iterations), ("largest residual", self.residuals.largest)]  # fmt: skip
        return html_table("QPSolution", facts)
