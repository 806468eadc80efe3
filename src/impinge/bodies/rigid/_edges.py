"""Edges that pierce a body: from where to where, how deep, and what that is in contact points.

Along an edge the depth δ, its distance from the surface around it, is linear as long as the same face is the nearest.
Between two places where δ and its slope are known there is one face, or two with a kink where their lines meet; if δ
there is not what the lines say, there are more, and both sides are divided again. In a body that is not convex δ may be
more than the lines say between their ends, from where the nearest point has left the face, or less, as above a groove:
so there it is asked right beside the kink, too, and at places in between.
"""

import math

import numpy as np

from impinge._jit import lean, part
from impinge.bodies.rigid._distance import END, FACE, PIECES, distance_near, signed_distance
from impinge.bodies.rigid._follow import follow
from impinge.bodies.rigid._layout import FIRST_END, SECOND_END

FIRST_SLOT, SECOND_SLOT, WEIGHT = 10, 11, 12  # columns of a part of an edge
DONE, GIVEN_UP = 0.0, -1.0  # weights of parts that are straight, and of those that there is no room to divide
KINK = 3e-3  # of the largest depth: what is missing to it is another face; of edges bent by a right angle
_BEFORE = 1.0 / 16.0  # of a line, before the kink at its end
_SHORTEST = 1e-12  # of an edge
_MOST_LOOKS = 15  # between two places on a line
_MOST_DIVISIONS = 3 * PIECES  # of an edge: what is left by then is rounding
_SAME = 1e-9  # of normals and depths of parts that are one
_NOISE = 1e-13  # of coordinates: depths that differ by less are the same


@lean
def _find_end(surface, px, py, pz, dx, dy, dz, t, hit, e, slots, seen, space, row, column):
    """What is known of a place along the edge, into five numbers of a row of parts, and its slot.

    hit : the slot that is pierced there, or −1 where the edge ends.
    """
    faces, normals, part = surface[3], surface[4], space[4][row]
    part[column] = t
    nearest = FIRST_SLOT if column == 0 else SECOND_SLOT
    if hit >= 0:
        face = faces[hit]
        part[column + 1] = 0.0
        for c in range(3):
            part[column + 2 + c] = surface[6] * normals[face, FACE, c]
        part[nearest] = hit
        return
    which = 1 if t == 0.0 else 2
    distance, nx, ny, nz = follow(
        surface, px + t * dx, py + t * dy, pz + t * dz, slots[which], seen, e,
        FIRST_END if which == 1 else SECOND_END, space,
    )  # fmt: skip
    part[column + 1] = max(-distance, 0.0)
    part[column + 2], part[column + 3], part[column + 4] = nx, ny, nz
    part[nearest] = slots[which, e]


@part
def _put(parts, k, a, f, ux, uy, uz, first, b, g, vx, vy, vz, second, weight):
    """Row k of the parts: what is known at both ends, and how much it is worth to look at it."""
    parts[k, 0], parts[k, 1], parts[k, 2], parts[k, 3], parts[k, 4] = a, f, ux, uy, uz
    parts[k, 5], parts[k, 6], parts[k, 7], parts[k, 8], parts[k, 9] = b, g, vx, vy, vz
    parts[k, FIRST_SLOT], parts[k, SECOND_SLOT], parts[k, WEIGHT] = first, second, weight


@part
def _weight(a, f, b, g, length):
    """Of a part from a to b that is not yet done: how much of the energy there may be in it."""
    return (b - a) * (f + g + (b - a) * length)


@lean
def _make_room(parts, total, at, more):
    """Let so many rows be free behind one of them."""
    for k in range(total - 1, at, -1):
        for c in range(END):
            parts[k + more, c] = parts[k, c]


@part
def _heaviest(parts, total):
    """The part that is to be looked at next, or −1."""
    at, most = -1, 0.0
    for k in range(total):
        if parts[k, WEIGHT] > most:
            at, most = k, parts[k, WEIGHT]
    return at


@lean
def _merge(parts, total):
    """Make one of neighbours that are on one line; returns how many parts are left."""
    kept = 0
    for k in range(1, total):
        a, f, b, g, h = parts[kept, 0], parts[kept, 1], parts[k, 5], parts[k, 6], parts[k, 1]
        joined = parts[kept, WEIGHT] == DONE and parts[k, WEIGHT] == DONE and parts[kept, 5] == parts[k, 0]
        for c in range(2, 5):
            joined &= abs(parts[kept, c] - parts[k, c]) <= _SAME
        joined &= abs(f + (g - f) * (parts[k, 0] - a) / (b - a) - h) <= _SAME * max(f, g)
        if joined:
            for c in range(5, 10):
                parts[kept, c] = parts[k, c]
            parts[kept, SECOND_SLOT] = parts[k, SECOND_SLOT]
            continue
        kept += 1
        for c in range(END):
            parts[kept, c] = parts[k, c]
    return kept + 1


