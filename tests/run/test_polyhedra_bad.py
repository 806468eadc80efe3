"""Rigid bodies of any shape that cannot be: what is said, and that nothing of them stays in the world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from impinge import Material, Mesh, World, shapes
from impinge.bodies.rigid.shape import Shape
from impinge.errors import InputError, MeshError, MeshWarning, RunError, RunWarning, SubjectError

ROCK = Material(2500, stiffness=1e6)
CUBE = shapes.box(1.0)
BALL = shapes.icosphere(4)
HERE = [[0.0, 0.0, 0.0]]


def shells(inward: bool) -> Mesh:
    """A cube in a cube; with faces inward it is a hollow."""
    faces = CUBE.faces[:, ::-1] if inward else CUBE.faces
    return Mesh(np.concatenate([CUBE.vertices, 0.5 * CUBE.vertices]), np.concatenate([CUBE.faces, faces + 8]))


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (Mesh(BALL.vertices, np.delete(BALL.faces, 1234, axis=0)),
         r"3 open edges \(first: vertices \d+–\d+ of face \d+\) at \(-0\.97\d+, 0\.23\d+, -0\.02\d+\) m"),
        (Mesh(CUBE.vertices, CUBE.faces[:2]), r"4 open edges .* at \(-0\.5, 0, -0\.5\) m"),
        (Mesh(CUBE.vertices, np.concatenate([CUBE.faces, CUBE.faces[:1]])), "3 edges with more than two faces"),
        (Mesh(CUBE.vertices * [1, 1, 0], CUBE.faces), "encloses no volume"),
        (CUBE.flipped(), "inside out, of volume -1 m³"),
        (shells(inward=True).flipped(), r"inside out, of volume -0\.875 m³"),
        (Mesh(CUBE.vertices * 1e-31, CUBE.faces), "a size of 1e-31 m"),
        (CUBE + CUBE.flipped().transformed(scale=0.5, translation=[30, 30, 30]),
         r"that of face 12 at \(29\.75, .*\) m, inside out and in no other part"),
        (Mesh(CUBE.vertices * [1e-8, 1e-8, 1], CUBE.faces), "too thin for its length"),
    ],
)  # fmt: skip
def test_surfaces_that_are_none_of_a_body(mesh: Mesh, message: str) -> None:
    world = World()
    with pytest.raises(MeshError, match=message):
        world.add_polyhedra(mesh, HERE, material=ROCK)
    assert len(world._dynamics.rigid) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": [[np.nan, 0, 0]]}, r"^positions: row 0 is not finite \(nan"),
        ({"positions": [[0, 0, 0], [0, 1e200, 0]]}, r"^positions: row 1 is \[0\.0, 1e\+200, 0\.0\]"),
        ({"positions": None}, "^positions: found objects"),
        ({"positions": "here"}, "^positions: found text"),
        ({"positions": [0, 0, 0]}, r"^positions: found shape \(3,\)"),
        ({"positions": [[1j, 0, 0]]}, "^positions: found complex numbers"),
        ({"rotations": np.diag([1, 1, -1.0])}, "^rotations: row 0: .* a reflection"),
        ({"rotations": -np.eye(3)}, "^rotations: row 0: .* a reflection"),
        ({"rotations": np.full((3, 3), np.nan)}, "^rotations: row 0: .* of finite numbers"),
        ({"rotations": np.zeros((3, 3))}, "^rotations: row 0: .* no scale, no shear"),
        ({"rotations": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "^rotations: row 0: .* no scale, no shear"),
        ({"rotations": [0, 0, 1.0]}, r"^rotations: found shape \(3,\)"),
        ({"rotations": Rotation.identity(2)}, r"^rotations: found shape \(2, 3, 3\)"),
        ({"rotations": "z"}, "^rotations: found text"),
        ({"resolution": 0}, "^resolution: found 0"),
        ({"resolution": -1.0}, "^resolution: found -1"),
        ({"resolution": np.inf}, "^resolution: found inf"),
        ({"resolution": "fine"}, "^resolution: found 'fine'"),
        (
            {"resolution": 1e-5},
            r"^resolution: found 1e-05 m, expected at least 0\.000775 m, which is 10,000,000 points",
        ),
        ({"resolution": 1e-300}, "^resolution: found 1e-300 m"),
        ({"velocities": [np.nan, 0, 0]}, "^velocities: row 0 is not finite"),
        ({"velocities": [[0, 0, 0]] * 2}, r"^velocities: found shape \(2, 3\)"),
        ({"spins": [0, 0, np.inf]}, "^spins: row 0 is not finite"),
        ({"material": None}, "^material: found None"),
        ({"mesh": None}, "^mesh: found NoneType"),
        ({"mesh": "cube"}, "^mesh: found str"),
        ({"mesh": ([[0, 0, np.nan]] * 3, [[0, 1, 2]])}, "^mesh: vertices: row 0 is not finite"),
        ({"mesh": (np.empty((0, 3)), np.empty((0, 3), np.int64))}, "^mesh: vertices: found no rows"),
    ],
)
def test_arguments_that_cannot_be(options: dict[str, Any], message: str) -> None:
    world = World()
    with pytest.raises(InputError, match=message):
        world.add_polyhedra(**{"mesh": CUBE, "positions": HERE, "material": ROCK} | options)
    assert len(world._dynamics.rigid) == 0


@pytest.mark.parametrize("options", [{"spins": [0, 0, 1e200]}, {"velocities": [1e300, 0, 0]}])
def test_bodies_that_are_too_fast(options: dict[str, Any]) -> None:
    world = World(gravity=[0, 0, 0])
    world.add_polyhedra(CUBE, [[0, 0, 0]], material=ROCK)
    world.add_polyhedra(CUBE, [[0, 0, 9]], material=ROCK, **options)
    with pytest.raises(RunError, match=r"^polyhedron 1 has no position or spin any more"):
        world.step(3)


@pytest.mark.parametrize("stiffness", [1e-300, 1e-150])
def test_bodies_that_are_too_soft(stiffness: float) -> None:
    world = World()
    world.add_polyhedra(CUBE, HERE, material=Material(2500, stiffness=stiffness))
    with pytest.raises(InputError, match=r"^stiffness: found contacts of .* s, expected a stiffness that fits"):
        world.step()


def test_bodies_that_leave_all_space() -> None:
    world = World(dt=1e60)
    world.add_polyhedra(CUBE, HERE, material=ROCK)
    with (
        pytest.warns(RunWarning, match="shortest contact"),
        pytest.raises(RunError, match=r"^polyhedron 0 has no .* too long a time step \(1e\+60 s"),
    ):
        world.step(3)


@pytest.mark.parametrize(
    ("mesh", "mass"),
    [
        (Mesh(CUBE.vertices[CUBE.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3)), 2500),  # vertices of their own
        (shells(inward=True), 0.875 * 2500),
        (Mesh(CUBE.vertices + 1e8, CUBE.faces), 2500),
        (Mesh(CUBE.vertices * [1, 1, 1e-6], CUBE.faces), 2500e-6),
        (Mesh(np.concatenate([CUBE.vertices, CUBE.vertices + [1, 1, 0]]),
              np.concatenate([CUBE.faces, CUBE.faces + 8])), 5000),
        (Mesh(1e-20 * CUBE.vertices, CUBE.faces), 2500e-60),
    ],
)  # fmt: skip
def test_what_is_unusual_but_possible(mesh: Mesh, mass: float) -> None:
    world = World(gravity=[0, 0, 0])
    world.add_polyhedra(mesh, HERE, material=ROCK)
    world.step(3)
    assert world.polyhedra.masses[0] == pytest.approx(mass)
    np.testing.assert_array_equal(world.polyhedra.velocities, 0)


def test_bodies_far_away_and_none_at_all() -> None:
    """At 1e8 m, where places are known to 1e-8 m, bodies hit each other as elsewhere."""
    found = []
    for far in (0.0, 1e8):
        world = World(gravity=[0, 0, 0])
        assert world.add_polyhedra(CUBE, np.empty((0, 3)), material=ROCK).shape == (0,)
        world.add_polyhedra(CUBE, [[far, 0, 0], [far, 0, 1.01]], material=ROCK, velocities=[[0, 0, 1], [0, 0, -1]])
        world.run(until=0.15)
        assert len(world.body_contacts().depths) == 0
        found.append(world.polyhedra.velocities)
    assert found[0][1, 2] == pytest.approx(1, rel=1e-2)
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def test_a_resolution_larger_than_the_body() -> None:
    world = World(dt=1e-4)
    world.add_polyhedra(CUBE, [[0, 0, 0.5]], material=ROCK, resolution=1e6)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.run(until=0.3)
    assert 0.4 < world.polyhedra.positions[0, 2] < 0.5


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([[0, 0, 0], [0.1, 0.1, 0.1]], r"polyhedron 0 and polyhedron 1 are 0\.\d+ m deep in each other"),
        ([[3, 0, 0], [0, 0, 0], [0, 0, 0]], "100% of polyhedron 1 are inside of polyhedron 2, .*; 1 such pair in all"),
        ([[3, 0, 0], [0, 0, 0], [0.05, 0, 0]], "98% of polyhedron 1 are inside of polyhedron 2, expected at most 25%"),
        ([[3, 0, 0], [0, 0, -8.6]], r"polyhedron 1 and wall 1 are 0\.1 m deep in each other"),
        ([[3, 0, 0], [0, 7.7, 0]], r"polyhedron 1 and obstacle 1 are 0\.2 m deep in each other"),
        ([[3, 0, 0], [0, 7.9, 0]], r"polyhedron 1 and obstacle 1 are 0\.\d+ m deep in each other"),
    ],
)  # fmt: skip
def test_bodies_that_start_in_something(places: list[list[float]], message: str) -> None:
    for allowed in (False, True):
        world = World(gravity=[0, 0, 0])
        world.add_plane([0, 0, -9], [0, 0, 1])
        world.add_obstacle(shapes.box(4.0).transformed(translation=[0, 10, 0]))
        world.add_polyhedra(CUBE, places, material=ROCK, overlap=allowed)
        if allowed:
            world.step(1)
            continue
        with pytest.raises(SubjectError, match=message):
            world.step(1)


def test_thin_bodies_that_start_in_each_other() -> None:
    """Not deep, but for how thin they are; two of different shapes at one place have no points in each other."""
    plate = shapes.box((1.0, 1.0, 0.01))
    inside = "100% of polyhedron 0 are inside of polyhedron 1, expected at most 25%"
    cases = [(plate, 0.003, r"0\.003 m deep in each other, expected at most 0\.0025 m"), (plate, 0.002, inside)]
    for other, shift, message in [*cases, (shapes.box((1.0, 1.0, 0.01)), 0.0, inside)]:
        world = World(gravity=[0, 0, 0])
        world.add_polyhedra(plate, HERE, material=ROCK)
        world.add_polyhedra(other, [[0, 0, shift]], material=ROCK)
        with pytest.raises(SubjectError, match=message):
            world.step(1)
    world = World(gravity=[0, 0, 0])
    world.add_polyhedra(plate, [[0, 0, 0], [0, 0, 0.0095]], material=ROCK)
    world.step(1)


@pytest.mark.parametrize(
    ("centre", "radius", "message"),
    [
        ([0.1, 0, 0], 0.2, "sphere 1 has its centre inside of polyhedron 0"),
        ([0.1, 0, 0], 9.0, r"sphere 1 and polyhedron 0 overlap by 8\.\d+ m, expected at most 0.6204 m, the smaller"),
        ([2.0, 0, 0], 3.0, r"sphere 1 and polyhedron 0 overlap by 1\.5 m, expected at most 0.6204 m, the smaller"),
    ],
)
def test_spheres_that_start_in_bodies(centre: list[float], radius: float, message: str) -> None:
    world = World(gravity=[0, 0, 0])
    world.add_spheres([[0, 40, 0], centre], radius, ROCK)
    world.add_polyhedra(CUBE, HERE, material=ROCK)
    with pytest.raises(SubjectError, match=message):
        world.step(1)


def sheet(right: float, front: float, z: float = 0.0) -> Mesh:
    return Mesh([[-3, -3, z], [right, -3, z], [right, front, z], [-3, front, z]], [[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("obstacle", "body", "depth"),
    [
        (sheet(3, 3), CUBE, "0.5"),
        (sheet(3, 3, 0.3), CUBE, "0.2"),
        (sheet(0.3, 3), CUBE, "0.2"),  # its rim is in the body
        (sheet(0.3, 0.3), CUBE, "0.2"),  # a corner of it
        (sheet(3, 3), BALL.transformed(translation=[0, 0, 0.1]), "0.89"),
        (sheet(3, 3, 0.499), CUBE, None),
        (sheet(3, 3, -0.501), CUBE, None),
        (sheet(3, -0.49), CUBE, None),
    ],
)
def test_bodies_that_start_across_sheets(obstacle: Mesh, body: Mesh, depth: str | None) -> None:
    """None of the points of the body has passed the sheet, so that contacts do not tell."""
    for overlap in (False, True):
        world = World(gravity=[0, 0, 0])
        world.add_obstacle(obstacle, name="sheet")
        world.add_polyhedra(body, HERE, material=ROCK, overlap=overlap)
        if depth is None or overlap:
            world.step()
        else:
            with pytest.raises(
                InputError, match=rf"^positions: polyhedron 0 and sheet are {depth}\d* m deep in each other"
            ):
                world.step()


def test_bodies_that_straddle_a_sheet() -> None:
    """A clamp on a fin that touches it at its bottom: much of it on either side, and little in it."""
    u = shapes.prism([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)])
    for lowest, deep in ((0.99, False), (0.5, True)):
        world = World(gravity=[0, 0, 0])
        corners = [[1.5, lowest, -3], [1.5, lowest, 3], [1.5, 6, 3], [1.5, 6, -3]]
        world.add_obstacle(Mesh(corners, [[0, 1, 2], [0, 2, 3]]), name="fin")
        world.add_polyhedra(u, HERE, material=ROCK)
        if deep:
            with pytest.raises(InputError, match=r"^positions: polyhedron 0 and fin are 0\.5 m deep"):
                world.step()
        else:
            world.step()


def test_what_motion_has_brought_together_is_not_refused_when_something_is_added(tmp_path: Path) -> None:
    """A soft cube and a soft sphere, deep in the floor; only what is new is looked at."""
    world, soft = World(dt=1e-3), Material(density=2500, stiffness=1e5)
    world.add_plane([0, 0, 0], [0, 0, 1], name="floor")
    world.add_polyhedra(CUBE, [[0, 0, 0.501]], material=soft)
    world.add_spheres([[3, 0, 0.501]], 0.5, Material(density=2500, stiffness=2e4))
    world.run(until=0.4)
    assert world.body_contacts().depths.max() > 0.1
    assert world.contacts().depths.max() > 0.5
    world.save(tmp_path / "deep.h5")
    for run in (world, World.load(tmp_path / "deep.h5")):
        run.add_plane([0, 0, 9], [0, 0, -1])
        run.add_obstacle(shapes.box().transformed(translation=[9, 9, 9]))
        run.add_polyhedra(CUBE, [[9, 0, 2]], material=soft)
        run.add_spheres([[9, 9, 2]], 0.5, soft)
        run.step(2)
        run.add_polyhedra(CUBE, [[9.5, 0, 2]], material=soft)
        with pytest.raises(InputError, match=r"^positions: polyhedron 1 and polyhedron 2 are 0\.4\d+ m deep"):
            run.step()
    other = World.load(tmp_path / "deep.h5")
    other.add_plane([-0.4, 0, 0], [1, 0, 0], name="step")
    with pytest.raises(InputError, match=r"^positions: polyhedron 0 and step are"):
        other.step()


def test_surfaces_that_meet_themselves_are_told() -> None:
    world = World()
    for twice in (CUBE.transformed(translation=[0.5, 0.1, 0.1]), CUBE.transformed(scale=0.5)):
        with pytest.warns(MeshWarning, match="found a surface that meets itself, or has parts within each other"):
            world.add_polyhedra(CUBE + twice, HERE, material=ROCK)
    world.add_polyhedra(shells(inward=True), HERE, material=ROCK)


def test_materials_that_bodies_do_as_if_were_not_there() -> None:
    with pytest.warns(RunWarning, match="material: found cohesion, which rigid bodies do not have"):
        World().add_polyhedra(CUBE, HERE, material=Material(2500, stiffness=1e6, cohesion=0.1))


def test_needles_have_points_along_them_only() -> None:
    """And finer ones than there is room for are refused."""
    needle = shapes.box((1.0, 1e-6, 1e-6))
    shape = Shape(needle)
    assert shape.resolution == 1e-3
    assert 1000 < len(shape.points.rows) < 20_000
    with pytest.raises(InputError, match=r"resolution: found 1e-07 m, expected at least 8\.63e-07 m"):
        Shape(needle, 1e-7)


def test_bodies_outside_the_box() -> None:
    world = World(box=[2, 2, 2], threads=1)
    world.add_polyhedra(CUBE, [[1, 1, 1]], material=ROCK)
    with pytest.raises(RunError, match=r"polyhedron 0 has left the box at step \d+ .*, to \(1, 1, -0\.\d+\) m; 1 such"):
        world.run(until=2)
    assert world.polyhedra.positions[0, 2] > -0.5  # it is noticed soon
    other = World(box=[2, 2, 2], threads=1)
    other.add_polyhedra(CUBE, [[1, 1, 1], [1, 1, -3]], material=ROCK)
    with pytest.raises(SubjectError, match=r"^positions: polyhedron 1 is at \(1, 1, -3\) m, .* in the box"):
        other.step()
