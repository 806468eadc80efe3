"""Tables of the inside benchmark, and its required figures with what was reached."""

from __future__ import annotations

from typing import Any

from benchmarks.report import Verdict, exponent, seconds, table

# Required figures


def _ratio(rows: list[dict[str, Any]], mesh: str, kind: str, key: str) -> tuple[float | None, str]:
    """Time of the fastest peer over ours."""
    here = [row for row in rows if row["mesh"] == mesh and row["kind"] == kind]
    ours = next(row for row in here if row["method"].startswith("impinge"))
    peers = [row for row in here if row is not ours]
    if not peers:
        return None, "no peer"
    fastest = min(peers, key=lambda row: row[key])
    return fastest[key] / ours[key], f"{fastest['method']} {seconds(fastest[key])}, ours {seconds(ours[key])}"


def speed_verdicts(rows: list[dict[str, Any]]) -> list[Verdict]:
    found = []
    for title, kind, key, required, aim in (
        ("query of random points", "random", "query_s", 10.0, 20.0),
        ("query of points near the surface", "near", "query_s", 3.0, 6.0),
        ("check, build and query of random points", "random", "total_s", 2.0, 4.0),
    ):
        for mesh in dict.fromkeys(row["mesh"] for row in rows):
            reached, remark = _ratio(rows, mesh, kind, key)
            found.append(
                Verdict(
                    f"times faster than the fastest peer, {title}, {mesh}",
                    "at least",
                    required,
                    reached,
                    aim,
                    remark,
                )
            )
    return found


def growth_verdicts(rows: list[dict[str, Any]], fit_from: int) -> list[Verdict]:
    import numpy as np

    found = []
    fitted = [row for row in rows if row["family"] == "sphere" and row["triangles"] >= 8 * 4**fit_from]
    triangles = np.array([row["triangles"] for row in fitted], float)
    span = f"spheres of {int(triangles[0]):,} to {int(triangles[-1]):,}"
    for name, key in (("build time", "build_s"), ("memory", "bytes")):
        reached = exponent(triangles, np.array([row[key] for row in fitted], float))
        found.append(Verdict(f"exponent of {name} over triangles, {span}", "below", 1.1, reached))
    for family in dict.fromkeys(row["family"] for row in rows):
        here = [row for row in rows if row["family"] == family]
        times = [row["query_s"] for row in here]
        span = f"{family} of {here[0]['triangles']:,} to {here[-1]['triangles']:,}"
        found.append(Verdict(f"slowest over fastest query, {span}", "at most", 2.5, max(times) / min(times)))
    most = max(row["bytes"] / row["triangles"] for row in rows)
    found.append(Verdict("bytes per triangle, all these meshes", "at most", 600, most))
    return found


def grid_verdicts(rows: list[dict[str, Any]]) -> list[Verdict]:
    return [
        Verdict(f"times faster as a grid, {row['values']}, {row['mesh']}", "at least", 3.0, row["ratio"])
        for row in rows
    ]


# Tables

_SPEED_NOTES = (
    "Best of several alternating rounds. Building includes conversions of the mesh and, for impinge, its "
    "checks; the points come in the type each method takes. *: timed on an evenly spaced subset, of the size "
    "given under differ, and scaled. cores: processor time over wall time. differ: "
    "answers that are not the octree's."
)


def speed_text(rows: list[dict[str, Any]]) -> str:
    blocks = []
    titles = {"random": "random points", "near": "points within 0.1 % of the size from the surface"}
    for mesh, kind in dict.fromkeys((row["mesh"], row["kind"]) for row in rows):
        here = [row for row in rows if row["mesh"] == mesh and row["kind"] == kind]
        ours = next(row for row in here if row["method"].startswith("impinge"))
        body = [
            [
                row["method"],
                seconds(row["build_s"]),
                seconds(row["query_s"]) + ("*" if row["points_timed"] < row["points"] else ""),
                seconds(row["total_s"]),
                f"{row['points'] / row['query_s'] / 1e6:.3g}",
                f"{row['query_s'] / ours['query_s']:.3g}",
                f"{row['total_s'] / ours['total_s']:.3g}",
                f"{row['cores_used']:.1f}",
                f"{row['differ']} of {row['compared']:,}",
            ]
            for row in here
        ]
        head = "method, build, query, build + query, million points/s, query ÷ ours, total ÷ ours, cores, differ"
        blocks.append(f"### {mesh}; {ours['points']:,} {titles[kind]}\n\n" + table(head.split(", "), body))
    return "\n\n".join([*blocks, f"{_SPEED_NOTES} {_settled_text(rows)}"])


def _settled_text(rows: list[dict[str, Any]]) -> str:
    settled = sum(row["differ_settled"] for row in rows)
    right = sum(row["differ_impinge_right"] for row in rows)
    return f"Of {settled} such answers looked at, the sum of all solid angles agrees with impinge in {right}."


def growth_text(rows: list[dict[str, Any]]) -> str:
    body = [
        [
            row["mesh"],
            seconds(row["build_s"]),
            f"{row['build_s'] / row['triangles'] * 1e9:.0f}",
            f"{row['bytes'] / row['triangles']:.0f}",
            "–" if row["peak_build_bytes"] is None else f"{row['peak_build_bytes'] / row['triangles']:.0f}",
            f"{row['query_s'] / row['points'] * 1e9:.1f}",
        ]
        for row in rows
    ]
    head = "mesh, build, ns/triangle, bytes/triangle, peak while building, query ns/point"
    return table(head.split(", "), body)


def grid_text(rows: list[dict[str, Any]]) -> str:
    body = [
        [
            row["mesh"],
            f"{row['values']}, {row['n']}³",
            seconds(row["grid_s"]),
            seconds(row["points_s"]),
            f"{row['ratio']:.3g}",
            str(row["differ"]),
            f"{row['largest_difference']:.2g}",
        ]
        for row in rows
    ]
    head = "mesh, values, grid, point by point, ratio, differ, largest difference"
    return table(head.split(", "), body, left=2)
