"""Small problems with known answers, and how fast large ones are solved; nothing is compiled for it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from impinge import compiler

__all__ = ["CHECKS", "SPEEDS", "Outcome", "try_all"]

RIGHT, NOT_COMPILED, WRONG = "right", "not compiled yet", "WRONG"
_ROUNDING = 1e-9
_TOWARDS = np.array([[1.0, 0, 0], [-1, 0, 0]])  # m/s
_IMPACT = 0.01  # how far the speed after an impact may be off, as time steps are of finite length


class Outcome(NamedTuple):
    """Of one check, or one measurement."""

    name: str
    result: str  # RIGHT, NOT_COMPILED, WRONG; of a measurement the figure
    seconds: float
    detail: str = ""  # what is wrong


class _NotCompiledError(Exception):
    """A kernel would have to be compiled."""


def _refuse() -> None:
    raise _NotCompiledError


def _inside() -> None:
    """Points of a lattice that is aligned with a cube."""
    from impinge import shapes
    from impinge.inside.solid import Solid

    points = np.stack(np.meshgrid(*[np.arange(-6, 7) / 8] * 3), axis=-1).reshape(-1, 3)
    wanted = np.sign(0.5 - np.abs(points).max(axis=1))
    found = Solid(shapes.box()).classify(points)
    _check(f"{(found != wanted).sum()} of {len(points)} points", bool((found == wanted).all()))


def _open_meshes() -> None:
    """A ring without one of its faces: the multipole method next to the sum over all faces."""
    from impinge import shapes
    from impinge.inside.solid import Solid

    ring = shapes.torus(segments=32, rings=16)
    mesh = shapes.Mesh(ring.vertices, ring.faces[1:])
    points = np.random.default_rng(0).uniform(-1.3, 1.3, (300, 3)) * [1, 1, 0.3]
    off = np.abs(Solid(mesh, "multipole").winding(points) - Solid(mesh, "direct").winding(points)).max()
    _check(f"winding numbers are off by {off:.2g}", off < 2e-3)


def _pairs() -> None:
    """Spheres at random, next to all distances."""
    from impinge.broad.once import pairs

    rng = np.random.default_rng(0)
    centres, radii = rng.random((400, 3)), rng.uniform(0.01, 0.08, 400)
    i, j = np.triu_indices(400, 1)
    near = ((centres[i] - centres[j]) ** 2).sum(axis=1) <= (radii[i] + radii[j]) ** 2
    wanted = np.column_stack([i[near], j[near]])
    found = pairs(centres, radii)
    _check(f"found {len(found)} pairs, there are {len(wanted)}", np.array_equal(found, wanted))


def _first_contact() -> None:
    """A small triangle that falls through a large one."""
    from impinge import ccd

    sheet, small = [[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.array([[0, 0, 0], [0.1, 0, 0.2], [0, 0.1, 0.2]])
    x0, x1 = np.concatenate([sheet, small + [0, 0, 1]]), np.concatenate([sheet, small - [0, 0, 3]])
    contact = ccd.first_contact(x0, x1, faces=[[0, 1, 2], [3, 4, 5]])
    when = None if contact is None else contact.time
    _check(f"found contact at {when}, expected 0.25", when is not None and abs(when - 0.25) < _ROUNDING)


def _spheres() -> None:
    """Two equal spheres that meet head-on change their velocities."""
    from impinge.response.materials import Material
    from impinge.run.world import World

    world = World(gravity=(0, 0, 0))
    world.add_spheres([[0.0, 0, 0], [2.1, 0, 0]], 1.0, Material(1000, stiffness=1e6), _TOWARDS)
    world.run(until=0.3)
    _check_swapped(world.spheres.velocities[:, 0])


def _polyhedra() -> None:
    """The same of two cubes."""
    from impinge import shapes
    from impinge.response.materials import Material
    from impinge.run.world import World

    world = World(gravity=(0, 0, 0))
    places = [[0.0, 0, 0], [1.02, 0, 0]]
    world.add_polyhedra(shapes.box(), places, material=Material(1000, stiffness=1e6), velocities=_TOWARDS)
    world.run(until=0.3)
    _check_swapped(world.polyhedra.velocities[:, 0])


def _check_swapped(speeds: np.ndarray) -> None:
    found = ", ".join(f"{speed:.4g}" for speed in speeds)
    _check(f"speeds after an impact: {found}, expected -1, 1", bool((np.abs(speeds - [-1, 1]) < _IMPACT).all()))


def _soft() -> None:
    """A cloth falls onto a box, and not into it."""
    from impinge import shapes
    from impinge.run.soft import SoftWorld

    x, y = np.meshgrid(np.linspace(-0.7, 0.7, 6), np.linspace(-0.7, 0.7, 6))
    k = np.arange(36).reshape(6, 6)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    sheet = np.dstack([x, y, 0 * x + 0.52]).reshape(-1, 3), np.dstack([a, b, c, a, c, d]).reshape(-1, 3)
    world = SoftWorld(dt=0.02)
    world.add_cloth(sheet, stretch=200, shear=50, bend=1e-4, density=0.2, thickness=0.01)
    world.add_obstacle(shapes.box())
    world.step(8)
    over = world.positions[(np.abs(world.positions[:, :2]) < 0.5).all(axis=1), 2]
    _check(f"the lowest node over a box is {0.5 - over.min():.2g} m inside", bool(over.min() >= 0.5))


def _qp() -> None:
    """The nearest point of a half-space."""
    from impinge.response.qp import solve_qp

    found = solve_qp(np.eye(2), [1.0, 1.0], [[1.0, 1.0]], [1.0]).x
    _check(f"found {found}, expected 0.5, 0.5", bool((np.abs(found - 0.5) < 1e-6).all()))


def _check(what: str, holds: bool) -> None:
    if not holds:
        raise AssertionError(what)


def _inside_speed() -> str:
    from impinge import shapes
    from impinge.inside.solid import Solid

    mesh = shapes.torus(segments=512, rings=128)
    solid = Solid(mesh)
    low, high = mesh.bounds
    points = np.random.default_rng(0).uniform(low, high, (1_000_000, 3))
    solid.classify(points[:100_000])  # threads are made, and memory is taken
    clock = time.perf_counter()
    solid.classify(points)
    rate = len(points) / (time.perf_counter() - clock)
    mesh_size = f"{len(mesh.faces):,} triangles (built in {solid.build_seconds:.2g} s)"
    return f"{rate / 1e6:.3g} million points per second, {mesh_size}"


def _sphere_speed() -> str:
    from impinge.bodies.filling import fill_lattice
    from impinge.response.materials import Material
    from impinge.run.world import World

    world = World()
    centres, radii = fill_lattice([0, 0, 0], [0.3, 0.3, 0.3], 0.0075)
    world.add_spheres(centres, radii, Material(2500, stiffness=1e4, restitution=0.5, friction=0.3))
    world.add_box([0, 0, 0], [0.3, 0.3, 0.4])
    world.step(20)
    clock, steps = time.perf_counter(), 0
    while time.perf_counter() - clock < 0.4:
        world.step(20)
        steps += 20
    rate = steps * len(centres) / (time.perf_counter() - clock)
    return f"{rate / 1e6:.3g} million sphere-steps per second, {len(centres):,} spheres"


CHECKS: dict[str, Callable[[], None]] = {
    "inside": _inside,
    "inside, open meshes": _open_meshes,
    "pairs": _pairs,
    "first contact": _first_contact,
    "spheres in motion": _spheres,
    "polyhedra in motion": _polyhedra,
    "cables and cloth": _soft,
    "quadratic programs": _qp,
}
# What is measured, and the check that it is left out without.
SPEEDS: dict[str, tuple[Callable[[], str], str]] = {
    "inside": (_inside_speed, "inside"),
    "spheres": (_sphere_speed, "spheres in motion"),
}


def try_all() -> tuple[list[Outcome], list[Outcome]]:
    """All checks, and the speed of what they found right."""
    checks = [_try(name, check) for name, check in CHECKS.items()]
    right = {check.name for check in checks if check.result == RIGHT}
    return checks, [_try(name, measure) for name, (measure, needed) in SPEEDS.items() if needed in right]


def _try(name: str, function: Callable[[], str | None]) -> Outcome:
    clock = time.perf_counter()
    try:
        with compiler.compiling(_refuse):
            result, detail = function() or RIGHT, ""
    except _NotCompiledError:
        result, detail = NOT_COMPILED, ""
    except AssertionError as error:
        result, detail = WRONG, str(error)
    except Exception as error:  # whatever it is, the report should have it
        where = traceback.extract_tb(error.__traceback__)[-1]
        result, detail = WRONG, f"{type(error).__name__}: {error} (in {where.name}, line {where.lineno})"
    return Outcome(name, result, round(time.perf_counter() - clock, 4), detail)
