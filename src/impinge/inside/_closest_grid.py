"""Compiled distances from the points of a regular grid: packets of 2 × 2 × 2 neighbours share one search.

For a packet the leaves that may matter are collected once, below the nodes that were cut out for its block of
4 × 4 × 4 points. All this is done in single precision with a proven margin for its rounding: twice the numbers
per instruction, half the memory. The few triangles that are left for a point, most often one, or those that
meet at the nearest edge or vertex, are measured in the way of `_closest.py`, so that the distances are those of
a single query. A packet that finds too many leaves is searched point by point.

Three things make the small loops here fast, and are easy to lose:
- Arrays hold what a loop reads and what it writes WIDTH numbers apart. The compiler then takes WIDTH lanes at
  once; else it takes as many as the processor has, 16 with AVX-512, and leaves all our 8 to the slow remainder.
- The inner loops run over the argument `width`, always WIDTH: one of known length is unrolled before it is
  vectorised. They are written out where they are needed: a call with many arrays costs as much as they do.
- What passes a test is kept by writing always and counting on, without branches, which would be unpredictable.
"""

import math

import numpy as np

from impinge._jit import kernel, parallel, prefetch
from impinge.inside._closest import (
    FARTHEST,
    LEAF,
    MARGIN,
    NODE,
    STACK,
    WIDTH,
    measure_lanes,
    nearest_slot,
    slot_vector,
)
from impinge.inside._closest_frames import AWAY, FRAMES, ROOM, unit

FRONT = 16  # nodes that are cut out for a block; more would spare some steps down, and look at more boxes
PARENTS = 64  # nodes that wait while a packet collects its leaves
QUEUE = 16 * PARENTS  # more than those that wait on all levels together
FOUND = PARENTS * WIDTH  # leaves that can be collected for a packet
BATCH = 8 * WIDTH  # triangles that are measured in one go in double precision
LINE = 16  # single numbers in a line of the cache
# Single precision: with u = 2^-24 and P = |p| + |o|, p the point and o the origin of a frame or a box, rounding of
# p and o and their difference v gives at most 2uP, three scalar products with rounded axes 7u|v|, the steps to
# the nearest point 5u|v|, and |v| ≤ P. Distances are therefore right to ROUNDING · P, with something to spare.
# Vertices are within √3 of the centre of the mesh, centres of boxes within 3, for which ENLARGE makes up.
ROUNDING = 2.0**-20
LARGEST_RADIUS = 1.75

Single = np.float32
ZERO, ONE, FOUR, INFINITE = Single(0), Single(1), Single(4), Single(np.inf)
NONE, MORE = np.uint64(0), np.uint64(1)
W2, W3, W4, W5, W6 = 2 * WIDTH, 3 * WIDTH, 4 * WIDTH, 5 * WIDTH, 6 * WIDTH


