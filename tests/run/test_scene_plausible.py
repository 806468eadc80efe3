"""Scenes that say what hardly anybody means: told with the line, and good scenes are told nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge import shapes
from impinge.errors import InputError, RunWarning
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene
from impinge.run.scene.plausible import check_step
from impinge.run.templates import template_text

from .examples import FOLDER
from .scenes import BODIES, SMALL, write
from .softscenes import SOFT_SMALL


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_told_nothing(path: Path) -> None:
    """Warnings are errors in tests."""
    scene = read_scene(path)
    world = scene.build()
    check_step(scene.document, scene.model, world.dt, "")


@pytest.mark.parametrize("name", ["hopper", "drum", "column", "box2d", "rocks", "cable", "cloth"])
def test_templates_are_told_nothing(tmp_path: Path, name: str) -> None:
    scene = read_scene(write(tmp_path, template_text(name)))
    world = scene.build()
    check_step(scene.document, scene.model, world.dt, "")


def refused_run(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        run_scene(read_scene(write(folder, text)), folder / "out")
    assert not (folder / "out").exists()
    return str(caught.value).removeprefix(f"{folder / 'scene.toml'}:")


def test_a_time_step_longer_than_the_run(tmp_path: Path) -> None:
    text = SMALL.replace("dim = 2", "dim = 2\ngravity = [0, 0]").replace("frames = 0.005\n", "")
    said = refused_run(tmp_path, text.replace("until = 0.02", "until = 1e-5"))
    assert said.startswith("2: world.dt: found ")
    assert " of the shortest contact (" in said
    assert "expected at most run.until, 1e-05 s; contacts take as long" in said
    assert said.endswith("in mm: scale = 1e-3")
    said = refused_run(tmp_path, "[world]\ndt = 1\n" + SOFT_SMALL)
    assert said == "2: world.dt: found 1 s, expected at most run.until, 0.05 s"


def test_a_time_step_longer_than_from_frame_to_frame(tmp_path: Path) -> None:
    scene = read_scene(write(tmp_path, "[world]\ndt = 0.04\n" + SOFT_SMALL))
    said = r"scene.toml:7: output.frames: found 0.02 s, less than a time step \(0.04 s\); a frame comes after every"
    with pytest.warns(RunWarning, match=said):
        outcome = run_scene(scene, tmp_path / "out")
    assert outcome.steps == 2


def test_frames_that_never_come(tmp_path: Path) -> None:
    said = told(tmp_path, SMALL.replace("frames = 0.005", "frames = 5"))
    assert said == "7: output.frames: found 5 s, more than run.until, 0.02 s; there will be a frame of the start only"
    assert "5: output.frames: found 2 s," in told(tmp_path, SOFT_SMALL.replace("frames = 0.02", "frames = 2"))
    built(tmp_path, SMALL.replace("frames = 0.005", "frames = 0.02"))


def test_gravity_that_points_upwards(tmp_path: Path) -> None:
    said = told(tmp_path, SMALL.replace("dim = 2", "dim = 2\ngravity = [0, 9.81]"))
    assert said == "4: world.gravity: found [0.0, 9.81], which points upwards; down is -9.81"
    assert "gravity: found [0.0, 0.0, 9.81]" in told(tmp_path, "[world]\ngravity = [0, 0, 9.81]\n" + SOFT_SMALL)
    built(tmp_path, SMALL.replace("dim = 2", "dim = 2\ngravity = [9.81, 1]"))


def test_densities_in_grams(tmp_path: Path) -> None:
    said = told(tmp_path, BODIES.replace("density = 2500", "density = 2.5"))
    found = "found 2.5 kg/m³, less than nearly all that is solid; if it is in g/cm³: density = 2500"
    assert said == f"10: materials.rock.density: {found}"
    built(tmp_path, SMALL.replace("density = 20", "density = 2"))  # of discs, per area
    built(tmp_path, BODIES + "[materials.wall]\ndensity = 1\nstiffness = 1e4\n")  # which nothing is made of


# Lengths in millimetres


def built(folder: Path, text: str) -> Any:
    return read_scene(write(folder, text)).build()


def told(folder: Path, text: str) -> str:
    """The warning as a scene becomes a world, from its line on; the only one."""
    with pytest.warns(RunWarning) as caught:
        built(folder, text)
    assert len(caught) == 1
    return str(caught[0].message).removeprefix(f"{folder / 'scene.toml'}:")


ROCK = """[run]
until = 0.1
[materials.rock]
density = 2500
stiffness = 1e9
[[polyhedra]]
material = "rock"
file = "part.ply"
positions = [[0, 0, 0]]
"""


def test_bodies_drawn_in_millimetres(tmp_path: Path) -> None:
    shapes.save(shapes.box((40.0, 20, 20)), tmp_path / "part.ply")
    hint = "if it was drawn in millimetres: scale = 1e-3"
    assert told(tmp_path, ROCK) == f"8: polyhedra[0].file: found a mesh 40 m wide; {hint}"
    built(tmp_path, ROCK + "scale = 1\n")  # who says so has thought of it
    built(tmp_path, ROCK + "scale = 1e-3\n")
    other = '[[polyhedra]]\nmaterial = "rock"\nsphere = { radius = 0.01 }\npositions = [[0, 0, 90]]\n'
    assert "found a mesh 40 m wide, 2,000 times as wide as all else that moves; " in told(
        tmp_path, ROCK + "scale = 1.0\n" + other
    )


def test_obstacles_drawn_in_millimetres_among_bodies(tmp_path: Path) -> None:
    shapes.save(shapes.box((200.0, 200, 200)), tmp_path / "part.ply")
    text = BODIES.replace("plate = { size = [0.1, 0.1] }", 'file = "part.ply"')
    assert "obstacles[0].file: found a mesh 200 m wide, 870 times" in told(tmp_path, text)


def test_random_bodies_drawn_in_millimetres(tmp_path: Path) -> None:
    shapes.save(shapes.box((40.0, 20, 20)), tmp_path / "part.ply")
    region = "random = { lower = [0, 0, 0], upper = [0.2, 0.2, 0.2], %s }"
    text = ROCK.replace("positions = [[0, 0, 0]]", region)
    with pytest.raises(InputError, match=r"0.2 × 0.2 × 0.2 m, .*: the shape is 20 m at least; if it is in millimetres"):
        read_scene(write(tmp_path, text % "count = 3")).build()
    more = '[[spheres]]\nmaterial = "rock"\nradii = 1\ncentres = [[9, 9, 9]]\n'
    said = told(tmp_path, text % "fraction = 0.3" + more)
    assert said.startswith(
        "9: polyhedra[0].random.fraction: found less than half a body, 1.6e+04 m³, so there are none;"
    )


def test_sources_of_bodies_drawn_in_millimetres(tmp_path: Path) -> None:
    shapes.save(shapes.box((40.0, 20, 20)), tmp_path / "part.ply")
    source = "[[sources]]\nlower = [0, 0, 0]\nupper = [0.2, 0.2, 0.2]\nrate = 10"
    text = ROCK.replace("[[polyhedra]]", source).replace("positions = [[0, 0, 0]]\n", "")
    with pytest.raises(
        InputError, match=r"found a body 48\.99 m across, .*; if it is in millimetres, scale it by 1e-3"
    ):
        read_scene(write(tmp_path, text)).build()


def test_spheres_in_millimetres(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z,radius\n1000,2000,3000,20\n0,0,0,10\n")
    table = '[run]\nuntil = 1\n[materials.m]\ndensity = 2500\nstiffness = 1e4\n[[spheres]]\nmaterial = "m"\n'
    scene = table + 'file = "a.csv"\n'
    assert "radius 10 m), expected stiffer ones; N/m, or young in Pa, or lengths in m, if" in told(tmp_path, scene)
    spheres = built(tmp_path, scene + "scale = 1e-3\n").spheres
    np.testing.assert_allclose(spheres.centres, [[1, 2, 3], [0, 0, 0]])
    np.testing.assert_allclose(spheres.radii, [0.02, 0.01])
    spheres = built(tmp_path, scene + "scale = 1e-3\nradii = 0.05\n").spheres  # which the scene says, in m
    np.testing.assert_allclose(spheres.radii, 0.05)
    with pytest.raises(InputError, match=r"spheres\[0\]\.scale: found 2\.0, expected it only with file"):
        built(tmp_path, table + "scale = 2.0\nradii = 1.0\ncentres = [[0, 0, 0]]\n")
    with pytest.raises(InputError, match=r"spheres\[0\]"):
        built(tmp_path, scene + "scale = 1e308\n")


def test_cloth_and_cables_that_are_too_thick(tmp_path: Path) -> None:
    cloth = template_text("cloth").replace("thickness = 0.008", "thickness = 8")
    said = told(tmp_path, cloth.replace("translate = [0, 0, 0.03]", "translate = [0, 0, 30]"))
    assert said.startswith("24: bodies[0].thickness: found 8 m, which is 183 times as thick as its edges are long")
    assert said.endswith(" m), and slow; if it is in millimetres: thickness = 0.008")
    said = told(tmp_path, SOFT_SMALL.replace("radius = 0.01", "radius = 3"))
    assert ": bodies[0].radius: found 3 m, which is 24 times as thick as its edges are long (0.25 m)" in said
    read_scene(write(tmp_path, SOFT_SMALL.replace("radius = 0.01", "radius = 0.5"))).build()
