"""Nearest points: one triangle against rational arithmetic, the tree against all triangles, grids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import Mesh, _jit, shapes
from impinge.inside import _closest, _closest_frames, _closest_grid
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


_NUMBER = st.floats(-2, 2).map(lambda x: x if abs(x) > 1e-100 else 0.0)  # sizes for which the function is made
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


def test_needle_whose_long_edges_are_equally_near() -> None:
    """The step from the one must not go beyond the other."""
    assert_nearest(np.array([[0, 0, 0], [0, 0, 6e-7], [0, 6e-7, 1]]), np.array([0.0, 0.0, 1.0]))


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


def assert_grid_like_points(tree: ClosestTree, axes: list[np.ndarray], size: float) -> None:
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    found = tree.grid_distance(*axes)
    assert found.shape == points.shape[:3]
    wanted = tree.query(np.ascontiguousarray(points.reshape(-1, 3)))[2]
    np.testing.assert_allclose(found.ravel(), wanted, rtol=2 * U, atol=1e-140 * size)  # squares underflow below


@pytest.mark.parametrize("name", [name for name in scenes.SMALL if name != "largest"])
@pytest.mark.parametrize("shape", [(9, 10, 11), (1, 1, 1), (3, 1, 30), (1, 17, 1)])
def test_grid_is_the_same_as_its_points(name: str, shape: tuple[int, int, int]) -> None:
    mesh = scenes.SMALL[name]()
    low, high = mesh.bounds
    reach = (high - low).max() * 0.1
    axes = [np.linspace(low[k] - reach, high[k] + reach, shape[k]) for k in range(3)]
    assert_grid_like_points(ClosestTree(mesh), axes, reach)


@pytest.mark.parametrize("faces", [1, 8, 9, 64, 65, 72, 73, 513, 520, 577, 600])
def test_grid_of_any_number_of_faces(faces: int) -> None:
    """Trees of all depths, full or with leaves next to nodes."""
    mesh = shapes.foam(6000)
    tree = ClosestTree(Mesh(mesh.vertices, mesh.faces[:faces]))
    assert_grid_like_points(tree, [np.linspace(-1, 1, 12)] * 3, 1.0)


@pytest.mark.parametrize("reach", [3.0, 100.0, 1e3, 1e7])
@pytest.mark.parametrize("name", ["sphere-4", "foam", "lattice-blob"])
def test_grid_from_far_away(name: str, reach: float) -> None:
    tree = ClosestTree(scenes.SMALL[name]())
    axes = [np.linspace(-reach, reach, 9), np.linspace(-reach, reach, 8), np.linspace(0.3 * reach, reach, 7)]
    assert_grid_like_points(tree, axes, reach)
    assert_grid_like_points(tree, [axis / reach + reach for axis in axes], reach)


def test_grid_of_a_small_part() -> None:
    """A thousandth of the mesh, which single precision hardly resolves, and points on the surface itself."""
    tree = ClosestTree(scenes.uneven())
    assert_grid_like_points(tree, [np.linspace(c - 0.06, c + 0.06, 13) for c in (0.3, 0.2, 0.1)], 1.0)
    assert_grid_like_points(tree, [np.linspace(c - 1e-7, c + 1e-7, 5) for c in (0.35, 0.2, 0.1)], 1.0)
    assert_grid_like_points(ClosestTree(shapes.box(divisions=6)), [np.linspace(0, 1, 13)] * 3, 1.0)


def test_grid_where_everything_is_near() -> None:
    """Around the centre of a sphere more leaves are found than a packet takes."""
    ball = shapes.octasphere(5)
    around = [np.array([-1e-3, 0.0, 1e-9, 1e-3, 0.1])] * 3
    assert_grid_like_points(ClosestTree(ball), around, 1.0)
    assert_grid_like_points(ClosestTree(Mesh.concatenate([ball, ball.flipped()])), around, 1.0)


@given(
    st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=3, max_size=9),
    st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=1, max_size=80),
    st.tuples(*[st.lists(st.integers(-6, 6), min_size=1, max_size=6)] * 3),
)
def test_grid_of_any_faces(vertices: list, faces: list, places: tuple) -> None:
    """Heaps of lattice triangles, and planes of grid points in any order, some of them twice."""
    tree = ClosestTree(Mesh(vertices, np.array(faces) % len(vertices)))
    assert_grid_like_points(tree, [np.array(axis) / 2 for axis in places], 1.0)


def test_grid_does_not_depend_on_threads() -> None:
    tree = ClosestTree(shapes.foam(6000))
    axes = [np.linspace(-1, 1, n) for n in (33, 20, 27)]
    with _jit.threads(1):
        wanted = tree.grid_distance(*axes)
    np.testing.assert_array_equal(tree.grid_distance(*axes), wanted)


def test_grid_takes_no_more_memory_than_the_tree() -> None:
    tree = ClosestTree(shapes.octasphere(4))
    before = tree.nbytes
    tree.grid_distance(*[np.zeros(2)] * 3)
    assert tree.nbytes < 2.1 * before


@pytest.mark.parametrize("width", [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 0.0])
def test_single_precision_is_as_good_as_promised(width: float) -> None:
    """Distances from triangles of all shapes, needles included, are within the margin for their rounding."""
    rng = np.random.default_rng(7)
    n, lanes = 600, _closest.WIDTH
    ends = rng.uniform(-1, 1, (n, 2, 3)) * rng.choice([1.0, 1e-3, 1e-6], (n, 1, 1))
    third = ends[:, 0] + rng.uniform(-0.2, 1.2, (n, 1)) * (ends[:, 1] - ends[:, 0]) + width * rng.normal(size=(n, 3))
    corners = np.clip(np.concatenate([ends, third[:, None]], axis=1) + rng.uniform(-1, 1, (n, 1, 3)), -1, 1)
    tree = ClosestTree(Mesh(np.vstack([corners.reshape(-1, 3), [[-1] * 3, [1] * 3]]), np.arange(3 * n).reshape(-1, 3)))
    tree.grid_distance(*[np.zeros(1)] * 3)
    centre, (_, _, frames) = tree._scale(tree._centre), tree._grid
    leaves = len(frames) // _closest_frames.FRAMES
    for reach in (1.0, 3.0, 30.0):
        # Anywhere, and close to some vertex
        far, near = rng.uniform(-reach, reach, (4, 3)), tree._scale(corners[rng.integers(0, n, 4), 0])
        points = np.vstack([far, near + 1e-5 * rng.normal(size=(4, 3))])
        packet = np.concatenate([(points - centre).T.ravel(), np.zeros(4 * lanes)]).astype(np.float32)
        pairs = np.arange(leaves * lanes)
        squares, nearest = np.empty(len(pairs) * lanes, np.float32), np.full(2 * lanes * lanes, np.inf, np.float32)
        _closest_grid._measure_pairs(frames, np.arange(leaves), pairs, 0, len(pairs), lanes, packet, nearest, squares)
        exact = np.empty((leaves, lanes, lanes))
        for j, point in enumerate(points):
            for leaf in range(leaves):
                _closest.measure_lanes(tree._leaves, leaf, *(np.full(lanes, x) for x in point), exact[leaf, j])
        sizes = np.linalg.norm(points - centre, axis=1) + _closest_grid.LARGEST_RADIUS
        error = np.abs(np.sqrt(squares.astype(float)).reshape(exact.shape) - np.sqrt(exact)) / sizes[:, None]
        assert error.max() < 0.5 * _closest_grid.ROUNDING


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
