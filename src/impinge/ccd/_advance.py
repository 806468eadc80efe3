"""When do moving vertices and triangles, and moving edges, first come as near as a gap: LANES queries side by side.

All positions are linear in t, from 0 to 1. Along a fixed direction n the separation of two convex bodies, the least
n·(p − q) over their corners p and q, is the least of some linear functions of t. So from a time t on all is free until
the first of them falls to the gap. Two directions are tried at every step: from the nearest points of the borders, and
the common normal; the one that stays free longer makes the step. Where the bodies touch no direction makes one, and t
is the answer. Bodies that slide along each other are passed in one step; steps by the largest speed (additive methods)
would crawl. Directions that turn with the bodies, along which separations are polynomials in t, are tried too: the
common normal at every step (`step_in_plane`), that of the nearest edge where some steps were not enough (`turn_of_…`).

Any direction is right, only some make longer steps: rounding of directions costs time, never a contact. What rounding
does to separations is NOISE at most, by which the gap is enlarged. Queries are measured by their largest difference of
corners: common motions are of no matter.
"""

import numpy as np

from impinge._jit import part
from impinge._lanes import LANES, choose, larger, load, spread, sqrt, store

# What rounding does, with u = 2^-53 and all numbers of a query at most 1: vectors at some time are off by 4 √3 u, their
# products n·v by 3 √3 u more, sums of three of them by less than 45 u. A time is off by 4 u, and separations change by
# up to 6 √3 in the time from 0 to 1. Together less than 90 u. For volumes see `step_in_plane`.
NOISE = 2.0**-46  # 128 u
TINY = 1e-200  # squares of lengths below are taken for 0: they, and what is made of them, may have lost their digits
VOLUME = 18  # row of the largest volume |w| |e| |f|, after those of three vectors at t = 0 and at t = 1
NUMBERS = 19  # of a query


@part
def _dot(ax, ay, az, bx, by, bz):
    return ax * bx + ay * by + az * bz


@part
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@part
def _smaller(x, y):
    return choose(y < x, y, x)


@part
def _at(rows, first, t):
    """A vector of the queries at time t."""
    row = np.uint64(LANES)
    k = np.uint64(first * LANES)
    end = k + np.uint64(9 * LANES)
    x0, y0, z0 = load(rows, k), load(rows, k + row), load(rows, k + row + row)
    x1, y1, z1 = load(rows, end), load(rows, end + row), load(rows, end + row + row)
    r = 1.0 - t
    return r * x0 + t * x1, r * y0 + t * y1, r * z0 + t * z1


@part
def _vectors(rows, t):
    """w, e and f of the queries at time t."""
    return _at(rows, 0, t) + _at(rows, 3, t) + _at(rows, 6, t)


@part
def _along(rows, first, nx, ny, nz):
    """n·v(1) for a vector of the queries."""
    k = np.uint64((9 + first) * LANES)
    row = np.uint64(LANES)
    return _dot(nx, ny, nz, load(rows, k), load(rows, k + row), load(rows, k + row + row))


@part
def _share(s, z):
    """Part of the time left after which a separation, s now and z at t = 1, falls to 0; more than 1 if it does not."""
    return choose(s > 0.0, choose(z > 0.0, 2.0, s / (s - z)), 0.0)


@part
def _to_segment(wx, wy, wz, ex, ey, ez):
    """Vector from the nearest point of segment 0, e to w, and its square."""
    ee = _dot(ex, ey, ez, ex, ey, ez)
    per, zero = choose(ee > TINY, 1.0 / ee, 0.0), ee * 0.0
    foot = _dot(wx, wy, wz, ex, ey, ez) * per
    s = larger(_smaller(foot, zero + 1.0), zero)
    x, y, z = wx - s * ex, wy - s * ey, wz - s * ez
    # Once more, so that a vector much shorter than w is perpendicular to e, too: along it the ends of e are as near.
    s = choose((foot > 0.0) & (foot < 1.0), _dot(x, y, z, ex, ey, ez) * per, zero)
    x, y, z = x - s * ex, y - s * ey, z - s * ez
    return x, y, z, _dot(x, y, z, x, y, z)


