"""Searches over time: nothing that touches is ever missed, whatever the method, the skin and the motion."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge.broad.methods import BOX_METHODS, METHODS
from impinge.errors import InputError, SearchWarning

from .systems import walk

Points = NDArray[np.float64]


def contains_all(listed: NDArray[np.int64], wanted: NDArray[np.int64]) -> bool:
    rows = {tuple(pair) for pair in listed.tolist()}
    return all(tuple(pair) in rows for pair in wanted.tolist())


def assert_follows(search: impinge.NeighborSearch, steps: Iterator[tuple[Points, Points]], **space: Any) -> None:
    for centres, radii in steps:
        near = search.update(centres, radii)
        wanted = impinge.pairs(centres, radii, method="brute", **space)
        np.testing.assert_array_equal(near.touching(), wanted)
        assert (near.pairs[:, 0] < near.pairs[:, 1]).all()
        assert contains_all(near.pairs, wanted)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_nothing_is_missed(method: str, dimension: int) -> None:
    for skin in ("auto", 0.0, 0.05):
        search = impinge.NeighborSearch(method, skin)
        assert_follows(search, walk(80, dimension, 60, seed=1))
        stats = search.statistics
        assert stats.updates == 60
        assert 1 <= stats.rebuilds <= 60
        if method != "auto":
            assert stats.method == method
        assert stats.method in str(stats)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_periodic(method: str) -> None:
    for dimension in (2, 3):
        space = {"box": [1.0] * dimension, "periodic": True}
        search = impinge.NeighborSearch(method, 0.02, **space)
        steps = ((centres * 3 - 1, radii) for centres, radii in walk(80, dimension, 50, seed=2))
        assert_follows(search, steps, **space)


def test_rebuilds_only_when_needed() -> None:
    search = impinge.NeighborSearch("cells", skin=0.1)
    centres = np.random.default_rng(3).random((200, 3))
    for _ in range(10):
        search.update(centres, 0.01)
    assert search.statistics.rebuilds == 1
    centres[5] += [0.03, 0.03, 0.0]  # alone it may come nearer by 0.1
    search.update(centres, 0.01)
    assert search.statistics.rebuilds == 1
    centres[7] -= [0.04, 0.03, 0.03]
    search.update(centres, 0.01)
    assert search.statistics.rebuilds == 2
    search.update(centres, 0.04)  # growing counts like moving
    search.update(centres, 0.08)
    assert search.statistics.rebuilds == 3
    search.update(centres, 0.01)  # shrinking does not
    assert search.statistics.rebuilds == 3


def test_auto_skin_adapts() -> None:
    """Fast motion and expensive use end in different skins than slow motion; pairs that touch stay the same."""
    skins = []
    for speed in (1e-5, 1e-2):
        search = impinge.NeighborSearch()
        rng = np.random.default_rng(4)
        centres, speeds = rng.random((2000, 3)), rng.normal(size=(2000, 3)) * speed
        for _ in range(60):
            search.update(centres, 0.02)
            centres = centres + speeds
        skins.append(search.statistics.skin)
        assert "times" in search.statistics.why_skin or search.statistics.rebuilds < 3
    assert all(0 < skin < 0.1 for skin in skins)


def test_lists() -> None:
    centres, radii = next(walk(300, 3, 1, seed=5))
    near = impinge.NeighborSearch(skin=0.05).update(centres, radii)
    assert len(near) == len(near.pairs) > 100
    assert near.starts.shape == (301,)
    for i in range(300):
        row = near.partners[near.starts[i] : near.starts[i + 1]]
        wanted = np.concatenate([near.pairs[near.pairs[:, 1] == i, 0], near.pairs[near.pairs[:, 0] == i, 1]])
        np.testing.assert_array_equal(row, wanted)


def test_bodies_come_and_go() -> None:
    rng = np.random.default_rng(6)
    search = impinge.NeighborSearch(skin=0.03)
    ids = np.arange(100)
    centres, radii = rng.random((100, 3)), rng.uniform(0.01, 0.1, 100)
    for _ in range(40):
        near = search.update(centres, radii, ids)
        wanted = {tuple(sorted((ids[i], ids[j]))) for i, j in impinge.pairs(centres, radii, method="brute").tolist()}
        found = ids[near.touching()]
        assert {tuple(pair) for pair in found.tolist()} == wanted
        assert (found[:, 0] < found[:, 1]).all()
        assert found.tolist() == sorted(found.tolist())
        for row in rng.integers(0, len(ids), 5):
            partners = ids[near.partners[near.starts[row] : near.starts[row + 1]]]
            assert (np.diff(partners) > 0).all()
        kind = rng.integers(4)
        if kind == 0:  # remove some
            keep = rng.random(len(ids)) > 0.1
            ids, centres, radii = ids[keep], centres[keep], radii[keep]
        elif kind == 1:  # add some
            ids = np.concatenate([ids, ids.max() + 1 + np.arange(5)])
            centres = np.concatenate([centres, rng.random((5, 3))])
            radii = np.concatenate([radii, np.full(5, 0.05)])
        elif kind == 2:  # reorder
            order = rng.permutation(len(ids))
            ids, centres, radii = ids[order], centres[order], radii[order]
        centres = centres + rng.normal(size=centres.shape) * 0.003


def test_without_ids_the_number_may_change() -> None:
    search = impinge.NeighborSearch()
    for n in (5, 0, 1, 200, 3):
        centres = np.random.default_rng(n).random((n, 2))
        near = search.update(centres, 0.1)
        np.testing.assert_array_equal(near.touching(), impinge.pairs(centres, 0.1))
        assert len(near.starts) == n + 1


def test_fixed_interval_says_when_it_was_too_rare() -> None:
    centres = np.array([[0.0, 0.0], [3.0, 0.0]])
    search = impinge.NeighborSearch("verlet", rebuild_every=100, zone_radius=2.5)
    search.update(centres, 1.0)
    centres[1] = [2.6, 0.0]
    search.update(centres, 1.0)
    centres[1] = [1.5, 0.0]
    with pytest.warns(SearchWarning, match=r"nearer by up to 1.5 within 2 updates, more than the skin of 0.5"):
        near = search.update(centres, 1.0)
    assert len(near) == 0  # missed, as announced
    assert search.statistics.too_late == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(98):
            near = search.update(centres, 1.0)
    assert near.touching().tolist() == [[0, 1]]
    assert search.statistics.rebuilds == 2


def test_verlet_lists_all_in_the_zone() -> None:
    """[Muth2007b] 2.1: partners within five times the largest radius, also those that are far from touching."""
    centres = np.array([[0.0, 0.0], [4.9, 0.0], [9.9, 0.0], [0.0, 5.1]])
    near = impinge.NeighborSearch("verlet").update(centres, 1.0)
    assert near.pairs.tolist() == [[0, 1], [1, 2]]
    assert len(near.touching()) == 0
    search = impinge.NeighborSearch("verlet", all_pairs=True)
    assert search.update(centres, 1.0).pairs.tolist() == [[0, 1], [1, 2]]
    assert search.statistics.tests == 6
    assert search.statistics.skin == pytest.approx(3.0)


def test_cell_size_leaves_a_skin_or_is_an_error() -> None:
    centres = np.array([[0.0, 0, 0], [1.5, 0, 0], [9, 9, 9]])
    search = impinge.NeighborSearch("cells", cell_size=3.0)
    assert search.update(centres, 1.0).touching().tolist() == [[0, 1]]
    assert search.statistics.skin == pytest.approx(1.0)
    with pytest.raises(InputError, match="cell_size: found 3, expected at least 4"):
        search.update(centres, 2.0)
    for cell_size, radius in ((1.5109387812682618, 0.1678846843380017), (2.0, 1.0)):
        impinge.NeighborSearch("cells", cell_size=cell_size).update(centres, radius)
    rng = np.random.default_rng(10)
    near = impinge.NeighborSearch("cells", cell_size=8.0, box=[10] * 3, periodic=True).update(
        rng.random((400, 3)) * 10, 0.5
    )
    assert len(np.unique(near.pairs, axis=0)) == len(near.pairs)


def test_reordering_alone_does_not_rebuild() -> None:
    rng = np.random.default_rng(11)
    centres = rng.random((50, 3))
    search = impinge.NeighborSearch(skin=0.1)
    for _ in range(10):
        order = rng.permutation(50)
        found = order[search.update(centres[order], 0.1, ids=order).touching()]
        np.testing.assert_array_equal(found, impinge.pairs(centres, 0.1))
    assert search.statistics.rebuilds == 1


def test_points_have_a_skin_too() -> None:
    search = impinge.NeighborSearch()
    centres = np.random.default_rng(12).random((400, 3))
    for _ in range(10):
        search.update(centres, 0.0)
    assert search.statistics.rebuilds == 1
    assert search.statistics.skin > 0


def test_auto_tries_its_rivals() -> None:
    search = impinge.NeighborSearch(skin=0.0)
    rng = np.random.default_rng(8)
    centres = rng.random((500, 3))
    tried = set()
    for _ in range(60):
        search.update(centres, 0.02)
        tried.add(search.statistics.method)
        centres = centres + rng.normal(size=(500, 3)) * 1e-3
    assert {"levels", "cells"} <= tried


@pytest.mark.parametrize("method", ["auto", *BOX_METHODS])
@pytest.mark.parametrize("periodic", [False, True])
def test_boxes(method: str, periodic: bool) -> None:
    rng = np.random.default_rng(9)
    space: dict[str, Any] = {"box": [1.0] * 3, "periodic": periodic}
    search = impinge.BoxSearch(method, 0.03, **space)
    centres, half = rng.random((100, 3)), 10 ** rng.uniform(-3, -1, (100, 3))
    for _ in range(40):
        near = search.update(centres - half, centres + half)
        wanted = impinge.box_pairs(centres - half, centres + half, method="brute", **space)
        np.testing.assert_array_equal(near.touching(), wanted)
        assert contains_all(near.pairs, wanted)
        centres = centres + rng.normal(size=(100, 3)) * 0.005
        half = half * rng.uniform(0.99, 1.01, half.shape)
    assert 1 < search.statistics.rebuilds <= 40


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=5, max_size=5), min_size=2, max_size=6),
    st.sampled_from(["verlet", "cells", "sweep", "levels"]),
    st.sampled_from([0.0, 0.5, 2.0]),
)
def test_any_motion(steps: Any, method: str, skin: float) -> None:
    search = impinge.NeighborSearch(method, skin)
    for centres in steps:
        near = search.update(np.array(centres, float), 1.0)
        np.testing.assert_array_equal(near.touching(), impinge.pairs(np.array(centres, float), 1.0, method="brute"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method: found 'magic'"),
        ({"skin": -1.0}, "skin: found -1.0"),
        ({"skin": "thick"}, "skin: found 'thick', expected one of auto"),
        ({"rebuild_every": 0}, "rebuild_every: found 0"),
        ({"cell_size": -1.0, "method": "cells"}, "cell_size: found -1.0"),
        ({"cell_size": 1.0}, "cell_size: found 1.0 with method 'auto'"),
        ({"method": "verlet", "zone_radius": 3.0, "skin": 0.1}, "skin: found 0.1 with a zone_radius"),
        ({"periodic": True}, "box: found None"),
        ({"threads": 0}, "threads: found 0"),
        ({"rebuild_every": True}, "rebuild_every: found True"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        impinge.NeighborSearch(**options)


def test_bad_ids() -> None:
    search = impinge.NeighborSearch()
    with pytest.raises(InputError, match="ids: row 2 is 5, which another row has too"):
        search.update(np.zeros((3, 2)), 1.0, [5, 6, 5])
    with pytest.raises(InputError, match="ids: found float64"):
        search.update(np.zeros((3, 2)), 1.0, [0.5, 1, 2])
    with pytest.raises(InputError, match="ids: found 18446744073709551615, expected numbers below"):
        search.update(np.zeros((2, 2)), 1.0, np.array([1, 2**64 - 1], np.uint64))
    with pytest.raises(InputError, match="ids: found something that is not an array"):
        search.update(np.zeros((2, 2)), 1.0, [[1], [1, 2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box": "a"}, "box: found text"),
        ({"box": [1, -1, 1]}, "box: found .*, expected finite numbers and lengths above 0"),
        ({"box": [1, 2, 3, 4]}, "box: found .*, expected 3 lengths"),
        ({"periodic": "x"}, "periodic: found 'x', expected True, False"),
        ({"periodic": True}, "box: found None"),
        ({"skin": 1e200}, "skin: found 1e.200, expected a number up to"),
    ],
)
def test_bad_arguments_are_told_at_once(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        impinge.NeighborSearch(**arguments)


@pytest.mark.parametrize("method", ["levels", "sweep"])
def test_after_a_failed_update_lists_are_made_anew(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    centres = rng.random((2000, 3))
    search = impinge.NeighborSearch(method, skin=0.05)
    search.update(centres, 0.02)
    moved = centres + rng.normal(size=centres.shape) * 0.1
    with monkeypatch.context() as broken:
        broken.setattr("impinge.broad.search.LinkedLists.update", None)
        broken.setattr("impinge.broad.search.methods.find", None)
        with pytest.raises(TypeError):
            search.update(moved, 0.02)
    assert np.array_equal(search.update(moved, 0.02).touching(), impinge.pairs(moved, 0.02))


def test_the_box_is_copied() -> None:
    box = np.array([10.0, 10, 10])
    search = impinge.NeighborSearch("levels", 0.5, box, True)
    centres = np.array([[0.5, 5, 5], [7.0, 5, 5], [3, 3, 3]])
    search.update(centres, 0.5)
    box[0] = 7.4
    assert len(search.update(centres, 0.5).touching()) == 0
    assert len(search.update(centres + 0.3, 0.5).touching()) == 0
