"""All contacts at this moment, with their forces and energies; nothing is changed."""

import math

import numpy as np

from impinge._jit import kernel, part
from impinge.bodies import _obstacles
from impinge.bodies._contact import NEW, law_of, meet, recall, recall_spring
from impinge.bodies._planes import MADE_OF, NORMAL, SPEED
from impinge.broad._near import shorter

# Columns of a contact: point, normal (towards the first), depth, force on the first, energy stored, couple on it.
POINT, TOWARDS, DEPTH, FORCE, ENERGY, COUPLE = 0, 3, 6, 7, 10, 11
CONTACT = 14


@part
def _write(contacts, count, px, py, pz, nx, ny, nz, depth, fx, fy, fz, energy, tx, ty, tz, arm):
    """Write a contact; the couple of rolling resistance is what the torque t has besides that of the force."""
    contacts[count, 0], contacts[count, 1], contacts[count, 2] = px, py, pz
    contacts[count, 3], contacts[count, 4], contacts[count, 5], contacts[count, 6] = nx, ny, nz, depth
    contacts[count, 7], contacts[count, 8], contacts[count, 9], contacts[count, 10] = fx, fy, fz, energy
    contacts[count, 11] = tx + arm * (ny * fz - nz * fy)
    contacts[count, 12] = ty + arm * (nz * fx - nx * fz)
    contacts[count, 13] = tz + arm * (nx * fy - ny * fx)


@kernel
def list_pairs(
    x, u, q, mass, ids, kinds, materials, table, rough, dt, period, starts, partners, known, history, numbers, contacts
):
    """Contacts of spheres with each other, from the lower number to the higher; returns how many there are.

    numbers : rows of both spheres; contacts : as many rows as there is room for.
    """
    count = 0
    for i in range(len(x)):
        for k in range(starts[i], starts[i + 1]):
            j = partners[k]
            if ids[i] > ids[j]:
                continue
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            dx, dy, dz = shorter(dx, period[0]), shorter(dy, period[1]), shorter(dz, period[2])
            reach, distance = x[i, 3] + x[j, 3], math.sqrt(dx * dx + dy * dy + dz * dz)
            if distance >= reach:
                continue
            if count >= len(contacts):
                count += 1
                continue
            per = 1.0 / distance if distance > 0.0 else 0.0  # two in one place push each other nowhere
            nx, ny, nz, depth = dx * per, dy * per, dz * per, reach - distance
            one, other = x[i, 3] - 0.5 * depth, x[j, 3] - 0.5 * depth
            law, memory = law_of(table, kinds[i], kinds[j], materials), NEW
            if rough and known[k]:
                memory = recall(history, k) if history.shape[1] > 3 else recall_spring(history, k, 0.0)
            fx, fy, fz, tx, ty, tz, _, energy, _ = meet(
                law, rough, dt, nx, ny, nz, depth, x[i, 3] * x[j, 3] / reach, mass[i] * mass[j] / (mass[i] + mass[j]),
                u[i, 0] - u[j, 0], u[i, 1] - u[j, 1], u[i, 2] - u[j, 2], one * q[i, 0] + other * q[j, 0],
                one * q[i, 1] + other * q[j, 1], one * q[i, 2] + other * q[j, 2], q[i, 0] - q[j, 0],
                q[i, 1] - q[j, 1], q[i, 2] - q[j, 2], one, memory,
            )  # fmt: skip
            numbers[count, 0], numbers[count, 1] = i, j
            _write(
                contacts, count, x[i, 0] - one * nx, x[i, 1] - one * ny, x[i, 2] - one * nz, nx, ny, nz, depth, fx, fy,
                fz, energy, tx, ty, tz, one,
            )  # fmt: skip
            count += 1
    return count


