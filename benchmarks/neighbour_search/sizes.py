"""How much the neighbour benchmark measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.neighbour_search import systems
from benchmarks.neighbour_search.systems import System


@dataclass(frozen=True)
class Sizes:
    """Numbers of spheres, and limits of time and memory."""

    equal: tuple[int, ...]
    mixed: tuple[int, ...]  # spheres of the two-size and power-law systems
    ratios: tuple[int, ...]
    few_large: tuple[int, int]  # spheres, and large ones among them, at ratio 100
    fracture: int  # parts along an axis
    flat: int
    rods: int
    own_rods: int  # for our own methods, one of which tests all pairs
    rounds: int  # of alternating measurements
    call_seconds: float  # peers that would take longer are skipped
    call_gb: float
    method_seconds: float  # a competitor that has used more sits out the other rounds
    growth: tuple[int, ...]
    growth_seconds: float  # methods leave a curve before a measurement longer than this
    fit_from: int  # spheres from which time must be linear
    spread: tuple[int, int]  # spheres, and large ones, of the comparison of ratio 100 with equal spheres

    def systems(self) -> Iterator[Callable[[], System]]:
        """Makers of all systems of the speed part, in order; one at a time fits into memory."""
        for count in self.equal:
            yield lambda count=count: systems.equal(count)  # type: ignore[misc]
        yield lambda: systems.shuffled(systems.equal(self.equal[-1]))
        for count in self.mixed:
            for ratio in self.ratios:
                yield lambda ratio=ratio, count=count: systems.halves(ratio, count)  # type: ignore[misc]
        yield lambda: systems.few_large(100, *self.few_large)
        yield lambda: systems.fracture(self.fracture)
        for count in self.mixed:
            yield lambda count=count: systems.power_law(count)  # type: ignore[misc]
        yield lambda: systems.equal(self.flat, dimensions=2)


FULL = Sizes(
    equal=(59_319, 1_000_000),
    mixed=(100_000, 1_000_000),
    ratios=(5, 10, 30, 100),
    few_large=(1_000_000, 20),
    fracture=5,
    flat=100_000,
    rods=100_000,
    own_rods=20_000,
    rounds=7,
    call_seconds=60.0,
    call_gb=20.0,
    method_seconds=15.0,
    growth=(1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_000_000),
    growth_seconds=20.0,
    fit_from=10_000,
    spread=(1_000_000, 20),
)
QUICK = Sizes(
    equal=(8_000, 27_000),
    mixed=(10_000, 30_000),
    ratios=(5, 10, 30),
    few_large=(50_000, 1),
    fracture=2,
    flat=10_000,
    rods=10_000,
    own_rods=5_000,
    rounds=2,
    call_seconds=1.0,
    call_gb=2.0,
    method_seconds=0.5,
    growth=(1_000, 4_000, 16_000, 64_000),
    growth_seconds=0.5,
    fit_from=4_000,
    spread=(50_000, 1),
)
