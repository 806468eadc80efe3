"""The multipole method against the direct sum, on surfaces of all kinds and with all parameters, and its counts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import Mesh, Solid, _jit, shapes
from impinge.inside import Direct, Multipole

from . import broken, scenes

MODES = ["well-chosen", "pre-chosen"]
# Trees made beforehand take seconds each: most of them in `make verify`
EACH_MODE = ["well-chosen", pytest.param("pre-chosen", marks=pytest.mark.verify)]
ACCURACIES = [1e-1, 1e-2, 1e-3, 1e-6, 1e-9]
# In `make verify` only: many faces, or half a minute of matrices
LARGE = ("sphere-6", "foam-28952", "sphere-5", "sphere-5, holes")
ALWAYS_FINE = ("sphere-3", "foam-5000, holes", "one triangle", "sizes apart, holes", "far away, holes")
# Next to an edge of a needle the direct sum itself, in double precision, is off by so much
ROUNDING = {"slivers": 1e-6, "stretched": 1e-7, "stretched, holes": 1e-7}


@cache
def cloud(name: str) -> tuple[broken.Points, broken.Points]:
    """Points about a mesh, and J there before any rounding to integers."""
    mesh = broken.mesh_of(name)
    points = np.vstack(list(broken.points_about(mesh, 100).values()))
    return points, broken.reference(mesh, points)


def worst(name: str, **arguments: object) -> float:
    """Largest error; not a number counts as infinite."""
    points, wanted = cloud(name)
    error = np.abs(Multipole(broken.mesh_of(name), **arguments).winding(points) - wanted)
    return float(np.where(np.isnan(error), np.inf, error).max())


def bound(order: int, near: float) -> float:
    """What errors stay below for windings of about 1: measured, and four times more at least."""
    return 4 * (near + 0.5) ** -(order + 1)


# Accuracy


def _cases() -> list[object]:
    """All meshes and accuracies; those of the same accuracy one after the other, as they share their matrices."""
    cases: list[object] = []
    for accuracy in ACCURACIES:
        for name in broken.MESHES:
            slow = name in LARGE or (accuracy in (1e-2, 1e-9) and name not in ALWAYS_FINE)
            cases.append(pytest.param(name, accuracy, marks=[pytest.mark.verify] if slow else []))
    return cases


@pytest.mark.parametrize(("name", "accuracy"), _cases())
def test_accuracy(name: str, accuracy: float) -> None:
    """The largest error is what was asked for, times the largest winding number where surfaces are repeated."""
    allowed = max(accuracy, ROUNDING.get(name, 0.0)) * max(1.0, np.abs(cloud(name)[1]).max())
    assert worst(name, accuracy=accuracy) <= allowed


@pytest.mark.verify
@pytest.mark.parametrize("accuracy", ACCURACIES[:4])
@pytest.mark.parametrize("name", ["sphere-5", "foam-28952", "plane", "sizes apart", "soup, large", "fine part, holes"])
def test_accuracy_of_many_points(name: str, accuracy: float) -> None:
    """So many that cells are refined as far as they ever are."""
    mesh = broken.mesh_of(name)
    points = np.vstack(list(broken.points_about(mesh, 30_000, seed=5).values()))
    for mode in MODES:
        found = Multipole(mesh, accuracy=accuracy, mode=mode).winding(points)
        part = np.random.default_rng(1).permutation(len(points))[: int(4e8 / len(mesh.faces))]
        wanted = broken.reference(mesh, points[part])
        assert np.abs(found[part] - wanted).max() <= accuracy * max(1.0, np.abs(wanted).max())


@pytest.mark.verify
@pytest.mark.parametrize("name", [name for name in broken.MESHES if name not in LARGE])
def test_accuracy_of_a_prepared_tree(name: str) -> None:
    assert worst(name, mode="pre-chosen") <= 1e-3 * max(1.0, np.abs(cloud(name)[1]).max())


@pytest.mark.verify
@pytest.mark.parametrize("path", scenes.files(), ids=lambda path: path.name)
def test_accuracy_on_real_meshes(path: object) -> None:
    mesh = scenes.load(path)  # type: ignore[arg-type]
    points = np.vstack(list(broken.points_about(mesh, 40).values()))
    wanted = broken.reference(mesh, points)
    for mode in MODES:
        for accuracy in (1e-1, 1e-3):
            assert np.abs(Multipole(mesh, accuracy=accuracy, mode=mode).winding(points) - wanted).max() <= accuracy


@pytest.mark.skipif(not scenes.files(), reason="the collection of real meshes is not at hand")
def test_some_real_meshes_are_open() -> None:
    assert sum(not scenes.load(path).is_closed for path in scenes.files()) >= 2


# Parameters


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("depth", range(7))
def test_any_depth(depth: int, mode: str) -> None:
    for name in ("foam-5000, holes", "sizes apart"):
        method = Multipole(broken.mesh_of(name), accuracy=1e-5, order=5, near=2.5, depth=depth, mode=mode)
        assert method.levels <= depth
        points, wanted = cloud(name)
        assert np.abs(method.winding(points) - wanted).max() <= bound(5, 2.5)


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("leaf", [1, 2, 3, 15, 16, 17, 200, 10**6])
def test_any_leaf(leaf: int, mode: str) -> None:
    for name in ("sphere-3", "fine part, holes", "soup, small"):
        assert worst(name, accuracy=1e-5, order=4, near=2.0, leaf=leaf, mode=mode) <= bound(4, 2.0)


@pytest.mark.parametrize("near", [1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0])
def test_any_near(near: float) -> None:
    for name in ("sphere-4, half flipped", "foam-5000, holes"):
        assert worst(name, accuracy=1e-5, order=3, near=near) <= bound(3, near)


@pytest.mark.verify
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 7, 8, 10, 13])
def test_any_order(order: int, single: bool) -> None:
    allowed = bound(order, 2.5) + (3e-6 if single else 0)
    for name in ("sphere-4, half flipped", "foam-5000, holes", "one triangle"):
        assert worst(name, accuracy=1e-3 if single else 1e-9, order=order, near=2.5) <= allowed


def test_highest_orders_are_finite() -> None:
    """Factorials of 40 and more do not fit into single precision."""
    for order in (16, 20):
        assert worst("sphere-3", accuracy=1e-3, order=order) <= 1e-5


@pytest.mark.parametrize("near", [2.0, 3.0])
def test_error_falls_with_the_order(near: float) -> None:
    """By less than d + 1, as in boxes at equal distance, but by d at least."""
    errors = {order: worst("foam-5000, holes", accuracy=1e-9, order=order, near=near) for order in (2, 5, 8, 11)}
    for low, high in ((2, 5), (5, 8), (8, 11)):
        assert errors[high] < errors[low] / near**2
    assert errors[11] < errors[2] / near**9
    assert errors[2] > 1e-4  # else nothing was tested


def test_depth_0_is_the_direct_sum() -> None:
    points, wanted = cloud("sphere-4, half flipped")
    near = np.abs(points).max(axis=1) < 1.0
    found = Multipole(broken.mesh_of("sphere-4, half flipped"), accuracy=1e-9, order=2, depth=0).winding(points)
    np.testing.assert_allclose(found[near], wanted[near], rtol=0, atol=1e-12)


def test_choice_follows_the_accuracy() -> None:
    mesh = broken.mesh_of("sphere-3")
    methods = [Multipole(mesh, accuracy=accuracy) for accuracy in ACCURACIES[:4]]
    reach = [method.near**-method.order for method in methods]
    assert reach == sorted(reach, reverse=True)
    given = Multipole(mesh, accuracy=1e-3, order=5, near=2.25, leaf=7)
    assert (given.order, given.near, given.leaf, given.accuracy) == (5, 2.25, 7, 1e-3)
    assert given.nbytes > 0
    assert given.name == "multipole"


@pytest.mark.verify
def test_near_given_alone_keeps_the_accuracy() -> None:
    """Points beyond all cells are reached from the root: its radius, not `near`, says how well."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    mesh = Mesh(
        np.vstack([corner + 0.4 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]) for corner in corners]) % 1.4,
        np.arange(24).reshape(-1, 3),
    )
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (2000, 3))
    points = 0.7 + 1.4 * 2.51 * points / np.abs(points).max(axis=1)[:, None]
    wanted = broken.reference(mesh, points)
    for accuracy in (1e-2, 1e-3, 1e-5):
        for near in (2.0, 5.0, 10.0):
            found = Multipole(mesh, accuracy=accuracy, near=near).winding(points)
            assert np.abs(found - wanted).max() <= accuracy


