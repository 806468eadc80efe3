"""Candidates, and pairs of boxes by blocks, against all pairs one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import _jit, ccd
from impinge.broad.blocks import block_pairs, make_blocks, places
from impinge.ccd.candidates import no_corners
from impinge.errors import InputError

# All pairs


def boxes_of(x0, x1, corners):
    """Lower and upper corners of what is swept."""
    both = np.concatenate([x0[corners], x1[corners]], axis=1)
    return both.min(axis=1), both.max(axis=1)


def near_pairs(first, second, gap):
    """Pairs of boxes at most a gap apart, for coordinates whose differences are exact."""
    (lower, upper), (other_lower, other_upper) = first, second
    near = np.ones((len(lower), len(other_lower)), bool)
    for axis in range(lower.shape[1]):
        for low, high in (
            (other_lower[None, :, axis], upper[:, None, axis]),
            (lower[:, None, axis], other_upper[None, :, axis]),
        ):
            near &= low - gap <= high
    return np.argwhere(near)


def by_brute_force(x0, x1, edges, faces, gap=0.0, exclude_adjacent=True, bodies=None):
    """The three sets of `candidates`."""
    x0, x1 = np.asarray(x0, float), np.asarray(x1, float)
    points = np.arange(len(x0))[:, None]
    faces = np.empty((0, 3), int) if faces is None else np.asarray(faces)
    edges = ccd.edges_of(faces) if edges is None else np.asarray(edges)

    def found(first, second, each_once):
        if not len(first) or not len(second):
            return set()
        pairs = near_pairs(boxes_of(x0, x1, first), boxes_of(x0, x1, second), gap)
        if each_once:
            pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        a, b = first[pairs[:, 0]], second[pairs[:, 1]]
        if exclude_adjacent:
            pairs = pairs[~(a[:, :, None] == b[:, None]).any(axis=(1, 2))]
            a, b = first[pairs[:, 0]], second[pairs[:, 1]]
        if bodies is not None:
            pairs = pairs[np.asarray(bodies)[a[:, 0]] != np.asarray(bodies)[b[:, 0]]]
        return as_set(pairs)

    if x0.shape[1] == 2:
        return set(), set(), found(points, edges, False)
    return found(points, faces, False), found(edges, edges, True), set()


def as_set(pairs):
    rows = {(int(i), int(j)) for i, j in pairs}
    assert len(rows) == len(pairs)  # none twice
    return rows


def check(x0, x1, edges=None, faces=None, **options):
    found = ccd.candidates(x0, x1, edges, faces, threads=1, **options)
    for pairs, wanted in zip(found, by_brute_force(x0, x1, edges, faces, **options), strict=True):
        assert pairs.dtype == np.int32
        assert pairs.shape == (len(pairs), 2)
        assert as_set(pairs) == wanted
    again = ccd.candidates(x0, x1, edges, faces, threads=2, **options)
    for pairs, others in zip(found, again, strict=True):
        np.testing.assert_array_equal(pairs, others)
    assert found.total == sum(map(len, found))
    return found.total


# Scenes: x0, x1, edges and faces. Coordinates are multiples of 1/8, so that differences and gaps are exact.


def eighths(rng, low, high, shape):
    return rng.integers(8 * low, 8 * high + 1, shape) / 8


def soup(rng, count=150, space=20):
    middle = eighths(rng, 0, space, (count, 1, 3))
    x0 = (middle + eighths(rng, -1, 1, (count, 3, 3))).reshape(-1, 3)
    return x0, x0 + eighths(rng, -1, 1, x0.shape), None, np.arange(3 * count).reshape(-1, 3)


def cloth(rng, side=14):
    u, v = np.divmod(np.arange(side * side), side)
    x0 = np.column_stack([u, v, rng.integers(0, 3, side * side)]).astype(float)
    x1 = np.column_stack([np.abs(u - side // 2), v, rng.integers(0, 3, side * side)]).astype(float)
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    return x0, x1, None, np.concatenate([np.c_[a, a + 1, a + side], np.c_[a + side + 1, a + side, a + 1]])


def large_among_small(rng):
    x0, x1, _, faces = soup(rng)
    x0[:9] *= [[16]] * 3 + [[128]] * 3 + [[1024]] * 3
    return x0, x1, None, faces


def twins(rng):
    x0, x1, _, faces = soup(rng, 30)
    return np.tile(x0, (3, 1)), np.tile(x1, (3, 1)), None, np.concatenate([faces + k * len(x0) for k in (0, 1, 2)] * 2)


def degenerate(rng):
    """Faces and edges that name a vertex twice, or that are points and lines."""
    x0, x1, _, faces = soup(rng, 60)
    faces[:20, 1] = faces[:20, 0]
    faces[20:30] = faces[20:30, :1]
    x0[faces[30:40, 1]] = x0[faces[30:40, 0]]
    edges = np.concatenate([faces[:, :2], faces[:, 1:], [[5, 5], [6, 6]]])
    return x0, x1, edges, faces


def clusters(rng):
    """Two of them, 1e7 apart."""
    x0, x1, _, faces = soup(rng)
    far = np.repeat([0, 1e7], [225, 225])[:, None]
    return x0 + far, x1 + far, None, faces


def outlier(rng):
    x0, x1, _, faces = soup(rng)
    x0[7] = 2.0**40
    return x0, x1, None, faces


def one_place(rng):
    x = np.ones((90, 3))
    return x, x, None, np.arange(90).reshape(-1, 3)


def flat_edges(rng):
    x0, x1, _, faces = soup(rng, 120, 10)
    return x0[:, :2], x1[:, :2], np.concatenate([faces[:, :2], faces[:, 1:]]), None


def cables(rng):
    x0 = np.cumsum(eighths(rng, -1, 1, (300, 3)), axis=0)
    links = np.column_stack([np.arange(299), np.arange(1, 300)])
    return x0, x0 + eighths(rng, -1, 1, x0.shape), np.delete(links, [99, 199], axis=0), None


def loose_vertices(rng):
    """One face among vertices of nothing."""
    x0 = eighths(rng, -3, 3, (200, 3))
    return x0, x0 + eighths(rng, -1, 1, x0.shape), None, np.array([[3, 100, 40]])


def on_a_line(rng):
    x0 = np.zeros((120, 3))
    x0[:, 1] = np.arange(120)
    return x0, x0, None, np.arange(120).reshape(-1, 3)


SCENES = {
    scene.__name__: scene for scene in (
        soup, cloth, large_among_small, twins, degenerate, clusters, outlier, one_place, flat_edges, cables,
        loose_vertices, on_a_line,
    )
}  # fmt: skip


@pytest.mark.parametrize("gap", [0.0, 0.125, 1.0])
@pytest.mark.parametrize("exclude_adjacent", [True, False])
@pytest.mark.parametrize("name", SCENES)
def test_scenes(name, exclude_adjacent, gap):
    x0, x1, edges, faces = SCENES[name](np.random.default_rng(1))
    total = check(x0, x1, edges, faces, gap=gap, exclude_adjacent=exclude_adjacent)
    assert total > 0 or (name == "on_a_line" and gap < 1 and exclude_adjacent)


@pytest.mark.parametrize("name", SCENES)
def test_between_bodies_only(name):
    x0, x1, edges, faces = SCENES[name](np.random.default_rng(2))
    rng = np.random.default_rng(3)
    for labels in (np.arange(len(x0)) // 9 * 3, rng.integers(-2, 2, len(x0)), np.full(len(x0), 2**40)):
        check(x0, x1, edges, faces, gap=0.5, bodies=labels)
    assert ccd.candidates(x0, x1, edges, faces, gap=0.5, bodies=np.zeros(len(x0), int)).total == 0


@pytest.mark.parametrize("name", SCENES)
def test_order_does_not_matter(name):
    x0, x1, edges, faces = SCENES[name](np.random.default_rng(4))
    rng = np.random.default_rng(5)
    edges = ccd.edges_of(faces) if edges is None else edges
    new_point, new_edge = rng.permutation(len(x0)), rng.permutation(len(edges))  # new number of each
    new_face = None if faces is None else rng.permutation(len(faces))
    back = np.argsort(new_point)
    other = ccd.candidates(
        x0[back], x1[back], new_point[edges][np.argsort(new_edge)][:, ::-1],
        None if faces is None else np.roll(new_point[faces][np.argsort(new_face)], 1, axis=1), gap=0.25,
    )  # fmt: skip
    found = ccd.candidates(x0, x1, edges, faces, gap=0.25)
    renamed = np.sort(new_edge[found.edge_edges], axis=1)
    assert as_set(renamed) == as_set(other.edge_edges)
    for pairs, others, new in zip(found[::2], other[::2], (new_face, new_edge), strict=True):
        if len(pairs):
            assert as_set(np.column_stack([new_point[pairs[:, 0]], new[pairs[:, 1]]])) == as_set(others)
        assert len(pairs) == len(others)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.0, 0.125, 0.25]), st.booleans())
def test_small_meshes(seed, count, gap, exclude_adjacent):
    rng = np.random.default_rng(seed)
    x0, x1 = eighths(rng, 0, 1, (count, 3)), eighths(rng, 0, 1, (count, 3))
    edges, faces = rng.integers(0, count, (rng.integers(0, 40), 2)), rng.integers(0, count, (rng.integers(0, 40), 3))
    check(x0, x1, edges, faces, gap=gap, exclude_adjacent=exclude_adjacent)
    check(x0[:, :2], x1[:, :2], edges, None, gap=gap, exclude_adjacent=exclude_adjacent)


def test_rounding_loses_no_pair():
    """Gaps that are just wide enough, for doubles of any kind, and gaps that are not."""
    rng = np.random.default_rng(6)
    points = [[0, 0], [1, 1]]
    for _ in range(200):
        x = np.zeros((2, 3))
        x[:, 0] = rng.uniform(-1, 1, 2) * 10.0 ** rng.integers(-8, 9, 2)
        gap = abs(x[0, 0] - x[1, 0])
        while Fraction(gap) < abs(Fraction(x[0, 0]) - Fraction(x[1, 0])):
            gap = np.nextafter(gap, np.inf)
        assert len(ccd.candidates(x, x, points, gap=gap).edge_edges) == 1
        assert len(ccd.candidates(x, x, points, gap=0.999 * gap).edge_edges) == 0


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 1.5e308])
def test_sizes_at_the_ends_of_doubles(size):
    x0 = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1], [-1, -1, -1], [-1, 0, 1]]) * size
    found = ccd.candidates(x0, -x0, None, [[0, 1, 2], [3, 4, 5]])
    assert [len(pairs) for pairs in found] == [6, 9, 0]
    assert ccd.candidates(x0, x0, None, [[0, 1, 2], [3, 4, 5]], gap=size).total == 15


# Nothing


def test_nothing():
    none = np.empty((0, 3))
    assert ccd.candidates(none, none, [], []).total == 0
    assert ccd.candidates(none[:, :2], none[:, :2], []).total == 0
    some = np.zeros((5, 3))
    for edges, faces in (([], []), ([], None), (None, []), ([[0, 1]], None)):
        assert ccd.candidates(some, some, edges, faces).total == 0
    assert len(ccd.candidates(some, some, [], [[0, 1, 2]]).vertex_faces) == 2
    found = ccd.candidates(some[:, :2], some[:, :2], [[0, 1]])
    assert as_set(found.vertex_edges) == {(2, 0), (3, 0), (4, 0)}


def test_edges_of():
    np.testing.assert_array_equal(ccd.edges_of([[2, 0, 1], [1, 0, 5]]), [[0, 1], [0, 2], [0, 5], [1, 2], [1, 5]])
    assert ccd.edges_of([]).shape == (0, 2)
    with pytest.raises(InputError, match="faces"):
        ccd.edges_of([[0, 1]])


# Blocks


def all_blocks(lower, upper):
    order = places(lower, upper)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(lower)))
    return make_blocks(lower, upper, order)


@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 511, 513, 4095, 4096, 4097])
def test_numbers_of_boxes_around_blocks(count):
    rng = np.random.default_rng(count)
    lower = eighths(rng, 0, 4 * max(count, 1) ** (1 / 3), (count, 3))
    upper = lower + eighths(rng, 0, 2, (count, 3))
    other_lower, other_upper = lower[: count // 2 + 3] + 0.5, upper[: count // 2 + 3] + 0.5
    blocks, others = all_blocks(lower, upper), all_blocks(other_lower, other_upper)
    none, nothing = np.empty((count, 0), np.int32), np.empty((len(other_lower), 0), np.int32)
    for gap in (0.0, 0.125):
        found = block_pairs(blocks, None, gap, (none, none))
        wanted = near_pairs((lower, upper), (lower, upper), gap)
        assert as_set(found) == as_set(wanted[wanted[:, 0] < wanted[:, 1]])
        found = block_pairs(blocks, others, gap, (none, nothing))
        assert as_set(found) == as_set(near_pairs((lower, upper), (other_lower, other_upper), gap))
        swapped = block_pairs(others, blocks, gap, (nothing, none))
        assert as_set(swapped[:, ::-1]) == as_set(found)


def test_threads_do_not_matter():
    x0, x1, _, faces = soup(np.random.default_rng(8), 3000, 40)
    corners = faces.astype(np.int32)
    lower, upper = boxes_of(x0, x1, corners)
    found = []
    for threads in (1, 2):
        with _jit.threads(threads):
            found.append(block_pairs(all_blocks(lower, upper), None, 0.25, (no_corners(corners),) * 2))
    np.testing.assert_array_equal(*found)
    assert len(found[0]) > 1000


# Bad input


GOOD, FLAT = np.zeros((4, 3)), np.zeros((4, 2))


@pytest.mark.parametrize("function", [ccd.candidates, ccd.contacts, ccd.first_contact, ccd.is_free])
@pytest.mark.parametrize(
    ("x0", "x1", "edges", "faces", "options", "message"),
    [
        (GOOD, GOOD, None, [[0, 1, 4]], {}, r"faces: row 0 is \(0, 1, 4\)"),
        (GOOD, GOOD, None, [[0, 1, 2], [0, 1, -1]], {}, "faces: row 1"),
        (GOOD, GOOD, None, [[0.0, 1.0, 2.0]], {}, "faces: found float64"),
        (GOOD, GOOD, None, [[0, 1]], {}, "faces: found shape"),
        (GOOD, GOOD, [[0, 4]], None, {}, "edges: row 0"),
        (GOOD, GOOD, [[-1, 0]], None, {}, "edges: row 0"),
        (GOOD, GOOD, [[0.5, 1]], None, {}, "edges: found float64"),
        (GOOD, GOOD, [["a", "b"]], None, {}, "edges: found text"),
        (GOOD, GOOD, [[True, False]], None, {}, "edges: found booleans"),
        (GOOD, GOOD, [0, 1], None, {}, r"edges: found shape \(2,\).*edges\[None\]"),
        (GOOD, GOOD, None, None, {}, "edges, faces: found None for both"),
        (FLAT, FLAT, None, [[0, 1, 2]], {}, "faces: found 1 faces of vertices in the plane"),
        (FLAT, FLAT, None, None, {}, "edges, faces: found None for both"),
        (GOOD, FLAT, [[0, 1]], None, {}, "x1: found shape"),
        (GOOD, GOOD[:3], [[0, 1]], None, {}, "x1: found 3 rows, expected 4"),
        (GOOD * np.nan, GOOD, [[0, 1]], None, {}, "x0: row 0 is not finite"),
        (GOOD, GOOD + np.inf, [[0, 1]], None, {}, "x1: row 0 is not finite"),
        (np.zeros(3), np.zeros(3), [[0, 0]], None, {}, "x0"),
        ("text", GOOD, [[0, 1]], None, {}, "x0"),
        (GOOD, GOOD, [[0, 1]], None, {"bodies": [0, 1, 2]}, "bodies: found int64 of shape"),
        (GOOD, GOOD, [[0, 1]], None, {"bodies": [0.0, 1, 2, 3]}, "bodies: found float64"),
        (GOOD, GOOD, [[0, 1]], None, {"bodies": ["a"] * 4}, "bodies: found text"),
        (GOOD, GOOD, [[0, 1]], None, {"gap": -1.0}, "gap"),
        (GOOD, GOOD, [[0, 1]], None, {"gap": np.nan}, "gap"),
        (GOOD, GOOD, [[0, 1]], None, {"gap": np.inf}, "gap"),
        (GOOD, GOOD, [[0, 1]], None, {"threads": 0}, "threads"),
    ],
)
def test_bad_input(function, x0, x1, edges, faces, options, message):
    with pytest.raises(InputError, match=message):
        function(x0, x1, edges, faces, **options)
