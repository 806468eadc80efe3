"""Kernels: solving with the factor of a multifrontal factorisation, and products J H⁻¹ Jᵀ."""

import numpy as np
from numpy import uint64

from impinge._jit import fetch_add, kernel, part, team
from impinge._lanes import load, spread, store, total
from impinge.sparse._fronts import _up
from impinge.sparse._panels import ROWS, STRIP, divide, subtract


@part
def _take(panel, slab, columns, y, s):
    """Sixteen numbers of y less a slab of L times the first `columns` of y, a multiple of 8."""
    x0, x1 = load(y, uint64(s)), spread(panel, 0.0)
    x2, x3 = x1, x1
    at, k, end = uint64(slab), uint64(0), uint64(columns)
    while k < end:
        x0 = x0 - load(panel, at) * y[k]
        x1 = x1 - load(panel, at + uint64(16)) * y[k + uint64(1)]
        x2 = x2 - load(panel, at + uint64(32)) * y[k + uint64(2)]
        x3 = x3 - load(panel, at + uint64(48)) * y[k + uint64(3)]
        at += uint64(64)
        k += uint64(4)
    store(y, uint64(s), (x0 + x1) + (x2 + x3))


@part
def forward(panel, at, slabs, pivots, columns, y):
    """L⁻¹ of a front times y, in the rows of the front; rows of the border get what the pivots take from them.

    Slab by slab, as they are in memory.
    """
    for s in range(slabs):
        slab, first = at + s * ROWS * columns, ROWS * s
        _take(panel, slab, min(first, columns), y, first)
        for k in range(first, min(first + ROWS, pivots)):
            column = slab + ROWS * k - first
            value = y[k] / panel[column + k]
            y[k] = value
            for i in range(k + 1, first + ROWS):
                y[i] -= panel[column + i] * value


@part
def _gather(panel, slab, columns, y, s, sums):
    """Add one slab of L times its rows of y to the sums of the first columns, lane by lane."""
    z, at, to, end = load(y, uint64(s)), uint64(slab), uint64(0), uint64(ROWS * columns)
    while to < end:
        store(sums, to, load(sums, to) + load(panel, at + to) * z)
        to += uint64(16)


@part
def _gather_four(panel, slab, columns, y, s, sums):
    """`_gather` of four slabs, one after the other in memory."""
    across, first = uint64(ROWS * columns), uint64(s)
    z0, z1 = load(y, first), load(y, first + uint64(16))
    z2, z3 = load(y, first + uint64(32)), load(y, first + uint64(48))
    at, to = uint64(slab), uint64(0)
    while to < across:
        two = load(panel, at) * z0 + load(panel, at + across) * z1
        more = load(panel, at + uint64(2) * across) * z2 + load(panel, at + uint64(3) * across) * z3
        store(sums, to, load(sums, to) + (two + more))
        at += uint64(16)
        to += uint64(16)


@part
def backward(panel, at, slabs, pivots, columns, y, sums):
    """L⁻ᵀ of a front times y: the pivots, given the border. Slab by slab; sums : scratch, 16 for each column."""
    sums[: ROWS * columns] = 0.0
    own = (pivots + ROWS - 1) // ROWS
    s = own
    while s + 4 <= slabs:
        _gather_four(panel, at + s * ROWS * columns, columns, y, ROWS * s, sums)
        s += 4
    while s < slabs:
        _gather(panel, at + s * ROWS * columns, columns, y, ROWS * s, sums)
        s += 1
    for b in range(own - 1, -1, -1):
        slab, first = at + b * ROWS * columns, ROWS * b
        for k in range(min(first + ROWS, pivots) - 1, first - 1, -1):
            column = slab + ROWS * k - first
            value = y[k] - total(load(sums, uint64(ROWS * k)))
            for i in range(k + 1, min(first + ROWS, pivots)):
                value -= panel[column + i] * y[i]
            y[k] = value / panel[column + k]
        _gather(panel, slab, first, y, first, sums)


