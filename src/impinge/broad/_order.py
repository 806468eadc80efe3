"""Sorting pairs: from numbers (lower body times 2^32 plus higher body) in any order to rows i < j, ascending."""

import numpy as np

from impinge._jit import kernel, parallel


@parallel(grain=1)
def count_buckets(first, stop, bits, keys, begins, ends, counts):
    """How many pairs of chunk k, keys[begins[k] : ends[k]], go to each bucket of 2^bits lower bodies."""
    for k in range(first, stop):
        for at in range(begins[k], ends[k]):
            counts[k, keys[at] >> (32 + bits)] += 1


@parallel(grain=1)
def fill_buckets(first, stop, bits, keys, begins, ends, starts, sorted_keys):
    """The pairs by bucket, those of a chunk from its places in `starts` on."""
    for k in range(first, stop):
        for at in range(begins[k], ends[k]):
            bucket = keys[at] >> (32 + bits)
            sorted_keys[starts[k, bucket]] = keys[at]
            starts[k, bucket] += 1


@parallel(grain=1)
def sort_buckets(first, stop, bits, keys, ends, pairs):
    """Sort the pairs of buckets, bucket b being keys[ends[b] : ends[b + 1]], into the rows of `pairs`."""
    places = np.empty((1 << bits) + 1, np.int64)
    for bucket in range(first, stop):
        begin, end = ends[bucket], ends[bucket + 1]
        if begin == end:
            continue
        base = bucket << bits
        places[:] = 0
        for at in range(begin, end):
            places[(keys[at] >> 32) - base + 1] += 1
        for i in range(1 << bits):
            places[i + 1] += places[i]
        partners = np.empty(end - begin, np.int32)
        for at in range(begin, end):
            i = (keys[at] >> 32) - base
            partners[places[i]] = keys[at] & 0xFFFFFFFF
            places[i] += 1
        row = 0
        for i in range(1 << bits):  # places[i] is now where the row of i ends
            end_of_row = places[i]
            if end_of_row - row > 1:
                _sort_row(partners, row, end_of_row)
            for at in range(row, end_of_row):
                pairs[begin + at, 0], pairs[begin + at, 1] = base + i, partners[at]
            row = end_of_row


@kernel
def _sort_row(partners, begin, end):
    if end - begin > 24:
        partners[begin:end].sort()
        return
    for at in range(begin + 1, end):
        value, to = partners[at], at
        while to > begin and partners[to - 1] > value:
            partners[to] = partners[to - 1]
            to -= 1
        partners[to] = value
