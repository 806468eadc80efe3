"""Rigid bodies of any shape that hit each other and obstacles: how long, how deep, and what becomes of their energy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, World, shapes
from impinge.bodies.rigid.surface import usual_resolution

Floats = NDArray[np.float64]
STAY = Rotation.identity()


def prism(outline: list[tuple[float, float]] | Floats, scale: float, height: float = 1.0) -> Mesh:
    mesh = shapes.prism(outline, height)
    return mesh.transformed(translation=-mesh.centroid).transformed(scale=scale)


def spikes(count: int = 5, inner: float = 0.25, outer: float = 0.6) -> Floats:
    angles = np.arange(2 * count) * np.pi / count + 0.1
    radii = np.where(np.arange(2 * count) % 2, inner, outer)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def about(axis: str, angle: float) -> Rotation:
    return Rotation.from_euler(axis, angle, degrees=True)


def fine(mesh: Mesh) -> Mesh:
    """The same surface, every triangle cut into sixteen."""
    for _ in range(2):
        count, (a, b, c) = len(mesh.vertices), mesh.faces.astype(np.int64).T
        sides = np.sort(np.concatenate([np.column_stack(side) for side in ((a, b), (b, c), (c, a))]), axis=1)
        ends, number = np.unique(sides, axis=0, return_inverse=True)
        x, y, z = count + number.reshape(3, -1)
        vertices = np.concatenate([mesh.vertices, mesh.vertices[ends].mean(axis=1)])
        faces = [np.column_stack(corners) for corners in ((a, x, z), (x, b, y), (z, y, c), (x, y, z))]
        mesh = Mesh(vertices, np.concatenate(faces))
    return mesh


CUBE = shapes.box(1.0)
L = prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)], 1 / 3)
U = prism([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)], 1 / 3)
STAR = prism(spikes(), 1.0, 0.3)
TORUS = shapes.torus(0.4, 0.14, 32, 16)


# How long and how deep, for other meshes and resolutions


class Impact(NamedTuple):
    lower: Rotation
    upper: Rotation
    mesh: Mesh = CUBE  # of the upper one
    place: tuple[float, float] = (0.013, 0.007)


CORNER = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
IMPACTS = {
    "face": Impact(STAY, STAY),
    "turned face": Impact(STAY, about("z", 30)),
    "crossed edges": Impact(about("x", 45), about("y", 45)),
    "edges at 60°": Impact(about("x", 45), about("z", 60) * about("x", 45)),
    "edge on face": Impact(STAY, about("y", 45)),
    "turned edge on face": Impact(STAY, about("z", 20) * about("y", 45)),
    "corner on face": Impact(STAY, CORNER),
    "turned corner on face": Impact(STAY, about("z", 25) * CORNER),
    "face of an L": Impact(STAY, STAY, L, (0.313, 0.207)),
    "edge of an L": Impact(STAY, about("y", 40), L, (0.313, 0.207)),
    "corner of an L": Impact(STAY, Rotation.from_rotvec([0.5, 0.6, 0.2]), L, (0.313, 0.207)),
    "hollow of an L on an edge": Impact(about("x", 45), about("x", -90), L, (0.0, 0.0)),
}


def collide(
    impact: Impact, meshes: tuple[Mesh, Mesh], stiffness: float, share: float | None = None
) -> tuple[Floats, float]:
    """Duration, how far they have come into each other, deepest contact; and the largest change of energy.

    share : resolution, of the usual one.
    """
    world = World(gravity=[0, 0, 0], dt=4e-4 * math.sqrt(1e6 / stiffness), threads=1)
    turns = [impact.lower.as_matrix(), impact.upper.as_matrix()]
    low = float((meshes[1].vertices @ turns[1].T)[:, 2].min())
    high = float((meshes[0].vertices @ turns[0].T)[:, 2].max())
    for mesh, turn, place, speed in zip(
        meshes, turns, ([0, 0, 0], [*impact.place, high - low + 1e-4]), (0.5, -0.5), strict=True
    ):
        world.add_polyhedra(
            mesh, [place], turn, material=Material(1000, stiffness=stiffness), velocities=[0, 0, speed],
            resolution=None if share is None else share * usual_resolution(mesh),
        )  # fmt: skip
    start, apart = world.energy().total, np.diff(world.polyhedra.centres[:, 2])[0] - 1e-4
    first, near, deepest, worst = 0.0, 0.0, 0.0, 0.0
    while world.time < 1.0:
        world.step(1 if impact.mesh is L else 2)
        contacts, energy = world.body_contacts(), world.energy()
        worst = max(worst, abs(energy.total / start - 1))
        near = max(near, apart - np.diff(world.polyhedra.centres[:, 2])[0])
        deepest = max(deepest, contacts.depths.max(initial=0.0))
        if len(contacts.depths) > 0:
            first = first or world.time
        elif first:
            break
    return np.array([world.time - first, near, deepest]), worst


FAST = {
    1e6: ("face", "crossed edges", "corner on face", "hollow of an L on an edge"),
    1e8: ("crossed edges", "edge on face"),  # depths that are small beside the cells that points stand for
}


@pytest.mark.parametrize(
    ("stiffness", "way"),
    [
        pytest.param(stiffness, way, marks=[] if way in fast else [pytest.mark.verify])
        for stiffness, fast in FAST.items() for way in IMPACTS
    ],
)  # fmt: skip
def test_impacts_of_bodies_do_not_depend_on_triangles_or_resolution(stiffness: float, way: str) -> None:
    """With 1e6 N/m, cubes of 1 m are 2 to 19 cm deep in each other; with 1e8, 2 mm to 5 cm."""
    impact = IMPACTS[way]
    usual, worst = collide(impact, (CUBE, impact.mesh), stiffness)
    assert worst < 1e-3
    refined, _ = collide(impact, (fine(CUBE), fine(impact.mesh)), stiffness)
    np.testing.assert_allclose(refined, usual, rtol=1e-6)
    refined, _ = collide(impact, (CUBE, impact.mesh), stiffness, 0.25)
    np.testing.assert_allclose(refined, usual, rtol=0.05)


# Energy of undamped impacts without friction

HEAPS = {"L": L, "U": U, "star": STAR, "torus": TORUS}


def change(world: World, until: float, steps: int = 20) -> tuple[float, bool]:
    """The largest change of energy, as a share of it, and whether anything has touched."""
    start, worst, touched = world.energy().total, 0.0, False
    while world.time < until:
        world.step(steps)
        energy = world.energy()
        worst, touched = max(worst, abs(energy.total / start - 1)), touched or energy.elastic > 0
    return worst, touched


def two(one: Mesh, other: Mesh, seed: int, dt: float | str = "auto") -> World:
    """Two bodies that are turned at random, spin, and fly into each other."""
    rng = np.random.default_rng(seed)
    turns, aside, spins = Rotation.random(2, rng=rng), rng.uniform(-0.2, 0.2, 2), rng.normal(size=(2, 3))
    high = float((one.vertices @ turns[0].as_matrix().T)[:, 2].max())
    low = float((other.vertices @ turns[1].as_matrix().T)[:, 2].min())
    world = World(gravity=[0, 0, 0], threads=1, dt=dt)
    hard = Material(1000, stiffness=1e8)
    world.add_polyhedra(one, [[0, 0, 0]], turns[0], material=hard, velocities=[0, 0, 1], spins=spins[0])
    place = [*aside, high - low + 0.1]
    world.add_polyhedra(other, [place], turns[1], material=hard, velocities=[0, 0, -1], spins=spins[1])
    return world


@pytest.mark.parametrize(
    ("one", "other", "seed"),
    [
        pytest.param(one, other, seed, marks=[
            *([] if (one, other, seed) in (("L", "star", 0), ("U", "U", 0)) else [pytest.mark.verify]),
        ])
        for k, one in enumerate(HEAPS) for other in list(HEAPS)[k:] for seed in range(4)
    ],
)  # fmt: skip
def test_bodies_of_any_shape_keep_their_energy(one: str, other: str, seed: int) -> None:
    """While they are a tenth of their thickness in each other."""
    world = two(HEAPS[one], HEAPS[other], seed)
    worst, touched = change(world, 0.6)
    assert touched
    assert worst < 0.01


@pytest.mark.parametrize(("one", "other", "seed"), [
    ("L", "L", 0), *(pytest.param(*some, marks=pytest.mark.verify) for some in
                     [("L", "U", 0), ("U", "star", 0), ("star", "star", 0), ("U", "torus", 0)]),
])  # fmt: skip
def test_what_is_lost_shrinks_with_dt(one: str, other: str, seed: int) -> None:
    coarse = two(HEAPS[one], HEAPS[other], seed)
    finer = two(HEAPS[one], HEAPS[other], seed, coarse.dt / 3)
    assert change(finer, 0.4, 60)[0] < 0.5 * change(coarse, 0.4)[0]


def quads(rows: list[list[list[float]]]) -> Mesh:
    """An open surface of quadrilaterals."""
    corners, number = np.unique(np.array(rows).reshape(-1, 3), axis=0, return_inverse=True)
    a, b, c, d = number.reshape(-1, 4).T
    return Mesh(corners, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))


def funnel(top: float, bottom: float, depth: float) -> Mesh:
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    upper, lower = ([[half * x, half * y, z] for x, y in corners] for half, z in ((top, 0.0), (bottom, -depth)))
    return quads([[upper[k - 1], upper[k], lower[k], lower[k - 1]] for k in range(4)])


def tent() -> Mesh:
    mesh = shapes.prism([(0, 0), (1.5, -1.5), (-1.5, -1.5)], 3.0)
    mesh = Mesh(mesh.vertices[:, [0, 2, 1]], mesh.faces)
    return mesh if mesh.volume > 0 else mesh.flipped()


BLOCK = shapes.box(2.0).transformed(translation=[1, 1, -1])
WALLS = {  # obstacles, and where their edge, rim or corner is
    "rim of a plate": (quads([[[0, -1, 0], [2, -1, 0], [2, 1, 0], [0, 1, 0]]]), (0.0, 0.0)),
    "edge of a block": (BLOCK, (0.0, 1.0)),
    "corner of a block": (BLOCK, (0.0, 0.0)),
    "wedge": (tent(), (0.0, 0.0)),
    "edge of a cylinder": (shapes.cylinder(0.8, 1.5, 32).transformed(translation=[0, 0, -0.75]), (0.8, 0.0)),
    "rim of a hopper": (funnel(1.2, 0.3, 1.0), (-1.2, 0.2)),
    "corner of a hopper": (funnel(1.2, 0.3, 1.0), (-1.2, -1.2)),
}
FALLING = {"cube": shapes.box(0.7), "L": L, "star": STAR, "torus": TORUS}


def at_an_edge(wall: str, body: str, seed: int) -> World:
    """A body that falls, turned at random, on an edge of an obstacle."""
    rng = np.random.default_rng(seed)
    turn, aside, mesh = Rotation.random(rng=rng), rng.uniform(-0.15, 0.15, 2), FALLING[body]
    obstacle, (x, y) = WALLS[wall]
    low = float((mesh.vertices @ turn.as_matrix().T)[:, 2].min())
    world = World(gravity=[0, 0, 0], threads=1)
    world.add_polyhedra(
        mesh, [[x + aside[0], y + aside[1], 0.02 - low]], turn.as_matrix(), material=Material(1000, stiffness=1e7),
        velocities=[0, 0, -1],
    )  # fmt: skip
    world.add_obstacle(obstacle)
    return world


@pytest.mark.parametrize("wall", [
    wall if wall in ("corner of a block", "rim of a plate") else pytest.param(wall, marks=pytest.mark.verify)
    for wall in WALLS
])  # fmt: skip
def test_energy_at_edges_of_obstacles(wall: str) -> None:
    """All of these bodies, 2 to 4 cm deep; in corners of open surfaces depths may jump, see docs/bodies.md."""
    some = [change(at_an_edge(wall, body, seed), 0.8)[0] for body in FALLING for seed in range(2)]
    assert max(some) < (0.03 if wall == "corner of a hopper" else 0.003)


# Many faces, many bodies


@pytest.mark.parametrize("levels", [4, pytest.param(6, marks=pytest.mark.verify)])
def test_two_bodies_of_many_faces(levels: int) -> None:
    """A torus of 50,000 triangles, and bumpy spheres of 5,000 or 82,000: energy, momentum, as long as with few."""
    ball = shapes.icosphere(levels)
    x, y, z = ball.vertices.T
    bumps = 1 + 0.12 * np.sin(5 * x) * np.sin(4 * y + 1) * np.cos(6 * z)
    times = []
    coarse = shapes.torus(0.05, 0.02, 60, 24)
    pairs = [(coarse, None), (shapes.torus(0.05, 0.02, 250, 100), usual_resolution(coarse)),
             (Mesh(0.05 * bumps[:, None] * ball.vertices, ball.faces), None)]  # fmt: skip
    for mesh, resolution in pairs:
        world = World(gravity=[0, 0, 0], threads=1)
        apart = float(np.ptp(mesh.bounds[:, 2])) + 0.001
        world.add_polyhedra(
            mesh, [[0, 0, 0], [0.004, 0.01, apart]], material=Material(2500, stiffness=1e5),
            velocities=[[0, 0, 0.5], [0, 0, -0.5]], resolution=resolution,
        )  # fmt: skip
        worst, touched = change(world, 0.045)
        assert touched
        assert worst < 1e-3
        assert len(world.body_contacts().depths) == 0
        bodies = world.polyhedra
        np.testing.assert_allclose(bodies.velocities.sum(axis=0), 0, atol=1e-12)
        times.append(bodies.velocities[1, 2])
    assert times[1] == pytest.approx(times[0], rel=0.05)


@pytest.mark.parametrize("count", [(4, 4, 3), pytest.param((21, 20, 12), marks=pytest.mark.verify)])
def test_many_cubes_fall(count: tuple[int, int, int]) -> None:
    """None is lost, none is in another, and energy is accounted for."""
    side = 0.02
    places = np.stack(np.meshgrid(*[np.arange(n) for n in count], indexing="ij"), axis=-1).reshape(-1, 3)
    world = World()
    turns = Rotation.random(len(places), rng=np.random.default_rng(0))
    rock = Material(2500, stiffness=1e5, restitution=0.5, friction=0.5)
    world.add_polyhedra(
        shapes.box(side), (places + 0.55) * 1.75 * side, turns, material=rock, velocities=[0, 0, -1.0],
        resolution=side / 4,
    )  # fmt: skip
    world.add_plane([0, 0, 0], [0, 0, 1])
    start = world.energy().total
    world.run(until=0.02 if len(places) < 100 else 0.004)
    bodies, contacts = world.polyhedra, world.body_contacts()
    assert np.isfinite(bodies.positions).all()
    assert bodies.positions[:, 2].min() > 0.4 * side
    assert world.energy().dissipated > 0
    assert world.energy().total == pytest.approx(start, rel=0.01)
    assert contacts.depths.max() < 0.1 * side


# Obstacles with an inside


@pytest.mark.parametrize("turned", [False, True])
def test_a_body_in_a_hollow_stays_there(turned: bool, tmp_path: Path) -> None:
    """In a closed box, whichever way its faces are turned, and after loading; energy is kept in its corners."""
    box = shapes.box((1.2, 1.0, 0.8))
    world = World(gravity=[0, 0, 0], threads=1)
    turn = Rotation.from_rotvec([0.4, 0.2, 0.1])
    world.add_polyhedra(
        Mesh(0.1 * L.vertices, L.faces), [[0, 0, 0]], turn, material=Material(1000, stiffness=1e6),
        velocities=[2.0, 1.4, 1.1], spins=[1.0, 3.0, 2.0],
    )  # fmt: skip
    world.add_obstacle(box.flipped() if turned else box)
    worst, touched = change(world, 0.6)
    world.save(tmp_path / "world.h5")
    again = World.load(tmp_path / "world.h5")
    for some in (world, again):
        worst = max(worst, change(some, 0.9)[0])
        assert (np.abs(some.polyhedra.mesh(0).vertices) < [0.65, 0.55, 0.45]).all()
    assert touched
    assert worst < 0.003
    np.testing.assert_array_equal(world.polyhedra.positions, again.polyhedra.positions)


def test_springs_at_obstacles_stay_when_bodies_are_added() -> None:
    """A cube held by friction on a slope does not notice others far away."""
    angle, positions = math.radians(15), []
    for others in (False, True):
        world = World(gravity=[9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)], dt=3e-5)
        rock = Material(2500, stiffness=1e6, restitution=0.3, friction=0.5)
        world.add_polyhedra(shapes.box((0.4, 0.4, 0.1)), [[0, 0, 0.05]], material=rock)
        world.add_obstacle(shapes.box((4, 4, 2)).transformed(translation=[0, 0, -1]))
        world.run(until=0.3)
        if others:
            world.add_polyhedra(shapes.box(0.1), [[9, 9, 9], [9, 9, 10]], material=rock)
        world.run(until=0.4)
        positions.append(world.polyhedra.positions[0])
    np.testing.assert_array_equal(*positions)
