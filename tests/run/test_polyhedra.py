"""Rigid bodies of any shape: rest, impacts, friction, free rotation; with spheres, planes and obstacles."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, Solid, World, shapes
from impinge.errors import InputError, MeshError, SubjectError

Floats = NDArray[np.float64]
ELASTIC = Material(1000, stiffness=1e6)
ROCK = Material(2500, stiffness=1e6, restitution=0.5, friction=0.5)
L = shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)])
U = shapes.prism([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)])
TURNS = {
    "face": np.eye(3),
    "edge": Rotation.from_euler("y", 45, degrees=True).as_matrix(),
    "corner": Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix(),
}


def scaled(mesh: Mesh, factor: float) -> Mesh:
    return Mesh(mesh.vertices * factor, mesh.faces)


def floor(world: World, kind: str) -> None:
    """The same flat floor, as a plane or as an obstacle."""
    if kind == "plane":
        world.add_plane([0, 0, 0], [0, 0, 1])
    else:
        world.add_obstacle(shapes.box((8, 8, 2)).transformed(translation=[0, 0, -1]))


def test_a_cube_at_rest_stays_at_rest() -> None:
    world = World()
    world.add_polyhedra(shapes.box(0.1), [[0, 0, 0.05]], material=ROCK)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.run(until=0.3)
    before = world.polyhedra
    world.run(until=0.5)
    after = world.polyhedra
    assert np.abs(after.positions - before.positions).max() < 1e-9
    assert np.abs(after.rotations - before.rotations).max() < 1e-9
    weight = float(after.masses[0]) * 9.81
    assert weight == pytest.approx(0.1**3 * 2500 * 9.81)
    np.testing.assert_allclose(world.pushes()["wall 1"].force, [0, 0, -weight], atol=1e-9 * weight)
    # δ = m g / (κ A), A being the face, and the width of its edges times their length; that the upright edges are
    # a little in the floor, too, makes δ / 0.02 m less of it
    shape = world._dynamics.rigid.shapes[0]
    per_area = 1e6 / (math.pi * shape.radius**2)
    depth = weight / (per_area * (0.1**2 + 4 * 0.1 * shape.width))
    assert 0.05 - after.positions[0, 2] == pytest.approx(depth, rel=1e-4)


def drop(mesh: Mesh, turn: Floats, wall: str, *, resolution: float | None = None, finer: float = 1.0) -> Floats:
    """Contact time, largest depth, and change of energy during and after an elastic impact."""
    lowest = float((mesh.vertices @ turn.T)[:, 2].min())
    world = World(gravity=[0, 0, 0], dt=4e-4 / finer)
    world.add_polyhedra(
        mesh, [[0.013, 0.007, 1e-4 - lowest]], turn, material=ELASTIC, velocities=[0, 0, -1], resolution=resolution
    )
    floor(world, wall)
    start, first, deepest, worst = world.energy().total, 0.0, 0.0, 0.0
    while world.time < 1.0:
        world.step(4)
        depth = -float(world.polyhedra.mesh(0).vertices[:, 2].min())
        deepest, worst = max(deepest, depth), max(worst, abs(world.energy().total / start - 1))
        first = first or (world.time if depth > 0 else 0.0)
        if first and depth < 0:
            break
    return np.array([world.time - first, deepest, worst, abs(world.energy().total / start - 1)])


@pytest.mark.parametrize("wall", ["plane", pytest.param("obstacle", marks=pytest.mark.verify)])
@pytest.mark.parametrize("way", TURNS)
def test_impacts_do_not_depend_on_triangles_or_resolution(way: str, wall: str) -> None:
    usual = drop(shapes.box(1.0), TURNS[way], wall)
    fine_mesh = drop(shapes.box(1.0, divisions=4), TURNS[way], wall)
    fine = drop(shapes.box(1.0), TURNS[way], wall, resolution=0.025)
    np.testing.assert_allclose(fine_mesh[:2], usual[:2], rtol=1e-6)
    np.testing.assert_allclose(fine[:2], usual[:2], rtol=0.05)
    assert usual[2] < 1e-3
    if wall == "plane":  # the same to the last bits, however it is made
        np.testing.assert_allclose(drop(shapes.box(1.0), TURNS[way], "obstacle"), usual, rtol=1e-6, atol=1e-9)


def collide_and_part(material: Material, dt: float) -> float:
    """Two bodies that are not convex hit each other and turn: the largest change of energy, as a share of it."""
    world = World(gravity=[0, 0, 0], dt=dt)
    turns = Rotation.from_rotvec([[0.3, 0.2, 0.1], [1.0, -0.5, 0.3]])
    world.add_polyhedra(
        scaled(L, 0.3), [[0, 0, 0], [0.25, 0.1, 0.9]], turns, material=material, velocities=[[0, 0, 1], [0, 0, -1]],
        spins=[[0, 1, 0], [1, 0, 0.5]],
    )  # fmt: skip
    bodies = world.polyhedra
    momentum = (bodies.masses[:, None] * bodies.velocities).sum(axis=0)
    start, worst, touched = world.energy().total, 0.0, False
    for _ in range(120):
        world.step(round(3.6e-3 / dt))
        worst = max(worst, abs(world.energy().total / start - 1))
        touched |= len(world.body_contacts().depths) > 0
    assert touched
    assert len(world.body_contacts().depths) == 0
    bodies = world.polyhedra
    np.testing.assert_allclose((bodies.masses[:, None] * bodies.velocities).sum(axis=0), momentum, atol=1e-9)
    return worst


def test_the_energy_that_collisions_lose_shrinks_with_dt() -> None:
    coarse, fine = (collide_and_part(Material(1000, stiffness=1e8), dt) for dt in (3.6e-5, 4.5e-6))
    assert fine < 0.3 * coarse < 1e-4
    assert collide_and_part(ELASTIC, 1.8e-4) < 0.01  # a fifth of the thickness deep in each other


@pytest.mark.filterwarnings("ignore:dt. 0.02 s")  # nothing touches
@pytest.mark.parametrize("turns", [30, pytest.param(1000, marks=pytest.mark.verify)])
def test_free_rotation(turns: int) -> None:
    """About the unstable axis."""
    world = World(gravity=[0, 0, 0], dt=0.02)
    world.add_polyhedra(shapes.box((1.0, 2.0, 3.0)), [[0, 0, 0]], material=ELASTIC, spins=[1e-3, 1.0, 1e-3])

    def momentum() -> Floats:
        bodies = world.polyhedra
        turn = bodies.rotations[0]
        inertia = turn @ (1000 * shapes.box((1.0, 2.0, 3.0)).inertia) @ turn.T
        return inertia @ bodies.spins[0]

    energy, before, tumbled = world.energy().rotational, momentum(), False
    while world.time < turns * 2 * math.pi:
        world.step(1571)
        tumbled |= world.polyhedra.rotations[0, 1, 1] < 0
        assert world.energy().rotational == pytest.approx(energy, rel=1e-6)
        np.testing.assert_allclose(momentum(), before, rtol=0, atol=1e-6 * np.linalg.norm(before))
    assert tumbled


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_sliding_begins_at_the_angle_of_friction(share: float) -> None:
    angle = math.atan(0.5) * share
    world = World(gravity=[9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)])
    world.add_polyhedra(shapes.box((0.4, 0.4, 0.1)), [[0, 0, 0.05 - 1e-6]], material=ROCK)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.run(until=0.4)
    before = float(world.polyhedra.velocities[0, 0])
    world.run(until=0.5)
    after = float(world.polyhedra.velocities[0, 0])
    if share < 1:
        assert abs(after) < 1e-4
    else:
        wanted = 9.81 * (math.sin(angle) - 0.5 * math.cos(angle))
        assert (after - before) / 0.1 == pytest.approx(wanted, rel=0.02)


def test_edge_on_edge_is_held_at_the_depth_of_the_law() -> None:
    """Two edges of cubes that cross: no point of the surface is in the other cube."""
    world = World(gravity=[0, 0, 0], dt=1e-4)
    down = Rotation.from_euler("x", 45, degrees=True)
    turns = Rotation.concatenate([down, Rotation.from_euler("z", 90, degrees=True) * down])
    depth = 0.01
    apart = math.sqrt(2) - depth
    world.add_polyhedra(shapes.box(1.0), [[0, 0, 0], [0, 0, apart]], turns, material=ELASTIC)
    contacts = world.body_contacts()
    force = contacts.forces[contacts.ids[:, 1] >= 0].sum(axis=0)
    # Every edge is in the other cube over 2 δ; its depth is that of a tent with walls at 45°, δ / √2 at its top.
    shape = world._dynamics.rigid.shapes[0]
    per_area = 1e6 / (math.pi * shape.radius**2)
    wanted = 2 * 0.5 * per_area * shape.width * (2 * depth) * (depth / math.sqrt(2)) / 2 / math.sqrt(2)
    assert force[2] == pytest.approx(-wanted, rel=0.05)
    np.testing.assert_allclose(force[:2], 0, atol=1e-9 * wanted)


def mixed(threads: int | None = None) -> World:
    world = World(threads=threads)
    turns = Rotation.random(4, rng=np.random.default_rng(1))
    world.add_polyhedra(
        scaled(U, 0.02), [[0, 0, 0.1], [0.12, 0, 0.1], [0, 0.12, 0.12], [0.02, 0.02, 0.24]], turns, material=ROCK
    )
    world.add_polyhedra(shapes.torus(0.03, 0.01, 24, 12), [[0.1, 0.1, 0.2]], material=ROCK)
    world.add_spheres([[0.03 * i, 0.03 * j, 0.3] for i in range(4) for j in range(4)], 0.01, ROCK, [0, 0, -2.0])
    floor(world, "obstacle")
    return world


def test_all_in_one_world(tmp_path: Path) -> None:
    """Energy, the weight on the floor, and the same bits on any number of threads and from a file."""
    world, other = mixed(1), mixed(2)
    start = world.energy().total
    world.run(until=0.05)
    other.run(until=0.05)
    world.save(tmp_path / "world.h5")
    again = World.load(tmp_path / "world.h5")
    for some in (world, other, again):
        some.run(until=0.08)
    assert world.energy().dissipated > 0  # something has touched
    assert world.energy().total == pytest.approx(start, rel=0.02)
    for some in (other, again):
        np.testing.assert_array_equal(some.polyhedra.positions, world.polyhedra.positions)
        np.testing.assert_array_equal(some.polyhedra.rotations, world.polyhedra.rotations)
        np.testing.assert_array_equal(some.spheres.centres, world.spheres.centres)
        assert some.energy() == world.energy()


@pytest.mark.parametrize("mass", [None, 0.25])
def test_a_lid_under_load_feels_bodies(mass: float | None) -> None:
    """Also where there is a sphere somewhere else; of the mass of the body by default, or much lighter."""
    found = []
    for pebble in (False, True):
        world = World(gravity=[0, 0, 0])
        world.add_polyhedra(shapes.box(0.1), [[0, 0, 0.05]], material=ROCK)
        world.add_plane([0, 0, 0], [0, 0, 1])
        lid = world.add_plane([0, 0, 0.1], [0, 0, -1], load=500.0, mass=mass)
        if pebble:
            world.add_spheres([[5, 0, 0.05]], 0.04, ROCK)
        world.run(until=0.1)
        assert world.pushes()["wall 2"].force[2] == pytest.approx(500, rel=0.02)
        found.append(lid.point[2])
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def test_stress_of_cubes_on_each_other() -> None:
    """Two cubes and a ball pressed together, when all is at rest: the load times the height of the lid."""
    world = World(gravity=[0, 0, 0])
    world.add_polyhedra(shapes.box(0.1), [[0, 0, 0.05], [0, 0, 0.15]], material=ROCK)
    world.add_spheres([[0, 0, 0.25]], 0.05, ROCK)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.add_plane([0, 0, 0.3], [0, 0, -1], load=500.0)
    world.run(until=1.2)
    np.testing.assert_allclose(world.stress(1.0)[2, 2], 500 * world.walls[1].point[2], rtol=0.003)


def test_a_sphere_and_a_cube_exchange_momentum() -> None:
    world = World(gravity=[0, 0, 0])
    world.add_polyhedra(shapes.box(0.1), [[0, 0, 0]], material=ELASTIC)
    world.add_spheres([[0.01, 0.005, 0.11]], 0.05, ELASTIC, [0, 0, -1.0])
    sphere, body = world.spheres, world.polyhedra
    before = sphere.masses @ sphere.velocities + body.masses @ body.velocities
    start = world.energy().total
    world.run(until=0.05)
    sphere, body = world.spheres, world.polyhedra
    np.testing.assert_allclose(sphere.masses @ sphere.velocities + body.masses @ body.velocities, before, atol=1e-12)
    assert body.velocities[0, 2] < -0.1
    assert np.abs(body.spins[0]).max() > 0.1
    assert world.energy().total == pytest.approx(start, rel=5e-4)


def test_arrays_of_bodies_have_one_order_in_memory() -> None:
    """However they come: of another one, all kernels would be compiled again."""
    world = World()
    for places in ([[0, 0, 0]], [[3, 0, 0], [6, 0, 0]]):
        world.add_polyhedra(shapes.box(1.0), places, material=ROCK)
    rigid = world._dynamics.rigid
    for name in ("inertia", "place", "pose", "late", "now"):
        assert getattr(rigid, name).flags.c_contiguous, name


def test_what_is_bad() -> None:
    world = World()
    cube = shapes.box(1.0)
    with pytest.raises(MeshError, match=r"open edges \(first: vertices .* at \(.*\) m, expected a closed surface"):
        world.add_polyhedra(Mesh(cube.vertices, cube.faces[:-1]), [[0, 0, 0]], material=ROCK)
    with pytest.raises(MeshError, match=r"inside out, of volume -1 m³"):
        world.add_polyhedra(cube.flipped(), [[0, 0, 0]], material=ROCK)
    flat = Mesh(cube.vertices * [1, 1, 0], cube.faces)
    with pytest.raises(MeshError, match="encloses no volume"):
        world.add_polyhedra(flat, [[0, 0, 0]], material=ROCK)
    with pytest.raises(InputError, match=r"^rotations: row 0: found .* no scale, no shear"):
        world.add_polyhedra(cube, [[0, 0, 0]], 2 * np.eye(3), material=ROCK)
    with pytest.raises(InputError, match=r"^rotations: found shape \(1, 4\), .*from_quat"):
        world.add_polyhedra(cube, [[0, 0, 0]], [[1, 0, 0, 0]], material=ROCK)
    with pytest.raises(InputError, match=r"^positions: "):
        world.add_polyhedra(cube, [[0, 0]], material=ROCK)
    with pytest.raises(InputError, match=r"^material: found 3"):
        world.add_polyhedra(cube, [[0, 0, 0]], material=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="dim 2"):
        World(dim=2).add_polyhedra(cube, [[0, 0, 0]], material=ROCK)
    with pytest.raises(InputError, match="periodic"):
        World(box=[9, 9, 9], periodic=True).add_polyhedra(cube, [[0, 0, 0]], material=ROCK)
    for allowed in (False, True):
        world = World()
        world.add_polyhedra(Solid(cube), [[0, 0, 0], [0.7, 0, 0]], material=ROCK, overlap=allowed)
        if allowed:
            world.step(1)
        else:
            with pytest.raises(SubjectError, match=r"polyhedron 0 and polyhedron 1 are 0\.\d+ m deep in each other"):
                world.step(1)
