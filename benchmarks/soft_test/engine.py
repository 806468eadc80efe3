"""What an engine has to offer, and how its simulations are run and timed."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.report import reason
from benchmarks.soft_test.scenes import Floats, Scene


class Setting(Protocol):
    """How an engine is used for a run."""

    @property
    def dt(self) -> float: ...  # s

    def __str__(self) -> str: ...  # without the time step


class Simulation(Protocol):
    """A scene that an engine has built, ready for its first step."""

    def step(self) -> None: ...

    def positions(self) -> Floats: ...  # (n, 3) of all nodes, m, a copy

    def trouble(self) -> str: ...  # what the engine itself complained about so far, in a few words


class Engine(Protocol):
    """A code that simulates soft bodies."""

    name: str

    def version(self) -> str: ...

    def settings(self, scene: Scene) -> list[Setting]:
        """Those that are compared."""
        ...

    def main_setting(self) -> Setting:
        """The one for cloth with more and more nodes; of impinge, its defaults."""
        ...

    def build(self, scene: Scene, setting: Setting, threads: int) -> Simulation: ...


@dataclass(frozen=True)
class Run:
    """States of a simulation and the time that its steps took."""

    dt: float  # s
    states: Floats  # (steps + 1, n, 3) m, the start among them
    seconds: Floats  # (steps,) wall time of each step
    trouble: str
    ended: str  # why it stopped early; empty if it did not

    @property
    def simulated(self) -> float:
        """Time that has gone by in the scene, s."""
        return len(self.seconds) * self.dt

    @property
    def rate(self) -> float:
        """Simulated seconds per second."""
        return self.simulated / float(self.seconds.sum())


def run(engine: Engine, scene: Scene, setting: Setting, threads: int, limit: float) -> Run:
    """Build a scene and take its steps; the clock runs during steps only, and stops the run after `limit` seconds."""
    simulation = engine.build(scene, setting, threads)
    steps = round(scene.duration / setting.dt)
    states, ended = [simulation.positions()], ""
    seconds: list[float] = []
    gc.collect()
    gc.disable()
    try:
        while len(seconds) < steps and not ended:
            start = time.perf_counter()
            simulation.step()
            seconds.append(time.perf_counter() - start)
            states.append(simulation.positions())
            if not np.isfinite(states[-1]).all():
                ended = "not finite"
                del states[-1], seconds[-1]
            elif sum(seconds) > limit and len(seconds) < steps:
                ended = f"{limit:g} s are over"
    except Exception as error:  # an engine may give up, with the states before still of interest
        ended = reason(error)
    finally:
        gc.enable()
    if not seconds:
        raise RuntimeError(f"no step was taken: {ended}")
    return Run(setting.dt, np.array(states), np.array(seconds), simulation.trouble(), ended)
