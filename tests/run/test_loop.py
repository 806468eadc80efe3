"""Runs of scenes: what is written and when, and that nobody can tell afterwards that a run was stopped."""

from __future__ import annotations

import math
import signal

import numpy as np
import pytest

from impinge.errors import InputError, RunError
from impinge.output import Collection, checkpoint
from impinge.run.loop import run_scene
from impinge.run.mixing import mixing_index
from impinge.run.saved import RUN
from impinge.run.scene import read_scene
from impinge.run.schedule import Schedule, reached

from ..output.disks import full_after
from .runs import Killed, command, kill_and_go_on, rows, run, stop_at, wait_for
from .scenes import FULL, SMALL, contents, write


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of FULL, run without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    outcome = run_scene(read_scene(write(folder, FULL)), folder / "out")
    assert outcome.finished
    return contents(folder / "out")


# What is written


def test_files(tmp_path, whole):
    frames = {f"frames/{kind}_{i:06d}.vtp" for kind in ("spheres", "chains", "obstacles") for i in range(4)}
    frames |= {f"frames/frame_{i:06d}.xyz" for i in range(4)}
    lists = {"spheres.pvd", "chains.pvd", "obstacles.pvd"}
    assert set(whole) == frames | lists | {"scene.toml", "series.csv", "checkpoint.h5"}
    assert whole["scene.toml"].decode() == FULL


def test_frames_come_at_the_first_step_at_or_after_a_multiple(tmp_path):
    run(tmp_path, SMALL)
    dt = read_scene(tmp_path / "scene.toml").build().dt
    entries = Collection.read(tmp_path / "out" / "spheres.pvd").entries
    assert [file for _, _, file in entries] == [f"frames/spheres_{i:06d}.vtp" for i in range(5)]
    for number, (moment, _, _) in enumerate(entries):
        assert 0 <= moment - number * 0.005 < dt
    assert not (tmp_path / "out" / "obstacles.pvd").exists()


def test_given_steps_that_divide_the_interval(tmp_path):
    run(tmp_path, SMALL.replace("dim = 2", "dim = 2\ndt = 1e-5"))
    times = [row["time [s]"] for row in rows(tmp_path / "out" / "series.csv")]
    np.testing.assert_allclose(times, np.arange(21) * 1e-3, rtol=1e-12, atol=1e-15)


def test_intervals_shorter_than_a_step(tmp_path):
    run(tmp_path, SMALL.replace("series = 0.001", "series = 1e-9").replace("until = 0.02", "until = 0.005"))
    scene = read_scene(tmp_path / "scene.toml")
    assert len(rows(tmp_path / "out" / "series.csv")) == math.ceil(0.005 / scene.build().dt - 1e-9) + 1


def test_series(tmp_path):
    run(tmp_path, FULL)
    found = rows(tmp_path / "out" / "series.csv")
    world = read_scene(tmp_path / "scene.toml").build()
    first, last = found[0], found[-1]
    energy = world.energy()
    assert first["gravitational [J]"] == energy.gravitational
    assert first["kinetic [J]"] == energy.kinetic
    assert first["spheres"] == 37
    assert first["low spheres"] == (world.spheres.centres[:, 2] < 0.1).sum()
    assert first["mixing"] < 1e-9  # one kind above the other
    assert last["mixing"] > 0.1
    assert last["corner spheres"] > 0
    assert last["corner mass [kg]"] > 0
    assert last["dissipated [J]"] > 0
    assert {"paddle force z [N]", "paddle torque z [N m]", "wall 1 force x [N]"} <= set(first)
    assert any(row["paddle force z [N]"] < 0 for row in found)


def test_obstacles_that_do_not_move_are_written_once(tmp_path):
    still = FULL.replace("rotation = { axis = [0, 0, 1], rate = 20, centre = [0.1, 0.1, 0.048] }", "")
    run(tmp_path, still.replace("until = 0.06", "until = 0.03"))
    assert [path.name for path in (tmp_path / "out" / "frames").glob("obst*")] == ["obstacles_000000.vtp"]
    assert len(Collection.read(tmp_path / "out" / "obstacles.pvd").entries) == 1


def test_nothing_but_a_checkpoint_without_outputs(tmp_path):
    text = SMALL.replace("frames = 0.005\nseries = 0.001\n", "")
    assert run(tmp_path, text).finished
    assert set(contents(tmp_path / "out")) == {"scene.toml", "checkpoint.h5"}


