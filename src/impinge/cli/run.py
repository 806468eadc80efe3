"""``impinge run``: from a scene file to files for ParaView, OVITO and tables."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from impinge.cli.common import app, compiling_told, duration, facts_table, reported, say
from impinge.cli.report import make as make_report
from impinge.facts import counted

if TYPE_CHECKING:
    from impinge.run.loop import Outcome
    from impinge.run.scene import Scene
    from impinge.run.soft import SoftWorld
    from impinge.run.world import World

_WIDE = 110  # columns of a terminal that has room for all there is to say and the time left
_SURVEY = 2.0  # s between two looks at contacts and energy


@app.command()
def run(
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="Scene file (.toml); `impinge new` writes one.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write into. Default: <SCENE>-out.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: as in SCENE, or all cores.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start anew in a folder that is not empty.")] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="SCENE may name files that are not in its folder.")
    ] = False,
    report: Annotated[bool, typer.Option("--report", help="At the end, write report.html into the folder.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but warnings and errors.")] = False,
) -> None:
    """Run a SCENE of spheres, or of cables and cloth: frames, tables over time, checkpoints.

    Ctrl-C and SIGTERM leave a checkpoint, from which --resume goes on as if nothing had happened.
    """
    with reported():
        from impinge.errors import InputError
        from impinge.run.loop import run_scene
        from impinge.run.scene import read_scene

        if resume and overwrite:
            raise InputError("--resume, --overwrite: found both, expected one of them or none")
        checked = read_scene(scene, allow_outside=allow_outside)
        if report:
            from impinge.show.report import check_scene

            check_scene(checked)
        folder = Path(f"{scene.stem}-out") if out is None else out
        with compiling_told(quiet) as compiled, _progress(checked.model.run.until, quiet) as tell:
            outcome = run_scene(checked, folder, threads=threads, resume=resume, overwrite=overwrite, tell=tell)
    if outcome.stopped_by:
        again = shlex.join(["impinge", "run", str(scene), "--out", str(folder), "--resume"])
        say(f"stopped at t = {outcome.time:.6g} s; go on with: {again}")
        raise typer.Exit(128 + outcome.stopped_by)
    width = 0
    if not quiet:
        width = _print_outcome(outcome, tell.world, checked, bool(compiled))
    if report:
        path = make_report(folder)
        if not quiet:
            facts_table([("report", str(path))], width)


class _Teller:
    """Says at the start what the time step is, and shows on a terminal how far the run is."""

    def __init__(self, until: float, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self.until, self.quiet = until, quiet
        self.world: World | SoftWorld | None = None
        self.bar = Progress(
            TextColumn("{task.fields[state]}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self.task = self.bar.add_task("", total=until, state="")
        self.surveyed, self.survey = 0.0, ""
        self.clock, self.steps, self.rate = time.perf_counter(), 0, 0.0

    def __call__(self, world: World | SoftWorld) -> None:
        if self.world is None:
            self.world, self.steps = world, world.steps
            if not self.quiet:
                what, dt = _describe(world)
                steps = math.ceil((self.until - world.time) / world.dt - 1e-9)
                print(f"{what} until {self.until:g} s, {counted(max(steps, 0), 'step')}; dt = {dt}", flush=True)
            self.bar.start()
        if self.bar.disable:
            return
        now = time.perf_counter()
        if now - self.surveyed > _SURVEY:
            self.survey = _survey(world)
            if self.surveyed:
                self.rate = (world.steps - self.steps) / (now - self.clock)
            self.surveyed, self.clock, self.steps = now, now, world.steps
        shown = f"t = {world.time:.4g} s, {self.rate:,.0f} steps/s"
        if self.bar.console.width >= _WIDE:
            shown += f", {self.survey}"
        self.bar.update(self.task, completed=world.time, state=shown)


@contextmanager
def _progress(until: float, quiet: bool) -> Iterator[Any]:
    teller = _Teller(until, quiet)
    try:
        yield teller
    finally:
        teller.bar.stop()


def _describe(world: World | SoftWorld) -> tuple[str, str]:
    """What there is, and the time step."""
    from impinge.run.world import World

    if isinstance(world, World):
        world.dt  # noqa: B018, chosen at the first look
        spheres, polyhedra = len(world.spheres), len(world.polyhedra)
        sources, is_empty = len(world.sources), not (polyhedra or world.sources)
        parts = [counted(spheres, _round_one(world))] if spheres or is_empty else []
        parts += [counted(polyhedra, "polyhedron", "polyhedra")] if polyhedra else []
        parts += [counted(sources, "source")] if sources else []
        return ", ".join(parts), world.why_dt
    bodies = counted(len(world.bodies), "body", "bodies")
    return f"{bodies} of {len(world.positions):,} nodes", f"{world.dt:g} s, {world.integrator}"


def _round_one(world: World) -> str:
    """What a sphere is called."""
    return "sphere" if world.dim == 3 else "disc"


def _survey(world: World | SoftWorld) -> str:
    """Numbers that are worth a look while it runs."""
    from impinge.run.world import World

    if isinstance(world, World):
        contacts, energy = len(world.contacts().depths) + len(world.body_contacts().depths), world.energy()
        return f"{contacts:,} contacts, {energy.kinetic + energy.rotational:.3g} J in motion"
    return f"{len(world._touch.forces):,} contacts, {world.energy()['kinetic']:.3g} J in motion"


def _print_outcome(outcome: Outcome, world: Any, scene: Scene, compiled: bool) -> int:
    """Print what a run has come to; returns how wide the names are."""
    from impinge.run.world import World

    if outcome.steps_now == 0:
        print(f"finished already, at t = {outcome.time:.6g} s; nothing to do")
        return 0
    first = ", with compiling, this once" if compiled else ""
    rows = [("time", f"{outcome.time:.6g} s simulated in {duration(outcome.seconds)}{first}")]
    rate = outcome.body_steps / outcome.seconds
    if isinstance(world, World):
        what = "body-steps" if world._dynamics.rigid.next_id else "sphere-steps"
        rows.append(("steps", f"{outcome.steps_now:,}, {rate:,.0f} {what} per second"))
        rows.append(("search", f"{counted(world.rebuilds, 'rebuild')} of the neighbour lists"))
    else:
        rows.append(("steps", f"{outcome.steps_now:,}, {rate:,.0f} node-steps per second"))
        rows.append(("scaled", f"{world.scaled_steps:,} of {world.steps:,} steps, cut short before a contact"))
        if world.unsettled_steps:
            some = f"{world.unsettled_steps:,} of {world.steps:,} steps"
            rows.append(("unsettled", f"{some}, in which friction is off by more than 5 %"))
    if isinstance(world, World):
        rows += _flows(world, scene)
    rows.append(("written", str(outcome.folder)))
    return facts_table(rows)


def _flows(world: World, scene: Scene) -> list[tuple[str, str]]:
    """What sources gave, and whether they could; what sinks took."""
    from impinge.bodies.rain import Rain
    from impinge.run.flow import EVERY
    from impinge.run.scene.models import Particles

    assert isinstance(scene.model, Particles)
    rows = []
    for number, rain in enumerate(world.sources, 1):
        came = counted(rain.inserted, *([_round_one(world)] if isinstance(rain, Rain) else ["polyhedron", "polyhedra"]))
        late = rain.waiting(world.time - EVERY * world.dt)
        why = f"; {late:,} more are due at its rate, {rain.rate:g} per second, and found no room" if late else ""
        rows.append((f"source {number}", f"{came} came{why}"))
    for number, (sink, said) in enumerate(zip(world.sinks, scene.model.sinks, strict=True), 1):
        taken = [counted(sink.spheres, _round_one(world))] if sink.spheres or not sink.polyhedra else []
        taken += [counted(sink.polyhedra, "polyhedron", "polyhedra")] if sink.polyhedra else []
        rows.append((said.name or f"sink {number}", f"took {' and '.join(taken)}, {sink.mass:.4g} kg"))
    return rows
