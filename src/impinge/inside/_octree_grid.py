"""Classifying a regular grid cell by cell: an empty cell answers for all grid points in it at once."""

import numpy as np

from impinge._jit import exact, kernel, parallel, prange
from impinge.inside._octree_build import BLOCK_UNITS, EMPTY, HEADER_UNITS, LANES, LEAF
from impinge.inside._octree_leaves import DOUBT, EMPTY_LANE
from impinge.inside._octree_query import ON, class_of, exact_winding, leaf_winding

_MANY = 6  # grid points in a leaf from which on they are taken side by side
_BATCH = 4096  # the most of them
_GROUP = 8


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
    for i in range(i0, i1):
        for j in range(j0, j1):
            for k in range(k0, k1):
                classes[i, j, k] = 1


@parallel
def classify_grid(
    xs,
    ys,
    zs,
    low,
    high,
    scale,
    origin,
    inv,
    depth,
    shape,
    codes,
    words,
    shorts,
    ints,
    vertices,
    faces,
    classes,
):
    """-1 outside, 0 on the surface, +1 inside for the points (xs[i], ys[j], zs[k]); classes is (x, y, z)."""
    cx, cy = np.empty(xs.shape[0], np.uint64), np.empty(ys.shape[0], np.uint64)
    cz = np.empty(zs.shape[0], np.uint64)
    x0, x1 = _place(xs, low[0], high[0], scale[0], origin[0], inv, cx)
    y0, y1 = _place(ys, low[1], high[1], scale[1], origin[1], inv, cy)
    z0, z1 = _place(zs, low[2], high[2], scale[2], origin[2], inv, cz)
    top = np.uint64(2 * depth)
    sx, sy, sz = shape[0], shape[1], shape[2]
    for i in prange(xs.shape[0]):
        classes[i] = -1
    for column in prange(sx * sy):
        rx, ry = column % sx, column // sx
        i0, i1 = _first_in(cx, x0, x1, top, rx), _first_in(cx, x0, x1, top, rx + 1)
        j0, j1 = _first_in(cy, y0, y1, top, ry), _first_in(cy, y0, y1, top, ry + 1)
        if i0 == i1 or j0 == j1:
            continue
        stack = np.empty((64 * (depth + 1), 8), np.int64)
        scratch = np.empty((3, _BATCH), np.float32)
        tally = np.empty((2, _BATCH), np.int32)
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
                _classify_cell(
                    code, i0, i1, j0, j1, k0, k1, xs, ys, zs, cx, cy, cz, scale, depth, shape, codes, words, shorts,
                    ints, vertices, faces, stack, scratch, tally, classes,
                )  # fmt: skip
        _fill(classes, i0, i1, j0, j1, begin, k1)


@kernel
def _classify_cell(
    code, i0, i1, j0, j1, k0, k1, xs, ys, zs, cx, cy, cz, scale, depth, shape, codes, words, shorts, ints, vertices,
    faces, stack, scratch, tally, classes,
):  # fmt: skip
    """All grid points of an occupied root cell; stack holds cells to do: code, level, ranges of the axes."""
    bricks = shape[0] * shape[1] * shape[2]
    ends = np.empty((3, 5), np.int64)
    size = _push(stack, 0, code, depth, i0, i1, j0, j1, k0, k1)
    while size > 0:
        size -= 1
        code, level = stack[size, 0], stack[size, 1]
        i0, i1, j0 = stack[size, 2], stack[size, 3], stack[size, 4]
        j1, k0, k1 = stack[size, 5], stack[size, 6], stack[size, 7]
        if code & 3 == LEAF:
            _classify_leaf(
                np.uint64(code >> 2), i0, i1, j0, j1, k0, k1, xs, ys, zs, scale, words, shorts, ints, vertices, faces,
                scratch, tally, classes,
            )  # fmt: skip
            continue
        shift = np.uint64(2 * level - 2)
        _split(cx, i0, i1, shift, ends[0])
        _split(cy, j0, j1, shift, ends[1])
        _split(cz, k0, k1, shift, ends[2])
        brick = bricks + 64 * (code >> 2)
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
                    if child & 3 != EMPTY and k0 < k1:
                        size = _push(stack, size, child, level - 1, i0, i1, j0, j1, k0, k1)
                _fill(classes, i0, i1, j0, j1, begin, ends[2, 4])


