"""The pages say what the code does: their blocks run, one after the other, and write what stands beside them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import impinge

from .pages import PAGES, blocks, named, prose
from .running import Reader, matches

LANGUAGES = {"python", "toml", "sh", "text", "csv", "makefile", ""}
WITH_CODE = [page for page in PAGES if any(block.language in ("python", "toml", "sh") for block in blocks(page))]


def write_files(folder: Path) -> None:
    """What pages take to be there: a mesh, points, spheres, a cloth before and after a step."""
    random = np.random.default_rng(1)
    ball = impinge.shapes.icosphere(2)
    impinge.shapes.save(ball, folder / "part.stl")
    impinge.shapes.save(ball, folder / "before.ply")
    impinge.shapes.save(impinge.Mesh(ball.vertices + [0, 0, 0.1], ball.faces), folder / "after.ply")
    points = random.uniform(-1.2, 1.2, (200, 3))
    np.save(folder / "points.npy", points)
    np.savetxt(folder / "points.csv", points, delimiter=",", header="x,y,z", comments="")
    spheres = np.column_stack([random.random((200, 3)), random.uniform(0.01, 0.05, 200)])
    np.savetxt(folder / "spheres.csv", spheres, delimiter=",", header="x,y,z,radius", comments="")


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
@pytest.mark.filterwarnings("ignore::impinge.errors.ImpingeWarning")
def test_blocks_run_and_write_what_is_said(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "".join(block.code for block in blocks(page))
    if any(word in code for word in ("draw_", "picture", "matplotlib", "report")):
        pytest.importorskip("matplotlib")
        pytest.importorskip("k3d")
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: found {block.language!r}, expected one of {LANGUAGES}"
        reader.read(block)
    reader.finish()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_in_sentences_are_right(page: Path) -> None:
    for words in re.findall(r"`impinge ([a-z][^`]*)`", prose(page, code=True)):
        Reader.check(shlex.split(words), whole=False)


def test_there_are_examples() -> None:
    assert sum(len(blocks(page)) for page in WITH_CODE) > 60


@pytest.mark.parametrize(
    ("wanted", "found", "equal"),
    [
        ("a 0.1… b", "a 0.123 b\n", True),
        ("a\n…\nc", "a\nb\nb\nc\n", True),
        ("a", "a\nb\n", False),
        ("a.c", "abc", False),
    ],
)
def test_dots_stand_for_anything(wanted: str, found: str, equal: bool) -> None:
    assert matches(wanted, found) is equal
