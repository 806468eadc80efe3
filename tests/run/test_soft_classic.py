"""The classical responses do as their formulas say, with merits and faults; and the measure of penetration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.bodies.motion import Motion
from impinge.bodies.soft import impulse
from impinge.bodies.soft._impulse import apply_impulses
from impinge.bodies.soft.penalty import default_stiffness
from impinge.bodies.soft.penetration import measure_penetration
from impinge.errors import InputError
from impinge.run.soft import SoftWorld
from impinge.run.softmotion import look_ahead
from impinge.shapes import Mesh, box

from .softthings import CABLE, line

Floats = NDArray[np.float64]
TRIANGLE = Mesh([[-3, -3, 0], [3, -3, 0], [0, 5, 0.0]], [[0, 1, 2]])
CLASSICAL = ("penalty", "impulse")


def masses_of(points: Floats) -> Floats:
    half = 0.5 * CABLE["mass_per_length"] * np.linalg.norm(np.diff(points, axis=0), axis=1)
    return np.append(half, 0) + np.append(0, half)


# The implicit step


def swinging(response: str, **more: Any) -> SoftWorld:
    """A cable with all kinds of forces: held and driven, stretched, bent, moving, damped, in the air."""
    world = SoftWorld(dt=0.02, response=response, **more)
    world.add_cable(line((0, 0, 0.4), (1, 0.1, 0.5), 7), drag=0.3, velocity=(0.3, 0.5, -0.2), **CABLE)
    world.fix([0])
    world.fix([6], velocity=(0.2, 0.0, 0.4))
    return world


def resistance(start: Floats, end: Floats, dt: float, rest: float) -> Floats:
    """What damping resists with, N: changes of the lengths of segments, and of bends along themselves."""
    forces, rate = np.zeros_like(end), CABLE["damping"] / dt
    sides, before = np.diff(end, axis=0), np.linalg.norm(np.diff(start, axis=0), axis=1)
    lengths = np.linalg.norm(sides, axis=1)
    pulls = (rate * CABLE["stretch"] / rest * (lengths - before) / lengths)[:, None] * sides
    forces[1:] += pulls
    forces[:-1] -= pulls
    for i in range(len(end) - 2):
        weights = np.array([1.0, -2.0, 1.0]) / rest
        bend = weights @ start[i : i + 3]
        small = 2e-3 * (2 * before[i] + np.linalg.norm(start[i + 2] - start[i])) / rest
        along = (small**2 * np.eye(3) + np.outer(bend, bend)) / (small**2 + bend @ bend)
        change = along @ (weights @ (end - start)[i : i + 3])
        forces[i : i + 3] += rate * CABLE["bend"] / rest * np.outer(weights, change)
    return forces


def unbalanced(world: SoftWorld, x: Floats, v: Floats, masses: Floats, drag: float) -> Floats:
    """M (v₁ − v₀)/h − f(x₁, v₁), N, after a step from x and v."""
    forces = masses[:, None] * [0, 0, -9.81] - world.elements.gradient(world.positions)
    forces -= resistance(x, world.positions, world.dt, world._edges.rest[0]) + drag * masses[:, None] * world.velocities
    return masses[:, None] * (world.velocities - v) / world.dt - forces


@pytest.mark.parametrize("response", CLASSICAL)
def test_steps_are_those_of_implicit_euler(response: str) -> None:
    world = swinging(response)
    masses = masses_of(world.positions)
    for _ in range(10):
        x, v = world.positions, world.velocities
        world.step()
        assert np.abs(unbalanced(world, x, v, masses, 0.3 / CABLE["mass_per_length"])[1:6]).max() < 1e-4
        np.testing.assert_allclose(world.positions, x + world.dt * world.velocities, atol=1e-12)
        np.testing.assert_allclose(world.velocities[[0, 6]], [[0, 0, 0], [0.2, 0, 0.4]], atol=1e-12)


def test_springs_of_penalties_act_at_the_end_of_the_step() -> None:
    """Of k (distance − gap), on vertices over a face that moves; not on one that has left."""
    world = SoftWorld(dt=0.01, response="penalty", penalty=250.0)
    points = line((0, 0, 0.008), (0.5, 0, 0.009), 3)
    world.add_cable(points, velocity=(0, 0, 0.5), **CABLE)
    world.add_obstacle(TRIANGLE, motion=Motion(velocity=(0, 0, 0.05)))
    masses, pushed = masses_of(points), 0
    for _ in range(30):
        x, v = world.positions, world.velocities
        world.step()
        near = x[:, 2] - 0.05 * (world.time - world.dt) < CABLE["radius"]
        pushes = 250.0 * np.maximum(CABLE["radius"] - (world.positions[:, 2] - 0.05 * world.time), 0.0) * near
        left = unbalanced(world, x, v, masses, 0.0)
        left[:, 2] -= pushes
        assert np.abs(left).max() < 1e-5
        pushed += int((pushes > 0).sum())
    assert 10 < pushed < 85


@pytest.mark.parametrize("response", CLASSICAL)
def test_free_fall_is_that_of_implicit_euler(response: str) -> None:
    world = SoftWorld(dt=0.02, response=response)
    world.add_cable(line((0, 0, 0), (1, 0, 0), 9), velocity=(1, -2, 3), **CABLE)
    x, v = world.positions, world.velocities
    for _ in range(10):
        world.step()
        v = v + 0.02 * np.array([0, 0, -9.81])
        x = x + 0.02 * v
        np.testing.assert_allclose(world.positions, x, atol=1e-12)
    assert world.time == pytest.approx(0.2)
    assert world.steps == 10


# Merits and faults


def lying(response: str, **more: Any) -> SoftWorld:
    world = SoftWorld(dt=0.01, response=response, **more)
    world.add_cable(line((-0.1, 0, 0.0101), (0.1, 0, 0.0101), 2), **CABLE)
    world.add_obstacle(TRIANGLE)
    return world


def test_a_cable_sinks_in_as_far_as_its_springs_need() -> None:
    world = lying("penalty", penalty=50.0)
    world.step(400)
    weight = 0.1 * 0.2 * 9.81
    np.testing.assert_allclose(CABLE["radius"] - world.positions[:, 2], weight / 2 / 50.0, rtol=1e-6)


def test_the_default_spring_holds_a_cable_within_g_dt_squared() -> None:
    world = lying("penalty")
    world.step(400)
    assert default_stiffness(masses_of(world.positions), 0.01) == pytest.approx(0.01 / 0.01**2)
    np.testing.assert_allclose(CABLE["radius"] - world.positions[:, 2], 9.81 * 0.01**2, rtol=1e-6)


def test_a_cable_comes_to_rest_on_impulses() -> None:
    world = lying("impulse")
    world.step(100)
    assert np.abs(world.velocities).max() < 1e-3
    assert (world.positions[:, 2] > 0.9 * CABLE["radius"]).all()


@pytest.mark.parametrize(("response", "passes"), [("qp", False), ("penalty", True), ("impulse", False)])
def test_who_lets_fast_cables_pass(response: str, passes: bool) -> None:
    """Thirty radii per step."""
    world = SoftWorld(gravity=(0, 0, 0), dt=0.01, response=response)
    world.add_cable(line((-0.3, 0, 0.2), (0.3, 0.02, 0.2), 13), velocity=(0, 0, -30), **CABLE)
    world.add_cable(line((0.01, -0.3, 0), (0, 0.3, 0), 11), **CABLE)
    world.step(0)
    passed = 0
    for _ in range(4):
        before = world.vertices()
        world.step()
        passed += measure_penetration(world.surface, before, world.vertices()).passed
    assert (passed > 0) is passes


# Impulses


def colliding(**more: Any) -> SoftWorld:
    world = SoftWorld(gravity=(0, 0, 0), dt=0.02, response="impulse", **more)
    world.add_cable(line((-0.3, 0, 0), (0.3, 0.02, 0.01), 13), velocity=(0, 0, 4), **CABLE)
    world.add_cable(line((0.05, -0.3, 0.05), (0, 0.3, 0.06), 11), velocity=(0.3, 0, -2), **CABLE)
    return world


@pytest.mark.parametrize("sweeps", [20, 0])
def test_impulses_and_rigid_zones_keep_momentum(sweeps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impulse, "_SWEEPS", sweeps)
    world = colliding()
    masses = np.concatenate([masses_of(world.positions[body.nodes]) for body in world.bodies])[:, None]
    momentum = (masses * world.velocities).sum(axis=0)
    kinetic, passed, mended = world.energy()["kinetic"], 0, 0
    for _ in range(10):
        before = world.vertices()
        found = impulse.impulse_step(world.surface, look_ahead(world, 0.02), world._structure, world._masses, 0.02)
        assert found.left == 0
        mended += found.rigid if sweeps == 0 else found.sweeps
        world.step()
        np.testing.assert_allclose((masses * world.velocities).sum(axis=0), momentum, atol=1e-12)
        passed += measure_penetration(world.surface, before, world.vertices()).passed
    assert mended > 0
    assert passed == 0
    assert world.energy()["kinetic"] < kinetic


def test_impulses_one_after_the_other() -> None:
    """The kernel next to the formula with dense rows: v ← v + M⁻¹ Jᵀ (speed − J v)/(J M⁻¹ Jᵀ) where J v < speed."""
    rng = np.random.default_rng(5)
    corners = np.array([rng.permutation(9)[:4] for _ in range(30)], np.int32)
    weights, normals = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    speeds, order = rng.normal(size=30), rng.permutation(30)
    mobility, velocities = rng.uniform(size=(9, 3)), rng.normal(size=(9, 3))
    mobility[7:] = 0.0
    corners[3], expected = [7, 8, 7, 8], velocities.ravel().copy()
    for k in order:
        row = np.zeros((9, 3))
        np.add.at(row, corners[k], weights[k][:, None] * normals[k])
        row = row.ravel()
        yielding = row @ (mobility.ravel() * row)
        if yielding > 0 and row @ expected < speeds[k]:
            expected += (speeds[k] - row @ expected) / yielding * mobility.ravel() * row
    apply_impulses(order, corners, weights, normals, speeds, mobility, velocities)
    np.testing.assert_allclose(velocities.ravel(), expected, atol=1e-12)


def test_a_rigid_zone_turns_as_a_whole() -> None:
    world = colliding()
    world.step(0)
    response = impulse._Response(world.surface, look_ahead(world, 0.02), world._masses, 0.02)
    nodes = np.arange(24)
    x, masses = world.vertices(), world._masses[:, None]
    middle = (masses * x).sum(axis=0) / masses.sum()
    response.velocities[:] = (1.0, 2.0, 3.0) + np.cross((0.0, 0.0, 200.0), x - middle)  # 4 rad in a step
    response._make_rigid(nodes)
    moved = x + 0.02 * response.velocities
    centre = (masses * moved).sum(axis=0) / masses.sum()
    np.testing.assert_allclose(centre - middle, [0.02, 0.04, 0.06], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(moved - centre, axis=1), np.linalg.norm(x - middle, axis=1), atol=1e-12)
    arm, turned = (x - middle)[0], (moved - centre)[0]
    c, s = np.cos(4.0), np.sin(4.0)
    np.testing.assert_allclose(turned, [c * arm[0] - s * arm[1], s * arm[0] + c * arm[1], arm[2]], atol=1e-12)


def test_what_is_given_moves_a_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block rises into a cable that falls; without sweeps they go on together."""
    monkeypatch.setattr(impulse, "_SWEEPS", 0)
    world = SoftWorld(dt=0.02, response="impulse")
    world.add_cable(line((-0.1, 0, 0.02), (0.1, 0, 0.02), 4), velocity=(0, 0, -4), **CABLE)
    block = box((1.0, 1.0, 0.2))
    world.add_obstacle(
        Mesh(block.vertices - [0, 0, block.vertices[:, 2].max()], block.faces), motion=Motion(velocity=(0, 0, 1.0))
    )
    world.step()
    np.testing.assert_allclose(world.velocities, [[0, 0, 1.0]] * 4, atol=1e-12)


