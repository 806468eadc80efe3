"""Edges that pierce a body: from where to where, how deep, and what that is in contact points.

Along an edge the depth δ, its distance from the surface around it, is linear as long as the same face is the nearest.
Between two places where δ and its slope are known there is one face, or two with a kink where their lines meet; if δ
there is not what the lines say, there are more, and both sides are divided again. In a body that is not convex δ may be
more than the lines say between their ends, from where the nearest point has left the face: so there it is asked right
beside the kink, too.
"""

import math

import numpy as np

from impinge._jit import lean, part
from impinge.bodies.rigid._distance import FACE, PIECES, distance_near, signed_distance
from impinge.bodies.rigid._follow import follow
from impinge.bodies.rigid._layout import FIRST_END, SECOND_END

FIRST_SLOT, SECOND_SLOT = 10, 11  # columns of a part that waits to be divided
_KINK = 3e-3  # of the depth: what is missing to it is another face
_BEFORE = 1.0 / 16.0  # of a line, before the kink at its end
_SHORTEST = 1e-12  # of an edge


@part
def _write(pieces, count, t0, t1, f0, f1, nx, ny, nz):
    """One more piece, if there is room."""
    if count >= PIECES:
        return count
    pieces[count, 0], pieces[count, 1], pieces[count, 2], pieces[count, 3] = t0, t1, max(f0, 0.0), max(f1, 0.0)
    pieces[count, 4], pieces[count, 5], pieces[count, 6] = nx, ny, nz
    return count + 1


@lean
def _find_end(surface, px, py, pz, dx, dy, dz, t, hit, e, slots, seen, space, column):
    """What is known of a place along the edge, into five numbers of the first row of `ends`, and its slot.

    hit : the slot that is pierced there, or −1 where the edge ends.
    """
    faces, normals, ends = surface[3], surface[4], space[4]
    ends[0, column] = t
    nearest = FIRST_SLOT if column == 0 else SECOND_SLOT
    if hit >= 0:
        face = faces[hit]
        ends[0, column + 1] = 0.0
        for c in range(3):
            ends[0, column + 2 + c] = surface[6] * normals[face, FACE, c]
        ends[0, nearest] = hit
        return
    which = 1 if t == 0.0 else 2
    distance, nx, ny, nz = follow(
        surface, px + t * dx, py + t * dy, pz + t * dz, slots[which], seen, e,
        FIRST_END if which == 1 else SECOND_END, space,
    )  # fmt: skip
    ends[0, column + 1] = max(-distance, 0.0)
    ends[0, column + 2], ends[0, column + 3], ends[0, column + 4] = nx, ny, nz
    ends[0, nearest] = slots[which, e]


@part
def _wait(ends, waiting, a, f, ux, uy, uz, first, b, g, vx, vy, vz, second):
    """One more part that is not yet done."""
    ends[waiting, 0], ends[waiting, 1], ends[waiting, 2], ends[waiting, 3], ends[waiting, 4] = a, f, ux, uy, uz
    ends[waiting, 5], ends[waiting, 6], ends[waiting, 7], ends[waiting, 8], ends[waiting, 9] = b, g, vx, vy, vz
    ends[waiting, FIRST_SLOT], ends[waiting, SECOND_SLOT] = first, second
    return waiting + 1


@lean
def _divide(surface, near, px, py, pz, dx, dy, dz, bumpy, space, count):
    """Pieces of the edge p + t d between the two ends that are known, all of it inside; returns their number.

    In `space`, rows t0, depth, normal, t1, depth, normal, slot at t0, slot at t1 of parts that are not yet done, the
    first one is given.
    """
    ends, pieces, waiting = space[4], space[5], 1
    while waiting > 0:
        waiting -= 1
        a, f, ux, uy, uz = ends[waiting, 0], ends[waiting, 1], ends[waiting, 2], ends[waiting, 3], ends[waiting, 4]
        b, g, vx, vy, vz = ends[waiting, 5], ends[waiting, 6], ends[waiting, 7], ends[waiting, 8], ends[waiting, 9]
        first, second = np.int64(ends[waiting, FIRST_SLOT]), np.int64(ends[waiting, SECOND_SLOT])
        rise, fall = -(ux * dx + uy * dy + uz * dz), -(vx * dx + vy * dy + vz * dz)
        tolerance = _KINK * max(f, g)
        if abs(f + rise * (b - a) - g) <= tolerance and abs(g - fall * (b - a) - f) <= tolerance:
            count = _write(pieces, count, a, b, f, g, ux, uy, uz)
            continue
        t, expected = 0.5 * (a + b), math.inf
        if rise > fall:
            at = (g - fall * b - f + rise * a) / (rise - fall)
            if a < at < b:
                t, expected = at, f + rise * (at - a)
        slot, distance, nx, ny, nz = distance_near(surface, near, px + t * dx, py + t * dy, pz + t * dz, first, space)
        h = max(-distance, 0.0)
        if count + 2 * (waiting + 2) > PIECES:  # no room for more, if each that waits may take two: straight lines
            x, y, z = ux + nx, uy + ny, uz + nz
            per = 1.0 / max(math.sqrt(x * x + y * y + z * z), 1e-300)
            count = _write(pieces, count, a, t, f, h, x * per, y * per, z * per)
            x, y, z = vx + nx, vy + ny, vz + nz
            per = 1.0 / max(math.sqrt(x * x + y * y + z * z), 1e-300)
            count = _write(pieces, count, t, b, h, g, x * per, y * per, z * per)
        elif abs(h - expected) > _KINK * h:  # the first half on top, so that pieces come in order
            waiting = _wait(ends, waiting, t, h, nx, ny, nz, slot, b, g, vx, vy, vz, second)
            waiting = _wait(ends, waiting, a, f, ux, uy, uz, first, t, h, nx, ny, nz, slot)
        else:
            left, right = t - _BEFORE * (t - a), t + _BEFORE * (b - t)
            h_left, h_right, is_straight = h - _BEFORE * (h - f), h + _BEFORE * (g - h), True
            slot_left, slot_right, lx, ly, lz, rx, ry, rz = first, second, ux, uy, uz, vx, vy, vz
            if bumpy and count + 2 * (waiting + 4) <= PIECES:
                slot_left, distance, lx, ly, lz = distance_near(
                    surface, near, px + left * dx, py + left * dy, pz + left * dz, first, space
                )
                is_straight = abs(distance + h_left) <= tolerance
                h_left = max(-distance, 0.0)
                slot_right, distance, rx, ry, rz = distance_near(
                    surface, near, px + right * dx, py + right * dy, pz + right * dz, second, space
                )
                is_straight &= abs(distance + h_right) <= tolerance
                h_right = max(-distance, 0.0)
            if is_straight:
                count = _write(pieces, count, a, t, f, h, ux, uy, uz)
                count = _write(pieces, count, t, b, h, g, vx, vy, vz)
                continue
            waiting = _wait(ends, waiting, right, h_right, rx, ry, rz, slot_right, b, g, vx, vy, vz, second)
            waiting = _wait(ends, waiting, t, h, vx, vy, vz, second, right, h_right, rx, ry, rz, slot_right)
            waiting = _wait(ends, waiting, left, h_left, lx, ly, lz, slot_left, t, h, ux, uy, uz, first)
            waiting = _wait(ends, waiting, a, f, ux, uy, uz, first, left, h_left, lx, ly, lz, slot_left)
    return count


