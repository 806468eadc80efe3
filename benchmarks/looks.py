"""What the plots have in common."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")

# Okabe and Ito's colours, which stay apart for colour-blind eyes; markers differ too.
VERMILION, ORANGE, BLUE, GREEN, SKY, PURPLE = "#D55E00", "#E69F00", "#0072B2", "#009E73", "#56B4E9", "#CC79A7"
OLIVE, BLACK, OTHER = "#B8A500", "#000000", "#777777"

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 160,
}


def footnote(figure: Any, text: str) -> None:
    """Small print at the lower left."""
    figure.text(0.01, 0.01, text, color="#666666", fontsize=8)
