"""Start cells of the multipole method: where walks over the evaluation tree begin, and the points sorted by them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._scratch import Scratch
from impinge.inside.multipole import _points as kernels
from impinge.inside.multipole._points import INNER, OUTER, RING, SIDE
from impinge.inside.multipole.sources import Frame

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_CHUNKS = 16  # of points that threads sort side by side; fixed, so that the order does not depend on their number


class Bins(NamedTuple):
    """Start cells: those in the root, then those around it."""

    inner: int  # along a side of the root
    outer: int  # along a side of the boxes around it
    cells: Integers  # (n, 4) level and place


class Sorted(NamedTuple):
    """Points by start cell; the last ones are outside of all."""

    starts: Integers  # (n, 6) level and place of start cells that have points, and these from and to
    roots: Floats  # (points, 3) root coordinates
    places: Integers  # where they were
    outside: int  # how many


@lru_cache(maxsize=4)
def start_cells(depth: int) -> Bins:
    """Start cells no deeper than the trees (any depth if negative)."""
    inner, outer = (level if depth < 0 else min(level, depth) for level in (INNER, OUTER))
    cells = [_grid(inner, 0, 2**inner), _grid(outer, -RING * 2**outer, SIDE * 2**outer)]
    return Bins(2**inner, 2**outer, np.concatenate(cells))


def _grid(level: int, first: int, count: int) -> Integers:
    """Level and place of all cells of a cube, x fastest."""
    z, y, x = np.meshgrid(*[np.arange(first, first + count)] * 3, indexing="ij")
    return np.column_stack([np.full(x.size, level), x.ravel(), y.ravel(), z.ravel()])


@lru_cache(maxsize=4)
def all_starts(depth: int) -> Integers:
    """(n, 6) start cells that cover the root and the boxes around it, along Morton's curve in each box."""
    inner, _, cells = start_cells(depth)
    levels, places = cells[:, 0], cells[:, 1:]
    boxes = places >> levels[:, None]
    keep = (np.arange(len(cells)) < inner**3) | (boxes != 0).any(axis=1)
    local = places - (boxes << levels[:, None])
    code = np.zeros(len(cells), np.int64)
    for bit in range(INNER):
        code += ((local >> bit & 1) * [1, 2, 4]).sum(axis=1) << 3 * bit
    number_of_box = ((boxes + RING) * [1, SIDE, SIDE**2]).sum(axis=1)
    rank = np.lexsort([code, number_of_box])
    rank = rank[keep[rank]]
    return np.hstack([cells[rank], np.zeros((len(rank), 2), np.int64)])


def sort_by_start(points: Floats, frame: Frame, bins: Bins, scratch: Scratch) -> Sorted:
    """Root coordinates of points, sorted by start cell, in scratch memory."""
    count = len(points)
    chunks = min(_CHUNKS, -(-count // 4096))
    size = -(-count // chunks)
    numbers, counts = scratch.empty("numbers", count, np.int16), np.zeros((chunks, len(bins.cells) + 1), np.int64)
    roots, places = scratch.empty("roots", (count, 3), np.float64), scratch.empty("places", count, np.int64)
    kernels.count_bins(chunks, size, points, *frame, bins.inner, bins.outer, numbers, counts)
    totals = counts.sum(axis=0)
    ends = np.cumsum(totals)
    begins = ends - totals + np.cumsum(counts, axis=0) - counts
    kernels.fill_bins(chunks, size, points, *frame, numbers, begins, roots, places)
    used = np.flatnonzero(totals[:-1])
    starts = np.column_stack([bins.cells[used], (ends - totals)[used], ends[used]])
    return Sorted(_shared(starts, size), roots, places, int(totals[-1]))


def _shared(starts: Integers, most: int) -> Integers:
    """Start cells with more points than this are taken several times, with some of them each: threads share them."""
    pieces = -(-(starts[:, 5] - starts[:, 4]) // most)
    shared = np.repeat(starts, pieces, axis=0)
    number = np.arange(len(shared)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    shared[:, 4] += number * most
    shared[:, 5] = np.minimum(shared[:, 5], shared[:, 4] + most)
    return shared
