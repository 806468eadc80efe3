"""Pairs of bodies that overlap, touch, are nested or linked, and a slow answer to whether they do."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Mesh, Solid, exact, shapes
from impinge.inside import SolidView

from .. import naive

L = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
U = [(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]
STAR = [(4, 0), (1, 1), (0, 4), (-1, 1), (-4, 0), (-1, -1), (0, -4), (1, -1)]
QUARTERS = [turn.as_matrix().round() for turn in Rotation.create_group("O")]


@cache
def bodies() -> dict[str, Solid]:
    """Non-convex ones, of some ten faces each, with whole coordinates or nearly."""
    ball = shapes.octasphere(1)
    meshes = {
        "L": shapes.prism(L),
        "U": shapes.prism(U),
        "star": shapes.prism(np.array(STAR) / 2),
        "torus": shapes.torus(1.5, 0.5, 6, 4),
        "shell": shapes.box(4.0) + shapes.box(3.0).flipped(),
        "two": ball + Mesh(ball.vertices / 2 + [3, 0, 0], ball.faces),
        "speck": Mesh(ball.vertices / 8, ball.faces),
    }
    return {name: Solid(mesh) for name, mesh in meshes.items()}


def random_pair(seed: int) -> tuple[SolidView, SolidView]:
    """Two bodies in random places; in every second pair on a lattice, where faces, edges and corners touch."""
    rng = np.random.default_rng([8, seed])
    chosen = [bodies()[str(name)] for name in rng.choice(list(bodies()), 2)]
    views = []
    for body in chosen:
        if seed % 2:
            turn, shift = QUARTERS[rng.integers(24)], rng.integers(-4, 5, 3) / 2
        else:
            turn, shift = Rotation.random(rng=rng).as_matrix(), rng.normal(0, rng.choice([0.2, 1.0]), 3)
        views.append(body.at(turn, shift))
    return views[0], views[1]


def placed(view: SolidView) -> Mesh:
    return Mesh(view.vertices, view.solid.mesh.faces)


def meeting_faces(a: Mesh, b: Mesh) -> NDArray[np.int64]:
    """Pairs of faces that share a point, each with each: an edge of one meets the other."""
    i, j = (grid.reshape(-1) for grid in np.indices((len(a.faces), len(b.faces))))
    t, u = a.triangles[i], b.triangles[j]
    meet = np.zeros(len(i), np.bool_)
    for k in range(3):
        meet |= exact.segment_triangle(t[:, k], t[:, k - 1], u[:, 0], u[:, 1], u[:, 2])
        meet |= exact.segment_triangle(u[:, k], u[:, k - 1], t[:, 0], t[:, 1], t[:, 2])
    return np.column_stack([i[meet], j[meet]])


def overlap(a: Mesh, b: Mesh) -> bool:
    """Whether a face meets a face, or a vertex is inside: by rational numbers, for every vertex."""
    return (
        len(meeting_faces(a, b)) > 0
        or bool((naive.classify(a, b.vertices) >= 0).any())
        or bool((naive.classify(b, a.vertices) >= 0).any())
    )
