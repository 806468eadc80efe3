"""Source tree of the multipole method: boxes of triangles, how far these reach, and their moments."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel, parallel, part
from impinge._lanes import LANES
from impinge.inside.multipole._harmonics import add_triangle, finish_moments

DEEPEST = 20  # levels; a box there is a millionth of the root
Integers = NDArray[np.int64]


class Boxes(NamedTuple):
    """Boxes that hold triangles (by their middle), root first and by level, sons of a box side by side."""

    levels: Integers  # 0 for the root
    begins: Integers  # triangles, in the order of the tree
    ends: Integers
    cells: Integers  # (n, 3) place of the box on its level
    sons: Integers  # number of the first
    counts: Integers  # how many sons; 0 in leaves


@part
def spread(word):
    """The lowest 20 bits of a word, two zeros between any two."""
    word = (word | word << 32) & 0x1F00000000FFFF
    word = (word | word << 16) & 0x1F0000FF0000FF
    word = (word | word << 8) & 0x100F00F00F00F00F
    word = (word | word << 4) & 0x10C30C30C30C30C3
    return (word | word << 2) & 0x1249249249249249


@part
def cell_of(place):
    """Number of the smallest box along an axis that holds a place from 0 to 1."""
    return min(max(np.int64(math.floor(place * 2.0**DEEPEST)), 0), (1 << DEEPEST) - 1)


@parallel(grain=4096)
def encode(first, stop, triangles, codes):
    """Morton codes of the middles of triangles inside the unit box, x in the lowest bit."""
    for t in range(first, stop):
        x = cell_of((triangles[t, 0] + triangles[t, 3] + triangles[t, 6]) / 3.0)
        y = cell_of((triangles[t, 1] + triangles[t, 4] + triangles[t, 7]) / 3.0)
        z = cell_of((triangles[t, 2] + triangles[t, 5] + triangles[t, 8]) / 3.0)
        codes[t] = spread(x) | spread(y) << 1 | spread(z) << 2


@part
def _end_of(codes, begin, end, shift, octant):
    """Where the triangles of an octant end, in a box whose triangles are sorted by code."""
    while begin < end:
        middle = (begin + end) // 2
        if codes[middle] >> shift & 7 <= octant:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def _are_large(triangles, begin, end, side):
    """Whether most of the triangles are longer than the side of their box: those of smaller boxes would be as near."""
    large = 0
    for t in range(begin, end):
        longest = 0.0
        for k in range(3):
            a, b, c = triangles[t, k], triangles[t, k + 3], triangles[t, k + 6]
            longest = max(longest, max(a, b, c) - min(a, b, c))
        large += longest > side
    return 2 * large > end - begin


@kernel
def split(codes, triangles, leaf, depth, levels, begins, ends, cells, sons, counts):
    """Split boxes of more than `leaf` triangles down to level `depth`; how many boxes there are.

    Negative if there is no room for them: call again with larger arrays.
    """
    levels[0], begins[0], ends[0], cells[0] = 0, 0, len(codes), 0
    made, at = 1, 0
    while at < made:
        sons[at], counts[at] = made, 0
        level, begin, end = levels[at], begins[at], ends[at]
        if end - begin > leaf and level < depth and not _are_large(triangles, begin, end, 0.5**level):
            if made + 8 > len(levels):
                return -made
            shift = 3 * (DEEPEST - level - 1)
            while begin < end:
                octant = codes[begin] >> shift & 7
                until = _end_of(codes, begin, end, shift, octant)
                levels[made], begins[made], ends[made] = level + 1, begin, until
                for axis in range(3):
                    cells[made, axis] = 2 * cells[at, axis] + (octant >> axis & 1)
                made, begin = made + 1, until
            counts[at] = made - sons[at]
        at += 1
    return made


@parallel(grain=8)
def measure_radii(first, stop, triangles, levels, begins, ends, cells, radii):
    """Largest distance of a corner of a box's triangles from its middle, in its sides: these may stick out."""
    for c in range(first, stop):
        sides = 2.0 ** levels[c]
        x, y, z = (cells[c, 0] + 0.5) / sides, (cells[c, 1] + 0.5) / sides, (cells[c, 2] + 0.5) / sides
        farthest = 0.0
        for t in range(begins[c], ends[c]):
            for k in range(0, 9, 3):
                dx, dy, dz = triangles[t, k] - x, triangles[t, k + 1] - y, triangles[t, k + 2] - z
                farthest = max(farthest, dx * dx + dy * dy + dz * dz)
        radii[c] = math.sqrt(farthest) * sides


