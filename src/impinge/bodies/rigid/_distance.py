"""Signed distance from a closed surface, its gradient, and where a segment pierces it; all in the frame of the surface.

The tree is that of `inside/_closest.py`. On which side of the surface a point is, the normal at its nearest point
tells: of a face, and on edges and vertices the mean of the faces there, weighted by their angles, for which that is
always true [Baerentzen2005].

surface : arrays of the tree, normals of the faces, boxes around the leaves, and 1, or −1 if all is inside that is
outside: `Form.tree`. space : what searches write to, `make_space`. near : what of the tree there is near a segment, see
`list_leaves`: how many items and which; how far each was from it, at least, ascending; how far the segment has moved
since; up to where all are listed. Or all of it, `make_everywhere`.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, lean, part
from impinge.inside._closest import LEAF, MARGIN, NODE, STACK, WIDTH, measure_lanes, nearest_slot, slot_vector

FACE, EDGES, VERTICES = 0, 1, 4  # normals of a face a b c: its own, of ab, ac and bc, of a, b and c
NORMALS = 7
SCRATCH = 4  # rows of WIDTH numbers that searches need
MOST_CROSSINGS = 64
NEAR = 32  # leaves near an edge, at most
SURE, UNSURE = 1.0 - 1e-9, 1.0 + 1e-9  # of a distance: so far a point can move, whatever is rounded
PIECES = 24  # of one edge, at most
PIECE = 7  # numbers of a piece: first and last place along the edge, depths there, normal of the surface
END = 13  # numbers of a part of an edge, see `_edges.py`
_DOWN = 1.0 - 2.0**-22  # so that bounds are no more than they were when they are rounded to float32
_ON_BORDER = 1e-9  # of the longest edge: points nearer to an edge or vertex are on it


@exact
def _feature(qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """On which part of a triangle its point q is: row of its normal."""
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    wx, wy, wz = cx - bx, cy - by, cz - bz
    uu, vv, ww = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz
    near_sq = _ON_BORDER * _ON_BORDER * max(uu, vv, ww)
    fx, fy, fz, gx, gy, gz = qx - ax, qy - ay, qz - az, qx - bx, qy - by, qz - bz
    hx, hy, hz = qx - cx, qy - cy, qz - cz
    if fx * fx + fy * fy + fz * fz <= near_sq:
        return VERTICES
    if gx * gx + gy * gy + gz * gz <= near_sq:
        return VERTICES + 1
    if hx * hx + hy * hy + hz * hz <= near_sq:
        return VERTICES + 2
    x, y, z = uy * fz - uz * fy, uz * fx - ux * fz, ux * fy - uy * fx
    if x * x + y * y + z * z <= near_sq * uu:
        return EDGES
    x, y, z = vy * fz - vz * fy, vz * fx - vx * fz, vx * fy - vy * fx
    if x * x + y * y + z * z <= near_sq * vv:
        return EDGES + 1
    x, y, z = wy * gz - wz * gy, wz * gx - wx * gz, wx * gy - wy * gx
    if x * x + y * y + z * z <= near_sq * ww:
        return EDGES + 2
    return FACE


@kernel
def make_space():
    """Stack of the tree with its distances, rows of lanes, crossings, and parts and pieces of edges."""
    return (
        np.empty(STACK, np.int64), np.empty(STACK), np.empty((SCRATCH, WIDTH)), np.empty((MOST_CROSSINGS, 2)),
        np.empty((PIECES, END)), np.empty((PIECES, PIECE)),
    )  # fmt: skip


@kernel
def make_everywhere():
    """All of a tree, its root, as what is near."""
    items = np.zeros(2, np.int32)
    items[0] = 1
    return items, np.zeros(1, np.float32), 0.0, math.inf


@lean
def gradient(surface, slot, px, py, pz):
    """Signed distance of a point from the triangle that is the nearest one, and its gradient."""
    _, _, leaves, faces, normals, _, out = surface
    x, y, z, qx, qy, qz = slot_vector(leaves, slot, px, py, pz)
    rows, i = leaves[slot // WIDTH * LEAF : (slot // WIDTH + 1) * LEAF], slot % WIDTH
    feature = _feature(
        qx, qy, qz, rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH], rows[i + 3 * WIDTH], rows[i + 4 * WIDTH],
        rows[i + 5 * WIDTH], rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH],
    )  # fmt: skip
    face = faces[slot]
    nx, ny, nz = out * normals[face, feature, 0], out * normals[face, feature, 1], out * normals[face, feature, 2]
    distance = math.sqrt(x * x + y * y + z * z)
    side = -1.0 if x * nx + y * ny + z * nz > 0.0 else 1.0  # x is from the point to the surface
    # Where rounding would spoil the direction, the mean normal is as good.
    if feature != FACE and distance > _ON_BORDER * (abs(qx) + abs(qy) + abs(qz)):
        nx, ny, nz = -side * x / distance, -side * y / distance, -side * z / distance
    return side * distance, nx, ny, nz


@lean
def tangent(surface, slot, px, py, pz, tx, ty, tz):
    """What of a direction t the nearest point follows when p moves: in a face, along an edge, nothing at a vertex."""
    rows, i = surface[2][slot // WIDTH * LEAF : (slot // WIDTH + 1) * LEAF], slot % WIDTH
    ax, ay, az = rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH]
    bx, by, bz = rows[i + 3 * WIDTH], rows[i + 4 * WIDTH], rows[i + 5 * WIDTH]
    cx, cy, cz = rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH]
    _, _, _, qx, qy, qz = slot_vector(surface[2], slot, px, py, pz)
    feature = _feature(qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if feature >= VERTICES:
        return 0.0, 0.0, 0.0
    if feature == FACE:
        normal = surface[4][surface[3][slot], FACE]
        along = tx * normal[0] + ty * normal[1] + tz * normal[2]
        return tx - along * normal[0], ty - along * normal[1], tz - along * normal[2]
    if feature == EDGES + 2:
        ax, ay, az = cx, cy, cz
    elif feature == EDGES + 1:
        bx, by, bz = cx, cy, cz
    bx, by, bz = bx - ax, by - ay, bz - az
    along = (tx * bx + ty * by + tz * bz) / (bx * bx + by * by + bz * bz)
    return along * bx, along * by, along * bz


@lean
def signed_distance(surface, px, py, pz, start, space):
    """(slot, distance, gradient) of the nearest triangle: negative inside, the gradient away from the inside.

    start : a slot to begin with; the answer does not depend on it.
    """
    nodes, children, leaves, faces, _, _, _ = surface
    x, y, z, _, _, _ = slot_vector(leaves, start, px, py, pz)
    slot, _ = nearest_slot(
        nodes, children, leaves, faces, px, py, pz, x * x + y * y + z * z, start, space[0], space[1], space[2]
    )
    distance, nx, ny, nz = gradient(surface, slot, px, py, pz)
    return slot, distance, nx, ny, nz


@part
def _bound_box(box, px, py, pz):
    """As `bound_children`, for one box."""
    vx, vy, vz = px - box[0], py - box[1], pz - box[2]
    slack = MARGIN * (abs(vx) + abs(vy) + abs(vz))
    x = max(abs(box[3] * vx + box[4] * vy + box[5] * vz) - box[12] - slack, 0.0)
    y = max(abs(box[6] * vx + box[7] * vy + box[8] * vz) - box[13] - slack, 0.0)
    z = max(abs(box[9] * vx + box[10] * vy + box[11] * vz) - box[14] - slack, 0.0)
    return x * x + y * y + z * z


@lean
def distance_near(surface, near, px, py, pz, start, space):
    """As `signed_distance`, of a point of the segment that `near` was listed for."""
    _, _, leaves, faces, _, boxes, _ = surface
    items, bounds, way, within = near
    xs, ys, zs, values = space[2][0], space[2][1], space[2][2], space[2][3]
    best = np.int64(start)
    if items[1] < 0:
        for i in range(WIDTH):
            xs[i], ys[i], zs[i] = px, py, pz
        x, y, z, _, _, _ = slot_vector(leaves, best, px, py, pz)
        best_sq = x * x + y * y + z * z
        limit = UNSURE * math.sqrt(best_sq)
        for k in range(items[0]):
            if bounds[k] - way > limit:
                break
            leaf = ~items[1 + k]
            if _bound_box(boxes[leaf], px, py, pz) > limit * limit:
                continue
            measure_lanes(leaves, leaf, xs, ys, zs, values)
            for i in range(WIDTH):
                slot = leaf * WIDTH + i
                if values[i] < best_sq or (values[i] == best_sq and faces[slot] < faces[best]):
                    best, best_sq = slot, values[i]
            limit = UNSURE * math.sqrt(best_sq)
        if limit < within:
            distance, nx, ny, nz = gradient(surface, best, px, py, pz)
            return best, distance, nx, ny, nz
    return signed_distance(surface, px, py, pz, best, space)


@lean
def _reach_boxes(nodes, at, mx, my, mz, hx, hy, hz, reached):
    """reached[i] : whether child i of a node may be met by the segment m ± h; ≤ 0 if it may."""
    rows = nodes[at * NODE : (at + 1) * NODE]
    for i in range(len(reached)):
        vx, vy, vz = mx - rows[i], my - rows[i + WIDTH], mz - rows[i + 2 * WIDTH]
        ax, ay, az = rows[i + 3 * WIDTH], rows[i + 4 * WIDTH], rows[i + 5 * WIDTH]
        bx, by, bz = rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH]
        cx, cy, cz = rows[i + 9 * WIDTH], rows[i + 10 * WIDTH], rows[i + 11 * WIDTH]
        slack = 2.0**-48 * (abs(vx) + abs(vy) + abs(vz) + abs(hx) + abs(hy) + abs(hz))
        x = abs(ax * vx + ay * vy + az * vz) - rows[i + 12 * WIDTH] - abs(ax * hx + ay * hy + az * hz)
        y = abs(bx * vx + by * vy + bz * vz) - rows[i + 13 * WIDTH] - abs(bx * hx + by * hy + bz * hz)
        z = abs(cx * vx + cy * vy + cz * vz) - rows[i + 14 * WIDTH] - abs(cx * hx + cy * hy + cz * hz)
        reached[i] = max(max(x, y), z) - slack


@part
def _pierce(px, py, pz, dx, dy, dz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Where the segment p + t d meets a triangle: t, or −1.

    The three volumes change their signs exactly where an edge is seen from its other side, and 0 counts: a segment that
    goes through a common edge of two triangles meets at least one of them.
    """
    ax, ay, az, bx, by, bz, cx, cy, cz = (
        ax - px, ay - py, az - pz, bx - px, by - py, bz - pz, cx - px, cy - py, cz - pz,
    )  # fmt: skip
    ab = dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx)
    bc = dx * (by * cz - bz * cy) + dy * (bz * cx - bx * cz) + dz * (bx * cy - by * cx)
    ca = dx * (cy * az - cz * ay) + dy * (cz * ax - cx * az) + dz * (cx * ay - cy * ax)
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    along = nx * dx + ny * dy + nz * dz
    t = (nx * ax + ny * ay + nz * az) / (along if along != 0.0 else 1.0)
    # Written without branches, so that lanes are done side by side.
    alike = ((ab >= 0.0) & (bc >= 0.0) & (ca >= 0.0)) | ((ab <= 0.0) & (bc <= 0.0) & (ca <= 0.0))
    return t if alike & (along != 0.0) & (t >= 0.0) & (t <= 1.0) else -1.0


