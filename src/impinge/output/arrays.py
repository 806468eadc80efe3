"""What is written about spheres, faces and contacts: checked arrays with names; some of many rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError

__all__ = ["Arrays", "evenly", "read_arrays", "read_points", "read_spheres", "with_z"]

Arrays = Mapping[str, ArrayLike]


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """Numbers from 0 to `count` − 1, at most so many, evenly spread, the first and the last among them."""
    return np.unique(np.round(np.linspace(0, count - 1, min(count, most))).astype(np.int64))


def with_z(array: NDArray[Any]) -> NDArray[Any]:
    """Rows of two coordinates get a third, 0; others stay as they are."""
    return np.pad(array, ((0, 0), (0, 1))) if array.shape[1] == 2 else array


def read_points(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Finite rows of two or three coordinates."""
    shape = _check.numbers(name, value, "numbers of shape (n, 2) or (n, 3)").shape
    return _check.vectors(name, value, 2 if shape[-1:] == (2,) else 3)


def read_spheres(centres: ArrayLike, radii: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres (n, 2) or (n, 3) and radii (n,), from one number or n."""
    points = read_points("centres", centres)
    return points, _check.sizes("radii", radii, len(points), "centres")


def read_arrays(arrays: Arrays, count: int, of: str, taken: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Arrays of `count` rows, float32, float64 or integers, little endian; truth values become 0 and 1.

    Vectors of two real numbers get a third, 0. Values need not be finite: who looks at them should see it.
    """
    result = {}
    for name, value in arrays.items():
        if not isinstance(name, str) or not name.isprintable() or not name.strip():
            raise InputError(f"arrays: found the name {name!r}, expected a word")
        if name in taken:
            raise InputError(f"arrays: found {name!r}, which is written anyway, expected another name")
        wanted = f"numbers of shape ({count},) or ({count}, k), a row for each of {of}"
        truth = isinstance(value, np.ndarray) and value.dtype == np.bool_
        array = np.asarray(value, np.uint8) if truth else _check.numbers(name, value, wanted)
        if array.ndim not in (1, 2) or len(array) != count or array.shape[1:] == (0,):
            raise InputError(f"{name}: found {array.dtype} of shape {array.shape}, expected {wanted}")
        if array.dtype.kind == "f":
            array = array.astype(np.float32 if array.dtype.itemsize == 4 else np.float64, copy=False)
            array = with_z(array) if array.ndim == 2 else array
        result[name] = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return result
