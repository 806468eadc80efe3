"""Extended XYZ, read back by hand and by impinge's own reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from impinge.broad.files import read_spheres
from impinge.errors import InputError
from impinge.output import write_xyz, xyz

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def read(path: Path) -> tuple[dict[str, str], dict[str, list[list[str]]]]:
    """Fields of the comment, and words of every property."""
    count, comment, *lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert len(lines) == int(count)
    fields = {key: quoted or plain for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|(\S+))', comment)}
    described = fields["Properties"].split(":")
    names, kinds, widths = described[0::3], described[1::3], [int(width) for width in described[2::3]]
    assert set(kinds) <= {"R", "I"}
    rows = [line.split(" ") for line in lines]
    assert all(len(row) == sum(widths) for row in rows)
    ends = np.cumsum([0, *widths])
    return fields, {name: [row[ends[k] : ends[k + 1]] for row in rows] for k, name in enumerate(names)}


def test_frame(tmp_path: Path) -> None:
    path = tmp_path / "frame_000012.xyz"
    write_xyz(
        path, [[0.1, 2, 3], [4, 5, 1e-300]], [0.5, 1 / 3],
        {"velocity": [[1.0, 0, -0.0], [np.nan, np.inf, 2]], "id": [7, 3], "asleep": np.array([True, False])},
        time=0.1 + 0.2, box=[[-1, -1, -1], [5, 6, 7]], periodic=[True, False, True],
    )  # fmt: skip
    assert path.read_text() == (
        "2\n"
        'Lattice="6.0 0.0 0.0 0.0 7.0 0.0 0.0 0.0 8.0" Origin="-1.0 -1.0 -1.0" pbc="T F T" '
        "Properties=id:I:1:pos:R:3:radius:R:1:velo:R:3:asleep:I:1 Time=0.30000000000000004\n"
        "7 0.1 2.0 3.0 0.5 1.0 0.0 -0.0 1\n"
        "3 4.0 5.0 1e-300 0.3333333333333333 nan inf 2.0 0\n"
    )


@given(rows=hnp.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(7)), elements=FINITE))
def test_numbers_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, rows: NDArray[np.float64]) -> None:
    path = tmp_path_factory.mktemp("xyz") / "a.xyz"
    centres, radii, velocity = rows[:, :3], np.abs(rows[:, 3]), rows[:, 4:]
    write_xyz(path, centres, radii, {"velocity": velocity}, time=1.5)
    fields, words = read(path)
    assert "Lattice" not in fields
    assert float(fields["Time"]) == 1.5
    assert [int(word[0]) for word in words["id"]] == list(range(len(rows)))
    found = np.array(words["velo"], np.float64).reshape(-1, 3)
    assert found.tobytes() == velocity.tobytes()
    again = read_spheres(path)
    assert again[0].tobytes() == centres.tobytes()
    assert again[1].tobytes() == radii.tobytes()


@pytest.mark.parametrize("count", [6, 7, 8, 21, 50])
def test_more_rows_than_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(xyz, "_CHUNK", 7)
    centres = np.random.default_rng(0).random((count, 3))
    write_xyz(tmp_path / "a.xyz", centres, 0.1, {}, 0.0)
    np.testing.assert_array_equal(read_spheres(tmp_path / "a.xyz")[0], centres)
    assert read(tmp_path / "a.xyz")[1]["id"] == [[str(number)] for number in range(count)]


def test_discs(tmp_path: Path) -> None:
    write_xyz(tmp_path / "a.xyz", [[1, 2]], 0.5, {"velocity": [[3.0, 4.0]]}, 0.0, box=[4, 2])
    fields, words = read(tmp_path / "a.xyz")
    assert words["pos"] == [["1.0", "2.0", "0.0"]]
    assert words["velo"] == [["3.0", "4.0", "0.0"]]
    assert fields["Lattice"] == "4.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 2.0"
    assert fields["Origin"] == "0.0 0.0 -1.0"
    assert fields["pbc"] == "F F F"


def test_large_integers(tmp_path: Path) -> None:
    write_xyz(tmp_path / "a.xyz", [[0, 0, 0]], 1.0, {"id": np.array([2**64 - 1], np.uint64), "n": [-(2**63)]}, 0.0)
    words = read(tmp_path / "a.xyz")[1]
    assert (words["id"], words["n"]) == ([[str(2**64 - 1)]], [[str(-(2**63))]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arrays": {"a b": [1]}}, "found the name 'a b', expected letters"),
        ({"arrays": {"a:b": [1]}}, "found the name 'a:b', expected letters"),
        ({"arrays": {"pos": [1]}}, "found 'pos', which is written anyway"),
        ({"arrays": {"velo": [1], "velocity": [1]}}, "found the name 'velocity', expected .* once each"),
        ({"arrays": {"id": [1.0]}}, "id: found float64"),
        ({"arrays": {"v": [1, 2]}}, "v: found int64"),
        ({"time": np.nan}, "time: found nan"),
        ({"periodic": True}, "box: found None"),
        ({"box": [1, 1]}, r"box: found \[1, 1\]"),
        ({"centres": [[0, 0, np.inf]]}, "centres: row 0 is not finite"),
    ],
)
def test_bad_input(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"centres": [[0, 0, 0]], "radii": 1.0, "arrays": {}, "time": 0.0}
    with pytest.raises(InputError, match=message):
        write_xyz(tmp_path / "a.xyz", **{**usual, **options})
    assert list(tmp_path.iterdir()) == []
