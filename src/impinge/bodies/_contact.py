"""One contact of a sphere with something else: force, torque, energies, and what it remembers.

`meet` is a function of numbers: arrays are read and written by `recall` and `remember`, which are one straight line of
code each, because functions with arrays and branches count references, which costs more than the contact.
"""

import math

from impinge._jit import part
from impinge.response._laws import (
    BETA,
    COHESION,
    DAMPING,
    FRICTION,
    KIND,
    PLASTIC,
    PULL,
    ROLLING,
    STIFFNESS,
    TANGENTIAL,
    TANGENTIAL_DAMPING,
    UNLOADING,
    normal_energy,
    normal_force,
    slide,
)  # fmt: skip

# Columns of a contact's history: tangential spring, rolling spring, deepest overlap, energy stored in all springs but
# that of the normal direction, unless it is plastic.
SPRING, ROLL, DEEPEST, STORED = 0, 3, 6, 7
HISTORY = 8
NEW = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.nan)  # of a contact that begins


@part
def law_of(table, a, b, materials):
    """The law of two materials, a tuple of numbers."""
    k = a * materials + b
    return (
        table[k, 0], table[k, 1], table[k, 2], table[k, 3], table[k, 4], table[k, 5], table[k, 6], table[k, 7],
        table[k, 8], table[k, 9], table[k, 10],
    )  # fmt: skip


@part
def recall_spring(history, k, stiffness):
    """What contact k remembers where that is no more than its tangential spring, of this stiffness."""
    x, y, z = history[k, 0], history[k, 1], history[k, 2]
    return x, y, z, 0.0, 0.0, 0.0, 0.0, 0.5 * stiffness * (x * x + y * y + z * z)


@part
def recall(history, k):
    """What contact k remembers, a tuple."""
    return (
        history[k, 0], history[k, 1], history[k, 2], history[k, 3], history[k, 4], history[k, 5], history[k, 6],
        history[k, 7],
    )  # fmt: skip


@part
def remember(history, k, memory):
    """Keep what contact k remembers."""
    history[k, 0], history[k, 1], history[k, 2], history[k, 3] = memory[0], memory[1], memory[2], memory[3]
    history[k, 4], history[k, 5], history[k, 6], history[k, 7] = memory[4], memory[5], memory[6], memory[7]


@part
def meet(law, rough, dt, nx, ny, nz, depth, radius, mass, vx, vy, vz, wx, wy, wz, qx, qy, qz, arm, memory):
    """Force and torque on a body at a contact, energy lost there in a step, energy stored, and its memory.

    n : from the other body to this one; radius, mass : of the pair, a b / (a + b); v : velocity relative to the
    other's; w : sum of the spins, each times its lever arm; q : spin relative to the other's; arm : this body's lever,
    from its centre to the contact point; memory : as of the last step.
    """
    rate = -(vx * nx + vy * ny + vz * nz)
    elastic, coefficient, reference, deepest = normal_force(
        law[KIND], law[STIFFNESS], law[DAMPING], law[BETA], law[UNLOADING], law[PULL], depth, radius, mass,
        memory[DEEPEST],
    )  # fmt: skip
    energy = normal_energy(law[KIND], law[STIFFNESS], law[UNLOADING], law[PULL], law[COHESION], depth, radius, deepest)
    press = elastic + coefficient * rate
    f = press - 2.0 * math.pi * law[COHESION] * radius
    fx, fy, fz = f * nx, f * ny, f * nz
    lost = coefficient * rate * rate * dt
    if not rough:
        return fx, fy, fz, 0.0, 0.0, 0.0, lost, energy, memory
    stored = 0.0
    if law[KIND] == PLASTIC:  # what is put in, and further down what can be got back is taken off
        lost += (f - coefficient * rate) * rate * dt
        stored = energy
    press = max(press, 0.0)
    # The surfaces pass each other with v − w × n, less the part along n.
    tx = vx - (wy * nz - wz * ny) + rate * nx
    ty = vy - (wz * nx - wx * nz) + rate * ny
    tz = vz - (wx * ny - wy * nx) + rate * nz
    stiffness, damping, half = law[TANGENTIAL] * reference, law[TANGENTIAL_DAMPING] * coefficient, 0.5 * dt
    gx, gy, gz, sx, sy, sz = slide(
        memory[0], memory[1], memory[2], nx, ny, nz, tx, ty, tz, stiffness, damping, law[FRICTION] * press, dt
    )
    fx, fy, fz = fx + gx, fy + gy, fz + gz
    mx, my, mz = -arm * (ny * gz - nz * gy), -arm * (nz * gx - nx * gz), -arm * (nx * gy - ny * gx)
    lost -= (gx * tx + gy * ty + gz * tz) * dt
    energy += 0.5 * stiffness * (sx * sx + sy * sy + sz * sz)
    sx, sy, sz = sx + half * tx, sy + half * ty, sz + half * tz
    stored += 0.5 * stiffness * (sx * sx + sy * sy + sz * sz)
    rx, ry, rz = 0.0, 0.0, 0.0
    if law[ROLLING] > 0.0:  # [Luding2008] 2.3.2
        tx, ty, tz = radius * (ny * qz - nz * qy), radius * (nz * qx - nx * qz), radius * (nx * qy - ny * qx)
        gx, gy, gz, rx, ry, rz = slide(
            memory[3], memory[4], memory[5], nx, ny, nz, tx, ty, tz, stiffness, damping, law[ROLLING] * press, dt
        )
        # The work of this torque at the relative spin is that of the force g at the rolling velocity t.
        mx += radius * (gy * nz - gz * ny)
        my += radius * (gz * nx - gx * nz)
        mz += radius * (gx * ny - gy * nx)
        lost -= (gx * tx + gy * ty + gz * tz) * dt
        energy += 0.5 * stiffness * (rx * rx + ry * ry + rz * rz)
        rx, ry, rz = rx + half * tx, ry + half * ty, rz + half * tz
        stored += 0.5 * stiffness * (rx * rx + ry * ry + rz * rz)
    before = memory[STORED]
    if before != before:  # it begins; what is too deep for one step was there before, with all its energy
        before = stored if depth > 2.0 * abs(rate) * dt else 0.0
    lost -= stored - before
    return fx, fy, fz, mx, my, mz, lost, energy, (sx, sy, sz, rx, ry, rz, deepest, stored)
