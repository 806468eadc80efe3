"""Times of first contact of many queries: LANES at a time are gathered and advanced, again while they move on."""

import math

import numpy as np

from impinge._jit import parallel, part
from impinge._lanes import LANES, choose, larger, load, store
from impinge.ccd._advance import (
    NUMBERS,
    scale,
    step_in_plane,
    step_of_edges,
    step_of_vertex,
    turn_of_edges,
    turn_of_vertex,
)

VERTEX_TRIANGLE, EDGE_EDGE = 0, 1
CHUNK = 512  # queries of one thread at a time
MOST = 512  # steps; the time reached by then is given, at worst too early
EASY = 4  # steps without directions that turn with an edge
CREEP = 2.0**-42  # shorter steps lead nowhere: the bodies touch


@part
def _put(rows, lane, row, x0, x1, p, q):
    """Vector from point q to point p, at t = 0 and 1."""
    p, q, at = np.uint64(p), np.uint64(q), np.uint64(row * LANES + lane)
    for axis in range(np.uint64(3)):
        rows[at + axis * np.uint64(LANES)] = x0[p, axis] - x0[q, axis]
        rows[at + (axis + np.uint64(9)) * np.uint64(LANES)] = x1[p, axis] - x1[q, axis]


@part
def _gather(kind, rows, lane, x0, x1, table, first, second):
    """Vectors of a query: of a vertex, `first`, and a face of the table, `second`; or of two edges of the table."""
    if kind == VERTEX_TRIANGLE:
        a = table[second, 0]
        _put(rows, lane, 0, x0, x1, first, a)
        _put(rows, lane, 3, x0, x1, table[second, 1], a)
        _put(rows, lane, 6, x0, x1, table[second, 2], a)
    else:
        a, b = table[first, 0], table[second, 0]
        _put(rows, lane, 0, x0, x1, a, b)
        _put(rows, lane, 3, x0, x1, table[first, 1], a)
        _put(rows, lane, 6, x0, x1, table[second, 1], b)


@part
def _step(kind, is_hard, rows, gap, t):
    level = scale(rows, gap)
    now = step_in_plane(rows, level, t)
    if kind == VERTEX_TRIANGLE:
        now = larger(now, step_of_vertex(rows, level, t))
        if is_hard:
            now = larger(now, turn_of_vertex(rows, level, t))
    else:
        now = larger(now, step_of_edges(rows, level, t))
        if is_hard:
            now = larger(now, turn_of_edges(rows, level, t))
    return choose(t > 1.0, t, now)


@part
def _settle(waiting, begin, end, kept, after, limit, times):
    """Take over the times of lanes; queries that moved on wait again, from place `kept` on. How many wait by now.

    Where numbers leave their range the new time may be nan; the old one stands then.
    """
    for lane in range(end - begin):
        k = waiting[begin + lane]
        now = after[lane] if after[lane] > times[k] else times[k]
        moved_on = times[k] + CREEP < now <= limit
        times[k] = math.inf if now > limit else now
        if moved_on:
            waiting[kept] = k
            kept += 1
    return kept


@parallel(grain=1)
def find_times(first, stop, kind, x0, x1, pairs, table, gap, is_race, limit, times):
    """Times of contact of pairs, inf where there is none before limit[0]; items are chunks of CHUNK pairs.

    is_race : only the earliest contact is wanted: limit[0] becomes the earliest found so far, by whichever thread. The
    earliest of `times` does not depend on who was first.
    """
    rows, after, waiting = np.zeros(NUMBERS * LANES), np.zeros(LANES), np.empty(CHUNK, np.int64)
    for chunk in range(first, stop):
        begin_of_all, count = chunk * CHUNK, min(CHUNK, len(pairs) - chunk * CHUNK)
        for k in range(count):
            waiting[k] = begin_of_all + k
            times[begin_of_all + k] = 0.0
        end_of_all = begin_of_all + count
        for step in range(MOST):
            kept = 0
            for begin in range(0, count, LANES):
                end = min(begin + LANES, count)
                for lane in range(end - begin):
                    k = waiting[begin + lane]
                    _gather(kind, rows, lane, x0, x1, table, pairs[k, 0], pairs[k, 1])
                    after[lane] = times[k]
                store(after, np.uint64(0), _step(kind, step >= EASY, rows, gap, load(after, np.uint64(0))))
                kept = _settle(waiting, begin, end, kept, after, limit[0], times)
            count = kept
            if count == 0:
                break
        if is_race:
            for k in range(begin_of_all, end_of_all):
                limit[0] = min(limit[0], times[k])
