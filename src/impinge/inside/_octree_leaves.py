"""Leaf records of the octree: triangles prepared so that eight are tested at once in single precision.

For a leaf with reference point r and a triangle abc let A = a - r, B = b - r, C = c - r in units of half the
leaf's size, and for a query point p likewise q = p - r. With det = A·(B×C), made positive by the sign of the
record, the segment from p to r crosses the triangle if and only if

    (B×C)·q > 0,   (C×A)·q > 0,   (A×B)·q > 0   and   (A×B + B×C + C×A)·q > det.

The four values are evaluated in float32 on rows scaled to at most 1. Their rounding errors are below DOUBT
(see `write_leaves`), so a smallest value above DOUBT is a crossing, below -DOUBT none; in between the exact
predicates decide, which also find the points on the surface, where the last value or a pair of others
vanishes. A triangle for which double precision does not tell on which side of its plane r is gets zeros,
which leave every point in doubt.

A record starts with a header of HEADER_UNITS × 32 bytes: r (3 float64, space of the mesh), 2/size (float64,
tree space), winding number and number of blocks (2 int32). Blocks of LANES triangles follow: nine rows of
products, one of det, one of face numbers (int32; its complement where a crossing counts -1).
"""

import numpy as np

from impinge._jit import exact, parallel
from impinge.inside._octree_build import BLOCK_UNITS, HEADER_UNITS, LANES

EMPTY_LANE = np.int32(-(2**31))
DOUBT = np.float32(2.0**-15)
_EPS = 2.0**-53


@exact
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@exact
def _largest(x, y, z):
    return max(abs(x), abs(y), abs(z))


@parallel(grain=256)
def write_leaves(
    first, stop, vertices, faces, scale, half, entries, spans, units, references, windings, words, shorts, ints
):
    """Write the records; words, shorts and ints are one buffer seen as float64, float32 and int32.

    Rounding: |q| ≤ 2 and rows ≤ 1, so each of the first three values carries at most 30 units of 2^-24 and
    the fourth 180; rows whose own double-precision error could reach 2^-24 are replaced by zeros. DOUBT is
    512 units.
    """
    inv = 1.0 / half
    for leaf in range(first, stop):
        begin, end, unit = spans[leaf, 0], spans[leaf, 1], units[leaf]
        n = end - begin
        blocks = (n + LANES - 1) // LANES
        rx, ry, rz = references[leaf, 0], references[leaf, 1], references[leaf, 2]
        words[4 * unit] = rx
        words[4 * unit + 1] = ry
        words[4 * unit + 2] = rz
        words[4 * unit + 3] = inv
        ints[8 * unit + 8] = windings[leaf]
        ints[8 * unit + 9] = blocks
        for word in range(4 * unit + 5, 4 * unit + 8):
            words[word] = 0.0
        sx, sy, sz = rx * scale[0], ry * scale[1], rz * scale[2]
        for k in range(blocks * LANES):
            at = 8 * (unit + HEADER_UNITS + BLOCK_UNITS * (k // LANES)) + k % LANES
            if k >= n:  # a lane without a triangle: its last value is -1, surely no crossing
                for row in range(9):
                    shorts[at + LANES * row] = 0.0
                shorts[at + LANES * 9] = 1.0
                ints[at + LANES * 10] = EMPTY_LANE
                continue
            t = entries[begin + k]
            i, j, l = faces[t, 0], faces[t, 1], faces[t, 2]
            ax = (vertices[i, 0] * scale[0] - sx) * inv
            ay = (vertices[i, 1] * scale[1] - sy) * inv
            az = (vertices[i, 2] * scale[2] - sz) * inv
            bx = (vertices[j, 0] * scale[0] - sx) * inv
            by = (vertices[j, 1] * scale[1] - sy) * inv
            bz = (vertices[j, 2] * scale[2] - sz) * inv
            cx = (vertices[l, 0] * scale[0] - sx) * inv
            cy = (vertices[l, 1] * scale[1] - sy) * inv
            cz = (vertices[l, 2] * scale[2] - sz) * inv
            ux, uy, uz = _cross(bx, by, bz, cx, cy, cz)
            vx, vy, vz = _cross(cx, cy, cz, ax, ay, az)
            wx, wy, wz = _cross(ax, ay, az, bx, by, bz)
            det = ax * ux + ay * uy + az * uz
            la, lb, lc = _largest(ax, ay, az), _largest(bx, by, bz), _largest(cx, cy, cz)
            error = 64.0 * _EPS * la * lb * lc
            most = max(_largest(ux, uy, uz), _largest(vx, vy, vz), _largest(wx, wy, wz))
            longest = max(la, lb, lc)
            sure = abs(det) > max(error, 1e-200) and most > 1e-30 and longest < 1e30
            if sure and max(16.0 * _EPS * longest * longest, error) <= 2.0**-24 * most:
                factor = (1.0 if det > 0.0 else -1.0) / most
            else:
                factor = 0.0
            shorts[at] = ux * factor
            shorts[at + LANES] = uy * factor
            shorts[at + LANES * 2] = uz * factor
            shorts[at + LANES * 3] = vx * factor
            shorts[at + LANES * 4] = vy * factor
            shorts[at + LANES * 5] = vz * factor
            shorts[at + LANES * 6] = wx * factor
            shorts[at + LANES * 7] = wy * factor
            shorts[at + LANES * 8] = wz * factor
            shorts[at + LANES * 9] = det * factor
            # From the inner side of the triangle (det > 0) the way to p leads out: w(p) = w(r) - 1.
            ints[at + LANES * 10] = ~t if det > 0.0 else t
