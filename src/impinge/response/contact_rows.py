"""Contacts as rows of a quadratic program: no pair comes nearer than it may, along the line between its nearest points.

A pair is a vertex and a face or two edges, with four corners. Its row fixes the normal n, from the second to the first,
and the weights w of the nearest points at the start of a step: n · Σ w x ≥ distance at the end ([Raghupathi2006], 4.2
and 4.3, with the signs put right).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.ccd.candidates import Candidates
from impinge.response import _gaps

__all__ = ["Gaps", "Pairs", "distinct", "find_ends", "join", "measure", "pairs_of", "spread"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class Pairs(NamedTuple):
    """Vertices with faces, and edges with edges."""

    kinds: NDArray[np.int8]  # (m,) 0 for a vertex and a face, 1 for two edges
    numbers: Ints  # (m, 2): of the vertex and the face, or of the edges
    corners: Ints  # (m, 4)

    @property
    def keys(self) -> NDArray[np.int64]:
        """A number for each pair."""
        kind, (first, second) = self.kinds.astype(np.int64), self.numbers.astype(np.int64).T
        keys: NDArray[np.int64] = kind << _gaps.KIND_BIT | first << _gaps.NUMBER_BITS | second
        return keys

    def take(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Pairs:
        """Some of them."""
        return Pairs(self.kinds[which], self.numbers[which], self.corners[which])


class Gaps(NamedTuple):
    """Nearest points of pairs at one time."""

    weights: Floats  # (m, 4) of the corners, positive of the first and negative of the second
    normals: Floats  # (m, 3) from the second to the first
    gaps: Floats  # (m,) their distance, normal · Σ weight x, m

    def take(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Gaps:
        """Some of them."""
        return Gaps(*(array[which] for array in self))

    def at(self, x: Floats, pairs: Pairs) -> Floats:
        """The distance of the same points along the same normals, with the corners elsewhere, m."""
        out = np.empty(len(self.gaps))
        _gaps.separations(len(out), x, pairs.corners, self.weights, self.normals, out)
        return out


def pairs_of(near: Candidates, edges: Ints, faces: Ints) -> Pairs:
    """Pairs in one list, sorted by their keys."""
    vertex_faces, edge_edges, _ = near
    keys = np.empty(len(vertex_faces) + len(edge_edges), np.int64)
    _gaps.name_pairs(vertex_faces, edge_edges, keys)
    keys.sort()
    count = len(keys)
    found = Pairs(np.empty(count, np.int8), np.empty((count, 2), np.int32), np.empty((count, 4), np.int32))
    _gaps.list_pairs(count, keys, edges, faces, *found)
    return found


def measure(x: Floats, pairs: Pairs) -> Gaps:
    """Nearest points at positions x, (n, 3)."""
    count = len(pairs.kinds)
    found = Gaps(np.empty((count, 4)), np.empty((count, 3)), np.empty(count))
    _gaps.measure_gaps(count, x, pairs.kinds, pairs.corners, *found)
    return found


def find_ends(x0: Floats, x1: Floats, pairs: Pairs, gaps: Gaps, limits: Floats) -> tuple[Floats, Floats]:
    """Distances of pairs when all have moved from x0, where they were measured, to x1: along the same normals, and real
    ones; inf for those that move too little to come down to their limits.
    """
    ends, real = np.empty_like(limits), np.empty_like(limits)
    _gaps.find_ends(len(limits), x0, x1, pairs.kinds, pairs.corners, *gaps, limits, ends, real)
    return ends, real


def distinct(pairs: Pairs, gaps: Gaps) -> NDArray[np.int64]:
    """Places of rows that differ: pairs whose nearest points are on the same corners or edges have the same row.

    A corner near a corner is nearest point of six faces and of dozens of edges around them.
    """
    keys = np.empty((len(pairs.kinds), 3), np.int64)
    _gaps.name_features(pairs.kinds, pairs.corners, gaps.weights, keys)
    order = np.lexsort(keys.T)  # stable: the first of equals comes first
    differs = np.ones(len(order), np.bool_)
    differs[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    return np.sort(order[differs])


def join(pairs: Sequence[Pairs], gaps: Sequence[Gaps]) -> tuple[Pairs, Gaps]:
    """Several lists in one."""
    together = Pairs(
        np.concatenate([some.kinds for some in pairs]),
        np.concatenate([some.numbers for some in pairs]),
        np.concatenate([some.corners for some in pairs]),
    )
    return together, Gaps(*(np.concatenate(arrays) for arrays in zip(*gaps, strict=True)))


# Corners of the first and of the second of a pair, for each of its combinations.
_COMBINATIONS = (((0, 1), (0, 2), (0, 3)), ((0, 2), (0, 3), (1, 2), (1, 3)))


def spread(pairs: Pairs, gaps: Gaps) -> tuple[Pairs, Gaps]:
    """Rows that keep every corner of the first from every corner of the second, along the same normals.

    All of them together are a proof that the pair stays apart while its corners move linearly: along the normal all
    corners are apart at the start, and at the end, so in between.
    """
    every, apart = [pairs.take(np.empty(0, np.int64))], [gaps.take(np.empty(0, np.int64))]
    for kind, combinations in enumerate(_COMBINATIONS):
        chosen = np.flatnonzero(pairs.kinds == kind)
        for first, second in combinations:
            weights = np.zeros((len(chosen), 4))
            weights[:, first], weights[:, second] = 1.0, -1.0
            every.append(pairs.take(chosen))
            apart.append(Gaps(weights, gaps.normals[chosen], gaps.gaps[chosen]))
    return join(every, apart)
