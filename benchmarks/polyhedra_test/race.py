"""Part "race": the same bodies thrown into the same box by all engines."""

from __future__ import annotations

from typing import Any

from benchmarks.polyhedra_test import scenes
from benchmarks.polyhedra_test.engine import Engine, Setting, run
from benchmarks.polyhedra_test.judges import judge
from benchmarks.polyhedra_test.scenes import Bodies, Sizes
from benchmarks.report import progress, reason


def _row(engine: Engine, setting: Setting, bodies: Bodies, sizes: Sizes, threads: int) -> dict[str, Any]:
    row: dict[str, Any] = {"bodies": len(bodies), "engine": engine.name, "setting": str(setting)}
    progress(f"race, {len(bodies)} bodies: {engine.name} {setting}")
    try:
        done = run(engine, bodies, setting, threads, sizes.duration, sizes.race_seconds)
    except Exception as error:  # whatever is wrong with it, the others can still be measured
        return row | {"failure": reason(error)}
    row |= {
        "failure": "",
        "dt": done.dt,
        "steps": done.steps,
        "seconds": done.seconds,
        "simulated": done.simulated,
        "rate": done.rate,
        "ended": done.ended,
    }
    return row | ({"judged": judge(bodies, *done.pose)} if done.pose.is_finite else {})


def measure(engines: list[Engine], sizes: Sizes, threads: int) -> list[dict[str, Any]]:
    """One row per size, engine and setting."""
    rows = []
    for count in sizes.race:
        bodies = scenes.thrown(count, sizes.faces)
        rows += [_row(engine, setting, bodies, sizes, threads) for engine in engines for setting in engine.settings()]
    return rows
