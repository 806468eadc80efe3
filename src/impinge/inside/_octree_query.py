"""Asking the octree: from point to cell, from cell to winding number.

Points are taken in blocks and each stage runs over the whole block (cell numbers, descent by one level, leaf
records), so that the memory accesses of many points are under way at the same time.

Kernels take the fields of `Tree` (_octree_grow.py) in their order, after the points. What single precision
leaves in doubt is marked, and settled by the exact predicates in _octree_settle.py: so this code stays small.
"""

import numpy as np

from impinge._jit import exact, parallel, prefetch
from impinge.inside._octree_build import BLOCK_UNITS, HEADER_UNITS, LANES, LEAF, NODE
from impinge.inside._octree_leaves import DOUBT

# Stand for the winding number, or the class, of a point that single precision leaves in doubt, and of one that
# is not finite.
DOUBTFUL = np.int32(-(2**31))
NOT_FINITE = np.int32(-(2**31) + 1)
CLASS_DOUBTFUL = np.int8(-3)
CLASS_NOT_FINITE = np.int8(-2)
BLOCK = 256
_AHEAD = 4  # leaf records fetched before they are needed


@exact
def leaf_winding(words, shorts, ints, scale, unit, px, py, pz):
    """Winding number at p, or DOUBTFUL, from the leaf record at `unit`."""
    word = np.uint64(4) * unit
    inv = words[word + np.uint64(3)]
    qx = np.float32((px * scale[0] - words[word] * scale[0]) * inv)
    qy = np.float32((py * scale[1] - words[word + np.uint64(1)] * scale[1]) * inv)
    qz = np.float32((pz * scale[2] - words[word + np.uint64(2)] * scale[2]) * inv)
    head = np.uint64(8) * unit
    blocks = ints[head + np.uint64(9)]
    total = ints[head + np.uint64(8)]
    doubtful = np.int32(0)
    at = head + np.uint64(8 * HEADER_UNITS)
    for _ in range(blocks):
        for lane in range(LANES):
            k = at + np.uint64(lane)
            u = shorts[k] * qx + shorts[k + np.uint64(8)] * qy + shorts[k + np.uint64(16)] * qz
            v = shorts[k + np.uint64(24)] * qx + shorts[k + np.uint64(32)] * qy + shorts[k + np.uint64(40)] * qz
            w = shorts[k + np.uint64(48)] * qx + shorts[k + np.uint64(56)] * qy + shorts[k + np.uint64(64)] * qz
            d = u + v + w - shorts[k + np.uint64(72)]
            low = u if u < v else v
            low = low if low < w else w
            low = low if low < d else d
            sign = np.int32(1) | (ints[k + np.uint64(80)] >> np.int32(31))
            total += sign if low > DOUBT else np.int32(0)
            doubtful |= np.int32(1) if abs(low) <= DOUBT else np.int32(0)
        at += np.uint64(8 * BLOCK_UNITS)
    return DOUBTFUL if doubtful else total


@exact
def fetch_leaf(shorts, unit):
    """Bring the record of a leaf, up to two blocks of it, into the cache; beyond the end it does no harm."""
    at = np.uint64(8) * np.uint64(unit)
    for line in range(12):
        prefetch(shorts, at + np.uint64(16 * line))


@exact
def child(x, y, z, shift):
    """Number of the child that fixed-point coordinates fall into, `shift` bits above the finest cells."""
    three = np.uint64(3)
    inner = ((y >> shift) & three) << np.uint64(2) | ((z >> shift) & three) << np.uint64(4)
    return ((x >> shift) & three) | inner


@exact
def _finish_leaves(points, begin, left, leaves, scale, words, shorts, ints, out):
    """Replace the units in out[left[:leaves]] by winding numbers."""
    for k in range(min(leaves, _AHEAD)):
        fetch_leaf(shorts, out[left[k]])
    for k in range(leaves):
        if k + _AHEAD < leaves:
            fetch_leaf(shorts, out[left[k + _AHEAD]])
        i = left[k]
        out[i] = leaf_winding(
            words, shorts, ints, scale, np.uint64(out[i]),
            points[begin + i, 0], points[begin + i, 1], points[begin + i, 2],
        )  # fmt: skip


