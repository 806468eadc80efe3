"""Lists of pairs that are kept over steps: none is missing, and nothing depends on which list there is."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import ccd
from impinge.bodies.soft import _neighbours
from impinge.bodies.soft import neighbours as module
from impinge.bodies.soft.neighbours import Neighbours
from impinge.bodies.soft.surface import Skin, Surface, skin_of
from impinge.ccd.candidates import candidates
from impinge.errors import InputError
from impinge.response.contact_rows import measure, pairs_of
from impinge.shapes import icosphere

from .soft_bodies import Floats, sheet


def surface(seed: int, thick: float = 1.0) -> tuple[Surface, Floats]:
    """Two cables, a crumpled cloth and a ball; and positions of all."""
    rng = np.random.default_rng(seed)
    flat, faces = sheet(5, 5, 0.5, 0.5, "alternating")
    cloth = flat + 0.02 * rng.normal(size=flat.shape)
    cables = [np.cumsum(0.05 * rng.normal(size=(9, 3)), axis=0) + 0.2 for _ in range(2)]
    edges = np.column_stack([np.arange(8), np.arange(1, 9)]).astype(np.int32)
    ball = icosphere(1, 0.15)
    soft = [skin_of(cloth, faces, 0.01 * thick)] + [
        Skin(x, edges, np.empty((0, 3), np.int32), 0.015 * thick) for x in cables
    ]
    return Surface(soft, [skin_of(ball.vertices, ball.faces, 0.0)]), np.concatenate([cloth, *cables, ball.vertices])


def needed(of: Surface, x0: Floats, x1: Floats) -> set[int]:
    """All pairs that come as near as their distance at any of many times, by measuring all there are."""
    far = candidates(x0 - 10.0, x1 + 10.0, of.edges, of.faces, bodies=of.labels)
    every = pairs_of(far, of.edges, of.faces)
    distances, found = of.distances(every), set()
    for t in np.linspace(0, 1, 9):
        near = measure(x0 + t * (x1 - x0), every).gaps <= distances
        found |= set(every.keys[near].tolist())
    return found


@pytest.mark.parametrize("speed", [0.0, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_no_pair_is_missing(seed: int, speed: float) -> None:
    """Over steps at random, some of them far longer than what lists are made for."""
    of, x = surface(seed)
    lists, rng = Neighbours(of), np.random.default_rng(seed + 100)
    velocity = speed * rng.normal(size=x.shape)
    made = []
    for k in range(12):
        velocity += 0.3 * speed * rng.normal(size=x.shape)
        end = x + velocity * (10.0 if k == 7 else 1.0)
        lists.cover(x, end)
        keys = lists.keys.tolist()
        assert needed(of, x, end) <= set(keys)
        assert keys == sorted(set(keys))
        np.testing.assert_array_equal(lists.keys, lists.pairs.keys)
        np.testing.assert_array_equal(lists.distances, of.distances(lists.pairs))
        made.append(lists.made)
        x = end
    assert made[0] == 1
    if speed <= 1e-3:
        assert made[-1] < 5  # lists are kept


@pytest.mark.parametrize("speed", [0.0, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_no_pair_is_missing_in_a_list_of_one_step(seed: int, speed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor if the step turns out to be a little different, and the same list is used."""
    monkeypatch.setattr(module, "_REACHES", module._REACHES[-1:])
    of, x = surface(seed, thick=1.0 + 2.0 * (seed % 2))
    rng = np.random.default_rng(seed + 200)
    end = x + speed * rng.normal(size=x.shape)
    lists = Neighbours(of)
    lists.cover(x, end)
    every = candidates(np.minimum(x, end), np.maximum(x, end), of.edges, of.faces, gap=of.gap, bodies=of.labels)
    assert len(lists.keys) < every.total
    for _ in range(4):
        off = [rng.uniform(-0.99, 0.99, x.shape) * module._REACHES[0][1] * of.gap for _ in range(2)]
        lists.cover(x + off[0], end + off[1])
        assert needed(of, x + off[0], end + off[1]) <= set(lists.keys.tolist())
    assert lists.made == 1