# Classes and values on the surface


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize(
    "name",
    ["sphere-1", "sphere-3", "foam-5000", "sphere-4, all flipped", "sizes apart", "far away", "stretched", "flattened"]
    + ["box", "fine part on a box"],
)
def test_classes_of_closed_meshes(name: str, mode: str) -> None:
    """None wrong further than 1e-6 of the size from the surface."""
    mesh = broken.mesh_of(name)
    points = np.vstack(
        [*broken.points_about(mesh, 300, seed=4).values(), broken.beside(mesh, 300, [1.5e-6, 1e-5, 1e-3])]
    )
    solid = Solid(mesh) if not name.endswith("flipped") else Solid(mesh.flipped())
    low, high = mesh.bounds
    clear = np.abs(solid.distance(points)) > 1e-6 * (high - low).max()
    found, wanted = Multipole(mesh, mode=mode).classify(points[clear]), solid.classify(points[clear])
    if name.endswith("flipped"):
        wanted[:] = -1  # J is −1 inside, so nothing is above 1/2
    assert clear.sum() > 0.7 * len(points)
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("accuracy", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", ["box-divided", "sphere-2", "torus", "lattice-blob", "nested", "uneven", "needles"])
def test_on_the_surface(name: str, accuracy: float, mode: str) -> None:
    """What is on it is found exactly, and J is as the direct sum says."""
    mesh = scenes.SMALL[name]()
    corners = mesh.vertices[mesh.faces[::3]]
    weights = [[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75], [0.5, 0.25, 0.25], [0.375, 0.375, 0.25]]
    points = np.concatenate([np.einsum("k,nkd->nd", weight, corners) for weight in weights])
    method, direct = Multipole(mesh, accuracy=accuracy, mode=mode), Direct(mesh)
    wanted = direct.classify(points)
    assert (wanted == 0).mean() > 0.2
    on_surface = wanted == 0
    np.testing.assert_array_equal(method.classify(points) == 0, on_surface)
    # On needles, and where the faces of a blob have no area, the angle at an edge has lost digits in both.
    allowed = max(accuracy, 1e-4) if name in ("needles", "uneven") else accuracy
    np.testing.assert_allclose(
        method.winding(points)[on_surface], direct.winding(points)[on_surface], rtol=0, atol=allowed
    )


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("divisions", [1, 4])
def test_values_on_a_box(divisions: int, mode: str) -> None:
    """1/2 in a face, dihedral angle/2π on an edge, solid angle/4π at a vertex."""
    places = {
        (1, 1, 0): 1 / 2,
        (2, 2, 4): 1 / 2,
        (0.5, 0.5, 8): 1 / 2,
        (0, 0, 1): 1 / 4,
        (2, 4, 4): 1 / 4,
        (0, 4, 8): 1 / 8,
    }
    points = np.array(list(places), float)
    mesh = shapes.box(size=(2, 4, 8), lower=(0, 0, 0), divisions=divisions)
    for accuracy in (1e-1, 1e-3, 1e-6):
        method = Multipole(mesh, accuracy=accuracy, mode=mode)
        np.testing.assert_allclose(method.winding(points), list(places.values()), rtol=0, atol=accuracy)
        np.testing.assert_array_equal(method.classify(points), 0)


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("name", ["foam-5000, half flipped", "sphere-5, holes", "soup, small", "far away, holes"])
def test_beside_an_open_surface(name: str, mode: str) -> None:
    """J changes by 1 across it, however near the points are: 1e-3 to 1e-12 of the size."""
    mesh = broken.mesh_of(name)
    points = broken.beside(mesh, 100, [1e-3, 1e-6, 1e-8] if name.startswith("far") else [1e-3, 1e-6, 1e-9, 1e-12])
    found = Multipole(mesh, mode=mode).winding(points)
    assert np.abs(found - broken.reference(mesh, points)).max() <= 1e-3
    one, other = found.reshape(-1, 2)[-100:].T
    assert np.median(np.abs(np.abs(one - other) - 1)) < 2e-3


# How points are given


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("accuracy", [1e-3, pytest.param(1e-5, marks=pytest.mark.verify)])
def test_threads_and_order_do_not_matter(accuracy: float, mode: str) -> None:
    mesh = broken.mesh_of("foam-5000, holes")
    points = np.vstack([*broken.points_about(mesh, 800).values(), mesh.vertices[:500]])
    order = np.random.default_rng(3).permutation(len(points))
    with _jit.threads(1):
        one = Multipole(mesh, accuracy=accuracy, mode=mode)
        wanted, counts = one.winding(points), one.operations(points)
    with _jit.threads(2):
        two = Multipole(mesh, accuracy=accuracy, mode=mode)
        assert two.operations(points) == counts
        np.testing.assert_array_equal(two.winding(points), wanted)
        np.testing.assert_array_equal(two.winding(points[order]), wanted[order])


def test_parts_of_the_points() -> None:
    mesh = broken.mesh_of("sphere-4, half flipped")
    points = np.vstack(list(broken.points_about(mesh, 400).values()))
    wanted = broken.reference(mesh, points)
    for mode in MODES:
        method = Multipole(mesh, mode=mode)
        whole = method.winding(points)
        parts = np.concatenate([method.winding(part) for part in np.array_split(points, [1, 2, 3, 50, 700, 2000])])
        single = np.concatenate([method.winding(point[None]) for point in points[:50]])
        for found, expected in ((whole, wanted), (parts, wanted), (single, wanted[:50])):
            assert np.abs(found - expected).max() <= 1e-3
        if mode == "pre-chosen":  # nothing depends on the other points
            np.testing.assert_array_equal(parts, whole)
            np.testing.assert_array_equal(single, whole[:50])


@pytest.mark.parametrize("mode", EACH_MODE)
def test_crowds_of_points(mode: str) -> None:
    """One point, the same many times, and points much closer to each other than cells can be."""
    mesh = broken.mesh_of("sphere-4, half flipped")
    method, rng = Multipole(mesh, mode=mode), np.random.default_rng(6)
    for middle in ([0.3, 0.2, 0.1], mesh.vertices[5], [0.0, 0.0, 0.0], [1.0 + 1e-9, 0, 0], [40.0, 2.0, 1.0]):
        one = method.winding([middle])
        assert one == pytest.approx(broken.reference(mesh, np.array([middle])), abs=1e-3)
        same = method.winding(np.tile(middle, (5000, 1)))
        assert same == pytest.approx(one[0], abs=1e-3)
        assert (same == same[0]).all()
        points = np.array(middle) + rng.uniform(-1, 1, (500, 3)) * 10.0 ** rng.uniform(-15, -6, (500, 1))
        assert np.abs(method.winding(points) - broken.reference(mesh, points)).max() <= 1e-3
    assert method.winding(np.empty((0, 3))).shape == (0,)
    assert method.classify([]).dtype == np.int8
    assert method.operations([]).l2p == 0


@pytest.mark.parametrize("mode", EACH_MODE)
def test_points_on_the_sides_of_cells(mode: str) -> None:
    """On the lattice of all levels, an ulp beside it, and around the last cells."""
    mesh = broken.mesh_of("sphere-4, half flipped")
    method, rng = Multipole(mesh, mode=mode), np.random.default_rng(7)
    places = [rng.integers(-3 * 2**level, 4 * 2**level + 1, (150, 3)) / 2**level for level in (0, 1, 3, 6)]
    places.append(np.array([[x, y, z] for x in (-2.0, 0.0, 1.0, 3.0) for y in (-2, 0.3, 3) for z in (-2, 0.7, 3)]))
    points = broken.in_root(mesh, np.vstack(places))
    near = points.copy()
    steps = [points]
    for _ in range(4):
        near = np.nextafter(near, rng.choice([-np.inf, np.inf], near.shape))
        steps.append(near)
    for towards in (-np.inf, np.inf):
        near = points.copy()
        for _ in range(4):
            near = np.nextafter(near, towards)
            steps.append(near)
    points = np.vstack(steps)
    assert np.abs(method.winding(points) - broken.reference(mesh, points)).max() <= 1e-3


# Any size and place


@pytest.mark.verify
@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize(
    "exponent", [-900, 5, 900, *(pytest.param(k, marks=pytest.mark.verify) for k in (-300, -1, 300))]
)
def test_powers_of_two_change_no_bit(exponent: int, mode: str) -> None:
    mesh = broken.mesh_of("fine part, holes")
    points = np.vstack([*broken.points_about(mesh, 100).values(), mesh.vertices[:100]])
    wanted = Multipole(mesh, mode=mode).winding(points)
    scaled = Mesh(np.ldexp(mesh.vertices, exponent), mesh.faces)
    np.testing.assert_array_equal(Multipole(scaled, mode=mode).winding(np.ldexp(points, exponent)), wanted)


def test_moved_meshes() -> None:
    """By numbers that round nothing, as all coordinates are on a lattice."""
    mesh = broken.mesh_of("foam-5000, holes")
    mesh = Mesh(np.round(mesh.vertices * 2**20) / 2**20, mesh.faces)
    points = np.round(np.vstack(list(broken.points_about(mesh, 100).values())[:4]) * 2**20) / 2**20
    wanted = broken.reference(mesh, points)
    for shift in ([1.0, 2.0, -3.0], [2.0**20, -(2.0**18), 0.0], [2.0**30, 2.0**30, -(2.0**30)]):
        found = Multipole(Mesh(mesh.vertices + shift, mesh.faces)).winding(points + shift)
        assert np.abs(found - wanted).max() <= 1e-3


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("factor", [5e-324 * 2**12, 1e-300, 1e-150, 1e150, 1e300, 8e307])
def test_tiny_and_huge_meshes(factor: float, mode: str) -> None:
    ball = broken.with_holes(shapes.octasphere(3))
    mesh, rng = scenes.moved(ball, factor), np.random.default_rng(8)
    points = np.vstack([rng.uniform(-2, 2, (300, 3)), ball.vertices]) * factor
    method = Multipole(mesh, mode=mode)
    assert np.abs(method.winding(points) - broken.reference(mesh, points)).max() <= 1e-3
    used = np.unique(mesh.faces)
    np.testing.assert_array_equal(method.classify(mesh.vertices[used]), 0)
    far = [[1.7e308, 0, 0], [-1.7e308, 1.7e308, 1.7e308], [0, 1e200 * min(factor, 1e100), 0]]
    if factor < 1e100:
        np.testing.assert_allclose(method.winding(far), 0, atol=1e-3)


# Surfaces made to break it


@pytest.mark.parametrize("mode", EACH_MODE)
def test_faces_without_area(mode: str) -> None:
    """Points and segments are surfaces, too, which turn nothing."""
    point = Mesh([[1.0, 2.0, 3.0]], [[0, 0, 0]])
    segment = Mesh([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[0, 1, 1], [0, 0, 1]])
    ball = broken.with_holes(shapes.octasphere(2))
    pairs = [(point, [[1, 2, 3], [1, 2, 3.5], [1, 2, 3 + 1e-15]]), (segment, [[0.25] * 3, [0, 0, 1], [0, 0, 0]])]
    middle = broken.in_root(ball, np.array([[0.5] * 3, [0.375] * 3]))
    for place in middle:  # in the middle of a box: radius 0
        pairs.append((ball + Mesh([place], [[0, 0, 0]]), [place, place + 1e-9, [0.2, 0.1, 0.3]]))
    for mesh, points in pairs:
        method, points = Multipole(mesh, mode=mode), np.array(points, float)
        np.testing.assert_array_equal(method.classify(points), Direct(mesh).classify(points))
        assert np.abs(method.winding(points) - broken.reference(mesh, points)).max() <= 1e-3


@pytest.mark.verify
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6, 1e-8, 1e-12])
def test_tiny_parts_in_large_boxes(size: float, accuracy: float) -> None:
    """A triangle in the very middle of a box, which all points around it are far from, in its radii."""
    large, rng = shapes.box(1.0, lower=(0, 0, 0), divisions=8), np.random.default_rng(9)
    middle = broken.in_root(large, np.array([[0.375] * 3]))
    mesh = large + Mesh(middle + size * np.array([[1, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0.1]]), [[0, 1, 2]])
    away = rng.normal(size=(300, 3))
    points = middle + away / np.linalg.norm(away, axis=1)[:, None] * size * 10 ** rng.uniform(-2, 3, (300, 1))
    for mode in MODES:
        found = Multipole(mesh, accuracy=accuracy, mode=mode).winding(points)
        assert np.abs(found - broken.reference(mesh, points)).max() <= accuracy