# The measure


@pytest.mark.verify
def test_penetration_by_hand() -> None:
    """A cable over a block, radius 0.01; then 3 mm too near, 0.1 below its top, and wholly below it."""
    block = box((2.0, 2.0, 2.0))
    top = block.vertices[:, 2].max()
    world = SoftWorld(response="penalty")
    points = line((-0.3, 0.2, top + 0.05), (0.3, 0.2, top + 0.05), 3)
    world.add_cable(points, **CABLE)
    world.add_obstacle(block)
    world.step(0)
    start = world.vertices()

    def to(height: Any) -> Floats:
        end = start.copy()
        end[:3, 2] = top + np.asarray(height)
        return end

    apart = measure_penetration(world.surface, start, to(0.05))
    assert apart == (0, 0, 0.0, 0.0)
    near = measure_penetration(world.surface, start, to(0.007))
    assert near[:2] == (0, 0)
    assert near.overlap == pytest.approx(0.003)
    half = measure_penetration(world.surface, start, to((0.05, -0.1, 0.05)))
    assert half.passed > 0
    assert half.crossing > 0
    assert half.depth == pytest.approx(0.1)
    below = measure_penetration(world.surface, start, to(-0.4))
    assert below.passed > 0
    assert below.crossing == 0
    assert below.depth == pytest.approx(0.4)


