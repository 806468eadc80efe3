"""Runs of cables and cloth: what is written, and that nobody can tell afterwards that a run was stopped."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from impinge.errors import InfeasibleStep, InputError
from impinge.output import Collection, SoftFiles, checkpoint, figure
from impinge.run.loop import run_scene
from impinge.run.saved import RUN
from impinge.run.scene import read_scene
from impinge.run.soft import SoftWorld

from ..command import invoke
from .runs import Killed, command, kill_and_go_on, rows, run, stop_at, wait_for
from .scenes import SMALL, contents, write
from .softscenes import SOFT_FULL, SOFT_SMALL


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of SOFT_FULL, run without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    assert run(folder, SOFT_FULL).finished
    return contents(folder / "out")


# What is written


def test_files(whole: dict[str, bytes]) -> None:
    frames = {f"frames/{kind}_{i:06d}.vtp" for kind in ("soft", "obstacles") for i in range(4)}
    frames |= {f"frames/frame_{i:06d}.{ending}" for ending in ("obj", "ply") for i in range(4)}
    lists = {"soft.pvd", "obstacles.pvd"}
    assert set(whole) == frames | lists | {"scene.toml", "series.csv", "checkpoint.h5", "animation.glb"}
    assert b"o scarf\n" in whole["frames/frame_000000.obj"]
    assert b"o body_2\n" in whole["frames/frame_000000.obj"]


def test_frames_and_rows_are_those_of_the_world(tmp_path: Path) -> None:
    run(tmp_path, SOFT_FULL)
    world, files = read_scene(tmp_path / "scene.toml").build(), SoftFiles(tmp_path / "out", written=4, time=1.0)
    assert isinstance(world, SoftWorld)
    found = rows(tmp_path / "out" / "series.csv")
    assert len(files) == 4
    assert [row["steps"] for row in found] == [0, 2, 4, 6, 8, 10, 12]
    for row in found:
        world.step(int(row["steps"]) - world.steps)
        assert row["time [s]"] == world.time
        assert {name: row[f"{name} [J]"] for name in world.energy()} == world.energy()
        assert row["largest strain"] >= world.frame().edge_data["strain"].max()
        assert row["scaled steps"] == world.scaled_steps
        assert row["unsettled steps"] == world.unsettled_steps == 0
        if world.steps % 4 == 0:
            frame = files[world.steps // 4]
            assert frame.time == world.time
            np.testing.assert_array_equal(frame.positions, world.positions)
            np.testing.assert_array_equal(frame.point_data["contact_force"], world.frame().point_data["contact_force"])
    assert max(row["contacts"] for row in found) > 5
    assert found[0]["largest strain"] == found[0]["smallest strain"] == 0
    assert found[-1]["smallest strain"] < 0 < found[-1]["largest strain"]


def test_obstacles_that_do_not_move_are_written_once(tmp_path: Path) -> None:
    run(tmp_path, SOFT_SMALL + "[[obstacles]]\nplate = { size = [1, 1] }\ntranslate = [0, 0, -1]\n")
    assert [path.name for path in (tmp_path / "out" / "frames").glob("obst*")] == ["obstacles_000000.vtp"]
    assert len(Collection.read(tmp_path / "out" / "soft.pvd").entries) == 3


def test_nothing_but_a_checkpoint_without_outputs(tmp_path: Path) -> None:
    assert run(tmp_path, SOFT_SMALL.replace("frames = 0.02\nseries = 0.01\n", "")).finished
    assert set(contents(tmp_path / "out")) == {"scene.toml", "checkpoint.h5"}


def test_an_animation_needs_no_other_format(tmp_path: Path) -> None:
    run(tmp_path, SOFT_SMALL.replace("frames = 0.02", 'frames = 0.02\nformats = ["glb"]'))
    assert (tmp_path / "out" / "animation.glb").exists()


def test_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figure, "SIZE", (400, 300))
    run(tmp_path, SOFT_SMALL.replace("frames = 0.02", "picture = true"))
    assert (tmp_path / "out" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_threads_change_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    run(tmp_path, SOFT_FULL, threads=1)
    assert contents(tmp_path / "out") == whole


def test_looking_changes_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    run(tmp_path, SOFT_FULL, tell=lambda world: (world.energy(), world.frame(), world.positions))
    assert contents(tmp_path / "out") == whole


# Stop and go on


@pytest.mark.parametrize("call", [1, 2, 3, 4, 7, 8, 11, 13])
def test_go_on_after_a_break(tmp_path: Path, whole: dict[str, bytes], call: int) -> None:
    path = write(tmp_path, SOFT_FULL)
    with pytest.raises(Killed):
        run_scene(read_scene(path), tmp_path / "out", tell=stop_at(call))
    assert run_scene(read_scene(path), tmp_path / "out", resume=True).finished
    assert contents(tmp_path / "out") == whole


def test_go_on_many_times(tmp_path: Path, whole: dict[str, bytes]) -> None:
    path = write(tmp_path, SOFT_FULL.replace("checkpoint = 0.03", "checkpoint = 0.01"))
    for _ in range(5):
        with pytest.raises(Killed):
            run_scene(read_scene(path), tmp_path / "out", resume=True, tell=stop_at(4))
    run_scene(read_scene(path), tmp_path / "out", resume=True)
    found = contents(tmp_path / "out")
    for name in set(whole) - {"scene.toml", "checkpoint.h5"}:
        assert found[name] == whole[name], name


def test_kill(tmp_path: Path, whole: dict[str, bytes]) -> None:
    write(tmp_path, SOFT_FULL)
    kill_and_go_on(tmp_path, whole, seed=1, kills=2)


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(20))
def test_kill_often(tmp_path: Path, whole: dict[str, bytes], seed: int) -> None:
    write(tmp_path, SOFT_FULL)
    kill_and_go_on(tmp_path, whole, seed, kills=1 + seed % 4)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(tmp_path: Path, number: int, code: int) -> None:
    write(tmp_path, SOFT_FULL.replace("until = 0.12", "until = 1000").replace('"obj", "ply", "glb"', '"obj"'))
    process = command(tmp_path)
    wait_for(process, tmp_path / "out" / "frames" / "soft_000001.vtp")
    process.send_signal(number)
    _, error = process.communicate()
    assert process.returncode == code
    assert error.count("\n") == 1
    assert "go on with: impinge run scene.toml --out out --resume" in error
    saved = checkpoint.load(tmp_path / "out" / "checkpoint.h5", *RUN)
    assert saved["frame_files"] >= 2
    assert saved["world"]["state"]["steps"] >= 4
    assert list((tmp_path / "out").rglob("*.part")) == []


def test_go_on_with_a_later_end(tmp_path: Path, whole: dict[str, bytes]) -> None:
    run(tmp_path, SOFT_FULL.replace("until = 0.12", "until = 0.05"))
    before = contents(tmp_path / "out")
    assert run(tmp_path, SOFT_FULL, resume=True).finished
    assert contents(tmp_path / "out") == whole
    assert before["animation.glb"] != whole["animation.glb"]


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    run(tmp_path, SOFT_SMALL)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    outcome = run(tmp_path, SOFT_SMALL, resume=True)
    assert outcome.finished
    assert outcome.steps_now == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == times


def test_start_anew(tmp_path: Path) -> None:
    """Also after a run of spheres, of which nothing is left."""
    run(tmp_path, SMALL)
    with pytest.raises(InputError, match=r"kind: differs from the run in"):
        run(tmp_path, SOFT_SMALL, resume=True)
    run(tmp_path, SOFT_FULL, overwrite=True)
    assert "spheres.pvd" not in contents(tmp_path / "out")
    run(tmp_path, SOFT_SMALL, overwrite=True)
    frames = {f"frames/soft_{i:06d}.vtp" for i in range(3)}
    assert set(contents(tmp_path / "out")) == frames | {"soft.pvd", "series.csv", "scene.toml", "checkpoint.h5"}


@pytest.mark.parametrize("name", ["series.csv", "soft.pvd"])
def test_a_lost_file(tmp_path: Path, name: str) -> None:
    run(tmp_path, SOFT_SMALL.replace("until = 0.05", "until = 0.03"))
    (tmp_path / "out" / name).unlink()
    with pytest.raises(InputError, match=f"{name}: is missing, expected what was written .* anew with --overwrite$"):
        run(tmp_path, SOFT_SMALL, resume=True)


def test_another_scene_cannot_go_on(tmp_path: Path) -> None:
    run(tmp_path, SOFT_SMALL.replace("until = 0.05", "until = 0.03"))
    for old, new, key in [
        ("stretch = 100", "stretch = 101", "bodies[0].stretch"),
        ("end = [1, 0, 0]", "end = [1, 0, 1]", "bodies[0].line.end[2]"),
        ("nodes = [0]", "nodes = [0, -1]", "fixed[0].nodes[1]"),
        ("[run]", "[world]\ndt = 0.02\n[run]", "world.dt"),
    ]:
        with pytest.raises(InputError) as caught:
            run(tmp_path, SOFT_SMALL.replace(old, new), resume=True)
        assert f": {key}: differs from the run in" in str(caught.value)


# Things go wrong


def test_a_step_that_cannot_be_taken(tmp_path: Path) -> None:
    """Both ends are driven through a plate; the rows that say so come along."""
    plate = "[[obstacles]]\nplate = { size = [3, 3] }\ntranslate = [0, 0, -0.03]\n"
    text = SOFT_SMALL.replace("nodes = [0]", "velocity = [0, 0, -1]").replace("frames", "checkpoint = 0.01\nframes")
    with pytest.raises(InfeasibleStep, match=r"the checkpoint of t = 0.\d+ s in .*out is whole, --resume") as caught:
        run(tmp_path, text + plate)
    assert "of body 0" in caught.value.rows[0]
    assert "of obstacle 0" in caught.value.rows[0]
    result = invoke("run", str(tmp_path / "scene.toml"), "--out", str(tmp_path / "out"), "--resume", "-q")  # fmt: skip
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "is whole, --resume goes on from it" in result.stderr


# The command


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SOFT_SMALL)
    result = invoke("run", "scene.toml")
    assert (result.exit_code, result.stderr) == (0, "")
    first, *rest = result.stdout.splitlines()
    assert first == "1 body of 5 nodes until 0.05 s, 5 steps; dt = 0.01 s, implicit-euler"
    assert "node-steps per second" in result.stdout
    assert "0 of 5 steps, cut short before a contact" in result.stdout
    assert rest[-1].split() == ["written", "scene-out"]
    facts = json.loads((tmp_path / "scene-out" / "summary.json").read_text())
    assert facts["nodes"] == 5
    assert facts["scaled steps"] == facts["unsettled steps"] == 0


def test_progress_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    write(tmp_path, SOFT_SMALL)
    result = invoke("run", str(tmp_path / "scene.toml"), "--out", str(tmp_path / "out"))
    assert result.exit_code == 0
    for text in ("steps/s", "contacts", "J in motion"):
        assert text in result.stderr
