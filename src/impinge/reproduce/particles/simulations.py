"""The three cases of [Muth2007b] 3 as whole simulations: forces, motion, and each search that the paper compares.

Every case runs in two ways. "paper": the engine of `impinge.World` with lists made as in the paper, whatever the
motion: Verlet lists by testing all pairs at every 100th step, linked cells and linear lists in every step. "world":
`impinge.World` as it comes, which keeps its lists as long as they are good. Whatever the way, the final states must be
the same to the last bit.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _jit
from impinge.bodies import _planes
from impinge.bodies.dynamics import Dynamics
from impinge.broad import NeighborSearch
from impinge.broad.space import read_space
from impinge.reproduce.particles.systems import GRAVITY, System, discs, equal_spheres, fractured_spheres
from impinge.reproduce.statements import Progress
from impinge.response.materials import Material, law_table
from impinge.run.planes import read_plane
from impinge.run.world import World

__all__ = [
    "CASES", "Case", "End", "demand_equal", "end_of", "fingerprint", "measure_simulations", "new_world", "run_case",
    "simulate",
]  # fmt: skip

_Floats = NDArray[np.float64]
_REACH = 0.03  # of the smallest radius: more than two particles come nearer in a step
_SHORT = 0.5  # s; shorter runs are made three times, and the fastest counts
_QUICK_STEPS = 30
_WORLD = ("verlet", "cells", "sweep", "auto")


@dataclass(frozen=True)
class Case:
    """What the paper says about a case, and the number of steps, which it does not say."""

    material: Material
    gravity: float  # m/s²
    steps: int
    searches: tuple[str, ...]  # that the paper compares


CASES = {
    "3.1": Case(Material(density=7000, stiffness=1e7), GRAVITY, 1000, ("verlet", "cells", "sweep")),
    "3.2": Case(Material(density=1e10, stiffness=1e5), 0.0, 300, ("verlet", "cells", "sweep")),
    "3.3": Case(Material(density=7000, stiffness=4e6), 0.0, 200, ("cells", "sweep")),
}


class End(NamedTuple):
    """Where a simulation ended, and what its search has done."""

    centres: _Floats  # (n, d), m
    velocities: _Floats  # (n, d), m/s
    contacts: int
    rebuilds: int
    tests: int  # candidates tested in all rebuilds
    listed: int  # pairs in the last lists, 0 where not known


def _paper_search(name: str, system: System) -> tuple[NeighborSearch, int]:
    """A search as in the paper, and the number of steps after which its lists are made anew."""
    if name == "verlet":
        return NeighborSearch("verlet", all_pairs=True, threads=1), 100
    skin = _REACH * float(system.radii.min())
    size = system.cell_size if name == "cells" else None
    return NeighborSearch(name, skin, cell_size=size, threads=1), 1


def _engine(system: System, case: Case, search: NeighborSearch) -> Dynamics:
    """What moves a world, with a search of its own."""
    d = system.centres.shape[1]
    pull = np.zeros(3)
    pull[d - 1] = -case.gravity
    engine = Dynamics(read_space(None, False, d), search, pull, "velocity")
    flat = np.zeros((len(system), 3 - d))
    centres, speeds = np.hstack([system.centres, flat]), np.hstack([system.speeds, flat])
    engine.add(centres, system.radii, case.material.density, 0, speeds, np.zeros((len(system), 3)))
    for normal in np.eye(d):
        for point, side in ((np.zeros(d), normal), (system.box, -normal)):
            row = read_plane(d, point, side, None, None, None, 0.0)
            row[_planes.MADE_OF] = -1
            engine.add_plane(row)
    engine.set_dt(system.step)
    engine.set_laws(law_table([case.material]), 1)
    return engine


def _in_engine(system: System, case: Case, name: str, steps: int) -> tuple[float, End]:
    search, every = _paper_search(name, system)
    with _jit.threads(1):
        engine = _engine(system, case, search)
        start = time.perf_counter()
        while engine.steps < steps:
            if engine.steps % every == 0:
                engine.lists.forget()
            engine.advance(min(every - engine.steps % every, steps - engine.steps))
        seconds = time.perf_counter() - start
        stats, listed, d = search.statistics, len(engine.lists.partners) // 2, system.centres.shape[1]
        rebuilds, tests = stats.rebuilds, stats.tests  # before the questions below make new lists
        speeds = engine.look().velocities  # first, as it may put rows in another order
        order = np.argsort(engine.particles.ids)
        centres, speeds = engine.particles.x[order, :d], speeds[order, :d]
        return seconds, End(centres, speeds, len(engine.contacts().ids), rebuilds, tests, listed)


def new_world(system: System, case: Case, search: str, dt: float | str, threads: int | None = 1) -> World:
    """A world of the particles of a system, between walls."""
    d = system.centres.shape[1]
    pull = [0.0] * (d - 1) + [-case.gravity]
    world = World(pull, dt, d, search, threads=threads)
    world.add_spheres(system.centres, system.radii, case.material, system.speeds)
    world.add_box(np.zeros(d), system.box)
    return world


def _in_world(system: System, case: Case, name: str, steps: int) -> tuple[float, End]:
    world = new_world(system, case, name, system.step)
    start = time.perf_counter()
    world.step(steps)
    seconds = time.perf_counter() - start
    return seconds, end_of(world)


def end_of(world: World) -> End:
    """What has become of a world."""
    stats = world.statistics
    rebuilds, tests = stats.rebuilds, stats.tests  # before the questions below make new lists
    spheres = world.spheres
    return End(spheres.centres, spheres.velocities, len(world.contacts().ids), rebuilds, tests, 0)


def fingerprint(end: End) -> str:
    """A number that changes with every bit of the state."""
    return hashlib.sha256(end.centres.tobytes() + end.velocities.tobytes()).hexdigest()


_WAYS: dict[str, Callable[[System, Case, str, int], tuple[float, End]]] = {"paper": _in_engine, "world": _in_world}


def simulate(system: System, case: Case, way: str, search: str, steps: int) -> tuple[dict[str, Any], End]:
    """One simulation on one thread: a row of numbers, and its end."""
    best, end = _WAYS[way](system, case, search, steps)
    if best < _SHORT:
        best = min(best, *(_WAYS[way](system, case, search, steps)[0] for _ in range(2)))
    row = {
        "way": way, "search": search, "bodies": len(system), "steps": steps, "seconds": best,
        "rebuilds": end.rebuilds, "tests": end.tests, "listed": end.listed, "contacts": end.contacts,
        "state": fingerprint(end),
    }  # fmt: skip
    return row, end


def demand_equal(rows: list[dict[str, Any]]) -> None:
    """Raise an error unless all these runs ended in the same state."""
    for row in rows[1:]:
        if row["state"] != rows[0]["state"]:
            first, other = (f"{one['search']} ({one['way']})" for one in (rows[0], row))
            raise RuntimeError(f"{row['bodies']} particles: {other} ended in another state than {first}")


def run_case(system: System, case: Case, steps: int, progress: Progress) -> tuple[list[dict[str, Any]], End]:
    """All searches in both ways from the same start; equal ends are demanded."""
    rows: list[dict[str, Any]] = []
    runs = [("paper", name) for name in case.searches]
    runs += [("world", name) for name in _WORLD if name in (*case.searches, "auto")]
    for way, name in runs:
        progress(f"simulation of {len(system):,} particles, {name}, {way}")
        row, end = simulate(system, case, way, name, steps)
        rows.append(row)
    demand_equal(rows)
    return rows, end


def measure_simulations(quick: bool, progress: Progress) -> tuple[dict[str, list[dict[str, Any]]], dict[int, End]]:
    """Seconds of whole simulations of the three cases over the number of particles: Fig. 11, 12 and 14.

    Also returns the ends of 3.3, by R/r.
    """
    numbers = [244, 488, 975] if quick else [244, 488, 975, 1950, 3900, 7800]
    along = [8, 13] if quick else [8, 13, 18, 23, 28, 33, 39]
    parts = [1, 2] if quick else [1, 2, 3, 4, 5]
    steps = {name: _QUICK_STEPS if quick else case.steps for name, case in CASES.items()}
    for name, system in {"3.1": discs(100), "3.2": equal_spheres(4)}.items():  # so that all is compiled
        run_case(system, CASES[name], 2, progress)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in CASES}
    ends = {}
    for count in numbers:
        rows["3.1"] += run_case(discs(count), CASES["3.1"], steps["3.1"], progress)[0]
    for count in along:
        rows["3.2"] += run_case(equal_spheres(count), CASES["3.2"], steps["3.2"], progress)[0]
    for ratio in parts:
        found, ends[ratio] = run_case(fractured_spheres(ratio), CASES["3.3"], steps["3.3"], progress)
        rows["3.3"] += [row | {"ratio": ratio} for row in found]
    return rows, ends