@kernel
def _go_up(some, size, ends, begins, lifts, panels, children, siblings, panel, x, rests, y):
    """L⁻¹ x of some fronts, children before their parents.

    rests : what fronts take from the rows of their borders, as parents find it; y : scratch
    """
    for f in some:
        begin = ends[f - 1] if f else 0
        pivots, border, first = size * (ends[f] - begin), size * (begins[f + 1] - begins[f]), size * begin
        own = _up(pivots, ROWS)
        slabs = (own + _up(border, ROWS)) // ROWS
        y[: ROWS * slabs] = 0.0
        y[:pivots] = x[first : first + pivots]
        child = children[f]
        while child >= 0:  # in the order of siblings, whoever did them: sums do not depend on threads
            for k in range(begins[child], begins[child + 1]):
                for r in range(size):
                    y[lifts[k] + r] += rests[size * k + r]
            child = siblings[child]
        forward(panel, panels[f], slabs, pivots, _up(pivots, STRIP), y)
        x[first : first + pivots] = y[:pivots]
        rests[size * begins[f] : size * begins[f] + border] = y[own : own + border]


@kernel
def _go_down(some, size, ends, begins, borders, panels, panel, x, y, sums):
    """L⁻ᵀ x of some fronts, parents before their children; y, sums : scratch."""
    for f in some[::-1]:
        begin = ends[f - 1] if f else 0
        pivots, border, first = size * (ends[f] - begin), begins[f + 1] - begins[f], size * begin
        own = _up(pivots, ROWS)
        slabs = (own + _up(size * border, ROWS)) // ROWS
        y[: ROWS * slabs] = 0.0
        y[:pivots] = x[first : first + pivots]
        for k in range(border):
            for r in range(size):
                y[own + size * k + r] = x[size * borders[begins[f] + k] + r]
        backward(panel, panels[f], slabs, pivots, _up(pivots, STRIP), y, sums)
        x[first : first + pivots] = y[:pivots]


@kernel
def _scratch(size, ends, begins):
    """Room for the rows of the largest front, and for sums of columns."""
    longest, widest, begin = 0, 0, 0
    for f in range(len(ends)):
        own = _up(size * (ends[f] - begin), ROWS)
        longest, widest = max(longest, own + _up(size * (begins[f + 1] - begins[f]), ROWS)), max(widest, own)
        begin = ends[f]
    return np.zeros(longest + ROWS), np.zeros(ROWS * widest)


@kernel
def solve(some, size, ends, begins, borders, lifts, panels, children, siblings, panel, x, rests):
    """H⁻¹ x of the last fronts, or of all, in place; x in the order of elimination."""
    y, sums = _scratch(size, ends, begins)
    _go_up(some, size, ends, begins, lifts, panels, children, siblings, panel, x, rests, y)
    _go_down(some, size, ends, begins, borders, panels, panel, x, y, sums)


@team
def solve_pieces(
    counter, is_down, pieces, starts, fronts, size, ends, begins, borders, lifts, panels, children, siblings, panel, x,
    rests,
):  # fmt: skip
    """The pieces of the tree before, or after, the fronts that come after them all; by whoever is free.

    counter : (1,) 0 at first; starts, fronts : fronts of piece p are those from starts[p] to starts[p + 1]
    """
    p = fetch_add(counter, 0, 1)
    if p >= pieces:
        return
    y, sums = _scratch(size, ends, begins)
    while p < pieces:
        some = fronts[starts[p] : starts[p + 1]]
        if is_down:
            _go_down(some, size, ends, begins, borders, panels, panel, x, y, sums)
        else:
            _go_up(some, size, ends, begins, lifts, panels, children, siblings, panel, x, rests, y)
        p = fetch_add(counter, 0, 1)


@part
def _triangle_of(panel, at, width, t):
    """The triangle of a strip of L, as `divide` wants it."""
    for i in range(STRIP):
        for k in range(i):
            t[STRIP * i + k] = panel[at + ROWS * k + i] if i < width else 0.0
        t[STRIP * i + i] = 1.0 / panel[at + ROWS * i + i] if i < width else 1.0


