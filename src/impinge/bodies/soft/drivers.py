"""What users ask of the motion: nodes that are driven, limits of strain, and rows of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft.constraints import NO_BARS, NO_ROWS, Bars, Linear
from impinge.bodies.soft.parts import Edges, Floats
from impinge.errors import InputError

__all__ = ["Drivers", "FixedNodes", "UserRows", "driven_nodes", "unit_direction", "user_rows"]

_PARALLEL = 1.0 - 1e-12  # cosine of directions that are the same
_SAME_TIME = 1e-6  # of a step: times are sums of steps, and rounded
_RECOVERY = 10.0  # 1/s: what is beyond its limit comes back by this share of its length at rest per second

Velocity = Floats | Callable[[float], Any]


class FixedNodes(NamedTuple):
    """Nodes whose velocity is given, or only its part along a direction."""

    nodes: NDArray[np.int64]
    velocity: Velocity  # (3,) m/s, or a number along the direction; or a function of time
    direction: Floats | None  # (3,) unit vector
    acts: NDArray[np.bool_]  # (nodes,) whether no later call has taken a node over, or let it go
    until: float = np.inf  # s

    def acts_in(self, time: float, dt: float) -> NDArray[np.bool_]:
        """(nodes,) whether they are driven in a step from `time`."""
        return self.acts & bool(time < self.until - _SAME_TIME * dt)

    def displacement(self, time: float, dt: float) -> Floats:
        """How far they go in a step, m; along the direction, if there is one.

        By the velocity in the middle of the step: so their positions are of second order in dt, as BDF2 is.
        """
        velocity, count = self._velocity_at(time + 0.5 * dt), len(self.nodes)
        if self.direction is None:
            return dt * np.broadcast_to(velocity, (count, 3))
        along = velocity @ self.direction if velocity.ndim else velocity
        return dt * np.broadcast_to(along, count)

    def _velocity_at(self, time: float) -> Floats:
        """Of any shape that is allowed; one number means the direction, or that they rest."""
        single = "0" if self.direction is None else "a number along the direction"
        wanted = f"{single}, or finite numbers of shape (3,) or ({len(self.nodes)}, 3), a row for each node"
        given = self.velocity(time) if callable(self.velocity) else self.velocity
        velocity = _check.numbers("velocity", given, wanted).astype(np.float64)
        if velocity.shape not in ((), (3,), (len(self.nodes), 3)):
            raise InputError(f"velocity: found shape {velocity.shape} at t = {time:g} s, expected {wanted}")
        is_wrong = velocity != 0.0 if velocity.ndim == 0 and self.direction is None else ~np.isfinite(velocity)
        if np.any(is_wrong):
            raise InputError(f"velocity: found {velocity[is_wrong][0]} at t = {time:g} s, expected {wanted}")
        return velocity


def driven_nodes(
    nodes: NDArray[np.int64], velocity: Velocity, direction: Floats | None, until: float | None
) -> FixedNodes:
    """Nodes that are driven; of one that is there several times the last place counts."""
    _, last = np.unique(nodes[::-1], return_index=True)
    acts = np.zeros(len(nodes), np.bool_)
    acts[len(nodes) - 1 - last] = True
    return FixedNodes(nodes, velocity, direction, acts, np.inf if until is None else until)


class UserRows(NamedTuple):
    """J x ≤ bound of positions, (3 n,), at the end of every step, or of its mean velocities; or = bound."""

    matrix: Any  # csr
    bound: Floats | Callable[[float], Any]
    of_velocities: bool
    is_equality: bool

    def bounds_of_step(self, time: float, dt: float) -> Floats:
        """Right sides in a step from `time`: a mean velocity is, to second order, that of the middle."""
        return self.bounds(time + (0.5 * dt if self.of_velocities else dt))

    def bounds(self, time: float) -> Floats:
        """Right sides at a time."""
        count = self.matrix.shape[0]
        which = "finite, as rows are equal to it" if self.is_equality else "finite or inf"
        wanted = f"a number, or {count} of them, {which}"
        bound = _check.numbers("bound", self.bound(time) if callable(self.bound) else self.bound, wanted)
        bound = bound.astype(np.float64)
        if bound.shape not in ((), (count,)):
            raise InputError(f"bound: found shape {bound.shape} at t = {time:g} s, expected {wanted}")
        is_wrong = ~np.isfinite(bound) & ((bound != np.inf) | self.is_equality)
        if is_wrong.any():
            raise InputError(f"bound: found {bound[is_wrong][0]} at t = {time:g} s, expected {wanted}")
        return np.broadcast_to(bound, count)

    def wide(self, columns: int) -> Any:
        """The matrix, with columns for nodes that were added later."""
        matrix = self.matrix
        if matrix.shape[1] == columns:
            return matrix
        return sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], columns))


def user_rows(J: Any, bound: Any, of: str, equal: bool, nodes: int) -> UserRows:
    """Rows of users, for so many nodes."""
    of, wanted = _check.choice("of", of, ("velocities", "positions")), f"a matrix of {3 * nodes} columns"
    if sp.issparse(J):
        J = sp.csr_array(J)
        _check.numbers("J", J.data, wanted)
    else:
        J = np.atleast_2d(_check.numbers("J", J, wanted))
    if J.ndim != 2 or J.shape[1] != 3 * nodes:
        raise InputError(f"J: found shape {J.shape}, expected {3 * nodes} columns, three for each node")
    matrix = sp.csr_array(J, dtype=np.float64, copy=True)
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise InputError(f"J: row {row} is not finite in column {matrix.indices[bad[0]]}")
    if not callable(bound):
        bound = _check.numbers("bound", bound, f"a number, or {matrix.shape[0]} of them").copy()
    return UserRows(matrix, bound, of == "velocities", _check.truth("equal", equal))


def unit_direction(direction: Any) -> Floats:
    """(3,) of length 1, from a direction of any length."""
    given = _check.vector("direction", direction)
    if not given.any():
        raise InputError(f"direction: found {given}, expected one that is not 0")
    scaled = given / np.abs(given).max()
    unit: Floats = scaled / np.linalg.norm(scaled)
    return unit


class Drivers:
    """All that is asked of the nodes of a world."""

    def __init__(self) -> None:
        self.fixed: list[FixedNodes] = []
        self.rows: list[UserRows] = []
        self._upper, self._lower, self._rate = np.empty(0), np.empty(0), np.empty(0)

    def limit(self, edges: slice, *, upper: float = np.nan, lower: float = np.nan, rate: float = np.nan) -> None:
        """Limit the strain of some edges."""
        for name, value in (("_upper", upper), ("_lower", lower), ("_rate", rate)):
            limits = getattr(self, name)
            if len(limits) < edges.stop:
                limits = np.append(limits, np.full(edges.stop - len(limits), np.nan))
            if not np.isnan(value):
                limits[edges] = value
            setattr(self, name, limits)

    def drive(self, new: FixedNodes) -> None:
        """Drive nodes: instead of what drove them, but for what drives them along other directions."""
        for k, old in enumerate(self.fixed):
            if old.direction is None or new.direction is None or _is_along(old.direction, new.direction):
                self._let_go(k, new.nodes)
        self.fixed.append(new)

    def release(self, nodes: NDArray[np.int64], direction: Floats | None) -> None:
        """Let go of nodes, or of what drives them along a direction and no other."""
        for k, old in enumerate(self.fixed):
            if direction is None or (old.direction is not None and _is_along(old.direction, direction)):
                self._let_go(k, nodes)

    def _let_go(self, call: int, nodes: NDArray[np.int64]) -> None:
        old = self.fixed[call]
        self.fixed[call] = old._replace(acts=old.acts & ~np.isin(old.nodes, nodes))

    def place(self, x: Floats, time: float, dt: float, fixed: NDArray[np.bool_], end: Floats) -> None:
        """Put driven nodes where they will be at the end of a step, and mark their coordinates."""
        for driven in self.fixed:
            acts = driven.acts_in(time, dt)
            if driven.direction is None and acts.any():
                nodes = driven.nodes[acts]
                fixed[nodes] = True
                end[nodes] = x[nodes] + driven.displacement(time, dt)[acts]

    def linear(self, x: Floats, time: float, dt: float) -> Linear:
        """Rows of a step from positions x, (n, 3)."""
        blocks, bounds, equal = [], [], []
        for driven in self.fixed:
            acts = driven.acts_in(time, dt)
            if driven.direction is not None and acts.any():
                nodes = driven.nodes[acts]
                columns = (3 * nodes[:, None] + np.arange(3)).ravel()
                data, starts = np.tile(driven.direction, len(nodes)), 3 * np.arange(len(nodes) + 1)
                blocks.append(sp.csr_array((data, columns, starts), shape=(len(nodes), x.size)))
                bounds.append(x[nodes] @ driven.direction + driven.displacement(time, dt)[acts])
                equal.append(np.ones(len(nodes), np.bool_))
        for rows in self.rows:
            at_end, matrix = -rows.bounds_of_step(time, dt), rows.wide(x.size)
            if rows.of_velocities:
                at_end = dt * at_end - matrix @ x.ravel()
            is_bounded = np.isfinite(at_end)
            blocks.append(-matrix[is_bounded])
            bounds.append(at_end[is_bounded])
            equal.append(np.full(int(is_bounded.sum()), rows.is_equality))
        if not blocks:
            return NO_ROWS
        matrix = sp.vstack(blocks, format="csr")
        pattern = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        # Rows may be in any unit: all are compared with each other by their largest entry.
        sizes = abs(matrix).max(axis=1).toarray().ravel() if matrix.nnz else np.zeros(matrix.shape[0])
        sizes[sizes == 0.0] = 1.0
        values = matrix.data / np.repeat(sizes, np.diff(matrix.indptr))
        return Linear(*pattern, values, np.concatenate(bounds) / sizes, np.concatenate(equal))

    def names(self, rows: NDArray[np.bool_], time: float, dt: float) -> list[str]:
        """Some of the rows of `linear` of a step, in words."""
        every = []
        for k, driven in enumerate(self.fixed):
            if driven.direction is not None:
                nodes = driven.nodes[driven.acts_in(time, dt)]
                every += [f"node {node} in direction of call {k} of fix" for node in nodes]
        for k, block in enumerate(self.rows):
            bounded = np.flatnonzero(np.isfinite(block.bounds_of_step(time, dt)))
            every += [f"row {i} of call {k} of add_constraint" for i in bounded]
        return [every[row] for row in np.flatnonzero(rows)]

    def bars(self, edges: Edges, x: Floats, dt: float, give: float) -> Bars:
        """Limits of lengths in a step from positions x."""
        count = len(self._upper)
        if not count:
            return NO_BARS
        nodes, rest = edges.nodes[:count], edges.rest[:count]
        length = np.linalg.norm(x[nodes[:, 1]] - x[nodes[:, 0]], axis=1)
        change = np.where(np.isnan(self._rate), np.inf, self._rate) * rest * dt
        back = np.minimum(_RECOVERY * rest * dt, change)
        longest = np.where(np.isnan(self._upper), np.inf, (1.0 + self._upper) * rest)
        longest = np.minimum(longest, length + change)
        shortest = np.where(np.isnan(self._lower), 0.0, (1.0 - self._lower) * rest)
        shortest = np.maximum(shortest, length - change)
        upper, lower = np.flatnonzero(longest < np.inf), np.flatnonzero(shortest > 0.0)
        both, limits = np.append(upper, lower), np.append(longest[upper], shortest[lower])
        lengths = np.append(np.maximum(longest, length - back)[upper], np.minimum(shortest, length + back)[lower])
        signs = np.repeat([-1.0, 1.0], [len(upper), len(lower)])
        return Bars(nodes[both], rest[both], lengths, limits, signs, give)


def _is_along(one: Floats, other: Floats) -> bool:
    """Whether two directions are the same, or opposite."""
    return abs(float(one @ other)) > _PARALLEL
