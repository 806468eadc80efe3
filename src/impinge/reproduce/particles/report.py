"""``impinge reproduce particles``: measurements, pictures, and the paper's statements beside ours."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from impinge.errors import InputError, install
from impinge.reproduce.particles import verdicts
from impinge.reproduce.particles.measure import (
    PAPER_EXPONENTS,
    fit_exponent,
    measure_cases,
    measure_fracture,
    measure_parameters,
)
from impinge.reproduce.particles.tables import number
from impinge.reproduce.statements import Progress, Report, beside, machine, markdown, write_report

__all__ = ["reproduce"]

SEARCHES = ("verlet", "cells", "sweep", "levels", "auto")


def reproduce(folder: Path, quick: bool, progress: Progress) -> Report:
    """Measure, draw and write `particles.md` into a folder."""
    try:
        from impinge.reproduce.particles import figures, simulation_report
    except ImportError:
        raise InputError(f"reproduce: needs matplotlib; {install('report')}") from None
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {"quick": quick, "machine": machine()}
    results["cases"] = measure_cases(quick, progress)
    figures.draw_cases(results["cases"], folder / "particles-growth.png")
    results["fracture"] = measure_fracture(quick, progress)
    figures.draw_fracture(results["fracture"], folder / "particles-fracture.png")
    results["parameters"] = measure_parameters(quick, progress)
    figures.draw_parameters(results["parameters"], folder / "particles-parameters.png")
    results["simulations"] = simulation_report.run(folder, quick, progress)
    text = _text(results) + "\n" + simulation_report.text(results["simulations"])
    return write_report(folder, "particles", results, text, verdicts.statements(results))


def _growth_table(cases: dict[str, list[dict[str, Any]]]) -> str:
    names = ["search", "3.1 discs", "3.2 spheres", "3.2, last three", "the paper, 3.2", "3.3 fracture"]
    rows = []
    for search in SEARCHES:
        paper = number(PAPER_EXPONENTS.get(search, math.nan))
        fits = [fit_exponent(cases["3.1"], search), fit_exponent(cases["3.2"], search)]
        fits += [fit_exponent(cases["3.2"], search, 3), fit_exponent(cases["3.3"], search)]
        a, b, c, d = map(number, fits)
        rows.append([search, a, b, c, paper, d])
    return markdown(names, rows)


def _case_table(rows: list[dict[str, Any]]) -> str:
    numbers = sorted({row["bodies"] for row in rows})
    lines = []
    for search in SEARCHES:
        cells = []
        for n in numbers:
            row = next((row for row in rows if row["search"] == search and row["bodies"] == n), {})
            cells.append(f"{row['seconds'] * 1e3:.3g}" if "seconds" in row else row.get("left_out", ""))
        lines.append([search, *cells])
    return markdown(["search", *(f"{n:,}" for n in numbers)], lines)


def _fracture_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for ratio in sorted({row["ratio"] for row in rows}):
        here = {row["search"]: row for row in rows if row["ratio"] == ratio}
        cells = [
            f"{row['seconds'] / row['bodies'] * 1e9:.0f}" if "seconds" in row else f"left out, {row['left_out']}"
            for row in (here["cells"], here["sweep"], here["levels"])
        ]
        lines.append([str(ratio), f"{here['levels']['bodies']:,}", *cells])
    return markdown(["R/r", "particles", "cells", "sweep", "levels"], lines)


def _best(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return min((row for row in rows if not row["too_late"]), key=lambda row: row["seconds"])


def _parameter_text(result: dict[str, Any]) -> str:
    def cost(row: dict[str, Any]) -> str:
        return f"{row['seconds'] * 1e3:.3g} ms per step"

    auto = result["auto"][0]
    zone, cell, interval = (_best(result[name]) for name in ("zones", "cell_sizes", "intervals"))
    five = next(row for row in result["zones"] if row["value"] == 5)
    late = ", ".join(str(int(row["value"])) for row in result["intervals"] if row["too_late"]) or "none of them"
    return "\n".join(
        [
            f"- Zone radius: least cost at {zone['value']:g} r, {cost(zone)}; the usual 5 r costs {cost(five)}.",
            f"- Interval between rebuilds with a zone of 3 r: least cost without missing pairs at "
            f"{interval['value']:g} steps, {cost(interval)}; pairs may be missed at {late}.",
            f"- Cell size, rebuilt in every step: least cost at {cell['value']:g} diameters, {cost(cell)}.",
            f"- `auto` with nothing set: {cost(auto)}, method {auto['method']}, skin "
            f"{auto['skin'] / result['radius']:.2g} r, {auto['rebuilds']} rebuilds in {auto['steps']} steps.",
        ]
    )


def _text(results: dict[str, Any]) -> str:
    cases = results["cases"]
    size = "Quick sizes: run it without --quick for those of the paper. " if results["quick"] else ""
    return f"""# The paper on neighbour searches, measured anew

Made by `impinge reproduce particles` ({results["machine"]}, one thread). {size}Part one measures the
searches alone, part two whole simulations.

## What the paper says, and what comes out here

{beside(verdicts.statements(results))}

The paper gives times of whole simulations only; what came out of *searches alone* stands beside its statements too.

## Part one: searches alone

Seconds are those of updating the lists and testing which listed pairs touch. The particles of the paper's systems fly
and bounce off walls, without contact forces, so that nothing else is measured. `verlet`, `cells` and `sweep` are set as
in the paper (zones of 5 r_max and all pairs tested every 100 steps; the given cell size, in every step; in every step);
`levels` in every step; `auto` as it comes.

### Growth with the number of particles

![Growth](particles-growth.png)

Exponents of seconds per step over particles:

{_growth_table(cases)}

A call costs 0.1 to 0.5 ms however few the particles are, which flattens the fits over all numbers; the last three
show how the searches grow.

Milliseconds per step, 3.1:

{_case_table(cases["3.1"])}

3.2:

{_case_table(cases["3.2"])}

### Different sizes: the fracture series

![Fracture](particles-fracture.png)

Nanoseconds per particle and step; for large R/r fewer spheres are broken, as the number of pieces is limited.

{_fracture_table(results["fracture"])}

How LC and LLL compare depends on how far particles move in a step, which the paper does not say: the exchanges of LLL
grow with it, while LC does the same work in every step.

### What the user had to find out

![Parameters](particles-parameters.png)

The paper leaves zone radius, update interval and cell size to the user's experience (2.1, 2.4).

{_parameter_text(results["parameters"])}
"""
