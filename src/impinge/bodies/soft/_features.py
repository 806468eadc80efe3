"""Kernels: whether the nearest points of a pair are nearest to each other on the surfaces around them, too.

A floor of many triangles has edges that nothing notices. What is beside such an edge is nearer to a face, whose normal
is right; along the line to the edge it would be held back by a floor that is flat. So the line between nearest points
has to be in the cone of normals of the edge or vertex where it ends: no face or edge there may lean towards it.
"""

import math

from impinge._jit import parallel, part
from impinge.ccd._times import VERTEX_TRIANGLE

_LEAN = 1e-3  # sine of an angle: less is rounding, or does not matter


@part
def _edge_leans(x, a, b, o, nx, ny, nz):
    """Whether face a, b, o leans towards a direction, seen from its edge a, b; not if there is none (o < 0)."""
    if o < 0:
        return False
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    dx, dy, dz = x[o, 0] - x[a, 0], x[o, 1] - x[a, 1], x[o, 2] - x[a, 2]
    along = (dx * ex + dy * ey + dz * ez) / max(ex * ex + ey * ey + ez * ez, 1e-300)
    dx, dy, dz = dx - along * ex, dy - along * ey, dz - along * ez
    return dx * nx + dy * ny + dz * nz > _LEAN * math.sqrt(dx * dx + dy * dy + dz * dz)


@part
def _vertex_leans(x, a, names, starts, neighbours, nx, ny, nz):
    """Whether an edge at vertex a leans towards a direction."""
    leans = False
    for e in range(starts[names[a]], starts[names[a] + 1]):
        o = neighbours[e]
        dx, dy, dz = x[o, 0] - x[a, 0], x[o, 1] - x[a, 1], x[o, 2] - x[a, 2]
        leans |= dx * nx + dy * ny + dz * nz > _LEAN * math.sqrt(dx * dx + dy * dy + dz * dz)
    return leans


@parallel(grain=256)
def find_true(
    first, stop, x, kinds, numbers, corners, weights, normals, across, opposite, names, starts, neighbours, out
):  # fmt: skip
    """Which pairs have their nearest points where no surface around leans towards the other one.

    across : (faces, 3) the far corner of the face beyond the edge that is opposite of each corner, or −1
    opposite : (edges, 2) the far corners of the faces at an edge, or −1
    names, starts, neighbours : number of the place of each vertex, and vertices that edges connect places with
    """
    for k in range(first, stop):
        a, b, c, d = corners[k]
        nx, ny, nz = normals[k]
        one, two = weights[k, 0] != 0.0, weights[k, 1] != 0.0
        three, four = weights[k, 2] != 0.0, weights[k, 3] != 0.0
        leans = False
        if kinds[k] == VERTEX_TRIANGLE:
            face, count = numbers[k, 1], two + three + four
            if count == 2 and not two:
                leans = _edge_leans(x, c, d, across[face, 0], nx, ny, nz)
            elif count == 2 and not three:
                leans = _edge_leans(x, d, b, across[face, 1], nx, ny, nz)
            elif count == 2:
                leans = _edge_leans(x, b, c, across[face, 2], nx, ny, nz)
            elif count == 1:
                leans = _vertex_leans(x, b if two else (c if three else d), names, starts, neighbours, nx, ny, nz)
            if count < 3:  # beside a face its normal is right, whatever is around the vertex
                leans |= _vertex_leans(x, a, names, starts, neighbours, -nx, -ny, -nz)
        else:
            i, j = numbers[k, 0], numbers[k, 1]
            if one and two:
                leans |= _edge_leans(x, a, b, opposite[i, 0], -nx, -ny, -nz)
                leans |= _edge_leans(x, a, b, opposite[i, 1], -nx, -ny, -nz)
            else:
                leans |= _vertex_leans(x, a if one else b, names, starts, neighbours, -nx, -ny, -nz)
            if three and four:
                leans |= _edge_leans(x, c, d, opposite[j, 0], nx, ny, nz)
                leans |= _edge_leans(x, c, d, opposite[j, 1], nx, ny, nz)
            else:
                leans |= _vertex_leans(x, c if three else d, names, starts, neighbours, nx, ny, nz)
        out[k] = not leans