@pytest.mark.parametrize("accuracy", [1e-8, 1e-9, 1e-10])
@pytest.mark.parametrize(
    "size",
    [1e-3, pytest.param(1e-4, marks=pytest.mark.verify), 1e-5, pytest.param(1e-6, marks=pytest.mark.verify), 1e-7],
)
def test_fine_accuracy_beside_small_parts(size: float, accuracy: float) -> None:
    """Coordinates are known to 2^-52 of the whole mesh: what that leaves unclear is summed exactly."""
    ball, rng = broken.with_holes(shapes.octasphere(3)), np.random.default_rng(4)
    for place in ([1.7, 0.3, 0.2], [0.0, 0.0, 0.0]):
        mesh = Mesh.concatenate([ball, Mesh(ball.vertices * size + place, ball.faces)])
        points = rng.normal(size=(500, 3)) * size * 10 ** rng.uniform(-2, 3, (500, 1)) + place
        error = np.abs(Multipole(mesh, accuracy=accuracy).winding(points) - Direct(mesh).winding(points))
        assert error.max() <= accuracy


@pytest.mark.parametrize("mode", EACH_MODE)
@pytest.mark.parametrize("count", [2, 17, 40, 300])
def test_copies_of_a_large_face(count: int, mode: str) -> None:
    """No box, however small, holds fewer than all of them, and all reach far out of it."""
    mesh = Mesh.concatenate([broken.one_face()] * count + [shapes.octasphere(1)])
    points = np.vstack(list(broken.points_about(mesh, 60).values()))
    method = Multipole(mesh, mode=mode)
    assert np.abs(method.winding(points) - broken.reference(mesh, points)).max() <= 1e-3 * count
    assert method.nbytes < 1e8
    np.testing.assert_array_equal(method.classify(mesh.vertices[:3]), 0)


