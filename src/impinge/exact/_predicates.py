"""Loops of ``predicates.py``: one decision per row; arrays of a single row serve all."""

from __future__ import annotations

from impinge._jit import exact, kernel
from impinge.exact._orient import orient2d_sign, orient3d_sign
from impinge.exact._segments import segment_meets_triangle
from impinge.exact._triangles import point_in_triangle


@exact
def _row2(array, i):
    k = i if array.shape[0] > 1 else 0
    return array[k, 0], array[k, 1]


@exact
def _row3(array, i):
    k = i if array.shape[0] > 1 else 0
    return array[k, 0], array[k, 1], array[k, 2]


@kernel
def _find_orient2d(a, b, c, out):
    for i in range(len(out)):
        ax, ay = _row2(a, i)
        bx, by = _row2(b, i)
        cx, cy = _row2(c, i)
        out[i] = orient2d_sign(ax, ay, bx, by, cx, cy)


@kernel
def _find_orient3d(a, b, c, d, out):
    for i in range(len(out)):
        ax, ay, az = _row3(a, i)
        bx, by, bz = _row3(b, i)
        cx, cy, cz = _row3(c, i)
        dx, dy, dz = _row3(d, i)
        out[i] = orient3d_sign(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


@kernel
def _find_points_in_triangles(p, a, b, c, out):
    for i in range(len(out)):
        px, py, pz = _row3(p, i)
        ax, ay, az = _row3(a, i)
        bx, by, bz = _row3(b, i)
        cx, cy, cz = _row3(c, i)
        out[i] = point_in_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)


@kernel
def _find_segments_in_triangles(p, q, a, b, c, out):
    for i in range(len(out)):
        px, py, pz = _row3(p, i)
        qx, qy, qz = _row3(q, i)
        ax, ay, az = _row3(a, i)
        bx, by, bz = _row3(b, i)
        cx, cy, cz = _row3(c, i)
        out[i] = segment_meets_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
