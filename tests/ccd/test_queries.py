"""Single queries against the exact judge, known times, and themselves in other poses, batches and sizes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import ccd
from impinge.ccd.judge import first_time
from impinge.errors import InputError

from . import families
from .known import KNOWN, WITH_GAP, vertex
from .naive import SPLIT, orders
from .truth import KINDS, NEAR, excess, judge, judge_distances

ON_GRID = ("lattice", "small lattice", "coplanar", "parallel", "collinear", "without area", "points only", "at rest")
EARLY = 1e-6  # of the step


def check_family(name, kind, count, gap, *, seed=0, far=0.0):
    x0, x1 = families.make(name, kind, count, seed)
    found = KINDS[kind](x0, x1, gap=gap)
    hits, alarms, early = judge(kind, x0, x1, gap, found)
    judge_distances(kind, x0, x1, gap, found, unusual=1.0 if name == "coplanar" else 0.2, far=far)
    if name in families.WELL_CONDITIONED:
        assert alarms == 0
        for k in np.flatnonzero(early > EARLY):
            size = max(np.ptp(x[k], axis=0).max() for x in (x0, x1))
            assert excess(kind, x0[k], x1[k], gap, found[k]) * size <= 1e-3 * gap
    return hits


# Against the judge


@pytest.mark.parametrize("gap", [0.0, 0.125, pytest.param(1.0, marks=pytest.mark.verify)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", families.FAMILIES)
def test_families(name, kind, gap):
    hits = check_family(name, kind, 40, gap)
    assert hits > 0 or name in ("random", "turning")


@pytest.mark.verify
@pytest.mark.parametrize("gap", [0.0, 2.0**-20, 0.125, 1.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", families.FAMILIES)
def test_many_of_all_families(name, kind, gap):
    check_family(name, kind, 300, gap, seed=1, far=0.05)


@pytest.mark.parametrize("name", KNOWN)
def test_known_times(name):
    (kind, x0, x1), wanted = KNOWN[name]
    x0, x1 = np.array(x0, float), np.array(x1, float)
    size = float(max(np.ptp(x, axis=0).max() for x in (x0, x1)))
    for order in orders(kind):
        (found,) = KINDS[kind](x0[None, order], x1[None, order])
        if wanted is not None:
            assert wanted - Fraction(EARLY) <= found <= wanted
        elif first_time(kind, x0, x1, NEAR * size) is None:
            assert found == np.inf
        else:
            judge_distances(kind, x0[None, order], x1[None, order], 0.0, np.array([found]))


def test_known_misses_are_found_to_be_free():
    """Nearly all of them pass at a distance that doubles can tell."""
    missed = [query for query, wanted in KNOWN.values() if wanted is None]
    found = [KINDS[kind](np.array([x0], float), np.array([x1], float))[0] for kind, x0, x1 in missed]
    assert found.count(np.inf) >= len(missed) - 6


@pytest.mark.parametrize("name", WITH_GAP)
def test_known_times_with_gap(name):
    (kind, x0, x1), gap, falling, wanted = WITH_GAP[name]
    x0, x1 = np.array(x0, float), np.array(x1, float)
    for order in orders(kind):
        (found,) = KINDS[kind](x0[None, order], x1[None, order], gap=gap)
        if falling is None:
            assert wanted - Fraction(EARLY) <= found <= wanted
        else:
            assert falling(Fraction(found)) >= 0 >= falling(Fraction(found + EARLY))


# Poses


WHOLE = st.integers(-(2**20), 2**20)


@st.composite
def hits(draw, kind):
    """Integers; points of the two bodies meet at t = 1/2."""
    points, axes, split = families.POINTS[kind], families.AXES[kind], SPLIT[kind]
    numbers = draw(st.lists(WHOLE, min_size=2 * points * axes, max_size=2 * points * axes))
    middle, velocity = np.array(numbers).reshape(2, points, axes)
    middle *= 4
    fourths = {1: [[4]], 2: [[1, 3], [4, 0], [2, 2]], 3: [[1, 1, 2], [4, 0, 0], [0, 1, 3], [2, 2, 0]]}
    first, second = (np.array(draw(st.sampled_from(fourths[n]))) for n in (split, points - split))
    middle[:split] += second @ middle[split:] // 4 - first @ middle[:split] // 4
    return (middle - velocity).astype(float), (middle + velocity).astype(float)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_hits_in_all_poses(kind, data):
    x0, x1 = data.draw(hits(kind))
    poses = [(x0[order], x1[order]) for order in orders(kind)]
    poses += [(end, start) for start, end in poses]
    start, end = (np.array(x) for x in zip(*poses, strict=True))
    found = KINDS[kind](start, end)
    assert (found <= 0.5).all()
    axes = families.AXES[kind]
    away, way = np.array(data.draw(st.lists(WHOLE, min_size=2 * axes, max_size=2 * axes))).reshape(2, axes)
    scale = 2.0 ** data.draw(st.integers(-60, 60))
    moved = KINDS[kind](scale * (start + 2**20 * away), scale * (end + 2**20 * away + way))
    np.testing.assert_array_equal(moved, found)
    mirrored = np.roll(start, 1, axis=2) * [-1, *[1] * (axes - 1)], np.roll(end, 1, axis=2) * [-1, *[1] * (axes - 1)]
    assert (KINDS[kind](*mirrored) <= 0.5).all()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_larger_gaps_are_reached_earlier(kind, data):
    name = data.draw(st.sampled_from(sorted(families.FAMILIES)))
    x0, x1 = families.make(name, kind, 30, data.draw(st.integers(0, 10**6)))
    size = float(np.median(np.ptp(x0, axis=1)))
    gaps = sorted(data.draw(st.lists(st.floats(0, 2), min_size=2, max_size=5)))
    times = np.array([KINDS[kind](x0, x1, gap=gap * size) for gap in gaps])
    tolerance = 1e-12 if name in families.WELL_CONDITIONED else EARLY
    assert (times[1:] <= times[:-1] + tolerance).all()


# Batches


@pytest.mark.parametrize("gap", [0.0, 0.25])
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_do_not_matter(kind, gap):
    made = [families.make(name, kind, 60) for name in families.FAMILIES]
    x0, x1 = (np.concatenate(x) for x in zip(*made, strict=True))
    together = KINDS[kind](x0, x1, gap=gap, threads=1)
    assert 0 < np.count_nonzero(together < np.inf) < len(x0)
    np.testing.assert_array_equal(KINDS[kind](x0, x1, gap=gap, threads=2), together)
    for size in (1, 15, 16, 17, 600):
        apart = [KINDS[kind](x0[k : k + size], x1[k : k + size], gap=gap) for k in range(0, len(x0), size)]
        np.testing.assert_array_equal(np.concatenate(apart), together)
    shuffled = np.random.default_rng(1).permutation(len(x0))
    np.testing.assert_array_equal(KINDS[kind](x0[shuffled], x1[shuffled], gap=gap), together[shuffled])


@pytest.mark.parametrize("kind", KINDS)
def test_no_queries(kind):
    for nothing in (np.empty((0, families.POINTS[kind], families.AXES[kind])), []):
        found = KINDS[kind](nothing, nothing, gap=1.0)
        assert found.shape == (0,)
        assert found.dtype == np.float64


def test_input_is_not_changed():
    x0, x1 = families.make("scaled", "edge_edge", 20)
    before = x0.copy(), x1.copy()
    ccd.edge_edge(x0, x1)
    np.testing.assert_array_equal([x0, x1], before)
    np.testing.assert_array_equal(ccd.edge_edge(x0.tolist(), np.asfortranarray(x1)), ccd.edge_edge(x0, x1))


# Extremes


@pytest.mark.parametrize("gap", [0.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_powers_of_two_do_not_matter(kind, gap):
    for name in ON_GRID:
        x0, x1 = families.make(name, kind, 40)
        wanted = KINDS[kind](x0, x1, gap=gap)
        for power in (-1074, -1060, -1020, -700, -301, -300, -1, 1, 299, 300, 700, 1000, 1020):
            scale = 2.0**power
            found = KINDS[kind](x0 * scale, x1 * scale, gap=gap * scale)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{name} 2^{power}")


@pytest.mark.parametrize("kind", KINDS)
def test_all_sizes_in_one_batch(kind):
    """From 1e-300 to 1e300: small ones may be said to touch, no contact is missed."""
    for name in ("meeting", "lattice", "crossing"):
        x0, x1 = families.make(name, kind, 120)
        power = np.random.default_rng(3).integers(-1000, 1000, (120, 1, 1))
        power[-2:] = [[[1000]], [[-1000]]]
        x0, x1 = np.ldexp(x0, power), np.ldexp(x1, power)
        for limit in (1000, 600, 250):
            few = np.flatnonzero(power.ravel() <= limit)
            judge(kind, x0[few], x1[few], 0.0, KINDS[kind](x0[few], x1[few]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-30, -27, -24, -20, 0])
def test_small_queries_beside_a_huge_one(kind, power):
    """The huge one moves their last digits out of the range of doubles."""
    x0, x1 = families.make("meeting", kind, 60)
    x0, x1 = np.ldexp(x0, power), np.ldexp(x1, power)
    x0[-1], x1[-1] = x0[-1] * 2.0**1000, x1[-1] * 2.0**1000
    hits, _, _ = judge(kind, x0, x1, 0.0, KINDS[kind](x0, x1))
    assert hits > 30


@pytest.mark.parametrize("kind", KINDS)
def test_as_large_as_doubles_are(kind):
    """Differences of coordinates leave the range of doubles."""
    largest = np.finfo(float).max
    x0, x1 = (np.clip(x, -1, 1) * largest for x in families.make("lattice", kind, 60))
    hits, _, _ = judge(kind, x0, x1, 0.0, KINDS[kind](x0, x1))
    assert hits > 5
    judge(kind, x0, x1, largest, KINDS[kind](x0, x1, gap=largest))


@pytest.mark.parametrize("kind", KINDS)
def test_subnormal_numbers(kind):
    rng = np.random.default_rng(5)
    shape = (80, families.POINTS[kind], families.AXES[kind])
    for steps in (2, 10, 1000, 2**40):
        x0, x1 = (np.ldexp(rng.integers(-steps, steps + 1, shape).astype(float), -1074) for _ in range(2))
        for gap in (0.0, 5e-324):
            judge(kind, x0, x1, gap, KINDS[kind](x0, x1, gap=gap))


@pytest.mark.parametrize("kind", KINDS)
def test_all_points_at_one_place(kind):
    shape = (1, families.POINTS[kind], families.AXES[kind])
    for place in (0.0, 1.0, 0.1, 1e300, 5e-324):
        x = np.full(shape, place)
        assert KINDS[kind](x, x) == [0.0]
        assert KINDS[kind](x, x, gap=1e-300) == [0.0]
        assert KINDS[kind](x, -x, gap=1e300) == [0.0]


def test_large_and_small_gaps():
    kind, x0, x1 = vertex([0.25, 0.25, 1], [0.25, 0.25, 2])
    assert KINDS[kind]([x0], [x1], gap=1e308) == [0.0]
    assert KINDS[kind]([x0], [x1], gap=5e-324) == [np.inf]
    assert KINDS[kind]([x0], [x1], gap=1.0) == [0.0]
    assert KINDS[kind]([x0], [x1], gap=0.999) == [np.inf]


# Bad input


GOOD, FLAT = np.zeros((5, 4, 3)), np.zeros((5, 3, 2))


def with_number(number):
    x = GOOD.copy()
    x[3, 1, 2] = number
    return x


@pytest.mark.parametrize("query", [ccd.vertex_triangle, ccd.edge_edge])
@pytest.mark.parametrize(
    ("x0", "x1", "options", "message"),
    [
        (GOOD[0], GOOD[0], {}, r"x0: found shape \(4, 3\).*x0\[None\]"),
        (GOOD, GOOD[0], {}, r"x1: .*x1\[None\]"),
        (GOOD[:, :3], GOOD, {}, r"x0: found shape \(5, 3, 3\)"),
        (GOOD, GOOD[..., :2], {}, r"x1: found shape \(5, 4, 2\)"),
        (FLAT, FLAT, {}, "x0: found shape"),
        (GOOD[None], GOOD[None], {}, "x0: found shape"),
        (GOOD, GOOD[:4], {}, "x1: found 4 queries, expected 5"),
        (GOOD, [], {}, "x1: found 0 queries, expected 5"),
        (with_number(np.nan), GOOD, {}, "x0: row 3 is not finite"),
        (GOOD, with_number(np.inf), {}, "x1: row 3 is not finite"),
        (GOOD.astype(str), GOOD, {}, "x0: found text"),
        (GOOD, GOOD.astype(complex), {}, "x1: found complex"),
        (None, GOOD, {}, "x0"),
        (GOOD, "text", {}, "x1"),
        ([[[0, 0, 0], [1, 0]]], GOOD, {}, "x0"),
        (GOOD, GOOD, {"gap": -1e-300}, "gap"),
        (GOOD, GOOD, {"gap": np.nan}, "gap"),
        (GOOD, GOOD, {"gap": np.inf}, "gap"),
        (GOOD, GOOD, {"gap": "wide"}, "gap"),
        (GOOD, GOOD, {"gap": None}, "gap"),
        (GOOD, GOOD, {"threads": 0}, "threads"),
        (GOOD, GOOD, {"threads": 1.5}, "threads"),
    ],
)
def test_bad_input(query, x0, x1, options, message):
    with pytest.raises(InputError, match=message):
        query(x0, x1, **options)


@pytest.mark.parametrize(
    ("x0", "x1", "options", "message"),
    [
        (FLAT[0], FLAT[0], {}, r"x0: found shape \(3, 2\).*x0\[None\]"),
        (GOOD, GOOD, {}, r"expected numbers of shape \(n, 3, 2\)"),
        (FLAT, FLAT[:2], {}, "x1: found 2 queries, expected 5"),
        (FLAT * np.nan, FLAT, {}, "x0: row 0 is not finite"),
        (FLAT, FLAT, {"gap": -1.0}, "gap"),
        (FLAT, FLAT, {"threads": 0}, "threads"),
    ],
)
def test_bad_input_in_the_plane(x0, x1, options, message):
    with pytest.raises(InputError, match=message):
        ccd.point_segment(x0, x1, **options)


def test_lengths_far_apart():
    """Squares of the short ones vanish; what is made of them must not be trusted."""
    for size in (1e-60, 1e-81, 1e-110, 1e-162, 5e-324):
        triangle = [[0, 0, 0], [size, 0, 0], [0, size, 0]]
        assert ccd.vertex_triangle([[[0, 0, 1], *triangle]], [[[0, 0, 0.5], *triangle]], gap=3) == 0
        edge = [[0, 0, 0], [0, 1, 0]]
        start, end = [[0, 0, 1], [size, 0, 1]], [[0, 0, 0.5], [size, 0, 0.5]]
        assert ccd.edge_edge([[*start, *edge]], [[*end, *edge]], gap=3) == 0
        assert ccd.vertex_triangle([[[0, 0, 1], *triangle]], [[[0, 0, -1], *triangle]]) <= 0.5
    x0 = [[0, -2.4389708994254922e41, 1], [1e-44, 0, 1e-25], [0, 0, 0], [0, 1, 0]]
    x1 = [[0, 0, 0], [0, 0, 0], [0, 0, 1e72], [0, 0, 0]]
    assert ccd.vertex_triangle([x0], [x1]) <= 1


def test_small_and_huge_queries_side_by_side():
    x0 = np.array([[0.2, 0.2, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    x1 = x0 * [1, 1, -1]
    scales = np.array([1e-270, 1e-8, 1.0, 1e100, 1e307])[:, None, None]
    np.testing.assert_allclose(ccd.vertex_triangle(x0 * scales, x1 * scales), 0.5, atol=1e-12)


def test_slender_bodies_that_turn_past_each_other():
    """Never nearer than 4 mm; the direction that separates them turns with the long side of the triangle."""
    x0 = [
        [0.07422129676928378, 0.013152436274671003, 2.273999699730827e-10],
        [1.7430884673785887, 0.019164707003251426, -3.7416453959508355e-10],
        [0.3119587927878997, -0.015026062312932303, -1.423103941719727e-10],
        [-1.2392731297039397, -0.004175626871642758, 5.767258745013525e-10],
    ]
    x1 = [
        [-0.0016237616117440107, -0.07341955571332857, 0.016991754210764962],
        [-0.31372491156436005, -1.684825592212962, 0.3188480747800363],
        [-0.07370288761325387, -0.2990194976075622, 0.05195474332825715],
        [0.23203603851789578, 1.1965641089407286, -0.22407350555068134],
    ]
    assert ccd.vertex_triangle([x0], [x1]) == np.inf
