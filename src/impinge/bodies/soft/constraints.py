"""The rows of a step: what keeps pairs apart, what limits strain, and what users ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft import _constraints
from impinge.bodies.soft._rows import EQUALITY, INEQUALITY, UNUSED, Rows
from impinge.bodies.soft.parts import Floats, Ints
from impinge.response.contact_rows import Gaps, Pairs, join

__all__ = ["Bars", "Friction", "Held", "Linear", "all_rows"]

Kinds = NDArray[np.int8]


@dataclass
class Held:
    """Pairs that are kept apart in a step, with the normals and weights of its start, or of its end.

    targets : (m,) m, distance at the end that is asked for
    forces : (m,) N
    slacks : (m,) m, what is left of the rows; 0 if it is not known
    is_turned : (m,) whether normals are those of the end
    give : m/N, what rows give way by
    """

    pairs: Pairs
    gaps: Gaps
    targets: Floats
    forces: Floats
    slacks: Floats
    is_turned: NDArray[np.bool_]
    give: float = 0.0

    @staticmethod
    def nothing() -> Held:
        """No pairs."""
        none = np.empty(0)
        pairs = Pairs(np.empty(0, np.int8), np.empty((0, 2), np.int32), np.empty((0, 4), np.int32))
        gaps = Gaps(np.empty((0, 4)), np.empty((0, 3)), none)
        return Held(pairs, gaps, none, none, none, np.empty(0, np.bool_))

    def slips(self, way: Floats) -> Floats:
        """(m, 3) m: how far pairs slip along each other while all vertices go their way."""
        between: Floats = (self.gaps.weights[:, :, None] * way[self.pairs.corners]).sum(axis=1)
        return between - (between * self.gaps.normals).sum(axis=1)[:, None] * self.gaps.normals

    def add(self, pairs: Pairs, gaps: Gaps, targets: Floats, forces: Floats, *, is_turned: bool = False) -> None:
        """More rows."""
        self.pairs, self.gaps = join([self.pairs, pairs], [self.gaps, gaps])
        self.targets = np.concatenate([self.targets, targets])
        self.forces = np.concatenate([self.forces, forces])
        self.slacks = np.concatenate([self.slacks, np.zeros(len(forces))])
        self.is_turned = np.concatenate([self.is_turned, np.full(len(forces), is_turned)])

    def take(self, which: NDArray[np.int64]) -> Held:
        """Some of them."""
        targets, forces, slacks = self.targets[which], self.forces[which], self.slacks[which]
        pairs, gaps = self.pairs.take(which), self.gaps.take(which)
        return Held(pairs, gaps, targets, forces, slacks, self.is_turned[which], self.give)


class Linear(NamedTuple):
    """Rows A x ≥ bound, or = bound, of positions x, (3 n,), at the end of a step."""

    indptr: Ints
    indices: Ints
    values: Floats
    bounds: Floats
    is_equality: NDArray[np.bool_]

    def times(self, x: Floats) -> Floats:
        """A x."""
        if not len(self.bounds):
            return np.empty(0)
        shape = len(self.bounds), len(x)
        result: Floats = sp.csr_array((self.values, self.indices, self.indptr), shape=shape) @ x
        return result


class Bars(NamedTuple):
    """Lengths of edges at the end of a step: sign (l − length) ≥ 0.

    What is beyond its limit comes back to it over several steps: the lengths of a step are then beyond `limits`.
    """

    nodes: Ints  # (k, 2)
    rest: Floats  # (k,) m
    lengths: Floats  # (k,) m
    limits: Floats  # (k,) m
    signs: Floats  # (k,) −1 for longest, 1 for shortest lengths
    give: float  # m/N that they give way by

    def take(self, which: NDArray[np.int64]) -> Bars:
        """Some of them."""
        nodes, rest, lengths, limits, signs, give = self
        return Bars(nodes[which], rest[which], lengths[which], limits[which], signs[which], give)

    def lengths_at(self, x: Floats) -> Floats:
        """Lengths of the edges with vertices at x, (n, 3)."""
        length: Floats = np.linalg.norm(x[self.nodes[:, 1]] - x[self.nodes[:, 0]], axis=1)
        return length


class Friction(NamedTuple):
    """Largest forces of friction of the first rows that are held, and the slip from which on they act in full."""

    forces: Floats  # N
    creep: float  # m


NO_BARS = Bars(np.empty((0, 2), np.int32), np.empty(0), np.empty(0), np.empty(0), np.empty(0), 0.0)
NO_ROWS = Linear(np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0, np.bool_))


def all_rows(
    held: Held, linear: Linear, bars: Bars, friction: Friction, start: Floats, end: Floats, fixed: NDArray[np.bool_]
) -> Rows:
    """Rows for `_interior`, over the free coordinates of soft nodes.

    start, end : (all vertices, 3) m; the end of obstacles and of fixed coordinates is as given
    fixed : (n, 3)
    """
    n, sizes = len(fixed), np.maximum(held.targets, 1e-300)
    contact = _constraints.contact_rows(held.pairs.corners, held.gaps, held.targets, fixed, start, end)
    user = _constraints.user_rows(linear, fixed.ravel(), start[:n].ravel(), end[:n].ravel())
    slip = _constraints.slip_rows(held.pairs.corners, held.gaps, len(friction.forces), fixed, start, end)
    bar_indices = (3 * bars.nodes[:, :, None] + np.arange(3, dtype=np.int32)).reshape(-1)
    lengths = [np.diff(contact[0]), np.diff(user[0]), np.full(len(bars.rest), 6), np.diff(slip[0])]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    indices = np.concatenate([contact[1], user[1], bar_indices, slip[1]]).astype(np.int32)
    values = np.concatenate([contact[2], user[2], np.zeros(len(bar_indices)), np.zeros(len(slip[1]))])
    kind = np.concatenate([
        np.where(lengths[0] > 0, INEQUALITY, UNUSED),
        np.where(lengths[1] == 0, UNUSED, np.where(linear.is_equality, EQUALITY, INEQUALITY)),
        np.full(len(bars.rest), INEQUALITY),
    ]).astype(np.int8)  # fmt: skip
    spans = np.add.reduceat(np.abs(np.append(user[2], 0.0)), user[0][:-1]) if len(linear.bounds) else np.empty(0)
    scale = float(held.targets.max(initial=0.0)) or float(np.abs(end[:n] - start[:n]).max(initial=1e-3)) or 1e-3
    return Rows(
        _check.frozen(indptr), _check.frozen(indices), values, _check.frozen(np.concatenate([contact[3], user[3]])),
        _check.frozen(kind), _check.frozen(np.concatenate([sizes, np.maximum(spans * scale, 1e-300), bars.rest])),
        _check.frozen(np.repeat([held.give, 0.0, bars.give], [len(sizes), len(spans), len(bars.rest)])),
        _check.frozen(bars.nodes), _check.frozen(bars.lengths), _check.frozen(bars.signs), _check.frozen(slip[2]),
        _check.frozen(slip[3]), _check.frozen(friction.forces), friction.creep,
        _check.frozen(np.ascontiguousarray(start[:n]).ravel()), _check.frozen(fixed.ravel()),
    )  # fmt: skip
