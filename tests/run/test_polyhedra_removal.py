"""Rigid bodies that are removed, by hand and by sinks: numbers, memories, the same bits, what files show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impinge
from impinge import Material, Motion, World, shapes
from impinge.errors import InputError, RunError
from impinge.output.vtk import read_polydata
from impinge.run.chains import force_chains
from impinge.run.scene import read_scene
from impinge.show.recording import Recording
from impinge.show.shown import Shown

from .runs import Killed, rows
from .scenes import contents, write

ROCK = Material(2500, stiffness=1e5, restitution=0.1, friction=0.5)
L = shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]).transformed(scale=0.02)
CUBE = shapes.box(0.05)
PILE = np.array([1, 3, 4, 6])  # of the bodies of `crowd`
ALONE = np.array([0, 2, 5, 7])


def crowd(threads: int | None = 1) -> World:
    """Bodies and spheres that slide and roll on each other, a slope and blocks, and bodies that touch nothing."""
    world = World(gravity=[2.0, 1.0, -9.0], threads=threads)
    world.add_plane([0, 0, 0], [0, 0, 1], ROCK)
    world.add_obstacle(shapes.box((0.3, 0.3, 0.02)).transformed(translation=[0, 0, 0.01]), ROCK)
    world.add_obstacle(
        shapes.box(0.03).transformed(translation=[0, 0.0405, 0.036]), ROCK, Motion(velocity=[0, -0.2, 0])
    )
    turn = Rotation.from_euler("z", 3, degrees=True)
    for mesh, place in (
        (L, [5, 0, 3]), (CUBE, [0, 0, 0.045]), (CUBE, [5, 5, 3]), (CUBE, [0.01, 0, 0.095]),
        (L, [-0.092, -0.02, 0.03]), (L, [-5, 5, 3]), (CUBE, [0.4, 0, 0.025]), (CUBE, [-5, 0, 3]),
    ):  # fmt: skip
        world.add_polyhedra(mesh, [place], turn, material=ROCK)
    world.add_spheres([[0.01, 0, 0.13], [5.02, 0, 3.1], [0.05, 0.06, 0.03], [-0.06, 0.0, 0.05], [0, 0, 3]], 0.01, ROCK)
    return world


def bits(world: World, ids: Any = None) -> list[bytes]:
    """Of spheres and of some bodies."""
    bodies, spheres = world.polyhedra, world.spheres
    those = slice(None) if ids is None else np.searchsorted(bodies.ids, ids)
    parts = (bodies.ids, bodies.positions, bodies.rotations, bodies.velocities, bodies.spins)
    rest = (spheres.ids, spheres.centres, spheres.velocities, spheres.spins)
    return [part[those].tobytes() for part in parts] + [part.tobytes() for part in rest]


def forces(world: World) -> dict[str, Any]:
    """Of all contacts, with what they remember, by numbers."""
    at, of = world.body_contacts(), world.contacts()
    return {
        "bodies": np.column_stack([at.ids, at.walls, at.points, at.forces, at.energies]),
        "spheres": np.column_stack([of.ids, of.walls, of.bodies, of.points, of.forces, of.couples, of.energies]),
    }


def test_memories_of_what_remains_stay() -> None:
    """Of bodies with each other, with planes and obstacles, and with spheres, before the next step and after it."""
    world, whole = crowd(), crowd()
    for some in (world, whole):
        some.run(until=0.02)
    before = forces(world)
    pairs = {tuple(pair) for pair in before["bodies"][:, :3].astype(int).tolist()}
    assert pairs == {(1, 3, -1), (1, -1, 1), (1, -1, 2), (4, -1, 1), (6, -1, 0)}
    assert before["spheres"][:, 2:4].tolist() == [[-1, 3], [1, -1], [-1, 4]]
    world.remove_polyhedra(ALONE)
    assert world.polyhedra.ids.tolist() == PILE.tolist()
    after = forces(world)
    for name, found in after.items():
        np.testing.assert_array_equal(found, before[name])
    assert bits(world) == bits(whole, PILE)
    for some in (world, whole):
        some.run(until=0.04)
    assert bits(world) == bits(whole, PILE)
    for name, found in forces(world).items():
        np.testing.assert_array_equal(found, forces(whole)[name])


def test_more_than_touches_nothing_may_go() -> None:
    """What a body was in contact with feels it no more, and forgets it; the rest stays."""
    world = crowd()
    world.run(until=0.02)
    before, energy = forces(world), world.energy()
    world.remove_polyhedra(3)
    after = forces(world)
    held, stands = before["bodies"], before["spheres"]
    np.testing.assert_array_equal(after["bodies"], held[(held[:, :2] != 3).all(axis=1)])
    np.testing.assert_array_equal(after["spheres"], stands[stands[:, 3] != 3])
    assert world.energy().total < energy.total
    world.remove_polyhedra([1, 4])
    assert forces(world)["bodies"][:, 0].tolist() == [6] * len(forces(world)["bodies"])
    world.run(until=0.03)
    assert world.spheres.velocities[[0, 3], 2].max() < -0.05  # they fall
    world.remove_polyhedra(world.polyhedra.ids)
    assert len(world.polyhedra) == len(world.body_contacts().depths) == 0
    assert world.polyhedra.surface()[0].shape == (0, 3)
    world.run(until=0.04)
    assert world.add_polyhedra(CUBE, [[0, 0, 1]], material=ROCK).tolist() == [8]
    world.run(until=0.041)
    assert world.polyhedra.velocities[0, 2] == pytest.approx(-9e-3, rel=0.01)


def test_memories_stay_when_an_obstacle_comes() -> None:
    """After which rigid bodies have other places among what spheres run into."""
    world = crowd()
    world.run(until=0.02)
    before = forces(world)
    assert (before["spheres"][:, 3] >= 0).any()
    world.add_obstacle(shapes.box(0.03).transformed(translation=[7, 7, 7]), ROCK)
    for name, found in forces(world).items():
        np.testing.assert_array_equal(found, before[name])


def changed(world: World, step: int) -> None:
    """Bodies go and come."""
    if step == 400:
        world.remove_polyhedra([0, 3])
    if step == 800:
        world.add_polyhedra(L, [[0.01, 0, 0.1]], material=ROCK)
        world.remove_polyhedra([7])
    if step == 1200:
        world.remove_polyhedra([1, 8])


@pytest.mark.parametrize("cuts", [(399, 401), (400, 1200)])
def test_the_same_bits_from_files_and_with_two_threads(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    """Saved before and after bodies go, or in between."""
    whole, cut = crowd(1), crowd(2)
    for step in range(1500):
        for world in (whole, cut):
            changed(world, step)
        if step in cuts:
            cut.save(tmp_path / "world.h5")
            cut = World.load(tmp_path / "world.h5", threads=2)
        whole.step()
        cut.step()
    assert whole.polyhedra.ids.tolist() == [2, 4, 5, 6]
    assert bits(cut) == bits(whole)
    assert cut.energy() == whole.energy()
    assert cut.why_dt == whole.why_dt
    assert whole.add_polyhedra(CUBE, [[9, 9, 9]], material=ROCK) == cut.add_polyhedra(CUBE, [[9, 9, 9]], material=ROCK)
    assert cut.polyhedra.ids.tolist() == [2, 4, 5, 6, 9]


def test_what_is_said_has_permanent_numbers() -> None:
    world = crowd()
    world.remove_polyhedra(np.array([0, 2]))
    bodies = world.polyhedra
    corner = bodies.mesh(4).vertices[0]
    np.testing.assert_allclose(corner, L.vertices[0] @ bodies.rotations[2].T + bodies.positions[2])
    assert np.unique(bodies.surface()[2]).tolist() == bodies.ids.tolist() == [1, 3, 4, 5, 6, 7]
    for number in (0, 8):
        with pytest.raises(InputError, match=f"number: found {number}, expected that of a body that is in the world"):
            bodies.mesh(number)
    world.run(until=0.02)
    starts, ends, data = force_chains(world)
    points, of = world.body_contacts(), world.contacts()
    centre = dict(zip(bodies.ids.tolist(), world.polyhedra.centres, strict=True))
    alone, pairs = np.flatnonzero(of.bodies >= 0), np.flatnonzero(points.ids[:, 1] >= 0)
    wanted = [centre[number] for number in points.ids[pairs, 1]]
    np.testing.assert_array_equal(ends[-len(pairs) :], wanted)
    first = len(of.ids)
    np.testing.assert_array_equal(ends[first : first + len(alone)], [centre[number] for number in of.bodies[alone]])
    first += len(alone)
    np.testing.assert_array_equal(starts[first : first + len(points.ids)], [centre[n] for n in points.ids[:, 0]])
    assert len(data["force"]) == len(starts)
    assert np.isfinite(world.stress(1.0)).all()
    world.add_polyhedra(CUBE, [[0.41, 0, 0.03]], material=ROCK)
    with pytest.raises(InputError, match=r"positions: (.*polyhedron 8.*polyhedron 6|.*polyhedron 6.*polyhedron 8)"):
        world.step()
    world.remove_polyhedra(8)
    world.add_polyhedra(CUBE, [[0.41, 0, 0.03]], material=ROCK, overlap=True)
    world.step()
    world.add_spheres([[0.4, 0, 0.025]], 0.005, ROCK)
    with pytest.raises(InputError, match=r"sphere 5 (and|has its centre inside of) polyhedron (6|9)"):
        world.step()
    world.remove([5])
    world.add_polyhedra(CUBE, [[0, 0, 7]], material=ROCK, spins=[1e200, 0, 0])
    with pytest.raises(RunError, match="polyhedron 10 has no position"):
        world.step(10)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0], "ids: found 0, expected numbers of polyhedra that are in the world"),
        ([1, 8], "ids: found 8, expected numbers of polyhedra that are in the world"),
        ([1.0], "ids: found float64, expected permanent numbers of polyhedra, which are integers"),
        ("all", "ids: found .*, expected permanent numbers of polyhedra"),
    ],
)
def test_bad_numbers(ids: Any, message: str) -> None:
    world = crowd()
    world.remove_polyhedra([0])
    world.remove_polyhedra([])
    before = bits(world)
    with pytest.raises(InputError, match=message):
        world.remove_polyhedra(ids)
    assert bits(world) == before


@pytest.mark.filterwarnings("ignore:dt. 0.0001 s")  # nothing touches
def test_sinks_take_bodies_by_their_centres_of_mass() -> None:
    """Looked at after every 50th step, and booked as spheres are."""
    world, alike = World(gravity=[0, 0, 0], dt=1e-4), World(gravity=[0, 0, 0], dt=1e-4)
    for some in (world, alike):
        some.add_polyhedra(CUBE, [[0.1, 0, 0], [0.0101, 1, 0], [1, 0, 0]], material=ROCK, velocities=[-2, 0, 0])
        some.add_polyhedra(L, [[-0.01, 2, 0]], material=ROCK)
        some.add_spheres([[0.0099, 3, 0], [3, 3, 3]], 0.01, ROCK, [-2, 0, 0])
    sink = world.add_sink([-0.5, -9, -9], [0.0, 9, 9])
    masses = [*world.polyhedra.masses, *world.spheres.masses]
    assert L.centroid[0] > 0.01  # in the world where x is above 0, although its frame is not
    world.step(49)
    assert (len(world.polyhedra), sink.count) == (4, 0)
    world.step(1)
    assert (world.polyhedra.ids.tolist(), sink.spheres, sink.polyhedra, sink.count) == ([0, 1, 2, 3], 1, 0, 1)
    world.step(50)
    assert (world.polyhedra.ids.tolist(), sink.spheres, sink.polyhedra, sink.count) == ([0, 2, 3], 1, 1, 2)
    assert sink.mass == pytest.approx(masses[1] + masses[4])
    assert "1 sphere, 1 polyhedron" in repr(sink)
    energy = world.energy()
    assert energy.total == pytest.approx(2 * (masses[0] + masses[2] + masses[5]))
    alike.remove([0])
    alike.remove_polyhedra([1])
    alike.step(100)
    assert alike.energy() == energy
    world.step(450)
    assert (world.polyhedra.ids.tolist(), sink.polyhedra) == ([2, 3], 2)


SCENE = """
kind = "polyhedra"
[run]
until = 0.2
[output]
frames = 0.01
series = 0.01
checkpoint = 0.011
formats = ["vtp", "xyz"]
chains = true
[materials.rock]
density = 2500
stiffness = 1e4
restitution = 0.5
friction = 0.5
[[polyhedra]]
material = "rock"
block = { lower = [-0.01, -0.01, -0.01], upper = [0.01, 0.01, 0.01] }
resolution = 0.01
positions = [[0, 0, 0.05], [0.1, 0, 0.1], [0, 0, 0.075]]
[[sinks]]
name = "below"
lower = [-1, -1, -1]
upper = [1, 1, -0.01]
"""
BALLS = """
[[spheres]]
material = "rock"
radii = 0.01
centres = [[0, 0.1, 0.05], [0, 0.1, 2]]
"""


@pytest.mark.parametrize(("spheres", "left"), [(False, 2), (False, 0), (True, 1)])
def test_runs_whose_bodies_go(tmp_path: Path, spheres: bool, left: int) -> None:
    """The same files wherever the run was stopped; files that show what is left, and at last nothing."""

    def stop(world: World) -> None:
        if world.time > (0.17, 0.143, 0.125)[left]:
            assert len(world.polyhedra) == left
            raise Killed

    scene = read_scene(write(tmp_path, SCENE + (BALLS if spheres else "")))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    impinge.run_scene(scene, whole, threads=1)
    with pytest.raises(Killed):
        impinge.run_scene(scene, parts, threads=2, tell=stop)
    impinge.run_scene(scene, parts, threads=1, resume=True)
    assert contents(parts) == contents(whole)
    facts = [json.loads((folder / "summary.json").read_text()) for folder in (whole, parts)]
    assert facts[0]["dt"] == facts[1]["dt"]
    assert "of the shortest contact (0.00" in facts[0]["dt"]  # of what there was, not of nothing
    assert facts[0]["polyhedra"] == 0
    table = rows(whole / "series.csv")
    assert [table[k]["polyhedra"] for k in (0, -1)] == [3, 0]
    assert [table[-1][f"below {name}"] for name in ("polyhedra", "spheres")] == [3, int(spheres)]
    assert table[-1]["below mass [kg]"] == pytest.approx(
        3 * 0.02 * 0.02 * 0.02 * 2500 + spheres * 4e-6 / 3 * np.pi * 2500
    )
    recording = Recording(whole)
    assert len(recording) == 21
    numbers = [frame.bodies.data["id"].tolist() for frame in recording]
    assert [ids for k, ids in enumerate(numbers) if k == 0 or ids != numbers[k - 1]] == [[0, 1, 2], [1, 2], [1], []]
    last = read_polydata(whole / "frames" / "polyhedra_000020.vtp")
    assert len(last["Points"]["Points"]) == 0
    shown = Shown.of(recording).bodies
    assert shown is not None
    assert shown.numbers == [0, 1, 2]
    sizes = np.array([np.linalg.norm(poses[:, :3, :3], axis=(1, 2)) for poses in shown.poses]) > 0.1
    assert sizes.tolist() == [[number in ids for number in range(3)] for ids in numbers]
    assert len({tuple(poses[0, :3, 3]) for poses in shown.poses}) == sum(0 in ids for ids in numbers)
