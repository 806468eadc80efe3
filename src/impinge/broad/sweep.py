"""Linked linear lists: pairs of overlapping boxes, followed while the bodies move."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from impinge._scratch import borrow
from impinge.broad import _sweep
from impinge.broad.order import Part, check_memory, sorted_pairs
from impinge.broad.space import Bodies
from impinge.errors import InputError

__all__ = ["LinkedLists"]

_ROOM = 4  # pairs per body for which there is room at first
_TILES = 8  # tiles in which a body is entered, at most and on average
_EXCHANGES = 20  # times n log₂ n, beyond which starting anew is faster


class LinkedLists:
    """The ends of the boxes around bodies in sorted lists, one per axis, and the pairs of boxes that overlap.

    The linked linear list of [Muth2007b] 2.3 (sweep and prune). The first lists are sorted, and the first pairs
    found by one sweep along the axis on which the fewest boxes overlap, those under it kept in tiles of the other
    axes. From then on lists that are nearly sorted are sorted by insertion, and every exchange of neighbours is one
    of the paper's four cases. If bodies moved past so many others that more than 20 n log₂ n exchanges would be
    needed, or the table of pairs became full, all starts anew. The pairs depend on the bodies alone, not on the way
    they came.

    On a periodic axis a list is a circle. A body that leaves through one side and enters through the other moves
    on along it; no copies of bodies are needed.

    Parameters
    ----------
    bodies : Bodies
    gap : float, m
        The boxes are enlarged by half of it on every side, and by a little more than rounding can do: all bodies at
        most `gap` apart have overlapping boxes.

    Attributes
    ----------
    count : int
        Number of bodies.
    gap : float, m
    cases : (4,) int64
        Exchanges so far: of two beginnings, of two ends, that end an overlap, that begin one.
    """

    def __init__(self, bodies: Bodies, gap: float) -> None:
        n, axes = len(bodies), bodies.space.dimension
        self.cases = np.zeros(4, np.int64)
        self._swept = 0  # candidates tested by sweeps
        self.count, self.gap, self._space = n, gap, bodies.space
        self._axes = range(axes)
        self._bits = 2 if axes == 2 else 3  # log₂ of the length of a row of ranks
        self._ends, self._other_ends = np.empty((2, axes, 2 * n))
        self._sorted_ends = np.empty(2 * n + 1)
        self._order = np.zeros((axes, 2 * n + 1), np.int32)  # first a place that is not used
        self._ranks = np.zeros(n << self._bits, np.int32)
        self._table = np.full(_power_of_two(2 * _ROOM * n), _sweep.EMPTY, np.int64)
        self._stored = 0
        self._set_ends(bodies)
        self._start()

    @property
    def tests(self) -> int:
        """Candidates tested so far: pairs that overlap along one axis, the others looked at."""
        return self._swept + int(self.cases[3])

    @property
    def swaps(self) -> int:
        """Exchanges of neighbours in the lists so far."""
        return int(self.cases.sum())

    def pairs(self) -> NDArray[np.int64]:
        """(m, 2) int64, i < j, ascending: the pairs of bodies whose boxes overlap."""
        keys = self._table[self._table != _sweep.EMPTY]
        with borrow() as scratch:
            return sorted_pairs([Part(keys, np.zeros(1, np.int64), np.full(1, len(keys)))], self.count, scratch)

    def ranks(self, axis: int) -> NDArray[np.int32]:
        """(n, 2) int32: places in the list of an axis, from 1, where the boxes begin and end."""
        return self._ranks.reshape(self.count, 1 << self._bits)[:, 2 * axis : 2 * axis + 2]

    def update(self, bodies: Bodies) -> None:
        """Follow the same bodies to where they are now; their sizes may have changed too."""
        if len(bodies) != self.count:
            raise InputError(f"bodies: found {len(bodies)}, expected {self.count}, as many as before")
        before, self._space = self._space, bodies.space
        self._ends, self._other_ends = self._other_ends, self._ends
        self._set_ends(bodies)
        same_box = np.array_equal(before.low, bodies.space.low) and np.array_equal(before.period, bodies.space.period)
        most = self.swaps + int(_EXCHANGES * self.count * math.log2(self.count + 2))
        if not (same_box and all(self._follow(axis, most) for axis in self._axes)):
            self._start()

    def _set_ends(self, bodies: Bodies) -> None:
        space = bodies.space
        last = np.nextafter(space.low + space.period, -np.inf)
        for axis in self._axes:
            place = (space.low[axis], last[axis], space.period[axis])
            _sweep.set_ends(len(bodies), bodies.rows, self.gap, axis, *place, self._ends[axis])

    def _start(self) -> None:
        """Sort all lists, and find the pairs by a sweep."""
        for axis in self._axes:
            self._order[axis, 1:] = _sorted_entries(self._ends[axis])
            _sweep.set_ranks(self._order[axis], self._ranks, axis, self._bits)
        if self.count < 2:
            return
        axes, widths, strips = self._plan_sweep()
        members = np.zeros(strips[0] * strips[1], np.int64)
        _sweep.count_members(self._ranks, axes, self._bits, widths, strips, members)
        starts = np.cumsum(members) - members
        active = np.empty((int(members.sum()), _sweep.FIELDS), np.int32)
        plan = (self._order[axes[0]], self._ranks, axes, self._bits, widths, strips, starts)
        while True:
            self._table.fill(_sweep.EMPTY)
            self._stored, tests = _sweep.sweep(*plan, starts.copy(), active, self._table)
            if self._stored >= 0:
                break
            self._enlarge_table()
        self._swept += tests

    def _enlarge_table(self) -> None:
        check_memory(len(self._table))  # at least half of it are pairs
        self._table = np.empty(2 * len(self._table), np.int64)

    def _plan_sweep(self) -> tuple[tuple[int, int, int], tuple[int, int], tuple[int, int]]:
        """Axes, that with the fewest overlaps first; widths (log₂ of ranks) and numbers of strips along the others."""
        last = 2 * self.count
        overlaps = [float((np.diff(self.ranks(axis)) % last).mean()) for axis in self._axes]
        by_overlaps = sorted(self._axes, key=overlaps.__getitem__)
        axes = (by_overlaps[0], by_overlaps[1], by_overlaps[-1])
        # As wide as a box is long on average; in two dimensions there are no strips along a third axis. Wider if
        # some boxes are so large that they would lie in too many tiles.
        widths = (
            int(overlaps[axes[1]]).bit_length(),
            int(overlaps[axes[2]]).bit_length() if len(self._axes) > 2 else 31,
        )
        while True:
            strips = ((last >> widths[0]) + 1, (last >> widths[1]) + 1)
            if strips[0] * strips[1] <= last + 64:
                if _sweep.count_tiles(self._ranks, axes, self._bits, widths, strips) <= _TILES * self.count:
                    return axes, widths, strips
            widths = (widths[0] + 1, widths[1] + 1)

    def _follow(self, axis: int, most: int) -> bool:
        """Bring the list of an axis up to date; False if all must start anew."""
        period, ends = self._space.period[axis], self._ends[axis]
        if period > 0:
            turns = np.empty(2 * self.count, np.int8)
            if not _sweep.find_turns(self._other_ends[axis], ends, period, turns):
                return False
            for way in (1, -1):  # one after the other, as those that go up meet those that go down
                through = turns == way
                if through.any():
                    if not (self._sort(axis, ends + turns * period, most) and self._turn(axis, through, way)):
                        return False
                    turns[through] = 0
        return self._sort(axis, ends, most)

    def _turn(self, axis: int, through: NDArray[np.bool_], way: int) -> bool:
        """Turn the circle of a list so that what went through the seam is on the other side of it."""
        order = self._order[axis, 1:]
        count = way * int(np.count_nonzero(through))
        turned = np.roll(order, count)
        if not through[turned[:count] if way > 0 else turned[count:]].all():
            return False
        order[:] = turned
        _sweep.set_ranks(self._order[axis], self._ranks, axis, self._bits)
        return True

    def _sort(self, axis: int, ends: NDArray[np.float64], most: int) -> bool:
        """Sort the list of an axis by insertion; False if it could not be finished."""
        other, *rest = (a for a in self._axes if a != axis)
        axes = (axis, other, rest[0] if rest else other)
        _sweep.take_ends(ends, self._order[axis], self._sorted_ends)
        code, self._stored = _sweep.sort_list(
            *axes, self._bits, most - self.swaps, self._order[axis], self._sorted_ends, self._ranks,
            self._table, self._stored, self.cases,
        )  # fmt: skip
        if code == _sweep.FULL:
            self._enlarge_table()
        return bool(code == _sweep.DONE)


def _sorted_entries(ends: NDArray[np.float64]) -> NDArray[np.int32]:
    """Entries by coordinate, beginnings before ends, by number."""
    # In this order to begin with: a sort by digits keeps it where coordinates are equal.
    entries = np.arange(len(ends), dtype=np.int32).reshape(-1, 2).T.ravel()
    bits = (ends[entries] + 0.0).view(np.uint64)  # no −0
    negative = (bits >> np.uint64(63)).astype(bool)
    keys = np.where(negative, ~bits, bits | np.uint64(1 << 63))
    other_keys, other_entries = np.empty_like(keys), np.empty_like(entries)
    for digit in range(6):
        if _sweep.sort_digit(keys, entries, digit, other_keys, other_entries):
            keys, other_keys, entries, other_entries = other_keys, keys, other_entries, entries
    return entries


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 15).bit_length()
