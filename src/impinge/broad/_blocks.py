"""Pairs of overlapping boxes by blocks: LANES boxes that lie near each other, and trees of LANES blocks per node.

The boxes are in an order that keeps neighbours together. A node is six rows of LANES numbers, the lower and upper ends
along x, y, z of its sons. Sons of the lowest level are boxes; those of node k of other levels are the nodes LANES k,
LANES k + 1, ... of the level below. So one comparison of lanes settles a whole node.
"""

import numpy as np

from impinge._jit import exact, kernel, lowest_bit, parallel, part
from impinge._lanes import LANES, bits, load

NODE = 6 * LANES
MOST_BITS = 20  # of a code along an axis
CLASSES = 8  # of sizes
LARGEST = np.finfo(np.float64).max
STACK = 256  # more than LANES × levels, 8 for 2^31 boxes


@part
def _spread_bits(value):
    """Two zeros after every bit of a number of up to 20."""
    x = np.uint64(value)
    x = (x | x << np.uint64(32)) & np.uint64(0x1F00000000FFFF)
    x = (x | x << np.uint64(16)) & np.uint64(0x1F0000FF0000FF)
    x = (x | x << np.uint64(8)) & np.uint64(0x100F00F00F00F00F)
    x = (x | x << np.uint64(4)) & np.uint64(0x10C30C30C30C30C3)
    return (x | x << np.uint64(2)) & np.uint64(0x1249249249249249)


@kernel
def measure(lower, upper, members, low, high):
    """Box around the middles of some boxes."""
    for axis in range(3):
        a, b = np.inf, -np.inf
        for k in members:
            middle = 0.5 * lower[k, axis] + 0.5 * upper[k, axis]
            a, b = min(a, middle), max(b, middle)
        low[axis], high[axis] = a, b


@exact
def size_class(size, usual):
    """0 for sizes up to 8 times the usual one, 1 up to 64 times, and so on."""
    large = 0
    while size > 8.0 * usual and large < CLASSES - 1:
        size *= 0.125
        large += 1
    return large


@parallel(grain=4096)
def encode(first, stop, lower, upper, members, low, per, bits, usual, codes):
    """Codes of boxes: class of size, then place along Morton's curve; bits : along an axis; per : cells per metre."""
    most = 2.0**bits - 1.0
    for i in range(first, stop):
        k, code, size = members[i], np.uint64(0), 0.0
        for axis in range(3):
            middle = 0.5 * lower[k, axis] + 0.5 * upper[k, axis]
            code |= _spread_bits(np.uint64(min(max((middle - low[axis]) * per, 0.0), most))) << np.uint64(axis)
            size = max(size, upper[k, axis] - lower[k, axis])
        codes[i] = code | np.uint64(size_class(size, usual)) << np.uint64(3 * bits)


@parallel(grain=64)
def fill_lowest(first, stop, lower, upper, order, tree):
    """Nodes of the lowest level, boxes in order; what is missing in the last one is a box that none overlaps."""
    for node in range(first, stop):
        for lane in range(LANES):
            at, place = node * NODE + lane, node * LANES + lane
            for axis in range(3):
                is_there = place < len(order)
                tree[at + axis * LANES] = lower[order[place], axis] if is_there else np.inf
                tree[at + (3 + axis) * LANES] = upper[order[place], axis] if is_there else -np.inf


@kernel
def fill_level(below, count, begin, nodes, tree):
    """Nodes of a level, from node `begin` on, around `count` nodes of the level below, which begin at `below`."""
    for node in range(nodes):
        for lane in range(LANES):
            at, son = (begin + node) * NODE + lane, node * LANES + lane
            for row in range(6):
                value = np.inf if row < 3 else -np.inf
                if son < count:
                    for k in range(LANES):
                        end = tree[(below + son) * NODE + row * LANES + k]
                        value = min(value, end) if row < 3 else max(value, end)
                tree[at + row * LANES] = value


@part
def _overlaps(tree, node, a, b, c, d, e, f):
    """Bits of the sons of a node that overlap the box from a, b, c to d, e, f."""
    at, row = np.uint64(node * NODE), np.uint64(LANES)
    mask = load(tree, at) <= d
    mask = mask & (load(tree, at + row) <= e)
    at += row + row
    mask = mask & (load(tree, at) <= f)
    mask = mask & (load(tree, at + row) >= a)
    at += row + row
    mask = mask & (load(tree, at) >= b)
    return bits(mask & (load(tree, at + row) >= c))


