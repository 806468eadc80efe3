"""Families of quadratic programs, random and constructed: ½ xᵀKx − bᵀx subject to Jx ≤ c, Ex = e.

A problem follows from its family, number and seed alone. Where it has a solution, one is planted: b = Kx + Jᵀμ + Eᵀν
with x and μ chosen, or only a point is that satisfies the rows, and b is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import qp_bodies

Rng = np.random.Generator
Floats = np.ndarray


@dataclass(frozen=True)
class Problem:
    """½ xᵀKx − bᵀx, Jx ≤ c, Ex = e; K, J and E are dense or sparse."""

    K: Any
    b: Floats
    J: Any
    c: Floats
    E: Any
    e: Floats
    is_feasible: bool = True
    name: str = ""

    def arrays(self) -> tuple[Any, ...]:
        return self.K, self.b, self.J, self.c, self.E, self.e

    @property
    def n(self) -> int:
        return len(self.b)


def make(family: str, number: int, seed: int = 0) -> Problem:
    """A problem of a family; those with small numbers are small."""
    rng = np.random.default_rng([seed, number, *family.encode()])
    problem = FAMILIES[family](rng, number)
    return replace(problem, name=f"{family} {number}, seed {seed}")


def some(count: int, seed: int = 0) -> list[tuple[str, int, int]]:
    """Arguments of `make` for so many problems, all families in turn."""
    names = list(FAMILIES)
    return [(names[k % len(names)], k // len(names), seed) for k in range(count)]


# Parts


def _size(rng: Rng, number: int, most: int, least: int = 1) -> int:
    """Small for small numbers, then anything up to `most`, small ones more often."""
    top = min(most, least + 1 + number // 2)
    return round(least * (top / least) ** rng.uniform())


def _matrix(rng: Rng, n: int, condition: float = 100.0) -> Floats:
    """Symmetric, positive definite, eigenvalues from 1/condition to 1."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = condition ** -np.linspace(0, 1, n) if n > 1 else np.ones(1)
    K = (turn * values) @ turn.T
    return (K + K.T) / 2


def _no_rows(n: int) -> Floats:
    return np.zeros((0, n))


def _planted(
    rng: Rng,
    K: Any,
    J: Any,
    E: Any = None,
    *,
    active: float = 0.5,
    weak: float = 0.0,
    x: Floats | None = None,
    solution: bool | None = None,
) -> Problem:
    """Bounds such that x satisfies all rows, a share of them with equality, and b such that x is the solution or not.

    weak : share of those with the multiplier 0
    """
    n, m = K.shape[0], J.shape[0]
    E = _no_rows(n) if E is None else E
    x = rng.normal(size=n) if x is None else x
    is_active = rng.uniform(size=m) < active
    c = J @ x + np.where(is_active, 0.0, rng.exponential(size=m))
    mu = np.where(is_active & (rng.uniform(size=m) >= weak), rng.exponential(size=m), 0.0)
    b = K @ x + J.T @ mu + E.T @ rng.normal(size=E.shape[0])
    if not (rng.integers(2) if solution is None else solution):
        b = b + 2 * np.abs(b).max(initial=0) * rng.normal(size=n)
    return Problem(K, b, J, c, E, E @ x)


# Families without traps


def _dense(rng: Rng, number: int) -> Problem:
    n, m = _size(rng, number, 40), _size(rng, number, 60)
    return _planted(rng, _matrix(rng, n), rng.normal(size=(m, n)), active=rng.uniform())


