"""Inside and outside on regular grids, faster than point by point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge._check import frozen
from impinge.inside import _scan
from impinge.shapes.mesh import Mesh

__all__ = ["Axes", "classify_grid", "even_places", "grid_points"]

Axes = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

_STEPS = 2**17  # changes of the winding number in a slab, 4 bytes each: half a megabyte stays in the cache


def even_places(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Ascending and evenly spaced from low to high, also where their distance is beyond the largest double."""
    with np.errstate(over="ignore"):
        halves = np.isinf(np.float64(high) - np.float64(low))
    places = 2 * np.linspace(low / 2, high / 2, count) if halves else np.linspace(low, high, count)
    return np.minimum(places, high)  # a spacing below the least double is rounded, and leads beyond the end


def grid_points(x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 3): all points (x[i], y[j], z[k]), the last index running fastest."""
    points = np.empty((len(x), len(y), len(z), 3))
    points[..., 0], points[..., 1], points[..., 2] = x[:, None, None], y[:, None], z
    return frozen(points.reshape(-1, 3))


def classify_grid(mesh: Mesh, axes: Axes) -> NDArray[np.int8]:
    """-1 outside, 0 on the surface, +1 inside for all points of a grid and a closed mesh, exact.

    The time grows with the points and with the triangles: for few points and many triangles it is faster to
    ask an octree for each.

    Parameters
    ----------
    mesh : Mesh
        Closed.
    axes : x, y, z, each ascending, m

    Returns
    -------
    (nx, ny, nz) int8
    """
    x, y, z = (frozen(axis) for axis in axes)
    classes = np.empty((len(x), len(y), len(z)), np.int8)
    if classes.size == 0:
        return classes
    rulers = np.array([_ruler(axis) for axis in (x, y, z)])
    rows = min(max(_STEPS // (len(y) * (len(z) + 1)), 1), -(-len(x) // 16))
    shift = rows.bit_length() - 1  # slabs of 2^shift rows
    slabs, chunks = -(-len(x) >> shift), -(-len(mesh.faces) // _scan.CHUNK)
    flat, spans = mesh.vertices.reshape(-1), np.empty((chunks, 4, _scan.CHUNK), np.int32)
    counts = np.zeros((chunks, slabs), np.int64)
    _scan.place_faces(chunks, flat, mesh.faces, rulers, shift, spans, counts)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))])
    members = np.empty(ends[-1], np.int32)
    starts = ends[:-1] + np.cumsum(counts, axis=0) - counts
    _scan.sort_faces(chunks, spans, shift, starts, members)
    _scan.scan_slabs(slabs, flat, mesh.faces, x, y, z, rulers, shift, spans, ends, members, classes)
    return classes


def _ruler(axis: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Half the start, places per half length, largest error of a place found by these, number of places.

    Halves, since the length may be beyond the largest double. Without a length all places will be tried.
    """
    start, half = 0.5 * axis[0], 0.5 * axis[-1] - 0.5 * axis[0]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        per_half = (len(axis) - 1) / half
        error = np.abs((0.5 * axis - start) * per_half - np.arange(len(axis))).max()
    if not np.isfinite(error):
        per_half, error = 0.0, float(len(axis))
    return float(start), float(per_half), float(error), float(len(axis))
