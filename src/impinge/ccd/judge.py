"""The exact judge of moving vertices, edges and triangles: slow, in integers only, and independent of the kernels.

Every point moves in a straight line, x(t) = (1 − t) x0 + t x1 for t from 0 to 1. Doubles are rational numbers, so after
scaling all coordinates (and the gap) to integers every question about the motion is one about signs of polynomials in t
with integer coefficients.

**Cases.** Two sets touch at t if their distance is at most the gap. The nearest points of the two sets are either two
vertices, or a vertex and the foot of its perpendicular on an edge, or on the triangle, or the feet of the common
perpendicular of two edges: cases of 0, 1, 2 and 2 dimensions. In each, polynomials tell whether the feet are inside
(``sides`` ≥ 0), and whether the distance between them is at most the gap (``reach`` ≥ 0). An edge of no length, a
triangle of no area and parallel edges have no such feet (``size`` = 0, otherwise > 0) and need none: then the nearest
points, or others just as near, belong to a case of fewer dimensions. Hence, at every single t,

    contact at t  ⇔  size(t) > 0, sides(t) ≥ 0 and reach(t) ≥ 0 in at least one case,

"⇐" as the feet are points of the two sets, "⇒" as the nearest points are the feet of one of the cases. Demanding
size > 0, an open condition, loses nothing: this is about each t alone, not about limits.

**First contact.** The distance is a continuous function of t, so the times of contact are a closed set, and if there
are any, there is a first, m. If m > 0, the distance is larger than the gap before m, and equal to it at m. Of the cases
that hold at m take one of the fewest dimensions. Its feet are not nearer than the two sets, so exactly the gap apart:
reach(m) = 0. And its reach is not zero for all t. Otherwise it has sides, as two vertices that are always the gap apart
touch at t = 0; all sides are positive at m, as a foot on the border of its edge or triangle belongs to a case of fewer
dimensions, too; then sides and size are positive also just before m, and that would be a contact before the first.
So m is 0 or a root of the reach of a case that holds there, one of finitely many times; and as all of these are times
of contact, the earliest is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from impinge import _check
from impinge.ccd.moving import Floats, Ints, read_moving
from impinge.ccd.polynomials import Poly, Root, certain_sign, minus, plus, roots, times, value
from impinge.errors import InputError

__all__ = ["exact_is_free", "first_time"]

Vector = tuple[Poly, Poly, Poly]
Positions = ArrayLike | Sequence[Sequence[Fraction]]

_BITS = 61  # times are given to 2^−61
_LARGEST_DENOMINATOR = 1 << 30  # of a rational time that is looked for
_PAIRS_AT_ONCE = 1 << 22


class _Case(NamedTuple):
    """One way to be in contact at t: reach(t) ≥ 0, all sides(t) ≥ 0 and size(t) > 0."""

    reach: Poly
    sides: tuple[Poly, ...]
    size: Poly


class _Kind(NamedTuple):
    """A kind of query, and which of its points are nearest to each other in its cases."""

    points: int
    split: int  # that many of them are the first set
    columns: int
    plane: tuple[tuple[int, int], ...]  # from where to where w, u and v go in `_feet_in_plane`
    edges: tuple[tuple[int, int, int], ...]  # a vertex and the ends of an edge
    vertices: tuple[tuple[int, int], ...]


_KINDS = {
    "vertex_triangle": _Kind(
        points=4, split=1, columns=3,
        plane=((1, 0), (1, 2), (1, 3)),
        edges=((0, 1, 2), (0, 2, 3), (0, 3, 1)),
        vertices=((0, 1), (0, 2), (0, 3)),
    ),
    "edge_edge": _Kind(
        points=4, split=2, columns=3,
        plane=((0, 2), (0, 1), (3, 2)),
        edges=((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)),
        vertices=((0, 2), (0, 3), (1, 2), (1, 3)),
    ),
    "point_segment": _Kind(points=3, split=1, columns=2, plane=(), edges=((0, 1, 2),), vertices=((0, 1), (0, 2))),
}  # fmt: skip


def first_time(
    kind: str, x0: Positions, x1: Positions, gap: float | Fraction = 0.0
) -> tuple[Fraction, Fraction] | None:
    """The first time at which the distance of two moving sets is at most `gap`, exactly.

    Parameters
    ----------
    kind : str
        ``"vertex_triangle"`` (the vertex, then the triangle's corners), ``"edge_edge"`` (the ends of the first edge,
        then of the second) or ``"point_segment"`` (in the plane: the point, then the segment's ends). Edges and
        triangles contain their borders, and may be degenerate.
    x0, x1 : (4, 3) or, for ``"point_segment"``, (3, 2) float64, int or Fraction, m
        The points at t = 0 and at t = 1; between, each moves in a straight line.
    gap : float or Fraction, m
        The distance that counts as contact, at least 0.

    Returns
    -------
    tuple of two Fractions, or None
        Numbers lo ≤ hi, less than 2^−60 apart, and the first time is between them; strictly between, or lo = hi is
        this time. None if there is no contact for t from 0 to 1.
    """
    root = _first_contact(kind, *_integers(kind, x0, x1, gap))
    return None if root is None else _interval(root)


def exact_is_free(
    x0: ArrayLike,
    x1: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float = 0.0,
    bodies: ArrayLike | None = None,
) -> bool:
    """Whether nothing touches while all vertices move linearly from x0 to x1, decided exactly and by brute force.

    All pairs of a vertex and a face and all pairs of edges are judged (in the plane, all pairs of a vertex and an
    edge), except those that share a vertex: thousands of faces take seconds, and four times as long for twice as many.

    Parameters
    ----------
    x0, x1, edges, faces, gap, bodies
        As for `first_contact`.

    Returns
    -------
    bool
        True if no pair comes into contact at any t from 0 to 1.

    Examples
    --------
    >>> from impinge import ccd
    >>> x0 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 1]]
    >>> x1 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, -1]]
    >>> x2 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5000000000000001, -1]]
    >>> ccd.exact_is_free(x0, x1, faces=[[0, 1, 2]]), ccd.exact_is_free(x2, x2, faces=[[0, 1, 2]])
    (False, True)
    """
    moving, gap = read_moving(x0, x1, edges, faces, bodies), _check.not_negative("gap", gap)
    start, end = (x[:, :2] if moving.is_flat else x for x in (moving.x0, moving.x1))
    points = np.arange(len(start), dtype=np.int32)[:, None]
    if moving.is_flat:
        groups = [("point_segment", points, moving.edges)]
    else:
        groups = [("vertex_triangle", points, moving.faces), ("edge_edge", moving.edges, moving.edges)]
    for kind, first, second in groups:
        for together in _near(start, end, first, second, gap, each_once=kind == "edge_edge"):
            if len(moving.bodies) and moving.bodies[together[0]] == moving.bodies[together[-1]]:
                continue
            if _first_contact(kind, *_integers(kind, start[together], end[together], gap)) is not None:
                return False
    return True


# Input


def _integers(
    kind: str, x0: Positions, x1: Positions, gap: float | Fraction
) -> tuple[list[list[int]], list[list[int]], int]:
    """The points at t = 0 and at t = 1, in space, and the gap, all times the same positive number."""
    _check.choice("kind", kind, _KINDS)
    _check.not_negative("gap", gap)
    points, columns = _KINDS[kind].points, _KINDS[kind].columns
    numbers: list[Any] = []
    for name, given in (("x0", x0), ("x1", x1)):
        array = np.asarray(given, dtype=object)  # Python's own numbers: none is rounded
        if array.shape != (points, columns):
            raise InputError(f"{name}: found shape {array.shape}, expected ({points}, {columns})")
        numbers += array.ravel().tolist()
    try:
        ratios = [_ratio(number) for number in [*numbers, gap]]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"x0, x1: found something that is not a finite number ({error})") from None
    scale = math.lcm(*(denominator for _, denominator in ratios))
    *scaled, gap_scaled = (numerator * (scale // denominator) for numerator, denominator in ratios)
    flat = [0] * (3 - columns)
    rows = [scaled[i : i + columns] + flat for i in range(0, len(scaled), columns)]
    return rows[:points], rows[points:], gap_scaled


def _ratio(number: Any) -> tuple[int, int]:
    if hasattr(number, "as_integer_ratio"):
        return number.as_integer_ratio()
    return Fraction(number).as_integer_ratio()


# Pairs of a mesh


def _near(
    x0: Floats, x1: Floats, first: Ints, second: Ints, gap: float, *, each_once: bool
) -> Iterator[Ints]:  # fmt: skip
    """The vertices of all pairs of rows that share no vertex, but for pairs that certainly stay apart.

    A pair stays apart if, along one axis, one is more than the gap beyond the other at t = 0 and, on the same side, at
    t = 1: the differences of coordinates are linear in t, so it is beyond at all times. Doubles are compared exactly;
    and rounding keeps the order, so a rounded sum of coordinate and gap is below a double only if the exact sum is.
    """
    with np.errstate(over="ignore"):
        boxes = [[(x[rows].min(axis=1), x[rows].max(axis=1) + gap) for x in (x0, x1)] for rows in (first, second)]
    stride = max(1, _PAIRS_AT_ONCE // max(1, len(second)))
    for start in range(0, len(first), stride):
        chunk = slice(start, min(start + stride, len(first)))
        near = np.ones((chunk.stop - start, len(second)), bool)
        for axis in range(x0.shape[1]):
            below, above = True, True
            for (low, high), (other_low, other_high) in zip(*boxes, strict=True):
                below = below & (high[chunk, None, axis] < other_low[None, :, axis])
                above = above & (other_high[None, :, axis] < low[chunk, None, axis])
            near &= ~(below | above)
        rows, columns = np.nonzero(near)
        rows += start
        shared = (first[rows][:, :, None] == second[columns][:, None, :]).any(axis=(1, 2))
        wanted = ~shared & (rows < columns) if each_once else ~shared
        yield from np.concatenate([first[rows[wanted]], second[columns[wanted]]], axis=1)


# The cases of contact


def _dot(u: Vector, v: Vector) -> Poly:
    return plus(plus(times(u[0], v[0]), times(u[1], v[1])), times(u[2], v[2]))


def _cross(u: Vector, v: Vector) -> Vector:
    return (
        minus(times(u[1], v[2]), times(u[2], v[1])),
        minus(times(u[2], v[0]), times(u[0], v[2])),
        minus(times(u[0], v[1]), times(u[1], v[0])),
    )


def _two_vertices(apart: Vector, gap_sq: Poly) -> _Case:
    return _Case(minus(gap_sq, _dot(apart, apart)), (), [1])


def _vertex_on_edge(to_vertex: Vector, along: Vector, gap_sq: Poly) -> _Case:
    """A vertex, seen from one end of an edge, and the edge: distance² = |w × e|² / e², foot at w·e / e² of the edge."""
    length_sq = _dot(along, along)
    moment = _cross(to_vertex, along)
    foot = _dot(to_vertex, along)
    return _Case(minus(times(gap_sq, length_sq), _dot(moment, moment)), (foot, minus(length_sq, foot)), length_sq)


def _feet_in_plane(kind: str, w: Vector, u: Vector, v: Vector, gap_sq: Poly) -> _Case | None:
    """The case of two feet inside, or None if at gap 0 the four points are certainly never in one plane.

    With n = u × v let w = a u + b v + c n. If w goes from a corner of the triangle to the vertex, and u and v go from
    there to the other corners, the vertex's foot is at a, b of the triangle. If w goes from the first edge to the
    second, u along the first and v along the second, backwards, the feet are at a of the first and at b of the second.
    The distance is |w·n| / |n|. All is multiplied by n², so that nothing is divided.
    """
    normal = _cross(u, v)
    height = _dot(w, normal)
    if not gap_sq and certain_sign(height):
        return None
    size = _dot(normal, normal)
    a, b = _dot(_cross(w, v), normal), _dot(_cross(u, w), normal)
    rest = (minus(minus(size, a), b),) if kind == "vertex_triangle" else (minus(size, a), minus(size, b))
    return _Case(minus(times(gap_sq, size), times(height, height)), (a, b, *rest), size)


def _cases(kind: str, x0: list[list[int]], x1: list[list[int]], gap: int) -> list[_Case]:
    """All cases of contact, or none if it is certain that there is no contact."""

    def way(i: int, j: int) -> Vector:
        x, y, z = (
            minus([b0, b1 - b0], [a0, a1 - a0]) for a0, a1, b0, b1 in zip(x0[i], x1[i], x0[j], x1[j], strict=True)
        )
        return x, y, z

    gap_sq = [gap * gap] if gap else []
    cases = []
    if _KINDS[kind].plane:
        w, u, v = (way(i, j) for i, j in _KINDS[kind].plane)
        inside = _feet_in_plane(kind, w, u, v, gap_sq)
        if inside is None:
            return []
        cases.append(inside)
    cases += [_vertex_on_edge(way(i, p), way(i, j), gap_sq) for p, i, j in _KINDS[kind].edges]
    return cases + [_two_vertices(way(i, j), gap_sq) for i, j in _KINDS[kind].vertices]


# First contact


def _stay_apart(x0: list[list[int]], x1: list[list[int]], split: int, gap: int) -> bool:
    """Whether one set is, along an axis, more than the gap beyond the other at t = 0 and at t = 1: so always."""
    for axis in range(3):
        above = below = True
        for x in (x0, x1):
            first, second = [p[axis] for p in x[:split]], [p[axis] for p in x[split:]]
            above = above and min(first) - max(second) > gap
            below = below and min(second) - max(first) > gap
        if above or below:
            return True
    return False


def _first_contact(kind: str, x0: list[list[int]], x1: list[list[int]], gap: int) -> Root | None:
    """The first time of contact."""
    if _stay_apart(x0, x1, _KINDS[kind].split, gap):
        return None
    cases = _cases(kind, x0, x1, gap)
    if any(_holds_at_start(case) for case in cases):
        return Root([0, 1], 0, 0, exact=True)
    best: Root | None = None
    for case in cases:
        if not case.reach or not case.size or any(certain_sign(side) < 0 for side in case.sides):
            continue
        for root in roots(case.reach):
            if best is not None and root.order(best) >= 0:
                break
            if root.sign_of(case.size) > 0 and all(root.sign_of(side) >= 0 for side in case.sides):
                best = root
                break
    return best


def _holds_at_start(case: _Case) -> bool:
    at_start = [p[0] if p else 0 for p in (case.size, case.reach, *case.sides)]
    return at_start[0] > 0 and min(at_start) >= 0


def _interval(root: Root) -> tuple[Fraction, Fraction]:
    """An interval around the root, or twice the root if it is found to be a rational number."""
    root.narrow(_BITS)
    lo, hi = root.bounds()
    guess = ((lo + hi) / 2).limit_denominator(_LARGEST_DENOMINATOR)
    if lo < guess < hi and value(root.poly, guess) == 0:
        return guess, guess
    return lo, hi
