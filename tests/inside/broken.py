"""Surfaces that need not be closed, and points about them, for the tests of the multipole method."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from impinge import Mesh, shapes
from impinge.inside import Direct

from . import scenes

Points = NDArray[np.float64]


def with_holes(mesh: Mesh, share: float = 0.05, seed: int = 1) -> Mesh:
    """Without a share of its faces, at least one."""
    keep = np.random.default_rng(seed).random(len(mesh.faces)) >= share
    keep[0] = False
    return Mesh(mesh.vertices, mesh.faces[keep])


def half_flipped(mesh: Mesh, seed: int = 2) -> Mesh:
    """Half of the faces, at random, seen from the other side."""
    faces = mesh.faces.copy()
    turned = np.random.default_rng(seed).random(len(faces)) < 0.5
    faces[turned] = faces[turned][:, ::-1]
    return Mesh(mesh.vertices, faces)


def soup(count: int, size: float, seed: int = 3) -> Mesh:
    """Random triangles in the unit cube, of about this size."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, 1, (count, 1, 3)) + size * rng.uniform(-0.5, 0.5, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def slivers(count: int, seed: int = 4) -> Mesh:
    """Triangles of length 1 and width 1e-6, at random."""
    rng = np.random.default_rng(seed)
    first, along = rng.uniform(0, 1, (count, 3)), rng.normal(size=(count, 3))
    along /= np.linalg.norm(along, axis=1)[:, None]
    third = first + along / 2 + 1e-6 * rng.uniform(-1, 1, (count, 3))
    corners = np.stack([first, first + along, third], axis=1)
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def sizes_apart(level: int = 3) -> Mesh:
    """Three balls, 1 : 1000 : 1,000,000."""
    ball = shapes.octasphere(level)
    return scenes.moved(ball, 1e6) + scenes.moved(ball, 1e3, (2e6, 0, 0)) + scenes.moved(ball, 1, (2.01e6, 100, 0))


def stretched(factor: float) -> Mesh:
    cylinder = shapes.cylinder(1.0, 1.0, 64)
    return Mesh(cylinder.vertices * [1, 1, factor], cylinder.faces)


def fine_part_on_a_box(level: int = 4) -> Mesh:
    """A box of 12 triangles, a finely meshed ball inside it, and one that half sticks out of it."""
    ball = shapes.octasphere(level)
    return shapes.box(2.0) + scenes.moved(ball, 0.01, (0.3, 0.2, 0.1)) + scenes.moved(ball, 0.01, (1.0, -0.3, 0.2))


def ball_far_away(level: int = 4) -> Mesh:
    """A million times its size from the origin."""
    return scenes.moved(shapes.octasphere(level), 0.5, (1e6, -1e6, 5e5))


MESHES: dict[str, Callable[[], Mesh]] = {
    **{f"sphere-{level}": (lambda level=level: shapes.octasphere(level)) for level in range(1, 7)},
    "foam-5000": lambda: shapes.foam(5000),
    "foam-28952": lambda: shapes.foam(28952),
    "sphere-5, holes": lambda: with_holes(shapes.octasphere(5)),
    "foam-5000, holes": lambda: with_holes(shapes.foam(5000)),
    "sphere-4, half flipped": lambda: half_flipped(shapes.octasphere(4)),
    "foam-5000, half flipped": lambda: half_flipped(shapes.foam(5000)),
    "sphere-4, all flipped": lambda: shapes.octasphere(4).flipped(),
    "soup, small": lambda: soup(4000, 0.05),
    "soup, large": lambda: soup(1000, 2.0),
    "slivers": lambda: slivers(1000),
    "sizes apart": sizes_apart,
    "sizes apart, holes": lambda: with_holes(sizes_apart()),
    "far away": ball_far_away,
    "far away, holes": lambda: with_holes(ball_far_away()),
    "stretched": lambda: stretched(1000.0),
    "stretched, holes": lambda: with_holes(stretched(1000.0)),
    "flattened": lambda: stretched(0.001),
    "one triangle": lambda: Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]], [[0, 1, 2]]),
    "box": lambda: shapes.box(2.0),
    "box, one face missing": lambda: with_holes(shapes.box(2.0), 0.0),
    "fine part on a box": fine_part_on_a_box,
    "fine part, holes": lambda: with_holes(fine_part_on_a_box()),
    "copies": lambda: Mesh.concatenate([with_holes(shapes.octasphere(2))] + [one_face()] * 1000),
    "plane": lambda: plane(64),
}


def one_face() -> Mesh:
    return Mesh([[0.1, 0.2, 0.3], [0.4, 0.2, 0.35], [0.1, 0.5, 0.2]], [[0, 1, 2]])


def plane(n: int) -> Mesh:
    """A square of 2 n² triangles, whose moments all add up."""
    axis = np.linspace(-1, 1, n + 1)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    number = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = number[:-1, :-1].ravel(), number[1:, :-1].ravel(), number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    return Mesh(
        np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]),
        np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
    )


@cache
def mesh_of(name: str) -> Mesh:
    return MESHES[name]()


def points_about(mesh: Mesh, count: int, seed: int = 0) -> dict[str, Points]:
    """Kinds of points off the surface, about `count` of each."""
    rng = np.random.default_rng(seed)
    low, high = mesh.bounds
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    size = 2 * half.max()
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    surface = np.einsum("nk,nkd->nd", rng.dirichlet([1.0, 1.0, 1.0], count), corners)
    away = rng.normal(size=(count, 3))
    away *= size * 10 ** rng.uniform(-6, -1, (count, 1)) / np.linalg.norm(away, axis=1)[:, None]
    return {
        "bounds": middle + half * rng.uniform(-1, 1, (count, 3)),
        "cube": middle + 0.5 * size * rng.uniform(-1.05, 1.05, (count, 3)),
        "3 times": middle + 1.5 * size * rng.uniform(-1, 1, (count, 3)),
        "10 times": middle + 5 * size * rng.uniform(-1, 1, (count, 3)),
        "1e6 times": middle + 5e5 * size * rng.uniform(-1, 1, (count, 3)),
        "near the surface": surface + away,
        "crowded": surface[0] + away[0] + size * 1e-4 * rng.uniform(-1, 1, (count, 3)),
    }


def beside(mesh: Mesh, count: int, shares: list[float]) -> Points:
    """Points on both sides of random faces, at these shares of the size; two and two belong together."""
    rng = np.random.default_rng(11)
    low, high = mesh.bounds
    size = float((high - low).max())
    found = []
    for share in shares:
        corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        foot = np.einsum("nk,nkd->nd", rng.dirichlet([3.0, 3.0, 3.0], count), corners)
        found.append(np.stack([foot + share * size * normal, foot - share * size * normal], axis=1).reshape(-1, 3))
    return np.vstack(found)


def in_root(mesh: Mesh, places: Points) -> Points:
    """Points at places in the cube around a mesh, which is the root of its tree, from 0 to 1."""
    low, high = mesh.bounds
    side = (high - low).max() * (1 + 2.0**-20)
    return 0.5 * low + 0.5 * high - 0.5 * side + places * side


def reference(mesh: Mesh, points: Points) -> Points:
    """The direct sum, not rounded to integers where the mesh is closed."""
    direct = Direct(mesh)
    direct._is_closed = False
    return direct.winding(np.ascontiguousarray(points))
