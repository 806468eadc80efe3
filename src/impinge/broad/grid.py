"""Cells by position, levels by size: where the bodies lie, and their pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.broad import _grid
from impinge.broad.order import check_memory, most_pairs

__all__ = ["Found", "Grid", "lay_grid", "search"]

_CELLS_PER_BODY = 2  # cells of a level, at most, besides a few
_MOST_LEVELS = 40
# Nanoseconds for a body, a test, a look into another level and a row of cells there, as measured: their ratios matter.
_BODY_NS, _TEST_NS, _LOOK_NS, _ROW_NS = 40.0, 2.5, 100.0, 8.0
_CHUNK, _MOST_CHUNKS = 1024, 4096  # bodies whose partners one thread looks for at a time
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
    high: NDArray[np.float64]  # (3,) highest centres


class Part(NamedTuple):
    """Some of the pairs found, not yet sorted: chunk k has keys[begins[k] : ends[k]]."""

    keys: NDArray[np.int64]  # i · 2^32 + j, i < j
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


class Found(NamedTuple):
    """What a search found."""

    parts: list[Part]
    tests: int  # candidates tested


def lay_grid(
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    *,
    lattice: tuple[float, NDArray[np.float64]] | None = None,
    levels: bool = True,
    parts: int = 1,
) -> Grid:
    """Sort bodies into the cells of one or several levels.

    Parameters
    ----------
    centres : (n, 3) float64
    sizes : (n,) float64
        Largest length of a body, gap included: cells of its level are at least as long.
    lattice : (length of the cells, lowest corner), optional
        Instead of the largest size and the lowest centres; for one level only.
    levels : bool
        As many as save time, each for some powers of two of the sizes, or one for all.
    parts : int
        How many cells the largest body of a level is long.
    """
    n = len(centres)
    blocks = -(-n // _grid.BLOCK)
    low, high = np.empty((2, blocks, 3))
    counts, largest = np.zeros((blocks, _grid.EXPONENTS), np.int64), np.zeros((blocks, _grid.EXPONENTS))
    _grid.survey(blocks, centres, sizes, low, high, counts, largest)
    low, high = low.min(axis=0), high.max(axis=0)
    if lattice is not None:
        low = np.where(np.isfinite(lattice[1]), lattice[1], low)
        high = np.maximum(low, high)
    number, size = counts.sum(axis=0), largest.max(axis=0)
    exponents = np.flatnonzero(number)[::-1][:_MOST_LEVELS]
    groups = _split_sizes(number[exponents], size[exponents], high - low) if levels else [0]
    level_of = np.searchsorted(-exponents[groups], -np.arange(_grid.EXPONENTS), side="right") - 1
    level_of = np.maximum(level_of, 0)
    members = np.bincount(level_of, number, len(groups)).astype(np.int64)
    most = np.zeros(len(groups))
    np.maximum.at(most, level_of, size)
    lengths = _lengths(most, members, low, high, parts) if lattice is None else np.full(1, lattice[0])
    shape, folded = _shapes(high - low, lengths, members)
    per_length = 1 / lengths
    sizes_in_cells = shape.prod(axis=1)
    offset = np.cumsum(sizes_in_cells) - sizes_in_cells
    cells = np.empty(n, np.int32)
    _grid.place(blocks, centres, sizes, level_of, low, per_length, shape, folded, offset, cells)
    starts = np.zeros(int(sizes_in_cells.sum()) + 2, np.int32)
    order, ordered_cells = np.empty(n, np.int32), np.empty(n, np.int32)
    _grid.sort_by_cell(cells, starts, order, ordered_cells)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)])
    return Grid(order, ordered_cells, starts, low, per_length, shape, folded, offset, begins, most, high)


def _split_sizes(number: NDArray[np.int64], size: NDArray[np.float64], extent: NDArray[np.float64]) -> list[int]:
    """First class of every level, from classes of falling size: neighbours are joined as long as that saves time."""
    scale = max(float(extent.max()), float(size[0])) or 1.0
    counts, sizes = [int(n) for n in number], [max(float(s) / scale, 1e-60) for s in size]
    d = max(int((extent > 0).sum()), 1)
    volume = float(np.prod(np.maximum(extent[extent > 0] / scale, sizes[0])))
    groups = [[i] for i in range(len(counts))]

    def cost(group: list[int], other: list[int] | None = None) -> float:
        """Nanoseconds for the pairs within a level or between two, if the bodies are spread evenly."""
        n, h = sum(counts[i] for i in group), sizes[group[0]]
        if other is None:
            length = max(h, (volume / n) ** (1 / d) * _CELLS_PER_BODY ** (-1 / d))
            return n * (_BODY_NS + _TEST_NS * 3**d / 2 * n * length**d / volume)
        m, k = sum(counts[i] for i in other), sizes[other[0]]
        return min(_look(n, h, m, k), _look(m, k, n, h))

    def _look(n: int, h: float, m: int, k: float) -> float:
        """Bodies of size h look for those of size k."""
        span = (h + k) / k + 1
        found = m * min(((h + k) + k) ** d / volume, 1.0)
        return n * (_LOOK_NS + _ROW_NS * span ** (d - 1) + _TEST_NS * found)

    def total(of: list[list[int]]) -> float:
        between = sum(cost(a, b) for i, a in enumerate(of) for b in of[i + 1 :])
        return sum(cost(group) for group in of) + between

    best = total(groups) if len(groups) > 1 else 0.0
    while len(groups) > 1:
        joined = [groups[:i] + [groups[i] + groups[i + 1]] + groups[i + 2 :] for i in range(len(groups) - 1)]
        costs = [total(of) for of in joined]
        if min(costs) > best:
            break
        best, groups = min(costs), joined[int(np.argmin(costs))]
    return [group[0] for group in groups]


def _least_length(size: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    """Length of cells in which rounding cannot put bodies of this size that touch two cells apart."""
    return size * (1 + 2.0**-20) + 2.0**-46 * float(np.maximum(np.abs(low), np.abs(high)).max())


def _lengths(
    sizes: NDArray[np.float64],
    members: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    parts: int,
) -> NDArray[np.float64]:
    """Length of the cells of every level; any will do for points."""
    extent = float((high - low).max())
    lengths = [
        _least_length(size if size > 0 else extent / count, low, high)
        for size, count in zip(sizes.tolist(), members.tolist(), strict=True)
    ]
    return np.array([length if length > 0 else 1.0 for length in lengths]) / parts


def _shapes(
    extent: NDArray[np.float64], lengths: NDArray[np.float64], members: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cells along the axes of every level, and whether they are folded."""
    shape = np.ones((len(lengths), 3), np.int64)
    folded = np.zeros((len(lengths), 3), np.bool_)
    for level, (length, count) in enumerate(zip(lengths, members, strict=True)):
        wanted = np.floor(extent / length) + 1.0
        room = float(_CELLS_PER_BODY * count + 64)
        limit = np.sort(wanted)
        cap = math.inf
        for axis in range(3):  # shorter axes keep their length, the others share what is left
            cap = (room / limit[:axis].prod()) ** (1 / (3 - axis))
            if limit[axis] > cap:
                break
        shape[level] = np.minimum(wanted, max(math.floor(cap), 1))
        folded[level] = wanted > shape[level]
    return shape, folded


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
    fixed = (ordered, *grid[:-2], half, _directions(grid), gap, box, period)
    found = Found([], 0)

    def look(chunks: NDArray[np.int64], rooms: NDArray[np.int64]) -> tuple[Found, NDArray[np.int64]]:
        """Pairs of some chunks, with room for so many of each, and how many there were."""
        check_memory(int(rooms.sum()) + sum(int((part.ends - part.begins).sum()) for part in found.parts))
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(rooms)])
        keys, counts, tests = np.empty(ends[-1], np.int64), np.empty_like(rooms), np.empty_like(rooms)
        _grid.search(len(chunks), chunks, size, *fixed, keys, ends, most_pairs(), counts, tests)
        fits = counts <= rooms
        part = Part(keys, ends[:-1][fits], (ends[:-1] + counts)[fits])
        result = Found([*found.parts, part], found.tests + int(tests[fits].sum()))
        return result, counts

    size = max(_CHUNK, -(-len(bodies) // _MOST_CHUNKS))
    chunks = np.arange(-(-len(bodies) // size))
    # Some chunks tell how much room the others need; those that need more are looked at again.
    waiting = [(chunks[::8], np.full(len(chunks[::8]), _ROOM * size))]
    rest = np.setdiff1d(chunks, chunks[::8])
    while waiting:
        these, rooms = waiting.pop()
        found, counts = look(these, rooms)
        full = counts > rooms
        if full.any():
            waiting.append((these[full], counts[full]))
        if len(rest):
            most = min(1.25 * counts.max(), 4 * counts.mean()) + _ROOM * size / 4
            waiting.append((rest, np.full(len(rest), int(most))))
            rest = rest[:0]
    return found


def _directions(grid: Grid) -> NDArray[np.int8]:
    """How each level looks for partners in each: in itself by cells, and of two that with less to do in the other."""
    levels = len(grid.largest)
    looks = np.full((levels, levels), _grid.NOT, np.int8)
    for a in range(levels):  # the larger ones
        narrow = (grid.folded[a] & (grid.shape[a] < 3)).any()  # a neighbour on both sides
        short = _least_length(grid.largest[a], grid.low, grid.high) * grid.per_length[a] > 1 + 2.0**-40
        looks[a, a] = _grid.BY_REACH if narrow or short else _grid.BY_CELL
        for b in range(a + 1, levels):
            down = np.diff(grid.begins)[a] * _rows(grid, a, b)
            up = np.diff(grid.begins)[b] * _rows(grid, b, a)
            looks[(a, b) if down <= up else (b, a)] = _grid.BY_REACH
    return looks


def _rows(grid: Grid, a: int, b: int) -> float:
    """Rows of cells of level b within reach of a body of level a, at most."""
    span = (grid.largest[a] + grid.largest[b]) * grid.per_length[b] + 1
    return float(np.minimum(span, grid.shape[b, 1]) * np.minimum(span, grid.shape[b, 2]))
