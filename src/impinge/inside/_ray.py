"""Compiled loops of the ray crossing test with random rays [Muth2006], as corrected in docs/inside.md."""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.exact._orient import normal_sign, orient2d_sign, orient3d_sign
from impinge.exact._triangles import point_in_triangle
from impinge.inside._vertical import ON, crossing_of

# What becomes of a point, and of a ray
OUTSIDE_BOX, OUTSIDE, INSIDE, ON_FACE, ON_EDGE, ON_VERTEX, DEGENERATE = 0, 1, 2, 3, 4, 5, 6
MISSED, CROSSED = 7, 8  # what becomes of a face
SHOTS = 16  # rays before the exact variant decides
TASK = 8  # points that a thread takes at a time
BLOCK = 512  # faces whose boxes are tested at once
NOWHERE = 1e9  # centre of a box that is not there


@exact
def _mix(state):
    """One step of SplitMix64 [Steele2014]: (new state, 64 random bits)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@exact
def _random_direction(bits_x, bits_y, bits_z, shot):
    """Direction uniform on the sphere, drawn from the bits of the point's coordinates and the shot's number.

    So the rays of a point do not depend on the other points, on their order or on the threads.
    """
    state, a = _mix(bits_x)
    state, b = _mix(a ^ bits_y)
    state, a = _mix(b ^ bits_z)
    state, b = _mix(a ^ np.uint64(shot))
    _, a = _mix(state)
    z = 2.0 * (float(a >> np.uint64(11)) * 2.0**-53) - 1.0
    angle = 2.0 * math.pi * (float(b >> np.uint64(11)) * 2.0**-53)
    across = math.sqrt(max(0.0, 1.0 - z * z))
    return across * math.cos(angle), across * math.sin(angle), z


@parallel(grain=8192)
def find_areas(first, stop, triangles, has_area):
    """Which faces have an area, exactly: faces without one would make every ray degenerate."""
    for k in range(first, stop):
        t = triangles[k]
        has_area[k] = normal_sign(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]) != 0


@exact
def _place_on_face(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Area signs: ON_FACE, ON_EDGE, ON_VERTEX or MISSED, for a point in the plane of a face with area.

    Seen along an axis on which the face has a shadow with area; the signs of P against the three edges: both
    + and − present is a miss, one zero an edge, two zeros a vertex.
    """
    for _ in range(3):
        if orient2d_sign(ax, ay, bx, by, cx, cy) != 0:
            break
        px, py, pz = py, pz, px
        ax, ay, az = ay, az, ax
        bx, by, bz = by, bz, bx
        cx, cy, cz = cy, cz, cx
    s0 = orient2d_sign(ax, ay, bx, by, px, py)
    s1 = orient2d_sign(bx, by, cx, cy, px, py)
    s2 = orient2d_sign(cx, cy, ax, ay, px, py)
    if s0 * s1 < 0 or s1 * s2 < 0 or s0 * s2 < 0:
        return MISSED
    zeros = (s0 == 0) + (s1 == 0) + (s2 == 0)
    return ON_FACE if zeros == 0 else (ON_EDGE if zeros == 1 else ON_VERTEX)


