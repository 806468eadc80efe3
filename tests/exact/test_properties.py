"""Properties that hold whatever the arithmetic."""

from itertools import permutations

from hypothesis import assume, given
from hypothesis import strategies as st

from impinge.exact._orient import normal_sign, orient2d_sign, orient3d_sign
from impinge.exact._segments import segment_meets_triangle
from impinge.exact._triangles import crossing, point_in_triangle

lattice = st.tuples(*[st.integers(-3, 3).map(float)] * 3)
anything = st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3)
points = st.one_of(lattice, anything)


def parity(order):
    return (-1) ** sum(order[i] > order[j] for j in range(len(order)) for i in range(j))


@given(points, points, points, points)
def test_orient3d_is_antisymmetric(a, b, c, d):
    sign = orient3d_sign(*a, *b, *c, *d)
    for order in permutations(range(4)):
        u, v, w, x = ((a, b, c, d)[i] for i in order)
        assert orient3d_sign(*u, *v, *w, *x) == parity(order) * sign


@given(points, points, points)
def test_orient2d_is_antisymmetric(a, b, c):
    sign = orient2d_sign(*a[:2], *b[:2], *c[:2])
    for order in permutations(range(3)):
        u, v, w = ((a, b, c)[i] for i in order)
        assert orient2d_sign(*u[:2], *v[:2], *w[:2]) == parity(order) * sign
        assert normal_sign(*u, *v, *w) == parity(order) * normal_sign(*a, *b, *c)


@given(lattice, lattice, lattice, lattice, lattice, st.integers(-(2**40), 2**40), st.integers(-400, 400))
def test_translation_and_scale_on_lattices(p, q, a, b, c, shift, exponent):
    moved = [[(x + shift) * 2.0**exponent for x in point] for point in (p, q, a, b, c)]
    mp, mq, ma, mb, mc = moved
    assert orient3d_sign(*ma, *mb, *mc, *mp) == orient3d_sign(*a, *b, *c, *p)
    assert orient2d_sign(*ma[:2], *mb[:2], *mc[:2]) == orient2d_sign(*a[:2], *b[:2], *c[:2])
    assert crossing(*mp, *mq, *ma, *mb, *mc) == crossing(*p, *q, *a, *b, *c)
    assert point_in_triangle(*mp, *ma, *mb, *mc) == point_in_triangle(*p, *a, *b, *c)
    assert segment_meets_triangle(*mp, *mq, *ma, *mb, *mc) == segment_meets_triangle(*p, *q, *a, *b, *c)


@given(points, points, points, points, points)
def test_order_of_the_vertices(p, q, a, b, c):
    found = crossing(*p, *q, *a, *b, *c)
    assert crossing(*p, *q, *b, *c, *a) == found
    assert crossing(*p, *q, *a, *c, *b) == (2 if found == 2 else -found)
    inside = point_in_triangle(*p, *a, *b, *c)
    assert (found == 2) == inside
    meet = segment_meets_triangle(*p, *q, *a, *b, *c)
    for u, v, w in permutations((a, b, c)):
        assert point_in_triangle(*p, *u, *v, *w) == inside
        assert segment_meets_triangle(*p, *q, *u, *v, *w) == meet
        assert segment_meets_triangle(*q, *p, *u, *v, *w) == meet
    # A crossing of the perturbed segment is, in the limit, a common point of the closed sets.
    assert meet or found == 0


@given(lattice, lattice, lattice, lattice)
def test_point_is_segment_without_length(p, a, b, c):
    assert segment_meets_triangle(*p, *p, *a, *b, *c) == point_in_triangle(*p, *a, *b, *c)
    assert point_in_triangle(*a, *a, *b, *c)
    assert point_in_triangle(*[(x + y) / 2 for x, y in zip(a, b, strict=True)], *a, *b, *c)


def test_conventions():
    a, b, c = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    below, above = (0.25, 0.25, -1.0), (0.25, 0.25, 1.0)
    assert orient2d_sign(*a[:2], *b[:2], *c[:2]) == 1
    assert orient3d_sign(*a, *b, *c, *below) == 1
    assert normal_sign(*a, *b, *c) == 1
    assert crossing(*below, *above, *a, *b, *c) == 1
    assert crossing(*above, *below, *a, *b, *c) == -1
    assert crossing(0.25, 0.25, 0.0, *above, *a, *b, *c) == 2


@given(lattice, lattice, lattice, lattice)
def test_a_full_turn_around_a_tetrahedron(a, b, c, d):
    """A segment that ends in a + e, with a its vertex, crosses what the side of the tetrahedron says."""
    assume(orient3d_sign(*a, *b, *c, *d) == 1)
    faces = [(a, b, c), (a, d, b), (b, d, c), (c, d, a)]
    far = (100.0, 70.0, 40.0)
    from_far = sum(crossing(*far, *a, *u, *v, *w) for u, v, w in faces)
    inside = -from_far  # winding(far) = 0
    assert inside in (0, 1)
    centre = [sum(x) / 4 for x in zip(a, b, c, d, strict=True)]
    assert inside + sum(crossing(*centre, *a, *u, *v, *w) for u, v, w in faces) == 1
