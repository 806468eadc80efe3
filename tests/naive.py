"""Slow and obviously right versions: rational arithmetic, or NumPy over all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from impinge import Mesh

Vector = tuple[Fraction, Fraction, Fraction]
Triangle = tuple[Vector, Vector, Vector]


def rational(point: Sequence[float]) -> Vector:
    x, y, z = (Fraction(float(c)) for c in point)
    return x, y, z


def triangles(mesh: Mesh) -> list[Triangle]:
    corners = [rational(vertex) for vertex in mesh.vertices]
    return [(corners[a], corners[b], corners[c]) for a, b, c in mesh.faces]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def step(a: Vector, t: Fraction, d: Vector) -> Vector:
    return a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]


def dot(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def nearest_on_segment(p: Vector, a: Vector, b: Vector) -> Vector:
    edge = minus(b, a)
    length_sq = dot(edge, edge)
    if length_sq == 0:
        return a
    return step(a, min(max(dot(minus(p, a), edge) / length_sq, Fraction(0)), Fraction(1)), edge)


def nearest_on_triangle(p: Vector, triangle: Triangle) -> Vector:
    """The exact nearest point: the foot of p if it is in the triangle, else the nearest point of an edge."""
    a, b, c = triangle
    normal = cross(minus(b, a), minus(c, a))
    if any(normal):
        foot = step(p, dot(minus(a, p), normal) / dot(normal, normal), normal)
        sides = [dot(cross(minus(v, u), minus(foot, u)), normal) for u, v in ((a, b), (b, c), (c, a))]
        if min(sides) >= 0:
            return foot
    on_edges = [nearest_on_segment(p, u, v) for u, v in ((a, b), (b, c), (c, a))]
    return min(on_edges, key=lambda q: dot(minus(q, p), minus(q, p)))


def distance_sq(p: Vector, triangle: Triangle) -> Fraction:
    away = minus(nearest_on_triangle(p, triangle), p)
    return dot(away, away)


def root(x: Fraction) -> float:
    """√x to an ulp, for any positive rational."""
    if x == 0:
        return 0.0
    shift = 2 * ((x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 64)
    scaled = x * Fraction(2) ** shift
    return math.ldexp(math.isqrt(int(scaled)), -shift // 2)


# Winding numbers need signs only, and no division: integers will do, which are much faster.

Whole = tuple[int, int, int]


def whole(*arrays: NDArray[np.float64]) -> list[list[Whole]]:
    """The rows of all arrays times the power of two that makes all of them integers."""
    ratios = [[[float(x).as_integer_ratio() for x in row] for row in array] for array in arrays]
    scale = max(below for array in ratios for row in array for _, below in row)
    return [[tuple(above * (scale // below) for above, below in row) for row in array] for array in ratios]


def _on_triangle(a: Whole, b: Whole, c: Whole) -> bool:
    """Whether the origin lies in the closed triangle: it is no farther than 0 in rational arithmetic."""
    if any(min(axis) > 0 or max(axis) < 0 for axis in zip(a, b, c, strict=True)):
        return False
    if dot(a, cross(b, c)) != 0:
        return False
    corners = tuple(tuple(Fraction(x) for x in vertex) for vertex in (a, b, c))
    zero = Fraction(0)
    return distance_sq((zero, zero, zero), corners) == 0  # type: ignore[arg-type]


def _crossing(d: Whole, a: Whole, b: Whole, c: Whole) -> int | None:
    """+1 where the ray t d, t > 0, leaves through the triangle, −1 where it enters, None in doubt."""
    normal = cross(minus(b, a), minus(c, a))
    if not any(normal):
        return 0
    slope, height = dot(d, normal), dot(a, normal)
    if slope == 0:
        return 0 if height != 0 else None
    if (height > 0) != (slope > 0):
        return 0
    volumes = [dot(d, cross(u, v)) for u, v in ((a, b), (b, c), (c, a))]
    if min(volumes) > 0 or max(volumes) < 0:
        return 1 if slope > 0 else -1
    return 0 if min(volumes) < 0 < max(volumes) else None


def windings(mesh: Mesh, points: NDArray[np.float64]) -> list[int | None]:
    """Winding numbers of a closed mesh by exact ray crossings; None on the surface.

    The first of some odd directions that no edge, vertex or plane is in the way of decides.
    """
    vertices, queries = whole(mesh.vertices, points)
    numbers = []
    for p in queries:
        corners = [minus(vertex, p) for vertex in vertices]
        faces = [(corners[a], corners[b], corners[c]) for a, b, c in mesh.faces]
        if any(_on_triangle(*face) for face in faces):
            numbers.append(None)
            continue
        for d in product((101, -103, 107, 331), (777, -1111, 1313), (1717, 1919, -2323)):
            crossings = [_crossing(d, *face) for face in faces]
            if None not in crossings:
                numbers.append(sum(crossings))
                break
        else:
            raise AssertionError("every direction was degenerate")
    return numbers


def classify(mesh: Mesh, points: NDArray[np.float64]) -> NDArray[np.int8]:
    """−1, 0, +1 by exact ray crossings; inside is a winding number of at least 1."""
    return np.array([0 if w is None else (1 if w >= 1 else -1) for w in windings(mesh, points)], np.int8)


def solid_angle_sum(mesh: Mesh, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ Ω_k / 4π by atan2 over all pairs (Van Oosterom and Strackee); num == 0 contributes nothing."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]][None] - points[:, None] for k in range(3))
    num = np.einsum("nkd,nkd->nk", a, np.cross(b, c))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    ab, ac, bc = ((u * v).sum(axis=2) for u, v in ((a, b), (a, c), (b, c)))
    den = la * lb * lc + ab * lc + ac * lb + bc * la
    return np.where(num == 0, 0.0, 2 * np.arctan2(num, den)).sum(axis=1) / (4 * np.pi)


def closest(mesh: Mesh, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Lowest nearest face and exact distance (rounded) for every point, by rational arithmetic."""
    faces = triangles(mesh)
    found = []
    for point in points:
        p = rational(point)
        squares = [distance_sq(p, face) for face in faces]
        found.append((squares.index(min(squares)), root(min(squares))))
    return np.array([f for f, _ in found], np.int64), np.array([d for _, d in found])
