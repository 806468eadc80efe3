"""The searches by name: each gives all pairs of bodies at most `gap` apart, and says what it did for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge._scratch import borrow
from impinge.broad import _brute
from impinge.broad._near import SLACK, TINY
from impinge.broad.grid import Grid, lay_grid, search
from impinge.broad.order import check_memory, sorted_pairs
from impinge.broad.space import Bodies
from impinge.broad.sweep import LinkedLists
from impinge.errors import InputError

__all__ = [
    "BOX_METHODS", "METHODS", "Result", "Settings", "choose", "find", "only_near", "read_settings", "verlet_zones",
    "zone_of",
]  # fmt: skip


class Settings(NamedTuple):
    """What a user may set of the methods."""

    cell_size: float | None = None  # cells
    zone_radius: float | None = None  # verlet
    all_pairs: bool = False  # verlet: build the lists as in the paper, by n(n − 1)/2 tests


def read_settings(
    method: str, cell_size: float | None = None, zone_radius: float | None = None, all_pairs: bool = False
) -> Settings:
    """Check settings, each of which is for one method only."""
    for name, value, owner in (
        ("cell_size", cell_size, "cells"),
        ("zone_radius", zone_radius, "verlet"),
        ("all_pairs", all_pairs or None, "verlet"),
    ):
        if value is not None and method != owner:
            raise InputError(f"{name}: found {value!r} with method {method!r}, expected it with method {owner!r} only")
    if isinstance(cell_size, float) and 0 < cell_size < TINY:
        raise InputError(f"cell_size: found {cell_size!r}, expected at least {TINY:g}")
    return Settings(
        None if cell_size is None else _check.positive("cell_size", cell_size),
        None if zone_radius is None else _check.positive("zone_radius", zone_radius),
        bool(all_pairs),
    )


class Result(NamedTuple):
    """Sorted pairs, and how they were found."""

    pairs: NDArray[np.int64]  # (m, 2), i < j
    tests: int  # candidates tested
    cell_sizes: tuple[float, ...]  # of every level, none without cells


def only_near(bodies: Bodies, pairs: NDArray[np.int64], gap: float) -> NDArray[np.int64]:
    """Those of some pairs that are at most `gap` apart."""
    marks = np.empty(len(pairs), np.bool_)
    _brute.mark_near(len(pairs), bodies.rows, _check.frozen(pairs), gap, bodies.space.period, marks)
    return pairs[marks]


def brute(bodies: Bodies, gap: float, settings: Settings) -> Result:
    """All n(n − 1)/2 pairs tested."""
    n = len(bodies)
    counts = np.zeros(n, np.int64)
    _brute.count_partners(n, bodies.rows, gap, bodies.space.period, counts)
    check_memory(int(counts.sum()))
    pairs = np.empty((int(counts.sum()), 2), np.int64)
    _brute.list_partners(n, bodies.rows, gap, bodies.space.period, np.cumsum(counts) - counts, pairs)
    return Result(pairs, n * (n - 1) // 2, ())


def _by_grid(bodies: Bodies, gap: float, cell_size: float | None, levels: bool) -> Result:
    corner = np.where(np.isfinite(bodies.space.lengths), bodies.space.low, np.inf)
    lattice = None if cell_size is None else (cell_size, corner)
    parts = _parts(bodies) if levels else 1
    sizes = bodies.sizes
    sizes += gap
    if bodies.rows.shape[1] == 6:  # whose centres and half sizes are rounded
        sizes += SLACK * np.abs(bodies.centres).max(axis=1)
    low, period = bodies.space.low, bodies.space.period
    with borrow() as scratch:
        grid = lay_grid(bodies.centres, sizes, scratch, lattice=lattice, levels=levels, parts=parts)
        found = search(grid, scratch, bodies.rows, _half_sizes(bodies, grid, gap), gap, low, period)
        pairs = sorted_pairs(found.parts, len(bodies), scratch)
    return Result(pairs, found.tests, tuple((1 / grid.per_length).tolist()))


def _parts(bodies: Bodies) -> int:
    """How many cells a box should be long: several if boxes are crowded and much longer along one axis."""
    if bodies.rows.shape[1] == 4 or bodies.half.mean() > 0.85 * bodies.half.max(axis=1).mean():
        return 1
    sizes = 2 * bodies.half.max(axis=1).mean()
    if sizes == 0:
        return 1
    extent = np.maximum(np.ptp(bodies.centres, axis=0), sizes)
    return int(np.clip((len(bodies) / 2 * np.prod(sizes / extent)) ** (1 / 3), 1, 4))


def _half_sizes(bodies: Bodies, grid: Grid, gap: float) -> NDArray[np.float64]:
    """(levels, 3): largest half sizes along the axes, without the gap."""
    if bodies.rows.shape[1] == 4:  # rounded up: the gap was added to the diameters
        return np.repeat((grid.largest - gap)[:, None] * 0.5 + 2.0**-50 * grid.largest[:, None], 3, axis=1)
    return np.maximum.reduceat(bodies.half[grid.order], grid.begins[:-1], axis=0)


def cells(bodies: Bodies, gap: float, settings: Settings) -> Result:
    """Linked cells: one lattice for all sizes, its cells at least as large as the largest body [Muth2007b] 2.2."""
    if settings.cell_size is not None:
        largest = float(bodies.sizes.max()) + gap
        if settings.cell_size < largest:
            raise InputError(
                f"cell_size: found {settings.cell_size:g}, expected at least {largest:g}, the largest size and the gap"
            )
    return _by_grid(bodies, gap, settings.cell_size, levels=False)


def levels(bodies: Bodies, gap: float, settings: Settings) -> Result:
    """A hierarchy of grids: every body in the cells of its own size, smaller ones looked for once per pair."""
    return _by_grid(bodies, gap, None, levels=True)


def zone_of(bodies: Bodies, gap: float, zone_radius: float | None) -> float:
    """Radius of the spheres about the centres in which partners are listed: five times the largest radius.

    At least as large as any two near bodies are apart, and less in a small periodic box, where a partner would be
    seen from both sides.
    """
    least = bodies.reach(0) + gap
    most = 0.499 * float(bodies.space.period[bodies.space.period > 0].min(initial=np.inf))
    if zone_radius is None:
        return max(min(5 * float(bodies.half.max(initial=0.0)), most), least)
    if not least <= zone_radius <= max(most, least):
        limits = f"at least {least:g}, the largest distance of centres that are near"
        limits += f", and at most {most:g} in this periodic box" if np.isfinite(most) else ""
        raise InputError(f"zone_radius: found {zone_radius:g}, expected {limits}")
    return zone_radius


def verlet_zones(bodies: Bodies, zone: float, settings: Settings) -> Result:
    """All pairs of spheres whose centres are at most `zone` apart: the lists of [Muth2007b] 2.1."""
    rows = bodies.rows.copy()
    rows[:, 3] = zone / 2
    zones = Bodies(rows, rows, np.full((len(bodies), 3), zone / 2), bodies.space)
    return find("brute" if settings.all_pairs else "cells", zones, 0.0, Settings())


def verlet(bodies: Bodies, gap: float, settings: Settings) -> Result:
    """Verlet lists: partners of higher number in a sphere about each centre, and of these the near [Muth2007b] 2.1."""
    found = verlet_zones(bodies, zone_of(bodies, gap, settings.zone_radius), settings)
    return Result(only_near(bodies, found.pairs, gap), found.tests, found.cell_sizes)


def sweep(bodies: Bodies, gap: float, settings: Settings) -> Result:
    """Linked linear lists, made by sorting and one sweep [Muth2007b] 2.3."""
    lists = LinkedLists(bodies, gap)
    return Result(only_near(bodies, lists.pairs(), gap), lists.tests, ())


METHODS: dict[str, Callable[[Bodies, float, Settings], Result]] = {
    "brute": brute,
    "verlet": verlet,
    "cells": cells,
    "sweep": sweep,
    "levels": levels,
}
BOX_METHODS = ("brute", "cells", "sweep", "levels")
_FEW = 300  # bodies up to which all pairs are tested faster than cells are laid


def choose(bodies: Bodies) -> tuple[str, str]:
    """The method for `auto`, and why; into how many levels sizes are split, `levels` finds out from all of them."""
    if len(bodies) <= _FEW:
        return "brute", f"{len(bodies)} bodies: testing all pairs is fastest"
    if bodies.rows.shape[1] == 6 and _are_slender(bodies):
        return "sweep", "long thin boxes, of which cells as long as they are would hold too many"
    return (
        "levels",
        "cells for every class of sizes, as many classes as their numbers and the space around them suggest",
    )


def _are_slender(bodies: Bodies) -> bool:
    """Whether boxes fill next to nothing of the cubes around them, and these overlap: sweep is faster, as measured."""
    axes = range(bodies.space.dimension)
    longest = bodies.half.max(axis=1)
    cube = longest.mean() ** len(axes)
    with np.errstate(over="ignore"):
        room = np.prod(np.maximum(np.ptp(bodies.centres, axis=0), longest.mean())[axes])
    filled = np.prod(bodies.half[:, axes], axis=1).mean()
    return bool(filled < 0.02 * cube and len(bodies) * cube * 2 ** len(axes) > 0.5 * room)


def find(method: str, bodies: Bodies, gap: float, settings: Settings) -> Result:
    """All pairs of bodies at most `gap` apart by one of METHODS."""
    if len(bodies) < 2:
        return Result(np.empty((0, 2), np.int64), 0, ())
    return METHODS[method](bodies, gap, settings)
