"""Motions whose first contact is known: name, then kind, x0 and x1, and the time (None: no contact)."""

from fractions import Fraction

import numpy as np

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
EDGE = [[0, 0, 0], [1, 0, 0]]


def vertex(start, end, triangle=TRIANGLE, triangle_end=None):
    return "vertex_triangle", [start, *triangle], [end, *(triangle_end or triangle)]


def edges(start, end, edge=EDGE, edge_end=None):
    return "edge_edge", [*start, *edge], [*end, *(edge_end or edge)]


def point(start, end, segment, segment_end=None):
    return "point_segment", [start, *segment], [end, *(segment_end or segment)]


THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
UP, DOWN = [[0.5, -1, 1], [0.5, 1, 1]], [[0.5, -1, -2], [0.5, 1, -2]]
BESIDE = float(np.nextafter(0.5, 1))

KNOWN = {
    "vertex through the triangle": (vertex([0.25, 0.25, 1], [0.25, 0.25, -2]), THIRD),
    "through its edge": (vertex([0.5, 0.5, 1], [0.5, 0.5, -2]), THIRD),
    "just outside its edge": (vertex([0.5, BESIDE, 1], [0.5, BESIDE, -2]), None),
    "through its corner": (vertex([1, 0, 1], [1, 0, -2]), THIRD),
    "just outside its corner": (vertex([1, -1e-300, 1], [1, -1e-300, -2]), None),
    "touching at the start": (vertex([0.25, 0.25, 0], [0.25, 0.25, 1]), Fraction(0)),
    "touching at the end": (vertex([0.25, 0.25, 1], [0.25, 0.25, 0]), Fraction(1)),
    "stops just before": (vertex([0.25, 0.25, 1], [0.25, 0.25, 1e-300]), None),
    "stops the smallest double before": (vertex([0.25, 0.25, 1], [0.25, 0.25, 5e-324]), None),
    "starts just after": (vertex([0.25, 0.25, -1e-300], [0.25, 0.25, -1]), None),
    "slides in, in the plane": (vertex([-1, 0.25, 0], [1, 0.25, 0]), HALF),
    "slides past, in the plane": (vertex([-1, 2, 0], [1, 2, 0]), None),
    "slides over a corner, in the plane": (vertex([-1, 1, 0], [1, 1, 0]), HALF),
    "slides along an edge": (vertex([-1, 0, 0], [2, 0, 0]), THIRD),
    "triangle without area": (vertex([1, 0, 1], [1, 0, -2], [[0, 0, 0], [2, 0, 0], [1, 0, 0]]), THIRD),
    "beside a triangle without area": (vertex([1, 1, 1], [1, 1, -2], [[0, 0, 0], [2, 0, 0], [1, 0, 0]]), None),
    "triangle that is a point": (vertex([1, 1, 1], [1, 1, -2], [[1, 1, 0]] * 3), THIRD),
    "beside a triangle that is a point": (vertex([1, 1, 1], [1, 2, -2], [[1, 1, 0]] * 3), None),
    "triangle that loses its area at contact": (
        vertex([0.5, -1, 0], [0.5, 1, 0], [[-1, 0, 0], [1, 0, 0], [0, 0, 1]], [[-1, 0, 0], [1, 0, 0], [0, 0, -1]]),
        HALF,
    ),
    "triangle that comes": (vertex([0.25, 0.25, 0], [0.25, 0.25, 0], [[x, y, 1] for x, y, _ in TRIANGLE],
                                   [[x, y, -2] for x, y, _ in TRIANGLE]), THIRD),
    "no motion, apart": (vertex([0.25, 0.25, 1], [0.25, 0.25, 1]), None),
    "no motion, touching": (vertex([0.25, 0.25, 0], [0.25, 0.25, 0]), Fraction(0)),
    "all points equal": (vertex([1, 1, 1], [1, 1, 1], [[1, 1, 1]] * 3), Fraction(0)),
    "all points equal at the end": (vertex([2, 3, 5], [1, 1, 1], TRIANGLE, [[1, 1, 1]] * 3), Fraction(1)),
    "far and fast": (vertex([0.25, 0.25, 1e6], [0.25, 0.25, -2e6]), THIRD),
    "far and fast, past it": (vertex([0.75, 0.75, 1e6], [0.75, 0.75, -2e6]), None),
    "everything moves far": (vertex([1e6, 0.25, 1], [3e6, 0.25, -2], [[1e6, 0, 0], [1e6 + 1, 0, 0], [1e6, 1, 0]],
                                    [[3e6, 0, 0], [3e6 + 1, 0, 0], [3e6, 1, 0]]), THIRD),
    "edges cross": (edges(UP, DOWN), THIRD),
    "edges cross at an end of both": (edges([[0, 0, 1], [0, 1, 1]], [[0, 0, -2], [0, 1, -2]]), THIRD),
    "edges pass each other": (edges([[2, -1, 1], [2, 1, 1]], [[2, -1, -2], [2, 1, -2]]), None),
    "edges pass by next to nothing": (edges([[1, 1e-300, 1], [1, 1, 1]], [[1, 1e-300, -2], [1, 1, -2]]), None),
    "parallel edges": (edges([[0.5, 0, 1], [2, 0, 1]], [[0.5, 0, -2], [2, 0, -2]]), THIRD),
    "parallel edges touch end to end": (edges([[1, 0, 1], [2, 0, 1]], [[1, 0, -2], [2, 0, -2]]), THIRD),
    "parallel edges, past each other": (edges([[1.5, 0, 1], [2, 0, 1]], [[1.5, 0, -2], [2, 0, -2]]), None),
    "edges on one line come together": (edges([[3, 0, 0], [4, 0, 0]], [[0, 0, 0], [1, 0, 0]]), Fraction(2, 3)),
    "edges on one line stay apart": (edges([[3, 0, 0], [4, 0, 0]], [[2, 0, 0], [1.5, 0, 0]]), None),
    "edges in one plane": (edges([[0.5, 1, 0], [0.5, 2, 0]], [[0.5, -2, 0], [0.5, -1, 0]]), THIRD),
    "an edge without length": (edges([[0.5, 0, 1]] * 2, [[0.5, 0, -2]] * 2), THIRD),
    "two edges without length": (edges([[0, 0, 1]] * 2, [[0, 0, -2]] * 2, [[0, 0, 0]] * 2), THIRD),
    "two edges without length, apart": (edges([[0, 1, 1]] * 2, [[0, 1, -2]] * 2, [[0, 0, 0]] * 2), None),
    "edges graze": (
        edges([[0, 0, -1], [0, 0, 1]], [[0, 0, -1], [0, 0, 1]], [[-1, 0, 0], [1, -1, 0]], [[-1, -1, 0], [5, 4, 0]]),
        HALF,
    ),
    "point through a segment": (point([0.5, 1], [0.5, -2], [[0, 0], [1, 0]]), THIRD),
    "point past a segment": (point([1.5, 1], [1.5, -2], [[0, 0], [1, 0]]), None),
    "point grazes a segment that turns": (point([0, 0], [0, 0], [[-1, 0], [1, -1]], [[-1, -1], [5, 4]]), HALF),
    "point meets a point": (point([0, 1], [0, -2], [[0, 0], [0, 0]]), THIRD),
}  # fmt: skip


