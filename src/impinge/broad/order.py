"""Pairs in their final form: rows i < j in ascending order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.broad import _order

__all__ = ["sorted_pairs"]


def sorted_pairs(
    keys: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64], bodies: int
) -> NDArray[np.int64]:
    """(m, 2) int64, sorted, from pairs found chunk by chunk.

    Parameters
    ----------
    keys : (capacity,) int64
        A pair i < j as i · 2^32 + j.
    begins, ends : (chunks,) int64
        Where the pairs of every chunk are in `keys`.
    bodies : int
        Both numbers are below it.
    """
    chunks, buckets = len(begins), (bodies >> _order.BITS) + 1
    counts = np.zeros((chunks, buckets), np.int64)
    _order.count_buckets(chunks, keys, begins, ends, counts)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))])
    starts = bounds[:-1] + np.cumsum(counts, axis=0) - counts
    by_bucket = np.empty(bounds[-1], np.int64)
    _order.fill_buckets(chunks, keys, begins, ends, starts, by_bucket)
    pairs = np.empty((len(by_bucket), 2), np.int64)
    _order.sort_buckets(buckets, by_bucket, bounds, pairs)
    return pairs
