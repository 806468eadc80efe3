"""Worlds of cables and cloth for the tests of what is written about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge.bodies.motion import Motion
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh, icosphere

from ..bodies.soft_bodies import sheet

CABLE: Any = {"radius": 0.01, "stretch": 50.0, "bend": 1e-3, "mass_per_length": 0.1, "damping": 1e-3}
CLOTH: Any = {"thickness": 0.02, "stretch": 20.0, "shear": 5.0, "bend": 1e-4, "density": 0.2, "damping": 1e-3}
FLOOR = Mesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2], [0, 2, 3]])


def ring(nodes: int, radius: float, height: float) -> Any:
    """A circle at a height."""
    angle = 2 * np.pi * np.arange(nodes) / nodes
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(nodes, height)])


def sway(t: float) -> Any:
    return np.array([0.2 * np.cos(10 * t), 0.0, 0.1])


def swing(t: float) -> Any:
    return np.array([0.02 * np.sin(20 * t), 0.0, 0.0]), np.eye(3)


def busy_world(integrator: str = "implicit-euler", *, functions: bool = True, threads: int | None = 1) -> SoftWorld:
    """A cloth and a ring on a ball that turns, a cable whose ends are driven; contacts soon after the start."""
    world = SoftWorld(dt=0.01 if integrator != "explicit" else 0.001, integrator=integrator, threads=threads)
    vertices, faces = sheet(6, 6, 0.5, 0.5, "alternating")
    world.add_cloth((vertices - [0.25, 0.25, -0.232], faces), velocity=(0, 0, -0.5), drag=0.1, **CLOTH)
    world.add_cable(ring(10, 0.1, 0.26), closed=True, velocity=(0, 0, -1), name="ring", **CABLE)
    rope = world.add_cable(np.linspace([-0.4, 0.3, 0.02], [0.4, 0.3, 0.02], 9), **CABLE)
    world.fix([rope.nodes.start], sway if functions else (0.2, 0, 0.1))
    world.fix(slice(rope.nodes.stop - 1, rope.nodes.stop))
    world.add_obstacle(icosphere(1, 0.2), Motion((0.1, 0, 0), rotation=((0, 0, 5), (0, 0, 0))))
    world.add_obstacle(FLOOR, swing if functions else None, thickness=0.002)
    return world


def bits(world: SoftWorld) -> bytes:
    """All numbers that change."""
    numbers = np.array([world.time, world.steps, world.scaled_steps])
    return numbers.tobytes() + world.positions.tobytes() + world.velocities.tobytes()
