"""From a mesh to the arrays of its octree: the order in which the kernels of _octree_build.py are called."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import MeshError
from impinge.inside import _octree_build as build
from impinge.inside._octree_leaves import write_leaves
from impinge.inside._octree_settle import settle_cells
from impinge.shapes.mesh import Mesh

# Chosen by measurement on spheres and foams (benchmarks/inside.py): larger leaves make the build faster and
# the tree smaller, smaller ones the queries faster.
LEAF_MOST = 24  # triangles; a cell with more is split
CELL_PER_TRIANGLE = 1.8  # wanted size of leaf cells over the square root of the mean area of a triangle
ROOT_MOST = 2**16  # cells of the root lattice: its codes fit into the second-level cache
ROOT_GROWTH = 4  # list entries per triangle in the root lattice
GROWTH_MOST = 12  # list entries per triangle of the mesh, over all levels: bounds memory and time
WORTHWHILE = 0.7  # a split must shorten the list that a point near the surface meets to this part of it
UNITS_MOST = 2**29  # a code holds the place of a leaf record, in units of 32 bytes, in 29 bits


class Tree(NamedTuple):
    """The octree as the query kernels take it."""

    low: NDArray[np.float64]  # (3,) closed bounds of the mesh
    high: NDArray[np.float64]
    scale: NDArray[np.float64]  # (3,) powers of two from the space of the mesh to tree space
    origin: NDArray[np.float64]  # (3,) corner of the root lattice, tree space
    inv: float  # finest cells per length of tree space
    depth: int  # levels below the root
    shape: NDArray[np.int64]  # (3,) cells of the root lattice
    codes: NDArray[np.int32]  # codes of the root cells, then bricks of 64
    words: NDArray[np.float64]  # leaf records, seen as three types
    shorts: NDArray[np.float32]
    ints: NDArray[np.int32]
    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]


class _Root(NamedTuple):
    """Tree space and the lattice of root cells in it."""

    scale: NDArray[np.float64]
    origin: NDArray[np.float64]
    size: float
    shape: NDArray[np.int64]
    depth_most: int


class _Cells(NamedTuple):
    """Occupied cells of one size whose lists stand in one array."""

    spans: NDArray[np.int64]  # (n, 2) first and last + 1 place in `entries`
    references: NDArray[np.float64]  # (n, 3) a point of the cell off the surface ...
    windings: NDArray[np.int32]  # (n,) ... and the winding number there
    entries: NDArray[np.int32]  # face numbers
    size: float  # tree space

    @property
    def count(self) -> int:
        return len(self.spans)

    def take(self, index: NDArray[np.int64]) -> _Cells:
        return self._replace(spans=self.spans[index], references=self.references[index], windings=self.windings[index])


def _empty_cells(count: int, entries: NDArray[np.int32], size: float) -> _Cells:
    return _Cells(np.empty((count, 2), np.int64), np.empty((count, 3)), np.empty(count, np.int32), entries, size)


def place_root(mesh: Mesh) -> _Root:
    """Choose the scale of tree space and the root lattice.

    The wanted leaf size follows from the mean area of the triangles; root cells are larger by a power of 4,
    so that on an even mesh the leaves come out at that size.
    """
    low, high = np.asarray(mesh.bounds)
    extent = float((high / 2 - low / 2).max())  # halves, as high - low may overflow
    exponent = -math.frexp(extent or float(np.abs(high).max()))[1]
    scale = np.full(3, 2.0 ** min(max(exponent, -1000), 960))
    scale *= _stretch(_sum_sizes(mesh, scale)[1:])
    area, *extents = _sum_sizes(mesh, scale)
    # In the smallest cells, the spacing of doubles (in the space of the mesh: denormal numbers are coarse)
    # is far below MARGIN of _octree_cover.
    spacing = float((np.spacing(np.maximum(abs(low), abs(high))) * scale).max())
    low, high = low * scale, high * scale
    span = float((high - low).max())
    finest = max(span * 2.0**-34, spacing * 2.0**12)
    count = len(mesh.faces)
    size = max(CELL_PER_TRIANGLE * math.sqrt(area / count), 4 * finest)
    limit = min(max(count // 2, 1), ROOT_MOST)

    def shape(size: float) -> NDArray[np.float64]:
        # A margin of 1/64 cell, so that the lattice's outer sides are off the mesh.
        return np.ceil((high - low) / size + 1 / 32)

    def entries(size: float) -> float:
        # A triangle meets about one cell, one more for each side it passes, and those it covers.
        return count + sum(extents) / size + 2 * area / size**2

    while float(np.prod(shape(size))) > limit and size < span:
        size *= 4
    while float(np.prod(shape(size))) > limit or (entries(size) > ROOT_GROWTH * count and size < span):
        size *= 1.25
    depth_most = max(0, math.floor(math.log(size / finest, 4)))
    return _Root(scale, low - size / 64, size, shape(size).astype(np.int64), depth_most)


def _sum_sizes(mesh: Mesh, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of area and extents along x, y, z of all triangles; threads do not change the order of the sum."""
    sums = np.empty((-(-len(mesh.faces) // build.SUM_BLOCK), 4))
    build.sum_sizes(len(sums), mesh.vertices, mesh.faces, scale, sums)
    total: NDArray[np.float64] = sums.sum(axis=0)
    return total


def _stretch(extents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Powers of two that make triangles about as long in x as in y and z, e.g. those of a long extrusion."""
    longest = max(float(extents.max()), 1e-300)
    powers = np.round(np.log2(longest / np.maximum(extents, longest * 2.0**-20)))
    return np.where(powers < 2, 1.0, 2.0**powers)


class _Growth:
    """The tree while it grows: codes by level, finished leaves, and the place of the next record."""

    def __init__(self, mesh: Mesh) -> None:
        self.root = place_root(mesh)
        self.geometry = (mesh.vertices, mesh.faces, self.root.scale, self.root.origin)
        self.codes: list[NDArray[np.int32]] = []  # root cells, then the bricks of each level
        self.leaves: list[tuple[_Cells, NDArray[np.int64]]] = []  # with the units of their records
        self.units = 0
        self.budget = GROWTH_MOST * len(mesh.faces) + 1000

    def add_leaves(self, cells: _Cells) -> NDArray[np.int64]:
        """Give leaves their places among the records; returns their codes."""
        sizes = build.HEADER_UNITS + build.BLOCK_UNITS * -(-(cells.spans[:, 1] - cells.spans[:, 0]) // build.LANES)
        ends = self.units + np.cumsum(sizes)
        self.leaves.append((cells, ends - sizes))
        self.units = int(ends[-1]) if len(ends) else self.units
        return (ends - sizes) << 2 | build.LEAF

    def plant(self) -> tuple[_Cells, NDArray[np.int64], NDArray[np.int64]]:
        """Fill the root lattice; returns its crowded cells, their places in it and in the codes."""
        size, shape = self.root.size, self.root.shape
        count = int(np.prod(shape))
        bins = min(max(len(self.geometry[1]) // 8192, 1), 8)  # pieces of the counting sort
        counts = np.zeros((bins, count), np.int32)
        build.count_root(len(counts), *self.geometry, 1 / size, shape, counts)
        starts = np.empty(count + 1, np.int64)
        build.start_root(counts, starts)
        entries = np.empty(starts[-1], np.int32)
        build.fill_root(len(counts), *self.geometry, 1 / size, shape, counts, entries)
        references, windings = np.empty((count, 3)), np.empty(count, np.int32)
        build.label_root(int(shape[1] * shape[2]), *self.geometry, size, shape, starts, entries, references, windings)
        self.settle(references, windings)
        cells = _Cells(np.stack([starts[:-1], starts[1:]], axis=1), references, windings, entries, size)
        number = np.diff(starts)
        codes = windings << 2 | build.EMPTY
        leaves = np.flatnonzero((number > 0) & (number <= LEAF_MOST))
        codes[leaves] = self.add_leaves(cells.take(leaves))
        self.codes.append(codes)
        crowded = np.flatnonzero(number > LEAF_MOST)
        lattice = np.stack(np.unravel_index(crowded, shape[::-1])[::-1], axis=1).astype(np.int64)
        return cells.take(crowded), lattice, crowded

    def split(
        self, crowd: _Cells, lattice: NDArray[np.int64], slots: NDArray[np.int64]
    ) -> tuple[_Cells, NDArray[np.int64], NDArray[np.int64]]:
        """Split crowded cells into bricks, or make leaves of those where it does not pay; returns the next."""
        child = crowd.size / 4
        number = crowd.spans[:, 1] - crowd.spans[:, 0]
        masks = np.empty(len(crowd.entries), np.uint64)
        counts = np.empty((crowd.count, 64), np.int32)
        sums = np.zeros((crowd.count, 5), np.int64)
        if len(self.codes) <= self.root.depth_most and self.budget > 0:
            build.cover_nodes(
                crowd.count, *self.geometry, child, lattice, crowd.spans, crowd.entries, LEAF_MOST, masks, counts, sums
            )
        pays = self._worthwhile(number, sums[:, 0], sums[:, 1])
        nodes, stuck = np.flatnonzero(pays), np.flatnonzero(~pays)
        above = self.codes[-1]
        above[slots[stuck]] = self.add_leaves(crowd.take(stuck))
        first = sum(len(part) for part in self.codes[1:]) // 64
        above[slots[nodes]] = (first + np.arange(len(nodes))) << 2 | build.NODE

        ends = np.cumsum(sums[nodes][:, [0, 2, 3, 4]], axis=0)  # entries, leaves, units, crowded children
        total = ends[-1] if len(nodes) else np.zeros(4, np.int64)
        # Contiguous, as it is by itself for one node only: another order of the array would be another kernel.
        places = np.ascontiguousarray(ends - sums[nodes][:, [0, 2, 3, 4]])
        places[:, 2] += self.units
        self.units += int(total[2])
        self.budget -= int(total[0])
        lists = np.empty(total[0], np.int32)
        codes = np.empty(64 * len(nodes), np.int32)
        leaves, units = _empty_cells(total[1], lists, child), np.empty(total[1], np.int64)
        crowded = _empty_cells(total[3], lists, child)
        next_lattice, next_slots = np.empty((total[3], 3), np.int64), np.empty(total[3], np.int64)
        build.split_nodes(
            len(nodes), *self.geometry, child, nodes, lattice, crowd.spans, crowd.entries, masks, counts,
            crowd.references, crowd.windings, places, LEAF_MOST, lists, codes, leaves.spans, units, leaves.references,
            leaves.windings, next_lattice, crowded.spans, crowded.references, crowded.windings, next_slots,
        )  # fmt: skip
        self.settle(leaves.references, leaves.windings)
        self.settle(crowded.references, crowded.windings)
        self._settle_empty(codes, lattice[nodes], child)
        self.leaves.append((leaves, units))
        self.codes.append(codes)
        return crowded, next_lattice, next_slots

    def settle(self, references: NDArray[np.float64], windings: NDArray[np.int32]) -> None:
        """Replace the winding numbers that are still unknown."""
        unknown = np.flatnonzero(windings == build.UNKNOWN)
        if len(unknown):
            found = np.empty(len(unknown), np.int32)
            settle_cells(len(found), *self.geometry[:2], references[unknown], found)
            windings[unknown] = found

    def _settle_empty(self, codes: NDArray[np.int32], lattice: NDArray[np.int64], size: float) -> None:
        """The same for empty children, whose winding number is in their code."""
        unknown = np.flatnonzero(codes == build.UNKNOWN << 2 | build.EMPTY)
        if len(unknown):
            child = np.stack([unknown & 3, unknown >> 2 & 3, unknown >> 4 & 3], axis=1)
            centres = self.root.origin + size * (4 * lattice[unknown >> 6] + child + 0.5)
            windings = np.full(len(unknown), build.UNKNOWN, np.int32)
            self.settle(centres / self.root.scale, windings)
            codes[unknown] = windings << 2 | build.EMPTY

    def _worthwhile(
        self, number: NDArray[np.int64], entries: NDArray[np.int64], squares: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which splits of `number` triangles into `entries` list entries to make, the best for the budget.

        Σ n² / Σ n over the children is the mean length of the list that a point near the surface meets. A
        split that does not lengthen the lists in all is made anyway: it zooms in on a small, crowded part.
        """
        shortening = squares / np.maximum(number * entries, 1)
        pays = (entries > 0) & ((shortening < WORTHWHILE) | (entries < 1.5 * number))
        order = np.argsort(shortening, kind="stable")
        spent = np.empty(len(order), np.int64)
        spent[order] = np.cumsum(np.where(pays[order], entries[order], 0))
        return pays & (spent <= self.budget)


def grow(mesh: Mesh) -> Tree:
    """Build the octree of a closed mesh."""
    growth = _Growth(mesh)
    crowd, lattice, slots = growth.plant()
    while crowd.count:
        crowd, lattice, slots = growth.split(crowd, lattice, slots)
    if growth.units > UNITS_MOST:
        raise MeshError(f"mesh: its octree needs {32 * growth.units:,} bytes, expected at most {32 * UNITS_MOST:,}")
    words = np.empty(4 * growth.units)
    shorts, ints = words.view(np.float32), words.view(np.int32)
    root = growth.root
    for cells, units in growth.leaves:
        write_leaves(
            cells.count, mesh.vertices, mesh.faces, root.scale, cells.size / 2, cells.entries, cells.spans, units,
            cells.references, cells.windings, words, shorts, ints,
        )  # fmt: skip
    low, high = np.array(mesh.bounds)
    depth = len(growth.codes) - 1
    return Tree(
        low, high, root.scale, root.origin, 4.0**depth / root.size, depth, root.shape,
        np.concatenate(growth.codes), words, shorts, ints, mesh.vertices, mesh.faces,
    )  # fmt: skip
