"""Contacts of pairs of bodies, and of bodies with walls: where they are, and what force acts there.

Every point p of a surface stands for an area A. Behind the other surface by δ it has the energy

    U = ½ κ A δ²,    and the force κ A δ along the way back, −∇U,

on the body it belongs to, and the reverse of it, at the same place, on the other. Between two bodies both surfaces are
asked, and each counts half. Sharp edges have the area of their width times the length that is inside, over which U is
integrated (`_edges`). κ [N/m³] is the stiffness of the materials over the area π R² of the smaller body, with R the
radius of the ball of the same volume; for materials with Young's modulus E*/R.

The dashpot of a pair, 2 β √(K m*) with K = Σ κ A over all points in contact, is shared out by stiffness, so that a flat
impact has the restitution that was asked for. Every point has its own tangential spring (`response/_laws.py`).

Frames (rows of `_obstacles` poses: rotation, translation, velocity, spin) are those of bodies, and after them of
obstacles; shapes are in flat arrays, see `shape.py`.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel, part
from impinge.bodies._contact import law_of
from impinge.bodies._obstacles import SHIFT, SPEED, SPIN
from impinge.bodies._planes import MADE_OF, NORMAL
from impinge.bodies._planes import SPEED as PLANE_SPEED
from impinge.bodies.rigid import _edges
from impinge.bodies.rigid._distance import MOST_CROSSINGS, SCRATCH, SURE, find_crossings, follow, signed_distance
from impinge.bodies.rigid._layout import BUMPY, EDGES, FACES, LEAVES, NODES, POINTS, RADIUS
from impinge.bodies.rigid._layout import WIDTH as EDGE_WIDTH
from impinge.inside._closest import LEAF, NODE, STACK, WIDTH
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

# Columns of a pair: body, what the other is, its frame or plane; and of its entries in the lists.
BODY, KIND_OF, OTHER = 0, 1, 2
SOLID, SHEET, PLANE = 0, 1, 2
FIRST_POINT, POINTS_A, POINTS_B, FIRST_EDGE, EDGES_A, EDGES_B = range(6)
# Columns of a contact: place, push on the first body, depth, stiffness, elastic force, energy, where its history is
# (below 0 for edges), force on the first body, energy of its tangential spring.
POINT, PUSH, DEPTH, STIFF, ELASTIC, ENERGY, HISTORY, FORCE, HELD = 0, 3, 6, 7, 8, 9, 10, 11, 14
CONTACT = 15
# Columns of what points and edges have seen: where they were in the frame of the other, how far from it, and after that
# what `follow` remembers: of points, and of both ends of edges (`_edges`).
FOLLOWED, POINT_SEEN, EDGE_SEEN = 4, 8, 15
STORED = 3  # column of a history, after the tangential spring
WRENCH = 14  # numbers of a pair: force and torque on the first, on the second, heat, work of walls
HEAT, WORK = 12, 13
GONE, LASTING, NOW = 0, 1, 2  # whether a contact is remembered: not, from the last step, and it goes on
_SAME = 1e-7  # of a way: crossings nearer to each other are one
_FEW = 4  # parts of an edge whose clearance is looked at


@part
def between(frames, a, b):
    """From frame a to frame b, x ↦ M x + T: twelve numbers, M by rows."""
    x, y, z = frames[a, SHIFT] - frames[b, SHIFT], frames[a, SHIFT + 1] - frames[b, SHIFT + 1], (
        frames[a, SHIFT + 2] - frames[b, SHIFT + 2]
    )  # fmt: skip
    b0, b1, b2, b3, b4, b5 = frames[b, 0], frames[b, 1], frames[b, 2], frames[b, 3], frames[b, 4], frames[b, 5]
    b6, b7, b8 = frames[b, 6], frames[b, 7], frames[b, 8]
    a0, a1, a2, a3, a4, a5 = frames[a, 0], frames[a, 1], frames[a, 2], frames[a, 3], frames[a, 4], frames[a, 5]
    a6, a7, a8 = frames[a, 6], frames[a, 7], frames[a, 8]
    return (
        b0 * a0 + b3 * a3 + b6 * a6, b0 * a1 + b3 * a4 + b6 * a7, b0 * a2 + b3 * a5 + b6 * a8,
        b1 * a0 + b4 * a3 + b7 * a6, b1 * a1 + b4 * a4 + b7 * a7, b1 * a2 + b4 * a5 + b7 * a8,
        b2 * a0 + b5 * a3 + b8 * a6, b2 * a1 + b5 * a4 + b8 * a7, b2 * a2 + b5 * a5 + b8 * a8,
        b0 * x + b3 * y + b6 * z, b1 * x + b4 * y + b7 * z, b2 * x + b5 * y + b8 * z,
    )  # fmt: skip


@part
def apply(way, x, y, z):
    """M x + T."""
    return (
        way[0] * x + way[1] * y + way[2] * z + way[9],
        way[3] * x + way[4] * y + way[5] * z + way[10],
        way[6] * x + way[7] * y + way[8] * z + way[11],
    )


@part
def turn(frames, f, x, y, z):
    """A vector of a frame in space."""
    return (
        frames[f, 0] * x + frames[f, 1] * y + frames[f, 2] * z,
        frames[f, 3] * x + frames[f, 4] * y + frames[f, 5] * z,
        frames[f, 6] * x + frames[f, 7] * y + frames[f, 8] * z,
    )


@part
def place(frames, f, x, y, z):
    """A point of a frame in space."""
    x, y, z = turn(frames, f, x, y, z)
    return x + frames[f, SHIFT], y + frames[f, SHIFT + 1], z + frames[f, SHIFT + 2]


@part
def _write(found, count, x, y, z, nx, ny, nz, depth, stiffness, elastic, energy, history):
    """One more contact."""
    found[count, 0], found[count, 1], found[count, 2] = x, y, z
    found[count, 3], found[count, 4], found[count, 5] = nx, ny, nz
    found[count, DEPTH], found[count, STIFF], found[count, ELASTIC], found[count, ENERGY] = (
        depth, stiffness, elastic, energy,
    )  # fmt: skip
    found[count, HISTORY] = history
    return count + 1


@part
def _write_pieces(frames, f, sign, px, py, pz, dx, dy, dz, pieces, number, per_length, first, found, count):
    """Contacts of the pieces of an edge p + t d in frame f; sign : 1 where its body is the first, else −1."""
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    for k in range(number):
        a, b, u, v = pieces[k, 0], pieces[k, 1], pieces[k, 2], pieces[k, 3]
        if not u + v > 0.0:
            continue
        stiffness = per_length * (b - a) * length
        t = a + (b - a) * (u + 2.0 * v) / (3.0 * (u + v))
        x, y, z = place(frames, f, px + t * dx, py + t * dy, pz + t * dz)
        nx, ny, nz = turn(frames, f, sign * pieces[k, 4], sign * pieces[k, 5], sign * pieces[k, 6])
        energy = stiffness * (u * u + u * v + v * v) / 6.0
        count = _write(
            found, count, x, y, z, nx, ny, nz, max(u, v), stiffness, 0.5 * stiffness * (u + v), energy,
            -1.0 - (first + k),
        )  # fmt: skip
    return count


@part
def _moved(seen, e, k, x, y, z):
    """How far a place is from the one in columns k to k + 2."""
    x, y, z = x - seen[e, k], y - seen[e, k + 1], z - seen[e, k + 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def _points_in_solid(
    first, last, rows, items, slots, seen, nodes, children, leaves, faces, normals, frames, a, b, sign, per_area, stack,
    stack_sq, work, found, count,
):  # fmt: skip
    """Contacts of listed points of body a in body b; per_area : stiffness."""
    way = between(frames, a, b)
    for e in range(first, last):
        i = items[e]
        x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        if _moved(seen, e, 0, x, y, z) < SURE * seen[e, 3]:
            continue
        distance, nx, ny, nz = follow(
            nodes, children, leaves, faces, normals, x, y, z, slots, seen, e, FOLLOWED, stack, stack_sq, work
        )
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, 3] = x, y, z, max(distance, 0.0)
        if distance >= 0.0:
            continue
        depth, stiffness = -distance, per_area * rows[i, 3]
        x, y, z = place(frames, b, x, y, z)
        nx, ny, nz = turn(frames, b, sign * nx, sign * ny, sign * nz)
        count = _write(
            found, count, x, y, z, nx, ny, nz, depth, stiffness, stiffness * depth, 0.5 * stiffness * depth * depth, e
        )
    return count


@kernel
def _edges_in_solid(
    first, last, rows, items, slots, seen, nodes, children, leaves, faces, normals, frames, a, b, sign, per_area, skin,
    bumpy, stack, stack_sq, work, places, ends, pieces, found, count,
):  # fmt: skip
    """Contacts of listed edges of body a in body b."""
    way = between(frames, a, b)
    for e in range(first, last):
        i = items[e]
        px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
        if max(_moved(seen, e, 0, px, py, pz), _moved(seen, e, 3, qx, qy, qz)) < SURE * seen[e, 6]:
            continue
        dx, dy, dz = qx - px, qy - py, qz - pz
        crossings = find_crossings(nodes, children, leaves, px, py, pz, dx, dy, dz, stack, work, places)
        safe, is_inside, number = 0.0, False, 0
        if crossings == 0:
            safe, is_inside, slots[0, e] = _edges.clearance(
                nodes, children, leaves, faces, normals, px, py, pz, dx, dy, dz, 0.25 * skin, _FEW, slots[0, e], stack,
                stack_sq, work, ends,
            )  # fmt: skip
        if crossings > 0 or is_inside:
            number = _edges.find_pieces(
                nodes, children, leaves, faces, normals, px, py, pz, dx, dy, dz, bumpy, e, slots, seen, stack,
                stack_sq, work, places, crossings, ends, pieces,
            )  # fmt: skip
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, 3], seen[e, 4], seen[e, 5] = px, py, pz, qx, qy, qz
        seen[e, 6] = max(safe, 0.0)
        count = _write_pieces(
            frames, b, sign, px, py, pz, dx, dy, dz, pieces, number, per_area * rows[i, 6], e * _edges.PIECES, found,
            count,
        )  # fmt: skip
    return count


@part
def _crosses(nodes, children, leaves, px, py, pz, qx, qy, qz, stack, work, places):
    """Whether the way from p to q crosses a surface an odd number of times."""
    count = find_crossings(nodes, children, leaves, px, py, pz, qx - px, qy - py, qz - pz, stack, work, places)
    return _distinct(places, count) % 2 == 1


@kernel
def _distinct(places, count):
    """Keep one of crossings at the same place, where a common edge of triangles is; returns how many there are."""
    kept = 0
    for k in range(count):
        if kept == 0 or places[k, 0] - places[kept - 1, 0] > _SAME:
            places[kept, 0] = places[k, 0]
            kept += 1
    return kept


@kernel
def _points_behind_sheet(
    first, last, rows, items, slots, seen, behind, nodes, children, leaves, faces, normals, frames, a, b, per_area,
    stack, stack_sq, work, places, found, count,
):  # fmt: skip
    """Contacts of listed points of body a behind a surface b: those that have passed through it, and not back."""
    way = between(frames, a, b)
    for e in range(first, last):
        i = items[e]
        x, y, z = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        if not behind[e] and _moved(seen, e, 0, x, y, z) < SURE * seen[e, 3]:
            continue
        if _crosses(nodes, children, leaves, seen[e, 0], seen[e, 1], seen[e, 2], x, y, z, stack, work, places):
            behind[e] = 1 - behind[e]
        slot, distance, nx, ny, nz = signed_distance(
            nodes, children, leaves, faces, normals, x, y, z, slots[e], stack, stack_sq, work
        )
        slots[e] = slot
        # From the surface to the point, whichever side that is; back is where the body came from.
        side = 1.0 if distance >= 0.0 else -1.0
        distance = abs(distance)
        seen[e, 0], seen[e, 1], seen[e, 2], seen[e, 3] = x, y, z, distance
        if not behind[e] or distance == 0.0:
            continue
        stiffness = per_area * rows[i, 3]
        x, y, z = place(frames, b, x, y, z)
        nx, ny, nz = turn(frames, b, -side * nx, -side * ny, -side * nz)
        count = _write(
            found, count, x, y, z, nx, ny, nz, distance, stiffness, stiffness * distance,
            0.5 * stiffness * distance * distance, e,
        )  # fmt: skip
    return count


@kernel
def _edges_behind_sheet(
    first, last, rows, items, slots, seen, behind, nodes, children, leaves, faces, normals, frames, a, b, per_area,
    stack, stack_sq, work, places, pieces, found, count,
):  # fmt: skip
    """Contacts of listed edges of body a behind a surface b: parts between places where they pierce it, halved.

    behind : whether the first end of an edge has passed through the surface.
    """
    way = between(frames, a, b)
    for e in range(first, last):
        i = items[e]
        px, py, pz = apply(way, rows[i, 0], rows[i, 1], rows[i, 2])
        qx, qy, qz = apply(way, rows[i, 3], rows[i, 4], rows[i, 5])
        dx, dy, dz = qx - px, qy - py, qz - pz
        if _crosses(nodes, children, leaves, seen[e, 0], seen[e, 1], seen[e, 2], px, py, pz, stack, work, places):
            behind[e] = 1 - behind[e]
        seen[e, 0], seen[e, 1], seen[e, 2] = px, py, pz
        cuts = _distinct(places, find_crossings(nodes, children, leaves, px, py, pz, dx, dy, dz, stack, work, places))
        if cuts == 0 and not behind[e]:
            continue
        number, before = 0, 0.0
        for k in range(cuts + 1):
            after = places[k, 0] if k < cuts else 1.0
            middle, half = 0.5 * (before + after), 0.5 * (after - before)
            if half > 0.0 and number + 2 <= _edges.PIECES and (behind[e] + k) % 2 == 1:
                for side in range(2):
                    for end in range(2):
                        t = middle + half * (side + end - 1)
                        slot, distance, nx, ny, nz = signed_distance(
                            nodes, children, leaves, faces, normals, px + t * dx, py + t * dy, pz + t * dz,
                            slots[0, e], stack, stack_sq, work,
                        )  # fmt: skip
                        slots[0, e] = slot
                        pieces[number, end], pieces[number, 2 + end] = t, abs(distance)
                        if side + end == 1:  # in the middle
                            sign = -1.0 if distance >= 0.0 else 1.0
                            pieces[number, 4], pieces[number, 5], pieces[number, 6] = sign * nx, sign * ny, sign * nz
                    number += 1
            before = after
        count = _write_pieces(
            frames, b, 1.0, px, py, pz, dx, dy, dz, pieces, number, per_area * rows[i, 6], e * _edges.PIECES, found,
            count,
        )  # fmt: skip
    return count


@part
def _behind_plane(
    points_first, points_last, point_rows, points, edges_first, edges_last, edge_rows, edges, frames, a, planes, p,
    per_area, found, count,
):  # fmt: skip
    """Contacts of listed points and edges of body a behind a plane."""
    nx, ny, nz = planes[p, NORMAL], planes[p, NORMAL + 1], planes[p, NORMAL + 2]
    offset = planes[p, 0] * nx + planes[p, 1] * ny + planes[p, 2] * nz
    for e in range(points_first, points_last):
        i = points[e]
        x, y, z = place(frames, a, point_rows[i, 0], point_rows[i, 1], point_rows[i, 2])
        depth = offset - (nx * x + ny * y + nz * z)
        if depth > 0.0:
            stiffness = per_area * point_rows[i, 3]
            count = _write(
                found, count, x, y, z, nx, ny, nz, depth, stiffness, stiffness * depth, 0.5 * stiffness * depth * depth,
                e,
            )  # fmt: skip
    for e in range(edges_first, edges_last):
        i = edges[e]
        px, py, pz = place(frames, a, edge_rows[i, 0], edge_rows[i, 1], edge_rows[i, 2])
        qx, qy, qz = place(frames, a, edge_rows[i, 3], edge_rows[i, 4], edge_rows[i, 5])
        u, v = offset - (nx * px + ny * py + nz * pz), offset - (nx * qx + ny * qy + nz * qz)
        if u <= 0.0 and v <= 0.0:
            continue
        begin, end = 0.0, 1.0  # and where between them it pierces the plane
        if u < 0.0:
            begin, u = u / (u - v), 0.0
        if v < 0.0:
            end, v = u / (u - v), 0.0
        dx, dy, dz = qx - px, qy - py, qz - pz
        stiffness = per_area * edge_rows[i, 6] * (end - begin) * math.sqrt(dx * dx + dy * dy + dz * dz)
        t = begin + (end - begin) * (u + 2.0 * v) / (3.0 * (u + v))
        count = _write(
            found, count, px + t * dx, py + t * dy, pz + t * dz, nx, ny, nz, max(u, v), stiffness,
            0.5 * stiffness * (u + v), stiffness * (u * u + u * v + v * v) / 6.0, -1.0 - e * _edges.PIECES,
        )  # fmt: skip
    return count


@part
def tree(shapes, s):
    """Slices of the flat arrays that are the tree of shape s."""
    r = shapes.ranges
    leaf, leaf_end = r[s, LEAVES], r[s + 1, LEAVES]
    return (
        shapes.nodes[r[s, NODES] * NODE : r[s + 1, NODES] * NODE],
        shapes.children[r[s, NODES] : r[s + 1, NODES]],
        shapes.leaves[leaf * LEAF : leaf_end * LEAF],
        shapes.faces[leaf * WIDTH : leaf_end * WIDTH],
        shapes.normals[r[s, FACES] : r[s + 1, FACES]],
    )


@exact
def stiffness_per_area(kind, stiffness, radius):
    """κ, N/m³."""
    return stiffness / radius if kind == HERTZ else stiffness / (math.pi * radius * radius)


@kernel
def find_contacts(pair, span, law, skin, shapes, forms, frames, planes, lists, space, found):
    """All contacts of a pair, into `found`; returns their number."""
    a, kind, b = pair[BODY], pair[KIND_OF], pair[OTHER]
    s = forms[a]
    stack, stack_sq, work, places, ends, pieces = space
    point_rows = shapes.points[shapes.ranges[s, POINTS] : shapes.ranges[s + 1, POINTS]]
    edge_rows = shapes.edges[shapes.ranges[s, EDGES] : shapes.ranges[s + 1, EDGES]]
    radius = shapes.sizes[s, RADIUS]
    p0, e0 = span[FIRST_POINT], span[FIRST_EDGE]
    p1, e1 = p0 + span[POINTS_A], e0 + span[EDGES_A]
    if kind == PLANE:
        per_area = stiffness_per_area(law[KIND], law[STIFFNESS], radius)
        return _behind_plane(
            p0, p1, point_rows, lists.points, e0, e1, edge_rows, lists.edges, frames, a, planes, b, per_area, found, 0
        )
    other = forms[b]
    nodes, children, leaves, faces, normals = tree(shapes, other)
    other_edges = shapes.edges[shapes.ranges[other, EDGES] : shapes.ranges[other + 1, EDGES]]
    e2 = e1 + span[EDGES_B]
    if kind == SHEET:
        per_area = stiffness_per_area(law[KIND], law[STIFFNESS], radius)
        count = _points_behind_sheet(
            p0, p1, point_rows, lists.points, lists.point_slots, lists.points_seen, lists.points_behind, nodes,
            children, leaves, faces, normals, frames, a, b, per_area, stack, stack_sq, work, places, found, 0,
        )  # fmt: skip
        count = _edges_behind_sheet(
            e0, e1, edge_rows, lists.edges, lists.edge_slots, lists.edges_seen, lists.edges_behind, nodes, children,
            leaves, faces, normals, frames, a, b, per_area, stack, stack_sq, work, places, pieces, found, count,
        )  # fmt: skip
        own_nodes, own_children, own_leaves, own_faces, own_normals = tree(shapes, s)
        # Edges of a surface are as wide as those of the body that they meet.
        return _edges_in_solid(
            e1, e2, other_edges, lists.edges, lists.edge_slots, lists.edges_seen, own_nodes, own_children, own_leaves,
            own_faces, own_normals, frames, b, a, -1.0, per_area * shapes.sizes[s, EDGE_WIDTH], skin,
            shapes.sizes[s, BUMPY] > 0.0, stack, stack_sq, work, places, ends, pieces, found, count,
        )  # fmt: skip
    per_area = 0.5 * stiffness_per_area(law[KIND], law[STIFFNESS], min(radius, shapes.sizes[other, RADIUS]))
    count = _points_in_solid(
        p0, p1, point_rows, lists.points, lists.point_slots, lists.points_seen, nodes, children, leaves, faces, normals,
        frames, a, b, 1.0, per_area, stack, stack_sq, work, found, 0,
    )  # fmt: skip
    count = _edges_in_solid(
        e0, e1, edge_rows, lists.edges, lists.edge_slots, lists.edges_seen, nodes, children, leaves, faces, normals,
        frames, a, b, 1.0, per_area, skin, shapes.sizes[other, BUMPY] > 0.0, stack, stack_sq, work, places, ends,
        pieces, found, count,
    )  # fmt: skip
    nodes, children, leaves, faces, normals = tree(shapes, s)
    other_points = shapes.points[shapes.ranges[other, POINTS] : shapes.ranges[other + 1, POINTS]]
    count = _points_in_solid(
        p1, p1 + span[POINTS_B], other_points, lists.points, lists.point_slots, lists.points_seen, nodes, children,
        leaves, faces, normals, frames, b, a, -1.0, per_area, stack, stack_sq, work, found, count,
    )  # fmt: skip
    return _edges_in_solid(
        e1, e2, other_edges, lists.edges, lists.edge_slots, lists.edges_seen, nodes, children, leaves, faces, normals,
        frames, b, a, -1.0, per_area, skin, shapes.sizes[s, BUMPY] > 0.0, stack, stack_sq, work, places, ends, pieces,
        found, count,
    )  # fmt: skip


@part
def _velocity(frames, f, x, y, z):
    """Of the point of a body at a place."""
    x, y, z = x - frames[f, SHIFT], y - frames[f, SHIFT + 1], z - frames[f, SHIFT + 2]
    wx, wy, wz = frames[f, SPIN], frames[f, SPIN + 1], frames[f, SPIN + 2]
    return (
        frames[f, SPEED] + wy * z - wz * y,
        frames[f, SPEED + 1] + wz * x - wx * z,
        frames[f, SPEED + 2] + wx * y - wy * x,
    )


@kernel
def press(pair, law, rough, dt, mass, frames, planes, lists, keep, found, count, wrench):
    """Forces at the contacts of a pair; their sum, what is lost and the work of walls go to `wrench`."""
    a, kind, b = pair[BODY], pair[KIND_OF], pair[OTHER]
    wrench[:] = 0.0
    stiffness, lost, work = 0.0, 0.0, 0.0
    for c in range(count):
        stiffness += found[c, STIFF]
    reduced = mass[a] if kind != SOLID else mass[a] * mass[b] / (mass[a] + mass[b])
    damping = 0.0
    if count > 0:
        damping = (law[DAMPING] + 2.0 * law[BETA] * math.sqrt(stiffness * reduced)) / stiffness
    for c in range(count):
        x, y, z, nx, ny, nz = found[c, 0], found[c, 1], found[c, 2], found[c, 3], found[c, 4], found[c, 5]
        vx, vy, vz = _velocity(frames, a, x, y, z)
        sx, sy, sz = 0.0, 0.0, 0.0
        if kind == PLANE:
            sx, sy, sz = planes[b, PLANE_SPEED], planes[b, PLANE_SPEED + 1], planes[b, PLANE_SPEED + 2]
        else:
            sx, sy, sz = _velocity(frames, b, x, y, z)
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


@parallel(grain=1)
def meet_pairs(
    first, stop, pairs, spans, kinds, planes, table, materials, rough, dt, skin, keep, most, shapes, forms, frames,
    mass, lists, wrenches,
):  # fmt: skip
    """Forces of all pairs, see `press`; most : contacts of one pair."""
    space = (
        np.empty(STACK, np.int64), np.empty(STACK), np.empty((SCRATCH, WIDTH)), np.empty((MOST_CROSSINGS, 2)),
        np.empty((_edges.ENDS, _edges.END)), np.empty((_edges.PIECES, _edges.PIECE)),
    )  # fmt: skip
    found = np.empty((most, CONTACT))
    for p in range(first, stop):
        law, pair, span = law_for(pairs[p], kinds, planes, table, materials), pairs[p], spans[p]
        count = find_contacts(pair, span, law, skin, shapes, forms, frames, planes, lists, space, found)
        press(pair, law, rough, dt, mass, frames, planes, lists, keep, found, count, wrenches[p])
        if rough and keep:
            begin = span[FIRST_POINT]
            lost = _forget(begin, begin + span[POINTS_A] + span[POINTS_B], lists.points_known, lists.point_history)
            begin = span[FIRST_EDGE]
            lost += _forget(
                begin * _edges.PIECES, (begin + span[EDGES_A] + span[EDGES_B]) * _edges.PIECES, lists.edges_known,
                lists.edge_history,
            )  # fmt: skip
            wrenches[p, HEAT] += lost


@kernel
def list_contacts(
    pairs, spans, kinds, planes, table, materials, rough, dt, skin, most, shapes, forms, frames, mass, lists, owners,
    rows,
):  # fmt: skip
    """All contacts now: their number; pairs and numbers of as many as there is room for."""
    space = (
        np.empty(STACK, np.int64), np.empty(STACK), np.empty((SCRATCH, WIDTH)), np.empty((MOST_CROSSINGS, 2)),
        np.empty((_edges.ENDS, _edges.END)), np.empty((_edges.PIECES, _edges.PIECE)),
    )  # fmt: skip
    found, wrench, total = np.empty((most, CONTACT)), np.empty(WRENCH), 0
    for p in range(len(pairs)):
        law = law_for(pairs[p], kinds, planes, table, materials)
        count = find_contacts(pairs[p], spans[p], law, skin, shapes, forms, frames, planes, lists, space, found)
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
