"""Methods that take turns on one task: their times and the first result of each."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import Timing, alternating, best, forget_garbage, timed
from benchmarks.report import progress, threads_text


@dataclass
class Entry:
    """One method with a number of threads, and what it has to do."""

    method: str
    threads: int
    task: str
    call: Callable[[], Any]
    is_compared: bool = True  # by a required figure: measured in all rounds
    is_once: bool = False  # too slow for more, and for a call before
    timings: list[Timing] = field(default_factory=list)
    result: Any = None

    @property
    def title(self) -> str:
        return f"{self.task}, {self.method}, {threads_text(self.threads)}"

    @property
    def spent(self) -> float:
        return sum(timing.seconds for timing in self.timings)

    def is_out(self, seconds: float) -> bool:
        return bool(self.timings) and (self.is_once or (not self.is_compared and self.spent > seconds))

    def go(self) -> None:
        timing, result = timed(self.call)
        self.timings.append(timing)
        if self.result is None:
            self.result = result

    def row(self) -> dict[str, Any]:
        fastest = best(self.timings)
        return {
            "method": self.method,
            "threads": self.threads,
            "task": self.task,
            "seconds": fastest.seconds,
            "median_s": statistics.median(timing.seconds for timing in self.timings),
            "cores_used": fastest.cpu_seconds / fastest.seconds,
            "all_s": [timing.seconds for timing in self.timings],
        }


def race(label: str, entries: list[Entry], rounds: int, seconds: float) -> None:
    """Every method once without the clock, then alternating rounds; some sit out after so many seconds."""
    for entry in entries:
        if not entry.is_once:
            entry.call()
    forget_garbage()
    for number, entry in alternating(entries, rounds):
        if not entry.is_out(seconds):
            progress(f"{label}, round {number + 1} of {rounds}: {entry.title}")
            entry.go()
