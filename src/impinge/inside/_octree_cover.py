"""Which cells of a small lattice does a triangle meet? Separating axes, on the safe side.

The test follows Schwarz and Seidel [Schwarz2010]: a box and a triangle are disjoint if and only if they are
separated by the box's sides, by the triangle's plane, or by an edge in one of the three projections along
the axes. Coordinates are in units of one cell with the lattice's corner as origin. Every cell is enlarged by
MARGIN on all sides, which covers the rounding of the cells' bounds, of the query points' cell numbers and of
the vertices' local coordinates; the rounding of the test itself is added to each comparison. So a triangle
that meets a cell is always listed there, and one that is listed for nothing costs only a little time.
"""

import numpy as np

from impinge._jit import exact

MARGIN = 2.0**-10
_SIZE = 1.0 + 2.0 * MARGIN
_ROUNDING = 1e-14
_FLAT = 1e-10


@exact
def _edge(ax, ay, bx, by, side):
    """Inner normal of the projected edge a→b and the largest value of n·(x - a) over the cell at (0, 0)."""
    nx = side * (ay - by)
    ny = side * (bx - ax)
    reach = max(abs(ax), abs(ay)) + 8.0
    slack = _ROUNDING * (abs(nx) + abs(ny)) * reach
    most = max(nx, 0.0) * _SIZE + max(ny, 0.0) * _SIZE - (nx + ny) * MARGIN - nx * ax - ny * ay + slack
    return nx, ny, most


@exact
def _outside(edge, x, y):
    return edge[0] * x + edge[1] * y + edge[2] < 0.0


@exact
def _sided(ax, ay, bx, by, cx, cy, area, scale):
    """The three edges of a projected triangle; nothing is outside one that is seen edge-on."""
    if abs(area) <= _FLAT * scale:
        side = 0.0
    else:
        side = 1.0 if area > 0.0 else -1.0
    return _edge(ax, ay, bx, by, side), _edge(bx, by, cx, cy, side), _edge(cx, cy, ax, ay, side)


@exact
def cell_range(a, b, c, cells):
    """First and last cell of 0..cells-1 that the interval spanned by three coordinates meets (maybe none)."""
    low = min(a, b, c) - MARGIN
    high = max(a, b, c) + MARGIN
    first = 0 if low <= 0.0 else (cells if low >= cells else np.int64(low))
    last = -1 if high < 0.0 else (cells - 1 if high >= cells else np.int64(high))
    return first, last


@exact
def cover(ax, ay, az, bx, by, bz, cx, cy, cz, thin, x0, x1, y0, y1, z0, z1):
    """Cells of the given ranges, at most 4 a side, that the triangle meets.

    Returns a bit mask: bit (x - x0) + 4 (y - y0) + 16 (z - z0). `thin` says that the triangle's whole range
    is a single row of cells; being connected, it meets all of them.
    """
    one = np.uint64(1)
    mask = np.uint64(0)
    if thin:
        for z in range(z0, z1 + 1):
            for y in range(y0, y1 + 1):
                for x in range(x0, x1 + 1):
                    mask |= one << np.uint64((x - x0) + 4 * (y - y0) + 16 * (z - z0))
        return mask
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    scale = (abs(ux) + abs(uy) + abs(uz)) * (abs(vx) + abs(vy) + abs(vz))
    xy = _sided(ax, ay, bx, by, cx, cy, nz, scale)
    yz = _sided(ay, az, by, bz, cy, cz, nx, scale)
    zx = _sided(az, ax, bz, bx, cz, cx, ny, scale)
    reach = max(abs(ax), abs(ay), abs(az)) + 8.0
    spread = (abs(nx) + abs(ny) + abs(nz)) * (0.5 * _SIZE) + _ROUNDING * scale * reach
    offset = nx * (0.5 - ax) + ny * (0.5 - ay) + nz * (0.5 - az)
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            if _outside(yz[0], y, z) or _outside(yz[1], y, z) or _outside(yz[2], y, z):
                continue
            row = ny * y + nz * z + offset
            for x in range(x0, x1 + 1):
                if abs(nx * x + row) > spread:
                    continue
                if _outside(xy[0], x, y) or _outside(xy[1], x, y) or _outside(xy[2], x, y):
                    continue
                if _outside(zx[0], z, x) or _outside(zx[1], z, x) or _outside(zx[2], z, x):
                    continue
                mask |= one << np.uint64((x - x0) + 4 * (y - y0) + 16 * (z - z0))
    return mask
