"""Bodies that are as stiff as real ones: steps are solved, not halved, and those that are not solved say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from impinge.bodies.soft import _interior
from impinge.bodies.soft.minimum import PRODUCT, TOLERANCE, Minimum, what_is_left
from impinge.errors import ConvergenceError, InfeasibleStep
from impinge.run.soft import SoftWorld

from .softexamples import own_energy
from .softthings import CABLE, FLOOR, line, square


def thrown(stretch: float, tilt: float = 80, dt: float = 0.01) -> SoftWorld:
    """A cable that hits the floor with its end and folds up."""
    world, angle = SoftWorld(dt=dt), np.radians(tilt)
    x = np.linspace(0, 0.4, 14)[:, None] * [np.cos(angle), 0.001, np.sin(angle)] + [0, 0, 0.05]
    rope: Any = {"radius": 0.005, "stretch": stretch, "mass_per_length": 0.1, "damping": 0.01}
    world.add_cable(x, velocity=(0, 0, -3), **rope)
    world.add_obstacle(FLOOR)
    return world


def swinging() -> SoftWorld:
    """A cable that hangs from one end and touches nothing."""
    world = SoftWorld(dt=0.03)
    world.add_cable(line((0, 0, 0), (1, 0, 0), 31), radius=0.005, stretch=1e7, mass_per_length=0.1, damping=0.005)
    world.fix(0)
    return world


def edge_on() -> SoftWorld:
    """A cloth that hits the floor with an edge."""
    vertices, faces = square(7, 0.3, 0.0)
    x = np.column_stack([vertices[:, 0], 0.01 * vertices[:, 1], vertices[:, 1] + 0.2])
    world = SoftWorld()
    cloth: Any = {"stretch": 1e6, "shear": 3e5, "density": 0.2, "thickness": 0.01, "damping": 0.005}
    world.add_cloth((x, faces), velocity=(0, 0, -3), **cloth)
    world.add_obstacle(FLOOR)
    return world


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (lambda: thrown(1e5), 50),
        (lambda: thrown(1e6), 50),
        (lambda: thrown(1e6, 45), 50),
        (lambda: thrown(1e5, dt=0.03), 15),
        (swinging, 60),
        (edge_on, 25),
    ],
    ids=["rope", "stiff", "slanted", "long steps", "no contact", "cloth"],
)
def test_steps_of_stiff_bodies_are_taken_whole(make: Callable[[], SoftWorld], steps: int) -> None:
    world = make()
    energy = size = own_energy(world)
    for _ in range(steps):
        world.step()
        assert world.last is not None
        assert world.last.residual <= 1e-6
        before, energy = energy, own_energy(world)
        assert energy <= before + 1e-6 * abs(size)
    assert world.scaled_steps == 0


def test_a_steel_wire_that_moves_farther_than_it_is_long() -> None:
    """It folds up in a single step: some are shorter than asked for, and all are taken."""
    world = SoftWorld(dt=0.1)
    wire: Any = {"radius": 0.005, "stretch": 1e9, "mass_per_length": 0.1}
    world.add_cable(line((0, 0, 0.05), (1e-4, 0, 0.45), 14), velocity=(0, 0, -10), **wire)
    world.add_obstacle(FLOOR)
    world.step(4)
    assert world.steps == 4
    assert np.abs(world.strains()).max() < 1e-3


def test_steps_that_are_not_solved_do_not_blame_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    world = swinging()

    def run(self: Minimum, tolerance: float, product: float) -> None:
        raise ConvergenceError("the equations of motion are off by 1.0e-02 of the largest force")

    monkeypatch.setattr(Minimum, "run", run)
    with pytest.raises(InfeasibleStep) as caught:
        world.step()
    assert caught.value.rows == []
    assert str(caught.value) == (
        "no step from t = 0 s converged, down to dt = 0.000234375 s; "
        "the equations of motion are off by 1.0e-02 of the largest force"
    )


@pytest.mark.parametrize(
    ("residual", "primal", "product", "said"),
    [
        (1e-3, 0.0, 0.0, "the equations of motion are off by 1.0e-03 of the largest force"),
        (1e-9, 1e-5, 0.0, "contacts, limits or rows are off by 1.0e-05 of their size"),
        (1e-9, 0.0, 1e-6, "rows push before they act, by 1.0e-06 of the largest force times their size"),
        (0.0, 0.0, 0.0, "the energy has risen beyond 2 J"),
    ],
)
def test_what_is_left_is_what_failed(residual: float, primal: float, product: float, said: str) -> None:
    state = np.zeros(_interior.FIELDS)
    state[[_interior.RESIDUAL, _interior.PRIMAL, _interior.PRODUCT]] = residual, primal, product
    assert what_is_left(state, TOLERANCE, PRODUCT, 2.0) == said


def test_rows_that_contradict_each_other_are_no_collisions() -> None:
    world = SoftWorld()
    world.add_cable(line((0, 0, 0), (1, 0, 0), 11), **CABLE)
    for velocity, direction in ((1.0, (1, 0, 0)), (3.0, (1, 1, 0)), (1.0, (0, 1, 0))):
        world.fix(3, velocity, direction)
    with pytest.raises(InfeasibleStep, match="satisfies all rows and directions, down to dt = ") as caught:
        world.step()
    assert caught.value.rows
    assert all("of fix" in row for row in caught.value.rows)
    assert "collisions" not in str(caught.value)
