"""Plot of the particle benchmark: ``python -m benchmarks.particle_motion.plots RESULTS.json [FOLDER]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.particle_motion.report import find
from benchmarks.report import grouped, threads_text

_COLOURS = {"impinge": looks.VERMILION, "lammps": looks.BLUE, "liggghts": looks.GREEN, "yade": looks.PURPLE}


def _bars(axes: Any, cases: list[list[dict[str, Any]]], threads: int) -> None:
    """Groups of bars, one per case."""
    codes = [code for code in _COLOURS if any(row["code"] == code for case in cases for row in case)]
    width = 0.8 / len(codes)
    for number, code in enumerate(codes):
        for place, case in enumerate(cases):
            row = find(case, code, threads)
            at = place + (number - 0.5 * (len(codes) - 1)) * width
            label = code if place == 0 else None
            axes.bar(at, 0.0 if row is None else row["rate"] / 1e6, 0.94 * width, color=_COLOURS[code], label=label)
            text = "–" if row is None else f"{row['rate'] / 1e6:.0f}"
            height = 0.0 if row is None else row["rate"] / 1e6
            axes.annotate(text, (at, height), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    axes.set_xticks(range(len(cases)), [case[0]["case"].replace(", ", "\n", 1) for case in cases], fontsize=8)
    axes.set_ylabel("million particle-steps per second")
    axes.set_title(threads_text(threads), loc="left")
    axes.grid(axis="x", visible=False)


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write the plot, if there are data for it; returns its path."""
    if not results.get("speed"):
        return []
    cases = grouped(results["speed"], "case")
    counts = sorted({row["threads"] for row in results["speed"]})
    path = path.with_name("particles.png")
    with plt.rc_context(looks.STYLE):
        figure, panels = plt.subplots(len(counts), 1, figsize=(10, 3.2 * len(counts) + 0.3), squeeze=False)
        for axes, count in zip(panels.flat, counts, strict=True):
            _bars(axes, cases, count)
        panels.flat[0].legend(ncols=len(_COLOURS))
        note = f"New lists included, peers tuned; {results['about']['cpu']}. –: absent or too slow."
        looks.save(figure, path, note)
    return [path]


if __name__ == "__main__":
    looks.redraw(draw)
