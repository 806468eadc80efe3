"""Measurements of one body in several finenesses, and questions about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Diagonal", "Run", "Series", "along", "exponent", "two_digits"]


@dataclass(frozen=True)
class Run:
    """One method on one mesh and one grid."""

    method: str
    triangles: int
    points: int
    setup: float  # s
    query: float  # s for all points
    timed: int  # points that were asked for; if fewer than all, `query` is scaled
    differing: int  # of these, whose answer is not that of the octree
    on_surface: int  # of these, exactly

    @property
    def total(self) -> float:
        """Seconds to set up and to answer."""
        return self.setup + self.query

    @property
    def scaled(self) -> bool:
        """Whether only some of the points were asked for."""
        return self.timed < self.points


def along(points: int) -> str:
    """A number of grid points as the paper writes it: 10³."""
    return f"{round(points ** (1 / 3))}³"


def two_digits(value: float) -> str:
    """An exponent with two digits; a dash where there is none."""
    return "–" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}"  # never −0.00


def exponent(x: Sequence[float], y: Sequence[float], last: int | None = None) -> float:
    """Slope of log y over log x, over all or the last few; NaN with fewer than two or with a y of 0."""
    x, y = (x[-last:], y[-last:]) if last else (x, y)
    if len(x) < 2 or min(y) <= 0:
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


class Series:
    """Runs of all methods on the meshes of one body with all grids."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = list(runs)
        self.sizes = sorted({run.triangles for run in runs})
        self.grids = sorted({run.points for run in runs})
        self._found = {(run.method, run.triangles, run.points): run for run in runs}

    def run(self, method: str, triangles: int, points: int) -> Run:
        """The one with these numbers."""
        return self._found[method, triangles, points]

    def over_triangles(self, method: str, points: int) -> list[Run]:
        """One for each mesh, from coarse to fine."""
        return [self._found[method, size, points] for size in self.sizes]

    def over_points(self, method: str, triangles: int) -> list[Run]:
        """One for each grid, from coarse to fine."""
        return [self._found[method, triangles, points] for points in self.grids]

    def growth_in_triangles(self, method: str, points: int, last: int | None = None, part: str = "total") -> float:
        """Exponent of a time (`total`, `query`) over the number of triangles."""
        runs = self.over_triangles(method, points)
        return exponent([run.triangles for run in runs], [getattr(run, part) for run in runs], last)

    def growth_in_points(self, method: str, triangles: int, part: str = "total", last: int | None = None) -> float:
        """Exponent of a time (`total`, `query`) over the number of points."""
        runs = self.over_points(method, triangles)
        return exponent([run.points for run in runs], [getattr(run, part) for run in runs], last)

    def ratios(self, slow: str, fast: str, points: int) -> dict[int, float]:
        """Total time of one method over that of another, by the number of triangles."""
        return {size: self.run(slow, size, points).total / self.run(fast, size, points).total for size in self.sizes}


class Diagonal:
    """Runs of all methods with about as many points as triangles."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = list(runs)

    def of(self, method: str) -> list[Run]:
        """Those of a method, from few to many."""
        return [run for run in self.runs if run.method == method]

    def growth(self, method: str) -> float:
        """Exponent of the total time over √(N M), from the last three."""
        runs = self.of(method)
        return exponent([(run.triangles * run.points) ** 0.5 for run in runs], [run.total for run in runs], 3)
