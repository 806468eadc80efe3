"""Friction: what sticks, what slides and how fast, in all directions alike, around a cylinder, and momentum."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh

from .softthings import CABLE, CLOTH, FLOOR, Floats, line, lying_cylinder, masses_of, square

G = 9.81


def on_a_slope(angle: float, friction: float, *, along: bool = False, dt: float = 0.01) -> SoftWorld:
    """A cable that lies on a floor, with gravity turned instead of the floor; across the slope, or along it."""
    world = SoftWorld((G * np.sin(angle), 0, -G * np.cos(angle)), dt, friction=friction)
    ends = ((0, 0, 0.0101), (0.4, 0, 0.0101)) if along else ((0, -0.2, 0.0101), (0, 0.2, 0.0101))
    world.add_cable(line(*ends, 9), **CABLE)
    world.add_obstacle(FLOOR)
    return world


@pytest.mark.parametrize("along", [True, False])
@pytest.mark.parametrize(("angle", "friction"), [(0.2, 0.25), (0.4, 0.5), (0.0, 0.1), (0.6, 2.0)])
def test_nothing_slips_below_the_angle_of_friction(angle: float, friction: float, along: bool) -> None:
    """It creeps by up to a ten-thousandth of its thickness in a step, and never more."""
    assert np.tan(angle) < friction
    world = on_a_slope(angle, friction, along=along)
    world.step(50)
    assert np.abs(world.velocities[:, 0]).max() < 1e-4 * 0.02 / world.dt
    assert np.abs(world.positions[:, 0] - on_a_slope(angle, friction, along=along).positions[:, 0]).max() < 1e-4
    contacts = world.contacts()
    weight = 0.04 * G
    np.testing.assert_allclose(contacts.friction.sum(axis=0), [-weight * np.sin(angle), 0, 0], atol=1e-3 * weight)


@pytest.mark.parametrize("along", [True, False])
@pytest.mark.parametrize(("angle", "friction"), [(0.2, 0.0), (0.2, 0.1), (0.4, 0.3), (0.7, 0.5)])
def test_what_slides_down_a_slope_gets_faster_as_it_must(angle: float, friction: float, along: bool) -> None:
    """A = g (sin α − μ cos α)."""
    world = on_a_slope(angle, friction, along=along)
    world.step(50)
    expected = G * (np.sin(angle) - friction * np.cos(angle)) * 0.5
    np.testing.assert_allclose(world.velocities[:, 0], expected, rtol=2e-3)
    assert np.abs(world.velocities[:, 1]).max() < 1e-6
    assert world.scaled_steps == 0


def test_what_slides_slows_down_and_stops() -> None:
    """With μ g, after v / μ g: no further than v² / 2 μ g but for the step."""
    world = SoftWorld(dt=0.005, friction=0.4)
    world.add_cable(line((0, -0.2, 0.0101), (0, 0.2, 0.0101), 7), velocity=(1, 0, 0), **CABLE)
    world.add_obstacle(FLOOR)
    world.step(20)
    np.testing.assert_allclose(world.velocities[:, 0], 1 - 0.4 * G * 0.1, rtol=3e-3)
    world.step(60)
    assert np.abs(world.velocities).max() < 1e-3
    np.testing.assert_allclose(world.positions[:, 0], 1 / (2 * 0.4 * G), rtol=0.02)


def test_friction_is_the_same_in_all_directions() -> None:
    """Over 36 of them: as fast as it must be within 2 %, straight on."""
    ends = []
    for angle in np.linspace(0, 2 * np.pi, 36, endpoint=False):
        along = np.array([np.cos(angle), np.sin(angle)])
        world = SoftWorld(dt=0.01, friction=0.3)
        world.add_cloth(square(2, 0.2, 0.0101), velocity=(*(2 * along), 0), **CLOTH)
        world.add_obstacle(FLOOR)
        world.step(20)
        mean = world.velocities[:, :2].mean(axis=0)
        ends.append((mean @ along, abs(mean @ [-along[1], along[0]])))
    speeds, across = np.array(ends).T
    np.testing.assert_allclose(speeds, 2 - 0.3 * G * 0.2, rtol=0.02)
    assert across.max() < 0.02 * speeds.min()


# Around a cylinder


def around_a_cylinder(friction: float, sides: int) -> SoftWorld:
    """A cable half around a cylinder, both ends straight down, under tension; nothing else pulls."""
    radius, nodes, below = 0.005, 21, 8
    reach = 0.1 + 1.02 * radius
    angles, length = np.linspace(np.pi, 0, nodes), np.pi * reach / (nodes - 1)
    arc = reach * np.column_stack([np.cos(angles), 0 * angles, np.sin(angles)])
    down = np.column_stack([np.full(below, reach), np.zeros(below), -length * np.arange(1, below + 1)])
    world = SoftWorld((0, 0, 0), 0.005, friction=friction)
    points = np.concatenate([down[::-1] * [-1, 1, 1], arc, down])
    world.add_cable(points, radius=radius, stretch=500.0, mass_per_length=0.1)
    world.add_obstacle(lying_cylinder(0.1, 0.2, sides))
    world.fix([0, -1], velocity=(0, 0, -0.12))
    world.step(10)
    return world


@pytest.mark.parametrize(("friction", "sides"), [(0.1, 32), (0.3, 48), (0.8, 48)])
def test_a_cable_around_a_cylinder_satisfies_the_capstan_equation(friction: float, sides: int) -> None:
    """Pulled along, the tensions at both ends are as 1 to exp(μ π), within 3 %.

    Normals are those of the start of a step, so μ seems larger by what the cable turns in a step, v dt/R = 0.0025.
    """
    world = around_a_cylinder(friction, sides)
    world.fix(0, velocity=(0, 0, 0.05))
    world.fix(-1, velocity=(0, 0, -0.05))
    world.step(60)
    ratios = []
    for _ in range(40):
        world.step()
        tensions = world.strains()
        ratios.append(tensions[-3:].mean() / tensions[:3].mean())
    assert np.exp(np.log(ratios).mean()) == pytest.approx(np.exp(friction * np.pi), rel=0.03)
    assert world.scaled_steps == 0
    contacts = world.contacts()
    pushes = contacts.forces[:, None] * contacts.normals + contacts.friction
    pulled = 500.0 * (world.strains()[0] + world.strains()[-1])  # both ends pull down, and the cylinder holds
    np.testing.assert_allclose(pushes.sum(axis=0), [0, 0, pulled], atol=0.01 * pulled)


# Bodies against each other


def rubbing_cables(friction: float) -> SoftWorld:
    world = SoftWorld((0, 0, 0), 0.005, friction=friction)
    world.add_cable(line((-0.3, 0, 0), (0.3, 0.02, 0.01), 13), velocity=(1, 0.5, 2), **CABLE)
    world.add_cable(line((0.05, -0.3, 0.035), (0, 0.3, 0.04), 11), velocity=(-1, 0, -2), **CABLE)
    return world


def test_cables_that_rub_keep_their_momentum_and_lose_energy() -> None:
    world, smooth = rubbing_cables(0.5), rubbing_cables(0.0)
    masses = masses_of(world)
    before, rubbed = masses @ world.velocities, 0.0
    energy = world.energy()["kinetic"]
    for _ in range(30):
        world.step()
        smooth.step()
        np.testing.assert_allclose(masses @ world.velocities, before, atol=1e-10)
        now = world.energy()["kinetic"] + world.energy()["elastic"]
        assert now <= energy + 1e-12
        energy, rubbed = now, rubbed + np.abs(world.contacts().friction).sum()
    assert rubbed > 0.1
    assert world.scaled_steps == 0
    faster = [each.velocities[:13, 0].mean() - each.velocities[13:, 0].mean() for each in (world, smooth)]
    assert faster[0] < 0.5 * faster[1]


def test_friction_never_pulls_more_than_its_share_of_the_force() -> None:
    world = rubbing_cables(0.5)
    sliding = 0
    for _ in range(30):
        world.step()
        contacts = world.contacts()
        share = np.linalg.norm(contacts.friction, axis=1) / contacts.forces
        assert (share <= 0.5 * 1.01).all()
        assert np.abs((contacts.friction * contacts.normals).sum(axis=1)).max(initial=0.0) < 1e-12
        sliding += int((share > 0.49).sum())
    assert sliding > 5


def test_a_belt_takes_along_what_lies_on_it() -> None:
    """A floor that moves: what lies on it gets faster with μ g, and then goes along."""
    speed, world = 0.5, SoftWorld(dt=0.01, friction=0.4)
    world.add_cable(line((0, -0.2, 0.0101), (0, 0.2, 0.0101), 7), **CABLE)
    frames = np.array([FLOOR.vertices + [speed * 0.01 * k, 0, 0] for k in range(60)])
    world.add_obstacle(Mesh(FLOOR.vertices, FLOOR.faces), motion=frames)
    world.step(8)
    np.testing.assert_allclose(world.velocities[:, 0], 0.4 * G * 0.08, rtol=5e-3)
    world.step(42)
    np.testing.assert_allclose(world.velocities[:, 0], speed, atol=1e-3)
    driven: Floats = np.array([world.energy()[name] for name in ("driven", "kinetic")])
    assert driven[0] >= driven[1] > 0.0
