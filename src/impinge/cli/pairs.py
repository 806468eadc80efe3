"""``impinge pairs``: which spheres of a file are near each other."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import impinge
from impinge.cli.common import app, compiling_told, duration, facts_table, progress, reported, stages
from impinge.errors import InputError
from impinge.facts import counted


class PairMethod(StrEnum):
    """Ways to find near spheres."""

    auto = "auto"
    brute = "brute"
    verlet = "verlet"
    cells = "cells"
    sweep = "sweep"
    levels = "levels"


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
    with reported() as told:
        with compiling_told(quiet):
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

    if radius is not None and not 0 <= radius < math.inf:
        raise InputError(f"--radius: found {radius}, expected a finite number of at least 0")
    out = Path(f"{path.stem}-pairs.npy") if out is None else out
    if out.suffix.lower() not in (".npy", ".csv"):
        raise InputError(f"{out}: ending {out.suffix!r}, expected .npy or .csv")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out}: no such folder, expected one to write into")
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError(f"{out}: is the file of the spheres, expected another for the output")
    with progress(after=1.0) as bar:
        timed = stages(bar, seconds)
        with timed("loading"):
            from impinge.broad.files import read_spheres, write_pairs
            from impinge.broad.methods import choose
            from impinge.broad.space import spheres
            from impinge.loading import load_pairs

            load_pairs(method)
        with timed("reading"):
            centres, radii = read_spheres(path, radius)
        with timed("searching"), _located(path):
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
        "method": choose(spheres(centres, radii, 0.0, None, False))[0] if method == "auto" else method,
        "seconds": seconds,
        "spheres_per_second": round(count / seconds["searching"]) if count else None,
    }


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Errors about spheres name their file, others the option."""
    try:
        yield
    except InputError as error:
        what = str(error).partition(":")[0]
        if what in ("centres", "radii"):
            raise InputError(f"{path}: {error}") from None
        raise InputError(f"--{error}" if what in ("box", "gap", "periodic") else str(error)) from None


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
    spheres, seconds, count = facts["spheres"], facts["seconds"], facts["spheres"]["count"]
    rows: list[tuple[str, str]] = []
    sizes = f", radii {spheres['smallest_radius']:.4g} to {spheres['largest_radius']:.4g}" if count else ""
    what = (
        f"{counted(count, 'sphere')} in space"
        if spheres["dimension"] == 3
        else f"{counted(count, 'disc')} in the plane"
    )
    rows.append(("spheres", f"{spheres['path']}: {what}{sizes}"))
    rows.append(("pairs", f"{facts['pairs']:,}" + (f", {2 * facts['pairs'] / count:.3g} per sphere" if count else "")))
    rate = f", {facts['spheres_per_second']:,} spheres per second" if count else ""
    rows.append(("time", f"read {duration(seconds['reading'])}, search {duration(seconds['searching'])}{rate}"))
    rows.append(("written", facts["output"]))
    facts_table(rows)
