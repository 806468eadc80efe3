"""What is listed of rigid bodies that may touch: enough, no more than needed; motion does not depend on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, World, shapes
from impinge.errors import RunWarning

ROCK = Material(2500, stiffness=2e4, restitution=0.3, friction=0.5)
TETRAHEDRON = Mesh(
    0.05 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
)
SPIKE = Mesh(
    [[-0.02, -0.02, 0.06], [0.02, -0.02, 0.06], [0.02, 0.02, 0.06], [-0.02, 0.02, 0.06], [0, 0, -0.06]],
    [[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]],
)
SHEET = Mesh([[-0.3, -0.3, 0], [0.3, -0.3, 0], [0.3, 0.3, 0], [-0.3, 0.3, 0]], [[0, 1, 2], [0, 2, 3]])


def falls_on_its_tip(mesh: Mesh, speed: float, threads: int = 1) -> World:
    """Above an open sheet, the corner farthest from the centre of mass down."""
    arms = mesh.vertices - mesh.centroid
    corner = int(np.argmax((arms**2).sum(axis=1)))
    turn = Rotation.align_vectors([[0, 0, -1]], [arms[corner]])[0].as_matrix()
    world = World(threads=threads)
    world.add_obstacle(SHEET)
    height = 0.001 - float((turn @ mesh.vertices[corner])[2])
    material = Material(2500, stiffness=2e4)
    world.add_polyhedra(
        mesh, [[0.03, 0.02, height]], turn, material=material, velocities=[0, 0, -speed], spins=[0, 0.1, 0]
    )
    return world


@pytest.mark.parametrize("speed", [0.5, 1.0])
@pytest.mark.parametrize("mesh", [TETRAHEDRON, SPIKE], ids=["tetrahedron", "spike"])
def test_tips_in_open_sheets_keep_their_energy(mesh: Mesh, speed: float) -> None:
    """The body is thin at its tip, which goes deeper than that and than the skin, and is listed anew there."""
    world = falls_on_its_tip(mesh, speed)
    first, deepest = world.energy(), 0.0
    while world.time < 0.06:
        world.step(5)
        deepest = max(deepest, world.body_contacts().depths.max(initial=0.0))
        assert abs(world.energy().total - first.total) < 1e-3 * first.kinetic
    assert deepest > 0.005
    assert world.polyhedra.velocities[0, 2] > 0


def test_lists_in_a_tray_do_not_matter(tmp_path: Path) -> None:
    """Sharp bodies in an open box without lid: after a file, when all is listed anew, the bits are the same."""
    world = World(threads=1)
    corners = 0.08 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 1], [1, -1, 1], [1, 1, 1],
                               [-1, 1, 1]])  # fmt: skip
    sides = [[0, 1, 2, 3], *([k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4] for k in range(4))]
    world.add_obstacle(Mesh(corners, [part for a, b, c, d in sides for part in ([a, b, c], [a, c, d])]), ROCK)
    turns = Rotation.random(4, rng=np.random.default_rng(1)).as_matrix()
    for number, mesh in enumerate((TETRAHEDRON, SPIKE, TETRAHEDRON, SPIKE)):
        place = [0.08 * (number % 2) - 0.04, 0.08 * (number // 2) - 0.04, 0.2 + 0.02 * number]
        world.add_polyhedra(mesh, [place], turns[number], material=ROCK, velocities=[0, 0, -1])
    world.step(300)
    for _ in range(4):
        world.step(150)
        world.save(tmp_path / "world.h5")
        other = World.load(tmp_path / "world.h5", threads=1)
        ahead = World.load(tmp_path / "world.h5", threads=1)
        world.step(150)
        for _ in range(3):  # lists are made anew for each part
            ahead.step(50)
            ahead._dynamics.rigid.lists.forget()
        other.step(150)
        for some in (other, ahead):
            assert (some.polyhedra.centres == world.polyhedra.centres).all()
            assert (some.polyhedra.rotations == world.polyhedra.rotations).all()
    assert len(world.body_contacts().depths) > 0


def test_a_large_body_does_not_make_the_lists_of_small_ones_long() -> None:
    """Cubes of 1 cm that are apart, and a block a hundred times as large beside them, which touches one of them."""
    listed = []
    for with_block in (False, True):
        world = World(gravity=[0, 0, 0], threads=1)
        places = 0.016 * np.stack(np.meshgrid(range(8), range(8), [0]), axis=-1).reshape(-1, 3)
        world.add_polyhedra(shapes.box(0.01), places, material=ROCK)
        if with_block:
            world.add_polyhedra(shapes.box(1.0), [[-0.5049, 0.05, 0]], material=ROCK)
        world.step()
        lists = world._dynamics.rigid.lists
        listed.append((len(lists.pairs), lists.spans[:, 2:4].sum() + lists.spans[:, 4:].sum()))
        assert len(world.body_contacts().depths) > 0 or not with_block
    assert listed[1][0] <= listed[0][0] + 64
    assert listed[1][1] < listed[0][1] + 20_000


def test_bodies_that_meet_themselves_do_not_depend_on_lists(tmp_path: Path) -> None:
    """Signed distances jump in them, so that nothing can be told of places around."""
    bar = shapes.box((0.06, 0.02, 0.02))
    cross = bar + bar.transformed(rotation=Rotation.from_euler("z", 90, degrees=True))
    world = World(threads=1)
    world.add_box([-0.05, -0.05, 0], [0.05, 0.05, 0.5])
    turns = Rotation.random(4, rng=np.random.default_rng(2)).as_matrix()
    places = [[0, 0, 0.05], [0.01, 0, 0.12], [0, 0.01, 0.19], [0, 0, 0.26]]
    with pytest.warns(UserWarning, match="meets itself"):
        world.add_polyhedra(cross, places, turns, material=ROCK, velocities=[0, 0, -2], resolution=0.005)
    for _ in range(6):
        world.step(150)
        world.save(tmp_path / "world.h5")
        with pytest.warns(UserWarning, match="meets itself"):
            other = World.load(tmp_path / "world.h5", threads=2)
        world.step(150)
        other.step(150)
        assert (other.polyhedra.centres == world.polyhedra.centres).all()
        assert (other.polyhedra.rotations == world.polyhedra.rotations).all()
    assert len(world.body_contacts().depths) > 0


def test_shapes_are_known_by_what_they_are() -> None:
    world = World()
    cube = shapes.box(0.1)
    world.add_polyhedra(cube, [[0, 0, 0]], material=ROCK)
    world.add_polyhedra((cube.vertices.copy(), cube.faces.copy()), [[1, 0, 0]], material=ROCK)
    world.add_polyhedra(cube, [[2, 0, 0]], material=ROCK, resolution=0.02)
    assert world.polyhedra.shapes.tolist() == [0, 0, 1]


def test_bodies_too_soft_to_rest_are_told() -> None:
    world = World(threads=1)
    world.add_polyhedra(shapes.box(0.1), [[0, 0, 0]], material=Material(2500, stiffness=20))
    with pytest.warns(RunWarning, match="polyhedra so soft that the weight of one pushes it in by about 0.99 m"):
        world.step()
