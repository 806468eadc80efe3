"""Kernels: solving with the factor of a multifrontal factorisation, and products J H⁻¹ Jᵀ."""

import numpy as np
from numpy import uint64

from impinge._jit import fetch_add, kernel, part, team
from impinge._lanes import load, spread, store, total
from impinge.sparse._fronts import _up
from impinge.sparse._panels import ROWS, STRIP, divide, subtract


@part
def _take(panel, slab, j, y, s):
    """Slab s of y less eight columns of L, from column j on, times their y."""
    x = load(y, uint64(s))
    for k in range(STRIP):
        x = x - load(panel, uint64(slab + ROWS * (j + k))) * y[j + k]
    store(y, uint64(s), x)


@part
def _forward(panel, at, slabs, pivots, columns, y):
    """L⁻¹ of a front times y, in the rows of the front; rows of the border get what the pivots take from them."""
    for j in range(0, pivots, STRIP):
        begin = j // ROWS
        slab = at + begin * ROWS * columns
        for k in range(j, min(j + STRIP, pivots)):
            column = slab + ROWS * k - ROWS * begin
            value = y[k] / panel[column + k]
            y[k] = value
            for i in range(k + 1, ROWS * (begin + 1)):
                y[i] -= panel[column + i] * value
        for s in range(begin + 1, slabs):
            _take(panel, at + s * ROWS * columns, j, y, ROWS * s)


@part
def _backward(panel, at, slabs, pivots, columns, y):
    """L⁻ᵀ of a front times y: the pivots, given the border."""
    for j in range((pivots - 1) // STRIP * STRIP, -1, -STRIP):
        begin = j // ROWS
        x0 = x1 = x2 = x3 = x4 = x5 = x6 = x7 = spread(panel, 0.0)
        for s in range(begin + 1, slabs):
            z = load(y, uint64(ROWS * s))
            first = uint64(at + s * ROWS * columns + ROWS * j)
            x0 = x0 + load(panel, first) * z
            x1 = x1 + load(panel, first + uint64(16)) * z
            x2 = x2 + load(panel, first + uint64(32)) * z
            x3 = x3 + load(panel, first + uint64(48)) * z
            x4 = x4 + load(panel, first + uint64(64)) * z
            x5 = x5 + load(panel, first + uint64(80)) * z
            x6 = x6 + load(panel, first + uint64(96)) * z
            x7 = x7 + load(panel, first + uint64(112)) * z
        y[j] -= total(x0)
        y[j + 1] -= total(x1)
        y[j + 2] -= total(x2)
        y[j + 3] -= total(x3)
        y[j + 4] -= total(x4)
        y[j + 5] -= total(x5)
        y[j + 6] -= total(x6)
        y[j + 7] -= total(x7)
        slab = at + begin * ROWS * columns
        for k in range(min(j + STRIP, pivots) - 1, j - 1, -1):
            column = slab + ROWS * k - ROWS * begin
            value = y[k]
            for i in range(k + 1, min(ROWS * (begin + 1), pivots)):
                value -= panel[column + i] * y[i]
            y[k] = value / panel[column + k]


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
        _forward(panel, panels[f], slabs, pivots, _up(pivots, STRIP), y)
        x[first : first + pivots] = y[:pivots]
        rests[size * begins[f] : size * begins[f] + border] = y[own : own + border]


@kernel
def _go_down(some, size, ends, begins, borders, panels, panel, x, y):
    """L⁻ᵀ x of some fronts, parents before their children."""
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
        _backward(panel, panels[f], slabs, pivots, _up(pivots, STRIP), y)
        x[first : first + pivots] = y[:pivots]


@kernel
def _scratch(size, ends, begins):
    """Room for the rows of the largest front."""
    longest, begin = 0, 0
    for f in range(len(ends)):
        rows = _up(size * (ends[f] - begin), ROWS) + _up(size * (begins[f + 1] - begins[f]), ROWS)
        longest, begin = max(longest, rows), ends[f]
    return np.zeros(longest + ROWS)


@kernel
def solve(some, size, ends, begins, borders, lifts, panels, children, siblings, panel, x, rests):
    """H⁻¹ x of the last fronts, or of all, in place; x in the order of elimination."""
    y = _scratch(size, ends, begins)
    _go_up(some, size, ends, begins, lifts, panels, children, siblings, panel, x, rests, y)
    _go_down(some, size, ends, begins, borders, panels, panel, x, y)


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
    y = _scratch(size, ends, begins)
    while p < pieces:
        some = fronts[starts[p] : starts[p + 1]]
        if is_down:
            _go_down(some, size, ends, begins, borders, panels, panel, x, y)
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