# The gap comes third; then, for a time that is not rational, a function of t that is positive before it and negative
# after it, and otherwise the time.
WITH_GAP = {
    # x from −2 to 0 at height 1/2 over a segment from 0 to 1: at distance 1 of its end when x = −√3/2.
    "to an end": (point([-2, 0.5], [0, 0.5], [[0, 0], [1, 0]]), 1.0, lambda t: 16 * (1 - t) ** 2 - 3, None),
    "to a corner": (vertex([-2, 0, 0.5], [0, 0, 0.5]), 1.0, lambda t: 16 * (1 - t) ** 2 - 3, None),
    "to two ends": (edges([[-2, 0, 0.5], [-2, -1, 0.5]], [[0, 0, 0.5], [0, -1, 0.5]]), 1.0,
                    lambda t: 16 * (1 - t) ** 2 - 3, None),
    "to the face": (vertex([0.25, 0.25, 1], [0.25, 0.25, -2]), 0.25, None, Fraction(1, 4)),
    "between edges": (edges(UP, DOWN), 0.25, None, Fraction(1, 4)),
    "between parallel edges": (edges([[0.5, 0, 1], [2, 0, 1]], [[0.5, 0, -2], [2, 0, -2]]), 0.25, None, Fraction(1, 4)),
    "slides in at the gap": (vertex([-1, 0.25, 0.5], [1, 0.25, 0.5]), 0.5, None, HALF),
    "grazes": (point([-1, 1], [1, 1], [[0, 0], [0, 0]]), 1.0, None, HALF),
    "grazes along an edge": (vertex([-1, -1, 0], [2, -1, 0]), 1.0, None, THIRD),
    "at the start": (vertex([0.25, 0.25, 1], [0.25, 0.25, 2]), 1.0, None, Fraction(0)),
    "no motion, at the gap": (edges(UP, UP), 1.0, None, Fraction(0)),
}  # fmt: skip
