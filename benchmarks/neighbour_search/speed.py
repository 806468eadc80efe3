"""Part "speed": all pairs of spheres, next to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

import impinge
from benchmarks.measure import forget_garbage, free_memory_gb
from benchmarks.neighbour_search.competitors import Forecast, Impinge, judge
from benchmarks.neighbour_search.race import enter, race
from benchmarks.neighbour_search.sizes import Sizes
from benchmarks.neighbour_search.systems import System
from benchmarks.report import progress


def _too_much(peer: Any, forecast: Forecast, sizes: Sizes) -> str:
    """Why the peer is left out, if it is."""
    candidates = peer.candidates(forecast)
    free = free_memory_gb()
    most = sizes.call_gb if free is None else min(sizes.call_gb, 0.8 * free)
    seconds, memory = candidates * peer.candidate_seconds, candidates * peer.candidate_bytes / 1e9
    if seconds <= sizes.call_seconds and memory <= most:
        return ""
    return f"skipped: would test {candidates:.2g} candidates, about {seconds:,.0f} s and {memory:,.0f} GB"


def _measure(system: System, ours: Impinge, peers: list[Any], sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    entries = enter(ours, threads, system, len(system))
    left_out = []
    forecast = Forecast(system)
    for peer in peers:
        if peer.group == "split" and not system.is_split:
            continue
        reason = _too_much(peer, forecast, sizes)
        if reason:
            left_out.append({"method": peer.name, "group": peer.group, "threads": None, "skipped": reason})
        else:
            entries += enter(peer, threads, system, len(system))
    del forecast
    forget_garbage()
    race(f"speed: {system.label}", entries, sizes.rounds, sizes.method_seconds)
    truth, extent = entries[0].answer, float(np.abs(system.centres).max() + system.radii.max())
    if truth is None:
        raise RuntimeError(f"impinge {entries[0].failure}")

    def count(change: float) -> int:
        return len(impinge.pairs(system.centres, system.radii, gap=max(0.0, system.gap + change)))

    about = {
        "system": system.label,
        "family": system.family,
        "n": len(system),
        "ratio": system.ratio,
        "true_pairs": truth.pairs,
    }
    rows = []
    for entry in entries:
        differs = judge(entry.answer, truth, entry.competitor.single, extent, count) if entry.answer else ""
        rows.append(about | entry.row() | {"differs": differs})
    return rows + [about | row for row in left_out]


def measure(ours: Impinge, peers: list[Any], sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    """One row per system, competitor and number of threads."""
    rows = []
    for make in sizes.systems():
        progress("speed: making the next system")
        rows += _measure(make(), ours, peers, sizes, threads)
    return rows
