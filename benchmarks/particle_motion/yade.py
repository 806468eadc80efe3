"""Yade: a list by sweep and prune, whose distance is the one setting; not searched for, as one run takes long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.particle_motion import processes
from benchmarks.particle_motion.cases import Case, State
from benchmarks.particle_motion.contact import SHARE
from benchmarks.particle_motion.simulator import Order, Outcome, Setting


class Yade:
    name = "yade"

    def __init__(self) -> None:
        self._program = processes.find("yade")

    def version(self) -> str:
        return processes.run([self._program, "--version"], Path.cwd(), 60).split()[-1]

    def first(self, case: Case) -> Setting:
        return Setting(skin=case.skins[0])

    def choices(self, case: Case, threads: int) -> list[tuple[str, tuple[Any, ...]]]:
        return []

    def run(self, order: Order, folder: Path) -> Outcome:
        source, target = folder / "yade.npz", folder / "yade_result.npz"
        _write(order, source)
        target.unlink(missing_ok=True)
        script = Path(__file__).with_name("yade_script.py")
        command = [self._program, "-n", "-x", f"-j{order.threads}", str(script), str(source), str(target)]
        processes.run(command, folder, order.limit, order.threads)
        with np.load(target) as found:
            state = State(found["centres"], found["velocities"], found["spins"])
            seconds, built = float(found["seconds"]), int(found["built"])
        kinetic = 0.5 * float(order.case.masses @ (state.velocities**2).sum(axis=1))
        return Outcome(order.steps, seconds, kinetic, built, state if order.wants_state else None)


def _write(order: Order, path: Path) -> None:
    assert order.setting.skin is not None
    case, contact, mass = order.case, order.case.contact, float(order.case.masses[0])
    np.savez(
        path,
        centres=case.start.centres,
        velocities=case.start.velocities,
        spins=case.start.spins,
        radii=case.radii,
        box=case.box,
        density=case.density,
        gravity=case.gravity,
        dt=case.dt,
        stiffness=contact.stiffness,
        friction=contact.friction,
        share=SHARE,
        damping=contact.damping(0.5 * mass),
        wall_damping=contact.damping(mass),
        skin=order.setting.skin,
        before=order.before,
        steps=order.steps,
    )