@lean
def _pierce_lanes(leaves, leaf, px, py, pz, dx, dy, dz, found):
    """`_pierce` for all triangles of a leaf."""
    rows = leaves[leaf * LEAF : (leaf + 1) * LEAF]
    for i in range(len(found)):
        found[i] = _pierce(
            px, py, pz, dx, dy, dz, rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH], rows[i + 3 * WIDTH],
            rows[i + 4 * WIDTH], rows[i + 5 * WIDTH], rows[i + 6 * WIDTH], rows[i + 7 * WIDTH], rows[i + 8 * WIDTH],
        )  # fmt: skip


@lean
def find_crossings(surface, near, px, py, pz, dx, dy, dz, space):
    """Where the segment p + t d pierces the surface: their number; every t, ascending, and the slot, in `space`."""
    nodes, children, leaves, _, _, _, _ = surface
    items, bounds, way, _ = near
    stack, values, places = space[0], space[2][3], space[3]
    mx, my, mz, hx, hy, hz = px + 0.5 * dx, py + 0.5 * dy, pz + 0.5 * dz, 0.5 * dx, 0.5 * dy, 0.5 * dz
    found, top = 0, -1
    for k in range(items[0]):
        if bounds[k] > way:
            break
        top += 1
        stack[top] = items[1 + k]
    while top >= 0:
        item = stack[top]
        top -= 1
        if item >= 0:
            _reach_boxes(nodes, item, mx, my, mz, hx, hy, hz, values)
            for i in range(WIDTH):
                stack[top + 1] = children[item, i]
                top += 1 if values[i] <= 0.0 else 0
            continue
        _pierce_lanes(leaves, ~item, px, py, pz, dx, dy, dz, values)
        for i in range(WIDTH):
            t = values[i]
            if t >= 0.0 and found < len(places):
                k = found
                while k > 0 and places[k - 1, 0] > t:
                    places[k, 0], places[k, 1] = places[k - 1, 0], places[k - 1, 1]
                    k -= 1
                places[k, 0], places[k, 1] = t, ~item * WIDTH + i
                found += 1
    return found


