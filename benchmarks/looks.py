"""What the plots have in common."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from impinge.reproduce.look import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, STYLE, VERMILION, plain_numbers

__all__ = [
    "BLACK", "BLUE", "GREEN", "OLIVE", "ORANGE", "OTHER", "PURPLE", "SKY", "STYLE", "VERMILION", "panels",
    "plain_numbers", "redraw", "save",
]  # fmt: skip

OLIVE, OTHER = "#B8A500", "#777777"  # more colours; markers differ too


def panels(count: int, across: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """A figure of so many panels, at most so many in a line, of a size each, in."""
    across = min(across, count)
    down = -(-count // across)
    wide, high = size
    figure, grid = plt.subplots(down, across, figsize=(wide * across, high * down + 0.3), squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, list(grid.flat[:count])


def save(figure: Any, path: Path, note: str, *, below: float = 0.03, above: float = 1.0) -> None:
    """Write a figure, with small print at the lower left; below, above : where what is drawn ends, as shares."""
    figure.text(0.01, 0.01, note, color="#666666", fontsize=8)
    figure.tight_layout(rect=(0, below, 1, above))
    figure.savefig(path)
    plt.close(figure)


def redraw(draw: Callable[[dict[str, Any], Path], Any]) -> None:
    """What modules of plots do as programs: RESULTS.json [FOLDER], by default that of the results."""
    source = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else source.parent
    draw(json.loads(source.read_text(encoding="utf-8")), folder / f"{source.stem}.png")
