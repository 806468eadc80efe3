"""What the pictures of all reports have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

__all__ = ["STYLE", "plain_numbers", "save"]

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
