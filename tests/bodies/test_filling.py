"""Fillings: spheres apart, in the box, as many as asked, the same for every number of threads; rain that resumes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import impinge
from impinge import _jit
from impinge.bodies.filling import Filling, Rain, fill_lattice, fill_random
from impinge.bodies.sizes import read_sizes, volume
from impinge.errors import InputError

DISTRIBUTIONS: list[Any] = [
    0.05,
    ("uniform", 0.02, 0.08),
    ("lognormal", 0.04, 0.5, 0.01, 0.1),
    ("power", 0.004, 0.2, -3.0),
    ("choice", [0.1, 0.02], [1, 20]),
]


def smallest_gap(filling: Filling, period: Any = 0.0) -> float:
    """Least distance of surfaces, by NumPy, all with all."""
    d = filling.centres[:, None] - filling.centres[None]
    period = np.broadcast_to(period, d.shape[2])
    d -= np.where(period > 0, period * np.round(d / np.where(period > 0, period, 1.0)), 0.0)
    apart = np.sqrt((d**2).sum(axis=2)) - filling.radii[:, None] - filling.radii[None]
    return float(apart[np.triu_indices(len(apart), 1)].min(initial=math.inf))


def assert_between(filling: Filling, low: Any, high: Any) -> None:
    assert (filling.centres - filling.radii[:, None] >= low).all()
    assert (filling.centres + filling.radii[:, None] <= high).all()


def share(filling: Filling, room: float = 1.0) -> float:
    return float(volume(filling.radii, filling.centres.shape[1]).sum()) / room


# Random


@pytest.mark.verify
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radii", DISTRIBUTIONS, ids=str)
@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.45])
def test_fraction_is_reached_without_overlap(dimension: int, radii: Any, fraction: float) -> None:
    low, high = np.full(dimension, -3.0), np.full(dimension, -2.0)
    filling = fill_random(low, high, radii, fraction=fraction, seed=1)
    assert_between(filling, low, high)
    assert len(impinge.pairs(*filling)) == 0
    largest = volume(np.array([read_sizes(radii).high]), dimension)[0]
    assert abs(share(filling) - fraction) <= largest


@given(
    st.integers(2, 3),
    st.integers(0, 60),
    st.floats(-3, 0),
    st.floats(0, 0.25),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from([1.0, 1e-6, 1e6]),
    st.integers(0, 2**63),
)
def test_any_sizes(
    dimension: int, count: int, spread: float, fraction: float, periodic: list[bool], scale: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    radii = 10 ** rng.uniform(spread, 0, count)
    radii *= 0.12 * scale / max(radii.max(initial=0.0), 1e-9 * scale)
    box = np.array([1.0, 0.7, 1.3])[:dimension] * scale
    radii *= min(1.0, fraction * box.prod() / max(volume(radii, dimension).sum(), 1e-30 * box.prod())) ** (
        1 / dimension
    )
    sides = np.array(periodic[:dimension])
    low = np.array([0.3, -0.2, 0.0])[:dimension] * scale
    filling = fill_random(low, low + box, np.maximum(radii, 1e-9 * scale), periodic=sides, seed=seed)
    assert np.array_equal(filling.radii, np.maximum(radii, 1e-9 * scale))
    assert smallest_gap(filling, np.where(sides, box, 0.0)) > 0
    assert_between(filling, np.where(sides, -np.inf, low), np.where(sides, np.inf, low + box))
    assert ((filling.centres >= low) & (filling.centres <= low + box)).all()


@pytest.mark.parametrize(
    ("dimension", "fraction", "count"), [(3, 0.5, 1500), (3, 0.58, 1500), (2, 0.7, 1500), (2, 0.78, 1500)]
)
@pytest.mark.parametrize("periodic", [False, True])
def test_dense(dimension: int, fraction: float, count: int, periodic: bool) -> None:
    radius = float((fraction / count / volume(np.ones(1), dimension)[0]) ** (1 / dimension))
    if not periodic and fraction > 0.55 and dimension == 3:
        radius *= 0.98  # beside walls there is less room
    filling = fill_random([0] * dimension, [1] * dimension, radius, count=count, periodic=periodic, seed=3)
    assert len(impinge.pairs(*filling, box=[1.0] * dimension, periodic=periodic)) == 0
    assert ((filling.centres >= 0) & (filling.centres < 1)).all()
    if not periodic:
        assert_between(filling, 0, 1)


def test_dense_with_several_sizes_a_gap_and_others_there() -> None:
    avoid = (np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.6], [3.0, 3.0, 3.0]]), np.array([0.2, 0.2, 1.0]))
    filling = fill_random(
        (0, 0, 0),
        (1, 1, 1),
        ("uniform", 0.05, 0.07),  # so alike that they are pushed at this fraction
        fraction=0.37,
        gap=0.002,
        avoid=avoid,
        inside=lambda p: p[:, 2] < 0.9,
    )
    assert smallest_gap(filling) > 0.002
    assert_between(filling, 0, 1)
    assert (filling.centres[:, 2] < 0.9).all()
    for centre, radius in zip(*avoid, strict=True):
        assert (np.linalg.norm(filling.centres - centre, axis=1) > filling.radii + radius + 0.002).all()


@pytest.mark.parametrize("fraction", [0.25, 0.45])
def test_same_bits_for_any_number_of_threads(fraction: float) -> None:
    found = []
    for threads in (1, 2, None):
        with _jit.threads(threads):
            found.append(fill_random((0, 0, 0), (1, 1, 1), ("uniform", 0.02, 0.025), fraction=fraction, seed=5))
    for other in found[1:]:
        assert np.array_equal(found[0].centres, other.centres)
        assert np.array_equal(found[0].radii, other.radii)
    seeded = fill_random((0, 0, 0), (1, 1, 1), ("uniform", 0.02, 0.025), fraction=fraction, seed=6)
    assert not np.array_equal(found[0].centres[:5], seeded.centres[:5])


@pytest.mark.parametrize("dimension", [2, 3])
def test_places_are_uniform(dimension: int) -> None:
    """Chi-squared of the numbers in equal cells; few in all, so that they hardly feel each other."""
    cells = 4
    filling = fill_random([0] * dimension, [1] * dimension, 1e-4, count=20000, periodic=True, seed=7)
    place = (filling.centres * cells).astype(int) @ cells ** np.arange(dimension)
    counts = np.bincount(place, minlength=cells**dimension)
    expected = 20000 / cells**dimension
    degrees = cells**dimension - 1
    assert abs(((counts - expected) ** 2 / expected).sum() - degrees) < 4 * math.sqrt(2 * degrees)


def test_crowded_places_are_uniform_too() -> None:
    """At this fraction most places are drawn in listed voxels, block by block."""
    filling = fill_random((0, 0, 0), (1, 1, 1), 0.0155, fraction=0.31, periodic=True, seed=8)
    assert len(filling.radii) > 19000
    for axis in range(3):
        counts = np.histogram(filling.centres[:, axis], 20, (0, 1))[0]
        assert counts.std() < 0.02 * counts.mean()  # far less than without order: spheres are evenly spread


def test_avoided_spheres_of_all_sizes() -> None:
    rng = np.random.default_rng(9)
    there = rng.uniform(-0.5, 1.5, (400, 3)), 10 ** rng.uniform(-3, -0.5, 400)
    for periodic in (False, [True, False, False]):
        kept = tuple(part[there[1] < 0.1] for part in there)
        filling = fill_random(
            (0, 0, 0), (1, 1, 1), ("power", 0.005, 0.05, -2), count=300, avoid=kept, periodic=periodic
        )
        d = filling.centres[:, None] - kept[0][None]
        if periodic:
            d[..., 0] -= np.round(d[..., 0])
        assert (np.linalg.norm(d, axis=2) > filling.radii[:, None] + kept[1][None]).all()


def test_a_sphere_larger_than_the_box_can_be_avoided() -> None:
    filling = fill_random((0, 0), (1, 1), 0.05, count=30, avoid=([[0.0, -9.6]], 10.0))
    assert (np.hypot(filling.centres[:, 0], filling.centres[:, 1] + 9.6) > 10.05).all()


@pytest.mark.verify
def test_inside_a_solid() -> None:
    solid = impinge.Solid(impinge.shapes.icosphere(2))
    filling = fill_random((-1, -1, -1), (1, 1, 1), 0.08, fraction=0.15, inside=solid.contains)
    assert solid.contains(filling.centres).all()
    assert len(impinge.pairs(*filling)) == 0
    with pytest.raises(InputError, match="have a place even if"):
        fill_random((-1, -1, -1), (1, 1, 1), 0.08, count=5, inside=lambda p: np.zeros(len(p), bool))
    with pytest.raises(InputError, match=r"inside: found float64 of shape .* expected as many booleans"):
        fill_random((-1, -1, -1), (1, 1, 1), 0.08, count=5, inside=lambda p: p[:, 0])


def test_few_and_tight() -> None:
    assert fill_random((0, 0), (1, 1), 0.1, count=0).centres.shape == (0, 2)
    assert fill_random((0, 0, 0), (1, 1, 1), 0.1, fraction=0.0).radii.shape == (0,)
    assert fill_random((0, 0), (1, 1), []).centres.shape == (0, 2)
    one = fill_random((0, 0, 0), (1, 1, 1), 0.5, count=1)  # as large as the box
    assert one.centres.tolist() == [[0.5, 0.5, 0.5]]
    row = fill_random((0, 0, 0), (40, 1, 1), 0.5, fraction=0.25)  # in single file
    assert smallest_gap(row) > 0
    assert abs(share(row, 40.0) - 0.25) < 0.01
    thin = fill_random((0, 0), (1, 1e5), 0.4, fraction=0.2)
    assert_between(thin, (0, 0), (1, 1e5))


def test_radii_follow_their_distributions() -> None:
    rng = np.random.default_rng(0)
    uniform = read_sizes(("uniform", 1, 3)).take(rng, 20000)
    assert (uniform >= 1).all()
    assert (uniform <= 3).all()
    assert abs(uniform.mean() - 2) < 0.02
    lognormal = read_sizes(("lognormal", 2.0, 0.3, 0.01, 100)).take(rng, 20000)
    assert abs(lognormal.mean() - 2) < 0.02
    assert abs(np.log(lognormal).std() - 0.3) < 0.01
    cut = read_sizes(("lognormal", 2.0, 0.3, 1.9, 2.0)).take(rng, 1000)
    assert 1.9 <= cut.min() < cut.max() <= 2.0
    for exponent in (-3.0, -1.0, 0.0, 2.5, -90.0, 90.0):
        power = read_sizes(("power", 1.0, 10.0, exponent)).take(rng, 20000)
        r = np.linspace(1, 10, 200001)
        weight = (r / (10 if exponent > 0 else 1)) ** exponent
        assert abs(power.mean() / ((r * weight).sum() / weight.sum()) - 1) < 0.02
    choice = read_sizes(("choice", [1.0, 2.0, 3.0], [1, 0, 3])).take(rng, 20000)
    assert set(choice) == {1.0, 3.0}
    assert abs((choice == 3).mean() - 0.75) < 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "fraction, count: found neither"),
        ({"fraction": 0.1, "count": 3}, "fraction, count: found both"),
        ({"fraction": 0.75}, "fraction: found 0.75, expected at most 0.74"),
        ({"fraction": -0.1}, "fraction: found -0.1"),
        ({"fraction": math.nan}, "fraction: found nan"),
        ({"fraction": 0.73}, "reached only 0.5"),
        ({"fraction": 0.1, "radii": 1e-9}, "fraction: found .* spheres in it, too many"),
        ({"count": 2.5}, "count: found 2.5"),
        ({"count": 10**6}, "radii: found .* of the box filled"),
        ({"count": 3, "radii": [0.1, 0.1]}, "found one of them with 2 radii"),
        ({"count": 3, "radii": 0.0}, "radii: found 0.0, expected a number above 0"),
        ({"radii": [0.1, math.nan]}, "radii: row 1 is nan"),
        ({"radii": [[0.1]]}, "radii: found shape"),
        ({"count": 3, "radii": "large"}, "radii: found text"),
        ({"count": 3, "radii": ("normal", 1, 2)}, "radii: found the distribution 'normal'"),
        ({"count": 3, "radii": ("uniform", 1)}, "radii: found .* expected .*low, high"),
        ({"count": 3, "radii": ("uniform", 0.2, 0.1)}, "radii .high.: found 0.1, expected at least 0.2"),
        ({"count": 3, "radii": ("lognormal", 1.0, 0.0, 0.1, 0.2)}, "radii .sigma.: found 0.0"),
        ({"count": 3, "radii": ("lognormal", 1.0, 0.01, 0.1, 0.2)}, "far from all radii"),
        (
            {"count": 3, "radii": ("lognormal", 1.0, 1e200, 0.1, 0.2)},
            "radii .sigma.: found 1e.200, expected at most 100",
        ),
        ({"count": 3, "radii": ("power", 0.1, 0.2, 1e9)}, "radii .exponent.: found"),
        ({"count": 3, "radii": ("choice", [0.1, 0.2], [0, 0])}, "radii .weights.: found"),
        ({"count": 3, "radii": ("choice", [], [])}, "to choose from"),
        ({"count": 1, "radii": 0.6}, "radii: found 0.6, expected at most 0.5, half of the box along x"),
        ({"count": 2, "radii": 0.3, "periodic": True}, "upper: found a periodic box 1 long along x"),
        ({"count": 1, "upper": (1, 1)}, "upper: found .* expected 3 finite numbers"),
        ({"count": 1, "upper": (1, 1, 0)}, "upper: found 0 along z, expected more than lower"),
        ({"count": 1, "lower": (0, math.nan, 0)}, "lower: found"),
        ({"count": 1, "lower": (0,)}, "lower: found shape"),
        ({"count": 1, "gap": -1.0}, "gap: found -1.0"),
        ({"count": 1, "seed": -1}, "seed: found -1"),
        ({"count": 1, "periodic": 1}, "periodic: found 1"),
        ({"count": 1, "avoid": [[0, 0, 0]]}, "avoid: found list"),
        ({"count": 1, "avoid": ([[0, 0]], 1.0)}, "avoid centres: found shape"),
        ({"count": 1, "avoid": ([[0, 0, 0]], -1.0)}, "avoid radii: row 0"),
        ({"count": 1, "avoid": ([[0.5, 0.5, 0.5]], 2.0)}, "only 0 have a place"),
        ({"count": 1, "inside": 3}, "inside: found int"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"lower": (0, 0, 0), "upper": (1, 1, 1), "radii": 0.1, **arguments}
    with pytest.raises(InputError, match=message):
        fill_random(**given)


# Lattice


@pytest.mark.parametrize("kind", ["cubic", "hexagonal"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_lattice(kind: str, dimension: int) -> None:
    low, high = np.full(dimension, 0.5), np.full(dimension, 10.5)
    filling = fill_lattice(low, high, 0.5, kind=kind)
    assert_between(filling, low, high)
    assert abs(smallest_gap(filling)) < 1e-12
    number = {("cubic", 2): 100, ("cubic", 3): 1000, ("hexagonal", 2): 105}.get((kind, dimension))
    assert number is None or len(filling.radii) == number
    neighbours = np.bincount(impinge.pairs(*filling, gap=1e-9).ravel())
    assert (
        neighbours.max()
        == {("cubic", 2): 4, ("cubic", 3): 6, ("hexagonal", 2): 6, ("hexagonal", 3): 12}[kind, dimension]
    )
    assert (np.diff(filling.centres[:, -1]) >= 0).all()


@given(st.integers(2, 3), st.booleans(), st.floats(1, 1.5), st.floats(0, 1), st.integers(1, 30), st.integers(0, 99))
def test_jitter_keeps_apart(dimension: int, cubic: bool, wide: float, jitter: float, count: int, seed: int) -> None:
    kind = "cubic" if cubic else "hexagonal"
    filling = fill_lattice(
        [-1] * dimension,
        [9] * dimension,
        ("uniform", 0.1, 0.5),
        kind=kind,
        spacing=wide,
        jitter=jitter,
        count=count,
        seed=seed,
    )
    assert len(filling.radii) == count
    assert smallest_gap(filling) > -1e-12
    assert_between(filling, -1 - 1e-12, 9 + 1e-12)
    still = fill_lattice([-1] * dimension, [9] * dimension, 0.5, kind=kind, spacing=wide, count=count)
    moved = np.linalg.norm(filling.centres - still.centres, axis=1)
    assert (moved <= jitter * (wide / 2 - filling.radii) + 1e-9).all()
    assert jitter < 0.01 or wide < 1.01 or moved.max() > 0


def test_given_radii_on_a_lattice() -> None:
    radii = np.linspace(0.1, 0.5, 17)
    filling = fill_lattice((0, 0, 0), (3, 3, 1e12), radii)
    assert np.array_equal(filling.radii, radii)
    assert len(fill_lattice((0, 0), (1, 1), 0.5, count=0).radii) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "diamond"}, "kind: found 'diamond'"),
        ({"spacing": 0.1}, "spacing: found 0.1, expected at least 0.2"),
        ({"jitter": 1.5}, "jitter: found 1.5"),
        ({"jitter": math.nan}, "jitter: found nan"),
        ({"count": 126}, "gives 125 places in the box, expected 126"),
        ({"spacing": 1.1}, "gives 0 places in the box"),
        ({"radii": 1e-6}, "places in the box, too many"),
        ({"radii": [0.1, 0.1], "count": 2}, "count: found 2 with 2 radii"),
    ],
)
def test_bad_lattices(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fill_lattice(**{"lower": (0, 0, 0), "upper": (1, 1, 1), "radii": 0.1, **arguments})


# Rain


def rain_down(rain: Rain, steps: range, dt: float, fall: float, there: Filling) -> Filling:
    """Insert what is due and let all fall, out of the way."""
    for step in steps:
        new = rain.due(step * dt, dt, *there)
        centres = np.concatenate([there.centres, new.centres])
        centres[:, -1] -= fall
        there = Filling(centres, np.concatenate([there.radii, new.radii]))
    return there


NOTHING = Filling(np.empty((0, 3)), np.empty(0))


def test_rate_is_kept() -> None:
    rain = Rain((0, 0, 0), (1, 1, 0.3), ("uniform", 0.02, 0.05), 70.0, seed=1)
    total = 0
    for step in range(1, 301):
        new = rain.due(step * 0.01, 0.01, [], [])
        assert_between(new, -1e-15, [1 + 1e-15, 1 + 1e-15, 0.3 + 1e-15])
        total += len(new.radii)
        assert total == rain.inserted == math.floor(step * 0.7 + 1e-6)
    assert rain.velocity.tolist() == [0, 0, 0]


def test_rain_resumes_bit_by_bit() -> None:
    def make() -> Rain:
        return Rain((0, 0, 0), (0.4, 0.4, 0.2), ("power", 0.02, 0.08, -2), 300.0, seed=2, velocity=(0, 0, -1))

    whole = rain_down(make(), range(1, 101), 0.01, 0.01, NOTHING)
    assert smallest_gap(whole) > -1e-12
    assert len(whole.radii) < 300  # some had to wait
    for stop in (1, 37, 80):
        first = make()
        there = rain_down(first, range(1, stop), 0.01, 0.01, NOTHING)
        second = Rain(**first.settings)
        second.restore(first.state())
        resumed = rain_down(second, range(stop, 101), 0.01, 0.01, there)
        assert np.array_equal(whole.centres, resumed.centres)
        assert np.array_equal(whole.radii, resumed.radii)
        assert second.inserted == len(whole.radii)


def test_rain_waits_and_catches_up() -> None:
    rain = Rain((0, 0), (1, 1), [0.2, 0.05, 0.1], 10.0)
    full = np.array([[0.5, 0.5]]), np.array([0.6])
    for step in range(1, 50):
        assert len(rain.due(0.01 * step, 0.01, *full).radii) == 0
    new = rain.due(0.5, 0.01, [], [])
    assert new.radii.tolist() == [0.2, 0.05, 0.1]
    assert smallest_gap(new) > 0
    assert rain.is_empty
    assert len(rain.due(99.0, 0.01, [], []).radii) == 0


def test_order_of_the_others_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    centres, radii = rng.random((60, 3)), rng.uniform(0, 0.15, 60)
    found = []
    for order in (np.arange(60), rng.permutation(60)):
        found.append(Rain((0, 0, 0), (1, 1, 1), 0.05, 1e3, seed=4).due(0.01, 0.01, centres[order], radii[order]))
        d = np.linalg.norm(found[-1].centres[:, None] - centres[None], axis=2)
        assert (d > 0.05 + radii).all()
    assert len(found[0].radii) > 3
    assert np.array_equal(found[0].centres, found[1].centres)


def test_count_ends_the_rain() -> None:
    rain = Rain((0, 0), (1, 1), ("choice", [0.01, 0.02], [1, 2]), 1e6, count=7)
    assert rain.smallest == 0.01
    assert len(rain.due(1.0, 1.0, [], []).radii) == 7
    assert rain.is_empty


def test_bad_rain() -> None:
    for arguments, message in (
        ({"rate": 0.0}, "rate: found 0.0"),
        ({"rate": math.nan}, "rate: found nan"),
        ({"radii": 0.6}, "radii: found up to 0.6, expected at most 0.5"),
        ({"velocity": (0, 0, 1)}, "velocity: found"),
        ({"count": -1}, "count: found -1"),
        ({"lower": [[0], [0, 1]]}, "lower: found something that is not an array"),
    ):
        with pytest.raises(InputError, match=message):
            Rain(**{"lower": (0, 0), "upper": (1, 1), "radii": 0.1, "rate": 1.0, **arguments})
    rain = Rain((0, 0), (1, 1), 0.1, 1.0)
    for time in (math.nan, math.inf):
        with pytest.raises(InputError, match="time: found"):
            rain.due(time, 0.1, [], [])
    with pytest.raises(InputError, match="centres_near: row 0 is not finite"):
        rain.due(1.0, 0.1, [[math.nan, 0]], [1.0])
    with pytest.raises(InputError, match="state: found no 'random'"):
        rain.restore({"inserted": 1, "waiting": 0.0})
    with pytest.raises(InputError, match="state: found float64"):
        rain.restore({**rain.state(), "random": np.zeros(4)})
