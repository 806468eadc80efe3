"""Contacts of a body with the surface of an obstacle, which may be open and is felt from both sides.

A point is behind the surface once it has passed through it, and until it comes back. Its way out is to the nearest
point q of the surface, or past a rim, whichever is nearer: the depth is the lesser of |p − q| and the distance of q
from the rim. So U is 0 wherever a point comes to be behind the surface or not, also where it goes round a rim: there,
it is behind the surface if the rim is inside the body.

Edges are cut into strips as long as points are apart, and their middles are such points. Strips that do not pierce the
surface are integrated by Simpson's rule, exact for a plane, whose three places are contacts.
"""

import math

from impinge._jit import lean, part
from impinge.bodies.rigid._contacts import write, write_piece
from impinge.bodies.rigid._distance import PIECES, SURE, find_crossings, signed_distance
from impinge.bodies.rigid._follow import follow
from impinge.bodies.rigid._frames import apply, between, moved, place, turn
from impinge.bodies.rigid._layout import (
    EDGE_DEEP,
    EDGE_WIDE,
    POINT_AREA,
    POINT_DEEP,
    POINT_FOLLOWED,
    SEEN_AT,
    SEEN_SAFE,
    STRIP_FIRST,
    STRIP_SECOND,
)

_SAME = 1e-7  # of a way: crossings nearer to each other are one
_AT_RIM = 1e-6  # of the distance from the surface: nearer to a rim than that is beyond it


