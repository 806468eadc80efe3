"""Nodes that are driven, limits of strain, rows of users, wind, and obstacles that follow positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge.errors import InputError
from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh

from .softthings import CABLE, CLOTH, FLOOR, Floats, cable_world, heights, line, square

UP = np.array([0.0, 0.0, 1.0])
SLANTED = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)


# Driven nodes


def test_nodes_that_are_driven_go_exactly_as_told() -> None:
    world = cable_world()
    world.fix(0)
    world.fix([5], velocity=(0.1, 0.2, -0.3))
    world.fix([9, 10], velocity=[(0.1, 0, 0), (0, 0.1, 0)])
    before = world.positions
    world.step(20)
    np.testing.assert_array_equal(world.positions[0], before[0])
    np.testing.assert_allclose(world.positions[5], before[5] + [0.02, 0.04, -0.06], atol=1e-15)
    np.testing.assert_allclose(world.positions[9:], before[9:] + [[0.02, 0, 0], [0, 0.02, 0]], atol=1e-15)
    np.testing.assert_allclose(world.velocities[5], [0.1, 0.2, -0.3], atol=1e-12)


def test_a_direction_is_followed_exactly_and_nodes_are_free_across() -> None:
    world = cable_world()
    world.fix(0, direction=(0, 0, 7))  # of any length
    world.fix(10, velocity=0.5, direction=(2, 0, 2))
    other = cable_world()
    other.fix([0, 10])
    for k in range(1, 41):
        world.step()
        other.step()
        x = world.positions
        assert abs(x[0, 2]) < 1e-9
        assert (x[10] - [1, 0, 0]) @ SLANTED == pytest.approx(0.5 * 0.01 * k, abs=1e-8)
    assert abs(x[0, 0]) > 1e-3
    across = (x[10] - [1, 0, 0]) @ np.array([1, 0, -1]) / np.sqrt(2)
    assert abs(across) > 0.02
    assert not np.allclose(x, other.positions)
    assert np.abs(x[:, 1]).max() < 1e-12


def test_what_is_held_where_it_is_already_needs_few_iterations() -> None:
    """Its equation is satisfied from the start, and only the force that holds it is to be found."""
    world = cable_world()
    world.fix(slice(None), direction=UP)
    for _ in range(3):
        world.step()
        assert world.last is not None
        assert world.last.newton <= 6
    np.testing.assert_allclose(world.positions[:, 2], 0.0, atol=1e-9)


def test_a_node_on_a_slope_slides_down_it_as_it_must() -> None:
    """One held across the slope only: a = g sin(45°) along it."""
    world = cable_world(2, bend=0.0)
    world.fix([0, 1], direction=(1, 0, 1))
    world.step(30)
    down = np.array([1, 0, -1]) / np.sqrt(2)
    np.testing.assert_allclose(world.velocities @ down, 9.81 / np.sqrt(2) * 0.3, rtol=1e-6)
    np.testing.assert_allclose(world.velocities @ SLANTED, 0.0, atol=1e-7)


def test_velocities_may_be_functions_of_time() -> None:
    world = cable_world()
    world.fix(0, velocity=lambda t: (np.cos(5 * t), 0.0, 0.0))
    world.fix(10, velocity=lambda t: np.sin(5 * t), direction=(0, 0, 1))
    times = []
    for _ in range(30):
        times.append(world.time + 0.005)  # the middle of the step
        world.step()
    assert world.positions[0, 0] == pytest.approx(0.01 * np.cos(5 * np.array(times)).sum(), abs=1e-12)
    assert world.positions[10, 2] == pytest.approx(0.01 * np.sin(5 * np.array(times)).sum(), abs=1e-7)
    assert world.scaled_steps == 0


def wave(t: float) -> Floats:
    return np.array([0.0, 0.0, np.sin(10 * t)])


ROW_0 = sp.eye_array(3, 33, format="csr")  # x, y, z of node 0


@pytest.mark.parametrize(
    "drive",
    [
        lambda w: w.fix(0, velocity=wave),
        lambda w: [w.fix(0, velocity=wave, direction=axis) for axis in np.eye(3)],
        lambda w: w.add_constraint(ROW_0, wave, equal=True),
        lambda w: w.add_constraint(ROW_0, lambda t: [0, 0, 0.1 - 0.1 * np.cos(10 * t)], of="positions", equal=True),
    ],
    ids=["velocity", "directions", "rows of velocities", "rows of positions"],
)
def test_bdf2_is_of_second_order_where_nodes_follow_functions(drive: Callable[[SoftWorld], Any]) -> None:
    """The node itself, and all that hangs on it."""
    ends = []
    for dt in (0.008, 0.004, 0.002):
        world = SoftWorld(dt=dt, integrator="bdf2")
        world.add_cable(line((0, 0, 0), (1, 0, 0), 11), **CABLE | {"stretch": 100.0, "damping": 0.02})
        drive(world)
        world.step(round(0.24 / dt))
        ends.append(world.positions)
        # The rule of the middle has dt²/24 times the change of the acceleration; rows hold to 1e-8.
        assert world.positions[0, 2] == pytest.approx(0.1 - 0.1 * np.cos(2.4), abs=dt**2 / 24 * 17.4 + 1e-6)
    errors = np.abs(np.diff(ends, axis=0)).max(axis=(1, 2))
    assert np.log2(errors[0] / errors[1]) > 1.8


def test_rows_of_velocities_are_those_that_fix_drives() -> None:
    one, other = cable_world(), cable_world()
    one.fix(0, velocity=lambda t: np.cos(5 * t), direction=UP)
    other.add_constraint(ROW_0[[2]], lambda t: np.cos(5 * t), equal=True)
    for world in (one, other):
        world.step(20)
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-9)


def test_several_directions_of_one_node_add_up() -> None:
    """Three of them are all there is, also if they are not at right angles."""
    directions = np.array([[1.0, 0, 0], [1, 1, 0], [1, 1, 1]])
    speeds = [0.1, 0.3, -0.2]
    world = cable_world()
    for direction, speed in zip(directions, speeds, strict=True):
        world.fix(4, velocity=speed, direction=direction)
    before = world.positions[4]
    world.step(10)
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    np.testing.assert_allclose(units @ (world.positions[4] - before), 0.1 * np.array(speeds), atol=1e-8)


def test_what_is_said_last_of_a_node_holds() -> None:
    world = cable_world()
    world.fix([0, 1], velocity=(1, 0, 0))
    world.fix([1, 2], velocity=[(0, 1, 0), (0, 0, 1)])
    world.fix(3, velocity=0.5, direction=(0, 0, 1))
    world.fix(3, velocity=-0.25, direction=(0, 0, -2))  # the same direction
    world.fix(4, velocity=1, direction=(0, 1, 0))
    world.fix(4)
    world.fix(5)
    world.fix(5, velocity=0.1, direction=(0, 1, 0))  # free again, but along y
    x = world.positions
    world.step(2)
    moved = (world.positions - x) / 0.02
    np.testing.assert_allclose(moved[:3], np.eye(3), atol=1e-12)
    assert moved[3, 2] == pytest.approx(0.25, abs=1e-7)
    np.testing.assert_array_equal(moved[4], 0.0)
    assert moved[5, 1] == pytest.approx(0.1, abs=1e-7)
    assert moved[5, 2] < -0.01


# Air


def test_what_falls_in_air_gets_the_speed_at_which_drag_carries_it() -> None:
    """Of m g = d v: of a cable with segments of any length, and of a cloth."""
    world = SoftWorld(wind=(1, 0, 0.5))
    points = np.array([[0, 0, 0], [0.02, 0, 0], [0.3, 0, 0], [0.4, 0, 0], [1, 0, 0.0]])
    world.add_cable(points, **CABLE, drag=0.7)
    world.add_cloth(square(4, 1.0, 3.0), **CLOTH, drag=1.5)
    world.step(200)
    np.testing.assert_allclose(world.velocities[:5], np.tile([1, 0, 0.5 - 0.1 * 9.81 / 0.7], (5, 1)), atol=1e-3)
    np.testing.assert_allclose(world.velocities[5:], np.tile([1, 0, 0.5 - 0.2 * 9.81 / 1.5], (16, 1)), atol=1e-3)
    assert np.abs(world.strains()).max() < 1e-6  # all parts are as fast: the force is by length, not by node


def test_drag_of_one_step() -> None:
    """Of m (v − v₀) = −dt d (v − w), implicit; the wind is a function of time, at the end of the step."""
    world = SoftWorld((0, 0, 0), wind=lambda t: (100 * t, 0, 0))
    world.add_cable(line((0, 0, 0), (1, 0, 0), 5), **CABLE, drag=2.0, velocity=(0, 3, 0))
    world.step(3)
    v = np.array([0.0, 3.0, 0.0])
    for k in range(1, 4):
        v = (0.1 * v + 0.01 * 2.0 * np.array([k, 0, 0])) / (0.1 + 0.01 * 2.0)
    np.testing.assert_allclose(world.velocities, np.tile(v, (5, 1)), rtol=1e-7)


# Obstacles that follow positions


def frames(count: int = 5) -> Floats:
    """The floor, bent and lifted differently in each frame."""
    rng = np.random.default_rng(0)
    return FLOOR.vertices + 0.02 * rng.normal(size=(count, 4, 3)) - [0, 0, 0.5]


def test_obstacles_follow_positions() -> None:
    """Exactly at times 0, dt, 2 dt; linearly in between; and then they stay."""
    motion, world = frames(), cable_world()
    world.add_obstacle(FLOOR, motion=motion)
    obstacle = world._obstacles[0]
    for k in range(8):
        np.testing.assert_array_equal(world.vertices()[11:], motion[min(k, 4)])
        world.step()
    for share in (0.25, 0.5, 0.875):
        between = motion[1] + share * (motion[2] - motion[1])
        np.testing.assert_allclose(obstacle.at((1 + share) * world.dt), between, atol=1e-15)
    np.testing.assert_array_equal(obstacle.at(100.0), motion[4])
    np.testing.assert_array_equal(obstacle.at(-1.0), motion[0])
    later, time = SoftWorld(dt=0.1), 0.0
    later.add_obstacle(FLOOR, motion=frames(200))
    for k in range(200):  # times are sums of dt, which are not multiples of it
        np.testing.assert_array_equal(later._obstacles[0].at(time), frames(200)[k])
        time += 0.1


def test_a_sequence_of_positions_lifts_what_lies_on_it() -> None:
    motion = np.array([FLOOR.vertices + [0, 0, 0.005 * min(k, 30)] for k in range(50)])
    one, other = cable_world(gravity=(0, 0, -9.81)), cable_world(gravity=(0, 0, -9.81))
    below = Mesh(FLOOR.vertices - [0, 0, 0.011], FLOOR.faces)
    one.add_obstacle(below, motion=motion - [0, 0, 0.011])
    other.add_obstacle(below, motion=lambda t: (np.array([0, 0, min(t / 0.01, 30) * 0.005]), np.eye(3)))
    for world in (one, other):
        world.step(60)
        assert world.scaled_steps == 0
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-6)
    np.testing.assert_allclose(one.positions[:, 2], 0.15 - 0.001, atol=1e-5)


# Errors


def limited(**changes: Any) -> None:
    cable_world().limit_strain(**changes)


def constrained(J: Any, bound: Any = 0.0, **changes: Any) -> None:
    cable_world().add_constraint(J, bound, **changes)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("friction: found -0.1, expected a number of at least 0", lambda: SoftWorld(friction=-0.1)),
        ("friction: found nan", lambda: SoftWorld(friction=float("nan"))),
        ("friction: found 0.1, expected 0 with response", lambda: SoftWorld(friction=0.1, response="impulse")),
        ("wind: found .* expected 3 finite numbers", lambda: SoftWorld(wind=(1, 2))),
        ("wind: found .* expected 3 finite numbers", lambda: SoftWorld(wind=(1, 2, np.inf))),
        ("direction: found .* expected 3 finite numbers", lambda: cable_world().fix(0, direction=(0, 1))),
        ("direction: found .*, expected one that is not 0", lambda: cable_world().fix(0, direction=(0, 0, 0))),
        (
            "velocity: found nan at .* expected a number along the direction",
            lambda: cable_world().fix(0, np.nan, direction=(0, 0, 1)),
        ),
        ("velocity: found text", lambda: cable_world().fix(0, "fast")),
        ("velocity: found .* at t = 0.005 s", lambda: cable_world().fix(0, lambda t: (1, 2))),
        (r"velocity: found shape \(2,\) at t = 0.005 s, expected 0, or .* \(3,", lambda: cable_world().fix(0, (1, 2))),
        (r"velocity: found shape \(2, 3\) .* or \(3, 3\)", lambda: cable_world().fix([0, 1, 2], np.ones((2, 3)))),
        ("velocity: found 0.5 at t = 0.005 s, expected 0, or", lambda: cable_world().fix(0, 0.5)),
        ("velocity: found .*not an array", lambda: cable_world().fix(0, [[1], [1, 2]])),
        ("velocity: found objects .* expected a number along", lambda: cable_world().fix(0, lambda t: None, (0, 0, 1))),
        ("nodes: index 11 is out of .* of its 11 nodes", lambda: cable_world().fix([3, 11], direction=(0, 0, 1))),
        ("nodes: found None, expected a body of this world, or numbers", lambda: cable_world().fix(None)),
        ("nodes: found True, expected", lambda: cable_world().fix(True)),
        (r"nodes: found \[\[0, 1\]\], expected", lambda: cable_world().fix([[0, 1]])),
        ("nodes: found 'cable', expected", lambda: cable_world().fix("cable")),
        ("nodes: found <impinge.SoftBody 'cable 0'", lambda: cable_world().fix(cable_world().bodies[0])),
        ("nodes: index 11", lambda: cable_world().release(11)),
        ("direction: found .*, expected one that is not 0", lambda: cable_world().release(0, (0, 0, 0))),
        ("until: found 0, expected a number above 0", lambda: cable_world().fix(0, until=0)),
        ("upper, lower: found None, expected at least one limit", limited),
        ("upper: found -0.1, expected a number of at least 0", lambda: limited(upper=-0.1)),
        ("upper: found inf", lambda: limited(upper=np.inf)),
        ("upper: found 'some'", lambda: limited(upper="some")),
        ("lower: found 1, expected a number of at least 0 and below 1", lambda: limited(lower=1)),
        ("lower: found nan, expected", lambda: limited(lower=np.nan)),
        ("bodies: found none in this world", lambda: SoftWorld().limit_strain(upper=0.1)),
        ("bodies: found 'cable', expected bodies of this world", lambda: limited(upper=0.1, bodies=["cable"])),
        ("bodies: found <impinge.SoftBody 'cable 0'", lambda: limited(upper=0.1, bodies=cable_world().bodies[0])),
        ("bodies: found 3, expected", lambda: limited(upper=0.1, bodies=3)),
        ("rate: found 0, expected a number above 0", lambda: cable_world().limit_strain_rate(0)),
        ("rate: found nan", lambda: cable_world().limit_strain_rate(float("nan"))),
        (r"J: found shape \(1, 3\), expected 33 columns", lambda: constrained([1, 0, 0])),
        (r"J: found shape \(2, 12\), expected 33 columns", lambda: constrained(sp.csr_array((2, 12)))),
        (
            "J: row 2 is not finite in column 4",
            lambda: constrained(np.diag(np.where(np.arange(33) == 4, np.nan, 1.0))[2:]),
        ),
        ("J: found text", lambda: constrained("rows")),
        (r"J: found shape \(1, 2, 33\), expected", lambda: constrained(np.zeros((1, 2, 33)))),
        ("J: found complex", lambda: constrained(sp.csr_array(1j * np.ones((1, 33))))),
        ("bound: found .* expected a number, or 2 of them", lambda: constrained(np.ones((2, 33)), [1, 2, 3])),
        ("bound: found nan at t = 0 s", lambda: constrained(np.ones(33), float("nan"))),
        ("bound: found -inf .* finite or inf", lambda: constrained(np.ones(33), -np.inf)),
        ("bound: found text .* finite or inf", lambda: constrained(np.ones(33), lambda t: "none")),
        ("equal: found 'no', expected True or False", lambda: constrained(np.ones(33), equal="no")),
        ("bound: found inf .* them, finite", lambda: constrained(np.ones(33), np.inf, equal=True)),
        ("bound: found text", lambda: constrained(np.ones(33), "none")),
        ("bound: found .* at t = 0 s", lambda: constrained(np.ones(33), lambda t: (t, t))),
        ("of: found 'forces', expected one of velocities, positions", lambda: constrained(np.ones(33), of="forces")),
        (r"motion: found shape \(4, 3\), expected None", lambda: SoftWorld().add_obstacle(FLOOR, FLOOR.vertices)),
        (r"motion: found shape \(5, 3, 3\), .*, 4, 3\)", lambda: SoftWorld().add_obstacle(FLOOR, frames()[:, :3])),
        (r"motion: found shape \(0, 4, 3\)", lambda: SoftWorld().add_obstacle(FLOOR, frames(0))),
        ("motion: found int at t = 0, expected a pair", lambda: SoftWorld().add_obstacle(FLOOR, lambda t: 3)),
        ("motion: row 7 is not finite", lambda: SoftWorld().add_obstacle(FLOOR, bad_frames())),
    ],
)
def test_wrong_arguments_are_named(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=message):
        call()


def bad_frames() -> Floats:
    motion = frames()
    motion[1, 3, 2] = np.nan
    return motion


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("velocity: found .* at t = 0.055", lambda w: w.fix(0, lambda t: (0, 0, 0) if t < 0.05 else (np.nan, 0, 0))),
        ("bound: found nan at t = 0.055", lambda w: w.add_constraint(np.ones(33), lambda t: 9 if t < 0.05 else np.nan)),
        (
            "bound: found inf at t = 0.055 s, .* finite, as rows are equal to it",
            lambda w: w.add_constraint(heights(11)[:2], lambda t: (0, 0) if t < 0.05 else (0, np.inf), equal=True),
        ),
        ("wind: found", lambda w: setattr(w, "wind", lambda t: (0, 0, 0) if t < 0.045 else (0, 0))),
    ],
    ids=["velocity", "bound", "bound of equations", "wind"],
)
def test_functions_that_turn_wrong_are_named_and_the_world_stays(message: str, change: Callable[..., Any]) -> None:
    world = cable_world()
    change(world)
    with pytest.raises(InputError, match=message):
        world.step(20)
    assert world.steps in (4, 5)
    x = world.positions
    with pytest.raises(InputError, match=message):
        world.step()
    np.testing.assert_array_equal(world.positions, x)


def test_what_is_refused_leaves_no_trace() -> None:
    world, plain = cable_world(), cable_world()
    for each in (world, plain):
        each.fix(0)
    for refused in (
        lambda: world.fix(0, (1, 2)),
        lambda: world.limit_strain(upper=-1),
        lambda: world.limit_strain(upper=0.0, bodies=[world.bodies[0], plain.bodies[0]]),
        lambda: world.add_constraint(np.ones(33), np.nan),
        lambda: world.add_obstacle(FLOOR, 3),
    ):
        with pytest.raises(InputError):
            refused()
    world.step(10)
    plain.step(10)
    np.testing.assert_array_equal(world.positions, plain.positions)