@exact
def _block_windings(
    points, begin, n, low, high, scale, origin, inv, depth, shape, codes, words, shorts, ints, x, y, z,
    left, out,
):  # fmt: skip
    """Winding numbers, DOUBTFUL or NOT_FINITE of the points begin..begin+n; x, y, z and left are scratch."""
    top = np.uint64(2 * depth)
    sx, sy = np.uint64(shape[0]), np.uint64(shape[1])
    bricks = np.uint64(shape[0] * shape[1] * shape[2])
    nodes = 0
    strange = False
    for i in range(n):
        px, py, pz = points[begin + i, 0], points[begin + i, 1], points[begin + i, 2]
        within = (px >= low[0]) & (px <= high[0]) & (py >= low[1]) & (py <= high[1])
        within &= (pz >= low[2]) & (pz <= high[2])
        # 0 times a number is 0 unless the number is not finite.
        strange |= px * 0.0 + py * 0.0 + pz * 0.0 != 0.0
        # Fixed-point coordinates with 2 bits for each level below the root; any cell will do for outside.
        fx = np.uint64((px * scale[0] - origin[0]) * inv) if within else np.uint64(0)
        fy = np.uint64((py * scale[1] - origin[1]) * inv) if within else np.uint64(0)
        fz = np.uint64((pz * scale[2] - origin[2]) * inv) if within else np.uint64(0)
        x[i], y[i], z[i] = fx, fy, fz
        code = codes[(fx >> top) + sx * ((fy >> top) + sy * (fz >> top))]
        code = code if within else np.int32(0)
        out[i] = code
        left[nodes] = i
        nodes += (code & 3) == NODE
    shift = top
    while nodes > 0:
        shift -= np.uint64(2)
        remaining = 0
        for k in range(nodes):
            i = left[k]
            code = codes[bricks + np.uint64(64) * np.uint64(out[i] >> 2) + child(x[i], y[i], z[i], shift)]
            out[i] = code
            left[remaining] = i
            remaining += (code & 3) == NODE
        nodes = remaining
    leaves = 0
    for i in range(n):
        left[leaves] = i
        leaves += out[i] & LEAF
        out[i] >>= 2
    _finish_leaves(points, begin, left, leaves, scale, words, shorts, ints, out)
    if strange:
        for i in range(n):
            px, py, pz = points[begin + i, 0], points[begin + i, 1], points[begin + i, 2]
            if px * 0.0 + py * 0.0 + pz * 0.0 != 0.0:
                out[i] = NOT_FINITE


@parallel(grain=8)
def find_windings(
    first, stop, points, low, high, scale, origin, inv, depth, shape, codes, words, shorts, ints, windings
):
    """Winding number of every point, DOUBTFUL or NOT_FINITE; items are blocks of BLOCK points."""
    n = points.shape[0]
    for block in range(first, stop):
        x, y, z = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
        left = np.empty(BLOCK + 1, np.int32)
        begin = block * BLOCK
        _block_windings(
            points, begin, min(BLOCK, n - begin), low, high, scale, origin, inv, depth, shape, codes, words,
            shorts, ints, x, y, z, left, windings[begin : begin + BLOCK],
        )  # fmt: skip


@exact
def class_of(winding):
    if winding > 0:
        return np.int8(1)
    if winding == DOUBTFUL:
        return CLASS_DOUBTFUL
    return CLASS_NOT_FINITE if winding == NOT_FINITE else np.int8(-1)


@parallel(grain=8)
def classify(first, stop, points, low, high, scale, origin, inv, depth, shape, codes, words, shorts, ints, classes):
    """-1 outside, +1 inside, CLASS_DOUBTFUL or CLASS_NOT_FINITE; items are blocks of BLOCK points."""
    n = points.shape[0]
    for block in range(first, stop):
        x, y, z = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
        left = np.empty(BLOCK + 1, np.int32)
        windings = np.empty(BLOCK, np.int32)
        begin = block * BLOCK
        count = min(BLOCK, n - begin)
        _block_windings(
            points, begin, count, low, high, scale, origin, inv, depth, shape, codes, words, shorts, ints,
            x, y, z, left, windings,
        )  # fmt: skip
        for i in range(count):
            classes[begin + i] = class_of(windings[i])
