"""Meshes of simple bodies: closed, manifold, outward, centred at the origin (but for prisms)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.exact.predicates import orient2d
from impinge.shapes._refine import _split_faces
from impinge.shapes.mesh import Mesh

__all__ = ["box", "cylinder", "icosphere", "octasphere", "prism", "torus"]


def _refined(vertices: NDArray[np.float64], faces: NDArray[np.int32], level: int, radius: float) -> Mesh:
    """The unit sphere made by splitting every face `level` times, then scaled."""
    for _ in range(level):
        mate, _, _ = Mesh(vertices, faces)._link()
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


def box(size: float | ArrayLike = 1.0, *, lower: ArrayLike | None = None, divisions: int = 1) -> Mesh:
    """Box with sides along the axes.

    12 · divisions² faces.

    Parameters
    ----------
    size : float or (3,) float64, m
        Lengths of the sides.
    lower : (3,) float64, m
        Lower corner; −size / 2 if not given, so that the box is centred at the origin.
    divisions : int, 1 to 4096
        Number of parts that each edge is cut into.
    """
    sides = np.full(3, _check.positive("size", size)) if np.ndim(size) == 0 else _check.vector("size", size)
    if not (sides > 0).all():
        raise InputError(f"size: found {sides.tolist()}, expected numbers above 0")
    start = -sides / 2 if lower is None else _check.vector("lower", lower)
    n = _check.integer("divisions", divisions, 1, 4096)
    ticks = start[:, None] + sides[:, None] * np.linspace(0, 1, n + 1)
    squares = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :n].ravel()
    a, b, c, d = squares, squares + n + 1, squares + n + 2, squares + 1
    cut = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    vertices: list[NDArray[np.float64]] = []
    faces: list[NDArray[np.int64]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, n):
            side = np.empty(((n + 1) ** 2, 3))
            side[:, axis] = ticks[axis, end]
            side[:, u], side[:, v] = np.repeat(ticks[u], n + 1), np.tile(ticks[v], n + 1)
            faces.append((cut if end else cut[:, ::-1]) + len(vertices) * (n + 1) ** 2)
            vertices.append(side)
    # The six sides have their edges in common, bit by bit.
    merged = Mesh(np.concatenate(vertices), np.concatenate(faces))
    used, numbers = np.unique(merged.merged_faces, return_inverse=True)
    return Mesh(merged.vertices[used], numbers.reshape(-1, 3))


def cylinder(radius: float = 1.0, height: float = 1.0, segments: int = 32) -> Mesh:
    """Cylinder about the z axis, its caps fans about their centres.

    4 · segments faces; the vertices lie on the cylinder, so the volume is
    segments / 2 · radius² · height · sin(2π / segments).

    Parameters
    ----------
    radius, height : float, m
    segments : int, at least 3
    """
    radius, height = _check.positive("radius", radius), _check.positive("height", height)
    n = _check.integer("segments", segments, 3, 100_000_000)
    angle = 2 * np.pi * np.arange(n) / n
    vertices = np.zeros((2 * n + 2, 3))
    vertices[: 2 * n, 0], vertices[: 2 * n, 1] = np.tile(radius * np.array([np.cos(angle), np.sin(angle)]), 2)
    vertices[:n, 2], vertices[n:, 2] = -height / 2, height / 2
    vertices[2 * n, 2] = -height / 2
    i = np.arange(n)
    j = (i + 1) % n
    bottom, top = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    parts = [(i, j, j + n), (i, j + n, i + n), (j, i, bottom), (i + n, j + n, top)]
    return Mesh(vertices, np.concatenate([np.stack(part, axis=-1) for part in parts]))


def torus(major: float = 1.0, minor: float = 0.25, segments: int = 64, rings: int = 32) -> Mesh:
    """Torus about the z axis.

    2 · segments · rings faces.

    Parameters
    ----------
    major : float, m
        Radius of the circle in the middle of the tube.
    minor : float, m
        Radius of the tube, below `major`.
    segments, rings : int, at least 3
        Number of parts around the axis, and around the tube.
    """
    major, minor = _check.positive("major", major), _check.positive("minor", minor)
    if not minor < major:
        raise InputError(f"minor: found {minor}, expected a number below major ({major})")
    n, m = _check.integer("segments", segments, 3, 100_000), _check.integer("rings", rings, 3, 100_000)
    around, tube = 2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m
    reach = major + minor * np.cos(tube)
    vertices = np.stack(
        [
            np.outer(np.cos(around), reach),
            np.outer(np.sin(around), reach),
            np.tile(minor * np.sin(tube), (n, 1)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    next_i, next_j = (i + 1) % n, (j + 1) % m
    a, b, c, d = i * m + j, next_i * m + j, next_i * m + next_j, i * m + next_j
    return Mesh(vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3))


def prism(outline: ArrayLike, height: float = 1.0) -> Mesh:
    """Prism over a polygon, of any shape without crossings: an L, a U, a star.

    4 n − 4 faces for n corners, between z = −height / 2 and height / 2.

    Parameters
    ----------
    outline : (n, 2) float64, m
        Corners, in either sense of rotation.
    height : float, m
    """
    corners = _check.vectors("outline", outline, 2)
    height = _check.positive("height", height)
    n = len(corners)
    if n < 3:
        raise InputError(f"outline: found {n} corners, expected at least 3")
    x, y = corners.T
    if (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() < 0:
        corners = corners[::-1]
    caps = _triangulated(corners)
    vertices = np.concatenate([np.column_stack([corners, np.full(n, z)]) for z in (-height / 2, height / 2)])
    i = np.arange(n)
    j = (i + 1) % n
    parts = [caps[:, ::-1], caps + n, np.stack([i, j, j + n], axis=-1), np.stack([i, j + n, i + n], axis=-1)]
    return Mesh(vertices, np.concatenate(parts))


def _triangulated(corners: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n − 2, 3): triangles of a polygon that turns left as a whole, by cutting off ears."""
    left, triangles = list(range(len(corners))), []
    while len(left) > 2:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = [i for i in left if i not in (a, b, c)]
            u, v, w = corners[a], corners[b], corners[c]
            in_ear = np.ones(len(others), np.bool_)
            for start, end in ((u, v), (v, w), (w, u)):
                in_ear &= orient2d(start, end, corners[others]) >= 0
            if orient2d(u, v, w)[0] > 0 and not in_ear.any():
                triangles.append([a, b, c])
                del left[k]
                break
        else:
            raise InputError(
                "outline: found corners that make no polygon (edges that cross or touch, corners that repeat, or no "
                "area), expected a simple one"
            )
    return np.array(triangles)
