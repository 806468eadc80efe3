"""Decisions about points, segments and triangles that are right for all finite doubles.

No tolerance and no rounding: each answer is that of exact arithmetic on the doubles given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.exact import _predicates

__all__ = ["orient2d", "orient3d", "point_in_triangle", "segment_triangle"]


def _decide(kernel: Callable[..., None], dtype: Any, columns: int, **points: ArrayLike) -> NDArray[Any]:
    """Check the named arguments, run the kernel over their rows and return its answers."""
    arrays = []
    for name, value in points.items():
        single = np.ndim(value) == 1 and np.size(value) == columns
        arrays.append(_check.vectors(name, np.asarray(value)[None] if single else value, columns))
    lengths = {len(array) for array in arrays} - {1}
    if len(lengths) > 1:
        found = ", ".join(f"{name} {len(array)}" for name, array in zip(points, arrays, strict=True))
        raise InputError(f"{', '.join(points)}: found {found} rows, expected equal numbers, or 1")
    out = np.empty(lengths.pop() if lengths else 1, dtype)
    # Differences may overflow on purpose; this matters only when the kernels run uncompiled.
    with np.errstate(over="ignore", under="ignore"):
        kernel(*arrays, out)
    return out


def orient2d(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.int8]:
    """Sign of (a − c) × (b − c): which way a, b, c turn [Shewchuk1997].

    Parameters
    ----------
    a, b, c : (n, 2) float64, or (2,) or (1, 2) for one point that serves all rows
        Finite coordinates.

    Returns
    -------
    (n,) int8
        +1 if counter-clockwise, −1 if clockwise, 0 if exactly collinear.

    Examples
    --------
    >>> orient2d([0, 0], [1, 0], [[0, 1], [2, 0], [0, -1]])
    array([ 1,  0, -1], dtype=int8)
    """
    return _decide(_predicates._find_orient2d, np.int8, 2, a=a, b=b, c=c)


def orient3d(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> NDArray[np.int8]:
    """Sign of (a − d) · (b − d) × (c − d): on which side of the plane of a, b, c is d [Shewchuk1997].

    Parameters
    ----------
    a, b, c, d : (n, 3) float64, or (3,) or (1, 3) for one point that serves all rows
        Finite coordinates.

    Returns
    -------
    (n,) int8
        +1 if d is below the plane (seen from above, a, b, c are counter-clockwise), −1 if it is above,
        0 if the four points are exactly coplanar.

    Examples
    --------
    >>> orient3d([0, 0, 0], [1, 0, 0], [0, 1, 0], [[0, 0, -1], [5, 5, 0], [0, 0, 1]])
    array([ 1,  0, -1], dtype=int8)
    """
    return _decide(_predicates._find_orient3d, np.int8, 3, a=a, b=b, c=c, d=d)


def point_in_triangle(p: ArrayLike, a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.bool_]:
    """Whether p lies in the closed triangle abc.

    Parameters
    ----------
    p, a, b, c : (n, 3) float64, or (3,) or (1, 3) for one point that serves all rows
        Finite coordinates. A triangle without area is the hull of its vertices: a segment or a point.

    Returns
    -------
    (n,) bool

    Examples
    --------
    >>> point_in_triangle([[0.5, 0.5, 0], [0.5, 0.5, 1e-300]], [0, 0, 0], [1, 0, 0], [0, 1, 0])
    array([ True, False])
    """
    return _decide(_predicates._find_points_in_triangles, np.bool_, 3, p=p, a=a, b=b, c=c)


def segment_triangle(p: ArrayLike, q: ArrayLike, a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.bool_]:
    """Whether the closed segment pq and the closed triangle abc have a point in common.

    Parameters
    ----------
    p, q, a, b, c : (n, 3) float64, or (3,) or (1, 3) for one point that serves all rows
        Finite coordinates. The segment may be a point, the triangle a segment or a point.

    Returns
    -------
    (n,) bool

    Examples
    --------
    >>> segment_triangle([0, 0, 1], [[0, 0, -1], [0, 0, 0], [0, 0, 0.5]], [0, 0, 0], [1, 0, 0], [0, 1, 0])
    array([ True,  True, False])
    """
    return _decide(_predicates._find_segments_in_triangles, np.bool_, 3, p=p, q=q, a=a, b=b, c=c)
