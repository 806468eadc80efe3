"""Nearest points: one triangle against rational arithmetic, the tree against all triangles, grids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import Mesh, _jit, shapes
from impinge.inside import _closest
from impinge.inside.closest import ClosestTree

from .. import naive
from . import scenes

U = 2.0**-53


def all_pairs(mesh: Mesh, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest face (the lowest) and squared distance, by the scalar function and all triangles."""
    corners = mesh.vertices[np.sort(mesh.merged_faces, axis=1)].reshape(-1, 9)
    squares = np.empty((len(points), len(corners)))
    for i, point in enumerate(points):
        for k, corner in enumerate(corners):
            x, y, z = _closest.nearest_on_triangle(*point, *corner)[:3]
            squares[i, k] = x * x + y * y + z * z
    return squares.argmin(axis=1), squares.min(axis=1)


def assert_nearest(triangle: np.ndarray, point: np.ndarray, factor: float = 20) -> None:
    """The point found is on the triangle and no farther than the nearest one, to a few ulps of the sizes."""
    found = np.array(_closest.closest_point_on_triangle(*point, *triangle.ravel()))
    corners = tuple(naive.rational(corner) for corner in triangle)
    size = float(np.abs(triangle - point).max() + np.abs(triangle).max())
    off = naive.root(naive.distance_sq(naive.rational(found), corners))
    assert off <= factor * U * size, "not on the triangle"
    wanted = naive.root(naive.distance_sq(naive.rational(point), corners))
    assert math.dist(found, point) <= wanted + factor * U * size, "not the nearest"


_NUMBER = st.floats(-2, 2)
_POINT = st.tuples(_NUMBER, _NUMBER, _NUMBER)


@given(st.tuples(_POINT, _POINT, _POINT), _POINT)
def test_any_triangle(triangle: tuple, point: tuple) -> None:
    assert_nearest(np.array(triangle), np.array(point))


@given(st.tuples(*[st.tuples(*[st.integers(-2, 2)] * 3)] * 3), st.tuples(*[st.integers(-3, 3)] * 3))
def test_lattice_triangles(triangle: tuple, point: tuple) -> None:
    """Right angles, equal edges, segments and single points, from all their regions."""
    assert_nearest(np.array(triangle, float), np.array(point, float))


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("place", [0.0, 0.37, 1.0])
def test_needles(width: float, place: float) -> None:
    """Long triangles with a short edge, or with an angle of nearly 180°; points at all heights above them."""
    rng = np.random.default_rng(int(1e6 * place) + 1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    triangle = np.array([[0, 0, 0], [1, 0, 0], [place, width, 0]]) @ turn
    for height in (0, width / 10, width, 1e3 * width, 0.1):
        flat = np.array([rng.uniform(-0.2, 1.2), rng.uniform(-1, 2) * width, height])
        assert_nearest(triangle, flat @ turn)
        assert_nearest(triangle + 100.0, flat @ turn + 100.0)


def test_vertices_are_met_exactly() -> None:
    rng = np.random.default_rng(3)
    for triangle in rng.normal(size=(200, 3, 3)):
        for vertex in triangle:
            assert _closest.closest_point_on_triangle(*vertex, *triangle.ravel()) == tuple(vertex)


@pytest.mark.parametrize(
    "name", ["octahedron", "sphere-2", "box-divided", "needles", "lattice-blob", "copies", "torus"]
)
def test_like_all_pairs(name: str) -> None:
    """To the last bit, ties included: lattice points, vertices and points of the symmetry planes."""
    mesh = scenes.SMALL[name]()
    mesh = Mesh(mesh.vertices, mesh.faces[:600])
    rng = np.random.default_rng(1)
    points = np.vstack([
        rng.uniform(-1.5, 1.5, (40, 3)),
        np.round(rng.uniform(-2, 2, (40, 3)) * 2) / 2,
        mesh.vertices[rng.integers(0, len(mesh.vertices), 20)],
        1e6 * rng.normal(size=(5, 3)),
    ])  # fmt: skip
    face, square = all_pairs(mesh, points)
    closest, found, distance = ClosestTree(mesh).query(points)
    np.testing.assert_array_equal(found, face)
    np.testing.assert_allclose(distance, np.sqrt(square), rtol=4 * U)
    np.testing.assert_allclose(np.linalg.norm(closest - points, axis=1), distance, rtol=1e-9, atol=1e-14)


def test_like_rational_arithmetic() -> None:
    mesh = shapes.octasphere(2)
    points = np.random.default_rng(4).uniform(-1.2, 1.2, (20, 3))
    face, distance = naive.closest(mesh, points)
    _, found, measured = ClosestTree(mesh).query(points)
    np.testing.assert_array_equal(found, face)
    np.testing.assert_allclose(measured, distance, rtol=0, atol=8 * U)


@given(
    st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=3, max_size=9),
    st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=1, max_size=40),
    st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=1, max_size=8),
)
def test_any_faces(vertices: list, faces: list, points: list) -> None:
    """Heaps of lattice triangles: copies, faces without area, repeated vertices."""
    mesh = Mesh(vertices, np.array(faces) % len(vertices))
    queries = np.array(points) / 2
    face, square = all_pairs(mesh, queries)
    _, found, distance = ClosestTree(mesh).query(queries)
    np.testing.assert_array_equal(found, face)
    np.testing.assert_array_equal(distance, np.sqrt(square))