def test_obstacles_in_each_other_do_not_count() -> None:
    world = SoftWorld(response="impulse")
    world.add_cable(line((5, 0, 0), (6, 0, 0), 3), **CABLE)
    for angle in (0.0, 0.3):
        block, c, s = box((1.0, 1.0, 1.0)), np.cos(angle), np.sin(angle)
        world.add_obstacle(Mesh(block.vertices @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), block.faces))
    world.add_obstacle(TRIANGLE)  # open: it has no inside
    world.step(0)
    assert measure_penetration(world.surface, world.vertices(), world.vertices()) == (0, 0, 0.0, 0.0)
    assert len(list(world.surface.obstacles())) == 3


# Arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"response": "spring"}, "response: found 'spring', expected one of qp, penalty, impulse"),
        ({"penalty": 1.0}, "penalty: found 1.0 with response 'qp', expected response 'penalty'"),
        ({"response": "penalty", "penalty": -1.0}, "penalty: found -1.0, expected a number above 0"),
        ({"response": "impulse", "integrator": "bdf2"}, "integrator: found 'bdf2', expected 'implicit-euler' with"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SoftWorld(**arguments)


@pytest.mark.parametrize("arguments", [{"response": "penalty", "penalty": 80.0}, {"response": "impulse"}])
def test_worlds_go_on_from_files(arguments: dict[str, Any], tmp_path: Path) -> None:
    world = lying(**arguments)
    world.step(5)
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    assert (again.response, again.penalty) == (world.response, world.penalty)
    for one in (world, again):
        one.step(5)
    assert again.positions.tobytes() == world.positions.tobytes()
