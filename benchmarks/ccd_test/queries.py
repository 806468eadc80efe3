"""Part "queries": time of single queries, in batches and alone, and the slowest that could be found."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tests.ccd import families

from benchmarks.ccd_test import ours, peers, truth
from benchmarks.ccd_test.race import Entry, race
from benchmarks.ccd_test.scenes import KINDS, Floats, Sizes, random_queries
from benchmarks.report import progress

_Row = dict[str, Any]
_GAP = 1e-3  # of the size of a query
CALLS_ALONE = ", calls alone"  # after the name of a method
_AGAIN = 20  # calls of each of the slowest


# In batches


def _apart(count: int) -> list[peers.Arguments]:
    """Queries far apart and at rest: what is left of a call is the way from Python and back."""
    points = np.array([[9.0, 9, 9], [8, 9, 9], [0, 0, 0], [0, 1, 0]])
    return count * peers.as_arguments(points[None], points[None])


def _batches(kind: str, peer: peers.Ipctk | None, sizes: Sizes, threads: list[int]) -> list[_Row]:
    x0, x1 = random_queries(sizes.queries)
    entries = [Entry(ours.NAME, count, kind, partial(ours.times_of, kind, x0, x1, count)) for count in threads]
    counts = [sizes.queries] * len(entries)
    if peer:
        count = min(sizes.peer_queries, sizes.queries)
        given = {"": peers.as_arguments(x0[:count], x1[:count]), CALLS_ALONE: _apart(count)}
        for title, queries in given.items():
            call = partial(peer.ask, kind, queries, peers.ADDITIVE)
            entries.append(Entry(peers.ADDITIVE + title, 1, kind, call))
            counts.append(count)
    race("queries", entries, sizes.rounds, sizes.method_seconds)
    rows = []
    for entry, count in zip(entries, counts, strict=True):
        hits = entry.result if entry.result.dtype == bool else np.isfinite(entry.result)
        common = hits[: min(counts)]
        rows.append({"kind": kind, "queries": count, "share": float(common.mean())} | entry.row())
    return rows


# Alone


class _Query(NamedTuple):
    family: str
    kind: str
    x0: Floats  # (1, points, axes)
    x1: Floats
    gap: float


def _hard_queries(sizes: Sizes) -> Iterator[_Query]:
    """All families of the tests, and the ground truth, each with gap 0 and with another."""
    for kind in families.POINTS:
        given = {name: families.make(name, kind, sizes.family_queries, seed=11) for name in families.FAMILIES}
        known = [case for case in truth.load(sizes.truth_stride) if case.kind == kind]
        if known:
            given["ground truth"] = np.stack([case.x0 for case in known]), np.stack([case.x1 for case in known])
        for name, (x0, x1) in given.items():
            for k in range(len(x0)):
                size = float(max(np.ptp(x0[k], axis=0).max(), np.ptp(x1[k], axis=0).max()))
                for gap in (0.0, _GAP * size):
                    yield _Query(name, kind, x0[k : k + 1], x1[k : k + 1], gap)


def _seconds(query: _Query) -> float:
    start = time.perf_counter()
    ours.times_of(query.kind, query.x0, query.x1, 1, query.gap)
    return time.perf_counter() - start


def find_slowest(sizes: Sizes) -> _Row:
    """The query whose call takes longest, the best of several calls each; other processes make single calls slow."""
    queries = list(_hard_queries(sizes))
    progress(f"queries: {len(queries):,} hard ones, each alone")
    gc.collect()
    gc.disable()
    try:
        first = np.array([min(_seconds(query), _seconds(query)) for query in queries])
        slowest = np.argsort(first)[-sizes.retimed :]
        again = np.array([min(_seconds(queries[k]) for _ in range(_AGAIN)) for k in slowest])
    finally:
        gc.enable()
    worst = queries[slowest[again.argmax()]]
    return {
        "queries": len(queries),
        "seconds": float(again.max()),
        "median_s": float(np.median(first)),
        "family": worst.family,
        "kind": worst.kind,
        "gap": worst.gap,
        "time": float(ours.times_of(worst.kind, worst.x0, worst.x1, 1, worst.gap)[0]),
        "x0": worst.x0[0].tolist(),
        "x1": worst.x1[0].tolist(),
    }


def measure(peer: peers.Ipctk | None, sizes: Sizes, threads: list[int]) -> dict[str, Any]:
    """Rows of the batches: one per kind, method and number of threads; and the slowest query."""
    batches = [row for kind in KINDS for row in _batches(kind, peer, sizes, threads)]
    return {"batches": batches, "slowest": find_slowest(sizes)}
