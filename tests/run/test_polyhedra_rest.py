"""Rigid bodies of any shape at rest: they stay where they are, carry their weight, and are as deep as the law says."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, World, read_mesh, shapes

Floats = NDArray[np.float64]
SIZE, G = 0.1, 9.81
FILES = ["bunny", "cow", "decimated-knight", "fandisk"]
MESHES = Path(__file__).resolve().parents[3] / "shared" / "data" / "meshes"


def rock(friction: float, stiffness: float = 2e4) -> Material:
    return Material(2500, stiffness=stiffness, restitution=0.3, friction=friction)


def prism(*outline: tuple[float, float]) -> Mesh:
    """As large as SIZE, and as thick as its arms."""
    mesh = shapes.prism(outline)
    return mesh.transformed(scale=SIZE / 3)


CUBE = shapes.box(SIZE)
L = prism((0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2))
U = prism((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3))
STANDING, HANGING = (Rotation.from_euler("x", angle, degrees=True) for angle in (90, -90))
STARTS = {
    "cube": (CUBE, Rotation.identity()),
    "tilted cube": (CUBE, Rotation.from_rotvec([0.2, 0.1, 0.3])),
    "L": (L, Rotation.identity()),
    "standing L": (L, STANDING),
    "standing U": (U, STANDING),
    "U on its arms": (U, HANGING),
    "tilted U": (U, HANGING * Rotation.from_rotvec([0.2, 0.1, 0.3])),
}
SETTLING = {"tilted cube": 4.0, "tilted U": 12.0}  # s, to a millionth; the softer way to roll, the longer


def floor(world: World, kind: str) -> str:
    """The same flat floor, as a plane, as a closed obstacle, and as an open one; its name."""
    if kind == "plane":
        return world.add_plane([0, 0, 0], [0, 0, 1]).name
    if kind == "slab":
        return world.add_obstacle(
            shapes.box((8 * SIZE, 8 * SIZE, SIZE)).transformed(translation=[0, 0, -SIZE / 2])
        ).name
    corners = 4 * SIZE * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return world.add_obstacle(Mesh(corners, [[0, 1, 2], [0, 2, 3]])).name


def rests(world: World, name: str, settling: float, seconds: float) -> None:
    """Nothing moves for a while after it has come to rest, and the floor carries all of it."""
    world.run(until=settling)
    before = world.polyhedra
    world.run(until=settling + seconds)
    after = world.polyhedra
    assert np.abs(after.positions - before.positions).max() < 1e-6 * SIZE
    assert np.abs(after.rotations - before.rotations).max() < 1e-6
    weight = after.masses.sum() * G
    np.testing.assert_allclose(world.pushes()[name].force, [0, 0, -weight], rtol=0, atol=1e-6 * weight)


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("start", STARTS)
def test_ten_seconds_on_a_plane(start: str, friction: float) -> None:
    mesh, turn = STARTS[start]
    lowest = float((mesh.vertices @ turn.as_matrix().T)[:, 2].min())
    world = World(threads=1)
    world.add_polyhedra(mesh, [[0, 0, -lowest]], turn.as_matrix(), material=rock(friction))
    rests(world, floor(world, "plane"), SETTLING.get(start, 2.0), 10.0)
    if start.endswith("cube"):  # δ = m g / (κ (A + 4 a w)), less by what the upright edges are in the floor
        bodies, shape = world.polyhedra, world._dynamics.rigid.shapes[0]
        depth = -float(bodies.mesh(0).vertices[:, 2].min())
        per_area = 2e4 / (math.pi * shape.radius**2)
        wanted = float(bodies.masses[0]) * G / (per_area * (SIZE**2 + 4 * SIZE * shape.width))
        assert depth == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["slab", "sheet"])
@pytest.mark.parametrize("start", ["cube", "U on its arms", *(pytest.param(start, marks=pytest.mark.verify)
                                   for start in STARTS if start not in ("cube", "U on its arms"))])  # fmt: skip
def test_on_obstacles(start: str, kind: str, friction: float, request: pytest.FixtureRequest) -> None:
    """As on a plane; where it comes to rest is the same, too."""
    mesh, turn = STARTS[start]
    lowest = float((mesh.vertices @ turn.as_matrix().T)[:, 2].min())
    depths = []
    for wall in ("plane", kind):
        world = World(threads=1)
        sunk = 0.0114 * SIZE if start == "cube" else 0.0  # where it is at rest, nearly
        world.add_polyhedra(mesh, [[0, 0, -lowest - sunk]], turn.as_matrix(), material=rock(friction), overlap=True)
        full = request.config.getoption("--verify")
        settling = SETTLING.get(start, 4.0) if full else 0.4
        rests(world, floor(world, wall), settling, 2.0 if full else 0.2)
        depths.append(float(world.polyhedra.mesh(0).vertices[:, 2].min()))
    assert depths[1] == pytest.approx(depths[0], abs=1e-3 * SIZE)


def stack(aside: list[list[float]]) -> World:
    """Cubes on each other, as deep as they will be, nearly: stiff ones, as soft stacks sway for long."""
    world, count = World(threads=1), len(aside)
    per_area = 2e5 / (math.pi * (SIZE / math.cbrt(4 * math.pi / 3)) ** 2)
    height, places = 0.0, []
    for k, shift in enumerate(aside):
        height -= (count - k) * 2500 * SIZE * G / per_area / (1.4 if k == 0 else 1.2)
        places.append([*shift, height + 0.5 * SIZE])
        height += SIZE
    world.add_polyhedra(CUBE, places, material=rock(0.5, 2e5))
    floor(world, "plane")
    return world


@pytest.mark.parametrize(
    ("aside", "settling", "seconds"),
    [
        ([[0, 0], [0, 0], [0, 0]], 0.8, 0.2),
        pytest.param([[0, 0], [0, 0], [0, 0]], 2.0, 10.0, marks=pytest.mark.verify),
        pytest.param([[0, 0], [0.02, 0.01]], 6.0, 10.0, marks=pytest.mark.verify),
    ],
)
def test_a_stack_of_cubes(aside: list[list[float]], settling: float, seconds: float) -> None:
    world, count = stack(aside), len(aside)
    rests(world, "wall 1", settling, seconds)
    contacts = world.body_contacts()
    for upper in range(1, count):  # what a cube carries is what is above
        own = (contacts.ids == [upper - 1, upper]).all(axis=1)
        weight = (count - upper) * float(world.polyhedra.masses[0]) * G
        np.testing.assert_allclose(contacts.forces[own].sum(axis=0), [0, 0, -weight], rtol=0, atol=1e-6 * weight)


# Meshes from files, against an integral that shares nothing with the library


def depth_over_area(triangles: Floats) -> float:
    """∫ depth dA over what is below z = 0; triangles that cross it are cut into four, again and again."""
    total = 0.0
    for level in range(8):
        depth = -triangles[..., 2]
        crosses = (depth > 0).any(axis=1) & (depth < 0).any(axis=1) if level < 7 else np.zeros(len(depth), bool)
        a, b, c = triangles[~crosses].swapaxes(0, 1)
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        total += float((area * np.maximum(depth[~crosses].mean(axis=1), 0.0)).sum())
        a, b, c = triangles[crosses].swapaxes(0, 1)
        x, y, z = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [np.stack(corners, axis=1) for corners in ((a, x, z), (x, b, y), (z, y, c), (x, y, z))]
        triangles = np.concatenate(parts)
    return total


def depth_over_edges(mesh: Mesh, width: float) -> float:
    """∫ depth w (1 − cos φ) dl over edges that are bent outwards by φ > 20°, below z = 0."""
    x, faces = mesh.vertices, mesh.faces.tolist()
    a, b, c = mesh.triangles.swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    owner = {(f[k], f[(k + 1) % 3]): row for row, f in enumerate(faces) for k in range(3)}
    total, shares = 0.0, (np.arange(200) + 0.5) / 200
    for (p, q), row in owner.items():
        if p > q or min(x[p, 2], x[q, 2]) >= 0:
            continue
        n, m, length = normals[row], normals[owner[q, p]], float(np.linalg.norm(x[q] - x[p]))
        bend = math.atan2(float(np.cross(n, m) @ (x[q] - x[p])) / length, float(n @ m))
        if bend >= math.radians(20):
            depth = np.maximum(-(x[p, 2] + shares * (x[q, 2] - x[p, 2])), 0.0).mean()
            total += width * (1 - math.cos(bend)) * length * float(depth)
    return total


@functools.cache
def closed_mesh(name: str) -> Mesh:
    """With the centre of mass at the origin, and the volume of a ball of a radius of 0.05 m."""
    mesh = read_mesh(MESHES / f"{name}.off")
    mesh = mesh.flipped() if mesh.volume < 0 else mesh
    mesh = mesh.transformed(translation=-mesh.centroid)
    return mesh.transformed(scale=0.05 / math.cbrt(0.75 * mesh.volume / math.pi))


@pytest.mark.filterwarnings("ignore:mesh. found a surface that meets itself")  # the cow's does
@pytest.mark.skipif(not MESHES.is_dir(), reason="the meshes are not there")
@pytest.mark.parametrize(
    ("share", "off"), [(1.0, 0.15), (0.5, 0.05), pytest.param(0.25, 0.02, marks=pytest.mark.verify)]
)
@pytest.mark.parametrize("name", FILES)
def test_meshes_dropped_on_a_plane_come_to_rest(name: str, share: float, off: float) -> None:
    """Within 6 s after a fall of 5 cm.

    share : resolution, of the usual one. off : by how much of the weight the integral differs, as points stand for
    cells of the surface that are twice as large as the depth is; knights rest on sharp edges.
    """
    mesh, stiffness, height = closed_mesh(name), 5e4, 0.05
    width = math.sqrt(mesh.area / 600)
    world = World(threads=1)
    world.add_polyhedra(
        mesh, [[0, 0, height - mesh.bounds[0, 2]]], material=rock(0.5, stiffness), resolution=share * width
    )
    name = floor(world, "plane")
    slow, speed, longest = (
        1e-4 * math.sqrt(2 * G * height),
        math.inf,
        float(np.linalg.norm(mesh.vertices, axis=1).max()),
    )
    while speed > slow and world.time < 6.0:
        world.run(until=world.time + 0.1)
        bodies = world.polyhedra
        speed = float(np.linalg.norm(bodies.velocities[0]) + longest * np.linalg.norm(bodies.spins[0]))
    assert speed < slow
    weight = float(bodies.masses[0]) * G
    assert -world.pushes()[name].force[2] == pytest.approx(weight, rel=1e-3)
    surface = bodies.mesh(0)
    law = stiffness / (math.pi * 0.05**2) * (depth_over_area(surface.triangles) + depth_over_edges(surface, width))
    assert law == pytest.approx(weight, rel=off)
