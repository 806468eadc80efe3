"""Lists of the patches and triangles near every sphere: count, sum up, fill."""

import numpy as np

from impinge._jit import exact, parallel, part
from impinge.bodies._obstacles import FLAT, GREATEST, SLACK, corners_of, height, nearest_to, to_body
from impinge.bodies._obstacles_build import NO_AREA
from impinge.inside._closest import STACK, WIDTH

BLOCK = 256  # spheres taken by one thread at a time
_TRIANGLE = np.int64(0xFFFFFFFF)  # bits of its number, below those of the obstacle
ROUNDING = 2.0**-46  # of coordinates: more than that of turning them


@exact
def _gap_sq(x, y, z, ax, ay, az, bx, by, bz):
    """Square of the distance from the box with corners a and b."""
    dx, dy, dz = max(ax - x, x - bx, 0.0), max(ay - y, y - by, 0.0), max(az - z, z - bz, 0.0)
    return dx * dx + dy * dy + dz * dz


@exact
def _within(x, y, z, corners, reach):
    """Whether a triangle comes within `reach` of x."""
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    gap_sq = _gap_sq(
        x, y, z, min(ax, bx, cx), min(ay, by, cy), min(az, bz, cz), max(ax, bx, cx), max(ay, by, cy), max(az, bz, cz)
    )
    if gap_sq > reach * reach:
        return False
    dx, dy, dz = nearest_to(x, y, z, corners)
    return dx * dx + dy * dy + dz * dz <= reach * reach


@exact
def _is_near(x, y, z, nx, ny, nz, h, corners, flags, reach, skin, flat):
    """Whether a triangle, above whose plane with normal n x is at height h, may be needed before x has moved by `skin`.

    It is if it comes within `reach`; and where its patch goes on at all its edges, only if it may come under the
    centre: closest points are feet of the centre, or on the border of the patch.
    """
    if flags == NO_AREA or abs(h) > reach + flat:
        return False
    if flags == 0 and not _within(x - h * nx, y - h * ny, z - h * nz, corners, skin + flat):
        return False
    return _within(x, y, z, corners, reach)


@part
def _visit(
    owner, root, x, y, z, reach, skin, flat, corners, borders, patches, planes, boxes, children, ranges, order, stack,
    out,
    start, stop,
):  # fmt: skip
    """Write the triangles of a tree near a sphere to out[start:stop], as far as they fit in; start + their number.

    owner : the number of the obstacle, in the bits above those of triangles.
    """
    stack[0], waiting, at = root, 1, start
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        for i in range(WIDTH):
            gap_sq = _gap_sq(
                x, y, z, boxes[node, i, 0], boxes[node, i, 1], boxes[node, i, 2], boxes[node, i, 3], boxes[node, i, 4],
                boxes[node, i, 5],
            )  # fmt: skip
            if gap_sq > reach * reach:
                continue
            if children[node, i] >= 0:
                stack[waiting] = children[node, i]
                waiting += 1
                continue
            for k in range(ranges[node, i, 0], ranges[node, i, 1]):
                t = order[k]
                p = patches[t]
                if _is_near(
                    x, y, z, planes[p, 0], planes[p, 1], planes[p, 2], height(planes, p, x, y, z),
                    corners_of(corners, t), borders[t], reach, skin, flat,
                ):  # fmt: skip
                    if at < stop:
                        out[at] = owner | t
                    at += 1
    return at


@part
def _entry_of(owned, patches):
    """Obstacle and patch of a triangle, in one number."""
    return (owned & ~_TRIANGLE) | patches[owned & _TRIANGLE]


@part
def _collect(
    i, x, skin, poses, fixed, asked_starts, asked, corners, borders, patches, planes, tolerances, roots, boxes,
    children, ranges, order, stack, out, start, stop,
):  # fmt: skip
    """Triangles of obstacles near sphere i, as `_visit`: of the first so many, `fixed`, and of those asked for it."""
    at = start
    farthest = abs(x[i, 0]) + abs(x[i, 1]) + abs(x[i, 2])
    for k in range(asked_starts[i] - fixed, asked_starts[i + 1]):
        o = k + fixed - asked_starts[i] if k < asked_starts[i] else asked[k]
        bx, by, bz = to_body(poses, o, x[i, 0], x[i, 1], x[i, 2])
        # Rounding may not cost a contact: turning the centre, and the distance itself.
        grown = skin + (tolerances[o, SLACK] + ROUNDING * (farthest + tolerances[o, GREATEST]))
        at = _visit(
            np.int64(o) << 32, roots[o], bx, by, bz, x[i, 3] + grown, grown, tolerances[o, FLAT], corners, borders,
            patches, planes, boxes,
            children, ranges, order, stack, out, at, stop,
        )  # fmt: skip
    return at


@parallel(grain=1)
def count_triangles(
    first, stop, x, skin, poses, fixed, asked_starts, asked, corners, borders, patches, planes, tolerances, roots,
    boxes, children, ranges, order,
    starts,
):  # fmt: skip
    """starts[i + 1] : number of triangles near sphere i."""
    stack, nowhere = np.empty(STACK, np.int32), np.empty(0, np.int64)
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            starts[i + 1] = _collect(
                i, x, skin, poses, fixed, asked_starts, asked, corners, borders, patches, planes, tolerances, roots,
                boxes, children, ranges, order,
                stack, nowhere, 0, 0,
            )  # fmt: skip


@parallel(grain=1)
def fill_triangles(
    first, stop, x, skin, poses, fixed, asked_starts, asked, corners, borders, patches, planes, tolerances, roots,
    boxes, children, ranges, order,
    starts, triangles, entry_starts,
):  # fmt: skip
    """The triangles near sphere i, ascending, from starts[i] on; entry_starts[i + 1] : number of their patches."""
    stack = np.empty(STACK, np.int32)
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            entry_starts[i + 1] = 0
            if starts[i] == starts[i + 1]:
                continue
            _collect(
                i, x, skin, poses, fixed, asked_starts, asked, corners, borders, patches, planes, tolerances, roots,
                boxes, children, ranges, order,
                stack, triangles, starts[i], starts[i + 1],
            )  # fmt: skip
            triangles[starts[i] : starts[i + 1]].sort()
            entries = 1
            for k in range(starts[i] + 1, starts[i + 1]):
                if _entry_of(triangles[k], patches) != _entry_of(triangles[k - 1], patches):
                    entries += 1
            entry_starts[i + 1] = entries


@parallel(grain=1)
def fill_entries(first, stop, starts, owned, patch_of, entry_starts, patches, owners, triangle_starts, triangles):
    """Patches near every sphere, ascending, whose they are, and where the triangles of each begin.

    owned : obstacle and triangle, as `_visit` writes them.
    """
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(starts) - 1)):
            e = entry_starts[i]
            for k in range(starts[i], starts[i + 1]):
                triangles[k] = owned[k] & _TRIANGLE
                if k == starts[i] or _entry_of(owned[k], patch_of) != _entry_of(owned[k - 1], patch_of):
                    patches[e], owners[e] = patch_of[triangles[k]], owned[k] >> 32
                    triangle_starts[e] = k
                    e += 1
