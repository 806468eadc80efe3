"""``impinge reproduce``: the experiments of the papers."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from impinge.cli.common import app, compiling_told, progress, reported


class Paper(StrEnum):
    """Papers whose experiments can be run again."""

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
            "solved together."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the report and the pictures.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a first look.")] = False,
) -> None:
    """Run the experiments of a PAPER again: pictures, and a report with its statements beside the measurements."""
    with reported(), compiling_told(), progress(after=0.0) as bar:
        task = bar.add_task("Loading", total=None)

        run = import_module(f"impinge.reproduce.{paper.name}").reproduce
        written = run(out, quick, lambda text: bar.update(task, description=text))
    print(f"written to {written}")
