"""The command line, a module for each command: ``impinge inside``, ``pairs``, ``touch``, ``new``, ``run``, …

Exit codes: 0 done, 2 bad input (one line on stderr says what), 1 an error nobody foresaw; of ``touch`` also: contact,
of ``doctor``: problems.
Heavy modules are imported by the commands that need them, so that ``impinge --help`` is quick.
"""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

import impinge
from impinge.cli import doctor, inside, new, pairs, picture, report, reproduce, run, touch, warmup
from impinge.cli.common import app, say

__all__ = [
    "app", "doctor", "inside", "main", "new", "pairs", "picture", "report", "reproduce", "run", "touch", "warmup",
]  # fmt: skip


def _show_version(asked: bool) -> None:
    if asked:
        print(f"impinge {impinge.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the command ``impinge``."""
    # End as after an error, so that no temporary file is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        sys.exit(app(standalone_mode=False))
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        say(error.format_message().replace("Value error, ", ""))  # wrong usage, in one line as well
        sys.exit(2)
