"""What impinge does with the scenes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import impinge
from benchmarks.soft_test.engine import Setting, run
from benchmarks.soft_test.scenes import GRAVITY, SCENES, Cloth, Floats, Scene

NAME = "impinge"


@dataclass(frozen=True)
class ImpingeSetting:
    """How impinge is used for a run."""

    integrator: str
    dt: float  # s

    def __str__(self) -> str:
        return self.integrator


class ImpingeSimulation:
    """A scene in a `SoftWorld`."""

    def __init__(self, scene: Scene, setting: ImpingeSetting, threads: int) -> None:
        body = scene.body
        world = impinge.SoftWorld(
            gravity=(0.0, 0.0, -GRAVITY), dt=setting.dt, integrator=setting.integrator, threads=threads
        )
        if isinstance(body, Cloth):
            added = world.add_cloth(
                impinge.Mesh(body.x, body.faces),
                stretch=body.stretch,
                shear=body.shear,
                bend=body.bend,
                damping=body.damping,
                density=body.density,
                thickness=body.thickness,
            )
        else:
            added = world.add_cable(
                body.x,
                radius=body.radius,
                stretch=body.stretch,
                bend=body.bend,
                damping=body.damping,
                mass_per_length=body.mass_per_length,
            )
        for obstacle in scene.obstacles:
            world.add_obstacle(obstacle.mesh())
        if scene.fixed:
            world.fix(np.arange(added.nodes.start, added.nodes.stop)[list(scene.fixed)])
        self._world, self._nodes = world, added.nodes

    def step(self) -> None:
        self._world.step(1)

    def positions(self) -> Floats:
        return np.array(self._world.positions[self._nodes])

    def trouble(self) -> str:
        return ""


class Impinge:
    """The library that this benchmark is about."""

    name = NAME

    def version(self) -> str:
        return impinge.__version__

    def settings(self, scene: Scene) -> list[Setting]:
        steps = (5e-3, 1e-2, 2e-2) if isinstance(scene.body, Cloth) else (2e-3, 5e-3, 1e-2)
        return [ImpingeSetting(way, dt) for way in ("implicit-euler", "bdf2") for dt in steps]

    def main_setting(self) -> Setting:
        return ImpingeSetting("implicit-euler", 1e-2)

    def build(self, scene: Scene, setting: Setting, threads: int) -> ImpingeSimulation:
        assert isinstance(setting, ImpingeSetting)
        return ImpingeSimulation(scene, setting, threads)


def warm_up(engine: Impinge, threads: int) -> None:
    """Compile, or load from the cache, what is timed: small scenes until all is in contact."""
    for make in SCENES.values():
        scene = replace(make(8), duration=0.2)
        for setting in (ImpingeSetting("implicit-euler", 1e-2), ImpingeSetting("bdf2", 1e-2)):
            done = run(engine, scene, setting, threads, 600.0)
            if done.ended:
                raise RuntimeError(f"{scene.name}: {done.ended}")
