"""Where bodies are: the box, its periodic sides, and bodies checked and brought into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge._scratch import Scratch
from impinge.broad import _near
from impinge.errors import InputError

__all__ = ["Bodies", "Space", "boxes", "check_room", "read_length", "read_space", "spheres"]

_LARGEST = 1e150  # of coordinates and sizes: their squares are doubles


@dataclass(frozen=True)
class Space:
    """A box in two or three dimensions, some of whose sides may be periodic; always kept with three axes."""

    dimension: int
    low: NDArray[np.float64]  # (3,)
    lengths: NDArray[np.float64]  # (3,), infinite where there is no box
    period: NDArray[np.float64]  # (3,), the length of periodic axes, 0 of the others

    @property
    def is_periodic(self) -> bool:
        return bool(self.period.any())

    def holds(self, centres: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which centres (n, 3) are between the sides that are not periodic."""
        closed = (self.period == 0) & np.isfinite(self.lengths)
        low, places = self.low[closed], centres[:, closed]
        inside: NDArray[np.bool_] = ((places >= low) & (places <= low + self.lengths[closed])).all(axis=1)
        return inside

    def wrap(self, centres: NDArray[np.float64]) -> NDArray[np.float64]:
        """Centres (n, d) as (n, 3), moved into the box along its periodic axes, z = 0 in two dimensions."""
        radii = _check.frozen(np.zeros(len(centres)))
        return _rows("centres", _check.frozen(centres), radii, self, np.empty((len(centres), 4)))[:, :3]


