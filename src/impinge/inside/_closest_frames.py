"""The tree of `_closest.py` once more in single precision, for grids: boxes, and triangles in their own frames."""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.inside._closest import BOX, LEAF, NODE, NOWHERE, WIDTH, length

FRAME = 19  # numbers of a frame
FRAMES = FRAME * WIDTH  # of those of a leaf
ROOM = 16  # numbers of a leaf's box, with one to spare: a line of the cache
FLAT = 2.0**-48  # height over length below which a triangle is a segment
ENLARGE = 2.0**-19  # of single-precision boxes, see ROUNDING in `_closest_grid.py`
AWAY = 1e15  # centre of a box that is not there, in single precision


@exact
def unit(x, y, z):
    """(direction, length); some direction if there is no length."""
    length = math.sqrt(x * x + y * y + z * z)
    if length > 0.0:
        return x / length, y / length, z / length, length
    return 1.0, 0.0, 0.0, 0.0


@kernel
def _frame_triangle(a, b, c, centre, out):
    """The triangle over its longest edge a, b: origin c, axes x along that edge, y towards it, z.

    The height from c parts it into two right triangles, x < 0 and x > 0, and the part on the side of a point
    holds its nearest point. out : origin, x, y, z (three numbers each), the height, then for both parts the
    outer normal (x and −y) and the length of the edge that leaves c.
    """
    xx, xy, xz, base = unit(b[0] - a[0], b[1] - a[1], b[2] - a[2])
    fx, fy, fz = a[0] - c[0], a[1] - c[1], a[2] - c[2]
    along = fx * xx + fy * xy + fz * xz
    fx, fy, fz = fx - along * xx, fy - along * xy, fz - along * xz
    again = fx * xx + fy * xy + fz * xz  # what is left of a needle is mostly rounding
    yx, yy, yz, height = unit(fx - again * xx, fy - again * xy, fz - again * xz)
    if height <= FLAT * base:  # a segment: any y across it will do
        height = 0.0
        if abs(xx) < 0.6:
            yx, yy, yz, _ = unit(0.0, xz, -xy)
        else:
            yx, yy, yz, _ = unit(-xz, 0.0, xx)
    out[0], out[1], out[2] = c[0] - centre[0], c[1] - centre[1], c[2] - centre[2]
    out[3], out[4], out[5] = xx, xy, xz
    out[6], out[7], out[8] = yx, yy, yz
    out[9], out[10], out[11] = xy * yz - xz * yy, xz * yx - xx * yz, xx * yy - xy * yx
    out[12] = height
    left, right = max(-along, 0.0), max(base + along, 0.0)
    edge = math.sqrt(left * left + height * height)
    out[13], out[14], out[15] = (height / edge, left / edge, edge) if edge > 0.0 else (0.0, 1.0, 0.0)
    edge = math.sqrt(right * right + height * height)
    out[16], out[17], out[18] = (height / edge, right / edge, edge) if edge > 0.0 else (0.0, 1.0, 0.0)


@exact
def _distance(a, b):
    return length(b[0] - a[0], b[1] - a[1], b[2] - a[2])


@parallel(grain=256)
def frame_leaves(first, stop, nodes, children, leaves, centre, coarse, boxes, frames):
    """In single precision and seen from the centre of the mesh: nodes, boxes of leaves, frames of triangles."""
    for item in range(first, stop):
        for i in range(WIDTH):
            there = nodes[item * NODE + i] != NOWHERE
            for d in range(BOX):
                number = nodes[item * NODE + d * WIDTH + i]
                if d < 3:
                    number = number - centre[d] if there else AWAY
                coarse[item * NODE + d * WIDTH + i] = number + (ENLARGE if d >= 12 else 0.0)
            if children[item, i] >= 0 or not there:
                continue
            leaf = ~children[item, i]
            for d in range(ROOM):
                boxes[leaf * ROOM + d] = coarse[item * NODE + d * WIDTH + i] if d < BOX else np.float32(0)
            for lane in range(WIDTH):
                triangle = leaves[leaf * LEAF + lane : (leaf + 1) * LEAF : WIDTH]
                frame = frames[leaf * FRAMES + lane : (leaf + 1) * FRAMES : WIDTH]
                a, b, c = triangle[0:3], triangle[3:6], triangle[6:9]
                ab, ac, bc = _distance(a, b), _distance(a, c), _distance(b, c)
                if ab >= ac and ab >= bc:
                    _frame_triangle(a, b, c, centre, frame)
                elif ac >= bc:
                    _frame_triangle(a, c, b, centre, frame)
                else:
                    _frame_triangle(b, c, a, centre, frame)
