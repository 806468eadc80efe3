"""`pairs` and `box_pairs`: every method against all pairs one by one, and these against a plain NumPy oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge import _scratch
from impinge.broad import methods, space
from impinge.broad.methods import BOX_METHODS, METHODS
from impinge.errors import InputError

from .systems import SYSTEMS, rods

FAST = [name for name in (*METHODS, "auto") if name != "brute"]
FAST_BOXES = [name for name in (*BOX_METHODS, "auto") if name != "brute"]
Points = NDArray[np.float64]


def oracle(centres: Points, radii: Points, gap: float = 0.0, box: Points | None = None, periodic: Any = False) -> Any:
    """All pairs by NumPy, for well-separated cases: no care is taken of rounding."""
    d = centres[:, None] - centres[None]
    if box is not None:
        d -= np.where(periodic, box, 0.0) * np.round(d / box)
    near = np.sqrt((d**2).sum(axis=2)) <= radii[:, None] + radii[None] + gap
    return np.argwhere(np.triu(near, 1))


def assert_all_alike(centres: Any, radii: Any, methods: list[str] = FAST, **options: Any) -> NDArray[np.int64]:
    wanted = impinge.pairs(centres, radii, method="brute", **options)
    for method in methods:
        found = impinge.pairs(centres, radii, method=method, **options)
        assert found.dtype == np.int64, method
        np.testing.assert_array_equal(found, wanted, err_msg=method)
    return wanted


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("periodic", [False, True])
def test_brute_against_numpy(dimension: int, periodic: bool) -> None:
    rng = np.random.default_rng(1)
    centres, radii = rng.random((200, dimension)) * 3, rng.random(200) * 0.1
    box = np.full(dimension, 3.0)
    found = impinge.pairs(centres, radii, gap=0.05, method="brute", box=box, periodic=periodic)
    np.testing.assert_array_equal(found, oracle(centres, radii, 0.05, box, periodic))
    assert len(found) > 10


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", SYSTEMS)
def test_open_space(name: str, dimension: int) -> None:
    rng = np.random.default_rng(2)
    for n in (70, 700):
        centres, radii = SYSTEMS[name](rng, n, dimension)
        assert_all_alike(centres, radii)
        assert_all_alike(centres, radii, gap=0.3 * float(np.max(radii)))
        shuffled = rng.permutation(len(centres))
        assert_all_alike(centres[shuffled], np.broadcast_to(radii, len(centres))[shuffled], ["levels"])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", ["gas", "dense", "wide", "two-sizes", "duplicates", "points", "plane"])
def test_periodic_boxes(name: str, dimension: int) -> None:
    rng = np.random.default_rng(3)
    centres, radii = SYSTEMS[name](rng, 500, dimension)
    for periodic in (True, [True, False, False][:dimension], [False, True, True][:dimension]):
        for low in (0.0, -0.37):
            box = [[low] * dimension, [low + 1.0] * dimension]
            # some of them a few boxes away
            spread = centres + rng.integers(-2, 3, centres.shape)
            assert_all_alike(spread, radii, box=box, periodic=periodic)


def test_periodic_pairs_against_numpy() -> None:
    rng = np.random.default_rng(4)
    centres, radii, box = rng.random((400, 3)) * [1.0, 2.0, 3.0], rng.random(400) * 0.1, np.array([1.0, 2.0, 3.0])
    found = assert_all_alike(centres, radii, box=box, periodic=[True, False, True])
    np.testing.assert_array_equal(found, oracle(centres, radii, 0.0, box, [True, False, True]))


@pytest.mark.parametrize("dimension", [2, 3])
def test_lattices_of_touching_spheres(dimension: int) -> None:
    m = 9 if dimension == 2 else 5
    lattice = np.stack(np.meshgrid(*[np.arange(m)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    inner = dimension * m ** (dimension - 1) * (m - 1)
    assert len(assert_all_alike(lattice, 0.5)) == inner
    around = assert_all_alike(lattice, 0.5, box=[float(m)] * dimension, periodic=True)
    assert len(around) == dimension * m**dimension
    # 0.1 is not a double: some of the neighbours touch in rounded arithmetic, some do not, in all methods alike
    assert_all_alike(lattice * 0.1, 0.05)
    assert_all_alike(lattice * 0.1, 0.05, box=[0.1 * m] * dimension, periodic=True)


@pytest.mark.parametrize("dimension", [2, 3])
def test_none_one_and_two(dimension: int) -> None:
    for method in ("brute", *FAST):
        none = impinge.pairs(np.empty((0, dimension)), [], method=method)
        assert none.shape == (0, 2)
        assert none.dtype == np.int64
        assert impinge.pairs(np.zeros((1, dimension)), 1.0, method=method).shape == (0, 2)
        assert impinge.pairs(np.zeros((2, dimension)), 0.0, method=method).tolist() == [[0, 1]]
    assert impinge.pairs([], []).shape == (0, 2)


places = st.tuples(*[st.integers(0, 6)] * 3)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(places, st.sampled_from([0.0, 0.5, 0.5, 1.0, 2.0])), min_size=1, max_size=60),
    st.sampled_from([2, 3]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["open", "walls", "periodic"]),
    st.sampled_from([1.0, 0.1, 1e6]),
)
def test_lattice_spheres(bodies: Any, dimension: int, gap: float, kind: str, scale: float) -> None:
    """Integer places and half-integer radii: everything touches exactly or not at all."""
    centres = np.array([place[:dimension] for place, _ in bodies], float) * scale
    radii = np.array([radius for _, radius in bodies]) * scale
    box = {"open": None, "walls": [6 * scale] * dimension, "periodic": [11 * scale] * dimension}[kind]
    assert_all_alike(centres, radii, gap=gap * scale, box=box, periodic=kind == "periodic")


numbers = st.floats(-1e3, 1e3, allow_nan=False, width=32)


@settings(max_examples=60)
@given(st.lists(st.tuples(numbers, numbers, numbers, st.floats(0, 100)), min_size=1, max_size=50))
def test_any_spheres(bodies: list[tuple[float, ...]]) -> None:
    rows = np.array(bodies)
    assert_all_alike(rows[:, :3], rows[:, 3])
    assert_all_alike(rows[:, :2], rows[:, 3])


@pytest.mark.parametrize("method", FAST)
def test_threads_do_not_matter(method: str) -> None:
    rng = np.random.default_rng(6)
    centres, radii = rng.random((3000, 3)), 10 ** rng.uniform(-3, -1.2, 3000)
    alone = impinge.pairs(centres, radii, method=method, threads=1)
    np.testing.assert_array_equal(impinge.pairs(centres, radii, method=method), alone)


def test_more_pairs_than_first_expected() -> None:
    rng = np.random.default_rng(7)
    centres = np.concatenate([rng.random((1500, 3)) * 0.01, rng.random((3000, 3))])
    found = impinge.pairs(centres, 0.02)
    np.testing.assert_array_equal(found, impinge.pairs(centres, 0.02, method="brute"))
    assert len(found) > 1_000_000


def test_lengths_whose_squares_vanish_count_as_nothing() -> None:
    centres = np.zeros((400, 3))
    for step in (1e-165, 1e-310, 5e-324):
        centres[:, 0] = np.arange(400) * step
        assert len(assert_all_alike(centres, 1e-170)) == 400 * 399 // 2


def test_one_large_sphere_in_a_tight_periodic_box() -> None:
    """Twice its radius is more than half of the box, but no pair is seen twice."""
    rng = np.random.default_rng(11)
    centres, radii = rng.random((60, 2)) * 5, np.full(60, 0.01)
    radii[7] = 2.4
    space: dict[str, Any] = {"box": [5.0, 5.0], "periodic": True}
    assert len(assert_all_alike(centres, radii, **space)) > 20
    for skin in ("auto", 0.05):
        near = impinge.NeighborSearch("verlet", skin, **space).update(centres, radii)
        assert len(np.unique(near.pairs, axis=0)) == len(near.pairs)
        np.testing.assert_array_equal(near.touching(), impinge.pairs(centres, radii, **space))


def test_many_powers_of_two() -> None:
    rng = np.random.default_rng(12)
    assert_all_alike(rng.random((400, 3)), 0.3 * 2.0 ** -rng.integers(0, 60, 400))


def test_more_pairs_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from impinge.broad import grid, order

    for module in (grid, order):
        monkeypatch.setattr(module, "most_pairs", lambda: 1_000_000)
    for method in ("brute", "levels"):
        with pytest.raises(InputError, match=r"centres: found about .* near pairs, which need .* GB"):
            impinge.pairs(np.zeros((3000, 3)), 1.0, method=method)


def test_other_array_types() -> None:
    centres = np.arange(30).reshape(10, 3)
    wanted = impinge.pairs(centres.astype(float), 3.0)
    assert len(wanted) == 9
    for other in (centres, centres.astype(np.float32), np.asfortranarray(centres * 1.0), np.repeat(centres, 2, 0)[::2]):
        np.testing.assert_array_equal(impinge.pairs(other, 3.0), wanted)
    np.testing.assert_array_equal(impinge.pairs(centres.tolist(), [3] * 10), wanted)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"radii": [1.0, -2.0, 1.0]}, r"radii: row 1 is -2.0, expected a finite number of at least 0"),
    ({"radii": [1.0, 1.0, np.nan]}, r"radii: row 2 is nan"),
    ({"radii": [1.0, 1.0]}, r"radii: found shape \(2,\), expected one number or 3"),
    ({"radii": "big"}, r"radii: found text"),
    ({"centres": np.zeros((3, 4))}, r"centres: found shape \(3, 4\), expected \(n, 2\) or \(n, 3\)"),
    ({"centres": np.zeros(3)}, r"centres: found shape \(3,\)"),
    ({"centres": [[0.0, 0, 0], [0, np.inf, 0], [1, 1, 1]]}, r"centres: row 1 is not finite"),
    ({"centres": np.eye(3) * 1e200}, r"centres: row 0 is .*, expected numbers up to 1e\+150"),
    ({"gap": -0.1}, r"gap: found -0.1, expected a number of at least 0"),
    ({"gap": np.nan}, r"gap: found nan"),
    ({"method": "fast"}, r"method: found 'fast', expected one of auto, brute, verlet, cells, sweep, levels"),
    ({"periodic": True}, r"box: found None, expected 3 lengths"),
    ({"box": [1.0, 1.0]}, r"box: found \[1.0, 1.0\], expected 3 lengths"),
    ({"box": [1.0, -1.0, 1.0]}, r"box: found"),
    ({"box": "wide"}, r"box: found text"),
    ({"periodic": [True, False], "box": [9.0] * 3}, r"periodic: found \[True, False\], expected True, False or 3"),
    ({"radii": [0.1, 2.0, 0.1], "box": [3.0] * 3}, r"found length 3 along x, expected at least 4, .* of sphere 1"),
    ({"box": [9.0, 3.9, 9.0], "periodic": True}, r"length 3.9 along y, expected more than 4, .* rows 1 and 2 .* twice"),
    ({"box": [9.0] * 3, "periodic": True, "gap": 3.0}, r"box: found length 9 along x, expected more than 10"),
    ({"cell_size": 1.0, "method": "cells"}, r"cell_size: found 1, expected at least 2"),
    ({"zone_radius": 1.0, "method": "verlet"}, r"zone_radius: found 1, expected at least 2"),
    ({"cell_size": 0.0, "method": "cells"}, r"cell_size: found 0.0, expected a number above 0"),
    ({"cell_size": 3.0}, r"cell_size: found 3.0 with method 'auto', expected it with method 'cells' only"),
    ({"zone_radius": 3.0, "method": "cells"}, r"zone_radius: found 3.0 with method 'cells'"),
    ({"centres": [[0, 0], [1, 2, 3]]}, r"centres: found something that is not an array"),
    ({"threads": "2"}, r"threads: found '2'"),
    ({"threads": 1.5}, r"threads: found 1.5"),
    ({"gap": "0.5"}, r"gap: found '0.5'"),
    ({"gap": True}, r"gap: found True"),
    ({"gap": 10**400}, r"gap: found 1000"),
    ({"box": ["9", "9", "9"]}, r"box: found text"),
    ({"box": [9.0, np.nan, 9.0]}, r"box: found .* expected finite numbers and lengths above 0"),
    ({"threads": 0}, r"threads: found 0"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"centres": np.eye(3), "radii": 1.0}
    with pytest.raises(InputError, match=message):
        impinge.pairs(**(good | arguments))


def random_boxes(rng: np.random.Generator, n: int, dimension: int) -> tuple[Points, Points]:
    lower = rng.random((n, dimension))
    return lower, lower + 10 ** rng.uniform(-4, -0.8, (n, dimension))


def assert_boxes_alike(lower: Any, upper: Any, **options: Any) -> NDArray[np.int64]:
    wanted = impinge.box_pairs(lower, upper, method="brute", **options)
    for method in FAST_BOXES:
        found = impinge.box_pairs(lower, upper, method=method, **options)
        np.testing.assert_array_equal(found, wanted, err_msg=method)
    return wanted


@pytest.mark.parametrize("dimension", [2, 3])
def test_boxes(dimension: int) -> None:
    rng = np.random.default_rng(8)
    for n in (50, 600):
        lower, upper = random_boxes(rng, n, dimension)
        found = assert_boxes_alike(lower, upper)
        near = ((lower[:, None] <= upper[None]) & (upper[:, None] >= lower[None])).all(axis=2)
        np.testing.assert_array_equal(found, np.argwhere(np.triu(near, 1)))
        assert_boxes_alike(lower, upper, gap=0.01)
        assert_boxes_alike(lower - 2, upper - 2, box=[1.0] * dimension, periodic=True)
        assert_boxes_alike(lower, upper, box=[2.0] * dimension, periodic=[True, False, True][:dimension])


def test_rods() -> None:
    lower, upper = rods(np.random.default_rng(9), 2000, 20.0)
    assert len(assert_boxes_alike(lower, upper)) > 500


corner = st.tuples(*[st.integers(0, 5)] * 3)


@settings(max_examples=60)
@given(st.lists(st.tuples(corner, st.tuples(*[st.integers(0, 2)] * 3)), min_size=1, max_size=50), st.booleans())
def test_lattice_boxes(bodies: Any, periodic: bool) -> None:
    lower = np.array([place for place, _ in bodies], float)
    upper = lower + np.array([size for _, size in bodies], float)
    assert_boxes_alike(lower, upper, box=[7.0] * 3 if periodic else None, periodic=periodic)


def test_bad_boxes() -> None:
    with pytest.raises(InputError, match=r"lower: row 1 is .* above upper"):
        impinge.box_pairs([[0, 0], [2, 0]], [[1, 1], [1, 1]])
    with pytest.raises(InputError, match="upper: found 1 rows, expected 2"):
        impinge.box_pairs([[0, 0], [2, 0]], [[1, 1]])
    with pytest.raises(InputError, match="method: found 'verlet'"):
        impinge.box_pairs([[0, 0]], [[1, 1]], method="verlet")


# Found by reviewers


def test_cells_of_a_given_size_go_on_below_the_box() -> None:
    c = np.array([[-5.0, 0.5, 0.5], [-4.5, 0.5, 0.5]])
    for size in (1.0, 1.3):
        assert impinge.pairs(c, 0.5, method="cells", cell_size=size, box=[2, 2, 2]).tolist() == [[0, 1]]
        assert impinge.box_pairs(c - 0.5, c + 0.5, method="cells", cell_size=size, box=[4, 4, 4]).tolist() == [[0, 1]]
    c = np.array([[-5.0, 0.1, 0.5], [-4.5, 3.9, 0.5]])
    wrapped: dict[str, Any] = {"box": [4, 4, 4], "periodic": [False, True, False]}
    assert impinge.pairs(c, 0.5, method="cells", cell_size=1.3, **wrapped).tolist() == [[0, 1]]
    c = np.random.default_rng(1).random((3000, 3)) - 50
    pairs = impinge.pairs(c, 0.02, method="cells", cell_size=0.04, box=[1, 1, 1])
    assert np.array_equal(pairs, impinge.pairs(c, 0.02, method="brute"))


def test_touching_spheres_near_the_origin_of_a_long_column() -> None:
    """Where a cell begins is rounded like the far corner of the grid, not like the place itself."""
    n = 40000
    rng = np.random.default_rng(0)
    c = np.stack([rng.random(n) * 0.5, -1000 + rng.random(n) * 1010], axis=1)
    c[0, 1], c[1] = -1000.0, [0, 10.0]
    c = np.concatenate([c, [[0.25, 8.600962019246197], [0.25, 7.550962019246197]]])
    r = np.append(np.full(n + 1, 0.05), 1.0)
    assert np.array_equal(impinge.pairs(c, r), impinge.pairs(c, r, method="sweep"))


@pytest.mark.parametrize("shape", [(400, 2), (400, 3)])
def test_boxes_without_size(shape: tuple[int, int]) -> None:
    places = np.random.default_rng(0).random(shape)
    places[:, -1] = 0.0
    for p in (places, np.zeros(shape)):
        assert np.array_equal(impinge.box_pairs(p, p, gap=0.01), impinge.box_pairs(p, p, gap=0.01, method="brute"))


@pytest.mark.verify
@pytest.mark.parametrize("far", [1e8, 1e14, 1e40, -1e149])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_few_bodies_far_away(far: float, dimension: int) -> None:
    """Are found, in outer cells if need be, and do not coarsen the cells of the others."""
    rng = np.random.default_rng(2)
    c = rng.random((5000, dimension))
    c[7], c[4000] = far, far
    c[5, 0], c[6, 0] = -far, np.nextafter(-far, 0)
    r = rng.uniform(0.001, 0.02, 5000)
    r[100:110] = 0.3
    for gap in (0.0, 0.01):
        assert np.array_equal(impinge.pairs(c, r, gap=gap), impinge.pairs(c, r, gap=gap, method="brute"))
        half = r[:, None] * np.array([0.2, 1, 0.5])[:dimension]
        boxes = c - half, c + half
        assert np.array_equal(impinge.box_pairs(*boxes, gap=gap), impinge.box_pairs(*boxes, gap=gap, method="brute"))
    assert methods.find("levels", space.spheres(c, r, 0.0, None, False), 0.0, methods.Settings()).tests < 2e6


def test_slender_boxes_are_swept() -> None:
    rng = np.random.default_rng(4)
    c, half = rng.random((2000, 3)), np.full((2000, 3), 0.001)
    half[np.arange(2000), rng.integers(0, 3, 2000)] = 0.2
    thin, round_ones = (space.boxes(c - h, c + h, 0.0, None, False) for h in (half, np.full((2000, 3), 0.02)))
    assert methods.choose(thin)[0] == "sweep"
    assert methods.choose(round_ones)[0] == "levels"
    pairs = impinge.box_pairs(c - half, c + half)
    assert np.array_equal(pairs, impinge.box_pairs(c - half, c + half, method="levels"))


def test_calls_within_a_call() -> None:
    """A signal handler, or the end of an object, may search while a search is under way."""
    rng = np.random.default_rng(3)
    inner, outer = rng.random((3000, 3)), rng.random((20000, 3))
    with _scratch.borrow() as scratch:
        mine = scratch.empty("ordered", (20000, 4), np.float64)
        mine[:] = 7.0
        assert len(impinge.pairs(inner, 0.02)) > 0
        assert (mine == 7.0).all()
    assert np.array_equal(impinge.pairs(outer, 0.01), impinge.pairs(outer, 0.01, method="sweep"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": 1e300}, "gap: found 1e.300, expected a number up to"),
        ({"method": "cells", "cell_size": 1e-310}, "cell_size: found 1e-310, expected at least"),
        ({"threads": True}, "threads: found True"),
    ],
)
def test_lengths_and_numbers_out_of_range(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        impinge.pairs(np.zeros((3, 3)), 0.0, **arguments)


def test_cells_are_as_long_as_bodies_in_clusters_and_longer_in_a_thin_gas() -> None:
    rng = np.random.default_rng(5)
    gas = rng.random((5000, 3)) * 1000
    clusters = (rng.random((20, 3)) * 1000)[rng.integers(0, 20, 5000)] + rng.random((5000, 3)) * 5
    for centres, longest in ((gas, 100.0), (clusters, 1.01)):
        bodies = space.spheres(centres, np.full(5000, 0.5), 0.0, None, False)
        found = methods.find("levels", bodies, 0.0, methods.Settings())
        assert longest / 4 < found.cell_sizes[0] < longest
        assert np.array_equal(found.pairs, impinge.pairs(centres, 0.5, method="brute"))
