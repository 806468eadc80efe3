"""Temporary arrays that calls reuse."""

import numpy as np
import pytest

import impinge
from impinge import _scratch


def test_the_same_memory_comes_back_in_any_shape():
    scratch = _scratch.Scratch()
    first = scratch.empty("test", (10, 4), np.float64)
    second = scratch.empty("test", 20, np.int32)
    assert first.shape == (10, 4)
    assert second.shape == (20,)
    assert second.dtype == np.int32
    assert np.shares_memory(first, second)
    assert not np.shares_memory(first, scratch.empty("another", 20, np.int32))
    assert scratch.empty("test", 0, np.float64).shape == (0,)


def test_a_larger_array_replaces_a_smaller_one():
    scratch = _scratch.Scratch()
    small = scratch.empty("test", 10, np.int64)
    large = scratch.empty("test", 1000, np.int64)
    assert not np.shares_memory(small, large)
    assert np.shares_memory(large, scratch.empty("test", 1000, np.int64))


def test_more_than_the_limit_is_not_kept():
    scratch, size = _scratch.Scratch(), _scratch._MOST + 1
    assert not np.shares_memory(scratch.empty("huge", size, np.uint8), scratch.empty("huge", size, np.uint8))


def test_memory_is_lent_to_one_at_a_time():
    with _scratch.borrow() as one, _scratch.borrow() as other:
        assert one is not other
    with _scratch.borrow() as again:
        assert again in (one, other)
    assert len(_scratch._free) <= _scratch._FREE


def test_memory_is_not_given_back_after_an_error():
    with pytest.raises(KeyboardInterrupt), _scratch.borrow() as lost:
        raise KeyboardInterrupt
    with _scratch.borrow() as scratch:
        assert scratch is not lost


def test_results_are_not_temporary():
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(3):
        centres = rng.uniform(0, 10, (2000, 3))
        kept.append((centres, impinge.pairs(centres, 0.3, method="levels")))
    for centres, pairs in kept:
        assert np.array_equal(pairs, impinge.pairs(centres, 0.3, method="brute"))
