"""Signed crossings of the ray +z, decided exactly (docs/inside.md, the exact ray)."""

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.exact._orient import orient2d_sign, orient3d_sign
from impinge.exact._triangles import point_in_triangle

ON = 2  # instead of a crossing: the point lies on the closed triangle


@exact
def tie(px, py, qx, qy):
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
        s0 = tie(ax, ay, bx, by)
    if s1 == 0:
        s1 = tie(bx, by, cx, cy)
    if s2 == 0:
        s2 = tie(cx, cy, ax, ay)
    # Three equal signs are the sign of n_z; for a vertical triangle they cannot be equal.
    return s0 if s0 == s1 and s1 == s2 and s0 * below > 0 else 0


@kernel
def crossing_of(triangles, k, px, py, pz):
    """`vertical_crossing` with row k of the triangles; most rows are left after a look at the boxes."""
    k = np.uint64(k)
    ax, bx, cx = triangles[k, 0], triangles[k, 3], triangles[k, 6]
    if px > max(ax, bx, cx) or px < min(ax, bx, cx):
        return 0
    ay, by, cy = triangles[k, 1], triangles[k, 4], triangles[k, 7]
    if py > max(ay, by, cy) or py < min(ay, by, cy):
        return 0
    az, bz, cz = triangles[k, 2], triangles[k, 5], triangles[k, 8]
    return vertical_crossing(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)


@parallel(grain=1)
def count_all_crossings(first, stop, points, triangles, winding):
    """Winding number of points off the surface of a closed mesh, from all its triangles."""
    for i in range(first, stop):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        total = 0
        for k in range(np.uint64(len(triangles))):
            crossing = crossing_of(triangles, k, px, py, pz)
            if crossing != ON:
                total += crossing
        winding[i] = total


@exact
def _column(x, low, factor, factor_2, per_length, last):
    """Column of the grid that holds x: the same monotone function for points and for boxes of faces."""
    return min(max(int((x * factor * factor_2 - low) * per_length), 0), last)


@kernel
def count_columns(triangles, grid, shape, counts):
    """Number of faces whose closed shadow box touches each cell of the grid over xy; returns their sum.

    grid : factor, factor_2 (powers of two), and then, in coordinates times both, low x, low y, cells per
    length in x and in y.
    """
    counts[:] = 0
    total = 0
    for k in range(len(triangles)):
        t = triangles[k]
        x0 = _column(min(t[0], t[3], t[6]), grid[2], grid[0], grid[1], grid[4], shape[0] - 1)
        x1 = _column(max(t[0], t[3], t[6]), grid[2], grid[0], grid[1], grid[4], shape[0] - 1)
        y0 = _column(min(t[1], t[4], t[7]), grid[3], grid[0], grid[1], grid[5], shape[1] - 1)
        y1 = _column(max(t[1], t[4], t[7]), grid[3], grid[0], grid[1], grid[5], shape[1] - 1)
        total += (x1 - x0 + 1) * (y1 - y0 + 1)
        if len(counts) > 0:
            for i in range(x0, x1 + 1):
                for j in range(y0, y1 + 1):
                    counts[i * shape[1] + j] += 1
    return total


@kernel
def fill_columns(triangles, grid, shape, ends, members):
    """The faces of each cell, in the order of `triangles`; `ends` holds the starts, and becomes the ends."""
    for k in range(len(triangles)):
        t = triangles[k]
        x0 = _column(min(t[0], t[3], t[6]), grid[2], grid[0], grid[1], grid[4], shape[0] - 1)
        x1 = _column(max(t[0], t[3], t[6]), grid[2], grid[0], grid[1], grid[4], shape[0] - 1)
        y0 = _column(min(t[1], t[4], t[7]), grid[3], grid[0], grid[1], grid[5], shape[1] - 1)
        y1 = _column(max(t[1], t[4], t[7]), grid[3], grid[0], grid[1], grid[5], shape[1] - 1)
        for i in range(x0, x1 + 1):
            for j in range(y0, y1 + 1):
                cell = i * shape[1] + j
                members[ends[cell]] = k
                ends[cell] += 1


@parallel(grain=512)
def count_crossings(first, stop, points, triangles, tops, bounds, grid, shape, ends, members, winding, on_surface):
    """Winding numbers by the faces above each point, and whether a face holds the point.

    `triangles` come in falling order of their highest point `tops`, so that a column can be left early.
    """
    for i in range(first, stop):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        winding[i], on_surface[i] = 0.0, False
        if (
            px < bounds[0, 0] or px > bounds[1, 0]
            or py < bounds[0, 1] or py > bounds[1, 1]
            or pz < bounds[0, 2] or pz > bounds[1, 2]
        ):  # fmt: skip
            continue
        column = _column(px, grid[2], grid[0], grid[1], grid[4], shape[0] - 1) * shape[1]
        column += _column(py, grid[3], grid[0], grid[1], grid[5], shape[1] - 1)
        total = 0
        for m in range(ends[column - 1] if column > 0 else 0, ends[column]):
            k = members[m]
            if tops[k] < pz:
                break
            crossing = crossing_of(triangles, k, px, py, pz)
            if crossing == ON:
                on_surface[i] = True
                break
            total += crossing
        winding[i] = total
