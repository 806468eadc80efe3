"""Far clusters of the sons of a cell become local expansions of these: moments to local, and the father's to the sons'.

All sons are dealt with at once, matrix by matrix: those of high orders are so large that reading them takes most of the
time, and neighbours need the same ones.
"""

import numpy as np

from impinge._jit import kernel, part
from impinge._lanes import LANES, load, spread, store
from impinge.inside.multipole._translations import add_converted, expand

AT_ONCE = 4  # clusters that are multiplied by a matrix together
NOTHING = 64  # a target after the octants of all sons
# Columns of `found`: which cluster, its matrix, where to, its size in sides of the cell
CLUSTER, NUMBER, TARGET, SIZE = range(4)


@part
def octant_of(ix, iy, iz):
    """Which son of its father a cell is."""
    return (ix & 1) | (iy & 1) << 1 | (iz & 1) << 2


@part
def slot_of(level, ix, iy, iz):
    """Where a cell is kept while its sons are looked at: brothers beside each other."""
    return 8 * level + octant_of(ix, iy, iz)


@part
def note(found, count, c, number, size, son, dx, dy, dz):
    """Note a cluster, `size` times as large as the cell, that is far from a son; targets are octants of the offset."""
    found[count, CLUSTER], found[count, NUMBER], found[count, SIZE] = c, number, size
    found[count, TARGET] = 8 * son + ((1 if dx < 0 else 0) | (2 if dy < 0 else 0) | (4 if dz < 0 else 0))


@part
def _sort(found, count, begins, ranks):
    """Numbers of the clusters found, by matrix; begins : work space, where those of each matrix begin."""
    begins[:] = 0
    for k in range(count):
        begins[found[k, NUMBER]] += 1
    total = 0
    for number in range(len(begins)):
        here = begins[number]
        begins[number] = total
        total += here
    for k in range(count):
        number = found[k, NUMBER]
        ranks[begins[number]] = k
        begins[number] += 1


@part
def _multiply(matrices, corner, rows, width, turned, targets, sums):
    """Add a matrix, from `corner` on, times each of AT_ONCE rows of `turned` to rows of the sums."""
    second, third, fourth = np.uint64(rows), np.uint64(2 * rows), np.uint64(3 * rows)
    for block in range(0, width, LANES):
        at = np.uint64(corner + block)
        a = spread(sums, 0.0)
        b, c, d = a, a, a
        for k in range(np.uint64(rows)):
            column = load(matrices, at)
            a = a + column * turned[k]
            b = b + column * turned[k + second]
            c = c + column * turned[k + third]
            d = d + column * turned[k + fourth]
            at += np.uint64(width)
        to = np.uint64(targets[0] * width + block)
        store(sums, to, load(sums, to) + a)
        to = np.uint64(targets[1] * width + block)
        store(sums, to, load(sums, to) + b)
        to = np.uint64(targets[2] * width + block)
        store(sums, to, load(sums, to) + c)
        to = np.uint64(targets[3] * width + block)
        store(sums, to, load(sums, to) + d)


@part
def convert(
    order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes, begins, ranks,
    turned, targets,
):  # fmt: skip
    """Add moments of the clusters in `found` to the sums of their targets; the last row of the sums is for nothing."""
    if len(imaginary) > 0:
        _convert_high(order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes)
    else:
        _sort(found, count, begins, ranks)
        first = 0
        while first < count:
            number, taken = np.int64(found[ranks[first], NUMBER]), 0
            for place in range(AT_ONCE):
                k = ranks[first + taken] if first + taken < count else -1
                if k >= 0 and found[k, NUMBER] == number:
                    c, target = np.int64(found[k, CLUSTER]) * rows, np.int64(found[k, TARGET])
                    sign = (target & 7) * rows
                    for q in range(rows):
                        turned[place * rows + q] = moments[c + q] * moment_signs[sign + q]
                    targets[place] = target
                    taken += 1
                else:
                    for q in range(rows):
                        turned[place * rows + q] = 0.0
                    targets[place] = NOTHING
            _multiply(matrices, number * rows * width, rows, width, turned, targets, sums)
            first += taken


@kernel
def _convert_high(order, moments, matrices, imaginary, moment_signs, found, count, width, rows, sums, complexes):
    """The same without matrices."""
    m_re, m_im = complexes[:width], complexes[width : 2 * width]
    l_re, l_im = complexes[2 * width : 3 * width], complexes[3 * width :]
    size = (2 * order + 1) * (2 * order + 1)
    for entry in range(count):
        c, number = np.int64(found[entry, CLUSTER]), np.int64(found[entry, NUMBER])
        target = np.int64(found[entry, TARGET])
        l_re[0], scale = 0.0, 1.0 * found[entry, SIZE]  # of degree 0
        for n in range(1, order + 1):
            scale *= found[entry, SIZE]  # in sides of the cell
            for k in range(n * n, (n + 1) * (n + 1)):
                l_re[k] = moments[c * rows + k - 1] * moment_signs[(target & 7) * rows + k - 1] * scale
        expand(order, l_re, m_re, m_im)
        for k in range(width):
            l_re[k], l_im[k] = 0.0, 0.0
        add_converted(order, matrices, imaginary, number * size, m_re, m_im, l_re, l_im)
        for n in range(order + 1):
            to, at = target * width + n * n, n * n + n
            sums[to] += l_re[at]
            for m in range(1, n + 1):
                sums[to + 2 * m - 1] += l_re[at + m]
                sums[to + 2 * m] += l_im[at + m]


@part
def finish_local(level, ix, iy, iz, to_son, signs, width, columns, sums, locals):
    """Local coefficients of a cell: its octants put together, and what the father knows."""
    son, to = octant_of(ix, iy, iz), slot_of(level, ix, iy, iz) * width
    first = 8 * son * width
    for q in range(width):
        total = sums[first + q]
        for octant in range(1, 8):
            total += sums[first + octant * width + q] * signs[octant * width + q]
        locals[to + q] = total
    if level > 0:
        father = slot_of(level - 1, ix >> 1, iy >> 1, iz >> 1) * width
        for block in range(0, width, LANES):
            at = np.uint64(son * columns * width + block)
            result = load(locals, np.uint64(to + block))
            for k in range(columns):
                result = result + load(to_son, at) * locals[father + k]
                at += np.uint64(width)
            store(locals, np.uint64(to + block), result)
