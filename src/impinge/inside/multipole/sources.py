"""Source tree of the multipole method, from triangles to boxes, moments and leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from impinge._lanes import LANES
from impinge.inside.multipole import _sources as kernels
from impinge.inside.multipole._evaluate import Leaves
from impinge.inside.multipole._harmonics import circle
from impinge.inside.multipole._sources import DEEPEST
from impinge.inside.multipole._walk import HALF_DIAGONAL, Far
from impinge.inside.multipole.operators import between_generations, sizes, weights
from impinge.shapes.mesh import Mesh

Floats = NDArray[np.float64]
_LARGEST = 2.0**30  # squared distance: never far
_COARSE = 47  # bits: rounding errors in a leaf are up to 2^-47 of the root over the side of the leaf
_WIDE = 10.0  # sides of their box: triangles that reach further are always near, and products of their factors watched


class Frame(NamedTuple):
    """Root coordinates, (x · first · second − low) · per_side: the cube around the mesh becomes the unit cube."""

    first: float  # powers of two, so that no square leaves the range of doubles
    second: float
    low: Floats
    per_side: float

    def place(self, points: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return (points * self.first * self.second - self.low) * self.per_side

    def find(self, places: Floats) -> Floats:
        """Points of root coordinates."""
        with np.errstate(over="ignore", under="ignore"):
            return (places / self.per_side + self.low) / self.first / self.second


def frame(mesh: Mesh) -> Frame:
    """The frame of a mesh."""
    low, high = mesh.bounds
    half = float((0.5 * high - 0.5 * low).max())
    exponent = -int(np.frexp(half)[1]) if half > 0 else 0
    first, second = 2.0 ** (exponent // 2), 2.0 ** (exponent - exponent // 2)
    low, high = low * first * second, high * first * second
    side = float((high - low).max()) * (1 + 2.0**-20) or 1.0
    return Frame(first, second, 0.5 * low + 0.5 * high - 0.5 * side, 1 / side)


class Sources(NamedTuple):
    """The source tree and all that is read from it."""

    far: Far
    leaves: Leaves
    root: Floats  # moments of the root, from degree 1 on
    levels: NDArray[np.int64]  # of all boxes, ascending
    layers: float  # how often the surface covers itself somewhere, at most


_USUAL_COVERAGE = 0.65  # nine of ten leaves of spheres, foams and scanned meshes have less


def grow(mesh: Mesh, at: Frame, order: int, near: float, leaf: int, depth: int, noise: NDArray[Any]) -> Sources:
    """The source tree of a mesh; noise : of angles, at every level, in the precision of the run."""
    corners = np.ascontiguousarray(mesh.vertices[mesh.faces].reshape(-1, 9))
    roots = at.place(corners.reshape(-1, 3)).reshape(-1, 9)
    codes = np.empty(len(roots), np.int64)
    kernels.encode(len(roots), roots, codes)
    rank = np.argsort(codes, kind="stable")
    codes, roots, corners = codes[rank], roots[rank], corners[rank]
    boxes = _split(codes, roots, leaf, depth)
    radii = np.empty(len(boxes.levels))
    kernels.measure_radii(len(radii), roots, *boxes[:4], radii)
    moments = _moments(order, roots, boxes)
    owners = np.flatnonzero(boxes.counts == 0)
    owners = owners[np.argsort(boxes.begins[owners], kind="stable")]
    leaves, coverage = _leaves(order, near, boxes, radii, owners, roots, corners, noise)
    return Sources(
        _far(order, near, boxes, radii, moments, owners, noise.dtype),
        leaves,
        np.ascontiguousarray(moments[0, 1:]),
        boxes.levels,
        max(_layers(radii, moments), coverage / _USUAL_COVERAGE),
    )


def _split(codes: NDArray[np.int64], roots: Floats, leaf: int, depth: int) -> kernels.Boxes:
    room = 1024
    while True:
        arrays = [np.empty((room, 3) if k == 3 else room, np.int64) for k in range(6)]
        made = kernels.split(codes, roots, leaf, depth, *arrays)
        if made > 0:
            return kernels.Boxes(*(np.ascontiguousarray(array[:made]) for array in arrays))
        room *= 4


def _moments(order: int, roots: Floats, boxes: kernels.Boxes) -> Floats:
    """(boxes, (order + 1)²) in sides of each: of leaves from their triangles, of others from their sons."""
    moments = np.zeros((len(boxes.levels), (order + 1) ** 2))
    kernels.fill_leaf_moments(len(moments), order, circle(order), roots, *boxes[:4], boxes.counts, moments)
    to_father = between_generations(order)[0]
    for level in range(int(boxes.levels[-1]) - 1, -1, -1):
        begin, end = np.searchsorted(boxes.levels, [level, level + 1])
        kernels.gather_moments(end - begin, begin, to_father, *boxes[3:], moments)
    return moments


def _layers(radii: Floats, moments: Floats) -> float:
    """Largest vector area of a cluster over that of a circle around it: 1 at most, or k where faces are there k times.

    Moments of degree 1 are the vector area: n·∇R_1^0 = n_z and n·∇R_1^1 = (n_x + i n_y) / 2.
    """
    area = np.hypot(moments[:, 1], np.hypot(2 * moments[:, 2], 2 * moments[:, 3]))
    extended = radii > 0
    return float((area[extended] / (np.pi * radii[extended] ** 2)).max(initial=0.0))


def _deepest_use(boxes: kernels.Boxes, radii: Floats) -> NDArray[np.int64]:
    """Level of cells that are as large as the smallest leaf of a box, whose triangles may stick out of it."""
    wider = np.ceil(np.log2(np.maximum(radii / HALF_DIAGONAL, 1.0)) - 0.25)  # a quarter of a level: usual triangles do
    use = boxes.levels - np.minimum(wider, DEEPEST).astype(np.int64)
    fathers = np.repeat(np.arange(len(use)), boxes.counts)
    sons = np.repeat(boxes.sons - np.cumsum(boxes.counts) + boxes.counts, boxes.counts) + np.arange(len(fathers))
    use[boxes.counts > 0] = -1
    for level in range(int(boxes.levels[-1]), 0, -1):
        here = boxes.levels[sons] == level
        np.maximum.at(use, fathers[here], use[sons[here]])
    return use


def _far(
    order: int, near: float, boxes: kernels.Boxes, radii: Floats, moments: Floats, owners: NDArray[np.int64],
    dtype: DTypeLike,
) -> Far:  # fmt: skip
    def reach(radius: Floats) -> Floats:
        """Distance from which a cluster and a cell, of side 1, are far from each other."""
        return near * np.maximum(radius, HALF_DIAGONAL) + np.minimum(radius, HALF_DIAGONAL)

    equal, double = reach(radii) ** 2, 4 * reach(2 * radii) ** 2
    thresholds = np.minimum(np.ceil([equal, double]), _LARGEST).T
    table = np.column_stack([boxes.levels, boxes.cells, boxes.sons, boxes.counts, thresholds]).astype(np.int32)
    starts = boxes.begins[owners]
    leaves = np.searchsorted(starts, np.column_stack([boxes.begins, boxes.ends]))
    ranges = np.column_stack([leaves, _deepest_use(boxes, radii)])
    packed = np.zeros((len(moments), sizes(order).rows), dtype)
    used = radii <= _WIDE  # others are too near to all cells that might ask for them
    packed[used, : moments.shape[1] - 1] = moments[used, 1:]
    return Far(table, ranges, packed.ravel())


def _leaves(
    order: int, near: float, boxes: kernels.Boxes, radii: Floats, owners: NDArray[np.int64], roots: Floats,
    corners: Floats, noise: NDArray[Any],
) -> tuple[Leaves, float]:  # fmt: skip
    """The leaves, and how often the triangles of most cover the circle around them at most, whichever way they look."""
    begins, ends = boxes.begins[owners], boxes.ends[owners]
    counts = -(-(ends - begins) // LANES)
    firsts = np.cumsum(counts) - counts
    table = np.column_stack([boxes.levels[owners], boxes.cells[owners], firsts, begins, ends, radii[owners] > _WIDE])
    chunks = np.empty(9 * LANES * int(counts.sum()), noise.dtype)
    kernels.fill_chunks(len(table), table, roots, chunks)
    middles, own_radii, areas = np.empty((len(table), 3)), np.empty(len(table)), np.empty(len(table))
    moments = np.zeros((len(table), (order + 1) ** 2))
    kernels.fill_own_moments(len(table), order, circle(order), roots, table, middles, own_radii, areas, moments)
    coverage = areas[own_radii > 0] / (np.pi * own_radii[own_radii > 0] ** 2)
    is_wide = own_radii > _WIDE
    moments[is_wide], own_radii[is_wide] = 0.0, np.inf
    rows = np.zeros((moments.shape[1] - 1, len(table) + LANES), noise.dtype)
    rows[:, : len(table)] = (moments * weights(order, 1))[:, 1:].T
    # Coordinates in a cell are known to this part of its side, times what J may be off by: nearer leaves are near.
    blur = 2.0**-23 * 1e5 if noise.dtype == np.float32 else 2.0**-50 * 1e11
    constants = np.append(noise, np.array(blur, noise.dtype))
    leaves = Leaves(table, middles, (near * own_radii) ** 2, chunks, corners, rows.ravel(), constants)
    return leaves, float(np.percentile(coverage, 90)) if len(coverage) else 0.0


def noise(accuracy: float, single: bool) -> NDArray[Any]:
    """How far a factor of the near field may be from 0 and rounding not turn it by more than `accuracy`; by level.

    Coordinates in a leaf are known to 2^-22 of its side in single precision, and in double precision to what root
    coordinates are, 2^-52 of the side of the root.
    """
    if single:
        return np.full(DEEPEST + 1, 2.0**-22 / accuracy, np.float32)
    return 2.0 ** (np.arange(DEEPEST + 1) - 51) / accuracy


def deepest(accuracy: float) -> int:
    """Level of the smallest boxes in which coordinates, known to 2^-52 of the root, give J to `accuracy`.

    In smaller ones all angles would be unclear.
    """
    return min(DEEPEST, int(np.log2(accuracy * 2.0**_COARSE)))
