"""Whether closed segments and triangles have a point in common, degenerate ones included."""

from __future__ import annotations

from impinge._jit import exact
from impinge.exact._orient import orient2d_sign, orient3d_sign
from impinge.exact._triangles import coplanar_point_in_triangle

MISS, MEET, UNDECIDED = 0, 1, 2


@exact
def _apart(p, q, u, v):
    """Whether the closed intervals of p, q and of u, v have nothing in common."""
    return max(p, q) < min(u, v) or max(u, v) < min(p, q)


@exact
def _meet_in_projection(px, py, qx, qy, ux, uy, vx, vy):
    """Whether segments pq and uv of the plane meet; undecided if all four points are collinear."""
    u = orient2d_sign(px, py, qx, qy, ux, uy)
    v = orient2d_sign(px, py, qx, qy, vx, vy)
    p = orient2d_sign(ux, uy, vx, vy, px, py)
    q = orient2d_sign(ux, uy, vx, vy, qx, qy)
    if u == 0 and v == 0 and p == 0 and q == 0:
        return UNDECIDED
    if u * v > 0 or p * q > 0:
        return MISS
    return MEET


@exact
def segments_meet(px, py, pz, qx, qy, qz, ux, uy, uz, vx, vy, vz):
    """Whether the closed segments pq and uv (which may be points) have a point in common."""
    if _apart(px, qx, ux, vx) or _apart(py, qy, uy, vy) or _apart(pz, qz, uz, vz):
        return False
    if orient3d_sign(px, py, pz, qx, qy, qz, ux, uy, uz, vx, vy, vz) != 0:
        return False
    # Seen edge-on, the common plane decides nothing; seen otherwise, it projects one to one.
    for _ in range(3):
        found = _meet_in_projection(px, py, qx, qy, ux, uy, vx, vy)
        if found != UNDECIDED:
            return found == MEET
        px, py, pz = py, pz, px
        qx, qy, qz = qy, qz, qx
        ux, uy, uz = uy, uz, ux
        vx, vy, vz = vy, vz, vx
    # All four points on one line: the overlap of the boxes has decided.
    return True


@exact
def _coplanar_segment_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """`segment_meets_triangle` for p and q in the plane of abc, or for abc without area."""
    # If p is not in the triangle, the segment can enter it only through an edge.
    return (
        coplanar_point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
        or segments_meet(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz)
        or segments_meet(px, py, pz, qx, qy, qz, bx, by, bz, cx, cy, cz)
        or segments_meet(px, py, pz, qx, qy, qz, cx, cy, cz, ax, ay, az)
    )


@exact
def _apart_from_three(p, q, a, b, c):
    """Whether the closed intervals of p, q and of a, b, c have nothing in common."""
    return max(p, q) < min(min(a, b), c) or max(max(a, b), c) < min(p, q)


@exact
def segment_meets_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether the closed segment pq and the closed triangle abc (degenerate or not) share a point."""
    if (
        _apart_from_three(px, qx, ax, bx, cx)
        or _apart_from_three(py, qy, ay, by, cy)
        or _apart_from_three(pz, qz, az, bz, cz)
    ):
        return False
    p_side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    q_side = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, qx, qy, qz)
    if p_side * q_side > 0:
        return False
    if p_side == 0 and q_side == 0:
        return _coplanar_segment_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if p_side == 0:
        return coplanar_point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if q_side == 0:
        return coplanar_point_in_triangle(qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
    ab = orient3d_sign(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz)
    bc = orient3d_sign(px, py, pz, qx, qy, qz, bx, by, bz, cx, cy, cz)
    ca = orient3d_sign(px, py, pz, qx, qy, qz, cx, cy, cz, ax, ay, az)
    # The line passes outside an edge exactly if two of the volumes have opposite signs.
    return min(min(ab, bc), ca) != -1 or max(max(ab, bc), ca) != 1
