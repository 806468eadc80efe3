"""Cables, cloths and worlds of them that several tests of SoftWorld look at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge.bodies.motion import Motion
from impinge.errors import InfeasibleStep
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh, cylinder, icosphere

from ..bodies.soft_bodies import sheet

Floats = NDArray[np.float64]
CABLE: Any = {"radius": 0.01, "stretch": 500.0, "bend": 1e-3, "mass_per_length": 0.1, "damping": 1e-3}
CLOTH: Any = {"thickness": 0.02, "stretch": 200.0, "shear": 50.0, "bend": 1e-3, "density": 0.2, "damping": 1e-3}
FLOOR = Mesh(np.array([[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0.0]]), [[0, 1, 2], [0, 2, 3]])


def line(start: Any, end: Any, count: int) -> Floats:
    return np.linspace(np.asarray(start, float), np.asarray(end, float), count)


def ring(count: int, radius: float, first: Any, second: Any, centre: Any = (0, 0, 0)) -> Floats:
    """A circle in the plane of two axes."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)[:, None]
    return np.asarray(centre) + radius * (np.cos(angle) * np.asarray(first) + np.sin(angle) * np.asarray(second))


def square(nodes: int, size: float, height: float) -> tuple[Floats, Any]:
    x, faces = sheet(nodes, nodes, size, size, "alternating")
    return x - [size / 2, size / 2, -height], faces


def lying_cylinder(radius: float, length: float, sides: int) -> Mesh:
    """Along y."""
    upright = cylinder(radius, length, sides)
    return Mesh(upright.vertices[:, [1, 2, 0]], upright.faces)


def masses_of(world: SoftWorld) -> Floats:
    """Of cables, all at rest as they are."""
    masses = np.zeros(len(world.positions))
    for body in world.bodies:
        half = 0.5 * CABLE["mass_per_length"] * np.linalg.norm(np.diff(world.positions[body.nodes], axis=0), axis=1)
        masses[body.nodes] = np.append(half, 0) + np.append(0, half)
    return masses


class Scene(NamedTuple):
    world: SoftWorld
    steps: int
    obstacles: tuple[tuple[Mesh, Any], ...] = ()  # meshes and their velocities


def thrown_rings() -> Scene:
    """Two linked rings that fly apart, until they pull at each other."""
    world = SoftWorld(gravity=(0, 0, 0), dt=0.01)
    world.add_cable(ring(16, 0.2, (1, 0, 0), (0, 1, 0)), closed=True, velocity=(-2, 0, 0.3), **CABLE)
    world.add_cable(ring(16, 0.2, (1, 0, 0), (0, 0, 1), (0.2, 0, 0)), closed=True, velocity=(2, 0.5, 0), **CABLE)
    return Scene(world, 40)


def cloth_on_a_ball() -> Scene:
    world = SoftWorld(dt=0.01)
    world.add_cloth(square(8, 1.0, 0.33), **CLOTH)
    ball = icosphere(1)
    mesh = Mesh(0.3 * ball.vertices, ball.faces)
    world.add_obstacle(mesh)
    return Scene(world, 40, ((mesh, (0, 0, 0)),))


def cable_over_a_cylinder() -> Scene:
    world, mesh = SoftWorld(dt=0.01), lying_cylinder(0.1, 0.3, 12)
    world.add_cable(line((-0.5, 0.02, 0.13), (0.4, -0.01, 0.14), 25), **CABLE)
    world.add_obstacle(mesh)
    return Scene(world, 40, ((mesh, (0, 0, 0)),))


def cable_at_a_moving_obstacle() -> Scene:
    world, ball = SoftWorld(dt=0.01, gravity=(0, 0, 0)), icosphere(1)
    mesh, velocity = Mesh(0.1 * ball.vertices, ball.faces), (0.3, 0.1, 2.0)
    world.add_cable(line((-0.3, 0.01, 0.2), (0.3, -0.02, 0.21), 17), velocity=(0, 0, -5), **CABLE)
    world.add_obstacle(mesh, Motion(velocity=velocity))
    return Scene(world, 25, ((mesh, velocity),))


