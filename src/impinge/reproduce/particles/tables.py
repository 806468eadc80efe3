"""Pieces of the report."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["by_way", "crossing", "number"]


def number(value: float, digits: int = 2) -> str:
    """With a dash for what is not known."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def by_way(rows: list[dict[str, Any]], way: str) -> list[dict[str, Any]]:
    """Those of simulations made in one way: "paper" or "world"."""
    return [row for row in rows if row["way"] == way]


def crossing(rows: list[dict[str, Any]]) -> str:
    """Where cells become more expensive than sweep."""
    for ratio in sorted({row["ratio"] for row in rows}):
        here = {row["search"]: row.get("seconds", math.inf) for row in rows if row["ratio"] == ratio}
        if here["cells"] > here["sweep"]:
            return f"from R/r = {ratio} on"
    return "nowhere in this range"
