"""Temporary arrays that calls reuse."""

import threading

import numpy as np

import impinge
from impinge import _scratch


def test_the_same_memory_comes_back_in_any_shape():
    first = _scratch.empty("test", (10, 4), np.float64)
    second = _scratch.empty("test", 20, np.int32)
    assert first.shape == (10, 4)
    assert second.shape == (20,)
    assert second.dtype == np.int32
    assert np.shares_memory(first, second)
    assert not np.shares_memory(first, _scratch.empty("another", 20, np.int32))
    assert _scratch.empty("test", 0, np.float64).shape == (0,)


def test_a_larger_array_replaces_a_smaller_one():
    small = _scratch.empty("test", 10, np.int64)
    large = _scratch.empty("test", 1000, np.int64)
    large[:] = 7
    assert not np.shares_memory(small, large)
    assert np.shares_memory(large, _scratch.empty("test", 1000, np.int64))


def test_more_than_the_limit_is_not_kept():
    size = _scratch._MOST + 1
    assert not np.shares_memory(_scratch.empty("huge", size, np.uint8), _scratch.empty("huge", size, np.uint8))


def test_threads_do_not_share():
    mine = _scratch.empty("test", 100, np.int64)
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append(_scratch.empty("test", 100, np.int64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])


def test_results_are_not_temporary():
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(3):
        centres = rng.uniform(0, 10, (2000, 3))
        kept.append((centres, impinge.pairs(centres, 0.3, method="levels")))
    for centres, pairs in kept:
        assert np.array_equal(pairs, impinge.pairs(centres, 0.3, method="brute"))
