"""Products of slabs: both ways, for many and for few registers, give the same bits, and what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import uint64

from impinge._jit import kernel
from impinge.sparse import _panels


@kernel
def by_eight(c, a, b, depth):
    _panels._subtract_eight(c, uint64(0), a, uint64(0), b, uint64(0), uint64(depth))


@kernel
def by_pairs(c, a, b, depth):
    _panels._subtract_pairs(c, uint64(0), a, uint64(0), b, uint64(0), uint64(depth))


@pytest.mark.parametrize("depth", [0, 1, 7, 95, 96, 97, 200, 400])
def test_both_ways_have_the_same_bits(depth: int) -> None:
    rng = np.random.default_rng(depth)
    first, a, b = rng.normal(size=128), rng.normal(size=16 * depth + 16), rng.normal(size=16 * depth + 16)
    eight, pairs = first.copy(), first.copy()
    by_eight(eight, a, b, depth)
    by_pairs(pairs, a, b, depth)
    assert np.array_equal(eight, pairs)
    columns, others = (array[: 16 * depth].reshape(depth, 16) for array in (a, b))
    assert np.allclose(pairs.reshape(8, 16), first.reshape(8, 16) - others[:, :8].T @ columns, rtol=0, atol=1e-11)
