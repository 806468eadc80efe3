"""Cables as triangles: closed, as thick as they should be, and steady over time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge.output import SoftFrame, Tubes
from impinge.output.transport import directions_of, transported
from impinge.shapes import Mesh
from tests.output.softscenes import scene, turn

TURN = np.linspace(0, 2 * np.pi, 201)


def cable(points: Any, radii: Any = 0.1, closed: bool = False) -> SoftFrame:
    nodes = np.arange(len(points))
    return SoftFrame(0, points, cables=[np.append(nodes, 0) if closed else nodes], radii=radii)


def mesh_of(frame: SoftFrame, sides: int = 12) -> Mesh:
    tube = Tubes(sides).of(frame)
    return Mesh(tube.positions[len(frame.positions) :], tube.faces - len(frame.positions))


def distances(points: NDArray[np.float64], line: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of points from a line of segments."""
    a, step = line[:-1], np.diff(line, axis=0)
    part = np.clip(((points[:, None] - a) * step).sum(axis=2) / (step**2).sum(axis=1), 0, 1)
    return np.linalg.norm(points[:, None] - a - part[..., None] * step, axis=2).min(axis=1)


@pytest.mark.parametrize("sides", [3, 4, 7, 8, 24])
def test_a_straight_cable_is_a_capsule(sides: int) -> None:
    line = np.outer(np.linspace(0, 1, 5), [2.0, -1.0, 3.0]) + [4, 5, 6]
    mesh = mesh_of(cable(line, 0.2), sides)
    assert mesh.is_closed
    assert not mesh.problems()
    np.testing.assert_allclose(distances(mesh.vertices, line), 0.2, rtol=1e-12)
    polygon = 0.5 * sides * np.sin(2 * np.pi / sides) * 0.2**2
    length = np.linalg.norm(line[-1] - line[0])
    assert polygon * length < mesh.volume < np.pi * 0.2**2 * (length + 4 / 3 * 0.2)


def test_radii_of_nodes() -> None:
    line = np.outer(np.arange(4.0), [1.0, 0, 0])
    mesh = mesh_of(cable(line, [0.1, 0.2, 0.3, 0.4]), 8)
    for x, radius in ((1.0, 0.2), (2.0, 0.3)):
        ring = mesh.vertices[np.abs(mesh.vertices[:, 0] - x) < 1e-9]
        assert len(ring) == 8
        np.testing.assert_allclose(np.linalg.norm(ring[:, 1:], axis=1), radius)


def test_rings_and_knots_close() -> None:
    s = TURN[:-1]
    ring = np.column_stack([np.cos(s), np.sin(s), np.zeros(200)])
    knot = np.column_stack([(2 + np.cos(3 * s)) * np.cos(2 * s), (2 + np.cos(3 * s)) * np.sin(2 * s), np.sin(3 * s)])
    for points in (ring, knot):
        mesh = mesh_of(cable(points, 0.1, closed=True))
        assert mesh.is_closed
        line = np.concatenate([points, points[:1]])
        length = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        assert mesh.volume == pytest.approx(6 * np.sin(np.pi / 6) * 0.1**2 * length, rel=0.01)
        found = distances(mesh.vertices, line)
        assert found.min() > 0.099
        assert found.max() < 0.101