@pytest.mark.parametrize("dim", [2, 3])
def test_worlds_that_are_empty_at_first(tmp_path, dim):
    pytest.importorskip("matplotlib")
    low, high = [0.0] * dim, [0.1] * dim
    text = f"""
[world]
dim = {dim}
[run]
until = 0.05
[output]
frames = 0.025
formats = ["vtp", "xyz"]
chains = true
series = 0.025
picture = true
[materials.m]
density = 100
stiffness = 1e4
[[sources]]
material = "m"
lower = {low}
upper = {high}
radii = 0.01
rate = 50
[[boxes]]
lower = {low}
upper = {high}
"""
    run(tmp_path, text)
    assert [row["spheres"] for row in rows(tmp_path / "out" / "series.csv")] == [0, 1, 2]
    assert len(contents(tmp_path / "out")) == 3 * 3 + 2 + 4


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    run(tmp_path, SMALL.replace("frames = 0.005", "picture = true"))
    assert (tmp_path / "out" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_picture_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"scene.toml:7: output.picture: needs matplotlib"):
        run(tmp_path, SMALL.replace("frames = 0.005", "picture = true"))
    assert not (tmp_path / "out").exists()


def test_threads_change_nothing(tmp_path, whole):
    run(tmp_path, FULL, threads=1)
    assert contents(tmp_path / "out") == whole


def test_looking_changes_nothing(tmp_path, whole):
    run(tmp_path, FULL, tell=lambda world: (world.contacts(), world.energy(), world.spheres, world.pushes()))
    assert contents(tmp_path / "out") == whole


# Stop and go on


@pytest.mark.parametrize("call", [1, 2, 3, 7, 15, 31])
def test_go_on_after_a_break(tmp_path, whole, call):
    path = write(tmp_path, FULL)
    with pytest.raises(Killed):
        run_scene(read_scene(path), tmp_path / "out", tell=stop_at(call))
    outcome = run_scene(read_scene(path), tmp_path / "out", resume=True)
    assert outcome.finished
    assert contents(tmp_path / "out") == whole


def test_go_on_many_times(tmp_path, whole):
    path = write(tmp_path, FULL.replace("checkpoint = 0.013", "checkpoint = 0.003"))
    for _ in range(4):
        with pytest.raises(Killed):
            run_scene(read_scene(path), tmp_path / "out", resume=True, tell=stop_at(6))
    run_scene(read_scene(path), tmp_path / "out", resume=True)
    found = contents(tmp_path / "out")
    for name in set(whole) - {"scene.toml", "checkpoint.h5"}:
        assert found[name] == whole[name], name
    both = [checkpoint.load(tmp_path / "out" / "checkpoint.h5", *RUN)]
    (tmp_path / "other.h5").write_bytes(whole["checkpoint.h5"])
    both.append(checkpoint.load(tmp_path / "other.h5", *RUN))
    for state in both:
        del state["scene"]
    np.testing.assert_equal(*both)


def test_kill(tmp_path, whole):
    write(tmp_path, FULL)
    kill_and_go_on(tmp_path, whole, seed=1, kills=3)


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(20))
def test_kill_often(tmp_path, whole, seed):
    write(tmp_path, FULL)
    kill_and_go_on(tmp_path, whole, seed, kills=1 + seed % 4)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(tmp_path, number, code):
    text = FULL.replace("until = 0.06", "until = 1000")
    write(tmp_path, text)
    process = command(tmp_path)
    wait_for(process, tmp_path / "out" / "frames" / "spheres_000001.vtp")
    process.send_signal(number)
    _, error = process.communicate()
    assert process.returncode == code
    assert error.count("\n") == 1
    assert "go on with: impinge run scene.toml --out out --resume" in error
    saved = checkpoint.load(tmp_path / "out" / "checkpoint.h5", *RUN)
    assert saved["frame_files"] >= 2
    assert saved["rows"] >= 4
    assert f"{saved['world']['state']['steps']}" != "0"
    assert list((tmp_path / "out").rglob("*.part")) == []


def test_go_on_with_a_later_end(tmp_path, whole):
    run(tmp_path, FULL.replace("until = 0.06", "until = 0.031"))
    assert run(tmp_path, FULL, resume=True).finished
    assert contents(tmp_path / "out") == whole