@lean
def list_leaves(surface, px, py, pz, dx, dy, dz, reach, items, bounds, space):
    """List the leaves at most `reach` from the segment p + t d, the nearest first, as many as there is room for.

    items : their number, and the leaves; bounds : how far each is from the segment, at least. Returns up to where all
    are listed. Where more of them may be pierced than there is room for, the whole tree is.
    """
    nodes, children = surface[0], surface[1]
    stack, values = space[0], space[2][3]
    mx, my, mz, hx, hy, hz = px + 0.5 * dx, py + 0.5 * dy, pz + 0.5 * dz, 0.5 * dx, 0.5 * dy, 0.5 * dz
    count, top, within = 0, 0, reach
    stack[0] = 0
    while top >= 0:
        item = stack[top]
        top -= 1
        _reach_boxes(nodes, item, mx, my, mz, hx, hy, hz, values)
        for i in range(WIDTH):
            bound = _DOWN * max(values[i], 0.0)
            if bound > within:
                continue
            if children[item, i] >= 0:
                top += 1
                stack[top] = children[item, i]
                continue
            if count == NEAR:
                within = min(within, max(bound, bounds[count - 1]))
                if bound >= bounds[count - 1]:
                    continue
                count -= 1
            k = count
            while k > 0 and bounds[k - 1] > bound:
                bounds[k], items[1 + k] = bounds[k - 1], items[k]
                k -= 1
            bounds[k], items[1 + k] = bound, children[item, i]
            count += 1
    items[0] = count
    if count == 0:
        items[1] = -1
    if within == 0.0:
        items[0], items[1], bounds[0] = 1, 0, 0.0
        return reach
    return within


@kernel
def measure_thickness(surface, points, inward, reach, thickness):
    """How far it is from points of a surface through the body to its other side, at most `reach`."""
    space, everywhere = make_space(), make_everywhere()
    for i in range(len(points)):
        dx, dy, dz = reach * inward[i, 0], reach * inward[i, 1], reach * inward[i, 2]
        count = find_crossings(surface, everywhere, points[i, 0], points[i, 1], points[i, 2], dx, dy, dz, space)
        thickness[i] = reach
        for k in range(count):
            if space[3][k, 0] > 1e-6:  # not where it starts
                thickness[i] = space[3][k, 0] * reach
                break
