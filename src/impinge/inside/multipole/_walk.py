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

from impinge._jit import parallel, part
from impinge.inside.multipole._convert import AT_ONCE, convert, finish_local, note, octant_of, slot_of
from impinge.inside.multipole._evaluate import evaluate_cell, make_scratch
from impinge.inside.multipole._sources import DEEPEST

HALF_DIAGONAL = 0.75**0.5  # of a box, in sides
LEVEL, X, Y, Z, SON, SONS, EQUAL, DOUBLE = range(8)  # columns of `Far.boxes`
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
    ranges: NDArray[
        np.int64
    ]  # (n, 3) leaves from and to, and the deepest level of cells whose sons may be far from some
    moments: NDArray[Any]  # rows, flat


class Model(NamedTuple):
    """When to refine cells: costs, in any unit, and what limits them."""

    pair: float  # of a point and a leaf
    leaf: float  # of taking a leaf at hand
    matrix: float  # of a cluster looked at by a son
    points: float  # expected in the root, where they are not known
    depth: int  # cells are refined down to this level wherever clusters are near; −1: where it costs less


class Path(NamedTuple):
    """Where a thread is in the tree: what it knows of a cell, its fathers and their brothers, and work space.

    Cells have slots, eight for each level (`slot_of`).
    """

    sums: NDArray[Any]  # (65, width) flat: of sons, by octant of the offset, and one for nothing
    complexes: NDArray[Any]  # (4, width) flat: moments and coefficients of high orders
    locals: NDArray[Any]  # (slots, width) flat
    lists: NDArray[np.int32]  # (slots, clusters) near ones
    lengths: NDArray[
        np.int64
    ]  # (slots, 3) of the lists, of leaves in them that may be far from sons, of sons of their clusters
    found: NDArray[np.int32]  # (8 clusters, 4) far ones of all sons, `note`
    ranks: NDArray[np.int32]  # (8 clusters,) their order by matrix
    begins: NDArray[np.int32]  # (matrices,) where those of a matrix begin
    turned: NDArray[Any]  # (AT_ONCE, rows) flat: moments, mirrored
    targets: NDArray[np.int64]  # (AT_ONCE,)
    listed: NDArray[np.int64]  # (clusters, 2) ranges of leaves
    stack: NDArray[np.int64]  # cells to come: level, place, points from and to
    tally: NDArray[np.int64]  # counts


@part
def make_path(far, operators):
    like, clusters, slots = operators.weights, len(far.boxes), 8 * (DEEPEST + 1)
    width, rows = len(like), len(operators.moment_signs) // 8
    matrices = len(operators.matrices) // (rows * width)
    return Path(
        np.empty(65 * width, like.dtype), np.empty(4 * width, like.dtype), np.empty(slots * width, like.dtype),
        np.empty((slots, clusters), np.int32), np.empty((slots, 3), np.int64), np.empty((8 * clusters, 4), np.int32),
        np.empty(8 * clusters, np.int32), np.empty(matrices, np.int32), np.empty(AT_ONCE * rows, like.dtype),
        np.empty(AT_ONCE, np.int64), np.empty((clusters, 2), np.int64), np.empty((8 * DEEPEST + 8, 6), np.int64),
        np.zeros(8, np.int64),
    )  # fmt: skip


@part
def _number(table, x, y, z):
    span = table.shape[0]
    return table[x, y, z] if x < span and y < span and z < span else -1


