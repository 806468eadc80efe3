"""Pages of the documentation: their code blocks, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/results/*.md")])

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
_LINK = re.compile(r"!?\[(?:[^][]|\[[^][]*\])*\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
_OBJECT = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: Path
    line: int  # of the first line of its code, from 1
    language: str
    title: str  # name of the file that the reader is told to write
    code: str

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def named(page: Path) -> str:
    """For the names of tests."""
    return page.relative_to(ROOT).as_posix()


@cache
def text_of(page: Path) -> str:
    """All of a page."""
    return page.read_text(encoding="utf-8")


@cache
def blocks(page: Path) -> list[Block]:
    """All fenced blocks, in order."""
    found = []
    for match in _BLOCK.finditer(text_of(page)):
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]*)"', rest)
        line = text_of(page).count("\n", 0, match.start("code")) + 1
        found.append(Block(page, line, language, title[1] if title else "", match["code"]))
    return found


@cache
def prose(page: Path, code: bool = False) -> str:
    """A page without its blocks of code, and without code in sentences unless that is asked for."""
    sentences = _BLOCK.sub("", text_of(page))
    return sentences if code else re.sub(r"`[^`\n]*`", "`x`", sentences)


@cache
def anchors(page: Path) -> set[str]:
    """What links may point to: headings as code hosts name them, marks of one's own, objects of the API reference."""
    found: set[str] = set()
    for title in _HEADING.findall(_BLOCK.sub("", text_of(page))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = next(k for k in range(len(found) + 1) if (f"{name}-{k}" if k else name) not in found)
        found.add(f"{name}-{number}" if number else name)
    found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text_of(page)))
    return found | set(objects(page))


def links(page: Path) -> list[str]:
    """Targets of all links and pictures."""
    return [one or other for one, other in _LINK.findall(prose(page))]


def objects(page: Path) -> list[str]:
    """Names that the API reference describes on this page."""
    return _OBJECT.findall(text_of(page))
