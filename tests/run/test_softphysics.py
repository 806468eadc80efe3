"""Cables and cloth against what is known of them: convergence, friction, limits of strain, momentum, energy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge.run.soft import SoftWorld
from impinge.shapes import icosphere

from .softexamples import own_energy
from .softthings import CABLE, CLOTH, FLOOR, capstan, line, ring, square, tension_ratios

Floats = NDArray[np.float64]


# Convergence


def sliding(dt: float, integrator: str) -> SoftWorld:
    """A cable that lies on a floor, all of it, bends and stretches there, and slides down its slope."""
    world = SoftWorld(gravity=(1.5, 0.5, -9.81), dt=dt, integrator=integrator)
    x = line((-0.3, 0, CABLE["radius"]), (0.3, 0.1, CABLE["radius"]), 13)
    velocity = np.column_stack([0 * x[:, 0], 4 * x[:, 0] ** 2 - 0.3, 0 * x[:, 0]])
    world.add_cable(x, velocity=velocity, **CABLE | {"stretch": 50.0})
    world.add_obstacle(FLOOR)
    return world


@pytest.mark.parametrize(("integrator", "ratio"), [("implicit-euler", 2), ("bdf2", 4)])
def test_positions_converge_in_contact_as_without(integrator: str, ratio: float) -> None:
    ends = []
    for steps in (80, 160, 320):
        world = sliding(0.4 / steps, integrator)
        for _ in range(steps):
            world.step()
            assert len(world.contacts()) >= 13
        np.testing.assert_allclose(world.positions[:, 2], CABLE["radius"], rtol=1e-6)
        ends.append(world.positions)
    changes = [np.linalg.norm(one - other) for one, other in itertools.pairwise(ends)]
    assert changes[0] / changes[1] == pytest.approx(ratio, rel=0.1)


# Friction


@pytest.mark.parametrize("friction", [0.0, 0.2, 0.4])
def test_a_cable_around_a_cylinder_has_the_tensions_of_the_capstan_equation(friction: float) -> None:
    """T₂/T₁ = exp(μ π) once all of it slides."""
    world = capstan(friction)
    world.step(65)
    ratios = tension_ratios(world, 35)
    assert np.mean(ratios) == pytest.approx(np.exp(friction * np.pi), rel=0.02)
    np.testing.assert_allclose(ratios, np.exp(friction * np.pi), rtol=0.03)
    contacts = world.contacts()
    # What nodes feel has settled to 1e-3 of the largest; how neighbouring rows share it is less certain.
    acting, wanted = np.linalg.norm(contacts.friction, axis=1), friction * contacts.forces
    np.testing.assert_allclose(acting, wanted, rtol=0, atol=0.01 * friction * contacts.forces.max())


def sliding_patch(direction: float, friction: float, speed: float) -> tuple[SoftWorld, Floats]:
    """A stiff patch that lies on a floor and is pushed."""
    world, along = SoftWorld(dt=0.005, friction=friction), np.array([np.cos(direction), np.sin(direction), 0.0])
    x, faces = square(2, 0.1, CLOTH["thickness"] / 2)
    world.add_cloth((x, faces), velocity=speed * along, **CLOTH | {"stretch": 2e3, "shear": 1e3, "bend": 0.1})
    world.add_obstacle(FLOOR)
    return world, along


def test_friction_is_the_same_in_all_directions() -> None:
    """A patch comes to rest after v²/(2 μ g), in the direction it is pushed: 36 of them, within 2 %."""
    friction, speed = 0.3, 0.6
    ways, aside = [], []
    for direction in np.linspace(0, 2 * np.pi, 36, endpoint=False) + 0.05:
        world, along = sliding_patch(direction, friction, speed)
        start = world.positions.mean(axis=0)
        world.step(50)
        assert np.abs(world.velocities).max() < 1e-3
        moved = world.positions.mean(axis=0) - start
        ways.append(moved @ along)
        aside.append(np.linalg.norm(moved - ways[-1] * along))
    assert np.ptp(ways) < 0.02 * np.mean(ways)
    assert max(aside) < 0.02 * np.mean(ways)
    # Implicit Euler ends within one step of dt: that is v dt/2 of the way.
    assert np.mean(ways) == pytest.approx(speed**2 / (2 * friction * 9.81), abs=0.6 * speed * 0.005)


@pytest.mark.parametrize(("slope", "slides"), [(0.28, False), (0.32, True)])
def test_what_lies_on_a_slope_slides_if_it_is_steeper_than_friction(slope: float, slides: bool) -> None:
    world, _ = sliding_patch(0.0, 0.3, 0.0)
    world.gravity = 9.81 * np.array([slope, 0, -1]) / np.hypot(slope, 1)
    start = world.positions
    world.step(40)
    moved = (world.positions - start)[:, 0].mean()
    free = 0.5 * 0.2 * 0.205 * 9.81 * (slope - 0.3) / np.hypot(slope, 1)  # implicit Euler: n (n + 1)/2 dt²
    assert moved == pytest.approx(free if slides else 0.0, abs=1e-5 if slides else 1e-4)  # what sticks creeps a bit


# Limits of strain


def test_limits_of_strain_hold() -> None:
    """A heavy chain that falls into its limits, and a cloth that is pressed against its other ones."""
    world = SoftWorld(dt=0.005)
    chain = world.add_cable(line((0, 0, 0), (1, 0, 0.1), 15), **CABLE | {"stretch": 2.0})
    cloth = world.add_cloth(square(5, 0.5, 2.0), **CLOTH | {"stretch": 2.0, "shear": 1.0})
    world.fix(0)
    world.fix(np.arange(cloth.nodes.start, cloth.nodes.start + 5))
    world.limit_strain(upper=0.1, bodies=chain)
    world.limit_strain(upper=0.05, lower=0.02, bodies=cloth)
    largest, smallest = np.zeros(2), np.zeros(2)
    for _ in range(120):
        world.step()
        strains = [world.strains()[body.edges] for body in (chain, cloth)]
        largest = np.maximum(largest, [strain.max() for strain in strains])
        smallest = np.minimum(smallest, [strain.min() for strain in strains])
        assert world.strain_slack < 1e-6
    np.testing.assert_allclose(largest, [0.1, 0.05], rtol=1e-3)
    assert smallest[1] == pytest.approx(-0.02, rel=1e-3)


def test_limits_of_rates_of_strain_hold() -> None:
    world = SoftWorld(dt=0.005)
    world.add_cable(line((0, 0, 0), (1, 0, 0.1), 15), **CABLE | {"stretch": 2.0})
    world.fix(0)
    world.limit_strain_rate(0.5)
    before, fastest = world.strains(), 0.0
    for _ in range(80):
        world.step()
        fastest = max(fastest, float(np.abs(world.strains() - before).max() / world.dt))
        before = world.strains()
    assert fastest == pytest.approx(0.5, rel=1e-3)


# Momentum and energy


@pytest.mark.parametrize("integrator", ["implicit-euler", "bdf2"])
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_free_cables_that_collide_keep_their_momentum(seed: int, friction: float, integrator: str) -> None:
    rng = np.random.default_rng(seed)
    world = SoftWorld(gravity=(0, 0, 0), dt=0.01, friction=friction, integrator=integrator)
    ends = rng.uniform(-0.1, 0.1, (2, 3))
    world.add_cable(line((-0.3, 0, 0) + ends[0], (0.3, 0, 0) - ends[0], 13), velocity=(0, 0, 3), **CABLE)
    world.add_cable(line((0, -0.3, 0.2) + ends[1], (0, 0.3, 0.2) - ends[1], 11), velocity=(0.5, 0, -2), **CABLE)
    world.check()
    masses = world._masses
    before, touched = masses @ world.velocities, 0
    for _ in range(30):
        world.step()
        touched += len(world.contacts()) > 0
        np.testing.assert_allclose(masses @ world.velocities, before, atol=1e-10)
    assert world.scaled_steps == 0
    assert touched > 0


def thrown_at_the_floor(world: SoftWorld) -> None:
    world.add_cable(line((0, 0, 0.1), (0.3, 0, 0.1), 7), velocity=(0.5, 0, -5), **CABLE)
    world.add_obstacle(FLOOR)


def thrown_at_rows(world: SoftWorld) -> None:
    world.add_cable(line((0, 0, 0.1), (0.3, 0, 0.1), 7), velocity=(0.5, 0, -5), **CABLE)
    world.add_constraint(-sp.eye_array(21, format="csr")[2::3], 0.0, of="positions")


def caught_by_its_limit(world: SoftWorld) -> None:
    """Two nodes that part until the limit of strain stops them, which the cable itself hardly does."""
    x = line((0, 0, 0), (0, 0, 0.1), 2)
    world.add_cable(x, velocity=np.array([[0, 0, 2.5], [0, 0, -2.5]]) * -1, **CABLE | {"stretch": 1e-3})
    world.limit_strain(upper=0.5)


@pytest.mark.parametrize("dt", [0.01, 0.004, 0.001])
@pytest.mark.parametrize("make", [thrown_at_the_floor, thrown_at_rows, caught_by_its_limit])
def test_nothing_bounces_with_bdf2(make: Any, dt: float) -> None:
    """Contacts are inelastic, and so are limits and rows, though it looks back over two steps."""
    world = SoftWorld(gravity=(0, 0, 0), dt=dt, integrator="bdf2")
    make(world)
    parting = world.velocities[-1, 2] - (world.velocities[0, 2] if make is caught_by_its_limit else 0.0)
    world.step(round(0.05 / dt))
    ends = world.velocities[[0, -1], 2]
    assert abs(parting) == 5
    assert np.abs(ends).max() < 5e-3  # what elastic forces make of it
    assert own_energy(world) < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_collisions_win_no_energy_with_bdf2(seed: int) -> None:
    """Though that of what vibrates goes up and down a little, as it has no plain energy of its own to keep."""
    world, rng = SoftWorld(gravity=(0, 0, 0), integrator="bdf2"), np.random.default_rng(seed)
    for side in (-1, 1):
        x, faces = square(6, 0.25, 0.0)
        turned = x @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + np.array([0, 0, 0.25 * side])
        world.add_cloth((turned, faces), velocity=(0, 0, -25 * side), **CLOTH)
    energies = [own_energy(world)]
    for _ in range(15):
        world.step()
        energies.append(own_energy(world))
    assert min(energies) < 0.9 * energies[0]
    assert np.diff(energies).max() < 1e-3 * energies[0]


def crumpled() -> SoftWorld:
    """A cloth that falls onto its edge, on a floor."""
    world = SoftWorld(dt=0.01)
    x, faces = square(9, 0.5, 0.0)
    upright = np.column_stack([x[:, 0], 0.02 * np.sin(18 * x[:, 1]) + 0.01 * x[:, 0], x[:, 1] + 0.27])
    world.add_cloth((upright, faces), **CLOTH | {"thickness": 0.006})
    world.add_obstacle(FLOOR)
    return world


def hanging_chain() -> SoftWorld:
    """Linked rings, the first of which is held."""
    world = SoftWorld(dt=0.005)
    for link in range(4):
        second: Any = ((0, 1, 0), (0, 0, 1))[link % 2]
        world.add_cable(ring(14, 0.1, (1, 0, 0), second, (0.13 * link, 0, 0)), closed=True, **CABLE)
    world.fix([0, 7])
    return world


def ball_in_a_net() -> SoftWorld:
    """A ball that moves up into a cloth that is held at its corners."""
    world = SoftWorld(dt=0.01)
    world.add_cloth(square(9, 0.6, 0.3), **CLOTH)
    world.fix([0, 8, 72, 80])
    frames = icosphere(2, 0.1).vertices + np.array([0, 0, 1]) * np.linspace(0, 0.35, 30)[:, None, None]
    world.add_obstacle(icosphere(2, 0.1), frames)
    return world


@pytest.mark.parametrize("make", [crumpled, hanging_chain, ball_in_a_net])
def test_damped_systems_win_no_energy(make: Any) -> None:
    """But for the work of what is driven, and of the recovery of distances."""
    world = make()
    before = own_energy(world)
    for _ in range(60):
        world.step()
        after = own_energy(world)
        assert after - before < 1e-9
        before = after
    assert world.scaled_steps == 0


def test_the_work_of_drivers_is_what_a_world_wins() -> None:
    """A cable without damping that is lifted slowly: work = change of energy, to first order in dt."""
    errors = []
    for steps in (100, 200):
        world = SoftWorld(dt=1.0 / steps)
        world.add_cable(line((0, 0, 0), (0, 0, -0.5), 9), **CABLE | {"damping": 0.0})
        world.fix(0, lambda t: np.array([0, 0, 0.3 * np.sin(np.pi * t) ** 2]))
        start = world.energy()
        world.step(steps)
        end = world.energy()
        won = sum(end[name] - start[name] for name in ("kinetic", "potential", "elastic"))
        errors.append(abs(end["driven"] - won))
        assert end["driven"] > 0.05
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.3)
    assert errors[1] < 0.02 * end["driven"]
