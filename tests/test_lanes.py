"""Vectors of numbers in kernels, next to arrays of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from impinge._jit import kernel
from impinge._lanes import LANES, bits, choose, larger, load, spread, sqrt, store, total

AT = np.uint64(3)


@kernel
def _calculate(x, y, out):
    a, b = load(x, AT), load(y, AT)
    store(out[0], AT, a + b)
    store(out[1], AT, a - b)
    store(out[2], AT, a * b)
    store(out[3], AT, a / b)
    store(out[4], AT, 2.0 * a)
    store(out[5], AT, a - 1)
    store(out[6], AT, 1.0 / a)
    store(out[7], AT, abs(a))
    store(out[8], AT, sqrt(abs(b)))
    store(out[9], AT, larger(a, b))
    store(out[10], AT, choose(a < b, a, b))
    store(out[11], AT, choose((a >= 0.0) & (b <= 0.0), 1.0, b))
    store(out[12], AT, choose((a > 0.0) | (b > 0.0), a, 7.0))
    store(out[13], AT, spread(x, y[4]))
    return bits(a < b), total(a)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_like_arrays(dtype) -> None:
    """Every function and operator, and nothing is written beside."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, LANES + 5)).astype(dtype)
    out = np.full((14, LANES + 6), 9.0, dtype)
    mask, whole = _calculate(x, y, out)
    a, b = x[3 : 3 + LANES], y[3 : 3 + LANES]
    expected = [
        a + b, a - b, a * b, a / b, 2 * a, a - 1, 1 / a, abs(a), np.sqrt(abs(b)), np.maximum(a, b), np.minimum(a, b),
        np.where((a >= 0) & (b <= 0), 1, b), np.where((a > 0) | (b > 0), a, 7), np.full(LANES, y[4]),
    ]  # fmt: skip
    np.testing.assert_array_equal(out[:, 3 : 3 + LANES], expected)
    assert (out[:, :3] == 9).all()
    assert (out[:, 3 + LANES :] == 9).all()
    assert [int(mask) >> k & 1 for k in range(64)] == [*(a < b).astype(int), *[0] * (64 - LANES)]
    assert whole == pytest.approx(a.astype(float).sum(), rel=1e-5 if dtype == np.float32 else 1e-14)


@kernel
def _loop(x, count):
    a, b = spread(x, 0.0), load(x, np.uint64(0))
    for k in range(count):
        a, b = (a + b, b * 0.5) if k % 2 == 0 else (a - b, b)
    return total(a)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_loops(dtype) -> None:
    """Lanes are carried from one turn of a loop to the next, and chosen by branches."""
    x = np.arange(LANES).astype(dtype)
    for count, factor in ((0, 0.0), (1, 1.0), (2, 0.5), (3, 1.0), (4, 0.75)):
        assert _loop(x, count) == factor * x.sum()
