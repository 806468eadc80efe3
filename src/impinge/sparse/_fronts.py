"""Kernels: which unknowns each front of a multifrontal factorisation has, and where matrix entries go.

A front is a dense symmetric matrix of its pivots and its border: unknowns eliminated later that its pivots are coupled
with. Its pivots' columns become columns of L; the rest is added to the front of its parent.
All numbers of nodes are places in the order of elimination here.
"""

import numpy as np

from impinge._jit import kernel
from impinge.sparse._panels import ROWS, STRIP


@kernel
def _up(count, unit):
    """The next multiple of a unit."""
    return (count + unit - 1) // unit * unit


@kernel
def find_borders(starts, neighbours, order, ends, parents):
    """Borders of all fronts: (where each one begins in, nodes, sorted)."""
    nodes, fronts = len(order), len(ends)
    place = np.empty(nodes, np.int32)
    for k in range(nodes):
        place[order[k]] = k
    begins = np.zeros(fronts + 1, np.int64)
    borders = np.empty(4 * nodes + 64, np.int32)
    seen = np.full(nodes, -1, np.int32)
    first_child, next_child = np.full(fronts, -1, np.int32), np.full(fronts, -1, np.int32)
    begin = 0
    for f in range(fronts):
        end, count = ends[f], begins[f]
        if count + nodes > len(borders):
            wider = np.empty(2 * len(borders) + nodes, np.int32)
            wider[:count] = borders[:count]
            borders = wider
        for k in range(begin, end):
            for e in range(starts[order[k]], starts[order[k] + 1]):
                other = place[neighbours[e]]
                if other >= end and seen[other] != f:
                    seen[other] = f
                    borders[count] = other
                    count += 1
        child = first_child[f]
        while child >= 0:
            for k in range(begins[child], begins[child + 1]):
                other = borders[k]
                if other >= end and seen[other] != f:
                    seen[other] = f
                    borders[count] = other
                    count += 1
            child = next_child[child]
        borders[begins[f] : count] = np.sort(borders[begins[f] : count])
        begins[f + 1] = count
        begin = end
        if parents[f] >= 0:
            next_child[f], first_child[parents[f]] = first_child[parents[f]], f
    return begins, borders[: begins[fronts]].copy()


