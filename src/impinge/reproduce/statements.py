"""What a paper says, what comes out here, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

__all__ = ["Kind", "Report", "Statement", "beside", "markdown", "without_verdict"]

Kind = Literal["reproduced", "differs", "open"]


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
