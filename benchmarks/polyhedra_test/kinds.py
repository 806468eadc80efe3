"""The shapes of bodies: their surfaces, cut as finely as wanted, and the convex parts that they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge import Mesh
from impinge.shapes import generators

Floats = NDArray[np.float64]
RADIUS = 0.05  # m, of the ball of the same volume, of all bodies
SIZE = 2 * RADIUS  # depths are told in parts of it

_Outline = list[tuple[float, float]]
_POINTS = 5  # of the star
_INNER = 0.45  # of the star, over the outer radius
_MAJOR, _MINOR = 1.0, 0.4  # of the torus
_TUBE = 16  # corners around its tube, with sharp edges between them
_SEGMENTS, _RINGS = 12, 12  # of the torus in convex parts


@dataclass(frozen=True)
class Kind:
    """A shape in the frame of its principal axes, with the centre of mass at the origin."""

    name: str
    mesh: Mesh
    parts: list[Floats]  # corners of convex bodies that it is made of, (n, 3) each, m

    @property
    def turning(self) -> Floats:
        """Principal moments of inertia over the mass, m²."""
        return np.diag(self.mesh.inertia) / self.mesh.volume


def _star() -> tuple[_Outline, list[_Outline]]:
    """Outline of a star, and kites of its middle, a tip and the two corners beside that."""
    angles = np.pi * np.arange(2 * _POINTS) / _POINTS
    corners = [
        (math.cos(angle) * r, math.sin(angle) * r)
        for angle, r in zip(angles, [1.0, _INNER] * _POINTS, strict=True)
    ]  # fmt: skip
    kites = [[(0.0, 0.0), corners[k - 1], corners[k], corners[k + 1]] for k in range(0, 2 * _POINTS, 2)]
    return corners, kites


def _rectangle(x0: float, y0: float, x1: float, y1: float) -> _Outline:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


_PRISMS: dict[str, tuple[_Outline, list[_Outline]]] = {
    "L": (
        [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)],
        [_rectangle(0, 0, 3, 1), _rectangle(0, 1, 1, 2)],
    ),
    "U": (
        [(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)],
        [_rectangle(0, 0, 3, 1), _rectangle(0, 1, 1, 3), _rectangle(2, 1, 3, 3)],
    ),
    "star": _star(),
}
PRISMS = tuple(_PRISMS)
ALL = (*PRISMS, "torus")


def divided(mesh: Mesh, times: int) -> Mesh:
    """Every edge in so many parts, every triangle in times² flat ones; nothing moves, and what was closed is."""
    steps = np.arange(times + 1)
    i, j = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    inside = i + j <= times
    i, j = i[inside], j[inside]
    number = np.full((times + 2, times + 2), -1)
    number[i, j] = np.arange(len(i))
    up = np.column_stack([number[i, j], number[i + 1, j], number[i, j + 1]])
    down = np.column_stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]])
    pieces = np.concatenate([up[(up >= 0).all(axis=1)], down[(down >= 0).all(axis=1)]])
    order = np.argsort(mesh.faces, axis=1)
    corners = np.take_along_axis(mesh.faces, order, axis=1).astype(np.int64)  # ascending: both sides of an edge agree
    weights = np.stack([times - i - j, i, j], axis=1)[None].repeat(len(order), axis=0)  # (m, n, 3)
    weights = np.take_along_axis(weights, order[:, None, :].repeat(len(i), axis=1), axis=2)
    nodes = np.where(weights > 0, corners[:, None, :], -1)
    keys = np.concatenate([np.sort(nodes, axis=2), _by_node(nodes, weights)], axis=2).reshape(-1, 6)
    _, first, rows = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    places = sum(weights[:, :, k, None] * mesh.vertices[corners[:, k], None, :] for k in range(3)) / times
    faces = rows.reshape(len(order), -1)[:, pieces].reshape(-1, 3)
    return Mesh(np.asarray(places).reshape(-1, 3)[first], faces.astype(np.int32))


def _by_node(nodes: NDArray[np.int64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.take_along_axis(weights, np.argsort(nodes, axis=2, kind="stable"), axis=2)


def _placed(name: str, mesh: Mesh, parts: list[Floats]) -> Kind:
    """In the wanted size and frame; finer ones are cut from this one, so that all have the same."""
    scale = RADIUS / math.cbrt(0.75 * mesh.volume / math.pi)
    _, axes = np.linalg.eigh(mesh.inertia)
    axes = axes * np.linalg.det(axes)

    def moved(points: Floats) -> Floats:
        return np.asarray(scale * (points - mesh.centroid) @ axes)

    return Kind(name, Mesh(moved(mesh.vertices), mesh.faces), [moved(part) for part in parts])


def make(name: str, faces: int) -> Kind:
    """A shape of about so many faces."""
    if name == "torus":
        segments = max(12, round(faces / 2 / _TUBE))
        return _placed(name, generators.torus(_MAJOR, _MINOR, segments, _TUBE), _torus_parts())
    outline, parts = _PRISMS[name]
    flat = [np.array(part, float) for part in parts]
    solids = [np.vstack([np.column_stack([part, np.full(len(part), z)]) for z in (-0.5, 0.5)]) for part in flat]
    kind = _placed(name, generators.prism(outline), solids)
    times = max(1, round(math.sqrt(faces / len(kind.mesh.faces))))
    return Kind(name, divided(kind.mesh, times), kind.parts)


def _torus_parts() -> list[Floats]:
    """Hulls of rings that follow each other."""
    around, tube = (2 * np.pi * np.arange(n) / n for n in (_SEGMENTS, _RINGS))
    reach, height = _MAJOR + _MINOR * np.cos(tube), _MINOR * np.sin(tube)
    rings = [np.column_stack([np.cos(a) * reach, np.sin(a) * reach, height]) for a in around]
    return [np.vstack([rings[k - 1], rings[k]]) for k in range(_SEGMENTS)]
