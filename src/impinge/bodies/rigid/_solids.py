"""Contacts of points and edges of one body with the inside of another; frames and columns as in `_touch.py`."""

import math

from impinge._jit import lean
from impinge.bodies.rigid import _edges
from impinge.bodies.rigid._contacts import write, write_pieces
from impinge.bodies.rigid._distance import NEAR, PIECES, SURE, UNSURE, find_crossings, list_leaves
from impinge.bodies.rigid._follow import follow
from impinge.bodies.rigid._frames import apply, between, moved, place, turn
from impinge.bodies.rigid._layout import (
    DEEPEST,
    EDGE_SAFE,
    EDGE_WIDE,
    FIRST_END,
    GATHERED,
    GATHERED_TO,
    POINT_AREA,
    POINT_FOLLOWED,
    SEEN_AT,
    SEEN_SAFE,
)

_BLUNTEST = 0.05  # of the depth along edges that are hardly bent
_AROUND, _DEEPER = 0.1, 1.5  # of the skin, and of the last depth: so far around edges their near triangles are listed


@lean
def points_in_solid(
    first, last, rows, items, slots, seen, surface, trust, frames, a, b, sign, per_area, space, found, count
):  # fmt: skip
    """Contacts of listed points of body a in body b; per_area : stiffness.

    trust : 1, or 0 if signed distances jump, as in a body that meets itself, and tell nothing of places around.

    Here and elsewhere returned: how many contacts there are now, and how far all else is from touching, at least.
    """
    way, clear = between(frames, a, b), math.inf
    for e in range(first, last):
        i = items[e]
        x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        safe = SURE * seen[e, SEEN_SAFE] - moved(seen, e, SEEN_AT, x, y, z)
        if safe > 0.0:
            clear = min(clear, safe)
            continue
        distance, nx, ny, nz = follow(surface, x, y, z, slots, seen, e, POINT_FOLLOWED, space)
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, SEEN_SAFE] = x, y, z, trust * max(distance, 0.0)
        clear = min(clear, seen[e, SEEN_SAFE])
        if distance >= 0.0:
            continue
        x, y, z = place(frames, b, x, y, z)
        nx, ny, nz = turn(frames, b, sign * nx, sign * ny, sign * nz)
        count = write(found, count, x, y, z, nx, ny, nz, -distance, per_area * rows[i, POINT_AREA], e)
    return count, clear


@lean
def edges_in_solid(
    first, last, rows, right, lists, surface, trust, frames, a, b, sign, per_area, skin, step, space, found, count
):  # fmt: skip
    """Contacts of listed edges of body a in body b; step : see `_edges.find_pieces`.

    right : width of edges bent by a right angle; depths are the more exact the more of the energy is theirs.
    """
    way, pieces, clear = between(frames, a, b), space[5], math.inf
    items, slots, seen = lists.edges, lists.edge_slots, lists.edges_seen
    for e in range(first, last):
        i, leaves, bounds = items[e], lists.edge_leaves[e], lists.edge_bounds[e]
        px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
        safe = SURE * seen[e, EDGE_SAFE] - max(moved(seen, e, 0, px, py, pz), moved(seen, e, 3, qx, qy, qz))
        if safe > 0.0:
            clear = min(clear, safe)
            continue
        dx, dy, dz = qx - px, qy - py, qz - pz
        gone = UNSURE * max(moved(seen, e, GATHERED, px, py, pz), moved(seen, e, GATHERED + 3, qx, qy, qz))
        within = seen[e, GATHERED_TO] - gone
        grows = leaves[0] < NEAR and within <= seen[e, DEEPEST]
        if grows or within <= 0.5 * seen[e, GATHERED_TO]:
            reach, gone = _DEEPER * seen[e, DEEPEST] + _AROUND * skin, 0.0
            within = list_leaves(surface, px, py, pz, dx, dy, dz, reach, leaves, bounds, space)
            seen[e, GATHERED], seen[e, GATHERED + 1], seen[e, GATHERED + 2] = px, py, pz
            seen[e, GATHERED + 3], seen[e, GATHERED + 4], seen[e, GATHERED + 5] = qx, qy, qz
            seen[e, GATHERED_TO] = within
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, 3], seen[e, 4], seen[e, 5] = px, py, pz, qx, qy, qz
        near = leaves, bounds, gone, within
        crossings = find_crossings(surface, near, px, py, pz, dx, dy, dz, space)
        if crossings == 0:  # all of it is inside, or nothing
            distance, _, _, _ = follow(surface, px, py, pz, slots[1], seen, e, FIRST_END, space)
            if distance >= 0.0:
                safe = trust * max(within if leaves[0] == 0 else bounds[0] - gone, 0.0)
                seen[e, EDGE_SAFE], seen[e, DEEPEST] = safe, 0.0
                clear = min(clear, safe)
                continue
        kink = min(_edges.KINK * right / rows[i, EDGE_WIDE], _BLUNTEST)
        number = _edges.find_pieces(
            surface, near, px, py, pz, dx, dy, dz, step, kink, e, slots, seen, crossings, space
        )  # fmt: skip
        deepest, clear = 0.0, 0.0
        for k in range(number):
            deepest = max(deepest, max(pieces[k, 2], pieces[k, 3]))
        seen[e, EDGE_SAFE], seen[e, DEEPEST] = 0.0, deepest
        count = write_pieces(
            frames, b, sign, px, py, pz, dx, dy, dz, pieces, number, per_area * rows[i, EDGE_WIDE], e * PIECES, found,
            count,
        )  # fmt: skip
    return count, clear
