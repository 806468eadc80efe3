"""Checkpoints of runs are read as worlds, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from impinge import SoftWorld, World
from impinge.errors import InputError
from impinge.output import checkpoint
from impinge.run.saved import RUN

from .runs import run
from .scenes import SMALL
from .softscenes import SOFT_SMALL


def test_worlds_of_runs_go_on_with_the_same_bits(tmp_path: Path) -> None:
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    world = World.load(tmp_path / "out" / "checkpoint.h5", threads=1)
    assert world.time == pytest.approx(0.01, abs=1e-4)
    run(tmp_path, SMALL, resume=True)
    end = World.load(tmp_path / "out" / "checkpoint.h5")
    world.step(end.steps - world.steps)
    np.testing.assert_array_equal(world.spheres.centres, end.spheres.centres)
    assert world.time == end.time


def test_soft_worlds_of_runs_go_on_with_the_same_bits(tmp_path: Path) -> None:
    run(tmp_path, SOFT_SMALL.replace("until = 0.05", "until = 0.03"))
    world = SoftWorld.load(tmp_path / "out" / "checkpoint.h5")
    run(tmp_path, SOFT_SMALL, resume=True)
    end = SoftWorld.load(tmp_path / "out" / "checkpoint.h5")
    world.step(end.steps - world.steps)
    np.testing.assert_array_equal(world.positions, end.positions)


def test_runs_of_the_other_kind(tmp_path: Path) -> None:
    run(tmp_path, SMALL)
    with pytest.raises(
        InputError, match=r"checkpoint.h5: found a run of spheres and polyhedra, .* impinge.World.load$"
    ):
        SoftWorld.load(tmp_path / "out" / "checkpoint.h5")
    run(tmp_path, SOFT_SMALL, overwrite=True)
    with pytest.raises(InputError, match=r"checkpoint.h5: found a run of cables and cloth, .* impinge.SoftWorld.load$"):
        World.load(tmp_path / "out" / "checkpoint.h5")


def test_files_that_are_neither(tmp_path: Path) -> None:
    (tmp_path / "a.h5").write_bytes(b"something")
    with pytest.raises(InputError, match=r"a.h5: found something else or a damaged file"):
        World.load(tmp_path / "a.h5")
    with pytest.raises(InputError, match=r"which does not exist"):
        World.load(tmp_path / "b.h5")
    checkpoint.save(tmp_path / "a.h5", {"world": 3}, *RUN)
    with pytest.raises(InputError, match=r"a.h5: found a damaged checkpoint"):
        World.load(tmp_path / "a.h5")
    checkpoint.save(tmp_path / "a.h5", {"other": 3}, *RUN)
    with pytest.raises(InputError, match=r"a.h5: found a damaged checkpoint"):
        SoftWorld.load(tmp_path / "a.h5")
    checkpoint.save(tmp_path / "a.h5", {}, "other", 1)
    with pytest.raises(InputError, match=r"a.h5: found a checkpoint of kind 'other', expected 'world'"):
        World.load(tmp_path / "a.h5")


def test_runs_of_an_older_state(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "a.h5", {"world": {}}, RUN[0], RUN[1] - 1)
    with pytest.raises(InputError, match=r"a.h5: found version 1, of an older impinge, expected 2"):
        World.load(tmp_path / "a.h5")
