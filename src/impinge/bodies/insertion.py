"""Spheres into a region: random sequential insertion, and beyond what that can fill, by pushing apart.

Insertion tries uniformly random places, largest spheres first, and takes those that are free. It saturates: equal
spheres fill at most 0.38 of the volume, equal discs 0.547 of the area. Above that smaller spheres are inserted, grown
to their size, and pushed apart until none overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _filling
from impinge.broad.once import pairs
from impinge.broad.search import NeighborSearch

__all__ = ["Region", "insert", "push_apart"]

_VOXELS = 128  # of the map, for each sphere
_MOST_VOXELS = 2**30
_FEW_OPEN = 0.25  # share of places not covered below which voxels are listed, and places tried only in these
_CELLS = 2  # of a level, for each of its spheres
_ROUND = 4  # rounds in which as many places as there are spheres are tried
_BLOCK = 2000  # spheres near each other that are inserted together, as their data stay in the cache
_MOST_TRIES, _MOST_TESTS = (1000, 2**22), (100, 2**18)  # places drawn, and not covered: per sphere, and besides
_LARGEST_ROUND, _LONG_ROUND = 2**22, 2**16  # places drawn: at most, and when nothing fits

_SWELLING = 1.005  # spheres are pushed apart as if they were that much larger, so that they end with room
_SHRINKING = 0.99  # of radii, again and again, to find out what could have been reached
_STEP = 0.4  # of the way that would part two spheres
# (moves, part of the last move that goes on): patient at first, then with more swing, which finds ways out of jams.
_MOVES = ((150, 0.9), (300, 0.95), (600, 0.98), (3000, 0.99))


@dataclass(frozen=True)
class Region:
    """Where spheres may be; always kept with three axes, z = 0 in two dimensions."""

    dimension: int
    low: NDArray[np.float64]  # (3,)
    lengths: NDArray[np.float64]  # (3,), 0 for z in two dimensions
    period: NDArray[np.float64]  # (3,), 0 of axes with walls
    walls: NDArray[np.float64]  # (2, 3), infinite for periodic axes
    gap: float
    fixed: NDArray[np.float64]  # (m, 4) spheres that are there already
    inside: Callable[[NDArray[np.float64]], NDArray[np.bool_]] | None  # (k, d) -> (k,)

    @property
    def volume(self) -> float:
        return float(np.prod(self.lengths[: self.dimension]))

    def holds(self, places: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether centres (k, 3) are in the part that the user wants filled."""
        if self.inside is None:
            return np.ones(len(places), np.bool_)
        return self.inside(np.ascontiguousarray(places[:, : self.dimension]))


class Cells(NamedTuple):
    """Spheres in the cells of their level; the order of fields is that of the kernels' arguments."""

    rows: NDArray[np.float64]  # (n, 4) centre and radius
    level_of: NDArray[np.int32]  # (n,)
    low: NDArray[np.float64]
    period: NDArray[np.float64]
    largest: NDArray[np.float64]  # (levels,) radius, 0 while a level is not in use
    shape: NDArray[np.int64]  # (levels, 3)
    per_length: NDArray[np.float64]  # (levels, 3)
    offset: NDArray[np.int64]  # (levels,) first cell
    heads: NDArray[np.int32]  # (cells,) a sphere in each, or −1
    links: NDArray[np.int32]  # (n,) the next one in the same cell, or −1


class VoxelMap(NamedTuple):
    """Which places are covered; the order of fields is that of the kernels' arguments."""

    corner: NDArray[np.float64]  # (3,)
    voxels: NDArray[np.int64]  # (3,)
    per_voxel: NDArray[np.float64]  # (3,)
    bits: NDArray[np.uint64]  # one for each voxel, x fastest


