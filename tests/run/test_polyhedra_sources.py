"""Rigid bodies that appear over time, and spheres that appear among them: where, when, the same bits, in scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impinge
from impinge import Material, Motion, PolyhedraRain, Rain, Solid, World, shapes
from impinge.errors import InputError, MeshError, RunWarning
from impinge.output.vtk import read_polydata
from impinge.run.scene import read_scene

from ..command import invoke, refusal
from .runs import rows
from .scenes import write

ROCK = Material(2500, stiffness=2e4, restitution=0.3, friction=0.5)
SOFT = Material(2500, stiffness=50, restitution=0.3)  # for steps of 0.1 ms
U = shapes.prism([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]).transformed(scale=0.01)
RING = shapes.torus(0.015, 0.005, 16, 8)
LOW, HIGH = [-0.05, -0.05, 0.1], [0.05, 0.05, 0.2]


def solids(world: World) -> list[Any]:
    """All bodies, where they are."""
    bodies = world.polyhedra
    known = [Solid(mesh) for mesh in bodies.meshes]
    return [known[s].at(r, x) for s, r, x in zip(bodies.shapes, bodies.rotations, bodies.positions, strict=True)]


def flowing(threads: int = 1) -> World:
    """Two shapes and spheres that appear in the same box, above a floor with a sink."""
    world = World(threads=threads)
    world.add_plane([0, 0, 0], [0, 0, 1])
    world.add_source(PolyhedraRain(LOW, HIGH, [U, RING], 150.0, velocity=[0, 0, -2], seed=1), SOFT)
    world.add_source(Rain(LOW, HIGH, 0.006, 300.0, seed=2), SOFT)
    world.add_sink([-1, -1, -1], [1, 1, 0.02])
    return world


def bits(world: World) -> list[bytes]:
    bodies, spheres = world.polyhedra, world.spheres
    parts = bodies.ids, bodies.positions, bodies.rotations, bodies.velocities, spheres.ids, spheres.centres
    return [part.tobytes() for part in parts]


def test_bodies_come_at_their_rate_where_there_is_room() -> None:
    """In a still world all stay where they have appeared: nothing overlaps, and all are in the box."""
    world = World(gravity=[0, 0, 0], dt=1e-4, threads=1)
    world.add_polyhedra(U, [[-0.03, -0.03, 0.12]], material=SOFT)
    world.add_spheres([[0.03, 0.03, 0.15]], 0.02, SOFT)
    rain = PolyhedraRain(LOW, HIGH, [U, RING], 400.0, seed=1, count=8)
    world.add_source(rain, SOFT)
    world.add_source(Rain(LOW, HIGH, 0.006, 400.0, seed=2, count=8), SOFT)
    for _ in range(10):
        world.step(50)
        due = min(int(world.time * 400 + 1e-6), 8)
        assert rain.inserted == due == len(world.polyhedra) - 1 == len(world.spheres) - 1
    assert rain.is_empty
    assert [source.inserted for source in world.sources] == [8, 8]
    assert world.polyhedra.shapes.tolist() == [0, 0, 1, 0, 1, 0, 1, 0, 1]
    placed, spheres = solids(world), world.spheres
    assert not len(impinge.collisions(placed).pairs)
    for body in placed:
        assert (body.distance(spheres.centres) > spheres.radii).all()
        assert (body.bounds[0] >= np.array(LOW) - 1e-15).all()
        assert (body.bounds[1] <= np.array(HIGH) + 1e-15).all()


def test_a_full_box_waits_and_catches_up() -> None:
    world = World(gravity=[0, 0, 0], dt=1e-4, threads=1)
    first = world.add_polyhedra(shapes.box(0.096), [[0, 0, 0.15]], material=SOFT)
    rain = PolyhedraRain(LOW, HIGH, RING, 100.0, count=3)
    drops = Rain(LOW, HIGH, 0.006, 100.0, count=3)
    world.add_source(rain, SOFT)
    world.add_source(drops, SOFT)
    world.step(500)
    assert rain.inserted == drops.inserted == 0
    world.remove_polyhedra(first)
    world.step(50)
    assert rain.inserted == drops.inserted == 3
    assert world.polyhedra.ids.tolist() == [1, 2, 3]


def test_planes_and_obstacles_are_kept_clear_of() -> None:
    """A wall through the box, a plate that moves into it, a closed block in it, and a shell all around."""
    world = World(gravity=[0, 0, 0], dt=1e-4, threads=1)
    world.add_plane([0, 0, 0], [1, 0, 0])
    plate = shapes.box((0.2, 0.2, 0.001))
    world.add_obstacle(plate, SOFT, Motion(velocity=[0, 0, 1e-3]), name="plate")
    block = shapes.box(0.04).transformed(translation=[0.03, 0.03, 0.05])
    world.add_obstacle(block, SOFT)
    world.add_obstacle(shapes.icosphere(3, 0.3), SOFT)
    world.add_source(PolyhedraRain([-0.1, -0.1, -0.1], [0.1, 0.1, 0.1], RING, 400.0, count=20), SOFT)
    world.add_source(Rain([-0.1, -0.1, -0.1], [0.1, 0.1, 0.1], 0.006, 400.0, count=20), SOFT)
    world.step(1000)
    spheres = world.spheres
    assert len(spheres) == len(world.polyhedra) == 20
    assert (spheres.centres[:, 0] > spheres.radii).all()
    walls = [Solid(plate.transformed(translation=[0, 0, 1e-3 * world.time])), Solid(block)]
    for wall in walls:
        assert (wall.distance(spheres.centres) > spheres.radii).all()
    for body in solids(world):
        assert body.bounds[0][0] > 0
        assert not any(impinge.collide(body, wall).overlap for wall in walls)


def test_the_same_bits_with_threads_and_after_a_file(tmp_path: Path) -> None:
    whole, other, cut = flowing(), flowing(2), flowing()
    for world in (whole, other):
        world.run(until=0.13)
    cut.step(whole.steps - 133)
    cut.save(tmp_path / "world.h5")
    again = World.load(tmp_path / "world.h5", threads=2)
    again.step(133)
    assert len(whole.polyhedra) > 8
    assert whole.sinks[0].polyhedra > 2
    assert bits(whole) == bits(other) == bits(again)
    assert [rain.inserted for rain in again.sources] == [rain.inserted for rain in whole.sources]
    assert len(again.polyhedra.meshes) == 2


def test_the_time_step_knows_what_will_come() -> None:
    later, there = World(threads=1), World(threads=1)
    later.add_source(PolyhedraRain(LOW, HIGH, RING, 10.0), ROCK)
    there.add_polyhedra(RING, [[0, 0, 0]], material=ROCK)
    assert later.dt == there.dt
    assert later.why_dt == there.why_dt


def test_turns_can_be_given() -> None:
    turn = Rotation.from_euler("x", 90, degrees=True)
    world = World(gravity=[0, 0, 0], dt=1e-4, threads=1)
    flat = shapes.box((0.3, 0.01, 0.02)).transformed(translation=[0.1, 0.2, 0.3])  # longer than the box is high
    rain = PolyhedraRain([0, 0, 0], [0.4, 0.1, 0.1], flat, 1e3, rotation=turn, resolution=0.02, count=3)
    world.add_source(rain, SOFT)
    world.step(100)
    assert np.allclose(world.polyhedra.rotations, turn.as_matrix())
    for body in solids(world):
        assert np.allclose(np.ptp(body.bounds, axis=0), [0.3, 0.02, 0.01])
        assert (body.bounds[0] >= -1e-15).all()
    again = PolyhedraRain(**rain.settings)
    again.restore(rain.state())
    assert again.inserted == 3
    assert again.meshes == rain.meshes


def test_what_a_source_lets_come_is_not_looked_at_again() -> None:
    """Bodies that motion has brought deep into each other are no error when something else is added."""
    world = World(gravity=[0, 0, 0], dt=1e-4, threads=1)
    for x, speed in ((-0.1, 1.0), (0.1, -1.0)):
        box = [x - 0.05, -0.05, -0.05], [x + 0.05, 0.05, 0.05]
        velocity = [speed, 0, 0]
        world.add_source(
            PolyhedraRain(*box, shapes.box(0.099), 1e3, rotation=np.eye(3), velocity=velocity, count=1), SOFT
        )
    world.run(until=0.13)
    assert world.body_contacts().depths.max() > 0.02
    world.add_polyhedra(RING, [[0, 0, 1]], material=ROCK)
    world.step()
    assert len(world.polyhedra) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": 0.0}, "rate: found 0.0"),
        ({"lower": (0, 0), "upper": (1, 1)}, "lower: found 2 numbers, expected 3"),
        ({"shapes": []}, "shapes: found none"),
        ({"shapes": shapes.box(0.9)}, "shapes: found a body 1.559 m across, expected at most 1 m, the side"),
        ({"shapes": shapes.box((2, 0.1, 0.1)), "rotation": np.eye(3)}, "shapes: found a body 2 m across.* along x"),
        ({"rotation": 2 * np.eye(3)}, "rotation: "),
        ({"resolution": -1.0}, "resolution: found -1.0"),
        ({"velocity": (0, 0)}, "velocity: found"),
        ({"count": 0.5}, "count: found 0.5"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PolyhedraRain(**{"lower": (0, 0, 0), "upper": (1, 1, 1), "shapes": shapes.box(0.1), "rate": 1.0, **arguments})


def test_bad_shapes_and_worlds() -> None:
    with pytest.raises(MeshError, match=r"shapes\[1\]: .*open"):
        PolyhedraRain((0, 0, 0), (1, 1, 1), [RING, ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])], 1.0)
    rain = PolyhedraRain((0, 0, 0), (1, 1, 1), RING, 1.0)
    with pytest.raises(InputError, match="rain: found a polyhedron in a world of dim 2"):
        World(dim=2).add_source(rain, ROCK)
    with pytest.raises(InputError, match="rain: found a polyhedron in a world with periodic sides"):
        World(box=[1, 1, 1], periodic=True).add_source(rain, ROCK)
    with pytest.raises(InputError, match=r"rain: found 3, expected an impinge.Rain or impinge.PolyhedraRain"):
        World().add_source(3, ROCK)  # type: ignore[arg-type]


SCENE = """
[run]
until = 0.06
[output]
frames = 0.01
series = 0.01
checkpoint = 0.02
[materials.rock]
density = 2500
stiffness = 2e4
restitution = 0.3
[[planes]]
point = [0, 0, 0]
normal = [0, 0, 1]
[[sources]]
material = "rock"
torus = { radius = 1.5, tube = 0.5, segments = 16, rings = 8 }
scale = 0.01
lower = [-0.05, -0.05, 0.05]
upper = [0.05, 0.05, 0.1]
rate = 100
count = 5
velocity = [0, 0, -1]
random_turns = false
rotate = { axis = [1, 0, 0], angle = 90 }
[[sinks]]
lower = [-1, -1, -1]
upper = [1, 1, 0.03]
"""


def test_scenes_have_them(tmp_path: Path) -> None:
    """Nothing is there at first; columns and files are there from the start, and runs go on as if not interrupted."""
    scene = write(tmp_path, SCENE)
    assert "1 source until 0.06 s" in invoke("run", scene, "--out", tmp_path / "whole").output
    found = rows(tmp_path / "whole" / "series.csv")
    assert found[0]["polyhedra"] == 0
    assert found[-1]["polyhedra"] + found[-1]["sink 1 polyhedra"] == 5
    assert not (tmp_path / "whole" / "spheres.pvd").exists()
    frames = sorted((tmp_path / "whole" / "frames").glob("polyhedra_*.vtp"))
    counts = [len(np.unique(read_polydata(path)["CellData"]["id"])) for path in frames]
    assert counts[0] == 0
    assert counts == [row["polyhedra"] for row in found]
    write(tmp_path, SCENE.replace("until = 0.06", "until = 0.03"))
    invoke("run", scene, "--out", tmp_path / "cut")
    write(tmp_path, SCENE)
    invoke("run", scene, "--out", tmp_path / "cut", "--resume")
    assert rows(tmp_path / "cut" / "series.csv") == found
    assert [path.read_bytes() for path in sorted((tmp_path / "cut" / "frames").glob("polyhedra_*.vtp"))] == [
        path.read_bytes() for path in frames
    ]
    invoke("picture", tmp_path / "whole", "--time", "0")
    invoke("report", tmp_path / "whole")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scale = 0.01", "radii = 0.01", "found radii and torus, expected one of"),
        ("torus = {", "prism = {", "sources[0].prism"),
        ("random_turns = false\n", "", "rotate: found .* only with random_turns = false"),
        ("upper = [0.05, 0.05, 0.1]", "upper = [0.05, 0.05, 0.06]", "a body 0.04 m across"),
    ],
)
def test_bad_scenes(tmp_path: Path, old: str, new: str, message: str) -> None:
    scene = write(tmp_path, SCENE.replace(old, new))
    with pytest.raises(InputError, match=message.replace("[0]", r"\[0\]")):
        read_scene(scene).build()
    assert "sources" in refusal(invoke("run", scene, "--out", tmp_path / "out"))


def test_a_source_is_of_one_world() -> None:
    """Else two worlds would share what they let appear."""
    for rain in (PolyhedraRain(LOW, HIGH, RING, 100.0), Rain(LOW, HIGH, 0.006, 100.0)):
        World(threads=1).add_source(rain, ROCK)
        for world in (World(threads=1), World(threads=1)):
            with pytest.raises(InputError, match="rain: found one that a world has already"):
                world.add_source(rain, ROCK)
        world.add_source(type(rain)(**rain.settings), ROCK)
        assert repr(world.sources[0]).endswith("100 per second: 0 so far>")


def test_bodies_that_will_come_may_be_too_soft() -> None:
    world = World(threads=1)
    world.add_source(PolyhedraRain(LOW, HIGH, RING, 100.0), Material(2500, stiffness=0.01))
    with pytest.warns(RunWarning, match="polyhedra so soft that the weight of one pushes it in"):
        world.step()
