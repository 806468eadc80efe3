"""Damping: what it resists, how much, and that turning is not among it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.run.soft import SoftWorld

from .softthings import capstan, line, ring, square, tension_ratios

Floats = NDArray[np.float64]


def spinning(damping: float, integrator: str) -> SoftWorld:
    """A cable under tension, a ring about its diameter, a bent cloth: all turn at 10/s, nothing else acts."""
    world = SoftWorld(gravity=(0, 0, 0), dt=0.005, integrator=integrator)
    rope = line((-0.5, 0, 0), (0.5, 0, 0), 11)
    hoop = ring(20, 0.2, (1, 0, 0), (0, 1, 0))
    sheet, faces = square(4, 0.4, 0.0)
    sheet[:, 2] = 2 * sheet[:, 0] ** 2
    sheet[:, 2] -= sheet[:, 2].mean()
    common = {"damping": damping, "bend": 1e-2}
    world.add_cable(rope, radius=1e-3, stretch=1000, mass_per_length=0.1, velocity=np.cross([0, 0, 10], rope), **common)
    world.add_cable(
        hoop + [0, 0, 2], closed=True, radius=1e-3, stretch=1000, mass_per_length=0.1,
        velocity=np.cross([10, 0, 0], hoop), **common,
    )  # fmt: skip
    world.add_cloth(
        (sheet + [0, 0, -2], faces), thickness=1e-3, stretch=500, shear=100, density=0.2,
        velocity=np.cross([0, 0, 10], sheet), **common,
    )  # fmt: skip
    return world


def angular_momenta(world: SoftWorld) -> Floats:
    found = []
    for body, parts in zip(world.bodies, world._parts, strict=True):
        x, v, m = world.positions[body.nodes], world.velocities[body.nodes], parts.masses[:, None]
        found.append(np.linalg.norm((m * np.cross(x - (m * x).sum(axis=0) / m.sum(), v)).sum(axis=0)))
    return np.array(found)


@pytest.mark.parametrize("integrator", ["implicit-euler", "bdf2"])
def test_damping_does_not_slow_down_turning(integrator: str) -> None:
    """What implicit Euler loses of angular momentum, it loses without damping, too."""
    left = []
    for damping in (0.0, 5e-3):
        world = spinning(damping, integrator)
        start = angular_momenta(world)
        world.step(100)
        left.append(angular_momenta(world) / start)
    np.testing.assert_allclose(left[1][:2], left[0][:2], rtol=5e-3)
    assert left[1][2] > 0.99 * left[0][2]  # the cloth unbends, and the damped one keeps more
    if integrator == "bdf2":
        assert (left[1] > 0.985).all()


def decay(x: Floats, velocity: Floats, omega_sq: float, damping: float, **body: float) -> float:
    """Rate at which a cable that swings by itself with ω loses energy, 1/s, over one period."""
    dt = 2e-4
    world = SoftWorld(gravity=(0, 0, 0), dt=dt, integrator="bdf2")
    world.add_cable(x, velocity=velocity, radius=1e-3, mass_per_length=0.1, damping=damping, **body)
    period = round(2 * np.pi / np.sqrt(omega_sq - (0.5 * damping * omega_sq) ** 2) / dt)
    energies = []
    for steps in (100, period):
        world.step(steps)
        energy = world.energy()
        energies.append(energy["kinetic"] + energy["elastic"])
    return float(np.log(energies[0] / energies[1]) / (period * dt))


def test_stretch_decays_at_the_rate_of_damping() -> None:
    """Two masses m on a spring k: ω² = 2k/m, and the energy falls like exp(−γ ω² t)."""
    x, gamma = line((0, 0, 0), (1, 0, 0), 2), 5e-3
    omega_sq = 2 * 50.0 / 0.05
    found = decay(x, np.array([[-0.1, 0, 0], [0.1, 0, 0]]), omega_sq, gamma, stretch=50.0)
    assert found == pytest.approx(gamma * omega_sq, rel=0.01)


def test_bending_decays_at_the_rate_of_damping_through_straight() -> None:
    """Three nodes: κ = (a − 2b + c)/l, with the stiffness B/l, swings against their masses."""
    length, gamma, bend = 0.5, 5e-3, 1.0
    x = line((0, 0, 0), (1, 0, 0), 3)
    omega_sq = bend / length * (1 / 0.025 + 4 / 0.05 + 1 / 0.025) / length**2
    velocity = np.array([[0, 0, 0.05], [0, 0, -0.05], [0, 0, 0.05]])
    found = decay(x, velocity, omega_sq, gamma, stretch=5e3, bend=bend)
    assert found == pytest.approx(gamma * omega_sq, rel=0.03)


@pytest.mark.parametrize("speed", [0.02, 0.1])
def test_a_damped_cable_that_runs_around_a_cylinder_has_the_tensions_of_the_capstan_equation(speed: float) -> None:
    """In 10 ms, its damping, the cable turns by half a degree at most: that must not be felt."""
    world = capstan(0.2, damping=1e-2, speed=speed)
    world.step(45)
    assert np.mean(tension_ratios(world, 8)) == pytest.approx(np.exp(0.2 * np.pi), rel=0.03)
