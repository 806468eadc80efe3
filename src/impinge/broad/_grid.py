"""Grids of cells, one for each level of sizes, and the search through them.

A body lies in one cell, that of its centre, in the grid of its level. The bodies are sorted by level and cell
(x fastest), so that those of a row of neighbouring cells stand side by side. A body finds its partners in a
level by going through the rows of cells that its reach touches: its own half size, the largest there, the gap.

Bodies are spheres, (n, 4): centre and radius, or boxes, (n, 6): lower and upper corner. Only `_test_range` and
`_place_of` know the difference.

A grid has a limited number of cells. Where the bodies are spread wider it is folded: cells whose numbers along
an axis differ by a multiple of the grid's length are one. That costs tests, never pairs, and keeps both a few
bodies far away and clusters from needing more memory than bodies.

Kernels take the fields of `Grid` (grid.py) in their order.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, parallel, part
from impinge.broad._near import SLACK, TINY, near, touch

BLOCK = 16384  # bodies surveyed at a time
EXPONENTS = 2047  # of finite doubles
MANTISSA = 52  # bits of a double to the right of its exponent
NOT, BY_REACH, BY_CELL = 0, 1, 2
WIDE = 8  # rows beyond which a sphere is gone through row by row as wide as it is there


@parallel(grain=1)
def survey(first, stop, centres, sizes, bits, low, high, counts, largest):
    """For every block: lowest and highest centres; number and largest of the sizes with each exponent.

    bits : the sizes as integers; they are not negative
    """
    for block in range(first, stop):
        x0, y0, z0 = np.inf, np.inf, np.inf
        x1, y1, z1 = -np.inf, -np.inf, -np.inf
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(centres))):
            x0, x1 = min(x0, centres[i, 0]), max(x1, centres[i, 0])
            y0, y1 = min(y0, centres[i, 1]), max(y1, centres[i, 1])
            z0, z1 = min(z0, centres[i, 2]), max(z1, centres[i, 2])
            e = bits[i] >> MANTISSA
            largest[block, e] = max(largest[block, e], sizes[i])
            counts[block, e] += 1
        low[block, 0], low[block, 1], low[block, 2] = x0, y0, z0
        high[block, 0], high[block, 1], high[block, 2] = x1, y1, z1


@exact
def _cell(x, low, high, per_length):
    """Number of the cell along an axis: a monotone function of x, so that nothing within reach is missed."""
    return np.int64(math.floor((min(max(x, low), high) - low) * per_length))


@exact
def _fold(c, n, folded):
    return c % n if folded else min(max(c, 0), n - 1)


@parallel(grain=1)
def place(first, stop, centres, bits, level_of, low, high, per_length, shape, folded, offset, cells):
    """Cell of every body, over all levels; bits : of the sizes; level_of : level of each exponent."""
    for block in range(first, stop):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(centres))):
            level = level_of[bits[i] >> MANTISSA]
            x = _fold(_cell(centres[i, 0], low[0], high[0], per_length[level]), shape[level, 0], folded[level, 0])
            y = _fold(_cell(centres[i, 1], low[1], high[1], per_length[level]), shape[level, 1], folded[level, 1])
            z = _fold(_cell(centres[i, 2], low[2], high[2], per_length[level]), shape[level, 2], folded[level, 2])
            cells[i] = offset[level] + (z * shape[level, 1] + y) * shape[level, 0] + x


@parallel(grain=1)
def count_in_cells(first, stop, cells, counts):
    """Bodies in every cell, each row of counts for a part of the bodies; it starts with zeros."""
    parts = len(counts)
    for k in range(first, stop):
        for i in range(k * len(cells) // parts, (k + 1) * len(cells) // parts):
            counts[k, cells[i]] += 1


@kernel
def begin_cells(counts, starts):
    """Where the bodies of every cell begin, in `starts`, and those of every part of the bodies, instead of counts."""
    at = 0
    for c in range(counts.shape[1]):
        starts[c] = at
        for k in range(len(counts)):
            here = counts[k, c]
            counts[k, c] = at
            at += here
    starts[counts.shape[1]] = at


@parallel(grain=1)
def sort_by_cell(first, stop, cells, begins, order, ordered_cells):
    """Bodies in the order of their cells, and these; begins : from `begin_cells`, moved on."""
    parts = len(begins)
    for k in range(first, stop):
        for i in range(k * len(cells) // parts, (k + 1) * len(cells) // parts):
            at = begins[k, cells[i]]
            order[at], ordered_cells[at] = i, cells[i]
            begins[k, cells[i]] = at + 1


@parallel(grain=4096)
def gather_rows(first, stop, order, rows, ordered):
    """Rows of four or six numbers in a new order."""
    for at in range(np.uint64(first), np.uint64(stop)):
        i = np.uint64(order[at])
        ordered[at, 0], ordered[at, 1], ordered[at, 2], ordered[at, 3] = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        if rows.shape[1] == 6:
            ordered[at, 4], ordered[at, 5] = rows[i, 4], rows[i, 5]


@part
def _test_spheres(bodies, order, i, begin, end, gap, sx, sy, sz, keys, room, count):
    """Append the pairs of sphere i, moved back by s, with the spheres begin to end − 1; returns the new count.

    A pair is one number, the lower body's times 2^32 plus the higher one's. Beyond `room` they are only counted.
    (A function for that, also compiled into this one, made searches half as fast: so `_test_boxes` repeats it.)
    """
    name = np.int64(order[i])
    x, y, z, r = bodies[i, 0], bodies[i, 1], bodies[i, 2], bodies[i, 3]
    for q in range(np.uint64(begin), np.uint64(end)):
        dx, dy, dz = (x - bodies[q, 0]) - sx, (y - bodies[q, 1]) - sy, (z - bodies[q, 2]) - sz
        if near(dx, dy, dz, (r + bodies[q, 3]) + gap):
            if count < room:
                other = np.int64(order[q])
                keys[count] = (min(name, other) << 32) | max(name, other)
            count += 1
    return count


@part
def _test_boxes(bodies, order, i, begin, end, gap, sx, sy, sz, keys, room, count):
    """The same for boxes."""
    name = np.int64(order[i])
    for q in range(np.uint64(begin), np.uint64(end)):
        # `&`, not `and`: which axis decides cannot be foreseen, a branch for each would cost more
        if (
            touch(bodies[i, 0], bodies[i, 3], bodies[q, 0], bodies[q, 3], gap, sx)
            & touch(bodies[i, 1], bodies[i, 4], bodies[q, 1], bodies[q, 4], gap, sy)
            & touch(bodies[i, 2], bodies[i, 5], bodies[q, 2], bodies[q, 5], gap, sz)
        ):
            if count < room:
                other = np.int64(order[q])
                keys[count] = (min(name, other) << 32) | max(name, other)
            count += 1
    return count


@part
def _test_range(bodies, order, i, begin, end, gap, sx, sy, sz, keys, room, count):
    if bodies.shape[1] == 4:
        return _test_spheres(bodies, order, i, begin, end, gap, sx, sy, sz, keys, room, count)
    return _test_boxes(bodies, order, i, begin, end, gap, sx, sy, sz, keys, room, count)


@exact
def _step(c, by, n, folded):
    """The cell after or before c along an axis, or -1 if there is none."""
    c += by
    if folded:
        return c - n if c == n else (c + n if c < 0 else c)
    return c if 0 <= c < n else -1


@part
def _find_rows(base, level, y, z, shape, folded, rows):
    """First cells of the rows after (y, z) that touch it; returns how many.

    Half a stencil, as each pair of cells is to be looked at once [Muth2007b] 2.2: with the next cell of the same
    row these are (3^d − 1) / 2 neighbours.
    """
    mx, my, mz = shape[level, 0], shape[level, 1], shape[level, 2]
    count = 0
    for dz in range(2):
        plane = _step(z, dz, mz, folded[level, 2])
        for dy in range(1 if dz == 0 else -1, 2):
            row = _step(y, dy, my, folded[level, 1])
            if plane >= 0 and row >= 0:
                rows[count] = base + (plane * my + row) * mx
                count += 1
    return count


@kernel
def _search_cells(
    first, stop, level, bodies, order, cells, starts, shape, folded, offset, gap, ranges, rows, keys, room, most, count
):
    """Pairs within a level of the bodies first to stop − 1, by neighbouring cells: (count, tests)."""
    base, mx, my = offset[level], shape[level, 0], shape[level, 1]
    row, found, tests = base - mx, 0, 0
    p = first
    while p < stop and count <= most:
        cell = np.int64(cells[p])
        if cell >= row + mx:
            number = (cell - base) // mx
            row = base + number * mx
            found = _find_rows(base, level, number % my, number // my, shape, folded, rows)
        x = cell - row
        before, after = max(x - 1, 0), min(x + 2, mx)
        ranges[0, 0], ranges[0, 1] = p, starts[row + after]
        n = 1
        around = folded[level, 0] and (x == 0 or x == mx - 1)  # the row goes on at its other end
        other = mx - 1 if x == 0 else 0
        if around and x > 0:
            ranges[n, 0], ranges[n, 1] = starts[row], starts[row + 1]
            n += 1
        for k in range(found):
            ranges[n, 0], ranges[n, 1] = starts[rows[k] + before], starts[rows[k] + after]
            n += ranges[n, 0] < ranges[n, 1]
            if around:
                ranges[n, 0], ranges[n, 1] = starts[rows[k] + other], starts[rows[k] + other + 1]
                n += 1
        last = min(np.int64(starts[cell + 1]), stop)
        for k in range(n):
            begin, end = ranges[k, 0], ranges[k, 1]
            for i in range(p, last):
                if k == 0:
                    begin = i + 1
                tests += end - begin
                count = _test_range(bodies, order, i, begin, end, gap, 0.0, 0.0, 0.0, keys, room, count)
        p = last
    return count, tests


@exact
def _span(x, reach, low, high, per_length, n, folded):
    """(first cell along an axis within reach of x, number of cells), each cell of a folded grid at most once."""
    reach += SLACK * (abs(x) + abs(low) + reach) + TINY
    first, last = _cell(x - reach, low, high, per_length), _cell(x + reach, low, high, per_length)
    if folded:
        return (first, last - first + 1) if last - first < n else (np.int64(0), n)
    first, last = min(max(first, 0), n - 1), min(max(last, 0), n - 1)
    return first, last - first + 1


@exact
def _beside(x, c, low, length, n):
    """Distance of x from cell c of n along an axis, rounded down; the outer ones reach to infinity."""
    if c == 0 or c == n - 1:
        return 0.0
    left = low + c * length
    away = max(left - x, x - (left + length))
    return max(away - SLACK * (abs(x) + abs(low) + abs(left) + length), 0.0)


@part
def _search_level(
    p, level, same, x, y, z, rx, ry, rz, sx, sy, sz, bodies, order, starts, low, high, per_length, shape, folded,
    offset, gap, keys, room, count,
):  # fmt: skip
    """Partners of body p, moved back by s to (x, y, z), within a level and its reach r: (count, tests).

    In its `same` own level only those after it.
    """
    mx, my, mz = shape[level, 0], shape[level, 1], shape[level, 2]
    per, base = per_length[level], offset[level]
    length = 1.0 / per
    x0, nx = _span(x, rx, low[0], high[0], per, mx, folded[level, 0])
    y0, ny = _span(y, ry, low[1], high[1], per, my, folded[level, 1])
    z0, nz = _span(z, rz, low[2], high[2], per, mz, folded[level, 2])
    fold_x, fold_y, fold_z = folded[level, 0], folded[level, 1], folded[level, 2]
    # Of a sphere that reaches over many rows, most need not be gone through over the full width.
    ball = bodies.shape[1] == 4 and ny > WIDE and not (fold_x or fold_y or fold_z)
    at = _fold(x0, mx, fold_x)
    until = min(at + nx, mx)
    tests = 0
    for c in range(z0, z0 + nz):
        plane = _fold(c, mz, fold_z) * my
        dz = _beside(z, c, low[2], length, mz) if ball else 0.0
        for b in range(y0, y0 + ny):
            if ball:
                dy = _beside(y, b, low[1], length, my)
                rest_sq = rx * rx * (1.0 + SLACK) - dy * dy - dz * dz
                if rest_sq < 0.0:
                    continue
                at, nx = _span(x, math.sqrt(rest_sq), low[0], high[0], per, mx, False)
                until = at + nx
            row = base + (plane + _fold(b, my, fold_y)) * mx
            rest = nx - (until - at)  # cells of a folded row that starts again at its beginning
            for turn in range(2 if rest > 0 else 1):
                begin = np.int64(starts[row + at] if turn == 0 else starts[row])
                end = np.int64(starts[row + until] if turn == 0 else starts[row + rest])
                begin = min(max(begin, p + 1), end) if same else begin
                tests += end - begin
                count = _test_range(bodies, order, p, begin, end, gap, sx, sy, sz, keys, room, count)
    return count, tests


@exact
def _place_of(bodies, p, k):
    """Centre and half size of body p along axis k."""
    if bodies.shape[1] == 4:
        return bodies[p, k], bodies[p, 3]
    return 0.5 * bodies[p, k] + 0.5 * bodies[p, k + 3], 0.5 * bodies[p, k + 3] - 0.5 * bodies[p, k]


@exact
def _images(x, reach, low, period):
    """First and last multiple of the period by which x must be moved back to reach all partners."""
    if period == 0.0:
        return 0, 0
    reach += SLACK * (abs(x) + abs(low) + period)
    return (-1 if x - reach <= low else 0), (1 if x + reach >= low + period else 0)


@parallel(grain=1)
def search(
    first, stop, chunks, bodies, order, cells, starts, low, high, per_length, shape, folded, offset, half, looks, gap,
    box, period, keys, ends, too_many, counts, tests,
):  # fmt: skip
    """Pairs of the bodies of chunks (level, first, end); those of the k-th from ends[k] on, up to ends[k + 1].

    looks[a, b] : how bodies of level a look for partners in level b (NOT, BY_REACH; BY_CELL: together with those
    of their cell, in the neighbouring ones, for a = b only); half : largest half sizes in each level. A chunk with
    `too_many` pairs is not finished.
    """
    ranges, rows = np.empty((10, 2), np.int64), np.empty(4, np.int64)
    is_open = period[0] == 0.0 and period[1] == 0.0 and period[2] == 0.0
    for k in range(first, stop):
        level, begin, end = chunks[k, 0], chunks[k, 1], chunks[k, 2]
        count, room, most = ends[k], ends[k + 1], ends[k] + too_many
        tests[k] = 0
        if looks[level, level] == BY_CELL:
            count, tested = _search_cells(
                begin, end, level, bodies, order, cells, starts, shape, folded, offset, gap, ranges, rows, keys, room,
                most, count,
            )  # fmt: skip
            tests[k] += tested
        for other in range(len(half)):
            if looks[level, other] == NOT or (looks[level, other] == BY_CELL and is_open):
                continue
            count, tested = _search_others(
                begin, end, other, level == other, looks[level, other] == BY_CELL, bodies, order, starts, low,
                high, per_length, shape, folded, offset, half, gap, box, period, keys, room, most, count,
            )  # fmt: skip
            tests[k] += tested
        counts[k] = count - ends[k]


@kernel
def _search_others(
    first, stop, level, same, images_only, bodies, order, starts, low, high, per_length, shape, folded, offset, half,
    gap, box, period, keys, room, most, count,
):  # fmt: skip
    """Partners in a level of the bodies first to stop − 1 and of their periodic images: (count, tests)."""
    tests = 0
    for p in range(first, stop):
        if count > most:
            break
        x, hx = _place_of(bodies, p, 0)
        y, hy = _place_of(bodies, p, 1)
        z, hz = _place_of(bodies, p, 2)
        rx, ry, rz = hx + half[level, 0] + gap, hy + half[level, 1] + gap, hz + half[level, 2] + gap
        x0, x1 = _images(x, rx, box[0], period[0])
        y0, y1 = _images(y, ry, box[1], period[1])
        z0, z1 = _images(z, rz, box[2], period[2])
        for a in range(x0, x1 + 1):
            for b in range(y0, y1 + 1):
                for c in range(z0, z1 + 1):
                    if images_only and a == 0 and b == 0 and c == 0:
                        continue
                    sx, sy, sz = a * period[0], b * period[1], c * period[2]
                    count, tested = _search_level(
                        p, level, same, x - sx, y - sy, z - sz, rx, ry, rz, sx, sy, sz, bodies, order, starts, low,
                        high, per_length, shape, folded, offset, gap, keys, room, count,
                    )  # fmt: skip
                    tests += tested
    return count, tests
