"""One page of all experiments: whole in itself, with every verdict, and written whatever fails."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from impinge.reproduce import experiments
from impinge.reproduce.statements import Report, Statement, beside, without_verdict

from ..command import invoke

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
VOID = "meta", "img", "br", "hr"  # elements without an end
LINES = [
    Statement("7", "times are *linear*", "exponent 1.01 & more", True, "not linear"),
    Statement("8, 9", "cells win below 5 < n", "they lose", False, "we test many at a time"),
    Statement("–", "–", "our own way: 3 times as fast", None, "a difference of method"),
]


class Page(HTMLParser):
    """Tags, names to link to, links, and cells of the tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.headings: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)
        found = dict(attrs)
        self.names += [str(found["id"])] if "id" in found else []
        self.links += [str(found["href"])] if "href" in found else []
        self.sources += [str(found["src"])] if "src" in found else []

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)


def experiment(name: str) -> Callable[..., Report]:
    """One that takes no time."""

    def run(folder: Path, quick: bool, progress: Callable[[str], None]) -> Report:
        progress("counting")
        (folder / f"{name}-fig7.png").write_bytes(PNG)
        path = folder / f"{name}.md"
        lines = without_verdict(LINES) if quick else LINES
        path.write_text(
            f"# The paper on {name}\n\n## Statements\n\n{beside(lines)}\n\n## The sphere (3.1)\n\n"
            f'| ![a]({name}-fig7.png) | b |\n|---|---|\n\n<img src="{name}-fig7.png" width="5" alt="">\n',
            encoding="utf-8",
        )
        return Report(path, lines)

    return run


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, str]]:
    """Runs the command with made-up experiments, of which some may fail; result and page."""
    pytest.importorskip("matplotlib")

    def run(*options: str, failing: str = "") -> tuple[Any, str]:
        def load(module: str) -> SimpleNamespace:
            name = module.rpartition(".")[2]
            if name == failing:
                raise ArithmeticError("a <number> went wrong")
            return SimpleNamespace(reproduce=experiment(name))

        monkeypatch.setattr(experiments, "import_module", load)
        result = invoke("reproduce", "all", *options, "-o", str(tmp_path / "out"))
        return result, (tmp_path / "out" / "reproduction.html").read_text(encoding="utf-8")

    return run


def test_page(made: Callable[..., tuple[Any, str]]) -> None:
    result, text = made()
    assert result.exit_code == 0, result.output
    assert "3 reproduced, 3 differ, 3 without verdict" in result.output.replace("\n", "")
    page = Page(text)
    assert "The paper on qp_collide" in page.headings
    assert text.count("<h1") == 1
    assert len(set(page.names)) == len(page.names)
    assert {link.removeprefix("#") for link in page.links} <= set(page.names)
    assert "polyhedra-the-sphere-3-1" in page.names
    assert "exponent 1.01 &amp; more" in text
    assert "cells win below 5 &lt; n" in text
    assert text.count("<b>reproduced</b>") == 3
    assert text.count("<b>differs</b>:") == 3
    assert 'href="#particles-1"' in text  # from the list of what differs
    assert re.search(r"impinge reproduce all</code> on \d\d \w+ 20\d\d", text)
    for fact in ("impinge: ", "python: ", "numpy: ", "cores: "):
        assert fact in text
    assert "prefers-color-scheme: dark" in text


def test_page_needs_nothing_else(made: Callable[..., tuple[Any, str]]) -> None:
    _, text = made()
    page = Page(text)
    assert len(page.sources) == 6
    picture = base64.b64encode(PNG).decode()
    assert set(page.sources) == {f"data:image/png;base64,{picture}"}
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"https?://|url\(|@import|<script|<link", text)


def test_quick_sizes_are_told(made: Callable[..., tuple[Any, str]]) -> None:
    result, text = made("--quick")
    assert "0 reproduced, 0 differ, 9 without verdict" in result.output.replace("\n", "")
    assert "impinge reproduce all --quick" in text
    assert "quick sizes say too little" in text
    assert "differences" not in Page(text).names


@pytest.mark.parametrize("failing", experiments.PAPERS)
def test_what_fails_is_told_and_the_rest_is_there(made: Callable[..., tuple[Any, str]], failing: str) -> None:
    result, text = made(failing=failing.replace("-", "_"))
    assert result.exit_code == 1
    assert f"{failing} failed" in result.output
    page = Page(text)
    assert "ArithmeticError: a &lt;number&gt; went wrong" in text
    assert '<b class="failed">failed</b>' in text
    assert "2 reproduced, 2 differ, 2 without verdict" in result.output.replace("\n", "")
    assert set(experiments.PAPERS) <= set(page.names)


def test_papers_are_those_of_the_command() -> None:
    from impinge.cli.reproduce import Paper

    assert [*experiments.PAPERS, "all"] == sorted(paper.value for paper in Paper if paper.value != "all") + ["all"]
