"""Contacts of a body with the surface of an obstacle, which may be open and is felt from both sides.

A point is behind the surface once it has passed through it, and until it comes back. Its way out is to the nearest
point q of the surface, or past a rim, whichever is nearer: the depth is the lesser of |p − q| and the distance of q
from the rim. So U is 0 wherever a point comes to be behind the surface or not, also where it goes round a rim: there,
it is behind the surface if the rim is inside the body.

Points on edges are asked like those of the surface. So forces are those of the energy, whatever the surface is like.
"""

import math

import numpy as np

from impinge._jit import lean, part
from impinge.bodies.rigid._contacts import write_row
from impinge.bodies.rigid._distance import SURE, find_crossings, signed_distance, tangent
from impinge.bodies.rigid._follow import follow
from impinge.bodies.rigid._frames import apply, between, moved, place, turn
from impinge.bodies.rigid._layout import (
    POINT_AREA,
    POINT_DEEP,
    POINT_FOLLOWED,
    SEEN_AT,
    SEEN_SAFE,
)
from impinge.inside._closest import LEAF, WIDTH

_SAME = 1e-7  # of a way: crossings nearer to each other are one
_BEYOND, _NOISE = 1e-6, 1e-13  # of a way, and of coordinates: so far beyond its ends crossings are looked for
_AT_RIM = 1e-6  # of the distance from the surface: nearer to a rim than that is beyond it