@kernel
def lay_out(size, ends, parents, begins, borders, pieces, lifts, panels, squares):
    """Where everything is: returns the places that panels need, and those of each of two stacks of rests.

    size : unknowns of a node
    pieces : (fronts,) number of the piece of the tree that a front is in, −1 for none; pieces do not share places
    lifts : filled; row of each border node in the front of the parent
    panels : filled (fronts + 1,); where the panel of each front begins
    squares : filled (fronts,); where its rest begins, on the stack of its depth, even or odd
    """
    fronts = len(ends)
    depth = np.zeros(fronts, np.int32)
    for f in range(fronts - 1, -1, -1):
        depth[f] = depth[parents[f]] + 1 if parents[f] >= 0 else 0
    # What is added from there is read in vectors that may begin before it.
    top, most = np.full(2, ROWS, np.int64), np.full(2, ROWS, np.int64)
    children = np.zeros(fronts, np.int64)  # what they take on their stack
    begin = 0
    for f in range(fronts):
        if f == 0 or pieces[f] != pieces[f - 1] or pieces[f] < 0:
            top[:] = most  # above all that others use
        pivots, border = size * (ends[f] - begin), size * (begins[f + 1] - begins[f])
        slabs = (_up(pivots, ROWS) + _up(border, ROWS)) // ROWS
        panels[f + 1] = panels[f] + slabs * ROWS * _up(pivots, STRIP)
        rest = _up(border, ROWS) // ROWS
        needed, stack = 256 * (rest * (rest + 1) // 2), depth[f] % 2
        if pieces[f] >= 0:
            top[1 - stack] -= children[f]
        squares[f] = top[stack]
        top[stack] += needed
        most[stack] = max(most[stack], top[stack])
        if parents[f] >= 0:
            parent = parents[f]
            children[parent] += needed
            first = ends[parent - 1]
            at = begins[parent]
            for k in range(begins[f], begins[f + 1]):
                if borders[k] < ends[parent]:
                    lifts[k] = size * (borders[k] - first)
                else:
                    while borders[at] < borders[k]:
                        at += 1
                    lifts[k] = _up(size * (ends[parent] - first), ROWS) + size * (at - begins[parent])
        begin = ends[f]
    return panels[fronts], most[0], most[1]


@kernel
def place_entries(indptr, indices, size, order, ends, begins, borders, counts, sources, targets):
    """Where in the panel of its front each entry of a matrix goes, one triangle of it.

    counts : filled (fronts + 1,); entries of front f are those from counts[f] to counts[f + 1]
    sources, targets : filled; place in the values of the matrix, and in the panel
    """
    nodes, fronts = len(order), len(ends)
    place, row = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for k in range(nodes):
        place[order[k]] = k
    begin = count = 0
    for f in range(fronts):
        end = ends[f]
        pivots = size * (end - begin)
        columns, rest = _up(pivots, STRIP), _up(pivots, ROWS)
        for k in range(begins[f], begins[f + 1]):
            row[borders[k]] = rest + size * (k - begins[f])
        for k in range(begin, end):
            row[k] = size * (k - begin)
        for k in range(begin, end):
            for r in range(size):
                column = size * order[k] + r
                own = size * (k - begin) + r
                for e in range(indptr[column], indptr[column + 1]):
                    node = indices[e] // size
                    other = place[node]
                    r_other = indices[e] - size * node
                    if other > k or (other == k and r_other >= r):
                        i = row[other] + r_other
                        sources[count] = e
                        targets[count] = (i // ROWS) * ROWS * columns + ROWS * own + i % ROWS
                        count += 1
        counts[f + 1] = count
        begin = end
    return count


@kernel
def place_pairs(indptr, indices, size, order, ends, begins, borders, counts, pairs, targets):
    """Where in the panels the products of each row's entries with each other go.

    indptr, indices : rows of J, whose entries are coupled with each other
    counts : filled (fronts + 1,), as in `place_entries`
    pairs, targets : filled; (count, 3) the row and the places of the two factors in its values; place in the panel
    """
    nodes, fronts = len(order), len(ends)
    place, front = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    f = 0
    for k in range(nodes):
        place[order[k]] = k
        while ends[f] <= k:
            f += 1
        front[k] = f
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    at_place, rest = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for turn in range(2):  # count, then fill
        at = counts[:-1].copy()
        for row in range(len(indptr) - 1):
            first, length = indptr[row], indptr[row + 1] - indptr[row]
            for p in range(length):
                node = indices[first + p] // size
                at_place[p], rest[p] = place[node], indices[first + p] - size * node
            for p in range(length):
                kp, rp = at_place[p], rest[p]
                f = front[kp]
                begin = ends[f - 1] if f else 0
                pivots, known, found = size * (ends[f] - begin), -1, 0
                for q in range(length):
                    kq, rq = at_place[q], rest[q]
                    if kq < kp or (kq == kp and rq < rp):
                        continue
                    if turn == 0:
                        counts[f + 1] += 1
                        continue
                    if kq < ends[f]:
                        i = size * (kq - begin) + rq
                    else:
                        if kq != known:
                            known, found = kq, np.searchsorted(borders[begins[f] : begins[f + 1]], kq)
                        i = _up(pivots, ROWS) + size * found + rq
                    column = size * (kp - begin) + rp
                    pairs[at[f], 0], pairs[at[f], 1], pairs[at[f], 2] = row, first + p, first + q
                    targets[at[f]] = (i // ROWS) * ROWS * _up(pivots, STRIP) + ROWS * column + i % ROWS
                    at[f] += 1
        if turn == 0:
            for f in range(fronts):
                counts[f + 1] += counts[f]