@part
def _nearer(ax, ay, az, aa, bx, by, bz, bb):
    """The shorter one of two vectors, and its square."""
    b = bb < aa
    return choose(b, bx, ax), choose(b, by, ay), choose(b, bz, az), choose(b, bb, aa)


@part
def _common_normal(wx, wy, wz, ex, ey, ez, fx, fy, fz):
    """Vector e × f or its opposite, on the side of w, and its square."""
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    side = choose(_dot(nx, ny, nz, wx, wy, wz) < 0.0, -1.0, wx * 0.0 + 1.0)
    nx, ny, nz = side * nx, side * ny, side * nz
    return nx, ny, nz, _dot(nx, ny, nz, nx, ny, nz)


@part
def step_of_vertex(rows, level, t):
    """Next time, up to which a vertex and a triangle stay further apart than `level`; the same t: contact; > 1: none.

    Vectors of a query: from corner a to the vertex, w, to corner b, e, and to corner c, f.
    """
    wx, wy, wz, ex, ey, ez, fx, fy, fz = _vectors(rows, t)
    ax, ay, az, aa = _to_segment(wx, wy, wz, ex, ey, ez)
    bx, by, bz, bb = _to_segment(wx, wy, wz, fx, fy, fz)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, bx, by, bz, bb)
    bx, by, bz, bb = _to_segment(wx - ex, wy - ey, wz - ez, fx - ex, fy - ey, fz - ez)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, bx, by, bz, bb)
    share = _share_of_vertex(rows, level, ax, ay, az, aa, wx, wy, wz, ex, ey, ez, fx, fy, fz)
    nx, ny, nz, nn = _common_normal(wx, wy, wz, ex, ey, ez, fx, fy, fz)
    share = larger(share, _share_of_vertex(rows, level, nx, ny, nz, nn, wx, wy, wz, ex, ey, ez, fx, fy, fz))
    return t + (1.0 - t) * share


@part
def _share_of_vertex(rows, level, nx, ny, nz, nn, wx, wy, wz, ex, ey, ez, fx, fy, fz):
    """Part of the time left in which n, of square nn, keeps a vertex and a triangle apart."""
    per = choose(nn > TINY, 1.0 / sqrt(nn), 0.0)
    nx, ny, nz = per * nx, per * ny, per * nz
    s, z = _dot(nx, ny, nz, wx, wy, wz) - level, _along(rows, 0, nx, ny, nz) - level
    share = _share(s, z)
    share = _smaller(share, _share(s - _dot(nx, ny, nz, ex, ey, ez), z - _along(rows, 3, nx, ny, nz)))
    return _smaller(share, _share(s - _dot(nx, ny, nz, fx, fy, fz), z - _along(rows, 6, nx, ny, nz)))


@part
def step_of_edges(rows, level, t):
    """`step_of_vertex` for two edges: w from an end of the second to one of the first, e and f along them."""
    wx, wy, wz, ex, ey, ez, fx, fy, fz = _vectors(rows, t)
    ax, ay, az, aa = _to_segment(wx, wy, wz, fx, fy, fz)
    bx, by, bz, bb = _to_segment(wx + ex, wy + ey, wz + ez, fx, fy, fz)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, bx, by, bz, bb)
    bx, by, bz, bb = _to_segment(0.0 - wx, 0.0 - wy, 0.0 - wz, ex, ey, ez)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, 0.0 - bx, 0.0 - by, 0.0 - bz, bb)
    bx, by, bz, bb = _to_segment(fx - wx, fy - wy, fz - wz, ex, ey, ez)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, 0.0 - bx, 0.0 - by, 0.0 - bz, bb)
    share = _share_of_edges(rows, level, ax, ay, az, aa, wx, wy, wz, ex, ey, ez, fx, fy, fz)
    nx, ny, nz, nn = _common_normal(wx, wy, wz, ex, ey, ez, fx, fy, fz)
    share = larger(share, _share_of_edges(rows, level, nx, ny, nz, nn, wx, wy, wz, ex, ey, ez, fx, fy, fz))
    return t + (1.0 - t) * share


