"""Part two of the report: whole simulations, figure by figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from impinge.reproduce.particles import simulation_figures as figures
from impinge.reproduce.particles.demo import run_demo, run_packing
from impinge.reproduce.particles.measure import fit_exponent
from impinge.reproduce.particles.simulations import measure_simulations
from impinge.reproduce.particles.systems import fractured_spheres
from impinge.reproduce.particles.tables import by_way, number
from impinge.reproduce.statements import Progress, markdown

__all__ = ["run", "text"]

_Rows = list[dict[str, Any]]


def run(folder: Path, quick: bool, progress: Progress) -> dict[str, Any]:
    """Simulate, draw into a folder, and return what the text is made of."""

    def file(name: str) -> Path:
        return folder / f"particles-{name}.png"

    rows, ends = measure_simulations(quick, progress)
    figures.draw_times(rows["3.1"], file("fig11"), "3.1: whole simulations of discs in 2D (Fig. 11)", fits=False)
    figures.draw_times(rows["3.2"], file("fig12"), "3.2: whole simulations of equal spheres (Fig. 12)", fits=True)
    figures.draw_series(rows["3.3"], file("fig14"))
    demo = run_demo(quick, progress)
    figures.draw_demo(demo, file("fig8-start"), file("fig8-end"))
    matrix = figures.draw_matrix(demo, file("matrix"))
    packing = run_packing(quick, progress)
    numbers = sorted({row["bodies"] for row in rows["3.1"]})
    figures.draw_packing(packing, numbers, file("fig10-start"), file("fig10-end"))
    progress("Figure 13")
    shown = {ratio: fractured_spheres(ratio) for ratio in (min(ends), max(ends))}
    paths = {ratio: file(f"fig13-{ratio}") for ratio in shown}
    figures.draw_fracture_pictures(shown, ends, paths)
    shares = {ratio: float(4 / 3 * math.pi * (s.radii**3).sum() / s.box.prod()) for ratio, s in shown.items()}
    return {"cases": rows, "demo": demo.facts, "matrix": matrix, "packing": packing.facts, "shares": shares}


def _times(rows: _Rows) -> str:
    """Seconds of all runs of a case, with exponents."""
    numbers = sorted({row["bodies"] for row in rows})
    names = ["search", *(f"{n:,}" for n in numbers), "exponent", "last three"]
    lines = []
    for way in ("paper", "world"):
        for search in dict.fromkeys(row["search"] for row in by_way(rows, way)):
            here = [row for row in by_way(rows, way) if row["search"] == search]
            cells = [f"{row['seconds']:.3g}" for row in here]
            cells += [number(fit_exponent(here, search)), number(fit_exponent(here, search, 3))]
            lines.append([f"{search}, {way}", *cells])
    return markdown(names, lines)


def text(results: dict[str, Any]) -> str:
    """Markdown."""
    cases, demo = results["cases"], results["demo"]
    steps = {name: rows[0]["steps"] for name, rows in cases.items()}
    runs = sum(len(rows) for rows in cases.values())
    touching = {name: max(row["contacts"] for row in rows) for name, rows in cases.items()}
    first, last = results["shares"]
    return f"""## Part two: whole simulations

Now with forces and motion, on one thread: the paper's k, density, dt and radii, no damping, walls of the same material.
What the paper does not tell was chosen: {steps["3.1"]:,} steps for 3.1, from the middle of the fall (speed √(g·side)
downwards, and 0.1 m/s at random); {steps["3.2"]:,} for 3.2, all spheres with 0.1 m/s in random directions, no gravity;
{steps["3.3"]:,} for 3.3, velocities at random with 1 m/s (rms) per axis, no gravity. Up to {touching["3.1"]:,},
{touching["3.2"]:,} and {touching["3.3"]:,} contacts at the end. Seconds include the first lists; runs below half a
second were made three times, and the fastest counts.

Two ways: *paper*, the engine of `impinge.World` with lists made as the paper does (`verlet`: zones of 5 r_max, all
n(n−1)/2 pairs tested at every 100th step; `cells` of the paper's size and `sweep`, in every step); *world*,
`impinge.World` with `search="verlet"`, `"cells"`, `"sweep"` and `"auto"` as they come: lists that are made anew only
when something has moved too far, Verlet lists by way of cells.

**Same bits:** the {runs} runs of the three cases ended, for equal starts, in the same positions and velocities to the
last bit, whatever the search and the way; so did the four of {demo["bodies"]} discs after {demo["steps"]:,} steps. This
report would not have been written otherwise.

### 3.1: discs in 2D

![Fig. 11](particles-fig11.png)

Seconds for {steps["3.1"]:,} steps:

{_times(cases["3.1"])}

| ![Fig. 10](particles-fig10-start.png) | ![later](particles-fig10-end.png) |
|---|---|

Colours show the smallest of the series' squares in which a disc was at the start.

### 3.2: equal spheres

![Fig. 12](particles-fig12.png)

Seconds for {steps["3.2"]:,} steps; dashed lines are fits of (a n)^b over all sizes:

{_times(cases["3.2"])}

### 3.3: the fracture series

![Fig. 14](particles-fig14.png)

Seconds for {steps["3.3"]:,} steps:

{_times(cases["3.3"])}

Per particle all fall at first, as making lists costs something however few the particles are.

| ![Fig. 13, left](particles-fig13-{first}.png) | ![Fig. 13, right](particles-fig13-{last}.png) |
|---|---|

### {demo["bodies"]} discs falling

| ![Fig. 8, left](particles-fig8-start.png) | ![Fig. 8, right](particles-fig8-end.png) |
|---|---|

Material of 3.1; they start at rest in the upper half of a box, and dt = {demo["dt"]:.3g} s, a fiftieth of the shortest
contact. Potential contacts, that is pairs of discs whose boxes collide:

![Matrix](particles-matrix.png)
"""
