"""Oracle of exact decisions: Python integers and textbook formulas, one case at a time.

Doubles are integers times a power of two, and no decision changes when all x (or y, or z) are multiplied by
the same positive number; so every function here takes integers, which `integers` makes from doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

Point = Sequence[int]


def integers(points: Sequence[Sequence[float]]) -> list[list[int]]:
    """The points with each axis times the power of two that makes it integers without common factor 2."""
    axes = []
    for axis in zip(*points, strict=True):
        ratios = [float(x).as_integer_ratio() for x in axis]
        scale = max(denominator for _, denominator in ratios)
        numbers = [numerator * (scale // denominator) for numerator, denominator in ratios]
        common = gcd(*numbers)
        shift = (common & -common).bit_length() - 1 if common else 0
        axes.append([number >> shift for number in numbers])
    return [list(point) for point in zip(*axes, strict=True)]


def sign(x: int | Fraction) -> int:
    return (x > 0) - (x < 0)


def minus(u: Point, v: Point) -> Point:
    return [x - y for x, y in zip(u, v, strict=True)]


def dot(u: Point, v: Point) -> int:
    return sum(x * y for x, y in zip(u, v, strict=True))


def cross(u: Point, v: Point) -> Point:
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def orient2d(a: Point, b: Point, c: Point) -> int:
    return sign((a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0]))


def orient3d(a: Point, b: Point, c: Point, d: Point) -> int:
    return -sign(dot(minus(d, a), cross(minus(b, a), minus(c, a))))


def normal_sign(a: Point, b: Point, c: Point) -> int:
    return next((sign(x) for x in cross(minus(b, a), minus(c, a)) if x != 0), 0)


def point_on_segment(p: Point, u: Point, v: Point) -> bool:
    return not any(cross(minus(u, p), minus(v, p))) and dot(minus(u, p), minus(v, p)) <= 0


def point_in_triangle(p: Point, a: Point, b: Point, c: Point) -> bool:
    edges = [(a, b), (b, c), (c, a)]
    normal = cross(minus(b, a), minus(c, a))
    if not any(normal):
        return any(point_on_segment(p, u, v) for u, v in edges)
    if dot(minus(p, a), normal) != 0:
        return False
    return all(dot(cross(minus(v, u), minus(p, u)), normal) >= 0 for u, v in edges)


def segments_meet(p: Point, q: Point, u: Point, v: Point) -> bool:
    """Solve p + s (q - p) = u + t (v - u) with s and t from 0 to 1."""
    pq, uv, pu = minus(q, p), minus(v, u), minus(u, p)
    normal = cross(pq, uv)
    if not any(normal):  # parallel, or points: if they meet, then at an end of one of them
        ends = [(p, u, v), (q, u, v), (u, p, q), (v, p, q)]
        return any(point_on_segment(*end) for end in ends)
    if dot(pu, normal) != 0:
        return False
    s, t, one = dot(cross(pu, uv), normal), dot(cross(pu, pq), normal), dot(normal, normal)
    return 0 <= s <= one and 0 <= t <= one


def _plane_point_in_triangle(p: Point, q: Point, s: int, t: int, a: Point, b: Point, c: Point) -> bool:
    """Whether the point of line pq at height 0 is in abc, where p has height s and q height t ≠ s.

    The point is (s q - t p) / (s - t): everything is multiplied by s - t to stay with integers.
    """
    point = [s * y - t * x for x, y in zip(p, q, strict=True)]
    return point_in_triangle(point, *[[(s - t) * x for x in v] for v in (a, b, c)])


def segment_triangle(p: Point, q: Point, a: Point, b: Point, c: Point) -> bool:
    edges = [(a, b), (b, c), (c, a)]
    normal = cross(minus(b, a), minus(c, a))
    if not any(normal):
        return any(segments_meet(p, q, u, v) for u, v in edges)
    s, t = dot(minus(p, a), normal), dot(minus(q, a), normal)
    if s * t > 0:
        return False
    if s != t:
        return _plane_point_in_triangle(p, q, s, t, a, b, c)
    low, high = Fraction(0), Fraction(1)  # in the plane: the part of the segment inside every edge
    for u, v in edges:
        at_p, at_q = (dot(cross(minus(v, u), minus(x, u)), normal) for x in (p, q))
        if at_p < 0 and at_q < 0:
            return False
        if at_p < 0 <= at_q:
            low = max(low, Fraction(at_p, at_p - at_q))
        if at_q < 0 <= at_p:
            high = min(high, Fraction(at_p, at_p - at_q))
    return low <= high


def crossing(p: Point, q: Point, a: Point, b: Point, c: Point) -> int:
    """`impinge.exact._triangles.crossing` with a perturbation that is a number: ε = 2^-k, k large enough.

    Between integers below 2^B, a volume that is not 0 is at least 1 and a normal has components below
    2^(2B + 4); so ε < 2^-(2B + 7) cannot change a volume's sign, nor ε² what ε decides. All coordinates are
    multiplied by 2^3k to keep them integers.
    """
    if point_in_triangle(p, a, b, c):
        return 2
    if not segment_triangle(p, q, a, b, c):  # apart by some distance, hence also with q + e
        return 0
    k = 2 * max(abs(x).bit_length() for v in (p, q, a, b, c) for x in v) + 8
    p, q, a, b, c = ([x << 3 * k for x in v] for v in (p, q, a, b, c))
    q = [q[0] + (1 << 2 * k), q[1] + (1 << k), q[2] + 1]
    normal = cross(minus(b, a), minus(c, a))
    s, t = dot(minus(p, a), normal), dot(minus(q, a), normal)
    if s * t >= 0 or not _plane_point_in_triangle(p, q, s, t, a, b, c):
        return 0
    return -sign(s)
