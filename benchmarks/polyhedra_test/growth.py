"""Parts "bodies" and "faces": seconds per step of the same pile, with more bodies or with finer surfaces."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import measure as clocks
from benchmarks.polyhedra_test import kinds, ours, scenes
from benchmarks.polyhedra_test.pile import settled
from benchmarks.polyhedra_test.scenes import Bodies, Sizes
from benchmarks.report import progress
from impinge.bodies.rigid.surface import usual_resolution


def _state(bodies: Bodies, resolution: float | None, threads: int) -> tuple[Any, dict[str, Any]]:
    """A world in that state after its first steps, and what it was like to build."""
    start = time.perf_counter()
    world = ours.world_of(bodies, threads, resolution)
    built = time.perf_counter() - start
    world.step(2)
    return world, {"bodies": len(bodies), "built_s": built, **ours.describe_contacts(world)}


def _time(cases: dict[int, tuple[Bodies, float | None]], sizes: Sizes, threads: int, name: str) -> list[dict[str, Any]]:
    """Best of several rounds for each case, from the same state each time."""
    worlds, rows = {}, {}
    for size, (bodies, resolution) in cases.items():
        progress(f"{name}: {size} set up")
        worlds[size], rows[size] = _state(bodies, resolution, threads)
        rows[size] |= {"size": size, "faces": float(np.mean([len(k.mesh.faces) for k in bodies.kinds]))}
    best: dict[int, list[tuple[float, float]]] = {size: [] for size in cases}
    starts = {size: world._dynamics.rigid.state() for size, world in worlds.items()}
    for _, size in clocks.alternating(list(cases), sizes.rounds):
        world = worlds[size]
        world._dynamics.rigid.restore(starts[size])
        listing, _ = clocks.timed(world.step, 1)  # with all lists anew
        taken, _ = clocks.timed(world.step, sizes.steps)
        best[size].append((taken.seconds / sizes.steps, listing.seconds))
    for size, row in rows.items():
        row["step_s"] = min(step for step, _ in best[size])
        row["listing_s"] = max(0.0, min(listing for _, listing in best[size]) - row["step_s"])
        row["all_step_s"] = [step for step, _ in best[size]]
    return list(rows.values())


def with_bodies(part: Bodies, sizes: Sizes, threads: int) -> list[dict[str, Any]]:
    """Copies of a pile side by side."""
    piles = [scenes.side_by_side(part, *copies) for copies in sizes.copies]
    return _time({len(bodies): (bodies, None) for bodies in piles}, sizes, threads, "bodies")


def with_faces(sizes: Sizes, threads: int) -> list[dict[str, Any]]:
    """The same state, shapes and resolution; only triangles are smaller."""
    thrown = scenes.thrown(sizes.face_bodies, sizes.face_counts[0], scenes.PRISMS)
    coarse = settled(thrown, sizes, threads, "faces")
    fine = float(np.mean([usual_resolution(kind.mesh) for kind in coarse.kinds]))
    cases: dict[int, tuple[Bodies, float | None]] = {
        count: (replace(coarse, kinds=tuple(kinds.make(name, count) for name in scenes.PRISMS)), fine)
        for count in sizes.face_counts
    }
    return _time(cases, sizes, threads, "faces")
