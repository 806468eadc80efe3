"""``impinge new``: a scene to start from."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from impinge.cli.common import app, reported


class Template(StrEnum):
    """Scenes to start from."""

    hopper = "hopper"
    drum = "drum"
    column = "column"
    box2d = "box2d"
    rocks = "rocks"
    cable = "cable"
    cloth = "cloth"


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Writes NAME.toml.")],
    template: Annotated[
        Template,
        typer.Option(
            help="hopper: flow through a funnel; drum: two sizes mix; column: collapse; box2d: load on discs; "
            "rocks: bodies of any shape; cable: a rope in coils; cloth: folds of a tablecloth."
        ),
    ] = Template.hopper,
) -> None:
    """Write a commented scene to start from; it runs as it is, in a few seconds."""
    with reported():
        from impinge.errors import InputError
        from impinge.run.templates import template_text

        path = Path(name if name.endswith(".toml") else f"{name}.toml")
        if not path.name.removesuffix(".toml").strip("."):
            raise InputError(f"NAME: found {name!r}, expected a name for a file")
        if path.exists():
            raise InputError(f"{path}: exists already, expected another name")
        with path.open("x", encoding="utf-8") as file:
            file.write(template_text(template.value))
    print(f"written {path}; try: {shlex.join(['impinge', 'run', str(path)])}")
