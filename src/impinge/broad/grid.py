"""Cells by position, levels by size: where the bodies lie, and their pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import thread_count
from impinge._scratch import Scratch
from impinge.broad import _grid
from impinge.broad._near import TINY
from impinge.broad.order import Part, check_memory, most_pairs

__all__ = ["Found", "Grid", "lay_grid", "search"]

_CELLS_PER_BODY = 4  # cells of a level, at most, besides a few
_MOST_LEVELS = 24
_SAMPLE = 512  # bodies that tell how far they are spread
_MOST_LENGTHS = 2.0**43  # of the smallest cells: what numbers of doubles can tell apart
# Nanoseconds for a body, a test, a look into another level and a row of cells there, as measured: their ratios matter.
_BODY_NS, _TEST_NS, _LOOK_NS, _ROW_NS = 40.0, 2.5, 100.0, 30.0
_CHUNK_NS, _CHUNK, _MOST_CHUNKS = 4e5, 1024, 4096  # work and bodies of a chunk that one thread takes at a time
_FEW_CHUNKS = 128  # of which all get the same room
_MOST_SORTERS = 4  # threads that sort bodies into cells
_ROOM = 6144  # pairs of a chunk for which there is room at first


class Grid(NamedTuple):
    """Bodies sorted by level and cell."""

    order: NDArray[np.int32]  # (n,) bodies in the order of level, z, y and x of their cells
    cells: NDArray[np.int32]  # (n,) their cells
    starts: NDArray[np.int32]  # (cells + 1,) where those of each cell begin
    low: NDArray[np.float64]  # (3,) corner of cell 0
    high: NDArray[np.float64]  # (3,) centres beyond these two are in the outer cells
    per_length: NDArray[np.float64]  # (levels,) cells per length
    shape: NDArray[np.int64]  # (levels, 3) cells along the axes
    folded: NDArray[np.bool_]  # (levels, 3) whether cells that many apart are one
    offset: NDArray[np.int64]  # (levels,) first cell
    begins: NDArray[np.int64]  # (levels + 1,) first body of each level in `order`
    largest: NDArray[np.float64]  # (levels,) largest size


class Found(NamedTuple):
    """What a search found."""

    parts: list[Part]
    tests: int  # candidates tested


def lay_grid(
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scratch: Scratch,
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
    scratch : Scratch
        Where the grid is good until the next one.
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
    bits = sizes.view(np.int64)
    _grid.survey(blocks, centres, sizes, bits, low, high, counts, largest)
    low, high = low.min(axis=0), high.max(axis=0)
    if lattice is not None:  # which goes on below its corner
        corner = np.where(np.isfinite(lattice[1]), lattice[1], low)
        low = corner - lattice[0] * np.ceil(np.maximum(corner - low, 0.0) / lattice[0])
        high = np.maximum(low, high)
    number, size = counts.sum(axis=0), largest.max(axis=0)
    exponents = np.flatnonzero(number)[::-1][:_MOST_LEVELS]
    some = centres[:: -(-n // _SAMPLE), :3]
    middle, spread = _spread(some)
    groups = _split_sizes(number[exponents], size[exponents], spread) if levels else [0]
    level_of = np.searchsorted(-exponents[groups], -np.arange(_grid.EXPONENTS), side="right") - 1
    level_of = np.maximum(level_of, 0)
    members = np.bincount(level_of, number, len(groups)).astype(np.int64)
    most = np.zeros(len(groups))
    np.maximum.at(most, level_of, size)
    sizes_or_spacing = np.where(most > 0, most, float(spread.max()) / n ** (1 / 3))
    low, high = _limit(middle, low, high, lattice[0] if lattice else float(sizes_or_spacing.min()))
    extent = float((high - low).max())
    if lattice:
        lengths = np.full(1, lattice[0])
    else:
        lengths = _least_length(sizes_or_spacing, extent) / parts
        lengths = np.array([_widen(*level, some, spread) for level in zip(lengths, members, strict=True)])
    shape, folded = _shapes(high - low, lengths, members)
    per_length = 1 / lengths
    sizes_in_cells = shape.prod(axis=1)
    offset = np.cumsum(sizes_in_cells) - sizes_in_cells
    cells = scratch.empty("cells", n, np.int32)
    _grid.place(blocks, centres, bits, level_of, low, high, per_length, shape, folded, offset, cells)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)])
    order, ordered_cells, starts = _sort(cells, int(sizes_in_cells.sum()), scratch)
    return Grid(order, ordered_cells, starts, low, high, per_length, shape, folded, offset, begins, most)


def _sort(cells: NDArray[np.int32], total: int, scratch: Scratch) -> list[NDArray[np.int32]]:
    """Bodies in the order of their cells, these cells, and where each of all cells begins."""
    # One row of counts for each thread, but not for many: a row is as long as there are cells.
    rows = min(thread_count(), _MOST_SORTERS) if len(cells) > _grid.BLOCK else 1
    counts = scratch.empty("counts", (rows, total), np.int32)
    counts[:] = 0
    _grid.count_in_cells(rows, cells, counts)
    starts = scratch.empty("starts", total + 1, np.int32)
    _grid.begin_cells(counts, starts)
    order, ordered_cells = scratch.empty("order", (2, len(cells)), np.int32)
    _grid.sort_by_cell(rows, cells, counts, order, ordered_cells)
    return [order, ordered_cells, starts]


class _Class(NamedTuple):
    """Bodies of similar size, for the choice of levels; lengths in units of the extent."""

    first: int  # number of its first, largest part
    members: int
    largest: float
    mean: float

    def joined(self, smaller: _Class) -> _Class:
        members = self.members + smaller.members
        mean = (self.members * self.mean + smaller.members * smaller.mean) / members
        return _Class(self.first, members, self.largest, mean)


def _split_sizes(number: NDArray[np.int64], size: NDArray[np.float64], extent: NDArray[np.float64]) -> list[int]:
    """First class of every level, from classes of falling size: neighbours are joined as long as that saves time."""
    scale = max(float(extent.max()), float(size[0])) or 1.0
    d = max(int((extent > 0).sum()), 1)
    volume = float(np.prod(np.maximum(extent[extent > 0], size[0]) / scale))
    lengths = np.maximum(size / scale, 1e-60).tolist()
    levels = [_Class(k, n, h, h) for k, (n, h) in enumerate(zip(number.tolist(), lengths, strict=True))]

    def within(a: _Class) -> float:
        """Nanoseconds for the pairs within a level, if its bodies are spread evenly."""
        length = max(a.largest, (volume / a.members / _CELLS_PER_BODY) ** (1 / d))
        return a.members * (_BODY_NS + _TEST_NS * 3**d / 2 * a.members * length**d / volume)

    def look(a: _Class, b: _Class) -> float:
        """Nanoseconds for the bodies of a to look for partners among those of b."""
        rows = (a.mean / b.largest + 2) ** (d - 1)
        candidates = b.members * min((a.mean + 2 * b.largest) ** d / volume, 1.0)
        return a.members * (_LOOK_NS + _ROW_NS * rows + _TEST_NS * candidates)

    def between(a: _Class, b: _Class) -> float:
        return min(look(a, b), look(b, a))

    def saved(k: int) -> float:
        """What joining level k with the next smaller one saves."""
        a, b = levels[k : k + 2]
        both, others = a.joined(b), levels[:k] + levels[k + 2 :]
        before = within(a) + within(b) + between(a, b) + sum(between(a, c) + between(b, c) for c in others)
        return before - within(both) - sum(between(both, c) for c in others)

    while len(levels) > 1:
        gains = [saved(k) for k in range(len(levels) - 1)]
        k = int(np.argmax(gains))
        if gains[k] < 0:
            break
        levels[k : k + 2] = [levels[k].joined(levels[k + 1])]
    return [level.first for level in levels]


def _least_length(size: NDArray[np.float64], extent: float) -> NDArray[np.float64]:
    """Length of cells in which rounding cannot put bodies of this size that touch two cells apart."""
    return size * (1 + 2.0**-20) + 2.0**-46 * extent + 2 * TINY


def _limit(
    middle: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], length: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest corner such that cells of this length can be told apart: a few bodies may be beyond."""
    far = high - low > _MOST_LENGTHS * (length + 2 * TINY)
    if not far.any():
        return low, high
    reach = 0.5 * _MOST_LENGTHS * (length + 2 * TINY)
    return np.where(far, np.maximum(low, middle - reach), low), np.where(far, np.minimum(high, middle + reach), high)