@part
def _sum_triangles(order, circle, triangles, begin, end, scale, x, y, z, sums, re, im, out):
    """Moments of triangles about (x, y, z), which is in units of 1 / scale, as the moments are."""
    sums[:] = 0.0
    for t in range(begin, end):
        add_triangle(
            order, triangles[t, 0] * scale - x, triangles[t, 1] * scale - y, triangles[t, 2] * scale - z,
            triangles[t, 3] * scale - x, triangles[t, 4] * scale - y, triangles[t, 5] * scale - z,
            triangles[t, 6] * scale - x, triangles[t, 7] * scale - y, triangles[t, 8] * scale - z, circle, sums, re, im,
        )  # fmt: skip
    finish_moments(order, circle, sums, out)


@parallel(grain=64)
def fill_leaf_moments(first, stop, order, circle, triangles, levels, begins, ends, cells, counts, moments):
    """Moments of the boxes without sons, in units of their side; moments : (boxes, (order + 1)²)."""
    sums, re, im = np.empty((order + 1, order + 1, 2)), np.empty(order + 1), np.empty(order + 1)
    for c in range(first, stop):
        if counts[c] == 0:
            _sum_triangles(
                order, circle, triangles, begins[c], ends[c], 2.0 ** levels[c], cells[c, 0] + 0.5, cells[c, 1] + 0.5,
                cells[c, 2] + 0.5, sums, re, im, moments[c],
            )  # fmt: skip


@part
def _area(t, scale):
    """Area of a triangle, its coordinates times a scale."""
    ux, uy, uz = (t[3] - t[0]) * scale, (t[4] - t[1]) * scale, (t[5] - t[2]) * scale
    vx, vy, vz = (t[6] - t[0]) * scale, (t[7] - t[1]) * scale, (t[8] - t[2]) * scale
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return 0.5 * math.sqrt(x * x + y * y + z * z)


@parallel(grain=64)
def fill_own_moments(first, stop, order, circle, triangles, table, middles, radii, areas, moments):
    """Moments of leaves about the middle of their triangles, which makes these reach less far, in sides of the box.

    middles : (leaves, 3) in its coordinates; radii : how far they reach; areas : of all triangles; moments : (leaves,
    (order + 1)²)
    """
    sums, re, im = np.empty((order + 1, order + 1, 2)), np.empty(order + 1), np.empty(order + 1)
    for leaf in range(first, stop):
        scale = 2.0 ** table[leaf, 0]
        begin, end = table[leaf, 5], table[leaf, 6]
        for axis in range(3):
            low, high = np.inf, -np.inf
            for t in range(begin, end):
                for k in range(axis, 9, 3):
                    low, high = min(low, triangles[t, k]), max(high, triangles[t, k])
            middles[leaf, axis] = (0.5 * low + 0.5 * high) * scale
        x, y, z = middles[leaf, 0], middles[leaf, 1], middles[leaf, 2]
        farthest, area = 0.0, 0.0
        for t in range(begin, end):
            for k in range(0, 9, 3):
                dx, dy, dz = (
                    triangles[t, k] * scale - x,
                    triangles[t, k + 1] * scale - y,
                    triangles[t, k + 2] * scale - z,
                )
                farthest = max(farthest, dx * dx + dy * dy + dz * dz)
            area += _area(triangles[t], scale)
        radii[leaf], areas[leaf] = math.sqrt(farthest), area
        _sum_triangles(order, circle, triangles, begin, end, scale, x, y, z, sums, re, im, moments[leaf])


@parallel(grain=64)
def fill_chunks(first, stop, table, triangles, chunks):
    """Triangles of leaves in their own coordinates, LANES side by side; fewer are filled up with points far away."""
    for leaf in range(first, stop):
        scale = 2.0 ** table[leaf, 0]
        begin, end = table[leaf, 5], table[leaf, 6]
        for place in range(-(-(end - begin) // LANES) * LANES):
            at = (table[leaf, 4] + place // LANES) * 9 * LANES + place % LANES
            for k in range(9):
                middle = table[leaf, 1 + k % 3] + 0.5
                chunks[at + k * LANES] = triangles[begin + place, k] * scale - middle if begin + place < end else 16.0


@parallel(grain=64)
def gather_moments(first, stop, start, to_father, cells, sons, counts, moments):
    """Moments of the boxes start + first ... of one level from their sons'; to_father : (8, k, k) by octant."""
    size = moments.shape[1]
    for c in range(start + first, start + stop):
        for son in range(sons[c], sons[c] + counts[c]):
            octant = (cells[son, 0] & 1) | (cells[son, 1] & 1) << 1 | (cells[son, 2] & 1) << 2
            for q in range(size):
                total = 0.0
                for s in range(size):
                    total += to_father[octant, q, s] * moments[son, s]
                moments[c, q] += total
