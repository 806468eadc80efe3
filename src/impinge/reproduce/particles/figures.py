"""Pictures of the measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from impinge.reproduce.look import BLACK, BLUE, GREEN, PURPLE, STYLE, VERMILION, plain_numbers, save
from impinge.reproduce.particles.measure import PAPER_EXPONENTS

__all__ = ["LOOKS", "draw_cases", "draw_fracture", "draw_parameters"]

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
LOOKS = {
    "verlet": (PURPLE, "v"),
    "cells": (BLUE, "s"),
    "sweep": (GREEN, "^"),
    "levels": (VERMILION, "o"),
    "auto": (BLACK, "x"),
}


def _line(axes: Any, rows: list[dict[str, Any]], search: str, x: str, per_particle: bool) -> None:
    here = [row for row in rows if row["search"] == search and "seconds" in row]
    if here:
        colour, marker = LOOKS[search]
        y = [row["seconds"] * 1e3 if not per_particle else row["seconds"] / row["bodies"] * 1e9 for row in here]
        axes.loglog([row[x] for row in here], y, color=colour, marker=marker, label=search)


def draw_cases(cases: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Milliseconds per step over the number of particles, one panel per case."""
    titles = {"3.1": "3.1: discs in 2D (Fig. 11)", "3.2": "3.2: equal spheres (Fig. 12)", "3.3": "3.3: fracture"}
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(12, 4))
        for axes, (case, title) in zip(panels, titles.items(), strict=True):
            for search in LOOKS:
                _line(axes, cases[case], search, "bodies", per_particle=False)
            if case == "3.2":
                _guides(axes, cases[case])
            axes.set(title=title, xlabel="particles", ylabel="ms per step, one thread")
            plain_numbers(axes.xaxis, 1, 3)
            plain_numbers(axes.yaxis, 1)
        panels[0].legend()
        save(figure, path)


def _guides(axes: Any, rows: list[dict[str, Any]]) -> None:
    """The paper's exponents as slopes through our last points."""
    for search, exponent in PAPER_EXPONENTS.items():
        here = [row for row in rows if row["search"] == search and "seconds" in row]
        if here:
            n = np.array([here[0]["bodies"], here[-1]["bodies"]], float)
            axes.loglog(n, here[-1]["seconds"] * 1e3 * (n / n[-1]) ** exponent, color=LOOKS[search][0], lw=0.8, ls="--")
    axes.plot([], [], color="#666666", lw=0.8, ls="--", label="slopes of the paper")
    axes.legend(handles=axes.get_lines()[-1:])


def draw_fracture(rows: list[dict[str, Any]], path: Path) -> None:
    """Nanoseconds per particle and step over R/r."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6, 4.2))
        for search in ("cells", "sweep", "levels"):
            _line(axes, rows, search, "ratio", per_particle=True)
        axes.axvspan(1, 5, color=BLACK, alpha=0.05, lw=0)
        axes.text(1.1, 0.97, "the paper's range", transform=axes.get_xaxis_transform(), va="top", color="#666666")
        axes.set(
            title="Fracture: cost over the ratio of sizes (Fig. 14)", xlabel="R / r", ylabel="ns per particle and step"
        )
        plain_numbers(axes.xaxis, 1, 2, 5)
        plain_numbers(axes.yaxis, 1)
        axes.legend()
        save(figure, path)


def draw_parameters(result: dict[str, Any], path: Path) -> None:
    """Cost over zone radius, rebuild interval and cell size, with the cost of `auto` as a line."""
    auto = result["auto"][0]
    diameter = 2 * result["radius"]
    panels = [
        ("zones", "zone radius / particle radius", 2 + auto["skin"] / result["radius"]),
        ("intervals", "steps between rebuilds (zone 3 r)", result["steps"] / max(auto["rebuilds"] - 1, 1)),
        ("cell_sizes", "cell size / diameter", (auto["cells"] or [diameter])[0] / diameter),
    ]
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True)
        for axes, (name, label, place) in zip(grid, panels, strict=True):
            rows = result[name]
            search = "cells" if name == "cell_sizes" else "verlet"
            x, y = [row["value"] for row in rows], [row["seconds"] * 1e3 for row in rows]
            axes.loglog(x, y, color=LOOKS[search][0], marker=LOOKS[search][1], label=search)
            late = [k for k, row in enumerate(rows) if row["too_late"]]
            axes.loglog(
                [x[k] for k in late], [y[k] for k in late], "o", ms=11, mfc="none", mec="#B00000",
                label="pairs may be missed" if late else "_",
            )  # fmt: skip
            axes.axhline(auto["seconds"] * 1e3, color="black", lw=1, ls=":")
            axes.plot([place], [auto["seconds"] * 1e3], "kx", ms=9, mew=2, label="where auto lands")
            axes.set_xlabel(label)
            plain_numbers(axes.xaxis, *((1, 3) if name == "intervals" else (1, 2, 3, 5)))
            plain_numbers(axes.yaxis, 1)
            axes.legend()
        grid[0].set_ylabel("ms per step, one thread")
        figure.suptitle(f"{result['bodies']:,} equal spheres: what the user would have to find out (2.1, 2.4)")
        save(figure, path)
