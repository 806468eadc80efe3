"""How much is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.qp_test import problems
from benchmarks.qp_test.problems import Program


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    programs: tuple[Callable[[], Program], ...]  # the smaller ones of each kind first
    rounds: int  # of alternating measurements, after one to warm up
    method_seconds: float  # others than ours that have used more on a problem sit out its other rounds
    limit: float  # s: peers leave a kind of problems before one that would take longer


FULL = Sizes(problems.FULL, rounds=7, method_seconds=10.0, limit=60.0)
QUICK = Sizes(problems.QUICK, rounds=3, method_seconds=0.5, limit=5.0)
