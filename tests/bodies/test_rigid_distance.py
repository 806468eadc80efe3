"""What rigid bodies ask of each other, next to slow answers: distances along paths, depths along edges, lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, Motion, Solid, World, shapes
from impinge.bodies.rigid import _distance, _edges, _follow, _layout, _sheets
from impinge.bodies.rigid.shape import Form, Shape
from impinge.bodies.rigid.surface import is_filled
from impinge.inside._closest import STACK, WIDTH

L = shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)])
GROOVE = shapes.prism([(0, 0), (3, 0), (3, 1), (2, 1), (1.9, 0.9), (1.6, 0.9), (1.6, 1), (0, 1)])
SHAPES = {
    "L": L, "box": shapes.box(1.0, divisions=3), "torus": shapes.torus(1.0, 0.4, 24, 12), "groove": GROOVE,
}  # fmt: skip


def space() -> tuple[NDArray[Any], ...]:
    return (
        np.empty(STACK, np.int64), np.empty(STACK), np.empty((_distance.SCRATCH, WIDTH)),
        np.empty((_distance.MOST_CROSSINGS, 2)), np.empty((_distance.PIECES, _distance.END)),
        np.empty((_distance.PIECES, _distance.PIECE)),
    )  # fmt: skip


def _everywhere() -> tuple[NDArray[np.int32], NDArray[np.float32], float, float]:
    """As `_distance.make_everywhere`, which has no door for calls from here."""
    return np.array([1, 0], np.int32), np.zeros(1, np.float32), 0.0, np.inf


@pytest.mark.parametrize("name", SHAPES)
def test_a_point_that_is_followed_has_the_distance_of_one_that_is_looked_for(name: str) -> None:
    mesh = SHAPES[name]
    shape, rng = Shape(mesh), np.random.default_rng(3)
    slots, seen, held = np.zeros(1, np.int32), np.zeros((1, _layout.FOLLOWED)), 0
    path = rng.uniform(mesh.bounds[0], mesh.bounds[1]) - shape.centre
    for step in rng.normal(0, 2e-3, (1500, 3)):
        path = path + step
        before = seen[0, :3].copy()
        found = _follow.follow(shape.tree, *path, slots, seen, 0, 0, space())
        held += bool((before == seen[0, :3]).all())
        np.testing.assert_array_equal(found, _distance.signed_distance(shape.tree, *path, 0, space())[1:])
    assert held > 100  # else nothing was remembered
    own = Mesh((mesh.vertices - shape.centre) @ shape.axes, mesh.faces)
    assert found[0] == pytest.approx(Solid(own).distance(path[None])[0], abs=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_depths_along_edges_next_to_many_points(name: str) -> None:
    """∫ δ² along segments, from their pieces and from points side by side."""
    mesh = SHAPES[name]
    shape, rng, misses = Shape(mesh), np.random.default_rng(4), []
    t = (np.arange(500) + 0.5) / 500
    for _ in range(200):
        p, q = rng.uniform(mesh.bounds[0], mesh.bounds[1], (2, 3)) - shape.centre
        d = q - p
        here, everywhere = space(), _everywhere()
        leaves, bounds = np.zeros(1 + _distance.NEAR, np.int32), np.zeros(_distance.NEAR, np.float32)
        slots, seen = np.zeros((3, 1), np.int32), np.zeros((1, _layout.EDGE_SEEN))
        aside = rng.normal(0, 0.02, 3)  # listed for where the edge was a moment before
        within = _distance.list_leaves(shape.tree, *(p + aside), *d, 0.2, leaves, bounds, here)
        way = 1.001 * float(np.linalg.norm(aside))
        near = leaves, bounds, way, within - way
        crossings = _distance.find_crossings(shape.tree, near, *p, *d, here)
        places = here[3][:crossings].copy()
        assert crossings == _distance.find_crossings(shape.tree, everywhere, *p, *d, here)
        np.testing.assert_array_equal(places, here[3][:crossings])
        found = []
        for some in (near, everywhere):
            step = 0.5 * shape.width if shape.bumpy else math.inf
            number = _edges.find_pieces(shape.tree, some, *p, *d, step, _edges.KINK, 0, slots, seen, crossings, here)
            found.append(here[5][:number].copy())
        np.testing.assert_array_equal(*found)
        if crossings == 0 and _distance.signed_distance(shape.tree, *p, 0, here)[1] > 0:
            continue  # outside: nobody asks for its pieces
        a, b, u, v = found[0][:, :4].T
        total = ((b - a) * (u * u + u * v + v * v) / 3).sum()
        depths = [-_distance.signed_distance(shape.tree, *(p + s * d), 0, here)[1] for s in t]
        wanted = np.mean(np.maximum(depths, 0.0) ** 2)
        if number > 0:
            misses.append(total != pytest.approx(wanted, rel=0.01, abs=1e-5))
    assert len(misses) > 100
    assert not any(misses)


@pytest.mark.parametrize("seed", range(4))
def test_ways_that_end_in_a_surface_are_across_it_once(seed: int) -> None:
    """From p to q in a sheet and on to r, or straight: on the other side or not, also where rounding tells."""
    rng, everywhere, here = np.random.default_rng(seed), _everywhere(), space()
    turn = Rotation.random(rng=rng).as_matrix() if seed else np.eye(3)
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) @ turn.T + seed * rng.normal(size=3)
    tree, normal, across = Form(Mesh(corners, [[0, 1, 2], [0, 2, 3]])).tree, turn[:, 2], 0
    for size in 10.0 ** rng.integers(-17, 0, 400):
        u, v = rng.uniform(-0.8, 0.8, 2)
        q = corners.mean(axis=0) + u * turn[:, 0] + v * turn[:, 1]
        p, r = (q + size * (sign * normal + 0.1 * rng.normal(size=3)) for sign in rng.choice([-1, 1], 2))
        ways = [_sheets.crossings(tree, everywhere, *a, *b, here) for a, b in ((p, q), (q, r), (p, r), (r, p))]
        assert (ways[0] + ways[1]) % 2 == ways[2] % 2 == ways[3] % 2
        if size > 1e-12:
            assert ways[2] % 2 == int((p - q) @ normal * ((r - q) @ normal) < 0)
        across += ways[2] % 2
    assert 50 < across < 350


def test_points_stand_for_the_whole_surface() -> None:
    for mesh in SHAPES.values():
        shape = Shape(mesh)
        assert shape.face_points[:, 3].sum() == pytest.approx(mesh.area, rel=1e-9)


def test_surfaces_that_have_an_inside() -> None:
    box, small = shapes.box(2.0), shapes.box(1.0)
    far, across = (small.transformed(translation=[x, 0, 0]) for x in (5, 1.0))
    filled = {
        "box": box, "inside out": box.flipped(), "shell": box + small.flipped(), "two": box + far, "L": L,
    }  # fmt: skip
    others = {
        "open": Mesh(box.vertices, box.faces[1:]), "nested": box + small, "overlapping": box + across,
        "touching": box + small.transformed(translation=[1.5, 0, 0]), "two ways": box + far.flipped(),
        "sheet": Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]]),
    }  # fmt: skip
    assert [name for name, mesh in filled.items() if not is_filled(mesh)] == []
    assert [name for name, mesh in others.items() if is_filled(mesh)] == []


def falling(threads: int, dt: float | str = "auto") -> World:
    """Six bodies that fall onto each other, a plane that rises and another that is pressed down."""
    world = World(threads=threads, dt=dt)
    rock = Material(2500, stiffness=1e5, restitution=0.5, friction=0.5)
    small = Mesh(L.vertices * 0.02, L.faces)
    turns = Rotation.random(6, rng=np.random.default_rng(2))
    places = [[0.05 * (k % 2), 0.03 * k, 0.06 + 0.05 * k] for k in range(6)]
    world.add_polyhedra(small, places, turns, material=rock, velocities=[0, 0, -5.0])
    world.add_plane([0, 0, 0], [0, 0, 1], velocity=[0, 0, 0.1])
    world.add_plane([0, 0, 0.45], [0, 0, -1], load=10.0, mass=0.5)
    paddle = Motion(velocity=[1.0, 0, 0])
    world.add_obstacle(shapes.box((0.02, 0.4, 0.4)).transformed(translation=[-0.15, 0, 0.2]), rock, paddle)
    return world


def test_many_steps_at_once_have_the_bits_of_one_by_one() -> None:
    """Steps are made one by one where there are spheres, here one that touches nothing."""
    worlds = [falling(threads, 4e-5) for threads in (1, 2, 2)]
    worlds[2].add_spheres([[9.0, 9, 0.25]], 0.01, Material(1000, stiffness=1e3))
    for world in worlds:
        for steps in (300, 1, 1700):
            world.step(steps)
    wanted = worlds[0]
    assert wanted.energy().dissipated > 0
    assert np.abs(wanted.polyhedra.velocities[:, 0]).max() > 0.5  # the paddle has met some
    for world in worlds[1:]:
        for name in ("positions", "rotations", "velocities", "spins"):
            np.testing.assert_array_equal(getattr(world.polyhedra, name), getattr(wanted.polyhedra, name))
        np.testing.assert_array_equal(world._dynamics.planes, wanted._dynamics.planes)


def test_motion_does_not_depend_on_when_lists_are_made() -> None:
    lazy, eager = falling(1), falling(1)
    for _ in range(120):
        lazy.step(10)
        for _ in range(10):
            eager._dynamics.rigid.lists.forget()
            eager.step(1)
    assert eager._dynamics.rigid.lists.rebuilds > 3 * lazy._dynamics.rigid.lists.rebuilds
    np.testing.assert_array_equal(lazy.polyhedra.positions, eager.polyhedra.positions)
    np.testing.assert_array_equal(lazy.polyhedra.velocities, eager.polyhedra.velocities)
    assert lazy.energy().dissipated > 0


@pytest.mark.parametrize("sides", [(1.0, 1.0, 1.0), (1.0, 0.05, 0.05), (1.0, 1.0, 0.02), (1.0, 0.3, 0.001)])
def test_how_fast_points_are_at_most(sides: tuple[float, float, float]) -> None:
    """However a body turns no point is faster, and long thin ones are not thought to be hundreds of times as fast."""
    world, box, rng = World(gravity=[0, 0, 0]), shapes.box(sides), np.random.default_rng(1)
    world.add_polyhedra(box, [[0, 0, 0]], material=Material(2500, stiffness=1e6), velocities=[0.1, 0.2, 0])
    world.step()
    rigid = world._dynamics.rigid
    for spin in [*np.eye(3), *rng.normal(size=(20, 3))]:
        rigid.late[0, 3:] = rigid.inertia[0] * spin  # along principal axes, as the box is
        rigid.pose[0] = [1, 0, 0, 0]
        places = (box.vertices - rigid.shapes[0].centre) @ rigid.shapes[0].axes
        for beyond in (0.0, 0.3):
            far = places * (1 + beyond / np.linalg.norm(places, axis=1))[:, None]
            speed = np.linalg.norm(rigid.late[0, :3] + np.cross(spin, far), axis=1).max()
            most = rigid.fastest(beyond)
            assert speed <= most
    thin = sorted(sides)[1] < 0.1
    rigid.late[0, 3:] = rigid.inertia[0] * [0, 0, 1.0]
    assert not thin or rigid.fastest(0.0) < 20 * (0.5 + np.hypot(0.1, 0.2))