@part
def _rises(surface, hit, dx, dy, dz):
    """Whether the way d leaves the body where it pierces a triangle."""
    face, normals, out = surface[3][hit], surface[4], surface[6]
    along = normals[face, FACE, 0] * dx + normals[face, FACE, 1] * dy + normals[face, FACE, 2] * dz
    return out * along > 0.0


@lean
def find_pieces(surface, near, px, py, pz, dx, dy, dz, bumpy, e, slots, seen, crossings, space):
    """Pieces of the edge p + t d inside a body, in their order; returns how many there are.

    near : see `_distance`. bumpy : whether the body is not convex. slots : (3, …), rows: anywhere along the edge, at
    its first end, at the second; e : column, and row of `seen`.

    crossings : how often it pierces the surface; where, is in `space`. Between two of them it is inside if it enters at
    the first and leaves at the second; where they do not agree, as at edges of the surface, the middle tells.
    """
    places = space[3]
    count, before, last, slot = 0, 0.0, np.int64(-1), slots[0, e]
    for k in range(crossings + 1):
        after, hit = (places[k, 0], np.int64(places[k, 1])) if k < crossings else (1.0, np.int64(-1))
        if after - before > _SHORTEST and count < PIECES:
            leaves_there = hit < 0 or _rises(surface, hit, dx, dy, dz)
            entered = last < 0 or not _rises(surface, last, dx, dy, dz)
            is_inside = leaves_there and entered
            if leaves_there != entered:
                t = 0.5 * (before + after)
                slot, distance, _, _, _ = distance_near(
                    surface, near, px + t * dx, py + t * dy, pz + t * dz, slot, space
                )
                is_inside = distance < 0.0
            if is_inside:
                _find_end(surface, px, py, pz, dx, dy, dz, before, last, e, slots, seen, space, 0)
                _find_end(surface, px, py, pz, dx, dy, dz, after, hit, e, slots, seen, space, 5)
                count = _divide(surface, near, px, py, pz, dx, dy, dz, bumpy, space, count)
        before, last = after, hit
    slots[0, e] = slot
    return count


@lean
def clearance(surface, px, py, pz, dx, dy, dz, wanted, most, slot, space):
    """How far the edge p + t d is from a body, at least: as exact as needed to say whether that is `wanted`.

    The distance of a point from a body changes by no more than the point moves. Returns a slot near by, too. most :
    parts that may wait.
    """
    parts = space[4]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    least, waiting = math.inf, 1
    parts[0, 0], parts[0, 1] = 0.0, 1.0
    while waiting > 0:
        waiting -= 1
        a, b = parts[waiting, 0], parts[waiting, 1]
        t, half = 0.5 * (a + b), 0.5 * (b - a) * length
        slot, distance, _, _, _ = signed_distance(surface, px + t * dx, py + t * dy, pz + t * dz, slot, space)
        if distance - half <= wanted and distance > wanted and half > 0.5 * wanted and waiting + 2 <= most:
            parts[waiting, 0], parts[waiting, 1] = a, t
            parts[waiting + 1, 0], parts[waiting + 1, 1] = t, b
            waiting += 2
            continue
        least = min(least, distance - half)
        if distance <= wanted:
            return min(least, min(distance, 0.0)), slot  # parts that wait may be inside
    return least, slot
