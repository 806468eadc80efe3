"""Part "speed": particle-steps per second of all codes, tuned, in alternating runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import alternating
from benchmarks.particle_motion.cases import Case
from benchmarks.particle_motion.packing import settled
from benchmarks.particle_motion.simulator import Order, Outcome, Setting, Simulator
from benchmarks.particle_motion.sizes import Sizes
from benchmarks.particle_motion.tuning import tune
from benchmarks.report import progress, reason

_ONCE = {"yade"}  # takes so long to build its bodies that it runs in one round only


@dataclass
class _Entry:
    """A code with a number of threads on one case."""

    simulator: Simulator
    threads: int
    setting: Setting
    failure: str = ""
    outcomes: list[Outcome] = field(default_factory=list)

    def go(self, case: Case, limit: float, folder: Path) -> None:
        order = Order(case, self.setting, self.threads, max(1, case.steps // 10), case.steps, limit)
        try:
            self.outcomes.append(self.simulator.run(order, folder))
        except Exception as error:  # whatever is wrong with it, the others can still be measured
            self.failure = reason(error)

    def row(self, case: Case) -> dict[str, Any]:
        row = {
            "case": case.label,
            "n": len(case),
            "dense": case.is_dense,
            "code": self.simulator.name,
            "threads": self.threads,
            "setting": str(self.setting),
            "skipped": self.failure,
        }
        if self.failure or not self.outcomes:
            return row
        fastest = min(self.outcomes, key=lambda outcome: outcome.seconds)
        return row | {
            "seconds": fastest.seconds,
            "all_s": [outcome.seconds for outcome in self.outcomes],
            "rate": len(case) * case.steps / fastest.seconds,
            "steps": case.steps,
            "rebuilds": fastest.rebuilds,
            "kinetic": fastest.kinetic,
        }


def _entries(simulator: Simulator, case: Case, threads: list[int], limit: float, folder: Path) -> Iterator[_Entry]:
    """Tuned for every number of threads, from what was best for the one before."""
    setting, failure = simulator.first(case), ""
    for count in threads:
        if not failure:
            try:
                setting = tune(simulator, case, count, setting, limit, folder)
            except Exception as error:
                failure = reason(error)
        yield _Entry(simulator, count, setting, failure)


def measure_case(case: Case, simulators: list[Simulator], threads: list[int], sizes: Sizes) -> list[dict[str, Any]]:
    """One row per code and number of threads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entries = [
            entry
            for simulator in simulators
            for entry in _entries(simulator, case, threads, sizes.process_seconds, folder)
        ]
        for number, entry in alternating(entries, sizes.rounds):
            if entry.failure or (entry.outcomes and entry.simulator.name in _ONCE):
                continue
            progress(f"{case.label}, round {number + 1} of {sizes.rounds}, {entry.simulator.name}, {entry.threads}")
            entry.go(case, sizes.process_seconds, folder)
    return [entry.row(case) for entry in entries]


def measure(simulators: list[Simulator], threads: list[int], sizes: Sizes) -> list[dict[str, Any]]:
    rows = []
    for make in sizes.dilute:
        rows += measure_case(make(), simulators, threads, sizes)
    settlers = [simulator for simulator in simulators if simulator.name in ("impinge", "lammps")]
    if settlers:
        case = settled(sizes.dense(), settlers[0], max(threads))
        rows += measure_case(case, simulators, threads, sizes)
    return rows


def measure_growth(ours: Simulator, threads: list[int], sizes: Sizes) -> list[dict[str, Any]]:
    """Ours alone: few equal spheres and many."""
    rows = []
    for make in sizes.growth:
        rows += measure_case(make(), [ours], threads, sizes)
    return rows
