"""Large temporary arrays that calls reuse: touching fresh memory takes as long as a loop or two over it."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["empty"]

_MOST = 128 * 2**20  # bytes kept by a thread; what does not fit in is fresh memory


class _Kept(threading.local):
    def __init__(self) -> None:
        self.buffers: dict[str, NDArray[np.uint8]] = {}


_kept = _Kept()


def empty(name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with any content, that is the caller's until this thread asks for the same name again."""
    kind = np.dtype(dtype)
    size = math.prod(shape if isinstance(shape, tuple) else (shape,)) * kind.itemsize
    buffers = _kept.buffers
    if name not in buffers or buffers[name].nbytes < size:
        buffers.pop(name, None)
        buffer = np.empty(size, np.uint8)
        if size + sum(kept.nbytes for kept in buffers.values()) <= _MOST:
            buffers[name] = buffer
    else:
        buffer = buffers[name]
    return buffer[:size].view(kind).reshape(shape)
