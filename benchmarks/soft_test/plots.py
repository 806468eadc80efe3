"""Plot of the benchmark of soft bodies: ``python -m benchmarks.soft_test.plots RESULTS.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.soft_test.ours import NAME

_Row = dict[str, Any]
_LEAST = 1e-5  # of strains, as the axis has no zero
_COLOURS = {NAME: looks.VERMILION, "rows": looks.BLUE, "passive": looks.SKY, "ipc": looks.GREEN}
_MARKERS = {"implicit-euler": "o", "bdf2": "D", "rows": "s", "passive": "v", "ipc": "^"}


def _way(row: _Row) -> str:
    """Which line a run belongs to: our integrator, or MuJoCo's kind of contact."""
    return str(row["setting"]).partition(",")[0]


def _draw_scene(axes: Any, scene: dict[str, Any]) -> None:
    """Rate over strain; hollow markers are runs in which something passes through."""
    rows = [row for row in scene["rows"] if "rate" in row]
    for engine, way in dict.fromkeys((row["engine"], _way(row)) for row in rows):
        line = [row for row in rows if (row["engine"], _way(row)) == (engine, way)]
        x, y = [100 * max(row["strain"], _LEAST) for row in line], [row["rate"] for row in line]
        colour = _COLOURS.get(engine, _COLOURS.get(way, looks.OTHER))
        axes.plot(x, y, "-", color=colour, linewidth=0.8, alpha=0.6)
        for row, px, py in zip(line, x, y, strict=True):
            face = "none" if row["unsound"] else colour
            axes.plot(px, py, _MARKERS.get(way, "o"), color=colour, markerfacecolor=face)
            axes.annotate(f"{1e3 * row['dt']:g}", (px, py), (4, 3), textcoords="offset points", fontsize=7)
        axes.plot([], [], _MARKERS.get(way, "o"), color=colour, label=f"{engine} {way}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        looks.plain_numbers(axis, 1.0, 2.0, 5.0)
    axes.set_xlabel("largest strain, %")
    axes.set_ylabel("simulated seconds per second")
    axes.set_title(scene["scene"], loc="left")
    if rows:
        axes.legend(fontsize=8)


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write the plot, if there are data for it; returns its path."""
    scenes = results.get("scenes", [])
    if not scenes:
        return []
    with plt.rc_context(looks.STYLE):
        figure, panels = looks.panels(len(scenes), 2, (5.4, 3.8))
        for axes, scene in zip(panels, scenes, strict=True):
            _draw_scene(axes, scene)
        note = (
            f"Numbers: time step, ms. Hollow: something passes through, or the run stopped. {results['about']['cpu']}."
        )
        looks.save(figure, path, note)
    return [path]


if __name__ == "__main__":
    looks.redraw(draw)