@kernel
def _forward_many(panel, at, first, pivots, columns, border, nodes, size, y, work, t):
    """L⁻¹ of a front times 16 right-hand sides y, side by side: pivots from `first` on, and the border's nodes."""
    base = ROWS * first
    for j in range(0, pivots, STRIP):
        own = at + j // ROWS * ROWS * columns + j % ROWS
        place = uint64(base + ROWS * j)
        subtract(y, place, y, uint64(base), panel, uint64(own), uint64(j))
        _triangle_of(panel, own + ROWS * j, min(pivots - j, STRIP), t)
        divide(y, place, t)
    begin = at + _up(pivots, ROWS) * columns
    for i in range(0, size * border, STRIP):
        work[: ROWS * STRIP] = 0.0
        other = begin + i // ROWS * ROWS * columns + i % ROWS
        subtract(work, uint64(0), y, uint64(base), panel, uint64(other), uint64(pivots))
        for k in range(i, min(i + STRIP, size * border)):
            place = uint64(ROWS * (size * nodes[k // size] + k % size))
            store(y, place, load(y, place) + load(work, uint64(ROWS * (k - i))))


@kernel
def _reach(size, place, ends, parents, indptr, indices, rows, visited):
    """Mark the fronts that L⁻¹ Jᵀ of some rows (those not below 0) is not 0 in, and return their pivots."""
    count = 0
    for row in rows:
        for e in range(indptr[row], indptr[row + 1]) if row >= 0 else range(0):
            f = np.searchsorted(ends, place[indices[e] // size], side="right")
            while f >= 0 and visited[f] == 0:
                visited[f] = 1
                count += size * (ends[f] - (ends[f - 1] if f else 0))
                f = parents[f]
    return count


@kernel
def count_reach(size, place, ends, parents, indptr, indices, rows, begins, kept):
    """Columns (begins) and fronts (kept) of L⁻¹ Jᵀ of each 16 rows, summed up, in addition to those before."""
    visited = np.zeros(len(ends), np.int8)
    for b in range(len(rows) // ROWS):
        count = _reach(size, place, ends, parents, indptr, indices, rows[ROWS * b : ROWS * b + ROWS], visited)
        begins[b + 1] = begins[b] + count
        kept[b + 1] = kept[b]
        for f in range(len(ends)):
            kept[b + 1] += visited[f]
            visited[f] = 0


@kernel
def half_solve(
    size, place, ends, parents, begins, borders, panels, panel, indptr, indices, values, rows, starts, kept,
    segments, half,
):  # fmt: skip
    """L⁻¹ Jᵀ of rows of J, 16 at a time, only where it is not 0.

    place : of each node in the order of elimination
    rows : a multiple of 16 rows, or −1 for none; starts, kept : as counted by `count_reach`
    segments : filled (fronts, 3): front, first column in `half`, columns; half : filled, 16 numbers for each column
    """
    y, visited = np.zeros(ROWS * (size * len(place) + STRIP)), np.zeros(len(ends), np.int8)
    work, t = np.zeros(ROWS * STRIP), np.zeros(STRIP * STRIP)
    for b in range(len(rows) // ROWS):
        batch = rows[ROWS * b : ROWS * b + ROWS]
        _reach(size, place, ends, parents, indptr, indices, batch, visited)
        for lane in range(ROWS):
            for e in range(indptr[batch[lane]], indptr[batch[lane] + 1]) if batch[lane] >= 0 else range(0):
                y[ROWS * (size * place[indices[e] // size] + indices[e] % size) + lane] = values[e]
        at, number = starts[b], kept[b]
        for f in range(len(ends)):
            if visited[f] == 0:
                continue
            visited[f] = 0
            begin = ends[f - 1] if f else 0
            pivots, border = size * (ends[f] - begin), begins[f + 1] - begins[f]
            nodes = borders[begins[f] : begins[f + 1]]
            _forward_many(panel, panels[f], size * begin, pivots, _up(pivots, STRIP), border, nodes, size, y, work, t)
            segments[number, 0], segments[number, 1], segments[number, 2] = f, at, pivots
            first = ROWS * size * begin
            for k in range(ROWS * pivots):
                half[ROWS * at + k] = y[first + k]
                y[first + k] = 0.0
            at += pivots
            number += 1


@kernel
def multiply_halves(first, kept, segments, half, squares):
    """J H⁻¹ Jᵀ, negative, in squares of the lower triangle, for sets of 16 rows from `first` on with all before."""
    for a in range(first, len(kept) - 1):
        for b in range(a + 1):
            at = uint64(128 * a * (a + 1) + 256 * b)
            i, j = kept[a], kept[b]
            while i < kept[a + 1] and j < kept[b + 1]:
                if segments[i, 0] < segments[j, 0]:
                    i += 1
                elif segments[i, 0] > segments[j, 0]:
                    j += 1
                else:
                    x, z = uint64(ROWS * segments[i, 1]), uint64(ROWS * segments[j, 1])
                    depth = uint64(segments[i, 2])
                    subtract(squares, at, half, x, half, z, depth)
                    subtract(squares, at + uint64(128), half, x, half, z + uint64(8), depth)
                    i += 1
                    j += 1
