"""The multipole method on many surfaces side by side, with large faces, and at points beside edges."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh, Solid, shapes
from impinge.inside import Direct, Multipole

from . import broken


def _spiral() -> Mesh:
    turns = np.linspace(0, 20 * np.pi, 2000)
    way = (0.01 + turns / turns[-1])[:, None] * np.column_stack([np.cos(turns), np.sin(turns), 0 * turns])
    return _wall(way, 0.5)


def _wall(way: np.ndarray, height: float) -> Mesh:
    n, i = len(way), np.arange(len(way) - 1)
    faces = np.concatenate([np.column_stack([i, i + 1, i + n]), np.column_stack([i + 1, i + n + 1, i + n])])
    return Mesh(np.concatenate([way, way + [0, 0, height]]), faces)


def _pipes() -> Mesh:
    turns = np.linspace(0, 2 * np.pi, 150)
    circle = np.column_stack([np.cos(turns), np.sin(turns), 0 * turns])
    return Mesh.concatenate([_wall(radius * circle, 1.0) for radius in np.linspace(0.1, 0.9, 10)])


def _sheets() -> Mesh:
    sheet = broken.half_flipped(broken.plane(30))
    return Mesh.concatenate([Mesh(sheet.vertices + [0, 0, 0.002 * k], sheet.faces) for k in range(8)])


@pytest.mark.verify
@pytest.mark.parametrize("accuracy", [1e-1, 1e-2, 1e-3, 2e-4])
@pytest.mark.parametrize("make", [_spiral, _pipes, _sheets])
def test_surfaces_side_by_side(make, accuracy: float) -> None:
    """Their errors add up; it is noticed."""
    mesh = make()
    points = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    assert np.abs(Multipole(mesh, accuracy=accuracy).winding(points) - Direct(mesh).winding(points)).max() <= accuracy


@pytest.mark.parametrize("mode", ["well-chosen", "pre-chosen"])
@pytest.mark.parametrize(
    ("level", "radii"), [(5, (1, 1.005)), (4, (1, 1.02)), (4, (1, 1.005, 1.01)), (4, (1, 1, 1, 1)), (6, (1, 1.003))]
)
def test_shells_in_each_other(level: int, radii: tuple[float, ...], mode: str) -> None:
    """Leaves that are mirror images of each other are equally wrong on the axes, just where they become far."""
    ball, rng = shapes.octasphere(level), np.random.default_rng(2)
    mesh = Mesh.concatenate([Mesh(radius * ball.vertices, ball.faces) for radius in radii])
    points = np.column_stack([rng.uniform(1.01, 1.15, 300), 5e-4 * rng.normal(size=(300, 2))])
    truth = Direct(mesh).winding(points)
    for accuracy in (1e-2, 1e-3):
        assert np.abs(Multipole(mesh, accuracy=accuracy, mode=mode).winding(points) - truth).max() <= accuracy


def test_thousands_of_equal_faces() -> None:
    """No order is high enough by the rules: the highest is taken, not the first that was tried."""
    mesh = Mesh(np.eye(3), np.tile([[0, 1, 2]], (3000, 1)))
    points = np.random.default_rng(0).normal(size=(300, 3))
    error = np.abs(Multipole(mesh, accuracy=1e-10).winding(points) - Direct(mesh).winding(points))
    assert error.max() <= 1e-10


def test_beforehand_with_large_faces() -> None:
    """Faces that are near everywhere do not make cells, of which there would be millions."""
    rng = np.random.default_rng(1)
    corners = rng.normal(size=(2000, 3, 3))
    corners[:, 2] = -corners[:, 0] - corners[:, 1] + 1e-4 * rng.normal(size=(2000, 3))  # all middles in one place
    mesh = Mesh(corners.reshape(-1, 3), np.arange(6000).reshape(-1, 3))
    method = Multipole(mesh, mode="pre-chosen")
    assert method.nbytes < 1e8
    points = rng.normal(size=(500, 3))
    assert np.abs(method.winding(points) - Direct(mesh).winding(points)).max() <= 1e-3


@pytest.mark.parametrize("near", [1.2, 1.5, 1.8, 2.0, 2.5])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-3])
def test_near_and_accuracy(near: float, accuracy: float) -> None:
    """The order follows from both."""
    mesh = broken.with_holes(shapes.octasphere(4))
    points = np.random.default_rng(2).uniform(-1.2, 1.2, (2000, 3))
    error = np.abs(Multipole(mesh, near=near, accuracy=accuracy).winding(points) - Direct(mesh).winding(points)).max()
    assert error <= accuracy


@pytest.mark.parametrize("accuracy", [1e-3, 1e-9])
def test_beside_edges(accuracy: float) -> None:
    """Middles of edges, as near as doubles are, of a closed mesh."""
    rng = np.random.default_rng(3)
    sphere = shapes.octasphere(3)
    mesh = Mesh(sphere.vertices * rng.uniform(0.7, 1.4, (len(sphere.vertices), 1)), sphere.faces)
    points = np.concatenate([mesh.vertices[mesh.faces[:, :2]].mean(axis=1)] * 3)
    points += rng.normal(size=points.shape) * np.repeat([0.0, 1e-15, 1e-11], len(points) // 3)[:, None]
    method, exact = Multipole(mesh, accuracy=accuracy), Solid(mesh, "octree")
    assert np.abs(method.winding(points) - exact.winding(points)).max() <= accuracy
    np.testing.assert_array_equal(method.classify(points), exact.classify(points))
