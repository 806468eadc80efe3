"""Part "truth": the public handcrafted queries, whose answers are known."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from tests.ccd import naive

from benchmarks.ccd_test import ours, peers
from benchmarks.ccd_test.alarms import judge, tally
from benchmarks.ccd_test.scenes import KINDS, Floats, Sizes
from benchmarks.report import progress

_Row = dict[str, Any]
_SHORT = 0.01  # s: shorter calls are timed again


class Known(NamedTuple):
    """A query as doubles."""

    kind: str
    x0: Floats  # (4, 3)
    x1: Floats
    hit: bool  # of the rational numbers it was given by
    is_exact: bool  # whether the doubles are these numbers


def load(stride: int = 1) -> list[Known]:
    """Every so many of all queries; none if the files are not here."""
    found = []
    for k, (kind, start, end, hit) in enumerate(naive.ground_truth()):
        if k % stride == 0:
            x0, x1 = np.array(start, np.float64), np.array(end, np.float64)
            found.append(Known(kind, x0, x1, hit, is_exact=x0.tolist() == start and x1.tolist() == end))
    return found


def _row(method: str, kind: str, hits: Any, spent: Floats, truths: Any) -> _Row:
    about = {"method": method, "kind": kind, "queries": len(truths), "in_contact": int(truths.sum())}
    return about | {"mean_s": float(spent.mean()), "slowest_s": float(spent.max())} | tally(hits, truths)


def _ours_row(kind: str, x0: Floats, x1: Floats, truths: Any) -> _Row:
    spent = np.array([_alone(kind, x0[k : k + 1], x1[k : k + 1]) for k in range(len(x0))])
    batch = min(_alone(kind, x0, x1) for _ in range(5))
    hits = np.isfinite(ours.times_of(kind, x0, x1, 1))
    return _row(ours.NAME, kind, hits, spent, truths) | {"batch_s": batch / len(x0)}


def _alone(kind: str, x0: Floats, x1: Floats) -> float:
    """Seconds of a call, the best of three."""
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        ours.times_of(kind, x0, x1, 1)
        spent.append(time.perf_counter() - start)
    return min(spent)


def _peer_row(peer: peers.Ipctk, narrow: str, kind: str, x0: Floats, x1: Floats, truths: Any) -> _Row:
    hits, spent = np.zeros(len(x0), bool), np.zeros(len(x0))
    for k, query in enumerate(peers.as_arguments(x0, x1)):
        hits[k], spent[k] = peer.ask_timed(kind, query, narrow)
        for _ in range(2 if spent[k] < _SHORT else 0):
            spent[k] = min(spent[k], peer.ask_timed(kind, query, narrow)[1])
    return _row(narrow, kind, hits, spent, truths)


def measure(peer: peers.Ipctk | None, sizes: Sizes) -> dict[str, Any]:
    """Rows per kind and method; no rows if the queries are not here."""
    cases = load(sizes.truth_stride)
    rows: list[_Row] = []
    differ = 0
    for kind in KINDS:
        here = [case for case in cases if case.kind == kind]
        if not here:
            continue
        x0, x1 = np.stack([case.x0 for case in here]), np.stack([case.x1 for case in here])
        truths = np.array([case.hit for case in here])
        progress(f"truth: {kind}, the exact judge")
        differ += int((judge(kind, x0, x1) != truths).sum())
        progress(f"truth: {kind}, {ours.NAME}")
        rows.append(_ours_row(kind, x0, x1, truths))
        if peer:
            for narrow in (peers.ADDITIVE, peers.STRICT, peers.TIGHT):
                progress(f"truth: {kind}, {narrow}")
                rows.append(_peer_row(peer, narrow, kind, x0, x1, truths))
    inexact = sum(not case.is_exact for case in cases)
    return {"rows": rows, "queries": len(cases), "inexact": inexact, "judge_differs": differ}
