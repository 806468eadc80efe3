"""Numbers over time: they read back exactly, and a run that is resumed writes the same file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.errors import InputError
from impinge.output import Series
from tests.output.disks import full_after

COLUMNS = ["time [s]", "energy [J]", "contacts"]


@given(rows=st.lists(st.tuples(st.floats(), st.floats(), st.integers())))
def test_numbers_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]]) -> None:
    path = tmp_path_factory.mktemp("series") / "a.csv"
    with Series(path, COLUMNS) as series:
        for number, row in enumerate(rows):
            assert series.rows == number
            series.append(row)
    with path.open(newline="") as file:
        head, *found = csv.reader(file)
    assert head == COLUMNS
    # repr tells -0.0 from 0.0, and nan equals itself.
    assert [(repr(float(a)), repr(float(b)), int(c)) for a, b, c in found] == [
        (repr(a), repr(b), c) for a, b, c in rows
    ]


def test_numpy_numbers(tmp_path: Path) -> None:
    with Series(tmp_path / "a.csv", COLUMNS) as series:
        series.append(np.array([0.1, 2.0, 3.0]))
        series.append([np.float32(0.1), np.array(1e300), np.uint64(2**64 - 1)])
    text = (tmp_path / "a.csv").read_text()
    assert text == f"time [s],energy [J],contacts\n0.1,2.0,3.0\n{float(np.float32(0.1))!r},1e+300,{2**64 - 1}\n"


def test_every_row_is_in_the_file_at_once(tmp_path: Path) -> None:
    with Series(tmp_path / "a.csv", ["x"]) as series:
        assert (tmp_path / "a.csv").read_text() == "x\n"
        series.append([1])
        assert (tmp_path / "a.csv").read_text() == "x\n1\n"


@pytest.mark.parametrize("kept", [0, 1, 5, 8])
@pytest.mark.parametrize("tail", [b"", b"0.8,0.64", b"0.8,0.64,8\n0.9,0", b"\0\xff"])
def test_a_resumed_file_is_the_same(tmp_path: Path, kept: int, tail: bytes) -> None:
    rows = [(number / 10, (number / 10) ** 2, number) for number in range(10)]
    for path, count in ((tmp_path / "whole.csv", 10), (tmp_path / "cut.csv", 8)):
        with Series(path, COLUMNS) as series:
            for row in rows[:count]:
                series.append(row)
    with (tmp_path / "cut.csv").open("ab") as file:
        file.write(tail)
    with Series.resume(tmp_path / "cut.csv", COLUMNS, kept) as series:
        assert series.rows == kept
        for row in rows[kept:]:
            series.append(row)
        assert series.rows == 10
    assert (tmp_path / "cut.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("text", "rows", "message"),
    [
        ("time [s],energy [J]\n", 0, "found the columns 'time .*, expected 'time"),
        ("", 0, "found the columns ''"),
        ("time [s],energy [J],contacts", 0, "found the columns"),
        ("time [s],energy [J],contacts\n1,2,3\n", 2, "found 1 rows, expected at least 2"),
        ("time [s],energy [J],contacts\n1,2,3\n4,5,6", 2, "found 1 rows, expected at least 2"),
    ],
)
def test_files_that_cannot_be_resumed(tmp_path: Path, text: str, rows: int, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        Series.resume(tmp_path / "a.csv", COLUMNS, rows)
    assert (tmp_path / "a.csv").read_text() == text


def test_bad_use(tmp_path: Path) -> None:
    for columns in ([], "time", ["a,b"], ['"'], ["a\n"], [""], [1]):
        with pytest.raises(InputError, match="columns: found"):
            Series(tmp_path / "a.csv", columns)
    assert not (tmp_path / "a.csv").exists()
    with Series(tmp_path / "a.csv", ["x", "y"]) as series:
        for values in ([1], [1, 2, 3], ["1", 2], [None, 1], [True, 1], [1j, 1], [[1], 1]):
            with pytest.raises(InputError, match="values: found"):
                series.append(values)
    assert (tmp_path / "a.csv").read_text() == "x,y\n"
    with pytest.raises(InputError, match="rows: found -1"):
        Series.resume(tmp_path / "a.csv", ["x", "y"], -1)
    with pytest.raises(FileNotFoundError):
        Series.resume(tmp_path / "b.csv", ["x", "y"], 0)


def test_full_disk(tmp_path: Path) -> None:
    with Series(tmp_path / "a.csv", ["x"]) as series:
        series.append([0.5])
        with full_after(8), pytest.raises(OSError):
            series.append([0.5])
        rows = series.rows
    assert (tmp_path / "a.csv").read_bytes() == b"x\n0.5\n0."
    with Series.resume(tmp_path / "a.csv", ["x"], rows) as series:
        series.append([1.5])
    assert (tmp_path / "a.csv").read_bytes() == b"x\n0.5\n1.5\n"
