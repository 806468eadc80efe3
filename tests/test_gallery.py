"""The gallery shows every example, with a picture that is there, and says what the tool that writes it would."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .command import invoke

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
made = pytest.mark.skipif("![" not in PAGE, reason="docs/gallery.md shows nothing yet: make gallery")
FILES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".toml", ".py"))


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that makes it."""
    pytest.importorskip("PIL")
    monkeypatch.syspath_prepend(ROOT / "docs" / "extra")
    import gallery

    yield gallery
    del sys.modules["gallery"]


@made
@pytest.mark.parametrize("file", FILES)
def test_every_example_is_there(file: str) -> None:
    assert f"](../examples/{file})" in PAGE
    picture = ROOT / "docs" / "img" / "gallery" / f"{Path(file).stem}.jpg"
    assert f"](img/gallery/{picture.name})" in PAGE
    assert 5_000 < picture.stat().st_size <= 150_000
    assert picture.read_bytes()[:3] == b"\xff\xd8\xff"


@made
def test_nothing_else_is_there(gallery: ModuleType) -> None:
    shown = re.findall(r"\(\.\./examples/([^)]+)\)", PAGE)
    assert sorted(shown) == FILES
    assert {path.stem for path in gallery.PICTURES.glob("*.jpg")} == {Path(file).stem for file in FILES}


@made
def test_page_is_what_the_tool_writes(gallery: ModuleType) -> None:
    known = json.loads(gallery.FACTS.read_text(encoding="utf-8"))
    assert list(known) == gallery.names()
    assert gallery.page(known) == PAGE
    assert all(gallery.description(name) for name in known)


def test_an_example_is_run_and_drawn(gallery: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others stay as they are."""
    pytest.importorskip("matplotlib")
    for name in ("FACTS", "PAGE", "PICTURES", "OUT"):
        monkeypatch.setattr(gallery, name, tmp_path / name.lower())
    monkeypatch.setattr(gallery, "EXAMPLES", tmp_path)
    (tmp_path / "fall.toml").write_text(
        "# A disc falls. It takes no\n# time.\n#\n#   impinge run fall.toml\n#\n# All numbers in SI units.\n\n"
        "[world]\ndt = 1e-3\ndim = 2\nbox = [1, 1]\n[run]\nuntil = 0.01\n[output]\npicture = true\n"
        "[materials.stone]\ndensity = 1\nstiffness = 1\n"
        '[[spheres]]\nmaterial = "stone"\nradii = 0.1\ncentres = [[0.5, 0.5]]\n',
        encoding="utf-8",
    )
    (tmp_path / "other.toml").write_text("# Another.\n", encoding="utf-8")
    other = {"kind": "soft", "nodes": 1200, "steps": 30, "time": 0.3, "processor": 4.0}
    gallery.FACTS.write_text(json.dumps({"other": other}), encoding="utf-8")
    monkeypatch.setattr(gallery, "command", lambda name: f"impinge run {name}.toml")
    ran = []

    def start(words: list[str]) -> None:
        monkeypatch.chdir(tmp_path)
        ran.append(words[2:4])
        result = invoke("run", str(tmp_path / "fall.toml"), *words[4:])
        assert result.exit_code == 0, result.output

    monkeypatch.setattr(gallery, "start", start)
    gallery.main(["fall"])
    assert ran == [["run", "examples/fall.toml"]]
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert "### fall\n\nA disc falls.\n\n![fall](img/gallery/fall.jpg)" in page
    assert "1 sphere, 0.01 s in 10 steps" in page
    assert "1,200 nodes, 0.3 s in 30 steps, 4 s of the processor" in page
    assert (gallery.PICTURES / "fall.jpg").stat().st_size < 150_000
    with pytest.raises(SystemExit, match="found nothing, expected some of: fall, other"):
        gallery.main(["nothing"])
