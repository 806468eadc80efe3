"""Part two of the report: whole simulations, figure by figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from impinge.reproduce.particles import simulation_figures as figures
from impinge.reproduce.particles.demo import run_demo, run_packing
from impinge.reproduce.particles.measure import PAPER_EXPONENTS, Progress, fit_exponent
from impinge.reproduce.particles.simulations import measure_simulations
from impinge.reproduce.particles.systems import fractured_spheres
from impinge.reproduce.particles.tables import crossing, number

__all__ = ["run", "text"]

_Rows = list[dict[str, Any]]
_SHORT = {"verlet": "VL", "cells": "LC", "sweep": "LLL"}
_CLOSE = 0.2  # of an exponent


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


def _of(rows: _Rows, way: str) -> _Rows:
    return [row for row in rows if row["way"] == way]


def _verdict(holds: bool, otherwise: str) -> str:
    return "reproduced" if holds else f"differs: {otherwise}"


def _without_verdict(lines: list[list[str]]) -> list[list[str]]:
    return [[*line[:3], "quick sizes say too little"] for line in lines]


def _times(rows: _Rows) -> str:
    """Seconds of all runs of a case, with exponents."""
    numbers = sorted({row["bodies"] for row in rows})
    names = ["search", *(f"{n:,}" for n in numbers), "exponent", "last three"]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for way in ("paper", "world"):
        for search in dict.fromkeys(row["search"] for row in _of(rows, way)):
            here = [row for row in _of(rows, way) if row["search"] == search]
            cells = [f"{row['seconds']:.3g}" for row in here]
            cells += [number(fit_exponent(here, search)), number(fit_exponent(here, search, 3))]
            lines.append(f"| {search}, {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _balance(rows: _Rows) -> str:
    """From which number on Verlet lists spend more on testing all pairs than on the pairs they hold."""
    row = [row for row in _of(rows, "paper") if row["search"] == "verlet"][-1]
    held = row["listed"] / row["bodies"]
    return (
        f"{held:.0f} pairs per particle are in the lists, so that n²/200 tests per step are more than the {held:.0f} n "
        f"looked at for forces only beyond n ≈ {200 * held:,.0f}"
    )


def _figure_8(demo: dict[str, Any]) -> list[str]:
    here = (
        f"{demo['bodies']} discs, {demo['until']:g} s in {demo['steps']:,} steps: mean speed {demo['speed']:.2f} m/s, "
        f"{demo['contacts']} contacts; total energy changed by {demo['drift']:.1e} of the kinetic one"
    )
    holds = demo["speed"] > 0 and demo["contacts"] > 0 and demo["drift"] < 0.01
    said = "at first at rest, after 2 s accelerated by gravity and collided, without dissipation"
    return ["8", said, here, _verdict(holds, "energy is not conserved, or nothing collided")]


def _figure_9(matrix: dict[str, dict[str, float]]) -> list[str]:
    first, later = matrix.values()
    here = "; ".join(
        f"{name} {f['pairs']} of 44,850 pairs, numbers {f['apart']:.0f} apart on average" for name, f in matrix.items()
    )
    holds = first["apart"] < later["apart"] and max(first["pairs"], later["pairs"]) < 0.05 * 44850
    said = "entries near the diagonal at first, because of the numbering; sparse always"
    return ["9", said, here, _verdict(holds, "the numbers had no time to mix, or pairs are many")]


def _figure_10(packing: dict[str, Any]) -> list[str]:
    here = (
        f"{packing['bodies']:,} discs that fill 0.674 of a square; {packing['until'] * 1e3:g} ms later "
        f"{packing['contacts']:,} contacts, energy changed by {packing['drift']:.1e} of the kinetic one"
    )
    said = "7,800 discs, densely packed, ν from 0.670 to 0.678"
    return ["10", said, here, _verdict(packing["drift"] < 0.01, "energy is not conserved")]


def _figure_11(rows: _Rows) -> list[list[str]]:
    paper = _of(rows, "paper")
    fit = {search: fit_exponent(paper, search, 3) for search in _SHORT}
    here = ", ".join(f"{search} {number(b)}" for search, b in fit.items()) + " (exponents of the last three)"
    alike = abs(fit["cells"] - fit["sweep"]) < _CLOSE and max(fit["cells"], fit["sweep"]) < 1 + _CLOSE
    per = {row["bodies"]: row["seconds"] / row["bodies"] for row in paper if row["search"] == "cells"}
    jump = f"cells: time per disc × {per[3900] / per[1950]:.2f}" if 3900 in per else "not among these sizes"
    steepest = fit["verlet"] > max(fit["cells"], fit["sweep"]) and fit["verlet"] > 1.1
    calls = "what every call costs, however few the discs, is not small beside the search"
    constant = "not to be expected here: all sizes have ν = 0.674"
    return [
        ["11", "VL the steepest, more than linear", here, _verdict(steepest, _balance(rows))],
        ["11", "LC and LLL alike, almost linear", here, _verdict(alike, calls)],
        ["11", "all jump between 1,950 and 3,900, as ν changes", jump, constant],
    ]


def _figure_12(rows: _Rows) -> list[list[str]]:
    why = {
        "verlet": _balance(rows),
        "cells": "cells at walls, which have fewer neighbours, steepen small systems, what every call costs flattens "
        "them; large ones are linear",
        "sweep": "exchanges grow with n^(5/3) and with the way in a step, which the paper does not tell, and making "
        "lists for the forces out of the pairs, which is linear, outweighs them",
    }
    lines = []
    for search, said in PAPER_EXPONENTS.items():
        all_sizes, last = (fit_exponent(_of(rows, "paper"), search, k) for k in (None, 3))
        here = f"{number(all_sizes)}, last three {number(last)}"
        off = f"{last - said:+.2f}; {why[search]}"
        lines.append(["12", f"{_SHORT[search]} ∝ n^{said:g}", here, _verdict(abs(last - said) < _CLOSE, off)])
    ours = {row: fit_exponent(_of(rows, "world"), row, 3) for row in ("verlet", "cells", "sweep", "auto")}
    here = ", ".join(f"{search} {number(b)}" for search, b in ours.items())
    note = "a difference of method: lists are made through cells, and again only when something has moved too far"
    lines.append(["12", "–", f"World, last three: {here}", note])
    return lines


def _figure_13(shares: dict[int, float]) -> list[str]:
    here = ", ".join(f"R/r = {ratio}: ν = {share:.4f}" for ratio, share in shares.items())
    equal = max(shares.values()) - min(shares.values()) < 1e-4
    return [
        "13",
        "equal and broken spheres of the same volume, ν = 0.12",
        here,
        _verdict(equal, "volumes are not equal"),
    ]


def _figure_14(rows: _Rows) -> list[list[str]]:
    rise = {}
    for search in ("cells", "sweep"):
        per = [row["seconds"] / row["bodies"] for row in _of(rows, "paper") if row["search"] == search]
        rise[search] = per[-1] / per[0]
    last = max(row["ratio"] for row in rows)
    here = f"per particle from R/r = 1 to {last}: cells × {rise['cells']:.2f}, sweep × {rise['sweep']:.2f}"
    cross = crossing(_of(rows, "paper"))
    few = "the rise of cells is not yet seen at so few ratios"
    programs = "the paper's programs were in different languages on different machines; these differ in the search only"
    return [
        ["14", "LC rises much faster with R/r than LLL", here, _verdict(rise["cells"] > 1.5 * rise["sweep"], few)],
        [
            "14",
            "before scaling LC is faster up to R/r ≈ 2.5",
            f"cells are more expensive than sweep {cross}",
            _verdict(cross == "from R/r = 3 on", programs),
        ],
    ]


def _verdicts(results: dict[str, Any], quick: bool) -> str:
    cases = results["cases"]
    lines = [_figure_8(results["demo"]), _figure_9(results["matrix"]), _figure_10(results["packing"])]
    lines += [*_figure_11(cases["3.1"]), *_figure_12(cases["3.2"]), _figure_13(results["shares"])]
    lines += _figure_14(cases["3.3"])
    lines = _without_verdict(lines) if quick else lines
    head = ["| figure | the paper | here | verdict |", "|---|---|---|---|"]
    return "\n".join(head + ["| " + " | ".join(line) + " |" for line in lines])


def text(results: dict[str, Any], quick: bool) -> str:
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

{_verdicts(results, quick)}

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
