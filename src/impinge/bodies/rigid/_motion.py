"""Motion of rigid bodies: a kick by forces, then free flight and free rotation.

    p(n + ½) = p(n − ½) + F(n) dt,    x(n + 1) = x(n) + p(n + ½) / m dt
    L(n + ½) = L(n − ½) + T(n) dt,    R(n + 1) = free rotation with L(n + ½) over dt

Angular momentum is kept in space, so that without torque it does not change by a bit. Free rotation is split into turns
about the principal axes, H = Σ L_k² / 2 I_k, each of which is exact [Dullweber1997]; Yoshida's composition of the
symmetric sequence is of fourth order [Yoshida1990]. The whole is symplectic, of second order where there are forces.

Rows: place (centre of mass), pose (unit quaternion w, x, y, z from principal axes to space), late (velocity, angular
momentum half a step before), now (velocity, spin at the time of the places, as dampers and friction see them).
"""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel, part
from impinge.bodies._obstacles import SHIFT, SPEED

_OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
_STAGES = (_OUTER, 1.0 - 2.0 * _OUTER, _OUTER)


@exact
def axes_of(w, x, y, z):
    """The rotation matrix of a unit quaternion, nine numbers by rows."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@exact
def spin_of(w, x, y, z, lx, ly, lz, ix, iy, iz):
    """Spin in space of a body with angular momentum l in space: R I⁻¹ Rᵀ l."""
    a, b, c, d, e, f, g, h, i = axes_of(w, x, y, z)
    px, py, pz = (a * lx + d * ly + g * lz) / ix, (b * lx + e * ly + h * lz) / iy, (c * lx + f * ly + i * lz) / iz
    return a * px + b * py + c * pz, d * px + e * py + f * pz, g * px + h * py + i * pz


@exact
def _about_x(w, x, y, z, px, py, pz, angle):
    """A turn about the body's x axis, of the pose and of the momentum p that the body sees."""
    c, s = math.cos(angle), math.sin(angle)
    py, pz = c * py + s * pz, c * pz - s * py
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y, px, py, pz


@exact
def _about_y(w, x, y, z, px, py, pz, angle):
    w, y, z, x, py, pz, px = _about_x(w, y, z, x, py, pz, px, angle)
    return w, x, y, z, px, py, pz


@exact
def _about_z(w, x, y, z, px, py, pz, angle):
    w, z, x, y, pz, px, py = _about_x(w, z, x, y, pz, px, py, angle)
    return w, x, y, z, px, py, pz


@exact
def rotate(w, x, y, z, lx, ly, lz, ix, iy, iz, dt):
    """The pose after free rotation for some time, with angular momentum l in space."""
    a, b, c, d, e, f, g, h, i = axes_of(w, x, y, z)
    px, py, pz = a * lx + d * ly + g * lz, b * lx + e * ly + h * lz, c * lx + f * ly + i * lz
    for stage in _STAGES:
        t = stage * dt
        w, x, y, z, px, py, pz = _about_x(w, x, y, z, px, py, pz, 0.5 * t * px / ix)
        w, x, y, z, px, py, pz = _about_y(w, x, y, z, px, py, pz, 0.5 * t * py / iy)
        w, x, y, z, px, py, pz = _about_z(w, x, y, z, px, py, pz, t * pz / iz)
        w, x, y, z, px, py, pz = _about_y(w, x, y, z, px, py, pz, 0.5 * t * py / iy)
        w, x, y, z, px, py, pz = _about_x(w, x, y, z, px, py, pz, 0.5 * t * px / ix)
    per = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * per, x * per, y * per, z * per