def cloth_on_itself() -> Scene:
    """A sheet that stands on its edge and collapses onto a floor."""
    world = SoftWorld(dt=0.01)
    x, faces = square(8, 0.6, 0.0)
    upright = np.column_stack([x[:, 0], 0.02 * np.sin(18 * x[:, 1]) + 0.01 * x[:, 0], x[:, 1] + 0.32])
    world.add_cloth((upright, faces), **CLOTH | {"thickness": 0.01})
    world.add_obstacle(FLOOR)
    return Scene(world, 40, ((FLOOR, (0, 0, 0)),))


SCENES = [thrown_rings, cloth_on_a_ball, cable_over_a_cylinder, cable_at_a_moving_obstacle, cloth_on_itself]


def a_cable(**changes: Any) -> SoftWorld:
    world = SoftWorld(gravity=(0, 0, 0))
    world.add_cable(line((-0.3, 0.01, 0.1), (0.3, 0, 0.11), 9), **CABLE | changes)
    return world


def driven_into_the_floor(node: int) -> SoftWorld:
    world = a_cable()
    world.add_obstacle(FLOOR)
    world.fix(node, (0, 0, -1))
    return world


def run_until_infeasible(world: SoftWorld) -> tuple[InfeasibleStep, Floats, float]:
    """The error, and the last state before it."""
    for _ in range(100):
        x, t = world.positions, world.time
        try:
            world.step()
        except InfeasibleStep as error:
            return error, x, t
    raise AssertionError("all steps were taken")


def cable_world(count: int = 11, *, gravity: Any = (0, 0, -9.81), dt: float = 0.01, **changes: Any) -> SoftWorld:
    """A cable of 1 m along x."""
    world = SoftWorld(gravity, dt)
    world.add_cable(line((0, 0, 0), (1, 0, 0), count), **CABLE | changes)
    return world


def capstan(friction: float, damping: float = 2e-3, speed: float = 0.02) -> SoftWorld:
    """A cable over half a cylinder, along y, whose ends are pulled until it is taut, and then drawn to one side."""
    radius, hanging, nodes = 0.1, 0.1, 65
    world = SoftWorld(gravity=(0, 0, 0), dt=0.004, friction=friction)
    outer = radius + 0.002 + 1e-5
    along = np.linspace(-hanging, np.pi * outer + hanging, nodes)
    angle = np.clip(along / outer, 0, np.pi)
    x = outer * np.column_stack([-np.cos(angle), np.zeros(nodes), np.sin(angle)])
    x[:, 2] -= np.maximum(-along, 0) + np.maximum(along - np.pi * outer, 0)
    world.add_cable(x, radius=0.002, stretch=5e3, mass_per_length=0.05, damping=damping)
    world.add_obstacle(lying_cylinder(radius, 0.2, 128))
    for node, sign in ((0, 1.0), (nodes - 1, -1.0)):
        world.fix(node, lambda t, sign=sign: np.array([0, 0, -0.01 if t < 0.0999 else sign * speed]))
    return world


def tension_ratios(world: SoftWorld, steps: int) -> list[float]:
    """Tension behind the cylinder over that before it, after each of the next steps."""
    ratios = []
    for _ in range(steps):
        world.step()
        strains = world.strains()
        ratios.append(strains[-3] / strains[2])
    return ratios


def heights(count: int) -> Any:
    return sp.csr_array((np.ones(count), (range(count), 3 * np.arange(count) + 2)), shape=(count, 3 * count))


def energy_left(world: SoftWorld) -> float:
    """All energy, less the work of what drives and parts bodies."""
    energy = world.energy()
    return energy["kinetic"] + energy["potential"] + energy["elastic"] - energy["driven"] - energy["recovery"]
