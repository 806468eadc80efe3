"""Cables and cloths thrown at each other and at moving obstacles, and linked rings: nothing passes through anything."""

from __future__ import annotations

import numpy as np
import pytest

from . import softruns
from .softjudge import linking_number

FEW = 12


@pytest.mark.parametrize("number", range(FEW))
def test_runs_at_random_are_free_of_collisions(number: int) -> None:
    verdict = softruns.judge(number)
    assert verdict.failures == []
    assert verdict.steps >= 20
    assert verdict.scaled <= 1


def test_runs_are_what_they_are_said_to_be() -> None:
    """All kinds, integrators and sizes are there, up to 100 thicknesses per step and from 1 to 1e6 N."""
    draws = [softruns.Draw(number) for number in range(200)]
    assert {draw.kind for draw in draws} == set(softruns.KINDS)
    assert {draw.integrator for draw in draws} == {"implicit-euler", "bdf2", "explicit"}
    travels, forces = [draw.travel for draw in draws], [draw.stiffness for draw in draws]
    assert min(travels) < 0.5
    assert 90 < max(travels) <= 100
    assert min(forces) < 3
    assert max(forces) > 3e5
    assert all(20 <= draw.steps <= 40 for draw in draws)


def test_the_same_number_makes_the_same_run() -> None:
    one, other = (softruns.Draw(5).world() for _ in range(2))
    np.testing.assert_array_equal(one.positions, other.positions)
    np.testing.assert_array_equal(one.velocities, other.velocities)


def test_rings_are_linked() -> None:
    for number in range(2, 40, 4):
        world = softruns.Draw(number).world()
        rings = [world.positions[body.nodes] for body in world.bodies]
        assert round(abs(linking_number(rings[0], rings[1]))) == 1
