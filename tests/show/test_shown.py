"""Frames as arrays for viewers: the same places, turned bodies, the same rows, few digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from impinge import shapes
from impinge.errors import InputError
from impinge.output.softframe import SoftFrame
from impinge.show.recording import Bodies, Frame, Recording, Spheres
from impinge.show.shown import Shown, rounded, scalars_of

from .runs import folder_of


def of_spheres(time, ids, centres, radii, **data):
    arrays = {"id": np.array(ids), "velocity": np.zeros((len(ids), 3)), **data}
    places = np.reshape(np.asarray(centres, float), (-1, 3))
    return Frame(time, Spheres(places, np.asarray(radii, float), arrays), None, None, [])


def test_rounded_is_near_and_short():
    rng = np.random.default_rng(1)
    numbers = rng.uniform(-3, 3, 1000)
    found = rounded(numbers, 0.01)
    assert found.dtype == np.float32
    assert np.abs(found - numbers).max() <= 0.005
    assert (found * 128 == np.round(found * 128)).all()
    np.testing.assert_array_equal(rounded(numbers, 0.0), numbers.astype(np.float32))


def test_spheres_are_where_frames_say():
    recording = Recording(folder_of("spheres"))
    shown = Shown.of(recording)
    assert shown.times == recording.times.tolist()
    for number, frame in enumerate(recording):
        spheres = frame.spheres
        size, points = shown.points.radii[number], shown.points
        there = np.flatnonzero(size)
        assert len(there) == len(spheres.radii)
        np.testing.assert_allclose(points.centres[number][there], spheres.centres, atol=0.02 * spheres.radii.min())
        np.testing.assert_allclose(size[there], spheres.radii, rtol=1e-6)
        speed = np.linalg.norm(spheres.data["velocity"], axis=1)
        scalar = shown.scalars["speed"]
        assert scalar.unit == "m/s"
        np.testing.assert_allclose(points.values["speed"][number][there], speed, atol=0.01 * (scalar.high - scalar.low))
    assert {"speed", "spin", "radius", "material", "group", "id"} == set(shown.scalars)
    assert len(points.values["radius"]) > 1  # some spheres come later
    assert shown.left_out == 0


def test_rows_stay_those_of_the_same_spheres():
    frames = [
        of_spheres(0, [0, 2], [[0, 0, 0], [2, 0, 0]], [1, 1]),
        of_spheres(1, [2, 0, 5], [[2, 1, 0], [0, 1, 0], [5, 5, 5]], [1, 1, 2]),
        of_spheres(2, [5], [[5, 6, 5]], [2]),
        of_spheres(3, [], np.zeros((0, 3)), []),
    ]
    points = Shown.of(frames).points
    np.testing.assert_array_equal(points.radii, [[1, 1, 0], [1, 1, 2], [0, 0, 2], [0, 0, 0]])
    x = np.array([centres[:, 0] for centres in points.centres])
    y = np.array([centres[:, 1] for centres in points.centres])
    np.testing.assert_array_equal(x, [[0, 2, 5], [0, 2, 5], [0, 2, 5], [0, 0, 5]])  # where it comes, and where it goes
    np.testing.assert_array_equal(y, [[0, 0, 5], [1, 1, 5], [1, 1, 6], [0, 0, 6]])


def test_what_never_changes_is_there_once():
    frames = [of_spheres(t, [0, 1], [[0, 0, t], [1, 0, t]], [1, 2], material=np.array([0, 3])) for t in range(4)]
    points = Shown.of(frames).points
    assert len(points.centres) == 4
    assert len(points.radii) == len(points.values["material"]) == len(points.values["speed"]) == 1


def test_every_third_sphere():
    ids = np.arange(10)
    frames = [of_spheres(0, ids, np.column_stack([ids, ids, ids]), np.ones(10))]
    shown = Shown.of(frames, ["speed"], stride=3)
    assert len(shown.points.radii[0]) == 4
    assert shown.left_out == 6
    assert set(shown.scalars) == {"speed"}


def test_no_spheres_at_all():
    shown = Shown.of([of_spheres(0, [], np.zeros((0, 3)), [])])
    assert shown.points is None
    assert np.isfinite(shown.corners).all()
    assert shown.scalars["speed"].high > shown.scalars["speed"].low


def test_numbers_that_are_none():
    frames = [of_spheres(0, [0, 1], np.zeros((2, 3)), [1, 1], heat=np.array([np.nan, 2.0]))]
    shown = Shown.of(frames)
    np.testing.assert_allclose(shown.points.values["heat"][0], [0, 2])
    assert np.isfinite(shown.scalars["heat"][2:]).all()


@pytest.mark.parametrize("turn", [0.0, 0.3, 3.0, np.pi])
def test_poses_bring_the_first_frame_to_the_others(turn):
    rng = np.random.default_rng(3)
    parts = [shapes.box(0.1), shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]), shapes.icosphere(1)]
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = np.concatenate([part.faces + first for part, first in zip(parts, starts, strict=False)])
    numbers = np.repeat(np.arange(3), [len(part.faces) for part in parts])
    data = {"id": np.arange(3), "velocity": rng.normal(size=(3, 3))}
    frames = []
    for time in range(3):
        turned = Rotation.from_rotvec(time * turn * np.array([1, 2, 2]) / 3)
        vertices = np.concatenate([
            part.vertices @ turned.as_matrix().T + [10 * k, 0, time] for k, part in enumerate(parts)
        ])  # fmt: skip
        frames.append(Frame(float(time), None, Bodies(vertices, faces, numbers, data), None, []))
    bodies = Shown.of(frames).bodies
    for frame, poses in zip(frames, bodies.poses, strict=True):
        for k, (local, triangles) in enumerate(bodies.shapes):
            np.testing.assert_array_equal(triangles, parts[k].faces)
            found = local @ poses[k, :3, :3].T + poses[k, :3, 3]
            np.testing.assert_allclose(found, frame.bodies.vertices[starts[k] : starts[k + 1]], atol=2e-5)
            np.testing.assert_allclose(np.linalg.det(poses[k, :3, :3]), 1, rtol=1e-5)


def test_frames_of_other_bodies():
    bodies, soft = Recording(folder_of("bodies")), Recording(folder_of("soft"))
    first, cloth = bodies[0], soft[0]
    fewer = first.bodies._replace(vertices=first.bodies.vertices[:-1])
    lost = first.bodies._replace(vertices=first.bodies.vertices * np.nan)
    for other in (fewer, lost):
        with pytest.raises(InputError, match="with other rigid bodies, expected those of the first frame"):
            Shown.of([first, first._replace(bodies=other)])
    with pytest.raises(InputError, match="with other cables or cloth, expected those of the first frame"):
        Shown.of([cloth, cloth._replace(soft=SoftFrame(1.0, np.eye(3), np.array([[0, 1, 2]])))])


def test_obstacles_that_stay_are_there_once():
    shown = Shown.of(Recording(folder_of("bodies")))
    assert len(shown.obstacles.poses) == len(shown.times)  # it is lifted
    still = Shown.of([frame._replace(obstacles=[shapes.box(1.0)]) for frame in Recording(folder_of("bodies"))][:1] * 3)
    assert len(still.obstacles.poses) == 1


def test_cables_and_cloth():
    recording = Recording(folder_of("soft"))
    skin = Shown.of(recording).skin
    assert len(skin.vertices) == len(recording)
    assert skin.faces.max() + 1 == len(skin.vertices[0])
    cloth = recording[-1].soft
    nodes = np.unique(cloth.faces)
    far = np.abs(skin.vertices[-1][: len(nodes)] - cloth.positions[nodes]).max()
    assert far < 1e-4
    assert {"speed", "contact force", "strain", "shear", "body"} == set(skin.values)


def test_scalars_of_soft_frames_without_velocities():
    frame = SoftFrame(0.0, np.eye(3), np.array([[0, 1, 2]]))
    assert list(scalars_of(frame)) == ["body"]