@part
def _sort_clusters(level, ix, iy, iz, count, boxes, ranges, equal, double, lists, lengths, found):
    """Near list of a cell from its father's; far clusters are noted from place `count` on, and their number given."""
    slot, father = slot_of(level, ix, iy, iz), slot_of(level - 1, ix >> 1, iy >> 1, iz >> 1)
    son, length, near, sons = octant_of(ix, iy, iz), 0, 0, 0
    for entry in range(1 if level == 0 else lengths[father, 0]):
        w = 0 if level == 0 else np.int64(lists[father, entry])
        first, last = w, w + 1
        if boxes[w, LEVEL] == level - 1:
            # twice the offset, from ω's middle, 2 c + 1, to σ's, i + 1/2
            dx, dy, dz = 2 * (ix - 2 * boxes[w, X]) - 1, 2 * (iy - 2 * boxes[w, Y]) - 1, 2 * (iz - 2 * boxes[w, Z]) - 1
            if dx * dx + dy * dy + dz * dz >= boxes[w, DOUBLE]:
                number = _number(double, abs(dx) // 2, abs(dy) // 2, abs(dz) // 2)
                if number >= 0:
                    note(found, count, w, number, 2, son, dx, dy, dz)
                    count += 1
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
                        note(found, count, c, number, 1, son, dx, dy, dz)
                        count += 1
                        continue
            lists[slot, length] = c
            length += 1
            near += ranges[c, 1] - ranges[c, 0] if ranges[c, 2] >= level else 0
            sons += boxes[c, SONS]
    lengths[slot, 0], lengths[slot, 1], lengths[slot, 2] = length, near, sons
    return count


@part
def enter(
    order, bottom, top, boxes, ranges, moments, matrices, imaginary, equal, double, to_son, signs, moment_signs, sums,
    complexes, locals, lists, lengths, found, ranks, begins, turned, targets, stack, tally,
):  # fmt: skip
    """Near lists and local coefficients of the cells bottom to top of the stack, which are brothers.

    An empty array of matrices leaves the coefficients out.
    """
    width, rows, count = len(signs) // 8, len(moment_signs) // 8, 0
    for cell in range(bottom, top):
        level, ix, iy, iz = stack[cell, 0], stack[cell, 1], stack[cell, 2], stack[cell, 3]
        count = _sort_clusters(level, ix, iy, iz, count, boxes, ranges, equal, double, lists, lengths, found)
    tally[M2L] += count
    if len(matrices) > 0:
        sums[:] = 0.0
        convert(
            order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes, begins,
            ranks, turned, targets,
        )  # fmt: skip
        for cell in range(bottom, top):
            level, ix, iy, iz = stack[cell, 0], stack[cell, 1], stack[cell, 2], stack[cell, 3]
            finish_local(level, ix, iy, iz, to_son, signs, width, len(to_son) // (8 * width), sums, locals)
            tally[L2L] += 1 if level > 0 else 0


@part
def should_refine(level, points, made, near, sons, model):
    """Whether the sons of a cell, `made` of them, cost less than its near leaves: a quarter of these stays near."""
    if sons == 0 or level >= DEEPEST:
        return False
    if model.depth >= 0:
        return level < model.depth and near > 0
    return 0.75 * near * (points * model.pair + min(points, 1.0) * model.leaf) > made * sons * model.matrix


@part
def push_path(s, starts, level, stack):
    """Put the cell of some level on the way to start cell s on the stack."""
    up = starts[s, 0] - level
    stack[0, 0] = level
    stack[0, 1], stack[0, 2], stack[0, 3] = starts[s, 1] >> up, starts[s, 2] >> up, starts[s, 3] >> up
    stack[0, 4], stack[0, 5] = starts[s, 4], starts[s, 5]


@part
def push_son(stack, top, level, ix, iy, iz, octant):
    """Put a son of a cell on the stack."""
    stack[top, 0], stack[top, 1] = level + 1, 2 * ix + (octant & 1)
    stack[top, 2], stack[top, 3] = 2 * iy + (octant >> 1 & 1), 2 * iz + (octant >> 2 & 1)


@part
def near_leaves(ranges, lists, slot, length, listed):
    """Ranges of leaves of a near list, neighbours joined; how many."""
    count = 0
    for entry in range(length):
        c = lists[slot, entry]
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
    sums, complexes, locals, lists, lengths, found, ranks, begins, turned, targets, listed, stack, tally = make_path(
        far, operators
    )
    rows, at_hand, nearest, scratch = make_scratch(order, chunks)
    for s in range(first, stop):
        largest = max(largest, starts[s, 5] - starts[s, 4])
    kept, kept_places, bounds = np.empty((largest, 3)), np.empty((largest, 2), np.int64), np.empty(9, np.int64)
    for s in range(first, stop):
        tally[:] = 0
        bottom, top, on_path = 0, 0, 0
        while on_path <= starts[s, 0] or top > 0:
            if on_path <= starts[s, 0]:  # on the way to the start cell
                push_path(s, starts, on_path, stack)
                bottom, top, on_path = 0, 1, on_path + 1
            else:
                top -= 1
                level, ix, iy, iz, begin, end = stack[top]
                slot = slot_of(level, ix, iy, iz)
                tally[CELLS] += 1
                near, sons = lengths[slot, 1], lengths[slot, 2]
                if not should_refine(level, 1.0 * (end - begin), min(end - begin, 8), near, sons, model):
                    count = near_leaves(ranges, lists, slot, lengths[slot, 0], listed)
                    pairs, triangles = evaluate_cell(
                        order, level, ix, iy, iz, begin, end, points, places, given, weights, locals, slot * width,
                        listed, 0, count, table, middles, leaf_far, chunks, corners, leaf_moments, constants, rows,
                        at_hand, nearest, scratch, winding, status,
                    )  # fmt: skip
                    tally[L2P] += end - begin
                    tally[M2P] += pairs
                    tally[NEAR] += triangles
                    continue
                side, bottom = 0.5**level, top
                _sort_octants(
                    points, places, begin, end, (ix + 0.5) * side, (iy + 0.5) * side, (iz + 0.5) * side, kept,
                    kept_places, bounds,
                )  # fmt: skip
                for octant in range(8):
                    if bounds[octant] < bounds[octant + 1]:
                        push_son(stack, top, level, ix, iy, iz, octant)
                        stack[top, 4], stack[top, 5] = bounds[octant], bounds[octant + 1]
                        top += 1
            enter(
                order, bottom, top, boxes, ranges, moments, matrices, imaginary, equal, double, to_son, signs,
                moment_signs, sums, complexes, locals, lists, lengths, found, ranks, begins, turned, targets, stack,
                tally,
            )  # fmt: skip
        counts[s] = tally
