"""Signed crossings of the ray +z, decided exactly (FACTS 2.2)."""

import numpy as np

from impinge._jit import exact, parallel, prange
from impinge.exact._orient import orient2d_sign, orient3d_sign
from impinge.exact._triangles import point_in_triangle

ON = 2  # instead of a crossing: the point lies on the closed triangle


@exact
def _tie(px, py, qx, qy):
    """Side of the edge p → q on which (ε, ε²) moves a point of its line: antisymmetric in p and q."""
    if py != qy:
        return 1 if py > qy else -1
    if px != qx:
        return 1 if qx > px else -1
    return 0


@exact
def vertical_crossing(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Signed crossing of the ray from p along +z with the triangle a, b, c: +1 upwards out, −1 in, 0 none.

    p is moved symbolically by (ε, ε², 0), so that the ray never meets an edge or a vertex, and an edge is
    seen alike from both its triangles. Returns ON (2) if p itself lies on the closed triangle.
    """
    if pz > max(az, bz, cz) or px > max(ax, bx, cx) or px < min(ax, bx, cx):
        return 0
    if py > max(ay, by, cy) or py < min(ay, by, cy):
        return 0
    s0 = orient2d_sign(ax, ay, bx, by, px, py)
    s1 = orient2d_sign(bx, by, cx, cy, px, py)
    if s0 * s1 < 0:
        return 0
    s2 = orient2d_sign(cx, cy, ax, ay, px, py)
    if s0 * s2 < 0 or s1 * s2 < 0:
        return 0  # outside the shadow of the closed triangle
    below = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    if below == 0:
        return ON if point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz) else 0
    if s0 == 0:
        s0 = _tie(ax, ay, bx, by)
    if s1 == 0:
        s1 = _tie(bx, by, cx, cy)
    if s2 == 0:
        s2 = _tie(cx, cy, ax, ay)
    # Three equal signs are the sign of n_z; for a vertical triangle they cannot be equal.
    return s0 if s0 == s1 and s1 == s2 and s0 * below > 0 else 0


@parallel
def count_all_crossings(points, triangles, winding):
    """Winding number of points off the surface of a closed mesh, from all its triangles."""
    for i in prange(len(points)):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        total = 0
        for k in range(np.uint64(len(triangles))):
            t = triangles[k]
            crossing = vertical_crossing(px, py, pz, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8])
            if crossing != ON:
                total += crossing
        winding[i] = total
