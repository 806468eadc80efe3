"""How fast a run was, over time: timings.csv, apart from series.csv because it depends on the machine."""

from __future__ import annotations

import time
from pathlib import Path

from impinge.output import Series
from impinge.run.jobs import Job

__all__ = ["TIMINGS", "Timings"]

TIMINGS = "timings.csv"
_GAP, _SHARE = 0.2, 0.005  # s, and of the time so far: rows are at least so far apart, so long runs have few of them


class Timings:
    """Writes a row now and then: time, steps, real time and what the job counts, all since the run began.

    A run that goes on after a checkpoint goes on with these numbers too: what was written after that checkpoint is cut
    off, and there is a row for the checkpoint itself. Nothing is wrong with a folder that has no such file.

    Parameters
    ----------
    folder : Path
    job : Job
        It is asked for its steps and counts whenever a row is due.
    begins : bool
        Whether the run starts anew; otherwise it goes on at the steps where the job is.
    """

    def __init__(self, folder: Path, job: Job, begins: bool) -> None:
        self._job, path = job, folder / TIMINGS
        counts = job.counts()
        names = ["time [s]", "steps", "real time [s]", *counts]
        kept = [] if begins else _rows_until(path, names, job.world.steps)
        self._table = Series.resume(path, names, len(kept)) if kept else Series(path, names)
        _, self._steps, self.seconds, *before = kept[-1] if kept else [0.0, -1.0, 0.0, *(0.0 for _ in counts)]
        self._begun = time.perf_counter() - self.seconds
        self._offsets = [int(old) - new for old, new in zip(before, counts.values(), strict=True)]
        self.note()

    def look(self) -> None:
        """Write a row if the last one is some time ago."""
        now = time.perf_counter() - self._begun
        if now - self.seconds >= max(_GAP, _SHARE * now):
            self.note()

    def note(self) -> None:
        """Write a row, if there were steps since the last one."""
        world = self._job.world
        if world.steps != self._steps:
            self._steps, self.seconds = world.steps, round(time.perf_counter() - self._begun, 4)
            self._table.append([world.time, world.steps, self.seconds, *self.totals().values()])

    def totals(self) -> dict[str, int]:
        """What the job counts, since the run began."""
        counts = zip(self._job.counts().items(), self._offsets, strict=True)
        return {name: new + before for (name, new), before in counts}

    def close(self) -> None:
        """Close the file."""
        self._table.close()


def _rows_until(path: Path, names: list[str], steps: int) -> list[list[float]]:
    """Whole rows of no more than so many steps; none if the file is not there, or not as it was left."""
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if head != ",".join(names) + "\n":
            return []
        rows = [[float(cell) for cell in line.split(",")] for line in lines if line.endswith("\n")]
    except (OSError, ValueError):
        return []
    count = 0
    while count < len(rows) and len(rows[count]) == len(names) and rows[count][1] <= steps:
        count += 1
    return rows[:count]
