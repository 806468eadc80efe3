"""Compiled loops of the direct sum: the solid angles of all triangles, seen from all points."""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.exact._orient import orient3d_sign
from impinge.exact._triangles import point_in_triangle

BLOCK = 128  # points that share one pass over the triangles; their state fits the first-level cache
FAR = 2.0**20  # in extents of the mesh: beyond it the dipole term is all that is left in double precision
CLEAR, NEAR, ON_SURFACE = 0, 1, 2

# A pair (point, triangle) leaves the fast path when the factor den + i num is smaller than NOISE |a||b||c|,
# that is when the point is so near the triangle that rounding (at most 40 u |a||b||c| in num and in den, u =
# 2^-53) could turn the factor by more than 40 * 2^-53 * 2^36 = 3e-4 of a radian or change the sign of num,
NOISE = 2.0**-36
# or when |a||b||c| is so small that eight factors of at least NOISE |a||b||c| could underflow.
SMALL = 2.0**-60


@exact
def _unit(x, y, z):
    """The direction of (x, y, z), for any length that is not zero."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return 0.0, 0.0, 0.0
    exponent = math.frexp(largest)[1]
    half = exponent // 2  # in two steps: 2^-exponent itself may overflow
    x = math.ldexp(math.ldexp(x, -half), half - exponent)
    y = math.ldexp(math.ldexp(y, -half), half - exponent)
    z = math.ldexp(math.ldexp(z, -half), half - exponent)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@exact
def half_angle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """(num, den) with Ω = 2 atan2(num, den), from unit vectors, so that no scale matters.

    num = a·(b×c), den = 1 + a·b + a·c + b·c, with a, b, c the directions of the vertices seen from p.
    """
    # A quarter: the difference of two finite numbers may overflow; but a quarter of a denormal one may be rounded.
    f = 0.25 if max(abs(px), abs(py), abs(pz)) > 1.0 else 1.0
    ux, uy, uz = _unit(f * ax - f * px, f * ay - f * py, f * az - f * pz)
    vx, vy, vz = _unit(f * bx - f * px, f * by - f * py, f * bz - f * pz)
    wx, wy, wz = _unit(f * cx - f * px, f * cy - f * py, f * cz - f * pz)
    num = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    den = 1.0 + (ux * vx + uy * vy + uz * vz) + (ux * wx + uy * wy + uz * wz) + (vx * wx + vy * wy + vz * wz)
    return num, den


@exact
def solid_angle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Signed solid angle Ω of the triangle a, b, c seen from p, in (−2π, 2π).

    Ω = 2 atan2(a·(b×c), |a||b||c| + (a·b)|c| + (a·c)|b| + (b·c)|a|)   [VanOosterom1983],
    positive when the normal (b−a)×(c−a) points away from p, and 0 when p lies in the plane of the triangle
    (decided exactly).
    """
    side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    if side == 0:
        return 0.0
    num, den = half_angle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    # Rounding must not move the point to the other side of the plane.
    return math.copysign(2.0 * math.atan2(abs(num), den), float(side))


@kernel
def _multiply_block(triangle, x, y, z, re, im, wraps, doubt, count):
    """Multiply one triangle's factors den + i num into the products of a block of points.

    Returns whether a pair was left out (its `doubt` is 1). No branches: the compiler vectorises over points.
    """
    ax, ay, az = triangle[0], triangle[1], triangle[2]
    bx, by, bz = triangle[3], triangle[4], triangle[5]
    cx, cy, cz = triangle[6], triangle[7], triangle[8]
    doubts = 0
    for j in range(np.uint64(count)):
        ux, uy, uz = ax - x[j], ay - y[j], az - z[j]
        vx, vy, vz = bx - x[j], by - y[j], bz - z[j]
        wx, wy, wz = cx - x[j], cy - y[j], cz - z[j]
        u = math.sqrt(ux * ux + uy * uy + uz * uz)
        v = math.sqrt(vx * vx + vy * vy + vz * vz)
        w = math.sqrt(wx * wx + wy * wy + wz * wz)
        num = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
        uvw = u * v * w
        den = uvw + (ux * vx + uy * vy + uz * vz) * w
        den = den + (ux * wx + uy * wy + uz * wz) * v + (vx * wx + vy * wy + vz * wz) * u
        noise = NOISE * uvw
        unclear = ((abs(num) <= noise) & (den <= noise)) | (uvw < SMALL)
        flag = 1 if unclear else 0
        doubt[j] = flag
        doubts |= flag
        num = 0.0 if unclear else num
        den = 1.0 if unclear else den
        new = re[j] * num + im[j] * den
        up = 1.0 if (num > 0.0) & (im[j] >= 0.0) & (new < 0.0) else 0.0
        down = 1.0 if (num < 0.0) & (im[j] < 0.0) & (new >= 0.0) else 0.0
        wraps[j] += up - down
        re[j] = re[j] * den - im[j] * num
        im[j] = new
    return doubts != 0


