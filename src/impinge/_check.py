"""The only validator: turns what users pass into the arrays that kernels trust.

Messages name the argument, say what was found and what is wanted, and give the first bad row.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError

_Number = TypeVar("_Number", bound=np.generic)


def numbers(name: str, value: Any, wanted: str) -> NDArray[Any]:
    """`value` as an array of real numbers, or an error."""
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        raise InputError(f"{name}: found a masked array with hidden values, expected {wanted}")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name}: found something that is not an array ({error}), expected {wanted}") from None
    if array.dtype == object and array.size == 0:
        array = array.astype(np.float64)
    if array.dtype.kind not in "fiu":
        kind = {"O": "objects", "U": "text", "S": "bytes", "b": "booleans", "c": "complex numbers"}
        found = kind.get(array.dtype.kind, str(array.dtype))
        raise InputError(f"{name}: found {found} of shape {array.shape}, expected {wanted}")
    return array


def _rows(name: str, array: NDArray[Any], columns: int, wanted: str) -> None:
    if array.ndim != 2 or array.shape[1] != columns:
        hint = f"; pass {name}[None] for a single row" if array.shape == (columns,) else ""
        raise InputError(f"{name}: found shape {array.shape}, expected {wanted}{hint}")


def frozen(array: NDArray[_Number]) -> NDArray[_Number]:
    """A read-only view: kernels never write to their input, and saying so gives each one compiled version, not two."""
    view = array.view()
    view.flags.writeable = False
    return view


def finite(name: str, array: NDArray[Any]) -> None:
    """Raise an error that names the first row that is not finite, if there is one."""
    # A sum is finite unless a term is not (or it overflows): one pass without a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        row = ", ".join(repr(float(x)) for x in array[bad[0]])
        raise InputError(f"{name}: row {bad[0]} is not finite ({row}); {len(bad)} such rows in all")


def vectors(name: str, value: Any, columns: int = 3, *, must_be_finite: bool = True) -> NDArray[np.float64]:
    """Finite (n, columns) float64, C-contiguous, read-only; n may be 0. Copies only if it has to.

    A caller that finds rows that are not finite by itself passes must_be_finite=False, and calls `finite`
    when it did.
    """
    wanted = f"numbers of shape (n, {columns})"
    array = numbers(name, value, wanted)
    if array.size == 0 and array.ndim <= 2 and array.shape[-1] in (0, columns):
        array = np.empty((0, columns), np.float64)
    _rows(name, array, columns, wanted)
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, np.float64)
    if must_be_finite:
        finite(name, result)
    return frozen(result)


def indices(name: str, value: Any, columns: int, count: int, of: str) -> NDArray[np.int32]:
    """(m, columns) int32 indices into `count` rows of the array called `of`, C-contiguous."""
    wanted = f"integers of shape (m, {columns})"
    array = numbers(name, value, wanted)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, columns), np.int32)
    if array.dtype.kind == "f":
        raise InputError(f"{name}: found {array.dtype}, expected {wanted}")
    _rows(name, array, columns, wanted)
    if count > np.iinfo(np.int32).max or len(array) > np.iinfo(np.int32).max // 4:
        raise InputError(f"{name}: found {len(array)} rows, expected at most {np.iinfo(np.int32).max // 4}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= count:
        row = int(np.flatnonzero(((array < 0) | (array >= count)).any(axis=1))[0])
        found = ", ".join(str(int(i)) for i in array[row])
        raise InputError(f"{name}: row {row} is ({found}), expected indices from 0 to {count - 1} into {of}")
    return np.ascontiguousarray(array, np.int32)


def vector(name: str, value: Any, columns: int = 3) -> NDArray[np.float64]:
    """Finite (columns,) float64."""
    wanted = f"{columns} finite numbers"
    array = numbers(name, value, wanted)
    if array.shape != (columns,) or not np.isfinite(array).all():
        raise InputError(f"{name}: found {value!r}, expected {wanted}")
    return array.astype(np.float64)


def _number(name: str, value: Any, wanted: str) -> float:
    """A number; texts and truth values are none, although Python would make numbers of them."""
    if isinstance(value, str | bytes | bool | np.bool_):
        raise InputError(f"{name}: found {value!r}, expected {wanted}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: found {value!r}, expected {wanted}") from None


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = _number(name, value, "a number above 0")
    if not 0 < number < np.inf:
        raise InputError(f"{name}: found {value!r}, expected a number above 0")
    return number


def not_negative(name: str, value: Any) -> float:
    """A finite number of at least zero."""
    number = _number(name, value, "a number of at least 0")
    if not 0 <= number < np.inf:
        raise InputError(f"{name}: found {value!r}, expected a number of at least 0")
    return number


def between(name: str, value: Any, low: float, high: float) -> float:
    """A number from `low` to `high`."""
    wanted = f"a number from {low:g} to {high:g}"
    number = _number(name, value, wanted)
    if not low <= number <= high:
        raise InputError(f"{name}: found {value!r}, expected {wanted}")
    return number


def sizes(name: str, value: Any, count: int, of: str) -> NDArray[np.float64]:
    """(count,) float64, finite and at least 0, from as many numbers or from one for all rows of `of`."""
    wanted = f"one number or {count}, one for each row of {of}"
    array = numbers(name, value, wanted)
    if array.ndim == 0:
        array = np.full(count, array)
    if array.shape != (count,):
        raise InputError(f"{name}: found shape {array.shape}, expected {wanted}")
    result = np.ascontiguousarray(array, np.float64)
    if count and not (result.min() >= 0 and result.max() < np.inf):  # not true of nan either
        bad = np.flatnonzero(~((result >= 0) & (result < np.inf)))
        raise InputError(f"{name}: row {bad[0]} is {result[bad[0]]}, expected a finite number of at least 0")
    return frozen(result)


def integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """An integer from low to high."""
    wanted = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name}: found {value!r}, expected {wanted}")
    if number < low or (high is not None and number > high):
        raise InputError(f"{name}: found {number}, expected {wanted}")
    return number


def truth(name: str, value: Any) -> bool:
    """True or False; a text such as "no" would be true."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name}: found {value!r}, expected True or False")
    return bool(value)


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of the allowed words."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{name}: found {value!r}, expected one of {', '.join(words)}")
    return str(value)
