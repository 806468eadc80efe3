"""Every program of examples/, in a small version: it runs to its assertions, and draws."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def small_foam(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FACES", 5000), ("POINTS", 20_000), ("PIXELS", 60)):
        monkeypatch.setattr(program, name, value)
    program.main()


def small_cloth(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program.main(nodes=24)


SMALL: dict[str, tuple[Callable[..., None], str]] = {
    "ccd_cloth": (small_cloth, "Is the step up to there free? True. The whole step? False."),
    "inside_demo": (small_foam, "0 of 300 differ"),
}


@pytest.fixture
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One of them, imported."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(FOLDER)
    yield import_module(request.param)
    del sys.modules[request.param]


def test_all_are_known() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(SMALL)


@pytest.mark.parametrize("program", SMALL, indirect=True)
def test_programs(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run, said = SMALL[program.__name__]
    run(program, monkeypatch)
    assert (tmp_path / program.OUT).stat().st_size > 5_000
    assert said in capsys.readouterr().out
    assert "assert " in Path(program.__file__).read_text(encoding="utf-8")
