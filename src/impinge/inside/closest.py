"""The nearest point of a surface, by a tree over its triangles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from impinge._check import frozen
from impinge.inside import _closest, _closest_build, _closest_frames, _closest_grid
from impinge.shapes.mesh import Mesh

__all__ = ["ClosestTree"]

_CUBE = 8  # side of the cubes of grid points that one thread takes at a time
_CHUNK = 1 << 18  # points that are asked for at a time where a grid is too far away
_REACH = 128.0  # in sizes of the mesh: from farther away single precision hardly tells its triangles apart
# Corners of the packets of 2³ points in a cube: the 8 of a block of 4³ points one after the other, and in both
# blocks and packets most steps go to a neighbour.
_STEPS = np.array([(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1), (1, 0, 0)])
_PATH = (4 * _STEPS[:, None] + 2 * _STEPS).reshape(-1, 3)


class ClosestTree:
    """Tree for the nearest point of a surface; any mesh will do, closed or not.

    The answer is that of a comparison with all triangles, to the last bit, whatever the number of threads and
    the order of the points. Among faces at equal distance the lowest is reported: the faces that meet at the
    nearest edge or vertex tie exactly. Points more than 2^26 sizes of the mesh away get the nearest point
    that is seen from 2^26 sizes away in their direction.

    Parameters
    ----------
    mesh : Mesh
        Faces without area count as the segments or points they are.
    """

    def __init__(self, mesh: Mesh) -> None:
        m, width = len(mesh.faces), _closest.WIDTH
        # The vertices of a face in the order of their numbers: both faces at an edge then compute the nearest
        # point of the edge in the same way, bit by bit.
        corners = mesh.vertices[np.sort(mesh.merged_faces, axis=1)].reshape(m, 9)
        low, high = corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0)
        half = float((0.5 * high - 0.5 * low).max())
        # A power of two is exact; at a size of about 1 squares stay in range.
        self._exponent = -math.frexp(half if half > 0 else float(np.abs(high).max()))[1]
        self._centre = 0.5 * low + 0.5 * high
        corners = np.ascontiguousarray(self._scale(corners))
        mid = np.ascontiguousarray((corners[:, 0:3] + corners[:, 3:6] + corners[:, 6:9]).T)
        order = np.arange(m, dtype=np.int32)
        ranges = np.empty((m // width + 2, width, 2), np.int32)
        children = np.empty((m // width + 2, width), np.int32)
        n_nodes, n_leaves = _closest_build.split_faces(mid, order, ranges, children)
        self._children = children[:n_nodes].copy()
        self._nodes = np.empty(n_nodes * _closest.NODE)
        self._leaves = np.empty(n_leaves * _closest.LEAF)
        self._faces = np.empty(n_leaves * width, np.int32)
        tree = (self._children, self._nodes, self._leaves, self._faces)
        _closest_build.bound_nodes(len(self._children), corners, order, ranges, *tree)
        self._grid: tuple[NDArray[np.float32], ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory of the tree, bytes; `grid_distance` adds about as much again on its first call."""
        tree = [self._children, self._nodes, self._leaves, self._faces, *self._grid]
        return sum(array.nbytes for array in tree)

    def _scale(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(array, self._exponent)

    def _unscale(self, array: NDArray[np.float64]) -> None:
        """In place what undoes `_scale`; a product where 2^exponent is a double, many times faster than ldexp."""
        if abs(self._exponent) < 1000:
            np.multiply(array, 2.0**-self._exponent, out=array)
        else:
            np.ldexp(array, -self._exponent, out=array)

    def query(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Nearest point of the surface for every point.

        Parameters
        ----------
        points : (n, 3) float64, m
            Finite and C-contiguous.

        Returns
        -------
        closest : (n, 3) float64, m
        face : (n,) int64
            The face that holds it, the lowest of those at equal distance.
        distance : (n,) float64, m
            Unsigned.
        """
        n = len(points)
        closest, face, distance = np.empty((n, 3)), np.empty(n, np.int64), np.empty(n)
        if n == 0:
            return closest, face, distance
        scaled, low, high = np.empty((n, 3)), np.empty(3), np.empty(3)
        part = self._exponent // 2  # 2^exponent itself may be out of range
        factors = 2.0**part, 2.0 ** (self._exponent - part)
        centre = self._centre, self._scale(self._centre)
        beyond = _closest.scale_points(frozen(points), *factors, *centre, scaled, low, high)
        # Neighbours one after the other: each starts from the answer of the one before it.
        bits = min(max(int(math.log2(n / 4) / 3), 1), 7) if n > 64 else 0
        in_order, home = np.empty((n, 3)), np.empty(n, np.int64)
        per_length = np.divide(2.0**bits, high - low, out=np.zeros(3), where=high > low)
        _closest.sort_by_cell(scaled, low, per_length, bits, in_order, home)
        tree = (self._nodes, self._children, self._leaves, self._faces)
        _closest.find_closest(-(-n // _closest.CHUNK), in_order, home, *tree, closest, face, distance)
        with np.errstate(over="ignore"):
            self._unscale(closest)
            self._unscale(distance)
        if beyond:
            for i in np.flatnonzero(np.abs(scaled - centre[1]).max(axis=1) > 0.5 * _closest.FAR):
                distance[i] = math.dist(points[i], closest[i])
        return closest, face, distance

    def grid_distance(
        self, x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Unsigned distances from the points of a grid, faster than `query`: neighbours share their search.

        Parameters
        ----------
        x, y, z : (nx,), (ny,), (nz,) float64, m
            Coordinates of the grid points along the axes; spacings need not be equal.

        Returns
        -------
        (nx, ny, nz) float64, m
            Entry [i, j, k] is the distance of (x[i], y[j], z[k]), that of `query` to an ulp or two.
        """
        shape = len(x), len(y), len(z)
        distance = np.empty(shape)
        if 0 in shape:
            return distance
        u, v, w = (np.ascontiguousarray(self._scale(axis)) for axis in (x, y, z))
        centre = self._scale(self._centre)
        reach = max(np.abs(axis - middle).max() for axis, middle in zip((u, v, w), centre, strict=True))
        if reach > _REACH:
            rows = max(_CHUNK // (shape[1] * shape[2]), 1)  # the points of the whole grid may not fit
            for i in range(0, shape[0], rows):
                points = np.stack(np.meshgrid(x[i : i + rows], y, z, indexing="ij"), axis=-1).reshape(-1, 3)
                distance[i : i + rows] = self.query(points)[2].reshape(-1, *shape[1:])
            return distance
        if not self._grid:
            leaves = len(self._leaves) // _closest.LEAF
            sizes = len(self._nodes), leaves * _closest_frames.ROOM, leaves * _closest_frames.FRAMES
            grid = tuple(np.empty(size, np.float32) for size in sizes)
            tree = (self._nodes, self._children, self._leaves, centre)
            _closest_frames.frame_leaves(len(self._children), *tree, *grid)
            self._grid = grid
        cubes = math.prod(-(-n // _CUBE) for n in shape)
        parts = (self._nodes, self._children, self._leaves, self._faces, centre, *self._grid)
        _closest_grid.grid_distances(cubes, _closest.WIDTH, u, v, w, _PATH, _CUBE, *parts, distance)
        with np.errstate(over="ignore"):
            self._unscale(distance)
        return distance
