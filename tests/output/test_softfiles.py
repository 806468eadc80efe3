"""Folders of frames: complete, the same after an interruption, and readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge import shapes
from impinge.errors import InputError
from impinge.output import Collection, SoftFiles, SoftFrame, write_gltf
from tests.output.gltf_rules import Gltf
from tests.output.softscenes import scene

from .vtk_files import assert_same

FORMATS = ("vtp", "obj", "ply", "glb")


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files(tmp_path: Path) -> None:
    files = SoftFiles(tmp_path, FORMATS, ["sheet"])
    for step in range(3):
        files.write(scene(step / 10))
    files.finish()
    frames = [f"frames/{name}" for step in range(3) for name in (
        f"soft_{step:06d}.vtp", f"obstacles_{step:06d}.vtp", f"frame_{step:06d}.obj", f"frame_{step:06d}.ply",
    )]  # fmt: skip
    assert sorted(content(tmp_path)) == sorted([*frames, "soft.pvd", "obstacles.pvd", "animation.glb"])
    assert Collection.read(tmp_path / "soft.pvd").entries == [
        (step / 10, 0, f"frames/soft_{step:06d}.vtp") for step in range(3)
    ]
    assert "o sheet\n" in (tmp_path / "frames" / "frame_000001.obj").read_text()
    assert len(Gltf(tmp_path / "animation.glb").json["meshes"][0]["weights"]) == 2


def test_read_back(tmp_path: Path) -> None:
    files = SoftFiles(tmp_path)
    frames = [scene(step / 10) for step in range(3)]
    for frame in frames:
        files.write(frame)
    assert len(files) == 3
    for found, frame in zip(files, frames, strict=True):
        assert found.time == frame.time
        assert_same(found.positions, frame.positions)
        assert_same(found.point_data["velocity"], frame.point_data["velocity"])
        for mesh, wanted in zip(found.obstacles, frame.obstacles, strict=True):
            assert_same(mesh.vertices, wanted.vertices)
            assert_same(mesh.faces, wanted.faces)
    assert files[-1].time == 0.2
    assert [frame.time for frame in files[1:]] == [0.1, 0.2]
    with pytest.raises(IndexError):
        files[3]
    write_gltf(tmp_path / "a.glb", files)
    write_gltf(tmp_path / "b.glb", frames)
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


@pytest.mark.parametrize("formats", [FORMATS, ("obj",), ("ply", "glb")])
@pytest.mark.parametrize("fixed", [False, True])
def test_an_interrupted_run_leaves_the_same_files(tmp_path: Path, formats: Any, fixed: bool) -> None:
    """Cut after 3 frames, with 5 written: the last two are written again."""
    changes = {"obstacles": [shapes.box(), shapes.icosphere(1)]} if fixed else {}
    frames = [scene(step / 10, **changes) for step in range(7)]
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
    whole = SoftFiles(tmp_path / "whole", formats)
    cut = SoftFiles(tmp_path / "cut", formats)
    for frame in frames:
        whole.write(frame)
    whole.finish()
    for frame in frames[:5]:
        cut.write(frame)
    cut = SoftFiles(tmp_path / "cut", formats, written=3, time=frames[2].time)
    for frame in frames[3:]:
        cut.write(frame)
    cut.finish()
    assert content(tmp_path / "cut") == content(tmp_path / "whole")


def test_obstacles_that_rest_are_written_once(tmp_path: Path) -> None:
    files = SoftFiles(tmp_path)
    places = [0.0, 0.0, 1.0, 1.0]
    for step, place in enumerate(places):
        box = shapes.box(1.0, lower=[place, 0, 0])
        files.write(SoftFrame(float(step), np.zeros((1, 3)), obstacles=[box]))
    assert [time for time, _, _ in Collection.read(tmp_path / "obstacles.pvd").entries] == [0.0, 2.0]
    assert [frame.obstacles[0].vertices[:, 0].min() for frame in files] == places


def test_a_new_run_forgets_the_old(tmp_path: Path) -> None:
    for count in (3, 1):
        files = SoftFiles(tmp_path)
        for step in range(count):
            files.write(scene(step / 10))
        assert len(files) == count
    assert len(Collection.read(tmp_path / "soft.pvd").entries) == 1


def test_nothing_written(tmp_path: Path) -> None:
    files = SoftFiles(tmp_path, FORMATS)
    files.finish()
    assert content(tmp_path) == {}
    with pytest.raises(InputError, match="formats: found 'stl'"):
        SoftFiles(tmp_path, ["stl"])
