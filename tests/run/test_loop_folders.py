"""Folders of runs: what is refused, replaced or gone on with."""

from __future__ import annotations

import os

import pytest

from impinge.errors import InputError, RunWarning
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene

from .runs import command, rows, run, stop_at, wait_for
from .scenes import FULL, SMALL, contents, write


def test_folders_are_not_overwritten(tmp_path):
    run(tmp_path, SMALL)
    with pytest.raises(InputError, match="is not empty; --resume goes on with the run in it, --overwrite starts anew"):
        run(tmp_path, SMALL)
    (tmp_path / "out" / "frames" / "spheres_000099.vtp").write_text("old")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"), overwrite=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert len(list((tmp_path / "out" / "frames").glob("spheres_*"))) == 3
    assert len(rows(tmp_path / "out" / "series.csv")) == 11


def test_folders_of_others(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="holds no run"):
        run(tmp_path, SMALL, resume=True)
    (tmp_path / "file").write_text("")
    scene = read_scene(tmp_path / "scene.toml")
    with pytest.raises(InputError, match="is a file, expected a folder"):
        run_scene(scene, tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot be made, as .*file is a file"):
        run_scene(scene, tmp_path / "file" / "out")


def test_a_folder_that_is_not_writable(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(InputError, match="cannot be written"):
        run(tmp_path, SMALL)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="folders cannot be locked there")
def test_two_runs_at_once(tmp_path):
    scene = read_scene(write(tmp_path, FULL.replace("until = 0.06", "until = 1000")))
    first = command(tmp_path)
    try:
        wait_for(first, tmp_path / "out" / "scene.toml")
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(InputError, match=r"out: another run is writing into it, expected another folder"):
                run_scene(scene, tmp_path / "out", **options, tell=stop_at(1))
        second = command(tmp_path, "--resume")
        _, error = second.communicate()
        assert (second.returncode, error.count("\n")) == (2, 1)
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()
    assert run(tmp_path, SMALL, overwrite=True).finished  # who is dead keeps nobody out


def test_two_runs_that_make_the_same_folder(tmp_path):
    """The other one begins and ends after this one has found no folder, and before it makes one."""
    with pytest.raises(InputError, match="is not empty"):
        run(tmp_path, SMALL, tell=lambda world: run(tmp_path, SMALL))
    assert run(tmp_path, SMALL, resume=True).steps_now == 0


@pytest.mark.parametrize("name", ["series.csv", "spheres.pvd"])
def test_a_lost_file(tmp_path, name):
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    (tmp_path / "out" / name).unlink()
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=f"{name}: is missing, expected what was written .* anew with --overwrite$"):
        run(tmp_path, SMALL, resume=True)
    assert contents(tmp_path / "out") == before


def test_more_threads_than_cores(tmp_path):
    """A scene may come from a larger machine; who says a number here is told that it is too large."""
    text = SMALL.replace("until = 0.02", "until = 0.01\nthreads = 9999")
    located = r"scene.toml:6: run.threads: found 9999, more than this machine has cores, \d+, which it takes; results"
    with pytest.warns(RunWarning, match=located) as warned:
        assert run(tmp_path, text).finished
    assert len(warned) == 1
    one = contents(tmp_path / "out")
    assert run(tmp_path, text, threads=1, overwrite=True).finished
    assert contents(tmp_path / "out") == one
    with pytest.warns(RunWarning, match=located):
        assert run(tmp_path, text.replace("until = 0.01", "until = 0.02"), resume=True).finished
    scene = read_scene(tmp_path / "scene.toml")
    with pytest.warns(RunWarning, match=located):
        scene.build()
    with pytest.raises(InputError, match=r"^threads: found 9998, expected 1 to"):
        scene.build(threads=9998)


def test_another_scene_cannot_go_on(tmp_path):
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    for old, new, key in [
        ("stiffness = 1e4", "stiffness = 2e4", "materials.glass.stiffness"),
        ("series = 0.001", "series = 0.002", "output.series"),
        ("[0.04, 0.04]]", "[0.04, 0.041]]", "spheres[0].centres[2][1]"),
        ("friction = 0.5\n", "", "materials.glass.friction"),
    ]:
        with pytest.raises(InputError) as caught:
            run(tmp_path, SMALL.replace(old, new), resume=True)
        assert f": {key}: differs from the run in" in str(caught.value)
    with pytest.raises(InputError, match=r"run.until: found 0.005, expected at least 0.01"):
        run(tmp_path, SMALL.replace("until = 0.02", "until = 0.005"), resume=True)
    assert run(tmp_path, "# a comment\n" + SMALL, resume=True).finished


def test_reports_of_an_earlier_end(tmp_path):
    first = SMALL.replace("until = 0.02", "until = 0.01")
    run(tmp_path, first)
    report = tmp_path / "out" / "report.html"
    report.write_text("until 0.01 s")
    run(tmp_path, first, resume=True)  # nothing to do
    assert report.exists()
    run(tmp_path, SMALL, resume=True)
    assert not report.exists()


def test_a_damaged_checkpoint(tmp_path):
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    path = tmp_path / "out" / "checkpoint.h5"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"checkpoint.h5: found a damaged file"):
        run(tmp_path, SMALL, resume=True)
