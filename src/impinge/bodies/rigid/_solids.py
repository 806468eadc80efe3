"""Contacts of points and edges of one body with the inside of another; frames and columns as in `_touch.py`."""

from impinge._jit import kernel
from impinge.bodies.rigid import _edges
from impinge.bodies.rigid._contacts import write, write_pieces
from impinge.bodies.rigid._distance import PIECES, SURE, find_crossings, follow, list_leaves
from impinge.bodies.rigid._frames import apply, between, moved, place, turn
from impinge.bodies.rigid._layout import (
    DEEPEST,
    EDGE_SAFE,
    EDGE_WIDE,
    GATHERED,
    GATHERED_TO,
    POINT_AREA,
    POINT_FOLLOWED,
    SEEN_AT,
    SEEN_SAFE,
)

_FEW = 4  # parts of an edge whose clearance is looked at
_AROUND, _DEEPER = 0.1, 1.5  # of the skin, and of the last depth: so far around edges their near triangles are listed


@kernel
def points_in_solid(
    first, last, rows, items, slots, seen, surface, frames, a, b, sign, per_area, space, found, count
):  # fmt: skip
    """Contacts of listed points of body a in body b; per_area : stiffness."""
    way = between(frames, a, b)
    for e in range(first, last):
        i = items[e]
        x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        if moved(seen, e, SEEN_AT, x, y, z) < SURE * seen[e, SEEN_SAFE]:
            continue
        distance, nx, ny, nz = follow(surface, x, y, z, slots, seen, e, POINT_FOLLOWED, space)
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, SEEN_SAFE] = x, y, z, max(distance, 0.0)
        if distance >= 0.0:
            continue
        x, y, z = place(frames, b, x, y, z)
        nx, ny, nz = turn(frames, b, sign * nx, sign * ny, sign * nz)
        count = write(found, count, x, y, z, nx, ny, nz, -distance, per_area * rows[i, POINT_AREA], e)
    return count


@kernel
def edges_in_solid(
    first, last, rows, items, slots, seen, leaves, surface, frames, a, b, sign, per_area, skin, bumpy, space, found,
    count,
):  # fmt: skip
    """Contacts of listed edges of body a in body b; leaves : near triangles of each, see `_distance.list_leaves`."""
    way, pieces = between(frames, a, b), space[5]
    for e in range(first, last):
        i, near = items[e], leaves[e]
        px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
        if max(moved(seen, e, 0, px, py, pz), moved(seen, e, 3, qx, qy, qz)) < SURE * seen[e, EDGE_SAFE]:
            continue
        dx, dy, dz = qx - px, qy - py, qz - pz
        way_since = max(moved(seen, e, GATHERED, px, py, pz), moved(seen, e, GATHERED + 3, qx, qy, qz))
        within = SURE * seen[e, GATHERED_TO] - way_since
        if not within > seen[e, DEEPEST]:
            reach = _DEEPER * seen[e, DEEPEST] + _AROUND * skin
            within = list_leaves(surface, px, py, pz, dx, dy, dz, reach, near, space)
            seen[e, GATHERED], seen[e, GATHERED + 1], seen[e, GATHERED + 2] = px, py, pz
            seen[e, GATHERED + 3], seen[e, GATHERED + 4], seen[e, GATHERED + 5] = qx, qy, qz
            seen[e, GATHERED_TO] = within
        crossings = find_crossings(surface, near, px, py, pz, dx, dy, dz, space)
        safe, is_inside, number = 0.0, False, 0
        if crossings == 0:
            safe, is_inside, slots[0, e] = _edges.clearance(
                surface, px, py, pz, dx, dy, dz, 0.25 * skin, _FEW, slots[0, e], space
            )
        if crossings > 0 or is_inside:
            number = _edges.find_pieces(
                surface, near, within, px, py, pz, dx, dy, dz, bumpy, e, slots, seen, crossings, space
            )
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, 3], seen[e, 4], seen[e, 5] = px, py, pz, qx, qy, qz
        seen[e, EDGE_SAFE] = max(safe, 0.0)
        deepest = 0.0
        for k in range(number):
            deepest = max(deepest, max(pieces[k, 2], pieces[k, 3]))
        seen[e, DEEPEST] = deepest
        count = write_pieces(
            frames, b, sign, px, py, pz, dx, dy, dz, pieces, number, per_area * rows[i, EDGE_WIDE], e * PIECES, found,
            count,
        )  # fmt: skip
    return count
