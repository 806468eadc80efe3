"""Plots of the inside benchmark from its JSON file: ``python -m benchmarks.inside_test.plots RESULTS [FOLDER]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from benchmarks import looks
from benchmarks.report import seconds

_LOOKS: dict[str, tuple[str, str]] = {
    "impinge octree": (looks.VERMILION, "o"),
    "impinge ray-exact": (looks.ORANGE, "D"),
    "impinge ray": (looks.OLIVE, "^"),
    "impinge direct": (looks.PURPLE, "v"),
    "Open3D": (looks.BLUE, "s"),
    "libigl": (looks.GREEN, "P"),
    "trimesh + Embree": (looks.SKY, "X"),
    "CGAL": (looks.BLACK, "*"),
    "impinge matched": (looks.VERMILION, ""),
    "impinge default": (looks.ORANGE, ""),
}


def _look(method: str) -> dict[str, Any]:
    colour, marker = _LOOKS.get(method, (looks.OTHER, "."))
    ours = method.startswith("impinge")
    is_main = method == "impinge octree"
    return {
        "color": colour,
        "marker": marker,
        "linestyle": "-" if ours else "--",
        "linewidth": 2.4 if is_main else 1.3,
        "markersize": 6 if is_main else 5,
        "zorder": 3 if is_main else 2,
    }


def _line(axes: Any, rows: list[dict[str, Any]], method: str, x: str, y: Any) -> None:
    here = sorted((row for row in rows if row["method"] == method), key=lambda row: row[x])
    if not here:
        return
    look = _look(method)
    axes.plot([row[x] for row in here], [y(row) for row in here], label=method, **look)
    scaled = [row for row in here if row.get("points_timed", row["points"]) < row["points"]]
    axes.plot(
        [row[x] for row in scaled],
        [y(row) for row in scaled],
        **look | {"linestyle": "none", "markerfacecolor": "white"},
    )


def _curves(results: dict[str, Any], path: Path) -> None:
    """Four panels: sphere and foam, over triangles and over points."""
    curves = results["curves"]
    methods = [name for name in _LOOKS if any(row["method"] == name for row in curves["triangles"])]
    figure, grid = plt.subplots(2, 2, figsize=(10, 8), sharey="col")
    for family, (left, right) in zip(("sphere", "foam"), grid, strict=True):
        over_triangles = [row for row in curves["triangles"] if row["family"] == family]
        over_points = [row for row in curves["points"] if row["family"] == family]
        for method in methods:
            _line(left, over_triangles, method, "triangles", lambda row: row["query_s"])
            _line(right, over_points, method, "points", lambda row: row["build_s"] + row["query_s"])
        left.set(xlabel="triangles", ylabel="seconds")
        left.set_title(f"{family}: query of {over_triangles[0]['points']:,} points", loc="left")
        right.set(xlabel="points", ylabel="seconds")
        right.set_title(f"{family}, {over_points[0]['triangles']:,} triangles: build and query", loc="left")
        for axes in (left, right):
            axes.set(xscale="log", yscale="log")
        counts = sorted({row["triangles"] for row in over_triangles})
        if counts[-1] < 100 * counts[0]:  # powers of ten would be too far apart
            left.set_xticks(counts, [f"{count:,}" for count in counts])
            left.minorticks_off()
    handles, labels = max((axes.get_legend_handles_labels() for axes in grid.flat), key=lambda pair: len(pair[1]))
    figure.legend(handles, labels, loc="upper center", ncols=4)
    about = results["about"]
    note = f"{about['threads']} threads, {about['cpu']}. Random points. Hollow: timed on a subset and scaled."
    looks.save(figure, path, note, below=0.02, above=0.93)


def _summary(results: dict[str, Any], path: Path) -> None:
    """Bars: million points per second, random and near the surface, on both meshes."""
    rows = results["speed"]
    meshes = list(dict.fromkeys(row["mesh"] for row in rows))
    figure, panels = plt.subplots(1, len(meshes), figsize=(9, 2.9), squeeze=False)
    for axes, mesh in zip(panels[0], meshes, strict=True):
        here = [row for row in rows if row["mesh"] == mesh]
        methods = list(dict.fromkeys(row["method"] for row in here))
        for kind, shift, strength in (("random", -0.2, 1.0), ("near", 0.2, 0.45)):
            rates = {row["method"]: row["points"] / row["query_s"] / 1e6 for row in here if row["kind"] == kind}
            places = [i + shift for i in range(len(methods))]
            colours = [_LOOKS.get(method, (looks.OTHER, ""))[0] for method in methods]
            values = [rates[method] for method in methods]
            axes.barh(places, values, height=0.36, color=colours, alpha=strength)
            for place, value in zip(places, values, strict=True):
                axes.annotate(f"{value:.2g}" if value < 10 else f"{value:.0f}", (value, place), (4, 0),
                              textcoords="offset points", va="center", fontsize=8)  # fmt: skip
        axes.set_yticks(range(len(methods)), methods)
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.grid(axis="y", visible=False)
        axes.set_title(mesh, loc="left")
        axes.set_xlabel("million points per second")
    note = (
        f"Queries of {rows[0]['points']:,} points, {results['about']['threads']} threads. "
        "Strong: random points; pale: within 0.1 % of the size from the surface."
    )
    looks.save(figure, path, note, below=0.06)


def _windings(results: dict[str, Any], path: Path) -> None:
    """Bars: seconds of each method on each mesh, with its errors."""
    rows = results["winding"]
    meshes = list(dict.fromkeys(row["mesh"] for row in rows))
    figure, panels = plt.subplots(2, 2, figsize=(11, 5.4), sharex=True)
    for axes, mesh in zip(panels.flat, meshes, strict=True):
        here = [row for row in rows if row["mesh"] == mesh]
        colours = [_LOOKS.get(row["method"], (looks.OTHER, ""))[0] for row in here]
        for key, strength in (("total_s", 0.45), ("query_s", 1.0)):
            axes.barh(range(len(here)), [row[key] for row in here], height=0.62, color=colours, alpha=strength)
        for place, row in enumerate(here):
            text = f"{seconds(row['query_s'])}; errors {row['largest_error']:.2g}, {row['rms_error']:.2g}"
            axes.annotate(text, (row["total_s"], place), (4, 0),
                          textcoords="offset points", va="center", fontsize=8)  # fmt: skip
        axes.set_yticks(range(len(here)), [row["method"] for row in here])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.grid(axis="y", visible=False)
        axes.set_title(mesh, loc="left")
    longest, shortest = max(row["total_s"] for row in rows), min(row["query_s"] for row in rows)
    panels[0, 0].set_xlim(0.5 * shortest, longest * (longest / shortest))  # room for the words
    for axes in panels[1]:
        axes.set_xlabel("seconds")
    note = (
        f"Winding numbers of {rows[0]['points']:,} random points, {results['about']['threads']} threads. Strong and in "
        "words: query; pale: build and query. Errors: maximum, rms. matched: no larger errors than libigl."
    )
    looks.save(figure, path, note)


def draw(results: dict[str, Any], path: Path) -> list[Path]:
    """Write the plots that the results have data for beside a path; returns their paths."""
    written = []
    with plt.rc_context(looks.STYLE):
        for part, name, write in (
            ("curves", "inside.png", _curves),
            ("speed", "inside_summary.png", _summary),
            ("winding", "inside_winding.png", _windings),
        ):
            if part in results:
                write(results, path.with_name(name))
                written.append(path.with_name(name))
    return written


if __name__ == "__main__":
    looks.redraw(draw)
