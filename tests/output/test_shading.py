"""Normals of vertices: round things are smooth, edges are sharp."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import shapes
from impinge.output.shading import Shading, unit_normals
from tests.output.softscenes import grid


def shading_of(mesh: shapes.Mesh, creases: bool = True) -> Shading:
    return Shading(mesh.vertices, mesh.merged_faces, creases)


def test_a_sphere_is_smooth() -> None:
    mesh = shapes.icosphere(3, 2.0)
    shading = shading_of(mesh)
    assert len(shading.sources) == len(mesh.vertices)
    np.testing.assert_array_equal(shading.sources[shading.faces], mesh.faces)
    np.testing.assert_allclose(shading.normals(mesh.vertices), mesh.vertices[shading.sources] / 2, atol=0.02)


@pytest.mark.parametrize("divisions", [1, 3])
def test_a_box_has_its_edges(divisions: int) -> None:
    mesh = shapes.box(1.0, divisions=divisions)
    shading = shading_of(mesh)
    assert len(shading.sources) == 6 * (divisions + 1) ** 2
    of_faces = unit_normals(mesh.triangles)
    np.testing.assert_allclose(shading.normals(mesh.vertices)[shading.faces], of_faces[:, None].repeat(3, axis=1))


def test_a_cylinder_is_round_with_flat_ends() -> None:
    mesh = shapes.cylinder(1.0, 2.0, 32)
    shading = shading_of(mesh)
    normals = shading.normals(mesh.vertices)
    flat = np.abs(normals[:, 2]) > 0.999
    assert flat.sum() == 2 * 33
    round_part = mesh.vertices[shading.sources][~flat]
    np.testing.assert_allclose(normals[~flat][:, :2], round_part[:, :2], atol=0.05)


def test_torn_and_inside_out_neighbours() -> None:
    """Faces that do not share vertices are joined by where these are; one that is turned round stays apart."""
    mesh = shapes.icosphere(2)
    torn = shapes.Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))
    assert len(shading_of(torn).sources) == len(mesh.vertices)
    faces = mesh.faces.copy()
    faces[5] = faces[5, ::-1]
    turned = shapes.Mesh(mesh.vertices, faces)
    assert len(shading_of(turned).sources) == len(mesh.vertices) + 3


def test_without_creases_nothing_is_split() -> None:
    mesh = shapes.box()
    shading = shading_of(mesh, creases=False)
    assert len(shading.sources) == 8
    np.testing.assert_allclose(np.abs(shading.normals(mesh.vertices)).min(axis=1), 1 / 3, atol=0.3)


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
@pytest.mark.parametrize("creases", [False, True])
def test_size_does_not_matter(scale: float, creases: bool) -> None:
    points, faces = grid(4)
    shading = Shading(points * scale, faces, creases)
    np.testing.assert_allclose(shading.normals(points * scale), np.tile([0, 0, 1.0], (16, 1)))


def test_nothing_and_no_area() -> None:
    for creases in (False, True):
        assert Shading(np.empty((0, 3)), np.empty((0, 3), np.int32), creases).normals(np.empty((0, 3))).shape == (0, 3)
        flat = Shading(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), creases)
        np.testing.assert_array_equal(flat.normals(np.zeros((3, 3))), np.tile([0, 0, 1.0], (3, 1)))
