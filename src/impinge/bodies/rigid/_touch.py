"""Contacts of pairs of bodies, and of bodies with walls: where they are, and what force acts there.

Every point p of a surface stands for an area A. Behind the other surface by δ it has the energy

    U = ½ κ A δ²,    and the force κ A δ along the way back, −∇U,

on the body it belongs to, and the reverse of it, at the same place, on the other. Between two bodies both surfaces are
asked, and each counts half. Sharp edges have the area of their width times the length that is inside, over which U is
integrated (`_edges`). Obstacles are surfaces that bodies pass through (`_sheets`). κ [N/m³] is the stiffness of the
materials over the area π R² of the smaller body, with R the radius of the ball of the same volume; for materials with
Young's modulus E*/R.

The dashpot of a pair, 2 β √(K m*) with K = Σ κ A over all points in contact, is shared out by stiffness, so that a flat
impact has the restitution that was asked for. Every point has its own tangential spring (`response/_laws.py`).

Frames (rows of `_obstacles` poses: rotation, translation, velocity, spin) are those of bodies, and after them of
obstacles; shapes are in flat arrays, see `shape.py`.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, lean, parallel, part
from impinge.bodies._contact import law_of
from impinge.bodies._obstacles import SHIFT
from impinge.bodies._planes import MADE_OF, NORMAL
from impinge.bodies._planes import SPEED as PLANE_SPEED
from impinge.bodies.rigid._contacts import write, write_piece
from impinge.bodies.rigid._distance import PIECES, SURE, make_everywhere, make_space
from impinge.bodies.rigid._frames import place, velocity
from impinge.bodies.rigid._layout import (
    BODY,
    BUMPY,
    CONTACT,
    EDGE_WIDE,
    EDGES,
    EDGES_A,
    EDGES_B,
    ELASTIC,
    FACES,
    FILLED,
    FIRST_EDGE,
    FIRST_POINT,
    FORCE,
    GONE,
    HEAT,
    HELD,
    HISTORY,
    HOLLOW,
    KIND_OF,
    LASTING,
    LEAVES,
    NODES,
    NOW,
    OTHER,
    PLANE,
    POINT_AREA,
    POINTS,
    POINTS_A,
    POINTS_B,
    RADIUS,
    RIM_GROUPS,
    SHEET,
    SOLID,
    STIFF,
    STORED,
    WORK,
    WRENCH,
)
from impinge.bodies.rigid._layout import WIDTH as EDGE_WIDTH
from impinge.bodies.rigid._sheets import points_behind
from impinge.bodies.rigid._solids import edges_in_solid, points_in_solid
from impinge.inside._closest import LEAF, NODE, WIDTH
from impinge.response._laws import (
    BETA,
    DAMPING,
    FRICTION,
    HERTZ,
    KIND,
    STIFFNESS,
    TANGENTIAL,
    TANGENTIAL_DAMPING,
    slide,
)  # fmt: skip


@part
def _behind_plane(
    points_first, points_last, point_rows, points, edges_first, edges_last, edge_rows, edges, frames, a, planes, p,
    per_area, found, count,
):  # fmt: skip
    """Contacts of listed points and edges of body a behind a plane."""
    nx, ny, nz, clear = planes[p, NORMAL], planes[p, NORMAL + 1], planes[p, NORMAL + 2], math.inf
    offset = planes[p, 0] * nx + planes[p, 1] * ny + planes[p, 2] * nz
    for e in range(points_first, points_last):
        i = points[e]
        x, y, z = place(frames, a, point_rows[i, 0], point_rows[i, 1], point_rows[i, 2])
        depth = offset - (nx * x + ny * y + nz * z)
        clear = min(clear, -depth)
        if depth > 0.0:
            count = write(found, count, x, y, z, nx, ny, nz, depth, per_area * point_rows[i, POINT_AREA], e)
    for e in range(edges_first, edges_last):
        i = edges[e]
        px, py, pz = place(frames, a, edge_rows[i, 0], edge_rows[i, 1], edge_rows[i, 2])
        qx, qy, qz = place(frames, a, edge_rows[i, 3], edge_rows[i, 4], edge_rows[i, 5])
        u, v = offset - (nx * px + ny * py + nz * pz), offset - (nx * qx + ny * qy + nz * qz)
        clear = min(clear, -max(u, v))
        if u <= 0.0 and v <= 0.0:
            continue
        begin, end = 0.0, 1.0  # and where between them it pierces the plane
        if u < 0.0:
            begin, u = u / (u - v), 0.0
        if v < 0.0:
            end, v = u / (u - v), 0.0
        dx, dy, dz = qx - px, qy - py, qz - pz
        count = write_piece(
            found, count, px, py, pz, dx, dy, dz, begin, end, u, v, nx, ny, nz, per_area * edge_rows[i, EDGE_WIDE],
            -1.0 - e * PIECES,
        )  # fmt: skip
    return count, clear


@lean
def tree(shapes, s, kind):
    """The tree of shape s, as `Form.tree`, as slices of the flat arrays; for lean kernels only."""
    r = shapes.ranges
    leaf, leaf_end = r[s, LEAVES], r[s + 1, LEAVES]
    return (
        shapes.nodes[r[s, NODES] * NODE : r[s + 1, NODES] * NODE],
        shapes.children[r[s, NODES] : r[s + 1, NODES]],
        shapes.leaves[leaf * LEAF : leaf_end * LEAF],
        shapes.faces[leaf * WIDTH : leaf_end * WIDTH],
        shapes.normals[r[s, FACES] : r[s + 1, FACES]],
        shapes.boxes[leaf:leaf_end],
        -1.0 if kind == HOLLOW else 1.0,
    )


@exact
def stiffness_per_area(kind, stiffness, radius):
    """κ, N/m³."""
    return stiffness / radius if kind == HERTZ else stiffness / (math.pi * radius * radius)


@part
def _step(shapes, s, width):
    """How far apart places along edges are asked that are in shape s; width : of edges of the smaller body."""
    return 0.5 * width if shapes.sizes[s, BUMPY] > 0.0 else math.inf


@lean
def _meet_obstacle(
    kind, a, b, p0, p1, e0, e1, edges_b, law, skin, shapes, forms, frames, lists, everywhere, space, found
):  # fmt: skip
    """The same with an obstacle: of points, only those of the body count."""
    s, t, r = forms[a], forms[b], shapes.ranges
    own, other, trust = tree(shapes, s, SOLID), tree(shapes, t, kind), shapes.sizes[t, FILLED]
    points = shapes.points[r[s, POINTS] : r[s + 1, POINTS]]
    per_area, width = (
        stiffness_per_area(law[KIND], law[STIFFNESS], shapes.sizes[s, RADIUS]),
        shapes.sizes[s, EDGE_WIDTH],
    )
    if kind == SHEET:
        rims = shapes.rims, shapes.rim_groups, shapes.rim_starts, r[t, RIM_GROUPS], r[t + 1, RIM_GROUPS]
        count, clear = points_behind(
            p0, p1, points, lists.points, lists.point_slots, lists.points_seen, lists.points_behind, other, own, rims,
            everywhere, frames, a, b, per_area, space, found, 0,
        )  # fmt: skip
    else:
        count, clear = points_in_solid(
            p0, p1, points, lists.points, lists.point_slots, lists.points_seen, other, trust, frames, a, b, 1.0,
            per_area, space, found, 0,
        )  # fmt: skip
        count, edges_clear = edges_in_solid(
            e0, e1, shapes.edges[r[s, EDGES] : r[s + 1, EDGES]], width, lists, other, trust, frames, a, b, 1.0,
            per_area, skin, _step(shapes, t, width), space, found, count,
        )  # fmt: skip
        clear = min(clear, edges_clear)
    # Edges of obstacles are as wide as those of the body that they meet.
    count, other_clear = edges_in_solid(
        e1, e1 + edges_b, shapes.edges[r[t, EDGES] : r[t + 1, EDGES]], 1.0, lists, own, shapes.sizes[s, FILLED],
        frames, b, a, -1.0, per_area * width, skin, _step(shapes, s, width), space, found, count,
    )  # fmt: skip
    return count, min(clear, other_clear)


@lean
def find_contacts(pair, span, law, skin, shapes, forms, frames, planes, lists, everywhere, space, found):
    """All contacts of a pair, into `found`: their number, and how far all else is from touching, at least."""
    a, kind, b = pair[BODY], pair[KIND_OF], pair[OTHER]
    s, r = forms[a], shapes.ranges
    points = shapes.points[r[s, POINTS] : r[s + 1, POINTS]]
    edges = shapes.edges[r[s, EDGES] : r[s + 1, EDGES]]
    radius = shapes.sizes[s, RADIUS]
    p0, e0 = span[FIRST_POINT], span[FIRST_EDGE]
    p1, e1 = p0 + span[POINTS_A], e0 + span[EDGES_A]
    if kind == PLANE:
        per_area = stiffness_per_area(law[KIND], law[STIFFNESS], radius)
        return _behind_plane(
            p0, p1, points, lists.points, e0, e1, edges, lists.edges, frames, a, planes, b, per_area, found, 0
        )
    if kind != SOLID:
        return _meet_obstacle(
            kind, a, b, p0, p1, e0, e1, span[EDGES_B], law, skin, shapes, forms, frames, lists, everywhere, space, found
        )
    t = forms[b]
    own, other = tree(shapes, s, SOLID), tree(shapes, t, SOLID)
    own_trust, other_trust = shapes.sizes[s, FILLED], shapes.sizes[t, FILLED]
    other_edges = shapes.edges[r[t, EDGES] : r[t + 1, EDGES]]
    e2 = e1 + span[EDGES_B]
    other_points = shapes.points[r[t, POINTS] : r[t + 1, POINTS]]
    width = min(shapes.sizes[s, EDGE_WIDTH], shapes.sizes[t, EDGE_WIDTH])
    per_area = 0.5 * stiffness_per_area(law[KIND], law[STIFFNESS], min(radius, shapes.sizes[t, RADIUS]))
    count, clear = points_in_solid(
        p0, p1, points, lists.points, lists.point_slots, lists.points_seen, other, other_trust, frames, a, b, 1.0,
        per_area, space, found, 0,
    )  # fmt: skip
    count, clear_edges = edges_in_solid(
        e0, e1, edges, shapes.sizes[s, EDGE_WIDTH], lists, other, other_trust, frames, a, b, 1.0,
        per_area, skin, _step(shapes, t, width), space, found, count,
    )  # fmt: skip
    count, other_clear = points_in_solid(
        p1, p1 + span[POINTS_B], other_points, lists.points, lists.point_slots, lists.points_seen, own, own_trust,
        frames, b, a, -1.0, per_area, space, found, count,
    )  # fmt: skip
    count, other_clear_edges = edges_in_solid(
        e1, e2, other_edges, shapes.sizes[t, EDGE_WIDTH], lists, own, own_trust, frames, b, a,
        -1.0, per_area, skin, _step(shapes, s, width), space, found, count,
    )  # fmt: skip
    return count, min(min(clear, clear_edges), min(other_clear, other_clear_edges))


@lean
def press(pair, law, rough, dt, mass, frames, planes, lists, keep, found, count, wrench):
    """Forces at the contacts of a pair; their sum, what is lost and the work of walls go to `wrench`."""
    a, kind, b = pair[BODY], pair[KIND_OF], pair[OTHER]
    wrench[:] = 0.0
    stiffness, lost, work = 0.0, 0.0, 0.0
    for c in range(count):
        stiffness += found[c, STIFF]
    reduced = mass[a] if kind != SOLID else mass[a] * mass[b] / (mass[a] + mass[b])
    damping = 0.0
    if stiffness > 0.0:
        damping = (law[DAMPING] + 2.0 * law[BETA] * math.sqrt(stiffness * reduced)) / stiffness
    for c in range(count):
        x, y, z, nx, ny, nz = found[c, 0], found[c, 1], found[c, 2], found[c, 3], found[c, 4], found[c, 5]
        vx, vy, vz = velocity(frames, a, x, y, z)
        sx, sy, sz = 0.0, 0.0, 0.0
        if kind == PLANE:
            sx, sy, sz = planes[b, PLANE_SPEED], planes[b, PLANE_SPEED + 1], planes[b, PLANE_SPEED + 2]
        else:
            sx, sy, sz = velocity(frames, b, x, y, z)
        vx, vy, vz = vx - sx, vy - sy, vz - sz
        rate = -(vx * nx + vy * ny + vz * nz)
        coefficient = damping * found[c, STIFF]
        f = found[c, ELASTIC] + coefficient * rate
        fx, fy, fz = f * nx, f * ny, f * nz
        lost += coefficient * rate * rate * dt
        found[c, HELD] = 0.0
        if rough:
            h = np.int64(found[c, HISTORY])
            history, known = (lists.point_history, lists.points_known) if h >= 0 else (
                lists.edge_history, lists.edges_known
            )  # fmt: skip
            h = h if h >= 0 else -1 - h
            ux, uy, uz, before = 0.0, 0.0, 0.0, 0.0
            lasts = known[h] != GONE
            if lasts:
                ux, uy, uz, before = history[h, 0], history[h, 1], history[h, 2], history[h, STORED]
            tx, ty, tz = vx + rate * nx, vy + rate * ny, vz + rate * nz
            k = law[TANGENTIAL] * found[c, STIFF]
            gx, gy, gz, ux, uy, uz = slide(
                ux, uy, uz, nx, ny, nz, tx, ty, tz, k, law[TANGENTIAL_DAMPING] * coefficient,
                law[FRICTION] * max(f, 0.0), dt,
            )  # fmt: skip
            fx, fy, fz = fx + gx, fy + gy, fz + gz
            found[c, HELD] = 0.5 * k * (ux * ux + uy * uy + uz * uz)
            ux, uy, uz = ux + 0.5 * dt * tx, uy + 0.5 * dt * ty, uz + 0.5 * dt * tz
            stored = 0.5 * k * (ux * ux + uy * uy + uz * uz)
            lost -= (gx * tx + gy * ty + gz * tz) * dt + (stored - before)
            if keep:
                history[h, 0], history[h, 1], history[h, 2], history[h, STORED] = ux, uy, uz, stored
                known[h] = NOW
        found[c, FORCE], found[c, FORCE + 1], found[c, FORCE + 2] = fx, fy, fz
        work += (fx * sx + fy * sy + fz * sz) * dt
        rx, ry, rz = x - frames[a, SHIFT], y - frames[a, SHIFT + 1], z - frames[a, SHIFT + 2]
        wrench[0] += fx
        wrench[1] += fy
        wrench[2] += fz
        wrench[3] += ry * fz - rz * fy
        wrench[4] += rz * fx - rx * fz
        wrench[5] += rx * fy - ry * fx
        if kind == SOLID:
            rx, ry, rz = x - frames[b, SHIFT], y - frames[b, SHIFT + 1], z - frames[b, SHIFT + 2]
            wrench[6] -= fx
            wrench[7] -= fy
            wrench[8] -= fz
            wrench[9] -= ry * fz - rz * fy
            wrench[10] -= rz * fx - rx * fz
            wrench[11] -= rx * fy - ry * fx
    wrench[HEAT] = lost
    if kind != SOLID:
        wrench[WORK] = work


@part
def _forget(first, last, known, history):
    """Contacts that did not go on are over; returns the energy that was in their springs."""
    energy = 0.0
    for k in range(first, last):
        if known[k] == LASTING:
            known[k] = GONE
            energy += history[k, STORED]
        elif known[k] == NOW:
            known[k] = LASTING
    return energy


@part
def law_for(pair, kinds, planes, table, materials):
    """The law of a pair; what has no material of its own is of that of the body; kinds : of all frames."""
    a, kind, b = kinds[pair[BODY]], pair[KIND_OF], pair[OTHER]
    other = np.int64(planes[b, MADE_OF]) if kind == PLANE else kinds[b]
    return law_of(table, a, other if other >= 0 else a, materials)


@lean
def meet_pair(
    p, pairs, spans, kinds, planes, table, materials, rough, dt, skins, keep, shapes, forms, frames, mass, lists, gone,
    clear_to, everywhere, space, found, wrenches,
):  # fmt: skip
    """Forces of a pair, see `press`; found : room for all its contacts.

    As long as both sides have not come as near as clear_to[p], see `Lists`, nothing touches.
    """
    pair, span = pairs[p], spans[p]
    if gone[p] < clear_to[p]:
        wrenches[p, :] = 0.0
        return
    law = law_for(pair, kinds, planes, table, materials)
    count, clear = find_contacts(
        pair, span, law, skins[p], shapes, forms, frames, planes, lists, everywhere, space, found
    )
    press(pair, law, rough, dt, mass, frames, planes, lists, keep, found, count, wrenches[p])
    if rough and keep:
        begin = span[FIRST_POINT]
        lost = _forget(begin, begin + span[POINTS_A] + span[POINTS_B], lists.points_known, lists.point_history)
        begin = span[FIRST_EDGE]
        lost += _forget(
            begin * PIECES, (begin + span[EDGES_A] + span[EDGES_B]) * PIECES, lists.edges_known, lists.edge_history
        )
        wrenches[p, HEAT] += lost
    if count == 0 and (keep or not rough):  # where nothing is remembered, either
        clear_to[p] = gone[p] + SURE * clear


@parallel(grain=1)
def meet_pairs(
    first, stop, pairs, spans, kinds, planes, table, materials, rough, dt, skins, keep, most, shapes, forms, frames,
    mass, lists, gone, clear_to, wrenches,
):  # fmt: skip
    """Forces of all pairs; most : contacts of one pair."""
    space, everywhere = make_space(), make_everywhere()
    found = np.empty((most, CONTACT))
    for p in range(first, stop):
        meet_pair(
            p, pairs, spans, kinds, planes, table, materials, rough, dt, skins, keep, shapes, forms, frames, mass,
            lists, gone, clear_to, everywhere, space, found, wrenches,
        )  # fmt: skip


@kernel
def list_contacts(
    pairs, spans, kinds, planes, table, materials, rough, dt, skins, most, shapes, forms, frames, mass, lists, owners,
    rows,
):  # fmt: skip
    """All contacts now: their number; pairs and numbers of as many as there is room for."""
    space, everywhere = make_space(), make_everywhere()
    found, wrench, total = np.empty((most, CONTACT)), np.empty(WRENCH), 0
    for p in range(len(pairs)):
        law = law_for(pairs[p], kinds, planes, table, materials)
        count, _ = find_contacts(
            pairs[p], spans[p], law, skins[p], shapes, forms, frames, planes, lists, everywhere, space, found
        )
        press(pairs[p], law, rough, dt, mass, frames, planes, lists, False, found, count, wrench)
        for c in range(count):
            if total < len(rows):
                owners[total] = p
                rows[total] = found[c]
            total += 1
    return total


@parallel(grain=64)
def gather(first, stop, starts, sides, wrenches, forces, keep, lost, work):
    """Force and torque on every body: of its pairs, in their order; sides : 2 · pair, and 1 more for the second."""
    for i in range(first, stop):
        for c in range(6):
            forces[i, c] = 0.0
        for k in range(starts[i], starts[i + 1]):
            p, side = sides[k] // 2, sides[k] % 2
            for c in range(6):
                forces[i, c] += wrenches[p, 6 * side + c]
            if keep and side == 0:
                lost[i] += wrenches[p, HEAT]
                work[i] += wrenches[p, WORK]


@parallel(grain=64)
def gather_reactions(first, stop, starts, entries, reactions, forces):
    """Add what spheres do to every body."""
    for i in range(first, stop):
        for k in range(starts[i], starts[i + 1]):
            for c in range(6):
                forces[i, c] += reactions[entries[k], c]
