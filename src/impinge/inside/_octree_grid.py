"""Classifying a regular grid cell by cell: an empty cell answers for all grid points in it at once."""

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.inside._octree_build import EMPTY, LEAF
from impinge.inside._octree_query import DOUBTFUL, class_of, fetch_leaf, leaf_winding


@exact
def _place(axis, low, high, scale, origin, inv, cells):
    """Fixed-point coordinates of ascending axis values, those within the bounds being first..last - 1."""
    n = axis.shape[0]
    first, last = 0, n
    while first < n and axis[first] < low:
        first += 1
    while last > first and axis[last - 1] > high:
        last -= 1
    for i in range(first, last):
        cells[i] = np.uint64((axis[i] * scale - origin) * inv)
    return first, last


@exact
def _split(cells, begin, end, shift, ends):
    """Where the digits 0..3 of cells[begin:end], `shift` bits up, begin and end; ends has 5 places."""
    i = begin
    ends[0] = begin
    for digit in range(4):
        while i < end and (cells[i] >> shift) & np.uint64(3) == np.uint64(digit):
            i += 1
        ends[digit + 1] = i


@exact
def _first_in(cells, begin, end, shift, root):
    """First place in cells[begin:end], ascending, whose root cell is `root` or a later one."""
    while begin < end:
        middle = (begin + end) // 2
        if cells[middle] >> shift < np.uint64(root):
            begin = middle + 1
        else:
            end = middle
    return begin


@exact
def _fill(classes, i0, i1, j0, j1, k0, k1):
    """Mark a block of grid points as inside."""
    if k0 == k1:
        return
    for i in range(i0, i1):
        for j in range(j0, j1):
            for k in range(k0, k1):
                classes[i, j, k] = 1


@parallel(grain=4)
def classify_grid(
    first, stop, xs, ys, zs, low, high, scale, origin, inv, depth, shape, codes, words, shorts, ints, classes, doubts
):
    """+1 inside or CLASS_DOUBTFUL for (xs[i], ys[j], zs[k]); the rest of classes (x, y, z) is left at -1.

    Items are columns of root cells. doubts[0] tells whether there is a CLASS_DOUBTFUL.
    """
    cx, cy = np.empty(xs.shape[0], np.uint64), np.empty(ys.shape[0], np.uint64)
    cz = np.empty(zs.shape[0], np.uint64)
    x0, x1 = _place(xs, low[0], high[0], scale[0], origin[0], inv, cx)
    y0, y1 = _place(ys, low[1], high[1], scale[1], origin[1], inv, cy)
    z0, z1 = _place(zs, low[2], high[2], scale[2], origin[2], inv, cz)
    top = np.uint64(2 * depth)
    sx, sy, sz = shape[0], shape[1], shape[2]
    for column in range(first, stop):
        rx, ry = column % sx, column // sx
        i0, i1 = _first_in(cx, x0, x1, top, rx), _first_in(cx, x0, x1, top, rx + 1)
        j0, j1 = _first_in(cy, y0, y1, top, ry), _first_in(cy, y0, y1, top, ry + 1)
        if i0 == i1 or j0 == j1:
            continue
        stack = np.empty((64 * (depth + 1), 8), np.int64)
        leaves = np.empty((64, 8), np.int64)
        begin, k1 = z0, z0  # inside cells from `begin` on are not marked yet
        for rz in range(sz):
            k0 = k1
            while k1 < z1 and cz[k1] >> top == np.uint64(rz):
                k1 += 1
            code = codes[rx + sx * (ry + sy * rz)]
            if code & 3 == EMPTY and code >> 2 > 0:
                continue
            _fill(classes, i0, i1, j0, j1, begin, k0)
            begin = k1
            if code & 3 != EMPTY and k0 < k1:
                _push(stack, 0, code, depth, i0, i1, j0, j1, k0, k1)
                _classify_cell(
                    xs, ys, zs, cx, cy, cz, scale, shape, codes, words, shorts, ints, stack, leaves, classes, doubts
                )
        _fill(classes, i0, i1, j0, j1, begin, k1)


@kernel
def _classify_cell(xs, ys, zs, cx, cy, cz, scale, shape, codes, words, shorts, ints, stack, leaves, classes, doubts):
    """All grid points of the occupied cell on the stack, whose rows are: code, level, ranges of the axes.

    The leaves of a brick are fetched from memory while the brick is gone through, and asked afterwards.
    """
    bricks = shape[0] * shape[1] * shape[2]
    ends = np.empty((3, 5), np.int64)
    size = 1
    if stack[0, 0] & 3 == LEAF:
        _classify_leaf(xs, ys, zs, scale, words, shorts, ints, stack[0], classes, doubts)
        size = 0
    while size > 0:
        size -= 1
        code, level = stack[size, 0], stack[size, 1]
        shift = np.uint64(2 * level - 2)
        _split(cx, stack[size, 2], stack[size, 3], shift, ends[0])
        _split(cy, stack[size, 4], stack[size, 5], shift, ends[1])
        _split(cz, stack[size, 6], stack[size, 7], shift, ends[2])
        brick = bricks + 64 * (code >> 2)
        found = 0
        for y in range(4):
            j0, j1 = ends[1, y], ends[1, y + 1]
            for x in range(4):
                i0, i1 = ends[0, x], ends[0, x + 1]
                if i0 == i1 or j0 == j1:
                    continue
                begin = ends[2, 0]
                for z in range(4):
                    child = np.int64(codes[brick + x + 4 * y + 16 * z])
                    if child & 3 == EMPTY and child >> 2 > 0:
                        continue
                    k0, k1 = ends[2, z], ends[2, z + 1]
                    _fill(classes, i0, i1, j0, j1, begin, k0)
                    begin = k1
                    if child & 3 == EMPTY or k0 == k1:
                        continue
                    if child & 3 == LEAF:
                        fetch_leaf(shorts, child >> 2)
                        _push(leaves, found, child, level - 1, i0, i1, j0, j1, k0, k1)
                        found += 1
                    else:
                        _push(stack, size, child, level - 1, i0, i1, j0, j1, k0, k1)
                        size += 1
                _fill(classes, i0, i1, j0, j1, begin, ends[2, 4])
        for leaf in range(found):
            _classify_leaf(xs, ys, zs, scale, words, shorts, ints, leaves[leaf], classes, doubts)


@exact
def _classify_leaf(xs, ys, zs, scale, words, shorts, ints, cell, classes, doubts):
    unit = np.uint64(cell[0] >> 2)
    for i in range(cell[2], cell[3]):
        for j in range(cell[4], cell[5]):
            for k in range(cell[6], cell[7]):
                winding = leaf_winding(words, shorts, ints, scale, unit, xs[i], ys[j], zs[k])
                classes[i, j, k] = class_of(winding)
                if winding == DOUBTFUL:
                    doubts[0] = True


@exact
def _push(stack, size, code, level, i0, i1, j0, j1, k0, k1):
    stack[size, 0], stack[size, 1] = code, level
    stack[size, 2], stack[size, 3], stack[size, 4] = i0, i1, j0
    stack[size, 5], stack[size, 6], stack[size, 7] = j1, k0, k1
