"""What the paper shows in pictures: 300 discs that fall for 2 s (Fig. 8 and 9), and its largest packing (Fig. 10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bodies.filling import fill_random
from impinge.broad import box_pairs
from impinge.reproduce.particles.simulations import CASES, End, demand_equal, end_of, fingerprint, new_world
from impinge.reproduce.particles.systems import System, discs
from impinge.reproduce.statements import Progress

__all__ = ["Pictured", "floating_discs", "let_fall", "potential_contacts", "run_demo", "run_packing"]

_SEARCHES = ("auto", "verlet", "cells", "sweep")
_FULL, _QUICK = (2.0, 0.05), (0.1, 0.002)  # s that the discs of Fig. 8 and of Fig. 10 fall


class Pictured(NamedTuple):
    """A system before and after some motion."""

    system: System
    end: End
    facts: dict[str, Any]  # for the report


def floating_discs(count: int = 300, seed: int = 4) -> System:
    """Discs at rest that fill 55 % of the upper half of a box, numbered row by row."""
    radii = np.random.default_rng(seed).uniform(0.5e-3, 1.5e-3, count)
    area = float(np.pi * (radii**2).sum())
    width = float(np.sqrt(area / 0.4))
    height = area / 0.55 / width
    filling = fill_random([0, height], [width, 2 * height], radii, seed=seed)
    rows = np.floor(filling.centres[:, 1] / 2.5e-3)
    order = np.lexsort((filling.centres[:, 0], rows))
    box = np.array([width, 2 * height])
    return System(filling.centres[order], filling.radii[order], np.zeros((count, 2)), box, 1e-7, 7e-3, falls=True)


def let_fall(system: System, search: str, until: float, threads: int | None) -> Pictured:
    """Discs of case 3.1 under gravity; dt is a fiftieth of the shortest contact, ten times that of the paper."""
    world = new_world(system, CASES["3.1"], search, "auto", threads)
    before = world.energy()
    world.run(until)
    after, end = world.energy(), end_of(world)
    facts = {
        "way": "world", "search": search, "bodies": len(system), "until": until, "dt": world.dt, "steps": world.steps,
        "rebuilds": end.rebuilds, "contacts": end.contacts, "state": fingerprint(end),
        "speed": float(np.linalg.norm(end.velocities, axis=1).mean()),
        "drift": abs(after.total - before.total) / after.kinetic,
    }  # fmt: skip
    return Pictured(system, end, facts)


def potential_contacts(centres: Any, radii: Any) -> Any:
    """(m, 2): pairs of discs whose boxes collide, the lower number first."""
    half = np.asarray(radii)[:, None]
    return box_pairs(centres - half, centres + half)


def run_demo(quick: bool, progress: Progress) -> Pictured:
    """Fig. 8: 300 discs, 2 s, with every search; equal ends are demanded."""
    system, until, runs = floating_discs(), (_QUICK if quick else _FULL)[0], []
    for search in _SEARCHES:
        progress(f"Figure 8, {search}")
        runs.append(let_fall(system, search, until, 1))
    demand_equal([run.facts for run in runs])
    return runs[0]


def run_packing(quick: bool, progress: Progress) -> Pictured:
    """Fig. 10: the largest system of 3.1, and how it falls."""
    progress("Figure 10")
    return let_fall(discs(975 if quick else 7800), "auto", (_QUICK if quick else _FULL)[1], None)
