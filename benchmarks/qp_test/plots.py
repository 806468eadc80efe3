"""Plot of the benchmark of quadratic programs: ``python -m benchmarks.qp_test.plots RESULTS.json``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.qp_test.ours import NAME

_Row = dict[str, Any]
_LOOKS = {
    NAME: (looks.VERMILION, "o"), "PIQP": (looks.BLUE, "s"), "CVXOPT": (looks.GREEN, "^"),
    "Clarabel": (looks.ORANGE, "D"), "QPALM": (looks.PURPLE, "v"), "ProxQP": (looks.SKY, "P"),
    "OSQP": (looks.OLIVE, "X"), "quadprog": (looks.BLACK, "<"), "DAQP": (looks.OTHER, ">"), "HiGHS": (looks.OTHER, "*"),
    "SciPy splu": (looks.BLUE, "s"), "SciPy solveh_banded": (looks.GREEN, "^"), "qdldl": (looks.ORANGE, "D"),
    "warm": (looks.VERMILION, "o"), "cold": (looks.BLUE, "s"), "K alone": (looks.BLACK, "D"),
    "cholespy": (looks.PURPLE, "v"), "CHOLMOD": (looks.BLACK, "<"), "Pardiso": (looks.SKY, "P"),
}  # fmt: skip


def _points(axes: Any, rows: list[_Row], key: str, title: str) -> None:
    """Times of all methods, a line for each problem."""
    names = list(dict.fromkeys(row[key] for row in rows))
    for method in dict.fromkeys(row["method"] for row in rows):
        here = [row for row in rows if row["method"] == method and row["seconds"] is not None]
        colour, marker = _LOOKS.get(method, (looks.OTHER, "h"))
        is_ours = method == NAME
        for is_accepted in (True, False):
            part = [row for row in here if row.get("is_accepted", True) is is_accepted]
            axes.plot(
                [1e3 * row["seconds"] for row in part], [names.index(row[key]) for row in part], linestyle="",
                marker=marker, markersize=8 if is_ours else 6, color=colour, zorder=3 if is_ours else 2,
                fillstyle="full" if is_accepted else "none", label=method if is_accepted else None,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set(xscale="log", xlabel="milliseconds; less is better")
    axes.set_title(title, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def _ways(rows: list[_Row]) -> list[_Row]:
    """A row for each way to solve the steps of a sequence."""
    ways = {"warm": "warm", "cold": "cold", "plain": "K alone"}
    return [
        {"sequence": row["sequence"], "method": name, "seconds": row[key]}
        for row in rows for key, name in ways.items()
    ]  # fmt: skip


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write a picture of what the results have data for; returns its path, or nothing."""
    panels: list[tuple[int, Callable[[Any], None]]] = []
    if "cold" in results:
        rows = results["cold"]
        count = len({row["program"] for row in rows})
        panels.append((count, lambda axes: _points(axes, rows, "program", "Quadratic programs (hollow: not accurate)")))
    if "plain" in results:
        plain = results["plain"]
        count = len({row["body"] for row in plain})
        panels.append((count, lambda axes: _points(axes, plain, "body", "K alone")))
    if "warm" in results:
        warm = _ways(results["warm"])
        count = len(results["warm"])
        panels.append((count, lambda axes: _points(axes, warm, "sequence", "Consecutive steps, mean of a step")))
    if not panels:
        return []
    heights = [count for count, _ in panels]
    with plt.rc_context(looks.STYLE):
        size = 9.0, 0.42 * sum(heights) + 1.1 * len(panels) + 0.3
        figure, grid = plt.subplots(len(panels), 1, figsize=size, squeeze=False, height_ratios=heights)
        for axes, (_, write) in zip(grid.flat, panels, strict=True):
            write(axes)
        about = results["about"]
        looks.save(figure, path, f"One thread, {about['cpu']}; {NAME} {about['impinge']}.", below=0.035)
    return [path]


if __name__ == "__main__":
    looks.redraw(draw)
