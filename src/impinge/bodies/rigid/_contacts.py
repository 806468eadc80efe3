"""Rows of contacts: of points with the energy ½ k δ², and of pieces of edges, over which it is integrated."""

import math

from impinge._jit import part
from impinge.bodies.rigid._frames import place, turn
from impinge.bodies.rigid._layout import DEPTH, ELASTIC, ENERGY, HISTORY, PLACE, PUSH, STIFF


@part
def write_row(found, count, x, y, z, nx, ny, nz, depth, stiffness, elastic, energy, history):
    """One more contact; returns how many there are."""
    found[count, PLACE], found[count, PLACE + 1], found[count, PLACE + 2] = x, y, z
    found[count, PUSH], found[count, PUSH + 1], found[count, PUSH + 2] = nx, ny, nz
    found[count, DEPTH], found[count, STIFF], found[count, ELASTIC] = depth, stiffness, elastic
    found[count, ENERGY], found[count, HISTORY] = energy, history
    return count + 1


@part
def write(found, count, x, y, z, nx, ny, nz, depth, stiffness, history):
    """One more contact of a point."""
    return write_row(
        found, count, x, y, z, nx, ny, nz, depth, stiffness, stiffness * depth, 0.5 * stiffness * depth * depth, history
    )


@part
def write_piece(found, count, px, py, pz, dx, dy, dz, a, b, u, v, nx, ny, nz, per_length, history):
    """One more contact, of an edge p + t d from t = a with the depth u to t = b with the depth v."""
    stiffness = per_length * (b - a) * math.sqrt(dx * dx + dy * dy + dz * dz)
    t = a + (b - a) * (u + 2.0 * v) / (3.0 * (u + v))
    return write_row(
        found, count, px + t * dx, py + t * dy, pz + t * dz, nx, ny, nz, max(u, v), stiffness,
        0.5 * stiffness * (u + v), stiffness * (u * u + u * v + v * v) / 6.0, history,
    )  # fmt: skip


@part
def write_pieces(frames, f, sign, px, py, pz, dx, dy, dz, pieces, number, per_length, first, found, count):
    """Contacts of the pieces of an edge p + t d in frame f; sign : 1 where its body is the first, else −1."""
    if number == 0:
        return count
    px, py, pz = place(frames, f, px, py, pz)
    dx, dy, dz = turn(frames, f, dx, dy, dz)
    for k in range(number):
        a, b, u, v = pieces[k, 0], pieces[k, 1], pieces[k, 2], pieces[k, 3]
        if u + v > 0.0:
            nx, ny, nz = turn(frames, f, sign * pieces[k, 4], sign * pieces[k, 5], sign * pieces[k, 6])
            count = write_piece(
                found, count, px, py, pz, dx, dy, dz, a, b, u, v, nx, ny, nz, per_length, -1.0 - (first + k)
            )
    return count
