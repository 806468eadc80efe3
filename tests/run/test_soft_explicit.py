"""Explicit steps: too long ones are refused, and what becomes unstable later ends in an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError, RunError
from impinge.run.scene import read_scene
from impinge.run.soft import SoftWorld

from .softthings import CABLE, CLOTH, line, square

LIMIT = 0.05 * np.sqrt(0.1 / 1000)  # s, of the chain below: l √(ρ/EA)


def chain(dt: float, **changes: Any) -> SoftWorld:
    world = SoftWorld((0, 0, 0), dt, "explicit")
    loose = {"stretch": 1000.0, "bend": 0.0, "damping": 0.0}
    world.add_cable(line((0, 0, 0), (1, 0, 0), 21), **CABLE | loose | changes)
    return world


def test_the_limit_of_a_chain_is_named() -> None:
    with pytest.raises(
        InputError, match=r"dt: found 0.001 s, expected less than 0.0005\d* s, .* of 'cable 0' with int"
    ):
        chain(1e-3).step()
    with pytest.raises(InputError, match="dt: found"):
        chain(1e-3).check()
    chain(0.99 * LIMIT).step()


@pytest.mark.parametrize("damping", [0.0, 1e-4, 1e-2])
def test_what_is_allowed_stays_bounded_and_what_is_not_grows(damping: float) -> None:
    """With the check put off, a disturbance grows; a little below the limit it does not grow."""
    limit = -damping + np.sqrt(damping**2 + LIMIT**2)  # h² + 2 γ h = 4/ω², ω = 2/LIMIT
    for dt, grows in ((0.97 * limit, False), (1.06 * limit, True)):
        world = chain(dt, damping=damping)
        world._v[:, 0] = 1e-6 * (-1.0) ** np.arange(21)
        if grows:
            with pytest.raises(InputError, match="limit of stability"):
                world.step()
            world._stable = (world.dt, len(world._calls))
        world.step(150)
        speed = np.abs(world.velocities).max()
        assert speed > 1e-3 if grows else speed < 1e-5


def test_all_that_can_change_the_limit_is_looked_at_again() -> None:
    world = chain(0.9 * LIMIT)
    world.step()
    world.dt = 2 * LIMIT
    with pytest.raises(InputError, match="'cable 0'"):
        world.step()
    world.dt = 0.9 * LIMIT
    world.step()
    world.add_cloth(square(5, 0.2, 1.0), **CLOTH | {"stretch": 1e5})
    for _ in range(2):
        with pytest.raises(InputError, match=r"dt: .* 'cloth 1'"):
            world.step()
    world.fix(world.bodies[1])  # what is driven does not swing
    world.step()
    world.release(world.bodies[1])
    with pytest.raises(InputError, match=r"dt: .* 'cloth 1'"):
        world.step()


def test_other_integrators_take_any_step() -> None:
    for integrator in ("implicit-euler", "bdf2"):
        world = SoftWorld((0, 0, 0), 1.0, integrator)
        world.add_cable(line((0, 0, 0), (1, 0, 0), 21), **CABLE)
        world.step(2)


def test_what_becomes_unstable_ends_in_an_error_and_leaves_the_last_state() -> None:
    """Limits hold at rest; a cloth that is pulled to many times its size resists shear much more."""
    world = SoftWorld((0, 0, 0), 1e-3, "explicit")
    world.add_cloth(square(5, 0.4, 0.0), velocity=(0, 0, 0), **CLOTH | {"shear": 200.0, "bend": 0.0})
    world._v = 20.0 * world.positions[:, ::-1] + 300.0 * world.positions
    for _ in range(500):
        state = world.time, world.positions, world.velocities, world.steps
        try:
            world.step()
        except RunError as error:
            assert "explicit steps of" in str(error)  # noqa: PT017
            break
    else:
        raise AssertionError("all steps were taken")
    assert (world.time, world.steps) == (state[0], state[3])
    np.testing.assert_array_equal(world.positions, state[1])
    np.testing.assert_array_equal(world.velocities, state[2])
    assert np.isfinite(world.positions).all()


@pytest.mark.parametrize("integrator", ["implicit-euler", "explicit"])
def test_numbers_that_overflow(integrator: str) -> None:
    world = SoftWorld(dt=1e-4, integrator=integrator)
    world.add_cable(line((0, 0, 0), (1, 0, 0), 5), **CABLE)
    x = world.positions
    world._v[:] = np.inf
    with pytest.raises(RunError, match=r"node 0 leaves the range of numbers in a step of 0.0001 s from t = 0 s"):
        world.step()
    np.testing.assert_array_equal(world.positions, x)
    assert world.time == 0.0


def test_scenes_name_the_time_step(tmp_path: Path) -> None:
    text = """
[world]
integrator = "explicit"
dt = 0.01
[run]
until = 0.1
[[bodies]]
kind = "cable"
line = { start = [0, 0, 0], end = [1, 0, 0], nodes = 21 }
radius = 0.01
stretch = 1000
mass_per_length = 0.1
"""
    (tmp_path / "scene.toml").write_text(text)
    with pytest.raises(InputError, match=r"scene.toml:4: world.dt: found 0.01 s, expected less than 0.0005"):
        read_scene(tmp_path / "scene.toml").build()
