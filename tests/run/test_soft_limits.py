"""Limits of strain, and of its rate."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.run.soft import SoftWorld

from .softthings import CABLE, CLOTH, Floats, cable_world, line, square


def lengths_are_kept(world: SoftWorld, steps: int, upper: float, lower: float = np.inf) -> Floats:
    """Take steps, with limits held to 1e-4 of themselves; the extremes of strain."""
    extremes = np.zeros(2)
    for _ in range(steps):
        world.step()
        strains = world.strains()
        extremes = np.array([min(extremes[0], strains.min()), max(extremes[1], strains.max())])
        assert strains.max() <= upper * (1 + 1e-4)
        assert strains.min() >= -lower * (1 + 1e-4)
        assert world.strain_slack <= 1e-6
    assert world.scaled_steps == 0
    return extremes


def test_a_soft_cable_that_swings_is_not_longer_than_its_limit() -> None:
    world = cable_world(21, stretch=5.0)
    world.fix(0)
    world.limit_strain(upper=0.1)
    assert lengths_are_kept(world, 100, 0.1)[1] > 0.0999
    free = cable_world(21, stretch=5.0)
    free.fix(0)
    free.step(50)
    assert free.strains().max() > 0.15


@pytest.mark.parametrize("limits", [{"upper": 0.05}, {"upper": 0.05, "lower": 0.05}, {"upper": 0.01, "lower": 0.2}])
def test_a_cloth_that_hangs_at_two_corners_keeps_its_limits(limits: dict[str, float]) -> None:
    world = SoftWorld(dt=0.01)
    world.add_cloth(square(6, 1.0, 0.0), **CLOTH | {"stretch": 20.0, "shear": 5.0})
    world.fix([0, 5])
    world.limit_strain(**limits)
    low, high = lengths_are_kept(world, 60, **limits)
    assert high > 0.99 * limits["upper"]
    if limits.get("lower") == 0.05:
        assert low < -0.049


def test_a_cable_without_any_stretch_is_a_chain() -> None:
    """A limit of 0: all lengths stay what they are, however soft it is."""
    world = cable_world(stretch=1.0)
    world.fix(0)
    world.limit_strain(upper=0.0, lower=0.0)
    world.step(50)
    np.testing.assert_allclose(world.strains(), 0.0, atol=1e-6)
    assert world.positions[10, 2] < -0.5
    assert world.scaled_steps == 0


def test_rates_of_strain_are_limited() -> None:
    world = cable_world(stretch=5.0)
    world.fix(0)
    world.limit_strain_rate(0.2)
    before, fastest = world.strains(), 0.0
    for _ in range(60):
        world.step()
        rates = (world.strains() - before) / world.dt
        assert np.abs(rates).max() <= 0.2 * (1 + 1e-4)
        before, fastest = world.strains(), max(fastest, rates.max())
    assert fastest > 0.1999
    assert world.scaled_steps == 0


def test_slack_tells_by_how_much_drivers_force_a_limit() -> None:
    world = cable_world(gravity=(0, 0, 0))
    world.fix(0)
    world.fix(10, velocity=(1, 0, 0))
    world.limit_strain(upper=0.1)
    slacks = []
    for _ in range(30):
        world.step()
        slacks.append(world.strain_slack)
    assert max(slacks[:9]) < 1e-6
    np.testing.assert_allclose(slacks[10:], 0.01 * np.arange(11, 31) - 0.1, atol=1e-4)
    assert world.strains().max() == pytest.approx(0.3, abs=1e-3)
    assert world.scaled_steps == 0


def test_limits_of_one_body_are_not_those_of_another() -> None:
    world = SoftWorld()
    bodies = [world.add_cable(line((0, y, 0), (1, y, 0), 11), **CABLE | {"stretch": 5.0}) for y in (0.0, 1.0, 2.0)]
    world.fix([body.nodes.start for body in bodies])
    world.limit_strain(upper=0.05, bodies=bodies[1])
    world.limit_strain(upper=0.1, bodies=[bodies[2]])
    world.step(60)
    largest = [world.strains()[body.edges].max() for body in bodies]
    assert largest[0] > 0.15
    np.testing.assert_allclose(largest[1:], [0.05, 0.1], rtol=1e-3)


def test_limits_that_are_set_again() -> None:
    """The later one holds, of what it is given for; the others stay."""
    world = cable_world(stretch=5.0)
    world.fix(0)
    world.limit_strain(upper=0.3, lower=0.2)
    world.limit_strain(upper=0.1)
    world.limit_strain_rate(5.0)
    lengths_are_kept(world, 50, 0.1, 0.2)


def test_what_is_beyond_its_limit_comes_back_to_it() -> None:
    """By ten times its length at rest per second at most."""
    world = cable_world(stretch=2.0)
    world.fix(0)
    world.step(40)
    before = world.strains().max()
    assert before > 0.3
    world.limit_strain(upper=0.1)
    for _ in range(20):
        world.step()
        assert world.strains().max() <= max(0.1, before - 0.0999) + 1e-5
        assert world.strain_slack == pytest.approx(max(world.strains().max() - 0.1, 0.0), abs=1e-6)
        before = world.strains().max()
    assert before == pytest.approx(0.1, rel=1e-3)


def test_what_comes_back_keeps_a_limit_of_rates() -> None:
    world = cable_world(stretch=2.0, gravity=(0, 0, 0))
    world.fix([0, 10], velocity=[(0, 0, 0), (2, 0, 0)])
    world.step(20)
    world.fix(10, direction=(0, 1, 0))
    world.limit_strain(upper=0.1)
    world.limit_strain_rate(1.0)
    for _ in range(10):
        before = world.strains()
        world.step()
        assert np.abs(world.strains() - before).max() <= 0.01 * (1 + 1e-4)
    assert world.scaled_steps == 0
