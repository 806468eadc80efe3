"""Compiled loops of the direct sum: the solid angles of all triangles, seen from all points."""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.exact._expansions import two_difference, two_product, two_sum
from impinge.exact._orient import orient3d_sign
from impinge.exact._triangles import point_in_triangle

BLOCK = 128  # points that share one pass over the triangles; their state fits the first-level cache
FAR = 2.0**20  # in extents of the mesh: beyond it the dipole term is all that is left in double precision
CLEAR, NEAR, ON_SURFACE = 0, 1, 2

# A pair (point, triangle) leaves the fast path when the factor den + i num is smaller than NOISE |a||b||c|,
# that is when the point is so near the triangle that rounding (at most 40 u |a||b||c| in num and in den, u =
# 2^-53) could turn the factor by more than 40 * 2^-53 * 2^20 = 5e-9 of a radian or change the sign of num,
NOISE = 2.0**-20
# or when |a||b||c| is so small that eight factors of at least NOISE |a||b||c| could underflow.
SMALL = 2.0**-60


@exact
def _minor(ay, az, by, bz, py, pz):
    """(ay − py)(bz − pz) − (az − pz)(by − py) as two doubles, to 2^-100 of the products."""
    a1, a0 = two_difference(ay, py)
    b1, b0 = two_difference(bz, pz)
    c1, c0 = two_difference(az, pz)
    d1, d0 = two_difference(by, py)
    x1, x0 = two_product(a1, b1)
    y1, y0 = two_product(c1, d1)
    z1, z0 = two_difference(x1, y1)
    return two_sum(z1, z0 + ((x0 + (a1 * b0 + a0 * b1)) - (y0 + (c1 * d0 + c0 * d1))))


@exact
def _cross(ax, ay, az, bx, by, bz, px, py, pz):
    """(a − p) × (b − p): three doubles, and three more of what they lack."""
    x, x0 = _minor(ay, az, by, bz, py, pz)
    y, y0 = _minor(az, ax, bz, bx, pz, px)
    z, z0 = _minor(ax, ay, bx, by, px, py)
    return x, y, z, x0, y0, z0


@exact
def _dot(x, y, z, x0, y0, z0, ax, ay, az, bx, by, bz):
    """(x, y, z) + (x0, y0, z0) times a − b, to 2^-100 of the products."""
    dx, dx0 = two_difference(ax, bx)
    dy, dy0 = two_difference(ay, by)
    dz, dz0 = two_difference(az, bz)
    p1, p0 = two_product(x, dx)
    q1, q0 = two_product(y, dy)
    r1, r0 = two_product(z, dz)
    s1, s0 = two_sum(p1, q1)
    t1, t0 = two_sum(s1, r1)
    rest = (p0 + q0 + r0) + (x0 * dx + y0 * dy + z0 * dz) + (x * dx0 + y * dy0 + z * dz0)
    return t1 + (t0 + s0 + rest)


