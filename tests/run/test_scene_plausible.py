"""Scenes that say what hardly anybody means: told with the line, and good scenes are told nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from impinge.errors import InputError, RunWarning
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene

from .scenes import SMALL, write
from .softscenes import SOFT_SMALL


def refused_run(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        run_scene(read_scene(write(folder, text)), folder / "out")
    assert not (folder / "out").exists()
    return str(caught.value).removeprefix(f"{folder / 'scene.toml'}:")


def test_a_time_step_longer_than_the_run(tmp_path: Path) -> None:
    said = refused_run(
        tmp_path, SMALL.replace("dim = 2", "dim = 2\ngravity = [0, 0]").replace("until = 0.02", "until = 1e-5")
    )
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
