"""Contacts of spheres with each other, for a block of spheres at a time.

Smooth spheres remember nothing and do not turn: each looks at all its partners. A contact of rough spheres costs so
much that it is computed once for both, by the one of lower permanent number.

Pairs that touch are found before anything is done about them, without a branch that depends on where spheres are: such
branches cannot be foreseen, and stop what comes after. Rough contacts are then met side by side, several in one
instruction.
"""

import math

import numpy as np

from impinge._jit import part, prefetch
from impinge.bodies._contact import NEW, STORED, law_of, meet, recall, recall_spring
from impinge.broad._near import shorter
from impinge.response._laws import COLUMNS, LINEAR, STIFFNESS, TANGENTIAL

# Columns of sums over the contacts of a sphere: force, torque, and after these energy lost, work of what is driven.
LOST, WORK = 6, 7
SUMS = 8
WIDE = 32  # rough contacts met side by side: what they need and give stays in the nearest cache
# Rows of what they need: difference of centres and its square; radii; masses; difference of velocities; spins; memory;
# law. Rows of what they give: force and torque on the sphere; torque on its partner; energy lost; memory.
WAY, RADII, MASSES, VELOCITY, SPINS, MEMORY, LAW = 0, 4, 6, 8, 11, 17, 25
GIVEN = LAW + COLUMNS
PARTNER, HEAT, KEPT = 6, 9, 10
FOUND = 18
# Spheres whose rows do not fit into the last cache; by how many spheres, contacts, entries data are fetched before they
# are needed.
MANY = 200_000
FAR_AHEAD, AHEAD, BACK_AHEAD = np.uint64(128), np.uint64(8), np.uint64(6)


@part
def add_smooth_pairs(
    first, last, x, x_new, v, u, mass, kinds, materials, table, damped, dt, period, around, starts, partners,
    hits, ways, sums,
):  # fmt: skip
    """Sum up the contacts of spheres that remember nothing and do not turn: each sphere looks at all its partners.

    Velocities and masses are read only where dampers are; x_new, v : not read, but fetched for the move that follows.
    """
    px, py, pz = period[0], period[1], period[2]
    flat_x, flat_new, flat_v = x.reshape(x.size), x_new.reshape(x.size), v.reshape(v.size)
    far, end = len(x) > MANY, np.uint64(len(x) - 1)
    count = np.uint64(0)
    for i in range(first, last):
        xi, yi, zi, ri = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
        if far:
            later = min(i + FAR_AHEAD, end)
            prefetch(flat_new, np.uint64(4) * later)
            prefetch(flat_v, np.uint64(3) * later)
            prefetch(flat_x, np.uint64(4) * later)
            prefetch(mass, later)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + np.uint64(1)])):
            j = np.uint64(partners[k])
            dx, dy, dz = xi - x[j, 0], yi - x[j, 1], zi - x[j, 2]
            if around:
                dx, dy, dz = shorter(dx, px), shorter(dy, py), shorter(dz, pz)
            reach = ri + x[j, 3]
            distance_sq = dx * dx + dy * dy + dz * dz
            hits[count, 0], hits[count, 1] = i, j
            ways[count, 0], ways[count, 1], ways[count, 2], ways[count, 3] = dx, dy, dz, distance_sq
            count += np.uint64((distance_sq < reach * reach) & (distance_sq > 0.0))
        s = i - first
        sums[s, 0], sums[s, 1], sums[s, 2], sums[s, 3], sums[s, 4], sums[s, 5] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        sums[s, LOST], sums[s, WORK] = 0.0, 0.0
    for hit in range(count):
        i, j = np.uint64(hits[hit, 0]), np.uint64(hits[hit, 1])
        distance = math.sqrt(ways[hit, 3])
        per, ri, rj = 1.0 / distance, x[i, 3], x[j, 3]
        one, other, reduced, vx, vy, vz = 0, 0, 0.0, 0.0, 0.0, 0.0
        if materials > 1:
            one, other = kinds[i], kinds[j]
        if damped:
            reduced = mass[i] * mass[j] / (mass[i] + mass[j])
            vx, vy, vz = u[i, 0] - u[j, 0], u[i, 1] - u[j, 1], u[i, 2] - u[j, 2]
        fx, fy, fz, _, _, _, heat, _, _ = meet(
            law_of(table, one, other, materials), False, dt, ways[hit, 0] * per, ways[hit, 1] * per,
            ways[hit, 2] * per, ri + rj - distance, ri * rj / (ri + rj), reduced, vx, vy, vz, 0.0, 0.0, 0.0, 0.0, 0.0,
            0.0, 0.0, NEW,
        )  # fmt: skip
        s = i - first
        sums[s, 0] += fx
        sums[s, 1] += fy
        sums[s, 2] += fz
        sums[s, LOST] += 0.5 * heat


