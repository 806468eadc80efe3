"""Lists of the points and edges of bodies that may touch something before it has moved by the skin."""

import math

import numpy as np

from impinge._jit import fetch_add, kernel, lean, parallel, part
from impinge.bodies._planes import NORMAL
from impinge.bodies.rigid._distance import PIECES, make_everywhere, make_space, signed_distance
from impinge.bodies.rigid._edges import clearance
from impinge.bodies.rigid._frames import apply, between, place
from impinge.bodies.rigid._layout import (
    BLOCK,
    BODY,
    EDGE_GROUPS,
    EDGE_POINT_GROUPS,
    EDGE_POINTS,
    EDGE_SAFE,
    EDGE_SEEN,
    EDGES,
    EDGES_A,
    EDGES_B,
    FILLED,
    FIRST_EDGE,
    FIRST_POINT,
    GONE,
    HIGH,
    HOLLOW,
    KIND_OF,
    LOW,
    OTHER,
    PLANE,
    POINT_AREA,
    POINT_DEEP,
    POINT_GROUPS,
    POINT_NORMAL,
    POINT_SEEN,
    POINTS,
    POINTS_A,
    POINTS_B,
    SEEN_SAFE,
    SHEET,
    SOLID,
)
from impinge.bodies.rigid._sheets import crossings
from impinge.bodies.rigid._touch import tree

POINTS_LEFT, EDGES_LEFT = np.uint64(0), np.uint64(8)  # places of the counters of taken rows


@part
def _outside(sizes, s, x, y, z, reach):
    """Whether a place is farther than `reach` from the box of a shape, along an axis."""
    return (
        x < sizes[s, LOW] - reach or x > sizes[s, HIGH] + reach
        or y < sizes[s, LOW + 1] - reach or y > sizes[s, HIGH + 1] + reach
        or z < sizes[s, LOW + 2] - reach or z > sizes[s, HIGH + 2] + reach
    )  # fmt: skip


@part
def _apart(x, y, z, u, v, w):
    """Distance of two places, and a bit more than rounding may have taken from it."""
    return math.sqrt((x - u) ** 2 + (y - v) ** 2 + (z - w) ** 2) * (1 + 1e-12)


@part
def _least(distance, sheet, trust):
    """What is known of how far a surface is from all that is inside; nothing where signed distances jump."""
    return abs(distance) if sheet else distance if trust > 0.0 else -math.inf


@lean
def _points_near(
    rows, groups, starts, first_group, last_group, base, kind, surface, sizes, s, frames, a, b, skin, space, items,
    slots, seen, count,
):  # fmt: skip
    """Points of body a at most `skin` from body b; of a sheet so far beyond half the thickness of the body.

    A point is behind a sheet by half of how thick the body is there, at most, but one at a tip may be there because the
    body around it is. Distances change by no more than places do, so most groups are told by one that was looked at
    before, and points by their group.
    """
    way, slot, sheet, deepest = between(frames, a, b), 0, kind == SHEET, 0.0
    seen_x, seen_y, seen_z, known = 0.0, 0.0, 0.0, -math.inf  # where distance was asked last, and what it was
    if sheet:
        for i in range(len(rows)):
            deepest = max(deepest, rows[i, POINT_DEEP])
    everywhere = math.inf if kind == HOLLOW else 0.0  # around it, all is inside
    trust = sizes[s, FILLED]  # as in `_solids.points_in_solid`
    for g in range(first_group, last_group):
        x, y, z = apply(way, groups[g, 0], groups[g, 1], groups[g, 2])
        reach = groups[g, 3] + skin + deepest
        if _outside(sizes, s, x, y, z, reach + everywhere) or known - _apart(x, y, z, seen_x, seen_y, seen_z) > reach:
            continue
        slot, distance, _, _, _ = signed_distance(surface, x, y, z, slot, space)
        seen_x, seen_y, seen_z, known = x, y, z, _least(distance, sheet, trust)
        if known > reach:
            continue
        for i in range(starts[g] - base, starts[g + 1] - base):
            x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
            reach = skin + deepest
            if _outside(sizes, s, x, y, z, reach + everywhere):
                continue
            if known - _apart(x, y, z, seen_x, seen_y, seen_z) > reach:
                continue
            slot, distance, _, _, _ = signed_distance(surface, x, y, z, slot, space)
            if _least(distance, sheet, trust) > reach:
                continue
            items[count], slots[count] = i, slot
            seen[count, 0], seen[count, 1], seen[count, 2] = x, y, z
            seen[count, SEEN_SAFE] = 0.0 if sheet else trust * max(distance, 0.0)
            count += 1
    return count