@kernel
def _walk(coarse, children, width, view, state, start, n_start, most, keep, queue, parents, found, count):
    """Go down from the nodes `start` to what may hold the nearest triangle of a point c + δ, |δ| ≤ r.

    With q a point of the surface, D = |c − q| and g = (c − q)/D,
        |c + δ − q| ≤ D + g·δ + r²/2D,   and   |c + δ − box| ≥ d + e·δ
    with d the distance of c from a box and e its gradient, since the distance from a box is convex. So the box
    is too far if d − D > r |e − g| + r²/2D, or if d − D > 2r. As both bounds move with the point, few are left.

    view : g, D, r, r²/2D; state : c (x, y, z) WIDTH times each, and room for as many results.
    keep : whether nodes of leaves are listed in `parents`; else their leaves are added to the `count` in `found`.
    Returns the number of parents, of leaves, and whether all was done without more than `most` nodes at a time;
    if not, those that were left are among the parents.
    """
    gx, gy, gz, reach, radius, curve = view
    n, head, tail, many = 0, 0, np.uint64(n_start), np.uint64(count)
    for k in range(n_start):
        queue[k] = start[k]
    enough = np.uint64(len(found) - WIDTH)
    while head < np.int64(tail) and n + np.int64(tail) - head + WIDTH <= most and many <= enough:
        item = queue[head]
        head += 1
        if head + 1 < np.int64(tail):
            for line in range(0, NODE, LINE):
                prefetch(coarse, np.uint64(queue[head + 1] * NODE + line))
        if item < 0:  # a leaf next to nodes, which is rare
            found[many] = ~item
            many += MORE
            continue
        leaf = ~children[item, 0]  # the leaves of a node are numbered one after the other
        if leaf >= 0 and keep:
            parents[n] = item
            n += 1
            continue
        rows = coarse[item * NODE : (item + 1) * NODE]
        for i in range(width):
            vx, vy, vz = state[i] - rows[i], state[i + WIDTH] - rows[i + WIDTH], state[i + W2] - rows[i + W2]
            ax, ay, az = rows[i + 3 * WIDTH], rows[i + 4 * WIDTH], rows[i + 5 * WIDTH]
            bx, by, bz = rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH]
            cx, cy, cz = rows[i + 9 * WIDTH], rows[i + 10 * WIDTH], rows[i + 11 * WIDTH]
            a, b, c = ax * vx + ay * vy + az * vz, bx * vx + by * vy + bz * vz, cx * vx + cy * vy + cz * vz
            x, y, z = abs(a) - rows[i + 12 * WIDTH], abs(b) - rows[i + 13 * WIDTH], abs(c) - rows[i + 14 * WIDTH]
            x, y, z = (x if x > ZERO else ZERO), (y if y > ZERO else ZERO), (z if z > ZERO else ZERO)
            d = math.sqrt(x * x + y * y + z * z)
            ga, gb, gc = ax * gx + ay * gy + az * gz, bx * gx + by * gy + bz * gz, cx * gx + cy * gy + cz * gz
            ga, gb, gc = (ga if a > ZERO else -ga), (gb if b > ZERO else -gb), (gc if c > ZERO else -gc)
            per = ONE / (d if d > ZERO else ONE)
            x, y, z = x * per - ga, y * per - gb, z * per - gc
            turn = radius * math.sqrt(x * x + y * y + z * z) + curve
            turn = turn if turn < radius + radius else radius + radius
            state[i + W3] = d - reach - turn
        if leaf >= 0:
            for i in range(WIDTH):
                found[many] = leaf + i
                many += MORE if state[i + W3] <= ZERO else NONE
        else:
            for i in range(WIDTH):
                queue[tail] = children[item, i]
                tail += MORE if state[i + W3] <= ZERO else NONE
    for k in range(head, np.int64(tail)):
        parents[n] = queue[k]
        n += 1
    return n, np.int64(many), head == np.int64(tail)


@kernel
def _bound_leaves(boxes, found, count, width, slack, points, bounds):
    """Lower bounds of the squared distances from the points of a packet to the boxes of the leaves found.

    points : x, y, z, then the least bound, its place in `found`, the second least and its place.
    """
    for j in range(WIDTH):
        points[j + W3] = points[j + W5] = INFINITE
        points[j + W4] = points[j + W6] = ZERO
    for k in range(count):
        prefetch(boxes, np.uint64(found[k] * ROOM))
    for k in range(count):
        box, row, place = boxes[found[k] * ROOM : (found[k] + 1) * ROOM], bounds[k * WIDTH :], Single(k)
        for j in range(width):
            vx, vy, vz = points[j] - box[0], points[j + WIDTH] - box[1], points[j + W2] - box[2]
            a = abs(box[3] * vx + box[4] * vy + box[5] * vz) - box[12] - slack
            b = abs(box[6] * vx + box[7] * vy + box[8] * vz) - box[13] - slack
            c = abs(box[9] * vx + box[10] * vy + box[11] * vz) - box[14] - slack
            a, b, c = (a if a > ZERO else ZERO), (b if b > ZERO else ZERO), (c if c > ZERO else ZERO)
            bound = a * a + b * b + c * c
            row[j] = bound
            least, least_at, second, second_at = points[j + W3], points[j + W4], points[j + W5], points[j + W6]
            less = bound < least
            points[j + W3] = bound if less else least
            points[j + W4] = place if less else least_at
            other, other_at = (least if less else bound), (least_at if less else place)
            points[j + W5] = other if other < second else second
            points[j + W6] = other_at if other < second else second_at