@part
def _share_of_edges(rows, level, nx, ny, nz, nn, wx, wy, wz, ex, ey, ez, fx, fy, fz):
    """Part of the time left in which n, of square nn, keeps two edges apart."""
    per = choose(nn > TINY, 1.0 / sqrt(nn), 0.0)
    nx, ny, nz = per * nx, per * ny, per * nz
    s, z = _dot(nx, ny, nz, wx, wy, wz) - level, _along(rows, 0, nx, ny, nz) - level
    se, ze = _dot(nx, ny, nz, ex, ey, ez), _along(rows, 3, nx, ny, nz)
    sf, zf = _dot(nx, ny, nz, fx, fy, fz), _along(rows, 6, nx, ny, nz)
    share = _smaller(_share(s, z), _share(s + se, z + ze))
    return _smaller(share, _smaller(_share(s - sf, z - zf), _share(s + se - sf, z + ze - zf)))


@part
def _change(rows, first):
    """v(1) − v(0) of a vector of the queries."""
    row = np.uint64(LANES)
    k = np.uint64(first * LANES)
    end = k + np.uint64(9 * LANES)
    return (
        load(rows, end) - load(rows, k),
        load(rows, end + row) - load(rows, k + row),
        load(rows, end + row + row) - load(rows, k + row + row),
    )


@part
def _changes(rows):
    """Of w, e and f, from t = 0 to 1."""
    return _change(rows, 0) + _change(rows, 3) + _change(rows, 6)


@part
def _until_root(c0, c1, c2, c3, t):
    """Time from t on up to which Σ c_k h^k, positive at h = 0, is not 0; 2 if it is not up to t = 1.

    The polynomial lies above the hull of its control points, and so above the line from the first one that all others
    are above: near a root this is Newton's method, if the control points span no more than some of its steps.
    """
    left = 1.0 - t
    span = choose(c1 < 0.0, _smaller(left, 2.0 * c0 / (0.0 - c1)), left)
    slope = _smaller(c1, c1 + 0.5 * c2 * span)  # from the first control point to the others
    slope = span * _smaller(slope, c1 + (c2 + c3 * span) * span)
    share = choose(slope < 0.0, c0 / (0.0 - slope), 2.0)
    is_free = (share > 1.0) & (span >= left)
    return choose(is_free, 2.0, t + _smaller(share, t * 0.0 + 1.0) * span)


@part
def step_in_plane(rows, level, t):
    """Next time, as of `step_of_vertex`, by the volume w·(e × f), a cubic in t: bodies that touch are coplanar.

    Distances are at least |w·n| / |n|, n = e × f. In h from t on, |n| ≤ Σ |n_k| h^k where n = Σ n_k h^k, so that all is
    free while w·n − level Σ |n_k| h^k > 0. Rounding: c_0 is off by at most 50 u |w| |e| |f|, c_1, c_2, c_3 by 8, 16 and
    8 times as much, as changes of vectors are up to twice as long as they.
    """
    wx, wy, wz, ex, ey, ez, fx, fy, fz = _vectors(rows, t)
    ux, uy, uz, gx, gy, gz, hx, hy, hz = _changes(rows)
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    ax, ay, az = _cross(ex, ey, ez, hx, hy, hz)
    bx, by, bz = _cross(gx, gy, gz, fx, fy, fz)
    ax, ay, az = ax + bx, ay + by, az + bz
    bx, by, bz = _cross(gx, gy, gz, hx, hy, hz)
    c0, c1 = _dot(wx, wy, wz, nx, ny, nz), _dot(wx, wy, wz, ax, ay, az) + _dot(ux, uy, uz, nx, ny, nz)
    c2, c3 = _dot(wx, wy, wz, bx, by, bz) + _dot(ux, uy, uz, ax, ay, az), _dot(ux, uy, uz, bx, by, bz)
    side, nn = choose(c0 < 0.0, -1.0, level * 0.0 + 1.0), _dot(nx, ny, nz, nx, ny, nz)
    noise = NOISE * load(rows, np.uint64(VOLUME * LANES))
    c0 = side * c0 - level * sqrt(nn) - noise
    c1 = side * c1 - level * sqrt(_dot(ax, ay, az, ax, ay, az)) - 8.0 * noise
    c2 = side * c2 - level * sqrt(_dot(bx, by, bz, bx, by, bz)) - 16.0 * noise
    c3 = side * c3 - 8.0 * noise
    return choose((c0 > 0.0) & (nn > TINY), _until_root(c0, c1, c2, c3, t), t)


