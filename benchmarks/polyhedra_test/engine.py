"""What an engine has to offer, and how its simulations are run and timed."""

from __future__ import annotations

import gc
import time
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.polyhedra_test.kinds import Floats
from benchmarks.polyhedra_test.scenes import Bodies
from benchmarks.report import reason


class Pose(NamedTuple):
    """Where bodies are."""

    positions: Floats  # (n, 3) m
    rotations: Floats  # (n, 3, 3)

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.positions).all() and np.isfinite(self.rotations).all())


class Setting(Protocol):
    """How an engine is used for a run."""

    @property
    def dt(self) -> float: ...  # s

    def __str__(self) -> str: ...


class Simulation(Protocol):
    """Bodies in an engine, ready for the first step."""

    dt: float  # s

    def step(self) -> None: ...

    def pose(self) -> Pose: ...


class Engine(Protocol):
    """A code that simulates rigid bodies."""

    name: str

    def version(self) -> str: ...

    def settings(self) -> list[Setting]: ...

    def build(self, bodies: Bodies, setting: Setting, threads: int) -> Simulation: ...


class Run(NamedTuple):
    """What a simulation came to."""

    dt: float  # s
    steps: int
    seconds: float  # of all steps
    pose: Pose  # at the end
    ended: str  # why it stopped early; empty if it did not

    @property
    def simulated(self) -> float:
        return self.steps * self.dt

    @property
    def rate(self) -> float:
        """Simulated seconds per second."""
        return self.simulated / self.seconds


def run(engine: Engine, bodies: Bodies, setting: Setting, threads: int, duration: float, limit: float) -> Run:
    """Build a scene and take its steps; the clock runs during steps only, and stops the run after `limit` seconds."""
    simulation = engine.build(bodies, setting, threads)
    wanted, steps, seconds, ended = round(duration / simulation.dt), 0, 0.0, ""
    gc.collect()
    gc.disable()
    try:
        while steps < wanted and not ended:
            start = time.perf_counter()
            simulation.step()
            seconds += time.perf_counter() - start
            steps += 1
            if seconds > limit and steps < wanted:
                ended = f"{limit:g} s are over"
    except Exception as error:  # an engine may give up, with the state before still of interest
        ended = reason(error)
    finally:
        gc.enable()
    if not steps:
        raise RuntimeError(f"no step was taken: {ended}")
    pose = simulation.pose()
    return Run(simulation.dt, steps, seconds, pose, ended or ("" if pose.is_finite else "not finite"))
