"""Near bodies over time: lists that are rebuilt when they have to be, and never later."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check, _jit
from impinge.broad import _follow, methods
from impinge.broad.methods import BOX_METHODS, METHODS, read_settings
from impinge.broad.space import Bodies, boxes, read_length, read_space, spheres
from impinge.broad.sweep import LinkedLists
from impinge.broad.tuner import Tuner
from impinge.errors import InputError, SearchWarning
from impinge.facts import html_table

__all__ = ["BoxSearch", "NeighborSearch", "Neighbors", "Statistics"]


class Neighbors:
    """Pairs of bodies that may touch, as of the last rebuild.

    Attributes
    ----------
    pairs : (m, 2) int64
        Rows of the arrays passed to `update`; ascending in the numbers (ids) of the bodies.
    """

    def __init__(
        self, pairs: NDArray[np.int64], bodies: Bodies, by_id: NDArray[np.int64] | None, threads: int | None
    ) -> None:
        self._sorted, self._bodies, self._by_id, self._threads = pairs, bodies, by_id, threads
        self.pairs: NDArray[np.int64] = _check.frozen(pairs if by_id is None else by_id[pairs])

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"<impinge.Neighbors: {len(self.pairs):,} pairs of {len(self._bodies):,} bodies>"

    def _repr_html_(self) -> str:
        return html_table("Neighbors", [("pairs that may touch", len(self.pairs)), ("bodies", len(self._bodies))])

    def touching(self) -> NDArray[np.int64]:
        """Those of the pairs that touch or overlap now: (m, 2) int64. It does not depend on when lists were built."""
        with _jit.threads(self._threads):
            pairs = methods.only_near(self._bodies, self._sorted, 0.0)
        return pairs if self._by_id is None else self._by_id[pairs]

    @property
    def starts(self) -> NDArray[np.int64]:
        """(n + 1,) int64: the partners of row i are ``partners[starts[i] : starts[i + 1]]``."""
        return self._lists[0]

    @property
    def partners(self) -> NDArray[np.int32]:
        """(2 m,) int32: rows of the partners, those of each row in the order of their numbers (ids)."""
        return self._lists[1]

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        n = len(self._bodies)
        starts, partners = np.zeros(n + 2, np.int64), np.empty(2 * len(self._sorted), np.int32)
        _follow.list_partners(_check.frozen(self._sorted), starts, partners)
        starts = starts[:-1]
        if self._by_id is None:
            return _check.frozen(starts), _check.frozen(partners)
        rank = np.empty(n, np.int64)
        rank[self._by_id] = np.arange(n)
        counts = np.diff(starts)[rank]
        rows = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        source = np.repeat(starts[rank] - rows[:-1], counts) + np.arange(len(partners))
        return _check.frozen(rows), _check.frozen(self._by_id[partners[source]].astype(np.int32))


@dataclass
class Statistics:
    """What a search has done so far."""

    method: str = ""
    why: str = ""
    skin: float = 0.0  # m
    why_skin: str = ""
    cell_sizes: tuple[float, ...] = ()  # m, one for each level
    updates: int = 0
    rebuilds: int = 0
    too_late: int = 0  # updates at which a fixed interval had been too long
    pairs: int = 0  # candidates in the current lists
    tests: int = 0  # candidates tested in all rebuilds
    seconds: dict[str, float] = field(default_factory=lambda: {"check": 0.0, "rebuild": 0.0})

    def __str__(self) -> str:
        cells = ", ".join(f"{size:.4g}" for size in self.cell_sizes) or "none"
        share = self.rebuilds / self.updates if self.updates else 0.0
        return "\n".join(
            [
                f"method: {self.method} ({self.why})",
                f"skin: {self.skin:.4g} ({self.why_skin}); cells: {cells}",
                f"{self.updates:,} updates, {self.rebuilds:,} rebuilds ({share:.1%}), {self.too_late:,} too late",
                f"{self.pairs:,} pairs listed; {self.tests:,} candidates tested",
                *(f"{name}: {value:.3f} s" for name, value in self.seconds.items()),
            ]
        )


class _Search:
    """What `NeighborSearch` and `BoxSearch` share: when to rebuild, with which skin, by which method."""

    _methods: tuple[str, ...] = ()

    def __init__(
        self,
        method: str = "auto",
        skin: float | str = "auto",
        box: ArrayLike | None = None,
        periodic: bool | ArrayLike = False,
        *,
        rebuild_every: int | None = None,
        cell_size: float | None = None,
        zone_radius: float | None = None,
        all_pairs: bool = False,
        threads: int | None = None,
    ) -> None:
        self._method = _check.choice("method", method, ["auto", *self._methods])
        if isinstance(skin, str):
            _check.choice("skin", skin, ["auto"])
        self._skin = None if isinstance(skin, str) else read_length("skin", skin)
        self._every = None if rebuild_every is None else _check.integer("rebuild_every", rebuild_every, 1)
        self._settings = read_settings(method, cell_size, zone_radius, all_pairs)
        if self._skin is not None and zone_radius is not None:
            raise InputError(
                f"skin: found {skin!r} with a zone_radius, expected one of the two, as each sets the other"
            )
        if box is None:
            read_space(None, periodic, 2 if np.shape(periodic) == (2,) else 3)
        else:  # a copy, so that no change goes unnoticed
            box = np.array(_check.numbers("box", box, "lengths, or two corners"))
            read_space(box, periodic, box.shape[-1] if box.shape[-1:] in ((2,), (3,)) else 3)
        with _jit.threads(threads):
            pass  # wrong numbers are told now, not at the first update
        self._box, self._periodic, self._threads = box, periodic, threads
        self.statistics = Statistics()
        self._built: Bodies | None = None  # as of the last rebuild
        self._ids: NDArray[np.int64] | None = None
        self._pairs = np.empty((0, 2), np.int64)
        self._lists: LinkedLists | None = None
        self._since = 0  # updates since the last rebuild
        self.tuner = Tuner()
        self._left = 0.0  # when the last update returned

    def _follow(self, bodies: Bodies, ids: ArrayLike | None) -> Neighbors:
        """The lists for where the bodies are now."""
        entered = time.perf_counter()
        self.tuner.note_use(entered - self._left, len(self._pairs))
        numbers = self._read_ids(ids, len(bodies))
        by_id = None if numbers is None or (np.diff(numbers) > 0).all() else np.argsort(numbers, kind="stable")
        if by_id is not None and numbers is not None:
            numbers = numbers[by_id]
            bodies = Bodies(bodies.rows[by_id], bodies.centres[by_id], bodies.half[by_id], bodies.space)
        stats = self.statistics
        stats.updates += 1
        self._since += 1
        same = self._built is not None and len(self._built) == len(bodies) and _equal(self._ids, numbers)
        moved = (sum(self.growths(bodies)) if len(bodies) > 1 else 0.0) if same else math.inf
        needed = moved > stats.skin
        if self._every is not None and same:
            due = self._since >= self._every
            if needed and not due:
                self._report_late(moved)
            needed = due
        checked = time.perf_counter()
        stats.seconds["check"] += checked - entered
        if needed:
            self.tuner.note_motion(moved, self._since)
            self._ids = numbers
            self.rebuild(bodies)
            stats.seconds["rebuild"] += time.perf_counter() - checked
        stats.pairs = len(self._pairs)
        self._left = time.perf_counter()
        return Neighbors(self._pairs, bodies, by_id, self._threads)

    @staticmethod
    def _read_ids(ids: ArrayLike | None, count: int) -> NDArray[np.int64] | None:
        if ids is None:
            return None
        numbers = _check.numbers("ids", ids, f"{count} integers")
        if numbers.shape != (count,) or (numbers.dtype.kind not in "iu" and count > 0):
            raise InputError(f"ids: found {numbers.dtype} of shape {numbers.shape}, expected {count} integers")
        if count and numbers.max() > np.iinfo(np.int64).max:
            raise InputError(f"ids: found {numbers.max()}, expected numbers below 2^63")
        values, first = np.unique(numbers, return_index=True)
        if len(values) < count:
            row = int(np.setdiff1d(np.arange(count), first)[0])
            raise InputError(f"ids: row {row} is {numbers[row]}, which another row has too; expected different numbers")
        return numbers.astype(np.int64)

    def growths(self, bodies: Bodies) -> tuple[float, float]:
        """The two largest growths since the last rebuild: by what two bodies may have come nearer, in all."""
        assert self._built is not None
        blocks = -(-len(bodies) // _follow.BLOCK)
        largest = np.zeros((blocks, 2))
        _follow.two_largest(blocks, self._built.rows, bodies.rows, bodies.space.period, largest)
        second, first = np.sort(np.append(largest, [0.0, 0.0]))[-2:].tolist()
        return first, second

    def _report_late(self, moved: float) -> None:
        self.statistics.too_late += 1
        if self.statistics.too_late == 1:
            warnings.warn(
                f"rebuild_every: two bodies have come nearer by up to {moved:.3g} within {self._since} updates, more "
                f"than the skin of {self.statistics.skin:.3g}: pairs may be missing; rebuild more often or take a "
                f"larger skin (statistics.too_late counts such updates)",
                SearchWarning,
                stacklevel=4,
            )

    def rebuild(self, bodies: Bodies, least: float = 0.0) -> NDArray[np.int64]:
        """All pairs that may touch until something has moved: at most the skin apart, (m, 2) int64, sorted.

        least : at least so far apart, whatever skin was asked for.
        """
        stats = self.statistics
        start = time.perf_counter()
        self._built = None  # if this fails the next update begins anew
        stats.skin, stats.why_skin = self._choose_skin(bodies, least)
        stats.method, stats.why = self._choose_method(bodies)
        if stats.method == "sweep":
            self._pairs = self._sweep(bodies, stats.skin)
        else:
            self._lists = None
            settings = self._settings
            if stats.method == "verlet":  # the lists hold all partners in the zone, so that these are the candidates
                found = methods.verlet_zones(bodies, bodies.reach(0) + stats.skin, settings)
            else:
                found = methods.find(stats.method, bodies, stats.skin, settings)
            self._pairs, stats.cell_sizes = found.pairs, found.cell_sizes
            stats.tests += found.tests
        self._built, self._since = bodies, 0
        stats.rebuilds += 1
        self.tuner.note_rebuild(stats.method, time.perf_counter() - start, len(bodies), len(self._pairs), stats.skin)
        return self._pairs

    def forget(self) -> None:
        """Begin anew at the next rebuild: the bodies are others, or in another order."""
        self._built = self._lists = None

    def _sweep(self, bodies: Bodies, skin: float) -> NDArray[np.int64]:
        lists, self._lists = self._lists, None  # not to be used again if this fails
        self.statistics.cell_sizes = ()
        if len(bodies) < 2:
            return np.empty((0, 2), np.int64)
        before = 0
        if lists is None or lists.gap != skin or lists.count != len(bodies):
            lists = LinkedLists(bodies, skin)
        else:
            before = lists.tests
            lists.update(bodies)
        self.statistics.tests += lists.tests - before
        pairs = lists.pairs()
        self._lists = lists
        return pairs

    def _choose_skin(self, bodies: Bodies, least: float) -> tuple[float, str]:
        skin, why = self._wanted_skin(bodies)
        if skin < least:
            skin, why = least, "what two bodies come nearer in a step"
        room = _room(bodies)
        return (skin, why) if skin <= room else (room, "as much as the periodic box allows")

    def _wanted_skin(self, bodies: Bodies) -> tuple[float, str]:
        if self._skin is not None:
            return self._skin, "as asked"
        if self._method == "verlet":
            zone = methods.zone_of(bodies, 0.0, self._settings.zone_radius)
            return zone - bodies.reach(0), "zone radius less the largest distance of centres that touch"
        if self._settings.cell_size is not None:
            # A little less: size and skin together must not be rounded to more than the cell.
            left = (self._settings.cell_size - float(bodies.sizes.max(initial=0.0))) * (1 - 2.0**-40)
            return max(left, 0.0), "cell size less the largest size"
        return self.tuner.best_skin(_typical_length(bodies), bodies.space.dimension)

    def _choose_method(self, bodies: Bodies) -> tuple[str, str]:
        if self._method != "auto":
            return self._method, "as asked"
        first, why = methods.choose(bodies)
        return self.tuner.best_method(first, why, self.statistics.rebuilds, _rival(bodies, first))


def _rival(bodies: Bodies, first: str) -> str:
    """A method that might be faster than the first choice."""
    if first in ("brute", "sweep"):
        return "levels"
    sizes = bodies.sizes
    return "cells" if sizes.max() < 4 * sizes.mean() else "sweep"


def _typical_length(bodies: Bodies) -> float:
    """Mean size of the bodies; of points, about their distance."""
    if len(bodies) == 0:
        return 0.0
    size = float(bodies.sizes.mean())
    extent = np.ptp(bodies.rows[:, : bodies.space.dimension], axis=0)
    return size if size > 0 else float(extent.max() / len(bodies) ** (1 / bodies.space.dimension))


def _equal(ids: NDArray[np.int64] | None, others: NDArray[np.int64] | None) -> bool:
    return others is None if ids is None else others is not None and np.array_equal(ids, others)


def _room(bodies: Bodies) -> float:
    """The largest skin with which no pair is seen twice in a periodic box."""
    room = math.inf
    if len(bodies) > 1:
        for axis in np.flatnonzero(bodies.space.period).tolist():
            room = min(room, 0.499 * float(bodies.space.period[axis]) - bodies.reach(axis))
    return max(room, 0.0)


class NeighborSearch(_Search):
    """Pairs of near spheres, step by step.

    Parameters
    ----------
    method : {"auto", "brute", "verlet", "cells", "sweep", "levels"}
        "auto" starts with the likely fastest, tries the others now and then in long runs, and keeps what was faster.
    skin : float, m, or "auto"
        Spheres are listed as soon as they are that near; lists are rebuilt when two of them may have come nearer by
        more. A thick skin means few rebuilds and long lists; "auto" balances the measured times of both.
    box, periodic
        As for `impinge.pairs`.
    rebuild_every : int, optional
        Rebuild at every n-th update instead, as in [Muth2007b] 2.1; warns when that was too late.
    cell_size, zone_radius : float, m, optional
        Of "cells" and "verlet", as for `impinge.pairs`.
    all_pairs : bool
        Let "verlet" build its lists by testing all pairs, as in the paper.
    threads : int, optional

    Examples
    --------
    >>> import numpy as np, impinge
    >>> search = impinge.NeighborSearch()
    >>> centres = np.array([[0.0, 0, 0], [2.5, 0, 0], [9, 0, 0]])
    >>> for step in range(10):
    ...     near = search.update(centres, radii=1.0)
    ...     centres[1, 0] -= 0.1
    >>> near.touching()
    array([[0, 1]])
    >>> search.statistics.updates
    10
    """

    _methods = tuple(METHODS)

    def update(self, centres: ArrayLike, radii: ArrayLike, ids: ArrayLike | None = None) -> Neighbors:
        """The pairs that may touch now, all that do among them.

        Parameters
        ----------
        centres : (n, 2) or (n, 3) float64, m
        radii : float or (n,) float64, m
        ids : (n,) integers, optional
            Permanent numbers of the spheres, the rows by default. Between updates spheres may be added, removed and
            reordered; lists are sorted by these numbers.
        """
        with _jit.threads(self._threads):
            return self._follow(spheres(centres, radii, 0.0, self._box, self._periodic), ids)


class BoxSearch(_Search):
    """Pairs of near axis-parallel boxes, step by step; as `NeighborSearch`, without "verlet"."""

    _methods = BOX_METHODS

    def __init__(
        self,
        method: str = "auto",
        skin: float | str = "auto",
        box: ArrayLike | None = None,
        periodic: bool | ArrayLike = False,
        *,
        rebuild_every: int | None = None,
        cell_size: float | None = None,
        threads: int | None = None,
    ) -> None:
        options: dict[str, Any] = {"rebuild_every": rebuild_every, "cell_size": cell_size, "threads": threads}
        super().__init__(method, skin, box, periodic, **options)

    def update(self, lower: ArrayLike, upper: ArrayLike, ids: ArrayLike | None = None) -> Neighbors:
        """The pairs that may touch now, all that do among them; lower, upper : (n, 2) or (n, 3) float64, m."""
        with _jit.threads(self._threads):
            return self._follow(boxes(lower, upper, 0.0, self._box, self._periodic), ids)
