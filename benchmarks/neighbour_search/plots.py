"""Plots of the neighbour benchmark: ``python -m benchmarks.neighbour_search.plots RESULTS.json [FOLDER]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.neighbour_search.report import is_wrong, thread_counts
from benchmarks.report import grouped, seconds

_KINDS = {"auto": (looks.VERMILION, "o"), "levels": (looks.BLUE, "s"), "cells": (looks.GREEN, "^")}
_GROUPS = {"ours": looks.VERMILION, "general": looks.BLUE, "split": looks.GREEN}
_WRONG = "#FF0000"


def _growth(results: dict[str, Any], path: Path) -> None:
    """Two panels, equal spheres and the power law: seconds over spheres by method."""
    rows = results["growth"]
    families = list(dict.fromkeys(row["family"] for row in rows))
    counts = thread_counts(rows)
    figure, panels = plt.subplots(1, len(families), figsize=(10, 4.2), sharey=True, squeeze=False)
    for axes, family in zip(panels[0], families, strict=True):
        for kind, (colour, marker) in _KINDS.items():
            for count in counts:
                here = [row for row in rows if (row["family"], row["kind"], row["threads"]) == (family, kind, count)]
                axes.plot(
                    [row["n"] for row in here],
                    [row["seconds"] for row in here],
                    color=colour,
                    marker=marker,
                    markersize=7 - 2 * list(_KINDS).index(kind),
                    linestyle="-" if count == counts[-1] else "--",
                    label=f"{kind}, {count}",
                )
        most = [row for row in rows if row["family"] == family and row["kind"] == "auto"][-1]
        ends = [most["n"] / 100, most["n"]]
        axes.plot(ends, [0.3 * most["seconds"] * n / most["n"] for n in ends], color="#999999", linewidth=1)
        axes.annotate("∝ n", (ends[0], 0.003 * most["seconds"]), (4, -4), textcoords="offset points", color="#666666")
        axes.set(xscale="log", yscale="log", xlabel="spheres", ylabel="seconds")
        axes.set_title("equal spheres" if family == "equal" else "power law, radii 1 to 100", loc="left")
    panels[0][0].legend(title="method, threads", ncols=2)
    looks.save(figure, path, f"impinge.pairs, gap of the smallest radius; {results['about']['cpu']}.")


def _bars(axes: Any, system: list[dict[str, Any]], most: int) -> None:
    here = [row for row in system if row["threads"] in (most, None)]
    timed = [row for row in here if not row["skipped"]]
    floor = 0.5 * min(row["seconds"] for row in timed)
    for place, row in enumerate(here):
        if row["skipped"]:
            axes.annotate(row["skipped"].partition(":")[0], (floor, place), (3, 0), textcoords="offset points",
                          va="center", fontsize=7, color="#666666")  # fmt: skip
            continue
        edge = _WRONG if is_wrong(row) else "none"
        axes.barh(place, row["seconds"], color=_GROUPS[row["group"]], edgecolor=edge, linewidth=2)
        text = seconds(row["seconds"]) + (f" {row['differs']}" if is_wrong(row) else "")
        axes.annotate(text, (row["seconds"], place), (3, 0), textcoords="offset points", va="center", fontsize=7,
                      color=_WRONG if is_wrong(row) else "black")  # fmt: skip
    axes.set_yticks(range(len(here)), [row["method"] for row in here], fontsize=7)
    axes.set_ylim(len(here) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.set_xlim(floor, 8 * max(row["seconds"] for row in timed))
    axes.grid(axis="y", visible=False)
    axes.set_title(here[0]["system"], loc="left", fontsize=8)


def _summary(results: dict[str, Any], path: Path) -> None:
    """Bars: seconds of every competitor, a panel per system."""
    rows = results["speed"] + results.get("boxes", [])
    systems, most = grouped(rows, "system"), thread_counts(rows)[-1]
    figure, panels = looks.panels(len(systems), 3, (5, 2.3))
    for axes, system in zip(panels, systems, strict=True):
        _bars(axes, system, most)
    note = (
        f"Seconds, {most} threads where there is a setting; {results['about']['cpu']}. "
        "Orange: impinge; blue: one call for all sizes; green: two size classes made by hand."
    )
    looks.save(figure, path, note, below=0.02)


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write the plots that the results have data for beside a path; returns their paths."""
    written = []
    with plt.rc_context(looks.STYLE):
        for part, name, write in (
            ("growth", "neighbours.png", _growth),
            ("speed", "neighbours_summary.png", _summary),
        ):
            if part in results:
                write(results, path.with_name(name))
                written.append(path.with_name(name))
    return written


if __name__ == "__main__":
    looks.redraw(draw)
