"""Evaluation tree of the multipole method made before any points are known, and its use.

Its cells cover the root and the boxes around it; each keeps its local expansion and its near leaves.
"""

import numpy as np

from impinge._jit import parallel, part
from impinge.inside.multipole._convert import slot_of
from impinge.inside.multipole._evaluate import evaluate_cell, make_scratch
from impinge.inside.multipole._points import RING, SIDE
from impinge.inside.multipole._sources import DEEPEST, cell_of, spread
from impinge.inside.multipole._walk import (
    CELLS,
    L2P,
    M2P,
    NEAR,
    enter,
    make_path,
    near_leaves,
    push_path,
    push_son,
    should_refine,
)  # fmt: skip

FINEST = 18  # deepest level of cells: the number of the box and three bits for each level fit into a key


@part
def _key(level, ix, iy, iz):
    """Where a cell begins in the order of all cells: its box around the root, then its place along Morton's curve."""
    up, down = np.int64(level), np.int64(FINEST - level)
    bx, by, bz = ix >> up, iy >> up, iz >> up
    x, y, z = (ix - (bx << up)) << down, (iy - (by << up)) << down, (iz - (bz << up)) << down
    box = ((bz + RING) * SIDE + by + RING) * SIDE + bx + RING
    return box << (3 * FINEST) | spread(x) | spread(y) << 1 | spread(z) << 2


@parallel(grain=4)
def plan(
    first,
    stop,
    order,
    starts,
    far,
    operators,
    model,
    has_room,
    offsets,
    keys,
    places,
    locals_of,
    ends,
    ranges_of,
    counts,
):
    """Cells of start cells first to stop, and ranges of near leaves; only their numbers unless there is room.

    offsets : (starts, 2) where cells and ranges of a start cell go; keys, places (level, x, y, z), locals_of : of the
    cells; ends : where their ranges end in ranges_of; counts : (starts, 8) of operations, the last two the numbers.
    """
    boxes, ranges, moments = far
    matrices, imaginary, equal, double, to_son, weights, signs, moment_signs = operators
    width = len(weights)
    sums, complexes, locals, lists, lengths, found, ranks, begins, turned, targets, listed, stack, tally = make_path(
        far, operators
    )
    used = matrices if has_room else matrices[:0]
    for s in range(first, stop):
        tally[:] = 0
        bottom, top, on_path, cell, at = 0, 0, 0, offsets[s, 0], offsets[s, 1]
        while on_path <= starts[s, 0] or top > 0:
            if on_path <= starts[s, 0]:  # on the way to the start cell
                push_path(s, starts, on_path, stack)
                bottom, top, on_path = 0, 1, on_path + 1
            else:
                top -= 1
                level, ix, iy, iz = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
                slot = slot_of(level, ix, iy, iz)
                tally[CELLS] += 1
                near, sons = lengths[slot, 1], lengths[slot, 2]
                if level >= FINEST or not should_refine(level, model.points * 0.125**level, 8, near, sons, model):
                    count = near_leaves(ranges, lists, slot, lengths[slot, 0], listed)
                    if has_room:
                        keys[cell] = _key(level, ix, iy, iz)
                        places[cell, 0], places[cell, 1], places[cell, 2], places[cell, 3] = level, ix, iy, iz
                        for q in range(width):
                            locals_of[cell * width + q] = locals[slot * width + q]
                        for k in range(count):
                            ranges_of[at + k, 0], ranges_of[at + k, 1] = listed[k, 0], listed[k, 1]
                        ends[cell] = at + count
                    cell, at = cell + 1, at + count
                    continue
                bottom = top
                for octant in range(7, -1, -1):  # the first is taken next, so that keys ascend
                    push_son(stack, top, level, ix, iy, iz, octant)
                    top += 1
            enter(
                order, bottom, top, boxes, ranges, moments, used, imaginary, equal, double, to_son, signs, moment_signs,
                sums, complexes, locals, lists, lengths, found, ranks, begins, turned, targets, stack, tally,
            )  # fmt: skip
        tally[6], tally[7] = cell - offsets[s, 0], at - offsets[s, 1]
        counts[s] = tally


@parallel(grain=1024)
def find_cells(first, stop, roots, keys, cells):
    """The cell of every point; len(keys) for those outside all of them."""
    for i in range(first, stop):
        x, y, z = roots[i, 0], roots[i, 1], roots[i, 2]
        cells[i] = len(keys)
        if -RING <= x < RING + 1 and -RING <= y < RING + 1 and -RING <= z < RING + 1:
            bx, by, bz = np.int64(np.floor(x)), np.int64(np.floor(y)), np.int64(np.floor(z))
            box = ((bz + RING) * SIDE + by + RING) * SIDE + bx + RING
            code = spread(cell_of(x - bx)) | spread(cell_of(y - by)) << 1 | spread(cell_of(z - bz)) << 2
            key = box << (3 * FINEST) | code >> (3 * (DEEPEST - FINEST))
            low, high = 0, len(keys)
            while high - low > 1:
                middle = (low + high) // 2
                if keys[middle] <= key:
                    low = middle
                else:
                    high = middle
            cells[i] = low


@parallel(grain=8)
def evaluate_plan(
    first, stop, order, used, bounds, roots, points, given, places, weights, locals_of, ends, ranges_of, leaves,
    winding, status, counts,
):  # fmt: skip
    """Winding numbers of points, of the cells used[first:stop]; bounds : where their points begin, and the last end.

    roots : sorted by cell; points : where they are in `given`; places, locals_of, ends, ranges_of : of `plan`.
    """
    table, middles, leaf_far, chunks, corners, leaf_moments, constants = leaves
    rows, at_hand, nearest, scratch = make_scratch(order, chunks)
    width = len(weights)
    for u in range(first, stop):
        c = used[u]
        begin, end = bounds[u], bounds[u + 1]
        start = ends[c - 1] if c > 0 else 0
        pairs, triangles = evaluate_cell(
            order, places[c, 0], places[c, 1], places[c, 2], places[c, 3], begin, end, roots, points, given, weights,
            locals_of, c * width, ranges_of, start, ends[c] - start, table, middles, leaf_far, chunks, corners,
            leaf_moments, constants, rows, at_hand, nearest, scratch, winding, status,
        )  # fmt: skip
        counts[u, L2P], counts[u, M2P], counts[u, NEAR] = end - begin, pairs, triangles
