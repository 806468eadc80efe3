"""SoftWorld: motion as it must be, nothing passes through anything, and errors that say what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from impinge import ccd
from impinge.bodies.motion import Motion
from impinge.errors import InfeasibleStep, InputError
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh, icosphere

from .softthings import (
    CABLE,
    CLOTH,
    FLOOR,
    SCENES,
    Floats,
    Scene,
    a_cable,
    driven_into_the_floor,
    energy_left,
    line,
    masses_of,
    ring,
    run_until_infeasible,
    square,
    thrown_rings,
)

# Motion


def falling_cable(dt: float) -> SoftWorld:
    world = SoftWorld(dt=dt)
    world.add_cable(ring(12, 0.3, (1, 0, 0), (0, 0.6, 0.8)), closed=True, velocity=(1, -2, 3), **CABLE | {"bend": 0.0})
    return world


def falling_cloth(dt: float) -> SoftWorld:
    world = SoftWorld(dt=dt)
    world.add_cloth(square(5, 1.0, 0.0), velocity=(1, -2, 3), **CLOTH)
    return world


@pytest.mark.parametrize("make", [falling_cable, falling_cloth])
def test_free_fall_is_that_of_implicit_euler(make: Callable[[float], SoftWorld]) -> None:
    """v₁ = v₀ + dt g, x₁ = x₀ + dt v₁."""
    dt, world = 0.02, make(0.02)
    x, v = world.positions, world.velocities
    for _ in range(20):
        world.step()
        v = v + dt * np.array([0, 0, -9.81])
        x = x + dt * v
        np.testing.assert_allclose(world.positions, x, atol=1e-12)
        np.testing.assert_allclose(world.velocities, v, atol=1e-10)
    assert world.time == pytest.approx(0.4)
    assert world.steps == 20
    assert world.scaled_steps == 0


def test_a_cable_hangs_as_a_catenary() -> None:
    """X = a asinh(s/a), z = √(a² + s²) at a length s from its middle; a from the length between the ends."""
    length, span, count = 1.5, 1.0, 41
    depth = np.sqrt(length**2 - span**2) / 2
    corners = [line((-span / 2, 0, 0), (0, 0, -depth), 21), line((0, 0, -depth), (span / 2, 0, 0), 21)[1:]]
    world = SoftWorld(dt=0.1)
    world.add_cable(np.concatenate(corners), radius=1e-3, stretch=1e4, mass_per_length=0.1, damping=1e-2)
    world.fix([0, count - 1])
    world.step(60)
    assert np.abs(world.velocities).max() < 1e-3
    a = brentq(lambda a: 2 * a * np.sinh(span / 2 / a) - length, 0.05, 5.0)
    s = np.linspace(-length / 2, length / 2, count)
    z = np.sqrt(a**2 + s**2)
    expected = np.column_stack([a * np.arcsinh(s / a), 0 * s, z - z[0]])
    assert np.abs(world.positions - expected).max() < 0.005 * (z[0] - a)


def colliding_cables() -> SoftWorld:
    world = SoftWorld(gravity=(0, 0, 0), dt=0.01)
    world.add_cable(line((-0.3, 0, 0), (0.3, 0.02, 0.01), 13), velocity=(0, 0, 2), **CABLE)
    world.add_cable(line((0.05, -0.3, 0.05), (0, 0.3, 0.06), 11), velocity=(0.3, 0, -1), **CABLE)
    return world


def test_cables_that_collide_keep_their_momentum() -> None:
    world = colliding_cables()
    masses = masses_of(world)
    before = masses @ world.velocities
    pushes = []
    for _ in range(30):
        world.step()
        assert world.last is not None
        pushes.append(world.last.held.forces.max(initial=0.0))
        np.testing.assert_allclose(masses @ world.velocities, before, atol=1e-10)
    assert max(pushes) > 0.1
    centres = [world.velocities[body.nodes].mean(axis=0) for body in world.bodies]
    assert centres[0][2] < 1.5 < 2
    assert centres[1][2] > -0.5


def swinging_cable(dt: float, integrator: str) -> SoftWorld:
    world = SoftWorld(dt=dt, integrator=integrator)
    world.add_cable(line((0, 0, 0), (0.6, 0.1, 0.2), 9), **CABLE)
    world.fix(0)
    return world


@pytest.mark.parametrize(
    ("integrator", "ratio"),
    [("implicit-euler", 2), ("bdf2", 4)],
)
def test_positions_converge_with_a_power_of_the_time_step(integrator: str, ratio: float) -> None:
    ends = []
    for steps in (50, 100, 200):
        world = swinging_cable(0.25 / steps, integrator)
        world.step(steps)
        ends.append(world.positions)
    changes = [np.linalg.norm(one - other) for one, other in itertools.pairwise(ends)]
    assert changes[0] / changes[1] == pytest.approx(ratio, rel=0.1)


# Nothing passes through anything


def with_obstacles(scene: Scene) -> Floats:
    """Positions of all vertices now, those of obstacles from their motion."""
    moved = [mesh.vertices + scene.world.time * np.array(velocity) for mesh, velocity in scene.obstacles]
    return np.concatenate([scene.world.positions, *moved])


def check_steps(scene: Scene) -> int:
    """Judge every step exactly, from positions alone; and energy. Returns the number of steps in which forces act."""
    world, touched = scene.world, 0
    soft = len(world.positions)
    before, energy = with_obstacles(scene), energy_left(world)
    size = world.energy()["kinetic"] + abs(energy)
    # Each soft node is a body of its own, and all obstacles together are one.
    bodies = np.append(np.arange(1, soft + 1), np.zeros(len(before) - soft, int))
    driven = any(np.any(velocity) for _, velocity in scene.obstacles)
    for _ in range(scene.steps):
        world.step()
        after, edges, faces = with_obstacles(scene), world.surface.edges, world.surface.faces
        assert ccd.exact_is_free(before, after, edges, faces, bodies=bodies), f"step to t = {world.time}"
        assert ccd.self_intersections(after, edges, faces).total == 0
        left = energy_left(world)
        assert driven or left <= energy + 1e-9 * size, f"energy grows at t = {world.time}"
        assert world.last is not None
        touched += bool((world.last.held.forces > 0).any())
        before, energy = after, left
    return touched


@pytest.mark.parametrize("make", SCENES)
def test_nothing_passes_through_anything_and_energy_never_grows(make: Callable[[], Scene]) -> None:
    assert check_steps(make()) > 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dt", [0.002, 0.02])
def test_cables_and_a_cloth_thrown_at_random(seed: int, dt: float) -> None:
    """Onto each other and a floor, at up to tens of metres per second."""
    rng, world = np.random.default_rng(seed), SoftWorld(dt=dt)
    x, faces = square(5, 0.5, 0.0)
    upright = np.column_stack([x[:, 0], 0.1 * x[:, 0] + 0.03 * np.sin(9 * x[:, 1]), x[:, 1] + 0.3])
    speed = rng.choice([1.0, 5.0, 20.0])
    world.add_cloth((upright, faces), velocity=(0, 0, -speed), **CLOTH | {"thickness": 0.004})
    for height in (0.8, 1.0):
        ends = 0.2 * rng.normal(size=(2, 3)) * [1, 1, 0.1] + [0, 0, height]
        world.add_cable(line(*ends, 8), velocity=speed * rng.normal(size=3) - [0, 0, 2 * speed], **CABLE)
    world.add_obstacle(FLOOR)
    check_steps(Scene(world, 25, ((FLOOR, (0, 0, 0)),)))


def linking_number(one: Floats, other: Floats) -> float:
    """Gauss' integral over two closed polygons, by the solid angles of all pairs of their sides."""
    total = 0.0
    for a, b in zip(one, np.roll(one, -1, axis=0), strict=True):
        for c, d in zip(other, np.roll(other, -1, axis=0), strict=True):
            ac, ad, bc, bd = c - a, d - a, c - b, d - b
            normals = [np.cross(p, q) for p, q in ((ac, ad), (ad, bd), (bd, bc), (bc, ac))]
            unit = [normal / np.linalg.norm(normal) for normal in normals]
            angle = sum(np.arcsin(np.clip(unit[k] @ unit[(k + 1) % 4], -1, 1)) for k in range(4))
            total += angle * np.sign(np.cross(d - c, b - a) @ ac)
    return total / (4 * np.pi)


