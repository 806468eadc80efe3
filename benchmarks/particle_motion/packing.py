"""The start of the dense case: spheres pushed apart until none overlap much, then settled under gravity.

Any simulator can do the second part; all codes then start from the same state. Contacts start with unstretched
tangential springs, as no code can read those of another one.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import impinge
from benchmarks.particle_motion.cases import Case, State
from benchmarks.particle_motion.simulator import Order, Simulator
from benchmarks.report import progress

_Array = NDArray[np.float64]

_ROUNDS = 200
_SMALL = 2e-3  # overlap, in radii, that may be left
_LOSSY = 0.2  # restitution while settling
_SETTLING = 0.02  # s: with friction it is rigid after a quarter of that; the rest calms it


def separated(case: Case) -> _Array:
    """Centres moved until few spheres overlap, and little: (n, 3)."""
    radius = case.smallest
    low, high = radius, case.box - radius
    centres = np.clip(case.start.centres, low, high)
    for _ in range(_ROUNDS):
        # A little more than needed, as the last bit of an overlap takes longest.
        i, j = impinge.pairs(centres, (1 + _SMALL) * radius).T
        offsets = centres[i] - centres[j]
        distances = np.sqrt((offsets**2).sum(axis=1))
        if (distances > (2 - _SMALL) * radius).all():
            break
        pushes = offsets * (0.5 * (2 * (1 + _SMALL) * radius / np.maximum(distances, 1e-9 * radius) - 1))[:, None]
        for axis in range(3):
            change = np.bincount(i, pushes[:, axis], len(centres)) - np.bincount(j, pushes[:, axis], len(centres))
            centres[:, axis] += change
        centres = np.clip(centres, low, high)
    return centres


def settled(case: Case, simulator: Simulator, threads: int) -> Case:
    """The case from a state at rest but for small motion; kept in the folder for temporary files."""
    key = f"{case.label} {case.box.tolist()} {case.density} {case.contact} {case.dt} {_SETTLING} {_LOSSY} {_SMALL}"
    name = f"packing-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"
    path = Path(tempfile.gettempdir()) / "impinge-benchmarks" / name
    if path.exists():
        progress(f"{case.label}: the settled state of an earlier run, {path}")
        with np.load(path) as kept:
            return replace(case, start=State(kept["centres"], kept["velocities"], kept["spins"]))
    progress(f"{case.label}: pushing spheres apart")
    apart = replace(case.start, centres=separated(case))
    lossy = replace(case, start=apart, contact=replace(case.contact, restitution=_LOSSY))
    steps = round(_SETTLING / case.dt)
    progress(f"{case.label}: settling, {steps:,} steps of {simulator.name}")
    with tempfile.TemporaryDirectory() as folder:
        order = Order(lossy, simulator.first(lossy), threads, 1, steps - 1, wants_state=True)
        state = simulator.run(order, Path(folder)).state
    assert state is not None
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, centres=state.centres, velocities=state.velocities, spins=state.spins)
    partial.replace(path)
    return replace(case, start=state)
