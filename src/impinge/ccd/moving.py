"""A checked motion: vertices at the start and at the end of a step, with the edges and faces between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError

__all__ = ["Moving", "edges_of", "in_range", "keys_of", "read_moving"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
_WANTED = "numbers of shape (n, 3), or (n, 2) in the plane"
_SMALL, _LARGE = 2.0**-100, 2.0**1000  # largest coordinates between these are left alone


class Moving(NamedTuple):
    """Positions are (n, 3), with z = 0 where they were given in the plane."""

    x0: Floats
    x1: Floats
    edges: Ints  # (m, 2)
    faces: Ints  # (k, 3)
    bodies: Ints  # (n,) or empty: vertices of the same body do not collide
    is_flat: bool  # in the plane


def edges_of(faces: Any) -> Ints:
    """All sides of faces, each once: (m, 2) int32, i < j, ascending."""
    corners = _check.indices("faces", faces, 3, 2**31 - 1, "vertices")
    keys = np.unique(keys_of(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)))
    return np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)


def keys_of(edges: Ints) -> NDArray[np.int64]:
    """A number for each edge, the same for both orders of its ends."""
    ends = np.sort(edges, axis=1).astype(np.int64)
    keys: NDArray[np.int64] = ends[:, 0] << 32 | ends[:, 1]
    return keys


def read_moving(x0: Any, x1: Any, edges: Any, faces: Any, bodies: Any = None) -> Moving:
    """Check the arguments of all functions of motions."""
    shape = _check.numbers("x0", x0, _WANTED).shape
    if len(shape) == 2 and shape[0] and shape[1] not in (2, 3):
        raise InputError(f"x0: found shape {shape}, expected {_WANTED}")
    columns = 2 if len(shape) == 2 and shape[1] == 2 else 3
    start, end = _check.vectors("x0", x0, columns), _check.vectors("x1", x1, columns)
    if len(start) != len(end):
        raise InputError(f"x1: found {len(end)} rows, expected {len(start)}, one for each of x0")
    if edges is None and faces is None:
        raise InputError("edges, faces: found None for both, expected one of them at least")
    if columns == 2 and faces is not None and np.size(faces):
        raise InputError(
            f"faces: found {len(faces)} faces of vertices in the plane, expected None; there are edges only"
        )
    triangles = _check.indices("faces", [] if faces is None else faces, 3, len(start), "x0")
    sides = edges_of(triangles) if edges is None else _check.indices("edges", edges, 2, len(start), "x0")
    if columns == 2:
        start, end = _in_space(start), _in_space(end)
    return Moving(
        start, end, _check.frozen(sides), _check.frozen(triangles), _read_bodies(bodies, len(start)), columns == 2
    )


def _in_space(points: Floats) -> Floats:
    return _check.frozen(np.column_stack([points, np.zeros(len(points))]))


def _read_bodies(bodies: Any, count: int) -> Ints:
    if bodies is None:
        return np.empty(0, np.int32)
    labels = _check.numbers("bodies", bodies, f"{count} integers, one for each row of x0")
    if labels.dtype.kind == "f" or labels.shape != (count,):
        raise InputError(
            f"bodies: found {labels.dtype} of shape {labels.shape}, expected {count} integers, one for each row of x0"
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int32).reshape(count)


def in_range(gap: float, x0: Floats, x1: Floats) -> tuple[float, Floats, Floats]:
    """The gap and positions, scaled by a power of two where differences or their inverses may leave the range."""
    largest = max(gap, *(float(np.abs(x).max(initial=0.0)) for x in (x0, x1)))
    if _SMALL <= largest <= _LARGE or largest == 0:
        return gap, x0, x1
    factor = _SMALL if largest > _LARGE else 1 / _SMALL
    with np.errstate(under="ignore"):
        return gap * factor, x0 * factor, x1 * factor
