"""Which knot a polygon is, as far as one number tells: the determinant |Δ(−1)| of Alexander's polynomial.

It is 1 for what is not knotted, 3 for the trefoil (an overhand knot whose ends are joined) and 5 for the figure eight.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FAR = 10.0  # of the extent: how far beyond both ends an open polygon is closed


def determinant(x: Floats) -> int:
    """Of an open polygon, whose ends are joined far outside, each along the way from the middle to it.

    Seen from some direction, there are as many arcs, from one crossing underneath to the next, as crossings. At each of
    these the arc above, twice, less both below makes a row of a matrix, any minor of which is the determinant.
    """
    crossings = _crossings(_closed(x))
    if len(crossings) < 2:
        return 1
    under = np.array([where for where, _ in crossings])
    order = np.argsort(under)
    matrix = np.zeros((len(crossings), len(crossings)))
    for row, place in enumerate(order):
        _, over = crossings[place]
        arc_above = int(np.searchsorted(under[order], over)) % len(crossings)
        matrix[row, arc_above] += 2
        matrix[row, row] -= 1  # the arc that ends here
        matrix[row, (row + 1) % len(crossings)] -= 1
    return round(abs(np.linalg.det(matrix[1:, 1:])))


def _closed(x: Floats) -> Floats:
    """A closed polygon through the nodes of an open one, seen from a direction that is nowhere special."""
    middle, size = x.mean(axis=0), np.ptp(x, axis=0).max()
    ends = [middle + _FAR * size * (end - middle) / np.linalg.norm(end - middle) for end in (x[-1], x[0])]
    aside = middle + _FAR * size * np.array([0.31, 5.7, 3.9])
    turn = np.linalg.qr(np.array([[0.91, 0.32, 0.17], [-0.28, 0.87, 0.41], [0.11, -0.36, 0.93]]))[0]
    turned: Floats = np.concatenate([x, [ends[0], aside, ends[1]]]) @ turn
    return turned


def _crossings(x: Floats) -> list[tuple[float, float]]:
    """Where the polygon passes under itself and over itself, in numbers of sides from its start."""
    found, count = [], len(x)
    after = np.roll(x, -1, axis=0)
    for i, j in itertools.combinations(range(count), 2):
        if j - i in (1, count - 1):
            continue
        a, u, c, v = x[i], after[i] - x[i], x[j], after[j] - x[j]
        size = u[0] * v[1] - u[1] * v[0]
        if size == 0:
            continue
        s = ((c - a)[0] * v[1] - (c - a)[1] * v[0]) / size
        t = ((c - a)[0] * u[1] - (c - a)[1] * u[0]) / size
        if 0 <= s < 1 and 0 <= t < 1:
            first_is_above = a[2] + s * u[2] > c[2] + t * v[2]
            found.append((j + t, i + s) if first_is_above else (i + s, j + t))
    return found