@kernel
def list_planes(
    x, u, q, mass, kinds, materials, table, rough, dt, planes, starts, walls, known, history, numbers, contacts
):
    """Contacts of spheres with planes; numbers : row of the sphere, and the plane."""
    count = 0
    for i in range(len(x)):
        for k in range(starts[i], starts[i + 1]):
            p = walls[k]
            nx, ny, nz = planes[p, NORMAL], planes[p, NORMAL + 1], planes[p, NORMAL + 2]
            distance = (x[i, 0] - planes[p, 0]) * nx + (x[i, 1] - planes[p, 1]) * ny + (x[i, 2] - planes[p, 2]) * nz
            if distance >= x[i, 3]:
                continue
            other = np.int64(planes[p, MADE_OF])
            memory = NEW
            if rough and known[k]:
                memory = recall(history, k)
            fx, fy, fz, tx, ty, tz, _, energy, _ = meet(
                law_of(table, kinds[i], other if other >= 0 else kinds[i], materials), rough, dt, nx, ny, nz,
                x[i, 3] - distance, x[i, 3], mass[i], u[i, 0] - planes[p, SPEED], u[i, 1] - planes[p, SPEED + 1],
                u[i, 2] - planes[p, SPEED + 2], distance * q[i, 0], distance * q[i, 1], distance * q[i, 2], q[i, 0],
                q[i, 1], q[i, 2], distance, memory,
            )  # fmt: skip
            numbers[count, 0], numbers[count, 1] = i, p
            _write(
                contacts, count, x[i, 0] - distance * nx, x[i, 1] - distance * ny, x[i, 2] - distance * nz, nx, ny, nz,
                x[i, 3] - distance, fx, fy, fz, energy, tx, ty, tz, distance,
            )  # fmt: skip
            count += 1
    return count


@kernel
def list_obstacles(
    x, u, q, mass, kinds, materials, table, rough, dt, near, surfaces, poses, known, history, numbers, contacts
):
    """Contacts of spheres with obstacles; numbers : row of the sphere, and the obstacle."""
    count = 0
    space, found = np.empty((near.most, _obstacles.WORK)), np.empty((_obstacles.MOST, _obstacles.COLUMNS))
    for i in range(len(x)):
        if near.starts[i] == near.starts[i + 1]:
            continue
        touching = _obstacles.touch(
            i, x, near.starts, near.patches, near.owners, near.triangle_starts, near.triangles, surfaces.corners,
            surfaces.borders, surfaces.planes, surfaces.tolerances, poses, known, history, False, space, found,
        )  # fmt: skip
        for c in range(touching):
            at = found[c]
            read = int(at[_obstacles.READ])
            o = near.owners[int(at[_obstacles.ENTRY])]
            other, reduced = np.int64(surfaces.materials[o]), mass[i] / (1.0 + mass[i] / surfaces.masses[o])
            nx, ny, nz = at[_obstacles.NORMAL], at[_obstacles.NORMAL + 1], at[_obstacles.NORMAL + 2]
            arm = x[i, 3] - at[_obstacles.DEPTH]
            memory = NEW
            if rough and read >= 0:
                memory = recall(history, read)
            fx, fy, fz, tx, ty, tz, _, energy, _ = meet(
                law_of(table, kinds[i], other if other >= 0 else kinds[i], materials), rough, dt, nx, ny, nz,
                at[_obstacles.DEPTH], x[i, 3], reduced, u[i, 0] - at[_obstacles.VELOCITY],
                u[i, 1] - at[_obstacles.VELOCITY + 1], u[i, 2] - at[_obstacles.VELOCITY + 2], arm * q[i, 0],
                arm * q[i, 1], arm * q[i, 2], q[i, 0] - poses[o, _obstacles.SPIN],
                q[i, 1] - poses[o, _obstacles.SPIN + 1], q[i, 2] - poses[o, _obstacles.SPIN + 2], arm, memory,
            )  # fmt: skip
            numbers[count, 0], numbers[count, 1] = i, o
            _write(
                contacts, count, at[_obstacles.POINT], at[_obstacles.POINT + 1], at[_obstacles.POINT + 2], nx, ny, nz,
                at[_obstacles.DEPTH], fx, fy, fz, energy, tx, ty, tz, arm,
            )  # fmt: skip
            count += 1
    return count
