"""Exact decisions between points, segments and triangles, built on the signs of ``_orient.py``."""

from __future__ import annotations

from impinge._jit import exact
from impinge.exact._orient import BOUND_3D, LARGE, SMALL, normal_sign, orient2d_sign, orient3d_sign

# Error of the sum of the four volumes in `crossing`, in units of the product of the largest differences: each
# has an error of about 8 ε · 6 and is at most 6, so that 4 · 48 ε + (12 + 18 + 24) ε < 6 · 48 ε.
BOUND_SUM = 6.0 * BOUND_3D


ON_SURFACE = 2  # values of `crossing` and `quick_crossing` besides -1, 0 and 1
DOUBT = 3


@exact
def _between(u, a, b):
    """Whether u lies in the closed interval of a and b."""
    return (a <= u <= b) or (b <= u <= a)


@exact
def point_on_segment(px, py, pz, ax, ay, az, bx, by, bz):
    """Whether p lies on the closed segment ab (which may be a point)."""
    if not (_between(px, ax, bx) and _between(py, ay, by) and _between(pz, az, bz)):
        return False
    return normal_sign(ax, ay, az, bx, by, bz, px, py, pz) == 0


@exact
def _in_projection(px, py, ax, ay, bx, by, cx, cy, turn):
    """Whether p lies in the closed triangle abc of the plane, whose orientation is `turn`, not 0."""
    return (
        orient2d_sign(ax, ay, bx, by, px, py) != -turn
        and orient2d_sign(bx, by, cx, cy, px, py) != -turn
        and orient2d_sign(cx, cy, ax, ay, px, py) != -turn
    )


@exact
def coplanar_point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """`point_in_triangle` for a point that is known to be coplanar with a, b and c."""
    # A plane that is not seen edge-on projects one to one: try xy, then yz, then zx.
    for _ in range(3):
        turn = orient2d_sign(ax, ay, bx, by, cx, cy)
        if turn != 0:
            return _in_projection(px, py, ax, ay, bx, by, cx, cy, turn)
        px, py, pz = py, pz, px
        ax, ay, az = ay, az, ax
        bx, by, bz = by, bz, bx
        cx, cy, cz = cy, cz, cx
    # Collinear vertices: one of the edges contains the other two.
    return (
        point_on_segment(px, py, pz, ax, ay, az, bx, by, bz)
        or point_on_segment(px, py, pz, bx, by, bz, cx, cy, cz)
        or point_on_segment(px, py, pz, cx, cy, cz, ax, ay, az)
    )


@exact
def _outside_box(u, a, b, c):
    """Whether u lies outside the closed interval of a, b and c."""
    return (u < a and u < b and u < c) or (u > a and u > b and u > c)


@exact
def point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether p lies in the closed triangle abc; without area, this is the hull of its three vertices."""
    if _outside_box(px, ax, bx, cx) or _outside_box(py, ay, by, cy) or _outside_box(pz, az, bz, cz):
        return False
    if orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz) != 0:
        return False
    return coplanar_point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)


@exact
def _edge_side(px, py, pz, qx, qy, qz, ux, uy, uz, vx, vy, vz):
    """Sign of (q + e - p) · (u - p) × (v - p), never 0 unless p, u and v are collinear."""
    side = orient3d_sign(px, py, pz, vx, vy, vz, ux, uy, uz, qx, qy, qz)
    if side == 0:
        side = normal_sign(px, py, pz, ux, uy, uz, vx, vy, vz)
    return side


@exact
def _crossing_exact(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """`crossing` sign by sign."""
    side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    if side == 0:
        # q + e is off the plane, so that the segment can meet it in p only.
        if coplanar_point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
            return ON_SURFACE
        return 0
    other = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, qx, qy, qz)
    if other == 0:
        # (q + e - a) · n = ε nx + ε² ny + ε³ nz; orient3d is minus that.
        other = -normal_sign(ax, ay, az, bx, by, bz, cx, cy, cz)
    if side == other:
        return 0
    if (
        _edge_side(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz) == side
        and _edge_side(px, py, pz, qx, qy, qz, bx, by, bz, cx, cy, cz) == side
        and _edge_side(px, py, pz, qx, qy, qz, cx, cy, cz, ax, ay, az) == side
    ):
        return side
    return 0


@exact
def quick_crossing(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """`crossing` where double precision is enough, else DOUBT; small enough for hot loops.

    Never decides that p is on the triangle. Coordinates should be scaled to about 1: outside the range of
    the filter all is doubt.
    """
    # One filter for all five signs. With a, b, c, q relative to p: below = a · b × c is positive if p is
    # below the triangle, q · a × b (and so on) are the sides of the edges, and their sum less `below` is
    # (q - a) · n, positive if q is above.
    apx, apy, apz = ax - px, ay - py, az - pz
    bpx, bpy, bpz = bx - px, by - py, bz - pz
    cpx, cpy, cpz = cx - px, cy - py, cz - pz
    qpx, qpy, qpz = qx - px, qy - py, qz - pz
    x = max(max(abs(apx), abs(bpx)), max(abs(cpx), abs(qpx)))
    y = max(max(abs(apy), abs(bpy)), max(abs(cpy), abs(qpy)))
    z = max(max(abs(apz), abs(bpz)), max(abs(cpz), abs(qpz)))
    if min(min(x, y), z) > SMALL and max(max(x, y), z) < LARGE:
        mx = bpy * cpz - bpz * cpy
        my = bpz * cpx - bpx * cpz
        mz = bpx * cpy - bpy * cpx
        bc = qpx * mx + qpy * my + qpz * mz
        ca = qpx * (cpy * apz - cpz * apy) + qpy * (cpz * apx - cpx * apz) + qpz * (cpx * apy - cpy * apx)
        ab = qpx * (apy * bpz - apz * bpy) + qpy * (apz * bpx - apx * bpz) + qpz * (apx * bpy - apy * bpx)
        bound = BOUND_3D * (x * y * z)
        least = min(min(bc, ca), ab)
        most = max(max(bc, ca), ab)
        if least < -bound and most > bound:
            return 0
        below = apx * mx + apy * my + apz * mz
        above = (bc + ca + ab) - below
        bound_sum = BOUND_SUM * (x * y * z)
        if below > bound:
            if above < -bound_sum:
                return 0
            if above > bound_sum and least > bound:
                return 1
        elif below < -bound:
            if above > bound_sum:
                return 0
            if above < -bound_sum and most < -bound:
                return -1
    return DOUBT


@exact
def crossing(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """How the segment from p to q + e crosses triangle abc, with e = (ε, ε², ε³), ε > 0 below any number.

    2 if p is in the closed triangle; else +1 if the segment starts below the triangle (against the normal
    (b - a) × (c - a)) and crosses it, -1 if it starts above and crosses, 0 if it does not cross. So for a
    closed mesh winding(p) = winding(q + e) + Σ crossing, if no triangle contains p.

    The perturbed end never meets a plane that does not contain p, and the segment never meets an edge:
    where a sign with q is 0, the first non-zero component of what e is multiplied with decides. A triangle
    without area is never crossed.
    """
    sign = quick_crossing(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if sign == DOUBT:
        sign = _crossing_exact(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
    return sign
