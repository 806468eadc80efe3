"""What competes in finding pairs of spheres: the protocol, impinge itself, and what all peers need.

Everyone gets the system in the types of its own before the clock starts, and delivers the row numbers of the pairs, in
any order. Nothing else of a result is compared: distances are left out wherever a library lets one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import impinge
from benchmarks.neighbour_search.systems import System

Rows = NDArray[np.integer[Any]]
Found = tuple[Rows, Rows]  # partners i and j of every pair, each pair once


class Competitor(Protocol):
    """One way to find pairs; a library, or impinge."""

    name: str
    group: str  # "ours", "general" (one call for all sizes) or "split" (two size classes made by hand)
    has_threads: bool  # else it runs as it is
    single: bool  # in single precision

    def version(self) -> str: ...
    def candidates(self, forecast: Forecast) -> float: ...

    # Seconds and bytes per candidate, roughly, to tell beforehand what would take too long.
    candidate_seconds: float
    candidate_bytes: float

    def prepare(self, system: System) -> Any: ...
    def find(self, prepared: Any, threads: int) -> Found: ...


class Forecast:
    """How many candidates ways of searching would test, estimated from some of the spheres."""

    _SAMPLE = 300

    def __init__(self, system: System) -> None:
        self._system = system

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._system.centres, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.linspace(0, len(self._system) - 1, min(self._SAMPLE, len(self._system))).astype(np.int64)

    def _mean(self, radius: float, norm: float) -> float:
        from scipy.spatial import cKDTree

        chosen = cKDTree(self._system.centres[self._rows])
        return float(chosen.count_neighbors(self._tree, radius, p=norm)) / len(self._rows)

    @cached_property
    def largest_cutoff(self) -> float:
        """Pairs within the largest cutoff."""
        return 0.5 * len(self._system) * self._mean(self._system.cutoff, 2.0)

    @cached_property
    def largest_cells(self) -> float:
        """Tests in cells as long as the largest cutoff, where every sphere looks as far as half of it and its own."""
        typical = float(np.median(self._system.radii)) + 0.5 * self._system.gap
        return len(self._system) * self._mean(self._system.cutoff + typical, np.inf)

    @cached_property
    def own_cutoff(self) -> float:
        """Spheres within twice the radius of each: exact for the largest ones, where most of them are."""
        system = self._system
        reach = 2 * system.radii + system.gap
        order = np.argsort(system.radii)
        few, rest = order[-50:], order[:-50]
        counted = self._count(few, reach)
        if len(rest):
            sample = rest[:: max(1, len(rest) // self._SAMPLE)]
            counted += self._count(sample, reach) * len(rest) / len(sample)
        return counted

    def _count(self, rows: NDArray[np.int64], reach: NDArray[np.float64]) -> float:
        return float(self._tree.query_ball_point(self._system.centres[rows], reach[rows], return_length=True).sum())


class Impinge:
    """`impinge.pairs` at default settings, checks of its arguments and the sorting of the pairs included."""

    group = "ours"
    has_threads, single = True, False
    candidate_seconds = candidate_bytes = 0.0

    def __init__(self, method: str = "auto") -> None:
        self.method = method
        self.name = "impinge" if method == "auto" else f"impinge {method}"

    def version(self) -> str:
        return impinge.__version__

    def candidates(self, forecast: Forecast) -> float:
        return 0.0

    def prepare(self, system: System) -> System:
        return system

    def find(self, prepared: System, threads: int) -> Found:
        found = impinge.pairs(prepared.centres, prepared.radii, gap=prepared.gap, method=self.method, threads=threads)
        return found[:, 0], found[:, 1]


def only_near(system: System, i: Rows, j: Rows) -> Found:
    """Of the pairs within the largest cutoff those that are near; piece by piece, which is faster and takes less."""
    if system.ratio == 1:
        return i, j
    centres, reach = system.centres, system.radii + 0.5 * system.gap
    piece = 1 << 15
    kept = []
    for first in range(0, len(i), piece):
        a, b = i[first : first + piece], j[first : first + piece]
        offsets = centres[a] - centres[b]
        near = np.einsum("ij,ij->i", offsets, offsets) <= (reach[a] + reach[b]) ** 2
        kept.append((a[near], b[near]))
    if not kept:
        return i, j
    return np.concatenate([a for a, _ in kept]), np.concatenate([b for _, b in kept])


def fingerprint(i: Rows, j: Rows, count: int) -> int:
    """A number that nearly surely differs for different sets of pairs, whatever their order."""
    low, high = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
    mixed = low * np.uint64(count) + high
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # the end of splitmix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return int((mixed ^ (mixed >> np.uint64(31))).sum())


@dataclass(frozen=True)
class Answer:
    """What is kept of a result."""

    pairs: int
    mark: int

    @classmethod
    def of(cls, found: Found, count: int) -> Answer:
        return cls(len(found[0]), fingerprint(found[0], found[1], count))


def judge(answer: Answer, truth: Answer, single: bool, extent: float, count: Callable[[float], int]) -> str:
    """How an answer differs, beginning with MISMATCH where rounding cannot be the reason; nothing if it is right.

    Single precision shifts coordinates by up to half a unit in their last place, and with them the gaps: what remains
    to be explained is a number of pairs that no gap within these bounds has, by `count(change of the gap)`.
    """
    if answer == truth:
        return ""
    change = answer.pairs - truth.pairs
    if single:
        slack = 4 * extent * float(np.finfo(np.float32).eps)
        if count(-slack) <= answer.pairs <= count(slack):
            return f"{change:+d} by rounding"
    return f"MISMATCH {change:+d}"
