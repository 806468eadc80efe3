"""Distances at one time, slowly and in rational numbers, and the public ground truth."""

import csv
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

from ..exact.naive import dot

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "ccd" / "queries"
SPLIT = {"vertex_triangle": 1, "edge_edge": 2, "point_segment": 1}  # so many points are the first set


def distance_sq(first, second):
    """The squared distance of two hulls of at most two dimensions in all, in rational numbers.

    It is that of the origin from the hull of all differences of corners; the nearest point is in the hull of at most
    three of them that are not on one line, and the nearest of the plane (line, point) through them.
    """
    differences = [[b - a for a, b in zip(p, q, strict=True)] for p in first for q in second]
    found = [dot(w, w) for w in differences]
    for a, b in combinations(differences, 2):
        u = [y - x for x, y in zip(a, b, strict=True)]
        if any(u):
            s = Fraction(-dot(a, u)) / dot(u, u)
            if 0 <= s <= 1:
                found.append(dot(a, a) + s * dot(a, u))
    for a, b, c in combinations(differences, 3):
        u, v = ([y - x for x, y in zip(a, other, strict=True)] for other in (b, c))
        uu, uv, vv, au, av = dot(u, u), dot(u, v), dot(v, v), dot(a, u), dot(a, v)
        area = uu * vv - uv * uv
        if area:
            s, r = Fraction(uv * av - vv * au) / area, Fraction(uv * au - uu * av) / area
            if s >= 0 and r >= 0 and s + r <= 1:
                found.append(dot(a, a) + s * au + r * av)
    return min(found)


def distance_sq_at(kind, x0, x1, t):
    x = [
        [(1 - t) * Fraction(a) + t * Fraction(b) for a, b in zip(p, q, strict=True)]
        for p, q in zip(x0, x1, strict=True)
    ]
    return distance_sq(x[: SPLIT[kind]], x[SPLIT[kind] :])


def orders(kind):
    """All orders of the points that do not change the question."""
    if kind == "vertex_triangle":
        return [[0, *order] for order in permutations([1, 2, 3])]
    if kind == "edge_edge":
        pairs = [([0, 1], [2, 3]), ([2, 3], [0, 1])]
        return [[*a[::i], *b[::j]] for a, b in pairs for i in (1, -1) for j in (1, -1)]
    return [[0, 1, 2], [0, 2, 1]]


def ground_truth():
    """All handcrafted queries: kind, points at t = 0 and at t = 1, and whether they collide."""
    for path in sorted(DATA.glob("*/*/*.csv")):
        kind = {"vertex-face": "vertex_triangle", "edge-edge": "edge_edge"}[path.parent.name]
        with path.open(newline="") as file:
            rows = [[int(number) for number in row] for row in csv.reader(file)]
        for first in range(0, len(rows), 8):
            points = [[Fraction(*row[i : i + 2]) for i in (0, 2, 4)] for row in rows[first : first + 8]]
            yield kind, points[:4], points[4:], bool(rows[first][6])