@exact
def _push(stack, size, code, level, i0, i1, j0, j1, k0, k1):
    stack[size, 0], stack[size, 1] = code, level
    stack[size, 2], stack[size, 3], stack[size, 4] = i0, i1, j0
    stack[size, 5], stack[size, 6], stack[size, 7] = j1, k0, k1
    return size + 1


@exact
def _classify_leaf(
    unit,
    i0,
    i1,
    j0,
    j1,
    k0,
    k1,
    xs,
    ys,
    zs,
    scale,
    words,
    shorts,
    ints,
    vertices,
    faces,
    scratch,
    tally,
    classes,
):
    """Grid points of one leaf: few one by one, many with the points side by side instead of the triangles."""
    count = (i1 - i0) * (j1 - j0) * (k1 - k0)
    if count < _MANY or count > _BATCH:
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    winding = leaf_winding(
                        words, shorts, ints, vertices, faces, scale, unit, xs[i], ys[j], zs[k]
                    )
                    classes[i, j, k] = class_of(winding)
        return
    word = np.uint64(4) * unit
    inv = words[word + np.uint64(3)]
    rx, ry, rz = (
        words[word] * scale[0],
        words[word + np.uint64(1)] * scale[1],
        words[word + np.uint64(2)] * scale[2],
    )
    n = 0
    for i in range(i0, i1):
        qx = np.float32((xs[i] * scale[0] - rx) * inv)
        for j in range(j0, j1):
            qy = np.float32((ys[j] * scale[1] - ry) * inv)
            for k in range(k0, k1):
                scratch[0, n] = qx
                scratch[1, n] = qy
                scratch[2, n] = np.float32((zs[k] * scale[2] - rz) * inv)
                n += 1
    padded = (n + _GROUP - 1) // _GROUP * _GROUP
    for p in range(n, padded):
        scratch[0, p] = scratch[0, 0]
        scratch[1, p] = scratch[1, 0]
        scratch[2, p] = scratch[2, 0]
    head = np.int64(8) * np.int64(unit)
    tally[0, :padded] = ints[head + 8]
    tally[1, :padded] = 0
    for block in range(ints[head + 9]):
        record = head + 8 * (HEADER_UNITS + BLOCK_UNITS * block)
        for lane in range(LANES):
            if ints[record + 80 + lane] == EMPTY_LANE:
                break
            _add_crossings(
                shorts, ints, record + lane, padded, scratch[0], scratch[1], scratch[2], tally[0], tally[1]
            )
    n = 0
    for i in range(i0, i1):
        for j in range(j0, j1):
            for k in range(k0, k1):
                winding = tally[0, n]
                if tally[1, n]:
                    winding, on = exact_winding(words, ints, vertices, faces, unit, xs[i], ys[j], zs[k])
                    winding = ON if on else winding
                classes[i, j, k] = class_of(winding)
                n += 1


@exact
def _add_crossings(shorts, ints, k, padded, qx, qy, qz, windings, doubts):
    """Add one triangle's crossings (tally[0]) and doubts (tally[1]) for all points; see _octree_leaves.py."""
    ux, uy, uz = shorts[k], shorts[k + 8], shorts[k + 16]
    vx, vy, vz = shorts[k + 24], shorts[k + 32], shorts[k + 40]
    wx, wy, wz = shorts[k + 48], shorts[k + 56], shorts[k + 64]
    det = shorts[k + 72]
    sign = np.int32(1) | (ints[k + 80] >> np.int32(31))
    for p in range(np.uint64(padded)):
        x, y, z = qx[p], qy[p], qz[p]
        u = ux * x + uy * y + uz * z
        v = vx * x + vy * y + vz * z
        w = wx * x + wy * y + wz * z
        d = u + v + w - det
        low = u if u < v else v
        low = low if low < w else w
        low = low if low < d else d
        windings[p] += sign if low > DOUBT else np.int32(0)
        doubts[p] |= np.int32(1) if abs(low) <= DOUBT else np.int32(0)
