"""What the methods cost on the paper's bodies: seconds to set up, and to answer for a grid of points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from impinge import _jit
from impinge.inside import Multipole, Octree
from impinge.inside.ray import Ray
from impinge.reproduce.polyhedra.bodies import foams, grid_points, spheres
from impinge.reproduce.polyhedra.series import Diagonal, Run, Series
from impinge.reproduce.statements import Progress
from impinge.shapes import Mesh, octasphere

__all__ = ["METHODS", "measure_all", "measure_diagonal", "measure_mesh", "shortest", "warm_up"]

_Result = TypeVar("_Result")

METHODS: dict[str, Callable[[Mesh], Any]] = {
    "octree": Octree,
    "well-chosen": Multipole,
    "pre-chosen": lambda mesh: Multipole(mesh, mode="pre-chosen"),
    "ray": Ray,
}
_SHORT, _TRIES = 0.3, 5  # s; what takes less is done again, at most so often, and the fastest counts
_PROBE = 200  # points from which the time of ray crossing is foreseen
_SEED = 2006


@dataclass(frozen=True)
class _Sizes:
    """How much is measured."""

    grids: tuple[int, ...]  # points along a side
    longest: float  # s of ray crossing; with more to come, only some of the points are asked for


_FULL, _QUICK = _Sizes((10, 20, 40, 80), 60.0), _Sizes((10, 20, 40), 2.0)


def shortest(function: Callable[[], _Result]) -> tuple[float, _Result]:
    """Seconds of a call by this thread, the best of some if they are short, and what it returned.

    Time of the processor, which other programs on the machine disturb less; every kernel runs in this thread.
    """
    best, spent = np.inf, 0.0
    for _ in range(_TRIES):
        start = time.thread_time()
        result = function()
        seconds = time.thread_time() - start
        best, spent = min(best, seconds), spent + seconds
        if spent > _SHORT:
            break
    return best, result


def warm_up() -> None:
    """Compile everything, and make the matrices that all meshes share."""
    for mesh in (octasphere(0), octasphere(3)):  # points of the first are on the surface, which is decided apart
        points = grid_points(mesh, 10)
        for prepare in METHODS.values():
            for _ in range(2):
                prepare(mesh).classify(points)


def _asked(method: str, solid: Any, points: NDArray[np.float64], longest: float) -> NDArray[np.intp] | slice:
    """Which points are asked for: all, or for ray crossing as many random ones as can be answered in time."""
    if method != "ray" or len(points) <= _PROBE:
        return slice(None)
    order = np.random.default_rng(_SEED).permutation(len(points))
    seconds = shortest(lambda: solid.classify(points[order[:_PROBE]]))[0] * len(points) / _PROBE
    if seconds <= longest:
        return slice(None)
    return np.sort(order[: max(_PROBE, int(len(points) * longest / seconds))])


def measure_mesh(mesh: Mesh, grids: Iterable[int], longest: float, progress: Progress) -> list[Run]:
    """All methods on one body; the octree first, with whose answers the others are compared."""
    points = {along: grid_points(mesh, along) for along in grids}
    classes: dict[int, NDArray[np.int8]] = {}
    runs = []
    for method, prepare in METHODS.items():
        progress(f"{len(mesh.faces):,} triangles, {method}")
        setup, solid = shortest(partial(prepare, mesh))
        for along, places in points.items():
            some = _asked(method, solid, places, longest)
            asked = places[some]
            query, found = shortest(partial(solid.classify, asked))
            right = classes.setdefault(along, found)[some]
            differing, on_surface = int((found != right).sum()), int((right == 0).sum())
            scaled = query * len(places) / len(asked)
            runs.append(Run(method, len(mesh.faces), len(places), setup, scaled, len(asked), differing, on_surface))
    return runs


def measure_all(quick: bool, progress: Progress) -> dict[str, Series]:
    """The sphere series and the foams, on one thread."""
    sizes = _QUICK if quick else _FULL
    found = {}
    with _jit.threads(1):
        progress("warming up")
        warm_up()
        for body, meshes in (("sphere", spheres(quick)), ("foam", foams(quick))):
            progress(f"{body}: meshes")
            runs: list[Run] = []
            for mesh in meshes:
                runs += measure_mesh(mesh, sizes.grids, sizes.longest, progress)
            found[body] = Series(runs)
    return found


def measure_diagonal(quick: bool, progress: Progress) -> Diagonal:
    """Spheres with a grid of about as many points as triangles, on one thread."""
    runs: list[Run] = []
    with _jit.threads(1):
        for level in range(3, 7 if quick else 8):
            mesh = octasphere(level)
            along = round(len(mesh.faces) ** (1 / 3))
            runs += measure_mesh(mesh, [along], (_QUICK if quick else _FULL).longest, progress)
    return Diagonal(runs)