def test_linked_rings_stay_linked() -> None:
    world = thrown_rings().world
    rings = [body.nodes for body in world.bodies]
    before = linking_number(*(world.positions[nodes] for nodes in rings))
    assert abs(before) == pytest.approx(1, abs=1e-6)
    for _ in range(10):
        world.step(6)
        assert linking_number(*(world.positions[nodes] for nodes in rings)) == pytest.approx(before, abs=1e-6)
    apart = world.positions[rings[1]].mean(axis=0) - world.positions[rings[0]].mean(axis=0)
    assert np.linalg.norm(apart) < 0.5


# Rest


def test_a_cable_may_be_at_rest_without_forces() -> None:
    world = SoftWorld(gravity=(0, 0, 0))
    x = line((-0.3, 0, 0.1), (0.3, 0, 0.1), 9)
    world.add_cable(x, **CABLE)
    world.step(3)
    np.testing.assert_allclose(world.positions, x, atol=1e-12)


def test_parallel_cables_stop_each_other() -> None:
    world = SoftWorld(gravity=(0, 0, 0))
    world.add_cable(line((-0.3, 0, 0), (0.3, 0, 0), 9), velocity=(0, 0, 1), **CABLE)
    world.add_cable(line((-0.3, 0, 0.05), (0.3, 0, 0.05), 9), velocity=(0, 0, -1), **CABLE)
    world.step(20)
    apart = world.positions[9:, 2] - world.positions[:9, 2]
    np.testing.assert_allclose(apart, 2 * CABLE["radius"], rtol=1e-5)


