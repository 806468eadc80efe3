"""Part "energy": kinetic energies next to those of LAMMPS, and how well a code keeps the total."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import impinge
from benchmarks.particle_motion.cases import Case, State
from benchmarks.particle_motion.simulator import Order, Simulator
from benchmarks.particle_motion.sizes import Sizes
from benchmarks.report import progress


def total_energy(case: Case, state: State) -> float:
    """Kinetic, elastic and gravitational energy of smooth spheres, J."""
    kinetic = 0.5 * case.masses @ (state.velocities**2).sum(axis=1)
    height = case.gravity * (case.masses @ state.centres[:, 2])
    i, j = impinge.pairs(state.centres, case.radii).T
    overlaps = case.radii[i] + case.radii[j] - np.linalg.norm(state.centres[i] - state.centres[j], axis=1)
    at_walls = np.maximum(0.0, case.radii[:, None] - np.minimum(state.centres, case.box - state.centres))
    return float(kinetic + height + 0.5 * case.contact.stiffness * ((overlaps**2).sum() + (at_walls**2).sum()))


def _run(simulator: Simulator, case: Case, steps: int, threads: int) -> tuple[float, State]:
    """Kinetic energy and state after the steps."""
    progress(f"energy: {case.label}, {steps:,} steps, {simulator.name}")
    with tempfile.TemporaryDirectory() as folder:
        order = Order(case, simulator.first(case), threads, 1, steps - 1, wants_state=True)
        outcome = simulator.run(order, Path(folder))
    assert outcome.state is not None
    # Of the state, as what a code prints may be rounded.
    return 0.5 * float(case.masses @ (outcome.state.velocities**2).sum(axis=1)), outcome.state


def measure(simulators: list[Simulator], threads: int, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per case and code: kinetic energy after some steps from equal numbers."""
    rows = []
    for make, steps in sizes.compared:
        case = make()
        for simulator in simulators:
            kinetic, _ = _run(simulator, case, steps, threads)
            rows.append({"case": case.label, "code": simulator.name, "steps": steps, "kinetic": kinetic})
    return rows


def measure_drift(simulators: list[Simulator], threads: int, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per case and code: change of the total energy over that of the start."""
    rows = []
    for make, allowed in sizes.drift:
        case = make()
        start = total_energy(case, case.start)
        for simulator in simulators:
            _, state = _run(simulator, case, sizes.drift_steps, threads)
            drift = abs(total_energy(case, state) / start - 1)
            about = {"case": case.label, "code": simulator.name, "steps": sizes.drift_steps}
            rows.append(about | {"drift": drift, "allowed": allowed})
    return rows
