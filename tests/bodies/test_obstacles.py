"""Contacts with obstacles: against slow and plain versions, on floors, edges, corners, drums, and in motion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import _jit
from impinge.bodies import _obstacles as kernels
from impinge.bodies.motion import Motion
from impinge.bodies.obstacles import Obstacle, combine, moved, near, poses_at
from impinge.errors import InputError
from impinge.shapes.generators import box, cylinder, octasphere
from impinge.shapes.mesh import Mesh

Points = NDArray[np.float64]
DEPTH, ENTRY, READ = kernels.DEPTH, kernels.ENTRY, kernels.READ
NORMAL, POINT, VELOCITY = (slice(c, c + 3) for c in (kernels.NORMAL, kernels.POINT, kernels.VELOCITY))
EYE = np.eye(3)


@_jit.kernel
def touch(
    i, x, starts, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses, known,
    history, keep, work, out,
):  # fmt: skip
    """A kernel around the part of others."""
    return kernels.touch(
        i, x, starts, patches, owners, triangle_starts, triangles, corners, borders, planes, tolerances, poses,
        known, history, keep, work, out,
    )  # fmt: skip


def contacts(things: Any, centres: Any, radii: Any, skin: float = 0.0, t: float = 0.0) -> list[Points]:
    """Rows of contacts of every sphere with obstacles (or a mesh) at time t."""
    obstacles = things if isinstance(things, list) else [things if isinstance(things, Obstacle) else Obstacle(things)]
    surfaces, poses = combine(obstacles, range(len(obstacles))), poses_at(obstacles, t)
    x = np.column_stack([centres, np.broadcast_to(radii, len(centres))])
    lists = near(surfaces, x, skin, poses)
    return [Memory(lists, 0).touch(i, x, surfaces, poses) for i in range(len(x))]


class Memory:
    """What contacts of a list remember."""

    def __init__(self, lists: Any, rows: int | None = None) -> None:
        count = len(lists.patches) if rows is None else rows
        self.lists, self.known, self.history = lists, np.zeros(count, bool), np.zeros((count, 8))
        self.work = np.full((max(lists.most, 1), kernels.WORK), np.nan)

    def touch(self, i: int, x: Points, surfaces: Any, poses: Points, keep: bool = True) -> Points:
        out = np.full((kernels.MOST, kernels.COLUMNS), np.nan)
        s = surfaces
        count = touch(
            i, x, *self.lists[:5], s.corners, s.borders, s.planes, s.tolerances, poses, self.known,
            self.history, keep, self.work, out,
        )  # fmt: skip
        return out[:count]


def closest_on_triangle(p: Points, triangle: Points) -> Points:
    """Slow and plain: the foot in the plane if it is inside, or else the nearest of the three edges."""
    a, b, c = triangle
    weights, *_ = np.linalg.lstsq(np.column_stack([b - a, c - a]), p - a, rcond=None)
    found = []
    if weights.min() >= 0 and weights.sum() <= 1:
        found.append(a + weights[0] * (b - a) + weights[1] * (c - a))
    for u, v in ((a, b), (b, c), (c, a)):
        share = np.clip((p - u) @ (v - u) / max((v - u) @ (v - u), 1e-300), 0, 1)
        found.append(u + share * (v - u))
    return found[int(np.argmin([np.linalg.norm(p - q) for q in found]))]


def turn(axis: Any, angle: float) -> Points:
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return EYE + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


SKEW = turn((1, 2, 3), 0.7)


def grid_faces(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Faces of n × n squares, each cut along a random diagonal."""
    squares = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :n].ravel()
    a, b, c, d = squares, squares + n + 1, squares + n + 2, squares + 1
    first, second = np.stack([a, b, c, a, c, d], -1), np.stack([a, b, d, b, c, d], -1)
    return np.where(rng.random(len(a))[:, None] < 0.5, first, second).reshape(-1, 3)


def floor(n: int = 8, height: float = 0.3, seed: int = 0) -> Mesh:
    """The square [0, 1]² at a height, with jittered vertices."""
    rng = np.random.default_rng(seed)
    ticks = np.linspace(0, 1, n + 1)
    places = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), -1)
    places[1:-1, 1:-1] += rng.uniform(-0.3, 0.3, (n - 1, n - 1, 2)) / n
    return Mesh(np.column_stack([places.reshape(-1, 2), np.full((n + 1) ** 2, height)]), grid_faces(n, rng))


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


