"""Pictures of whole simulations: the paper's Figures 8 to 14."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from impinge.output.picture import draw_spheres
from impinge.reproduce.look import BLUE, STYLE, plain_numbers, save
from impinge.reproduce.particles.demo import Pictured, potential_contacts
from impinge.reproduce.particles.figures import LOOKS
from impinge.reproduce.particles.measure import PAPER_EXPONENTS, fit_power
from impinge.reproduce.particles.simulations import End
from impinge.reproduce.particles.systems import System

__all__ = ["draw_demo", "draw_fracture_pictures", "draw_matrix", "draw_packing", "draw_series", "draw_times"]

_TITLES = {"paper": "lists made as in the paper", "world": "impinge.World: lists kept while they are good"}


def _of(rows: list[dict[str, Any]], way: str, search: str | None = None) -> list[dict[str, Any]]:
    return [row for row in rows if row["way"] == way and search in (None, row["search"])]


def draw_times(rows: list[dict[str, Any]], path: Path, title: str, fits: bool) -> None:
    """Seconds over the number of particles, the paper's way and ours: Fig. 11, or with power laws Fig. 12."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.2))
        for axes, (way, name) in zip(panels, _TITLES.items(), strict=True):
            for search, (colour, marker) in LOOKS.items():
                here = _of(rows, way, search)
                if not here:
                    continue
                n, seconds = np.array([[row["bodies"], row["seconds"]] for row in here]).T
                label = search
                if fits:
                    a, b = fit_power(here, search)
                    axes.plot(n, (a * n) ** b, color=colour, lw=0.9, ls="--")
                    paper = f", paper {PAPER_EXPONENTS[search]:g}" if way == "paper" else ""
                    label = f"{search}: $({_power_of_ten(a)}\\,n)^{{{b:.2f}}}${paper}"
                axes.plot(n, seconds, color=colour, marker=marker, ls="none" if fits else "-", label=label)
            steps = rows[0]["steps"]
            axes.set(title=name, xlabel="particles", ylabel=f"s for {steps:,} steps, one thread")
            if fits:
                axes.set(xscale="log", yscale="log")
                plain_numbers(axes.xaxis, 1, 3)
                plain_numbers(axes.yaxis, 1)
            else:
                axes.set(xlim=(0, None), ylim=(0, None))
                axes.xaxis.set_major_formatter("{x:,g}")
            axes.legend()
        figure.suptitle(title)
        save(figure, path)


def _power_of_ten(value: float) -> str:
    """For formulas in matplotlib."""
    power = int(np.floor(np.log10(value)))
    return f"{value / 10.0**power:.1f} \\cdot 10^{{{power}}}"


def draw_series(rows: list[dict[str, Any]], path: Path) -> None:
    """Fig. 14: time per particle over R/r, scaled to a common start, and as measured."""
    lines = [("paper", "cells"), ("paper", "sweep"), ("world", "cells"), ("world", "sweep"), ("world", "auto")]
    with plt.rc_context(STYLE):
        figure, (scaled, plain) = plt.subplots(1, 2, figsize=(10.5, 4.2))
        for way, search in lines:
            here = _of(rows, way, search)
            x = [row["ratio"] for row in here]
            y = np.array([row["seconds"] / row["bodies"] / row["steps"] * 1e9 for row in here])
            colour, marker = LOOKS[search]
            label = f"{search}, {'as in the paper' if way == 'paper' else 'World'}"
            look: dict[str, Any] = {"color": colour, "marker": marker, "ls": "-" if way == "paper" else ":"}
            if way == "paper":
                scaled.plot(x, y / y[0], label=label, **look)
            plain.semilogy(x, y, label=label, **look)
        scaled.set(title="scaled to a common start, as in the paper", ylabel="time per particle, 1 at R/r = 1")
        scaled.set(ylim=(0, None))
        plain.set(title="as measured", ylabel="ns per particle and step, one thread")
        plain.set(ylim=(None, 8 * plain.get_ylim()[1]))  # room for the legend
        plain_numbers(plain.yaxis, 1)
        for axes, columns in ((scaled, 1), (plain, 2)):
            axes.set(xlabel="R / r", xticks=sorted({row["ratio"] for row in rows}))
            axes.legend(loc="upper center", ncols=columns)
        figure.suptitle("3.3: whole simulations of the fracture series (Fig. 14)")
        save(figure, path)


