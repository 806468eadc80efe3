"""Tables of the report, in Markdown."""

from __future__ import annotations

from impinge.reproduce.polyhedra.accuracy import Error
from impinge.reproduce.polyhedra.operations import MODES, OPERATIONS, Counts
from impinge.reproduce.polyhedra.series import Series, along, two_digits
from impinge.reproduce.statements import markdown

__all__ = [
    "PAPER_TABLE_2", "answers", "errors_over_order", "growth", "operations", "ratios", "table_2", "times",
]  # fmt: skip

# [Muth2006] Table 2: seconds of the evaluation part with 10³, 20³, 40³ and 80³ points, by the number of triangles.
PAPER_TABLE_2 = {
    8192: ("< 1", "≈ 1", "10", "83"),
    32768: ("≈ 1", "5", "40", "329"),
    131072: ("< 1", "3", "24", "202"),
}
_NAMES = {"ray": "ray crossing", "pre-chosen": "multipole, PC", "well-chosen": "multipole, WC", "octree": "our octree"}


def times(series: Series) -> str:
    """Seconds to set up, and to answer for each grid; with a tilde where only some of the points were asked for."""
    rows = []
    for size in series.sizes:
        for method, name in _NAMES.items():
            runs = series.over_points(method, size)
            cells = [("~" if run.scaled else "") + f"{run.query:.3g}" for run in runs]
            rows.append([f"{size:,}", name, f"{runs[0].setup:.3g}", *cells])
    return markdown(["triangles", "method", "set-up", *(along(points) for points in series.grids)], rows)


def ratios(series: Series) -> str:
    """Total time of ray crossing over that of the multipole method, bold where the latter wins."""

    def cell(rival: str, size: int, points: int) -> str:
        ratio = series.ratios("ray", rival, points)[size]
        return f"**{ratio:.3g}**" if ratio > 1 else f"{ratio:.2g}"

    rows = [
        [f"{size:,}", *(f"{cell('well-chosen', size, p)} / {cell('pre-chosen', size, p)}" for p in series.grids)]
        for size in series.sizes
    ]
    return markdown(["triangles", *(f"{along(points)}: WC / PC" for points in series.grids)], rows)


def growth(series: Series) -> str:
    """Exponents of total time over triangles, and over points."""
    rows = []
    for method, name in _NAMES.items():
        in_n = [two_digits(series.growth_in_triangles(method, points, 3)) for points in series.grids]
        in_m = [two_digits(series.growth_in_points(method, size)) for size in series.sizes[-3:]]
        rows.append([name, *in_n, *in_m])
    head = [f"N, {along(points)} points" for points in series.grids]
    head += [f"M, {size:,} triangles" for size in series.sizes[-3:]]
    return markdown(["method", *head], rows)


def table_2(series: Series) -> str:
    """Seconds of the evaluation part, the paper's and ours."""
    meshes = [size for size in PAPER_TABLE_2 if size in series.sizes]
    rows = []
    for number, points in enumerate(series.grids):
        cells = [along(points)]
        for size in meshes:
            pre, well = (series.run(mode, size, points).query for mode in ("pre-chosen", "well-chosen"))
            cells += [PAPER_TABLE_2[size][number], f"{pre:.3g}", f"{well:.3g}"]
        rows.append(cells)
    head = ["points"]
    for size in meshes:
        head += [f"{size:,}: the paper", "PC", "WC"]
    return markdown(head, rows)


def answers(all_series: dict[str, Series]) -> str:
    """How many decisions were compared, and how many differ."""
    rows = []
    for body, series in all_series.items():
        for method in ("well-chosen", "pre-chosen", "ray"):
            runs = [run for run in series.runs if run.method == method]
            sums = [sum(getattr(run, name) for run in runs) for name in ("timed", "on_surface", "differing")]
            rows.append([body, _NAMES[method], *(f"{value:,}" for value in sums)])
    return markdown(
        ["body", "method", "points asked for", "of these exactly on the surface", "other than octree"], rows
    )


def operations(counts: Counts) -> str:
    """Counts of the largest case and exponents, beside Table 1."""
    rows = []
    for name, operation in OPERATIONS.items():
        cells = [name.upper() if name != "near" else "near field", operation.meaning, operation.paper]
        for mode in MODES:
            cells.append(f"{counts.of(mode, 'points')[-1].counts[name]:,}")
            cells += [two_digits(counts.growth(mode, over, name)) for over in ("triangles", "points")]
        rows.append(cells)
    head = ["operation", "what", "Table 1"]
    for mode in ("PC", "WC"):
        head += [f"{mode}: times", "power of N", "of M"]
    return markdown(head, rows)


def errors_over_order(errors: list[Error]) -> str:
    """Largest errors of J and (27)."""
    nears = sorted({error.near for error in errors})
    rows = []
    for order in sorted({error.order for error in errors}):
        cells = [str(order)]
        for near in nears:
            error = next(e for e in errors if (e.order, e.near) == (order, near))
            cells += [f"{error.largest:.1e}", f"{error.rms:.1e}", f"{error.bound:.1e}"]
        rows.append(cells)
    head = ["p"]
    for near in nears:
        head += [f"d = {near:g}: largest", "rms", "(27)/4π"]
    return markdown(head, rows)
