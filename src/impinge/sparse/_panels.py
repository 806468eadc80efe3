"""Kernels: dense matrices in slabs of 16 rows, and the three steps that factorisations are made of.

A slab of a matrix of `columns` columns is an array of columns × 16 numbers: entry (i, k) is at k · 16 + i mod 16 of
slab i // 16. Lower triangles of symmetric matrices are in squares of 16 × 16, the square of slabs (s, t), t ≤ s, at
256 (s (s + 1) / 2 + t). So one column of a slab is one vector of `_lanes`, and eight numbers of the other operand are
side by side.
"""

from numpy import sqrt, uint64

from impinge._jit import kernel, part
from impinge._lanes import HAS_ROOM, load, store

ROWS = 16  # of a slab: LANES
STRIP = 8  # columns that are worked on at a time
_STEP = uint64(ROWS)
_CHUNK = uint64(96 * ROWS)  # of both factors are in the nearest cache


@part
def _subtract_eight(c, at, a, first, b, other, depth):
    c0, c1 = load(c, at), load(c, at + _STEP)
    c2, c3 = load(c, at + uint64(32)), load(c, at + uint64(48))
    c4, c5 = load(c, at + uint64(64)), load(c, at + uint64(80))
    c6, c7 = load(c, at + uint64(96)), load(c, at + uint64(112))
    end = first + depth * _STEP
    while first < end:
        x = load(a, first)
        c0 = c0 - x * b[other]
        c1 = c1 - x * b[other + uint64(1)]
        c2 = c2 - x * b[other + uint64(2)]
        c3 = c3 - x * b[other + uint64(3)]
        c4 = c4 - x * b[other + uint64(4)]
        c5 = c5 - x * b[other + uint64(5)]
        c6 = c6 - x * b[other + uint64(6)]
        c7 = c7 - x * b[other + uint64(7)]
        first += _STEP
        other += _STEP
    store(c, at, c0)
    store(c, at + _STEP, c1)
    store(c, at + uint64(32), c2)
    store(c, at + uint64(48), c3)
    store(c, at + uint64(64), c4)
    store(c, at + uint64(80), c5)
    store(c, at + uint64(96), c6)
    store(c, at + uint64(112), c7)


@part
def _subtract_two(c, at, a, first, b, other, end):
    c0, c1 = load(c, at), load(c, at + _STEP)
    while first < end:
        x = load(a, first)
        c0 = c0 - x * b[other]
        c1 = c1 - x * b[other + uint64(1)]
        first += _STEP
        other += _STEP
    store(c, at, c0)
    store(c, at + _STEP, c1)


@part
def _subtract_pairs(c, at, a, first, b, other, depth):
    end = first + depth * _STEP
    while first < end:
        stop = min(first + _CHUNK, end)
        _subtract_two(c, at, a, first, b, other, stop)
        _subtract_two(c, at + uint64(32), a, first, b, other + uint64(2), stop)
        _subtract_two(c, at + uint64(64), a, first, b, other + uint64(4), stop)
        _subtract_two(c, at + uint64(96), a, first, b, other + uint64(6), stop)
        first += _CHUNK
        other += _CHUNK


# Eight columns of a slab less a product: C(:, j) −= Σ_k A(:, k) B(j, k), k < depth.
# at, first, other : places of the first column of C, of column 0 of A and of row 0 in column 0 of B; all uint64
# Sums are the same to the last bit in both ways; eight columns together need 32 registers of 8 numbers.
subtract = _subtract_eight if HAS_ROOM else _subtract_pairs


