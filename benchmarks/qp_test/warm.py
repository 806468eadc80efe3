"""Part "warm": programs of consecutive steps, each solved from the solution of the step before, and K alone."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import impinge
from benchmarks.measure import alternating, forget_garbage
from benchmarks.qp_test import ours
from benchmarks.qp_test.accuracy import measure
from benchmarks.qp_test.plain import Plain
from benchmarks.qp_test.problems import Ints, Program
from benchmarks.qp_test.sequences import Sequence, Step, record
from benchmarks.qp_test.sizes import Sizes
from benchmarks.report import progress

_Row = dict[str, Any]
_TURN, _MOST = 2e-3, 10  # seconds that a turn of a method lasts at least, and calls at most
_OURS = "impinge's factor"
_FACTOR_ONLY = "factor only"


def guess(before: impinge.QPSolution, known: Ints, keys: Ints) -> impinge.QPSolution:
    """The last solution with multipliers of the rows of now: those of the same pair, or 0.

    A pair that is held along several normals has several rows; the first of them gets all.
    """
    pairs, which = np.unique(known, return_inverse=True)
    pulls = np.bincount(which, before.multipliers, len(pairs))
    multipliers = np.zeros(len(keys))
    here, first = np.unique(keys, return_index=True)
    _, there, last = np.intersect1d(here, pairs, assume_unique=True, return_indices=True)
    multipliers[first[there]] = pulls[last]
    return replace(before, multipliers=multipliers, active=np.flatnonzero(multipliers > 0))


def _least_times(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Seconds of each call in the best of alternating turns, after one to warm up."""
    least = dict.fromkeys(calls, np.inf)
    for number, name in alternating(list(calls), rounds + 1):
        used = 0.0
        for _ in range(_MOST if number else 1):
            start = time.perf_counter()
            calls[name]()
            seconds = time.perf_counter() - start
            least[name] = min(least[name], seconds) if number else np.inf
            used += seconds
            if used > _TURN:
                break
    return least


def _fastest(program: Program, factors: list[Plain], rounds: int) -> Plain | None:
    """Of the solvers of others with K alone, or nothing if ours is the fastest."""
    progress(f"warm: K alone of {program.name}")
    suited = {factor.name: factor for factor in factors if factor.suits(program)}
    calls = {name: factor.prepare(program) for name, factor in suited.items()}
    times = _least_times({_OURS: ours.prepare_factor(program)[0]} | calls, rounds)
    return suited.get(min(times, key=lambda name: times[name]))


def _step_times(program: Program, warm: impinge.QPSolution, rival: Plain | None, rounds: int) -> dict[str, float]:
    """Seconds of all ways to solve a step."""
    whole, again = ours.prepare_factor(program)
    calls: dict[str, Callable[[], Any]] = {
        "warm": partial(ours.solve, program, warm), "cold": partial(ours.solve, program),
        "plain": rival.prepare(program) if rival else whole, _FACTOR_ONLY: again,
    }  # fmt: skip
    gc.disable()
    try:
        return _least_times(calls, rounds)
    finally:
        gc.enable()


def _measure_one(sequence: Sequence, factors: list[Plain], sizes: Sizes) -> _Row:
    """The row of one sequence: times of all steps in all ways, and how good the answers are."""
    steps = record(sequence)
    middle: Step = steps[len(steps) // 2]
    forget_garbage()
    rival = _fastest(middle.program, factors, sizes.rounds)
    found, known = ours.solve(steps[0].program), steps[0].keys
    times: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {"rows": [], "active": [], "iterations": [], "cold_iterations": []}
    error = 0.0
    for number, (program, keys) in enumerate(steps[1:], 1):
        progress(f"warm: {program.name}, step {number} of {sequence.steps}")
        warm = guess(found, known, keys)
        for name, seconds in _step_times(program, warm, rival, sizes.rounds).items():
            times.setdefault(name, []).append(seconds)
        found, known = ours.solve(program, warm), keys
        error = max(error, measure(program, ours.answer(found)).largest)
        values = len(program.c), len(found.active), found.iterations, ours.solve(program).iterations
        for name, value in zip(counts, values, strict=True):
            counts[name].append(value)
    means = {name: float(np.mean(values)) for name, values in (counts | times).items()}
    about = {"sequence": middle.program.name, "kind": sequence.kind, "unknowns": len(middle.program.b)}
    factor_only = means.pop(_FACTOR_ONLY)
    return about | means | {
        "steps": sequence.steps, "plain_method": rival.name if rival else _OURS, "error": error,
        "factor_only": None if rival else factor_only, "all_s": times, "all_counts": counts,
    }  # fmt: skip


def measure_warm(factors: list[Plain], sizes: Sizes) -> list[_Row]:
    """One row per sequence; "warm", "cold" and "plain" are mean seconds of a step."""
    rows = []
    for sequence in sizes.sequences:
        progress(f"warm: recording {sequence.scene}")
        rows.append(_measure_one(sequence, factors, sizes))
    return rows