@lean
def _look_between(surface, near, px, py, pz, dx, dy, dz, a, f, b, g, looks, tolerance, slot, space):
    """Where the depth, at so many places from a to b, first is not on the line: (t or −1, depth, gradient, slot)."""
    for k in range(looks):
        share = (k + 1.0) / (looks + 1.0)
        t = a + share * (b - a)
        slot, distance, nx, ny, nz = distance_near(surface, near, px + t * dx, py + t * dy, pz + t * dz, slot, space)
        if abs(distance + f + share * (g - f)) > tolerance:
            return t, max(-distance, 0.0), nx, ny, nz, slot
    return -1.0, 0.0, 0.0, 0.0, 0.0, slot


@lean
def _divide(surface, near, px, py, pz, dx, dy, dz, step, kink, space, total):
    """Divide parts of the edge p + t d, all of which are inside, until each is straight; returns how many there are.

    In `space`, parts in their order along the edge: t0, depth, normal, t1, depth, normal, slots, weight. The heaviest
    is divided next, as long as there is room and time. step, kink : see `find_pieces`.
    """
    parts, length = space[4], math.sqrt(dx * dx + dy * dy + dz * dz)
    noise, deepest = _NOISE * (abs(px) + abs(py) + abs(pz) + length), 0.0
    for k in range(total):
        deepest = max(deepest, max(parts[k, 1], parts[k, 6]))
    for _ in range(_MOST_DIVISIONS):
        if total + 3 > PIECES:
            total = _merge(parts, total)
        at = _heaviest(parts, total)
        if at < 0:
            break
        a, f, ux, uy, uz = parts[at, 0], parts[at, 1], parts[at, 2], parts[at, 3], parts[at, 4]
        b, g, vx, vy, vz = parts[at, 5], parts[at, 6], parts[at, 7], parts[at, 8], parts[at, 9]
        first, second = np.int64(parts[at, FIRST_SLOT]), np.int64(parts[at, SECOND_SLOT])
        rise, fall = -(ux * dx + uy * dy + uz * dz), -(vx * dx + vy * dy + vz * dz)
        tolerance = kink * deepest + noise
        if abs(f + rise * (b - a) - g) <= tolerance and abs(g - fall * (b - a) - f) <= tolerance:
            looks = min(np.int64((b - a) * length / step + 0.5), _MOST_LOOKS)
            t, h, nx, ny, nz, slot = _look_between(
                surface, near, px, py, pz, dx, dy, dz, a, f, b, g, looks, tolerance, first, space
            )  # fmt: skip
            if t < 0.0:
                parts[at, WEIGHT] = DONE
                continue
            kinks = False
        else:
            t = 0.5 * (a + b)
            meet = (g - fall * b - f + rise * a) / (rise - fall) if rise != fall else a
            if a < meet < b:
                t = meet
            slot, distance, nx, ny, nz = distance_near(
                surface, near, px + t * dx, py + t * dy, pz + t * dz, first, space
            )
            h = max(-distance, 0.0)
            deepest = max(deepest, h)
            kinks = t == meet and abs(h - (f + rise * (t - a))) <= kink * deepest + noise
        if total + 1 > PIECES:
            parts[at, WEIGHT] = GIVEN_UP
            continue
        if not kinks:
            _make_room(parts, total, at, 1)
            _put(parts, at + 1, t, h, nx, ny, nz, slot, b, g, vx, vy, vz, second, _weight(t, h, b, g, length))
            _put(parts, at, a, f, ux, uy, uz, first, t, h, nx, ny, nz, slot, _weight(a, f, t, h, length))
            total += 1
            continue
        if step == math.inf:  # of convex bodies nothing else is between
            _make_room(parts, total, at, 1)
            _put(parts, at + 1, t, h, vx, vy, vz, second, b, g, vx, vy, vz, second, DONE)
            _put(parts, at, a, f, ux, uy, uz, first, t, h, ux, uy, uz, first, DONE)
            total += 1
            continue
        left, right = t - _BEFORE * (t - a), t + _BEFORE * (b - t)
        slot_left, h_left, lx, ly, lz = distance_near(
            surface, near, px + left * dx, py + left * dy, pz + left * dz, first, space
        )
        slot_right, h_right, rx, ry, rz = distance_near(
            surface, near, px + right * dx, py + right * dy, pz + right * dz, second, space
        )
        straight = abs(h_left + h - _BEFORE * (h - f)) <= tolerance
        straight &= abs(h_right + h + _BEFORE * (g - h)) <= tolerance
        h_left, h_right = max(-h_left, 0.0), max(-h_right, 0.0)
        if straight or total + 3 > PIECES:
            one, other = _weight(a, f, t, h, length), _weight(t, h, b, g, length)
            _make_room(parts, total, at, 1)
            _put(parts, at + 1, t, h, vx, vy, vz, second, b, g, vx, vy, vz, second, other)
            _put(parts, at, a, f, ux, uy, uz, first, t, h, ux, uy, uz, first, one)
            total += 1
            continue
        one, other = _weight(a, f, left, h_left, length), _weight(right, h_right, b, g, length)
        beside, behind = _weight(left, h_left, t, h, length), _weight(t, h, right, h_right, length)
        _make_room(parts, total, at, 3)
        _put(parts, at + 3, right, h_right, rx, ry, rz, slot_right, b, g, vx, vy, vz, second, other)
        _put(parts, at + 2, t, h, vx, vy, vz, second, right, h_right, rx, ry, rz, slot_right, behind)
        _put(parts, at + 1, left, h_left, lx, ly, lz, slot_left, t, h, ux, uy, uz, first, beside)
        _put(parts, at, a, f, ux, uy, uz, first, left, h_left, lx, ly, lz, slot_left, one)
        total += 3
    return _merge(parts, total)


