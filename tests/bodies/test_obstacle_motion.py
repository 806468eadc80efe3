"""Obstacles in motion, what contacts with them remember, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from impinge.bodies import _obstacles as kernels
from impinge.bodies.motion import Motion
from impinge.bodies.obstacles import Obstacle, combine, moved, near, poses_at
from impinge.errors import InputError
from impinge.shapes.generators import box, cylinder
from impinge.shapes.mesh import Mesh

from .obstacle_contacts import (
    DEPTH,
    ENTRY,
    EYE,
    POINT,
    READ,
    VELOCITY,
    Memory,
    Points,
    contacts,
    floor,
    turn,
)


def random_pose(t: float) -> tuple[Points, Points]:
    return np.array([math.sin(t), t, 0.3 * t * t]), turn((1, 0, 0), 0.5 * math.sin(t)) @ turn((0, 1, 1), 2 * t)


@pytest.mark.parametrize(
    "motion",
    [
        Motion((0.1, -2, 0.3)),
        Motion(rotation=((0.5, 1, -2), (0.3, 0.2, 0.1))),
        Motion((1, 2, 3), ((3, 0, 0), (0, 1, 0))),
        random_pose,
    ],
)
def test_moved_obstacle_is_a_moved_mesh(motion: Any) -> None:
    obstacle, t = Obstacle(box(1.0, divisions=2), motion), 1.7
    pose = obstacle.pose_at(t)
    rng = np.random.default_rng(6)
    centres = rng.uniform(-0.8, 0.8, (60, 3)) @ pose.rotation.T + pose.translation
    still = contacts(obstacle.mesh.transformed(pose.rotation, pose.translation), centres, 0.2)
    for rows, wanted in zip(contacts(obstacle, centres, 0.2, t=t), still, strict=True):
        np.testing.assert_allclose(rows[:, 1:5], wanted[:, 1:5], atol=1e-12)
        np.testing.assert_allclose(rows[:, POINT], wanted[:, POINT], atol=1e-12)
        # surface velocity: where the material point is a little before and after
        before, after = obstacle.pose_at(t - 1e-5), obstacle.pose_at(t + 1e-5)
        own = (rows[:, POINT] - pose.translation) @ pose.rotation
        change = own @ (after.rotation - before.rotation).T + after.translation - before.translation
        np.testing.assert_allclose(rows[:, VELOCITY], change / 2e-5, atol=1e-7)


def test_motion_in_numbers() -> None:
    pose = Motion((1, 0, 0), ((0, 0, math.pi / 2), (1, 0, 0))).pose_at(1.0)
    np.testing.assert_allclose(pose.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(pose.rotation @ [1, 0, 0] + pose.translation, [2, 0, 0], atol=1e-15)  # on the axis
    np.testing.assert_allclose(pose.rotation @ [2, 0, 0] + pose.translation, [2, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(pose.spin, [0, 0, math.pi / 2])
    start = Motion((1, 2, 3), ((3, 1, 0), (0.1, 1, 0))).pose_at(0.0)
    np.testing.assert_array_equal(start.rotation, EYE)
    np.testing.assert_array_equal(start.translation, [0, 0, 0])
    many = Motion(rotation=((0, 0, 2 * math.pi), (0.3, 0.4, 0))).pose_at(1e6)  # not added up
    np.testing.assert_allclose(many.translation, [0, 0, 0], atol=1e-8)


def test_fixed_and_not_yet_moved_are_bit_identical() -> None:
    rng = np.random.default_rng(7)
    centres = rng.uniform(-0.9, 0.9, (100, 3))
    mesh = cylinder(0.7, 1.0, 12)
    fixed = contacts(Obstacle(mesh), centres, 0.2)
    for motion in (Motion((1, 1, 1), ((1, 2, 3), (1, 2, 3))), lambda t: ((0, 0, 0), EYE)):
        for a, b in zip(fixed, contacts(Obstacle(mesh, motion), centres, 0.2), strict=True):
            np.testing.assert_array_equal(a[:, :5], b[:, :5])
            np.testing.assert_array_equal(a[:, POINT], b[:, POINT])
    assert all((rows[:, VELOCITY] == 0).all() for rows in fixed)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_moved_bounds_the_way_of_all_near_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    obstacle = Obstacle(cylinder(0.7, 1.0, 12), Motion(rng.normal(size=3), (rng.normal(size=3), rng.normal(size=3))))
    t0, t1 = rng.uniform(0, 3, 2)
    bound = moved(combine([obstacle], [0]), poses_at([obstacle], t0), poses_at([obstacle], t1), 0.2)
    own = obstacle.mesh.vertices + rng.uniform(-0.11, 0.11, obstacle.mesh.vertices.shape)
    a, b = obstacle.pose_at(t0), obstacle.pose_at(t1)
    ways = np.linalg.norm(own @ (b.rotation - a.rotation).T + b.translation - a.translation, axis=1)
    assert ways.max() <= bound <= 3 * ways.max() + 1e-9
    assert moved(combine([obstacle], [0]), poses_at([obstacle], t0), poses_at([obstacle], t0), 0.2) == 0.0


def test_obstacles_push_one_by_one() -> None:
    """Two floors at the same place push twice; their patches are numbered through."""
    obstacles = [Obstacle(floor()), Obstacle(floor(n=5))]
    (rows,) = contacts(obstacles, [[0.5, 0.5, 0.39]], 0.1)
    np.testing.assert_allclose(rows[:, DEPTH], [0.01, 0.01])
    surfaces = combine(obstacles, [7, 4])
    assert surfaces.materials.tolist() == [7, 4]
    assert surfaces.fixed == 2


def test_of_too_many_contacts_the_deepest_stay() -> None:
    gaps = np.linspace(0.001, 0.02, 20)
    plates = [Obstacle(floor(n=1, height=-0.1 + gap)) for gap in np.random.default_rng(8).permutation(gaps)]
    (rows,) = contacts(plates, [[0.5, 0.5, 0.0]], 0.1)
    np.testing.assert_allclose(np.sort(rows[:, DEPTH]), gaps[-kernels.MOST :])


# Memory


def rolled(path: Points, mesh: Mesh | list[Mesh], radius: float) -> list[float]:
    """What contacts along a path remember: each its first step, unless it goes on with the memory of another."""
    obstacles = [Obstacle(part) for part in (mesh if isinstance(mesh, list) else [mesh])]
    surfaces, poses = combine(obstacles, [0] * len(obstacles)), poses_at(obstacles, 0.0)
    lists = near(surfaces, np.array([[*path.mean(axis=0), radius]]), 2.0, poses)
    memory, told = Memory(lists), []
    for step, centre in enumerate(path, 1):
        x = np.array([[*centre, radius]])
        known, history = memory.known.copy(), memory.history.copy()
        looked = memory.touch(0, x, surfaces, poses, keep=False)
        np.testing.assert_array_equal(memory.known, known)
        np.testing.assert_array_equal(memory.history, history)
        rows = memory.touch(0, x, surfaces, poses)
        np.testing.assert_array_equal(looked[:, :READ], rows[:, :READ])
        for look, row in zip(looked, rows, strict=True):
            e = int(row[ENTRY])
            assert row[READ] in (-1, e)
            assert (look[READ] < 0) == (row[READ] < 0)
            if row[READ] < 0:
                memory.history[e] = step
            else:
                np.testing.assert_array_equal(history[int(look[READ])], memory.history[e])
            memory.known[e] = True
        assert memory.known.sum() == len(rows)
        told.append(float(memory.history[memory.known, 0].max(initial=0.0)))
    return told


def test_memory_survives_edges() -> None:
    angle = np.linspace(0, math.pi / 2, 50)
    around = np.column_stack([1 + 0.29 * np.sin(angle), np.zeros(50), 1 + 0.29 * np.cos(angle)])
    top = np.column_stack([np.linspace(0.5, 1, 30), np.zeros(30), np.full(30, 1.29)])
    side = top[::-1, ::-1]
    for path in (np.concatenate([top, around, side]), np.concatenate([top, around, side])[::-1]):
        assert rolled(path, box(2.0, divisions=2), 0.3) == [1.0] * len(path)
    angle = np.linspace(0, 6, 300)
    drum = 0.902 * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    assert set(rolled(drum, cylinder(1.0, 2.0, 30), 0.1)) == {1.0}


def test_memory_ends_with_contact() -> None:
    heights = np.array([1.29, 1.28, 1.31, 1.29])
    path = np.column_stack([np.zeros((4, 2)), heights])
    assert rolled(path, box(2.0), 0.3) == [1.0, 1.0, 0.0, 4.0]
    # across a gap to the next floor: of the same obstacle, or of another one
    floors = [floor(2, 0.0), floor(2, 0.0).transformed(translation=(1.04, 0, 0))]
    path = np.array([[0.99, 0.5, 0.095], [1.045, 0.5, 0.095]])
    assert rolled(path, floors[0] + floors[1], 0.1) == [1.0, 1.0]
    assert rolled(path, floors, 0.1) == [1.0, 2.0]
    # from the floor to the wall of a corner in one step: another contact
    assert rolled(np.array([[0, 0, -0.71], [0.71, 0, 0]]), box(2.0), 0.3) == [1.0, 2.0]


# What is refused


def test_bad_meshes() -> None:
    line = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    with pytest.raises(InputError, match="mesh: found no face with an area"):
        Obstacle((line, [[0, 1, 2], [0, 0, 1]]))
    with pytest.raises(InputError, match=r"mesh: found a size of .* and coordinates up to 1e\+100"):
        Obstacle(([[0, 0, 0], [1e100, 0, 0], [0, 1e100, 0]], [[0, 1, 2]]))
    with pytest.raises(InputError, match=r"mesh: found a size of 0 m"):
        Obstacle(([[1, 1, 1]], [[0, 0, 0]]))
    with pytest.raises(InputError, match="mesh: found str"):
        Obstacle("part.stl")
    lonely = Obstacle(([*line, [0, 1, 1], [5, 5, 5], [6, 6, 6], [8, 8, 8]], [[0, 1, 3], [4, 5, 6]]))
    assert lonely.patch_of.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (lambda t: (0, 0, 0), r"motion: found tuple at t = 0.5, expected a pair"),
        (lambda t: None, r"motion: found NoneType at t = 0.5"),
        (lambda t: ((0, 0), EYE), r"motion: translation at t = 0.5: found \(0, 0\), expected 3 finite numbers"),
        (lambda t: ((0, 0, math.nan), EYE), r"motion: translation at t = 0.5: found .*nan"),
        (lambda t: ((0, 0, 0), -EYE), r"motion: rotation at t = 0.5: found .*, expected a 3 × 3 rotation matrix"),
        (lambda t: ((0, 0, 0), 2 * EYE), r"motion: rotation at t = 0.5: found"),
        (lambda t: ((0, 0, 0), np.eye(2)), r"motion: rotation at t = 0.5: found shape \(2, 2\)"),
        (lambda t: ((0, 0, 0), turn((0, 0, 1), 1e6 * t)), r"motion: found more than a quarter turn from t = 0.4"),
    ],
)
def test_bad_functions_of_time(motion: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Obstacle(box(), motion).pose_at(0.5)


def test_bad_motions() -> None:
    with pytest.raises(InputError, match="motion: found 3, expected None, a Motion or a function of time"):
        Obstacle(box(), 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="velocity: found"):
        Motion((1, 2))
    with pytest.raises(InputError, match="rotation: found"):
        Motion(rotation=(1, 2, 3))
    with pytest.raises(InputError, match=r"rotation\[1\]: found"):
        Motion(rotation=((1, 2, 3), (1, 2, math.inf)))


@pytest.mark.parametrize(("rate", "t"), [(1e308, 100.0), (1.7e308, 0.0), (1e12, 1e300)])
def test_angles_beyond_all_numbers(rate: float, t: float) -> None:
    motion = Motion(rotation=((rate, rate, 0), (0, 0, 0)))
    with pytest.raises(InputError, match=r"rotation: found .* rad/s until t = .* s, an angle beyond all numbers"):
        motion.pose_at(t)


def test_functions_may_give_rotations_of_scipy() -> None:
    pose = Obstacle(box(), lambda t: ((0, 0, 0), Rotation.from_rotvec([0, 0, t]))).pose_at(0.5)
    np.testing.assert_allclose(pose.rotation, turn((0, 0, 1), 0.5), atol=1e-15)
    np.testing.assert_allclose(pose.spin, [0, 0, 1], atol=1e-9)


def test_functions_are_not_asked_about_times_before_0() -> None:
    asked = []

    def motion(t: float) -> tuple[Any, Any]:
        asked.append(t)
        return (3 * t, 0, 0), EYE

    pose = Obstacle(box(), motion).pose_at(0.0, 0.01)
    assert min(asked) == 0.0
    np.testing.assert_allclose(pose.velocity, [3, 0, 0])