# Lists


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.02, 0.3]),
    st.sampled_from(["soup", "floor", "box", "drum", "two", "mixed"]),
)
def test_near_against_all_triangles(seed: int, skin: float, kind: str) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    soup = Mesh(rng.uniform(-1, 1, (3 * count, 3)), np.arange(3 * count).reshape(-1, 3))
    small = Mesh(rng.uniform(-0.02, 0.02, (90, 3)) + 0.3, np.arange(90).reshape(-1, 3))
    meshes = {
        "soup": [soup], "floor": [floor(5)], "box": [box(1.0, divisions=4)], "drum": [cylinder(0.6, 0.9, 20)],
        "two": [soup, box(1.0)], "mixed": [soup + small],
    }[kind]  # fmt: skip
    obstacles = [Obstacle(mesh, Motion((0, 0, 0.1), ((0.3, 0.2, 0.1), (0, 1, 0)))) for mesh in meshes]
    surfaces, poses = combine(obstacles, [3] * len(meshes)), poses_at(obstacles, 0.8)
    x = np.column_stack([rng.uniform(-1.2, 1.2, (12, 3)), rng.uniform(0.01, 0.4, 12)])
    lists = near(surfaces, x, skin, poses)
    first = np.cumsum([0] + [o.patches for o in obstacles])
    for i, row in enumerate(x):
        patches = lists.patches[lists.starts[i] : lists.starts[i + 1]]
        assert (np.diff(patches) > 0).all()
        surely, perhaps = set(), set()
        for o, (obstacle, mesh) in enumerate(zip(obstacles, meshes, strict=True)):
            pose = obstacle.pose_at(0.8)
            for patch, triangle in zip(
                obstacle.patch_of, mesh.triangles @ pose.rotation.T + pose.translation, strict=True
            ):
                gap = np.linalg.norm(row[:3] - closest_on_triangle(row[:3], triangle)) - row[3] - skin
                surely |= {first[o] + patch} if gap <= -1e-9 else set()
                perhaps |= {first[o] + patch} if gap <= 1e-9 else set()
        assert surely <= set(patches.tolist()) <= perhaps
        for e in range(lists.starts[i], lists.starts[i + 1]):
            mine = lists.triangles[lists.triangle_starts[e] : lists.triangle_starts[e + 1]]
            assert len(mine) > 0
            assert (surfaces.patches[mine] == lists.patches[e]).all()
    assert lists.triangle_starts[-1] == len(lists.triangles)
    assert lists.most == np.diff(lists.starts).max()


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["floor", "box", "drum", "ball"]))
def test_lists_are_good_for_a_skin(seed: int, kind: str) -> None:
    """After a motion of up to the skin, contacts are those of fresh lists, bit by bit."""
    rng = np.random.default_rng(seed)
    mesh = {"floor": floor(), "box": box(1.0, divisions=5), "drum": cylinder(0.6, 0.9, 20), "ball": octasphere(3, 0.5)}
    obstacle = Obstacle(mesh[kind])
    surfaces, poses = combine([obstacle], [0]), poses_at([obstacle], 0.0)
    x = np.column_stack([rng.uniform(-0.8, 0.8, (20, 3)), rng.uniform(0.05, 0.3, 20)])
    lists = near(surfaces, x, 0.1, poses)
    step = rng.normal(size=(20, 3))
    x[:, :3] += 0.1 * step / np.linalg.norm(step, axis=1)[:, None]
    fresh = near(surfaces, x, 0.0, poses)
    for i in range(20):
        old, new = Memory(lists, 0).touch(i, x, surfaces, poses), Memory(fresh, 0).touch(i, x, surfaces, poses)
        np.testing.assert_array_equal(old[:, 1:], new[:, 1:])


def test_lists_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(5)
    obstacle = Obstacle(octasphere(5))
    surfaces, poses = combine([obstacle], [0]), poses_at([obstacle], 0.0)
    x = np.column_stack([rng.uniform(-1.2, 1.2, (3000, 3)), rng.uniform(0.01, 0.1, 3000)])
    with _jit.threads(1):
        one = near(surfaces, x, 0.01, poses)
    two = near(surfaces, x, 0.01, poses)
    assert one.most == two.most > 10
    for a, b in zip(one[:5], two[:5], strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_obstacles_and_no_spheres() -> None:
    empty = near(combine([], []), np.zeros((3, 4)), 0.1, poses_at([], 0.0))
    np.testing.assert_array_equal(empty.starts, [0, 0, 0, 0])
    assert Memory(empty).touch(1, np.ones((3, 4)), combine([], []), poses_at([], 0.0)).shape == (0, kernels.COLUMNS)
    obstacle = Obstacle(box())
    nobody = near(combine([obstacle], [0]), np.empty((0, 4)), 0.1, poses_at([obstacle], 0.0))
    assert nobody.starts.tolist() == [0]
    assert nobody.most == 0


def test_many_triangles() -> None:
    """Half a million: linear memory, patches of a curved surface are its triangles."""
    obstacle = Obstacle(octasphere(8))
    assert 524_200 < obstacle.patches < 524_288  # some neighbours have four corners on a circle, by symmetry
    surfaces = combine([obstacle], [0])
    assert sum(np.asarray(array).nbytes for array in surfaces) < 300 * 524_288
    (rows,) = contacts(obstacle, [[0.0, 0.0, 1.0099]], 0.01)
    assert len(rows) == 1


# Motion


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


def test_functions_are_not_asked_about_times_before_0() -> None:
    asked = []

    def motion(t: float) -> tuple[Any, Any]:
        asked.append(t)
        return (3 * t, 0, 0), EYE

    pose = Obstacle(box(), motion).pose_at(0.0, 0.01)
    assert min(asked) == 0.0
    np.testing.assert_allclose(pose.velocity, [3, 0, 0])