@part
def find_touching(
    first, last, x, kinds, materials, table, period, around, starts, partners, known, history, keep, own, forces, hits,
    ways,
):  # fmt: skip
    """Listed pairs of rough spheres that touch: how many; hits : sphere and entry of each, ways : difference of centres
    and its square.
    """
    px, py, pz = period[0], period[1], period[2]
    slim, count = history.shape[1] == 3, np.uint64(0)
    for i in range(first, last):
        xi, yi, zi, ri, gone = x[i, 0], x[i, 1], x[i, 2], x[i, 3], 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + np.uint64(1)])):
            j = np.uint64(partners[k])
            dx, dy, dz = xi - x[j, 0], yi - x[j, 1], zi - x[j, 2]
            if around:
                dx, dy, dz = shorter(dx, px), shorter(dy, py), shorter(dz, pz)
            reach = ri + x[j, 3]
            distance_sq = dx * dx + dy * dy + dz * dz
            touching = (distance_sq < reach * reach) & (distance_sq > 0.0)
            hits[count, 0], hits[count, 1] = i, k
            ways[count, 0], ways[count, 1], ways[count, 2], ways[count, 3] = dx, dy, dz, distance_sq
            count += np.uint64(touching)
            forces[k, 0] = math.nan  # no contact, until it is met
            if keep & known[k] & (not touching):  # what its springs still held is lost
                known[k] = False
                if slim:
                    law = law_of(table, kinds[i], kinds[j], materials)
                    gone += recall_spring(history, k, law[TANGENTIAL] * law[STIFFNESS])[STORED]
                else:
                    gone += history[k, STORED]
        own[i, 0], own[i, 1], own[i, 2], own[i, 3], own[i, 4], own[i, 5] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        own[i, LOST] = gone
    return count


@part
def _read_law(given, at):
    return (
        given[LAW, at], given[LAW + 1, at], given[LAW + 2, at], given[LAW + 3, at], given[LAW + 4, at],
        given[LAW + 5, at], given[LAW + 6, at], given[LAW + 7, at], given[LAW + 8, at], given[LAW + 9, at],
        given[LAW + 10, at],
    )  # fmt: skip


@part
def _read_memory(given, at):
    return (
        given[MEMORY, at], given[MEMORY + 1, at], given[MEMORY + 2, at], given[MEMORY + 3, at], given[MEMORY + 4, at],
        given[MEMORY + 5, at], given[MEMORY + 6, at], given[MEMORY + 7, at],
    )  # fmt: skip


@part
def _copy_law(given, at, law):
    given[LAW, at], given[LAW + 1, at], given[LAW + 2, at], given[LAW + 3, at] = law[0], law[1], law[2], law[3]
    given[LAW + 4, at], given[LAW + 5, at], given[LAW + 6, at], given[LAW + 7, at] = law[4], law[5], law[6], law[7]
    given[LAW + 8, at], given[LAW + 9, at], given[LAW + 10, at] = law[8], law[9], law[10]


@part
def _copy_memory(given, at, memory):
    given[MEMORY, at], given[MEMORY + 1, at], given[MEMORY + 2, at] = memory[0], memory[1], memory[2]
    given[MEMORY + 3, at], given[MEMORY + 4, at], given[MEMORY + 5, at] = memory[3], memory[4], memory[5]
    given[MEMORY + 6, at], given[MEMORY + 7, at] = memory[6], memory[7]


