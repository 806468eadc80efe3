"""Part "cloth": candidates, earliest contact and both together on a cloth that is folded on itself."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from benchmarks.ccd_test import ours, peers
from benchmarks.ccd_test.alarms import count_alarms
from benchmarks.ccd_test.race import Entry, race
from benchmarks.ccd_test.scenes import KINDS, MOTIONS, Cloth, Floats, Ints, Pairs, Sizes, cloth
from impinge.ccd.judge import first_time

_Row = dict[str, Any]
_Rival = peers.OnCloth | None


# Candidates


def apart(scene: Cloth, kind: str, pairs: Ints) -> Floats:
    """By how much the boxes around what the two sweep are apart, (n,), m; the sign is exact: above 0 if they are."""
    corners, split = scene.corners(kind, pairs), 1 if kind == "vertex_triangle" else 2
    lower, upper = np.minimum(scene.x0, scene.x1), np.maximum(scene.x0, scene.x1)
    first, second = corners[:, :split], corners[:, split:]
    below = lower[second].min(axis=1) - upper[first].max(axis=1)
    above = lower[first].min(axis=1) - upper[second].max(axis=1)
    return np.maximum(below, above).max(axis=1)


def _only_in(one: Ints, other: Ints) -> Ints:
    """Pairs of the one that the other has not."""
    keys, others = (pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1] for pairs in (one, other))
    return one[~np.isin(keys, others)]


def compare(scene: Cloth, mine: Pairs, theirs: Pairs) -> _Row:
    """What they have more, and how much of it we should have; what they lack."""
    more = np.concatenate([apart(scene, kind, _only_in(theirs[kind], mine[kind])) for kind in KINDS])
    return {
        "more": len(more),
        "missed_by_us": int((more <= 0).sum()),
        "more_apart": float(more.max(initial=0.0)),
        "lacks": sum(len(_only_in(mine[kind], theirs[kind])) for kind in KINDS),
    }


def _candidates(scene: Cloth, rival: _Rival, sizes: Sizes, threads: int) -> tuple[list[_Row], Any, Pairs]:
    """Rows; and the candidates of ipctk's LBVH, for ipctk and for us, or without it our own."""
    task = "candidates"
    entries = [Entry(ours.NAME, threads, task, partial(ours.find_candidates, scene, threads))]
    if rival:
        for name in sizes.broad_phases:
            call, is_compared = partial(rival.find_candidates, name), name == peers.LBVH
            entries.append(Entry(f"ipctk {name}", threads, task, call, is_compared))
    race(f"cloth: {scene.label}", entries, sizes.rounds, sizes.method_seconds)
    found = [ours.pairs_of(entries[0].result), *(peers.pairs_of(entry.result) for entry in entries[1:])]
    rows = []
    for entry, pairs in zip(entries, found, strict=True):
        counts = {"vertex_faces": len(pairs["vertex_triangle"]), "edge_edges": len(pairs["edge_edge"])}
        rows.append({"motion": scene.motion} | entry.row() | counts | compare(scene, found[0], pairs))
    shared = 1 if rival else 0
    return rows, entries[shared].result, found[shared]


# Earliest contact


def _narrow_phase(
    scene: Cloth, rival: _Rival, found: Any, pairs: Pairs, sizes: Sizes, threads: int, with_tight: bool
) -> list[_Row]:
    """Earliest contact of the same pairs, and of impinge also the times of all."""
    task = "earliest contact"
    entries = [
        Entry(ours.NAME, threads, task, partial(ours.find_earliest, scene, pairs, threads)),
        Entry(ours.ALL_TIMES, threads, "all times", partial(ours.all_times, scene, pairs, threads), is_compared=False),
    ]
    if rival:
        for name in (peers.ADDITIVE, peers.STRICT):
            call, is_compared = partial(rival.find_earliest, found, name), name == peers.ADDITIVE
            entries.append(Entry(name, threads, task, call, is_compared))
        if with_tight:
            call = partial(rival.find_earliest, found, peers.TIGHT)
            entries.append(Entry(peers.TIGHT, threads, task, call, is_once=True))
    race(f"cloth: {scene.label}", entries, sizes.rounds, sizes.method_seconds)
    about = {"motion": scene.motion, "queries": sum(map(len, pairs.values()))}
    return [about | entry.row() | _answer(scene, pairs, entry.result) for entry in entries]


def _answer(scene: Cloth, pairs: Pairs, result: Any) -> _Row:
    """The earliest time; of ours also the exact one of the pair that it is about."""
    if isinstance(result, float):
        return {"earliest": result, "exact": None}
    if isinstance(result, dict):
        return {"earliest": min(1.0, *(times.min(initial=1.0) for times in result.values())), "exact": None}
    time, kind, at = result
    if not kind:
        return {"earliest": 1.0, "exact": None}
    corners = scene.corners(kind, pairs[kind][at : at + 1])[0]
    truth = first_time(kind, scene.x0[corners], scene.x1[corners])
    return {"earliest": time, "exact": None if truth is None else float(truth[0])}


def _whole(scene: Cloth, rival: _Rival, sizes: Sizes, threads: int) -> list[_Row]:
    task = "first contact"
    entries = [Entry(ours.NAME, threads, task, partial(ours.first_contact, scene, threads))]
    if rival:
        call = partial(rival.first_contact, peers.LBVH, peers.ADDITIVE)
        entries.append(Entry("ipctk LBVH, additive CCD", threads, task, call))
    race(f"cloth: {scene.label}", entries, sizes.rounds, sizes.method_seconds)
    return [{"motion": scene.motion} | entry.row() | {"earliest": min(entry.result, 1.0)} for entry in entries]


def measure(peer: peers.Ipctk | None, sizes: Sizes, threads: list[int]) -> dict[str, Any]:
    """Rows of each task: one per motion, number of threads and method."""
    results: dict[str, Any] = {"side": sizes.side, "candidates": [], "narrow": [], "whole": [], "alarms": []}
    for motion, count in itertools.product(MOTIONS, threads):
        scene = cloth(sizes.side, motion)
        is_last = count == max(threads)
        if peer:
            peer.use(count)
        rival = peer.on(scene) if peer else None
        rows, found, pairs = _candidates(scene, rival, sizes, count)
        results["candidates"] += rows
        results["narrow"] += _narrow_phase(scene, rival, found, pairs, sizes, count, with_tight=is_last)
        results["whole"] += _whole(scene, rival, sizes, count)
        if is_last:
            results["alarms"] += count_alarms(scene, pairs, peer, sizes, count)
    return results
