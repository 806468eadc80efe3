"""Inside tests by counting crossings of a ray with the surface: the paper's procedure, and an exact one."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from impinge._check import frozen
from impinge.inside import _ray, _vertical
from impinge.inside.direct import Direct, signs
from impinge.shapes.mesh import Mesh

__all__ = ["Outcome", "Ray", "RayExact"]


class Outcome(IntEnum):
    """How the ray crossing test of a point ended."""

    OUTSIDE_BOX = _ray.OUTSIDE_BOX  # outside the box of the body: no ray needed
    OUTSIDE = _ray.OUTSIDE  # even number of crossings
    INSIDE = _ray.INSIDE  # odd number of crossings
    ON_FACE = _ray.ON_FACE
    ON_EDGE = _ray.ON_EDGE
    ON_VERTEX = _ray.ON_VERTEX
    DEGENERATE = _ray.DEGENERATE  # of a single ray, through an edge or a vertex or in a plane: shoot again


def _size_exponent(bounds: NDArray[np.float64]) -> int:
    """Exponent of the power of two that brings the mesh to a size of about 1."""
    half = 0.5 * bounds[1] - 0.5 * bounds[0]
    return -math.frexp(float(half.max()))[1]


def _factors(exponent: int) -> tuple[float, float]:
    """2^exponent as a product of two numbers, because it may be out of range itself."""
    part = exponent // 2
    return 2.0**part, 2.0 ** (exponent - part)


def _corners(mesh: Mesh) -> NDArray[np.float64]:
    return np.ascontiguousarray(mesh.vertices[mesh.faces].reshape(-1, 9))


def _blocks(boxes: NDArray[np.float64]) -> NDArray[np.float32]:
    """Boxes (n, 6) in blocks (⌈n / BLOCK⌉, 6, BLOCK), filled up with boxes that are nowhere."""
    blocks = -(-len(boxes) // _ray.BLOCK)
    padded = np.full((blocks * _ray.BLOCK, 6), _ray.NOWHERE, np.float32)
    padded[: len(boxes)] = boxes
    padded[len(boxes) :, 3:] = 0
    return np.ascontiguousarray(padded.reshape(blocks, _ray.BLOCK, 6).transpose(0, 2, 1))


def _surface_winding(
    mesh: Mesh, points: NDArray[np.float64], winding: NDArray[np.float64], on_surface: NDArray[np.bool_]
) -> None:
    """Replace the winding numbers of points on the surface by those of the direct sum (1/2 in a face …)."""
    few = np.flatnonzero(on_surface)
    if len(few):
        winding[few] = Direct(mesh).winding(points[few])


class Ray:
    """The ray crossing test of [Muth2006] 2.2 as corrected in docs/inside.md: random rays, parity of crossings.

    A point outside the box of the body is outside. From any other a segment in a random direction is drawn to
    a point R outside the box; faces whose box it misses are skipped, for the others the signs of a few
    volumes tell a crossing from a miss. A ray through an edge or a vertex, or in the plane of a face, is
    degenerate: another one is shot. A point in the plane of a face is found on it by the signs of areas. All
    signs are exact, so the answer is exact for every finite input.

    The crossings are counted modulo 2: where shells overlap, the doubly covered part counts as outside, and
    an inverted mesh has an inside. All other methods of impinge use the winding number.

    Parameters
    ----------
    mesh : Mesh
        Closed. Faces without area are left out of the count, but a point on one is on the surface.
    """

    name = "ray"

    def __init__(self, mesh: Mesh) -> None:
        corners = _corners(mesh)
        has_area = np.empty(len(corners), np.bool_)
        _ray.find_areas(len(corners), corners, has_area)
        self._mesh = mesh
        self._triangles = corners[has_area]
        self._flat = corners[~has_area]
        self._bounds = np.array(mesh.bounds, np.float64)
        exponent = _size_exponent(self._bounds)
        low, high = np.ldexp(self._bounds, exponent)
        centre = 0.5 * low + 0.5 * high
        scaled = np.ldexp(self._triangles, exponent).reshape(-1, 3, 3) - centre
        low, high = scaled.min(axis=1), scaled.max(axis=1)
        self._boxes = _blocks(np.concatenate([0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low], axis=1))
        # Lengths up to 16 and products up to 64 are rounded to 2^-24 of that, differences from a far centre
        # to 2^-53 of it: boxes are enlarged by much more.
        margin = 2.0**-16 + 2.0**-46 * float(np.abs(centre).max())
        self._frame = np.array([*_factors(exponent), *centre, margin])
        # Twice the sum of the sides is more than the diameter; at the end of the range of doubles it is inf.
        with np.errstate(over="ignore"):
            self._reach = float((self._bounds[1] - self._bounds[0]).sum() * 2.0)

    @property
    def nbytes(self) -> int:
        """Memory of the prepared arrays, bytes."""
        return self._triangles.nbytes + self._flat.nbytes + self._boxes.nbytes

    def outcomes(self, points: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """How the test of every point ended, and with how many rays.

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        outcome : (n,) int8
            Codes of `Outcome`.
        shots : (n,) int8
            Rays shot. After 16 the parity along +z decides, by the exact rule of `RayExact`.
        """
        outcome, shots = np.empty(len(points), np.int8), np.empty(len(points), np.int8)
        with np.errstate(over="ignore"):  # the random numbers wrap round; noticed only with the compiler off
            _ray.shoot_rays(
                -(-len(points) // _ray.TASK), frozen(points), frozen(points).view(np.uint64), self._triangles,
                self._flat, self._boxes, self._bounds, self._reach, self._frame, outcome, shots,
            )  # fmt: skip
        return outcome, shots

    def classify(self, points: NDArray[np.float64]) -> NDArray[np.int8]:
        """−1 outside, 0 exactly on the surface, +1 inside (odd number of crossings).

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) int8
        """
        outcome, _ = self.outcomes(points)
        sign = np.zeros(len(points), np.int8)
        sign[outcome == Outcome.INSIDE] = 1
        sign[outcome <= Outcome.OUTSIDE] = -1
        return sign

    def winding(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """1 inside and 0 outside, by parity; on the surface the value of `Direct`.

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) float64
        """
        sign = self.classify(points)
        winding = (sign > 0).astype(np.float64)
        _surface_winding(self._mesh, points, winding, sign == 0)
        return winding


class RayExact:
    """Signed crossings of the ray along +z, with a symbolic perturbation instead of other rays (docs/inside.md).

    The point is moved by (ε, ε², 0), ε smaller than any number, so that the ray never meets an edge or a
    vertex, and no second ray is needed. A grid over x and y lists the faces above each of its cells.
    Crossings outwards count +1 and inwards −1: the sum is the winding number, and overlapping shells are
    right.

    Parameters
    ----------
    mesh : Mesh
        Closed.
    """

    name = "ray-exact"

    def __init__(self, mesh: Mesh) -> None:
        corners = _corners(mesh)
        tops = corners[:, 2::3].max(axis=1)
        order = np.argsort(-tops, kind="stable")
        self._mesh = mesh
        self._triangles, self._tops = corners[order], tops[order]
        self._bounds = np.array(mesh.bounds, np.float64)
        exponent = _size_exponent(self._bounds)
        low, high = np.ldexp(self._bounds, exponent)
        sides = np.maximum((high - low)[:2], 2.0**-20)  # a flat side still gets a cell
        cells = 2.0 * len(corners)
        while True:
            # Square cells, about two per face; fewer while large faces would be listed too often.
            shape = np.clip(sides * math.sqrt(cells / sides.prod()), 1, 2**14).astype(np.int64)
            with np.errstate(divide="ignore"):
                per_length = np.where(high[:2] > low[:2], shape / (high[:2] - low[:2]), 0.0)
            self._grid = np.array([*_factors(exponent), low[0], low[1], *per_length])
            total = _vertical.count_columns(self._triangles, self._grid, shape, np.empty(0, np.int32))
            if total <= 12 * len(corners) + 64 or shape.prod() == 1:
                break
            cells /= 4
        self._shape = shape
        counts = np.empty(int(shape.prod()), np.int32)
        _vertical.count_columns(self._triangles, self._grid, shape, counts)
        self._ends = np.cumsum(counts, dtype=np.int64) - counts
        self._members = np.empty(total, np.int32)
        _vertical.fill_columns(self._triangles, self._grid, shape, self._ends, self._members)

    @property
    def nbytes(self) -> int:
        """Memory of the prepared arrays, bytes."""
        return self._triangles.nbytes + self._tops.nbytes + self._ends.nbytes + self._members.nbytes

    def _count(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        winding, on_surface = np.empty(len(points)), np.empty(len(points), np.bool_)
        _vertical.count_crossings(
            len(points), frozen(points), self._triangles, self._tops, self._bounds, self._grid, self._shape, self._ends,
            self._members, winding, on_surface,
        )  # fmt: skip
        return winding, on_surface

    def classify(self, points: NDArray[np.float64]) -> NDArray[np.int8]:
        """−1 outside, 0 exactly on the surface, +1 inside (winding number of 1 or more).

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) int8
        """
        return signs(*self._count(points))

    def winding(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Winding number: exact integers off the surface, on it the values of `Direct` (1/2 in a face …).

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) float64
        """
        winding, on_surface = self._count(points)
        _surface_winding(self._mesh, points, winding, on_surface)
        return winding
