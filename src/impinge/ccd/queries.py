"""Single queries: a vertex and a triangle, two edges, a point and a segment of the plane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from impinge import _check, _jit
from impinge.ccd import _times
from impinge.ccd.moving import Floats, Ints, in_range
from impinge.errors import InputError

__all__ = ["earliest", "edge_edge", "find_times", "flat_times", "point_segment", "upright", "vertex_triangle"]


def vertex_triangle(x0: ArrayLike, x1: ArrayLike, *, gap: float = 0.0, threads: int | None = None) -> Floats:
    """Times of first contact of vertices and triangles that move linearly.

    Parameters
    ----------
    x0, x1 : (n, 4, 3) float64, m
        Vertex and corners of the triangle, at t = 0 and at t = 1. The triangle may be a segment or a point.
    gap : float, m
        Contact is a distance of at most this.
    threads : int, optional
        All cores by default. The result does not depend on it.

    Returns
    -------
    (n,) float64
        From 0 to 1; inf where there is no contact. Never later than the truth, and never inf where there is contact.
        Bodies that pass each other within about 1e-12 of the largest distance in the query may count as in contact,
        needles and bodies that turn quickly within more.

    Examples
    --------
    >>> from impinge import ccd
    >>> triangle = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    >>> ccd.vertex_triangle([[[0.2, 0.2, 1.0], *triangle]], [[[0.2, 0.2, -1.0], *triangle]]).round(9)
    array([0.5])
    """
    start, end = _read(x0, x1, 4, 3)
    gap = _check.not_negative("gap", gap)
    numbers = np.arange(len(start), dtype=np.int32)
    corners = np.arange(4 * len(start), dtype=np.int32).reshape(-1, 4)
    pairs = np.column_stack([corners[:, 0], numbers])
    with _jit.threads(threads):
        return _of_points(_times.VERTEX_TRIANGLE, start, end, pairs, np.ascontiguousarray(corners[:, 1:]), gap)


def edge_edge(x0: ArrayLike, x1: ArrayLike, *, gap: float = 0.0, threads: int | None = None) -> Floats:
    """Times of first contact of edges that move linearly.

    Parameters
    ----------
    x0, x1 : (n, 4, 3) float64, m
        Ends of the first edge, then of the second, at t = 0 and at t = 1. An edge may be a point.
    gap, threads
        As for `vertex_triangle`.

    Returns
    -------
    (n,) float64
        As for `vertex_triangle`.

    Examples
    --------
    >>> from impinge import ccd
    >>> below = [[0, -1, 0], [0, 1, 0]]
    >>> ccd.edge_edge([[[-1, 0, 1], [1, 0, 1], *below]], [[[-1, 0, -3], [1, 0, -3], *below]]).round(9)
    array([0.25])
    """
    start, end = _read(x0, x1, 4, 3)
    with _jit.threads(threads):
        return _of_edges(start, end, _check.not_negative("gap", gap))


def point_segment(x0: ArrayLike, x1: ArrayLike, *, gap: float = 0.0, threads: int | None = None) -> Floats:
    """Times of first contact of points and segments of the plane that move linearly.

    Parameters
    ----------
    x0, x1 : (n, 3, 2) float64, m
        Point and ends of the segment, at t = 0 and at t = 1.
    gap, threads
        As for `vertex_triangle`.

    Returns
    -------
    (n,) float64
        As for `vertex_triangle`.

    Examples
    --------
    >>> from impinge import ccd
    >>> ccd.point_segment([[[0, 1], [-1, 0], [1, 0]]], [[[0, -1], [-1, 0], [1, 0]]]).round(9)
    array([0.5])
    """
    start, end = _read(x0, x1, 3, 2)
    with _jit.threads(threads):
        return flat_times(start, end, _check.not_negative("gap", gap))


def flat_times(x0: Floats, x1: Floats, gap: float) -> Floats:
    """Times of contact of points and segments of the plane, (n, 3, 2)."""
    return _of_edges(*upright(x0, x1), gap)


def upright(x0: Floats, x1: Floats) -> tuple[Floats, Floats]:
    """Edges in space, (n, 4, 3), that touch where points and segments do: a point becomes an edge across the plane."""
    with np.errstate(over="ignore"):
        reach = np.maximum(*(np.ptp(x, axis=1).max(axis=1, initial=0.0) for x in (x0, x1)))
    reach = np.minimum(reach, np.finfo(np.float64).max)

    def edges(x: Floats) -> Floats:
        both = np.zeros((len(x), 4, 3))
        both[:, 0, :2], both[:, 1, :2], both[:, 2:, :2] = x[:, 0], x[:, 0], x[:, 1:]
        both[:, 0, 2], both[:, 1, 2] = -reach, reach
        return both

    return edges(x0), edges(x1)


def _of_edges(start: Floats, end: Floats, gap: float) -> Floats:
    ends = np.arange(4 * len(start), dtype=np.int32).reshape(-1, 2)
    pairs = np.arange(2 * len(start), dtype=np.int32).reshape(-1, 2)
    return _of_points(_times.EDGE_EDGE, start, end, pairs, ends, gap)


def _of_points(kind: int, start: Floats, end: Floats, pairs: Ints, corners: Ints, gap: float) -> Floats:
    gap, start, end = in_range(gap, start.reshape(-1, 3), end.reshape(-1, 3))
    return find_times(kind, start, end, pairs, corners, gap)


def find_times(kind: int, x0: Floats, x1: Floats, pairs: Ints, corners: Ints, gap: float) -> Floats:
    """Times of contact of pairs of vertices and faces, or of edges, whose corners are given; in range."""
    times = np.empty(len(pairs))
    _run(kind, x0, x1, pairs, corners, gap, False, np.ones(1), times)
    return times


def earliest(
    kind: int, x0: Floats, x1: Floats, pairs: Ints, corners: Ints, gap: float, limit: float
) -> tuple[float, int]:
    """Earliest contact up to `limit` and its pair, the first of equals; inf and −1 if there is none."""
    times = np.empty(len(pairs))
    _run(kind, x0, x1, pairs, corners, gap, True, np.array([limit]), times)
    if not len(times) or times.min() == math.inf:
        return math.inf, -1
    return float(times.min()), int(times.argmin())


def _run(
    kind: int, x0: Floats, x1: Floats, pairs: Ints, corners: Ints, gap: float, is_race: bool, limit: Floats,
    times: Floats,
) -> None:  # fmt: skip
    chunks = -(-len(pairs) // _times.CHUNK)
    arrays = (_check.frozen(array) for array in (pairs, corners))
    _times.find_times(chunks, kind, _check.frozen(x0), _check.frozen(x1), *arrays, gap, is_race, limit, times)


def _read(x0: Any, x1: Any, corners: int, axes: int) -> tuple[Floats, Floats]:
    wanted = f"numbers of shape (n, {corners}, {axes})"
    arrays = []
    for name, value in (("x0", x0), ("x1", x1)):
        array = _check.numbers(name, value, wanted)
        if array.size == 0 and array.ndim <= 3:
            array = np.empty((0, corners, axes))
        if array.ndim != 3 or array.shape[1:] != (corners, axes):
            hint = f"; pass {name}[None] for a single query" if array.shape == (corners, axes) else ""
            raise InputError(f"{name}: found shape {array.shape}, expected {wanted}{hint}")
        arrays.append(np.ascontiguousarray(array, np.float64))
        _check.finite(name, arrays[-1].reshape(len(array), corners * axes))
    if len(arrays[0]) != len(arrays[1]):
        raise InputError(f"x1: found {len(arrays[1])} queries, expected {len(arrays[0])}, one for each of x0")
    return arrays[0], arrays[1]
