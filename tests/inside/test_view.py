"""Solids in a moved frame, against new solids of moved meshes."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from impinge import Mesh, Solid, shapes
from impinge.errors import InputError
from impinge.inside import SolidView

from .. import naive
from .contract import BAD_POINTS, METHODS, lattice

QUESTIONS = ("classify", "contains", "winding", "distance", "closest")
# Matrices with one ±1 in each row and column; half of them are turns of a cube into itself.
AXIS_TURNS = [
    turn
    for order in permutations(range(3))
    for signs in product((-1.0, 1.0), repeat=3)
    if np.linalg.det(turn := np.eye(3)[list(order)] * signs) > 0
]
quarters = st.tuples(*[st.integers(-(2**40), 2**40).map(lambda n: n / 4)] * 3)
turns = st.builds(
    lambda axis, angle: Rotation.from_rotvec(np.array(axis) * angle),
    st.sampled_from([(1.0, 0.0, 0.0), (0.6, 0.8, 0.0), (1 / 3, -2 / 3, 2 / 3)]),
    st.floats(-7, 7),
)


@cache
def solid_of(name: str, method: str) -> Solid:
    return Solid(lattice(name)[0], method)


@cache
def ball(method: str = "octree") -> Solid:
    return Solid(shapes.octasphere(3), method)


def cloud(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.3, 1.3, (count, 3))


def test_there_are_24_axis_turns() -> None:
    assert len(AXIS_TURNS) == 24


def tolerance(method: str, rounding: float) -> float:
    """How far winding numbers may be apart."""
    return 2e-3 if method == "multipole" else rounding


@pytest.mark.parametrize("method", METHODS)
@given(name=st.sampled_from(["cube", "L", "tetrahedron"]), turn=st.sampled_from(AXIS_TURNS), shift=quarters)
def test_exact_moves_change_nothing(method: str, name: str, turn: np.ndarray, shift: tuple[float, ...]) -> None:
    """Turns of axes to axes and shifts by quarters: every class is that of the bare solid, on the surface too."""
    mesh, points, classes, _ = lattice(name)
    view = solid_of(name, method).at(turn, shift)
    places = points @ turn.T + shift  # exact: all are quarters below 2^51
    np.testing.assert_array_equal(view.classify(places), classes)
    np.testing.assert_array_equal(view.contains(places), classes >= 0)
    np.testing.assert_array_equal(view.winding(places), view.solid.winding(points))
    np.testing.assert_array_equal(view.distance(places), view.solid.distance(points))
    np.testing.assert_array_equal(view.vertices, mesh.vertices @ turn.T + shift)


@pytest.mark.parametrize("method", METHODS)
@given(turn=st.sampled_from(AXIS_TURNS), shift=st.tuples(*[st.integers(-8, 8).map(lambda n: n / 4)] * 3))
def test_exact_moves_as_a_new_solid(method: str, turn: np.ndarray, shift: tuple[float, ...]) -> None:
    mesh, points, _, _ = lattice("L")
    moved = Mesh(mesh.vertices @ turn.T + shift, mesh.faces)
    view, new = solid_of("L", method).at(turn, shift), Solid(moved, method)
    places = points[::7] @ turn.T + shift
    np.testing.assert_array_equal(view.classify(places), new.classify(places))
    np.testing.assert_allclose(view.winding(places), new.winding(places), rtol=0, atol=tolerance(method, 1e-12))
    np.testing.assert_allclose(view.distance(places), new.distance(places), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(view.bounds, moved.bounds)


@pytest.mark.parametrize("method", METHODS)
@given(turn=turns, shift=st.tuples(*[st.floats(-100, 100)] * 3))
def test_any_move_as_a_new_solid(method: str, turn: Rotation, shift: tuple[float, ...]) -> None:
    """Away from the surface, and distances everywhere, to rounding."""
    mesh = shapes.octasphere(2)
    new = Solid(mesh.transformed(turn.as_matrix(), shift), method)
    view = Solid(mesh, method).at(turn, shift)
    places = cloud(60) + shift
    distances = new.distance(places)
    off = np.abs(distances) > 1e-10
    assert off.sum() > 50
    np.testing.assert_array_equal(view.classify(places)[off], new.classify(places)[off])
    np.testing.assert_allclose(
        view.winding(places)[off], new.winding(places)[off], rtol=0, atol=tolerance(method, 1e-9)
    )
    np.testing.assert_allclose(view.distance(places), distances, rtol=0, atol=1e-12)
    np.testing.assert_allclose(view.bounds, new.mesh.bounds, rtol=0, atol=1e-12)
    np.testing.assert_allclose(view.closest(places).points, new.closest(places).points, rtol=0, atol=1e-6)


@given(turn=turns, shift=st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_closest_points_are_on_the_moved_surface(turn: Rotation, shift: tuple[float, ...]) -> None:
    view = ball().at(turn, shift)
    places = cloud(40) + shift
    found = view.closest(places)
    assert found.faces.dtype == np.int64
    near = 1e-14 + 4e-16 * np.abs(shift).max()
    np.testing.assert_allclose(np.linalg.norm(places - found.points, axis=1), found.distances, rtol=0, atol=near)
    np.testing.assert_allclose(view.distance(found.points), 0, rtol=0, atol=near)
    np.testing.assert_allclose(np.abs(view.distance(places)), found.distances, rtol=0, atol=near)


@given(turns, turns, st.tuples(*[st.floats(-1e3, 1e3)] * 3), st.tuples(*[st.floats(-1e3, 1e3)] * 3))
def test_moving_on(first: Rotation, second: Rotation, shift: tuple[float, ...], further: tuple[float, ...]) -> None:
    both = ball().at(first, shift).at(second, further)
    assert both.solid is ball()
    np.testing.assert_allclose(both.rotation, (second * first).as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(both.translation, second.apply(shift) + further, rtol=0, atol=1e-12)
    points = cloud(20)
    steps = second.apply(first.apply(points) + shift) + further
    np.testing.assert_allclose(both.to_world(points), steps, rtol=0, atol=3e-12)
    np.testing.assert_allclose(both.to_body(steps), points, rtol=0, atol=3e-12)


@given(st.sampled_from(AXIS_TURNS), st.sampled_from(AXIS_TURNS), quarters, quarters)
def test_moving_on_exactly(
    first: np.ndarray, second: np.ndarray, shift: tuple[float, ...], further: tuple[float, ...]
) -> None:
    both = ball().at(first, shift).at(second, further)
    np.testing.assert_array_equal(both.rotation, second @ first)
    np.testing.assert_array_equal(both.translation, second @ shift + further)


def test_long_chains_stay_rotations() -> None:
    step, view = Rotation.from_rotvec([0.01, 0.02, -0.03]).as_matrix(), ball().at()
    for _ in range(3000):
        view = view.at(step)
    excess = view.rotation.T @ view.rotation - np.eye(3)
    assert np.abs(excess).max() < 1e-14
    turned = Rotation.from_rotvec(np.array([0.01, 0.02, -0.03]) * 3000).as_matrix()
    np.testing.assert_allclose(view.rotation, turned, rtol=0, atol=1e-11)


@given(turn=turns, shift=st.tuples(*[st.floats(-10, 10)] * 3), point=st.tuples(*[st.floats(-10, 10)] * 3))
def test_frames_against_rational_numbers(turn: Rotation, shift: tuple[float, ...], point: tuple[float, ...]) -> None:
    view = ball().at(turn, shift)
    matrix = [naive.rational(row) for row in view.rotation]
    p, t = naive.rational(point), naive.rational(shift)
    away = naive.minus(p, t)
    body = [sum(matrix[j][k] * away[j] for j in range(3)) for k in range(3)]
    world = [sum(matrix[k][j] * p[j] for j in range(3)) + t[k] for k in range(3)]
    for found, wanted, scale in (
        (view.to_body([point])[0], body, max(map(abs, away))),
        (view.to_world([point])[0], world, max(map(abs, p)) + max(map(abs, t))),
    ):
        wrong = max(abs(Fraction(x) - y) for x, y in zip(found, wanted, strict=True))
        assert wrong <= scale * Fraction(1, 10**15) + Fraction(5e-323)  # and what denormal numbers lose


def test_far_away_only_what_the_points_lost_is_lost() -> None:
    """Differences of near doubles are exact: a shift by 1e15 costs nothing where places are that fine."""
    mesh, points, classes, _ = lattice("cube")
    shift = [1e15, -1e15, 2.0**50]
    view = solid_of("cube", "octree").at(translation=shift)
    places = points + shift
    np.testing.assert_array_equal(places - shift, points)
    np.testing.assert_array_equal(view.classify(places), classes)
    assert view.classify(mesh.vertices + shift).tolist() == [0] * 8


@pytest.mark.parametrize("method", METHODS)
def test_no_answer_depends_on_other_points(method: str) -> None:
    """Alone, in pieces, in another order and with other threads: the same bits, on a turned surface too."""
    solid = Solid(shapes.octasphere(3), method)
    single = Solid(solid.mesh, method, threads=1)
    turn, shift = Rotation.from_rotvec([0.4, -1.0, 0.3]), [0.1, 20.0, -3.0]
    view = solid.at(turn, shift)
    places = np.vstack([view.to_world(cloud(10_000 if method == "octree" else 300)), view.vertices])
    order = np.random.default_rng(1).permutation(len(places))
    for question in ("classify", "winding", "distance"):
        found = getattr(view, question)(places)
        np.testing.assert_array_equal(getattr(single.at(turn, shift), question)(places), found)
        np.testing.assert_array_equal(getattr(view, question)(places[order]), found[order])
        parts = [getattr(view, question)(part) for part in np.array_split(places[:40], 17)]
        if (method, question) == ("multipole", "winding"):  # whose evaluation tree is made for the points of a call
            np.testing.assert_allclose(np.concatenate(parts), found[:40], rtol=0, atol=tolerance(method, 0))
        else:
            np.testing.assert_array_equal(np.concatenate(parts), found[:40])
        np.testing.assert_array_equal(getattr(view, question)(np.asfortranarray(places)), found)


@pytest.mark.parametrize("method", METHODS)
def test_no_points(method: str) -> None:
    view = ball(method).at(AXIS_TURNS[5], [1, 2, 3])
    for empty in (np.empty((0, 3)), []):
        assert view.classify(empty).shape == (0,)
        assert view.contains(empty).dtype == bool
        assert view.winding(empty).dtype == np.float64
        assert view.distance(empty).shape == (0,)
        assert view.closest(empty).points.shape == (0, 3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("points", "message"), BAD_POINTS, ids=[m for _, m in BAD_POINTS])
def test_bad_points(method: str, points: object, message: str) -> None:
    view = ball(method).at(Rotation.from_rotvec([1, 2, 3]), [5, 0, 0])
    for question in QUESTIONS:
        with pytest.raises(InputError, match=message):
            getattr(view, question)(points)


def test_bad_points_are_told_as_given() -> None:
    with pytest.raises(InputError, match=r"points: row 1 is not finite \(7\.0, inf, 0\.0\)"):
        ball().at(translation=[5, 0, 0]).classify([[0, 0, 0], [7, np.inf, 0]])


def test_beyond_the_range_of_numbers() -> None:
    turned = ball().at(Rotation.from_rotvec([0, 0, np.pi / 4]))
    assert turned.classify([[1e308, 0, 0]]) == -1
    with pytest.raises(InputError, match=r"points: row 1 is \(1\.7e\+308, .*beyond the range"):
        turned.classify([[0, 0, 0], [1.7e308, 1.7e308, 0]])
    with pytest.raises(InputError, match=r"points: row 0 .*beyond the range"):
        ball().at(translation=[-1e308, 0, 0]).distance([[1e308, 0, 0]])
    with pytest.raises(InputError, match=r"translation: row 0 .*beyond the range"):
        ball().at(translation=[1.5e308, 0, 0]).at(translation=[1.5e308, 0, 0])
    large = Solid(Mesh(shapes.box().vertices * 3e307, shapes.box().faces))
    assert large.at(translation=[1e308, 0, 0]).bounds[1, 0] == 1.15e308
    for name in ("vertices", "bounds"):
        with pytest.raises(InputError, match=r"vertices: row .*beyond the range"):
            getattr(large.at(translation=[1.7e308, 0, 0]), name)


def test_unused_vertices_are_not_in_the_bounds() -> None:
    box = shapes.box()
    solid = Solid(Mesh(np.vstack([box.vertices, [[1e308, 9, 9]]]), box.faces))
    np.testing.assert_array_equal(solid.at(AXIS_TURNS[3], [1, 1, 1]).bounds, [[0.5] * 3, [1.5] * 3])


# Rotations


SKEW = np.eye(3) + np.array([[0, 1e-5, 0], [0, 0, 0], [0, 0, 0]])
BAD_ROTATIONS = [
    (np.diag([1.0, 1.0, -1.0]), "reflection"),
    (-np.eye(3), "reflection"),
    (2 * np.eye(3), r"differs from the identity by up to 3,"),
    (SKEW, r"up to 1e-05.*no shear"),
    (np.zeros((3, 3)), "differs from the identity by up to 1,"),
    (np.full((3, 3), 1e200), "differs from the identity by up to inf"),
    (np.full((3, 3), np.nan), "finite"),
    (np.diag([np.inf, 1, 1]), "finite"),
    ([0, 0, 0, 1], r"shape \(4,\).*from_quat"),
    ([0, 0, 1], r"shape \(3,\).*from_rotvec"),
    (np.eye(4), r"shape \(4, 4\).*T\[:3, 3\]"),
    (np.eye(2), r"shape \(2, 2\)"),
    (np.eye(3)[None], r"shape \(1, 3, 3\)"),
    (Rotation.from_rotvec(np.zeros((2, 3))), r"shape \(2, 3, 3\)"),
    (0.5, r"shape \(\)"),
    ("z", "text"),
    (np.eye(3, dtype=bool), "booleans"),
    (np.eye(3, dtype=complex), "complex"),
    ([[1, 0, 0], [0, 1]], "not an array"),
]


@pytest.mark.parametrize(("rotation", "message"), BAD_ROTATIONS, ids=[m for _, m in BAD_ROTATIONS])
def test_bad_rotations(rotation: object, message: str) -> None:
    for body in (ball(), ball().at(translation=[1, 0, 0])):
        with pytest.raises(InputError, match=rf"(?s)rotation: found.*{message}") as caught:
            body.at(rotation)
        assert "expected" in str(caught.value)


@pytest.mark.parametrize("translation", [[1, 2], [[1, 2, 3]], [1, 2, np.nan], [1, 2, np.inf], "far", 1.0, [None] * 3])
def test_bad_translations(translation: object) -> None:
    for body in (ball(), ball().at()):
        with pytest.raises(InputError, match=r"translation: found .*expected"):
            body.at(translation=translation)


@given(turns)
def test_rotations_are_taken_as_given(turn: Rotation) -> None:
    matrix = turn.as_matrix()
    np.testing.assert_array_equal(ball().at(matrix).rotation, matrix)
    np.testing.assert_array_equal(ball().at(turn).rotation, matrix)
    np.testing.assert_array_equal(ball().at(matrix.tolist()).rotation, matrix)


@given(turns)
def test_rotations_of_single_precision_become_the_nearest(turn: Rotation) -> None:
    rough = turn.as_matrix().astype(np.float32)
    found = ball().at(rough).rotation
    left, _, right = np.linalg.svd(rough.astype(np.float64))
    np.testing.assert_allclose(found, left @ right, rtol=0, atol=1e-14)  # mostly what the SVD loses
    np.testing.assert_allclose(found.T @ found, np.eye(3), rtol=0, atol=4e-15)
    np.testing.assert_array_equal(ball().at(found).rotation, found)


def test_views_do_not_change() -> None:
    matrix, shift = np.eye(3), np.array([1.0, 2.0, 3.0])
    view = ball().at(matrix, shift)
    matrix[:], shift[:] = 7, 7
    np.testing.assert_array_equal(view.rotation, np.eye(3))
    np.testing.assert_array_equal(view.translation, [1, 2, 3])
    for array in (view.rotation, view.translation, view.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_at_the_same_place() -> None:
    view, points = ball().at(), cloud(50)
    for question in QUESTIONS:
        np.testing.assert_equal(getattr(view, question)(points), getattr(ball(), question)(points))
    np.testing.assert_array_equal(view.vertices, ball().mesh.vertices)
    np.testing.assert_array_equal(view.bounds, ball().mesh.bounds)


def test_open_mesh() -> None:
    mesh = Mesh(shapes.octasphere(2).vertices, shapes.octasphere(2).faces[4:])
    solid = Solid(mesh, "direct")
    view = solid.at(AXIS_TURNS[11], [4, 0, -2])
    points = cloud(100)
    places = view.to_world(points)
    np.testing.assert_allclose(view.winding(places), solid.winding(points), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(view.contains(places), solid.winding(points) > 0.5)


def test_pickle() -> None:
    view = ball().at(Rotation.from_rotvec([1, 2, 3]).as_matrix().astype(np.float32), [1, 2, 3])
    copy = pickle.loads(pickle.dumps(view))
    np.testing.assert_array_equal(copy.rotation, view.rotation)
    np.testing.assert_array_equal(copy.classify(view.vertices), view.classify(view.vertices))
    assert not copy.rotation.flags.writeable


def test_words() -> None:
    view = ball().at(Rotation.from_rotvec([0, 0, np.radians(30)]), [1, 0, 0.5])
    assert isinstance(view, SolidView)
    for text in (repr(view), view.describe()):
        assert "turned by 30°, moved by (1, 0, 0.5) m" in text
        assert "octree" in text
    assert "512 triangles" in repr(view)
    half = ball().at(Rotation.from_rotvec([0, np.pi, 0]))
    assert "turned by 180°, moved by (0, 0, 0)" in repr(half)
