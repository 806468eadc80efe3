"""The demos by three responses: energy, strain and penetration over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from impinge.bodies.soft.penetration import measure_penetration
from impinge.output.softframe import SoftFrame
from impinge.reproduce.qp_collide.scenes import DEMOS, RADIUS, Demo, Scene
from impinge.reproduce.statements import Progress
from impinge.run.soft import RESPONSES, SoftWorld

__all__ = ["RESPONSES", "History", "Measured", "Picture", "measure_responses", "run_demo"]


_STEPS, _QUICK_STEPS = (0.01, 0.005, 0.002, 0.001), (0.01, 0.005)  # s
_PICTURED = 0.005  # s, time step of the pictures


@dataclass
class History:
    """One simulation; all lists over the steps."""

    demo: str
    response: str
    dt: float
    times: list[float] = field(default_factory=list)  # s
    energy: list[float] = field(default_factory=list)  # J, more than at the start
    strain: list[float] = field(default_factory=list)  # largest
    passed: list[int] = field(default_factory=list)  # pairs that touched or passed each other, up to then
    crossing: list[int] = field(default_factory=list)  # edges and faces that are in each other
    overlap: list[float] = field(default_factory=list)  # m, largest lack of distance
    depth: list[float] = field(default_factory=list)  # m, of the deepest node in the obstacle
    held_moved: float = 0.0  # m, how far nodes that are held have moved
    scaled: int = 0  # steps that were shortened

    def summary(self) -> dict[str, Any]:
        """The largest of all lists, and the end of sums."""
        return {
            "demo": self.demo, "response": self.response, "dt": self.dt, "steps": len(self.times), "gain": self.gain,
            "strain": max(self.strain), "passed": self.passed[-1], "crossing": max(self.crossing),
            "overlap": max(self.overlap), "depth": max(self.depth), "held_moved": self.held_moved,
            "scaled": self.scaled,
        }  # fmt: skip

    @property
    def gain(self) -> float:
        """The most energy that there was more than at the start, J."""
        return max(self.energy)


class Picture(NamedTuple):
    """A moment of a demo."""

    demo: str
    response: str
    dt: float
    frame: SoftFrame


class Measured(NamedTuple):
    """All simulations."""

    histories: list[History]
    pictures: list[Picture]

    def of(self, demo: str, response: str) -> list[History]:
        """Those of one demo with one response, by falling time step."""
        return [one for one in self.histories if (one.demo, one.response) == (demo, response)]


def run_demo(name: str, response: str, dt: float, demo: Demo | None = None) -> tuple[History, list[SoftFrame]]:
    """Simulate a demo; its history, and the frames of the times that are pictured."""
    demo = DEMOS[name] if demo is None else demo
    scene = demo.scene(dt, response)
    world, start = scene.world, scene.world.positions
    held, begin = list(scene.cable.held), _energy(world)
    history, frames, wanted = History(name, response, dt), [], list(demo.pictured)
    while True:
        if wanted and world.time > wanted[0] - 0.5 * dt:
            frames.append(_frame(scene))
            wanted.pop(0)
        if world.time > demo.duration - 0.5 * dt:
            break
        before = world.vertices()
        world.step()
        after = world.vertices()
        if not np.isfinite(after).all():
            break
        found = measure_penetration(world.surface, before, after)
        history.times.append(world.time)
        history.energy.append(_energy(world) - begin)
        history.strain.append(float(np.abs(world.elements.strains(world.positions).edges).max()))
        history.passed.append(found.passed + (history.passed[-1] if history.passed else 0))
        history.crossing.append(found.crossing)
        history.overlap.append(found.overlap)
        history.depth.append(found.depth)
    history.held_moved = float(np.abs(world.positions[held] - start[held]).max(initial=0.0))
    history.scaled = world.scaled_steps
    return history, frames


def _energy(world: SoftWorld) -> float:
    """What is in motion, in height and in strain, J."""
    energy = world.energy()
    return energy["kinetic"] + energy["potential"] + energy["elastic"]


def _frame(scene: Scene) -> SoftFrame:
    world = scene.world
    nodes = np.arange(len(world.positions), dtype=np.int32)
    strains = {"strain": world.elements.strains(world.positions).edges}
    return SoftFrame(
        world.time, world.positions, cables=[nodes], radii=np.full(len(nodes), RADIUS), edge_data=strains,
        obstacles=[scene.cable.obstacle],
    )  # fmt: skip


def measure_responses(quick: bool, progress: Progress) -> Measured:
    """All demos by all responses, with several time steps."""
    measured = Measured([], [])
    for name in DEMOS:
        for response in RESPONSES:
            for dt in _QUICK_STEPS if quick else _STEPS:
                progress(f"{name}, {response}, steps of {1e3 * dt:g} ms")
                history, frames = run_demo(name, response, dt)
                measured.histories.append(history)
                if dt == _PICTURED:
                    measured.pictures.extend(Picture(name, response, dt, frame) for frame in frames)
    return measured
