"""Normals of triangle meshes: smooth over what is meant to be round, apart where faces meet at an edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

__all__ = ["SHARP", "Shading", "unit_normals"]

SHARP = np.cos(np.radians(29.0))  # of no regular polygon: at 30, rounding chooses among the edges of a drum of 12


def unit_normals(triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, 3): normals of length 1 of triangles (m, 3, 3); zero for those without area."""
    normals = _area_normals(triangles)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)


def _area_normals(triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normals that are as long as twice the area."""
    a, b, c = triangles.transpose(1, 0, 2)
    return np.cross(b - a, c - a)


def _scaled(vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of a size whose fourth power is a number that is neither infinite nor zero."""
    return vertices / (np.abs(vertices).max(initial=0.0) or 1.0)


class Shading:
    """Vertices of a mesh that have one normal each: one in smooth surfaces, several at sharp edges.

    Parameters
    ----------
    vertices : (n, 3) float64, m
        Where they are when sharp edges are looked for.
    faces : (m, 3) integers
    creases : bool
        Whether edges can be sharp; if not, every vertex that a face uses has one normal.

    Attributes
    ----------
    sources : (k,) integers
        Which of the n vertices each of the new ones is.
    faces : (m, 3) int32
        The faces, by the new vertices.
    """

    def __init__(self, vertices: NDArray[np.float64], faces: NDArray[np.int32], creases: bool) -> None:
        corners = faces.ravel()
        if creases:
            groups = _smooth_groups(unit_normals(_scaled(vertices)[faces]), faces)
            _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
            self.sources = corners[first]
        else:
            self.sources, numbers = np.unique(corners, return_inverse=True)
        self.faces = numbers.reshape(-1, 3).astype(np.int32)

    def normals(self, vertices: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, 3): unit normals of the new vertices, with these (n, 3) places of the old; +z where there is no area."""
        by_face = _area_normals(_scaled(vertices)[self.sources][self.faces])
        corners = np.arange(self.faces.size)
        gather = sparse.csr_array(
            (np.ones(len(corners)), (self.faces.ravel(), corners // 3)), shape=(len(self.sources), len(self.faces))
        )
        sums = gather @ by_face
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        upwards = np.tile([0.0, 0.0, 1.0], (len(sums), 1))
        return np.divide(sums, lengths, out=upwards, where=lengths > 1e-30)


def _smooth_groups(unit: NDArray[np.float64], faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """(3 m,): corners of faces that meet in a vertex have one number if smooth edges join the faces."""
    starts, ends = faces.ravel(), faces[:, [1, 2, 0]].ravel()
    corner = np.arange(faces.size)
    following = corner - corner % 3 + (corner + 1) % 3
    keys = np.minimum(starts, ends).astype(np.int64) * (faces.max(initial=0) + 1) + np.maximum(starts, ends)
    order = np.argsort(keys, kind="stable")
    one, other = order[:-1], order[1:]
    joined = (keys[one] == keys[other]) & ((unit[one // 3] * unit[other // 3]).sum(axis=1) >= SHARP)
    one, other = one[joined], other[joined]
    # Along its edge each face has a corner at either end; neighbours run the other way round, usually.
    same_way = starts[one] == starts[other]
    at_start = np.where(same_way, other, following[other])
    at_end = np.where(same_way, following[other], other)
    rows, columns = np.concatenate([one, following[one]]), np.concatenate([at_start, at_end])
    links = sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(faces.size, faces.size))
    return np.asarray(connected_components(links, directed=False)[1])
