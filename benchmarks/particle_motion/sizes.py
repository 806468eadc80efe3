"""How much the particle benchmark measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.particle_motion import cases
from benchmarks.particle_motion.cases import Case


@dataclass(frozen=True)
class Sizes:
    """Cases, and how often they run."""

    dilute: tuple[Callable[[], Case], ...]
    dense: Callable[[], Case]
    growth: tuple[Callable[[], Case], Callable[[], Case]]  # few spheres, and ten times as many
    rounds: int  # of alternating measurements
    process_seconds: float  # a code that takes longer for one run leaves the case
    compared: tuple[tuple[Callable[[], Case], int], ...]  # cases with steps after which energies are compared
    drift: tuple[tuple[Callable[[], Case], float], ...]  # cases with the drift that is allowed
    drift_steps: int


FULL = Sizes(
    dilute=(
        lambda: cases.equal(21_952, 2_000),
        lambda: cases.equal(59_319, 1_000),
        lambda: cases.fracture(5, 600),
        lambda: cases.halves(10, 100_000, 900),
        lambda: cases.halves(30, 100_000, 700),
    ),
    dense=lambda: cases.dense(100_000, 200),
    growth=(lambda: cases.equal(97_336, 400), lambda: cases.equal(1_000_000, 100)),
    rounds=3,
    process_seconds=40.0,
    compared=(
        (lambda: cases.equal(21_952, 0), 4_000),
        (lambda: cases.equal(59_319, 0), 4_000),
        (lambda: cases.fracture(5, 0), 2_000),
        (lambda: cases.halves(10, 100_000, 0), 1_000),
        (lambda: cases.halves(30, 100_000, 0), 1_000),
    ),
    drift=((lambda: cases.equal(21_952, 0), 2e-8), (lambda: cases.fracture(3, 0), 1e-6)),
    drift_steps=10_000,
)
QUICK = Sizes(
    dilute=(
        lambda: cases.equal(2_197, 500),
        lambda: cases.fracture(2, 200),
        lambda: cases.halves(10, 5_000, 100),
    ),
    dense=lambda: cases.dense(2_000, 50),
    growth=(lambda: cases.equal(1_000, 100), lambda: cases.equal(8_000, 100)),
    rounds=1,
    process_seconds=20.0,
    compared=((lambda: cases.equal(2_197, 0), 1_000), (lambda: cases.fracture(2, 0), 1_000)),
    drift=((lambda: cases.equal(2_197, 0), 2e-8),),
    drift_steps=1_000,
)