@kernel
def _multiply_unclear(triangle, points, start, re, im, wraps, doubt, count, status):
    """The pairs that `_multiply_block` left out, one by one: on the triangle or not is decided exactly."""
    ax, ay, az = triangle[0], triangle[1], triangle[2]
    bx, by, bz = triangle[3], triangle[4], triangle[5]
    cx, cy, cz = triangle[6], triangle[7], triangle[8]
    for j in range(count):
        if doubt[j] == 0:
            continue
        px, py, pz = points[start + j, 0], points[start + j, 1], points[start + j, 2]
        if point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
            status[start + j] = ON_SURFACE  # and contributes 0
            continue
        if status[start + j] != ON_SURFACE:
            status[start + j] = NEAR
        side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
        if side == 0:
            continue
        num, den = half_angle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
        num = max(abs(num), 2.0**-60) * side
        length = abs(num) + abs(den)
        num, den = num / length, den / length
        new = re[j] * num + im[j] * den
        if num > 0.0 and im[j] >= 0.0 and new < 0.0:
            wraps[j] += 1.0
        elif num < 0.0 and im[j] < 0.0 and new >= 0.0:
            wraps[j] -= 1.0
        re[j] = re[j] * den - im[j] * num
        im[j] = new


@kernel
def _shorten_products(re, im, count):
    """Bring the products back to length about 1; their argument is what counts."""
    for j in range(np.uint64(count)):
        inverse = 1.0 / (abs(re[j]) + abs(im[j]))
        re[j] *= inverse
        im[j] *= inverse


@parallel(grain=1)
def sum_angles(first, stop, points, triangles, scaled_points, scaled_triangles, centre, dipole, winding, status):
    """J of every point by running products, and whether the point is clear of, near or on the surface.

    Σ Ω_k / 2 = arg Π (den_k + i num_k) + 2π wraps: one atan2 per point instead of per pair.
    `scaled_*` are the coordinates times a power of two that makes the mesh about 1 in size.
    """
    n, m = len(points), len(triangles)
    for block in range(first, stop):
        start = block * BLOCK
        count = min(BLOCK, n - start)
        x, y, z = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
        re, im, wraps = np.ones(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK)
        doubt = np.zeros(BLOCK, np.int64)
        far = np.zeros(BLOCK, np.bool_)
        for j in range(count):
            x[j] = scaled_points[start + j, 0]
            y[j] = scaled_points[start + j, 1]
            z[j] = scaled_points[start + j, 2]
            away = max(abs(x[j] - centre[0]), abs(y[j] - centre[1]), abs(z[j] - centre[2]))
            far[j] = not away <= FAR
            if far[j]:  # a harmless stand-in, so that nothing overflows
                x[j], y[j], z[j] = centre[0] + FAR, centre[1], centre[2]
            status[start + j] = CLEAR
        for k in range(m):
            if _multiply_block(scaled_triangles[k], x, y, z, re, im, wraps, doubt, count):
                _multiply_unclear(triangles[k], points, start, re, im, wraps, doubt, count, status)
            if k % 8 == 7:
                _shorten_products(re, im, count)
        for j in range(count):
            # + 0.0: the wraps count −0 as the upper half plane, atan2 as the lower
            winding[start + j] = wraps[j] + math.atan2(im[j] + 0.0, re[j]) / (2.0 * math.pi)
            if far[j]:
                winding[start + j] = _far_winding(scaled_points[start + j], centre, dipole)


@exact
def _far_winding(point, centre, dipole):
    """J ≈ −S·r / (4π|r|³), S the sum of the area vectors, r from the mesh to the point; 0 at infinity."""
    rx, ry, rz = point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]
    largest = max(abs(rx), abs(ry), abs(rz))
    if not largest < 1e150:  # also for inf: the scaling may overflow
        return 0.0
    ux, uy, uz = rx / largest, ry / largest, rz / largest
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    flux = dipole[0] * ux + dipole[1] * uy + dipole[2] * uz
    return -flux / (4.0 * math.pi * length * length * length * largest * largest)