@dataclass(frozen=True)
class Bodies:
    """Spheres or boxes, checked, in a space."""

    rows: NDArray[np.float64]  # (n, 4): centre, radius; or (n, 6): lower and upper corner
    centres: NDArray[np.float64]  # (n, 3), or rows that start with the centres
    half: NDArray[np.float64]  # (n, 3), half sizes along the axes
    space: Space

    def __post_init__(self) -> None:
        for array in (self.rows, self.centres, self.half):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def reach(self, axis: int) -> float:
        """Largest distance along an axis at which two bodies touch: the sum of the two largest half sizes."""
        return float(np.partition(self.half[:, axis], -2)[-2:].sum()) if len(self) > 1 else 0.0

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(n,) largest length of every body."""
        if self.rows.shape[1] == 4:
            return 2 * self.rows[:, 3]
        largest: NDArray[np.float64] = 2 * self.half.max(axis=1)
        return largest


def read_space(box: ArrayLike | None, periodic: bool | ArrayLike, dimension: int) -> Space:
    """Check a box: None, d lengths (from 0), or lower and upper corner; periodic: for all axes or for each."""
    low, lengths = np.zeros(3), np.full(3, np.inf)
    wanted = f"{dimension} lengths, or a lower and an upper corner of {dimension} numbers"
    flags = np.asarray(periodic)
    if flags.dtype != np.bool_ or flags.shape not in ((), (dimension,)):
        raise InputError(f"periodic: found {periodic!r}, expected True, False or {dimension} of them")
    flags = np.broadcast_to(flags, dimension)
    if box is None:
        if flags.any():
            raise InputError(f"box: found None, expected {wanted}, since an axis is periodic")
        return Space(dimension, low, lengths, np.zeros(3))
    corners = _check.numbers("box", box, wanted).astype(np.float64)
    if corners.shape == (dimension,):
        corners = np.stack([np.zeros(dimension), corners])
    if corners.shape != (2, dimension):
        raise InputError(f"box: found {box!r}, expected {wanted}")
    if not np.isfinite(corners).all() or (corners[0] >= corners[1]).any():
        raise InputError(f"box: found {box!r}, expected finite numbers and lengths above 0")
    if np.abs(corners).max() > _LARGEST:
        raise InputError(f"box: found {box!r}, expected numbers up to {_LARGEST:g}")
    low[:dimension], lengths[:dimension] = corners[0], corners[1] - corners[0]
    period = np.zeros(3)
    period[:dimension] = np.where(flags, lengths[:dimension], 0.0)
    return Space(dimension, low, lengths, period)


def read_length(name: str, value: Any) -> float:
    """Check a length of at least 0."""
    length = _check.not_negative(name, value)
    if length > _LARGEST:
        raise InputError(f"{name}: found {value!r}, expected a number up to {_LARGEST:g}")
    return length


def _dimension(name: str, value: Any) -> int:
    shape = _check.numbers(name, value, "numbers of shape (n, 2) or (n, 3)").shape
    if len(shape) == 2 and shape[1] in (2, 3):
        return shape[1]
    if shape in ((0,), (0, 0)):
        return 3
    raise InputError(f"{name}: found shape {shape}, expected (n, 2) or (n, 3)")


def _limited(name: str, array: NDArray[np.float64]) -> None:
    """Raise an error that names the first row that is not finite or too large, if there is one."""
    if array.size == 0 or (array.max() <= _LARGEST and array.min() >= -_LARGEST):  # neither is true of nan
        return
    if array.ndim == 2:  # radii are known to be finite
        _check.finite(name, array)
    bad = np.flatnonzero(np.abs(array).reshape(len(array), -1).max(axis=1, initial=0.0) > _LARGEST)
    raise InputError(f"{name}: row {bad[0]} is {array[bad[0]]}, expected numbers up to {_LARGEST:g}")


def _rows(
    name: str, centres: NDArray[np.float64], radii: NDArray[np.float64], space: Space, rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fill rows with centres in the box and radii."""
    good = np.empty(-(-len(rows) // _near.BLOCK), np.bool_)
    _near.make_spheres(len(good), centres, radii, space.low, space.period, _LARGEST, rows, good)
    if not good.all():
        _limited(name, centres)
    return rows


def spheres(
    centres: ArrayLike,
    radii: ArrayLike,
    gap: float,
    box: ArrayLike | None,
    periodic: bool | ArrayLike,
    scratch: Scratch | None = None,
) -> Bodies:
    """Check spheres: centres (n, 2) or (n, 3), one radius or n of them, and the box around them."""
    dimension = _dimension("centres", centres)
    checked = _check.vectors("centres", centres, dimension, must_be_finite=False)
    r = _check.sizes("radii", radii, len(checked), "centres")
    _limited("radii", r)
    space = read_space(box, periodic, dimension)
    check_room("radii", "sphere", np.broadcast_to(r[:, None], (len(r), dimension)), gap, space)
    rows = _rows("centres", checked, r, space, (scratch or Scratch()).empty("spheres", (len(r), 4), np.float64))
    return Bodies(rows, rows, np.broadcast_to(r[:, None], (len(r), 3)), space)


def boxes(lower: ArrayLike, upper: ArrayLike, gap: float, box: ArrayLike | None, periodic: bool | ArrayLike) -> Bodies:
    """Check boxes: corners (n, 2) or (n, 3), and the box around them."""
    dimension = _dimension("lower", lower)
    first = _check.vectors("lower", lower, dimension, must_be_finite=False)
    last = _check.vectors("upper", upper, dimension, must_be_finite=False)
    if len(first) != len(last):
        raise InputError(f"upper: found {len(last)} rows, expected {len(first)}, as many as lower has")
    _limited("lower", first)
    _limited("upper", last)
    bad = np.flatnonzero((first > last).any(axis=1))
    if len(bad):
        raise InputError(f"lower: row {bad[0]} is {first[bad[0]]}, above upper {last[bad[0]]}")
    space = read_space(box, periodic, dimension)
    check_room("upper", "box", (last - first) / 2, gap, space)
    rows = np.zeros((len(first), 6))
    rows[:, :dimension], rows[:, 3 : 3 + dimension] = first, last
    centres = 0.5 * rows[:, :3] + 0.5 * rows[:, 3:]
    if space.is_periodic:  # moved as wholes, by whole periods
        moved = space.wrap(np.ascontiguousarray(centres[:, :dimension])) - centres
        turns = np.round(np.divide(moved, space.period, out=np.zeros_like(moved), where=space.period > 0))
        rows += np.tile(turns * space.period, 2)
        centres = 0.5 * rows[:, :3] + 0.5 * rows[:, 3:]
    return Bodies(rows, centres, 0.5 * rows[:, 3:] - 0.5 * rows[:, :3], space)


def check_room(name: str, what: str, half: NDArray[np.float64], gap: float, space: Space) -> None:
    """The box must hold every body, and no body may meet another one twice, from both sides of a period."""
    if len(half) == 0 or np.isinf(space.lengths).all():
        return
    for axis in range(space.dimension):
        length = space.lengths[axis]
        sizes = 2 * half[:, axis]
        bad = np.flatnonzero(sizes > length)
        if len(bad):
            raise InputError(
                f"box: found length {length:g} along {'xyz'[axis]}, expected at least {sizes[bad[0]]:g}, "
                f"the size of {what} {bad[0]} ({name})"
            )
        if space.period[axis] > 0 and len(half) > 1:
            i, j = np.argpartition(half[:, axis], -2)[-2:]
            reach = float(half[i, axis] + half[j, axis] + gap)
            if not 2 * reach < length:
                raise InputError(
                    f"box: found length {length:g} along {'xyz'[axis]}, expected more than {2 * reach:g}, twice the "
                    f"distance at which rows {min(i, j)} and {max(i, j)} count as near; the pair would be seen twice"
                )
