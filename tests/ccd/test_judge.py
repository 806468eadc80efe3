"""The exact judge against known times, its own symmetries, sampled distances and the public ground truth."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.ccd.judge import first_time
from impinge.errors import InputError

from .known import KNOWN, WITH_GAP, point, vertex
from .naive import DATA, SPLIT, distance_sq_at, ground_truth, orders

NARROW = Fraction(1, 2**60)


def check(kind, x0, x1, gap, samples=16):
    """The answer agrees with distances at sampled times, and with those at the ends of its interval."""
    x0, x1 = np.asarray(x0).tolist(), np.asarray(x1).tolist()
    found = first_time(kind, x0, x1, gap)
    gap = Fraction(gap)
    for k in range(samples + 1):
        t = Fraction(k, samples)
        if found is None or t <= found[0]:
            touches = distance_sq_at(kind, x0, x1, t) <= gap**2
            assert touches == (found == (t, t))
    if found is None:
        return
    lo, hi = found
    assert 0 <= lo <= hi <= 1
    assert hi - lo < NARROW
    at_lo = distance_sq_at(kind, x0, x1, lo)
    if lo == hi:
        assert at_lo <= gap**2
        assert at_lo == gap**2 or lo == 0
    else:
        # No point moves farther than `speed`: at lo the distance is larger than the gap, but by next to nothing.
        speed = 2 * sum(
            abs(Fraction(b) - Fraction(a)) for p, q in zip(x0, x1, strict=True) for a, b in zip(p, q, strict=True)
        )
        assert gap**2 < at_lo <= (gap + speed * NARROW) ** 2


# Known times


@pytest.mark.parametrize("name", KNOWN)
def test_known_times(name):
    (kind, x0, x1), wanted = KNOWN[name]
    x0, x1 = np.array(x0, float), np.array(x1, float)
    for order in orders(kind):
        assert first_time(kind, x0[order], x1[order]) == (None if wanted is None else (wanted, wanted))
    check(kind, x0, x1, 0.0)


@pytest.mark.parametrize("power", [-1000, -27, 27, 1000])
@pytest.mark.parametrize("name", KNOWN)
def test_known_times_at_every_scale(name, power):
    """Coordinates from 1e-300 to 1e300; powers of two keep their ratios."""
    (kind, x0, x1), wanted = KNOWN[name]
    x0, x1 = ([[Fraction(a) * Fraction(2) ** power for a in row] for row in x] for x in (x0, x1))
    assert first_time(kind, x0, x1) == (None if wanted is None else (wanted, wanted))
    if all(Fraction(float(a)) == a for row in [*x0, *x1] for a in row):
        x0, x1 = np.array(x0, float), np.array(x1, float)
        assert first_time(kind, x0, x1) == (None if wanted is None else (wanted, wanted))


def test_very_early_and_very_late():
    kind, x0, x1 = vertex([0.25, 0.25, 1e-300], [0.25, 0.25, -1])
    lo, hi = first_time(kind, x0, x1)
    assert lo == 0 < hi < NARROW
    lo, hi = first_time(kind, x1, x0)
    assert 1 - NARROW < lo < hi == 1


@pytest.mark.parametrize("name", WITH_GAP)
def test_known_times_with_gap(name):
    (kind, x0, x1), gap, falling, wanted = WITH_GAP[name]
    x0, x1 = np.array(x0, float), np.array(x1, float)
    for order in orders(kind):
        lo, hi = first_time(kind, x0[order], x1[order], gap)
        if falling is None:
            assert lo == hi == wanted
        else:
            assert falling(lo) > 0 > falling(hi)
    check(kind, x0, x1, gap)


@pytest.mark.parametrize("name", ["slides in at the gap", "grazes", "grazes along an edge", "no motion, at the gap"])
def test_just_below_the_gap_there_is_no_contact(name):
    (kind, x0, x1), gap, _, _ = WITH_GAP[name]
    assert first_time(kind, x0, x1, np.nextafter(gap, 0)) is None
    check(kind, x0, x1, float(np.nextafter(gap, 2)))


def test_rational_input_is_not_rounded():
    third = Fraction(1, 3)
    kind, x0, x1 = vertex([third, third, 1], [third, third, 0], [[third, third, 0], [1, 0, 0], [0, -1, 0]])
    assert first_time(kind, x0, x1) == (1, 1)
    x0[0][0] = x1[0][0] = third - Fraction(1, 10**40)
    assert first_time(kind, x0, x1) is None
    big = 2**70 + 1  # not a double, nor is its neighbour
    kind, x0, x1 = point([0, 1.5], [0, 0], [[big, 0], [-1, 0]])
    assert first_time(kind, x0, x1) == (1, 1)


# Symmetries


@st.composite
def queries(draw, size=2):
    """Few different coordinates, so that degenerate and touching things are frequent."""
    kind = draw(st.sampled_from(sorted(SPLIT)))
    shape = (3, 2) if kind == "point_segment" else (4, 3)
    numbers = st.lists(st.integers(-size, size), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    x0, x1 = (np.array(draw(numbers)).reshape(shape) for _ in range(2))
    if draw(st.booleans()):  # all in one plane
        x0[:, -1] = x1[:, -1] = 0
    return kind, x0, x1, draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.5]))


def same(a, b):
    if a is None or b is None:
        return a is b
    return a[0] <= b[1] and b[0] <= a[1]


@given(queries())
def test_order_of_points_does_not_matter(query):
    kind, x0, x1, gap = query
    found = first_time(kind, x0, x1, gap)
    for order in orders(kind):
        assert same(first_time(kind, x0[order], x1[order], gap), found)


@given(queries(), st.lists(st.integers(-(10**9), 10**9), min_size=6, max_size=6), st.permutations([0, 1, 2]))
def test_frame_does_not_matter(query, shifts, axes):
    """A frame that moves, mirrored axes in another order, another unit."""
    kind, x0, x1, gap = query
    found = first_time(kind, x0, x1, gap)
    columns = x0.shape[1]
    axes = [axis for axis in axes if axis < columns]
    moved = x0 + shifts[:columns], x1 + shifts[3 : 3 + columns]
    assert same(first_time(kind, *moved, gap), found)
    assert same(first_time(kind, -x0[:, axes], -x1[:, axes], gap), found)
    assert same(first_time(kind, x0 * 1024.0, x1 * 1024.0, gap * 1024), found)


@given(queries())
def test_time_reversed_a_hit_stays_a_hit(query):
    kind, x0, x1, gap = query
    found, reverse = first_time(kind, x0, x1, gap), first_time(kind, x1, x0, gap)
    assert (found is None) == (reverse is None)
    if found and reverse:
        assert found[0] <= 1 - reverse[0]


@given(queries())
def test_larger_gaps_are_reached_earlier(query):
    kind, x0, x1, _ = query
    earlier = None
    for gap in (0.0, 1e-300, 0.5, 1.0, 2.0, 10.0):
        found = first_time(kind, x0, x1, gap)
        assert earlier is None or (found is not None and found[0] <= earlier[1])
        earlier = found
    assert earlier == (0, 0)


@given(queries(), st.integers(1, 15))
def test_a_longer_step_finds_the_same_contact(query, part):
    """The first part of the motion, taken as a whole step, has the same contact if it reaches it."""
    kind, x0, x1, gap = query
    found = first_time(kind, x0 * 16, x1 * 16, gap * 16)
    begun = first_time(kind, x0 * 16, x0 * (16 - part) + x1 * part, gap * 16)
    share = Fraction(part, 16)
    if begun is None:
        assert found is None or found[1] > share
    else:
        assert same((begun[0] * share, begun[1] * share), found)


# Sampled distances


@given(queries())
def test_sampled_distances(query):
    check(*query)


@given(queries(size=1))
def test_sampled_distances_of_the_most_degenerate(query):
    check(*query)


@pytest.mark.parametrize("kind", sorted(SPLIT))
@pytest.mark.parametrize("gap", [0.0, 0.03])
def test_sampled_distances_of_random_doubles(kind, gap):
    rng = np.random.default_rng(7)
    shape = (3, 2) if kind == "point_segment" else (4, 3)
    hits = 0
    for _ in range(40):
        x0, x1 = rng.random(shape), rng.random(shape)
        hits += first_time(kind, x0, x1, gap) is not None
        check(kind, x0, x1, gap, samples=8)
    assert 0 < hits < 40


@pytest.mark.parametrize("kind", sorted(SPLIT))
def test_sampled_distances_of_uneven_doubles(kind):
    """Coordinates from 1e-8 to 1e8 in one query."""
    rng = np.random.default_rng(9)
    shape = (3, 2) if kind == "point_segment" else (4, 3)
    for _ in range(20):
        x0, x1 = (rng.uniform(-1, 1, shape) * 10.0 ** rng.integers(-8, 9, shape) for _ in range(2))
        check(kind, x0, x1, float(10.0 ** rng.integers(-8, 9)), samples=4)
        check(kind, x0, x1, 0.0, samples=4)


@pytest.mark.parametrize("kind", sorted(SPLIT))
def test_constructed_hits_are_found(kind):
    """Points of the two sets meet at t = 1/2; the coordinates are doubles on a grid, so exactly."""
    rng = np.random.default_rng(8)
    points, columns = (3, 2) if kind == "point_segment" else (4, 3)
    split = SPLIT[kind]
    for _ in range(30):
        middle = rng.integers(-(2**20), 2**20, (points, columns)) * 4
        second = middle[split:]
        weights = np.array([1, 1, 2])[: len(second)] if kind == "vertex_triangle" else np.array([1, 3])
        target = (weights @ second) // weights.sum()  # all are multiples of 4
        middle[:split] += target - (middle[0] if split == 1 else (3 * middle[0] + middle[1]) // 4)
        velocity = rng.integers(-(2**20), 2**20, (points, columns))
        lo, _ = first_time(kind, middle - velocity, middle + velocity)
        assert lo <= Fraction(1, 2)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("face_face", np.zeros((4, 3)), np.zeros((4, 3))), "kind"),
        (("edge_edge", np.zeros((3, 3)), np.zeros((4, 3))), "x0"),
        (("point_segment", np.zeros((3, 2)), np.zeros((3, 3))), "x1"),
        (("edge_edge", np.full((4, 3), np.nan), np.zeros((4, 3))), "x0"),
        (("edge_edge", np.zeros((4, 3)), np.full((4, 3), np.inf)), "x1"),
        (("edge_edge", np.zeros((4, 3)), [["a", 0, 0]] * 4), "x1"),
        (("edge_edge", np.zeros((4, 3)), np.zeros((4, 3)), -1.0), "gap"),
        (("edge_edge", np.zeros((4, 3)), np.zeros((4, 3)), np.nan), "gap"),
    ],
)
def test_bad_queries(arguments, message):
    with pytest.raises(InputError, match=message):
        first_time(*arguments)


# Public ground truth


def judge_ground_truth(stride):
    if not DATA.is_dir():
        pytest.skip("the public ground truth is not here")
    count = hits = 0
    for kind, x0, x1, collides in list(ground_truth())[::stride]:
        assert (first_time(kind, x0, x1) is not None) == collides
        count, hits = count + 1, hits + collides
    assert 0 < hits < count


def test_public_ground_truth():
    judge_ground_truth(stride=39)


@pytest.mark.verify
def test_all_public_ground_truth():
    judge_ground_truth(stride=1)
