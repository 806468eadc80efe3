"""Nodes that were driven are let go: by a call, or at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.run.soft import INTEGRATORS, SoftWorld

from .softthings import CABLE, cable_world, line
from .softworlds import bits

DT = 0.01
FALL = -9.81 * DT * DT  # m, in the first step


def falls(world: SoftWorld) -> list[bool]:
    """Whether each node falls freely in the next step; nothing else pulls at them, as all have been at rest."""
    before = world.positions
    world.step()
    return np.isclose((world.positions - before)[:, 2], FALL, rtol=1e-6).tolist()


def held(**changes: Any) -> SoftWorld:
    """Four nodes without any forces but gravity."""
    world = SoftWorld(dt=DT)
    for k in range(2):
        world.add_cable(
            line((0, k, 0), (1, k, 0), 2), **CABLE | {"stretch": 1e-9, "bend": 0.0, "damping": 0.0} | changes
        )
    return world


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_nodes_that_are_released_go_on_as_free_ones(integrator: str) -> None:
    """From the velocity that they were driven with."""
    dt = 1e-4 if integrator == "explicit" else 0.01
    world, free = (SoftWorld((0, 0, 0), dt, integrator) for _ in range(2))
    world.add_cable(line((0, 0, 0), (1, 0, 0), 6), **CABLE)
    world.fix(..., velocity=(0, 0.3, 0))
    world.step(5)
    world.release(...)
    free.add_cable(world.positions, velocity=(0, 0.3, 0), **CABLE)
    world.step(10)
    free.step(10)
    np.testing.assert_allclose(world.positions, free.positions, atol=1e-9)
    np.testing.assert_allclose(world.velocities[:, 1], 0.3, rtol=1e-6)


@pytest.mark.parametrize("nodes", [1, [1], (1,), slice(1, 2), np.arange(4) == 1, -3])
def test_only_those_nodes_are_released(nodes: Any) -> None:
    world = held()
    world.fix(...)
    world.step(3)
    world.release(nodes)
    assert falls(world) == [False, True, False, False]


def test_bodies_as_nodes() -> None:
    world = held()
    world.fix(world.bodies[0])
    world.fix(world.bodies[1])
    world.release(world.bodies[1])
    assert falls(world) == [False, False, True, True]


def test_releasing_what_is_free_changes_nothing() -> None:
    world, other = cable_world(), cable_world()
    for each in (world, other):
        each.fix(0)
    world.release([3, 4])
    world.release(..., direction=(0, 0, 1))  # nothing is driven along it: what is driven wholly stays so
    world.release([])
    for each in (world, other):
        each.step(5)
    np.testing.assert_array_equal(world.positions, other.positions)


def test_a_direction_alone() -> None:
    world = cable_world(gravity=(0, 9.81, -9.81))
    world.fix([0, 1], direction=(0, 0, 1))
    world.fix([0, 1], velocity=0.1, direction=(0, 1, 0))
    world.release(0, direction=(0, 0, -3))  # of any length and sign
    world.step(5)
    moved = world.positions - line((0, 0, 0), (1, 0, 0), 11)
    assert moved[0, 2] < -1e-3
    assert abs(moved[1, 2]) < 1e-9
    np.testing.assert_allclose(moved[:2, 1], 0.005, atol=1e-8)
    world.release([0, 1])
    world.step(5)
    assert world.positions[1, 2] < -1e-4


def test_functions_of_what_is_released_are_not_asked_any_more() -> None:
    times: list[float] = []

    def velocity(t: float) -> Any:
        times.append(t)
        return (0, 0, 0)

    world = cable_world()
    world.fix(0, velocity)
    world.fix(3, velocity, until=0.025)
    world.step(2)
    world.release(0)
    world.step(5)
    assert max(times) == pytest.approx(0.025)  # the middle of the last step that begins before 0.025 s


def test_fixed_again() -> None:
    world = held()
    world.fix(0)
    world.release(0)
    world.fix(0, (0, 0, 1))
    assert falls(world) == [False, True, True, True]
    assert world.positions[0, 2] == pytest.approx(DT)


@pytest.mark.parametrize("direction", [None, (0, 0, 1)])
@pytest.mark.parametrize(("until", "steps"), [(0.05, 5), (0.044, 5), (0.3, 30), (0.7, 70), (0.0001, 1)])
def test_an_end_that_is_known(direction: Any, until: float, steps: int) -> None:
    """Steps that begin before it are driven; the times of steps are sums, and rounded."""
    world = held()
    world.fix([0, 1], direction=direction, until=until)
    world.step(steps)
    assert np.abs(world.positions[:2, 2]).max() < 1e-9
    world.step()
    np.testing.assert_allclose(world.positions[:2, 2], FALL, rtol=1e-4)


def test_an_end_is_in_the_future() -> None:
    world = held()
    world.step(5)
    with pytest.raises(InputError, match=r"until: found 0.04, expected a time after now, 0.05 s"):
        world.fix(0, until=0.04)


def test_a_node_that_is_named_twice_goes_as_said_last() -> None:
    world = held()
    world.fix([0, 1, 0], [(9, 9, 9), (1, 0, 0), (0, 1, 0)])
    world.fix([2, 3, 2], direction=(0, 0, 1))
    world.step(2)
    np.testing.assert_allclose(world.velocities[:2], [(1, 0, 0), (0, 1, 0)][::-1], atol=1e-12)
    assert np.abs(world.positions[2:, 2]).max() < 1e-9


def test_files_remember_it(tmp_path: Path) -> None:
    def make() -> SoftWorld:
        world = cable_world()
        world.fix(world.bodies[0], until=0.06)
        world.fix([0, 10], direction=(0, 0, 1))
        world.step(2)
        world.release([0], direction=(0, 0, 1))
        return world

    world = make()
    for _ in range(3):
        world.save(tmp_path / "world.h5")
        again = SoftWorld.load(tmp_path / "world.h5")
        for each in (world, again):
            each.step(3)
        assert bits(again) == bits(world)
        world.release(10)
        again.release(10)
    assert world.positions[0, 2] < -1e-3