def _sparse(rng: Rng, number: int) -> Problem:
    n, m = _size(rng, number, 150, 2), _size(rng, number, 120)
    ends = rng.integers(0, n, (2 * n, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    stiffness = sp.diags_array(10.0 ** rng.uniform(-2, 2, len(ends)))
    springs = _incidence(ends, n)
    K = sp.csc_matrix(springs.T @ stiffness @ springs + sp.diags_array(rng.uniform(0.5, 1.5, n)))
    return _planted(rng, K, _short_rows(rng, m, n), active=rng.uniform())


def _incidence(ends: Floats, n: int) -> Any:
    rows = np.arange(len(ends))
    ones = np.ones(len(ends))
    return sp.csr_array((np.r_[ones, -ones], (np.r_[rows, rows], ends.T.ravel())), shape=(len(ends), n))


def _short_rows(rng: Rng, m: int, n: int) -> Any:
    """Rows of one to four entries."""
    J = sp.lil_matrix((m, n))
    for i in range(m):
        columns = rng.choice(n, min(n, int(rng.integers(1, 5))), replace=False)
        J[i, columns] = rng.normal(size=len(columns))
    return sp.csr_matrix(J)


def _bounds(rng: Rng, number: int) -> Problem:
    n = _size(rng, number, 60)
    signs = rng.choice([-1.0, 1.0], n)
    both = rng.uniform(size=n) < 0.3
    J = np.concatenate([np.diag(signs), -np.diag(signs)[both]])
    return _planted(rng, _matrix(rng, n), J[rng.permutation(len(J))], active=0.5)


def _without_rows(rng: Rng, number: int) -> Problem:
    n = _size(rng, number, 60)
    return _planted(rng, _matrix(rng, n), _no_rows(n))


def _all_active(rng: Rng, number: int) -> Problem:
    n = _size(rng, number, 50)
    return _planted(rng, _matrix(rng, n), rng.normal(size=(int(rng.integers(1, n + 1)), n)), active=1.0, solution=True)


def _one_unknown(rng: Rng, number: int) -> Problem:
    J = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0], (int(rng.integers(0, 6)), 1))
    return _planted(rng, 10.0 ** rng.uniform(-3, 3, (1, 1)), J, active=0.7)


def _equalities(rng: Rng, number: int) -> Problem:
    n = _size(rng, number, 40, 2)
    p, m = int(rng.integers(1, n)), _size(rng, number, 40)
    E = np.eye(n)[rng.permutation(n)[:p]] if number % 2 else rng.normal(size=(p, n))
    return _planted(rng, _matrix(rng, n), rng.normal(size=(m, n)), E, active=rng.uniform(0, 0.5))


# Families with rows that depend on each other


def _duplicates(rng: Rng, number: int) -> Problem:
    """Rows several times, also stretched, with the same bound or a looser one."""
    n, m = _size(rng, number, 30), _size(rng, number, 20)
    base = _planted(rng, _matrix(rng, n), rng.normal(size=(m, n)))
    times = rng.integers(0, m, 2 * m)
    stretch = 2.0 ** rng.integers(-3, 4, 2 * m)  # exact
    looser = np.where(rng.uniform(size=2 * m) < 0.3, rng.exponential(size=2 * m), 0.0)
    J = np.concatenate([base.J, stretch[:, None] * base.J[times]])
    c = np.concatenate([base.c, stretch * (base.c[times] + looser)])
    order = rng.permutation(len(c))
    return replace(base, J=J[order], c=c[order])


def _combinations(rng: Rng, number: int) -> Problem:
    """Sums of rows with positive factors, bounds alike: exactly, of whole numbers, or but for rounding."""
    n, m = _size(rng, number, 30), _size(rng, number, 20)
    weights = rng.uniform(0, 3, (2 * m, m)) * (rng.uniform(size=(2 * m, m)) < 3 / m)
    if number % 2:
        base = _planted(rng, _matrix(rng, n), _whole(rng, (m, n)), x=_whole(rng, n))
        base, weights = replace(base, c=np.ceil(base.c)), np.round(weights)
    else:
        base = _planted(rng, _matrix(rng, n), rng.normal(size=(m, n)))
    weights = weights[weights.any(axis=1)]
    return replace(base, J=np.concatenate([base.J, weights @ base.J]), c=np.concatenate([base.c, weights @ base.c]))


def _whole(rng: Rng, shape: Any) -> Floats:
    return rng.integers(-4, 5, shape).astype(float)


def _figure_1(rng: Rng, number: int) -> Problem:
    """[Raghupathi2006] Figure 1: both ends of edges on triangles of a plane, and the edges on the side these share."""
    edges = _size(rng, number, 20)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    share = rng.uniform(size=edges)
    blocks = [np.array([[1.0, 0.0], [0.0, 1.0], [a, 1 - a]]) for a in share]
    J = sp.csr_matrix(sp.kron(sp.block_diag(blocks), -normal[None]))
    K = sp.csc_matrix(sp.block_diag([_matrix(rng, 6, 1e4) for _ in range(edges)]))
    falls = np.kron(np.ones(2 * edges), -normal) + 0.1 * rng.normal(size=6 * edges)
    gaps = np.repeat(rng.exponential(0.3, (edges, 1)), 3, axis=1) * rng.integers(0, 2, (edges, 1))
    return Problem(K, K @ falls, J, gaps.ravel(), _no_rows(6 * edges), np.zeros(0))


