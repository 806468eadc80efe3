"""Part "speed": build and query time of every method, for random points and points near the surface."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inside_test import cases
from benchmarks.inside_test.ours import Impinge
from benchmarks.inside_test.share import Method, Share, share
from benchmarks.measure import Timing, alternating, best, forget_garbage, timed
from benchmarks.report import progress

_SETTLED = 200  # disagreements looked at


@dataclass
class _Run:
    """Measurements of one method on one mesh."""

    method: Method
    shares: dict[str, Share]
    builds: list[Timing] = field(default_factory=list)
    firsts: dict[str, list[Timing]] = field(default_factory=dict)  # the query right after each build
    answers: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def spent(self) -> float:
        queries = (timing for part in self.shares.values() for timing in part.timings)
        return sum(t.seconds for t in self.builds) + sum(t.seconds for t in queries)

    def go(self, case: cases.Case) -> None:
        """Build afresh, then ask each set of points three times, or once if it takes more than a second."""
        timing, built = timed(self.method.build, case.vertices, case.faces)
        self.builds.append(timing)
        for kind, part in self.shares.items():
            first, self.answers[kind] = timed(self.method.contains, built, part.prepared)
            self.firsts.setdefault(kind, []).append(first)
            part.timings.append(first)
            for _ in range(2 if first.seconds < 1 else 0):
                part.timings.append(timed(self.method.contains, built, part.prepared)[0])

    def row(self, case: cases.Case, kind: str) -> dict[str, Any]:
        part = self.shares[kind]
        query, build = best(part.timings), best(self.builds)
        totals = [b.seconds + part.scale * q.seconds for b, q in zip(self.builds, self.firsts[kind], strict=True)]
        return {
            "mesh": case.label,
            "family": case.family,
            "triangles": len(case.faces),
            "kind": kind,
            "points": len(part.points),
            "points_timed": len(part.rows),
            "method": self.method.name,
            "build_s": build.seconds,
            "query_s": part.scale * query.seconds,
            "query_median_s": part.scale * statistics.median(t.seconds for t in part.timings),
            "total_s": min(totals),
            "cores_used": query.cpu_seconds / query.seconds,
            "prepare_s": part.scale * part.prepare_seconds,
            "all_builds_s": [t.seconds for t in self.builds],
            "all_queries_s": [t.seconds for t in part.timings],  # of the points timed, not scaled
        }


def _start(method: Method, case: cases.Case, points: dict[str, Any], sizes: cases.Sizes) -> _Run:
    built = method.build(case.vertices, case.faces)
    return _Run(method, {kind: share(method, built, p, sizes.call_seconds) for kind, p in points.items()})


def _settle(case: cases.Case, points: NDArray[np.float64], truth: NDArray[np.bool_], threads: int) -> int:
    """Of these points, how many the sum of all solid angles sees as the octree does."""
    solid = Impinge("direct", threads).build(case.vertices, case.faces)
    return int((solid.contains(points) == truth).sum())


def _compare(run: _Run, kind: str, truth: NDArray[np.bool_], case: cases.Case, threads: int) -> dict[str, Any]:
    part = run.shares[kind]
    wrong = part.rows[run.answers[kind] != truth[part.rows]]
    looked_at = wrong[:_SETTLED]
    agreed = _settle(case, part.points[looked_at], truth[looked_at], threads) if len(looked_at) else 0
    return {
        "differ": len(wrong),
        "compared": len(part.rows),
        "differ_settled": len(looked_at),
        "differ_impinge_right": agreed,
    }


def _measure_case(
    case: cases.Case, octree: Impinge, peers: list[Method], sizes: cases.Sizes, threads: int
) -> list[dict[str, Any]]:
    points = {kind: make(case, sizes.points) for kind, make in cases.POINT_SETS.items()}
    solid = octree.build(case.vertices, case.faces)
    truth = {kind: solid.contains(p) for kind, p in points.items()}
    del solid
    runs = [_start(method, case, points, sizes) for method in [octree, *peers]]
    forget_garbage()
    for number, run in alternating(runs, sizes.rounds):
        if number < sizes.least_rounds or run.spent < sizes.method_seconds:
            progress(f"speed: {case.label}, round {number + 1} of {sizes.rounds}, {run.method.name}")
            run.go(case)
    return [run.row(case, kind) | _compare(run, kind, truth[kind], case, threads) for kind in points for run in runs]


def measure(octree: Impinge, peers: list[Method], sizes: cases.Sizes, threads: int) -> list[dict[str, Any]]:
    """One row per mesh, kind of points and method."""
    rows = []
    for case in (cases.sphere(sizes.sphere_level), cases.foam(sizes.foam_faces)):
        rows += _measure_case(case, octree, peers, sizes, threads)
    return rows
