"""Contacts of single spheres with obstacles, and the floors that tests look at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _jit
from impinge.bodies import _obstacles as kernels
from impinge.bodies.obstacles import Obstacle, combine, near, poses_at
from impinge.shapes.mesh import Mesh

Points = NDArray[np.float64]
DEPTH, ENTRY, READ = kernels.DEPTH, kernels.ENTRY, kernels.READ
NORMAL, POINT, VELOCITY = (slice(c, c + 3) for c in (kernels.NORMAL, kernels.POINT, kernels.VELOCITY))
EYE = np.eye(3)


@_jit.kernel
def touch(
    i, x, starts, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses, known,
    history, keep, work, out,
):  # fmt: skip
    """A kernel around the part of others."""
    return kernels.touch(
        i, x, starts, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses,
        known, history, keep, work, out,
    )  # fmt: skip


def contacts(things: Any, centres: Any, radii: Any, skin: float = 0.0, t: float = 0.0) -> list[Points]:
    """Rows of contacts of every sphere with obstacles (or a mesh) at time t."""
    obstacles = things if isinstance(things, list) else [things if isinstance(things, Obstacle) else Obstacle(things)]
    surfaces, poses = combine(obstacles, range(len(obstacles))), poses_at(obstacles, t)
    x = np.column_stack([centres, np.broadcast_to(radii, len(centres))])
    lists = near(surfaces, x, skin, poses)
    return [Memory(lists, 0).touch(i, x, surfaces, poses) for i in range(len(x))]


class Memory:
    """What contacts of a list remember."""

    def __init__(self, lists: Any, rows: int | None = None) -> None:
        count = len(lists.patches) if rows is None else rows
        self.lists, self.known, self.history = lists, np.zeros(count, bool), np.zeros((count, 8))
        self.work = np.full((max(lists.most, 1), kernels.WORK), np.nan)

    def touch(self, i: int, x: Points, surfaces: Any, poses: Points, keep: bool = True) -> Points:
        out = np.full((kernels.MOST, kernels.COLUMNS), np.nan)
        s = surfaces
        count = touch(
            i, x, *self.lists[:5], s.corners, s.borders, s.planes, s.tolerances, poses, self.known,
            self.history, keep, self.work, out,
        )  # fmt: skip
        return out[:count]


def closest_on_triangle(p: Points, triangle: Points) -> Points:
    """Slow and plain: the foot in the plane if it is inside, or else the nearest of the three edges."""
    a, b, c = triangle
    weights, *_ = np.linalg.lstsq(np.column_stack([b - a, c - a]), p - a, rcond=None)
    found = []
    if weights.min() >= 0 and weights.sum() <= 1:
        found.append(a + weights[0] * (b - a) + weights[1] * (c - a))
    for u, v in ((a, b), (b, c), (c, a)):
        share = np.clip((p - u) @ (v - u) / max((v - u) @ (v - u), 1e-300), 0, 1)
        found.append(u + share * (v - u))
    return found[int(np.argmin([np.linalg.norm(p - q) for q in found]))]


def turn(axis: Any, angle: float) -> Points:
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return EYE + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


SKEW = turn((1, 2, 3), 0.7)


def grid_faces(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Faces of n × n squares, each cut along a random diagonal."""
    squares = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :n].ravel()
    a, b, c, d = squares, squares + n + 1, squares + n + 2, squares + 1
    first, second = np.stack([a, b, c, a, c, d], -1), np.stack([a, b, d, b, c, d], -1)
    return np.where(rng.random(len(a))[:, None] < 0.5, first, second).reshape(-1, 3)


def floor(n: int = 8, height: float = 0.3, seed: int = 0) -> Mesh:
    """The square [0, 1]² at a height, with jittered vertices."""
    rng = np.random.default_rng(seed)
    ticks = np.linspace(0, 1, n + 1)
    places = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), -1)
    places[1:-1, 1:-1] += rng.uniform(-0.3, 0.3, (n - 1, n - 1, 2)) / n
    return Mesh(np.column_stack([places.reshape(-1, 2), np.full((n + 1) ** 2, height)]), grid_faces(n, rng))
