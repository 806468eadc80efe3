"""Linked linear lists: after any motion exactly the boxes that overlap are stored, however they came there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge import _jit
from impinge.broad.methods import only_near
from impinge.broad.space import Bodies, boxes, spheres
from impinge.broad.sweep import LinkedLists
from impinge.errors import InputError

SIDE = 16.0
OPEN, ALL = False, True


def overlapping(bodies: Bodies, gap: float) -> NDArray[np.int64]:
    """All pairs of boxes at most `gap` apart, for numbers that are not changed by rounding."""
    if bodies.rows.shape[1] == 4:
        low, high = bodies.rows[:, :3] - bodies.rows[:, 3:], bodies.rows[:, :3] + bodies.rows[:, 3:]
    else:
        low, high = bodies.rows[:, :3], bodies.rows[:, 3:]
    meet = np.ones((len(low), len(low)), bool)
    for axis in range(bodies.space.dimension):
        a, b, period = low[:, axis], high[:, axis], bodies.space.period[axis]
        shifts = (-period, 0.0, period) if period else (0.0,)
        meet &= np.any([(a[:, None] + s <= b + gap) & (a <= b[:, None] + s + gap) for s in shifts], axis=0)
    return np.argwhere(np.triu(meet, 1))


def assert_right(lists: LinkedLists, bodies: Bodies) -> None:
    found = lists.pairs()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, overlapping(bodies, lists.gap))
    np.testing.assert_array_equal(found, LinkedLists(bodies, lists.gap).pairs())


def lattice_boxes(draw: st.DrawFn, n: int, dimension: int) -> tuple[Any, Any]:
    """Corners at multiples of 1/2: many equal, touching or without size."""
    numbers = st.integers(0, 2 * int(SIDE) - 1)
    lower = np.array(draw(st.lists(numbers, min_size=n * dimension, max_size=n * dimension)), float) / 2
    sizes = np.array(draw(st.lists(st.integers(0, 6), min_size=n * dimension, max_size=n * dimension)), float) / 2
    return lower.reshape(n, dimension), (lower + sizes).reshape(n, dimension)


@given(st.data())
def test_lattice_boxes_that_jump(data: st.DataObject) -> None:
    n, dimension = data.draw(st.integers(0, 12)), data.draw(st.sampled_from([2, 3]))
    periodic = data.draw(st.lists(st.booleans(), min_size=dimension, max_size=dimension))
    gap = data.draw(st.sampled_from([0.0, 0.5]))
    lists = None
    for _ in range(5):
        bodies = boxes(*lattice_boxes(data.draw, n, dimension), gap, np.full(dimension, SIDE), periodic)
        if lists is None:
            lists = LinkedLists(bodies, gap)
        else:
            lists.update(bodies)
        assert_right(lists, bodies)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("periodic", [OPEN, ALL, "mixed"])
def test_spheres_that_fly(dimension: int, periodic: bool | str) -> None:
    """Small steps, now and then a jump, a change of size or a wind that carries all through the sides."""
    flags = np.arange(dimension) == 1 if periodic == "mixed" else periodic
    rng = np.random.default_rng(1)
    n, box = 60, np.full(dimension, 1.0)
    x, r = rng.random((n, dimension)), rng.uniform(0.2, 1, n) * 0.4 * n ** (-1 / dimension)
    v = rng.normal(size=x.shape) * 0.01
    lists = LinkedLists(spheres(x, r, 0.01, box, flags), 0.01)
    for step in range(150):
        x += v + (0.05 if 50 < step < 80 else 0.0)
        if step % 7 == 0:
            x[rng.integers(n)] = rng.random(dimension)
        if step % 5 == 0:
            r[rng.integers(n)] *= rng.uniform(0.5, 1.2)
        bodies = spheres(x, r, 0.01, box, flags)
        lists.update(bodies)
        assert_right(lists, bodies)
    assert (lists.cases > 0).all()


@given(st.data())
def test_arcs_as_long_as_the_circle(data: st.DataObject) -> None:
    """One box may be nearly as long as the period if the others are points; it may turn round in one step."""
    lists = None
    for _ in range(8):
        places = st.lists(st.integers(0, 15), min_size=8, max_size=8)
        lower = np.array(data.draw(places), float).reshape(4, 2)
        upper = lower.copy()
        upper[0, 0] += data.draw(st.sampled_from([0.0, 4.0, 9.0, 15.0, 16.0 - 4e-15]))
        upper[1, 1] += data.draw(st.sampled_from([0.0, 8.0, 15.5]))
        bodies = boxes(lower, upper, 0.0, [16, 16], True)
        if lists is None:
            lists = LinkedLists(bodies, 0.0)
        else:
            lists.update(bodies)
        np.testing.assert_array_equal(lists.pairs(), LinkedLists(bodies, 0.0).pairs())
        wanted = impinge.box_pairs(lower, upper, box=[16, 16], periodic=True, method="brute")
        np.testing.assert_array_equal(only_near(bodies, lists.pairs(), 0.0), wanted)


def entries(ends: NDArray[np.float64]) -> list[tuple[float, int, int]]:
    """Ends (n, 2) along an axis in the order of the list: coordinate, beginning or end, body."""
    return sorted((x, kind, i) for i, row in enumerate(ends.tolist()) for kind, x in enumerate(row))


def test_every_exchange_is_one_of_four_cases() -> None:
    """An insertion sort exchanges each two entries whose order changes, once."""
    rng = np.random.default_rng(2)
    lower = rng.integers(0, 20, (25, 3)).astype(float)
    upper = lower + rng.integers(0, 6, lower.shape)
    lists = LinkedLists(boxes(lower, upper, 0.0, None, False), 0.0)
    assert lists.swaps == 0
    swept = lists.tests
    wanted = np.zeros(4, int)
    for _ in range(4):
        before = lower.copy(), upper.copy()
        move = rng.integers(-1, 2, lower.shape)
        lower, upper = lower + move, upper + move
        for axis in range(3):
            old, new = (entries(np.stack([a[:, axis], b[:, axis]], axis=1)) for a, b in (before, (lower, upper)))
            place = {entry[1:]: at for at, entry in enumerate(new)}
            kinds = [entry[1:] for entry in old]
            for at, first in enumerate(kinds):
                for second in kinds[at + 1 :]:
                    if place[first] > place[second]:
                        wanted[{(0, 0): 0, (1, 1): 1, (0, 1): 2, (1, 0): 3}[first[0], second[0]]] += 1
        bodies = boxes(lower, upper, 0.0, None, False)
        lists.update(bodies)
        assert_right(lists, bodies)
        np.testing.assert_array_equal(lists.cases, wanted)
    assert (wanted > 0).all()
    assert lists.swaps == wanted.sum()
    assert lists.tests == swept + wanted[3]


def test_example_of_the_paper() -> None:
    """[Muth2007b] Figures 4 to 7: the end of 3 and the beginning of 4 are exchanged, and (3/4) becomes a pair."""
    lower = np.array([[0, 1.8], [1, 0], [2, 3], [4, 4.8]])
    upper = np.array([[5, 3.2], [6, 2], [3.5, 5], [7, 6]])
    lists = LinkedLists(boxes(lower, upper, 0.0, None, False), 0.0)
    np.testing.assert_array_equal(lists.pairs() + 1, [[1, 2], [1, 3]])
    np.testing.assert_array_equal(lists.ranks(0)[2:], [[3, 4], [5, 8]])
    before = lists.tests
    lower[3, 0] = 3
    lists.update(boxes(lower, upper, 0.0, None, False))
    np.testing.assert_array_equal(lists.pairs() + 1, [[1, 2], [1, 3], [3, 4]])
    np.testing.assert_array_equal(lists.ranks(0)[2:], [[3, 5], [4, 8]])
    np.testing.assert_array_equal(lists.cases, [0, 0, 0, 1])
    assert lists.tests == before + 1


@pytest.mark.parametrize("periodic", [OPEN, ALL])
def test_more_pairs_than_there_is_room_for(periodic: bool) -> None:
    rng = np.random.default_rng(3)
    x = rng.random((80, 3)) * 100
    lists = LinkedLists(spheres(x, 0.01, 0.0, [100] * 3, periodic), 0.0)
    size = len(lists._table)
    for part in (20, 60, 80):  # the table grows within a sort
        x[:part] = 50 + rng.random((part, 3))
        r = np.where(np.arange(80) < part, 1.0, 0.01)
        bodies = spheres(x, r, 0.0, [100] * 3, periodic)
        lists.update(bodies)
        assert_right(lists, bodies)
    assert len(lists.pairs()) == 80 * 79 // 2
    assert len(lists._table) > size
    assert len(LinkedLists(bodies, 0.0).pairs()) == 80 * 79 // 2  # and within the sweep
    bodies = spheres(rng.random((80, 3)) * 100, 0.01, 0.0, [100] * 3, periodic)
    lists.update(bodies)
    assert_right(lists, bodies)


@pytest.mark.parametrize("method_of_motion", ["mirror", "shuffle"])
def test_lists_start_anew_when_all_change_places(method_of_motion: str) -> None:
    rng = np.random.default_rng(4)
    n = 400
    x = rng.random((n, 2))
    lists = LinkedLists(spheres(x, 0.02, 0.0, None, False), 0.0)
    x = 1 - x if method_of_motion == "mirror" else rng.permutation(x)
    bodies = spheres(x, 0.02, 0.0, None, False)
    lists.update(bodies)
    assert_right(lists, bodies)
    assert lists.swaps < 25 * n * np.log2(n)  # mirrored, n (2 n − 1) along each axis
    lists.update(bodies)
    assert_right(lists, bodies)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("periodic", [OPEN, ALL])
def test_few_bodies(n: int, periodic: bool) -> None:
    for dimension in (2, 3):
        bodies = spheres(np.zeros((n, dimension)), 1.0, 0.0, [9] * dimension, periodic)
        lists = LinkedLists(bodies, 0.0)
        for shift in (0.5, 8.5, 3.0):
            lists.update(spheres(np.full((n, dimension), shift), 1.0, 0.0, [9] * dimension, periodic))
            assert lists.pairs().shape == (n // 2, 2)
        assert lists.pairs().dtype == np.int64


def test_another_box() -> None:
    rng = np.random.default_rng(5)
    x = rng.random((50, 3))
    lists = LinkedLists(spheres(x, 0.1, 0.0, None, False), 0.0)
    for box, periodic in (([1.0] * 3, True), ([1.1] * 3, True), ([[-0.5] * 3, [0.5] * 3], True), (None, False)):
        bodies = spheres(x, 0.1, 0.0, box, periodic)
        lists.update(bodies)
        np.testing.assert_array_equal(lists.pairs(), LinkedLists(bodies, 0.0).pairs())
        wanted = impinge.pairs(x, 0.1, box=box, periodic=periodic, method="brute")
        np.testing.assert_array_equal(only_near(bodies, lists.pairs(), 0.0), wanted)
    with pytest.raises(InputError, match="bodies: found 49, expected 50, as many as before"):
        lists.update(spheres(x[1:], 0.1, 0.0, None, False))


@given(
    st.sampled_from([2, 3]),
    st.booleans(),
    st.sampled_from([1e-3, 0.1, 0.3, 7e5]),
    st.sampled_from([0.0, -1e3, 1e7]),
    st.integers(0, 2**32 - 1),
)
def test_touching_is_never_missed(dimension: int, periodic: bool, unit: float, origin: float, seed: int) -> None:
    """Multiples of numbers that are not binary: rounding decides which spheres touch, and all methods agree."""
    rng = np.random.default_rng(seed)
    box = np.array([np.full(dimension, origin), np.full(dimension, origin + 20 * unit)])
    x = origin + rng.integers(0, 20, (40, dimension)) * unit
    r, gap = rng.integers(0, 4, 40) * (unit / 2), float(rng.choice([0.0, unit]))
    options: dict[str, Any] = {"gap": gap, "box": box, "periodic": periodic}
    wanted = impinge.pairs(x, r, method="brute", **options)
    np.testing.assert_array_equal(impinge.pairs(x, r, method="sweep", **options), wanted)
    for shape in (x + r[:, None], x):
        wanted = impinge.box_pairs(x - r[:, None], shape, method="brute", **options)
        np.testing.assert_array_equal(impinge.box_pairs(x - r[:, None], shape, method="sweep", **options), wanted)


@pytest.mark.parametrize("periodic", [OPEN, ALL])
def test_many_of_different_sizes(periodic: bool) -> None:
    rng = np.random.default_rng(6)
    x, r = rng.random((3000, 3)), 10 ** rng.uniform(-3, -1.2, 3000)
    results = []
    for threads in (1, 2):
        with _jit.threads(min(threads, _jit._most_threads)):
            lists = LinkedLists(spheres(x, r, 0.0, [1.0] * 3, periodic), 0.0)
            for step in range(1, 4):
                bodies = spheres(x + 1e-3 * step * rng.normal(size=3), r, 0.0, [1.0] * 3, periodic)
                lists.update(bodies)
                found = only_near(bodies, lists.pairs(), 0.0)
                wanted = impinge.pairs(bodies.rows[:, :3], r, box=[1.0] * 3, periodic=periodic, method="brute")
                np.testing.assert_array_equal(found, wanted)
            results.append(lists.tests)
    assert all(tests < 3000 * 2999 // 4 for tests in results)


def test_a_box_on_the_move_costs_little_at_the_seam() -> None:
    """A body that leaves through a periodic side passes its neighbours, not all bodies."""
    rng = np.random.default_rng(7)
    x = rng.random((2000, 2))
    lists = LinkedLists(spheres(x, 0.005, 0.0, [1, 1], True), 0.0)
    for _ in range(20):
        x += 0.01
        lists.update(spheres(x, 0.005, 0.0, [1, 1], True))
    assert lists.swaps < 100  # only by rounding