def test_a_cloth_comes_to_rest_on_another_on_a_floor() -> None:
    world = SoftWorld(dt=0.02)
    world.add_cloth(square(5, 0.5, 0.1), **CLOTH)
    world.add_cloth(square(6, 0.5, 0.15), **CLOTH)
    world.add_obstacle(FLOOR)
    world.step(40)
    thickness = CLOTH["thickness"]
    np.testing.assert_allclose(world.positions[:25, 2], thickness / 2, rtol=1e-4)  # a floor has none of its own
    np.testing.assert_allclose(world.positions[25:, 2], thickness * 1.5, rtol=1e-4)
    assert np.abs(world.velocities).max() < 1e-4  # what forces are off by moves them sideways, where nothing holds


# Errors


def crossing(*bodies: str) -> SoftWorld:
    world = SoftWorld()
    for body in bodies:
        if body == "cable":
            world.add_cable(line((0.01, 0.02, -0.1), (0.03, 0.02, 0.2), 2), **CABLE)
        elif body == "cloth":
            world.add_cloth(square(4, 1.0, 0.0), **CLOTH)
        else:
            world.add_obstacle(FLOOR)
    return world


@pytest.mark.parametrize(
    ("world", "names"),
    [
        (lambda: crossing("cable", "cloth"), r"edge \(0, 1\) of body 0 and face .* of body 1"),
        (lambda: crossing("cable", "floor"), r"edge \(0, 1\) of body 0 and face .* of obstacle 0"),
        (lambda: crossing("cloth", "floor"), r"of body 0 and .* of obstacle 0 touch"),
        (lambda: crossing("cloth", "cloth"), r"of body 0 and .* of body 1 touch"),
    ],
)
def test_bodies_that_are_not_apart_at_the_start_are_named(world: Callable[[], SoftWorld], names: str) -> None:
    made = world()
    with pytest.raises(InputError, match=names):
        made.step()
    assert made.time == 0


def test_obstacles_may_pass_through_each_other_and_a_body_may_be_inside_one() -> None:
    world, ball = a_cable(), icosphere(1)
    world.add_obstacle(ball)
    world.add_obstacle(Mesh(ball.vertices + [0.3, 0.1, 0.2], ball.faces))
    world.gravity = np.array([0, 0, -9.81])
    world.step(2)
    assert world.steps == 2


