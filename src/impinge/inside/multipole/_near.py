"""Near field of the multipole method: solid angles of the triangles of single leaves, seen from single points.

Σ_k Ω_k / 2 = arg Π_k (den_k + i num_k) + 2π wraps   (`_direct` has the formula of num and den)

LANES products run beside each other, one triangle each, and are multiplied together in the end. Coordinates are those
of the leaf: the middle of its box is the origin, its side 1, so that single precision is enough for most.
A pair (point, triangle) so near each other that rounding would matter is left out here, and settled exactly after it.
"""

import math

import numpy as np

from impinge._jit import kernel, lowest_bit, part
from impinge._lanes import LANES, bits, choose, larger, load, spread, sqrt, total
from impinge.exact._triangles import point_in_triangle
from impinge.inside._direct import solid_angle

PERIOD = 4  # factors of a product before it is brought back to length 1
# arctan(t) / 2πt as a polynomial in t², highest power first, up to t = tan(π/8), fitted to 4e-15
TAN = math.tan(math.pi / 8)
ARCTANGENT = (
    0.004886419998932204,
    -0.009353924054837036,
    0.01203922541826068,
    -0.014448886905766149,
    0.017682741291909172,
    -0.022736383091155436,
    0.031830988003052715,
    -0.05305164769338277,
    0.15915494309189127,
)
CHUNK = 9 * LANES  # numbers of LANES triangles: nine rows, x, y, z of the three corners


@part
def factor(chunks, at, px, py, pz):
    """(num, den, u + v + w) of LANES triangles seen from a point."""
    row = np.uint64(LANES)
    ux, uy, uz = load(chunks, at) - px, load(chunks, at + row) - py, load(chunks, at + row + row) - pz
    at += row + row + row
    vx, vy, vz = load(chunks, at) - px, load(chunks, at + row) - py, load(chunks, at + row + row) - pz
    at += row + row + row
    wx, wy, wz = load(chunks, at) - px, load(chunks, at + row) - py, load(chunks, at + row + row) - pz
    u = sqrt(ux * ux + uy * uy + uz * uz)
    v = sqrt(vx * vx + vy * vy + vz * vz)
    w = sqrt(wx * wx + wy * wy + wz * wz)
    num = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    den = u * v * w + (ux * vx + uy * vy + uz * vz) * w
    den = den + (ux * wx + uy * wy + uz * wz) * v + (vx * wx + vy * wy + vz * wz) * u
    return num, den, u + v + w


@part
def start_products(like):
    """Products are 1: real and imaginary parts, and how often they wrapped around."""
    return spread(like, 1.0), spread(like, 0.0), spread(like, 0.0)


@part
def multiply(chunks, chunk, px, py, pz, noise, re, im, wraps):
    """Multiply the factors of a chunk of triangles into the products of a point; also bits of pairs left out.

    These are pairs where rounding may turn the factor too far, or so small that products may vanish. Corners about 1
    away are known to `noise` times the angle allowed, those further away less well.
    """
    num, den, length = factor(chunks, np.uint64(chunk * CHUNK), px, py, pz)
    unclear = larger(abs(num), den) <= noise * (length * length * (1.0 + length) + 2.0**-8)
    den, num = choose(unclear, 1.0, den), choose(unclear, 0.0, num)
    new = re * num + im * den
    up, down = (num >= 0.0) & (im >= 0.0) & (new < 0.0), (num < 0.0) & (im < 0.0) & (new >= 0.0)
    wraps = wraps + choose(up, 1.0, num * 0.0) - choose(down, 1.0, num * 0.0)
    return re * den - im * num, new, wraps, bits(unclear)


@part
def shorten(re, im):
    """Products of length 1."""
    per = 1.0 / (abs(re) + abs(im))
    return re * per, im * per


@part
def _turns(re, im):
    """Angles, in turns from −1/2 to 1/2; −0 is in the upper half plane, as for the wraps."""
    a, b = abs(re), abs(im)
    large, small = larger(a, b), choose(a < b, a, b)
    steep = small > large * TAN  # arctan q = π/4 + arctan((q − 1) / (q + 1))
    t = choose(steep, small - large, small) / choose(steep, small + large, large)
    square = t * t
    series = square * 0.0
    for coefficient in ARCTANGENT:
        series = series * square + coefficient
    angle = choose(steep, t * series + 0.125, t * series)
    angle = choose(b > a, 0.25 - angle, angle)
    angle = choose(re < 0.0, 0.5 - angle, angle)
    return choose(im < 0.0, 0.0 - angle, angle)


@part
def finish_products(re, im, wraps):
    """J from the products of all lanes."""
    return np.float64(total(wraps + _turns(re, im)))


@kernel
def settle(x, y, z, unclear, begin, end, corners):
    """What the unclear pairs of a point and a chunk give to J, exactly decided; and whether the point is on a triangle.

    (x, y, z) is the point as given; the chunk has triangles begin to end.
    """
    total, on_surface = 0.0, False
    while unclear != 0:
        k = begin + lowest_bit(unclear)
        unclear &= unclear - np.uint64(1)
        if k < end:
            t = corners[k]
            if point_in_triangle(x, y, z, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]):
                on_surface = True  # and gives nothing
            else:
                total += solid_angle(x, y, z, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8])
    return total / (4.0 * math.pi), on_surface
