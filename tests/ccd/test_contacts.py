"""Contacts of whole meshes against the exact judge, exact distances, and each other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import ccd
from impinge.ccd._times import VERTEX_TRIANGLE
from impinge.ccd.judge import first_time
from impinge.ccd.queries import earliest
from impinge.errors import InputError

from .naive import distance_sq
from .truth import excess

KINDS = ("vertex_triangle", "edge_edge", "point_segment")  # of the three parts of candidates
NAMES = ("vertex-face", "edge-edge", "vertex-edge")
TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def corners_of(part, pair, edges, faces):
    """The vertices of a pair of candidates."""
    i, j = pair
    return {0: lambda: [i, *faces[j]], 1: lambda: [*edges[i], *edges[j]], 2: lambda: [i, *edges[j]]}[part]()


def all_pairs(x0, edges, faces):
    """Every pair without a common vertex, part by part."""
    points, is_flat = range(len(x0)), x0.shape[1] == 2
    parts = [
        [] if is_flat else [(i, j) for i in points for j in range(len(faces))],
        [] if is_flat else [(i, j) for j in range(len(edges)) for i in range(j)],
        [(i, j) for i in points for j in range(len(edges))] if is_flat else [],
    ]
    split = (1, 2, 1)
    for part, pairs in enumerate(parts):
        for pair in pairs:
            corners = [int(k) for k in corners_of(part, pair, edges, faces)]
            if not {*corners[: split[part]]} & {*corners[split[part] :]}:
                yield part, pair, corners


def mesh(rng, grid):
    """Positions, some steps of a grid or free, edges and faces of a few triangles, some connected."""
    x0 = rng.integers(-2 * grid, 2 * grid + 1, (9, 3)) / grid if grid else rng.normal(size=(9, 3))
    way = rng.integers(-grid, grid + 1, (9, 3)) / grid if grid else rng.normal(size=(9, 3))
    faces = np.array([[0, 1, 2], [2, 1, 3], [4, 5, 6]])
    return x0, x0 + way * rng.choice([0.0, 0.25, 1.0]), np.concatenate([ccd.edges_of(faces), [[7, 8]]]), faces


def check(x0, x1, edges, faces, gap):
    """All functions of contacts against the judge of every pair. Whether there is a contact."""
    found = ccd.contacts(x0, x1, edges, faces if x0.shape[1] == 3 else None, gap=gap)
    reported = {
        (part, int(i), int(j)): time
        for part in range(3)
        for (i, j), time in zip(found.pairs[part], found.times[part].tolist(), strict=True)
    }
    assert found.total == len(reported)
    truth = {}
    for part, pair, corners in all_pairs(x0, edges, faces):
        exact = first_time(KINDS[part], x0[corners], x1[corners], gap)
        if exact:
            truth[(part, *pair)] = exact
            assert reported[(part, *pair)] <= exact[1]
        elif (part, *pair) in reported:
            time = reported[(part, *pair)]
            assert excess(KINDS[part], x0[corners], x1[corners], gap, time) <= 1e-5
    options = {"edges": edges, "faces": faces if x0.shape[1] == 3 else None, "gap": gap}
    assert ccd.exact_is_free(x0, x1, **options) == (not truth)
    assert ccd.is_free(x0, x1, **options) == (not reported)
    first = ccd.first_contact(x0, x1, **options)
    assert (first is None) == (not reported)
    if first is not None:
        assert first.time == min(reported.values())
        assert reported[(NAMES.index(first.kind), *first.pair)] == first.time
        assert first.normal.shape == (x0.shape[1],)
        length = np.linalg.norm(first.normal)
        assert length == pytest.approx(1, abs=1e-12) or length == 0
    return bool(truth)


# Against the judge


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 8]), st.sampled_from([0.0, 0.25]), st.booleans())
def test_small_meshes(seed, grid, gap, is_flat):
    x0, x1, edges, faces = mesh(np.random.default_rng(seed), grid)
    if is_flat:
        x0, x1 = x0[:, :2], x1[:, :2]
    check(x0, x1, edges, faces, gap)


def test_small_meshes_touch_and_do_not():
    rng = np.random.default_rng(1)
    touch = [check(*mesh(rng, grid), gap) for grid in (0, 2) for gap in (0.0, 0.25) for _ in range(8)]
    assert 4 < sum(touch) < len(touch) - 4


def cloth(side, height=0.0, seed=0):
    u, v = np.divmod(np.arange(side * side), side)
    wave = np.random.default_rng(seed).uniform(-0.2, 0.2, side * side)
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.concatenate([np.c_[a, a + 1, a + side], np.c_[a + side + 1, a + side, a + 1]])
    return np.column_stack([u, v, height + wave]).astype(float), faces


def test_cloth_falls_on_cloth():
    x0, faces = cloth(6)
    above, _ = cloth(6, 2.0, seed=1)
    both = np.concatenate([x0, above + [0.3, 0.4, 0]])
    both_faces = np.concatenate([faces, faces + len(x0)])
    edges, fall = ccd.edges_of(both_faces), np.repeat([[0.0, 0, 0], [0, 0, -1]], 36, axis=0)
    for way in (1.0, 2.5, 4.0):
        end = both + way * fall
        assert ccd.is_free(both, end, None, both_faces) == ccd.exact_is_free(both, end, None, both_faces) == (way == 1)
    first = ccd.first_contact(both, end, edges, both_faces)
    exact = first_time(
        KINDS[NAMES.index(first.kind)],
        *(x[corners_of(NAMES.index(first.kind), first.pair, edges, both_faces)] for x in (both, end)),
    )
    assert 0 <= exact[0] - Fraction(first.time) < 1e-9
    # Up to there, and no further, the motion is free.
    before, after = (both + (first.time * way + more) * fall for more in (-1e-6, 1e-6))
    assert ccd.exact_is_free(both, before, None, both_faces)
    assert not ccd.exact_is_free(both, after, None, both_faces)
    labels = np.repeat([4, 7], 36)
    assert ccd.first_contact(both, end, edges, both_faces, bodies=labels).time == first.time
    assert ccd.is_free(both, end, edges, both_faces, bodies=labels * 0)
    assert ccd.exact_is_free(both, end, edges, both_faces, bodies=labels * 0)


def folding(side=24):
    """A cloth that is folded onto and through itself."""
    x0, faces = cloth(side)
    x1 = x0.copy()
    over = x0[:, 0] > side / 2
    x1[over, 0], x1[over, 2] = side - x0[over, 0] + 0.37, 0.1 - x0[over, 2]
    return x0, x1, faces


def test_order_and_threads_do_not_matter():
    x0, x1, faces = folding()
    edges = ccd.edges_of(faces)
    found = ccd.contacts(x0, x1, edges, faces, threads=1)
    first = ccd.first_contact(x0, x1, edges, faces, threads=1)
    assert first.time == min(times.min() for times in found.times if len(times))
    assert found.total > 100
    for pairs in found.pairs:
        np.testing.assert_array_equal(pairs, pairs[np.lexsort(pairs.T[::-1])])
    rng = np.random.default_rng(2)
    for _ in range(5):
        again, other = ccd.contacts(x0, x1, edges, faces, threads=2), ccd.first_contact(x0, x1, edges, faces, threads=2)
        for part in range(3):
            np.testing.assert_array_equal(again.pairs[part], found.pairs[part])
            np.testing.assert_array_equal(again.times[part], found.times[part])
        assert other[:3] == first[:3]
        np.testing.assert_array_equal(other.normal, first.normal)
        rows, sides = rng.permutation(len(faces)), rng.permutation(len(edges))
        shuffled = ccd.first_contact(x0, x1, edges[sides], faces[rows])
        assert abs(shuffled.time - first.time) <= 1e-12  # of two edges now the other one comes first
        assert ccd.contacts(x0, x1, edges[sides], faces[rows]).total == found.total


def test_one_of_many_equal_contacts_comes_first():
    """The same query everywhere: whatever threads find first, the first pair of all candidates is given."""
    place = np.repeat(np.arange(1500.0), 4)[:, None] * [4, 0, 0]
    start, end = [[0.25, 0.25, 1], *TRIANGLE.tolist()], [[0.25, 0.25, -2], *TRIANGLE.tolist()]
    x0, x1 = np.tile(start, (1500, 1)) + place, np.tile(end, (1500, 1)) + place
    faces = np.arange(6000).reshape(-1, 4)[:, 1:]
    first = ccd.first_contact(x0, x1, [], faces, threads=1)
    assert first.pair == (4 * first.pair[1], first.pair[1])
    for _ in range(10):
        assert ccd.first_contact(x0, x1, [], faces, threads=2)[:3] == first[:3]


def test_limits_of_the_earliest_contact_count():
    x0, x1 = np.array([[0.25, 0.25, 1], *TRIANGLE]), np.array([[0.25, 0.25, -2], *TRIANGLE])
    pairs, corners = np.array([[0, 0]], np.int32), np.array([[1, 2, 3]], np.int32)
    time, at = earliest(VERTEX_TRIANGLE, x0, x1, pairs, corners, 0.0, 1.0)
    assert at == 0
    assert earliest(VERTEX_TRIANGLE, x0, x1, pairs, corners, 0.0, time) == (time, 0)
    assert earliest(VERTEX_TRIANGLE, x0, x1, pairs, corners, 0.0, np.nextafter(time, 0)) == (np.inf, -1)


# Normals


@pytest.mark.parametrize("size", [1e-200, 1e-8, 1.0, 1e8, 1e200])
@pytest.mark.parametrize("side", [-1, 1])
def test_normal_of_a_vertex_on_a_tilted_triangle(side, size):
    rng = np.random.default_rng(3)
    for _ in range(10):
        corners = rng.normal(size=(3, 3))
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal *= side / np.linalg.norm(normal)
        middle, along = corners.mean(axis=0), 0.1 * (corners[1] - corners[0])
        x0, x1 = np.array([middle + normal - along, *corners]), np.array([middle - normal + along, *corners])
        first = ccd.first_contact(x0 * size, x1 * size, None, [[1, 2, 3]])
        assert first[1:3] == ("vertex-face", (0, 0))
        assert first.time == pytest.approx(0.5, abs=1e-9)
        np.testing.assert_allclose(first.normal, normal, atol=1e-9)


def test_normal_of_crossing_edges():
    rng = np.random.default_rng(4)
    for turn in range(10):
        e, f = rng.normal(size=(2, 3))
        normal = np.cross(e, f) / np.linalg.norm(np.cross(e, f)) * (-1) ** turn
        second = np.array([-f, f])
        x0, x1 = (np.array([off * normal - e, off * normal + e, *second]) for off in (1.0, -2.0))
        first = ccd.first_contact(x0, x1, [[0, 1], [2, 3]])
        assert first[1:3] == ("edge-edge", (0, 1))
        assert first.time == pytest.approx(1 / 3, abs=1e-9)
        np.testing.assert_allclose(first.normal, normal, atol=1e-9)
        turned = ccd.first_contact(x0, x1, [[3, 2], [0, 1]])
        np.testing.assert_allclose(turned.normal, -normal, atol=1e-9)


def test_normal_in_the_plane():
    x0, x1 = [[0.5, 1], [0, 0], [1, 0]], [[0.5, -1], [0, 0], [1, 0]]
    first = ccd.first_contact(x0, x1, [[1, 2]])
    assert first[1:3] == ("vertex-edge", (0, 0))
    np.testing.assert_allclose(first.normal, [0, 1], atol=1e-9)
    first = ccd.first_contact(x1, x0, [[2, 1]])
    np.testing.assert_allclose(first.normal, [0, -1], atol=1e-9)
    first = ccd.first_contact([[3, 0], [0, 0], [1, 0]], [[0.5, 0], [0, 0], [1, 0]], [[1, 2]])  # head on, to an end
    np.testing.assert_allclose(first.normal, [1, 0], atol=1e-9)


def test_normal_with_a_gap():
    x0, x1 = np.array([[2, 0, 2.0], *TRIANGLE]), np.array([[1, 0, 0], *TRIANGLE])
    first = ccd.first_contact(x0, x1, None, [[1, 2, 3]], gap=0.5)
    touch = (1 - first.time) * x0[0] + first.time * x1[0] - [1, 0, 0]
    assert np.linalg.norm(touch) == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(first.normal, touch / np.linalg.norm(touch), atol=1e-5)


@pytest.mark.parametrize("side", [-1, 1])
def test_contact_from_the_start_on(side):
    """The normal then is against the motion, or if there is none, 1 long at least."""
    x0, x1 = np.array([[0.25, 0.25, 0], *TRIANGLE]), np.array([[0.25, 0.25, -side], *TRIANGLE])
    first = ccd.first_contact(x0, x1, None, [[1, 2, 3]])
    assert first[:3] == (0.0, "vertex-face", (0, 0))
    np.testing.assert_allclose(first.normal, [0, 0, side], atol=1e-12)
    first = ccd.first_contact(x0, x0, None, [[1, 2, 3]])
    np.testing.assert_allclose(np.abs(first.normal), [0, 0, 1], atol=1e-12)
    points = ccd.first_contact(np.zeros((2, 3)), np.zeros((2, 3)), [[0, 0], [1, 1]])
    assert points.time == 0
    np.testing.assert_array_equal(points.normal, 0)


# One time


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 0.5, 1.0]), st.booleans())
def test_touching_against_exact_distances(seed, gap, is_flat):
    x, _, edges, faces = mesh(np.random.default_rng(seed), 4)
    x = x[:, :2] if is_flat else x
    found = ccd.touching(x, edges, None if is_flat else faces, gap=gap)
    wanted = [set(), set(), set()]
    exact = [[Fraction(c) for c in row] for row in x.tolist()]
    for part, pair, corners in all_pairs(x, edges, faces):
        split = 2 if part == 1 else 1
        if distance_sq([exact[k] for k in corners[:split]], [exact[k] for k in corners[split:]]) <= Fraction(gap) ** 2:
            wanted[part].add(pair)
    assert [{(int(i), int(j)) for i, j in pairs} for pairs in found] == wanted


def test_touching_misses_what_passes_in_between():
    x0, x1 = np.array([[0.25, 0.25, 1], *TRIANGLE]), np.array([[0.25, 0.25, -1], *TRIANGLE])
    assert all(ccd.touching(x, None, [[1, 2, 3]], gap=0.5).total == 0 for x in (x0, x1))
    assert not ccd.is_free(x0, x1, None, [[1, 2, 3]])
    with pytest.raises(InputError, match="gap"):
        ccd.touching(x0, None, [[1, 2, 3]], gap=-1.0)


# Extremes


@pytest.mark.parametrize("power", [-1060, -500, 500, 1020])
def test_powers_of_two_do_not_matter(power):
    rng = np.random.default_rng(5)
    scale = 2.0**power
    for _ in range(10):
        x0, x1, edges, faces = mesh(rng, 1)
        for gap in (0.0, 1.0):
            wanted = ccd.contacts(x0, x1, edges, faces, gap=gap)
            found = ccd.contacts(x0 * scale, x1 * scale, edges, faces, gap=gap * scale)
            for part in range(3):
                np.testing.assert_array_equal(found.pairs[part], wanted.pairs[part])
                np.testing.assert_array_equal(found.times[part], wanted.times[part])
            first, other = (ccd.first_contact(x0 * s, x1 * s, edges, faces, gap=gap * s) for s in (1.0, scale))
            assert (first is None) == (other is None)
            if first is not None:
                assert first.time == other.time
                if first[1:3] == other[1:3]:  # not so where several touch at once
                    np.testing.assert_array_equal(other.normal, first.normal)


def test_nothing_is_free():
    none, some = np.empty((0, 3)), np.zeros((3, 3))
    assert ccd.is_free(none, none, [], [])
    assert ccd.is_free(some, some, [], [])
    assert ccd.first_contact(none, none, []) is None
    assert ccd.first_contact(some[:, :2], some[:, :2], []) is None
    assert ccd.contacts(some, some, None, [[0, 1, 2]]).total == 0  # neighbours do not count
    assert ccd.touching(none, [], [], gap=1.0).total == 0


@pytest.mark.parametrize("speed", [1.0, 1e3, 1e6, 1e9])
def test_normals_of_fast_motions(speed):
    triangle, hit = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.array([0.25, 0.25, 0])
    way = speed * np.array([1.5, 0, -0.5])
    contact = ccd.first_contact([*triangle, hit - way], [*triangle, hit + way], faces=[[0, 1, 2]])
    np.testing.assert_allclose(contact.normal, [0, 0, 1], atol=1e-6)
    flat = ccd.first_contact(
        [[0, 0], [1, 0], [0.5 - way[0], -way[2]]], [[0, 0], [1, 0], [0.5 + way[0], way[2]]], [[0, 1]]
    )
    np.testing.assert_allclose(flat.normal, [0, 1], atol=1e-6)


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr("impinge.broad.order.most_pairs", lambda: 100)
    x = np.tile([[0, 0, 0], [1, 0, 0], [0, 1, 0]], (20, 1)).astype(float)
    with pytest.raises(InputError, match="x0: found about"):
        ccd.is_free(x, x, faces=np.arange(60).reshape(-1, 3))