@part
def _two(mask, ax, ay, az, bx, by, bz):
    """Vector a where the mask is true, else b."""
    return choose(mask, ax, bx), choose(mask, ay, by), choose(mask, az, bz)


@part
def _beside_line(level, t, rx, ry, rz, ex, ey, ez, gx, gy, gz, px, py, pz, ux, uy, uz, qx, qy, qz, vx, vy, vz):
    """Next time, by the direction m × e that turns with a line along e, m fixed and perpendicular to e and r.

    p and q, seen from a point of the line, are on the side of r; g, u, v are the changes of e, p, q in the whole step.
    All is free while (m × e)·p and (m × e)·q, quadratic in t, are larger than level |e|. They are off by less than
    40 u |e| |p|, their coefficients by 8 times as much, and |q| ≤ 2 √3.
    """
    mx, my, mz = _cross(ex, ey, ez, rx, ry, rz)
    mm = _dot(mx, my, mz, mx, my, mz)
    per = choose(mm > TINY, 1.0 / sqrt(mm), 0.0)
    mx, my, mz = per * mx, per * my, per * mz
    length, turn = sqrt(_dot(ex, ey, ez, ex, ey, ez)), sqrt(_dot(gx, gy, gz, gx, gy, gz))
    noise = (4.0 * NOISE) * (length + turn)
    nx, ny, nz = _cross(mx, my, mz, ex, ey, ez)
    kx, ky, kz = _cross(mx, my, mz, gx, gy, gz)
    less, falls = level * length + noise, level * turn + 8.0 * noise
    c0, d0 = _dot(nx, ny, nz, px, py, pz) - less, _dot(nx, ny, nz, qx, qy, qz) - less
    c1 = _dot(nx, ny, nz, ux, uy, uz) + _dot(kx, ky, kz, px, py, pz) - falls
    d1 = _dot(nx, ny, nz, vx, vy, vz) + _dot(kx, ky, kz, qx, qy, qz) - falls
    c2 = _dot(kx, ky, kz, ux, uy, uz) - 8.0 * noise
    d2 = _dot(kx, ky, kz, vx, vy, vz) - 8.0 * noise
    now = _smaller(_until_root(c0, c1, c2, c0 * 0.0, t), _until_root(d0, d1, d2, c0 * 0.0, t))
    return choose((c0 > 0.0) & (d0 > 0.0) & (mm > TINY), now, t)


@part
def turn_of_vertex(rows, level, t):
    """Next time, as of `step_of_vertex`, by the direction that turns with the nearest side of the triangle."""
    wx, wy, wz, ex, ey, ez, fx, fy, fz = _vectors(rows, t)
    ux, uy, uz, gx, gy, gz, hx, hy, hz = _changes(rows)
    rx, ry, rz, rr = _to_segment(wx, wy, wz, ex, ey, ez)
    bx, by, bz, bb = _to_segment(wx, wy, wz, fx, fy, fz)
    second = bb < rr  # a to c, else a to b
    rx, ry, rz, rr = _nearer(rx, ry, rz, rr, bx, by, bz, bb)
    bx, by, bz, bb = _to_segment(wx - ex, wy - ey, wz - ez, fx - ex, fy - ey, fz - ez)
    third = bb < rr  # b to c
    rx, ry, rz, rr = _nearer(rx, ry, rz, rr, bx, by, bz, bb)
    ix, iy, iz = _two(second, fx, fy, fz, ex, ey, ez)
    jx, jy, jz = _two(second, hx, hy, hz, gx, gy, gz)
    ox, oy, oz = _two(second, ex, ey, ez, fx, fy, fz)  # the third corner
    sx, sy, sz = _two(second, gx, gy, gz, hx, hy, hz)
    ix, iy, iz = _two(third, fx - ex, fy - ey, fz - ez, ix, iy, iz)
    jx, jy, jz = _two(third, hx - gx, hy - gy, hz - gz, jx, jy, jz)
    px, py, pz = _two(third, wx - ex, wy - ey, wz - ez, wx, wy, wz)
    kx, ky, kz = _two(third, ux - gx, uy - gy, uz - gz, ux, uy, uz)
    qx, qy, qz = _two(third, wx, wy, wz, wx - ox, wy - oy, wz - oz)
    lx, ly, lz = _two(third, ux, uy, uz, ux - sx, uy - sy, uz - sz)
    return _beside_line(level, t, rx, ry, rz, ix, iy, iz, jx, jy, jz, px, py, pz, kx, ky, kz, qx, qy, qz, lx, ly, lz)


