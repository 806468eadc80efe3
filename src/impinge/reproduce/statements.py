"""What a paper says, what comes out here, and the verdict."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

__all__ = [
    "Kind",
    "Progress",
    "Report",
    "Statement",
    "beside",
    "machine",
    "markdown",
    "without_verdict",
    "write_report",
]

Kind = Literal["reproduced", "differs", "open"]
Progress = Callable[[str], None]  # is told what is being done


@dataclass(frozen=True)
class Statement:
    """A statement of a paper beside what was measured.

    Attributes
    ----------
    place : str
        Figure, table, section or equation of the paper.
    paper : str
        What it says, in few words; a dash for what it says nothing about.
    here : str
        What was measured.
    holds : bool or None
        Whether the paper's statement holds here as well; None if that cannot be told.
    why : str
        The reason if it does not, or cannot be told.
    """

    place: str
    paper: str
    here: str
    holds: bool | None
    why: str

    @property
    def kind(self) -> Kind:
        return "open" if self.holds is None else "reproduced" if self.holds else "differs"

    @property
    def verdict(self) -> str:
        """In words."""
        return {"reproduced": "reproduced", "differs": f"differs: {self.why}", "open": self.why}[self.kind]


class Report(NamedTuple):
    """What an experiment leaves: a file in Markdown, beside its pictures, and its statements."""

    path: Path
    statements: list[Statement]


def machine() -> str:
    """Where figures were measured."""
    return f"{platform.machine()}, Python {platform.python_version()}"


def write_report(folder: Path, name: str, numbers: dict[str, Any], text: str, statements: list[Statement]) -> Report:
    """Write `name.json` and `name.md`."""
    (folder / f"{name}.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return Report(path, statements)


def without_verdict(statements: Iterable[Statement]) -> list[Statement]:
    """The same, where sizes are too small for a verdict."""
    return [replace(one, holds=None, why="quick sizes say too little") for one in statements]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def beside(statements: Iterable[Statement]) -> str:
    """The paper's statements in one column, ours in the next, as a table in Markdown."""
    rows = [(one.place, one.paper, one.here, one.verdict) for one in statements]
    return markdown(["where", "the paper", "here", "verdict"], rows)
