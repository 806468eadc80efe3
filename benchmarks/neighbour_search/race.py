"""Competitors run in turn on one input: times, answers, and who was left out and why."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import Timing, alternating, best, timed
from benchmarks.neighbour_search.competitors import Answer
from benchmarks.report import progress, reason, threads_text

_HOPELESS = 20  # times slower than the fastest: one measurement tells enough


@dataclass
class Entry:
    """One competitor with a number of threads (none: it has no such setting) on one input."""

    competitor: Any
    threads: int | None
    prepared: Any
    count: int  # spheres or boxes
    prepare_seconds: float  # not part of its time
    timings: list[Timing] = field(default_factory=list)
    answer: Answer | None = None
    failure: str = ""

    @property
    def title(self) -> str:
        return f"{self.competitor.name}, {threads_text(self.threads)}"

    @property
    def spent(self) -> float:
        return sum(timing.seconds for timing in self.timings)

    def is_out(self, fastest: float, seconds: float) -> bool:
        """Whether more calls would tell nothing new; never for what the required figures are about."""
        if not self.timings or self.competitor.name == "impinge":
            return False
        return self.spent > seconds or best(self.timings).seconds > _HOPELESS * fastest

    def warm_up(self) -> None:
        try:
            self.competitor.find(self.prepared, self.threads or 1)
        except Exception as error:
            self.failure = f"failed: {reason(error)}"

    def go(self) -> None:
        """Three calls, or one if it takes more than 50 ms."""
        try:
            for _ in range(3):
                timing, found = timed(self.competitor.find, self.prepared, self.threads or 1)
                self.timings.append(timing)
                if self.answer is None:
                    self.answer = Answer.of(found, self.count)
                del found
                if timing.seconds > 0.05:
                    break
        except Exception as error:  # whatever is wrong with it, the others can still be measured
            self.failure = f"failed: {reason(error)}"

    def row(self) -> dict[str, Any]:
        row = {
            "method": self.competitor.name,
            "group": self.competitor.group,
            "threads": self.threads,
            "skipped": self.failure,
        }
        if self.failure or self.answer is None:
            return row
        fastest = best(self.timings)
        return row | {
            "seconds": fastest.seconds,
            "median_s": statistics.median(t.seconds for t in self.timings),
            "cores_used": fastest.cpu_seconds / fastest.seconds,
            "pairs": self.answer.pairs,
            "prepare_s": self.prepare_seconds,
            "all_s": [t.seconds for t in self.timings],
        }


def enter(competitor: Any, thread_counts: Sequence[int], given: Any, count: int) -> list[Entry]:
    """Once per number of threads, or once as it is; converts what is given to the competitor's own types."""
    timing, prepared = timed(competitor.prepare, given)
    counts: Sequence[int | None] = thread_counts if competitor.has_threads else [None]
    return [Entry(competitor, threads, prepared, count, timing.seconds) for threads in counts]


def race(label: str, entries: list[Entry], rounds: int, seconds: float) -> None:
    """Alternating rounds; who has used up its seconds, or is far behind, sits out the rest.

    Methods of ours run once before, because what they compile late would count as their time; the peers did so when
    they were loaded.
    """
    for entry in entries:
        if entry.competitor.group == "ours":
            progress(f"{label}, before the first round, {entry.title}")
            entry.warm_up()
    fastest = float("inf")
    for number, entry in alternating(entries, rounds):
        if entry.failure or entry.is_out(fastest, seconds):
            continue
        progress(f"{label}, round {number + 1} of {rounds}, {entry.title}")
        entry.go()
        if entry.timings:
            fastest = min(fastest, best(entry.timings).seconds)