def _nearly_dependent(rng: Rng, number: int) -> Problem:
    n, m = _size(rng, number, 20, 2), _size(rng, number, 10)
    rows = rng.normal(size=(m, n))
    angle = 10.0 ** rng.uniform(-6, -1, (m, 1))
    return _planted(rng, _matrix(rng, n), np.concatenate([rows, rows + angle * rng.normal(size=(m, n))]), weak=0.5)


def _dependent_equalities(rng: Rng, number: int) -> Problem:
    """Of whole numbers, so that they do not contradict each other."""
    n = _size(rng, number, 20, 2)
    p = int(rng.integers(1, n))
    E = _whole(rng, (p, n))
    E = np.concatenate([E, rng.integers(-2, 3, (p + 1, p)) @ E])
    rows = np.concatenate([rng.normal(size=(_size(rng, number, 20), n)), -E[: number % 3]])
    return _planted(rng, _matrix(rng, n), rows, E, x=_whole(rng, n), active=0.2)


def _opposite(rng: Rng, number: int) -> Problem:
    """Rows and their opposites: equalities in disguise."""
    n, m = _size(rng, number, 20), _size(rng, number, 20)
    x = rng.normal(size=n)
    base = _planted(rng, _matrix(rng, n), rng.normal(size=(m, n)), x=x)
    pairs = rng.permutation(m)[: min(n, 1 + m // 3)]
    c = base.c.copy()
    c[pairs] = base.J[pairs] @ x
    return replace(base, J=np.concatenate([base.J, -base.J[pairs]]), c=np.concatenate([c, -c[pairs]]))


def _degenerate(rng: Rng, number: int) -> Problem:
    """Many rows through one point, the solution or not."""
    n = _size(rng, number, 12)
    rows = rng.normal(size=(int(rng.integers(n, 6 * n + 1)), n))
    x = rng.normal(size=n)
    if number % 2:  # exactly through the point
        rows, x = np.round(3 * rows), np.round(3 * x)
    if number % 3:  # all from one side, so that there is room
        rows[:, 0] = -np.abs(rows[:, 0]) - 1
    return _planted(rng, _matrix(rng, n), rows, x=x, active=1.0, weak=0.5)


def _zero_multipliers(rng: Rng, number: int) -> Problem:
    n = _size(rng, number, 30)
    return _planted(rng, _matrix(rng, n), rng.normal(size=(n, n)), active=0.8, weak=0.6, solution=True)


def _zero_rows(rng: Rng, number: int) -> Problem:
    """Rows without entries, which any x satisfies."""
    base = _dense(rng, number) if number % 2 else _equalities(rng, number)
    J, c = np.concatenate([base.J, np.zeros((2, base.n))]), np.r_[base.c, 0.0, rng.exponential()]
    E, e = np.concatenate([base.E, np.zeros((1, base.n))]), np.r_[base.e, 0.0]
    order = rng.permutation(len(c))
    return replace(base, J=J[order], c=c[order], E=E, e=e)


def lattice(number: int, seed: int = 0) -> Problem:
    """Tiny, of small whole numbers: full of ties and dependent rows, and nobody knows whether there is a solution."""
    rng = np.random.default_rng([seed, number])
    n, m, p = int(rng.integers(1, 4)), int(rng.integers(0, 7)), max(0, int(rng.integers(-2, 3)))
    root = rng.integers(-2, 3, (n, n))
    K = (root @ root.T + np.eye(n)).astype(float)
    J, E = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-1, 2, (p, n)).astype(float)
    b, c, e = _whole(rng, n), rng.integers(-2, 4, m).astype(float), rng.integers(-1, 2, p).astype(float)
    return Problem(K, b, J, c, E, e, name=f"lattice {number}, seed {seed}")


# Families that are hard on arithmetic


def _ill_conditioned(rng: Rng, number: int) -> Problem:
    n, m = _size(rng, number, 40, 2), _size(rng, number, 30)
    return _planted(rng, _matrix(rng, n, 10.0 ** rng.uniform(4, 10)), rng.normal(size=(m, n)))


def _any(rng: Rng, number: int) -> Problem:
    kinds = (_dense, _equalities, _duplicates, _bounds, _sparse, _degenerate)
    return kinds[int(rng.integers(len(kinds)))](rng, number)


def _scaled_rows(rng: Rng, number: int) -> Problem:
    """Each row in a unit of its own, 1e-6 to 1e6."""
    base = _any(rng, number)
    rows, equalities = (10.0 ** rng.uniform(-6, 6, len(bounds)) for bounds in (base.c, base.e))
    return replace(
        base, J=_times(rows, base.J), c=rows * base.c, E=_times(equalities, base.E), e=equalities * base.e
    )  # fmt: skip


def _times(factors: Floats, rows: Any) -> Any:
    return sp.csr_matrix(sp.diags_array(factors) @ rows) if sp.issparse(rows) else factors[:, None] * rows


def _mixture(rng: Rng, number: int) -> Problem:
    """Ill-conditioned, with equalities, duplicates, sums, weak multipliers and rows in units of their own."""
    n, m = _size(rng, number, 40, 2), _size(rng, number, 30)
    E = _whole(rng, (int(rng.integers(0, max(1, n // 3))), n))
    K = _matrix(rng, n, 10.0 ** rng.uniform(0, 10))
    base = _planted(rng, K, rng.normal(size=(m, n)), E, active=rng.uniform(), weak=rng.uniform())
    times = np.eye(m)[rng.integers(0, m, m)]
    sums = rng.uniform(size=(m, m)) * (rng.uniform(size=(m, m)) < 3 / m)
    units = 10.0 ** rng.uniform(-3, 3, 3 * m)
    factors = units[:, None] * np.concatenate([np.eye(m), times, sums])
    factors = factors[factors.any(axis=1)]
    return replace(base, J=factors @ base.J, c=factors @ base.c)


def _scaled_unknowns(rng: Rng, number: int) -> Problem:
    """Each unknown in a unit of its own, 1e-3 to 1e3."""
    return _in_units(_any(rng, number), lambda n: 10.0 ** rng.uniform(-3, 3, n), 1.0)


def _scaled_units(rng: Rng, number: int) -> Problem:
    """All unknowns in one unit, and the objective in another, 1e-6 to 1e6."""
    unit = 10.0 ** rng.uniform(-6, 6)
    return _in_units(_any(rng, number), lambda n: np.full(n, unit), 10.0 ** rng.uniform(-6, 6))


def _in_units(base: Problem, unknowns: Callable[[int], Floats], goal: float) -> Problem:
    units = unknowns(base.n)
    K = _times(units, _times(goal * units, base.K).T)
    return replace(base, K=(K + K.T) / 2, b=goal * units * base.b, J=_times(units, base.J.T).T, E=base.E * units)


def _nasty(rng: Rng, number: int) -> Problem:
    """All at once: any condition, units and sizes; up to five rows per unknown, of low rank or given several times; as
    many equalities as unknowns, some of them twice; and an objective that pulls as far away as 1e6 sizes of x.
    """
    n = _size(rng, number, 40)
    m, p = int(rng.choice([0, 1, 3, n, 2 * n, 5 * n])), int(rng.choice([0, 0, 1, n // 2, n]))
    K = _matrix(rng, n, 10.0 ** rng.choice([0, 2, 5, 8, 10])) * 10.0 ** rng.integers(-8, 9)
    kind, E = int(rng.integers(6)), rng.normal(size=(p, n))
    if kind == 0:
        units = 10.0 ** rng.uniform(-2.5, 2.5, n)
        K = _times(units, _times(units, _matrix(rng, n, 10.0)).T)
        K = (K + K.T) / 2
    J = rng.normal(size=(m, n)) * (rng.uniform(size=(m, n)) < rng.choice([0.3, 1.0]))
    if kind in (1, 2):
        rank = int(rng.integers(1, max(2, min(m, n))))
        J = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    if kind == 2 and m:
        J = J[rng.integers(0, max(1, m // 3), m)]
    if kind == 3:
        J = _times(10.0 ** rng.uniform(-9, 9, m), J)
    if p > 1 and rng.integers(3) == 0:
        E[-1] = 4 * E[0]
    x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    room = np.abs(J).sum(axis=1) * np.abs(x).max() * rng.choice([0.0, 0.0, 0.01, 1.0], m)
    far = K @ rng.normal(size=n) * rng.choice([1, 1e3]), rng.normal(size=n) * np.abs(K).max(), np.zeros(n)
    return Problem(K, far[rng.integers(3)], J, J @ x + room * (kind != 4), E, E @ x)


# Bodies


def _cable(rng: Rng, number: int) -> Problem:
    return Problem(*qp_bodies.cable(rng, _size(rng, number, 40, 3), 10.0 ** rng.uniform(3, 7)))


def _cloth(rng: Rng, number: int) -> Problem:
    return Problem(*qp_bodies.cloth(rng, _size(rng, number, 9, 2), 10.0 ** rng.uniform(3, 6)))


# Families without a solution


def _infeasible(rng: Rng, number: int) -> Problem:
    """Rows of which a sum with positive factors reads 0 ≤ −1, among others."""
    base = _dense(rng, number)
    used = int(rng.integers(1, min(len(base.c), base.n) + 1))
    factors = rng.uniform(0.5, 2, used)
    bound = factors @ base.c[:used] + (0.1 + rng.exponential()) * (1 + np.abs(base.c[:used]).max())
    J, c = np.concatenate([base.J, -factors[None] @ base.J[:used]]), np.r_[base.c, -bound]
    order = rng.permutation(len(c))
    return replace(base, J=J[order], c=c[order], is_feasible=False)


def _infeasible_pairs(rng: Rng, number: int) -> Problem:
    """Rows and their opposites with no room in between; bounds for odd numbers."""
    base = _bounds(rng, number) if number % 2 else _dense(rng, number)
    pairs = rng.permutation(len(base.c))[: int(rng.integers(1, 4))]
    gap = (0.1 + rng.exponential(size=len(pairs))) * (1 + np.abs(base.c[pairs]))
    J, c = np.concatenate([base.J, -base.J[pairs]]), np.r_[base.c, -base.c[pairs] - gap]
    return replace(base, J=J, c=c, is_feasible=False)


def _infeasible_equalities(rng: Rng, number: int) -> Problem:
    """Equalities that contradict each other, or a row."""
    base = _equalities(rng, number)
    factors = rng.uniform(0.5, 2, len(base.e))
    off = (0.1 + rng.exponential()) * (1 + np.abs(base.e).max())
    row, value = factors[None] @ base.E, factors @ base.e
    if number % 3:
        return replace(base, J=np.concatenate([base.J, row]), c=np.r_[base.c, value - off], is_feasible=False)
    return replace(base, E=np.concatenate([base.E, row]), e=np.r_[base.e, value + off], is_feasible=False)


def _infeasible_zero_rows(rng: Rng, number: int) -> Problem:
    """0 ≤ −1, or 0 = 1."""
    base = _zero_rows(rng, number)
    empty = np.flatnonzero(~base.J.any(axis=1))[0]
    if number % 3:
        c = base.c.copy()
        c[empty] = -rng.exponential() - 0.01
        return replace(base, c=c, is_feasible=False)
    return replace(base, e=np.r_[base.e[:-1], 1.0], is_feasible=False)


FAMILIES: dict[str, Callable[[Rng, int], Problem]] = {
    "dense": _dense, "sparse": _sparse, "bounds": _bounds, "without rows": _without_rows, "all active": _all_active,
    "one unknown": _one_unknown, "equalities": _equalities, "duplicates": _duplicates, "combinations": _combinations,
    "figure 1": _figure_1, "nearly dependent": _nearly_dependent, "dependent equalities": _dependent_equalities,
    "opposite": _opposite, "degenerate": _degenerate, "zero multipliers": _zero_multipliers, "zero rows": _zero_rows,
    "ill-conditioned": _ill_conditioned, "scaled rows": _scaled_rows, "scaled unknowns": _scaled_unknowns,
    "scaled units": _scaled_units, "mixture": _mixture, "nasty": _nasty, "cable": _cable, "cloth": _cloth,
    "infeasible": _infeasible, "infeasible pairs": _infeasible_pairs, "infeasible equalities": _infeasible_equalities,
    "infeasible zero rows": _infeasible_zero_rows,
}  # fmt: skip
