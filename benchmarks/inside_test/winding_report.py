"""Tables of the part "winding", and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.inside_test.winding import DEFAULT_ACCURACY, REFERENCE_ACCURACY
from benchmarks.report import Verdict, seconds, table

_Row = dict[str, Any]


def _by_mesh(rows: list[_Row]) -> dict[str, dict[str, _Row]]:
    """Rows by mesh and method."""
    found: dict[str, dict[str, _Row]] = {}
    for row in rows:
        found.setdefault(row["mesh"], {})[row["method"]] = row
    return found


def _faster(mesh: str, here: dict[str, _Row], title: str, key: str, required: float) -> Verdict:
    ours, libigl = here["impinge matched"], here.get("libigl")
    name = f"times faster than libigl at no larger error, {title} of winding numbers, {mesh}"
    if libigl is None:
        return Verdict(name, "at least", required, None, remark="no libigl")
    remark = f"libigl {seconds(libigl[key])}, ours {seconds(ours[key])} with {ours['settings']}"
    return Verdict(name, "at least", required, libigl[key] / ours[key], remark=remark)


def _no_larger_error(mesh: str, here: dict[str, _Row]) -> Verdict:
    ours, libigl = here["impinge matched"], here.get("libigl")
    name = f"error over libigl's, the larger ratio of maximum and rms, {mesh}"
    if libigl is None:
        return Verdict(name, "at most", 1, None, remark="no libigl")
    keys = ("largest_error", "rms_error")
    remark = "; ".join(f"libigl {libigl[key]:.3g}, ours {ours[key]:.3g}" for key in keys)
    return Verdict(name, "at most", 1, max(ours[key] / libigl[key] for key in keys), remark=remark)


def winding_verdicts(rows: list[_Row]) -> list[Verdict]:
    meshes = _by_mesh(rows)
    found = [_faster(mesh, here, "query", "query_s", 5.0) for mesh, here in meshes.items()]
    found += [_faster(mesh, here, "build and query", "total_s", 3.0) for mesh, here in meshes.items()]
    found += [_no_larger_error(mesh, here) for mesh, here in meshes.items()]
    for mesh, here in meshes.items():
        error = here["impinge default"]["largest_error"]
        found.append(Verdict(f"largest error at the default accuracy, {mesh}", "at most", DEFAULT_ACCURACY, error))
    for mesh, here in meshes.items():
        error = here["impinge default"]["direct_error"]
        if error is not None:
            name = f"largest difference of the reference from the sum of all solid angles, {mesh}"
            found.append(Verdict(name, "at most", REFERENCE_ACCURACY, error))
    wrong = sum(row["wrong"] for row in rows if row["method"] == "impinge default" and row["truth"] == "octree")
    found.append(Verdict("wrong sides at the default accuracy, closed meshes", "at most", 0, wrong))
    return found


_NOTES = (
    "matched: the first of a row of parameters whose maximum and rms error are at most libigl's (without libigl, the "
    f"first). default: accuracy {DEFAULT_ACCURACY:g}. p: order, d: near. Building includes conversions of the mesh "
    "and, for impinge, its checks; FMM3D builds its tree with every query, and gets dipoles at the given number of "
    "points of each triangle; its wheel is compiled without threads. Best of several alternating rounds, equally many "
    "for impinge and libigl. cores: processor time over wall time. Errors of all points. wrong: points on another side "
    "of winding number 1/2 than in truth. Truth is the exact octree on closed meshes, and with holes "
)


def _truth_text(rows: list[_Row]) -> str:
    checked = [row for row in rows if row["direct_error"] is not None]
    error = max((row["direct_error"] for row in checked), default=0.0)
    count = max((row["direct_points"] for row in checked), default=0)
    return (
        f"impinge's multipole method with accuracy {REFERENCE_ACCURACY:g}, which differs by at most {error:.1e} from "
        f"the sum of all solid angles, compared at {count:,} of the points."
    )


def winding_text(rows: list[_Row]) -> str:
    blocks = []
    for mesh, here in _by_mesh(rows).items():
        ours = here["impinge matched"]
        body = [
            [
                row["method"],
                row["settings"],
                seconds(row["build_s"]),
                seconds(row["query_s"]),
                seconds(row["total_s"]),
                f"{row['query_s'] / ours['query_s']:.3g}",
                f"{row['total_s'] / ours['total_s']:.3g}",
                f"{row['cores_used']:.1f}",
                f"{row['largest_error']:.2g}",
                f"{row['rms_error']:.2g}",
                f"{row['wrong']:,}",
            ]
            for row in here.values()
        ]
        head = "method, settings, build, query, build + query, query ÷ ours, total ÷ ours, cores, max error, rms, wrong"
        blocks.append(f"### {mesh}; {ours['points']:,} random points\n\n" + table(head.split(", "), body, left=2))
    return "\n\n".join([*blocks, _NOTES + _truth_text(rows)])
