"""``impinge report``: a run as one web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from impinge.cli.common import app, progress, reported
from impinge.errors import InputError


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder that `impinge run` has written.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Page to write. Default: report.html in RUN_DIR.")
    ] = None,
    most_mb: Annotated[
        float, typer.Option("--most-mb", help="Size of the page, MB: of longer runs it shows fewer frames or spheres.")
    ] = 40.0,
) -> None:
    """Make a web page of a run in RUN_DIR: the scene in motion, charts, the scene file. It needs no network."""
    with reported():
        if out is not None and out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{out}: ending {out.suffix!r}, expected .html")
    print(f"written to {make(folder, out, most_mb)}")


def make(folder: Path, out: Path | None = None, most_mb: float | None = None) -> Path:
    """Write the page of a run, with a progress bar."""
    with reported(), progress(after=1.0) as bar:
        from impinge.show.report import MOST_MB
        from impinge.show.report import report as write_report

        task = bar.add_task("", total=None)
        return write_report(
            folder, out, most_mb=MOST_MB if most_mb is None else most_mb,
            tell=lambda text: bar.update(task, description=f"Report: {text}"),
        )  # fmt: skip
