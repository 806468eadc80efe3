"""False alarms and missed contacts among the candidates of a cloth, by the exact judge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ccd_test import ours, peers
from benchmarks.ccd_test.scenes import KINDS, Cloth, Floats, Pairs, Sizes
from benchmarks.report import progress
from impinge.ccd.judge import first_time

_Bools = NDArray[np.bool_]
_AT_ONCE = 50_000


def judge(kind: str, x0: Floats, x1: Floats) -> _Bools:
    """Whether there is contact, in exact arithmetic: (n,) for queries (n, 4, 3)."""
    return np.array([first_time(kind, start, end) is not None for start, end in zip(x0, x1, strict=True)], bool)


def tally(hits: _Bools, truth: _Bools) -> dict[str, int]:
    """How often a method is wrong."""
    return {
        "reported": int(hits.sum()),
        "false_alarms": int((hits & ~truth).sum()),
        "missed": int((~hits & truth).sum()),
    }


def _share(pairs: Pairs, most: int) -> Pairs:
    """An evenly spaced subset of about so many pairs, whatever their order."""
    stride = max(1, -(-sum(map(len, pairs.values())) // most))
    return {kind: pairs[kind][np.lexsort(pairs[kind].T[::-1])[::stride]] for kind in KINDS}


def _sample(rows: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation(rows)[:count]


def _queries(scene: Cloth, pairs: Pairs) -> dict[str, tuple[Floats, Floats]]:
    """Positions of pairs at the start and at the end, (n, 4, 3) each, by kind."""
    corners = {kind: scene.corners(kind, pairs[kind]) for kind in KINDS}
    return {kind: (scene.x0[corners[kind]], scene.x1[corners[kind]]) for kind in KINDS}


def _ask(peer: peers.Ipctk, narrow: str, queries: dict[str, tuple[Floats, Floats]]) -> _Bools:
    """Answers to all queries, first of the one kind, then of the other; arguments of all at once take gigabytes."""
    answers = []
    for kind in KINDS:
        x0, x1 = queries[kind]
        for first in range(0, len(x0), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            answers.append(peer.ask(kind, peers.as_arguments(x0[part], x1[part]), narrow))
    return np.concatenate(answers)


def count_alarms(
    scene: Cloth, pairs: Pairs, peer: peers.Ipctk | None, sizes: Sizes, threads: int
) -> list[dict[str, Any]]:
    """One row per method: how it does on pairs that impinge or additive CCD reports, and on pairs that none reports."""
    asked = _share(pairs, sizes.asked)
    times = ours.all_times(scene, asked, threads)
    hits = {ours.NAME: np.concatenate([np.isfinite(times[kind]) for kind in KINDS])}
    if peer:
        progress(f"cloth: {scene.label}: {len(hits[ours.NAME]):,} pairs one by one, {peers.ADDITIVE}")
        hits[peers.ADDITIVE] = _ask(peer, peers.ADDITIVE, _queries(scene, asked))
    some = np.any(list(hits.values()), axis=0)
    rng = np.random.default_rng(4)
    chosen = np.sort(np.concatenate([_sample(np.flatnonzero(which), sizes.judged, rng) for which in (some, ~some)]))
    first = len(asked[KINDS[0]])
    parts = {KINDS[0]: chosen[chosen < first], KINDS[1]: chosen[chosen >= first] - first}
    queries = _queries(scene, {kind: asked[kind][parts[kind]] for kind in KINDS})
    progress(f"cloth: {scene.label}: the exact judge on {len(chosen):,} pairs")
    truth = np.concatenate([judge(kind, *queries[kind]) for kind in KINDS])
    about = {"motion": scene.motion, "asked": len(some), "judged": len(chosen), "in_contact": int(truth.sum())}
    rows = [
        about | {"method": name, "reported_of_all": int(found.sum())} | tally(found[chosen], truth)
        for name, found in hits.items()
    ]
    if peer:
        for name in (peers.STRICT, peers.TIGHT):
            progress(f"cloth: {scene.label}: these pairs one by one, {name}")
            found = _ask(peer, name, queries)
            rows.append(about | {"method": name, "reported_of_all": None} | tally(found, truth))
    return rows