def test_a_finished_run_is_left_alone(tmp_path):
    run(tmp_path, SMALL)
    before = contents(tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    outcome = run(tmp_path, SMALL, resume=True)
    assert outcome.finished
    assert outcome.steps_now == 0
    assert contents(tmp_path / "out") == before
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == times


def test_the_smallest_sphere_may_leave_before_a_stop(tmp_path):
    """The time step stays what it was, although no sphere in the world asks for it any more."""
    text = """
[run]
until = 0.1
[output]
series = 0.001
checkpoint = 0.01
[materials.m]
density = 1000
stiffness = 100
restitution = 0.9
[[spheres]]
material = "m"
centres = [[0, 0, 0.05], [0.5, 0, 0.05]]
radii = [0.003, 0.01]
[[planes]]
point = [0, 0, 0]
normal = [0, 0, 1]
[[sinks]]
lower = [-0.1, -0.1, 0.01]
upper = [0.1, 0.1, 0.04]
"""
    run(tmp_path, text)
    whole = contents(tmp_path / "out")
    assert rows(tmp_path / "out" / "series.csv")[-1]["spheres"] == 1
    with pytest.raises(Killed):
        run(tmp_path, text, overwrite=True, tell=lambda world: stop_at(1)(world) if world.time > 0.08 else None)
    run(tmp_path, text, resume=True)
    assert contents(tmp_path / "out") == whole


# Things go wrong


def test_a_full_disk(tmp_path, whole):
    big = max(len(data) for name, data in whole.items() if name.startswith("frames/"))
    with full_after(big - 1), pytest.raises(RunError, match="File too large"):
        run(tmp_path, FULL)
    run(tmp_path, FULL, resume=True)
    assert contents(tmp_path / "out") == whole


def test_a_disk_that_fills_up_later(tmp_path):
    text = SMALL.replace("series = 0.001", "series = 0.00005\ncheckpoint = 0.004")
    run(tmp_path, text)
    whole = contents(tmp_path / "out")
    limit = len(whole["series.csv"]) - 1000
    assert limit > max(len(data) for name, data in whole.items() if name != "series.csv")
    with full_after(limit), pytest.raises(RunError, match=r"the checkpoint of t = 0.01\d* s in .*out is whole"):
        run(tmp_path, text, overwrite=True)
    run(tmp_path, text, resume=True)
    assert contents(tmp_path / "out") == whole


def test_what_cannot_be_written_has_its_own_name(tmp_path):
    """Not that of the temporary file that was to become it."""
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    (tmp_path / "out" / ".summary.json.part").mkdir()
    with pytest.raises(RunError, match=r"out/summary\.json: .*; the checkpoint of"):
        run(tmp_path, SMALL, resume=True)


def test_spheres_that_get_lost(tmp_path):
    text = SMALL.replace("dim = 2", "dim = 2\ndt = 0.01").replace("stiffness = 1e4", "stiffness = 1e200")
    text = text.replace("frames = 0.005\nseries = 0.001\n", "checkpoint = 0.001\n").replace("until = 0.02", "until = 1")
    with pytest.warns(UserWarning, match="steps for the shortest contact"), pytest.raises(RunError) as caught:
        run(tmp_path, text)
    assert "the checkpoint of t = " in str(caught.value)
    assert (tmp_path / "out" / "checkpoint.h5").exists()


# Parts


def test_schedules_depend_on_the_time_alone():
    rng = np.random.default_rng(1)
    for _ in range(50):
        dt, interval = rng.uniform(0.001, 0.3, 2).tolist()
        times = np.arange(500) * dt
        schedule, found = Schedule(interval), []
        for moment in times.tolist():
            if schedule.is_due(moment):
                found.append(moment)
                schedule.tick(moment)
        multiples = np.arange(0, times[-1], interval)
        wanted = np.unique(times[np.searchsorted(times * (1 + 1e-12), multiples)])
        np.testing.assert_array_equal(found, wanted)
        late = Schedule(interval)
        late.tick(found[len(found) // 2])
        assert late.is_due(found[len(found) // 2]) is False
        assert late.next <= found[len(found) // 2] + interval


def test_schedules_that_never_come():
    schedule = Schedule(None)
    schedule.tick(3.0)
    assert not schedule.is_due(1e300)
    assert reached(0.1 + 0.2, 0.3)
    assert reached(0.3, 0.1 + 0.2)
    assert not reached(0.2999999, 0.3)


def test_mixing_index():
    rng = np.random.default_rng(2)
    centres = rng.random((20_000, 3))
    volumes = rng.choice([1.0, 8.0], 20_000)
    apart = centres[:, 0] < 0.5
    assert mixing_index(centres, volumes, apart, 0.125) == pytest.approx(0, abs=1e-12)
    at_random = rng.random(20_000) < 0.3
    assert mixing_index(centres, volumes, at_random, 0.125) == pytest.approx(1, abs=0.02)
    assert mixing_index(centres, volumes, volumes == 1.0, 0.125) == pytest.approx(1, abs=0.02)
    half = at_random & apart
    assert 0.1 < mixing_index(centres, volumes, half, 0.125) < 0.95
    # Lacey's formula for equal spheres
    cells = np.floor(centres / 0.125).astype(int) @ [64, 8, 1]
    counts = np.bincount(cells)
    shares = np.bincount(cells, half) / counts
    p = half.mean()
    variance = (counts * (shares - p) ** 2).sum() / counts.sum()
    wanted = (p * (1 - p) - variance) / (p * (1 - p) - p * (1 - p) * len(counts) / counts.sum())
    assert mixing_index(centres, np.ones(20_000), half, 0.125) == pytest.approx(wanted, rel=0.01)


def test_mixing_index_of_nothing():
    assert math.isnan(mixing_index(np.empty((0, 3)), np.empty(0), np.empty(0, bool), 1.0))
    one = np.zeros((1, 3))
    assert math.isnan(mixing_index(one, np.ones(1), np.ones(1, bool), 1.0))
