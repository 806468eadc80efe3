"""The pages say what the code does: their examples run, and print what stands beside them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2]
PRINTED = re.compile(r"^ *print\(.*\)\s+# (.*)$", re.MULTILINE)


def examples(page: str, title: str = "") -> str:
    """All code of a page, or of a section."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    section = text.partition(f"\n{title}\n")[2].partition("\n## ")[0] if title else text
    code = "".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    assert code, f"{page}: no examples"
    return code


PAGES = [
    ("docs/bodies.md", ""),
    ("docs/ccd.md", ""),
    ("docs/qp.md", ""),
    ("docs/soft.md", ""),
    ("README.md", "And when do things first touch?"),  # and what follows it, up to the next title
]


@pytest.mark.parametrize(("page", "title"), PAGES)
def test_examples_print_what_stands_beside_them(page, title, tmp_path, monkeypatch, capsys):
    code = examples(page, title)
    if "draw_" in code:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    wanted = PRINTED.findall(code)
    assert len(wanted) == code.count("print(") > 0
    exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out.splitlines() == wanted


def test_the_cloth_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(FOLDER / "examples")
    import ccd_cloth

    try:
        ccd_cloth.main(nodes=24)
    finally:
        del sys.modules["ccd_cloth"]
    assert (tmp_path / "out" / "ccd-cloth.png").stat().st_size > 10_000
    assert "Is the step up to there free? True. The whole step? False." in capsys.readouterr().out
