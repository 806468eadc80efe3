"""Odd names and files on the command line: one line of impinge's own on stderr, and a code that says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge import cli
from impinge.shapes.files import save

ODD = ["", ".", "none", "none.csv", "folder", "folder.csv", "folder.ply", "folder.toml", "pipe.csv", "pipe.ply",
       "pipe.toml", "empty.ply", "empty.toml", "empty.npy", "a" * 5000 + ".csv", "a" * 5000 + ".toml",
       "\u202e\u0007.csv", "\udcff.csv", "-", "--", "~", "http://127.0.0.1:9/a.ply", "none.csv/x.csv", "nul\x00.csv",
       "points.csv/x.csv", "mesh.ply/x.toml"]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for ending in ("csv", "ply", "toml", "npy"):
        (tmp_path / f"empty.{ending}").touch()
        (tmp_path / f"folder.{ending}").mkdir()
        os.mkfifo(tmp_path / f"pipe.{ending}")
    save(impinge.shapes.box((1.0, 1.0, 1.0)), tmp_path / "mesh.ply")
    np.savetxt(tmp_path / "points.csv", np.eye(3), delimiter=",")
    np.savetxt(tmp_path / "spheres.csv", np.eye(4), delimiter=",")
    return tmp_path


def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a wrong command says."""
    monkeypatch.setattr(sys, "argv", ["impinge", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    text = capsys.readouterr().err
    assert ended.value.code == 2, (arguments, text)
    assert text.startswith("impinge: ")
    assert text.count("\n") == 1
    assert text[:-1].isprintable()
    return text


@pytest.mark.parametrize("name", ODD, ids=[ascii(name[:20]) for name in ODD])
def test_odd_files(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    before = sorted(path.name for path in here.iterdir())
    for arguments in (
        ("inside", name, "points.csv"), ("inside", "mesh.ply", name), ("pairs", name), ("touch", name, "mesh.ply"),
        ("touch", "mesh.ply", name), ("run", name), ("run", name, "--resume"),
    ):  # fmt: skip
        said(monkeypatch, capsys, *arguments)
    assert sorted(path.name for path in here.iterdir()) == before


@pytest.mark.parametrize(("arguments", "words"), [
    (("inside", "mesh.ply", "points.csv", "-o", "points.csv"), "is the file of the points"),
    (("inside", "mesh.ply", "points.csv", "-o", "mesh.ply"), "is the file of the mesh"),
    (("inside", "mesh.ply", "points.csv", "-o", "folder.csv"), "is not a regular file"),
    (("inside", "mesh.ply", "points.csv", "-o", "none/x.csv"), "cannot be written"),
    (("inside", "mesh.ply", "points.csv", "-o", "pipe.csv"), "is not a regular file"),
    (("inside", "mesh.ply", "points.csv", "-o", "x" * 400 + ".csv"), ""),
    (("pairs", "spheres.csv", "-o", "spheres.csv"), "spheres.csv"),
    (("pairs", "spheres.csv", "-o", "folder.npy"), ""),
    (("pairs", "spheres.csv", "-o", "pipe.csv"), ""),
    (("pairs", "spheres.csv", "-o", "none/x.npy"), ""),
    (("new", "folder"), "exists already"),
    (("new", "none/x"), ""),
    (("new", "x" * 5000), ""),
    (("new", ""), "expected a name"),
])  # fmt: skip
def test_odd_outputs(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...],
    words: str,
) -> None:  # fmt: skip
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    assert words in said(monkeypatch, capsys, *arguments)
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


def test_names_that_are_no_text(here: Path) -> None:
    """Of bytes that cannot be decoded, as other systems write them."""
    (here / "\udcff.csv").write_bytes((here / "spheres.csv").read_bytes())
    command = [sys.executable, "-m", "impinge", "pairs", "\udcff.csv", "-o", "\udcfe.npy"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (here / "\udcfe.npy").exists()
