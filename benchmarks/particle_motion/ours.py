"""impinge, with its default settings."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import impinge
from benchmarks.particle_motion.cases import Case, State
from benchmarks.particle_motion.simulator import Order, Outcome, Setting


class Impinge:
    name = "impinge"

    def __init__(self) -> None:
        self._world = impinge.World

    def version(self) -> str:
        return impinge.__version__

    def first(self, case: Case) -> Setting:
        return Setting()

    def choices(self, case: Case, threads: int) -> list[tuple[str, tuple[Any, ...]]]:
        return []

    def run(self, order: Order, folder: Path) -> Outcome:
        case = order.case
        contact = case.contact
        material = impinge.Material(
            density=case.density,
            stiffness=contact.stiffness,
            restitution=contact.restitution,
            friction=contact.friction,
        )
        world = self._world(gravity=(0.0, 0.0, -case.gravity), dt=case.dt, threads=order.threads)
        world.add_spheres(
            case.start.centres, case.radii, material, velocities=case.start.velocities, spins=case.start.spins
        )
        world.add_box((0.0, 0.0, 0.0), case.box, material=material)
        world.step(order.before)
        rebuilds = world.statistics.rebuilds
        start = time.perf_counter()
        world.step(order.steps)
        seconds = time.perf_counter() - start
        spheres = world.spheres
        state = State(spheres.centres.copy(), spheres.velocities.copy(), spheres.spins.copy())
        kinetic = 0.5 * float(case.masses @ (state.velocities**2).sum(axis=1))
        rebuilds = world.statistics.rebuilds - rebuilds
        return Outcome(order.steps, seconds, kinetic, rebuilds, state if order.wants_state else None)
