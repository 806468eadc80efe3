"""Rows of users: bounds and equations that hold in every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge.errors import InfeasibleStep
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh

from .softthings import CABLE, FLOOR, Floats, cable_world, heights, line


def test_rows_of_velocities_and_positions() -> None:
    """No node falls faster than 1 m/s, nor below −0.2 m."""
    world = cable_world()
    world.add_constraint(-heights(11), 1.0)
    world.add_constraint(-heights(11).toarray(), np.full(11, 0.2), of="positions")
    fastest = 0.0
    for _ in range(60):
        world.step()
        fastest = min(fastest, world.velocities[:, 2].min())
        assert fastest > -1 - 1e-6
        assert world.positions[:, 2].min() > -0.2 - 1e-8
    assert fastest < -0.9999
    np.testing.assert_allclose(world.positions[:, 2], -0.2, atol=1e-6)


def test_equalities_tie_nodes_to_each_other() -> None:
    """Both ends at one height, and the mean of all nodes falls with 0.5 m/s: sums of what nobody drives alone."""
    world = cable_world()
    world.add_cable(line((0, 1, 0), (1, 1, 0.3), 7), **CABLE)
    ends, mean = np.zeros(54), np.zeros(54)
    ends[[2, 32]] = 1.0, -1.0
    mean[2:33:3] = 1 / 11
    world.add_constraint(ends, 0.0, of="positions", equal=True)
    world.add_constraint(mean, -0.5, equal=True)
    world.fix(5, velocity=(0, 0, 0.2))
    for _ in range(20):
        world.step()
        assert world.positions[0, 2] == pytest.approx(world.positions[10, 2], abs=1e-8)
        assert world.velocities[:11, 2].mean() == pytest.approx(-0.5, abs=1e-6)
    np.testing.assert_allclose(world.velocities[11:, 2], -9.81 * 0.2, rtol=1e-6)


def test_bounds_may_be_functions_and_infinite() -> None:
    """A lift that takes the cable along from t = 0.1 s on, at 1 m/s; the bound is that of the middle of a step."""
    world = cable_world(gravity=(0, 0, -1))
    bound = np.full(11, np.inf)

    def lift(t: float) -> Floats:
        bound[:5] = np.inf if t < 0.1 else -1.0
        return bound

    world.add_constraint(-heights(11), lift)
    world.step(10)
    np.testing.assert_allclose(world.velocities[:, 2], -0.1, atol=1e-9)
    world.step()
    np.testing.assert_allclose(world.velocities[:5, 2], 1.0, atol=1e-6)
    assert world.velocities[10, 2] < 0.5


def test_rows_may_be_in_any_unit() -> None:
    """Written in nanometres and in thousands of kilometres they hold as well."""
    sizes = 10.0 ** np.linspace(-9, 9, 11)
    one, other = cable_world(), cable_world()
    one.add_constraint(-heights(11), 0.05, of="positions")
    other.add_constraint(-sp.diags_array(sizes) @ heights(11), 0.05 * sizes, of="positions")
    for world in (one, other):
        world.step(30)
        assert world.scaled_steps == 0
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-7)
    assert one.positions[:, 2].min() == pytest.approx(-0.05, abs=1e-7)


def test_rows_hold_together_with_contacts() -> None:
    """A floor below and a row above: a cable thrown upwards comes down again on the floor, and is in neither."""
    world = cable_world(velocity=(0, 0, 3))
    world.add_obstacle(Mesh(FLOOR.vertices - [0, 0, 0.1], FLOOR.faces))
    world.add_constraint(heights(11), 0.1, of="positions")
    highest = 0.0
    for _ in range(60):
        world.step()
        highest = max(highest, world.positions[:, 2].max())
        assert world.positions[:, 2].min() > -0.0901
    assert highest == pytest.approx(0.1, abs=1e-7)
    assert len(world.contacts())


def test_rows_know_nothing_of_nodes_that_are_added_later() -> None:
    world = cable_world()
    world.add_constraint(-heights(11), 0.5)
    world.add_cable(line((0, 1, 0), (1, 1, 0), 5), **CABLE)
    world.step(20)
    np.testing.assert_allclose(world.velocities[:11, 2], -0.5, atol=1e-6)
    np.testing.assert_allclose(world.velocities[11:, 2], -9.81 * 0.2, rtol=1e-9)


@pytest.mark.parametrize(
    ("bad", "names"),
    [
        (lambda w: [w.add_constraint(s * heights(11)[:1], -1.0) for s in (1, -1)], "row 0 of call 0 of add_constraint"),
        (lambda w: [w.fix(0), w.add_constraint(heights(11), -1.0)], "row 0 of call 0 of add_constraint"),
        (lambda w: w.add_constraint(np.zeros((2, 33)), [0, -1]), "row 1 of call 0 of add_constraint"),
        (
            lambda w: [w.fix(3, d[0] + 1.0, direction=d) for d in ([1, 0, 0], [1, 1, 0], [0, 1, 0])],
            "node 3 in direction of call 1 of fix",
        ),
    ],
    ids=["two rows", "of a held node", "of nothing", "directions"],
)
def test_rows_that_contradict_each_other_are_named(bad: Callable[[SoftWorld], Any], names: str) -> None:
    world = cable_world()
    bad(world)
    x = world.positions
    with pytest.raises(InfeasibleStep, match=names) as caught:
        world.step()
    assert any(names in row for row in caught.value.rows)
    np.testing.assert_array_equal(world.positions, x)
