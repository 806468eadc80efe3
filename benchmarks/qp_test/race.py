"""Solvers that take turns on one problem: their times, and what each found in the end."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import Timing, alternating, best, forget_garbage, timed
from benchmarks.report import progress, reason

_TURN, _MOST = 0.02, 20  # seconds that a turn lasts at least, and calls at most


@dataclass
class Entry:
    """One method, and what it has to do."""

    method: str
    call: Callable[[], Any]
    is_ours: bool = False  # then measured in all rounds
    timings: list[Timing] = field(default_factory=list)
    result: Any = None
    failure: str = ""

    def go(self) -> None:
        try:
            timing, self.result = timed(self.call)
        except Exception as error:  # whatever it has against this problem, the others can still be measured
            self.failure = reason(error)
        else:
            self.timings.append(timing)

    def is_out(self, seconds: float) -> bool:
        return bool(self.failure) or (not self.is_ours and sum(timing.seconds for timing in self.timings) > seconds)

    def row(self) -> dict[str, Any]:
        """Times without that of the first call, which warms up, unless there is no other."""
        kept = self.timings[1:] or self.timings
        if not kept or self.failure:
            return {"method": self.method, "seconds": None, "failure": self.failure}
        return {
            "method": self.method,
            "seconds": best(kept).seconds,
            "median_s": statistics.median(timing.seconds for timing in kept),
            "all_s": [timing.seconds for timing in self.timings],
            "failure": "",
        }


def race(label: str, entries: list[Entry], rounds: int, seconds: float) -> None:
    """Alternating rounds after one to warm up; others than ours sit out the rest after so many seconds."""
    forget_garbage()
    for number, entry in alternating(entries, rounds + 1):
        if not entry.is_out(seconds):
            progress(f"{label}, {f'round {number} of {rounds}' if number else 'warming up'}: {entry.method}")
            entry.go()
            # A problem of microseconds is measured more than once in a turn: its first call finds a cold cache.
            for _ in range(min(_MOST, int(_TURN / entry.timings[-1].seconds)) if entry.timings else 0):
                entry.go()
