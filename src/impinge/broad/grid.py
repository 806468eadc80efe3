"""Cells by position, levels by size: where the bodies lie, and their pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.broad import _grid

__all__ = ["Found", "Grid", "lay_grid", "search"]

_CELLS_PER_BODY = 2  # cells of a level, at most, besides a few
_MOST_LEVELS = 40
_ROOM = 6  # pairs per sphere for which there is room at first


class Grid(NamedTuple):
    """Bodies sorted by level and cell."""

    order: NDArray[np.int32]  # (n,) bodies in the order of level, z, y and x of their cells
    cells: NDArray[np.int32]  # (n,) their cells
    starts: NDArray[np.int32]  # (cells + 1,) where those of each cell begin
    low: NDArray[np.float64]  # (3,) corner of cell 0
    per_length: NDArray[np.float64]  # (levels,) cells per length
    shape: NDArray[np.int64]  # (levels, 3) cells along the axes
    folded: NDArray[np.bool_]  # (levels, 3) whether cells that many apart are one
    offset: NDArray[np.int64]  # (levels,) first cell
    begins: NDArray[np.int64]  # (levels + 1,) first body of each level in `order`
    largest: NDArray[np.float64]  # (levels,) largest size


class Found(NamedTuple):
    """Pairs as found by a search, not yet sorted."""

    keys: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    tests: int  # candidates tested


def lay_grid(
    centres: NDArray[np.float64], sizes: NDArray[np.float64], *, cell_size: float | None = None, levels: bool = True
) -> Grid:
    """Sort bodies into the cells of one or several levels.

    Parameters
    ----------
    centres : (n, 3) float64
    sizes : (n,) float64
        Largest length of a body, gap included: cells of its level are at least as long.
    cell_size : float, optional
        Length of the cells, instead of the largest size; for one level only.
    levels : bool
        A level for every power of two between the sizes, or one for all.
    """
    n = len(centres)
    blocks = -(-n // _grid.BLOCK)
    low, high = np.empty((2, blocks, 3))
    counts, largest = np.zeros((blocks, _grid.EXPONENTS), np.int64), np.zeros((blocks, _grid.EXPONENTS))
    _grid.survey(blocks, centres, sizes, low, high, counts, largest)
    low, high = low.min(axis=0), high.max(axis=0)
    exponents = np.flatnonzero(counts.sum(axis=0))[::-1]
    if not levels:
        exponents = exponents[:1]
    exponents = exponents[:_MOST_LEVELS]
    level_of = np.searchsorted(-exponents, -np.arange(_grid.EXPONENTS), side="right") - 1
    level_of = np.maximum(level_of, 0)
    members = np.bincount(level_of, counts.sum(axis=0), len(exponents)).astype(np.int64)
    most = np.zeros(len(exponents))
    np.maximum.at(most, level_of, largest.max(axis=0))
    shape, folded, per_length = _shapes(low, high - low, most if cell_size is None else np.full(1, cell_size), members)
    sizes_in_cells = shape.prod(axis=1)
    offset = np.cumsum(sizes_in_cells) - sizes_in_cells
    cells = np.empty(n, np.int32)
    _grid.place(blocks, centres, sizes, level_of, low, per_length, shape, folded, offset, cells)
    starts = np.zeros(int(sizes_in_cells.sum()) + 2, np.int32)
    order, ordered_cells = np.empty(n, np.int32), np.empty(n, np.int32)
    _grid.sort_by_cell(cells, starts, order, ordered_cells)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)])
    return Grid(order, ordered_cells, starts, low, per_length, shape, folded, offset, begins, most)


def _shapes(
    low: NDArray[np.float64], extent: NDArray[np.float64], sizes: NDArray[np.float64], members: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
    """Cells along the axes of every level, whether they are folded, and cells per length."""
    shape = np.ones((len(sizes), 3), np.int64)
    folded = np.zeros((len(sizes), 3), np.bool_)
    per_length = np.zeros(len(sizes))
    for level, (size, count) in enumerate(zip(sizes, members, strict=True)):
        length = size if size > 0 else (extent.max() / count if extent.max() > 0 else 1.0)
        # A little longer: rounding must not put spheres that touch two cells apart.
        length = length * (1 + 2.0**-20) + 2.0**-46 * (np.abs(low).max() + extent.max())
        per_length[level] = 1.0 / length
        wanted = np.floor(extent / length) + 1.0
        room = float(_CELLS_PER_BODY * count + 64)
        # Shorten the longest axes to the same length until there is room.
        limit = np.sort(wanted)
        cap = math.inf
        for axis in range(3):  # the axes up to `axis` keep their length, the others share what is left
            cap = (room / limit[:axis].prod()) ** (1 / (3 - axis))
            if limit[axis] > cap:
                break
        shape[level] = np.minimum(wanted, max(math.floor(cap), 1))
        folded[level] = wanted > shape[level]
    return shape, folded, per_length


def search(
    grid: Grid,
    bodies: NDArray[np.float64],
    half: NDArray[np.float64],
    gap: float,
    box: NDArray[np.float64],
    period: NDArray[np.float64],
) -> Found:
    """All pairs of bodies at most `gap` apart.

    Parameters
    ----------
    grid : Grid
    bodies : (n, 4) spheres, centre and radius, or (n, 6) boxes, lower and upper corner
    half : (levels, 3)
        Largest half sizes along the axes in every level.
    gap : float
    box, period : (3,)
        Start and length of the periodic axes; a length of 0 for an open one.
    """
    ordered = np.empty_like(bodies)
    _grid.gather_rows(len(bodies), grid.order, bodies, ordered)
    chunks = np.arange(-(-len(bodies) // _grid.CHUNK))
    ends = np.arange(len(chunks) + 1) * (_ROOM * _grid.CHUNK)
    fixed = (ordered, *grid[:-1], half, _directions(grid), gap, box, period)
    counts, tests = np.empty(len(chunks), np.int64), np.empty(len(chunks), np.int64)
    keys = np.empty(ends[-1], np.int64)
    _grid.search(len(chunks), chunks, *fixed, keys, ends, counts, tests)
    begins = ends[:-1]
    if (counts > np.diff(ends)).any():  # now it is known how much room the rest needs
        full = np.flatnonzero(counts > np.diff(ends))
        again = ends[-1] + np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[full])])
        keys = np.concatenate([keys, np.empty(again[-1] - again[0], np.int64)])
        _grid.search(len(full), chunks[full], *fixed, keys, again, counts[full], tests[full])
        begins = begins.copy()
        begins[full] = again[:-1]
    return Found(keys, begins, begins + counts, int(tests.sum()))


def _directions(grid: Grid) -> NDArray[np.int8]:
    """How each level looks for partners in each: in itself by cells, and of two that with less to do in the other."""
    levels = len(grid.largest)
    looks = np.full((levels, levels), _grid.NOT, np.int8)
    for a in range(levels):  # the larger ones
        narrow = (grid.folded[a] & (grid.shape[a] < 3)).any()  # a neighbour on both sides
        looks[a, a] = _grid.BY_REACH if narrow or grid.largest[a] * grid.per_length[a] > 1 else _grid.BY_CELL
        for b in range(a + 1, levels):
            down = np.diff(grid.begins)[a] * _rows(grid, a, b)
            up = np.diff(grid.begins)[b] * _rows(grid, b, a)
            looks[(a, b) if down <= up else (b, a)] = _grid.BY_REACH
    return looks


def _rows(grid: Grid, a: int, b: int) -> float:
    """Rows of cells of level b within reach of a body of level a, at most."""
    span = (grid.largest[a] + grid.largest[b]) * grid.per_length[b] + 1
    return float(np.minimum(span, grid.shape[b, 1]) * np.minimum(span, grid.shape[b, 2]))
