"""What the searches cost on the paper's systems: seconds per time step."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from impinge.broad import NeighborSearch, cell_tests_random
from impinge.errors import SearchWarning
from impinge.reproduce.particles.systems import System, discs, equal_spheres, fractured_spheres
from impinge.reproduce.statements import Progress

__all__ = [
    "PAPER_EXPONENTS", "fit_exponent", "fit_power", "measure_cases", "measure_fracture",
    "measure_parameters",
]  # fmt: skip

_STEPS = 100  # at most; the paper rebuilds Verlet lists every 100 steps
_SECONDS = 6.0  # after which no further step is begun
_MOST_TESTS = 4e9  # of linked cells or all pairs in a rebuild; beyond, a case is left out

# As in the paper: lists with all pairs tested every 100 steps, cells and linear lists in every step. And ours.
PAPER: dict[str, Callable[[System], dict[str, Any]]] = {
    "verlet": lambda system: {"method": "verlet", "all_pairs": True, "rebuild_every": 100},
    "cells": lambda system: {"method": "cells", "cell_size": system.cell_size, "rebuild_every": 1},
    "sweep": lambda system: {"method": "sweep", "skin": 0.0, "rebuild_every": 1},
    "levels": lambda system: {"method": "levels", "skin": 0.0, "rebuild_every": 1},
    "auto": lambda system: {"method": "auto"},
}
PAPER_EXPONENTS = {"verlet": 1.8, "cells": 1.15, "sweep": 1.36}  # [Muth2007b] Fig. 12


def _tests(name: str, system: System) -> float:
    """Pairs that a rebuild will test, for the methods in which that can get out of hand."""
    if name == "verlet":
        return len(system) ** 2 / 2
    if name == "cells":
        along = max(int(system.box[0] / system.cell_size), 1)
        return cell_tests_random(len(system), along, len(system.box))
    return 0.0


def time_steps(system: System, options: dict[str, Any], steps: int = _STEPS) -> dict[str, Any]:
    """Seconds for the first lists, then per time step for updates and for testing which listed pairs touch."""
    search = NeighborSearch(box=system.box, threads=1, **options)
    flight = system.flight()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        start = time.perf_counter()
        search.update(next(flight), system.radii).touching()
        first, spent, done = time.perf_counter() - start, 0.0, 0
        while done < steps and (spent < _SECONDS or done < 2):
            centres = next(flight)
            start = time.perf_counter()
            near = search.update(centres, system.radii)
            touching = near.touching()
            spent += time.perf_counter() - start
            done += 1
    stats = search.statistics
    per_step = spent / done
    every = options.get("rebuild_every", 1)
    if done < every:  # no rebuild was seen: its share from the first one
        per_step += first / every
    return {
        "bodies": len(system),
        "seconds": per_step,
        "first": first,
        "steps": done,
        "rebuilds": stats.rebuilds,
        "too_late": stats.too_late,
        "listed": len(near),
        "touching": len(touching),
        "skin": stats.skin,
        "cells": list(stats.cell_sizes),
        "method": stats.method,
    }


def _compare(system: System, names: list[str], label: dict[str, Any], progress: Progress) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        progress(f"{len(system):,} particles, {name}")
        tests = _tests(name, system)
        if tests > _MOST_TESTS:
            rows.append({"search": name, "bodies": len(system), "left_out": f"{tests:.1e} tests", **label})
            continue
        rows.append({"search": name, **time_steps(system, PAPER[name](system)), **label})
    return rows


def measure_cases(quick: bool, progress: Progress) -> dict[str, list[dict[str, Any]]]:
    """Cost of a time step over the number of particles: the paper's Fig. 11, Fig. 12 and the first part of Fig. 14."""
    numbers = [244, 488, 975, 1950] if quick else [244, 488, 975, 1950, 3900, 7800]
    along = [8, 13, 18] if quick else [8, 13, 18, 23, 28, 33, 39]
    parts = [1, 2] if quick else [1, 2, 3, 4, 5]
    names = list(PAPER)
    return {
        "3.1": [row for n in numbers for row in _compare(discs(n), names, {}, progress)],
        "3.2": [row for m in along for row in _compare(equal_spheres(m), names, {}, progress)],
        "3.3": [row for f in parts for row in _compare(fractured_spheres(f), names, {"ratio": f}, progress)],
    }


def measure_fracture(quick: bool, progress: Progress) -> list[dict[str, Any]]:
    """Fig. 14 and on: cost per particle over R/r."""
    parts = [1, 2, 3, 10] if quick else [1, 2, 3, 4, 5, 10, 20, 50, 100]
    most = 30_000 if quick else 1_000_000
    names = ["cells", "sweep", "levels"]
    return [row for f in parts for row in _compare(fractured_spheres(f, most), names, {"ratio": f}, progress)]


def measure_parameters(quick: bool, progress: Progress) -> dict[str, Any]:
    """Cost over zone radius, rebuild interval and cell size, and that of `auto`: 2.1 and 2.4."""
    system = equal_spheres(8 if quick else 23)
    fast = System(system.centres, system.radii, system.speeds * 10, system.box, system.step, system.cell_size)
    radius, steps = float(system.radii[0]), 30 if quick else 200
    zones = np.array([2.02, 2.1, 2.25, 2.5, 2.75, 3, 3.5, 4, 5, 6, 8])
    cells = np.array([1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0])
    intervals = np.array([1, 2, 3, 5, 10, 20, 30, 50, 100, 200])
    result: dict[str, Any] = {"bodies": len(fast), "radius": radius, "steps": steps}
    runs = {
        "zones": [(z, {"method": "verlet", "zone_radius": z * radius}) for z in zones],
        "cell_sizes": [(c, {"method": "cells", "cell_size": 2 * c * radius, "rebuild_every": 1}) for c in cells],
        "intervals": [(k, {"method": "verlet", "zone_radius": 3 * radius, "rebuild_every": int(k)}) for k in intervals],
        "auto": [(0, {"method": "auto"})],
    }
    for name, options in runs.items():
        result[name] = []
        for value, option in options:
            progress(f"{name.replace('_', ' ')}: {value:g}")
            result[name].append({"value": float(value), **time_steps(fast, option, steps)})
    return result


def fit_exponent(rows: list[dict[str, Any]], search: str, last: int | None = None) -> float:
    """Slope of log seconds over log particles, over all numbers or the last few; NaN with fewer than two."""
    return fit_power(rows, search, last)[1]


def fit_power(rows: list[dict[str, Any]], search: str, last: int | None = None) -> tuple[float, float]:
    """Factor a and exponent b of seconds = (a n)^b, as the paper writes it; NaN with fewer than two numbers."""
    points = [(row["bodies"], row["seconds"]) for row in rows if row["search"] == search and "seconds" in row]
    points = points[-last:] if last else points
    if len(points) < 2:
        return float("nan"), float("nan")
    n, t = np.log(np.array(points)).T
    slope, shift = np.polyfit(n, t, 1)
    return float(np.exp(np.clip(shift / slope, -100, 100))), float(slope)  # times that do not grow give no factor
