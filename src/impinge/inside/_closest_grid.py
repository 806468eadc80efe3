"""Compiled distances from the points of a regular grid: packets of 2 × 2 × 2 neighbours share one search.

For a packet the leaves that may matter are collected once, and the points of the packet are compared with
them one after the other. Triangles are measured in frames of their own, where no division is needed; only the
nearest one is measured again in the way of `_closest.py`, so that the distances are those of a single query.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.inside._closest import (
    BOX,
    FARTHEST,
    LEAF,
    MARGIN,
    NODE,
    NOWHERE,
    STACK,
    WIDTH,
    length,
    measure_lanes,
    nearest_slot,
    slot_vector,
)

FRAME = 19  # numbers of a frame
FRAMES = FRAME * WIDTH  # of those of a leaf
FOUND = 2048  # leaves that can be collected for a packet
LARGEST = 0x7FFFFFFFFFFFFFFF
LOWEST = np.array([(n & -n).bit_length() - 1 for n in range(256)])
FLAT = 2.0**-48  # height over length below which a triangle is a segment
SLACK = 2.0**-45  # of the distances in play: far more than rounding


@exact
def _unit(x, y, z):
    """(direction, length); some direction if there is no length."""
    length = math.sqrt(x * x + y * y + z * z)
    if length > 0.0:
        return x / length, y / length, z / length, length
    return 1.0, 0.0, 0.0, 0.0


@kernel
def _frame_triangle(a, b, c, out):
    """The triangle with longest edge a, b in its frame: origin a, axes x along that edge, y, z; three edges.

    out : origin, x, y, z (three numbers each), the length of the longest edge, then unit direction (in x, y)
    and length of the edges from its two ends to the third vertex.
    """
    xx, xy, xz, length = _unit(b[0] - a[0], b[1] - a[1], b[2] - a[2])
    fx, fy, fz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    along = fx * xx + fy * xy + fz * xz
    fx, fy, fz = fx - along * xx, fy - along * xy, fz - along * xz
    again = fx * xx + fy * xy + fz * xz  # what is left of a needle is mostly rounding
    yx, yy, yz, height = _unit(fx - again * xx, fy - again * xy, fz - again * xz)
    if height <= FLAT * length:  # a segment: any y across it will do
        height = 0.0
        if abs(xx) < 0.6:
            yx, yy, yz, _ = _unit(0.0, xz, -xy)
        else:
            yx, yy, yz, _ = _unit(-xz, 0.0, xx)
    left = math.sqrt(along * along + height * height)
    right = math.sqrt((along - length) ** 2 + height * height)
    out[0], out[1], out[2] = a[0], a[1], a[2]
    out[3], out[4], out[5] = xx, xy, xz
    out[6], out[7], out[8] = yx, yy, yz
    out[9], out[10], out[11] = xy * yz - xz * yy, xz * yx - xx * yz, xx * yy - xy * yx
    out[12] = length
    out[13], out[14], out[15] = (along / left, height / left, left) if left > 0.0 else (1.0, 0.0, 0.0)
    along -= length
    out[16], out[17], out[18] = (along / right, height / right, right) if right > 0.0 else (-1.0, 0.0, 0.0)


@exact
def _distance(a, b):
    return length(b[0] - a[0], b[1] - a[1], b[2] - a[2])


@parallel(grain=256)
def frame_leaves(first, stop, nodes, children, leaves, frames, boxes):
    """Frames of all triangles, and the boxes of all leaves once more, each in one piece."""
    for item in range(first, stop):
        for i in range(WIDTH):
            if children[item, i] < 0 and nodes[item * NODE + i] != NOWHERE:
                leaf = ~children[item, i]
                for d in range(BOX):
                    boxes[leaf * BOX + d] = nodes[item * NODE + d * WIDTH + i]
                for lane in range(WIDTH):
                    triangle = leaves[leaf * LEAF + lane : (leaf + 1) * LEAF : WIDTH]
                    frame = frames[leaf * FRAMES + lane : (leaf + 1) * FRAMES : WIDTH]
                    a, b, c = triangle[0:3], triangle[3:6], triangle[6:9]
                    ab, ac, bc = _distance(a, b), _distance(a, c), _distance(b, c)
                    if ab >= ac and ab >= bc:
                        _frame_triangle(a, b, c, frame)
                    elif ac >= bc:
                        _frame_triangle(a, c, b, frame)
                    else:
                        _frame_triangle(b, c, a, frame)


@kernel
def _measure_frames(frames, at, px, py, pz, distance_sq):
    """Squared distances from p to the WIDTH triangles of a leaf, by their frames."""
    rows = frames[at * FRAMES : (at + 1) * FRAMES]
    for i in range(len(distance_sq)):
        vx, vy, vz = px - rows[i], py - rows[i + WIDTH], pz - rows[i + 2 * WIDTH]
        x = rows[i + 3 * WIDTH] * vx + rows[i + 4 * WIDTH] * vy + rows[i + 5 * WIDTH] * vz
        y = rows[i + 6 * WIDTH] * vx + rows[i + 7 * WIDTH] * vy + rows[i + 8 * WIDTH] * vz
        z = rows[i + 9 * WIDTH] * vx + rows[i + 10 * WIDTH] * vy + rows[i + 11 * WIDTH] * vz
        length = rows[i + 12 * WIDTH]
        t = x if x > 0.0 else 0.0
        t = t if t < length else length
        d = (x - t) * (x - t) + y * y
        ex, ey, length_1 = rows[i + 13 * WIDTH], rows[i + 14 * WIDTH], rows[i + 15 * WIDTH]
        t = x * ex + y * ey
        t = t if t > 0.0 else 0.0
        t = t if t < length_1 else length_1
        u, v = x - t * ex, y - t * ey
        d1 = u * u + v * v
        fx, fy, length_2 = rows[i + 16 * WIDTH], rows[i + 17 * WIDTH], rows[i + 18 * WIDTH]
        w = x - length
        t = w * fx + y * fy
        t = t if t > 0.0 else 0.0
        t = t if t < length_2 else length_2
        u, v = w - t * fx, y - t * fy
        d2 = u * u + v * v
        d = d1 if d1 < d else d
        d = d2 if d2 < d else d
        d = 0.0 if (y > 0.0) & (ex * y < ey * x) & (fx * y > fy * w) else d
        distance_sq[i] = z * z + d


@kernel
def _bound_for_packet(nodes, at, cx, cy, cz, gx, gy, gz, reach, radius, curve, excess):
    """By how much the contents of the WIDTH boxes of a node are too far for all points of a packet.

    Zero or less: they may count. The points are c + δ, |δ| ≤ r. With q a point of the surface, D = |c − q|
    and g = (c − q)/D,
        |c + δ − q| ≤ D + g·δ + r²/2D,   and   |c + δ − box| ≥ d + e·δ
    with d the distance of c from the box and e its gradient, since the distance from a box is convex. So the
    box is too far if d − D > r |e − g| + r²/2D, or if d − D > 2r. As both bounds move with the point, few
    boxes are left.
    """
    rows = nodes[at * NODE : (at + 1) * NODE]
    for i in range(len(excess)):
        vx, vy, vz = cx - rows[i], cy - rows[i + WIDTH], cz - rows[i + 2 * WIDTH]
        a = rows[i + 3 * WIDTH] * vx + rows[i + 4 * WIDTH] * vy + rows[i + 5 * WIDTH] * vz
        b = rows[i + 6 * WIDTH] * vx + rows[i + 7 * WIDTH] * vy + rows[i + 8 * WIDTH] * vz
        c = rows[i + 9 * WIDTH] * vx + rows[i + 10 * WIDTH] * vy + rows[i + 11 * WIDTH] * vz
        x, y, z = abs(a) - rows[i + 12 * WIDTH], abs(b) - rows[i + 13 * WIDTH], abs(c) - rows[i + 14 * WIDTH]
        x, y, z = (x if x > 0.0 else 0.0), (y if y > 0.0 else 0.0), (z if z > 0.0 else 0.0)
        d = math.sqrt(x * x + y * y + z * z)
        ga = rows[i + 3 * WIDTH] * gx + rows[i + 4 * WIDTH] * gy + rows[i + 5 * WIDTH] * gz
        gb = rows[i + 6 * WIDTH] * gx + rows[i + 7 * WIDTH] * gy + rows[i + 8 * WIDTH] * gz
        gc = rows[i + 9 * WIDTH] * gx + rows[i + 10 * WIDTH] * gy + rows[i + 11 * WIDTH] * gz
        ga, gb, gc = (ga if a > 0.0 else -ga), (gb if b > 0.0 else -gb), (gc if c > 0.0 else -gc)
        turn = 2.0 + SLACK - 2.0 * (x * ga + y * gb + z * gc) / (d if d > 0.0 else 1.0)
        turn = radius * math.sqrt(turn if turn > 0.0 else 0.0) + curve
        turn = turn if turn < 2.0 * radius else 2.0 * radius
        excess[i] = d - reach - turn - SLACK * (abs(vx) + abs(vy) + abs(vz) + reach)


@kernel
def _passing(bits, limits):
    """Lanes whose number is not above the limit, as the bits of a number."""
    lanes = 0
    for j in range(len(bits)):
        lanes |= (1 if bits[j] <= limits[j] else 0) << j
    return lanes


@kernel
def _least(bits):
    """The least of some numbers, its last three bits replaced by its place."""
    least = LARGEST
    for i in range(len(bits)):
        key = (bits[i] & ~7) | i
        least = key if key < least else least
    return least


@kernel
def _collect_leaves(nodes, children, cx, cy, cz, qx, qy, qz, radius, stack, work, work_bits, zeros, found):
    """Leaves that may hold the nearest triangle of a point of the packet, the most promising one first.

    Returns how many, or -1 if there are more than `found` can take.
    """
    gx, gy, gz, reach = _unit(cx - qx, cy - qy, cz - qz)
    curve = 0.5 * radius * radius / reach if reach > 0.0 else np.inf
    count, top, nearest = 0, 0, np.inf
    stack[0] = 0
    while top >= 0:
        item = stack[top]
        top -= 1
        _bound_for_packet(nodes, item, cx, cy, cz, gx, gy, gz, reach, radius, curve, work)
        lanes = _passing(work_bits, zeros)  # numbers that are not positive, by their bits
        while lanes != 0:
            i = LOWEST[lanes]
            lanes &= lanes - 1
            child = children[item, i]
            if child >= 0:
                top += 1
                stack[top] = child
            elif count < len(found):
                found[count] = ~child
                if work[i] < nearest:
                    found[count], found[0], nearest = found[0], ~child, work[i]
                count += 1
            else:
                return -1
    return count


@kernel
def _bound_points(boxes, at, x, y, z, bounds):
    """Lower bounds of the squared distances from the points of a packet to what one box holds."""
    box = boxes[at * BOX : (at + 1) * BOX]
    for j in range(len(bounds)):
        vx, vy, vz = x[j] - box[0], y[j] - box[1], z[j] - box[2]
        slack = MARGIN * (abs(vx) + abs(vy) + abs(vz))
        a = abs(box[3] * vx + box[4] * vy + box[5] * vz) - box[12] - slack
        b = abs(box[6] * vx + box[7] * vy + box[8] * vz) - box[13] - slack
        c = abs(box[9] * vx + box[10] * vy + box[11] * vz) - box[14] - slack
        a, b, c = (a if a > 0.0 else 0.0), (b if b > 0.0 else 0.0), (c if c > 0.0 else 0.0)
        bounds[j] = a * a + b * b + c * c


@kernel
def _search_leaves(boxes, frames, found, count, x, y, z, limits, best, bounds, bounds_bits, work, work_bits):
    """Nearest slots of the points of a packet among the leaves found, starting from first guesses."""
    for k in range(count):
        leaf = found[k]
        _bound_points(boxes, leaf, x, y, z, bounds)
        lanes = _passing(bounds_bits, limits)
        while lanes != 0:
            j = LOWEST[lanes]
            lanes &= lanes - 1
            _measure_frames(frames, leaf, x[j], y[j], z[j], work)
            key = _least(work_bits)
            if key < limits[j]:
                limits[j], best[j] = key, found[k] * WIDTH + (key & 7)


@kernel
def _gather_triangles(leaves, slots, triangles):
    for lane in range(WIDTH):
        leaf, i = slots[lane] // WIDTH, slots[lane] % WIDTH
        for d in range(9):
            triangles[d * WIDTH + lane] = leaves[leaf * LEAF + d * WIDTH + i]


@kernel
def _place_packet(xs, ys, zs, i, j, k, x, y, z):
    """Coordinates of the points of a packet, centre and radius; at the border of a grid points come twice."""
    for lane in range(WIDTH):
        x[lane] = xs[min(i + (lane >> 2), len(xs) - 1)]
        y[lane] = ys[min(j + (lane >> 1 & 1), len(ys) - 1)]
        z[lane] = zs[min(k + (lane & 1), len(zs) - 1)]
    last = WIDTH - 1
    cx, cy, cz = 0.5 * (x[0] + x[last]), 0.5 * (y[0] + y[last]), 0.5 * (z[0] + z[last])
    round_off = MARGIN * (abs(cx) + abs(cy) + abs(cz))
    dx, dy, dz = x[last] - cx, y[last] - cy, z[last] - cz
    return cx, cy, cz, math.sqrt(dx * dx + dy * dy + dz * dz) + round_off


@parallel(grain=1)
def grid_distances(first, stop, xs, ys, zs, path, side, nodes, children, leaves, faces, boxes, frames, distance):
    """Distances of all points (xs[i], ys[j], zs[k]).

    A thread takes a cube of side³ points at a time, its packets in the order `path`, (n, 3): every packet
    touches the one before it, whose nearest triangles are its first guess.
    """
    shape = distance.shape
    by, bz = (shape[1] + side - 1) // side, (shape[2] + side - 1) // side
    for cube in range(first, stop):
        stack, stack_sq, work_4 = np.empty(STACK, np.int64), np.empty(STACK), np.empty((4, WIDTH))
        x, y, z, bounds, work = (
            np.empty(WIDTH),
            np.empty(WIDTH),
            np.empty(WIDTH),
            np.empty(WIDTH),
            np.empty(WIDTH),
        )
        best, best_sq, triangles = np.zeros(WIDTH, np.int64), np.empty(WIDTH), np.empty(LEAF)
        found, limits = np.empty(FOUND, np.int64), np.empty(WIDTH, np.int64)
        zeros = np.zeros(WIDTH, np.int64)
        best_bits, bounds_bits, work_bits = best_sq.view(np.int64), bounds.view(np.int64), work.view(np.int64)
        fresh = True
        for step in range(len(path)):
            i = cube // (by * bz) * side + path[step, 0]
            j = cube // bz % by * side + path[step, 1]
            k = cube % bz * side + path[step, 2]
            if i >= shape[0] or j >= shape[1] or k >= shape[2]:
                continue
            cx, cy, cz, radius = _place_packet(xs, ys, zs, i, j, k, x, y, z)
            if fresh:
                fresh = False
                start, _ = nearest_slot(
                    nodes, children, leaves, faces, cx, cy, cz, FARTHEST, best[0], stack, stack_sq, work_4
                )
                for lane in range(WIDTH):
                    best[lane] = start
                _gather_triangles(leaves, best, triangles)
            measure_lanes(triangles, 0, x, y, z, best_sq)
            _, _, _, qx, qy, qz = slot_vector(leaves, best[0], cx, cy, cz)
            count = _collect_leaves(
                nodes, children, cx, cy, cz, qx, qy, qz, radius, stack, work, work_bits, zeros, found
            )
            for lane in range(WIDTH):
                limits[lane] = best_bits[lane]
            _search_leaves(boxes, frames, found, count, x, y, z, limits, best, bounds, bounds_bits, work, work_bits)
            if count < 0:  # as at the centre of a sphere, where everything is equally near: one by one
                for lane in range(WIDTH):
                    best[lane], _ = nearest_slot(
                        nodes, children, leaves, faces,
                        x[lane], y[lane], z[lane], best_sq[lane], best[lane], stack, stack_sq, work_4,
                    )  # fmt: skip
            _gather_triangles(leaves, best, triangles)
            measure_lanes(triangles, 0, x, y, z, best_sq)
            for lane in range(WIDTH):
                at = (i + (lane >> 2), j + (lane >> 1 & 1), k + (lane & 1))
                if at[0] < shape[0] and at[1] < shape[1] and at[2] < shape[2]:
                    distance[at] = math.sqrt(best_sq[lane])