@lean
def _edges_near(
    rows, groups, starts, first_group, last_group, base, hollow, surface, sizes, s, frames, a, b, skin, space, items,
    slots, seen, count,
):  # fmt: skip
    """Edges of body a at most `skin` from body b."""
    way, slot, everywhere, trust = between(frames, a, b), 0, math.inf if hollow else 0.0, sizes[s, FILLED]
    seen_x, seen_y, seen_z, known = 0.0, 0.0, 0.0, -math.inf
    for g in range(first_group, last_group):
        x, y, z = apply(way, groups[g, 0], groups[g, 1], groups[g, 2])
        reach = groups[g, 3] + skin
        if _outside(sizes, s, x, y, z, reach + everywhere) or known - _apart(x, y, z, seen_x, seen_y, seen_z) > reach:
            continue
        slot, distance, _, _, _ = signed_distance(surface, x, y, z, slot, space)
        seen_x, seen_y, seen_z, known = x, y, z, _least(distance, False, trust)
        if known > reach:
            continue
        for i in range(starts[g] - base, starts[g + 1] - base):
            px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
            qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
            safe, slot = clearance(surface, px, py, pz, qx - px, qy - py, qz - pz, skin, PIECES, slot, space)
            safe *= trust
            if safe > skin:
                continue
            seen[count, 0], seen[count, 1], seen[count, 2] = px, py, pz
            seen[count, 3], seen[count, 4], seen[count, 5], seen[count, EDGE_SAFE] = qx, qy, qz, max(safe, 0.0)
            items[count], slots[count] = i, slot
            count += 1
    return count


@lean
def _near_plane(points, edges, frames, a, planes, p, skin, point_items, edge_items):
    """Points and edges of body a at most `skin` above a plane: their numbers."""
    nx, ny, nz = planes[p, NORMAL], planes[p, NORMAL + 1], planes[p, NORMAL + 2]
    limit = planes[p, 0] * nx + planes[p, 1] * ny + planes[p, 2] * nz + skin
    near_points, near_edges = 0, 0
    for i in range(len(points)):
        x, y, z = place(frames, a, points[i, 0], points[i, 1], points[i, 2])
        if nx * x + ny * y + nz * z < limit:
            point_items[near_points] = i
            near_points += 1
    for i in range(len(edges)):
        px, py, pz = place(frames, a, edges[i, 0], edges[i, 1], edges[i, 2])
        qx, qy, qz = place(frames, a, edges[i, 3], edges[i, 4], edges[i, 5])
        if min(nx * px + ny * py + nz * pz, nx * qx + ny * qy + nz * qz) < limit:
            edge_items[near_edges] = i
            near_edges += 1
    return near_points, near_edges


@lean
def _list_pair(
    pair, skin, shapes, forms, frames, planes, space, items, slots, seen, lines, line_slots, lines_seen
):  # fmt: skip
    """What is near in a pair: how many points of the first body, of the second, and edges of each."""
    a, kind, b = pair[BODY], pair[KIND_OF], pair[OTHER]
    s, r = forms[a], shapes.ranges
    points, edges = shapes.points[r[s, POINTS] : r[s + 1, POINTS]], shapes.edges[r[s, EDGES] : r[s + 1, EDGES]]
    if kind == PLANE:
        on_faces = points[: r[s, EDGE_POINTS] - r[s, POINTS]]
        points_a, edges_a = _near_plane(on_faces, edges, frames, a, planes, b, skin, items, lines)
        slots[:points_a], seen[:points_a] = 0, 0.0
        line_slots[:edges_a], lines_seen[:edges_a] = 0, 0.0
        return points_a, 0, edges_a, 0
    t, points_b, edges_a = forms[b], 0, 0
    own, other = tree(shapes, s, SOLID), tree(shapes, t, kind)
    points_a = _points_near(
        points, shapes.point_groups, shapes.point_starts, r[s, POINT_GROUPS],
        r[s + 1, POINT_GROUPS] if kind == SHEET else r[s, EDGE_POINT_GROUPS], r[s, POINTS], kind, other, shapes.sizes,
        t, frames, a, b, skin, space, items, slots, seen, 0,
    )  # fmt: skip
    if kind != SHEET:
        edges_a = _edges_near(
            edges, shapes.edge_groups, shapes.edge_starts, r[s, EDGE_GROUPS], r[s + 1, EDGE_GROUPS], r[s, EDGES],
            kind == HOLLOW, other, shapes.sizes, t, frames, a, b, skin, space, lines, line_slots, lines_seen, 0,
        )  # fmt: skip
    if kind == SOLID:
        points_b = _points_near(
            shapes.points[r[t, POINTS] : r[t + 1, POINTS]], shapes.point_groups, shapes.point_starts,
            r[t, POINT_GROUPS], r[t, EDGE_POINT_GROUPS], r[t, POINTS], SOLID, own, shapes.sizes, s, frames, b, a,
            skin, space, items, slots, seen, points_a,
        ) - points_a  # fmt: skip
    edges_b = _edges_near(
        shapes.edges[r[t, EDGES] : r[t + 1, EDGES]], shapes.edge_groups, shapes.edge_starts, r[t, EDGE_GROUPS],
        r[t + 1, EDGE_GROUPS], r[t, EDGES], False, own, shapes.sizes, s, frames, b, a, skin, space, lines,
        line_slots, lines_seen, edges_a,
    ) - edges_a  # fmt: skip
    return points_a, points_b, edges_a, edges_b


