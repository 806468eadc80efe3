"""Spheres from files, and `impinge pairs`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge.broad.files import read_spheres
from impinge.errors import InputError

from ..command import invoke

ROWS = np.array([[0.0, 0, 0, 1], [1.5, 0, 0, 1], [0, 5, 0, 2], [0, 2.5, 0, 0.75]])
PAIRS = [[0, 1], [2, 3]]


def write(folder: Path, kind: str) -> Path:
    """The four spheres in one of the ways that are understood."""
    texts = {
        "named.csv": "x,y,z,radius\n" + "\n".join(",".join(map(str, row)) for row in ROWS.tolist()),
        "other.csv": 'id,"R",X,Y,Z\n' + "\n".join(f"7,{r},{x},{y},{z}" for x, y, z, r in ROWS.tolist()),
        "plain.csv": "\n".join(",".join(map(str, row)) for row in ROWS.tolist()),
        "bom.csv": "\ufeffx,y,z,r\n" + "\n".join(",".join(map(str, row)) for row in ROWS.tolist()),
        "savetxt.csv": "# x,y,z,r\n" + "\n".join(",".join(map(str, row)) for row in ROWS.tolist()),
        "semicolons.csv": "\n# by hand\nx;y;z;r\n\n" + "\n".join(";".join(map(str, row)) for row in ROWS.tolist()),
        "tabs.csv": "\n".join("\t".join(map(str, row)) for row in ROWS.tolist()) + "\n\n",
        "spaces.csv": "# x y z r\n" + "\n".join(" ".join(map(str, row)) for row in ROWS.tolist()),
        "plain.xyz": "4\n\n" + "\n".join("A " + " ".join(map(str, row)) for row in ROWS.tolist()),
        "extended.xyz": '4\nLattice="9 0 0" Properties=species:S:1:radius:R:1:pos:R:3\n'
        + "\n".join(f"A {r} {x} {y} {z}" for x, y, z, r in ROWS.tolist()),
    }
    path = folder / kind
    if kind == "rows.npy":
        np.save(path, ROWS)
    elif kind == "arrays.npz":
        np.savez(path, centres=ROWS[:, :3], radii=ROWS[:, 3])
    else:
        path.write_text(texts[kind], encoding="utf-8")
    return path


KINDS = [
    "rows.npy",
    "arrays.npz",
    "named.csv",
    "other.csv",
    "plain.csv",
    "bom.csv",
    "savetxt.csv",
    "semicolons.csv",
    "tabs.csv",
    "spaces.csv",
    "plain.xyz",
    "extended.xyz",
]


@pytest.mark.parametrize("kind", KINDS)
def test_read(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind)
    centres, radii = read_spheres(path)
    np.testing.assert_array_equal(centres, ROWS[:, :3])
    np.testing.assert_array_equal(radii, ROWS[:, 3])
    centres, radii = read_spheres(path, 0.5)
    np.testing.assert_array_equal(centres, ROWS[:, :3])
    np.testing.assert_array_equal(radii, [0.5] * 4)


def test_two_dimensions(tmp_path: Path) -> None:
    np.save(tmp_path / "flat.npy", ROWS[:, [0, 1, 3]])
    centres, radii = read_spheres(tmp_path / "flat.npy")
    assert centres.shape == (4, 2)
    np.testing.assert_array_equal(radii, ROWS[:, 3])
    assert read_spheres(tmp_path / "flat.npy", 1.0)[0].shape == (4, 3)
    (tmp_path / "flat.csv").write_text("x,y\n1,2\n3,4\n")
    assert read_spheres(tmp_path / "flat.csv", 1.0)[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x,y,z\n1,2,3\n", "has no radii, expected a column for them"),
        ("a.csv", "a,b\n1,2\n", "found columns a, b, expected x, y"),
        ("a.csv", "x,y,r\n1,2,oops\n", "a.csv: line 2: found 'oops', expected a number$"),
        ("a.csv", "x,y,r\n# as measured\n\n1,2,3\n1,2\n", "line 5: found 2 columns, expected 3"),
        ("a.csv", "1,2,3\n1,2,3,4\n", "line 2: found 4 columns, expected 3"),
        ("a.csv", '1,2,3\n1,2,"3"\n', r"cannot be read as .csv \(could not convert"),
        ("a.csv", "1,2\n", r"found numbers of shape \(1, 2\)"),
        ("a.xyz", "2\n\nA 1 2 3 4\n", "found 1 rows after a count of 2"),
        ("a.xyz", "1\n\nA 1 2 3 4\nA 1 2 3 4\n", "found 2 rows after a count of 1"),
        ("a.xyz", "1000000000000\n\nA 1 2 3 4\n", "found 1 rows after a count of"),
        ("a.xyz", "1\n\nA 1 2 3 4 5 6\n", "has no radii"),
        ("a.xyz", "1\nProperties=id:I:1:radius:R:1\n1 2\n", "found the properties id, radius, expected pos"),
        ("a.csv", "", "holds no rows"),
        ("a.csv", "x;y;r\n0,1;0,2;0,3\n", "line 2: found '0,1', expected a number with a decimal point"),
        ("a.csv", "1;0;0,3\n", "line 1: found '0,3', expected a number with a decimal point"),
        ("a.csv", "x,y,r\n１,２,３\n", r"line 2: found '１', expected a number of plain \(ASCII\) signs"),
        ("a.csv", "# by hand\na,b\n1,2\n", "found columns a, b, expected x, y"),
        ("a.npz", "PK\x03\x04", "cannot be read as .npz"),
        ("a.xyz", "many\n\n", "found 'many' in the first line, expected the number of spheres"),
        ("a.xyz", "1\n\n1.5 2 3 4\n", "found 1.5 in the first column, expected name, x, y, z"),
        ("a.xyz", "1\nProperties=pos:R:3:radius:R:1\n1 2\n", "found rows of 2 columns"),
        ("a.txt", "1 2 3", "ending '.txt', expected one of .npy, .npz, .csv, .xyz"),
        ("a.npy", "no array", "cannot be read as .npy"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_spheres(tmp_path / name)


def test_files_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,r\n1,2,3\n", encoding="utf-16")
    with pytest.raises(
        InputError, match=r"a\.csv: found bytes that are no text \(UTF-8\), expected a file saved as that"
    ):
        read_spheres(tmp_path / "a.csv")


def run(*arguments: object) -> tuple[int, str, str]:
    result = invoke("pairs", *arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(write(tmp_path, kind))
    assert code == 0
    assert "2, 1 per sphere" in out
    assert np.load(f"{Path(kind).stem}-pairs.npy").tolist() == PAIRS


def test_csv_and_json(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.npy")
    code, out, _ = run(path, "-o", tmp_path / "p.csv", "--json", "--gap", 0.0, "--method", "cells")
    facts = json.loads(out)
    assert code == 0
    assert (facts["pairs"], facts["spheres"]["count"], facts["method"]) == (2, 4, "cells")
    assert (tmp_path / "p.csv").read_text() == "i,j\n0,1\n2,3\n"
    code, out, _ = run(path, "-o", tmp_path / "p.npy", "--quiet", "--radius", 0.8)
    assert (code, out) == (0, "")
    assert np.load(tmp_path / "p.npy").tolist() == [[0, 1]]


def test_three_columns_without_names(tmp_path: Path) -> None:
    """They may be x, y, z or x, y, radius."""
    path, out = tmp_path / "a.csv", tmp_path / "out.npy"
    path.write_text("0,0,1\n1,0,1\n")
    result = invoke("pairs", path, "-o", out)
    said = "found three columns without names, taken for x, y and radius; if they are x, y, z: --radius; else a first"
    assert result.stderr == f"impinge: warning: {path}: {said} line x,y,radius\n"
    assert " discs in the plane" in result.stdout.replace("\n        ", "")
    assert invoke("pairs", path, "-o", out, "--radius", 1, "-q").output == ""
    assert read_spheres(path, dim=2)[0].shape == (2, 2)
    path.write_text("x,y,radius\n0,0,1\n1,0,1\n")
    assert invoke("pairs", path, "-o", out, "-q").output == ""


def test_periodic_box(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.random((300, 3)), rng.uniform(0.01, 0.05, 300)])
    np.save(tmp_path / "s.npy", rows)
    for box, corners in (("1,1,1", [1.0] * 3), ("-1,-1,-1,0,0,0", [[-1.0] * 3, [0.0] * 3])):
        assert run(tmp_path / "s.npy", "-o", tmp_path / "p.npy", "--box", box, "--periodic", "xz")[0] == 0
        wanted = impinge.pairs(rows[:, :3], rows[:, 3], box=corners, periodic=[True, False, True])
        np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--radius", -1], "--radius: found -1.0, expected a finite number of at least 0"),
        (["--box", "1,1"], "--box: found [1.0, 1.0], expected 3 lengths"),
        (["--box", "1,a,1"], "--box: found '1,a,1'"),
        (["--periodic", "xw"], "--periodic: found 'xw', expected letters of xyz"),
        (["--periodic", "x"], "--box: found None"),
        (["-o", "p.txt"], "p.txt: ending '.txt', expected .npy or .csv"),
        (["--gap", -1], "--gap: found -1.0"),
    ],
)
def test_bad_usage(tmp_path: Path, options: list[object], message: str) -> None:
    code, out, err = run(write(tmp_path, "rows.npy"), *options)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


def test_one_radius_for_all_and_upper_case(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", centres=ROWS[:, :3], radii=1.0)
    assert run(tmp_path / "s.npz", "-o", tmp_path / "P.NPY")[0] == 0
    assert np.load(tmp_path / "P.NPY").tolist() == [[0, 1]]
    code, _, err = run(tmp_path / "s.npz", "-o", tmp_path / "no" / "p.npy")
    assert code == 2
    assert "no such folder" in err


def test_bad_radii_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("0,0,0,1\n1,1,1,-1\n")
    code, _, err = run(tmp_path / "s.csv")
    assert code == 2
    assert "s.csv: radii: row 1 is -1.0" in err


def test_missing_and_own_file(tmp_path: Path) -> None:
    assert run(tmp_path / "nothing.npy")[0] == 2
    path = write(tmp_path, "rows.npy")
    code, _, err = run(path, "-o", path)
    assert code == 2
    assert "is the file of the spheres" in err


def test_discs_in_extended_xyz(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("1\nProperties=id:I:1:pos:R:2:radius:R:1\n7 1 2 0.5\n")
    centres, radii = read_spheres(tmp_path / "a.xyz")
    assert centres.tolist() == [[1, 2]]
    assert radii.tolist() == [0.5]
