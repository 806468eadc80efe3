"""What a world tells of its contacts and its energy; and that neither threads nor lists of pairs change anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from impinge.bodies.motion import Motion
from impinge.bodies.soft.neighbours import Neighbours
from impinge.bodies.soft.step import Step
from impinge.run.soft import SoftWorld
from impinge.run.softmotion import look_ahead
from impinge.shapes import Mesh, icosphere

from .softthings import CABLE, CLOTH, FLOOR, SCENES, Scene, energy_left, line, ring, square

G = 9.81


def on_a_floor() -> SoftWorld:
    """A cloth on a floor, and a cable across it; at rest."""
    world = SoftWorld(dt=0.02)
    world.add_cloth(square(5, 0.5, 0.011), **CLOTH)
    world.add_cable(line((-0.2, 0.03, 0.042), (0.2, 0.05, 0.042), 9), **CABLE)
    world.add_obstacle(FLOOR)
    world.step(60)
    return world


WEIGHTS = 0.25 * 0.2 * G, np.hypot(0.4, 0.02) * 0.1 * G  # of the cloth and of the cable


def test_forces_carry_the_weight() -> None:
    world = on_a_floor()
    contacts = world.contacts()
    up = contacts.forces * contacts.normals[:, 2]
    on_floor = contacts.bodies.max(axis=1) == 2
    signs = np.where(contacts.bodies[:, 0] > contacts.bodies[:, 1], -1.0, 1.0)
    assert (signs * up)[on_floor].sum() == pytest.approx(sum(WEIGHTS), rel=1e-3)
    above = np.where(contacts.bodies[:, 0] == 1, 1.0, -1.0)
    assert (above * up)[~on_floor].sum() == pytest.approx(WEIGHTS[1], rel=1e-3)
    assert (contacts.forces > 0).all()


def test_contacts_are_where_bodies_touch() -> None:
    world = on_a_floor()
    contacts = world.contacts()
    assert len(contacts) == len(contacts.kinds) == len(contacts.points) == len(contacts.bodies)
    assert set(contacts.kinds) <= {"vertex-face", "edge-edge"}
    x = world.vertices()
    of = np.repeat([0, 1, 2], [25, 9, 4])
    for kind, pair, corners, point, normal in zip(
        contacts.kinds, contacts.bodies, contacts.corners, contacts.points, contacts.normals, strict=True
    ):
        assert np.linalg.norm(normal) == pytest.approx(1)
        first, second = (corners[:1], corners[1:]) if kind == "vertex-face" else (corners[:2], corners[2:])
        assert set(of[first]) == {pair[0]}
        assert set(of[second]) == {pair[1]}
        # Half of the distance that they keep is between it and each of them: heights, here.
        height = {(0, 2): 0.005, (0, 1): 0.02}[tuple(sorted(pair.tolist()))]
        assert point[2] == pytest.approx(height, abs=2e-4)
        assert x[first, 0].min() - 1e-5 <= point[0] <= x[first, 0].max() + 1e-5
        assert abs(normal[2]) > 0.99
        assert np.sign(normal[2]) == np.sign(x[first, 2].mean() - x[second, 2].mean())


def test_what_does_not_touch_has_no_contacts() -> None:
    world = SoftWorld()
    world.add_cable(line((0, 0, 0.5), (1, 0, 0.5), 5), **CABLE)
    world.add_obstacle(FLOOR)
    assert len(world.contacts()) == 0
    world.step()
    contacts = world.contacts()
    assert len(contacts) == 0
    assert contacts.points.shape == contacts.normals.shape == contacts.friction.shape == (0, 3)
    assert contacts.bodies.shape == (0, 2)
    world.step(60)
    before = world.contacts()
    assert len(before)
    before.forces[:] = 0.0  # a copy
    assert (world.contacts().forces > 0).all()


# Energy


def lifted() -> SoftWorld:
    """A cable that lies on a floor that rises, one end pulled along another way."""
    world = SoftWorld(dt=0.01)
    world.add_cable(line((0, 0, 0.011), (0.5, 0, 0.011), 9), **CABLE)
    world.add_obstacle(FLOOR, Motion(velocity=(0, 0, 0.3)))
    world.fix(0, velocity=(0.2, 0.1, 0.8))
    return world


def limited() -> SoftWorld:
    """A soft cable at its limits, swung by one end; and one whose other end is driven along a direction."""
    world = SoftWorld(dt=0.01)
    world.add_cable(line((0, 0, 0), (0.5, 0, 0), 9), **CABLE | {"stretch": 2.0})
    world.add_cable(line((0, 1, 0), (0.5, 1, 0), 9), **CABLE)
    world.limit_strain(upper=0.1)
    world.fix([0], velocity=lambda t: (np.cos(9 * t), 0, 1))
    world.fix([9])
    world.fix([17], velocity=0.7, direction=(0, 1, 1))
    return world


def rubbed() -> SoftWorld:
    """A cloth under a ball that turns and moves down into it, with friction."""
    world = SoftWorld(dt=0.01, friction=0.4)
    world.add_cloth(square(6, 0.6, 0.0), **CLOTH)
    world.fix([0, 5, 30, 35])
    ball = icosphere(1)
    mesh = Mesh(0.1 * ball.vertices + [0.03, 0.02, 0.13], ball.faces)
    world.add_obstacle(mesh, Motion((0.2, 0, -0.3), rotation=((0, 0, 5), (0, 0, 0))))
    return world


def held_by_rows() -> SoftWorld:
    """Rows that lift one node and keep others from falling, next to a node that is driven and pulled at by a row."""
    world = SoftWorld(dt=0.01)
    world.add_cable(line((0, 0, 0), (0.5, 0, 0), 9), **CABLE)
    rows = np.zeros((3, 27))
    rows[0, 14], rows[1, [2, 26]], rows[2, 8] = -1.0, (1.0, -1.0), -1.0
    world.add_constraint(rows[:1], lambda t: -0.5 * np.sin(5 * t))
    world.add_constraint(rows[1:2], 0.0, of="positions", equal=True)
    world.add_constraint(rows[2:], 0.05, of="positions")
    world.fix(0, velocity=(0.1, 0, 0.3))
    return world


@pytest.mark.parametrize("make", [lifted, limited, rubbed, held_by_rows])
def test_energy_less_the_work_done_never_grows(make: Callable[[], SoftWorld]) -> None:
    world = make()
    before, size = energy_left(world), 0.0
    for _ in range(50):
        world.step()
        now, size = energy_left(world), max(size, abs(world.energy()["driven"]))
        assert now <= before + 1e-7 * size, f"at t = {world.time}"
        before = now
    assert size > 1e-2
    assert world.scaled_steps == 0


def test_work_of_a_slow_lift_is_the_weight_times_its_height() -> None:
    """By a floor, a node, rows and a limit of strain: whatever does it."""
    works = []
    for kind in ("floor", "node", "rows"):
        world = SoftWorld(dt=0.01)
        upright = line((0, 0, 0.5), (0, 0, 0.0105), 9) if kind == "node" else line((0, 0, 0.0105), (0.4, 0, 0.0105), 9)
        world.add_cable(upright, **CABLE | {"stretch": 20.0})
        frames = np.array([FLOOR.vertices + [0, 0, 0.001 * k if kind == "floor" else -9] for k in range(102)])
        world.add_obstacle(FLOOR if kind == "floor" else Mesh(frames[0], FLOOR.faces), motion=frames)
        if kind == "node":
            world.limit_strain(upper=0.0)
            world.fix(0, velocity=(0, 0, 0.1))
        if kind == "rows":
            lift: Any = np.zeros((9, 27))
            lift[range(9), 3 * np.arange(9) + 2] = -1
            world.add_constraint(lift, -0.1)
        world.step(100)
        mass = 0.1 * np.linalg.norm(upright[-1] - upright[0])
        gained = mass * (G * 0.1 + 0.5 * 0.1**2)
        works.append(world.energy()["driven"] / gained)
    np.testing.assert_allclose(works, 1.0, rtol=2e-2)


# What must not matter


def many(threads: int) -> SoftWorld:
    """Everything there is, at once."""
    world = SoftWorld(dt=0.01, friction=0.2, wind=(0.5, 0, 0), threads=threads)
    cloth = world.add_cloth(square(8, 0.6, 0.15), **CLOTH, drag=0.1)
    rope = world.add_cable(ring(14, 0.1, (1, 0, 0), (0, 1, 0), (0, 0, 0.2)), closed=True, **CABLE)
    ball = icosphere(2)
    world.add_obstacle(Mesh(0.1 * ball.vertices, ball.faces), Motion((0.1, 0, 0.3)))
    world.fix(cloth.nodes.start, velocity=0.1, direction=(0, 0, 1))
    world.limit_strain(upper=0.02, lower=0.1, bodies=cloth)
    world.limit_strain_rate(3.0, bodies=[rope])
    rows = np.zeros((1, 3 * 78))
    rows[0, -1] = 1.0
    world.add_constraint(rows, 0.05)
    return world


def test_results_do_not_depend_on_threads() -> None:
    one, two = many(1), many(2)
    for _ in range(12):
        one.step()
        two.step()
        np.testing.assert_array_equal(one.positions, two.positions)
        np.testing.assert_array_equal(one.velocities, two.velocities)
    assert one.energy() == two.energy()
    assert len(one.contacts()) > 5
    for mine, other in zip(one.contacts(), two.contacts(), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("make", [*SCENES, lambda: Scene(many(1), 12)])
def test_steps_do_not_depend_on_which_list_of_pairs_there_is(make: Callable[[], Scene]) -> None:
    """One is kept over steps, the other made anew for each, as after a file."""
    scene, other = make(), make().world
    other.check()
    for _ in range(min(scene.steps, 25)):
        other._neighbours = Neighbours(other.surface)
        scene.world.step()
        other.step()
        np.testing.assert_array_equal(scene.world.positions, other.positions)
    assert scene.world._neighbours.made > 1


def test_pairs_that_have_turned_give_way_where_they_contradict_each_other() -> None:
    """Rows along normals of the end ask for thickness alone: a step that they make impossible goes on without them."""
    world = on_a_floor()
    task = look_ahead(world, world.dt)
    step = Step(world.surface, world._neighbours, world._structure, task)
    step._neighbours.cover(step._start, step._end)
    step._look_around()
    step._hold_first()
    held = len(step._held.targets)
    assert held > 0
    some, gaps = step._held.pairs.take(np.array([0])), step._held.gaps.take(np.array([0]))
    for sign in (1.0, -1.0):
        step._held.add(some, gaps._replace(normals=sign * gaps.normals), np.ones(1), np.zeros(1), is_turned=True)
    assert step._held.is_turned.sum() == 2
    minimum = step._minimise()
    assert minimum.residual < 1e-6
    assert not step._held.is_turned.any()
    assert len(step._held.targets) >= held
    assert not len(step._look()[1])


def test_what_is_too_near_parts_also_where_nothing_else_happens() -> None:
    """No gravity, no motion, no energy: distance is won all the same, at no more than 10 thicknesses per second."""
    world = SoftWorld(gravity=(0, 0, 0), dt=0.01)
    for height in (0.0, CABLE["radius"]):  # half of what they keep
        world.add_cable(line((-0.2, 0, height), (0.2, 0, height), 5), **CABLE)
    world.step(10)
    apart = world.positions[5:, 2] - world.positions[:5, 2]
    assert (apart > 1.5 * CABLE["radius"]).all()
    assert np.abs(world.velocities).max() < 20 * CABLE["radius"]
