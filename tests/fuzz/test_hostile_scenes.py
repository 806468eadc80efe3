"""Scenes that ask for too much, or for files that are not theirs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from impinge.errors import InputError, RunWarning
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene

from .hostile import refused

SCENE = """
[run]
until = 0.001
[materials.a]
density = 1000
stiffness = 1e6
[[spheres]]
material = "a"
centres = [[0, 0, 0]]
radii = 0.1
"""
CABLE = '\n[[bodies]]\nkind = "cable"\nradius = 0.01\nstretch = 1\nmass_per_length = 1\n'
LATTICE = "lattice = { lower = [0, 0, 0], upper = [1, 1, 1] }\nradii = 1e-4"
SCENES = {
    "very many spheres": SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", LATTICE),
    "more than fit into numbers": SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", LATTICE.replace("-4", "-300")),
    "a share of very small spheres": SCENE.replace(
        "centres = [[0, 0, 0]]\nradii = 0.1",
        "random = { lower = [0, 0, 0], upper = [1, 1, 1], fraction = 0.2 }\nradii = 1e-4",
    ),
    "a count": SCENE.replace(
        "centres = [[0, 0, 0]]", "random = { lower = [0, 0, 0], upper = [9, 9, 9], count = 1000000000 }"
    ),
    "a torus": SCENE + "[[obstacles]]\ntorus = { radius = 1, tube = 0.1, segments = 10000, rings = 10000 }\n",
    "a cable": f"[run]\nuntil = 1\n{CABLE}line = {{ start = [0, 0, 0], end = [1, 0, 0], nodes = {10**12} }}\n",
    "a ring": f"[run]\nuntil = 1\n{CABLE}circle = {{ radius = 1, nodes = {10**30} }}\n",
    "a sheet": '[run]\nuntil = 1\n[[bodies]]\nkind = "cloth"\nthickness = 0.1\nstretch = 1\nshear = 1\ndensity = 1\n'
    "sheet = { size = [1, 1], nodes = [1000000, 1000000] }\n",
    "materials": SCENE + "".join(f"[materials.m{k}]\ndensity = 1\nstiffness = 1\n" for k in range(2000)),
    "brackets": SCENE + "x = " + "[" * 100_000,
    "braces": SCENE + "x = " + "{a=" * 100_000,
    "a long key": SCENE + ".".join("a" * 100_000) + " = 1\n",
    "a long number": SCENE + "x = " + "9" * 10_000 + "\n",
    "a key of several lines": SCENE + '"a\\nb\\u001b[2J" = 1\n',
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_that_ask_for_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("impinge.untrusted.memory", lambda: 1 << 30)
    (tmp_path / "a.toml").write_text(SCENES[name])
    refused("scene", tmp_path / "a.toml")


FAST = SCENE + "random_velocity = { largest = LARGEST }\n"


@pytest.mark.parametrize("largest", ["1e301", "1.7e308"])
def test_velocities_beyond_all_numbers(tmp_path: Path, largest: str) -> None:
    (tmp_path / "a.toml").write_text(FAST.replace("LARGEST", largest))
    said = refused("scene", tmp_path / "a.toml")
    assert "a.toml:11: spheres[0].random_velocity.largest: found" in said


@pytest.mark.parametrize(("old", "new", "said"), [
    ("until = 0.001", "until = 5e-324", "run.until: found 5e-324, expected at least 1e-300"),
    ("[materials.a]", "[output]\nframes = 1e-320\n[materials.a]", "output.frames: found 1e-320, inf times until"),
    ("[materials.a]", "[output]\nseries = 1e-30\n[materials.a]", "output.series: found 1e-30, 1e\\+27 times until"),
    ("[materials.a]", "[output]\ncheckpoint = 1e-13\n[materials.a]", "output.checkpoint: found 1e-13, 1e\\+10 times"),
])  # fmt: skip
def test_times_that_cannot_be_counted(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "a.toml").write_text(SCENE.replace(old, new))
    assert re.search(said, refused("scene", tmp_path / "a.toml"))


@pytest.mark.parametrize(("dt", "until"), [("5e-324", "0.01"), ("1e-300", "0.01"), ("1e-4", "1e308")])
def test_steps_that_cannot_be_counted(tmp_path: Path, dt: str, until: str) -> None:
    (tmp_path / "a.toml").write_text(SCENE.replace("until = 0.001", f"until = {until}\n[world]\ndt = {dt}"))
    scene = read_scene(tmp_path / "a.toml")
    with pytest.raises(
        InputError, match=r"a\.toml:3: run\.until: found .* steps of .* s, expected at most 9e\+15 steps"
    ):
        run_scene(scene, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dt", ["1e30", "1e308"])
def test_steps_far_longer_than_the_run(tmp_path: Path, dt: str) -> None:
    more = f"\n[world]\ngravity = [0, 0, 0]\ndt = {dt}\n[output]\nframes = 0.001"
    (tmp_path / "a.toml").write_text(SCENE.replace("until = 0.001", f"until = 0.001{more}"))
    scene = read_scene(tmp_path / "a.toml")
    with (
        pytest.warns(RunWarning),
        pytest.raises(InputError, match=r"a\.toml:6: world\.dt: found .*, expected at most run\.until, 0\.001 s"),
    ):
        run_scene(scene, tmp_path / "out")


def test_velocities_of_minus_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(FAST.replace("LARGEST", "-0.0"))
    world = read_scene(tmp_path / "a.toml").build()
    assert not world.spheres.velocities.any()  # type: ignore[union-attr]


def test_lines_of_a_scene_are_found_in_time_that_grows_as_it(tmp_path: Path) -> None:
    places = "\n".join("  , [0, 0, 0]" for _ in range(5000))  # commas where few expect them
    text = SCENE.replace("centres = [[0, 0, 0]]", f"centres = [[0, 0, 0]\n{places}\n]") + "wrong = 1\n"
    (tmp_path / "a.toml").write_text(text)
    start = time.process_time()
    with pytest.raises(InputError, match=r":5012: spheres\[0\]\.wrong: unknown key"):
        read_scene(tmp_path / "a.toml")
    assert time.process_time() - start < 5


def write_beside(folder: Path) -> None:
    (folder / "spheres.csv").write_text("x,y,z,radius\n0,0,0,1\n")


NAMED = SCENE.replace("centres = [[0, 0, 0]]\nradii = 0.1", 'file = "NAME"')


@pytest.mark.parametrize(
    "name", ["../spheres.csv", "ABSOLUTE", "link.csv", "linked/spheres.csv", "sub/../../spheres.csv"]
)
def test_scenes_name_files_in_their_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    write_beside(tmp_path)
    (folder / "link.csv").symlink_to(tmp_path / "spheres.csv")
    (folder / "linked").symlink_to(tmp_path)
    name = str(tmp_path / "spheres.csv") if name == "ABSOLUTE" else name
    (folder / "a.toml").write_text(NAMED.replace("NAME", name))
    assert "spheres[0].file: " in refused("scene", folder / "a.toml")
    assert "--allow-outside" in refused("scene", folder / "a.toml")
    assert len(read_scene(folder / "a.toml", allow_outside=True).build().spheres) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["spheres.csv", "sub/spheres.csv", "sub/../spheres.csv", "linked.csv"])
def test_files_in_the_folder_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    write_beside(tmp_path)
    write_beside(tmp_path / "sub")
    (tmp_path / "linked.csv").symlink_to(tmp_path / "sub" / "spheres.csv")
    (tmp_path / "a.toml").write_text(NAMED.replace("NAME", name))
    assert len(read_scene(tmp_path / "a.toml").build().spheres) == 1  # type: ignore[union-attr]