def squeezed() -> SoftWorld:
    """Between a floor and a plate that comes down on it."""
    world = a_cable(velocity=(0, 0, -0.1))
    world.add_obstacle(FLOOR)
    world.add_obstacle(Mesh(FLOOR.vertices + [0, 0, 0.15], FLOOR.faces), Motion(velocity=(0, 0, -1)))
    return world


NO_WAY_ON = pytest.mark.parametrize(
    "make", [lambda: driven_into_the_floor(0), lambda: driven_into_the_floor(4), squeezed], ids=["end", "middle", "all"]
)


@NO_WAY_ON
def test_where_there_is_no_way_on_the_world_stays_as_it_was(make: Callable[[], SoftWorld]) -> None:
    world = make()
    _, x, t = run_until_infeasible(world)
    np.testing.assert_array_equal(world.positions, x)
    assert world.time == t
    assert 0 < world.positions[:, 2].min() < 1e-3
    assert world.steps > world.scaled_steps > 0
    with pytest.raises(InfeasibleStep):
        world.step()
    np.testing.assert_array_equal(world.positions, x)


@NO_WAY_ON
def test_infeasible_steps_say_what_is_in_the_way(make: Callable[[], SoftWorld]) -> None:
    error, _, _ = run_until_infeasible(make())
    assert error.rows
    assert "obstacle 0" in " ".join(error.rows)
    assert error.rows[0] in str(error)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("integrator", lambda: SoftWorld(integrator="rk4")),
        ("dt", lambda: SoftWorld(dt=-0.01)),
        ("dt", lambda: SoftWorld(dt=0)),
        ("dt", lambda: SoftWorld(dt=float("nan"))),
        ("gravity", lambda: SoftWorld(gravity=(0, 0))),
        *(("threads", lambda count=count: SoftWorld(threads=count)) for count in (-1, 0, 2.5, True, "2", 10**9)),
        ("world", lambda: SoftWorld().step()),
        ("world", lambda: SoftWorld().energy()),
        ("points", lambda: SoftWorld().add_cable([[0, 0, 0]], **CABLE)),
        ("radius", lambda: a_cable(radius=-1)),
        ("radius", lambda: a_cable(radius=0)),  # distances would be those of rounding, and normals, too
        ("stretch", lambda: a_cable(stretch=0)),
        ("mass_per_length", lambda: a_cable(mass_per_length=0)),
        ("closed: found 'no', expected True or False", lambda: a_cable(closed="no")),
        ("name: found 3, expected a text", lambda: a_cable(name=3)),
        ("damping", lambda: a_cable(damping=-1)),
        ("drag", lambda: a_cable(drag=float("nan"))),
        ("velocity", lambda: a_cable(velocity=(1, 2))),
        ("velocity", lambda: a_cable(velocity=(1, 2, float("inf")))),
        (r"velocity: .* \(9, 3\), a row for each node", lambda: a_cable(velocity=[[1], [2, 3]])),
        ("velocity: found 2 rows, expected .* 9", lambda: a_cable(velocity=np.ones((2, 3)))),
        ("stretch", lambda: SoftWorld().add_cloth(square(3, 1.0, 0.0), **CLOTH | {"stretch": [[1], [2, 3]]})),
        *((name, lambda name=name: setattr(a_cable(), name, "much")) for name in ("dt", "gravity", "friction", "wind")),
        ("thickness", lambda: SoftWorld().add_cloth(square(3, 1.0, 0.0), **CLOTH | {"thickness": 0})),
        ("thickness", lambda: SoftWorld().add_obstacle(FLOOR, thickness=-1)),
        ("motion", lambda: SoftWorld().add_obstacle(FLOOR, 3)),
        ("nodes", lambda: a_cable().fix(9)),
        ("nodes", lambda: a_cable().fix(1.5)),
        ("velocity", lambda: a_cable().fix(0, (1, 2))),
        ("count", lambda: a_cable().step(-1)),
    ],
)
def test_wrong_arguments_are_named(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=name):
        call()


def test_a_body_that_is_refused_leaves_no_trace() -> None:
    world = a_cable()
    with pytest.raises(InputError):
        world.add_cable(line((0, 0, 1), (1, 0, 1), 5), **CABLE | {"damping": -1})
    assert len(world.bodies) == 1
    assert len(world.positions) == 9