@pytest.mark.verify
def test_pairs_that_touch_on_the_way_are_never_missing() -> None:
    """As the exact judge finds them: motions that pass through each other."""
    of, x = surface(5)
    rng = np.random.default_rng(5)
    lists, passed = Neighbours(of), 0
    for _ in range(6):
        end = x + 0.2 * rng.normal(size=x.shape)
        lists.cover(x, end)
        found = ccd.contacts(x, end, of.edges, of.faces, bodies=of.labels).pairs
        keys = pairs_of(found, of.edges, of.faces).keys
        assert set(keys.tolist()) <= set(lists.keys.tolist())
        passed += len(keys)
    assert passed > 100


def test_a_crowd_gets_smaller_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    of, x = surface(2)
    end = x + 0.02 * np.random.default_rng(0).normal(size=x.shape)
    roomy = Neighbours(of)
    roomy.cover(x, end)
    counts = [len(roomy.keys)]
    for reaches in (((8.0, 0.3, 1), (2.0, 0.3, np.inf)), ((8.0, 0.3, 1), (2.0, 0.3, 1), (0.0, 0.03, np.inf))):
        monkeypatch.setattr(module, "_REACHES", reaches)
        narrow = Neighbours(of)
        narrow.cover(x, end)
        counts.append(len(narrow.keys))
        assert needed(of, x, end) <= set(narrow.keys.tolist())
    assert counts[0] >= counts[1] > counts[2]


def test_distances_and_spares() -> None:
    """All pairs there are, by measuring them at rest."""
    of, rest = surface(4, thick=5.0)
    every = pairs_of(candidates(rest - 10.0, rest + 10.0, of.edges, of.faces, bodies=of.labels), of.edges, of.faces)
    radii = np.repeat([0.05, 0.075, 0.075, 0.0], np.bincount(of.body_of))
    sides = np.where(every.kinds == 0, 1, 2)
    wanted = np.array([radii[c[:n]].max() + radii[c[n:]].max() for c, n in zip(every.corners, sides, strict=True)])
    is_same, at_rest = of.body_of[every.corners[:, 0]] == of.body_of[every.corners[:, 3]], measure(rest, every).gaps
    distances, spares = of.distances_and_spares(every)
    np.testing.assert_allclose(distances, np.where(is_same, np.minimum(wanted, 0.9 * at_rest), wanted), rtol=1e-12)
    assert (spares[~is_same] == np.inf).all()
    near = is_same & (at_rest < 1.9 * wanted)
    assert near.sum() > 20
    np.testing.assert_allclose(spares[near], (at_rest - distances)[near], rtol=1e-9, atol=1e-15)
    assert (spares[is_same] >= np.minimum(at_rest - distances, wanted)[is_same] * (1 - 1e-9)).all()


def test_a_list_is_kept_as_long_as_nothing_leaves_its_box() -> None:
    of, x = surface(1)
    lists = Neighbours(of)
    lists.cover(x, x)
    lists.cover(x, x + 0.2 * of.gap)
    assert lists.made == 1
    step = np.zeros_like(x)
    step[-1, 2] = -0.4 * of.gap
    lists.cover(x, x + step)
    assert lists.made == 2
    with pytest.raises(InputError, match="not finite"):  # what is no number is in no box
        lists.cover(np.full_like(x, np.nan), x)


@pytest.mark.parametrize("seed", range(10))
def test_ends_are_sorted_as_arrays_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, (reach, share) = 500, rng.choice([0.0, 0.1, 0.8, 1.0], 2)
    ends, real, least, distances = rng.uniform(0.0, 2.0, (4, count))
    margins, is_held, turns = rng.uniform(0.0, 0.5, count), rng.random(count) < 0.3, rng.integers(0, 7, count, np.int8)
    ends[rng.random(count) < 0.2] = np.inf
    found = np.empty(count, np.int8)
    _neighbours.sort_ends(count, ends, real, least, distances, margins, reach, share, is_held, turns, found)
    low = np.minimum(least, share * distances) * (1.0 - 1e-9)
    is_new = (ends < low + reach * margins) & ~is_held
    is_near = real < np.where(ends < low, low, low + reach * margins)
    has_turned = real < np.minimum(least, 0.8 * distances) * (1.0 - 1e-3)
    wanted = np.where(is_new, np.where(is_near, _neighbours.NEW, _neighbours.UNSURE), _neighbours.NOTHING)
    wanted[has_turned & ~is_new & (turns < 5)] = _neighbours.TURNED
    assert np.array_equal(found, wanted)
    assert set(found.tolist()) == set(range(4)) or reach == share == 0.0
