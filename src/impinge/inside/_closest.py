"""Compiled search for the nearest point of a surface: the scalar geometry and the walk through the tree.

The tree (`_closest_build.py`) has WIDTH children per node and WIDTH triangles per leaf, each stored side by
side, so that one loop, which the compiler vectorises, treats them all.

Every child is bounded by a box with axes of its own, one of them along the normal of the surface. Pieces of a
surface are flat, and a box with sides along x, y and z is a bad bound for a flat piece that stands askew: its
corners come much nearer to a far point than the surface does, and many more leaves must be opened.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, lean, parallel

WIDTH = 8
BOX = 15  # numbers of a box: centre, three axes, three half sides
# Numbers of a node and of a leaf. The arrays have one axis, and places of numbers are written as constants:
# the compiler then sees at once that they differ from where the results go.
NODE, LEAF = BOX * WIDTH, 9 * WIDTH
STACK = 256  # more than (depth of the tree, at most 11 for 2^31 triangles) × (WIDTH − 1) + WIDTH
CHUNK = 256  # points that one thread takes at a time, each starting from its predecessor's nearest triangle
NOWHERE = 1e150  # centre of a box that is not there: farther than anything
FAR = 2.0**26  # in sizes of the mesh: distances are exact to 2^-26 of its size there
FARTHEST = 1e299  # larger than any squared distance, smaller than that of NOWHERE
# Bounds are lowered by this times |p − c|, far more than rounding (a few 2^-53), so that a triangle whose
# computed distance ties with the best is never cut off: the answer does not depend on the order of search.
MARGIN = 2.0**-48


@exact
def _nearest_on_edge(ux, uy, uz, vx, vy, vz, ex, ey, ez):
    """Nearest point to the origin of the segment u, v with v − u = e: (t, x, y, z, distance_sq)."""
    ee = ex * ex + ey * ey + ez * ez
    t = -(ux * ex + uy * ey + uz * ez) / (ee if ee > 0.0 else 1.0)
    t = t if t > 0.0 else 0.0
    t = t if t < 1.0 else 1.0
    r = 1.0 - t  # r u + t v is exactly u or v at the ends
    x, y, z = r * ux + t * vx, r * uy + t * vy, r * uz + t * vz
    return t, x, y, z, x * x + y * y + z * z


@exact
def _step_inwards(x, y, z, t, ex, ey, ez, fx, fy, fz):
    """Step from the nearest point (x, y, z) of the border, at t on edge e, to the origin's foot.

    The step is along m = f − (f·e / e·e) e, the height on that edge (f ends in the third vertex).
    """
    ee = ex * ex + ey * ey + ez * ez
    tau = (fx * ex + fy * ey + fz * ez) / (ee if ee > 0.0 else 1.0)
    mx, my, mz = fx - tau * ex, fy - tau * ey, fz - tau * ez
    mm = mx * mx + my * my + mz * mz
    step = -(x * mx + y * my + z * mz) / (mm if mm > 0.0 else 1.0)
    # Not across one of the other two edges: then rounding has taken this one for the nearest, of two that are as near.
    inside = (step > 0.0) & (t > 0.0) & (t < 1.0) & (step * tau <= t) & (step * (1.0 - tau) <= 1.0 - t)
    step = step if inside else 0.0
    return step * mx, step * my, step * mz


@exact
def nearest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Nearest point q of the closed triangle a, b, c to p: (q − p, q), six numbers.

    First the nearest point of the border (three edges). If it lies inside an edge and the foot of p in the
    plane is on the inner side of that edge, the foot is in the triangle, and is reached from the border by a
    step along the height of the triangle on that edge. Nothing is divided by the area: for a needle or a
    triangle without area the step only loses its meaning, never its bound (it does not leave the triangle).
    """
    ux, uy, uz = ax - px, ay - py, az - pz
    vx, vy, vz = bx - px, by - py, bz - pz
    wx, wy, wz = cx - px, cy - py, cz - pz
    # Edges from the vertices themselves: the differences of u, v, w lose digits when p is far away.
    abx, aby, abz = bx - ax, by - ay, bz - az
    acx, acy, acz = cx - ax, cy - ay, cz - az
    bcx, bcy, bcz = cx - bx, cy - by, cz - bz
    t, x, y, z, d = _nearest_on_edge(ux, uy, uz, vx, vy, vz, abx, aby, abz)
    t1, x1, y1, z1, d1 = _nearest_on_edge(ux, uy, uz, wx, wy, wz, acx, acy, acz)
    t2, x2, y2, z2, d2 = _nearest_on_edge(vx, vy, vz, wx, wy, wz, bcx, bcy, bcz)
    gx, gy, gz, hx, hy, hz = ax, ay, az, bx, by, bz  # the nearest edge, and the way to the third vertex
    ex, ey, ez, fx, fy, fz = abx, aby, abz, acx, acy, acz
    if d1 < d:
        t, x, y, z, d = t1, x1, y1, z1, d1
        hx, hy, hz = cx, cy, cz
        ex, ey, ez, fx, fy, fz = acx, acy, acz, abx, aby, abz
    if d2 < d:
        t, x, y, z = t2, x2, y2, z2
        gx, gy, gz, hx, hy, hz = bx, by, bz, cx, cy, cz
        ex, ey, ez, fx, fy, fz = bcx, bcy, bcz, -abx, -aby, -abz
    sx, sy, sz = _step_inwards(x, y, z, t, ex, ey, ez, fx, fy, fz)
    # q itself from the vertices: p + (q − p) would carry the rounding of a far p
    qx, qy, qz = (1.0 - t) * gx + t * hx, (1.0 - t) * gy + t * hy, (1.0 - t) * gz + t * hz
    return x + sx, y + sy, z + sz, qx + sx, qy + sy, qz + sz