@exact
def meet_face(px, py, pz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """What the segment from P to R, which is outside the body, does with a face: steps 1 to 4 of docs/inside.md.

    With d1 = (F1 − P)·n and d2 = (R − P)·n only signs are needed: d1 and d1 − d2 are orient3d of P and of R,
    and 0 < d1/d2 < 1 means that they differ and neither is zero.
    """
    d1 = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    rest = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, rx, ry, rz)  # d1 − d2
    if d1 == 0:
        if rest == 0:
            return DEGENERATE  # the ray lies in the plane
        return _place_on_face(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if d1 * rest >= 0:
        return MISSED
    v0 = orient3d_sign(px, py, pz, rx, ry, rz, ax, ay, az, bx, by, bz)
    v1 = orient3d_sign(px, py, pz, rx, ry, rz, bx, by, bz, cx, cy, cz)
    if v0 * v1 < 0:
        return MISSED
    v2 = orient3d_sign(px, py, pz, rx, ry, rz, cx, cy, cz, ax, ay, az)
    if v0 * v2 < 0 or v1 * v2 < 0:
        return MISSED
    return DEGENERATE if v0 == 0 or v1 == 0 or v2 == 0 else CROSSED


@exact
def _outside(x, y, z, bounds):
    return (
        x < bounds[0, 0] or x > bounds[1, 0]
        or y < bounds[0, 1] or y > bounds[1, 1]
        or z < bounds[0, 2] or z > bounds[1, 2]
    )  # fmt: skip


@exact
def _to_frame(x, frame, axis):
    """Coordinate in the frame of the face boxes; frame = (factor, factor_2, centre times them, margin)."""
    return x * frame[0] * frame[1] - frame[axis]


@kernel
def _touch_boxes(boxes, mx, my, mz, wx, wy, wz, margin, touched):
    """Which closed face boxes the segment m ± w may touch: separating axes, with a margin for rounding.

    boxes : (6, BLOCK) float32, centres and half sides in a frame in which the mesh is about 1 in size. Single
    precision halves what must be read from memory and doubles what one instruction treats.
    """
    mx, my, mz = np.float32(mx), np.float32(my), np.float32(mz)
    wx, wy, wz = np.float32(wx), np.float32(wy), np.float32(wz)
    ux, uy, uz, margin = abs(wx), abs(wy), abs(wz), np.float32(margin)
    for j in range(len(touched)):
        dx, dy, dz = mx - boxes[0, j], my - boxes[1, j], mz - boxes[2, j]
        hx, hy, hz = boxes[3, j] + margin, boxes[4, j] + margin, boxes[5, j] + margin
        apart = (abs(dx) > hx + ux) | (abs(dy) > hy + uy) | (abs(dz) > hz + uz)
        apart |= abs(dy * wz - dz * wy) > hy * uz + hz * uy + margin
        apart |= abs(dz * wx - dx * wz) > hz * ux + hx * uz + margin
        apart |= abs(dx * wy - dy * wx) > hx * uy + hy * ux + margin
        touched[j] = 0 if apart else 1


@kernel
def _shoot(px, py, pz, rx, ry, rz, triangles, boxes, frame, touched):
    """One ray from P to R against all faces: INSIDE, OUTSIDE, ON_… or DEGENERATE."""
    qx, rel_x = _to_frame(px, frame, 2), _to_frame(rx, frame, 2)
    qy, rel_y = _to_frame(py, frame, 3), _to_frame(ry, frame, 3)
    qz, rel_z = _to_frame(pz, frame, 4), _to_frame(rz, frame, 4)
    mx, my, mz = 0.5 * (qx + rel_x), 0.5 * (qy + rel_y), 0.5 * (qz + rel_z)
    wx, wy, wz = 0.5 * (rel_x - qx), 0.5 * (rel_y - qy), 0.5 * (rel_z - qz)
    crossings = 0
    for block in range(len(boxes)):
        _touch_boxes(boxes[block], mx, my, mz, wx, wy, wz, frame[5], touched)
        for j in range(BLOCK):
            if touched[j] == 0:
                continue
            t = triangles[block * BLOCK + j]
            met = meet_face(
                px, py, pz, rx, ry, rz, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]
            )  # fmt: skip
            if met == CROSSED:
                crossings += 1
            elif met != MISSED:
                return met
    return INSIDE if crossings % 2 == 1 else OUTSIDE


@kernel
def _decide_exactly(px, py, pz, triangles):
    """The parity of the crossings of the ray +z, for points whose random rays all failed."""
    crossings = 0
    for k in range(len(triangles)):
        crossing = crossing_of(triangles, k, px, py, pz)
        if crossing == ON:
            return ON_FACE
        crossings += crossing
    return INSIDE if crossings % 2 != 0 else OUTSIDE


@kernel
def _on_flat_face(px, py, pz, flat):
    """ON_EDGE, ON_VERTEX or OUTSIDE: is the point on a face without area?"""
    for k in range(len(flat)):
        t = flat[k]
        if point_in_triangle(px, py, pz, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]):
            for j in range(0, 9, 3):
                if px == t[j] and py == t[j + 1] and pz == t[j + 2]:
                    return ON_VERTEX
            return ON_EDGE
    return OUTSIDE


@parallel(grain=1)
def shoot_rays(first, stop, points, bits, triangles, flat, boxes, bounds, reach, frame, outcome, shots):
    """Outcome and number of rays of every point. `bits` are the points' coordinates as unsigned integers.

    The steps are those of docs/inside.md: body box; random ray; face boxes; signs; again after a degenerate ray.
    """
    n = len(points)
    for task in range(first, stop):
        touched = np.empty(BLOCK, np.uint8)
        for i in range(task * TASK, min(n, (task + 1) * TASK)):
            px, py, pz = points[i, 0], points[i, 1], points[i, 2]
            shots[i] = 0
            if _outside(px, py, pz, bounds):
                outcome[i] = OUTSIDE_BOX
                continue
            result = _on_flat_face(px, py, pz, flat)
            if result != OUTSIDE:
                outcome[i] = result
                continue
            result = DEGENERATE
            while result == DEGENERATE and shots[i] < SHOTS:
                dx, dy, dz = _random_direction(bits[i, 0], bits[i, 1], bits[i, 2], shots[i])
                shots[i] += 1
                rx, ry, rz = px + reach * dx, py + reach * dy, pz + reach * dz
                if _outside(rx, ry, rz, bounds) and math.isfinite(rx + ry + rz):
                    result = _shoot(px, py, pz, rx, ry, rz, triangles, boxes, frame, touched)
            outcome[i] = _decide_exactly(px, py, pz, triangles) if result == DEGENERATE else result
