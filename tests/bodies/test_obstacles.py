"""Contacts with obstacles: against slow and plain versions, on floors, edges, corners, and drums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.bodies import _obstacles as kernels
from impinge.bodies.obstacles import Obstacle
from impinge.shapes.generators import box, cylinder, octasphere
from impinge.shapes.mesh import Mesh

from .obstacle_contacts import DEPTH, EYE, NORMAL, POINT, SKEW, Points, closest_on_triangle, contacts, floor

# One contact per triangle of a soup, except those with similar normals


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([1.0, 1e-3, 1e3]))
def test_soup_against_plain_version(seed: int, count: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    triangles = rng.uniform(-1, 1, (count, 3, 3)) * scale
    centres = rng.uniform(-1, 1, (10, 3)) * scale
    radii = rng.uniform(0.1, 0.8, 10) * scale
    found = contacts(Mesh(triangles.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)), centres, radii)
    for centre, radius, rows in zip(centres, radii, found, strict=True):
        points = np.array([closest_on_triangle(centre, triangle) for triangle in triangles])
        distances = np.linalg.norm(centre - points, axis=1)
        chosen: list[int] = []
        for k in np.argsort(distances):
            normals = (centre - points[chosen]) / distances[chosen, None]
            if distances[k] < radius and not (normals @ (centre - points[k]) / distances[k] > math.sqrt(0.75)).any():
                chosen.append(k)
        chosen.sort()
        assert len(rows) == len(chosen)
        np.testing.assert_allclose(rows[:, DEPTH], radius - distances[chosen], atol=1e-12 * scale)
        np.testing.assert_allclose(rows[:, POINT], points[chosen], atol=1e-12 * scale)
        np.testing.assert_allclose(
            rows[:, NORMAL], (centre - points[chosen]) / distances[chosen, None], atol=1e-9 * scale
        )


# A triangulated floor is a plane


def floor_places(mesh: Mesh, rng: np.random.Generator) -> Points:
    """Random places in the unit square, places right above inner vertices, and above edges."""
    corners = mesh.triangles[:, :, :2]
    edges = np.concatenate(
        [corners[:, k] + s * (corners[:, k - 1] - corners[:, k]) for k in range(3) for s in (0.5, 0.3)]
    )
    places = np.concatenate([rng.random((200, 2)), mesh.vertices[:, :2], edges])
    return places[((places > 0.2) & (places < 0.8)).all(axis=1)]


@pytest.mark.parametrize("skin", [0.0, 0.05])
@pytest.mark.parametrize("turned", [EYE, SKEW])
def test_floor_is_a_plane(turned: Points, skin: float) -> None:
    rng = np.random.default_rng(1)
    mesh = floor()
    assert Obstacle(mesh).patches == 1
    places = floor_places(mesh, rng)
    assert len(places) > 300
    for side in (1, -1):
        heights = rng.uniform(0.05, 0.0999, len(places))
        centres = np.column_stack([places, 0.3 + side * heights])
        found = contacts(mesh.transformed(turned, (0.1, 0.2, 0.3)), centres @ turned.T + [0.1, 0.2, 0.3], 0.1, skin)
        for rows, centre, h in zip(found, centres, heights, strict=True):
            assert len(rows) == 1
            assert rows[0, DEPTH] == pytest.approx(0.1 - h, abs=1e-14 if turned is EYE else 1e-12)
            np.testing.assert_allclose(rows[0, NORMAL], turned @ [0, 0, side], atol=1e-15 if turned is EYE else 1e-12)
            foot = turned @ [centre[0], centre[1], 0.3] + [0.1, 0.2, 0.3]
            np.testing.assert_allclose(rows[0, POINT], foot, atol=1e-12)


def test_floor_of_one_normal_to_the_last_bit() -> None:
    """Without turning, the plane is that of the vertices exactly, and so is every depth."""
    for mesh in (floor(), floor(n=30, height=0.1, seed=2), Mesh(floor().vertices, floor().faces[:, ::-1])):
        obstacle = Obstacle(mesh)
        np.testing.assert_array_equal(np.abs(obstacle.planes[0, :3]), [0, 0, 1])
        assert abs(obstacle.planes[0, 3]) == mesh.vertices[0, 2]


def test_floor_with_flaws_is_a_plane() -> None:
    """Unmerged vertices, faces turned over or doubled, needles at hanging vertices: still one patch without seams."""
    mesh = floor()
    rng = np.random.default_rng(3)
    soup = Mesh(mesh.triangles.reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))
    flips = np.where(rng.random(len(mesh.faces))[:, None] < 0.5, mesh.faces, mesh.faces[:, ::-1])
    doubled = np.concatenate([mesh.faces, mesh.faces[::3], mesh.faces[::4, ::-1]])
    a, b, c = mesh.faces[60]
    hanging = 0.5 * (mesh.vertices[a] + mesh.vertices[b])
    v = len(mesh.vertices)
    cut = np.concatenate([np.delete(mesh.faces, 60, axis=0), [[a, v, c], [v, b, c], [a, b, v], [a, a, b], [v, v, v]]])
    places = np.concatenate([floor_places(mesh, rng), [hanging[:2]]])
    centres = np.column_stack([places, np.full(len(places), 0.37)])
    for flawed in (
        soup,
        Mesh(mesh.vertices, flips),
        Mesh(mesh.vertices, doubled),
        Mesh([*mesh.vertices, hanging], cut),
    ):
        assert Obstacle(flawed).patches == 1
        for rows in contacts(flawed, centres, 0.1):
            assert len(rows) == 1
            assert rows[0, DEPTH] == pytest.approx(0.03, abs=1e-15)
        (rows,) = contacts(flawed, [[-0.03, 0.4, 0.34]], 0.1)
        np.testing.assert_allclose(rows[:, 1:5], [[-0.6, 0, 0.8, 0.05]], atol=1e-12)


def test_plate_with_two_faces_has_a_border() -> None:
    """The same triangle twice, once turned over: it ends at its edges, and does not go on on its back."""
    (rows,) = contacts(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]]), [[0.4, -0.03, 0.04]], 0.1)
    np.testing.assert_allclose(rows[:, 1:5], [[0, -0.6, 0.8, 0.05]], atol=1e-12)


@pytest.mark.parametrize("height", [0.0, 1e-13, 4e-13, 1e-12, 1e-9])
def test_needles_end(height: float) -> None:
    """On the line of a needle, but beyond its end, the sphere touches the end, and above it the needle."""
    square = Mesh([[0, 0, 0], [1, 0, 0], [1, -1, 0], [0, -1, 0]], [[0, 1, 2], [0, 2, 3]])
    needle = Mesh([[0, 0, 0], [1, 0, 0], [0.5, height, 0]], [[0, 1, 2]])
    found = contacts(square + needle, [[1.03, 0, 0.04], [-0.03, 0.0, 0.04], [0.3, 0.0, 0.05], [0.5, 0.03, 0.04]], 0.1)
    wanted = [[0.6, 0, 0.8, 0.05], [-0.6, 0, 0.8, 0.05], [0, 0, 1, 0.05], [0, 0.6, 0.8, 0.05]]
    np.testing.assert_allclose(np.concatenate(found)[:, 1:5], wanted, atol=1e-7)


def test_hanging_vertices_without_needles() -> None:
    """Two patches in one plane that meet at a seam without common vertices: one contact, as deep as that of a plane."""
    left = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    right = Mesh([[1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 0.4, 0]], [[0, 1, 4], [4, 1, 2], [4, 2, 3]])
    obstacle = Obstacle(left + right)
    assert obstacle.patches == 2
    x = np.linspace(0.7, 1.3, 61)
    for rows in contacts(obstacle, np.column_stack([x, np.full(61, 0.5), np.full(61, 0.19)]), 0.2):
        assert len(rows) == 1
        np.testing.assert_allclose(rows[0, [*range(1, 5)]], [0, 0, 1, 0.01], atol=1e-14)


# Edges, corners, plates


def test_over_the_edge_of_a_box() -> None:
    """From the top around an edge to the side: one contact all the way, depth and normal continuous."""
    mesh = box(2.0, divisions=3)  # an edge at x = z = 1
    angle = np.linspace(0, math.pi / 2, 91)
    around = 1 + 0.29 * np.column_stack([np.sin(angle), np.cos(angle)])
    top = np.column_stack([np.linspace(0.5, 1, 50), np.full(50, 1.29)])
    side = top[::-1, ::-1]
    path = np.concatenate([top, around, side])
    for turned in (EYE, SKEW):
        places = np.column_stack([path[:, 0], np.full(len(path), 0.1), path[:, 1]])
        found = contacts(mesh.transformed(turned), places @ turned.T, 0.3)
        assert all(len(rows) == 1 for rows in found)
        rows = np.concatenate(found)
        np.testing.assert_allclose(rows[:, DEPTH], 0.01, atol=1e-12)
        nearest = np.minimum(places, 1.0)
        np.testing.assert_allclose(rows[:, NORMAL], (places - nearest) @ turned.T / 0.29, atol=1e-9)
        np.testing.assert_allclose(rows[:, POINT], nearest @ turned.T, atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_outside_of_a_box_there_is_one_contact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1.5, 1.5, (20, 3))
    centres = centres[(np.abs(centres) > 1).any(axis=1)]
    found = contacts(box(2.0, divisions=2), centres, 0.3)
    nearest = np.clip(centres, -1, 1)
    distance = np.linalg.norm(centres - nearest, axis=1)
    for rows, q, d in zip(found, nearest, distance, strict=True):
        # a depth far below the radius, or what is behind a corner is hit as well
        assert len(rows) == (d < 0.3) or d < 0.25
        if d < 0.3:
            deepest = rows[rows[:, DEPTH].argmax()]
            assert deepest[DEPTH] == pytest.approx(0.3 - d, abs=1e-14)
            np.testing.assert_allclose(deepest[POINT], q, atol=1e-14)


def test_deep_beside_an_edge_only_one_face_acts() -> None:
    """The edge is near enough and lies in another direction, but the top comes nearer."""
    for depth in (0.01, 0.1, 0.2):
        (rows,) = contacts(box(2.0), [[0.9, 0.0, 1.3 - depth]], 0.3)
        np.testing.assert_allclose(rows[:, 1:5], [[0, 0, 1, depth]], atol=1e-14)


def test_corners_inside_a_box() -> None:
    for place, count in (((0, 0, 0.8), 1), ((0, 0.8, 0.8), 2), ((0.8, 0.8, 0.8), 3), ((0, 0, 0), 0)):
        (rows,) = contacts(box(2.0, divisions=4), [place], 0.21)
        assert len(rows) == count
        np.testing.assert_allclose(rows[:, DEPTH], 0.01, atol=1e-14)
        np.testing.assert_allclose(np.sort(rows[:, NORMAL].sum(axis=0)), np.sort([-float(c > 0) for c in place]))


def test_between_two_rims() -> None:
    """A slot between two blocks with a common floor: a sphere on it hits both rims, though the tops are one patch."""
    profile = np.array([[-1, 0], [-0.1, 0], [-0.1, -1], [0.1, -1], [0.1, 0], [1, 0]])
    vertices = np.concatenate([np.insert(profile, 1, y, axis=1) for y in (-1, 1)])
    strips = [[k, k + 1, k + 7, k, k + 7, k + 6] for k in range(5)]
    bridge = Mesh([[-1, 1, 0], [-0.1, 1, 0], [0.1, 1, 0], [1, 1, 0], [-1, 2, 0], [1, 2, 0]],
                  [[0, 1, 4], [1, 2, 4], [2, 5, 4], [2, 3, 5]])  # fmt: skip
    obstacle = Obstacle(Mesh(vertices, np.reshape(strips, (-1, 3))) + bridge)
    assert obstacle.patches == 4
    height = math.sqrt(0.19**2 - 0.1**2)
    (rows,) = contacts(obstacle, [[0, 0, height]], 0.2)
    np.testing.assert_allclose(np.sort(rows[:, kernels.POINT]), [-0.1, 0.1], atol=1e-14)
    np.testing.assert_allclose(rows[:, DEPTH], 0.01, atol=1e-14)


def test_thin_plate_pushes_to_both_sides() -> None:
    plate = floor(n=3, height=0.0)
    heights = np.array([0.05, -0.05, 0.0, 1e-300, -1e-300])
    found = np.concatenate(contacts(plate, np.column_stack([np.full((5, 2), 0.4), heights]), 0.1))
    up = Obstacle(plate).planes[0, 2]
    np.testing.assert_array_equal(found[:, kernels.NORMAL + 2], [1, -1, up, 1, -1])
    np.testing.assert_allclose(found[:, DEPTH], 0.1 - np.abs(heights))
    # right on the border, and beside it
    found = np.concatenate(contacts(plate, [[0, 0.4, 0], [-0.03, 0.4, 0], [-0.03, 0.4, 0.04], [1.0, 1.0, 0]], 0.1))
    np.testing.assert_allclose(found[:, NORMAL], [[0, 0, up], [-1, 0, 0], [-0.6, 0, 0.8], [0, 0, up]], atol=1e-12)
    np.testing.assert_allclose(found[:, DEPTH], [0.1, 0.07, 0.05, 0.1])


def test_standing_wall_on_a_floor() -> None:
    """A wall whose foot is on the floor, without common vertices: floor and wall, or only one of them."""
    wall = Mesh([[0.5, 0.1, 0.3], [0.5, 0.9, 0.3], [0.5, 0.9, 1.0], [0.5, 0.1, 1.0]], [[0, 1, 2], [0, 2, 3]])
    obstacle = Obstacle(floor() + wall)
    found = contacts(obstacle, [[0.4, 0.5, 0.4], [0.3, 0.5, 0.4], [0.6, 0.5, 0.45], [0.48, 0.5, 0.2]], 0.101)
    assert [len(rows) for rows in found] == [2, 1, 1, 1]
    np.testing.assert_allclose(found[3][0, NORMAL], [0, 0, -1], atol=1e-15)


# Round from inside


def cone(segments: int = 40) -> Mesh:
    """The side of a hopper: radius 0.2 at z = 0, 1 at z = 1, open at both ends."""
    angle = 2 * np.pi * np.arange(segments) / segments
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(segments)])
    i, j = np.arange(segments), np.roll(np.arange(segments), -1)
    faces = np.concatenate([np.column_stack([i, j, j + segments]), np.column_stack([i, j + segments, i + segments])])
    return Mesh(np.concatenate([0.2 * ring, ring + [0, 0, 1]]), faces)


@pytest.mark.parametrize("segments", [16, 40, 200])
def test_inside_of_a_drum_is_smooth(segments: int) -> None:
    drum = Obstacle(cylinder(1.0, 2.0, segments))
    assert drum.patches == segments + 2
    angle = np.linspace(0, 1.3, 400)
    path = 0.905 * np.column_stack([np.cos(angle), np.sin(angle), 0.1 * angle])
    found = contacts(drum, path, 0.1)
    assert {len(rows) for rows in found} <= {0, 1} if segments == 16 else {1}
    deep = np.array([rows[0, DEPTH] if len(rows) else 0.0 for rows in found])
    assert deep.max() > 0.004
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert (np.abs(np.diff(deep)) <= steps * (1 + 1e-9)).all()


def test_inside_of_a_cone_and_at_the_end_of_a_drum() -> None:
    angle = np.linspace(0, 6, 100)
    heights = np.linspace(0.3, 0.8, 100)
    reach = 0.2 + 0.8 * heights - 0.1 * math.sqrt(1.64)  # 0.1 from the cone
    path = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), heights])
    assert all(len(rows) == 1 for rows in contacts(cone(), path, 0.11))
    drum = cylinder(1.0, 2.0, 60)
    path = np.column_stack([0.9 * np.cos(angle), 0.9 * np.sin(angle), np.full(100, 0.9)])
    assert all(len(rows) == 2 for rows in contacts(drum, path, 0.11))


def test_outside_of_a_ball_there_is_one_contact() -> None:
    rng = np.random.default_rng(4)
    away = rng.normal(size=(200, 3))
    away /= np.linalg.norm(away, axis=1)[:, None]
    found = contacts(octasphere(4), 1.29 * away, 0.3)
    assert {len(rows) for rows in found} == {1}
    rows = np.concatenate(found)
    assert (np.abs(rows[:, DEPTH] - 0.01) < 0.005).all()
