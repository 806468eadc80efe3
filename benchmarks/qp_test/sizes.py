"""How much is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.qp_test import problems
from benchmarks.qp_test.problems import Program
from benchmarks.qp_test.sequences import Sequence


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    programs: tuple[Callable[[], Program], ...]  # the smaller ones of each kind first
    rounds: int  # of alternating measurements, after one to warm up
    method_seconds: float  # others than ours that have used more on a problem sit out its other rounds
    limit: float  # s: peers leave a kind of problems before one that would take longer
    sequences: tuple[Sequence, ...]  # of consecutive steps


def _sequences(segments: int, side: int, steps: int) -> tuple[Sequence, ...]:
    cables = Sequence("pulley", segments, steps), Sequence("suspended", segments, steps)
    return *cables, Sequence("sphere", side, steps), Sequence("collapse", side, steps, on_itself=True)


FULL = Sizes(problems.FULL, rounds=7, method_seconds=10.0, limit=60.0, sequences=_sequences(60, 30, 50))
QUICK = Sizes(problems.QUICK, rounds=3, method_seconds=0.5, limit=5.0, sequences=_sequences(30, 16, 10))