def _spread(some: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Along each axis the middle and about the extent of bodies, not led astray by a few that are far away."""
    ordered = np.sort(some, axis=0)
    few = len(some) // 32
    return ordered[len(some) // 2], (ordered[len(some) - 1 - few] - ordered[few]) * (1 + 2 * few / len(some))


def _widen(length: float, members: int, some: NDArray[np.float64], spread: NDArray[np.float64]) -> float:
    """Longer cells for bodies so far apart that there is no room for as many as they need, if they are spread evenly.

    They save the larger ones many rows. Bodies in clusters are better served by a folded grid; `some` of them tell.
    """
    axes = spread > length
    cells = float(np.prod(spread[axes] / length))
    room = _CELLS_PER_BODY * members
    if cells <= room:
        return length
    wider = length * (cells / room) ** (1 / int(axes.sum()))
    places = np.floor((some - some.min(axis=0)) / wider)
    alike = len(some) - len(np.unique(places @ np.array([1.0, 2.0**17, 2.0**34])))
    return wider if alike <= 2 + len(some) ** 2 / room else length  # half of that on average, if evenly


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
    scratch: Scratch,
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
    scratch : Scratch
        Where the parts are good until the next search.
    bodies : (n, 4) spheres, centre and radius, or (n, 6) boxes, lower and upper corner
    half : (levels, 3)
        Largest half sizes along the axes in every level.
    gap : float
    box, period : (3,)
        Start and length of the periodic axes; a length of 0 for an open one.
    """
    ordered = scratch.empty("ordered", bodies.shape, np.float64)
    _grid.gather_rows(len(bodies), grid.order, bodies, ordered)
    looks = _directions(grid)
    fixed = (ordered, *grid[:-2], half, looks, gap, box, period)
    parts: list[Part] = []
    tested = 0
    # Of many chunks some tell how much room the others need; those that need more than they got are looked at again.
    chunks = _chunks(grid, looks)
    is_sample = np.arange(len(chunks)) % (16 if len(chunks) > _FEW_CHUNKS else 1) == 0
    is_sample[np.unique(chunks[:, 0], return_index=True)[1]] = True
    sample, rest = chunks[is_sample], chunks[~is_sample]
    waiting = [(sample, np.full(len(sample), _ROOM))]
    while waiting:
        these, rooms = waiting.pop()
        check_memory(int(rooms.sum()) + sum(int((part.ends - part.begins).sum()) for part in parts))
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(rooms)])
        keys = scratch.empty(f"keys {len(parts)}", int(ends[-1]), np.int64)
        counts, tests = np.empty_like(rooms), np.empty_like(rooms)
        _grid.search(len(these), these, *fixed, keys, ends, most_pairs(), counts, tests)
        full = counts > rooms
        parts.append(Part(keys, ends[:-1][~full], (ends[:-1] + counts)[~full]))
        tested += int(tests[~full].sum())
        if full.any():
            waiting.append((these[full], counts[full]))
        if these is sample and len(rest):
            waiting.append((rest, _rooms(sample[:, 0], counts)[rest[:, 0]]))
    return Found(parts, tested)


