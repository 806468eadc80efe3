"""What all readers of points have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError

CHUNK = 1_000_000  # points read at a time, unless asked otherwise: 24 MB


def first_not_finite(points: NDArray[np.float64]) -> int | None:
    """Number of the first row that is not finite, or None."""
    # A sum is finite unless a term is not (or it overflows): one pass without a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(points.sum()):
            return None
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    return int(bad[0]) if len(bad) else None


def not_finite(path: Path, place: str, row: NDArray[np.float64]) -> InputError:
    """The error for a row with a coordinate that is NaN or infinite."""
    return InputError(f"{path}: {place} is not finite ({', '.join(repr(float(x)) for x in row)})")


def check_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Number of rows of an array of points with this shape and type; an error if it cannot be one."""
    if dtype.kind not in "fiu":
        found = "Python objects" if dtype.hasobject else str(dtype)
        raise InputError(f"{path}: found {found} of shape {shape}, expected numbers of shape (n, 3)")
    if shape == (0,) or shape == (0, 0):
        return 0
    if len(shape) != 2 or shape[1] != 3:
        raise InputError(f"{path}: found numbers of shape {shape}, expected shape (n, 3)")
    return shape[0]


class PointSource(ABC):
    """Points of a file, read in chunks.

    Attributes
    ----------
    path : Path
    count : int or None
        Number of points; None if only reading to the end will tell (.csv, and .xyz without a count).
    fraction : float
        How much of the file has been read, 0 to 1.
    """

    def __init__(self, path: Path, count: int | None) -> None:
        self.path = path
        self.count = count
        self.fraction = 0.0

    @abstractmethod
    def _read(self, size: int) -> Iterator[NDArray[np.float64]]:
        """(n, 3) C-contiguous arrays of any lengths above 0; finite or not."""

    def chunks(self, size: int = CHUNK) -> Iterator[NDArray[np.float64]]:
        """(size, 3) float64 arrays in the order of the file, m; the last may be shorter, none is empty.

        Raises `InputError` with the row of the file (counted from 0) that is damaged or not finite.
        """
        size = _check.integer("size", size, 1)
        self.fraction = 0.0
        first = 0
        for chunk in _of_size(self._read(size), size):
            bad = first_not_finite(chunk)
            if bad is not None:
                raise not_finite(self.path, f"row {first + bad}", chunk[bad])
            first += len(chunk)
            yield chunk
        self.count = first
        self.fraction = 1.0


def _of_size(arrays: Iterator[NDArray[np.float64]], size: int) -> Iterator[NDArray[np.float64]]:
    """The same rows in arrays of `size` rows."""
    waiting: list[NDArray[np.float64]] = []
    length = 0
    for array in arrays:
        start = 0
        while length + len(array) - start >= size:
            stop = start + size - length
            waiting.append(array[start:stop])
            yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
            waiting, length, start = [], 0, stop
        if start < len(array):
            waiting.append(array[start:])
            length += len(array) - start
    if waiting:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
