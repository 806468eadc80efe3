"""``impinge reproduce``: the experiments of the papers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from impinge.cli.common import app, progress, reported


class Paper(StrEnum):
    """Papers whose experiments can be run again."""

    particles = "particles"


@app.command()
def reproduce(
    paper: Annotated[Paper, typer.Argument(help="particles: the searches for near particles of different sizes.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the report and the pictures.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a first look.")] = False,
) -> None:
    """Run the experiments of a PAPER again: pictures, and a report with its statements beside the measurements."""
    with reported(), progress(after=0.0) as bar:
        task = bar.add_task("Loading", total=None)

        from impinge.reproduce import particles

        written = particles.reproduce(out, quick, lambda text: bar.update(task, description=text))
    print(f"written to {written}")