def _divide(lengths: NDArray[np.float64], edge: float, most: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """About cubic cells, no shorter than `edge`: how many along each axis and per length, about `most` at most."""
    used = lengths > 0
    axes, length = used.copy(), 0.0
    while axes.any():  # axes shorter than a cell leave their share to the others
        length = math.exp(float(np.log(lengths[axes]).mean())) / most ** (1 / int(axes.sum()))
        if not (lengths[axes] < length).any():
            break
        axes &= lengths >= length
    edge = max(edge, length)
    shape = np.ones(3, np.int64)
    shape[used] = np.maximum(np.floor(lengths[used] / edge), 1).astype(np.int64)
    per_length = np.zeros(3)
    per_length[used] = shape[used] / lengths[used]
    return shape, per_length


def _lay_cells(region: Region, rows: NDArray[np.float64]) -> Cells:
    """Empty cells for spheres, one level for each power of two of their radii."""
    exponents = -np.frexp(rows[:, 3])[1]
    found, level_of, members = np.unique(exponents, return_inverse=True, return_counts=True)
    largest = np.zeros(len(found))
    np.maximum.at(largest, level_of, rows[:, 3])
    grids = [
        _divide(region.lengths, 2 * r + region.gap, _CELLS * n + 64) for r, n in zip(largest, members, strict=True)
    ]
    shape = np.array([grid[0] for grid in grids])
    counts = shape.prod(axis=1)
    return Cells(
        rows, level_of.astype(np.int32), region.low, region.period, largest, shape,
        np.array([grid[1] for grid in grids]), np.cumsum(counts) - counts,
        np.full(int(counts.sum()), -1, np.int32), np.full(len(rows), -1, np.int32),
    )  # fmt: skip


class _Inserter:
    """Random sequential insertion, one class of sizes after the other."""

    def __init__(self, region: Region, radii: NDArray[np.float64], rng: np.random.Generator) -> None:
        self.region, self.rng = region, rng
        self.fixed, self.count = len(region.fixed), len(radii)
        rows = np.zeros((self.fixed + len(radii), 4))
        rows[: self.fixed], rows[self.fixed :, 3] = region.fixed, radii
        cells = _lay_cells(region, rows)
        self.used = np.zeros_like(cells.largest)
        self.largest = cells.largest
        self.cells = cells._replace(largest=self.used)
        there = np.unique(cells.level_of[: self.fixed])
        self.used[there] = self.largest[there]
        _filling.link_spheres(self.fixed, *self.cells)
        self.placed = self.fixed  # rows
        self.tries, self.tests = 0, 0

    def run(self) -> None:
        """Place the spheres in the order of falling radii, up to the first one for which no place is found."""
        levels = self.cells.level_of[self.fixed :]
        ends = np.flatnonzero(np.diff(levels, append=-1)) + 1 + self.fixed
        all(self._fill_class(int(end)) for end in ends)

    def _fill_class(self, end: int) -> bool:
        """Place the spheres up to row `end`."""
        rows = self.cells.rows
        level = self.cells.level_of[end - 1]
        self.used[level] = self.largest[level]
        self._lay_map(end)
        share, fit, open_voxels, least = 1.0, 1.0, None, (end - self.placed) // (2 * _ROUND) + 1000
        while self.placed < end:
            if self._is_hopeless() or (open_voxels is not None and len(open_voxels) == 0):
                return False
            stop = self._window(end)
            wanted = max((stop - self.placed) // _ROUND, least)
            if open_voxels is None:
                drawn = min(int(wanted / max(share, _FEW_OPEN)), _LARGEST_ROUND)
                points = self._draw(drawn, float(rows[stop - 1, 3]))
                points = points[: _filling.drop_covered(points, *self.map)]
                share = len(points) / drawn
                if share < _FEW_OPEN and stop == end:  # all places of the map are for all that follow
                    open_voxels = self._list_open()
            else:
                open_voxels = open_voxels[: _filling.drop_marked(open_voxels, self.map.bits)]
                points = self._draw_in(open_voxels, wanted)
                drawn = len(points)
            self.tries += drawn
            self.tests += len(points)
            points = points[self.region.holds(points)] if self.region.inside else points
            # Not by block where radii differ, as blocks would be filled with different ones, nor in what may be the
            # last round, which ends before its last blocks: fewer and fewer places are free, so that ever less fit.
            if rows[self.placed, 3] == self.least and 2 * fit * len(points) < end - self.placed:
                points = self._by_block(points)
            before = self.placed
            self.placed = _filling.insert(
                before, stop, points, self.least, self.region.gap, self.region.walls, *self.cells, *self.map
            )
            fit = (self.placed - before) / max(len(points), 1)
            least = min(2 * least, _LONG_ROUND) if fit == 0 else least
        return True

    def _is_hopeless(self) -> bool:
        most = [factor * self.count + more for factor, more in (_MOST_TRIES, _MOST_TESTS)]
        return self.tries > most[0] or self.tests > most[1]

    def _window(self, end: int) -> int:
        """End of the rows whose radii are so near that half of the places for the smallest serve the largest too."""
        radii = self.cells.rows[self.placed : end, 3]
        walled = (self.region.lengths > 0) & (self.region.period == 0)
        left = float((self.region.lengths[walled] - 2 * radii[0]).min(initial=math.inf))
        return self.placed + int(np.searchsorted(-radii, -(radii[0] - 0.13 * left), side="right"))

    def _lay_map(self, end: int) -> None:
        """A new map, for the radii up to row `end`."""
        region, members = self.region, end - self.placed
        self.least = float(self.cells.rows[end - 1, 3])
        edge = self.least * (0.5 if region.dimension == 3 else 0.25)
        margin = self._margin(self.least)
        voxels, per_voxel = _divide(region.lengths - 2 * margin, edge, min(_VOXELS * members + 4096, _MOST_VOXELS))
        bits = np.zeros(int(voxels.prod()) // _filling.WORD + 1, np.uint64)
        self.map = VoxelMap(region.low + margin, voxels, per_voxel, bits)
        _filling.cover_spheres(self.placed, self.cells.rows, self.least, region.gap, region.period, *self.map)

    def _margin(self, radius: float) -> NDArray[np.float64]:
        """(3,) how far centres stay away from the sides of the box."""
        walled = (self.region.lengths > 0) & (self.region.period == 0)
        return np.where(walled, np.minimum(radius, self.region.lengths / 2), 0.0)

    def _list_open(self) -> NDArray[np.int32]:
        count, bits = int(self.map.voxels.prod()), self.map.bits
        listed = np.empty(_filling.list_open(count, bits, np.empty(0, np.int32)), np.int32)
        _filling.list_open(count, bits, listed)
        return listed

    def _draw(self, count: int, radius: float) -> NDArray[np.float64]:
        """Random places in the box, those of axes with walls at least a radius away from them."""
        region, d = self.region, self.region.dimension
        margin = self._margin(radius)[:d]
        places = self.rng.random((count, d))
        places *= region.lengths[:d] - 2 * margin
        places += region.low[:d] + margin
        return places if d == 3 else np.column_stack([places, np.zeros(count)])

    def _draw_in(self, open_voxels: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        """Random places in listed voxels."""
        points = np.zeros((count if len(open_voxels) else 0, 3))
        if len(points):
            chosen = open_voxels[self.rng.integers(len(open_voxels), size=count)]
            points[:, : self.region.dimension] = self.rng.random((count, self.region.dimension))
            _filling.place_in_voxels(chosen, points, *self.map)
        return points

    def _by_block(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same places block by block, in random order of these: which of two rivals comes first stays random."""
        number = min(self.count // _BLOCK, 2**16)
        if number < 8:
            return points
        shape, per_length = _divide(self.region.lengths, 0.0, number)
        block = np.zeros(len(points), np.int64)
        for axis in range(self.region.dimension):
            place = ((points[:, axis] - self.region.low[axis]) * per_length[axis]).astype(np.int64)
            block = block * shape[axis] + np.clip(place, 0, shape[axis] - 1)
        rank = self.rng.permutation(int(shape.prod()))
        return points[np.argsort(rank.astype(np.uint16)[block], kind="stable")]


def insert(region: Region, radii: NDArray[np.float64], rng: np.random.Generator) -> tuple[NDArray[np.float64], int]:
    """Centres (n, 3) of spheres with radii (n,) of any order, and how many could be placed: all, or else no centres."""
    order = np.argsort(-radii, kind="stable")
    inserter = _Inserter(region, radii[order], rng)
    inserter.run()
    centres = np.empty((len(radii), 3))
    centres[order] = inserter.cells.rows[len(region.fixed) :, :3]
    return centres, inserter.placed - len(region.fixed)


class _Pusher:
    """Undoes all overlaps of slightly larger spheres a part of the way at once, again and again [Jodrey1985]."""

    def __init__(self, region: Region, centres: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
        d = region.dimension
        self.region, self.count = region, len(radii)
        self.rows = np.concatenate([np.column_stack([centres, radii]), region.fixed])
        self.masses = np.concatenate([(radii / radii.max()) ** d, np.full(len(region.fixed), np.inf)])
        self.moves, self.moved = np.zeros((len(self.rows), 3)), np.empty((len(self.rows), 3))
        periodic = region.period[:d] > 0
        beyond = np.where(periodic, 0.0, 4 * self.rows[:, 3].max() + region.gap)  # where fixed spheres may be
        box = np.stack([region.low[:d] - beyond, (region.low + region.lengths)[:d] + beyond])
        self.space: dict[str, Any] = {"box": box, "periodic": periodic}
        self.search = NeighborSearch("levels", **self.space)

    def run(self, most: int, memory: float) -> bool:
        """Whether nothing overlaps after so many moves at most; `memory` is the part of a move that goes on."""
        rows, region, count = self.rows, self.region, self.count
        room = np.empty(len(rows))
        for _ in range(most):
            near = self.search.update(rows[:, : region.dimension], _SWELLING * (rows[:, 3] + region.gap / 2))
            _filling.push_apart(
                len(rows), rows, self.masses, near.starts, near.partners, region.gap, _SWELLING, region.walls,
                region.low, region.period, memory, _STEP, self.moves, self.moved, room,
            )  # fmt: skip
            if room.min() > 1 and self._is_free():
                return True
            kept = ~region.holds(self.moved[:count])
            self.moved[:count][kept], self.moves[:count][kept] = rows[:count, :3][kept], 0.0
            rows[:, :3] = self.moved
        return False

    def _is_free(self) -> bool:
        """Whether no sphere touches another, which fixed ones may."""
        found = pairs(self.rows[:, : self.region.dimension], self.rows[:, 3], gap=self.region.gap, **self.space)
        return not (found[:, 0] < self.count).any()

    def shrink(self, factor: float) -> None:
        self.rows[: self.count, 3] *= factor


def push_apart(
    region: Region, centres: NDArray[np.float64], radii: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Centres (n, 3) near the given ones without overlap, for radii times a factor: 1, or less if that failed."""
    pusher, factor = _Pusher(region, centres, radii), 1.0
    if not any(pusher.run(number, memory) for number, memory in _MOVES):
        while not pusher.run(*_MOVES[0]):
            factor *= _SHRINKING
            pusher.shrink(_SHRINKING)
    return pusher.rows[: len(radii), :3], factor
