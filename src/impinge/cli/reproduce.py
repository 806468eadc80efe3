"""``impinge reproduce``: the experiments of the papers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from impinge.cli.common import app, compiling_told, progress, reported, say

if TYPE_CHECKING:
    from impinge.reproduce.statements import Kind


class Paper(StrEnum):
    """Papers whose experiments can be run again."""

    everything = "all"
    particles = "particles"
    polyhedra = "polyhedra"
    qp_collide = "qp-collide"


@app.command()
def reproduce(
    paper: Annotated[
        Paper,
        typer.Argument(
            help="particles: the searches for near particles of different sizes; polyhedra: points in bodies by ray "
            "crossing and by the fast multipole method; qp-collide: stiff cables, their motion and contacts "
            "solved together; all: these three, on one page."
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for the page, and for the reports and pictures it is made of.")
    ] = Path("reproduced"),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a first look.")] = False,
) -> None:
    """Run the experiments of a PAPER, or of all, again: pictures, and its statements beside the measurements."""
    from impinge.reproduce.experiments import PAPERS
    from impinge.reproduce.experiments import reproduce as run

    names = list(PAPERS) if paper is Paper.everything else [paper.value]
    with reported(), compiling_told(), progress(after=0.0) as bar:
        task = bar.add_task("Loading", total=len(names) if len(names) > 1 else None)
        path, parts = run(
            names, out, quick, lambda text: bar.update(task, description=text), lambda: bar.advance(task)
        )  # fmt: skip
    kinds: dict[Kind, str] = {"reproduced": "reproduced", "differs": "differ", "open": "without verdict"}
    counts = ", ".join(f"{sum(part.count(kind) for part in parts)} {name}" for kind, name in kinds.items())
    print(f"written to {path}: {counts}")
    for part in parts:
        if part.report is None:
            say(f"{part.name} failed; {path} says why")
    if any(part.report is None for part in parts):
        raise typer.Exit(1)
