"""Frames of bodies and obstacles, rows of `_obstacles` poses: from one to the other, and to space."""

import math

from impinge._jit import part
from impinge.bodies._obstacles import SHIFT, SPEED, SPIN


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
def velocity(frames, f, x, y, z):
    """Of the point of a body at a place."""
    x, y, z = x - frames[f, SHIFT], y - frames[f, SHIFT + 1], z - frames[f, SHIFT + 2]
    wx, wy, wz = frames[f, SPIN], frames[f, SPIN + 1], frames[f, SPIN + 2]
    return (
        frames[f, SPEED] + wy * z - wz * y,
        frames[f, SPEED + 1] + wz * x - wx * z,
        frames[f, SPEED + 2] + wx * y - wy * x,
    )


@part
def moved(seen, e, k, x, y, z):
    """How far a place is from the one in columns k to k + 2."""
    x, y, z = x - seen[e, k], y - seen[e, k + 1], z - seen[e, k + 2]
    return math.sqrt(x * x + y * y + z * z)
