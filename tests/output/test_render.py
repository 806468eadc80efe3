"""The renderer against a slow one, and pictures whose pixels are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import _jit, shapes
from impinge.output import _render
from impinge.output.camera import box_edges, view_axes
from impinge.output.render import _outlines, render
from impinge.output.shading import unit_normals

FRONT = (-90.0, 0.0)  # x to the right, z upwards
RED, BLUE = [1.0, 0, 0], [0, 0, 1.0]
HEIGHT, WIDTH = 100, 80  # two bands


def picture(
    spheres: Any, colours: Any, meshes: Any = (), box: Any = None, view: Any = FRONT, size: int = 200, bodies: Any = ()
) -> Any:
    rows = np.asarray(spheres, np.float64).reshape(-1, 4)
    edges = None if box is None else box_edges(np.asarray(box, np.float64))
    return render(rows, np.asarray(colours, np.float64).reshape(-1, 3), list(meshes), edges, view, (size, size), bodies)


def drawn_spheres(spheres: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    depth = np.full((HEIGHT, WIDTH), -np.inf, np.float32)
    owner = np.full((HEIGHT, WIDTH), _render.NOTHING, np.int32)
    _render.draw_spheres(-(-HEIGHT // _render.BAND), spheres, depth, owner)
    return depth, owner


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 30))
def test_nearest_spheres(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    spheres = rng.uniform([-10, -10, -20, 0.75], [WIDTH + 10, HEIGHT + 10, 20, 20], (count, 4))
    depth, owner = drawn_spheres(spheres)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    best = np.full((HEIGHT, WIDTH), -np.inf)
    for x, y, z, r in spheres:
        height_sq = r * r - (columns - x) ** 2 - (rows - y) ** 2
        best = np.maximum(best, np.where(height_sq >= 0, z + np.sqrt(np.maximum(height_sq, 0)), -np.inf))
    # Samples on the outline of a sphere may round either way.
    np.testing.assert_array_equal(owner == _render.NOTHING, np.isinf(depth))
    assert (np.isinf(depth) != np.isinf(best)).sum() <= 1
    both = np.isfinite(depth) & np.isfinite(best)
    np.testing.assert_allclose(depth[both], best[both], atol=1e-4)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1])
@pytest.mark.parametrize("mesh", [shapes.octasphere(3), shapes.box(1.2), shapes.cylinder(0.8, 1.0)])
def test_every_ray_meets_a_convex_body_twice(mesh: shapes.Mesh, angle: float) -> None:
    """No sample between two triangles is lost, and none counted twice."""
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    corners = (mesh.vertices @ turn.T @ tilt.T * 30 + [WIDTH / 2, HEIGHT / 2, 0])[mesh.faces]
    depth = np.full((HEIGHT, WIDTH), -np.inf, np.float32)
    layers, brightness = np.zeros((HEIGHT, WIDTH), np.int32), np.zeros((HEIGHT, WIDTH), np.float32)
    shades = np.full(len(corners), 0.5)
    _render.draw_triangles(2, corners, shades, depth, layers, brightness)
    assert set(np.unique(layers)) == {0, 2}
    np.testing.assert_array_equal(brightness, 0.5 * layers)


@pytest.mark.parametrize(("nearer", "seen"), [(-1e-3, True), (1e-3, False)])
def test_triangles_before_and_behind(nearer: float, seen: bool) -> None:
    """Something follows a slanted triangle at a small distance, before it or behind it."""
    corners = np.array([[[5.0, 5, 0], [70, 20, 30], [30, 90, -10]]])
    slope = np.linalg.solve(np.column_stack([corners[0, :, :2], np.ones(3)]), corners[0, :, 2])
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    depth = (slope[0] * columns + slope[1] * rows + slope[2] + nearer).astype(np.float32)
    layers, brightness = np.zeros((HEIGHT, WIDTH), np.int32), np.zeros((HEIGHT, WIDTH), np.float32)
    _render.draw_triangles(2, corners, np.ones(1), depth, layers, brightness)
    area = 0.5 * abs(np.linalg.det(corners[0, 1:, :2] - corners[0, 0, :2]))
    assert layers.sum() == pytest.approx(area if seen else 0, rel=0.02)


def test_one_sphere_is_a_disc() -> None:
    result = picture([[5, 0, 7, 2]], RED)
    left, right, bottom, top = result.extent
    inside = (result.pixels != 255).any(axis=2)
    area = inside.mean() * (right - left) * (top - bottom)
    assert area == pytest.approx(np.pi * 4, rel=0.03)
    assert (left + right) / 2 == pytest.approx(5)
    assert (bottom + top) / 2 == pytest.approx(7)
    middle = result.pixels[len(result.pixels) // 2, result.pixels.shape[1] // 2].astype(int)
    assert middle[0] > 150 > 100 > middle[1]


@pytest.mark.parametrize(("y", "seen"), [(-5, "blue"), (5, "red")])
def test_the_nearer_sphere_is_seen(y: float, seen: str) -> None:
    """The eye is at negative y."""
    result = picture([[0, 0, 0, 1], [0, y, 0, 1]], [RED, BLUE])
    red, _, blue = result.pixels[len(result.pixels) // 2, result.pixels.shape[1] // 2].astype(int)
    assert (blue > red) == (seen == "blue")


@pytest.mark.parametrize(
    ("view", "axes"),
    [
        ((-90, 0), [[1, 0], [0, 0], [0, 1]]),
        ((0, 0), [[0, 0], [1, 0], [0, 1]]),
        ((-90, 90), [[1, 0], [0, 1], [0, 0]]),
    ],
)
def test_directions(view: tuple[float, float], axes: list[list[float]]) -> None:
    np.testing.assert_allclose(picture([[0, 0, 0, 1]], RED, view=view).axes, axes, atol=1e-15)


def test_right_and_up() -> None:
    pixels = picture([[0, 0, 0, 1], [4, 0, 4, 1]], [RED, BLUE]).pixels.astype(int)
    rows, columns = np.nonzero(pixels[:, :, 0] > pixels[:, :, 2])
    assert rows.min() > len(pixels) / 2
    assert columns.max() < pixels.shape[1] / 2


def test_spheres_are_seen_through_meshes() -> None:
    sphere, wall = [[0, 0, 0, 1]], shapes.box([4, 0.1, 4], lower=[-2, -2, -2])
    plain, covered = (picture(sphere, RED, meshes, box=[[-2] * 3, [2] * 3]).pixels for meshes in ((), [wall]))
    middle = len(plain) // 2, plain.shape[1] // 2
    assert not np.array_equal(plain[middle], covered[middle])
    assert covered[middle][0] > covered[middle][2] + 30
    behind = shapes.box([4, 0.1, 4], lower=[-2, 2, -2])
    hidden = picture(sphere, RED, [behind], box=[[-2] * 3, [2] * 3]).pixels
    np.testing.assert_array_equal(hidden[middle], plain[middle])


def test_outlines_of_meshes() -> None:
    """A box has its edges, and no lines across its faces; torn apart into single faces it looks the same."""
    mesh = shapes.box(1.0, divisions=4)
    torn = shapes.Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))
    pixels = picture([], [], [mesh]).pixels
    np.testing.assert_array_equal(picture([], [], [torn]).pixels, pixels)
    dark = (pixels < 100).all(axis=2)
    assert dark.any()
    edges = np.flatnonzero(dark[len(dark) // 2])
    assert edges.max() - edges.min() > 0.9 * len(dark)
    assert len(edges) <= 6


@pytest.mark.parametrize("segments", [3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 24, 36, 72])
def test_all_edges_of_a_drum_are_lines_or_none(segments: int) -> None:
    """Rounding does not choose some of them; seen from the side, at most two are outlines."""
    whole = shapes.cylinder(1.0, 1.0, segments)
    drum = shapes.Mesh(whole.vertices, whole.faces[: 2 * segments])
    for angle in (0.0, 0.1, 1.0, 2.5):
        cos, sin = np.cos(angle), np.sin(angle)
        turned = drum.transformed(np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]))
        lines = _outlines(turned, unit_normals(turned.triangles), view_axes(-60.0, 20.0)[2])
        sides = int((lines[:, 0, 2] != lines[:, 1, 2]).sum())
        assert sides == segments or sides <= 2


# Bodies


def moved(mesh: shapes.Mesh, x: float, y: float, z: float) -> shapes.Mesh:
    return mesh.transformed(translation=[x, y, z])


@pytest.mark.parametrize(("y", "seen"), [(-5, "blue"), (5, "red")])
@pytest.mark.parametrize("first", ["sphere", "body"])
def test_the_nearer_of_spheres_and_bodies_is_seen(first: str, y: float, seen: str) -> None:
    cube = shapes.box(2.0)
    if first == "sphere":
        result = picture([[0, 0, 0, 1]], [RED, BLUE], bodies=[moved(cube, 0, y, 0)])
    else:
        result = picture([[0, y, 0, 1]], [BLUE, RED], bodies=[cube])
    red, _, blue = result.pixels[len(result.pixels) // 2, result.pixels.shape[1] // 2].astype(int)
    assert (blue > red) == (seen == "blue")


def test_a_sphere_in_the_hole_of_a_ring() -> None:
    """Through the hole the sphere is seen, over the ring it is hidden, before it both are seen."""
    ring = shapes.torus(1.0, 0.3, 48, 24).transformed(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    box = [[-2, -2, -2], [2, 2, 2]]
    blue = []
    for y in (-1.5, 0.0, 1.5):
        pixels = picture([[0, y, 0, 0.9]], [BLUE, RED], bodies=[ring], box=box).pixels.astype(int)
        blue.append((pixels[:, :, 2] > pixels[:, :, 0] + 20).sum())
    assert blue[0] == pytest.approx(blue[2] * (0.9 / 0.7) ** 2, rel=0.05)
    assert blue[2] <= blue[1] <= blue[0]


def test_bodies_are_seen_through_meshes() -> None:
    wall, cube = shapes.box([4, 0.1, 4], lower=[-2, -2, -2]), shapes.box(1.5)
    plain, covered, hidden = (
        picture([], RED, meshes, box=[[-2] * 3, [2] * 3], bodies=[cube]).pixels.astype(int)
        for meshes in ((), [wall], [moved(wall, 0, 3.9, 0)])
    )
    middle = len(plain) // 2, plain.shape[1] // 2
    assert (covered[middle] != plain[middle]).any()
    assert covered[middle][0] > covered[middle][2] + 30
    np.testing.assert_array_equal(hidden[middle], plain[middle])


def test_faces_are_flat_and_edges_sharp() -> None:
    """A cube looks the same however many triangles it has, and torn apart into them."""
    fine = shapes.box(1.0, divisions=4)
    torn = shapes.Mesh(fine.vertices[fine.faces].reshape(-1, 3), np.arange(3 * len(fine.faces)).reshape(-1, 3))
    one, other, third = (picture([], RED, bodies=[mesh], view=(-60, 30)).pixels for mesh in (shapes.box(), fine, torn))
    np.testing.assert_allclose(one.astype(int), other.astype(int), atol=1)
    np.testing.assert_array_equal(other, third)
    steps = np.abs(np.diff(one.astype(int), axis=1)).max(axis=2)
    shown = (one != 255).any(axis=2)[:, 1:]
    assert (steps[shown] <= 3).mean() > 0.85
    assert (steps[shown] > 20).sum() > 3 * len(one)  # the outline at both sides, and edges


def test_what_is_round_is_smooth() -> None:
    """Few lines and small steps, as on no flat triangles."""
    row = picture([], RED, bodies=[shapes.icosphere(3)], size=300).pixels[150, 40:-40, 0].astype(int)
    assert np.abs(np.diff(row)).max() <= 8


def test_lines_between_bodies_that_touch() -> None:
    """Cubes side by side, whose faces lie in one plane, are told apart; one body of the same shape has no line."""
    cubes = [moved(shapes.box(1.0), x, 0, 0) for x in (-0.5, 0.5)]
    whole = [shapes.box([2.0, 1, 1])]
    dark = []
    for bodies in (cubes, whole):
        pixels = picture([], [RED] * len(bodies), bodies=bodies).pixels.astype(int)
        middle = pixels.shape[1] // 2
        row = pixels[len(pixels) // 2, middle - 10 : middle + 10, 0]
        dark.append((row < 0.6 * np.median(row)).sum())
    assert 1 <= dark[0] <= 4
    assert dark[1] == 0


def test_bodies_of_many_shapes_have_their_own_colours() -> None:
    cubes = [moved(shapes.box(1.0), x, 0, 0) for x in (0, 2)]
    pixels = picture([], [RED, BLUE], bodies=cubes).pixels.astype(int)
    for colour, start in ((0, 0), (2, pixels.shape[1] // 2)):
        half = pixels[:, start : start + pixels.shape[1] // 2]
        assert (half[:, :, colour] > half[:, :, 2 - colour]).sum() > 2000
        assert not (half[:, :, 2 - colour] > half[:, :, colour]).any()


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    spheres, colours = rng.uniform([0, 0, 0, 0.01], [1, 1, 1, 0.1], (200, 4)), rng.random((201, 3))
    results = []
    for threads in (1, None):
        with _jit.threads(threads):
            bodies = [shapes.box(0.5)]
            shown = picture(spheres, colours, [shapes.torus()], [[0] * 3, [1] * 3], (20.0, 30.0), bodies=bodies)
            results.append(shown.pixels)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("scale", [1e-140, 1e-9, 1e9, 1e140])
def test_size_does_not_matter(scale: float) -> None:
    spheres = np.array([[0, 0, 0, 1], [3, 0, 1, 0.5]])
    np.testing.assert_allclose(
        picture(spheres * scale, [RED, BLUE]).pixels.mean(), picture(spheres, [RED, BLUE]).pixels.mean(), atol=1
    )
    means = [
        picture([], RED, view=(-60, 20), bodies=[shapes.Mesh(mesh.vertices * factor, mesh.faces)]).pixels.mean()
        for factor in (1.0, scale)
        for mesh in [shapes.torus()]
    ]
    assert means[0] == pytest.approx(means[1], abs=1)


def test_nothing_points_and_slender_things() -> None:
    assert (picture([], []).pixels == 255).all()
    assert (picture([[1, 2, 3, 0.0]], RED).pixels != 255).any()  # a point is seen too
    for spheres in ([[0, 0, 0, 0.1], [1000, 0, 0, 0.1]], [[0, 0, 0, 0.1], [0, 0, 1000, 0.1]]):
        result = picture(spheres, [RED, BLUE])
        assert min(result.pixels.shape[:2]) >= 40
        pixels = result.pixels.astype(int)
        assert (pixels[:, :, 0] > pixels[:, :, 2]).any()
        assert (pixels[:, :, 2] > pixels[:, :, 0]).any()
    flat = shapes.Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])  # no area
    assert (picture([], [], [flat]).pixels != 255).any()
    assert (picture([], RED, bodies=[flat]).pixels == 255).all()
