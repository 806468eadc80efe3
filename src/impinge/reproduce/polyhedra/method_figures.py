"""Pictures of what is inside the multipole method: operations, depth, accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from impinge.reproduce.look import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, STYLE, VERMILION, plain_numbers, save
from impinge.reproduce.polyhedra.accuracy import Error
from impinge.reproduce.polyhedra.figures import GRID_LOOKS
from impinge.reproduce.polyhedra.operations import MODES, OPERATIONS, Counts, Depth
from impinge.reproduce.polyhedra.series import along, two_digits

__all__ = ["draw_accuracy", "draw_depths", "draw_operations"]

_LOOKS = {
    "p2m": (BLACK, "o"),
    "m2m": (SKY, "s"),
    "m2l": (BLUE, "^"),
    "l2l": (GREEN, "v"),
    "l2p": (ORANGE, "D"),
    "m2p": (PURPLE, "P"),
    "near": (VERMILION, "X"),
}


def _count_panel(axes: Any, counts: Counts, mode: str, over: str) -> None:
    """Measured counts, and Table 1's orders as dotted lines through the last of them."""
    here = counts.of(mode, over)
    x = np.array([getattr(count, over) for count in here], float)
    letter = "N" if over == "triangles" else "M"
    for name, (colour, marker) in _LOOKS.items():
        y = [count.counts[name] for count in here]
        power = OPERATIONS[name].in_triangles if over == "triangles" else OPERATIONS[name].in_points
        grown = counts.growth(mode, over, name)
        power_text = f"${letter}^{{{two_digits(grown)}}}$"
        label = f"{name.upper() if name != 'near' else 'near field'}: {power_text}"
        axes.loglog(x, y, color=colour, marker=marker, ms=5, lw=1.3, label=label)
        if name != "m2p":
            axes.loglog(x, y[-1] * (x / x[-1]) ** power, color=colour, lw=0.9, ls=":")
    fixed = f"{here[0].points:,} points" if over == "triangles" else f"{here[0].triangles:,} triangles"
    axes.set(title=f"{mode}, {fixed}", xlabel="triangles N" if over == "triangles" else "points M", ylabel="operations")
    plain_numbers(axes.xaxis, 1)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def draw_operations(counts: Counts, path: Path) -> None:
    """Table 1: how often each operation is done, over N and over M, in both modes."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(11.5, 8))
        for row, mode in zip(panels, MODES, strict=True):
            for axes, over in zip(row, ("triangles", "points"), strict=True):
                _count_panel(axes, counts, mode, over)
        figure.suptitle(
            "Operations of the multipole method on the sphere; dotted: orders of Table 1, without logarithms"
        )
        save(figure, path)


def draw_depths(depths: list[Depth], path: Path) -> None:
    """Total time over the depth of both trees, and where it is least."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        levels = [one.depth for one in depths]
        for points, (colour, marker) in list(zip(depths[0].queries, GRID_LOOKS, strict=False))[::-1]:
            totals = [one.setup + one.queries[points] for one in depths]
            best = int(np.argmin(totals))
            axes.semilogy(levels, totals, color=colour, marker=marker, ms=5, label=f"{along(points)} points")
            axes.semilogy(levels[best], totals[best], "o", ms=13, mfc="none", mec=colour, label="_")
        axes.semilogy(levels, [one.setup for one in depths], color="#666666", lw=0.9, ls="--", label="setting up alone")
        handles = [*axes.get_legend_handles_labels()[0], Line2D([], [], ls="none", marker="o", ms=11, mfc="none",
                                                                mec="#666666", label="least")]  # fmt: skip
        axes.set(xlabel="depth of both trees", ylabel="total time [s], one thread", xticks=levels)
        axes.set_title(f"What the depth balances: sphere of {depths[0].triangles:,} triangles")
        plain_numbers(axes.yaxis, 1)
        axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(figure, path)


def draw_accuracy(errors: list[Error], path: Path) -> None:
    """Largest errors over the order, one colour for each d, beside the bounds (26) and (27)."""
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4))
        for near, (colour, marker) in zip(sorted({error.near for error in errors}), GRID_LOOKS, strict=False):
            here = [error for error in errors if error.near == near]
            orders = [error.order for error in here]
            look: dict[str, Any] = {"color": colour, "marker": marker, "ms": 5}
            right.semilogy(orders, [error.largest for error in here], label=f"d = {near:g}", **look)
            right.semilogy(orders, [error.bound for error in here], color=colour, lw=0.9, ls="--")
            left.semilogy(orders, [error.gradient for error in here], label=f"d = {near:g}", **look)
            left.semilogy(orders, [error.gradient_bound for error in here], color=colour, lw=0.9, ls="--")
        right.axhline(0.5, color="#B00000", lw=0.9, label="1/2: decisions may be wrong")
        left.set(title="gradient of the kernel at distance d r, r = 1, and (26)", ylabel="largest error")
        right.set(title="J on a sphere of 2,048 triangles, and (27) / 4π", ylabel="largest |J − direct sum|")
        for axes in (left, right):
            axes.set(xlabel="order p", xticks=sorted({error.order for error in errors}))
            handles = [*axes.get_legend_handles_labels()[0], Line2D([], [], color="#666666", lw=0.9, ls="--",
                                                                    label="bound")]  # fmt: skip
            axes.legend(handles=handles, loc="lower left")
        figure.suptitle("Accuracy: measured (lines with symbols) and the paper's bounds (dashed)")
        save(figure, path)