@part
def divide(c, at, t):
    """Eight columns of a slab times the inverse of a triangle: C ← C L⁻ᵀ, with L(i, k) or 1/L(i, i) at t[8 i + k]."""
    c0 = load(c, at) * t[0]
    c1 = (load(c, at + _STEP) - c0 * t[8]) * t[9]
    c2 = (load(c, at + uint64(32)) - c0 * t[16] - c1 * t[17]) * t[18]
    c3 = (load(c, at + uint64(48)) - c0 * t[24] - c1 * t[25] - c2 * t[26]) * t[27]
    c4 = (load(c, at + uint64(64)) - c0 * t[32] - c1 * t[33] - c2 * t[34] - c3 * t[35]) * t[36]
    c5 = (load(c, at + uint64(80)) - c0 * t[40] - c1 * t[41] - c2 * t[42] - c3 * t[43] - c4 * t[44]) * t[45]
    c6 = load(c, at + uint64(96)) - c0 * t[48] - c1 * t[49] - c2 * t[50] - c3 * t[51] - c4 * t[52]
    c6 = (c6 - c5 * t[53]) * t[54]
    c7 = load(c, at + uint64(112)) - c0 * t[56] - c1 * t[57] - c2 * t[58] - c3 * t[59] - c4 * t[60]
    c7 = (c7 - c5 * t[61] - c6 * t[62]) * t[63]
    store(c, at, c0)
    store(c, at + _STEP, c1)
    store(c, at + uint64(32), c2)
    store(c, at + uint64(48), c3)
    store(c, at + uint64(64), c4)
    store(c, at + uint64(80), c5)
    store(c, at + uint64(96), c6)
    store(c, at + uint64(112), c7)


@part
def triangle(c, at, width, t):
    """Factor L of the top left triangle of eight columns, for `divide`; returns the first pivot that is not positive.

    at : place of the triangle's first entry; width : how many of the eight columns there are. Returns 8 if all is well.
    """
    failed = STRIP
    for i in range(STRIP):
        for k in range(i + 1):
            if i >= width:
                t[STRIP * i + k] = 1.0 if i == k else 0.0
                continue
            value = c[at + ROWS * k + i]
            for j in range(k):
                value -= t[STRIP * i + j] * t[STRIP * k + j]
            if k < i:
                t[STRIP * i + k] = value * t[STRIP * k + k]
            else:
                if not value > 0.0:
                    failed = min(failed, i)
                    value = 1.0
                t[STRIP * i + i] = 1.0 / sqrt(value)
    return failed


@part
def strip(panel, at, slabs, columns, j, depth_columns, t):
    """One strip of `factorise_panel`: columns j to j + 7, of which those below `depth_columns` are pivots."""
    begin, across = j // ROWS, ROWS * columns
    own = at + begin * across + j % ROWS
    here = at + begin * across + ROWS * j
    subtract(panel, uint64(here), panel, uint64(at + begin * across), panel, uint64(own), uint64(j))
    failed = triangle(panel, here + j % ROWS, min(depth_columns - j, STRIP), t)
    divide(panel, uint64(here), t)
    for s in range(begin + 1, slabs):
        slab = at + s * across
        subtract(panel, uint64(slab + ROWS * j), panel, uint64(slab), panel, uint64(own), uint64(j))
        divide(panel, uint64(slab + ROWS * j), t)
    return failed


@kernel
def factorise_panel(panel, at, slabs, pivots, columns, t):
    """L of the first `pivots` columns of a symmetric matrix, in place; returns the first bad pivot, or `pivots`.

    panel, at : slabs of `columns` columns (a multiple of 8, zeros beyond the pivots) from this place on; the rows of
    pivots fill whole slabs, too
    """
    for j in range(0, pivots, STRIP):
        failed = strip(panel, at, slabs, columns, j, pivots, t)
        if failed < STRIP:
            return j + failed
    return pivots


@kernel
def reduce_rest(panel, at, first, slabs, pivots, columns, squares, to):
    """Symmetric rest less what the pivots take of it: C −= L L ᵀ, of the slabs from `first` on, lower triangle."""
    across, depth = ROWS * columns, uint64(pivots)
    place = uint64(to)
    for s in range(first, slabs):
        a = uint64(at + s * across)
        for t in range(first, s + 1):
            b = uint64(at + t * across)
            subtract(squares, place, panel, a, panel, b, depth)
            subtract(squares, place + uint64(128), panel, a, panel, b + uint64(8), depth)
            place += uint64(256)
