"""Signs of orient2d and orient3d that are right for all finite doubles [Shewchuk1997].

Three stages: a filter, small enough to be inlined into hot loops, decides nearly everything; then
expansions (``_expansions.py``), where they cannot over- or underflow; then integers of any size
(``_wide.py``). In 3D the expansions need the differences to d to be doubles, as they are on lattices and
between near points; otherwise integers decide at once, measured faster than expansions of twice the length.

The filters bound the rounding error by a multiple of the product of the largest difference along each axis,
and first check the range of these: overflow is then impossible, and what underflows is far below the bound.
A difference of two doubles cannot underflow, and an overflowing one is infinite and fails the range check.
"""

from __future__ import annotations

import numpy as np

from impinge._jit import exact
from impinge.exact._expansions import expansion_minor, expansion_scale, expansion_sum, two_difference
from impinge.exact._wide import orient2d_wide, orient3d_wide

EPSILON = 2.0**-53
# [Shewchuk1997] (3 + 16 ε) ε (|left| + |right|) and (7 + 56 ε) ε · permanent, with |left| + |right| ≤ 2 · max
# product and permanent ≤ 6 · max product, and room for the rounding of the bounds and for underflow.
BOUND_2D = 8.0 * EPSILON
BOUND_3D = 48.0 * EPSILON
# Largest differences between which the filters are valid. With η = 2^-1075 the error of a product that
# underflows, the errors stay below 2 η in 2D and 7 η max|z| in 3D: far below bound · max|x| max|y| (max|z|).
SMALL = 2.0**-300
LARGE = 2.0**300
# Coordinates (0 apart) for which expansions are exact: a product of two or three of them is a multiple of
# (2^-480-52)^2 or (2^-300-52)^3, above the least double 2^-1074, and sums of products stay below 2^1000.
SMALL_2D = 2.0**-480
LARGE_2D = 2.0**490
SMALL_3D = 2.0**-300
LARGE_3D = 2.0**330


@exact
def _sign(value):
    if value > 0.0:
        return 1
    if value < 0.0:
        return -1
    return 0


@exact
def _outside(u, v, low, high):
    """Whether |u| or |v| is neither 0 nor between low and high."""
    u = abs(u)
    v = abs(v)
    return (u != 0.0 and not low <= u <= high) or (v != 0.0 and not low <= v <= high)


@exact
def _orient2d_exact(ax, ay, bx, by, cx, cy):
    """orient2d without a filter."""
    # The signs of the two products are those of their factors, however much they under- or overflow.
    left = _sign(ax - cx) * _sign(by - cy)
    right = _sign(ay - cy) * _sign(bx - cx)
    if left != right:
        return 1 if left > right else -1
    if left == 0:
        return 0
    low, high = SMALL_2D, LARGE_2D
    if _outside(ax, ay, low, high) or _outside(bx, by, low, high) or _outside(cx, cy, low, high):
        return orient2d_wide(ax, ay, bx, by, cx, cy)
    # a × b + b × c + c × a
    work = np.empty((4, 12))
    expansion_minor(ax, ay, bx, by, work[0])
    expansion_minor(bx, by, cx, cy, work[1])
    count = expansion_sum(work[0], 4, work[1], 4, work[2])
    expansion_minor(cx, cy, ax, ay, work[0])
    count = expansion_sum(work[2], count, work[0], 4, work[3])
    return _sign(work[3, count - 1])


@exact
def orient2d_sign(ax, ay, bx, by, cx, cy):
    """Sign of (a - c) × (b - c): +1 if a, b, c turn counter-clockwise, 0 if they are collinear."""
    acx = ax - cx
    bcx = bx - cx
    acy = ay - cy
    bcy = by - cy
    x = max(abs(acx), abs(bcx))
    y = max(abs(acy), abs(bcy))
    if min(x, y) > SMALL and max(x, y) < LARGE:
        determinant = acx * bcy - acy * bcx
        bound = BOUND_2D * (x * y)
        if determinant > bound:
            return 1
        if determinant < -bound:
            return -1
    return _orient2d_exact(ax, ay, bx, by, cx, cy)