@part
def _only_springs(law, memory):
    """Law and memory of contacts that are known to be linear, and not to resist rolling."""
    x, y, z = memory[0], memory[1], memory[2]
    stored = memory[STORED] + 0.5 * (law[TANGENTIAL] * law[STIFFNESS]) * (x * x + y * y + z * z)
    law = (LINEAR, law[1], law[2], law[3], law[4], law[5], law[6], 0.0, law[8], 1.0, 0.0)
    return law, (x, y, z, 0.0, 0.0, 0.0, 0.0, stored)


@part
def _meet_side_by_side(many, slim, dt, given, found):
    """Contacts, each in a column of what is given and of what is found.

    Nothing but arithmetic, so that the compiler makes one instruction do several contacts.
    """
    for at in range(many):
        distance = math.sqrt(given[WAY + 3, at])
        per, ri, rj = 1.0 / distance, given[RADII, at], given[RADII + 1, at]
        nx, ny, nz, depth = given[WAY, at] * per, given[WAY + 1, at] * per, given[WAY + 2, at] * per, ri + rj - distance
        mi, mj = given[MASSES, at], given[MASSES + 1, at]
        arm, other_arm = ri - 0.5 * depth, rj - 0.5 * depth
        ax, ay, az = given[SPINS, at], given[SPINS + 1, at], given[SPINS + 2, at]
        bx, by, bz = given[SPINS + 3, at], given[SPINS + 4, at], given[SPINS + 5, at]
        law, memory = _read_law(given, at), _read_memory(given, at)
        if slim:
            law, memory = _only_springs(law, memory)
        fx, fy, fz, tx, ty, tz, heat, _, memory = meet(
            law, True, dt, nx, ny, nz, depth, ri * rj / (ri + rj), mi * mj / (mi + mj), given[VELOCITY, at],
            given[VELOCITY + 1, at], given[VELOCITY + 2, at], arm * ax + other_arm * bx, arm * ay + other_arm * by,
            arm * az + other_arm * bz, ax - bx, ay - by, az - bz, arm, memory,
        )  # fmt: skip
        # The tangential force turns both the same way, rolling resistance does not.
        cx, cy, cz, both = ny * fz - nz * fy, nz * fx - nx * fz, nx * fy - ny * fx, arm + other_arm
        found[0, at], found[1, at], found[2, at], found[3, at], found[4, at], found[5, at] = fx, fy, fz, tx, ty, tz
        found[PARTNER, at] = -tx - both * cx
        found[PARTNER + 1, at] = -ty - both * cy
        found[PARTNER + 2, at] = -tz - both * cz
        found[HEAT, at] = heat
        found[KEPT, at], found[KEPT + 1, at], found[KEPT + 2, at] = memory[0], memory[1], memory[2]
        if not slim:
            found[KEPT + 3, at], found[KEPT + 4, at], found[KEPT + 5, at] = memory[3], memory[4], memory[5]
            found[KEPT + 6, at], found[KEPT + 7, at] = memory[6], memory[7]


