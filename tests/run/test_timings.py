"""timings.csv: rows of real time, which go on with a run; they tell of the machine, so nothing depends on them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from .runs import Killed, rows, run, stop_at
from .scenes import FULL, SMALL
from .softscenes import SOFT_SMALL

NAMES = ["time [s]", "steps", "real time [s]", "rebuilds"]


def columns(folder):
    found = rows(folder / "out" / "timings.csv")
    assert list(found[0]) == NAMES
    table = np.array([list(row.values()) for row in found])
    assert (np.diff(table[:, 1]) > 0).all()
    assert (np.diff(table, axis=0) >= 0).all()
    return table


def test_a_row_at_the_start_one_for_each_checkpoint_and_one_at_the_end(tmp_path):
    outcome = run(tmp_path, SMALL.replace("series = 0.001", "series = 0.001\ncheckpoint = 0.004"))
    table = columns(tmp_path)
    assert len(table) >= 6
    np.testing.assert_array_equal(table[0], 0)
    assert table[-1, 1] == outcome.steps
    assert 0 < table[-1, 2] <= outcome.seconds
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert facts["seconds"] == table[-1, 2]
    assert facts["rebuilds"] >= table[-1, 3]  # some lists are made for the last row of series.csv
    assert {"impinge", "python", "numpy", "numba", "system", "processor"} <= set(facts["versions"])


def test_soft_bodies_too(tmp_path):
    run(tmp_path, SOFT_SMALL)
    assert columns(tmp_path)[-1, 3] >= 1


def test_a_run_that_goes_on_goes_on_counting(tmp_path):
    text = FULL.replace("checkpoint = 0.013", "checkpoint = 0.005")
    with pytest.raises(Killed):
        run(tmp_path, text, tell=stop_at(25))
    before = columns(tmp_path)
    with (tmp_path / "out" / "timings.csv").open("a") as file:
        file.write("0.9,99999999,99")  # beyond the checkpoint, and cut short
    run(tmp_path, text, resume=True)
    after = columns(tmp_path)
    kept = len(before) - 1  # what came after the checkpoint is made again
    np.testing.assert_array_equal(after[:kept], before[:kept])
    assert after[-1, 0] == pytest.approx(0.06, abs=1e-4)
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert facts["rebuilds"] >= after[-1, 3] > before[-2, 3]  # of all parts


@pytest.mark.parametrize("damage", [None, b"", b"\xff\xfe", b"time [s],steps\n0,0\n", b"a table\nof mine\n"])
def test_a_lost_or_damaged_file_stops_nothing(tmp_path, damage):
    run(tmp_path, SMALL.replace("until = 0.02", "until = 0.01"))
    path = tmp_path / "out" / "timings.csv"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    assert run(tmp_path, SMALL, resume=True).finished
    table = columns(tmp_path)
    assert table[0, 0] == pytest.approx(0.01, abs=1e-4)
    assert table[0, 2] < table[-1, 2]
