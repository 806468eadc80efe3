"""Runs of scenes: scene → world → time loop with outputs; stopped at any moment, they go on with the same bits.

Everything that is written depends on the state of the world alone. A checkpoint holds that state, and how much had been
written; a run that goes on cuts files back to it. So the files at the end are the same, byte for byte, wherever and
however often a run was stopped or killed. What depends on the machine is apart: timings.csv, and part of summary.json.
"""

from __future__ import annotations

import importlib.util
import math
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impinge.errors import InputError, RunError, file_of, install
from impinge.facts import html_table
from impinge.output import Series
from impinge.run import jobs
from impinge.run.folder import Folder
from impinge.run.restoring import reading
from impinge.run.scene import Scene
from impinge.run.scene.plausible import check_step
from impinge.run.schedule import Schedule, reached
from impinge.run.timings import Timings
from impinge.run.versions import versions

__all__ = ["Outcome", "run_scene"]

_SECONDS = 0.2  # of steps between two looks at signals and the progress bar
_MOST_STEPS = 2.0**53  # of a run: times of more are not told apart
_CHECKPOINTS = 10  # in a run, unless the scene says otherwise


@dataclass
class Outcome:
    """What a run has come to."""

    folder: Path
    time: float  # s, simulated
    steps: int  # in all
    finished: bool
    stopped_by: int = 0  # number of the signal
    steps_now: int = 0  # since it began or went on
    body_steps: int = 0  # times spheres or nodes
    seconds: float = 0.0  # of real time, likewise

    def _repr_html_(self) -> str:
        facts = [("folder", str(self.folder)), ("time [s]", self.time), ("steps", self.steps),
                 ("finished", self.finished), ("took [s]", self.seconds)]  # fmt: skip
        return html_table("Outcome", facts)


def run_scene(
    scene: Scene,
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    tell: Callable[[Any], Any] = lambda world: None,
) -> Outcome:
    """Run a scene to its end, or until SIGINT (Ctrl-C) or SIGTERM comes, which leave a checkpoint.

    Parameters
    ----------
    scene : Scene
    out : path
        Folder to write into; an error if it is not empty.
    threads : int, optional
        Instead of what the scene says; results do not depend on it.
    resume : bool
        Go on with the run in the folder; begin it if it has not come to a checkpoint.
    overwrite : bool
        Start anew in a folder that is not empty.
    tell : function of the world
        Called at the start, and several times per second.
    """
    if scene.model.output.picture and importlib.util.find_spec("matplotlib") is None:
        raise scene.document.error(("output", "picture"), f"needs matplotlib; {install('report')}")
    count = scene.threads(threads)  # errors are told now, before anything is made
    with Folder(Path(out), scene) as folder:
        saved = folder.open(resume, overwrite)
        if saved is None:
            nothing = {"frames": 0, "frame_files": 0, "series": 0, "rows": 0}
            run = _Run(scene, folder, jobs.begin(scene, count), nothing, begins=True)
        else:
            with reading(folder.path / "checkpoint.h5"):
                job = jobs.go_on(scene, saved, count)
            run = _Run(scene, folder, job, saved, begins=False)
        return run.go(tell)


