"""The command line: ``impinge inside``, ``impinge pairs``, ``impinge reproduce`` and ``impinge warmup``.

Exit codes: 0 done, 2 bad input (one line on stderr says what), 1 an error nobody foresaw.
Heavy modules are imported by the commands that need them, so that ``impinge --help`` is quick.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import impinge
from impinge.errors import ImpingeError, ImpingeWarning, InputError

if TYPE_CHECKING:
    from rich.progress import Progress

    from impinge.inside.pointfiles import PointSource
    from impinge.inside.solid import Solid

app = typer.Typer(
    help="Collision detection and treatment.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Method(StrEnum):
    """Ways to find out whether a point is inside."""

    auto = "auto"
    octree = "octree"
    ray = "ray"
    ray_exact = "ray-exact"
    direct = "direct"


class PairMethod(StrEnum):
    """Ways to find near spheres."""

    auto = "auto"
    brute = "brute"
    verlet = "verlet"
    cells = "cells"
    sweep = "sweep"
    levels = "levels"


def _one_line(text: object) -> str:
    return " ".join(str(text).split("\n")).strip()


def _say(text: str) -> None:
    print(f"impinge: {_one_line(text)}", file=sys.stderr)


@contextmanager
def _reported() -> Iterator[list[str]]:
    """Errors and warnings a user can meet become one line on stderr each; gives the list of warnings."""
    told: list[str] = []

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, ImpingeWarning):
            told.append(_one_line(message))
            _say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ImpingeWarning)
            warnings.showwarning = show
            yield told
    except ImpingeError as error:
        _say(str(error))
        raise typer.Exit(2) from None
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        raise typer.Exit(2) from None
    except MemoryError:
        _say("not enough memory")
        raise typer.Exit(2) from None


@contextmanager
def _progress(after: float) -> Iterator[Progress]:
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


@app.command()
def inside(
    mesh: Annotated[
        Path,
        typer.Argument(metavar="MESH", help="Mesh: .ply, .obj, .stl, .off, .glb, … (what trimesh reads)."),
    ],
    points: Annotated[Path, typer.Argument(metavar="POINTS", help="Points: .npy, .npz, .csv, .xyz or .ply.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Output, same endings as POINTS. Default: <POINTS>-inside.<ending>, here."),
    ] = None,
    method: Annotated[Method, typer.Option(help="How to find out; auto takes octree if it can.")] = Method.auto,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: all cores.")] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Points held in memory at a time.")] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the summary.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no summary.")] = False,
) -> None:
    """Tell for each of the POINTS whether it is inside the MESH.

    Writes −1 (outside), 0 (exactly on the surface) or +1 (inside) for each point. Files may be of any size.
    """
    with _reported() as told:
        facts = _classify_file(mesh, points, out, method.value, threads, chunk)
        facts["warnings"] = told
        if as_json:
            print(json.dumps(facts, allow_nan=False))
        elif not quiet:
            _print_summary(facts)


def _classify_file(
    mesh_path: Path, points_path: Path, out: Path | None, method: str, threads: int | None, chunk: int
) -> dict[str, Any]:
    """Read, prepare, classify, write; returns what `--json` prints."""
    started = time.perf_counter()
    with _progress(after=1.0) as bar:
        task = bar.add_task("Reading", total=None)

        from impinge import _warmup
        from impinge._jit import cache_folder
        from impinge._jit import threads as thread_scope
        from impinge.inside.pointfiles import open_points
        from impinge.inside.solid import Solid
        from impinge.shapes.files import read_mesh

        source = open_points(points_path)
        out = Path(f"{points_path.stem}-inside{points_path.suffix}") if out is None else out
        if out.exists() and mesh_path.exists() and out.samefile(mesh_path):
            raise InputError(f"{out}: is the file of the mesh, expected another for the output")
        with thread_scope(threads) as used_threads:
            pass
        clock = time.perf_counter()
        mesh = read_mesh(mesh_path)
        seconds = {"read_mesh": time.perf_counter() - clock}

        # On a small mesh first, so that the times below are those of the work and not of the compiler.
        bar.update(task, description="Loading" if cache_folder().exists() else "Compiling (once)")
        clock = time.perf_counter()
        _warmup.load_checks()
        seconds["load_code"] = time.perf_counter() - clock
        clock = time.perf_counter()
        closed = mesh.is_closed
        seconds["check_mesh"] = time.perf_counter() - clock
        clock = time.perf_counter()
        if closed or method in ("auto", "direct"):  # otherwise Solid will refuse it
            _warmup.load_method(method if closed else "direct")
        seconds["load_code"] += time.perf_counter() - clock

        bar.update(task, description="Preparing")
        solid = Solid(mesh, method, threads)
        seconds["build"] = solid.build_seconds
        bar.update(task, description="Classifying", total=1.0)
        counts, seconds["query"] = _run_chunks(solid, source, out, chunk, lambda: _advance(bar, task, source))
    total = sum(counts.values())
    query = seconds["query"]
    seconds["total"] = time.perf_counter() - started
    return {
        "version": impinge.__version__,
        "mesh": {
            "path": str(mesh_path),
            "vertices": len(mesh.vertices),
            "triangles": len(mesh.faces),
            "closed": closed,
            "volume": _number(mesh.volume),
            "area": _number(mesh.area),
            "bounds": mesh.bounds.tolist(),
        },
        "points": {"path": str(points_path), "count": total},
        "output": str(out),
        "method": solid.method,
        "threads": used_threads,
        "solid_bytes": solid.nbytes,
        "counts": counts,
        "seconds": {name: round(value, 6) for name, value in seconds.items()},
        "points_per_second": round(total / query) if total and query > 0 else None,
    }


def _number(value: float) -> float | None:
    """JSON knows no infinite numbers, which measures of a huge mesh may be."""
    return value if math.isfinite(value) else None


def _advance(bar: Progress, task: Any, source: PointSource) -> None:
    bar.update(task, completed=source.fraction)


def _run_chunks(
    solid: Solid, source: PointSource, out: Path, chunk: int, after_chunk: Any
) -> tuple[dict[str, int], float]:
    """Counts per class, and the seconds spent in the queries alone."""
    import numpy as np

    from impinge.inside.pointfiles import open_sink

    counts = np.zeros(3, np.int64)
    seconds = 0.0
    with open_sink(out, source) as sink:
        for points in source.chunks(chunk):
            clock = time.perf_counter()
            classes = solid.classify(points)
            seconds += time.perf_counter() - clock
            sink.write(points, classes)
            counts += np.bincount(classes + 1, minlength=3)
            after_chunk()
    outside, on, within = counts.tolist()
    return {"inside": within, "on": on, "outside": outside}, seconds


def _duration(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _print_summary(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    mesh, seconds, total = facts["mesh"], facts["seconds"], facts["points"]["count"]
    closed = "closed" if mesh["closed"] else "not closed"
    volume = "volume beyond doubles" if mesh["volume"] is None else f"volume {mesh['volume']:.6g}"
    build = seconds["check_mesh"] + seconds["build"]
    rate = facts["points_per_second"]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("mesh", f"{mesh['path']}: {mesh['triangles']:,} triangles, {closed}, {volume}")
    table.add_row("method", f"{facts['method']}, {facts['threads']} threads, {facts['solid_bytes'] / 1e6:.3g} MB")
    for name in ("inside", "on", "outside"):
        count = facts["counts"][name]
        share = f" ({100 * count / total:.4g} %)" if total else ""
        table.add_row(name, f"{count:,}{share}")
    speed = f", {rate:,} points per second" if rate else ""
    table.add_row("time", f"check and build {_duration(build)}, query {_duration(seconds['query'])}{speed}")
    table.add_row("written", f"{facts['output']} ({total:,} points)")
    Console(highlight=False, markup=False).print(table)


@app.command()
def pairs(
    spheres: Annotated[
        Path, typer.Argument(metavar="FILE", help="Spheres: .npy, .npz, .csv or .xyz with x, y, (z) and radius.")
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Pairs: .npy or .csv. Default: <FILE>-pairs.npy, here.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Radius of all spheres, if the file has none.")] = None,
    gap: Annotated[float, typer.Option(help="Spheres up to this far apart count as near.")] = 0.0,
    box: Annotated[
        str | None, typer.Option(help="Lengths of the box from 0, as 1,1,2; or lower and upper corner, as 0,0,0,1,1,2.")
    ] = None,
    periodic: Annotated[str, typer.Option(help="Periodic axes, as xy or xyz.")] = "",
    method: Annotated[PairMethod, typer.Option(help="All find the same pairs.")] = PairMethod.auto,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the summary.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no summary.")] = False,
) -> None:
    """Find all pairs of spheres in FILE that touch, or are at most --gap apart.

    Writes rows i, j (numbers of the spheres from 0, i < j) in ascending order.
    """
    with _reported() as told:
        facts = _find_pairs(spheres, out, radius, gap, box, periodic, method.value, threads)
        facts["warnings"] = told
        if as_json:
            print(json.dumps(facts, allow_nan=False))
        elif not quiet:
            _print_pairs(facts)


def _find_pairs(
    path: Path,
    out: Path | None,
    radius: float | None,
    gap: float,
    box: str | None,
    periodic: str,
    method: str,
    threads: int | None,
) -> dict[str, Any]:
    """Read, find, write; returns what `--json` prints."""
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(name: str) -> Iterator[None]:
        bar.update(task, description=name.capitalize())
        clock = time.perf_counter()
        yield
        seconds[name] = round(time.perf_counter() - clock, 6)

    out = Path(f"{path.stem}-pairs.npy") if out is None else out
    if out.suffix.lower() not in (".npy", ".csv"):
        raise InputError(f"{out}: ending {out.suffix!r}, expected .npy or .csv")
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError(f"{out}: is the file of the spheres, expected another for the output")
    with _progress(after=1.0) as bar:
        task = bar.add_task("Loading", total=None)
        with timed("loading"):
            from impinge.broad.files import read_spheres, write_pairs

            impinge.pairs([[0.0, 0.0]] * 100, 1.0, method=method)  # so that no time below is the compiler's
        with timed("reading"):
            centres, radii = read_spheres(path, radius)
        with timed("searching"):
            found = impinge.pairs(
                centres, radii, method=method, gap=gap, threads=threads,
                box=_read_box(box, centres.shape[-1]), periodic=_read_axes(periodic, centres.shape[-1]),
            )  # fmt: skip
        with timed("writing"):
            write_pairs(out, found)
    count = len(radii)
    return {
        "version": impinge.__version__,
        "spheres": {
            "path": str(path),
            "count": count,
            "dimension": int(centres.shape[-1]),
            "smallest_radius": float(radii.min()) if count else None,
            "largest_radius": float(radii.max()) if count else None,
        },
        "pairs": len(found),
        "output": str(out),
        "method": method,
        "seconds": seconds,
        "spheres_per_second": round(count / seconds["searching"]) if count else None,
    }


def _read_box(text: str | None, dimension: int) -> list[Any] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--box: found {text!r}, expected numbers with commas between them") from None
    return [numbers[:dimension], numbers[dimension:]] if len(numbers) == 2 * dimension else numbers


def _read_axes(text: str, dimension: int) -> list[bool]:
    axes = "xyz"[:dimension]
    if set(text) - set(axes):
        raise InputError(f"--periodic: found {text!r}, expected letters of {axes}")
    return [axis in text for axis in axes]


def _print_pairs(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    spheres, seconds, count = facts["spheres"], facts["seconds"], facts["spheres"]["count"]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    sizes = f", radii {spheres['smallest_radius']:.4g} to {spheres['largest_radius']:.4g}" if count else ""
    table.add_row("spheres", f"{spheres['path']}: {count:,} in {spheres['dimension']} dimensions{sizes}")
    table.add_row("pairs", f"{facts['pairs']:,}" + (f", {2 * facts['pairs'] / count:.3g} per sphere" if count else ""))
    rate = f", {facts['spheres_per_second']:,} spheres per second" if count else ""
    table.add_row("time", f"read {_duration(seconds['reading'])}, search {_duration(seconds['searching'])}{rate}")
    table.add_row("written", facts["output"])
    Console(highlight=False, markup=False).print(table)


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
    with _reported(), _progress(after=0.0) as bar:
        task = bar.add_task("Loading", total=None)

        from impinge.reproduce import particles

        written = particles.reproduce(out, quick, lambda text: bar.update(task, description=text))
    print(f"written to {written}")


@app.command()
def warmup() -> None:
    """Compile everything once, so that no later run has to wait for it."""
    with _reported():
        started = time.perf_counter()
        with _progress(after=0.0) as bar:
            task = bar.add_task("Loading", total=None)

            from impinge import _warmup
            from impinge._jit import cache_folder

            under_way: list[str] = []

            def begin(name: str) -> None:
                under_way.append(name)
                bar.update(task, description=f"Compiling {', '.join(under_way)}")

            def end(name: str) -> None:
                under_way.remove(name)
                bar.advance(task)

            bar.update(task, total=len(_warmup.steps()))
            _warmup.run(min(os.cpu_count() or 1, 2), begin, end)
        print(f"compiled in {_duration(time.perf_counter() - started)} into {cache_folder()}")


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
        _say(error.format_message())  # wrong usage, in one line as well
        sys.exit(2)


if __name__ == "__main__":
    main()
