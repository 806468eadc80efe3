"""Random sequential insertion of spheres, and how spheres push each other apart.

Placed spheres are kept in linked lists of the cells of a grid, one grid for each class of sizes, so that a sphere
looks at few others of any size. Most of the places tried are taken; a map of small voxels, one bit each, that no
sphere of the current size can be centred in, rejects nearly all of those with one look. The map only saves time: what
it lets through is tested against the spheres themselves.

All arrays have three axes; in two dimensions z is 0 and one cell thick. Kernels take the fields of `Cells` and
`VoxelMap` (insertion.py) in their order.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel, part
from impinge.broad._near import SLACK, near, shorter, wrap

WORD = 64  # voxels in a word of the map, along x
ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)


@exact
def _cell(x, low, per_length):
    """Number of the cell along an axis; whatever is far away, is in a cell far away."""
    return np.int64(math.floor(min(max((x - low) * per_length, -1e15), 1e15)))


@exact
def _span(x, reach, low, per_length, n, period):
    """(first cell along an axis within reach of x, number of cells); on a circle they may be beyond 0 to n − 1."""
    reach += SLACK * (abs(x) + abs(low) + reach)
    first, last = _cell(x - reach, low, per_length), _cell(x + reach, low, per_length)
    if period > 0.0:
        return (first, last - first + 1) if last - first < n else (np.int64(0), n)
    first, last = min(max(first, 0), n - 1), min(max(last, 0), n - 1)
    return first, last - first + 1


@exact
def _fold(c, n):
    """Cell c of a circle of n, for c from −n to 2n − 1: without a division."""
    return c + n if c < 0 else (c - n if c >= n else c)


@exact
def _outwards(first, n, k):
    """The k-th of n numbers from `first` on, those in the middle first."""
    return first + n // 2 + (k // 2 if k % 2 == 0 else -(k + 1) // 2)


@part
def _is_free(x, y, z, r, gap, rows, level_of, low, period, largest, shape, per_length, offset, heads, links):
    """Whether a sphere is more than `gap` away from all placed ones; levels not yet in use have no largest radius."""
    for level in range(len(largest)):
        if largest[level] == 0.0:
            continue
        reach = r + largest[level] + gap
        mx, my, mz = shape[level, 0], shape[level, 1], shape[level, 2]
        x0, nx = _span(x, reach, low[0], per_length[level, 0], mx, period[0])
        y0, ny = _span(y, reach, low[1], per_length[level, 1], my, period[1])
        z0, nz = _span(z, reach, low[2], per_length[level, 2], mz, period[2])
        for k in range(nz):
            plane = offset[level] + _fold(_outwards(z0, nz, k), mz) * my * mx
            for l in range(ny):
                row = plane + _fold(_outwards(y0, ny, l), my) * mx
                for a in range(x0, x0 + nx):
                    head = heads[np.uint64(row + _fold(a, mx))]
                    while head >= 0:
                        j = np.uint64(head)
                        dx = shorter(x - rows[j, 0], period[0])
                        dy = shorter(y - rows[j, 1], period[1])
                        dz = shorter(z - rows[j, 2], period[2])
                        if near(dx, dy, dz, (r + rows[j, 3]) + gap):
                            return False
                        head = links[j]
    return True


@part
def _link(i, rows, level_of, low, period, largest, shape, per_length, offset, heads, links):
    """Put sphere i into its cell; those beyond the grid go into the outer cells."""
    level = level_of[i]
    cell = np.int64(0)
    for k in range(2, -1, -1):
        n = shape[level, k]
        cell = cell * n + min(max(_cell(rows[i, k], low[k], per_length[level, k]), 0), n - 1)
    links[i] = heads[offset[level] + cell]
    heads[offset[level] + cell] = i


@part
def _set_run(bits, first, last):
    """Set the bits first to last, if there are any."""
    a, b = first // WORD, last // WORD
    for w in range(a, b + 1):
        mask = ALL
        if w == a:
            mask &= ALL << np.uint64(first % WORD)
        if w == b:
            mask &= ALL >> np.uint64(WORD - 1 - last % WORD)
        bits[w] |= mask


@part
def _is_set(bits, place):
    return (bits[place // WORD] >> np.uint64(place % WORD)) & ONE != 0


@part
def _cover(x, y, z, reach, period, corner, voxels, per_voxel, bits):
    """Mark the voxels that lie wholly within `reach` of (x, y, z); along an axis without length there is one."""
    vx, vy, vz = voxels[0], voxels[1], voxels[2]
    ey = 1.0 / per_voxel[1] if per_voxel[1] > 0.0 else 0.0
    ez = 1.0 / per_voxel[2] if per_voxel[2] > 0.0 else 0.0
    y0, ny = _span(y, reach, corner[1], per_voxel[1], vy, period[1])
    z0, nz = _span(z, reach, corner[2], per_voxel[2], vz, period[2])
    for c in range(z0, z0 + nz):
        left = corner[2] + c * ez
        dz = max(abs(left - z), abs(left + ez - z))
        for b in range(y0, y0 + ny):
            left = corner[1] + b * ey
            dy = max(abs(left - y), abs(left + ey - y))
            rest_sq = reach * reach - dy * dy - dz * dz
            if rest_sq <= 0.0:
                continue
            half = math.sqrt(rest_sq)
            first, last = _cell(x - half, corner[0], per_voxel[0]) + 1, _cell(x + half, corner[0], per_voxel[0]) - 1
            if per_voxel[0] == 0.0 and abs(x - corner[0]) < half:
                first, last = np.int64(0), np.int64(0)
            row = (_fold(c, vz) * vy + _fold(b, vy)) * vx
            if period[0] > 0.0:  # what is beyond one end goes on at the other
                if first < 0:
                    _set_run(bits, row + max(first + vx, 0), row + min(last, -1) + vx)
                if last >= vx:
                    _set_run(bits, row + max(first, vx) - vx, row + min(last - vx, vx - 1))
            _set_run(bits, row + max(first, 0), row + min(last, vx - 1))


@part
def _is_covered(x, y, z, corner, voxels, per_voxel, bits):
    a = min(max(_cell(x, corner[0], per_voxel[0]), 0), voxels[0] - 1)
    b = min(max(_cell(y, corner[1], per_voxel[1]), 0), voxels[1] - 1)
    c = min(max(_cell(z, corner[2], per_voxel[2]), 0), voxels[2] - 1)
    return _is_set(bits, (c * voxels[1] + b) * voxels[0] + a)


@kernel
def link_spheres(count, rows, level_of, low, period, largest, shape, per_length, offset, heads, links):
    """Put the first `count` spheres into their cells."""
    for i in range(count):
        _link(i, rows, level_of, low, period, largest, shape, per_length, offset, heads, links)


@kernel
def cover_spheres(count, rows, least, gap, period, corner, voxels, per_voxel, bits):
    """Mark the voxels in which the first `count` spheres leave no place for a centre of radius `least` or more."""
    for i in range(count):
        _cover(rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] + least + gap, period, corner, voxels, per_voxel, bits)


@kernel
def drop_covered(points, corner, voxels, per_voxel, bits):
    """Move the points in voxels that are not marked to the front; returns their number."""
    count = 0
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        points[count, 0], points[count, 1], points[count, 2] = x, y, z
        count += not _is_covered(x, y, z, corner, voxels, per_voxel, bits)
    return count


@kernel
def list_open(count, bits, listed):
    """List those of the first `count` voxels that are not marked, as far as there is room; returns how many."""
    found = 0
    for voxel in range(count):
        if not _is_set(bits, voxel):
            if found < len(listed):
                listed[found] = voxel
            found += 1
    return found


@kernel
def drop_marked(listed, bits):
    """Move the voxels of a list that are not marked to the front; returns their number."""
    count = 0
    for p in range(len(listed)):
        voxel = np.int64(listed[p])
        listed[count] = voxel
        count += not _is_set(bits, voxel)
    return count


@kernel
def place_in_voxels(chosen, points, corner, voxels, per_voxel, bits):
    """Points with coordinates 0 to 1, as parts of a voxel, to places in the chosen voxels."""
    for p in range(len(points)):
        voxel = np.int64(chosen[p])
        number = voxel % voxels[0], voxel // voxels[0] % voxels[1], voxel // (voxels[0] * voxels[1])
        for k in range(3):
            points[p, k] = corner[k] + ((number[k] + points[p, k]) / per_voxel[k] if per_voxel[k] > 0.0 else 0.0)


@kernel
def insert(
    i, stop, points, least, gap, walls,
    rows, level_of, low, period, largest, shape, per_length, offset, heads, links, corner, voxels, per_voxel, bits,
):  # fmt: skip
    """Centre the spheres from i on at those of the points that are free, in this order; returns the first not placed.

    least : radius for which the map is made; walls : (2, 3) that spheres must be between
    """
    for p in range(len(points)):
        if i == stop:
            break
        r = rows[i, 3]
        x = wrap(points[p, 0], low[0], period[0])  # rounding may have brought it to the end of the period
        y = wrap(points[p, 1], low[1], period[1])
        z = wrap(points[p, 2], low[2], period[2])
        if x - r < walls[0, 0] or y - r < walls[0, 1] or z - r < walls[0, 2]:
            continue
        if x + r > walls[1, 0] or y + r > walls[1, 1] or z + r > walls[1, 2]:
            continue
        if _is_covered(x, y, z, corner, voxels, per_voxel, bits):
            continue
        if _is_free(x, y, z, r, gap, rows, level_of, low, period, largest, shape, per_length, offset, heads, links):
            rows[i, 0], rows[i, 1], rows[i, 2] = x, y, z
            _link(i, rows, level_of, low, period, largest, shape, per_length, offset, heads, links)
            _cover(x, y, z, r + least + gap, period, corner, voxels, per_voxel, bits)
            i += 1
    return i


@exact
def _into_walls(x, r, low, high):
    """How far a sphere must move along an axis to be between the walls."""
    return max(low - (x - r), 0.0) - max((x + r) - high, 0.0)


@exact
def _room_at_walls(x, r, low, high):
    """Distance of the centre to the nearer wall, in radii."""
    return min(x - low, high - x) / r


@parallel(grain=256)
def push_apart(
    first, stop, rows, masses, starts, partners, gap, swelling, walls, low, period, memory, step, moves, moved, room
):
    """Move spheres away from others and walls that are nearer than if they were larger by the factor `swelling`.

    Of a pair the lighter one moves more; those with infinite mass do not move. Every sphere goes on with a part, the
    `memory`, of its last move, as long as it touches something.

    moves, moved : (n, 3) last moves, and the new places
    room : (n,) by which factor the radius could be larger with nothing in the way, at the places in `rows`
    """
    for i in range(first, stop):
        x, y, z, r = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        room[i] = np.inf
        moved[i, 0], moved[i, 1], moved[i, 2] = x, y, z
        if masses[i] == np.inf:
            continue
        large = r * swelling
        px = _into_walls(x, large, walls[0, 0], walls[1, 0])
        py = _into_walls(y, large, walls[0, 1], walls[1, 1])
        pz = _into_walls(z, large, walls[0, 2], walls[1, 2])
        free = min(
            _room_at_walls(x, r, walls[0, 0], walls[1, 0]),
            _room_at_walls(y, r, walls[0, 1], walls[1, 1]),
            _room_at_walls(z, r, walls[0, 2], walls[1, 2]),
        )
        for q in range(starts[i], starts[i + 1]):
            j = partners[q]
            dx = shorter(x - rows[j, 0], period[0])
            dy = shorter(y - rows[j, 1], period[1])
            dz = shorter(z - rows[j, 2], period[2])
            reach = (r + rows[j, 3] + gap) * swelling
            if near(dx, dy, dz, reach):
                distance = math.sqrt(dx * dx + dy * dy + dz * dz)
                free = min(free, (distance - gap) / (r + rows[j, 3]))
                share = 1.0 if masses[j] == np.inf else masses[j] / (masses[i] + masses[j])
                share *= (reach - distance) / distance if distance > 0.0 else 0.0
                px, py, pz = px + share * dx, py + share * dy, pz + share * dz
        room[i] = free
        if free > swelling:
            moves[i, 0], moves[i, 1], moves[i, 2] = 0.0, 0.0, 0.0
            continue
        moves[i, 0] = memory * moves[i, 0] + step * px
        moves[i, 1] = memory * moves[i, 1] + step * py
        moves[i, 2] = memory * moves[i, 2] + step * pz
        moved[i, 0] = wrap(x + moves[i, 0], low[0], period[0])
        moved[i, 1] = wrap(y + moves[i, 1], low[1], period[1])
        moved[i, 2] = wrap(z + moves[i, 2], low[2], period[2])
