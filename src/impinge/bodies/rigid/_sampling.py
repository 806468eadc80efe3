"""Cuts the faces of a mesh along the cells of a grid: what of the surface is in a cell, whatever the triangles."""

import math

import numpy as np

from impinge._jit import kernel

AREA, MOMENT, NORMAL = 0, 1, 4  # columns of a part: area, area · middle, area · normal
PART = 7
_CORNERS = 12  # of a triangle cut by six planes, and some more for rounding


@kernel
def _clip(source, count, axis, bound, sign, target):
    """The part of a polygon where sign · (x − bound) ≤ 0 along an axis; returns how many corners it has."""
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        a, b = sign * (source[i, axis] - bound), sign * (source[j, axis] - bound)
        if a <= 0.0 and kept < _CORNERS:
            for d in range(3):
                target[kept, d] = source[i, d]
            kept += 1
        if ((a < 0.0 and b > 0.0) or (a > 0.0 and b < 0.0)) and kept < _CORNERS:
            t = a / (a - b)
            for d in range(3):
                target[kept, d] = source[i, d] + t * (source[j, d] - source[i, d])
            target[kept, axis] = bound
            kept += 1
    return kept


@kernel
def _slab(source, count, axis, low, side, cell, other, target):
    """The part of a polygon in layer `cell` of the grid along an axis."""
    count = _clip(source, count, axis, low + cell * side, -1.0, other)
    return _clip(other, count, axis, low + (cell + 1) * side, 1.0, target)


@kernel
def _layers(polygon, count, axis, low, side):
    """First and last layer that a polygon reaches."""
    least, most = math.inf, -math.inf
    for i in range(count):
        least, most = min(least, polygon[i, axis]), max(most, polygon[i, axis])
    return math.floor((least - low) / side), math.floor((most - low) / side)


@kernel
def _measure(polygon, count, nx, ny, nz, row):
    """Area and area · middle of a flat polygon with unit normal n."""
    area, mx, my, mz = 0.0, 0.0, 0.0, 0.0
    ax, ay, az = polygon[0, 0], polygon[0, 1], polygon[0, 2]
    for i in range(1, count - 1):
        ux, uy, uz = polygon[i, 0] - ax, polygon[i, 1] - ay, polygon[i, 2] - az
        vx, vy, vz = polygon[i + 1, 0] - ax, polygon[i + 1, 1] - ay, polygon[i + 1, 2] - az
        part = 0.5 * (nx * (uy * vz - uz * vy) + ny * (uz * vx - ux * vz) + nz * (ux * vy - uy * vx))
        area += part
        mx, my, mz = mx + part * (ux + vx) / 3.0, my + part * (uy + vy) / 3.0, mz + part * (uz + vz) / 3.0
    row[AREA] = area
    row[MOMENT], row[MOMENT + 1], row[MOMENT + 2] = mx + area * ax, my + area * ay, mz + area * az
    row[NORMAL], row[NORMAL + 1], row[NORMAL + 2] = area * nx, area * ny, area * nz


@kernel
def cut(corners, normals, groups, low, side, shape, keys, parts):
    """Parts of faces by cell and group: returns their number; written are as many as there is room for.

    keys : (cell in the order of the grid) · number of groups + group, `shape` being (nx, ny, nz, groups).
    """
    found = 0
    whole, other = np.empty((_CORNERS, 3)), np.empty((_CORNERS, 3))
    sheet, bar, piece = np.empty((_CORNERS, 3)), np.empty((_CORNERS, 3)), np.empty((_CORNERS, 3))
    row = np.empty(PART)
    for f in range(len(corners)):
        for k in range(3):
            for d in range(3):
                whole[k, d] = corners[f, 3 * k + d]
        first, last = _layers(whole, 3, 0, low[0], side)
        for i in range(first, last + 1):
            in_sheet = _slab(whole, 3, 0, low[0], side, i, other, sheet)
            if in_sheet < 3:
                continue
            first_j, last_j = _layers(sheet, in_sheet, 1, low[1], side)
            for j in range(first_j, last_j + 1):
                in_bar = _slab(sheet, in_sheet, 1, low[1], side, j, other, bar)
                if in_bar < 3:
                    continue
                first_k, last_k = _layers(bar, in_bar, 2, low[2], side)
                for k in range(first_k, last_k + 1):
                    count = _slab(bar, in_bar, 2, low[2], side, k, other, piece)
                    if count < 3:
                        continue
                    _measure(piece, count, normals[f, 0], normals[f, 1], normals[f, 2], row)
                    if not row[AREA] > 0.0:
                        continue
                    if found < len(keys):
                        keys[found] = ((i * shape[1] + j) * shape[2] + k) * shape[3] + groups[f]
                        parts[found] = row
                    found += 1
    return found
