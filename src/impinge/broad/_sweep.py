"""Linked linear lists: the ends of boxes in order along every axis, and the pairs of boxes that overlap.

The list of an axis holds an entry for each end of each box: 2 i where box i begins, 2 i + 1 where it ends. They
stand in the order of their coordinates, at equal ones beginnings before ends (touching boxes overlap) and lower
boxes before higher. The place of an entry in its list, counted from 1, is its rank. Ranks of box i stand in
ranks[i << bits], beginning and end of axis 0, of axis 1, …, so that whoever looks at one has the others at hand.

A periodic axis is a circle, and its list goes on at its start: a box that begins at a higher rank than it ends
lies across the seam. All that is said of two boxes holds for any two arcs whose ends are in this cyclic order.

Pairs are stored in an open hash table of i · 2^32 + j, i < j: the sparse upper triangular matrix of
[Muth2007b] 2.3, whose row is the lower number.
"""

import numpy as np

from impinge._jit import exact, kernel, parallel, prefetch
from impinge.broad._near import SLACK, TINY, wrap

EMPTY = -1
DONE, FULL, LOST = 0, 1, 2
ONE = np.uint64(1)
AHEAD = np.uint64(16)  # places by which ranks are fetched ahead of their use
ID, UNTIL, RANKS, FIELDS = 0, 1, 2, 6  # of a box that the sweep is in: number, last rank, ranks of two other axes


@exact
def _onto_circle(x, low, last, period):
    return x if low <= x <= last else wrap(x, low, period)


@parallel(grain=8192)
def set_ends(first, stop, bodies, gap, axis, low, last, period, ends):
    """Where the boxes of bodies begin and end along an axis, enlarged by half the gap and the slack.

    On a periodic axis between `low` and `last`, the highest place before the next period; a box as long as the
    period, or nearly so, lies between these two.
    """
    for i in range(first, stop):
        if bodies.shape[1] == 4:
            x, r = bodies[i, axis], bodies[i, 3]
            slack = SLACK * (abs(x) + r + gap + period) + TINY
            begin, end = x - (r + 0.5 * gap + slack), x + (r + 0.5 * gap + slack)
        else:
            x, y = bodies[i, axis], bodies[i, axis + 3]
            begin = x - (0.5 * gap + (SLACK * (abs(x) + gap + period) + TINY))
            slack = SLACK * (abs(y) + gap + period) + TINY
            end = y + (0.5 * gap + slack)
        if period > 0.0:
            if (end - begin) + slack >= period:
                begin, end = low, last
            else:
                begin, end = _onto_circle(begin, low, last, period), _onto_circle(end, low, last, period)
        ends[2 * i], ends[2 * i + 1] = begin, end


@kernel
def set_ranks(order, ranks, axis, bits):
    """Ranks of all entries of a list."""
    for p in range(1, len(order)):
        ranks[((order[p] >> 1) << bits) + 2 * axis + (order[p] & 1)] = p


@exact
def _overlap(begin_i, end_i, begin_j, end_j):
    """Whether two arcs overlap, by the ranks of their ends.

    begin_i < end_j and begin_j < end_i if none lies across the seam, one of them if one does, neither if both.
    """
    return int(begin_i < end_j) + int(begin_j < end_i) + int(begin_i > end_i) + int(begin_j > end_j) >= 2


# The pairs


@exact
def _key(i, j):
    return (np.int64(min(i, j)) << 32) | np.int64(max(i, j))


