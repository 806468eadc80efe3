"""Parts "growth" and "curves": how time and memory grow with triangles and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inside_test import cases
from benchmarks.inside_test.ours import Impinge
from benchmarks.inside_test.share import Method, share
from benchmarks.measure import Timing, alternating, best, best_of, peak_memory, timed
from benchmarks.report import progress

# Part "growth": the octree alone, with all meshes of a family in turn.


def _family(makers: list[Callable[[], cases.Case]]) -> list[cases.Case]:
    return [make() for make in makers]


def _families(levels: tuple[int, ...], foams: tuple[int, ...]) -> list[list[cases.Case]]:
    return [
        _family([lambda level=level: cases.sphere(level) for level in levels]),  # type: ignore[misc]
        _family([lambda faces=faces: cases.foam(faces) for faces in foams]),  # type: ignore[misc]
    ]


def _grow(octree: Impinge, family: list[cases.Case], sizes: cases.Sizes) -> list[dict[str, Any]]:
    solids, peaks = [], []
    for case in family:
        peak, solid = peak_memory(lambda case=case: octree.build(case.vertices, case.faces))  # type: ignore[misc]
        solids.append(solid)
        peaks.append(peak)
    points = [cases.random_points(case, sizes.points) for case in family]
    builds: list[list[Timing]] = [[] for _ in family]
    queries: list[list[Timing]] = [[] for _ in family]
    for number, i in alternating(range(len(family)), sizes.rounds):
        case = family[i]
        progress(f"growth: {case.label}, round {number + 1} of {sizes.rounds}")
        builds[i].append(timed(octree.build, case.vertices, case.faces)[0])
        queries[i] += [timed(solids[i].contains, points[i])[0] for _ in range(2)]
    return [
        {
            "mesh": case.label,
            "family": case.family,
            "triangles": len(case.faces),
            "build_s": best(builds[i]).seconds,
            "query_s": best(queries[i]).seconds,
            "points": len(points[i]),
            "bytes": solids[i].nbytes,
            "peak_build_bytes": peaks[i],
            "all_builds_s": [t.seconds for t in builds[i]],
            "all_queries_s": [t.seconds for t in queries[i]],
        }
        for i, case in enumerate(family)
    ]


def measure_growth(octree: Impinge, sizes: cases.Sizes) -> list[dict[str, Any]]:
    """One row per mesh."""
    rows = []
    for family in _families(sizes.growth_levels, sizes.growth_foams):
        rows += _grow(octree, family, sizes)
    return rows


# Part "curves": every method, for the plot.


def _point(method: Method, case: cases.Case, points: NDArray[np.float64], seconds: float) -> dict[str, Any]:
    build, built = best_of(3, method.build, case.vertices, case.faces)
    part = share(method, built, points, seconds)
    query, _ = best_of(5, method.contains, built, part.prepared)
    return {
        "family": case.family,
        "triangles": len(case.faces),
        "method": method.name,
        "build_s": build.seconds,
        "query_s": part.scale * query.seconds,
        "points": len(points),
        "points_timed": len(part.rows),
    }


def _over_triangles(methods: list[Method], family: list[cases.Case], sizes: cases.Sizes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    latest: dict[str, dict[str, Any]] = {}
    for case in family:
        points = cases.random_points(case, sizes.points)
        for method in methods:
            before = latest.get(method.name)
            # Building takes time in proportion to the triangles, or a little more.
            if before and before["build_s"] * len(case.faces) / before["triangles"] > sizes.curve_seconds:
                continue
            progress(f"curves: {case.label}, {method.name}")
            latest[method.name] = _point(method, case, points, sizes.curve_seconds / 20)
            rows.append(latest[method.name])
    return rows


def _forecast(known: list[tuple[int, float]], count: int) -> float:
    """Seconds for `count` points, on the line through the last two measurements (points, seconds)."""
    if len(known) < 2:
        return 0.0
    (n0, t0), (n1, t1) = known[-2:]
    return t1 + (t1 - t0) / (n1 - n0) * (count - n1)


def _over_points(methods: list[Method], case: cases.Case, sizes: cases.Sizes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    points = cases.random_points(case, sizes.points)
    for method in methods:
        progress(f"curves: over points, {case.label}, {method.name}")
        build, built = best_of(3, method.build, case.vertices, case.faces)
        known: list[tuple[int, float]] = []
        for count in sizes.curve_points:
            if _forecast(known, count) > sizes.curve_seconds or count > method.most_points:
                break
            prepared = method.prepare(points[:count])
            query, _ = best_of(5, method.contains, built, prepared)
            known.append((count, query.seconds))
            rows.append(
                {
                    "family": case.family,
                    "triangles": len(case.faces),
                    "method": method.name,
                    "build_s": build.seconds,
                    "query_s": query.seconds,
                    "points": count,
                }
            )
    return rows


def measure_curves(methods: list[Method], sizes: cases.Sizes) -> dict[str, list[dict[str, Any]]]:
    """Time over triangles (for `sizes.points` points) and over points (for the meshes of the speed part)."""
    curves: dict[str, list[dict[str, Any]]] = {"triangles": [], "points": []}
    for family in _families(sizes.curve_levels, sizes.growth_foams):
        curves["triangles"] += _over_triangles(methods, family, sizes)
    for case in (cases.sphere(sizes.sphere_level), cases.foam(sizes.foam_faces)):
        curves["points"] += _over_points(methods, case, sizes)
    return curves
