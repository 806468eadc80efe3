"""Exact decisions between the triangles of two bodies, and where edges go through faces."""

import math

from impinge._jit import parallel, part
from impinge.exact._segments import segment_meets_triangle


@part
def _meets(x, a, b, y, p, q, r):
    """Whether the segment from corner a to corner b of x and the triangle with corners p, q, r of y share a point."""
    return segment_meets_triangle(
        x[a], x[a + 1], x[a + 2], x[b], x[b + 1], x[b + 2], y[p], y[p + 1], y[p + 2], y[q], y[q + 1], y[q + 2], y[r],
        y[r + 1], y[r + 2],
    )  # fmt: skip


@parallel(grain=64)
def find_meeting(first, stop, corners_a, corners_b, pairs, meet):
    """Which pairs of triangles of two bodies share a point: then an edge of one meets the other."""
    for k in range(first, stop):
        a, b = corners_a[pairs[k, 0]], corners_b[pairs[k, 1]]
        found = False
        for u, v in ((0, 3), (3, 6), (6, 0)):
            found = found or _meets(a, u, v, b, 0, 3, 6) or _meets(b, u, v, a, 0, 3, 6)
        meet[k] = found


@parallel(grain=64)
def find_piercings(first, stop, edges, corners, pairs, places, slopes):
    """Where edges, (m, 6) both ends, meet triangles: in parts of the edge, NaN where they do not or lie in the plane.

    slopes : cosine of the angle between the edge and the normal of the triangle.
    """
    for k in range(first, stop):
        e, t = edges[pairs[k, 0]], corners[pairs[k, 1]]
        places[k], slopes[k] = math.nan, math.nan
        if not _meets(e, 0, 3, t, 0, 3, 6):
            continue
        ux, uy, uz, vx, vy, vz = t[3] - t[0], t[4] - t[1], t[5] - t[2], t[6] - t[0], t[7] - t[1], t[8] - t[2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        dx, dy, dz = e[3] - e[0], e[4] - e[1], e[5] - e[2]
        rise = nx * dx + ny * dy + nz * dz
        below = nx * (t[0] - e[0]) + ny * (t[1] - e[1]) + nz * (t[2] - e[2])
        if rise != 0.0:
            size = math.sqrt((nx * nx + ny * ny + nz * nz) * (dx * dx + dy * dy + dz * dz))
            places[k], slopes[k] = min(max(below / rise, 0.0), 1.0), rise / size
