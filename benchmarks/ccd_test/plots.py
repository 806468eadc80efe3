"""Plot of the benchmark of continuous collision detection: ``python -m benchmarks.ccd_test.plots RESULTS.json``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchmarks import looks
from benchmarks.ccd_test.growth import CANDIDATES, FIRST
from benchmarks.ccd_test.ours import ALL_TIMES, NAME
from benchmarks.ccd_test.peers import ADDITIVE, STRICT, TIGHT
from benchmarks.report import threads_text

_Row = dict[str, Any]
_COLOURS = {
    NAME: looks.VERMILION, ALL_TIMES: looks.ORANGE, "ipctk": looks.BLUE, "ipctk LBVH": looks.BLUE,
    ADDITIVE: looks.BLUE, STRICT: looks.SKY, TIGHT: looks.GREEN,
}  # fmt: skip
_STRENGTHS = (1.0, 0.45)
_MARKERS = {NAME: "o", "ipctk": "s"}
_LINES: dict[str, Any] = {FIRST: "-", CANDIDATES: "--"}


def _above(axes: Any, title: str, handles: list[Any], labels: list[str]) -> None:
    """Title and legend over a panel, where no data are."""
    axes.set_title(title, loc="left")
    axes.legend(handles, labels, loc="lower right", bbox_to_anchor=(1.02, 0.985), ncols=len(labels), fontsize=8,
                handlelength=1.4, columnspacing=1.0, borderaxespad=0.2)  # fmt: skip


def _bars(
    axes: Any, title: str, groups: dict[str, list[_Row]], value: Callable[[_Row], float], most: float = math.inf
) -> None:
    """Bars of each method, one per group, with their values in words; longer ones than `most` are cut off."""
    methods = list(dict.fromkeys(row["method"] for rows in groups.values() for row in rows))
    height = 0.8 / len(groups)
    for number, rows in enumerate(groups.values()):
        for row in rows:
            place = methods.index(row["method"]) + (number - 0.5 * (len(groups) - 1)) * height
            colour, length = _COLOURS.get(row["method"], looks.OTHER), min(value(row), most)
            axes.barh(place, length, height=0.92 * height, color=colour, alpha=_STRENGTHS[number])
            text = f"{value(row):.3g}" if value(row) < 1000 else f"{value(row):,.0f}"
            axes.annotate(text if value(row) <= most else f"… {text}", (length, place), (4, 0), va="center",
                          textcoords="offset points", fontsize=8)  # fmt: skip
    axes.set_yticks(range(len(methods)), [name.replace(" ", "\n", 1) for name in methods])
    axes.set_ylim(len(methods) - 0.45, -0.55)
    axes.margins(x=0.14)
    axes.grid(axis="y", visible=False)
    patches = [Patch(facecolor="#555555", alpha=strength) for strength in _STRENGTHS[: len(groups)]]
    _above(axes, title, patches, list(groups))


def _by_motion(rows: list[_Row]) -> dict[str, list[_Row]]:
    """Rows of the most threads."""
    most = max(row["threads"] for row in rows)
    return {
        motion: [row for row in rows if row["motion"] == motion and row["threads"] == most]
        for motion in ("impact", "approach")
    }


def _candidates(axes: Any, results: dict[str, Any]) -> None:
    groups = _by_motion(results["cloth"]["candidates"])
    main = [1e3 * row["seconds"] for rows in groups.values() for row in rows if row["method"] in (NAME, "ipctk LBVH")]
    _bars(axes, "Candidates", groups, lambda row: 1e3 * row["seconds"], most=2 * max(main))
    axes.set_xlabel("milliseconds; less is better")


def _narrow(axes: Any, results: dict[str, Any]) -> None:
    groups = _by_motion(results["cloth"]["narrow"])
    _bars(axes, "Earliest contact", groups, lambda row: row["queries"] / row["seconds"] / 1e6)
    axes.set_xlabel("million candidates per second, the same ones; more is better")


def _summed(rows: list[_Row], keys: tuple[str, ...]) -> list[_Row]:
    """Sums of some columns by method."""
    methods = dict.fromkeys(row["method"] for row in rows)
    return [
        {"method": name} | {key: sum(row[key] for row in rows if row["method"] == name) for key in keys}
        for name in methods
    ]


def _alarms(axes: Any, results: dict[str, Any]) -> None:
    """Wrong reports in per cent of all queries without contact."""
    groups = {}
    if results.get("truth", {}).get("rows"):
        groups["ground truth"] = _summed(results["truth"]["rows"], ("false_alarms", "queries", "in_contact"))
    if "cloth" in results:
        rows = [row | {"queries": row["judged"]} for row in results["cloth"]["alarms"] if row["motion"] == "impact"]
        groups["cloth, impact"] = _summed(rows, ("false_alarms", "queries", "in_contact"))
    _bars(axes, "False alarms", groups,
          lambda row: 100 * row["false_alarms"] / max(1, row["queries"] - row["in_contact"]))  # fmt: skip
    axes.set_xlabel("per cent of the judged queries without contact; less is better")


def _growth(axes: Any, results: dict[str, Any]) -> None:
    rows = [row for row in results["growth"] if row["motion"] == "impact"]
    methods = [name for name in _MARKERS if any(row["method"] == name for row in rows)]
    for method in methods:
        for task, line in _LINES.items():
            here = [row for row in rows if (row["method"], row["task"]) == (method, task)]
            axes.plot([row["nodes"] for row in here], [1e6 * row["seconds"] / row["nodes"] for row in here],
                      color=_COLOURS[method], marker=_MARKERS[method], linestyle=line, markersize=5,
                      linewidth=2.2 if method == NAME else 1.4)  # fmt: skip
    sides = sorted({row["side"] for row in rows})
    axes.set(xscale="log", xlabel="nodes; impact", ylabel="microseconds per node; less is better")
    axes.set_xticks([side**2 for side in sides], [f"{side}²" for side in sides])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    handles = [Line2D([], [], color=_COLOURS[method], marker=_MARKERS[method]) for method in methods]
    handles += [Line2D([], [], color="#555555", linestyle=line) for line in _LINES.values()]
    _above(axes, "Growth", handles, [*methods, *_LINES])


def _small_print(results: dict[str, Any]) -> str:
    about = results["about"]
    scene = f"Cloth of {results['cloth']['side']}² nodes on itself; " if "cloth" in results else ""
    versions = ", ".join(f"{name} {version}" for name, version in {NAME: about["impinge"], **results["peers"]}.items())
    return f"{scene}{threads_text(int(str(about['threads']).split()[-1]))}, {about['cpu']}; {versions}."


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write a picture of what the results have data for; returns its path, or nothing."""
    panels: list[Callable[[Any, dict[str, Any]], None]] = []
    if "cloth" in results:
        panels += [_candidates, _narrow]
    if "cloth" in results or results.get("truth", {}).get("rows"):
        panels.append(_alarms)
    if "growth" in results:
        panels.append(_growth)
    if not panels:
        return []
    with plt.rc_context(looks.STYLE):
        figure, places = looks.panels(len(panels), 2, (5.6, 3.3))
        for axes, write in zip(places, panels, strict=True):
            write(axes, results)
        looks.save(figure, path, _small_print(results), below=0.035)
    return [path]


if __name__ == "__main__":
    looks.redraw(draw)
