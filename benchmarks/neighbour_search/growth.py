"""Part "growth": time over the number of spheres, and what a wide range of sizes costs; impinge alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import impinge
from benchmarks.measure import forget_garbage
from benchmarks.neighbour_search import systems
from benchmarks.neighbour_search.competitors import Impinge
from benchmarks.neighbour_search.race import Entry, enter, race
from benchmarks.neighbour_search.sizes import Sizes
from benchmarks.neighbour_search.systems import System
from benchmarks.report import progress

METHODS = ("cells", "levels", "auto")
_FAMILIES: dict[str, Callable[[int], System]] = {"equal": systems.equal, "power law": systems.power_law}
_ALIKE = 0.02  # relative difference of the pairs per sphere; 5 % are allowed


def _forecast(known: list[tuple[int, float]], count: int) -> float:
    """Seconds for `count` spheres: quadratic growth from the last measurement (spheres, seconds) is the worst."""
    return known[-1][1] * (count / known[-1][0]) ** 2 if known else 0.0


def _grow(family: str, sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    known: dict[tuple[str, int | None], list[tuple[int, float]]] = {}
    for count in sizes.growth:
        n = round(count ** (1 / 3)) ** 3  # of full lattices
        system = _FAMILIES[family](n)
        entries = [entry for method in METHODS for entry in enter(Impinge(method), threads, system, n)]
        entries = [
            entry
            for entry in entries
            if _forecast(known.get((entry.competitor.method, entry.threads), []), n) <= sizes.growth_seconds
        ]
        forget_garbage()
        race(f"growth: {system.label}", entries, sizes.rounds, sizes.method_seconds)
        rows += [_row(entry, family, system) for entry in entries]
        for row in rows[-len(entries) :] if entries else []:
            known.setdefault((row["kind"], row["threads"]), []).append((n, row["seconds"]))
    return rows


def _row(entry: Entry, family: str, system: System) -> dict[str, Any]:
    if entry.failure:
        raise RuntimeError(f"{entry.title}, {system.label}: {entry.failure}")
    return {"family": family, "n": len(system), "kind": entry.competitor.method} | entry.row()


def measure_growth(sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    """One row per family, number of spheres, method and number of threads."""
    return [row for family in _FAMILIES for row in _grow(family, sizes, threads)]


# What a ratio of 100 costs


def _count(system: System) -> int:
    return len(impinge.pairs(system.centres, system.radii, gap=system.gap))


def matched(system: System, wanted: float) -> System:
    """The same spheres with a gap that gives `wanted` pairs per sphere."""
    low, high = 0.0, 1.0
    while _count(replace(system, gap=high)) < wanted * len(system):
        low, high = high, 2 * high
    for _ in range(60):
        gap = 0.5 * (low + high)
        made = replace(system, gap=gap)
        reached = _count(made) / len(system)
        if abs(reached - wanted) <= _ALIKE * wanted:
            return made
        low, high = (gap, high) if reached < wanted else (low, gap)
    raise RuntimeError(f"no gap of {system.label} gives {wanted:g} pairs per sphere")


def measure_spread(sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    """One row per wide system and number of threads, next to equal spheres with as many partners."""
    count, large = sizes.spread
    rows = []
    for wide in (systems.few_large(100, count, large), systems.power_law(count)):
        progress(f"growth: equal spheres with as many partners as {wide.label}")
        even = matched(systems.equal(count), _count(wide) / len(wide))
        ours = Impinge()
        entries = [entry for system in (wide, even) for entry in enter(ours, threads, system, len(system))]
        forget_garbage()
        race(f"growth: {wide.label} and equal spheres", entries, sizes.rounds, sizes.method_seconds)
        for one, other in zip(entries[: len(threads)], entries[len(threads) :], strict=True):
            here, there = one.row(), other.row()
            per_sphere, per_equal = here["seconds"] / len(wide), there["seconds"] / len(even)
            rows.append(
                {
                    "system": wide.label,
                    "threads": one.threads,
                    "n": len(wide),
                    "n_equal": len(even),
                    "pairs_per_sphere": here["pairs"] / len(wide),
                    "pairs_per_equal": there["pairs"] / len(even),
                    "gap_equal": even.gap,
                    "seconds_per_sphere": per_sphere,
                    "seconds_per_equal": per_equal,
                    "ratio": per_sphere / per_equal,
                }
            )
    return rows