@kernel
def enlarge(tree, gap, enlarged):
    """All boxes of a tree, enlarged by a gap and what rounding may do; they stay finite, missing ones become nan.

    Infinite ones would overlap those that are missing in the other tree.
    """
    more = gap * (1.0 + 2.0**-50)
    for node in range(0, len(tree), NODE):
        for k in range(node, node + 3 * LANES):
            end = tree[k] - more - 2.0**-52 * abs(tree[k])
            enlarged[k] = -LARGEST if end < -LARGEST else end
        for k in range(node + 3 * LANES, node + NODE):
            end = tree[k] + more + 2.0**-52 * abs(tree[k])
            enlarged[k] = LARGEST if end > LARGEST else end


@part
def _box(tree, node, lane):
    """Box of a son of a node."""
    at, row = np.uint64(node * NODE + lane), np.uint64(LANES)
    up = at + row + row + row
    return tree[at], tree[at + row], tree[at + row + row], tree[up], tree[up + row], tree[up + row + row]


@part
def _share_corner(i, j, corners, other_corners):
    """Whether boxes i and j have a corner in common."""
    shared = False
    for p in range(np.uint64(corners.shape[1])):
        for q in range(np.uint64(other_corners.shape[1])):
            shared |= corners[np.uint64(i), p] == other_corners[np.uint64(j), q]
    return shared


@parallel(grain=8)
def find_pairs(
    first, stop, wanted, tree, order, blocks, others, other_order, levels, is_self, corners, other_corners, bodies,
    other_bodies, starts, room, pairs, counts,
):  # fmt: skip
    """Pairs of a box of a wanted block and one of the others, from place starts[k] on; the first `room`, all counted.

    tree : of boxes enlarged by the gap; blocks : where its second level begins, whose sons are the blocks; levels :
    where the levels of the others begin, the lowest first. is_self : the others are the same boxes; each pair once.
    """
    stack_level, stack_node = np.empty(STACK, np.int64), np.empty(STACK, np.int64)
    for item in range(first, stop):
        block, start = wanted[item], starts[item]
        a, b, c, d, e, f = _box(tree, blocks + block // LANES, block % LANES)
        top = len(levels) - 1
        stack_level[0], stack_node[0], depth, found = top, 0, 1, 0
        while depth > 0:
            depth -= 1
            level, node = stack_level[depth], stack_node[depth]
            some = _overlaps(others, levels[level] + node, a, b, c, d, e, f)
            if level > 1:
                while some != 0:
                    son = node * LANES + lowest_bit(some)
                    some &= some - np.uint64(1)
                    stack_level[depth], stack_node[depth] = level - 1, son
                    depth += 1
                continue
            while some != 0:
                lane = lowest_bit(some)
                some &= some - np.uint64(1)
                other = node * LANES + lane
                if is_self and other < block:
                    continue
                p, q, r, s, t, u = _box(others, levels[1] + node, lane)
                mine = _overlaps(tree, block, p, q, r, s, t, u)
                while mine != 0:
                    k = lowest_bit(mine)
                    mine &= mine - np.uint64(1)
                    p, q, r, s, t, u = _box(tree, block, k)
                    theirs = _overlaps(others, other, p, q, r, s, t, u)
                    if is_self and other == block:
                        theirs &= ~((np.uint64(2) << np.uint64(k)) - np.uint64(1))
                    while theirs != 0:
                        i, j = order[block * LANES + k], other_order[other * LANES + lowest_bit(theirs)]
                        theirs &= theirs - np.uint64(1)
                        skip = _share_corner(i, j, corners, other_corners)
                        if len(bodies):
                            skip |= bodies[i] == other_bodies[j]
                        if found < room and not skip:
                            pairs[start + found, 0] = min(i, j) if is_self else i
                            pairs[start + found, 1] = max(i, j) if is_self else j
                        found += not skip
        counts[item] = found


@parallel(grain=64)
def copy_pairs(first, stop, room, found, counts, starts, pairs):
    """Pairs of blocks that had room for all, one after the other."""
    for block in range(first, stop):
        if counts[block] <= room:
            for k in range(counts[block]):
                pairs[starts[block] + k, 0] = found[block * room + k, 0]
                pairs[starts[block] + k, 1] = found[block * room + k, 1]
