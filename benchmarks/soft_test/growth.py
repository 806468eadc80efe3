"""Part "growth": seconds per step of a cloth that falls onto a sphere, with more and more nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.report import progress
from benchmarks.soft_test.engine import Engine
from benchmarks.soft_test.ours import NAME
from benchmarks.soft_test.scenes import Sizes, cloth_on_sphere
from benchmarks.soft_test.speed import Entry


def measure(engines: list[Engine], threads: int, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per size and engine."""
    rows = []
    for side in sizes.growth:
        scene = replace(cloth_on_sphere(side), duration=sizes.duration)
        for engine in engines:
            if engine.name != NAME and side > sizes.growth_most:
                continue
            entry = Entry(engine, engine.main_setting())
            progress(f"growth: {side}² nodes, {entry.title}")
            entry.go(scene, threads, sizes.growth_seconds)
            row = {"side": side, "engine": engine.name, "setting": str(entry.setting), "dt": entry.setting.dt}
            for done in entry.runs:
                row |= {
                    "step_s": float(done.seconds.mean()),
                    "median_s": float(np.median(done.seconds)),
                    "slowest_s": float(done.seconds.max()),
                    "simulated": done.simulated,
                    "ended": done.ended,
                }
            rows.append(row | {"failure": entry.failure})
    return rows