def draw_demo(demo: Pictured, start: Path, end: Path) -> None:
    """Fig. 8: 300 discs at rest, and after they fell and collided."""
    system, until = demo.system, demo.facts["until"]
    numbers = np.arange(len(system))
    common: dict[str, Any] = {"label": "number of the disc", "box": system.box}
    draw_spheres(start, system.centres, system.radii, numbers, title="At rest (Fig. 8, left)", **common)
    title = f"After {until:g} s, without dissipation (Fig. 8, right)"
    draw_spheres(end, demo.end.centres, system.radii, numbers, title=title, **common)


def draw_matrix(demo: Pictured, path: Path) -> dict[str, dict[str, float]]:
    """Fig. 9: pairs of discs whose boxes collide, as an upper triangular matrix, for the two moments of Fig. 8."""
    system, count, facts = demo.system, len(demo.system), {}
    moments = {"at rest": system.centres, f"after {demo.facts['until']:g} s": demo.end.centres}
    with plt.rc_context(STYLE | {"axes.grid": False}):
        figure, grid = plt.subplots(1, 2, figsize=(9, 4.8))
        for axes, (title, centres) in zip(grid, moments.items(), strict=True):
            found = potential_contacts(centres, system.radii)
            apart = float(np.mean(found[:, 1] - found[:, 0]))
            facts[title] = {"pairs": len(found), "apart": apart}
            axes.plot(found[:, 1], found[:, 0], ".", ms=2.5, color=BLUE)
            axes.plot([0, count], [0, count], color="#aaaaaa", lw=0.7)
            axes.set(xlim=(0, count), ylim=(count, 0), aspect="equal", title=f"{title}: {len(found)} pairs")
            axes.set(xlabel="number of the second disc", ylabel="number of the first disc")
            axes.text(0.06 * count, 0.93 * count, f"mean difference of numbers {apart:.0f}", color="#666666")
        figure.suptitle("Potential contacts as an upper triangular matrix (Fig. 9)")
        save(figure, path)
    return facts


def draw_packing(packing: Pictured, numbers: list[int], start: Path, end: Path) -> None:
    """Fig. 10: the largest system of 3.1 with the squares of all sizes, and how it falls."""
    system = packing.system
    sides = system.box[0] * np.sqrt(np.array(numbers) / len(system)) * 1e3  # mm
    square = np.searchsorted(sides, (system.centres + system.radii[:, None]).max(axis=1) * 1e3)
    values = sides[np.minimum(square, len(sides) - 1)]
    common: dict[str, Any] = {"label": "side of the smallest square of the series around it [mm]", "box": system.box}
    draw_spheres(start, system.centres, system.radii, values, title=f"{len(system):,} discs (Fig. 10)", **common)
    title = f"{packing.facts['until'] * 1e3:g} ms later"
    draw_spheres(end, packing.end.centres, system.radii, values, title=title, **common)


def draw_fracture_pictures(systems: dict[int, System], ends: dict[int, End], paths: dict[int, Path]) -> None:
    """Fig. 13: equal spheres, and the same volume with some of them broken."""
    for ratio, system in systems.items():
        title = f"{len(system):,} spheres, R/r = {ratio} (Fig. 13)"
        values = system.radii * 1e3 if ratio > 1 else None
        draw_spheres(paths[ratio], ends[ratio].centres, system.radii, values, label="radius [mm]", box=system.box,
                     title=title)  # fmt: skip