COORDINATE = st.integers(-4, 4).map(float)
CORNER = st.tuples(COORDINATE, COORDINATE, COORDINATE)


@given(
    st.lists(st.tuples(CORNER, CORNER, CORNER), min_size=1, max_size=12),
    st.lists(CORNER, min_size=1, max_size=12),
    st.sampled_from([(2, 2.0), (4, 2.0), (3, 3.0)]),
    st.integers(1, 4),
    st.sampled_from(["auto", 0, 1, 2, 5]),
    st.sampled_from(MODES),
    st.sampled_from([1e-3, 1e-6]),
)
def test_lattice_soup(triangles, points, choice, leaf, depth, mode, accuracy) -> None:
    """Any triangles of small integers, flat, repeated or crossing, and points in, on and beside them."""
    mesh = Mesh(np.reshape(triangles, (-1, 3)), np.arange(3 * len(triangles)).reshape(-1, 3))
    order, near = choice
    places = np.array(points) * [1, 1, 1.5]
    method = Multipole(mesh, accuracy=accuracy, order=order, near=near, leaf=leaf, depth=depth, mode=mode)
    np.testing.assert_array_equal(method.classify(places) == 0, Direct(mesh).classify(places) == 0)
    error = np.abs(method.winding(places) - broken.reference(mesh, places)).max()
    assert error <= accuracy + len(triangles) * bound(order, near) / 4
