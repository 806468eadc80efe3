"""Near field of the multipole method: solid angles of the triangles of single leaves, seen from single points.

Σ_k Ω_k / 2 = arg Π_k (den_k + i num_k) + 2π wraps   (`_direct` has the formula of num and den)

LANES products run beside each other, one triangle each, and are multiplied together in the end. Coordinates are those
of the leaf: the middle of its box is the origin, its side 1, so that single precision is enough for most.
A pair (point, triangle) so near each other that rounding would matter is left out here, and settled exactly after it.
"""

import math

import numpy as np

from impinge._jit import LANES, kernel, part
from impinge.exact._triangles import point_in_triangle
from impinge.inside._direct import solid_angle

PERIOD = 4  # factors of a product before it is brought back to length 1
IM, WRAPS = np.uint64(LANES), np.uint64(2 * LANES)
CHUNK = 9 * LANES  # numbers of LANES triangles: nine rows, x, y, z of the three corners


@part
def factor(chunks, at, px, py, pz):
    """(num, den, u + v + w) of a triangle seen from a point."""
    ux, uy, uz = chunks[at] - px, chunks[at + np.uint64(LANES)] - py, chunks[at + np.uint64(2 * LANES)] - pz
    at += np.uint64(3 * LANES)
    vx, vy, vz = chunks[at] - px, chunks[at + np.uint64(LANES)] - py, chunks[at + np.uint64(2 * LANES)] - pz
    at += np.uint64(3 * LANES)
    wx, wy, wz = chunks[at] - px, chunks[at + np.uint64(LANES)] - py, chunks[at + np.uint64(2 * LANES)] - pz
    u = math.sqrt(ux * ux + uy * uy + uz * uz)
    v = math.sqrt(vx * vx + vy * vy + vz * vz)
    w = math.sqrt(wx * wx + wy * wy + wz * wz)
    num = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    den = u * v * w + (ux * vx + uy * vy + uz * vz) * w
    den = den + (ux * wx + uy * wy + uz * wz) * v + (vx * wx + vy * wy + vz * wz) * u
    return num, den, u + v + w


@part
def is_unclear(num, den, length, one, noise):
    """Whether rounding may turn the factor too far, or it is so small that products may vanish.

    Corners about 1 away are known to `noise` times the angle allowed, those further away less well.
    """
    return max(abs(num), den) <= noise * (length * length * (one + length) + one * np.float32(2.0**-8))


@part
def start_products(s, one, zero):
    """Products are 1: real and imaginary parts, and how often they wrapped around, LANES each."""
    for k in range(np.uint64(LANES)):
        s[k], s[k + IM], s[k + WRAPS] = one, zero, zero


@part
def multiply(chunks, chunk, px, py, pz, s, one, zero, noise):
    """Multiply the factors of a chunk of triangles into the products of a point; not 0 if some pairs were left out."""
    doubt = np.int32(0)
    begin = np.uint64(chunk * CHUNK)
    for k in range(np.uint64(LANES)):
        num, den, length = factor(chunks, begin + k, px, py, pz)
        unclear = is_unclear(num, den, length, one, noise)
        doubt |= np.int32(unclear)
        num = zero if unclear else num
        den = one if unclear else den
        re, im = s[k], s[k + IM]
        new = re * num + im * den
        up = one if (num >= zero) & (im >= zero) & (new < zero) else zero
        down = one if (num < zero) & (im < zero) & (new >= zero) else zero
        s[k], s[k + IM] = re * den - im * num, new
        s[k + WRAPS] += up - down
    return doubt


@part
def shorten(s, one):
    """Bring the products back to length 1."""
    for k in range(np.uint64(LANES)):
        per = one / (abs(s[k]) + abs(s[k + IM]))
        s[k] *= per
        s[k + IM] *= per


@part
def _fold(s, half, one, zero):
    """Multiply the lanes from `half` on into those before."""
    for k in range(np.uint64(half)):
        j = k + np.uint64(half)
        re, im, c, d = s[k], s[k + IM], s[j], s[j + IM]
        new = re * d + im * c
        up = one if (d >= zero) & (im >= zero) & (new < zero) else zero
        down = one if (d < zero) & (im < zero) & (new >= zero) else zero
        s[k], s[k + IM] = re * c - im * d, new
        s[k + WRAPS] += s[j + WRAPS] + (up - down)


@part
def finish_products(s, one, zero):
    """J from the products of all lanes."""
    shorten(s, one)
    _fold(s, 8, one, zero)
    _fold(s, 4, one, zero)
    _fold(s, 2, one, zero)
    _fold(s, 1, one, zero)
    # + 0.0: the wraps count −0 as the upper half plane, atan2 as the lower
    return s[WRAPS] + math.atan2(np.float64(s[IM]) + 0.0, np.float64(s[0])) / (2.0 * math.pi)


@kernel
def settle(x, y, z, px, py, pz, chunks, chunk, begin, end, corners, one, noise):
    """What the unclear pairs of a point and a chunk give to J, exactly decided; and whether the point is on a triangle.

    (x, y, z) is the point as given, (px, py, pz) in the coordinates of the chunk, which has triangles begin to end.
    """
    total, on_surface = 0.0, False
    for k in range(end - begin):
        num, den, length = factor(chunks, np.uint64(chunk * CHUNK + k), px, py, pz)
        if is_unclear(num, den, length, one, noise):
            t = corners[begin + k]
            if point_in_triangle(x, y, z, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]):
                on_surface = True  # and gives nothing
            else:
                total += solid_angle(x, y, z, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8])
    return total / (4.0 * math.pi), on_surface
