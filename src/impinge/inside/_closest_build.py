"""Compiled build of the tree for nearest points: median splits, then a box with its own axes per child."""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.inside._closest import BOX, LEAF, NODE, NOWHERE, WIDTH

ENLARGE = 2.0**-46  # of its sides: boxes are enlarged by far more than their rounding
TURNS = 8  # directions that are tried for the sides of a box


@kernel
def _partition(key, order, low, high, k):
    """Reorder order[low:high] so that the k smallest keys come first (quickselect, middle of three)."""
    left, right, k = low, high - 1, low + k
    while left < right:
        a, b, c = key[order[left]], key[order[(left + right) >> 1]], key[order[right]]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while key[order[i]] < pivot:
                i += 1
            while key[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            return


@kernel
def _split(mid, order, low, high, unit):
    """Split order[low:high] across the longest side of the box of its mid points, on a multiple of `unit`."""
    axis, longest = 0, -1.0
    for d in range(3):
        least, most = np.inf, -np.inf
        for i in range(low, high):
            x = mid[d, order[i]]
            least = min(least, x)
            most = max(most, x)
        if most - least > longest:
            axis, longest = d, most - least
    units = (high - low + unit - 1) // unit
    cut = low + (units + 1) // 2 * unit
    _partition(mid[axis], order, low, high, cut - low)
    return cut


@kernel
def split_faces(mid, order, ranges, children):
    """Build the tree top down: `order` is permuted; every node gets up to WIDTH ranges of it.

    ranges : (nodes, WIDTH, 2), children : (nodes, WIDTH), a node, or ~leaf for a leaf, filled in here.
    Returns the number of nodes and of leaves.
    """
    n_nodes, n_leaves, at = 1, 0, 0
    starts = np.empty(len(ranges), np.int64)
    ends = np.empty(len(ranges), np.int64)
    starts[0], ends[0] = 0, len(order)
    low, high = np.empty(WIDTH, np.int64), np.empty(WIDTH, np.int64)
    while at < n_nodes:
        low[0], high[0] = starts[at], ends[at]
        # All children but the last are full subtrees: the fewest nodes, and full leaves.
        unit = WIDTH
        while unit * WIDTH < high[0] - low[0]:
            unit *= WIDTH
        count = 1
        for _ in range(3):
            for i in range(count):
                if high[i] - low[i] > unit:
                    cut = _split(mid, order, low[i], high[i], unit)
                    low[count], high[count] = cut, high[i]
                    high[i] = cut
                    count += 1
        for i in range(WIDTH):
            if i >= count:
                ranges[at, i, 0], ranges[at, i, 1], children[at, i] = 0, 0, -1
                continue
            ranges[at, i, 0], ranges[at, i, 1] = low[i], high[i]
            if high[i] - low[i] <= WIDTH:
                children[at, i] = ~n_leaves
                n_leaves += 1
            else:
                children[at, i] = n_nodes
                starts[n_nodes], ends[n_nodes] = low[i], high[i]
                n_nodes += 1
        at += 1
    return n_nodes, n_leaves


@exact
def _main_axis(xx, xy, xz, yy, yz, zz):
    """Direction of the largest eigenvalue of a symmetric positive matrix, roughly: any direction will do."""
    if xx >= yy and xx >= zz:
        x, y, z = xx, xy, xz
    elif yy >= zz:
        x, y, z = xy, yy, yz
    else:
        x, y, z = xz, yz, zz
    for _ in range(6):
        x, y, z = xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
        length = math.sqrt(x * x + y * y + z * z)
        if not length > 0.0:
            return 0.0, 0.0, 1.0
        x, y, z = x / length, y / length, z / length
    return x, y, z


@kernel
def _normal_axis(corners, order, low, high):
    """Direction that most normals of the triangles order[low:high] agree with, up to sign.

    The main axis of Σ N Nᵀ / |N|, N the area vectors: a thin plate holds normals of both signs.
    """
    xx = xy = xz = yy = yz = zz = 0.0
    for i in range(low, high):
        t = corners[order[i]]
        ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
        vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = math.sqrt(x * x + y * y + z * z)
        weight = 1.0 / length if length > 0.0 else 0.0
        xx += weight * x * x
        xy += weight * x * y
        xz += weight * x * z
        yy += weight * y * y
        yz += weight * y * z
        zz += weight * z * z
    total = xx + yy + zz
    total = total if total > 0.0 else 1.0
    return _main_axis(xx / total, xy / total, xz / total, yy / total, yz / total, zz / total)


@kernel
def _flat_turn(corners, order, low, high, cx, cy, cz, ux, uy, uz, vx, vy, vz):
    """Turn of the axes u, v (cosine, sine) that makes the rectangle around the triangles smallest."""
    best, cosine, sine = np.inf, 1.0, 0.0
    stride = max(1, (high - low) // 32)  # a sample will do: the box itself is measured afterwards
    for turn in range(TURNS):
        c, s = math.cos(turn * math.pi / (2 * TURNS)), math.sin(turn * math.pi / (2 * TURNS))
        a0 = b0 = np.inf
        a1 = b1 = -np.inf
        for i in range(low, high, stride):
            t = corners[order[i]]
            for j in range(0, 9, 3):
                x, y, z = t[j] - cx, t[j + 1] - cy, t[j + 2] - cz
                a, b = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
                a, b = c * a + s * b, c * b - s * a
                a0, a1, b0, b1 = min(a0, a), max(a1, a), min(b0, b), max(b1, b)
        if (a1 - a0) * (b1 - b0) < best:
            best, cosine, sine = (a1 - a0) * (b1 - b0), c, s
    return cosine, sine


@kernel
def _extents(corners, order, low, high, cx, cy, cz, x, y, z):
    """Least and most of (vertex − c)·(x, y, z) over the triangles order[low:high]."""
    least, most = np.inf, -np.inf
    for i in range(low, high):
        t = corners[order[i]]
        for j in range(0, 9, 3):
            along = x * (t[j] - cx) + y * (t[j + 1] - cy) + z * (t[j + 2] - cz)
            least, most = min(least, along), max(most, along)
    return least, most


@kernel
def _bound_range(corners, order, low, high, box):
    """Box of the triangles order[low:high] into box: centre, three axes, three half sides."""
    nx, ny, nz = _normal_axis(corners, order, low, high)
    if abs(nx) < 0.6:  # any two directions across it, to begin with
        ux, uy, uz = 0.0, nz, -ny
    else:
        ux, uy, uz = -nz, 0.0, nx
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    t = corners[order[low]]
    cx, cy, cz = t[0], t[1], t[2]
    c, s = _flat_turn(corners, order, low, high, cx, cy, cz, ux, uy, uz, vx, vy, vz)
    ux, uy, uz, vx, vy, vz = (
        c * ux + s * vx, c * uy + s * vy, c * uz + s * vz,
        c * vx - s * ux, c * vy - s * uy, c * vz - s * uz,
    )  # fmt: skip
    n0, n1 = _extents(corners, order, low, high, cx, cy, cz, nx, ny, nz)
    u0, u1 = _extents(corners, order, low, high, cx, cy, cz, ux, uy, uz)
    v0, v1 = _extents(corners, order, low, high, cx, cy, cz, vx, vy, vz)
    n, u, v = 0.5 * (n0 + n1), 0.5 * (u0 + u1), 0.5 * (v0 + v1)
    cx, cy, cz = cx + n * nx + u * ux + v * vx, cy + n * ny + u * uy + v * vy, cz + n * nz + u * uz + v * vz
    # Measured again from the centre as it was rounded
    n0, n1 = _extents(corners, order, low, high, cx, cy, cz, nx, ny, nz)
    u0, u1 = _extents(corners, order, low, high, cx, cy, cz, ux, uy, uz)
    v0, v1 = _extents(corners, order, low, high, cx, cy, cz, vx, vy, vz)
    n, u, v = max(-n0, n1), max(-u0, u1), max(-v0, v1)
    slack = ENLARGE * (n + u + v)
    box[0], box[1], box[2] = cx, cy, cz
    box[3], box[4], box[5] = nx, ny, nz
    box[6], box[7], box[8] = ux, uy, uz
    box[9], box[10], box[11] = vx, vy, vz
    box[12], box[13], box[14] = n + slack, u + slack, v + slack


@parallel(grain=64)
def bound_nodes(first, stop, corners, order, ranges, children, nodes, leaves, faces):
    """Fill the boxes of all nodes, and the triangles of the leaves side by side with their face numbers."""
    for at in range(first, stop):
        for i in range(WIDTH):
            low, high = ranges[at, i, 0], ranges[at, i, 1]
            box = nodes[at * NODE + i : (at + 1) * NODE : WIDTH]
            if low == high:
                for d in range(BOX):
                    box[d] = 0.0
                box[0], box[3] = NOWHERE, 1.0
                continue
            _bound_range(corners, order, low, high, box)
            if children[at, i] < 0:
                leaf = ~children[at, i]
                for lane in range(WIDTH):  # the last triangle again and again in a leaf that is not full
                    face = order[min(low + lane, high - 1)]
                    faces[leaf * WIDTH + lane] = face
                    for d in range(9):
                        leaves[leaf * LEAF + d * WIDTH + lane] = corners[face, d]
