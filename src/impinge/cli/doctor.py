"""``impinge doctor``: what is installed, whether it works, how fast it is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import impinge
from impinge.cli.common import app, reported

_SICK = 1  # exit code


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the text.")] = False,
) -> None:
    """Examine this installation: versions, processor, memory, cache, a self-test of some seconds, and speed.

    What it prints belongs into bug reports; it has no names of users or folders at home.
    Exit codes: 0 healthy, 1 something is wrong, which is listed with what to do about it.
    """
    with reported():
        from impinge.doctor import examine

        report = examine(impinge.__version__)
        if as_json:
            print(json.dumps({**report.facts, "hints": report.hints, "problems": report.problems}, allow_nan=False))
        else:
            print(report.text())
    if report.problems:
        raise typer.Exit(_SICK)
