"""Plot of the benchmark of rigid bodies: ``python -m benchmarks.polyhedra_test.plots RESULTS.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.polyhedra_test.ours import NAME, PHASES

_COLOURS = {NAME: looks.VERMILION, "MuJoCo": looks.BLUE, "PyBullet": looks.GREEN}
_MARKERS = "oDs^v"
_PHASES = dict(zip(PHASES, (looks.SKY, looks.VERMILION, looks.GREEN), strict=True))


def _draw_pile(axes: Any, rows: list[dict[str, Any]]) -> None:
    left = [0.0] * len(rows)
    names = [f"{row['state']}\n{row['steps'] / row['seconds']:.3g} steps/s" for row in rows]
    for phase, colour in _PHASES.items():
        widths = [1e3 * row["phases"][phase] / row["steps"] for row in rows]
        axes.barh(names, widths, left=left, color=colour, label=phase)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_xlabel("ms per step")
    axes.set_title(f"{rows[-1]['bodies']:,} bodies of about {rows[-1]['faces']:,.0f} faces", loc="left")
    axes.legend(fontsize=8)


def _draw_growth(axes: Any, rows: list[dict[str, Any]], by: str) -> None:
    sizes = [row[by] for row in rows]
    axes.loglog(sizes, [1e3 * row["step_s"] for row in rows], "o-", color=looks.VERMILION, label="a step")
    listing = [1e3 * row["listing_s"] for row in rows]
    if min(listing) > 0:
        axes.loglog(sizes, listing, "s--", color=looks.SKY, label="making all lists anew")
    axes.set_xlabel(by if by == "bodies" else "faces per body")
    axes.set_ylabel("ms")
    axes.set_title(f"growth with {by}", loc="left")
    axes.legend(fontsize=8)


def _draw_race(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Rate over depth."""
    for row in (row for row in rows if "judged" in row):
        colour = _COLOURS.get(row["engine"], looks.OTHER)
        marker = _MARKERS[[r.get("dt") for r in rows if r["engine"] == row["engine"]].index(row["dt"]) % len(_MARKERS)]
        label = f"{row['engine']}, {1e3 * row['dt']:.2g} ms, {row['bodies']} bodies"
        depth = 100 * max(row["judged"]["depths"]["most"], 1e-5)
        axes.loglog(depth, row["rate"], marker, color=colour, linestyle="none", label=label)
    axes.margins(x=0.2, y=0.2)
    axes.legend(fontsize=8)
    axes.set_xlabel("depth that 99 % do not exceed, % of size")
    axes.set_ylabel("simulated seconds per second")
    axes.set_title("side by side", loc="left")


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write the plot; returns its path."""
    draws = {
        "pile": _draw_pile,
        "bodies": lambda axes, rows: _draw_growth(axes, rows, "bodies"),
        "faces": lambda axes, rows: _draw_growth(axes, rows, "faces"),
        "race": _draw_race,
    }
    there = [name for name in draws if results.get(name)]
    if not there:
        return []
    with plt.rc_context(looks.STYLE):
        figure, panels = looks.panels(len(there), 2, (5.4, 3.6))
        for axes, name in zip(panels, there, strict=True):
            draws[name](axes, results[name])
        looks.save(figure, path, f"{results['about']['cpu']}, {results['about']['threads']} threads.")
    return [path]


if __name__ == "__main__":
    looks.redraw(draw)