@parallel(grain=1)
def list_near(first, stop, pairs, most_points, most_edges, skins, shapes, forms, frames, planes, taken, spans, new):
    """List what is near in every pair; spans say where; skins : of pairs.

    taken : how many rows are, by all threads; where there are more than room the lists are to be made again, larger.
    """
    points, point_slots, points_seen = new.points, new.point_slots, new.points_seen
    edges, edge_slots, edges_seen = new.edges, new.edge_slots, new.edges_seen
    space = make_space()
    items, slots, seen = (
        np.empty(most_points, np.int32),
        np.zeros(most_points, np.int32),
        np.zeros((most_points, POINT_SEEN)),
    )
    lines, line_slots, lines_seen = (
        np.empty(most_edges, np.int32), np.zeros(most_edges, np.int32), np.zeros((most_edges, EDGE_SEEN)),
    )  # fmt: skip
    for p in range(first, stop):
        points_a, points_b, edges_a, edges_b = _list_pair(
            pairs[p], skins[p], shapes, forms, frames, planes, space, items, slots, seen, lines, line_slots, lines_seen
        )
        count, lines_count = points_a + points_b, edges_a + edges_b
        at = fetch_add(taken, POINTS_LEFT, count)
        line_at = fetch_add(taken, EDGES_LEFT, lines_count)
        spans[p, FIRST_POINT], spans[p, POINTS_A], spans[p, POINTS_B] = at, points_a, points_b
        spans[p, FIRST_EDGE], spans[p, EDGES_A], spans[p, EDGES_B] = line_at, edges_a, edges_b
        if at + count <= len(points):
            for k in range(count):
                points[at + k], point_slots[at + k], points_seen[at + k] = items[k], slots[k], seen[k]
        if line_at + lines_count <= len(edges):
            for k in range(lines_count):
                edges[line_at + k], edges_seen[line_at + k] = lines[k], lines_seen[k]
                edge_slots[:, line_at + k] = line_slots[k]


@lean
def _inside_out(surface, everywhere, way, x, y, z, ux, uy, uz, space):
    """Whether a surface passes through the body between x and x + u, of the body's frame: 1 or 0."""
    ux, uy, uz = (
        way[0] * ux + way[1] * uy + way[2] * uz,
        way[3] * ux + way[4] * uy + way[5] * uz,
        way[6] * ux + way[7] * uy + way[8] * uz,
    )
    return 1 if crossings(surface, everywhere, x, y, z, x + ux, y + uy, z + uz, space) > 0 else 0


@lean
def _mark_pair(pair, span, shapes, forms, frames, everywhere, space, new):
    """The same for one pair."""
    a, b = pair[BODY], pair[OTHER]
    s, r, surface = forms[a], shapes.ranges, tree(shapes, forms[b], SHEET)
    way = between(frames, a, b)
    for e in range(span[FIRST_POINT], span[FIRST_POINT] + span[POINTS_A]):
        row = shapes.points[r[s, POINTS] + new.points[e]]
        x, y, z, to = new.points_seen[e, 0], new.points_seen[e, 1], new.points_seen[e, 2], -row[POINT_DEEP]
        ux, uy, uz = to * row[POINT_NORMAL], to * row[POINT_NORMAL + 1], to * row[POINT_NORMAL + 2]
        new.points_behind[e] = _inside_out(surface, everywhere, way, x, y, z, ux, uy, uz, space)


@kernel
def mark_behind(pairs, spans, shapes, forms, frames, new):
    """Which listed points are behind a surface at the start: where that is within the body."""
    space, everywhere = make_space(), make_everywhere()
    for p in range(len(pairs)):
        if pairs[p, KIND_OF] == SHEET:
            _mark_pair(pairs[p], spans[p], shapes, forms, frames, everywhere, space, new)


@part
def _carry(
    old_at, old_last, old_items, old_known, old_history, at, last, items, known, history, each
):  # fmt: skip
    """Springs of listed things, from old lists to new ones, both ascending; each : rows of one of them."""
    for k in range(at, last):
        while old_at < old_last and old_items[old_at] < items[k]:
            old_at += 1
        found = old_at < old_last and old_items[old_at] == items[k]
        for j in range(each):
            known[k * each + j] = old_known[old_at * each + j] if found else GONE
            if known[k * each + j] != GONE:
                for c in range(4):
                    history[k * each + j, c] = old_history[old_at * each + j, c]


