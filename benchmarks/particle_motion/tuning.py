"""The best setting of a code for a case, by short runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.particle_motion.cases import Case
from benchmarks.particle_motion.simulator import Order, Setting, Simulator
from benchmarks.report import progress

_PATIENCE = 3.0  # a setting that takes this many times as long as the best is given up


class _Trials:
    """Seconds of settings, each tried once."""

    def __init__(self, simulator: Simulator, case: Case, threads: int, limit: float, folder: Path) -> None:
        self._simulator, self._case, self._threads, self._folder = simulator, case, threads, folder
        self._limit = limit
        self._known: dict[Setting, float] = {}

    def seconds(self, setting: Setting, is_first: bool = False) -> float:
        """Time of half a window, inf for a setting that fails or takes too long; of the first, the error."""
        if setting in self._known:
            return self._known[setting]
        steps = max(1, self._case.steps // 2)
        # The time for reading and for the first list is not known, so it gets some.
        allowed = self._limit if is_first else min(self._limit, 5 + _PATIENCE * min(self._known.values()))
        order = Order(self._case, setting, self._threads, max(1, steps // 10), steps, allowed)
        try:
            found = self._simulator.run(order, self._folder).seconds
        except Exception:
            if is_first:
                raise
            found = float("inf")
        progress(f"tuning {self._case.label}, {self._simulator.name}, {self._threads}: {setting}: {found:.3g} s")
        self._known[setting] = found
        return found


def _climb(trials: _Trials, start: Setting, field: str, values: tuple[Any, ...]) -> Setting:
    """The neighbouring values of a field, on and on in the direction in which time falls."""
    best, place = start, values.index(getattr(start, field))
    for direction in (-1, 1):
        at = place + direction
        while 0 <= at < len(values):
            next_one = replace(best, **{field: values[at]})
            if trials.seconds(next_one) >= trials.seconds(best):
                break
            best, at = next_one, at + direction
        if best is not start:
            break
    return best


def tune(simulator: Simulator, case: Case, threads: int, start: Setting, limit: float, folder: Path) -> Setting:
    """The fastest setting found from this start, one field after the other."""
    choices = simulator.choices(case, threads)
    if not choices:
        return start
    trials = _Trials(simulator, case, threads, limit, folder)
    trials.seconds(start, is_first=True)
    best = start
    for field, values in choices:
        best = _climb(trials, best, field, values)
    return best
