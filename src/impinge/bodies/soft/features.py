"""Edges and vertices inside of flat parts of obstacles, which nothing should notice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft import _features
from impinge.bodies.soft.parts import Floats, Ints
from impinge.response.contact_rows import Gaps, Pairs

__all__ = ["Features"]

_FLAT = np.cos(np.radians(2.0))  # of normals of faces that are one flat part


class Features:
    """Faces around edges, and edges around vertices, within flat parts; vertices of a body in one place are one.

    rest, body_of : (n, 3), (n,) positions at rest, and the body of each vertex
    first_obstacle : vertex from which on they are of obstacles
    """

    def __init__(self, rest: Floats, body_of: NDArray[np.int64], edges: Ints, faces: Ints, first_obstacle: int) -> None:
        places = np.unique(np.column_stack([body_of, rest]), axis=0, return_inverse=True)[1] if len(rest) else body_of
        names = places.reshape(-1).astype(np.int32)
        count = int(names.max(initial=-1)) + 1
        sides = np.stack([faces[:, [1, 2]], faces[:, [2, 0]], faces[:, [0, 1]]], axis=1).reshape(-1, 2)
        side_keys, far = _keys(names[sides], count), faces.reshape(-1)
        order = np.argsort(side_keys, kind="stable")
        keys = side_keys[order]
        first, last = np.searchsorted(keys, side_keys), np.searchsorted(keys, side_keys, side="right") - 1
        mate = np.where(order[first] == np.arange(len(far)), last, first) if len(far) else first
        across = np.where(last - first == 1, far[order[mate]], -1) if len(far) else far
        with np.errstate(invalid="ignore", divide="ignore"):
            normals = np.cross(rest[faces[:, 1]] - rest[faces[:, 0]], rest[faces[:, 2]] - rest[faces[:, 0]])
            normals /= np.linalg.norm(normals, axis=1)[:, None]
        own = np.repeat(np.arange(len(faces)), 3)
        alike = np.abs((normals[own] * normals[own[order[mate]]]).sum(axis=1)) > _FLAT if len(far) else far > 0
        is_flat = (across >= 0) & alike & (far >= first_obstacle)
        across = np.where(is_flat, across, -1)
        edge_keys = _keys(names[edges], count)
        low, high = np.searchsorted(keys, edge_keys), np.searchsorted(keys, edge_keys, side="right")
        opposite = np.full((len(edges), 2), -1)
        for column in (0, 1):
            has = np.flatnonzero(high - low == 2)
            has = has[is_flat[order[low[has]]]]
            opposite[has, column] = far[order[low[has] + column]]
        # A vertex is inside of a flat part if all edges there are.
        rough = np.ones(count, np.bool_)
        rough[names[edges[opposite[:, 0] >= 0]].ravel()] = False
        rough[names[edges[opposite[:, 0] < 0]].ravel()] = True
        ends = np.concatenate([edges, edges[:, ::-1]])
        ends = ends[~rough[names[ends[:, 0]]]]
        by_place = np.argsort(names[ends[:, 0]], kind="stable")
        starts = np.searchsorted(names[ends[by_place, 0]], np.arange(count + 1))
        arrays = across.reshape(-1, 3), opposite, names, starts, ends[by_place, 1]
        self._arrays = tuple(_check.frozen(array.astype(np.int32)) for array in arrays)

    def find_true(self, x: Floats, pairs: Pairs, gaps: Gaps) -> NDArray[np.bool_]:
        """Which pairs, with their nearest points at x, are nearest to each other with what is around them, too."""
        out = np.empty(len(pairs.kinds), np.bool_)
        _features.find_true(len(out), x, *pairs[:2], pairs.corners, gaps.weights, gaps.normals, *self._arrays, out)
        return out


def _keys(ends: Ints, count: int) -> NDArray[np.int64]:
    """A number for each pair of places."""
    keys: NDArray[np.int64] = ends.min(axis=1).astype(np.int64) * count + ends.max(axis=1)
    return keys
