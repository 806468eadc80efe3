"""Meshes of simple bodies: closed, manifold, outward, centred at the origin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.shapes._edges import _link_edges
from impinge.shapes._refine import _split_faces
from impinge.shapes.mesh import Mesh

__all__ = ["icosphere", "octasphere"]


def _refined(vertices: NDArray[np.float64], faces: NDArray[np.int32], level: int, radius: float) -> Mesh:
    """The unit sphere made by splitting every face `level` times, then scaled."""
    for _ in range(level):
        mate = np.empty(faces.size, np.int32)
        _link_edges(faces, len(vertices), mate)
        new_vertices = np.empty((len(vertices) + faces.size // 2, 3))
        new_faces = np.empty((4 * len(faces), 3), np.int32)
        _split_faces(vertices, faces, mate, new_vertices, new_faces)
        vertices, faces = new_vertices, new_faces
    return Mesh(vertices if radius == 1.0 else radius * vertices, faces)


def octasphere(level: int, radius: float = 1.0) -> Mesh:
    """Sphere from an octahedron: each face split in four and projected, `level` times.

    8 · 4^level faces and 4 · 4^level + 2 vertices, which lie on the sphere.

    Parameters
    ----------
    level : int, 0 to 12
    radius : float, m
    """
    level, radius = _check.integer("level", level, 0, 12), _check.positive("radius", radius)
    vertices = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float64)
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    return _refined(vertices, np.array(faces, np.int32), level, radius)


def icosphere(level: int, radius: float = 1.0) -> Mesh:
    """Sphere from an icosahedron: each face split in four and projected, `level` times.

    20 · 4^level faces, which are more equal to each other than those of `octasphere`.

    Parameters
    ----------
    level : int, 0 to 11
    radius : float, m
    """
    level, radius = _check.integer("level", level, 0, 11), _check.positive("radius", radius)
    a, b = 1 / np.sqrt(2 + (1 + np.sqrt(5)) / 2), 1 / np.sqrt(1 + (2 / (1 + np.sqrt(5))) ** 2)
    vertices = [[s * a, t * b, 0.0] for t in (1, -1) for s in (-1, 1)]
    vertices += [[0.0, s * a, t * b] for t in (1, -1) for s in (-1, 1)]
    vertices += [[t * b, 0.0, s * a] for t in (1, -1) for s in (-1, 1)]
    faces = [
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11],
        [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8],
        [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
        [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ]  # fmt: skip
    return _refined(np.array(vertices), np.array(faces, np.int32), level, radius)
