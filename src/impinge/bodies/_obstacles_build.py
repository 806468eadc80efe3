"""Kernels that group the triangles of a mesh into flat patches, and bound the tree over them."""

import math

import numpy as np

from impinge._jit import kernel, parallel
from impinge.inside._closest import WIDTH

PLAIN, NEEDLE, COLLAPSED = 0, 1, 2  # kinds of faces: with an area, without, with the same vertex twice
TURN_SQ = 1e-12  # of the sine between the normals of two faces of one patch
NO_AREA = 8  # flag beside those of the three edges in `borders`


@kernel
def _cross(vertices, faces, f):
    """Twice the area of a face, as a vector along its normal."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel
def sort_out_faces(vertices, faces, thin, areas, kinds):
    """Area and kind of every face; one whose height is at most `thin` has none."""
    for f in range(len(faces)):
        x, y, z = _cross(vertices, faces, f)
        area, longest_sq = math.sqrt(x * x + y * y + z * z), 0.0
        for k in range(3):
            a, b = faces[f, k], faces[f, (k + 1) % 3]
            length_sq = 0.0
            for d in range(3):
                length_sq += (vertices[b, d] - vertices[a, d]) ** 2
            longest_sq = max(longest_sq, length_sq)
        areas[f] = area
        kinds[f] = PLAIN if area > thin * math.sqrt(longest_sq) else NEEDLE
        if faces[f, 0] == faces[f, 1] or faces[f, 1] == faces[f, 2] or faces[f, 2] == faces[f, 0]:
            kinds[f] = COLLAPSED


@kernel
def _fits(vertices, faces, f, kind, seed, nx, ny, nz, flat):
    """Whether a face lies in the plane through a vertex of the seed: 1, turned over −1, no 0."""
    a = faces[seed, 0]
    for k in range(3):
        v = faces[f, k]
        dx, dy, dz = vertices[v, 0] - vertices[a, 0], vertices[v, 1] - vertices[a, 1], vertices[v, 2] - vertices[a, 2]
        if abs(dx * nx + dy * ny + dz * nz) > flat:
            return 0
    if kind != PLAIN:
        return 1
    x, y, z = _cross(vertices, faces, f)
    sx, sy, sz = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    if sx * sx + sy * sy + sz * sz > TURN_SQ * (x * x + y * y + z * z):
        return 0
    return 1 if x * nx + y * ny + z * nz > 0.0 else -1


@kernel
def grow_patches(vertices, faces, mate, order, areas, kinds, flat, patch, flipped):
    """Patch of every face, −1 for faces without area that touch no flat patch; the number of patches.

    A patch grows from its largest face across edges, all its faces being compared with the plane of this one, so
    that many small turns do not add up. mate : rings of half-edges, see `shapes/_edges.py`; order : faces by
    falling area; flipped : whether a face is turned against the seed of its patch.
    """
    stack = np.empty(len(faces), np.int32)
    for f in range(len(faces)):
        patch[f] = -1
    count = 0
    for place in range(len(order)):
        seed = order[place]
        if patch[seed] >= 0 or kinds[seed] != PLAIN:
            continue
        nx, ny, nz = _cross(vertices, faces, seed)
        nx, ny, nz = nx / areas[seed], ny / areas[seed], nz / areas[seed]
        patch[seed], flipped[seed], stack[0], waiting = count, False, seed, 1
        while waiting > 0:
            waiting -= 1
            f = stack[waiting]
            for h in range(3 * f, 3 * f + 3):
                g = mate[h]
                while g >= 0 and g != h:
                    other = g // 3
                    if patch[other] < 0 and kinds[other] != COLLAPSED:
                        side = _fits(vertices, faces, other, kinds[other], seed, nx, ny, nz, flat)
                        if side != 0:
                            along = faces[f, h % 3] == faces[other, g % 3]
                            # A face without area is as its neighbour is: they use their edge in opposite directions.
                            turned = side < 0 if kinds[other] == PLAIN else flipped[f] != along
                            patch[other], flipped[other] = count, turned
                            stack[waiting] = other
                            waiting += 1
                    g = mate[g]
        count += 1
    return count


@kernel
def number_by_first_face(patch, count):
    """Number patches in the order of their first faces, so that neighbours are near in memory."""
    number = np.full(count, -1, np.int32)
    used = 0
    for f in range(len(patch)):
        if patch[f] >= 0:
            if number[patch[f]] < 0:
                number[patch[f]] = used
                used += 1
            patch[f] = number[patch[f]]


@kernel
def fit_planes(vertices, faces, patch, kinds, flipped, planes):
    """Plane of every patch: the sum of its areas as vectors, through the middle of its vertices along it."""
    low, high = np.full(len(planes), np.inf), np.full(len(planes), -np.inf)
    planes[:] = 0.0
    for f in range(len(faces)):
        if patch[f] >= 0 and kinds[f] == PLAIN:
            sign = -1.0 if flipped[f] else 1.0
            x, y, z = _cross(vertices, faces, f)
            planes[patch[f], 0] += sign * x
            planes[patch[f], 1] += sign * y
            planes[patch[f], 2] += sign * z
    for p in range(len(planes)):
        x, y, z = planes[p, 0], planes[p, 1], planes[p, 2]
        length = math.sqrt(x * x + y * y + z * z)
        planes[p, 0], planes[p, 1], planes[p, 2] = x / length, y / length, z / length
    for f in range(len(faces)):
        p = patch[f]
        if p >= 0 and kinds[f] == PLAIN:
            for k in range(3):
                v = faces[f, k]
                along = planes[p, 0] * vertices[v, 0] + planes[p, 1] * vertices[v, 1] + planes[p, 2] * vertices[v, 2]
                low[p], high[p] = min(low[p], along), max(high[p], along)
    for p in range(len(planes)):
        planes[p, 3] = 0.5 * (low[p] + high[p])


@kernel
def mark_borders(faces, mate, patch, kinds, flipped, borders):
    """Flags of the edges at which a patch ends: those without a face of the patch on their other side."""
    for f in range(len(faces)):
        flags = NO_AREA if kinds[f] == NEEDLE else 0
        for k in range(3):
            h = 3 * f + k
            ends = True
            g = mate[h]
            while g >= 0 and g != h:
                other = g // 3
                same_way = faces[f, k] == faces[other, g % 3]
                if patch[other] == patch[f] and same_way == (flipped[other] != flipped[f]):
                    ends = False
                g = mate[g]
            if ends:
                flags |= 1 << k
        borders[f] = flags


@parallel(grain=256)
def bound_children(first, stop, corners, order, ranges, boxes):
    """Boxes around the triangles of every child of the nodes of a tree: lowest corner, highest corner."""
    for at in range(first, stop):
        for i in range(WIDTH):
            for d in range(3):
                low, high = np.inf, -np.inf
                for k in range(ranges[at, i, 0], ranges[at, i, 1]):
                    t = order[k]
                    low = min(low, corners[t, d], corners[t, 3 + d], corners[t, 6 + d])
                    high = max(high, corners[t, d], corners[t, 3 + d], corners[t, 6 + d])
                boxes[at, i, d], boxes[at, i, 3 + d] = low, high
