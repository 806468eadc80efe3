"""Pairs in their final form: rows i < j in ascending order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._scratch import Scratch
from impinge.broad import _order
from impinge.errors import InputError

__all__ = ["Part", "check_memory", "most_pairs", "sorted_pairs"]

_LEAST_BITS = 12  # pairs of 4096 lower bodies are sorted within the cache
_MOST_BUCKETS = 512  # a table of chunks times buckets must not outgrow the pairs


class Part(NamedTuple):
    """Some of the pairs found, not yet sorted: chunk k has keys[begins[k] : ends[k]]."""

    keys: NDArray[np.int64]  # i · 2^32 + j, i < j
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def most_pairs() -> int:
    """How many pairs there is memory for, at 50 bytes each while they are sorted."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 50
    except (AttributeError, ValueError, OSError):  # not known on every system
        return 2**62


def check_memory(count: int, of: str = "centres", suspects: str = "the radii or the gap") -> None:
    """Raise an error if there is no memory for so many pairs."""
    if count > most_pairs():
        raise InputError(
            f"{of}: found about {count:.2g} near pairs, which need {count * 50 / 1e9:.3g} GB, more than this "
            f"machine has; are {suspects} too large, or many bodies in the same place?"
        )


def sorted_pairs(parts: Sequence[Part], bodies: int, scratch: Scratch) -> NDArray[np.int64]:
    """(m, 2) int64, sorted, from the pairs that a search of some bodies found part by part."""
    bits = max(_LEAST_BITS, (bodies // _MOST_BUCKETS).bit_length())
    buckets = (bodies >> bits) + 1
    counts = [np.zeros((len(part.begins), buckets), np.int64) for part in parts]
    for part, count in zip(parts, counts, strict=True):
        _order.count_buckets(len(part.begins), bits, *part, count)
    table = np.concatenate(counts)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(table.sum(axis=0))])
    starts = bounds[:-1] + np.cumsum(table, axis=0) - table
    by_bucket = scratch.empty("by_bucket", int(bounds[-1]), np.int64)
    for part, begin in zip(parts, np.cumsum([0, *map(len, counts[:-1])]), strict=True):
        _order.fill_buckets(len(part.begins), bits, *part, starts[begin : begin + len(part.begins)], by_bucket)
    pairs = np.empty((len(by_bucket), 2), np.int64)
    _order.sort_buckets(buckets, bits, by_bucket, bounds, pairs)
    return pairs
