"""Large temporary arrays that calls reuse: touching fresh memory takes as long as a loop or two over it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Scratch", "borrow"]

_MOST = 128 * 2**20  # bytes kept; what does not fit in is fresh memory


class Scratch:
    """Arrays by name."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.uint8]] = {}

    def empty(self, name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array with any content, in the memory of the last one of this name."""
        kind = np.dtype(dtype)
        size = math.prod(shape if isinstance(shape, tuple) else (shape,)) * kind.itemsize
        buffer = self._buffers.get(name)
        if buffer is None or buffer.nbytes < size:
            self._buffers.pop(name, None)
            buffer = np.empty(size, np.uint8)
            if size + sum(kept.nbytes for kept in self._buffers.values()) <= _MOST:
                self._buffers[name] = buffer
        return buffer[:size].view(kind).reshape(shape)


_free: list[Scratch] = []
_FREE = 2  # at most, as a search borrows for its input and for itself: memory does not grow with the number of threads


@contextmanager
def borrow() -> Iterator[Scratch]:
    """Scratch memory that nobody else uses until the block is left.

    After an error or an interrupt it is not given back: helping threads may still be writing into it.
    """
    try:
        scratch = _free.pop()
    except IndexError:
        scratch = Scratch()
    yield scratch
    if len(_free) < _FREE:
        _free.append(scratch)
