"""A method of the inside test, and the points it is timed on: all, or a subset for slow ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Timing, best, timed


class Method(Protocol):
    """One way to answer which points are inside; a library, or a method of ours."""

    name: str
    most_points: int  # more in one call would need too much memory

    def version(self) -> str: ...
    def build(self, vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> Any: ...
    def prepare(self, points: NDArray[np.float64]) -> Any: ...
    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]: ...


@dataclass
class Share:
    """The points a method is timed on: all, or an evenly spaced subset whose time is scaled."""

    points: NDArray[np.float64]
    rows: NDArray[np.int64]  # those timed
    prepared: Any  # the points at those rows, in the type the method takes
    prepare_seconds: float
    timings: list[Timing] = field(default_factory=list)

    @property
    def scale(self) -> float:
        return len(self.points) / len(self.rows)


def _take(method: Method, points: NDArray[np.float64], count: int) -> Share:
    rows = np.linspace(0, len(points) - 1, min(count, len(points))).astype(np.int64)
    chosen = np.ascontiguousarray(points[rows])
    timing, prepared = timed(method.prepare, chosen)
    return Share(points, rows, prepared, timing.seconds)


def share(method: Method, built: Any, points: NDArray[np.float64], seconds: float) -> Share:
    """As many of the points as the method answers in about `seconds`. The trials also warm it up."""
    most = min(len(points), method.most_points)
    count = min(100, most)
    while True:
        trial = _take(method, points, count)
        spent = best(timed(method.contains, built, trial.prepared)[0] for _ in range(2)).seconds
        if spent > seconds / 4 or count == most:
            break
        count = min(4 * count, most)
    wanted = max(1, int(count * seconds / spent))
    wanted = most if wanted > most / 2 else wanted  # nearly all: then all
    return trial if wanted == count else _take(method, points, wanted)