@kernel
def matrices(poses):
    """(n, 3, 3) rotations of unit quaternions (n, 4)."""
    found = np.empty((len(poses), 3, 3))
    for i in range(len(poses)):
        a, b, c, d, e, f, g, h, j = axes_of(poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3])
        found[i, 0, 0], found[i, 0, 1], found[i, 0, 2] = a, b, c
        found[i, 1, 0], found[i, 1, 1], found[i, 1, 2] = d, e, f
        found[i, 2, 0], found[i, 2, 1], found[i, 2, 2] = g, h, j
    return found


@part
def _spin(pose, i, lx, ly, lz, inertia):
    return spin_of(
        pose[i, 0], pose[i, 1], pose[i, 2], pose[i, 3], lx, ly, lz, inertia[i, 0], inertia[i, 1], inertia[i, 2]
    )


@parallel(grain=256)
def write_frames(first, stop, place, pose, now, frames):
    """Rows of `_obstacles` poses of bodies."""
    for i in range(first, stop):
        a, b, c, d, e, f, g, h, j = axes_of(pose[i, 0], pose[i, 1], pose[i, 2], pose[i, 3])
        frames[i, 0], frames[i, 1], frames[i, 2] = a, b, c
        frames[i, 3], frames[i, 4], frames[i, 5] = d, e, f
        frames[i, 6], frames[i, 7], frames[i, 8] = g, h, j
        for k in range(3):
            frames[i, SHIFT + k] = place[i, k]
        for k in range(6):
            frames[i, SPEED + k] = now[i, k]


@parallel(grain=64)
def move_bodies(first, stop, place, pose, late, now, mass, inertia, forces, gravity, dt, half):
    """One step; forces : (n, 6), force and torque about the centre of mass; half : see `now`, ½ dt or 0."""
    for i in range(first, stop):
        per = 1.0 / mass[i]
        ax, ay, az = forces[i, 0] * per + gravity[0], forces[i, 1] * per + gravity[1], forces[i, 2] * per + gravity[2]
        tx, ty, tz = forces[i, 3], forces[i, 4], forces[i, 5]
        vx, vy, vz = late[i, 0] + ax * dt, late[i, 1] + ay * dt, late[i, 2] + az * dt
        lx, ly, lz = late[i, 3] + tx * dt, late[i, 4] + ty * dt, late[i, 5] + tz * dt
        late[i, 0], late[i, 1], late[i, 2], late[i, 3], late[i, 4], late[i, 5] = vx, vy, vz, lx, ly, lz
        place[i, 0] += vx * dt
        place[i, 1] += vy * dt
        place[i, 2] += vz * dt
        pose[i, 0], pose[i, 1], pose[i, 2], pose[i, 3] = rotate(
            pose[i, 0], pose[i, 1], pose[i, 2], pose[i, 3], lx, ly, lz, inertia[i, 0], inertia[i, 1], inertia[i, 2], dt
        )
        now[i, 0], now[i, 1], now[i, 2] = vx + ax * half, vy + ay * half, vz + az * half
        now[i, 3], now[i, 4], now[i, 5] = _spin(pose, i, lx + tx * half, ly + ty * half, lz + tz * half, inertia)


@kernel
def add_ways(late, inertia, reaches, walls, dt, turning, ways):
    """Add how far any point of each body comes in a step, at most, and in the last place all that is no body.

    reaches : how far points are from the centre of mass; walls : speed of the fastest that is no body; turning : place
    for the speed of the fastest point of each body about its centre. Returns the greatest speed, infinite where one is
    no number.
    """
    fastest = walls
    for i in range(len(late)):
        least = min(inertia[i, 0], min(inertia[i, 1], inertia[i, 2]))
        turning[i] = reaches[i] * math.sqrt(late[i, 3] ** 2 + late[i, 4] ** 2 + late[i, 5] ** 2) / least
        speed = math.sqrt(late[i, 0] ** 2 + late[i, 1] ** 2 + late[i, 2] ** 2) + turning[i]
        ways[i] += speed * dt
        fastest = max(fastest, speed) if speed < math.inf else math.inf
    ways[len(late)] += walls * dt
    return fastest
