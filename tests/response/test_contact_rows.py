"""Contact rows: nearest points against exact ones, rows that are equal, and rows that prove that pairs stay apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from impinge import ccd
from impinge.ccd.candidates import candidates
from impinge.ccd.moving import edges_of
from impinge.response.contact_rows import Gaps, Pairs, distinct, find_ends, join, measure, pairs_of, spread
from impinge.shapes import icosphere

from ..exact.naive import dot, minus

Floats = NDArray[np.float64]
Vector = list[Fraction]
VERTEX_FACE, EDGE_EDGE = 0, 1
SIDES = (((0,), (1, 2, 3)), ((0, 1), (2, 3)))  # corners of the first and of the second, by kind
KINDS = pytest.mark.parametrize("kind", [VERTEX_FACE, EDGE_EDGE], ids=["vertex and face", "two edges"])


def pair(kind: int) -> Pairs:
    """The pair of corners 0 to 3."""
    return Pairs(np.array([kind], np.int8), np.zeros((1, 2), np.int32), np.arange(4, dtype=np.int32)[None])


def measured(kind: int, x: Any) -> Gaps:
    return measure(np.array(x, float), pair(kind))


# The nearest points, in rational numbers. They are inner points of a corner, side or face of the first and one of the
# second: all of these are tried; the nearest points of their lines or planes are wanted where they are inside.


def exact_distance_sq(kind: int, x: Floats) -> Fraction:
    points = [[Fraction(float(value)) for value in row] for row in x]
    first, second = SIDES[kind]
    found = []
    for one, other in itertools.product(subsets(first), subsets(second)):
        ways = [minus(points[i], points[one[0]]) for i in one[1:]]
        ways += [minus(points[other[0]], points[i]) for i in other[1:]]
        apart = minus(points[one[0]], points[other[0]])
        shares = shares_of_shortest(ways, apart)
        if shares is None or min(shares, default=Fraction(0)) < 0:
            continue
        if sum(shares[: len(one) - 1]) <= 1 and sum(shares[len(one) - 1 :]) <= 1:
            between = [a + sum(s * way[i] for s, way in zip(shares, ways, strict=True)) for i, a in enumerate(apart)]
            found.append(dot(between, between))
    return min(found)


def subsets(corners: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(corners, size) for size in range(1, len(corners) + 1))


def shares_of_shortest(ways: list[Vector], apart: Vector) -> list[Fraction] | None:
    """The s that make apart + Σ s way shortest; None if they are not unique."""
    right = [-dot(way, apart) for way in ways]
    if len(ways) == 0:
        return []
    if len(ways) == 1:
        length = dot(ways[0], ways[0])
        return [right[0] / length] if length else None
    (a, b), (_, d) = ([dot(way, other) for other in ways] for way in ways)
    across = a * d - b * b
    return [(d * right[0] - b * right[1]) / across, (a * right[1] - b * right[0]) / across] if across else None


def check_nearest(kind: int, x: Floats, tolerance: float = 1e-12) -> None:
    """Weights, normal and distance of a pair belong together, and no points are nearer."""
    found = measured(kind, x)
    weights, normal, gap = found.weights[0], found.normals[0], float(found.gaps[0])
    first, second = (weights[list(side)] for side in SIDES[kind])
    size = float(np.abs(x - x[0]).max())
    assert first.sum() == pytest.approx(1, abs=1e-15)
    assert second.sum() == pytest.approx(-1, abs=1e-15)
    assert (first >= -1e-15).all()
    assert (second <= 1e-15).all()
    np.testing.assert_allclose(normal * gap, weights @ (x - x[0]), atol=1e-14 * size)
    assert gap == 0 or np.linalg.norm(normal) == pytest.approx(1, abs=1e-12)
    assert float(found.at(x, pair(kind))[0]) == pytest.approx(gap, abs=1e-14 * size)
    assert gap == pytest.approx(float(exact_distance_sq(kind, x)) ** 0.5, abs=tolerance * size)


LATTICE = arrays(np.float64, (4, 3), elements=st.integers(-2, 2).map(float))
ANYWHERE = arrays(np.float64, (4, 3), elements=st.floats(-1, 1, width=32))


@KINDS
@given(LATTICE)
def test_nearest_points_on_a_lattice(kind: int, x: Floats) -> None:
    """Full of parallel edges, edges without length, faces without area, and corners above corners."""
    check_nearest(kind, x)


@KINDS
@given(ANYWHERE)
def test_nearest_points_anywhere(kind: int, x: Floats) -> None:
    check_nearest(kind, x, 1e-7)


@KINDS
@given(LATTICE, st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 1e-7, 1e-10, 1e-15]))
def test_nearest_points_of_what_is_almost_degenerate(kind: int, x: Floats, seed: int, noise: float) -> None:
    check_nearest(kind, x + noise * np.random.default_rng(seed).normal(size=(4, 3)), 1e-7)


@given(LATTICE, st.floats(0, 1), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-5, 1e-8, 1e-11, 1e-15]))
def test_nearest_points_of_slivers(x: Floats, share: float, seed: int, noise: float) -> None:
    """Which region of the plane a vertex is in is lost in rounding."""
    x[3] = x[1] + share * (x[2] - x[1])
    check_nearest(VERTEX_FACE, x + noise * np.random.default_rng(seed).normal(size=(4, 3)), 1e-7)


@KINDS
@given(LATTICE)
def test_nearest_points_far_from_the_origin(kind: int, x: Floats) -> None:
    check_nearest(kind, x + 2.0**20)


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        ([[1, 1, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, -0.5, -0.25, -0.25]),  # above the face
        ([[1, 0, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, -0.75, -0.25, 0]),  # above a side
        ([[1, -3, 0], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, -0.75, -0.25, 0]),  # beside it
        ([[0, 3, 1], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, -0.25, 0, -0.75]),
        ([[3, 3, 0], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, 0, -0.5, -0.5]),
        ([[0, 0, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, -1, 0, 0]),  # above a corner
        ([[9, -1, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, 0, -1, 0]),  # beyond one
        ([[-1, 9, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]], [1, 0, 0, -1]),
        ([[0, 1, 1], [1, 1, 1], [1, 1, 1], [-1, 1, 1]], [1, 0, -0.5, -0.5]),  # a face that is an edge
        ([[0, 1, 1], [2, 0, 0], [2, 0, 0], [2, 0, 0]], [1, -1, 0, 0]),  # or a point
    ],
)
def test_vertex_and_face(x: Any, weights: Any) -> None:
    np.testing.assert_array_equal(measured(VERTEX_FACE, x).weights[0], weights)


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        ([[0, 0, 0], [2, 0, 0], [1, -1, 3], [1, 3, 3]], [0.5, 0.5, -0.75, -0.25]),  # inner points
        ([[0, 0, 0], [2, 0, 0], [1, 1, 3], [1, 3, 3]], [0.5, 0.5, -1, 0]),  # an end and an inner point
        ([[0, 0, 0], [2, 0, 0], [3, 1, 3], [3, 3, 3]], [0, 1, -1, 0]),  # two ends
        ([[0, 0, 0], [2, 0, 0], [3, 1, 0], [5, 1, 0]], [0, 1, -1, 0]),  # parallel, one after the other
    ],
)
def test_two_edges(x: Any, weights: Any) -> None:
    np.testing.assert_array_equal(measured(EDGE_EDGE, x).weights[0], weights)


def test_normals_point_from_the_second_to_the_first() -> None:
    above = measured(VERTEX_FACE, [[1, 1, 5], [0, 0, 0], [4, 0, 0], [0, 4, 0]])
    below = measured(EDGE_EDGE, [[0, 0, -1], [2, 0, -1], [1, -1, 2], [1, 3, 2]])
    assert above.normals[0].tolist() == [0, 0, 1]
    assert above.gaps[0] == 5
    assert below.normals[0].tolist() == [0, 0, -1]
    assert below.gaps[0] == 3


def test_what_touches_has_no_normal() -> None:
    found = measured(EDGE_EDGE, [[0, 0, 0], [2, 0, 0], [1, -1, 0], [1, 1, 0]])
    assert found.gaps[0] == 0
    assert not found.normals.any()


# Rows


def two_balls(seed: int) -> tuple[Floats, Pairs]:
    """Two icosahedra, each turned at random, and all pairs between them."""
    ball, rng = icosphere(0), np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
    x = np.concatenate([ball.vertices @ turns[0].T, ball.vertices @ turns[1].T + [2.5, 0.1, 0.2]])
    faces = np.concatenate([ball.faces, ball.faces + len(ball.vertices)]).astype(np.int32)
    edges = edges_of(faces)
    bodies = np.repeat([1, 2], len(ball.vertices))
    return x, pairs_of(candidates(x, x, edges, faces, gap=9.0, bodies=bodies), edges, faces)


def dense_rows(x: Floats, pairs: Pairs, gaps: Gaps) -> Floats:
    """The rows n · Σ w x, over all coordinates."""
    rows = np.zeros((len(pairs.kinds), *x.shape))
    for row, corners, weights, normal in zip(rows, pairs.corners, gaps.weights, gaps.normals, strict=True):
        row[corners] = weights[:, None] * normal
    return rows.reshape(len(rows), -1)


@pytest.mark.parametrize("seed", range(4))
def test_distinct_keeps_one_of_rows_that_are_equal(seed: int) -> None:
    x, pairs = two_balls(seed)
    gaps = measure(x, pairs)
    rows, which = dense_rows(x, pairs, gaps), distinct(pairs, gaps)
    kept = rows[which]
    nearest = np.array([np.abs(kept - row).max(axis=1).min() for row in rows])
    assert nearest.max() < 1e-9  # none is lost
    apart = np.array([np.abs(np.delete(kept, k, axis=0) - row).max(axis=1).min() for k, row in enumerate(kept)])
    assert apart.min() > 1e-6  # none is there twice
    assert len(which) < 0.5 * len(rows)
    assert (np.diff(which) > 0).all()


def test_distinct_knows_a_pair_of_edges_by_either_order() -> None:
    x = np.array([[0, 0, 0], [2, 0, 0], [1, -1, 3], [1, 3, 3]], float)
    corners = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2]], np.int32)
    pairs = Pairs(np.ones(3, np.int8), np.array([[0, 1], [1, 0], [0, 1]], np.int32), corners)
    assert distinct(pairs, measure(x, pairs)).tolist() == [0]


def test_distinct_of_nothing() -> None:
    none = pair(EDGE_EDGE).take(np.empty(0, np.int64))
    assert len(distinct(none, measure(np.zeros((4, 3)), none))) == 0


@KINDS
@given(ANYWHERE)
def test_spread_rows_are_at_least_the_distance_at_the_start(kind: int, x: Floats) -> None:
    found = measured(kind, x)
    every, gaps = spread(pair(kind), found)
    assert len(every.kinds) == (3, 4)[kind]
    combinations = {(int(row.argmax()), int(row.argmin())) for row in gaps.weights}
    assert combinations == set(itertools.product(*SIDES[kind]))
    if found.gaps[0] > 1e-6:
        assert (gaps.at(x, every) >= found.gaps[0] - 1e-9).all()


@KINDS
def test_spread_rows_prove_that_a_pair_stays_apart(kind: int) -> None:
    """Ends at which all rows are positive, however far off: the motion is free, the judge says so exactly."""
    rng, edges, faces = np.random.default_rng(kind), [[0, 1], [2, 3]], [[1, 2, 3]]
    shape: Any = {"edges": edges} if kind == EDGE_EDGE else {"faces": faces}
    proven = free = 0
    for _ in range(400):
        x0, x1 = rng.normal(size=(2, 4, 3))
        every, gaps = spread(pair(kind), measured(kind, x0))
        if (gaps.at(x1, every) > 0).all():
            proven += 1
            free += ccd.exact_is_free(x0, x1, **shape)
    assert proven > 20
    assert free == proven


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("speed", [0.0, 1e-3, 0.1, 3.0])
def test_ends_of_pairs(seed: int, speed: float) -> None:
    """Those that may come down to their limits as they are measured; the others are farther away."""
    rng, count = np.random.default_rng(seed), 3000
    x0 = rng.random((200, 3))
    x1 = x0 + 0.3 * rng.normal(size=3) + speed * rng.normal(size=x0.shape)  # most of it moves all alike
    corners = np.array([rng.choice(200, 4, replace=False) for _ in range(count)], np.int32)
    pairs = Pairs(rng.integers(0, 2, count).astype(np.int8), np.zeros((count, 2), np.int32), corners)
    gaps, limits = measure(x0, pairs), rng.choice([0.0, 0.05, 0.2], count)
    ends, real = find_ends(x0, x1, pairs, gaps, limits)
    known = np.isfinite(ends)
    assert (np.isfinite(real) == known).all()
    np.testing.assert_array_equal(ends[known], gaps.at(x1, pairs)[known])
    np.testing.assert_allclose(real[known], measure(x1, pairs).gaps[known], rtol=1e-12, atol=1e-15)
    assert (np.minimum(gaps.at(x1, pairs), measure(x1, pairs).gaps) >= limits - 1e-12)[~known].all()
    assert known[gaps.gaps <= limits].all()
    if speed <= 1e-3:
        assert known.mean() < 0.5


def test_pairs_have_keys_of_their_own_and_join() -> None:
    x, pairs = two_balls(0)
    assert len(np.unique(pairs.keys)) == len(pairs.kinds)
    gaps, half = measure(x, pairs), len(pairs.kinds) // 2
    halves = [np.arange(half), np.arange(half, len(pairs.kinds))]
    together, of = join([pairs.take(which) for which in halves], [gaps.take(which) for which in halves])
    for one, other in zip((*together, *of), (*pairs, *gaps), strict=True):
        np.testing.assert_array_equal(one, other)
