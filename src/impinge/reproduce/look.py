"""What the pictures of all reports have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

__all__ = [
    "BLACK", "BLUE", "GREEN", "ORANGE", "PURPLE", "SKY", "STYLE", "VERMILION", "plain_numbers", "save",
]  # fmt: skip

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
VERMILION, ORANGE, BLUE, GREEN, SKY, PURPLE = "#D55E00", "#E69F00", "#0072B2", "#009E73", "#56B4E9", "#CC79A7"
BLACK = "#000000"

STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "legend.frameon": False, "savefig.dpi": 160,
}  # fmt: skip


def plain_numbers(axis: Any, *steps: float) -> None:
    """Label a logarithmic axis at these multiples of powers of ten, with numbers instead of powers."""
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())


def save(figure: Any, path: Path) -> None:
    """Write a figure and forget it."""
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