@pytest.mark.parametrize("bend", [0.01, 0.5, 1.0, 2.0])
def test_bends_keep_their_width(bend: float) -> None:
    """The corners at a bend are where the sides of both straight parts meet."""
    arms = np.array([[1.0, 0, 0], [np.cos(bend), np.sin(bend), 0]])
    mesh = mesh_of(cable([-arms[0], [0, 0, 0], arms[1]], 0.1), 4)
    ring = mesh.vertices[1 + 4 : 1 + 8]
    for arm in arms:
        np.testing.assert_allclose(np.linalg.norm(ring - np.outer(ring @ arm, arm), axis=1), 0.1, rtol=1e-9)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(
    "points",
    [
        [[0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [1, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [1e-200, 0, 0], [1e-200, 1e-200, 0]],
        [[0, 0, 0], [1e140, 0, 0], [1e140, 1e140, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 0, 3], [0, 0, 2]],
    ],
)
def test_degenerate_cables_have_places(points: Any, closed: bool) -> None:
    for radius in (0.0, 0.1):
        frame = cable(points, radius, closed)
        tube = Tubes().of(frame)  # which checks that all is finite
        far = distances_or_zero(tube.positions[len(points) :], frame.positions)
        assert (far <= 2.01 * radius + 1e-12 * np.abs(frame.positions).max()).all()


def distances_or_zero(points: NDArray[np.float64], nodes: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = max(np.abs(nodes).max(), np.abs(points).max()) or 1.0
    return np.linalg.norm(points[:, None] / scale - nodes / scale, axis=2).min(axis=1) * scale


@given(seed=st.integers(0, 2**32 - 1), closed=st.booleans())
def test_small_motions_move_corners_little(seed: int, closed: bool) -> None:
    """Over any rotation in small steps, wherever the cable starts: no corner jumps around the tube."""
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(size=(8, 3)), axis=0)
    axis, tubes = int(rng.integers(3)), Tubes(8)
    states = []
    for step in range(40):
        moved = points @ turn(0.1 * step, axis).T @ turn(0.07 * step, (axis + 1) % 3).T
        states.append((moved, tubes.of(cable(moved, 0.1, closed)).positions[8:]))
    for (nodes0, corners0), (nodes1, corners1) in pairwise(states):
        nodes_moved = np.linalg.norm(nodes1 - nodes0, axis=1).max()
        assert np.linalg.norm(corners1 - corners0, axis=1).max() < nodes_moved + 0.1


def test_one_angle_is_the_best() -> None:
    """A cable that only turns around itself, or not at all, keeps its corners."""
    line = np.column_stack([np.zeros(5), np.zeros(5), np.arange(5.0)])
    tubes = Tubes()
    first = tubes.of(cable(line)).positions
    np.testing.assert_allclose(tubes.of(cable(line + [1, 2, 3])).positions, first + [1, 2, 3])
    tubes.of(cable(line @ turn(1.0, 0).T))
    np.testing.assert_allclose(tubes.of(cable(line)).positions, first, atol=1e-12)


def test_data_go_along() -> None:
    frame = scene()
    tube = Tubes(5).of(frame)
    assert not tube.cables
    assert tube.time == frame.time
    np.testing.assert_array_equal(tube.positions[:57], frame.positions)
    np.testing.assert_array_equal(tube.faces[:50], frame.faces)
    near = np.linalg.norm(tube.positions[57:, None] - frame.positions, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(tube.bodies[57:], frame.bodies[near])
    np.testing.assert_array_equal(tube.point_data["velocity"][57:], frame.point_data["velocity"][near])
    assert tube.face_data["strain"].shape == tube.face_data["bending"].shape == (len(tube.faces),)
    np.testing.assert_array_equal(tube.face_data["strain"][:50], frame.face_data["strain"])
    assert np.isnan(tube.face_data["bending"][50:]).all()
    # Faces have the data of the edge that they surround.
    middles = tube.positions[tube.faces[50:]].mean(axis=1)
    edges = frame.positions[frame.edges].mean(axis=1)
    near = np.linalg.norm(middles[:, None] - edges, axis=2).argmin(axis=1)
    ring = tube.bodies[tube.faces[50:, 0]] == 2
    np.testing.assert_array_equal(tube.face_data["strain"][50:][ring], frame.edge_data["strain"][near][ring])


def test_transport_against_one_step_after_the_other() -> None:
    rng = np.random.default_rng(0)
    along = rng.normal(size=(300, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = transported(along)
    np.testing.assert_allclose((across * along).sum(axis=1), 0, atol=1e-14)
    slow = across[0]
    for number, (a, b) in enumerate(pairwise(along)):
        axis = np.cross(a, b)  # Rodrigues' formula for the turn of a into b
        slow = slow + np.cross(axis, slow) + np.cross(axis, np.cross(axis, slow)) / (1 + a @ b)
        np.testing.assert_allclose(across[number + 1], slow, atol=1e-9)


def test_directions_between_equal_points() -> None:
    found = directions_of(np.array([[0, 0, 0], [0, 0, 0], [0, 2, 0], [0, 2, 0], [3, 2, 0.0]]))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]])


def test_sides_are_checked() -> None:
    with pytest.raises(ValueError, match="sides: found 2"):
        Tubes(2)
