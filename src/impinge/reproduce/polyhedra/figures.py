"""Pictures of times: the paper's Figures 7 to 10 and 12 to 15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from impinge.reproduce.look import BLACK, BLUE, GREEN, ORANGE, PURPLE, STYLE, VERMILION, plain_numbers, save
from impinge.reproduce.polyhedra.series import Diagonal, Run, Series, along

__all__ = ["GRID_LOOKS", "METHOD_LOOKS", "draw_comparison", "draw_growth", "draw_times"]

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
GRID_LOOKS = ((BLUE, "o"), (GREEN, "s"), (ORANGE, "^"), (VERMILION, "D"))  # from few points to many
METHOD_LOOKS = {
    "ray": (PURPLE, "v", "ray crossing"),
    "pre-chosen": (GREEN, "^", "multipole, pre-chosen"),
    "well-chosen": (BLUE, "s", "multipole, well-chosen"),
    "octree": (BLACK, "x", "our octree"),
}
_GUIDE = "#999999"


def _line(axes: Any, runs: list[Run], over: str, colour: str, marker: str, label: str) -> None:
    """Total seconds over `triangles` or `points`; open symbols where not all points were asked for."""
    x, y = [getattr(run, over) for run in runs], [run.total for run in runs]
    axes.loglog(x, y, color=colour, lw=1.3, label="_")
    for scaled in (False, True):
        here = [k for k, run in enumerate(runs) if run.scaled is scaled]
        fill = {"mfc": "white"} if scaled else {}
        axes.loglog([x[k] for k in here], [y[k] for k in here], ls="none", marker=marker, color=colour, ms=5, **fill)
    axes.plot([], [], color=colour, marker=marker, ms=5, lw=1.3, label=label)


def _guide(axes: Any, series: Series, method: str) -> None:
    """How steep a line ∝ N is, below all others."""
    sizes = series.sizes[-3:]
    setups = [run.setup for run in series.over_triangles(method, series.grids[0])[-3:]]
    x = np.array([sizes[0], sizes[-1]], float)
    y = 0.4 * min(setup / size for setup, size in zip(setups, sizes, strict=True)) * x
    axes.plot(x, y, color=_GUIDE, lw=0.9, ls=":")
    middle = np.sqrt(x.prod()), np.sqrt(y.prod())
    axes.annotate("∝ N", middle, xytext=(5, -10), textcoords="offset points", color=_GUIDE)


def _number_times(axes: Any) -> None:
    low, high = axes.get_ylim()
    plain_numbers(axes.yaxis, *((1,) if high > 300 * low else (1, 3)))


def _number_axes(axes: Any, series: Series) -> None:
    axes.set(xlabel="triangles", ylabel="total time [s], one thread")
    if len(series.sizes) > 3:
        plain_numbers(axes.xaxis, 1)
    else:
        axes.set_xticks(series.sizes, [f"{size:,}" for size in series.sizes])
        axes.set_xticks([], minor=True)
        axes.set_xlim(0.75 * series.sizes[0], 1.33 * series.sizes[-1])
    _number_times(axes)


def _scaled_entry(runs: list[Run]) -> list[Line2D]:
    """For the legend, where there are open symbols."""
    if not any(run.scaled for run in runs):
        return []
    return [Line2D([], [], ls="none", marker="o", mfc="white", mec="#666666", label="from some of the points")]


def draw_times(series: Series, method: str, title: str, path: Path) -> None:
    """Figures 7, 8, 9 and 12, 13, 14: total time over triangles, a line for each grid; dashed, its first part."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        for points, (colour, marker) in list(zip(series.grids, GRID_LOOKS, strict=False))[::-1]:
            _line(axes, series.over_triangles(method, points), "triangles", colour, marker, f"{along(points)} points")
        runs = series.over_triangles(method, series.grids[0])
        axes.loglog(
            series.sizes, [run.setup for run in runs], color="#666666", lw=0.9, ls="--", label="setting up alone"
        )
        _guide(axes, series, method)
        _number_axes(axes, series)
        axes.set_title(title)
        handles = axes.get_legend_handles_labels()[0] + _scaled_entry(
            [run for run in series.runs if run.method == method]
        )
        axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(figure, path)


def draw_comparison(series: Series, title: str, path: Path) -> None:
    """Figures 10 and 15: all methods, for the smallest and the largest grid."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.4), sharey=True)
        for axes, points in zip(panels, (series.grids[0], series.grids[-1]), strict=True):
            for method, (colour, marker, label) in METHOD_LOOKS.items():
                _line(axes, series.over_triangles(method, points), "triangles", colour, marker, label)
            _number_axes(axes, series)
            axes.set_title(f"{along(points)} points")
        panels[1].set_ylabel("")
        panels[1].tick_params(labelleft=True)
        handles = panels[0].get_legend_handles_labels()[0] + _scaled_entry(series.runs)
        panels[1].legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.suptitle(title)
        save(figure, path)


def draw_growth(series: Series, diagonal: Diagonal, path: Path) -> None:
    """2.1.3: total time over the points, for the finest sphere, and with as many points as triangles."""
    finest = series.sizes[-1]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4))
        for method, (colour, marker, label) in METHOD_LOOKS.items():
            _line(left, series.over_points(method, finest), "points", colour, marker, label)
            grown = f"{label}: $N^{{{diagonal.growth(method):.2f}}}$"
            _line(right, diagonal.of(method), "triangles", colour, marker, grown)
        left.set(title=f"{finest:,} triangles", xlabel="points M", ylabel="total time [s], one thread")
        right.set(title="as many points as triangles", xlabel="triangles N ≈ points M")
        for axes in (left, right):
            plain_numbers(axes.xaxis, 1)
            _number_times(axes)
        handles = right.get_legend_handles_labels()[0] + _scaled_entry(series.runs + diagonal.runs)
        right.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.suptitle("Sphere: growth with the points, and with points and triangles (2.1.3)")
        save(figure, path)
