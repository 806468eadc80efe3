"""Scenes with polyhedra: places, what random ones keep clear of, errors with their lines, tables, going on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge import Solid, shapes
from impinge.errors import ImpingeError
from impinge.run.scene import read_scene
from impinge.run.templates import template_text

from .runs import Killed, rows, stop_at
from .scenes import BODIES, RING, contents, write


def built(folder: Path, text: str = BODIES) -> impinge.World:
    return read_scene(write(folder, text)).build()


def test_a_scene_makes_its_world(tmp_path: Path) -> None:
    """Bodies are where they should be, and nothing is in anything else."""
    world = built(tmp_path)
    bodies, spheres = world.polyhedra, world.spheres
    assert (len(bodies), len(spheres)) == (14, 40)
    np.testing.assert_allclose(bodies.positions[:2], [[0.1, 0.1, 0.1], [0.05, 0.05, 0.05]], atol=1e-15)
    np.testing.assert_allclose(bodies.rotations[0], [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(bodies.rotations[1], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(bodies.masses[2:], 4e-6 * 2500)
    np.testing.assert_allclose(bodies.spins[2:], np.tile([0, 5, 0], (12, 1)), atol=1e-12)
    assert (bodies.velocities[:2] == 0).all()
    off = bodies.velocities[2:] - [0, 0, -1]
    assert 0.3 < np.abs(off).max() <= 0.5
    placed = [Solid(bodies.mesh(k)) for k in range(14)]
    assert not len(impinge.collisions(placed).pairs)
    for solid in placed:
        assert (solid.distance(spheres.centres) > 0.01).all()
    shelf = Solid(shapes.box((0.1, 0.1, 1e-9)).transformed(translation=[0.1, 0.1, 0.15]))
    for solid in placed[2:]:
        x = solid.mesh.vertices
        assert not impinge.collide(solid, shelf)
        assert ((x - [0.1, 0.1, 0.002]) @ np.array([0.1, 0, 1]) / np.hypot(0.1, 1) > 0.002).all()
        assert ((x > 0.002) & (x < 0.198)).all()


def test_random_places_without_turns(tmp_path: Path) -> None:
    world = built(tmp_path, BODIES.replace("resolution = 0.008", "random_turns = false"))
    np.testing.assert_allclose(world.polyhedra.rotations[2:], np.tile(np.eye(3), (12, 1, 1)), atol=1e-12)


def test_meshes_from_files(tmp_path: Path) -> None:
    shapes.save(shapes.torus(0.03, 0.01, 16, 8), tmp_path / "ring.stl")
    world = built(tmp_path, BODIES.replace(RING, 'file = "ring.stl"'))
    assert len(world.polyhedra) == 14


BAD = [
    (RING, 'file = "none.stl"  # here', "polyhedra[0].file: "),
    (RING, "cylinder = { radius = 0.1, length = 0.1, ends = false }  # here", "polyhedra[0].cylinder: found .*closed"),
    (RING, "torus = { radius = 0.01, tube = 0.03 }  # here", "polyhedra[0].torus.tube: found 0.03, expected less than"),
    (RING, "cone = { radius = 0.01 }  # here", "polyhedra[0].cone: unknown key"),
    ("rotations = [[1, 0, 0, 1], [2, 0, 0, 0]]", "rotations = [[1, 0, 0, 1]]  # here",
     "polyhedra[0].rotations: found 1, expected 2, one for each position"),
    ("rotations = [[1, 0, 0, 1], [2, 0, 0, 0]]", "rotations = [[1, 0, 0, 1], [0, 0, 0, 0]]  # here",
     "polyhedra[0].rotations: row 1 is .*, expected a length above 0"),
    ("positions = [[0.1, 0.1, 0.1], [0.05, 0.05, 0.05]]", "positions = [[0.1, 0.1], [0.1, 0.1]]  # here",
     "polyhedra[0].positions: found .*, expected 3"),
    ("positions = [[0.1, 0.1, 0.1], [0.05, 0.05, 0.05]]", "positions = [[0.1, 0.1, 0.1], [0.1, 0.1, 0.11]]  # here",
     r"polyhedra[0].positions: polyhedron 0 and polyhedron 1 are .* deep in each other, "),
    ("positions = [[0.1, 0.1, 0.1], [0.05, 0.05, 0.05]]", "positions = [[0.1, 0.1, 0.1], [0.1, 0.1, 0.0]]  # here",
     "polyhedra[0].positions: polyhedron 1 and wall .* are .* deep in each other"),
    ("resolution = 0.008", "rotate = { axis = [0, 0, 1], angle = 3 }  # here",
     "polyhedra[1].rotate: found .*, expected it only with positions, or with random_turns = false"),
    ("count = 12, gap = 0.002 }", "count = 12, gap = 0.06 }  # here", "polyhedra[1].random.*: found 12 bodies"),
    ("count = 12, gap = 0.002 }", "count = 12, fraction = 0.1 }  # here", "polyhedra[1].random.fraction, count: found"),
    ('name = "L"\nmaterial = "rock"', 'material = "sand"  # here', "polyhedra[1].material: found 'sand'"),
    ('name = "L"', 'name = "ring"  # here', "polyhedra[1].name: found 'ring' twice"),
    ("[run]", "[world]\nbox = [1, 1, 1]\nperiodic = true\n[run]", "polyhedra[0]: found polyhedra in a world with"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_bad_scenes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert BODIES.count(old) == 1
    text = BODIES.replace(old, new)
    with pytest.raises(ImpingeError) as error:
        built(tmp_path, text)
    said = str(error.value).replace(f"{tmp_path}/", "")
    marked = [number for number, line in enumerate(text.split("\n"), 1) if "# here" in line]
    assert said.startswith(f"scene.toml:{marked[0]}: " if marked else "scene.toml:")
    wanted = message.replace("[0]", r"\[0\]").replace("[1]", r"\[1\]")
    assert re.match(wanted, re.sub(r"^scene.toml:\d+: ", "", said)), said


def test_a_run_that_goes_on_has_the_same_bits(tmp_path: Path) -> None:
    scene = read_scene(write(tmp_path, BODIES))
    impinge.run_scene(scene, tmp_path / "whole", threads=1)
    with pytest.raises(Killed):
        impinge.run_scene(scene, tmp_path / "parts", threads=2, tell=stop_at(3))
    impinge.run_scene(scene, tmp_path / "parts", threads=2, resume=True)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    last = rows(tmp_path / "whole" / "series.csv")[-1]
    assert last["polyhedra"] == 14
    assert last["contact points"] > 0
    facts = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert (facts["spheres"], facts["polyhedra"]) == (40, 14)


def test_scenes_of_spheres_have_no_such_columns(tmp_path: Path) -> None:
    text = re.sub(r"\[\[polyhedra\]\].*(?=\[\[obstacles)", "", BODIES, flags=re.DOTALL)
    scene = read_scene(
        write(tmp_path, text.replace("until = 0.02", "until = 0.001").replace("frames = 0.01", "frames = 0.001"))
    )
    impinge.run_scene(scene, tmp_path / "out")
    assert "polyhedra" not in (tmp_path / "out" / "series.csv").read_text()
    assert "polyhedra" not in (tmp_path / "out" / "summary.json").read_text()


def test_the_template(tmp_path: Path) -> None:
    world = built(tmp_path, template_text("rocks"))
    assert (len(world.polyhedra), len(world.spheres)) == (10, 20)