@lean
def _crossings(surface, everywhere, px, py, pz, qx, qy, qz, space):
    """How often the way from p to q crosses a surface; where, ascending, is in `space`."""
    count = find_crossings(surface, everywhere, px, py, pz, qx - px, qy - py, qz - pz, space)
    places, kept = space[3], 0
    for k in range(count):  # a common edge of two triangles is one place
        if kept == 0 or places[k, 0] - places[kept - 1, 0] > _SAME:
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
def _way_out(rims, x, y, z, distance, nx, ny, nz):
    """(depth, way out, point of the rim) of a place behind a surface with that signed distance and gradient.

    Beyond a rim the depth is 0.
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
    return rim, (rx - qx) / rim, (ry - qy) / rim, (rz - qz) / rim, rx, ry, rz


@lean
def _look(surface, own, rims, everywhere, slots, seen, behind, e, x, y, z, deep, back, space):
    """(depth, way out) of a listed point or middle of a strip, now at x; and whether it is behind the surface.

    own : surface of the body, to which `back` leads; deep : half the thickness of the body there.
    """
    if moved(seen, e, SEEN_AT, x, y, z) >= SURE * seen[e, SEEN_SAFE]:
        if _crossings(surface, everywhere, seen[e, 0], seen[e, 1], seen[e, 2], x, y, z, space) % 2 == 1:
            behind[e] = 1 - behind[e]
    distance, nx, ny, nz = follow(surface, x, y, z, slots, seen, e, POINT_FOLLOWED, space)
    depth, nx, ny, nz, rx, ry, rz = _way_out(rims, x, y, z, distance, nx, ny, nz)
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
            count = write(found, count, x, y, z, nx, ny, nz, depth, per_area * rows[i, POINT_AREA], e)
    return count, clear


@lean
def strips_behind(
    first, last, rows, items, slots, seen, behind, surface, own, rims, everywhere, frames, a, b, per_area, space, found,
    count,
):  # fmt: skip
    """Contacts of listed strips of edges of body a that are behind the surface b."""
    way, back, places, clear = between(frames, a, b), between(frames, b, a), space[3], math.inf
    for e in range(first, last):
        i = items[e]
        px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
        dx, dy, dz = qx - px, qy - py, qz - pz
        mx, my, mz, length = px + 0.5 * dx, py + 0.5 * dy, pz + 0.5 * dz, math.sqrt(dx * dx + dy * dy + dz * dz)
        safe = SURE * seen[e, SEEN_SAFE] - (moved(seen, e, SEEN_AT, mx, my, mz) + 0.5 * length)
        if not behind[e] and safe > 0.0:
            clear = min(clear, safe)
            continue
        depth, nx, ny, nz = _look(
            surface, own, rims, everywhere, slots[0], seen, behind, e, mx, my, mz, rows[i, EDGE_DEEP], back, space
        )
        cuts = _crossings(surface, everywhere, px, py, pz, qx, qy, qz, space)
        if cuts == 0 and not behind[e]:
            clear = min(clear, max(seen[e, SEEN_SAFE] - 0.5 * length, 0.0))
            continue
        clear = 0.0
        per_length = per_area * rows[i, EDGE_WIDE]
        # Depths at the ends, found with what is remembered of them.
        distance, ux, uy, uz = follow(surface, px, py, pz, slots[1], seen, e, STRIP_FIRST, space)
        u, ux, uy, uz, _, _, _ = _way_out(rims, px, py, pz, distance, ux, uy, uz)
        distance, vx, vy, vz = follow(surface, qx, qy, qz, slots[2], seen, e, STRIP_SECOND, space)
        v, vx, vy, vz, _, _, _ = _way_out(rims, qx, qy, qz, distance, vx, vy, vz)
        ax, ay, az = place(frames, b, px, py, pz)
        wx, wy, wz = turn(frames, b, dx, dy, dz)
        if cuts == 0:
            share, known = per_length * length / 6.0, -1.0 - e * PIECES
            ux, uy, uz = turn(frames, b, ux, uy, uz)
            nx, ny, nz = turn(frames, b, nx, ny, nz)
            vx, vy, vz = turn(frames, b, vx, vy, vz)
            if u > 0.0:
                count = write(found, count, ax, ay, az, ux, uy, uz, u, share, known)
            if depth > 0.0:
                count = write(
                    found, count, ax + 0.5 * wx, ay + 0.5 * wy, az + 0.5 * wz, nx, ny, nz, depth, 4.0 * share,
                    known - 1.0,
                )  # fmt: skip
            if v > 0.0:
                count = write(found, count, ax + wx, ay + wy, az + wz, vx, vy, vz, v, share, known - 2.0)
            continue
        before_middle = 0
        for k in range(cuts):
            before_middle += 1 if places[k, 0] < 0.5 else 0
        begin = 0.0
        for k in range(min(cuts + 1, PIECES)):
            end = places[k, 0] if k < cuts else 1.0
            start, begin = begin, end
            if not end > start or (behind[e] + abs(k - before_middle)) % 2 == 0:
                continue
            known = -1.0 - (e * PIECES + k)
            if k == 0 and u > 0.0:
                gx, gy, gz = turn(frames, b, ux, uy, uz)
                count = write_piece(
                    found, count, ax, ay, az, wx, wy, wz, start, end, u, 0.0, gx, gy, gz, per_length, known
                )
            elif k == cuts and v > 0.0:
                gx, gy, gz = turn(frames, b, vx, vy, vz)
                count = write_piece(
                    found, count, ax, ay, az, wx, wy, wz, start, end, 0.0, v, gx, gy, gz, per_length, known
                )
            elif 0 < k < cuts:  # a triangle as high as the middle: ∫ δ² is that of two halves, one after the other
                t = 0.5 * (start + end)
                x, y, z = px + t * dx, py + t * dy, pz + t * dz
                _, distance, gx, gy, gz = signed_distance(surface, x, y, z, slots[0, e], space)
                height, gx, gy, gz, _, _, _ = _way_out(rims, x, y, z, distance, gx, gy, gz)
                if height > 0.0:
                    gx, gy, gz = turn(frames, b, gx, gy, gz)
                    stiffness = per_length * (end - start) * length
                    count = write(
                        found, count, ax + t * wx, ay + t * wy, az + t * wz, gx, gy, gz, height, stiffness / 3.0, known
                    )
    return count, clear
