"""Walk over the evaluation tree of the multipole method: local expansions and near lists, cell by cell.

A cell σ and a cluster ω are far from each other if the middles of their boxes are at least d max(r_σ, r_ω) +
min(r_σ, r_ω) apart: [Muth2006] (16) for equal radii, and what its error bound needs for others. A cell looks at the
near clusters of its father: far ones, of the father's size or their sons, come into its local expansion by one of a
fixed set of matrices; the rest is its own near list. Cells are boxes of the grid that the source tree is made of, in
and around the root.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel, parallel, part
from impinge._lanes import LANES
from impinge.inside.multipole._evaluate import evaluate_cell, make_scratch
from impinge.inside.multipole._sources import DEEPEST
from impinge.inside.multipole._translations import add_converted, add_product, expand

HIGHEST_DENSE = 12  # order up to which there are matrices: at most 100 MB of them
HALF_DIAGONAL = 0.75**0.5  # of a box, in sides
LEVEL, X, Y, Z, SON, SONS, EQUAL, DOUBLE = range(8)  # columns of `Far.boxes`
CLUSTER, NUMBER, OCTANT, SIZE = range(4)  # columns of `Path.found`: which one, its matrix, where, in sides of the cell
M2L, L2L, L2P, M2P, NEAR, CELLS = range(6)  # what is counted


class Operators(NamedTuple):
    """Matrices between boxes, in the precision of the run; offsets are in sides of σ, from ω to σ."""

    matrices: NDArray[Any]  # of all offsets, flat: rows of ω's moments, columns of σ's coefficients; for high orders
    # none, but the real parts of all S of the offsets,
    imaginary: NDArray[Any]  # and their imaginary parts
    equal: NDArray[np.int16]  # (span, span, span) number of the matrix of |offset| for ω as large as σ; −1: none
    double: NDArray[np.int16]  # of |offset| − 1/2 for ω twice as large
    to_son: NDArray[Any]  # (8, columns, width) flat, by octant
    weights: NDArray[Any]  # (width,) what coefficients count in J
    signs: NDArray[Any]  # (8, width) flat, of coefficients mirrored along the axes of the bits
    moment_signs: NDArray[Any]  # (8, rows) flat, the same of moments


class Far(NamedTuple):
    """Clusters, as the walk sees them."""

    boxes: NDArray[np.int32]  # (n, 8) level, place, first son, number of sons; EQUAL: squared distance from which a
    # cell of the same size is far, rounded up; DOUBLE: four times that of a cell of half the size, in its sides
    ranges: NDArray[np.int64]  # (n, 2) leaves from and to
    moments: NDArray[Any]  # rows, flat


class Model(NamedTuple):
    """When to refine cells: costs, in any unit, and what limits them."""

    pair: float  # of a point and a leaf
    leaf: float  # of taking a leaf at hand
    matrix: float  # of a cluster looked at by a son
    points: float  # expected in the root, where they are not known
    depth: int  # cells are refined down to this level wherever clusters are near; −1: where it costs less


class Path(NamedTuple):
    """Where a thread is in the tree: coefficients and near lists of a cell and of its fathers, and work space."""

    sums: NDArray[Any]  # (8, width) flat: by octant of the offset
    complexes: NDArray[Any]  # (4, width) flat: moments and coefficients of `add_converted`
    locals: NDArray[Any]  # (levels, width) flat
    lists: NDArray[np.int32]  # (levels, clusters)
    lengths: NDArray[np.int64]  # of the lists
    found: NDArray[np.int32]  # (clusters, 4) far ones: CLUSTER, NUMBER, OCTANT, SIZE
    listed: NDArray[np.int64]  # (clusters, 2) ranges of leaves
    stack: NDArray[np.int64]  # cells to come: level, place, points from and to
    tally: NDArray[np.int64]  # counts


@part
def make_path(clusters, width, like):
    return Path(
        np.empty(8 * width, like.dtype), np.empty(4 * width, like.dtype), np.empty((DEEPEST + 1) * width, like.dtype),
        np.empty((DEEPEST + 1, clusters), np.int32), np.empty(DEEPEST + 1, np.int64), np.empty((clusters, 4), np.int32),
        np.empty((clusters, 2), np.int64), np.empty((8 * DEEPEST + 8, 6), np.int64), np.zeros(8, np.int64),
    )  # fmt: skip


@part
def _convert(order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes):
    """Add moments of the clusters in `found` to the sums of the octants of their offsets.

    All at once, after they are found: the compiler would count references to the arrays for each of them.
    """
    if order > HIGHEST_DENSE:
        _convert_high(order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes)
    else:
        for k in range(count):
            c, number, octant = np.int64(found[k, CLUSTER]), np.int64(found[k, NUMBER]), np.int64(found[k, OCTANT])
            for block in range(0, width, LANES):
                add_product(
                    sums, np.uint64(octant * width + block), matrices, np.uint64(number * rows * width + block),
                    moments, np.uint64(c * rows), moment_signs, np.uint64(octant * rows), np.uint64(rows),
                    np.uint64(width),
                )  # fmt: skip


@part
def _note(found, count, c, number, size, dx, dy, dz):
    """Note a cluster, `size` times as large as the cell, that is to be converted."""
    found[count, CLUSTER], found[count, NUMBER], found[count, SIZE] = c, number, size
    found[count, OCTANT] = (1 if dx < 0 else 0) | (2 if dy < 0 else 0) | (4 if dz < 0 else 0)


@kernel
def _convert_high(order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes):
    """The same without matrices."""
    m_re, m_im = complexes[:width], complexes[width : 2 * width]
    l_re, l_im = complexes[2 * width : 3 * width], complexes[3 * width :]
    size = (2 * order + 1) * (2 * order + 1)
    for entry in range(count):
        c, number, octant = np.int64(found[entry, CLUSTER]), np.int64(found[entry, NUMBER]), found[entry, OCTANT]
        l_re[0], scale = 0.0, 1.0 * found[entry, SIZE]  # of degree 0
        for n in range(1, order + 1):
            scale *= found[entry, SIZE]  # in sides of the cell
            for k in range(n * n, (n + 1) * (n + 1)):
                l_re[k] = moments[c * rows + k - 1] * moment_signs[octant * rows + k - 1] * scale
        expand(order, l_re, m_re, m_im)
        for k in range(width):
            l_re[k], l_im[k] = 0.0, 0.0
        add_converted(order, matrices, imaginary, number * size, m_re, m_im, l_re, l_im)
        for n in range(order + 1):
            to, at = octant * width + n * n, n * n + n
            sums[to] += l_re[at]
            for m in range(1, n + 1):
                sums[to + 2 * m - 1] += l_re[at + m]
                sums[to + 2 * m] += l_im[at + m]


@part
def _number(table, x, y, z):
    span = table.shape[0]
    return table[x, y, z] if x < span and y < span and z < span else -1


@part
def enter(
    order, level, ix, iy, iz, boxes, ranges, moments, matrices, imaginary, equal, double, to_son, signs, moment_signs,
    sums, complexes, locals, lists, lengths, found, tally,
):  # fmt: skip
    """Local coefficients and near list of a cell from its father's; its near leaves, and how many sons its list has.

    An empty array of matrices leaves the coefficients out.
    """
    width, rows = len(signs) // 8, len(moment_signs) // 8
    columns = len(to_son) // (8 * width)
    length, near, sons, converted = 0, 0, 0, 0
    for entry in range(1 if level == 0 else lengths[level - 1]):
        w = 0 if level == 0 else np.int64(lists[level - 1, entry])
        first, last = w, w + 1
        if boxes[w, LEVEL] == level - 1:
            # twice the offset, from ω's middle, 2 c + 1, to σ's, i + 1/2
            dx, dy, dz = 2 * (ix - 2 * boxes[w, X]) - 1, 2 * (iy - 2 * boxes[w, Y]) - 1, 2 * (iz - 2 * boxes[w, Z]) - 1
            if dx * dx + dy * dy + dz * dz >= boxes[w, DOUBLE]:
                number = _number(double, abs(dx) // 2, abs(dy) // 2, abs(dz) // 2)
                if number >= 0:
                    _note(found, converted, w, number, 2, dx, dy, dz)
                    converted += 1
                    continue
            if boxes[w, SONS] > 0:
                first = np.int64(boxes[w, SON])
                last = first + boxes[w, SONS]
        for c in range(first, last):
            if boxes[c, LEVEL] == level:
                dx, dy, dz = ix - boxes[c, X], iy - boxes[c, Y], iz - boxes[c, Z]
                if dx * dx + dy * dy + dz * dz >= boxes[c, EQUAL]:
                    number = _number(equal, abs(dx), abs(dy), abs(dz))
                    if number >= 0:
                        _note(found, converted, c, number, 1, dx, dy, dz)
                        converted += 1
                        continue
            lists[level, length] = c
            length += 1
            near += ranges[c, 1] - ranges[c, 0]
            sons += boxes[c, SONS]
    lengths[level] = length
    tally[M2L] += converted
    if len(matrices) > 0:
        for q in range(8 * width):
            sums[q] = 0.0
        _convert(order, moments, matrices, imaginary, moment_signs, found, converted, width, rows, sums, complexes)
        _finish_local(level, ix, iy, iz, to_son, signs, width, columns, sums, locals)
        tally[L2L] += 1 if level > 0 else 0
    return near, sons


@part
def _finish_local(level, ix, iy, iz, to_son, signs, width, columns, sums, locals):
    """Put the octants together, and add what the father knows."""
    base = level * width
    for q in range(width):
        total = sums[q]
        for octant in range(1, 8):
            total += sums[octant * width + q] * signs[octant * width + q]
        locals[base + q] = total
    if level > 0:
        octant = (ix & 1) | (iy & 1) << 1 | (iz & 1) << 2
        for block in range(0, width, LANES):
            add_product(
                locals, np.uint64(base + block), to_son, np.uint64(octant * columns * width + block), locals,
                np.uint64(base - width), signs, np.uint64(0), np.uint64(columns), np.uint64(width),
            )  # fmt: skip


@part
def should_refine(level, points, made, near, sons, model):
    """Whether the sons of a cell, `made` of them, cost less than its near leaves: a quarter of these stays near."""
    if sons == 0 or level >= DEEPEST:
        return False
    if model.depth >= 0:
        return level < model.depth
    return 0.75 * near * (points * model.pair + min(points, 1.0) * model.leaf) > made * sons * model.matrix


@part
def push_path(s, starts, level, stack):
    """Put the cell of some level on the way to start cell s on the stack."""
    up = starts[s, 0] - level
    stack[0, 0] = level
    stack[0, 1], stack[0, 2], stack[0, 3] = starts[s, 1] >> up, starts[s, 2] >> up, starts[s, 3] >> up
    stack[0, 4], stack[0, 5] = starts[s, 4], starts[s, 5]


@part
def near_leaves(ranges, lists, level, length, listed):
    """Ranges of leaves of a near list, neighbours joined; how many."""
    count = 0
    for entry in range(length):
        c = lists[level, entry]
        if count > 0 and listed[count - 1, 1] == ranges[c, 0]:
            listed[count - 1, 1] = ranges[c, 1]
        else:
            listed[count, 0], listed[count, 1] = ranges[c, 0], ranges[c, 1]
            count += 1
    return count


@part
def _sort_octants(points, places, begin, end, x, y, z, kept, kept_places, bounds):
    """Sort points of a cell with middle (x, y, z) by octant; bounds[o] : where octant o begins."""
    bounds[:] = 0
    for i in range(begin, end):
        octant = (points[i, 0] >= x) + 2 * (points[i, 1] >= y) + 4 * (points[i, 2] >= z)
        kept_places[i - begin, 1] = octant
        bounds[octant + 1] += 1
    bounds[0] = begin
    for octant in range(8):
        bounds[octant + 1] += bounds[octant]
    for i in range(begin, end):
        octant = kept_places[i - begin, 1]
        at = bounds[octant] - begin
        bounds[octant] += 1
        kept[at, 0], kept[at, 1], kept[at, 2] = points[i, 0], points[i, 1], points[i, 2]
        kept_places[at, 0] = places[i]
    for i in range(begin, end):
        points[i, 0], points[i, 1], points[i, 2] = kept[i - begin, 0], kept[i - begin, 1], kept[i - begin, 2]
        places[i] = kept_places[i - begin, 0]
    for octant in range(8, 0, -1):  # each was moved on to where its octant ends
        bounds[octant] = bounds[octant - 1]
    bounds[0] = begin


@parallel(grain=1)
def walk(first, stop, order, starts, points, places, given, far, leaves, operators, model, winding, status, counts):
    """Winding numbers of points: those of start cells first to stop, refined as the model says.

    starts : (cells, 6) level, place, points from and to; points are sorted by start cell, and here further;
    counts : (cells, 8) of operations.
    """
    boxes, ranges, moments = far
    matrices, imaginary, equal, double, to_son, weights, signs, moment_signs = operators
    table, middles, leaf_far, chunks, corners, leaf_moments, constants = leaves
    width, largest = len(weights), 0
    sums, complexes, locals, lists, lengths, found, listed, stack, tally = make_path(len(boxes), width, weights)
    rows, at_hand, nearest, scratch = make_scratch(order, chunks)
    for s in range(first, stop):
        largest = max(largest, starts[s, 5] - starts[s, 4])
    kept, kept_places, bounds = np.empty((largest, 3)), np.empty((largest, 2), np.int64), np.empty(9, np.int64)
    for s in range(first, stop):
        tally[:] = 0
        push_path(s, starts, 0, stack)
        top = 1
        while top > 0:
            top -= 1
            level, ix, iy, iz, begin, end = stack[top]
            near, sons = enter(
                order, level, ix, iy, iz, boxes, ranges, moments, matrices, imaginary, equal, double, to_son, signs,
                moment_signs, sums, complexes, locals, lists, lengths, found, tally,
            )  # fmt: skip
            if level < starts[s, 0]:
                push_path(s, starts, level + 1, stack)
                top = 1
                continue
            tally[CELLS] += 1
            if should_refine(level, 1.0 * (end - begin), min(end - begin, 8), near, sons, model):
                side = 0.5**level
                _sort_octants(
                    points, places, begin, end, (ix + 0.5) * side, (iy + 0.5) * side, (iz + 0.5) * side, kept,
                    kept_places, bounds,
                )  # fmt: skip
                for octant in range(8):
                    if bounds[octant] < bounds[octant + 1]:
                        stack[top, 0], stack[top, 1] = level + 1, 2 * ix + (octant & 1)
                        stack[top, 2], stack[top, 3] = 2 * iy + (octant >> 1 & 1), 2 * iz + (octant >> 2 & 1)
                        stack[top, 4], stack[top, 5] = bounds[octant], bounds[octant + 1]
                        top += 1
                continue
            count = near_leaves(ranges, lists, level, lengths[level], listed)
            pairs, triangles = evaluate_cell(
                order, level, ix, iy, iz, begin, end, points, places, given, weights, locals, level * width, listed, 0,
                count, table, middles, leaf_far, chunks, corners, leaf_moments, constants, rows, at_hand, nearest,
                scratch, winding, status,
            )  # fmt: skip
            tally[L2P] += end - begin
            tally[M2P] += pairs
            tally[NEAR] += triangles
        counts[s] = tally