class _Run:
    """A world, and what is written about it."""

    def __init__(self, scene: Scene, folder: Folder, job: jobs.Job, saved: dict[str, Any], begins: bool) -> None:
        self.scene, self.folder, self.job, self.begins = scene.model, folder, job, begins
        self.world = world = job.world
        self.saved = saved
        self.series: Series | None = None
        self.timings: Timings | None = None
        self.until = self.scene.run.until
        self.saved_time = math.nan  # of the last checkpoint
        if not begins:
            self.saved_time = world.time
            if not reached(self.until, world.time - world.dt):
                raise scene.document.error(
                    ("run", "until"), f"found {self.until:g}, expected at least {world.time:g}, where the run is"
                )
        check_step(scene.document, scene.model, world.dt, job.why_dt)
        steps = (self.until - world.time) / world.dt
        if steps > _MOST_STEPS:
            found = f"found {self.until:g}, {steps:.3g} steps of {world.dt:.3g} s"
            raise scene.document.error(("run", "until"), f"{found}, expected at most {_MOST_STEPS:.2g} steps")

    def go(self, tell: Callable[[Any], Any]) -> Outcome:
        """The time loop."""
        world, outcome = self.world, Outcome(self.folder.path, 0.0, 0, False)
        start, first = time.perf_counter(), world.steps
        if not self.begins and reached(world.time, self.until):
            return Outcome(self.folder.path, world.time, world.steps, True)
        tell(world)
        try:
            self.timings = self._open_outputs()
            with _Signals() as signals:
                while True:
                    self._write_due()
                    if reached(world.time, self.until) or signals.came:
                        break
                    outcome.body_steps += self._advance()
                    self.timings.look()
                    tell(world)
                self.timings.note()
                outcome.time, outcome.steps, outcome.steps_now = world.time, world.steps, world.steps - first
                outcome.finished, outcome.stopped_by = reached(world.time, self.until), signals.came
                outcome.seconds = time.perf_counter() - start
                self._close(outcome)
        except OSError as error:
            raise RunError(f"{file_of(error) or self.folder.path}: {error.strerror}; {self._way_back()}") from None
        except RunError as error:
            error.args = (f"{error}; {self._way_back()}",)
            raise
        finally:
            for table in (self.series, self.timings):
                if table is not None:
                    table.close()
        return outcome

    def _open_outputs(self) -> Timings:
        saved, folder, output = self.saved, self.folder.path, self.scene.output
        self.frame_times = Schedule(output.frames, saved["frames"])
        self.row_times = Schedule(output.series, saved["series"])
        self.save_times = Schedule(output.checkpoint or self.until / _CHECKPOINTS)
        names, path = self.job.column_names(), folder / "series.csv"
        if self.begins:
            self.folder.begin()
        else:
            self._check_outputs()
            self.save_times.tick(self.world.time)
            self.folder.go_on()
        self.frames = self.job.open_frames(folder, saved["frame_files"], self.world.time)
        if output.series is not None:
            self.series = Series(path, names) if self.begins else Series.resume(path, names, saved["rows"])
        return Timings(folder, self.job, self.begins)

    def _check_outputs(self) -> None:
        """Whether there is what was written so far, and is to be added to."""
        expected = ["series.csv"] if self.scene.output.series is not None else []
        if self.saved["frame_files"]:
            expected += ["frames", *self.job.lists()]
        for path in (self.folder.path / name for name in expected):
            if not path.exists():
                back = "put it back to go on, or start anew with --overwrite"
                raise InputError(f"{path}: is missing, expected what was written so far; {back}")

    def _write_due(self) -> None:
        """Frames and rows that are due; then, so that it knows of them, the checkpoint."""
        now = self.world.time
        if self.frame_times.is_due(now):
            self.frames.write(self.world)
            self.frame_times.tick(now)
        if self.series is not None and self.row_times.is_due(now):
            self.series.append(self.job.row())
            self.row_times.tick(now)
        if self.save_times.is_due(now) and not reached(now, self.until):  # the last one comes after all else
            self._save()
            self.save_times.tick(now)

    def _advance(self) -> int:
        """Some steps, towards whatever is due next and not beyond; returns how many times how many bodies."""
        world = self.world
        when = min(self.frame_times.next, self.row_times.next, self.save_times.next, self.until)
        # One step less than division says, as that rounds; the last ones are made one by one.
        count = max(min(int((when - world.time) / world.dt) - 1, self._pace()), 1)
        start = time.perf_counter()
        world.step(count)
        self._per_step = (time.perf_counter() - start) / count
        return count * self.job.size

    _per_step = math.inf  # s, real time

    def _pace(self) -> int:
        return max(int(_SECONDS / self._per_step), 1)

    def _save(self) -> None:
        assert self.timings is not None
        self.timings.note()
        self.folder.save({
            "frames": self.frame_times.passed,
            "frame_files": self.frames.written,
            "series": self.row_times.passed,
            "rows": self.series.rows if self.series else 0,
            **self.job.content(),
        })  # fmt: skip
        self.saved_time = self.world.time

    def _close(self, outcome: Outcome) -> None:
        """What comes at the end; the checkpoint last, so that a run that has it has all."""
        if outcome.finished:
            self.frames.finish()
            if self.scene.output.picture:
                self.job.draw(self.folder.path / "picture.png")
        self._summarise(outcome)
        self._save()

    def _way_back(self) -> str:
        if math.isnan(self.saved_time):
            return "there is no checkpoint yet"
        return f"the checkpoint of t = {self.saved_time:g} s in {self.folder.path} is whole, --resume goes on from it"

    def _summarise(self, outcome: Outcome) -> None:
        assert self.timings is not None
        facts, totals = self.job.facts(), self.timings.totals()
        facts |= {name: count for name, count in totals.items() if name in facts}  # of the whole run, as steps are
        self.folder.write_summary({
            "finished": outcome.finished,
            "time": outcome.time,
            "steps": outcome.steps,
            **facts,
            "seconds": self.timings.seconds,
            "last part": {"steps": outcome.steps_now, "seconds": round(outcome.seconds, 3)},
            "versions": versions(),
        })  # fmt: skip


class _Signals:
    """Notes SIGINT and SIGTERM instead of ending the program."""

    def __init__(self) -> None:
        self.came = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():  # others may not ask for signals
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: Any) -> None:
        self.came = number

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
