"""The renderer of surfaces against a slow one, and pictures whose pixels are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import _jit, shapes
from impinge.output import _render, _surface
from impinge.output.camera import Camera
from impinge.output.shading import Shading, unit_normals
from impinge.output.surface import Surface, render_surface

HEIGHT, WIDTH = 100, 80  # two bands
FRONT, ABOVE = (-90.0, 0.0), (-90.0, 90.0)  # x to the right; z, or y, upwards
RED, BLUE, WHITE = [0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.7, 0.7, 0.7]


def drawn(triangles: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    depth = np.full((HEIGHT, WIDTH), -np.inf, np.float32)
    owner = np.full((HEIGHT, WIDTH), _render.NOTHING, np.int32)
    _surface.draw_surface(2, triangles, depth, owner)
    return depth, owner


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 12))
def test_nearest_triangles(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = rng.uniform([-20, -20, -30], [WIDTH + 20, HEIGHT + 20, 30], (count, 3, 3))
    depth, owner = drawn(triangles)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    best = np.full((HEIGHT, WIDTH), -np.inf)
    for corners in triangles:
        weights = np.linalg.solve(
            np.vstack([corners[:, :2].T, np.ones(3)]), np.stack([columns, rows, np.ones_like(rows)]).reshape(3, -1)
        )
        z = np.where((weights >= 0).all(axis=0), corners[:, 2] @ weights, -np.inf).reshape(HEIGHT, WIDTH)
        best = np.maximum(best, z)
    np.testing.assert_array_equal(owner == _render.NOTHING, np.isinf(depth))
    assert (np.isinf(depth) != np.isinf(best)).sum() <= 1  # at rims, rounding decides
    both = np.isfinite(depth) & np.isfinite(best)
    np.testing.assert_allclose(depth[both], best[both], atol=0.01)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1])
def test_no_holes_between_triangles(angle: float) -> None:
    mesh = shapes.octasphere(4)
    tilt = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    _, owner = drawn((mesh.vertices @ tilt.T * 30 + [WIDTH / 2, HEIGHT / 2, 0])[mesh.faces])
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    inside = np.hypot(columns - WIDTH / 2, rows - HEIGHT / 2) < 29.5
    assert (owner[inside] != _render.NOTHING).all()
    assert (owner[~inside] != _render.NOTHING).sum() < 200


def surface_of(*parts: tuple[shapes.Mesh, Any]) -> Surface:
    corners = np.concatenate([mesh.triangles for mesh, _ in parts])
    normals = []
    for mesh, _ in parts:
        shading = Shading(mesh.vertices, mesh.merged_faces, True)
        normals.append(shading.normals(mesh.vertices)[shading.faces])
    colours = np.concatenate([np.tile(colour, (len(mesh.faces), 3, 1)) for mesh, colour in parts])
    return Surface(corners, np.concatenate(normals), colours)


def picture(surface: Surface, view: Any = FRONT, size: int = 150, box: Any = None) -> NDArray[np.int64]:
    points = [surface.corners.reshape(-1, 3)]
    camera = Camera.showing(np.empty((0, 4)), points, view, (size, size))
    return render_surface(surface, camera, box).pixels.astype(int)


def middle(pixels: NDArray[np.int64]) -> NDArray[np.int64]:
    return pixels[len(pixels) // 2, pixels.shape[1] // 2]


def wall(y: float, size: float = 2.0) -> shapes.Mesh:
    """Across the view from the front; seen from its front if y is negative, else from its back."""
    half = size / 2
    corners = [[-half, y, -half], [half, y, -half], [half, y, half], [-half, y, half]]
    return shapes.Mesh(corners, [[0, 1, 2], [0, 2, 3]])


def test_the_nearer_surface_is_seen() -> None:
    near, far = wall(-1.0, 1.0), wall(1.0, 2.0)
    pixels = picture(surface_of((near, RED), (far, BLUE)))
    assert middle(pixels)[0] > 100 > middle(pixels)[2]
    beside = pixels[len(pixels) // 2, 20]
    assert beside[2] > 100 > beside[0]
    assert (pixels[0, 0] == 255).all()


def test_both_sides_are_lit_and_told_apart() -> None:
    front = wall(0.0)
    back = shapes.Mesh(front.vertices, front.faces[:, ::-1])
    one, other = (middle(picture(surface_of((mesh, WHITE)))) for mesh in (front, back))
    assert (other < one).all()
    assert (other > 0.7 * one).all()


def test_smooth_shading_has_no_steps() -> None:
    """Across a ball of few faces the brightness changes little from pixel to pixel, but not with flat normals."""
    mesh = shapes.icosphere(2)
    smooth = surface_of((mesh, WHITE))
    flat = Surface(smooth.corners, np.repeat(unit_normals(mesh.triangles)[:, None], 3, axis=1), smooth.colours)
    steps = []
    for surface in (smooth, flat):
        row = picture(surface, size=300)[150, 40:-40, 0]
        steps.append(np.abs(np.diff(row)).max())
    assert steps[0] <= 6 < steps[1]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_is_seen_nearly_edge_on_is_no_end_of_the_surface(level: int) -> None:
    """Of a ball of few faces no more is as dark as its outline than that, though some are steeper than normals say."""
    pixels = picture(surface_of((shapes.icosphere(level), WHITE)), (-60.0, 20.0), 300)[:, :, 0]
    shown = pixels < 250
    assert 0.003 < (pixels[shown] < 0.45 * np.median(pixels[shown])).mean() < 0.01


@pytest.mark.parametrize("joined", [True, False])
def test_no_line_where_a_face_between_two_is_too_steep_to_be_seen(joined: bool) -> None:
    """A step, thinner than a sample, that begins where two faces meet; without it the nearer one ends there."""
    near, far = [[1, 0, -1], [0, 0, -1], [0, 0, 1], [1, 0, 1]], [[0, 0, 1], [-1e-4, 1, -1], [-1, 1, -1], [-1, 1, 1]]
    apart = 0.0 if joined else 1e-3
    vertices = np.concatenate([near, np.subtract(far, [apart, 0, 0])])  # the light comes from there: no shadow
    mesh = shapes.Mesh(vertices, [[0, 2, 1], [0, 3, 2], [4, 6, 5], [4, 7, 6], [1, 4, 5]])
    upright = np.tile([0.0, -1.0, 0.0], (5, 3, 1))
    pixels = picture(Surface(mesh.triangles, upright, np.full((5, 3, 3), 0.7)), size=300)[:, :, 0]
    row, middle = pixels[220], pixels.shape[1] // 2
    assert (row[middle - 8 : middle + 8].min() < 0.7 * row[middle + 40]) == (not joined)


def test_shadows() -> None:
    """Light comes from the left, above: a plate over a floor darkens it to the right, and nothing to the left."""
    floor = shapes.box([4, 4, 0.1], lower=[-2, -2, -0.1])
    plate = shapes.box([0.6, 0.6, 0.05], lower=[-0.3, -0.3, 0.8])
    with_plate, without = (
        picture(surface_of((floor, WHITE), *more), ABOVE, 400) for more in ([(plate, RED)], [])
    )  # fmt: skip
    grey = (np.abs(with_plate - with_plate.mean(axis=2, keepdims=True)) < 8).all(axis=2)
    darker = grey & (with_plate[:, :, 0] < without[:, :, 0] - 25)
    rows, columns = np.nonzero(darker)
    assert darker.sum() > 300
    assert columns.mean() > 210
    assert rows.mean() > 210


def test_a_flat_floor_casts_no_shadow_on_itself() -> None:
    for view in (ABOVE, (-60.0, 20.0), (30.0, 5.0)):
        floor = shapes.box([4, 4, 0.1], lower=[-2, -2, -0.1], divisions=7)
        pixels = picture(surface_of((floor, WHITE)), view, 300)
        top = middle(pixels)
        near = np.abs(pixels - top).max(axis=2) <= 2
        shown = (pixels < 250).all(axis=2)
        assert near.sum() > 0.4 * shown.sum(), view


def test_box_edges() -> None:
    box = np.array([[-2.0, -2, -2], [2, 2, 2]])
    surface = surface_of((shapes.icosphere(2), RED))
    camera = Camera.showing(np.empty((0, 4)), [box], (-60.0, 20.0), (200, 200))
    without, with_box = (render_surface(surface, camera, lines).pixels for lines in (None, box))
    assert (without != with_box).any(axis=2).sum() > 300


def test_nothing_points_and_threads() -> None:
    empty = Surface(*np.empty((3, 0, 3, 3)))
    assert (picture(empty) == 255).all()
    assert (picture(surface_of((shapes.Mesh(np.zeros((3, 3)), [[0, 1, 2]]), RED))) == 255).all()  # no area
    results = []
    for threads in (1, None):
        with _jit.threads(threads):
            results.append(picture(surface_of((shapes.torus(), RED), (shapes.box(), BLUE)), (20.0, 30.0)))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("scale", [1e-140, 1e-9, 1e9, 1e140])
def test_size_does_not_matter(scale: float) -> None:
    means = [
        picture(surface_of((shapes.Mesh(mesh.vertices * factor, mesh.faces), RED)), (-60.0, 20.0)).mean()
        for factor in (1.0, scale)
        for mesh in [shapes.torus()]
    ]
    assert means[0] == pytest.approx(means[1], abs=1)