@kernel
def _measure_pairs(frames, found, pairs, first, last, width, points, nearest, squares):
    """Squared distances of points from the WIDTH triangles of leaves, a row of `squares` for every pair.

    A pair is the place of a leaf in `found` × WIDTH + the number of a point. nearest : for every point infinity,
    which is there for the first remark above, and the least distance so far, in WIDTH lanes.
    """
    for m in range(first, last):
        j, leaf = pairs[m] & (WIDTH - 1), found[pairs[m] // WIDTH]
        px, py, pz = points[j], points[j + WIDTH], points[j + W2]
        rows, least, row = frames[leaf * FRAMES : (leaf + 1) * FRAMES], nearest[j * W2 :], squares[m * WIDTH :]
        for i in range(width):
            vx, vy, vz = px - rows[i], py - rows[i + WIDTH], pz - rows[i + W2]
            x = rows[i + 3 * WIDTH] * vx + rows[i + 4 * WIDTH] * vy + rows[i + 5 * WIDTH] * vz
            y = rows[i + 6 * WIDTH] * vx + rows[i + 7 * WIDTH] * vy + rows[i + 8 * WIDTH] * vz
            z = rows[i + 9 * WIDTH] * vx + rows[i + 10 * WIDTH] * vy + rows[i + 11 * WIDTH] * vz
            height = rows[i + 12 * WIDTH]
            nx, ny, edge = rows[i + 13 * WIDTH], rows[i + 14 * WIDTH], rows[i + 15 * WIDTH]
            nx_1, ny_1, edge_1 = rows[i + 16 * WIDTH], rows[i + 17 * WIDTH], rows[i + 18 * WIDTH]
            nx, ny, edge = (nx if x < ZERO else nx_1), (ny if x < ZERO else ny_1), (edge if x < ZERO else edge_1)
            x = abs(x)
            inner = y if y < height else height
            below = y - inner
            off = nx * x - ny * inner
            off = off if off > ZERO else ZERO
            along = ny * x + nx * inner
            end = along if along > ZERO else ZERO
            beyond = along - (end if end < edge else edge)
            square = (z * z + below * below) + (off * off + beyond * beyond)
            square = square if square < least[i] else least[i]
            row[i] = square
            least[i + WIDTH] = square if square < least[i + WIDTH] else least[i + WIDTH]


@kernel
def _set_limits(nearest, slack, limits):
    """(√s + 2 slack)² or a little more, s the least of all lanes: what is above is farther than the nearest."""
    for j in range(WIDTH):
        least = nearest[j * W2 + WIDTH]
        for i in range(j * W2 + WIDTH + 1, (j + 1) * W2):
            least = nearest[i] if nearest[i] < least else least
        limits[j] = least + FOUR * slack * (math.sqrt(least) + FOUR * slack)


@kernel
def _measure_leaves(frames, found, count, width, slack, points, bounds, nearest, limits, pairs, squares):
    """Squared distances of the points from the triangles of all leaves that matter to them.

    First the two most promising leaves of each point, then those that are not beyond what these gave. Returns
    how many pairs of a leaf and a point there were.
    """
    for i in range(len(nearest)):
        nearest[i] = INFINITE
    n = min(count, 2) * WIDTH
    for m in range(n):
        j = m & (WIDTH - 1)
        pairs[m] = int(points[j + (W4 if m < WIDTH else W6)]) * WIDTH + j
        bounds[pairs[m]] = INFINITE
    _measure_pairs(frames, found, pairs, 0, n, width, points, nearest, squares)
    _set_limits(nearest, slack, limits)
    many = np.uint64(n)
    for k in range(count):
        for j in range(WIDTH):
            pairs[many] = k * WIDTH + j
            many += MORE if bounds[k * WIDTH + j] <= limits[j] else NONE
    _measure_pairs(frames, found, pairs, n, np.int64(many), width, points, nearest, squares)
    _set_limits(nearest, slack, limits)
    return np.int64(many)


@kernel
def _pick_slots(found, pairs, n_pairs, squares, limits, slots):
    """The slots × WIDTH + points that may be nearest to each other; returns how many."""
    many = NONE
    for m in range(n_pairs):
        j = pairs[m] & (WIDTH - 1)
        slot = found[pairs[m] // WIDTH] * WIDTH * WIDTH + j
        for i in range(WIDTH):
            slots[many] = slot + i * WIDTH
            many += MORE if squares[m * WIDTH + i] <= limits[j] else NONE
    return np.int64(many)


@kernel
def _gather_triangle(leaves, slot, at, triangles):
    start, end = slot // WIDTH * LEAF + slot % WIDTH, at // WIDTH * LEAF + at % WIDTH
    for d in range(9):
        triangles[end + d * WIDTH] = leaves[start + d * WIDTH]


@kernel
def _settle(leaves, slots, count, x, y, z, triangles, qx, qy, qz, squares, best, best_sq):
    """The nearest of the slots of each point, in double precision: best slot and squared distance."""
    for j in range(WIDTH):
        best_sq[j] = np.inf
    for start in range(0, count, BATCH):
        n = min(count - start, BATCH)
        whole = (n + WIDTH - 1) // WIDTH
        for at in range(whole * WIDTH):  # all are gathered before the first is measured: loads need not wait
            k = start + min(at, n - 1)
            j = slots[k] & (WIDTH - 1)
            qx[at], qy[at], qz[at] = x[j], y[j], z[j]
            _gather_triangle(leaves, slots[k] // WIDTH, at, triangles)
        for b in range(whole):
            low, high = b * WIDTH, (b + 1) * WIDTH
            measure_lanes(triangles, b, qx[low:high], qy[low:high], qz[low:high], squares[low:high])
        for at in range(n):
            j = slots[start + at] & (WIDTH - 1)
            less = squares[at] < best_sq[j]
            best[j] = slots[start + at] // WIDTH if less else best[j]
            best_sq[j] = squares[at] if less else best_sq[j]


@kernel
def _search_singly(nodes, children, leaves, faces, x, y, z, stack, stack_sq, work, best, best_sq):
    """Best slots and squared distances of the points of a packet, one by one as in `_closest.py`."""
    for j in range(WIDTH):
        vx, vy, vz, _, _, _ = slot_vector(leaves, best[j], x[j], y[j], z[j])
        limit = vx * vx + vy * vy + vz * vz
        best[j], best_sq[j] = nearest_slot(
            nodes, children, leaves, faces, x[j], y[j], z[j], limit, best[j], stack, stack_sq, work
        )


@kernel
def _look(leaves, best, low, high, centre, triangles, work, state):
    """What `_walk` wants for all points between low and high: view and state; and the slack.

    q is taken from the triangles `best`, those of the packet before.
    """
    cx, cy, cz = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])
    dx, dy, dz = high[0] - cx, high[1] - cy, high[2] - cz
    radius = math.sqrt(dx * dx + dy * dy + dz * dz) + MARGIN * (abs(cx) + abs(cy) + abs(cz))
    qx, qy, qz, squares = work[0], work[1], work[2], work[3]
    for lane in range(WIDTH):
        qx[lane], qy[lane], qz[lane] = cx, cy, cz
        _gather_triangle(leaves, best[lane], lane, triangles)
    measure_lanes(triangles, 0, qx, qy, qz, squares)
    near = 0
    for lane in range(WIDTH):
        near = lane if squares[lane] < squares[near] else near
    x, y, z, _, _, _ = slot_vector(leaves, best[near], cx, cy, cz)
    gx, gy, gz, reach = unit(-x, -y, -z)
    curve = min(0.5 * radius * radius / reach, AWAY) if reach > 0.0 else AWAY
    cx, cy, cz = cx - centre[0], cy - centre[1], cz - centre[2]
    for lane in range(WIDTH):
        state[lane], state[lane + WIDTH], state[lane + W2] = cx, cy, cz
    slack = ROUNDING * (math.sqrt(cx * cx + cy * cy + cz * cz) + radius + LARGEST_RADIUS)
    view = (Single(gx), Single(gy), Single(gz), Single(reach + 2.0 * slack), Single(radius), Single(curve))
    return view, Single(slack)


@kernel
def _place_packet(xs, ys, zs, i, j, k, centre, x, y, z, points):
    """Coordinates of the points of a packet; at the border of a grid points come twice."""
    for lane in range(WIDTH):
        x[lane] = xs[min(i + (lane >> 2), len(xs) - 1)]
        y[lane] = ys[min(j + (lane >> 1 & 1), len(ys) - 1)]
        z[lane] = zs[min(k + (lane & 1), len(zs) - 1)]
    for lane in range(WIDTH):
        points[lane], points[lane + WIDTH] = x[lane] - centre[0], y[lane] - centre[1]
        points[lane + W2] = z[lane] - centre[2]


@kernel
def _span(places, at, low, high, d):
    """Least and most of the four coordinates of a block along an axis, which may be in any order."""
    low[d], high[d] = np.inf, -np.inf
    for i in range(at // 4 * 4, min(at // 4 * 4 + 4, len(places))):
        low[d], high[d] = min(low[d], places[i]), max(high[d], places[i])


@parallel(grain=1)
def grid_distances(
    first, stop, width, xs, ys, zs, path, side, nodes, children, leaves, faces, centre, coarse, boxes, frames, distance
):
    """Distances of all points (xs[i], ys[j], zs[k]).

    A thread takes a cube of side³ points at a time, its packets in the order `path`, (n, 3), in which the 8 of a
    block follow each other: the nearest triangles of one are the first guess for the next.
    """
    shape = distance.shape
    by, bz = (shape[1] + side - 1) // side, (shape[2] + side - 1) // side
    stack, stack_sq, work = np.empty(STACK, np.int64), np.empty(STACK), np.empty((4, width))
    x, y, z, low, high = np.empty(width), np.empty(width), np.empty(width), np.empty(3), np.empty(3)
    best, best_sq = np.zeros(width, np.int64), np.empty(width)
    root, front, parents = np.zeros(1, np.int64), np.empty(FRONT, np.int64), np.empty(PARENTS, np.int64)
    queue, found, loose = np.empty(QUEUE, np.int64), np.empty(FOUND, np.int64), np.empty(FOUND, np.int64)
    state, points, limits = np.empty(4 * width, Single), np.empty(7 * width, Single), np.empty(width, Single)
    bounds, nearest = np.empty(FOUND * width, Single), np.empty(2 * width * width, Single)
    pairs, squares = np.empty(FOUND * width + 1, np.int64), np.empty(FOUND * width * width, Single)
    slots = np.empty(len(squares) + 1, np.int64)
    triangles, square = np.empty(9 * BATCH), np.empty(BATCH)
    qx, qy, qz = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    n_front, n_loose = 0, 0
    for cube in range(first, stop):
        at = cube // (by * bz) * side, cube // bz % by * side, cube % bz * side
        fresh = True
        for step in range(len(path)):
            i, j, k = at[0] + path[step, 0], at[1] + path[step, 1], at[2] + path[step, 2]
            n_front = 0 if step % 8 == 0 else n_front
            if i >= shape[0] or j >= shape[1] or k >= shape[2]:
                continue
            if n_front == 0:
                _span(xs, i, low, high, 0)
                _span(ys, j, low, high, 1)
                _span(zs, k, low, high, 2)
                if fresh:
                    fresh = False
                    start, _ = nearest_slot(
                        nodes, children, leaves, faces, low[0], low[1], low[2], FARTHEST, 0, stack, stack_sq, work
                    )
                    best[:] = start
                view, _ = _look(leaves, best, low, high, centre, triangles, work, state)
                n_front, n_loose, _ = _walk(
                    coarse, children, width, view, state, root, 1, FRONT, True, queue, front, loose, 0
                )
            _place_packet(xs, ys, zs, i, j, k, centre, x, y, z, points)
            low[0], low[1], low[2] = x[0], y[0], z[0]
            high[0], high[1], high[2] = x[WIDTH - 1], y[WIDTH - 1], z[WIDTH - 1]
            view, slack = _look(leaves, best, low, high, centre, triangles, work, state)
            for leaf in range(n_loose):
                found[leaf] = loose[leaf]
            _, count, done = _walk(
                coarse, children, width, view, state, front, n_front, PARENTS, False, queue, parents, found, n_loose
            )
            if done and count > 0:
                _bound_leaves(boxes, found, count, width, slack, points, bounds)
                n = _measure_leaves(frames, found, count, width, slack, points, bounds, nearest, limits, pairs, squares)
                count = _pick_slots(found, pairs, n, squares, limits, slots)
                _settle(leaves, slots, count, x, y, z, triangles, qx, qy, qz, square, best, best_sq)
            else:  # as at the centre of a sphere, where everything is equally near
                _search_singly(nodes, children, leaves, faces, x, y, z, stack, stack_sq, work, best, best_sq)
            for lane in range(WIDTH):
                square[lane] = math.sqrt(best_sq[lane])
            for a in range(min(2, shape[0] - i)):
                for b in range(min(2, shape[1] - j)):
                    for c in range(min(2, shape[2] - k)):
                        distance[i + a, j + b, k + c] = square[4 * a + 2 * b + c]
