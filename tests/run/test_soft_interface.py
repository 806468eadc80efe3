"""What users see of soft worlds besides motion: names, texts, settings, and errors of calls."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge import shapes
from impinge.bodies.soft import step
from impinge.bodies.soft.friction import SETTLED
from impinge.errors import InputError, RunError, RunWarning
from impinge.run.soft import SoftWorld

from .softthings import CABLE, CLOTH, FLOOR, driven_into_the_floor, line, run_until_infeasible, square
from .softworlds import bits


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


def falling_cloth(friction: float = 0.0) -> SoftWorld:
    """A cloth that lies on the floor soon."""
    world = SoftWorld(friction=friction)
    world.add_cloth(square(4, 0.2, 0.011), **CLOTH)
    world.add_obstacle(FLOOR)
    world.step(10)
    return world


def test_what_is_added_later_must_not_touch_and_is_taken_out_again() -> None:
    world, same = falling_cloth(), falling_cloth()
    text, bodies = repr(world), world.bodies
    through = line((0, 0, -0.1), (0, 0, 0.1), 4)
    with pytest.raises(InputError, match=r"^points: .* of body 1 .*; \d+ such pairs in all"):
        world.add_cable(through, **CABLE)
    with pytest.raises(InputError, match=r"^mesh: .* of body 1"):
        world.add_cloth((through[:3] + [[0, 0, 0], [0.01, 0, 0], [0, 0, 0]], [[0, 1, 2]]), **CLOTH)
    with pytest.raises(InputError, match=r"^mesh: .* of body 0 .* of obstacle 1"):
        world.add_obstacle(shapes.box((0.1, 0.1, 0.1), lower=(-0.05, -0.05, -0.05)))
    assert (repr(world), world.bodies) == (text, bodies)
    assert len(world.energy()) == 5
    for each in (world, same):
        each.add_cable(line((0, 0, 0.5), (1, 0, 0.5), 4), **CABLE)
        each.step(5)
    assert bits(world) == bits(same)


def test_contacts_stay_where_they_are_when_something_is_added() -> None:
    world = falling_cloth()
    world.add_cable(line((0, 0, 0.5), (1, 0, 0.5), 4), **CABLE)
    before = world.contacts()
    world.add_cloth(square(4, 0.2, 1.0), **CLOTH)
    after = world.contacts()
    assert len(before) > 3
    np.testing.assert_array_equal(after.points, before.points)
    others = before.bodies + (before.bodies == 2)  # the obstacle
    np.testing.assert_array_equal(after.bodies, others)
    world.step()
    assert world.last is not None
    assert world.last.passes == 1


def test_speeds_beyond_all_numbers() -> None:
    world = SoftWorld()
    world.add_cable(line((0, 0, 0), (1, 0, 0), 4), velocity=(1e200, 0, 0), **CABLE)
    with pytest.raises(RunError, match=r"^node 0 leaves the range of numbers in a step of 0.01 s from t = 0 s$"):
        world.step()
    world = SoftWorld()
    world.add_cable(line((0, 0, 0), (1, 0, 0), 4), **CABLE)
    world.fix(2, velocity=(0, 1e200, 0))
    with pytest.raises(RunError, match=r"^node 2 leaves the range"):
        world.step()


def test_friction_that_does_not_settle_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = falling_cloth(0.5)
    assert world.friction_error <= SETTLED
    assert world.unsettled_steps == 0
    assert "friction" not in repr(world)
    monkeypatch.setattr(step, "_PASSES", 1)
    world.add_cloth(square(4, 0.2, 0.03), velocity=(3, 0, -3), **CLOTH)
    with pytest.warns(RunWarning, match=r"^friction did not settle before t = 0.\d+ s: it is off by ") as warned:
        world.step(5)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert 1 < world.unsettled_steps <= 5
    assert f"friction off by more than 5% in {world.unsettled_steps} of 15 steps" in repr(world)
    world.save(tmp_path / "world.h5")
    again = SoftWorld.load(tmp_path / "world.h5")
    assert (again.friction_error, again.unsettled_steps) == (world.friction_error, world.unsettled_steps)
    again.step(5)  # no second warning
