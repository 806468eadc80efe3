"""A scene by all engines and settings: how fast they are, and what their runs are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import alternating
from benchmarks.report import progress, reason
from benchmarks.soft_test.engine import Engine, Run, Setting, run
from benchmarks.soft_test.judges import Judgement, departure, judge
from benchmarks.soft_test.peers import Mujoco
from benchmarks.soft_test.scenes import Cloth, Scene, Sizes


@dataclass
class Entry:
    """An engine with a setting."""

    engine: Engine
    setting: Setting
    runs: list[Run] = field(default_factory=list)
    failure: str = ""

    @property
    def title(self) -> str:
        return f"{self.engine.name} {self.setting}, steps of {1e3 * self.setting.dt:g} ms"

    def is_out(self, seconds: float) -> bool:
        return bool(self.failure) or sum(float(done.seconds.sum()) for done in self.runs) > seconds

    def go(self, scene: Scene, threads: int, limit: float) -> None:
        try:
            self.runs.append(run(self.engine, scene, self.setting, threads, limit))
        except Exception as error:  # whatever is wrong with it, the others can still be measured
            self.failure = reason(error)


def why_unsound(done: Run, found: Judgement) -> str:
    """Why a run does not count; empty if it does."""
    reasons = {
        done.ended: bool(done.ended),
        "passes through itself": found.crossings > 0 or found.tangled > 0,
        "inside the obstacle": found.clearance <= 0,
    }
    return ", ".join(reason for reason, holds in reasons.items() if holds)


def _row(scene: Scene, entry: Entry, reference: Run | None) -> dict[str, Any]:
    row = {
        "scene": scene.name,
        "engine": entry.engine.name,
        "setting": str(entry.setting),
        "dt": entry.setting.dt,
        "is_main": entry.setting == entry.engine.main_setting(),
        "failure": entry.failure,
    }
    if not entry.runs:
        return row
    progress(f"{scene.name}: judging {entry.title}")
    best = max(entry.runs, key=lambda done: done.rate)
    found = judge(scene, best)
    return row | {
        "steps": len(best.seconds),
        "rate": best.rate,
        "all_rates": [done.rate for done in entry.runs],
        "step_s": float(best.seconds.mean()),
        "slowest_step_s": float(best.seconds.max()),
        "trouble": best.trouble,
        **found.as_dict(),
        "departure": None if reference is None else departure(best, reference),
        "unsound": why_unsound(best, found),
    }


def _reference(scene: Scene, peer: Mujoco | None, threads: int, sizes: Sizes) -> Run | None:
    """A cable's motion as good as exact; that of cloth hangs on the smallest differences."""
    if peer is None or isinstance(scene.body, Cloth):
        return None
    progress(f"{scene.name}: reference")
    return run(peer, scene, peer.reference(), threads, sizes.run_seconds)


def measure(scene: Scene, engines: list[Engine], peer: Mujoco | None, threads: int, sizes: Sizes) -> dict[str, Any]:
    """One row per engine and setting; the peer gives the reference."""
    reference = _reference(scene, peer, threads, sizes)
    entries = [Entry(engine, setting) for engine in engines for setting in engine.settings(scene)]
    for number, entry in alternating(entries, sizes.rounds):
        if number == 0 or not entry.is_out(sizes.setting_seconds):
            progress(f"{scene.name}, round {number + 1} of {sizes.rounds}: {entry.title}")
            entry.go(scene, threads, sizes.run_seconds)
    return {
        "scene": scene.name,
        "nodes": len(scene.body.x),
        "duration": scene.duration,
        "gap": scene.body.gap,
        "rows": [_row(scene, entry, reference) for entry in entries],
    }