def _directions(grid: Grid) -> NDArray[np.int8]:
    """How each level looks for partners in each: in itself by cells, and of two that with less to do in the other."""
    levels = len(grid.largest)
    looks = np.full((levels, levels), _grid.NOT, np.int8)
    least = _least_length(grid.largest, float((grid.high - grid.low).max()))
    for a in range(levels):  # the larger ones
        narrow = (grid.folded[a] & (grid.shape[a] < 3)).any()  # a neighbour on both sides
        short = least[a] * grid.per_length[a] > 1 + 2.0**-40
        looks[a, a] = _grid.BY_REACH if narrow or short else _grid.BY_CELL
        for b in range(a + 1, levels):
            down = _members(grid, a) * _look_ns(grid, a, b)
            up = _members(grid, b) * _look_ns(grid, b, a)
            looks[(a, b) if down <= up else (b, a)] = _grid.BY_REACH
    return looks


def _members(grid: Grid, level: int) -> int:
    return int(grid.begins[level + 1] - grid.begins[level])


def _look_ns(grid: Grid, a: int, b: int) -> float:
    """Nanoseconds for a body of level a to look for partners in level b, if these are spread evenly."""
    span = (grid.largest[a] + grid.largest[b]) * grid.per_length[b] + 1
    cells = np.minimum(span, grid.shape[b])
    bodies = _members(grid, b) * float((cells / grid.shape[b]).prod())
    return _LOOK_NS + _ROW_NS * float(cells[1] * cells[2]) + _TEST_NS * bodies


def _chunks(grid: Grid, looks: NDArray[np.int8]) -> NDArray[np.int64]:
    """(m, 3): level, first body and end of chunks with about the same work, so that threads share it evenly."""
    levels = range(len(grid.largest))
    work = [_BODY_NS + sum(_look_ns(grid, a, b) for b in levels if looks[a, b] != _grid.NOT) for a in levels]
    members = [_members(grid, a) for a in levels]
    least = max(_CHUNK_NS, sum(ns * count for ns, count in zip(work, members, strict=True)) / _MOST_CHUNKS)
    found = []
    for a in levels:
        size = int(np.clip(least / work[a], 1, max(_CHUNK, members[a] / _MOST_CHUNKS)))
        begins = np.arange(grid.begins[a], grid.begins[a + 1], size)
        found.append(np.stack([np.full(len(begins), a), begins, np.append(begins[1:], grid.begins[a + 1])], axis=1))
    return np.concatenate(found)


def _rooms(levels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs for which a chunk of each level should have room, from the counts of a sample with all levels."""
    most = np.zeros(levels.max() + 1)
    np.maximum.at(most, levels, counts)
    mean = np.bincount(levels, counts) / np.bincount(levels)
    return np.asarray(np.minimum(1.5 * most, 4 * mean) + _ROOM / 64, np.int64)