@lean
def _is_ahead(leaves, slot, x, y, z):
    """Whether a place is on the side of a triangle to which its normal points; what is in its plane is."""
    rows, i = leaves[slot // WIDTH * LEAF : (slot // WIDTH + 1) * LEAF], slot % WIDTH
    ax, ay, az = rows[i], rows[i + WIDTH], rows[i + 2 * WIDTH]
    ux, uy, uz = rows[i + 3 * WIDTH] - ax, rows[i + 4 * WIDTH] - ay, rows[i + 5 * WIDTH] - az
    vx, vy, vz = rows[i + 6 * WIDTH] - ax, rows[i + 7 * WIDTH] - ay, rows[i + 8 * WIDTH] - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return nx * (x - ax) + ny * (y - ay) + nz * (z - az) >= 0.0


@lean
def crossings(surface, everywhere, px, py, pz, qx, qy, qz, space):
    """How often the way from p to q crosses a surface; where, ascending, is in `space`.

    It crosses a triangle if p and q are on different sides of it. So a way that ends in the surface and the one that
    goes on from there are not both across it, whatever is rounded; the way is asked a little beyond its ends.
    """
    dx, dy, dz = qx - px, qy - py, qz - pz
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length == 0.0:
        return 0
    beyond = _BEYOND + _NOISE * (abs(px) + abs(py) + abs(pz) + length) / length
    count = find_crossings(
        surface, everywhere, px - beyond * dx, py - beyond * dy, pz - beyond * dz, (1.0 + 2.0 * beyond) * dx,
        (1.0 + 2.0 * beyond) * dy, (1.0 + 2.0 * beyond) * dz, space,
    )  # fmt: skip
    places, kept = space[3], 0
    for k in range(count):
        slot = np.int64(places[k, 1])
        if _is_ahead(surface[2], slot, px, py, pz) == _is_ahead(surface[2], slot, qx, qy, qz):
            continue
        if kept == 0 or places[k, 0] - places[kept - 1, 0] > _SAME:  # a common edge of two triangles is one place
            places[kept, 0] = places[k, 0]
            kept += 1
    return kept


@lean
def _nearest_rim(rims, x, y, z, limit):
    """(distance, place) of the nearest point of all rims, if that is nearer than `limit`."""
    rows, groups, starts, first, last = rims
    best, bx, by, bz = limit, x, y, z
    for g in range(first, last):
        cx, cy, cz = x - groups[g, 0], y - groups[g, 1], z - groups[g, 2]
        if math.sqrt(cx * cx + cy * cy + cz * cz) - groups[g, 3] >= best:
            continue
        for i in range(starts[g], starts[g + 1]):
            ax, ay, az = rows[i, 0], rows[i, 1], rows[i, 2]
            dx, dy, dz = rows[i, 3] - ax, rows[i, 4] - ay, rows[i, 5] - az
            t = (dx * (x - ax) + dy * (y - ay) + dz * (z - az)) / (dx * dx + dy * dy + dz * dz)
            t = min(max(t, 0.0), 1.0)
            ax, ay, az = ax + t * dx, ay + t * dy, az + t * dz
            distance = math.sqrt((x - ax) ** 2 + (y - ay) ** 2 + (z - az) ** 2)
            if distance < best:
                best, bx, by, bz = distance, ax, ay, az
    return best, bx, by, bz


@part
def _way_out(surface, slot, rims, x, y, z, distance, nx, ny, nz):
    """(depth, way out, point of the rim) of a place behind a surface with that signed distance and gradient.

    The way out is −∇ of the depth: shorter than 1 where q is on a fold, along which alone it moves. Beyond a rim the
    depth is 0.
    """
    side = -1.0 if distance >= 0.0 else 1.0
    depth = abs(distance)
    qx, qy, qz = x - distance * nx, y - distance * ny, z - distance * nz
    nx, ny, nz = side * nx, side * ny, side * nz
    if rims[3] == rims[4]:
        return depth, nx, ny, nz, qx, qy, qz
    rim, rx, ry, rz = _nearest_rim(rims, qx, qy, qz, depth)
    if rim >= depth:
        return depth, nx, ny, nz, rx, ry, rz
    if rim <= _AT_RIM * depth:
        return 0.0, nx, ny, nz, rx, ry, rz
    ux, uy, uz = tangent(surface, slot, x, y, z, (rx - qx) / rim, (ry - qy) / rim, (rz - qz) / rim)
    return rim, ux, uy, uz, rx, ry, rz


@lean
def _look(surface, own, rims, everywhere, slots, seen, behind, e, x, y, z, deep, back, space):
    """(depth, way out) of a listed point, now at x; and whether it is behind the surface.

    own : surface of the body, to which `back` leads; deep : half the thickness of the body there.
    """
    if moved(seen, e, SEEN_AT, x, y, z) >= SURE * seen[e, SEEN_SAFE]:
        if crossings(surface, everywhere, seen[e, 0], seen[e, 1], seen[e, 2], x, y, z, space) % 2 == 1:
            behind[e] = 1 - behind[e]
    distance, nx, ny, nz = follow(surface, x, y, z, slots, seen, e, POINT_FOLLOWED, space)
    depth, nx, ny, nz, rx, ry, rz = _way_out(surface, slots[e], rims, x, y, z, distance, nx, ny, nz)
    safe = depth
    if depth == 0.0 and distance != 0.0:
        safe = max(abs(distance) - deep, 0.0)
        behind[e] = 0
        if safe == 0.0:
            rx, ry, rz = apply(back, rx, ry, rz)
            if signed_distance(own, rx, ry, rz, 0, space)[1] < 0.0:
                behind[e] = 1
    seen[e, 0], seen[e, 1], seen[e, 2], seen[e, SEEN_SAFE] = x, y, z, safe
    return depth, nx, ny, nz


@lean
def points_behind(
    first, last, rows, items, slots, seen, behind, surface, own, rims, everywhere, frames, a, b, per_area, space, found,
    count,
):  # fmt: skip
    """Contacts of listed points of body a that are behind the surface b."""
    way, back, clear = between(frames, a, b), between(frames, b, a), math.inf
    for e in range(first, last):
        i = items[e]
        x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        safe = SURE * seen[e, SEEN_SAFE] - moved(seen, e, SEEN_AT, x, y, z)
        if not behind[e] and safe > 0.0:
            clear = min(clear, safe)
            continue
        depth, nx, ny, nz = _look(
            surface, own, rims, everywhere, slots, seen, behind, e, x, y, z, rows[i, POINT_DEEP], back, space
        )
        clear = min(clear, 0.0 if behind[e] else seen[e, SEEN_SAFE])
        if behind[e] and depth > 0.0:
            x, y, z = place(frames, b, x, y, z)
            nx, ny, nz = turn(frames, b, nx, ny, nz)
            slope, stiffness = math.sqrt(nx * nx + ny * ny + nz * nz), per_area * rows[i, POINT_AREA]
            per = 1.0 / slope if slope > 0.0 else 0.0
            count = write_row(
                found, count, x, y, z, per * nx, per * ny, per * nz, depth, slope * slope * stiffness,
                slope * stiffness * depth, 0.5 * stiffness * depth * depth, e,
            )  # fmt: skip
    return count, clear
