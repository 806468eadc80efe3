"""Pieces of the report: numbers, and the paper's statements beside ours."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["beside", "crossing", "number"]


def number(value: float, digits: int = 2) -> str:
    """With a dash for what is not known."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def beside(statements: list[tuple[str, str]]) -> str:
    """The paper's statements in one column, ours in the other."""
    return "\n".join(["| the paper | here |", "|---|---|", *(f"| {paper} | {here} |" for paper, here in statements)])


def crossing(rows: list[dict[str, Any]]) -> str:
    """Where cells become more expensive than sweep."""
    for ratio in sorted({row["ratio"] for row in rows}):
        here = {row["search"]: row.get("seconds", math.inf) for row in rows if row["ratio"] == ratio}
        if here["cells"] > here["sweep"]:
            return f"from R/r = {ratio} on"
    return "nowhere in this range"