@exact
def _home(key, mask):
    """Slot of a key, if it is free."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@kernel
def _slot(table, key):
    """Where a key is or would be."""
    mask = len(table) - 1
    slot = _home(key, mask)
    while table[slot] != EMPTY and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _insert(table, key):
    """Store a pair; 1 if it was not stored before, else 0."""
    slot = _slot(table, key)
    new = table[slot] == EMPTY
    table[slot] = key
    return np.int64(new)


@kernel
def _remove(table, key):
    """Remove a pair, and close the hole; 1 if it was stored, else 0."""
    mask = len(table) - 1
    hole = _slot(table, key)
    if table[hole] == EMPTY:
        return np.int64(0)
    at = (hole + 1) & mask
    while table[at] != EMPTY:
        if ((at - _home(table[at], mask)) & mask) >= ((at - hole) & mask):  # a search for it passes the hole
            table[hole] = table[at]
            hole = at
        at = (at + 1) & mask
    table[hole] = EMPTY
    return np.int64(1)


# The first lists and pairs


@kernel
def sort_digit(keys, order, digit, sorted_keys, sorted_order):
    """Sort keys, and what belongs to them, by one digit of 11 bits, the order of equal ones kept.

    False, and nothing done, if it is the same in all.
    """
    shift, low = np.uint64(11 * digit), np.uint64(0x7FF)
    starts = np.zeros(2049, np.int64)
    for key in keys:
        starts[((key >> shift) & low) + ONE] += 1
    for d in range(2048):
        if starts[d + 1] == len(keys):
            return False
        starts[d + 1] += starts[d]
    for p in range(len(keys)):
        d = (keys[p] >> shift) & low
        sorted_keys[starts[d]], sorted_order[starts[d]] = keys[p], order[p]
        starts[d] += 1
    return True


@exact
def _strips(begin, end, width, strips):
    """First strip of 2^width ranks in which a box lies, and in how many it does, counted around the circle."""
    first = np.int64(begin) >> width
    count = (np.int64(end) >> width) - first + 1
    return first, (min(count + strips, strips) if begin > end else count)


@exact
def _ranks_of(ranks, row, axes):
    """Ranks of a box along the second and third axis of the sweep."""
    s, t = row + 2 * axes[1], row + 2 * axes[2]
    return ranks[s], ranks[s + 1], ranks[t], ranks[t + 1]


@exact
def _around(strip, strips):
    return strip if strip < strips else strip - strips


@kernel
def count_tiles(ranks, axes, bits, widths, strips):
    """In how many tiles the sweep will enter boxes; tiles are where strips of two axes cross."""
    total = 0
    for row in range(0, len(ranks), 1 << bits):
        b1, e1, b2, e2 = _ranks_of(ranks, row, axes)
        total += _strips(b1, e1, widths[0], strips[0])[1] * _strips(b2, e2, widths[1], strips[1])[1]
    return total


@kernel
def count_members(ranks, axes, bits, widths, strips, members):
    """How often the sweep will enter boxes into each tile."""
    for row in range(0, len(ranks), 1 << bits):
        times_entered = 2 if ranks[row + 2 * axes[0]] > ranks[row + 2 * axes[0] + 1] else 1  # across the seam
        b1, e1, b2, e2 = _ranks_of(ranks, row, axes)
        first, count = _strips(b1, e1, widths[0], strips[0])
        third, times = _strips(b2, e2, widths[1], strips[1])
        for k in range(first, first + count):
            for l in range(third, third + times):
                members[_around(k, strips[0]) * strips[1] + _around(l, strips[1])] += times_entered


@kernel
def _enter(i, until, ranks, axes, bits, widths, strips, stops, active):
    """Box i is under the sweep until a rank: put it into its tiles."""
    row = i << bits
    b1, e1, b2, e2 = _ranks_of(ranks, row, axes)
    first, count = _strips(b1, e1, widths[0], strips[0])
    third, times = _strips(b2, e2, widths[1], strips[1])
    for k in range(first, first + count):
        for l in range(third, third + times):
            tile = _around(k, strips[0]) * strips[1] + _around(l, strips[1])
            at = stops[tile]
            stops[tile] += 1
            active[at, ID], active[at, UNTIL], active[at, RANKS], active[at, RANKS + 1] = i, until, b1, e1
            active[at, RANKS + 2], active[at, RANKS + 3] = b2, e2


@kernel
def _test_tile(i, p, b1, e1, b2, e2, start, stop, active, table):
    """Store the pairs of box i with the others under the sweep at rank p: (pairs, candidates, new stop)."""
    stored, tests = 0, 0
    at = start
    while at < stop:
        if active[at, UNTIL] < p:  # it has ended: the last one takes its place
            stop -= 1
            for field in range(FIELDS):
                active[at, field] = active[stop, field]
            continue
        tests += 1
        meet = _overlap(b1, e1, active[at, RANKS], active[at, RANKS + 1])
        if meet & _overlap(b2, e2, active[at, RANKS + 2], active[at, RANKS + 3]):
            stored += _insert(table, _key(i, active[at, ID]))
        at += 1
    return stored, tests, stop


@kernel
def sweep(order, ranks, axes, bits, widths, strips, starts, stops, active, table):
    """Store all pairs of boxes that overlap: (pairs, or −1 if the table is full; candidates tested).

    One sweep along the first axis: where a box begins it is compared with those begun and not ended. These stand in
    tiles of the other two, a large box in several; a pair met in two tiles is stored once.
    """
    last, stored, tests = len(order) - 1, 0, 0
    for i in range(len(ranks) >> bits):
        end = ranks[(i << bits) + 2 * axes[0] + 1]
        if ranks[(i << bits) + 2 * axes[0]] > end:  # it lies across the seam
            _enter(i, end, ranks, axes, bits, widths, strips, stops, active)
    for p in range(1, last + 1):
        if order[p] & 1:
            continue
        i = np.int64(order[p] >> 1)
        row = i << bits
        b1, e1, b2, e2 = _ranks_of(ranks, row, axes)
        first, count = _strips(b1, e1, widths[0], strips[0])
        third, times = _strips(b2, e2, widths[1], strips[1])
        for k in range(first, first + count):
            for l in range(third, third + times):
                tile = _around(k, strips[0]) * strips[1] + _around(l, strips[1])
                start, stop = starts[tile], stops[tile]
                if stored + (stop - start) > len(table) // 2:
                    return -1, tests
                found, tested, stops[tile] = _test_tile(i, p, b1, e1, b2, e2, start, stop, active, table)
                stored, tests = stored + found, tests + tested
        end = ranks[row + 2 * axes[0] + 1]
        _enter(i, end if end > p else last, ranks, axes, bits, widths, strips, stops, active)
    return stored, tests


# From step to step


@kernel
def find_turns(old, new, period, turns):
    """By how many periods the ends of boxes on a circle went through the seam.

    A beginning went the shorter way, and its end along with it: adding these periods to the new ends brings no
    box's beginning past its own end. False if an end had to go round more than once for that.
    """
    for i in range(len(old) // 2):
        back = old[2 * i] - new[2 * i]
        turn = 1 if back > 0.5 * period else (-1 if back < -0.5 * period else 0)
        turn_of_end = turn + int(new[2 * i + 1] < new[2 * i]) - int(old[2 * i + 1] < old[2 * i])
        if abs(turn_of_end) > 1:
            return False
        turns[2 * i], turns[2 * i + 1] = turn, turn_of_end
    return True


@kernel
def _exchange_ends(i, j, kind, p, ranks, axis, bits, table, stored):
    """An end of box i goes below the other kind of end of box j, to place p; along the other axes they overlap.

    Returns how many pairs are stored now, and a code.
    """
    i, j, p = np.int64(i), np.int64(j), np.int64(p)
    if i == j:
        return stored, LOST
    if kind == 0:  # the boxes begin to overlap
        if stored >= len(table) // 2:
            return stored, FULL
        return stored + _insert(table, _key(i, j)), DONE
    # Two arcs that together are longer than their circle may still overlap with their other ends.
    begin_i, end_j = ranks[(i << bits) + 2 * axis], ranks[(j << bits) + 2 * axis + 1]
    if _overlap(begin_i, p, p + 1, end_j):
        return stored, DONE
    return stored - _remove(table, _key(i, j)), DONE


@kernel
def take_ends(ends, order, sorted_ends):
    """Coordinates of the entries of a list at their places, the first below all: apart, as this waits for memory."""
    sorted_ends[0] = -np.inf
    for p in range(ONE, np.uint64(len(order))):
        sorted_ends[p] = ends[np.uint64(order[p])]


@kernel
def sort_list(axis, other, third, bits, most, order, sorted_ends, ranks, table, stored, cases):
    """Sort the list of an axis by insertion: (code, pairs stored).

    Entry after entry goes down past those above it, by exchanges of neighbours. The four cases [Muth2007b] 2.3:

    1. a beginning goes below a beginning: the boxes overlap along this axis, and still do;
    2. an end below an end: the same;
    3. an end below a beginning: the boxes do not overlap any more, the pair is removed;
    4. a beginning below an end: now they overlap along this axis, and are stored if they do along the others.

    Along these they are compared by present ranks, so that after every exchange exactly the boxes that overlap by
    rank are stored; pairs that are not are never looked for. Cases 1 to 4 are counted. Not DONE, and to be started
    anew: FULL, the table needs to grow; LOST, more than `most` exchanges, or a box went past itself.
    """
    done, shift = 0, np.uint64(bits)
    r, s, t = np.uint64(2 * axis), np.uint64(2 * other), np.uint64(2 * third)
    last = np.uint64(len(order) - 1)
    for start in range(ONE, np.uint64(len(order))):
        x = sorted_ends[start]
        prefetch(ranks, (np.uint64(order[min(start + AHEAD, last)]) >> ONE) << shift)
        if sorted_ends[start - ONE] < x:
            continue
        entry = np.uint64(order[start])
        i, kind, row = entry >> ONE, entry & ONE, (entry >> ONE) << shift
        b1, e1, b2, e2 = ranks[row + s], ranks[row + s + ONE], ranks[row + t], ranks[row + t + ONE]
        p, ends_passed, code = start, np.uint64(0), DONE
        while True:
            y, before = sorted_ends[p - ONE], np.uint64(order[p - ONE])
            j, kind_j, row_j = before >> ONE, before & ONE, (before >> ONE) << shift
            if y <= x and (y < x or kind_j < kind or (kind_j == kind and j < i)):
                break
            if kind != kind_j:
                meet = _overlap(b1, e1, ranks[row_j + s], ranks[row_j + s + ONE])
                if meet & _overlap(b2, e2, ranks[row_j + t], ranks[row_j + t + ONE]):
                    stored, code = _exchange_ends(i, j, kind, p - ONE, ranks, axis, bits, table, stored)
                    if code != DONE:
                        break
            order[p], sorted_ends[p] = before, y
            ranks[row_j + r + kind_j] = p
            ends_passed += kind_j
            p -= ONE
        order[p], sorted_ends[p] = entry, x
        ranks[row + r + kind] = p
        passed = np.int64(start - p)
        cases[1 if kind == ONE else 3] += np.int64(ends_passed)
        cases[2 if kind == ONE else 0] += passed - np.int64(ends_passed)
        done += passed
        if done > most:
            code = LOST
        if code != DONE:
            return code, stored
    return DONE, stored
