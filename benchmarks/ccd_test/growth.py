"""Part "growth": time over the number of nodes of the cloth."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

from benchmarks.ccd_test import ours, peers
from benchmarks.ccd_test.race import Entry, race
from benchmarks.ccd_test.scenes import MOTIONS, Cloth, Sizes, cloth
from benchmarks.measure import best
from benchmarks.report import progress

CANDIDATES, FIRST = "candidates", "first contact"


def _entries(scene: Cloth, peer: peers.Ipctk | None, threads: int) -> list[Entry]:
    calls: list[tuple[str, str, Any]] = [
        (ours.NAME, CANDIDATES, partial(ours.find_candidates, scene, threads)),
        (ours.NAME, FIRST, partial(ours.first_contact, scene, threads)),
    ]
    if peer:
        rival = peer.on(scene)
        calls += [
            (peer.name, CANDIDATES, partial(rival.find_candidates, peers.LBVH)),
            (peer.name, FIRST, partial(rival.first_contact, peers.LBVH, peers.ADDITIVE)),
        ]
    return [Entry(method, threads, task, call, is_compared=False) for method, task, call in calls]


def measure(peer: peers.Ipctk | None, sizes: Sizes, threads: int) -> list[dict[str, Any]]:
    """One row per motion, number of nodes, task and method."""
    rows: list[dict[str, Any]] = []
    last: dict[tuple[str, str, str], tuple[int, float]] = {}
    if peer:
        peer.use(threads)
    for motion, side in itertools.product(MOTIONS, sizes.growth):
        progress(f"growth: making {side}² nodes, {motion}")
        scene = cloth(side, motion)
        entries = []
        for entry in _entries(scene, peer, threads):
            nodes, seconds = last.get((motion, entry.task, entry.method), (1, 0.0))
            if seconds * (len(scene.x0) / nodes) ** 2 <= sizes.growth_seconds:  # quadratic growth is the worst
                entries.append(entry)
        race(f"growth: {scene.label}", entries, sizes.rounds, sizes.method_seconds)
        for entry in entries:
            row = {"motion": motion, "side": side, "nodes": len(scene.x0)} | entry.row()
            rows.append(row | {"pairs": _pairs(entry.result)})
            last[motion, entry.task, entry.method] = len(scene.x0), best(entry.timings).seconds
    return rows


def _pairs(result: Any) -> int | None:
    """Number of candidates, if the result is candidates."""
    if isinstance(result, float):
        return None
    return int(result.total) if hasattr(result, "total") else len(result)
