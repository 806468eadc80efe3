"""``impinge inside``: which points of a file are inside a mesh."""

from __future__ import annotations

import json
import math
import time
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import impinge
from impinge.cli.common import app, compiling_told, duration, facts_table, progress, reported
from impinge.errors import ImpingeWarning, InputError
from impinge.facts import counted

if TYPE_CHECKING:
    from rich.progress import Progress

    from impinge.inside.pointfiles import PointSource
    from impinge.inside.solid import Solid


class Method(StrEnum):
    """Ways to find out whether a point is inside."""

    auto = "auto"
    octree = "octree"
    ray = "ray"
    ray_exact = "ray-exact"
    direct = "direct"
    multipole = "multipole"


@app.command()
def inside(
    mesh: Annotated[
        Path,
        typer.Argument(metavar="MESH", help="Mesh: .ply, .obj, .stl, .off, .glb, .gltf or .npz."),
    ],
    points: Annotated[Path, typer.Argument(metavar="POINTS", help="Points: .npy, .npz, .csv, .xyz or .ply.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Output, same endings as POINTS. Default: <POINTS>-inside.<ending>, here."),
    ] = None,
    method: Annotated[
        Method, typer.Option(help="How to find out; auto takes octree, or multipole if MESH is not closed.")
    ] = Method.auto,
    accuracy: Annotated[float, typer.Option(help="Largest error of winding numbers by multipole.")] = 1e-3,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: all cores.")] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Points held in memory at a time.")] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the summary.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no summary.")] = False,
) -> None:
    """Tell for each of the POINTS whether it is inside the MESH.

    Writes −1 (outside), 0 (exactly on the surface) or +1 (inside) for each point. Files may be of any size.
    """
    with reported() as told:
        with compiling_told(quiet):
            facts = _classify_file(mesh, points, out, method.value, accuracy, threads, chunk)
        facts["warnings"] = told
        if as_json:
            print(json.dumps(facts, allow_nan=False))
        elif not quiet:
            _print_summary(facts)


def _classify_file(
    mesh_path: Path, points_path: Path, out: Path | None, method: str, accuracy: float, threads: int | None, chunk: int
) -> dict[str, Any]:
    """Read, prepare, classify, write; returns what `--json` prints."""
    started = time.perf_counter()
    with progress(after=1.0) as bar:
        task = bar.add_task("Reading", total=None)

        from impinge import loading
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

        bar.update(task, description="Loading")
        clock = time.perf_counter()
        loading.load_checks()
        seconds["load_code"] = time.perf_counter() - clock
        clock = time.perf_counter()
        closed = mesh.is_closed
        seconds["check_mesh"] = time.perf_counter() - clock
        clock = time.perf_counter()
        taken = "multipole" if method == "auto" and not closed else method
        if closed or taken in ("direct", "multipole"):  # otherwise Solid will refuse it
            loading.load_method(taken, accuracy)
        seconds["load_code"] += time.perf_counter() - clock

        bar.update(task, description="Preparing")
        solid = Solid(mesh, method, threads, accuracy)
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
    seconds, (low, high), apart = 0.0, solid.mesh.bounds, True
    with open_sink(out, source) as sink:
        for points in source.chunks(chunk):
            clock = time.perf_counter()
            classes = solid.classify(points)
            seconds += time.perf_counter() - clock
            sink.write(points, classes)
            counts += np.bincount(classes + 1, minlength=3)
            apart = apart and not ((points >= low) & (points <= high)).all(axis=1).any()
            after_chunk()
    outside, on, within = counts.tolist()
    if apart and outside:
        box = " to ".join("(" + ", ".join(f"{x:.4g}" for x in corner) + ")" for corner in (low, high))
        warnings.warn(
            f"{source.path}: no point is in the box of the mesh, {box}; are both in the same unit?", ImpingeWarning, 2
        )
    return {"inside": within, "on": on, "outside": outside}, seconds


def _print_summary(facts: dict[str, Any]) -> None:
    mesh, seconds, total = facts["mesh"], facts["seconds"], facts["points"]["count"]
    closed = "closed" if mesh["closed"] else "not closed"
    volume = "volume beyond doubles" if mesh["volume"] is None else f"volume {mesh['volume']:.6g}"
    build = seconds["check_mesh"] + seconds["build"]
    rate = facts["points_per_second"]
    rows: list[tuple[str, str]] = []
    low, high = mesh["bounds"]
    size = " × ".join(f"{b - a:.4g}" for a, b in zip(low, high, strict=True))
    rows.append(("mesh", f"{mesh['path']}: {mesh['triangles']:,} triangles, {closed}"))
    rows.append(("size", f"{size}, {volume}"))
    rows.append(("method", f"{facts['method']}, {facts['threads']} threads, {facts['solid_bytes'] / 1e6:.3g} MB"))
    for name in ("inside", "on", "outside"):
        count = facts["counts"][name]
        share = f" ({100 * count / total:.4g} %)" if total else ""
        rows.append((name, f"{count:,}{share}"))
    speed = f", {rate:,} points per second" if rate else ""
    rows.append(("time", f"check and build {duration(build)}, query {duration(seconds['query'])}{speed}"))
    rows.append(("written", f"{facts['output']} ({counted(total, 'point')})"))
    facts_table(rows)
