"""Part "grid": regular grids at once (`Solid.grid`) and point by point (`contains`, `distance`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inside_test import cases
from benchmarks.inside_test.ours import Impinge
from benchmarks.measure import Timing, alternating, best, timed
from benchmarks.report import progress


def warm_up(octree: Impinge) -> None:
    """Compile, or load from the cache, what grids and distances need."""
    case = cases.sphere(4)
    solid = octree.build(case.vertices, case.faces)
    solid.distance(cases.random_points(case, 1_000))
    for values in ("inside", "distance"):
        solid.grid((20, 21, 22), values=values)


def _measure_case(octree: Impinge, case: cases.Case, values: str, n: int, rounds: int) -> dict[str, Any]:
    solid = octree.build(case.vertices, case.faces)
    axes = solid.grid_axes((n, n, n))
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    ask = solid.contains if values == "inside" else solid.distance
    ask(points[:1])  # the tree for distances is made with the first question
    calls = {"grid": lambda: solid.grid((n, n, n), values=values), "points": lambda: ask(points)}
    timings: dict[str, list[Timing]] = {name: [] for name in calls}
    results = {}
    for number, name in alternating(list(calls), rounds):
        progress(f"grid: {values}, {case.label}, round {number + 1} of {rounds}, {name}")
        timing, results[name] = timed(calls[name])
        timings[name].append(timing)
    by_grid, by_point = best(timings["grid"]).seconds, best(timings["points"]).seconds
    return {
        "mesh": case.label,
        "family": case.family,
        "triangles": len(case.faces),
        "values": values,
        "n": n,
        "grid_s": by_grid,
        "points_s": by_point,
        "ratio": by_point / by_grid,
        "differ": int((results["grid"].ravel() != results["points"]).sum()),
        "largest_difference": float(np.abs(results["grid"].ravel() * 1.0 - results["points"]).max()),
    }


def measure(octree: Impinge, sizes: cases.Sizes) -> list[dict[str, Any]]:
    """One row per mesh and kind of values."""
    rows = []
    for case in (cases.sphere(sizes.sphere_level), cases.foam(sizes.foam_faces)):
        for values, n in (("inside", sizes.grid_inside), ("distance", sizes.grid_distance)):
            rows.append(_measure_case(octree, case, values, n, sizes.rounds))
    return rows