@exact
def _differences_exact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Whether a - d, b - d and c - d are doubles, with nothing lost."""
    _, t0 = two_difference(ax, dx)
    _, t1 = two_difference(ay, dy)
    _, t2 = two_difference(az, dz)
    _, t3 = two_difference(bx, dx)
    _, t4 = two_difference(by, dy)
    _, t5 = two_difference(bz, dz)
    _, t6 = two_difference(cx, dx)
    _, t7 = two_difference(cy, dy)
    _, t8 = two_difference(cz, dz)
    return not (t0 or t1 or t2 or t3 or t4 or t5 or t6 or t7 or t8)


@exact
def _orient3d_of_differences(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """orient3d by expansions, where a - d, b - d and c - d are doubles."""
    adx, ady, adz = ax - dx, ay - dy, az - dz
    bdx, bdy, bdz = bx - dx, by - dy, bz - dz
    cdx, cdy, cdz = cx - dx, cy - dy, cz - dz
    work = np.empty((5, 24))
    expansion_minor(bdx, bdy, cdx, cdy, work[0])
    n0 = expansion_scale(work[0], 4, adz, work[1])
    expansion_minor(cdx, cdy, adx, ady, work[0])
    n1 = expansion_scale(work[0], 4, bdz, work[2])
    n1 = expansion_sum(work[1], n0, work[2], n1, work[3])
    expansion_minor(adx, ady, bdx, bdy, work[0])
    n0 = expansion_scale(work[0], 4, cdz, work[1])
    count = expansion_sum(work[1], n0, work[3], n1, work[4])
    return _sign(work[4, count - 1])


@exact
def _orient3d_exact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """orient3d without the first filter."""
    # All four points in a plane across an axis, as on the faces of a box: nothing to compute.
    if (ax == bx == cx == dx) or (ay == by == cy == dy) or (az == bz == cz == dz):
        return 0
    low, high = SMALL_3D, LARGE_3D
    if (
        (_outside(ax, bx, low, high) or _outside(cx, dx, low, high))
        or (_outside(ay, by, low, high) or _outside(cy, dy, low, high))
        or (_outside(az, bz, low, high) or _outside(cz, dz, low, high))
        or not _differences_exact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    ):
        return orient3d_wide(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    return _orient3d_of_differences(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


@exact
def orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Sign of (a - d) · (b - d) × (c - d), which is minus that of (d - a) · (b - a) × (c - a).

    +1 if d is below the plane of a, b, c, where these appear counter-clockwise from above; 0 if coplanar.
    """
    adx = ax - dx
    bdx = bx - dx
    cdx = cx - dx
    ady = ay - dy
    bdy = by - dy
    cdy = cy - dy
    adz = az - dz
    bdz = bz - dz
    cdz = cz - dz
    x = max(max(abs(adx), abs(bdx)), abs(cdx))
    y = max(max(abs(ady), abs(bdy)), abs(cdy))
    z = max(max(abs(adz), abs(bdz)), abs(cdz))
    if min(min(x, y), z) > SMALL and max(max(x, y), z) < LARGE:
        determinant = adz * (bdx * cdy - cdx * bdy) + bdz * (cdx * ady - adx * cdy) + cdz * (adx * bdy - bdx * ady)
        bound = BOUND_3D * (x * y * z)
        if determinant > bound:
            return 1
        if determinant < -bound:
            return -1
    return _orient3d_exact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


@exact
def normal_sign(ax, ay, az, bx, by, bz, cx, cy, cz):
    """Sign of the first non-zero component of (b - a) × (c - a); 0 if the triangle has no area."""
    sign = orient2d_sign(ay, az, by, bz, cy, cz)
    if sign == 0:
        sign = orient2d_sign(az, ax, bz, bx, cz, cx)
        if sign == 0:
            sign = orient2d_sign(ax, ay, bx, by, cx, cy)
    return sign
