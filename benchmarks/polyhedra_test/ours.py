"""What impinge does with bodies, and where its time goes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import impinge
from benchmarks import measure
from benchmarks.polyhedra_test import scenes
from benchmarks.polyhedra_test.engine import Pose, Setting
from benchmarks.polyhedra_test.kinds import Floats
from benchmarks.polyhedra_test.scenes import Bodies
from impinge._jit import threads
from impinge.bodies.rigid import _motion

NAME = "impinge"
PHASES = ("lists", "contacts", "motion")


def world_of(bodies: Bodies, threads: int, resolution: float | None = None) -> Any:
    """The bodies in their box."""
    world = impinge.World(gravity=(0.0, 0.0, -scenes.GRAVITY), threads=threads)
    rock = impinge.Material(
        scenes.DENSITY, stiffness=scenes.STIFFNESS, restitution=scenes.RESTITUTION, friction=scenes.FRICTION
    )
    for number, kind in enumerate(bodies.kinds):
        rows = np.flatnonzero(bodies.of == number)
        if len(rows):
            world.add_polyhedra(
                kind.mesh,
                bodies.positions[rows],
                bodies.rotations[rows],
                material=rock,
                velocities=bodies.velocities[rows],
                spins=bodies.spins[rows],
                resolution=resolution,
                overlap=True,
            )
    (x, y), top = bodies.box, float(bodies.positions[:, 2].max()) + 1.0
    world.add_box([0.0, 0.0, 0.0], [x, y, top])
    len(world.polyhedra)  # time step, laws
    return world


def bodies_in(world: Any, bodies: Bodies) -> Bodies:
    """Where the bodies are now, in their own order: those of one kind were added together."""
    order, seen = np.argsort(bodies.of, kind="stable"), world.polyhedra
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return replace(
        bodies,
        positions=seen.positions[back],
        rotations=seen.rotations[back],
        velocities=seen.velocities[back],
        spins=seen.spins[back],
    )


def timed_steps(world: Any, steps: int) -> dict[str, float]:
    """Seconds that some steps take in each phase.

    Many steps are one call, in which threads go from contacts to motion and on without waiting for each other. So only
    lists are timed there; the rest is shared out as contacts and motion take time by themselves, afterwards, which
    changes nothing.
    """
    rigid, listing = world._dynamics.rigid, 0.0
    make = rigid.lists.make

    def timed_make(*arguments: Any) -> None:
        nonlocal listing
        start = time.perf_counter()
        make(*arguments)
        listing += time.perf_counter() - start

    rigid.lists.make = timed_make
    try:
        start = time.perf_counter()
        world.step(steps)
        total = time.perf_counter() - start
    finally:
        del rigid.lists.make
    contacts, motion = _alone(world)
    share = (total - listing) / (contacts + motion)
    return dict(zip(PHASES, (listing, share * contacts, share * motion), strict=True))


def _alone(world: Any) -> tuple[float, float]:
    """What meeting all pairs takes now, and what moving all bodies would, s."""
    dynamics, rigid = world._dynamics, world._dynamics.rigid
    obstacles = dynamics._poses(1)[0]

    def move() -> None:
        kept = [array.copy() for array in (rigid.place, rigid.pose, rigid.late, rigid.now)]
        _motion.move_bodies(len(rigid), *kept, rigid.mass, rigid.inertia, rigid.forces, dynamics.gravity, world.dt, 0.0)

    def meet() -> None:
        rigid.push(dynamics._laws, dynamics.planes, obstacles, world.dt, False)

    with threads(world._threads):
        contacts, motion = (measure.best_of(3, work)[0].seconds for work in (meet, move))
    return contacts, motion


@dataclass(frozen=True)
class ImpingeSetting:
    """How impinge is used for a run."""

    dt: float  # s; 0 until the world is there

    def __str__(self) -> str:
        return "defaults"


class ImpingeSimulation:
    """Bodies in a `World`."""

    def __init__(self, bodies: Bodies, setting: ImpingeSetting, threads: int) -> None:
        self._bodies, self._world = bodies, world_of(bodies, threads)
        self.dt = float(self._world.dt)

    def step(self) -> None:
        self._world.step(1)

    def pose(self) -> Pose:
        now = bodies_in(self._world, self._bodies)
        return Pose(now.positions, now.rotations)


class Impinge:
    """The library that this benchmark is about."""

    name = NAME

    def version(self) -> str:
        return impinge.__version__

    def settings(self) -> list[Setting]:
        return [ImpingeSetting(0.0)]

    def build(self, bodies: Bodies, setting: Setting, threads: int) -> ImpingeSimulation:
        assert isinstance(setting, ImpingeSetting)
        return ImpingeSimulation(bodies, setting, threads)


def warm_up(threads: int) -> None:
    """Compile, or load from the cache, what is timed."""
    bodies = scenes.thrown(8, 200)
    world = world_of(bodies, threads)
    timed_steps(world, 3)
    len(bodies_in(world, bodies))
    world.body_contacts()


def describe_contacts(world: Any) -> dict[str, Any]:
    """How many contacts there are now, and how deep."""
    found = world.body_contacts()
    lists = world._dynamics.rigid.lists
    return {
        "pairs": len(lists.pairs),
        "contacts": len(found.depths),
        "depths": spread(found.depths),
    }


def spread(depths: Floats) -> dict[str, float]:
    """Median, 99 % and largest, m."""
    if len(depths) == 0:
        return {"median": 0.0, "most": 0.0, "largest": 0.0}
    median, most = np.quantile(depths, [0.5, 0.99])
    return {"median": float(median), "most": float(most), "largest": float(depths.max())}