@pytest.mark.parametrize("exponent", [-1070, -600, 600, 1015])
def test_any_scale(exponent: int) -> None:
    mesh = scenes.lattice_blob()
    points = np.round(np.random.default_rng(2).uniform(-6, 6, (200, 3)))
    closest, face, distance = ClosestTree(mesh).query(points)
    factor = np.ldexp(1.0, exponent)
    scaled = ClosestTree(Mesh(mesh.vertices * factor, mesh.faces)).query(points * factor)
    np.testing.assert_array_equal(scaled[1], face)
    np.testing.assert_array_equal(scaled[0], closest * factor)
    np.testing.assert_array_equal(scaled[2], distance * factor)


def test_far_away() -> None:
    mesh = shapes.box(2.0, lower=(-1, -1, -1))
    points = np.array([[1e300, 0, 0], [0, -1e160, 0], [1e17, 1e17, 1e17], [1e308, 1e308, 0.0]])
    closest, _, distance = ClosestTree(mesh).query(points)
    np.testing.assert_allclose(distance, [1e300, 1e160, 1e17 * math.sqrt(3), 1e308 * math.sqrt(2)], rtol=1e-15)
    assert np.abs(closest).max() <= 1
    assert closest[0, 0] == 1
    assert closest[1, 1] == -1


def test_far_from_the_origin() -> None:
    ball = shapes.octasphere(3)
    moved = Mesh(ball.vertices + 1e6, ball.faces)
    points = np.random.default_rng(0).uniform(-1.3, 1.3, (300, 3))
    near = ClosestTree(ball).query(points)[2]
    np.testing.assert_allclose(ClosestTree(moved).query(points + 1e6)[2], near, atol=1e-9)


def test_threads_order_and_chunks_do_not_matter() -> None:
    mesh = shapes.octasphere(4)
    tree = ClosestTree(mesh)
    rng = np.random.default_rng(5)
    points = np.vstack([rng.uniform(-1.2, 1.2, (3000, 3)), np.zeros((3, 3)), mesh.vertices[:50] / 2])
    with _jit.threads(1):
        wanted = tree.query(points)
    order = rng.permutation(len(points))
    for found, right in zip(tree.query(points[order]), wanted, strict=True):
        np.testing.assert_array_equal(found, right[order])
    parts = [tree.query(part) for part in np.array_split(points, [1, 2, 70, 1000])]
    for k in range(3):
        np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), wanted[k])


def test_no_points() -> None:
    closest, face, distance = ClosestTree(shapes.box()).query(np.empty((0, 3)))
    assert closest.shape == (0, 3)
    assert face.shape == distance.shape == (0,)


@pytest.mark.parametrize(
    "name", ["sphere-4", "box-divided", "needles", "lattice-blob", "nested", "foam", "tiny", "far-away"]
)
@pytest.mark.parametrize("shape", [(17, 18, 19), (1, 1, 1), (3, 1, 40)])
def test_grid_is_the_same_as_its_points(name: str, shape: tuple[int, int, int]) -> None:
    mesh = scenes.SMALL[name]()
    tree = ClosestTree(mesh)
    low, high = mesh.bounds
    reach = (high - low).max() * 0.1
    axes = [np.linspace(low[k] - reach, high[k] + reach, shape[k]) for k in range(3)]
    points = np.ascontiguousarray(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3))
    _, _, wanted = tree.query(points)
    found = tree.grid_distance(*axes)
    assert found.shape == shape
    tolerance = 2 * U * float(np.abs(points).max())
    np.testing.assert_allclose(found.ravel(), wanted, rtol=2 * U, atol=tolerance)


def test_grid_edge_cases() -> None:
    tree = ClosestTree(shapes.octasphere(3))
    assert tree.grid_distance(np.empty(0), np.zeros(2), np.zeros(3)).shape == (0, 2, 3)
    centre = tree.grid_distance(np.zeros(2), np.zeros(1), np.zeros(3))  # all points equal, all faces near
    np.testing.assert_array_equal(centre, tree.query(np.zeros((1, 3)))[2][0])
    far = tree.grid_distance(np.array([0.0, 1e200]), np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(far.ravel()[1], 1e200, rtol=1e-15)
    backwards = tree.grid_distance(np.linspace(1, -1, 7), np.linspace(-1, 1, 7), np.array([0.3, -2.0, 0.1]))
    forwards = tree.grid_distance(np.linspace(-1, 1, 7), np.linspace(-1, 1, 7), np.array([0.3, -2.0, 0.1]))
    np.testing.assert_allclose(backwards[::-1], forwards, rtol=0, atol=8 * U)
