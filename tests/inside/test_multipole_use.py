"""The multipole method: counts of its operations, and input that makes no sense."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh, shapes
from impinge.errors import InputError
from impinge.inside import Multipole, Operations
from impinge.inside.multipole import method

from . import broken

MODES = ["well-chosen", "pre-chosen"]


def random_points(count: int, half: float = 1.0, seed: int = 0) -> broken.Points:
    return np.random.default_rng(seed).uniform(-half, half, (count, 3))


# Operations


@pytest.mark.parametrize("mode", MODES)
def test_counts_are_plausible(mode: str) -> None:
    mesh = shapes.octasphere(4)
    method = Multipole(mesh, mode=mode)
    counts = method.operations(random_points(5000))
    assert isinstance(counts, Operations)
    assert all(isinstance(count, int) and count >= 0 for count in counts)
    assert counts.p2m == len(mesh.faces)
    assert counts.l2p == 5000
    assert 0 < counts.m2m < len(mesh.faces)
    assert counts.m2l > counts.l2l > 0
    assert 0 < counts.near < 0.1 * 5000 * len(mesh.faces)
    assert counts == method.operations(random_points(5000))


def test_points_beyond_all_cells_cost_nothing_but_the_root() -> None:
    method = Multipole(shapes.octasphere(4))
    counts = method.operations(random_points(100) + 50)
    assert (counts.m2l, counts.l2l, counts.l2p, counts.m2p, counts.near) == (0, 0, 0, 0, 0)


def test_far_points_cost_one_local_expansion() -> None:
    """Cells are refined only where sources are near: two sizes away no pair is left."""
    counts = Multipole(shapes.octasphere(4)).operations(random_points(1000, 0.1) + [0, 0, 4.0])
    assert counts.l2p == 1000
    assert counts.near == counts.m2p == 0


@pytest.mark.parametrize("mode", MODES)
def test_depth_0_sums_all_pairs(mode: str) -> None:
    mesh = shapes.octasphere(2)
    counts = Multipole(mesh, depth=0, mode=mode).operations(random_points(100, 0.7))
    assert (counts.m2m, counts.l2l) == (0, 0)
    assert counts.near == 100 * len(mesh.faces)


def _work(counts: Operations, order: int) -> float:
    """In units of a coefficient."""
    size = (order + 1) ** 2
    return size * (counts.p2m + counts.l2p + counts.m2p + size * (counts.m2m + counts.m2l + counts.l2l)) + counts.near


@pytest.mark.parametrize("make", [lambda k: shapes.octasphere(k), lambda k: broken.with_holes(shapes.octasphere(k))])
def test_growth_is_nearly_linear(make) -> None:
    """Four times the triangles, four times the points: four times the work, within a third."""
    work = []
    for level in (3, 4, 5, 6):
        mesh = make(level)
        method = Multipole(mesh)
        work.append(_work(method.operations(random_points(len(mesh.faces))), method.order))
    growth = np.array(work[1:]) / work[:-1]
    assert growth[-1] < 4 * 4 / 3
    assert (growth > 1).all()


def test_growth_in_points_alone_and_triangles_alone() -> None:
    mesh = shapes.octasphere(5)
    method = Multipole(mesh)
    work = [_work(method.operations(random_points(count)), method.order) for count in (1000, 4000, 16000, 64000)]
    assert (np.array(work[1:]) / work[:-1] < 4.2).all()
    work = [
        _work(Multipole(shapes.octasphere(level)).operations(random_points(2000)), method.order) for level in (3, 4, 5)
    ]
    assert (np.array(work[1:]) / work[:-1] < 4.2).all()


@pytest.mark.verify
def test_memory_is_bounded() -> None:
    for name in ("sphere-5", "foam-5000", "copies", "sizes apart", "soup, large", "slivers"):
        mesh = broken.mesh_of(name)
        assert Multipole(mesh).nbytes < 2000 * len(mesh.faces) + 100_000


# Bad input


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("order", [0, -1, 2.5, "3", np.nan, True, 10**6, [3]]),
        ("near", [0.5, 1.0, np.nan, np.inf, -2, "2", True, 1e6, [2.0]]),
        ("leaf", [0, -5, 1.5, "16", True, np.nan]),
        ("depth", [-1, 1.5, "deep", "Auto", True, 10**6, np.nan, (3,), np.arange(2)]),
        ("accuracy", [0, 1, -1e-3, np.nan, np.inf, "fine", None, True, 1e-300]),
        ("mode", ["wrong", "", None, 3, "Well-chosen"]),
    ],
)
def test_bad_arguments(argument: str, values: list[object]) -> None:
    for value in values:
        with pytest.raises(InputError, match=rf"^{argument}: found .*, expected"):
            Multipole(shapes.box(), **{argument: value})  # type: ignore[arg-type]


def test_arguments_go_by_name() -> None:
    with pytest.raises(TypeError):
        Multipole(shapes.box(), 1e-3)  # type: ignore[misc]


def test_limits_of_arguments_are_allowed() -> None:
    for arguments in (
        {"accuracy": 0.1},
        {"order": 1},
        {"leaf": 1},
        {"depth": 0},
        {"depth": np.int64(3)},
        {"leaf": 10**9},
    ):
        assert Multipole(shapes.box(2.0), **arguments).classify([[0.1, 0.2, 0.3]]) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("mesh", [None, 3, "ball.stl", (np.zeros((3, 3)),), ([[0, 0, 0]], [[0, 0, 1]]), ([], [])])
def test_bad_mesh(mesh: object) -> None:
    with pytest.raises(InputError, match=r"^mesh: "):
        Multipole(mesh)


@pytest.mark.parametrize("empty", [([[0.0, 0.0, 0.0]], []), ([], [[0, 0, 0]]), ([], [])])
def test_empty_mesh(empty: object) -> None:
    with pytest.raises(InputError, match="mesh"):
        Multipole(empty)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0, 0], [np.nan, 0, 0]], "points: row 1 is not finite"),
        ([[0, 0, -np.inf]], "points: row 0 is not finite"),
        (np.zeros((2, 2)), r"points: found shape \(2, 2\)"),
        (np.zeros(3), r"points: found shape \(3,\).*single row"),
        ("points", "points: found text"),
        (np.zeros((2, 3), complex), "points: found complex"),
        (None, "points: found objects"),
    ],
)
def test_bad_points(points: object, message: str, mode: str) -> None:
    method = Multipole(shapes.box(), mode=mode)
    for question in (method.winding, method.classify, method.operations):
        with pytest.raises(InputError, match=message):
            question(points)  # type: ignore[operator]


def test_arrays_of_all_kinds() -> None:
    ball = shapes.octasphere(3)
    points = np.round(random_points(300, 1.2) * 64) / 64  # exact in all types
    method = Multipole((ball.vertices, ball.faces))
    wanted = method.winding(points)
    kept = points.copy()
    wide = np.zeros((600, 6))
    wide[::2, ::2] = points
    for same in (points.astype(np.float32), np.asfortranarray(points), wide[::2, ::2], points.tolist()):
        np.testing.assert_array_equal(method.winding(same), wanted)
    np.testing.assert_array_equal(points, kept)  # sorted in a copy
    assert wanted.dtype == np.float64
    np.testing.assert_array_equal(method.classify(np.array([[0, 0, 0], [2, 0, 0], [1, 0, 0]])), [1, -1, 0])


def test_meshes_are_not_kept_by_reference() -> None:
    """A user's array that changes later changes nothing here."""
    vertices = np.array(shapes.octasphere(2).vertices)
    method = Multipole(Mesh(vertices, shapes.octasphere(2).faces))
    points = random_points(50)
    wanted = method.winding(points)
    vertices *= 2
    np.testing.assert_array_equal(method.winding(points), wanted)


def test_too_near_for_the_accuracy() -> None:
    with pytest.raises(InputError, match=r"near: found 1\.2, expected more for an accuracy of 1e-09"):
        Multipole(shapes.octasphere(2), near=1.2, accuracy=1e-9)


def test_plan_of_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "_LARGEST_PLAN", 1e4)
    with pytest.raises(InputError, match=r"mode: found pre-chosen, which takes .* GB for [\d,]+ cells"):
        Multipole(shapes.octasphere(4), mode="pre-chosen")
