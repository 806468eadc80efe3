"""What users ask of the motion: nodes that are driven, limits of strain, and rows of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge.bodies.soft.constraints import NO_BARS, NO_ROWS, Bars, Linear
from impinge.bodies.soft.parts import Edges, Floats
from impinge.errors import InputError

__all__ = ["Drivers", "FixedNodes", "UserRows"]

_PARALLEL = 1.0 - 1e-12  # cosine of directions that are the same
_RECOVERY = 10.0  # 1/s: what is beyond its limit comes back by this share of its length at rest per second

Velocity = Floats | Callable[[float], Any]


class FixedNodes(NamedTuple):
    """Nodes whose velocity is given, or only its part along a direction."""

    nodes: NDArray[np.int64]
    velocity: Velocity  # (3,) m/s, or a number along the direction; or a function of time
    direction: Floats | None  # (3,) unit vector
    acts: NDArray[np.bool_]  # (nodes,) whether no later call has taken a node over

    def displacement(self, time: float, dt: float) -> Floats:
        """How far they go in a step, m; along the direction, if there is one."""
        velocity = np.asarray(self.velocity(time) if callable(self.velocity) else self.velocity, np.float64)
        wanted: tuple[tuple[int, ...], ...] = ((), (3,), (len(self.nodes), 3))
        if velocity.shape not in wanted or not np.isfinite(velocity).all():
            raise InputError(f"velocity: found {velocity} at t = {time:g} s, expected finite numbers of shape (3,)")
        if self.direction is None:
            return dt * np.broadcast_to(velocity, (len(self.nodes), 3))
        along = velocity @ self.direction if velocity.ndim else velocity
        return dt * np.broadcast_to(along, len(self.nodes))


class UserRows(NamedTuple):
    """J x ≤ bound of positions or velocities, (3 n,), at the end of every step; or = bound."""

    matrix: Any  # csr
    bound: Floats | Callable[[float], Any]
    of_velocities: bool
    is_equality: bool

    def bounds(self, time: float) -> Floats:
        """Right sides at a time."""
        bound = np.asarray(self.bound(time) if callable(self.bound) else self.bound, np.float64)
        count = self.matrix.shape[0]
        is_good = np.isfinite(bound) | (bound == np.inf) & (not self.is_equality)
        if bound.shape not in ((), (count,)) or not is_good.all():
            wanted = "finite" if self.is_equality else "finite or inf"
            raise InputError(f"bound: found {bound} at t = {time:g} s, expected a number, or {count} of them, {wanted}")
        return np.broadcast_to(bound, count)

    def wide(self, columns: int) -> Any:
        """The matrix, with columns for nodes that were added later."""
        matrix = self.matrix
        if matrix.shape[1] == columns:
            return matrix
        return sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], columns))


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

    def drive(self, nodes: NDArray[np.int64], velocity: Velocity, direction: Floats | None) -> None:
        """Drive nodes: instead of what drove them, but for what drives them along other directions."""
        for k, old in enumerate(self.fixed):
            if direction is None or old.direction is None or abs(float(old.direction @ direction)) > _PARALLEL:
                self.fixed[k] = old._replace(acts=old.acts & ~np.isin(old.nodes, nodes))
        self.fixed.append(FixedNodes(nodes, velocity, direction, np.ones(len(nodes), np.bool_)))

    def place(self, x: Floats, time: float, dt: float, fixed: NDArray[np.bool_], end: Floats) -> None:
        """Put driven nodes where they will be at the end of a step, and mark their coordinates."""
        for driven in self.fixed:
            if driven.direction is None:
                nodes = driven.nodes[driven.acts]
                fixed[nodes] = True
                end[nodes] = x[nodes] + driven.displacement(time, dt)[driven.acts]

    def linear(self, x: Floats, time: float, dt: float) -> Linear:
        """Rows of a step from positions x, (n, 3)."""
        blocks, bounds, equal = [], [], []
        for driven in self.fixed:
            if driven.direction is not None:
                nodes = driven.nodes[driven.acts]
                columns = (3 * nodes[:, None] + np.arange(3)).ravel()
                data, starts = np.tile(driven.direction, len(nodes)), 3 * np.arange(len(nodes) + 1)
                blocks.append(sp.csr_array((data, columns, starts), shape=(len(nodes), x.size)))
                bounds.append(x[nodes] @ driven.direction + driven.displacement(time, dt)[driven.acts])
                equal.append(np.ones(len(nodes), np.bool_))
        for rows in self.rows:
            at_end, matrix = -rows.bounds(time + dt), rows.wide(x.size)
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

    def names(self, rows: NDArray[np.bool_], time: float) -> list[str]:
        """Some of the rows of `linear`, in words; time : of the end of the step."""
        every = []
        for k, driven in enumerate(self.fixed):
            if driven.direction is not None:
                every += [f"node {node} in direction of call {k} of fix" for node in driven.nodes[driven.acts]]
        for k, block in enumerate(self.rows):
            every += [f"row {i} of call {k} of add_constraint" for i in np.flatnonzero(np.isfinite(block.bounds(time)))]
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
