"""Self-intersections against rational arithmetic, on lattices and on surfaces whose intersections are known."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import ccd, shapes
from impinge.errors import InputError

from ..exact.naive import cross, dot, minus
from .naive import distance_sq

# By brute force


def between(p, q, share):
    return [a + share * (b - a) for a, b in zip(p, q, strict=True)]


def in_box(corners, point):
    return all(min(row) <= c <= max(row) for c, row in zip(point, zip(*corners, strict=True), strict=True))


def holds(corners, point):
    return distance_sq([point], corners) == 0


def places_to_look(first, second):
    """Points among which are all corners of what two hulls have in common: some corner or edge of one takes part."""
    yield from first
    yield from second
    for edges, others in ((first, second), (second, first)):
        for p, q in combinations(edges, 2):
            way = minus(q, p)
            if len(others) == 3:
                normal = cross(minus(others[1], others[0]), minus(others[2], others[0]))
                if dot(normal, way):
                    yield between(p, q, Fraction(dot(normal, minus(others[0], p)), dot(normal, way)))
            for a, b in combinations(others, 2):
                normal = cross(minus(b, a), cross(way, minus(b, a)))  # of the plane through a, b and the common normal
                if dot(normal, way):
                    yield between(p, q, Fraction(dot(normal, minus(a, p)), dot(normal, way)))


def meet(x, first, second):
    """Whether hulls of vertices, given by their numbers, have more in common than their common vertices make."""
    common = [x[k] for k in first if k in second]
    if len(common) == len(first) == len(second):
        return True
    first, second = [x[k] for k in first], [x[k] for k in second]
    for axis in range(3):
        for a, b in ((first, second), (second, first)):
            if max(p[axis] for p in a) < min(p[axis] for p in b):
                return False
    places = [p for p in places_to_look(first, second) if in_box(first, p) and in_box(second, p)]
    beyond = [p for p in places if not (common and holds(common, p))]
    return any(holds(first, p) and holds(second, p) for p in beyond)


def by_brute_force(x, edges, faces):
    """The three sets of `self_intersections`."""
    x = [[*row, 0][:3] for row in np.asarray(x).tolist()]
    x = [[Fraction(c) for c in row] for row in x]
    faces = [[int(k) for k in face] for face in faces]
    edges = [[int(k) for k in edge] for edge in edges]
    sides = [{*side} for face in faces for side in combinations(face, 2)]
    proper = [i for i, face in enumerate(faces) if len({*face}) == 3]
    loose = [i for i, edge in enumerate(edges) if len({*edge}) == 2 and {*edge} not in sides]
    return (
        [(i, j) for i, j in combinations(proper, 2) if meet(x, faces[i], faces[j])],
        [(i, j) for i in loose for j in proper if meet(x, edges[i], faces[j])],
        [(i, j) for i, j in combinations(loose, 2) if meet(x, edges[i], edges[j])],
    )


def as_lists(found):
    for pairs in found:
        assert pairs.dtype == np.int32
        assert pairs.shape == (len(pairs), 2)
    assert found.total == sum(map(len, found))
    return tuple([(int(i), int(j)) for i, j in pairs] for pairs in found)


def check(x, edges=None, faces=None):
    """The same as by brute force, but for hulls that are thinner than they could be. How many meet."""
    found = as_lists(ccd.self_intersections(x, edges, faces, threads=1))
    assert found == as_lists(ccd.self_intersections(x, edges, faces, threads=2))
    faces = [] if faces is None else faces
    edges = ccd.edges_of(faces) if edges is None else edges
    wanted = by_brute_force(x, edges, faces)
    thin_faces, thin_edges = ({k for k, row in enumerate(rows) if is_thin(x, row)} for rows in (faces, edges))
    kinds = ((faces, thin_faces, faces, thin_faces), (edges, thin_edges, faces, thin_faces), (edges, thin_edges) * 2)
    for pairs, exact, (first, thin, second, other_thin) in zip(found, wanted, kinds, strict=True):
        assert pairs == sorted(pairs)
        for i, j in {*pairs} ^ {*exact}:
            if (i, j) in exact:  # two faces without area may lie on each other beyond their common edge
                assert len({*first[i]} & {*second[j]}) == 2
                assert i in thin
                assert j in other_thin
            else:  # a vertex lies on the side opposite to it, or on another one
                assert len({*first[i]} & {*second[j]}) == 1
                assert i in thin or j in other_thin
    return sum(map(len, wanted))


def is_thin(x, corners):
    """Whether a face has no area, or an edge no length."""
    p = [[Fraction(c) for c in [*x[k], 0][:3]] for k in corners]
    ways = [minus(q, p[0]) for q in p[1:]]
    return not any(cross(*ways) if len(ways) == 2 else ways[0])


# Against brute force


@st.composite
def lattices(draw, axes=3):
    """Few vertices on few places."""
    count = draw(st.integers(4, 8))
    place = st.lists(st.integers(0, 2), min_size=axes, max_size=axes)
    x = np.array(draw(st.lists(place, min_size=count, max_size=count)), float)
    numbers = st.integers(0, count - 1)
    faces = draw(st.lists(st.lists(numbers, min_size=3, max_size=3, unique=True), min_size=1, max_size=4))
    edges = draw(st.lists(st.lists(numbers, min_size=2, max_size=2, unique=True), min_size=1, max_size=4))
    return x, edges, faces if axes == 3 else None


@given(lattices())
def test_on_a_lattice(given):
    check(*given)


@given(lattices(axes=2))
def test_in_the_plane(given):
    check(*given)


@pytest.mark.parametrize("common", [0, 1, 2])
def test_proper_faces_on_a_lattice(common):
    """Faces with area: nothing is left to choice."""
    rng = np.random.default_rng(common)
    count = met = 0
    while count < 60:
        x = rng.integers(0, 3, (6, 3)).astype(float)
        faces = [[0, 1, 2], [0, 1, 3] if common == 2 else [0, 4, 3] if common == 1 else [5, 4, 3]]
        faces = [list(np.roll(face, rng.integers(3))) for face in faces]
        if any(is_thin(x, face) for face in faces):
            continue
        met += check(x, None, faces)
        count += 1
    assert 0 < met < count


def test_uneven_doubles():
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(8):
        x = rng.normal(size=(8, 3)) * 10.0 ** rng.integers(-8, 9, (1, 3))
        faces, edges = [[0, 1, 2], [2, 3, 4], [4, 3, 5], [5, 6, 7]], [[0, 7], [1, 6], [0, 5]]
        x[7] = (x[0] + x[1] + x[2]) / 3  # next to a face
        met += check(x, edges, faces)
    assert met > 4


@pytest.mark.parametrize("size", [5e-324, 1e-160, 1e160])
def test_any_size(size):
    """Products of three leave the range of doubles."""
    x = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, -1], [1, 1, 1], [5, 5, 0], [9, 9, 9]]) * size
    assert as_lists(ccd.self_intersections(x, [[3, 4], [5, 6]], [[0, 1, 2], [3, 4, 5]])) == ([(0, 1)], [], [])
    assert as_lists(ccd.self_intersections(x, [[3, 4], [5, 6]], [[0, 1, 2]])) == ([], [(0, 0)], [])


# Known cases


SQUARE = [[0, 0, 0], [2, 0, 0], [0, 2, 0]]
FACES = {
    "cross": ([[0.5, 0.5, -1], [0.5, 0.5, 1], [3, 3, 0]], [3, 4, 5], True),
    "in the same plane": ([[0.5, 0.5, 0], [3, 3, 0], [3, 4, 0]], [3, 4, 5], True),
    "one inside the other": ([[0.25, 0.25, 0], [0.5, 0.25, 0], [0.25, 0.5, 0]], [3, 4, 5], True),
    "beside each other": ([[3, 0, 0], [4, 0, 0], [4, 1, 0]], [3, 4, 5], False),
    "parallel": ([[0, 0, 5e-324], [2, 0, 5e-324], [0, 2, 5e-324]], [3, 4, 5], False),
    "vertex on the face": ([[0.5, 0.5, 0], [1, 1, 1], [0, 1, 1]], [3, 4, 5], True),
    "vertex just above the face": ([[0.5, 0.5, 5e-324], [1, 1, 1], [0, 1, 1]], [3, 4, 5], False),
    "vertex on a vertex": ([[2, 0, 0], [3, 0, 1], [3, 1, 1]], [3, 4, 5], True),
    "common vertex only": ([[-1, 0, 1], [-1, -1, 1], [0, 0, 0]], [0, 3, 4], False),
    "common vertex, through the face": ([[2, 2, 1], [2, 2, -1], [0, 0, 0]], [0, 3, 4], True),
    "common vertex, edge in the face": ([[0.5, 0.5, 0], [1, 1, 1], [0, 0, 0]], [0, 3, 4], True),
    "common vertex, in the same plane": ([[-1, 0, 0], [-1, -1, 0], [0, 0, 0]], [0, 3, 4], False),
    "common vertex, overlapping": ([[1, 0.5, 0], [-1, 5, 0], [0, 0, 0]], [0, 3, 4], True),
    "common vertex, along an edge": ([[1, 0, 0], [1, -1, 0], [0, 0, 0]], [0, 3, 4], True),
    "common edge": ([[0, -1, 0.5], [0, 0, 0], [0, 0, 0]], [1, 0, 3], False),
    "common edge, flat": ([[0, -1, 0], [0, 0, 0], [0, 0, 0]], [1, 0, 3], False),
    "common edge, folded over": ([[5, 1, 0], [0, 0, 0], [0, 0, 0]], [1, 0, 3], True),
    "common edge, nearly folded over": ([[5, 1, 5e-324], [0, 0, 0], [0, 0, 0]], [1, 0, 3], False),
    "the same face": ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [1, 2, 0], True),
    "the same face, turned over": ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [1, 0, 2], True),
    "face that is none": ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [3, 3, 1], False),
}  # fmt: skip


@pytest.mark.parametrize("name", FACES)
def test_two_faces(name):
    others, face, wanted = FACES[name]
    x = np.array([*SQUARE, *others], float)
    for turn in range(3):
        for flip in (1, -1):
            faces = [np.roll([0, 1, 2], turn), np.roll(face, turn)[::flip]]
            for axis in range(3):
                found = ccd.self_intersections(np.roll(x, axis, axis=1), None, faces)
                assert as_lists(found) == ([(0, 1)] * wanted, [], [])
                assert ccd.self_intersections(np.roll(x, axis, axis=1), None, faces[::-1]).total == wanted


EDGES = {
    "through the face": ([[0.5, 0.5, -1], [0.5, 0.5, 1]], [3, 4], True),
    "beside it": ([[2, 2, -1], [2, 2, 1]], [3, 4], False),
    "in its plane": ([[-1, 0.5, 0], [5, 0.5, 0]], [3, 4], True),
    "up to it": ([[0.5, 0.5, 0], [0.5, 0.5, 1]], [3, 4], True),
    "from its vertex away": ([[-1, -1, 1], [0, 0, 0]], [0, 3], False),
    "from its vertex away, in its plane": ([[-1, 1, 0], [0, 0, 0]], [3, 0], False),
    "from its vertex over it": ([[3, 3, 0], [0, 0, 0]], [3, 0], True),
    "from its vertex, ending on it": ([[0.5, 0.5, 0], [0, 0, 0]], [0, 3], True),
    "from its vertex along a side": ([[1, 0, 0], [0, 0, 0]], [0, 3], True),
    "its side": ([[1, 0, 0], [0, 0, 0]], [1, 0], False),
    "of one vertex": ([[0.5, 0.5, 0], [0, 0, 0]], [3, 3], False),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_loose_edge_and_a_face(name):
    others, edge, wanted = EDGES[name]
    x = np.array([*SQUARE, *others], float)
    for turn in range(3):
        for loose in (edge, edge[::-1]):
            found = ccd.self_intersections(x, [loose], [np.roll([0, 1, 2], turn)])
            assert as_lists(found) == ([], [(0, 0)] * wanted, [])


def test_cables():
    x = np.array([[0, 0], [1, 1], [2, 0], [1, -1], [0, 1], [2, 1]], float)
    ring = [[0, 1], [1, 2], [2, 3], [3, 0]]
    for points in (x, np.column_stack([x, np.zeros(6)])):
        assert ccd.self_intersections(points, ring).total == 0
        assert as_lists(ccd.self_intersections(points, [*ring, [3, 1]]))[2] == []
        assert as_lists(ccd.self_intersections(points, [*ring, [3, 5]]))[2] == [(1, 4)]
        assert as_lists(ccd.self_intersections(points, [*ring, [4, 5]]))[2] == [(0, 4), (1, 4)]  # through a vertex
        assert as_lists(ccd.self_intersections(points, [*ring, [1, 0]]))[2] == [(0, 4)]  # given twice
    straight = np.array([[0, 0], [1, 0], [2, 0]], float)
    assert ccd.self_intersections(straight, [[0, 1], [1, 2]]).total == 0
    for first, second in (([0, 1], [2, 0]), ([2, 0], [0, 1]), ([0, 2], [0, 1])):  # from a common vertex the same way
        assert ccd.self_intersections(straight, [first, second]).total == 1


# Surfaces


@pytest.mark.parametrize(("make", "argument"), [("icosphere", 3), ("octasphere", 3), ("torus", 1), ("box", 1)])
def test_closed_surfaces_do_not_meet_themselves(make, argument):
    mesh = getattr(shapes, make)(argument)
    assert ccd.self_intersections(mesh.vertices, None, mesh.faces).total == 0


@pytest.mark.parametrize("away", [1.0, 2.0, 2.1])
def test_two_spheres(away):
    one = shapes.octasphere(1)
    vertices, count = np.round(16 * one.vertices) / 16, len(one.vertices)
    x = np.concatenate([vertices, vertices + [away, 0, 0]])
    faces = np.concatenate([one.faces, one.faces + count])
    if away > 2:
        assert ccd.self_intersections(x, None, faces).total == 0
        return
    assert check(x, None, faces) > 0
    found = ccd.self_intersections(x, None, faces).faces
    assert (found[:, 0] < len(one.faces)).all()
    assert (found[:, 1] >= len(one.faces)).all()
    rng = np.random.default_rng(1)
    order, rows = rng.permutation(len(x)), rng.permutation(len(faces))
    moved = ccd.self_intersections(x[order], None, np.argsort(order)[faces][rows]).faces
    assert {frozenset(pair) for pair in rows[moved].tolist()} == {frozenset(pair) for pair in found.tolist()}


@pytest.mark.parametrize("height", [0.0, 1e-9])
def test_folded_cloth(height):
    """A strip of 6 × 2 squares is folded in the middle: its halves lie on each other, or one just above the other."""
    u, v = np.divmod(np.arange(21), 3)
    x = np.column_stack([np.minimum(u, 6 - u), v, np.where(u > 3, height, 0)]).astype(float)
    a = (np.arange(6)[:, None] * 3 + np.arange(2)).ravel()
    faces = np.concatenate([np.c_[a, a + 1, a + 3], np.c_[a + 4, a + 3, a + 1]])
    assert (check(x, None, faces) > 0) == (height == 0)


# Nothing, and bad input


def test_nothing():
    none = np.empty((0, 3))
    assert ccd.self_intersections(none, [], []).total == 0
    assert ccd.self_intersections(none[:, :2], []).total == 0
    assert ccd.self_intersections(np.zeros((4, 3)), None, [[0, 1, 2]]).total == 0


@pytest.mark.parametrize(
    ("x", "edges", "faces", "message"),
    [
        (np.zeros((3, 3)), None, None, "edges, faces"),
        (np.zeros((3, 3)), None, [[0, 1, 3]], "faces: row 0"),
        (np.zeros((3, 3)), [[0, -1]], None, "edges: row 0"),
        (np.zeros((3, 3)), [[0.0, 1.0]], None, "edges: found float64"),
        (np.zeros((3, 2)), None, [[0, 1, 2]], "faces: .* in the plane"),
        (np.full((3, 3), np.nan), None, [[0, 1, 2]], "row 0 is not finite"),
        (np.zeros((3, 4)), None, [[0, 1, 2]], r"found shape \(3, 4\)"),
    ],
)
def test_bad_input(x, edges, faces, message):
    with pytest.raises(InputError, match=message):
        ccd.self_intersections(x, edges, faces)