@part
def turn_of_edges(rows, level, t):
    """`turn_of_vertex` for two edges: the direction turns with that edge to which an end of the other is nearest."""
    wx, wy, wz, ex, ey, ez, fx, fy, fz = _vectors(rows, t)
    ux, uy, uz, gx, gy, gz, hx, hy, hz = _changes(rows)
    ax, ay, az, aa = _to_segment(wx, wy, wz, fx, fy, fz)
    bx, by, bz, bb = _to_segment(wx + ex, wy + ey, wz + ez, fx, fy, fz)
    ax, ay, az, aa = _nearer(ax, ay, az, aa, bx, by, bz, bb)
    bx, by, bz, bb = _to_segment(0.0 - wx, 0.0 - wy, 0.0 - wz, ex, ey, ez)
    cx, cy, cz, cc = _to_segment(fx - wx, fy - wy, fz - wz, ex, ey, ez)
    bx, by, bz, bb = _nearer(bx, by, bz, bb, cx, cy, cz, cc)
    first = bb < aa  # beside the first edge are the ends of the second, else the other way round
    rx, ry, rz = _two(first, bx, by, bz, ax, ay, az)
    ix, iy, iz = _two(first, ex, ey, ez, fx, fy, fz)
    jx, jy, jz = _two(first, gx, gy, gz, hx, hy, hz)
    px, py, pz = _two(first, 0.0 - wx, 0.0 - wy, 0.0 - wz, wx, wy, wz)
    kx, ky, kz = _two(first, 0.0 - ux, 0.0 - uy, 0.0 - uz, ux, uy, uz)
    qx, qy, qz = _two(first, fx - wx, fy - wy, fz - wz, wx + ex, wy + ey, wz + ez)
    lx, ly, lz = _two(first, hx - ux, hy - uy, hz - uz, ux + gx, uy + gy, uz + gz)
    return _beside_line(level, t, rx, ry, rz, ix, iy, iz, jx, jy, jz, px, py, pz, kx, ky, kz, qx, qy, qz, lx, ly, lz)


@part
def _longest(rows, first):
    """Largest length of a vector of the queries, squared: it is at t = 0 or 1."""
    row = np.uint64(LANES)
    k = np.uint64(first * LANES)
    x, y, z = load(rows, k), load(rows, k + row), load(rows, k + row + row)
    k += np.uint64(9 * LANES)
    u, v, w = load(rows, k), load(rows, k + row), load(rows, k + row + row)
    return larger(_dot(x, y, z, x, y, z), _dot(u, v, w, u, v, w))


@part
def scale(rows, gap):
    """Divide all numbers of the queries by the largest; the gap in these units, enlarged by what rounding does."""
    size = spread(rows, 0.0)
    for k in range(VOLUME):
        size = larger(size, abs(load(rows, np.uint64(k * LANES))))
    per = 1.0 / size
    for k in range(VOLUME):
        store(rows, np.uint64(k * LANES), per * load(rows, np.uint64(k * LANES)))
    volume = sqrt(_longest(rows, 0) * _longest(rows, 3) * _longest(rows, 6))
    store(rows, np.uint64(VOLUME * LANES), volume)
    return (gap * per) * (1.0 + NOISE) + NOISE