@exact
def _near_edge(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """(num, den) where a and b are seen in nearly opposite directions: p is near the edge between them.

    |a||b| + a·b and a|b| + b|a| vanish on the edge, and lose all digits near it. With h = a×b, which is known well, and
    m = a/|a| − b/|b|, they are |h|²/(|a||b| − a·b) and 2 h×m/|m|². So, with f = c − b, num = h·f and
    den = (|b| + |c|) |h|²/(|a||b| − a·b) + 2 h·(m×f)/|m|². Both are divided by a number about as large as |h|.
    """
    ux, uy, uz, vx, vy, vz = ax - px, ay - py, az - pz, bx - px, by - py, bz - pz
    wx, wy, wz = cx - px, cy - py, cz - pz
    u, v = math.sqrt(ux * ux + uy * uy + uz * uz), math.sqrt(vx * vx + vy * vy + vz * vz)
    w = math.sqrt(wx * wx + wy * wy + wz * wz)
    hx, hy, hz, hx0, hy0, hz0 = _cross(ax, ay, az, bx, by, bz, px, py, pz)
    largest = max(abs(hx), abs(hy), abs(hz))
    if largest < 2.0**-1000:
        return 0.0, -1.0  # on the edge, as far as doubles know
    per = math.ldexp(1.0, -math.frexp(largest)[1])
    hx, hy, hz, hx0, hy0, hz0 = hx * per, hy * per, hz * per, hx0 * per, hy0 * per, hz0 * per
    ix, iy, iz, _, _, _ = _cross(bx, by, bz, cx, cy, cz, px, py, pz)
    jx, jy, jz, _, _, _ = _cross(cx, cy, cz, ax, ay, az, px, py, pz)
    mx, my, mz = ux / u - vx / v, uy / u - vy / v, uz / u - vz / v
    square = (hx * hx + hy * hy + hz * hz) / per
    # m×f = a×f / |a| − b×f / |b| with a×f = −c×a − a×b and b×f = b×c
    turned = (hx * jx + hy * jy + hz * jz + square) / u + (hx * ix + hy * iy + hz * iz) / v
    den = (v + w) * square / (u * v - (ux * vx + uy * vy + uz * vz)) - 2.0 * turned / (mx * mx + my * my + mz * mz)
    return _dot(hx, hy, hz, hx0, hy0, hz0, cx, cy, cz, bx, by, bz), den


@exact
def half_angle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """(num, den) times any positive number, with Ω = 2 atan2(num, den), to about 1e-15 of a radian."""
    # A quarter: the difference of two finite numbers may overflow; but a quarter of a denormal one may be rounded.
    f = 0.25 if max(abs(px), abs(py), abs(pz)) > 1.0 else 1.0
    largest = max(abs(f * ax - f * px), abs(f * ay - f * py), abs(f * az - f * pz))
    largest = max(largest, abs(f * bx - f * px), abs(f * by - f * py), abs(f * bz - f * pz))
    largest = max(largest, abs(f * cx - f * px), abs(f * cy - f * py), abs(f * cz - f * pz))
    exponent = -math.frexp(largest)[1]
    half = exponent // 2  # in two steps: 2^exponent itself may overflow
    g, e = f * math.ldexp(1.0, half), math.ldexp(1.0, exponent - half)
    px, py, pz, ax, ay, az = px * g * e, py * g * e, pz * g * e, ax * g * e, ay * g * e, az * g * e
    bx, by, bz, cx, cy, cz = bx * g * e, by * g * e, bz * g * e, cx * g * e, cy * g * e, cz * g * e
    ux, uy, uz, vx, vy, vz = ax - px, ay - py, az - pz, bx - px, by - py, bz - pz
    wx, wy, wz = cx - px, cy - py, cz - pz
    u, v = math.sqrt(ux * ux + uy * uy + uz * uz), math.sqrt(vx * vx + vy * vy + vz * vz)
    w = math.sqrt(wx * wx + wy * wy + wz * wz)
    uv, vw, wu = ux * vx + uy * vy + uz * vz, vx * wx + vy * wy + vz * wz, wx * ux + wy * uy + wz * uz
    if min(u, v, w) < 2.0**-500:  # at a vertex, as far as doubles know
        return 0.0, 1.0
    opposite = min(uv / (u * v), vw / (v * w), wu / (w * u))
    if opposite >= -0.5:
        num = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
        return num, u * v * w + uv * w + vw * u + wu * v
    if opposite == uv / (u * v):
        return _near_edge(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if opposite == vw / (v * w):
        return _near_edge(px, py, pz, bx, by, bz, cx, cy, cz, ax, ay, az)
    return _near_edge(px, py, pz, cx, cy, cz, ax, ay, az, bx, by, bz)


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
        length = abs(num) + abs(den)
        num, den = max(abs(num) / length, 2.0**-60) * side, den / length
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