@exact
def closest_point_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Nearest point (x, y, z) of the closed triangle a, b, c to p; sizes from about 1e-150 to 1e150."""
    _, _, _, x, y, z = nearest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    return x, y, z


@lean
def bound_children(nodes, at, px, py, pz, bound_sq):
    """Lower bounds of the squared distances from p to what the WIDTH boxes of a node hold.

    distance² ≥ Σ_k max(|n_k·v| − h_k, 0)²,   v = p − c, n_k the axes and h_k the half sides of a box
    """
    rows = nodes[at * NODE : (at + 1) * NODE]
    for i in range(len(bound_sq)):  # not WIDTH: a loop of known length is unrolled before it is vectorised
        vx, vy, vz = px - rows[i], py - rows[i + WIDTH], pz - rows[i + 2 * WIDTH]
        slack = MARGIN * (abs(vx) + abs(vy) + abs(vz))
        x = (
            abs(rows[i + 3 * WIDTH] * vx + rows[i + 4 * WIDTH] * vy + rows[i + 5 * WIDTH] * vz)
            - rows[i + 12 * WIDTH]
            - slack
        )
        y = (
            abs(rows[i + 6 * WIDTH] * vx + rows[i + 7 * WIDTH] * vy + rows[i + 8 * WIDTH] * vz)
            - rows[i + 13 * WIDTH]
            - slack
        )
        z = (
            abs(rows[i + 9 * WIDTH] * vx + rows[i + 10 * WIDTH] * vy + rows[i + 11 * WIDTH] * vz)
            - rows[i + 14 * WIDTH]
            - slack
        )
        x = x if x > 0.0 else 0.0
        y = y if y > 0.0 else 0.0
        z = z if z > 0.0 else 0.0
        bound_sq[i] = x * x + y * y + z * z


@lean
def measure_lanes(leaves, at, px, py, pz, distance_sq):
    """Squared distances from WIDTH points to as many triangles, lane by lane.

    The steps of `nearest_on_triangle` with choices instead of branches, and here rather than called: the
    compiler vectorises a loop only if all it calls is small enough to be inlined.
    """
    rows = leaves[at * LEAF : (at + 1) * LEAF]
    for i in range(len(distance_sq)):
        ax, ay, az = rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH]
        bx, by, bz = rows[i + 3 * WIDTH], rows[i + 4 * WIDTH], rows[i + 5 * WIDTH]
        cx, cy, cz = rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH]
        ux, uy, uz = ax - px[i], ay - py[i], az - pz[i]
        vx, vy, vz = bx - px[i], by - py[i], bz - pz[i]
        wx, wy, wz = cx - px[i], cy - py[i], cz - pz[i]
        abx, aby, abz = bx - ax, by - ay, bz - az
        acx, acy, acz = cx - ax, cy - ay, cz - az
        bcx, bcy, bcz = cx - bx, cy - by, cz - bz
        t, x, y, z, d = _nearest_on_edge(ux, uy, uz, vx, vy, vz, abx, aby, abz)
        t1, x1, y1, z1, d1 = _nearest_on_edge(ux, uy, uz, wx, wy, wz, acx, acy, acz)
        t2, x2, y2, z2, d2 = _nearest_on_edge(vx, vy, vz, wx, wy, wz, bcx, bcy, bcz)
        at_1 = d1 < d
        at_2 = d2 < (d1 if at_1 else d)
        t, x, y, z = (t1, x1, y1, z1) if at_1 else (t, x, y, z)
        t, x, y, z = (t2, x2, y2, z2) if at_2 else (t, x, y, z)
        ex, ey, ez = (acx, acy, acz) if at_1 else (abx, aby, abz)
        fx, fy, fz = (abx, aby, abz) if at_1 else (acx, acy, acz)
        ex, ey, ez = (bcx, bcy, bcz) if at_2 else (ex, ey, ez)
        fx, fy, fz = (-abx, -aby, -abz) if at_2 else (fx, fy, fz)
        sx, sy, sz = _step_inwards(x, y, z, t, ex, ey, ez, fx, fy, fz)
        x, y, z = x + sx, y + sy, z + sz
        distance_sq[i] = x * x + y * y + z * z


@lean
def nearest_slot(nodes, children, leaves, faces, px, py, pz, best_sq, best, stack, stack_sq, work):
    """Slot (leaf * WIDTH + lane) of the nearest triangle, given a slot to start from and its distance.

    Depth first, nearest child first. Among equal distances the lowest face wins.
    """
    xs, ys, zs, values = work[0], work[1], work[2], work[3]
    for i in range(WIDTH):
        xs[i], ys[i], zs[i] = px, py, pz
    top = 0
    stack[0], stack_sq[0] = 0, 0.0
    while top >= 0:
        item, item_sq = stack[top], stack_sq[top]
        top -= 1
        if item_sq > best_sq:
            continue
        if item < 0:
            leaf = ~item
            measure_lanes(leaves, leaf, xs, ys, zs, values)
            for i in range(WIDTH):
                if values[i] <= best_sq:
                    slot = leaf * WIDTH + i
                    if values[i] < best_sq or faces[slot] < faces[best]:
                        best_sq, best = values[i], slot
            continue
        bound_children(nodes, item, px, py, pz, values)
        # Push without branches (they would be unpredictable), then bring the nearest child to the top.
        nearest, nearest_sq = top + 1, np.inf
        for i in range(WIDTH):
            bound_sq = values[i]
            stack[top + 1], stack_sq[top + 1] = children[item, i], bound_sq
            nearest = top + 1 if bound_sq < nearest_sq else nearest
            nearest_sq = min(bound_sq, nearest_sq)
            top += 1 if bound_sq <= best_sq else 0
        if nearest < top:
            stack[nearest], stack[top] = stack[top], stack[nearest]
            stack_sq[nearest], stack_sq[top] = stack_sq[top], stack_sq[nearest]
    return best, best_sq


@exact
def length(x, y, z):
    """√(x² + y² + z²), also where the squares underflow."""
    largest = max(abs(x), abs(y), abs(z))
    if largest > 1e-140 or largest == 0.0:
        return math.sqrt(x * x + y * y + z * z)
    x, y, z = x / largest, y / largest, z / largest
    return largest * math.sqrt(x * x + y * y + z * z)


@lean
def slot_vector(leaves, slot, px, py, pz):
    """`nearest_on_triangle` for the triangle in a slot."""
    rows = leaves[slot // WIDTH * LEAF : (slot // WIDTH + 1) * LEAF]
    i = slot % WIDTH
    return nearest_on_triangle(
        px, py, pz,
        rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH],
        rows[i + 3 * WIDTH], rows[i + 4 * WIDTH], rows[i + 5 * WIDTH],
        rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH],
    )  # fmt: skip


@parallel(grain=1)
def find_closest(first, stop, points, home, nodes, children, leaves, faces, closest, face, distance):
    """Nearest point, its face and its distance for all points; those of points[k] go to row home[k]."""
    n = len(points)
    for chunk in range(first, stop):
        stack, stack_sq = np.empty(STACK, np.int64), np.empty(STACK)
        work = np.empty((4, WIDTH))
        best = 0
        for k in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            i = home[k]
            px, py, pz = points[k, 0], points[k, 1], points[k, 2]
            x, y, z, _, _, _ = slot_vector(leaves, best, px, py, pz)
            best_sq = x * x + y * y + z * z
            best, _ = nearest_slot(nodes, children, leaves, faces, px, py, pz, best_sq, best, stack, stack_sq, work)
            x, y, z, qx, qy, qz = slot_vector(leaves, best, px, py, pz)
            closest[i, 0], closest[i, 1], closest[i, 2] = qx, qy, qz
            face[i] = faces[best]
            distance[i] = length(x, y, z)


@kernel
def scale_points(points, factor, factor_2, centre, scaled_centre, scaled, low, high):
    """Points times factor · factor_2 (powers of two) and their box; returns whether one was beyond FAR.

    Those are moved to the distance FAR on their line to the centre of the mesh: it looks alike from there,
    and from farther away all its points would be at the same distance in double precision.
    """
    beyond = False
    for d in range(3):
        low[d], high[d] = np.inf, -np.inf
    for i in range(np.uint64(len(points))):
        largest = 0.0
        for d in range(3):
            x = points[i, d] * factor * factor_2
            scaled[i, d] = x
            largest = max(largest, abs(x - scaled_centre[d]))
        if not largest <= FAR:
            beyond = True
            largest = 0.0
            for d in range(3):  # a quarter: differences may overflow
                largest = max(largest, abs(0.25 * points[i, d] - 0.25 * centre[d]))
            for d in range(3):
                share = (0.25 * points[i, d] - 0.25 * centre[d]) / largest
                scaled[i, d] = scaled_centre[d] + share * FAR
        for d in range(3):
            low[d], high[d] = min(low[d], scaled[i, d]), max(high[d], scaled[i, d])
    return beyond


@exact
def _spread(q):
    """Bits of q < 2^10 with two zeros between them."""
    q = (q | (q << 16)) & 0x030000FF
    q = (q | (q << 8)) & 0x0300F00F
    q = (q | (q << 4)) & 0x030C30C3
    return (q | (q << 2)) & 0x09249249


@kernel
def sort_by_cell(points, low, per_length, bits, in_order, home):
    """Points in the order of the Morton numbers of their cells, 2^bits ≤ 2^10 per axis, and where they came from."""
    n = len(points)
    last = (1 << bits) - 1
    cell = np.empty(n, np.int32)
    start = np.zeros((1 << 3 * bits) + 1, np.int64)
    for i in range(np.uint64(n)):
        x = min(int((points[i, 0] - low[0]) * per_length[0]), last)
        y = min(int((points[i, 1] - low[1]) * per_length[1]), last)
        z = min(int((points[i, 2] - low[2]) * per_length[2]), last)
        code = _spread(x) << 2 | _spread(y) << 1 | _spread(z)
        cell[i] = code
        start[code + 1] += 1
    for c in range(1 << 3 * bits):
        start[c + 1] += start[c]
    for i in range(n):
        at = start[cell[i]]
        start[cell[i]] += 1
        home[at] = i
        for d in range(3):
            in_order[at, d] = points[i, d]
