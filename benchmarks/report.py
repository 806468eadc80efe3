"""Results in words: tables, and every required figure with what was reached."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_START = time.perf_counter()


def progress(text: str) -> None:
    """What is being measured, on standard error."""
    print(f"[{time.perf_counter() - _START:6.1f} s] {text}", file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; all columns but the first `left` are numbers."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def seconds(value: float) -> str:
    """Three digits, in a unit that suits."""
    factor, unit = next((f, u) for f, u in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")) if value * f >= 0.9995)
    number = value * factor
    return f"{number:.{max(0, 3 - len(str(int(number))))}f} {unit}"


# Required figures


@dataclass(frozen=True)
class Verdict:
    """A required figure and what was reached."""

    name: str
    sense: str  # "at least", "at most" or "below"
    required: float
    reached: float | None  # None: not measured
    aim: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        if self.reached is None:
            return None
        if self.sense == "at least":
            return self.reached >= self.required
        return self.reached < self.required if self.sense == "below" else self.reached <= self.required

    def __str__(self) -> str:
        word = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        aim = f" (aim {self.aim:g})" if self.aim else ""
        reached = "" if self.reached is None else f", reached {self.reached:.3g}"
        remark = f" [{self.remark}]" if self.remark else ""
        return f"{word + ':':13} {self.name}: {self.sense} {self.required:g}{aim}{reached}{remark}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.met}


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

    from benchmarks.growth import exponent

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


def is_busy(facts: dict[str, Any]) -> bool:
    """Whether other processes took more than a tenth of a CPU from the measurements."""
    return (facts["others_cpus"] or 0.0) > 0.1


def _busy_text(facts: dict[str, Any]) -> str:
    if facts["others_cpus"] is None:
        return "what other processes used is not known"
    warning = "; BUSY MACHINE: DO NOT TRUST THESE FIGURES" if is_busy(facts) else ""
    return f"other processes used {facts['others_cpus']:.2f} of these CPUs on average{warning}"


def machine_text(facts: dict[str, Any], peers: dict[str, str], absent: dict[str, str]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    changed = " with changes" if facts["commit_changed"] else ""
    lines = [
        f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['memory_gb']} GB memory; {facts['system']}",
        f"Python {facts['python']}, {versions}; impinge {facts['impinge']}, commit {facts['commit']}{changed}",
        f"{facts['threads']} threads on CPUs {facts['used_cpus']}; "
        f"load average before: {facts['load_before']}, after: {facts['load_after']}; {facts['date']}",
        _busy_text(facts),
        "peers: " + (", ".join(f"{name} {version}" for name, version in peers.items()) or "none"),
        *(f"absent: {name} ({reason})" for name, reason in absent.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)


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
