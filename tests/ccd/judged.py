"""Times of contact next to the exact judge's, counted."""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import dataclass

import numpy as np

from impinge import ccd
from impinge.ccd.judge import first_time

from . import families

NEAR = 2.0**-42  # of the largest difference of coordinates: nearer bodies count as touching
EARLY = 1e-6  # of the step: well-conditioned queries are not reported earlier


@dataclass
class Tally:
    """How many queries, contacts in truth, contacts missed, reported late, reported too early; and false alarms.

    needless : those of the false alarms that are not within NEAR of a contact; told, but no failures.
    """

    cases: int = 0
    contacts: int = 0
    missed: int = 0
    late: int = 0
    early: int = 0
    alarms: int = 0
    needless: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    @property
    def failures(self) -> int:
        return self.missed + self.late + self.early


def judge(name: str, kind: str, gap: float, count: int, seed: int = 0) -> Tally:
    """Compare the times of some queries of a family."""
    x0, x1 = families.make(name, kind, count, seed)
    times = getattr(ccd, kind)(x0, x1, gap=gap, threads=1)
    tally = Tally(count)
    for time, start, end in zip(times, x0, x1, strict=True):
        truth = first_time(kind, start, end, gap)
        if truth is None:
            if np.isfinite(time):
                tally.alarms += 1
                size = max(np.ptp(start, axis=0).max(), np.ptp(end, axis=0).max())
                is_far = first_time(kind, start, end, gap + NEAR * size) is None
                tally.needless += int(is_far and name not in families.UNEVEN)
            continue
        tally.contacts += 1
        tally.missed += int(not np.isfinite(time))
        tally.late += int(np.isfinite(time) and time > truth[1])
        tally.early += int(name in families.WELL_CONDITIONED and truth[0] - EARLY > time)
    return tally


def _part(task: tuple[str, str, float, int, int]) -> Tally:
    return judge(*task)


def judge_all(count: int, seed: int) -> dict[str, Tally]:
    """Compare so many queries, all families, kinds and gaps, by processes of their own; by kind."""
    groups = [(name, kind, gap) for name in families.FAMILIES for kind in families.POINTS for gap in (0.0, 0.01)]
    pieces = 4  # per group
    each = -(-count // (pieces * len(groups)))
    tasks = [(*group, each, seed + piece) for group in groups for piece in range(pieces)]
    tallies = {kind: Tally() for kind in families.POINTS}
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for task, tally in zip(tasks, pool.imap(_part, tasks), strict=True):
            tallies[task[1]] += tally
    return tallies
