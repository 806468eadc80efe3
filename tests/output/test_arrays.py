"""Which of many rows are taken."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from impinge.output.arrays import evenly


@given(some.integers(1, 10_000), some.integers(2, 400))
def test_evenly(count: int, most: int) -> None:
    numbers = evenly(count, most)
    assert len(numbers) == min(count, most)
    assert (numbers[0], numbers[-1]) == (0, count - 1)
    if len(numbers) > 2:
        assert np.diff(numbers).min() >= np.diff(numbers).max() - 1
