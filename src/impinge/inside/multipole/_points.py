"""Points of the multipole method: root coordinates, sorting by start cell, and points far from the whole mesh."""

import math

import numpy as np

from impinge._jit import parallel, part
from impinge.inside.multipole._harmonics import singular

RING = 2  # boxes of the root's size around it on every side: beyond, the moments of the root are enough
SIDE = 2 * RING + 1
INNER, OUTER = 3, 1  # deepest levels of start cells in the root, and around it


@part
def _bin(x, y, z, inner, outer):
    """Start cell of a point in root coordinates: in the root, around it, or the last for outside."""
    if not (-RING <= x < RING + 1 and -RING <= y < RING + 1 and -RING <= z < RING + 1):
        return inner * inner * inner + (SIDE * outer) * (SIDE * outer) * (SIDE * outer)
    if 0.0 <= x < 1.0 and 0.0 <= y < 1.0 and 0.0 <= z < 1.0:
        return (np.int64(z * inner) * inner + np.int64(y * inner)) * inner + np.int64(x * inner)
    i, j, k = np.int64((x + RING) * outer), np.int64((y + RING) * outer), np.int64((z + RING) * outer)
    most = SIDE * outer - 1  # the sums may be rounded up
    return inner * inner * inner + (min(k, most) * SIDE * outer + min(j, most)) * SIDE * outer + min(i, most)


@part
def _root(points, i, scale, other_scale, low, per_side):
    """Root coordinates of a point."""
    return (
        (points[i, 0] * scale * other_scale - low[0]) * per_side,
        (points[i, 1] * scale * other_scale - low[1]) * per_side,
        (points[i, 2] * scale * other_scale - low[2]) * per_side,
    )


@parallel(grain=1)
def count_bins(first, stop, size, points, scale, other_scale, low, per_side, inner, outer, bins, counts):
    """Start cells of chunks of `size` points; counts : (chunks, bins).

    inner, outer : start cells along a side of the root, and of the boxes around it.
    """
    for chunk in range(first, stop):
        for i in range(chunk * size, min((chunk + 1) * size, len(points))):
            x, y, z = _root(points, i, scale, other_scale, low, per_side)
            here = _bin(x, y, z, inner, outer)
            bins[i] = here
            counts[chunk, here] += 1


@parallel(grain=1)
def fill_bins(first, stop, size, points, scale, other_scale, low, per_side, bins, starts, roots, places):
    """Root coordinates sorted by start cell; starts : (chunks, bins) where points of a chunk go."""
    for chunk in range(first, stop):
        for i in range(chunk * size, min((chunk + 1) * size, len(points))):
            at = starts[chunk, bins[i]]
            starts[chunk, bins[i]] += 1
            roots[at, 0], roots[at, 1], roots[at, 2] = _root(points, i, scale, other_scale, low, per_side)
            places[at] = i


@parallel(grain=256)
def evaluate_outside(first, stop, order, begin, roots, places, moments, winding):
    """Winding numbers of points far from the whole mesh: −1/4π Σ conj(S) M of the root, M from degree 1 on."""
    row = np.empty((order + 1) * (order + 1))
    for i in range(begin + first, begin + stop):
        x, y, z = roots[i, 0] - 0.5, roots[i, 1] - 0.5, roots[i, 2] - 0.5
        total = 0.0
        if max(abs(x), abs(y), abs(z)) < 1e100:  # beyond it, and at infinity, 0
            singular(order, x, y, z, row)
            for n in range(1, order + 1):
                base = n * n
                total += row[base] * moments[base - 1]
                for k in range(base + 1, base + 2 * n + 1):
                    total += 2.0 * row[k] * moments[k - 1]
        winding[places[i]] = -total / (4.0 * math.pi)