@part
def meet_touching(
    count, hits, ways, x, u, q, mass, kinds, materials, table, dt, partners, known, history, keep, own, forces, given,
    found,
):  # fmt: skip
    """Contacts of spheres with partners of higher number: the sums of each sphere, and what to do to its partners.

    own : (n, SUMS); forces : force and torque on the partner, for every listed pair; given, found : work space. A
    history of three columns has the tangential springs only.
    """
    slim = history.shape[1] == 3
    flat_u, flat_q, flat_history = u.reshape(u.size), q.reshape(q.size), history.reshape(history.size)
    columns, end = np.uint64(history.shape[1]), max(count, np.uint64(1)) - np.uint64(1)
    if materials == 1:
        for at in range(WIDE):
            _copy_law(given, np.uint64(at), law_of(table, 0, 0, 1))
    for start in range(np.uint64(0), count, np.uint64(WIDE)):
        many = min(np.uint64(WIDE), count - start)
        for at in range(many):
            hit = start + at
            i, k = np.uint64(hits[hit, 0]), np.uint64(hits[hit, 1])
            j = np.uint64(partners[k])
            later = np.uint64(hits[min(hit + AHEAD, end), 1])
            prefetch(flat_history, columns * later)
            later = np.uint64(3) * np.uint64(partners[later])
            prefetch(flat_u, later)
            prefetch(flat_q, later)
            given[WAY, at], given[WAY + 1, at] = ways[hit, 0], ways[hit, 1]
            given[WAY + 2, at], given[WAY + 3, at] = ways[hit, 2], ways[hit, 3]
            given[RADII, at], given[RADII + 1, at] = x[i, 3], x[j, 3]
            given[MASSES, at], given[MASSES + 1, at] = mass[i], mass[j]
            given[VELOCITY, at] = u[i, 0] - u[j, 0]
            given[VELOCITY + 1, at] = u[i, 1] - u[j, 1]
            given[VELOCITY + 2, at] = u[i, 2] - u[j, 2]
            given[SPINS, at], given[SPINS + 1, at], given[SPINS + 2, at] = q[i, 0], q[i, 1], q[i, 2]
            given[SPINS + 3, at], given[SPINS + 4, at], given[SPINS + 5, at] = q[j, 0], q[j, 1], q[j, 2]
            if materials > 1:
                _copy_law(given, at, law_of(table, kinds[i], kinds[j], materials))
            if known[k] and slim:
                given[MEMORY, at], given[MEMORY + 1, at] = history[k, 0], history[k, 1]
                given[MEMORY + 2, at], given[MEMORY + STORED, at] = history[k, 2], 0.0
            elif known[k]:
                _copy_memory(given, at, recall(history, k))
            else:
                _copy_memory(given, at, NEW)
        if slim:
            _meet_side_by_side(many, True, dt, given, found)
        else:
            _meet_side_by_side(many, False, dt, given, found)
        for at in range(many):
            hit = start + at
            i, k = np.uint64(hits[hit, 0]), np.uint64(hits[hit, 1])
            if keep:
                known[k] = True
                history[k, 0], history[k, 1], history[k, 2] = found[KEPT, at], found[KEPT + 1, at], found[KEPT + 2, at]
                if not slim:
                    history[k, 3], history[k, 4], history[k, 5] = (
                        found[KEPT + 3, at],
                        found[KEPT + 4, at],
                        found[KEPT + 5, at],
                    )
                    history[k, 6], history[k, 7] = found[KEPT + 6, at], found[KEPT + 7, at]
            fx, fy, fz = found[0, at], found[1, at], found[2, at]
            own[i, 0] += fx
            own[i, 1] += fy
            own[i, 2] += fz
            own[i, 3] += found[3, at]
            own[i, 4] += found[4, at]
            own[i, 5] += found[5, at]
            own[i, LOST] += found[HEAT, at]
            forces[k, 0], forces[k, 1], forces[k, 2] = -fx, -fy, -fz
            forces[k, 3], forces[k, 4] = found[PARTNER, at], found[PARTNER + 1, at]
            forces[k, 5] = found[PARTNER + 2, at]


@part
def add_rough_pairs(first, last, own, forces, flat, back_starts, back, sums):
    """Add to what spheres have found themselves what partners of lower number have found for them.

    flat : the forces one after the other.
    """
    end = np.uint64(len(back) - 1)
    for i in range(first, last):
        fx, fy, fz, tx, ty, tz = own[i, 0], own[i, 1], own[i, 2], own[i, 3], own[i, 4], own[i, 5]
        for at in range(np.uint64(back_starts[i]), np.uint64(back_starts[i + np.uint64(1)])):
            k = np.uint64(back[at])
            prefetch(flat, np.uint64(6) * np.uint64(back[min(at + BACK_AHEAD, end)]))
            if forces[k, 0] == forces[k, 0]:
                fx, fy, fz = fx + forces[k, 0], fy + forces[k, 1], fz + forces[k, 2]
                tx, ty, tz = tx + forces[k, 3], ty + forces[k, 4], tz + forces[k, 5]
        s = i - first
        sums[s, 0], sums[s, 1], sums[s, 2], sums[s, 3], sums[s, 4], sums[s, 5] = fx, fy, fz, tx, ty, tz
        sums[s, LOST], sums[s, WORK] = own[i, LOST], 0.0