@part
def _carry_behind(old_at, old_last, old_items, old_seen, old_behind, at, last, items, seen, behind):
    """Which points have passed through an obstacle, of a pair that was listed before."""
    for k in range(at, last):
        while old_at < old_last and old_items[old_at] < items[k]:
            old_at += 1
        behind[k] = 0
        if old_at < old_last and old_items[old_at] == items[k]:
            behind[k] = old_behind[old_at]
            if old_seen[old_at, 0] == old_seen[old_at, 0]:  # the way from there is still to be looked at
                for c in range(SEEN_SAFE + 1):
                    seen[k, c] = old_seen[old_at, c]


@parallel(grain=64)
def carry(first, stop, pairs, old_of, old_spans, old, spans, new):
    """Let pairs remember what they did in the old lists; old_of : pair there, −1 for a new one."""
    nowhere = np.zeros(6, np.int64)
    for p in range(first, stop):
        here = spans[p]
        there = old_spans[old_of[p]] if old_of[p] >= 0 else nowhere
        for side in range(2):
            begin = there[FIRST_POINT] + side * there[POINTS_A]
            at = here[FIRST_POINT] + side * here[POINTS_A]
            end, last = begin + there[POINTS_A + side], at + here[POINTS_A + side]
            _carry(
                begin, end, old.points, old.points_known, old.point_history, at, last, new.points, new.points_known,
                new.point_history, 1,
            )  # fmt: skip
            if old_of[p] >= 0 and pairs[p, KIND_OF] == SHEET:
                _carry_behind(
                    begin, end, old.points, old.points_seen, old.points_behind, at, last, new.points, new.points_seen,
                    new.points_behind,
                )  # fmt: skip
            begin = there[FIRST_EDGE] + side * there[EDGES_A]
            at = here[FIRST_EDGE] + side * here[EDGES_A]
            _carry(
                begin, begin + there[EDGES_A + side], old.edges, old.edges_known, old.edge_history, at,
                at + here[EDGES_A + side], new.edges, new.edges_known, new.edge_history, PIECES,
            )  # fmt: skip


@parallel(grain=64)
def keep(first, stop, old_spans, old, spans, new):
    """Let pairs go on with all that is listed of them."""
    for p in range(first, stop):
        shift = spans[p, FIRST_POINT] - old_spans[p, FIRST_POINT]
        at = old_spans[p, FIRST_POINT]
        for e in range(at, at + old_spans[p, POINTS_A] + old_spans[p, POINTS_B]):
            k = e + shift
            new.points[k], new.point_slots[k] = old.points[e], old.point_slots[e]
            new.points_seen[k] = old.points_seen[e]
            new.points_behind[k], new.points_known[k] = old.points_behind[e], old.points_known[e]
            new.point_history[k] = old.point_history[e]
        shift = spans[p, FIRST_EDGE] - old_spans[p, FIRST_EDGE]
        at = old_spans[p, FIRST_EDGE]
        for e in range(at, at + old_spans[p, EDGES_A] + old_spans[p, EDGES_B]):
            k = e + shift
            new.edges[k], new.edges_seen[k] = old.edges[e], old.edges_seen[e]
            new.edge_slots[:, k], new.edge_leaves[k] = old.edge_slots[:, e], old.edge_leaves[e]
            new.edge_bounds[k] = old.edge_bounds[e]
            for j in range(PIECES):
                new.edges_known[k * PIECES + j] = old.edges_known[e * PIECES + j]
                new.edge_history[k * PIECES + j] = old.edge_history[e * PIECES + j]


@lean
def _share_inside(a, b, shapes, forms, frames, space):
    """Share of the surface of a body that is inside an obstacle."""
    s, r, surface, way = forms[a], shapes.ranges, tree(shapes, forms[b], BLOCK), between(frames, a, b)
    inside, area, slot = 0.0, 0.0, 0
    for i in range(r[s, POINTS], r[s + 1, POINTS]):
        row = shapes.points[i]
        x, y, z = apply(way, row[0], row[1], row[2])
        slot, distance, _, _, _ = signed_distance(surface, x, y, z, slot, space)
        inside, area = inside + (row[POINT_AREA] if distance < 0.0 else 0.0), area + row[POINT_AREA]
    return inside / area


@parallel(grain=1)
def measure_insides(first, stop, bodies, b, shapes, forms, frames, shares):
    """Share of the surface of each body that is inside obstacle b."""
    space = make_space()
    for k in range(first, stop):
        shares[k] = _share_inside(bodies[k], b, shapes, forms, frames, space)
