"""What the commands share: the application, errors in one line, progress."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import typer

from impinge.errors import ImpingeError, ImpingeWarning, file_of, install, printable

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["app", "compiling_told", "duration", "facts_table", "progress", "reported", "say", "stages"]

app = typer.Typer(
    help="Collision detection and treatment.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def one_line(text: object) -> str:
    return printable(" ".join(str(text).split("\n"))).strip()


def say(text: str) -> None:
    print(f"impinge: {one_line(text)}", file=sys.stderr)


@contextmanager
def reported() -> Iterator[list[str]]:
    """Errors and warnings a user can meet become one line on stderr each; gives the list of warnings."""
    told: list[str] = []

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, ImpingeWarning):
            told.append(one_line(message))
            say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ImpingeWarning)
            warnings.showwarning = show
            yield told
    except ImpingeError as error:
        say(str(error))
        raise typer.Exit(2) from None
    except ModuleNotFoundError as error:
        needed = _needed_extra(error)
        if needed is None:
            raise
        say(needed)
        raise typer.Exit(2) from None
    except OSError as error:
        say(f"{file_of(error)}: {error.strerror}" if error.filename else str(error))
        raise typer.Exit(2) from None
    except MemoryError:
        say("not enough memory")
        raise typer.Exit(2) from None


def _needed_extra(error: ModuleNotFoundError) -> str | None:
    """What to install for a module that an extra of ours brings; None for all others, which should be there."""
    from impinge.doctor.packages import packages

    module = (error.name or "").partition(".")[0]
    extras = [package.extra for package in packages() if package.name.replace("-", "_") == module]
    return f"needs {module}; {install(extras[0])}" if extras and all(extras) else None


@contextmanager
def compiling_told(quiet: bool = False) -> Iterator[list[str]]:
    """Say so on stderr, once, if anything has to be compiled inside the block; gives what was said, or would be."""
    from impinge.compiler import compiling

    told: list[str] = []

    def tell() -> None:
        if not told:
            told.append(
                "compiling, this once: it takes a while, later runs load it; `impinge warmup` compiles everything"
            )
            if not quiet:
                say(told[0])

    with compiling(tell):
        yield told


@contextmanager
def progress(after: float) -> Iterator[Progress]:
    """A progress bar on stderr, if that is a terminal and the block takes longer than `after` seconds."""
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    timer = Timer(after, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        timer.join()
        bar.live.stop()


def stages(bar: Progress, seconds: dict[str, float]) -> Callable[[str], AbstractContextManager[None]]:
    """Blocks with names, which the bar shows, and how long each took."""
    task = bar.add_task("Loading", total=None)

    @contextmanager
    def timed(name: str) -> Iterator[None]:
        bar.update(task, description=name.capitalize())
        clock = time.perf_counter()
        yield
        seconds[name] = round(time.perf_counter() - clock, 6)

    return timed


def duration(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def facts_table(rows: list[tuple[str, str]], width: int = 0) -> int:
    """Print a summary: names in bold, at least so wide, and what there is to say; returns how wide names are."""
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    width = max(width, *(len(name) for name, _ in rows))
    table.add_column(style="bold", min_width=width)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, text)
    Console(highlight=False, markup=False).print(table)
    return width
