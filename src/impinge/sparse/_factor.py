"""Kernels: the numbers of a multifrontal Cholesky factorisation, and solving with it."""

import numpy as np
from numpy import uint64

from impinge._jit import fetch_add, kernel, part, team
from impinge._lanes import choose, load, spread, store
from impinge.sparse._fronts import _up
from impinge.sparse._panels import ROWS, STRIP, factorise_panel, reduce_rest

_STEP = uint64(ROWS)
_NUMBERS = np.arange(float(ROWS))


@part
def _add(array, to, other, at, inside):
    """Add 16 numbers from one place to those at another, where a mask is true."""
    store(array, to, load(array, to) + choose(inside, load(other, at), spread(other, 0.0)))


@kernel
def _extend(child, at, border, size, lifts, panel, to, columns, own, squares, rest, rows):
    """Add the rest of a child to its parent's panel and rest.

    Rows that are side by side in a slab of both, the child and its parent, are added together.

    child, at : squares of the child's rest; border : its unknowns
    lifts : rows of its nodes in the parent's front; own : rows of pivots there, rounded up to slabs
    panel, to; squares, rest : the parent's panel and rest, and where they begin
    rows : scratch, as long as the border
    """
    pivots = 0
    for i in range(border):
        rows[i] = lifts[i // size] + i % size
        if rows[i] < own:
            pivots += 1
    lanes, begin = load(_NUMBERS, uint64(0)), 0
    while begin < border:
        row, stop = rows[begin], begin + 1
        while stop < border and stop % ROWS and rows[stop] % ROWS and rows[stop] == rows[stop - 1] + 1:
            stop += 1
        s, t, low = begin // ROWS, (row - own) // ROWS, row % ROWS
        source = uint64(at + 128 * s * (s + 1) + begin % ROWS - low)
        for j in range(stop):
            inside = (lanes >= float(low + max(j - begin, 0))) & (lanes < float(low + stop - begin))
            if j < pivots:
                place = uint64(to + row // ROWS * ROWS * columns + ROWS * rows[j])
                _add(panel, place, child, source + _STEP * uint64(j), inside)
            else:
                place = uint64(rest + 128 * t * (t + 1) + ROWS * (rows[j] - own))
                _add(squares, place, child, source + _STEP * uint64(j), inside)
        begin = stop


@kernel
def factorise_some(
    some, size, ends, parents, begins, lifts, panels, places, odds, children, siblings, counts, sources, targets,
    values, pair_counts, pairs, pair_targets, factors, weights, panel, even, odd,
):  # fmt: skip
    """L of a positive definite matrix, into the panels of some fronts; returns the first bad unknown, or −1.

    some : fronts, children before their parents
    children, siblings : first child of each front, and the next one of the same parent; −1 for none
    values : of the matrix; factors, weights : values of the rows of J, and how much of each row's product with itself
    is added: K + Jᵀ W J
    """
    widest = 1
    for f in range(len(ends)):
        widest = max(widest, size * (begins[f + 1] - begins[f]))
    rows = np.empty(widest, np.int64)
    t = np.zeros(STRIP * STRIP)
    for f in some:
        begin = ends[f - 1] if f else 0
        pivots, border = size * (ends[f] - begin), size * (begins[f + 1] - begins[f])
        columns, own, at = _up(pivots, STRIP), _up(pivots, ROWS), panels[f]
        panel[at : panels[f + 1]] = 0.0
        for e in range(counts[f], counts[f + 1]):
            panel[at + targets[e]] += values[sources[e]]
        for e in range(pair_counts[f], pair_counts[f + 1]):
            weight = weights[pairs[e, 0]]
            if weight != 0.0:
                panel[at + pair_targets[e]] += weight * factors[pairs[e, 1]] * factors[pairs[e, 2]]
        slabs, rest = (own + _up(border, ROWS)) // ROWS, places[f]
        squares, others = (odd, even) if odds[f] else (even, odd)
        squares[rest : rest + 128 * (slabs - own // ROWS) * (slabs - own // ROWS + 1)] = 0.0
        child = children[f]
        while child >= 0:
            _extend(
                others, places[child], size * (begins[child + 1] - begins[child]), size,
                lifts[begins[child] : begins[child + 1]], panel, at, columns, own, squares, rest, rows,
            )  # fmt: skip
            child = siblings[child]
        failed = factorise_panel(panel, at, slabs, pivots, columns, t)
        if failed < pivots:
            return size * begin + failed
        reduce_rest(panel, at, own // ROWS, slabs, pivots, columns, squares, rest)
    return -1


@team
def factorise_pieces(
    counter, failed, starts, fronts, size, ends, parents, begins, lifts, panels, places, odds, children, siblings,
    counts, sources, targets, values, pair_counts, pairs, pair_targets, factors, weights, panel, even, odd,
):  # fmt: skip
    """The pieces of the tree, one after the other by whoever is free.

    counter : (1,) 0 at first; failed : (pieces,) filled with what `factorise_some` returns
    starts, fronts : fronts of piece p are those from starts[p] to starts[p + 1]
    """
    while True:
        p = fetch_add(counter, 0, 1)
        if p >= len(failed):
            return
        failed[p] = factorise_some(
            fronts[starts[p] : starts[p + 1]], size, ends, parents, begins, lifts, panels, places, odds, children,
            siblings, counts, sources, targets, values, pair_counts, pairs, pair_targets, factors, weights, panel,
            even, odd,
        )  # fmt: skip
