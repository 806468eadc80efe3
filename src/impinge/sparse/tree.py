"""The tree of fronts, cut into pieces that threads factorise at the same time."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check, _jit

__all__ = ["Tree", "cut"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

_LITTLE = 3e7  # operations that are not worth the time to wake a thread up
_SPLITS = 8  # for each thread, at most


class Tree(NamedTuple):
    """Who is whose child, and what can be done at the same time.

    Pieces are whole subtrees, with nothing in common; sums do not depend on how the tree is cut.
    """

    odds: NDArray[np.bool_]  # (fronts,) whether the depth of a front is odd
    children: Ints  # (fronts,) the first child, −1 for none
    siblings: Ints  # (fronts,) the next child of the same parent
    pieces: Ints  # (fronts,) number of the piece, −1 for fronts that come after all pieces; 0 if there are none
    fronts: Ints  # (fronts,) in the order of pieces, the rest last
    starts: Longs  # (pieces + 2,)


def cut(size: int, ends: Ints, parents: Ints, begins: Longs) -> Tree:
    """Cut a tree so that the threads here are done with it as soon as possible."""
    count = len(ends)
    odds, first = np.zeros(count, np.bool_), np.arange(count)
    children, siblings = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    pivots, border = size * np.diff(ends, prepend=0).astype(float), size * np.diff(begins).astype(float)
    own = pivots**3 / 3 + pivots**2 * border + pivots * border**2
    work = own.copy()
    for f, parent in enumerate(parents):  # children before parents
        if parent >= 0:
            siblings[f], children[parent] = children[parent], f
            work[parent] += work[f]
            first[parent] = min(first[parent], first[f])
    for f in range(count - 1, -1, -1):
        odds[f] = parents[f] >= 0 and not odds[parents[f]]
    roots = _choose(own, work, parents, children, siblings)
    pieces = np.full(count, -1, np.int32)
    for number, root in enumerate(roots):
        pieces[first[root] : root + 1] = number
    turn = np.where(pieces < 0, len(roots), pieces)
    order = np.argsort(turn, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(turn, minlength=len(roots) + 1))]).astype(np.int64)
    if not roots:
        pieces[:] = 0  # all places are shared
    children, siblings, pieces, order = (_check.frozen(array) for array in (children, siblings, pieces, order))
    return Tree(_check.frozen(odds), children, siblings, pieces, order, _check.frozen(starts))


def _choose(
    own: NDArray[np.float64], work: NDArray[np.float64], parents: Ints, children: Ints, siblings: Ints
) -> list[int]:
    """Roots of the pieces: the heaviest is split into its children while that helps."""
    threads, best, chosen = _jit.thread_count(), float(own.sum()), list[int]()
    if threads == 1 or best < _LITTLE:
        return chosen
    heap = [(-work[f], f) for f in np.flatnonzero(parents < 0).tolist()]
    heapq.heapify(heap)
    rest = 0.0  # of fronts that come after all pieces
    for _ in range(_SPLITS * threads):
        loads = [0.0] * threads
        for negative, _ in sorted(heap):
            lightest = loads.index(min(loads))
            loads[lightest] -= negative
        if rest + max(loads) < best:
            best, chosen = rest + max(loads), [f for _, f in sorted(heap)]
        _, heaviest = heapq.heappop(heap)
        rest += float(own[heaviest])
        child = int(children[heaviest])
        while child >= 0:
            heapq.heappush(heap, (-work[child], child))
            child = int(siblings[child])
        if not heap:
            break
    return chosen
