"""Which pairs are nearest to each other with what is around them, too."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh, shapes
from impinge.bodies.soft.surface import Skin, Surface, skin_of
from impinge.ccd.candidates import candidates
from impinge.response.contact_rows import measure, pairs_of

from .soft_bodies import grid

NO_FACES = np.empty((0, 3), np.int32)


def cable(points: np.ndarray) -> Skin:
    edges = np.column_stack([np.arange(len(points) - 1), np.arange(1, len(points))]).astype(np.int32)
    return Skin(points, edges, NO_FACES, 0.05)


def judged(surface: Surface, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals of all pairs, and which of these are found true."""
    found = candidates(x, x, surface.edges, surface.faces, gap=10.0, bodies=surface.labels)
    pairs = pairs_of(found, surface.edges, surface.faces)
    gaps = measure(x, pairs)
    return gaps.normals, surface.features.find_true(x, pairs, gaps)


@pytest.mark.parametrize("is_split", [False, True])
def test_beside_edges_inside_of_a_floor_the_floor_is_flat(is_split: bool) -> None:
    """Also if each triangle has vertices of its own, as in STL files."""
    vertices, faces = grid(5)
    if is_split:
        vertices, faces = vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3)
    wire = np.linspace([-0.11, 0.07, 0.1], [0.13, 0.02, 0.1], 4)
    surface = Surface([cable(wire)], [skin_of(vertices, faces.astype(np.int32), 0.0)])
    normals, is_true = judged(surface, np.concatenate([wire, vertices]))
    inside = np.abs(normals[:, 2]) > 0.7  # those far away end at the border of the floor
    assert is_true[np.abs(normals[:, 2]) > 1 - 1e-9].all()
    assert not is_true[inside & (np.abs(normals[:, 2]) < 0.999)].any()
    assert (inside & ~is_true).sum() > 20


def test_edges_of_boxes_and_of_round_obstacles_are_felt() -> None:
    """All pairs with a ball, and those at the edges of a box, but not those at its diagonals."""
    ball = shapes.octasphere(2)
    wire = np.linspace([-0.4, 0.1, 1.1], [0.5, 0.0, 1.2], 4)
    surface = Surface([cable(wire)], [skin_of(ball.vertices, ball.faces, 0.0)])
    assert judged(surface, np.concatenate([wire, ball.vertices]))[1].all()
    box = Mesh.of(shapes.box())
    wire = np.array([[1.2, 0.3, 1.1], [1.1, 0.5, 1.3]])  # beside an edge of the box
    surface = Surface([cable(wire)], [skin_of(box.vertices, box.faces, 0.0)])
    normals, is_true = judged(surface, np.concatenate([wire, box.vertices]))
    tilted = (normals[:, 0] > 0.1) & (normals[:, 2] > 0.1) & (np.abs(normals[:, 1]) < 1e-9)
    assert is_true[tilted].any()


def test_soft_bodies_are_as_they_were() -> None:
    """Their edges bend: what is flat now is not so at the end of the step."""
    vertices, faces = grid(4)
    wire = np.linspace([-0.11, 0.07, 0.1], [0.13, 0.02, 0.1], 4)
    surface = Surface([cable(wire), skin_of(vertices, faces.astype(np.int32), 0.05)], [])
    assert judged(surface, np.concatenate([wire, vertices]))[1].all()
