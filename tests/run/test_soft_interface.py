"""What users see of soft worlds besides motion: names, texts, settings, and errors of calls."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge.errors import InputError
from impinge.run.soft import SoftWorld

from .softworlds import bits
from .test_soft import CABLE, CLOTH, FLOOR, driven_into_the_floor, line, run_until_infeasible, square


def add_cables(world: SoftWorld, *names: str) -> list[str]:
    at = len(world.bodies)
    return [
        world.add_cable(line((0, k, 0), (1, k, 0), 3), name=name, **CABLE).name
        for k, name in enumerate(names, at)
    ]  # fmt: skip


def test_names_are_as_given_and_no_two_are_the_same() -> None:
    world = SoftWorld()
    assert add_cables(world, "ring", "", "ring", "ring 4", "ring", "") == [
        "ring", "cable 1", "ring 2", "ring 4", "ring 5", "cable 5",
    ]  # fmt: skip
    assert world.add_cloth(square(3, 0.1, 1.0), **CLOTH).name == "cloth 6"
    assert len({body.name for body in world.bodies}) == 7


def test_names_come_back_from_files(tmp_path: Path) -> None:
    world = SoftWorld()
    add_cables(world, "a", "a", "")
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    assert [body.name for body in again.bodies] == ["a", "a 1", "cable 2"]


def test_worlds_bodies_and_contacts_in_words() -> None:
    world = SoftWorld()
    assert repr(world) == "<impinge.SoftWorld: t = 0 s>"
    rope = world.add_cable(line((-0.1, 0, 0.05), (0.1, 0, 0.05), 4), name="rope", **CABLE)
    assert repr(world) == "<impinge.SoftWorld: 1 cable, 4 nodes, t = 0 s>"
    for height in (0.1, 0.2):
        world.add_cloth(square(3, 0.1, height), **CLOTH)
    world.add_obstacle(FLOOR)
    world.step(25)
    assert repr(world) == "<impinge.SoftWorld: 1 cable, 2 cloths, 1 obstacle, 22 nodes, t = 0.25 s>"
    assert repr(rope) == "<impinge.SoftBody 'rope': nodes 0:4, edges 0:3>"
    found = world.contacts()
    kinds = f"{found.kinds.count('vertex-face')} vertex-face, {found.kinds.count('edge-edge')} edge-edge"
    assert repr(found) == f"<impinge.SoftContacts: {kinds}, forces up to {found.forces.max():.4g} N>"
    assert len(found) > 3
    assert re.fullmatch(
        r"<impinge.Result of a step: \d+ Newton steps in \d+ passes, \d+ of \d+ pairs push, residual .*>",
        repr(world.last),
    )


def test_arguments_that_are_missing_are_named_with_the_method() -> None:
    with pytest.raises(TypeError, match=r"add_cable\(\) missing .* 'radius', 'stretch', and 'mass_per_length'"):
        SoftWorld().add_cable(line((0, 0, 0), (1, 0, 0), 3))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"fix\(\) got an unexpected keyword argument 'speed'"):
        SoftWorld().fix(0, speed=3)  # type: ignore[call-arg]


def test_infeasible_steps_name_the_shortest_that_was_tried() -> None:
    """A time step, and seven halves of it."""
    error, _, _ = run_until_infeasible(driven_into_the_floor(0))
    assert f"down to dt = {0.01 / 2**7:g} s" in str(error)


def test_bdf2_goes_on_from_steps_of_another_length() -> None:
    world = SoftWorld((0, 0, 0), 0.02, "bdf2")
    world.add_cable(line((0, 0, 0), (1, 0, 0), 3), velocity=(0, 1, 0), **CABLE)
    world.step(3)
    world.dt = 0.004
    world.step(3)
    np.testing.assert_allclose(world.positions[:, 1], 0.06 + 0.012, rtol=1e-9)
    np.testing.assert_allclose(world.velocities[:, 1], 1.0, rtol=1e-9)


def test_settings_may_be_given_in_any_form() -> None:
    world = SoftWorld()
    add_cables(world, "")
    world.gravity, world.wind, world.friction = [0, 0, 0], (1, 0, 0), 1
    x = world.positions
    world.step()
    np.testing.assert_allclose(world.positions, x, atol=1e-12)
    with pytest.raises(InputError, match=r"gravity: found \(1, 2\), expected 3 finite numbers"):
        world.gravity = (1, 2)
    np.testing.assert_array_equal(world.gravity, 0.0)


def test_arrays_that_users_change_later_are_copies(tmp_path: Path) -> None:
    def make(change: Any) -> SoftWorld:
        world = SoftWorld()
        velocity, bound, rows = np.array([0.0, 0.0, 1.0]), np.array([0.1]), sp.csr_array(np.eye(1, 9))
        frames = np.array([FLOOR.vertices - [0, 0, 0.1 + 0.01 * k] for k in range(3)])
        add_cables(world, "")
        world.fix(0, velocity)
        world.add_constraint(rows, bound)
        world.add_obstacle(FLOOR, frames)
        for array in (velocity, bound, rows.data, frames):
            array += change
        return world

    one, other = make(0.0), make(5.0)
    other.save(tmp_path / "world.h5")
    third = SoftWorld.load(tmp_path / "world.h5")
    for world in (one, other, third):
        world.step(3)
        assert bits(world) == bits(one)
        np.testing.assert_array_equal(world.vertices(), one.vertices())


def test_frames_of_whole_numbers() -> None:
    world = SoftWorld()
    add_cables(world, "")
    world.add_obstacle(FLOOR, [[[-3, -3, -z], [3, -3, -z], [3, 3, -z], [-3, 3, -z]] for z in (1, 2)])
    world.step()
    assert world.vertices()[-1, 2] == -2.0
