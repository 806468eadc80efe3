"""``impinge touch``: does anything touch while a mesh moves from one file to another."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import impinge
from impinge.cli.common import app, compiling_told, duration, facts_table, progress, reported, stages
from impinge.errors import InputError, MeshWarning

if TYPE_CHECKING:
    from impinge.ccd import Contact, Contacts
    from impinge.shapes.mesh import Mesh

_NOT_FREE = 1  # exit code, as of programs that compare files


@app.command()
def touch(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Mesh at the start: .ply, .obj, .off, .stl, …")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The same mesh, with the same faces, at the end.")],
    gap: Annotated[float, typer.Option(help="What comes as near as this touches.")] = 0.0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the summary.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no summary.")] = False,
) -> None:
    """Tell whether, and when first, anything touches while a mesh moves from BEFORE to AFTER.

    All vertices move in straight lines. The mesh may consist of several bodies; a body may touch itself, too.
    Exit codes: 0 the motion is free, 1 there is contact, or faces intersect at the start, 2 bad input.
    """
    with reported() as told:
        with compiling_told(quiet):
            facts = _judge_motion(before, after, gap, threads)
        facts["warnings"] = told
        if as_json:
            print(json.dumps(facts, allow_nan=False))
        elif not quiet:
            _print_summary(facts)
    if not facts["free"]:
        raise typer.Exit(_NOT_FREE)


def _judge_motion(before: Path, after: Path, gap: float, threads: int | None) -> dict[str, Any]:
    """Read, compare, find; returns what `--json` prints."""
    seconds: dict[str, float] = {}

    with progress(after=1.0) as bar:
        timed = stages(bar, seconds)
        from impinge import ccd
        from impinge._jit import threads as thread_scope
        from impinge.loading import load_motions
        from impinge.shapes.files import read_mesh

        with thread_scope(threads) as used_threads:
            pass
        with timed("reading"):
            start, end = read_mesh(before), read_mesh(after)
            _check_alike(before, start, after, end)
        with timed("loading"):
            load_motions()
        with timed("searching"):
            x0, x1, faces = start.vertices, end.vertices, start.faces
            edges = ccd.edges_of(faces)
            found = ccd.contacts(x0, x1, edges, faces, gap=gap, threads=threads)
            first = ccd.first_contact(x0, x1, edges, faces, gap=gap, threads=threads) if found.total else None
        with timed("intersecting"):
            crossing = ccd.self_intersections(x0, edges, faces, threads=threads)
    return {
        "version": impinge.__version__,
        "before": str(before),
        "after": str(after),
        "vertices": len(x0),
        "edges": len(edges),
        "triangles": len(faces),
        "gap": gap,
        "threads": used_threads,
        "free": first is None and not crossing.total,  # what passes through from the start on need not come nearer
        "first_contact": None if first is None else _describe(first, start, end, edges),
        "contacts": _count(found),
        "intersections_before": crossing.total,
        "seconds": seconds,
    }


def _check_alike(before: Path, start: Mesh, after: Path, end: Mesh) -> None:
    """The two must be one mesh; warn where vertices are not shared."""
    import numpy as np

    for what, first, second in (("vertices", start.vertices, end.vertices), ("faces", start.faces, end.faces)):
        if len(first) != len(second):
            raise InputError(f"{after}: found {len(second)} {what}, expected {len(first)}, as in {before}")
    differ = np.flatnonzero((start.faces != end.faces).any(axis=1))
    if len(differ):
        i = int(differ[0])
        raise InputError(
            f"{after}: {len(differ)} of {len(start.faces)} faces are not those of {before}; "
            f"face {i}: found {end.faces[i].tolist()}, expected {start.faces[i].tolist()}"
        )
    repeated = len(start.vertices) - start.distinct_vertices
    if repeated:
        warnings.warn(
            f"{before}: {repeated} of {len(start.vertices)} vertices are where others are, and touch them from the "
            "start on; if faces should share them (.stl cannot say so), merge them in both files",
            MeshWarning,
            stacklevel=2,
        )


def _describe(contact: Contact, start: Mesh, end: Mesh, edges: Any) -> dict[str, Any]:
    """The first contact with the vertices and the place of what touches."""
    i, j = contact.pair
    x = (1 - contact.time) * start.vertices + contact.time * end.vertices
    if contact.kind == "vertex-face":
        vertices, point = [[i], start.faces[j].tolist()], x[i]
    else:
        vertices, point = [edges[i].tolist(), edges[j].tolist()], _nearest(*x[edges[i]], *x[edges[j]])
    return {
        "time": contact.time,
        "kind": contact.kind,
        "pair": [i, j],
        "vertices": vertices,
        "point": point.tolist(),
        "normal": contact.normal.tolist(),
    }


def _nearest(a: Any, b: Any, p: Any, q: Any) -> Any:
    """The point of segment a, b nearest to segment p, q."""
    import numpy as np
    from scipy.optimize import lsq_linear

    sides = np.column_stack([b - a, p - q])
    size = np.abs(sides).max()
    return a if size == 0 else a + lsq_linear(sides / size, (p - a) / size, (0, 1)).x[0] * (b - a)


def _count(found: Contacts) -> dict[str, int]:
    return {
        "total": found.total,
        "vertex_faces": len(found.pairs.vertex_faces),
        "edge_edges": len(found.pairs.edge_edges),
    }


def _print_summary(facts: dict[str, Any]) -> None:
    first, counts, seconds = facts["first_contact"], facts["contacts"], facts["seconds"]
    rows = [
        ("mesh", f"{facts['before']} to {facts['after']}: {facts['vertices']:,} vertices, {facts['triangles']:,} faces")
    ]
    if facts["free"]:
        rows.append(("motion", f"free: nothing comes as near as {facts['gap']:g}" if facts["gap"] else "free"))
    if first is not None:
        kinds = f"{counts['vertex_faces']:,} of a vertex and a face, {counts['edge_edges']:,} of two edges"
        rows.append(("contacts", f"{counts['total']:,}: {kinds}"))
        rows.append(("first", f"at t = {first['time']:.9g}: {_name(first)}"))
        rows.append(("where", f"{_numbers(first['point'])}, normal {_numbers(first['normal'])}"))
    crossing = facts["intersections_before"]
    rows.append(("before", f"intersects itself, pairs of faces: {crossing:,}" if crossing else "no faces intersect"))
    search = f"search {duration(seconds['searching'])}, intersections {duration(seconds['intersecting'])}"
    rows.append(("time", f"read {duration(seconds['reading'])}, {search}"))
    facts_table(rows)


def _name(first: dict[str, Any]) -> str:
    """What touches, by the numbers of vertices."""
    mine, theirs = first["vertices"]
    if first["kind"] == "vertex-face":
        return f"vertex {mine[0]} and face {first['pair'][1]} (vertices {', '.join(map(str, theirs))})"
    return f"edges of vertices {mine[0]}, {mine[1]} and {theirs[0]}, {theirs[1]}"


def _numbers(vector: list[float]) -> str:
    return f"({', '.join(f'{number:.6g}' for number in vector)})"