@part
def _write(parts, total, pieces):
    """Pieces of the parts of an edge."""
    for k in range(total):
        x, y, z = parts[k, 2], parts[k, 3], parts[k, 4]
        if parts[k, WEIGHT] != DONE:
            x, y, z = x + parts[k, 7], y + parts[k, 8], z + parts[k, 9]
            per = 1.0 / max(math.sqrt(x * x + y * y + z * z), 1e-300)
            x, y, z = per * x, per * y, per * z
        pieces[k, 0], pieces[k, 1] = parts[k, 0], parts[k, 5]
        pieces[k, 2], pieces[k, 3] = max(parts[k, 1], 0.0), max(parts[k, 6], 0.0)
        pieces[k, 4], pieces[k, 5], pieces[k, 6] = x, y, z


@part
def _rises(surface, hit, dx, dy, dz):
    """Whether the way d leaves the body where it pierces a triangle."""
    face, normals, out = surface[3][hit], surface[4], surface[6]
    along = normals[face, FACE, 0] * dx + normals[face, FACE, 1] * dy + normals[face, FACE, 2] * dz
    return out * along > 0.0


@lean
def find_pieces(surface, near, px, py, pz, dx, dy, dz, step, kink, e, slots, seen, crossings, space):
    """Pieces of the edge p + t d inside a body, in their order; returns how many there are.

    near : see `_distance`. step : how far apart places are where the depth is asked although what is known at both ends
    is one line; infinite if the body is convex, for then there is nothing else between. kink : share of the largest
    depth that may be missing. slots : (3, …), rows: anywhere along the edge, at its first end, at the second; e : their
    column, and row of `seen`.

    crossings : how often it pierces the surface; where, is in `space`. Between two of them it is inside if it enters at
    the first and leaves at the second; where they do not agree, as at edges of the surface, the middle tells.
    """
    places, parts = space[3], space[4]
    total, before, last, slot = 0, 0.0, np.int64(-1), slots[0, e]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    for k in range(crossings + 1):
        after, hit = (places[k, 0], np.int64(places[k, 1])) if k < crossings else (1.0, np.int64(-1))
        if after - before > _SHORTEST and total < PIECES:
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
                _find_end(surface, px, py, pz, dx, dy, dz, before, last, e, slots, seen, space, total, 0)
                _find_end(surface, px, py, pz, dx, dy, dz, after, hit, e, slots, seen, space, total, 5)
                parts[total, WEIGHT] = _weight(before, parts[total, 1], after, parts[total, 6], length)
                total += 1
        before, last = after, hit
    slots[0, e] = slot
    if total > 0:
        total = _divide(surface, near, px, py, pz, dx, dy, dz, step, kink, space, total)
        _write(parts, total, space[5])
    return total


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
