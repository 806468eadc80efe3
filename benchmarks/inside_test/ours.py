"""The methods of impinge, each as a `share.Method`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import impinge
from benchmarks.inside_test.cases import foam, random_points, sphere
from impinge import _jit
from impinge.inside import Multipole

METHODS = ("octree", "ray-exact", "ray", "direct")


class Impinge:
    """One method of `impinge.Solid`. Building includes the checks of the mesh."""

    most_points = 10**9

    def __init__(self, method: str, threads: int) -> None:
        self.name = f"impinge {method}"
        self._method, self._threads = method, threads

    def version(self) -> str:
        return impinge.__version__

    def build(self, vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> impinge.Solid:
        return impinge.Solid(impinge.Mesh(vertices, faces), method=self._method, threads=self._threads)

    def prepare(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points

    def contains(self, built: impinge.Solid, points: Any) -> NDArray[np.bool_]:
        return built.contains(points)


class ImpingeMultipole:
    """Winding numbers by `impinge.inside.Multipole`. Building includes the checks of the mesh."""

    def __init__(self, name: str, threads: int, **parameters: Any) -> None:
        self.name = f"impinge {name}"
        self._threads, self._parameters = threads, parameters

    def build(self, vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> Multipole:
        with _jit.threads(self._threads):
            return Multipole(impinge.Mesh(vertices, faces), **self._parameters)

    def winding(self, built: Multipole, points: NDArray[np.float64]) -> NDArray[np.float64]:
        with _jit.threads(self._threads):
            return built.winding(points)

    def settings(self, built: Multipole) -> str:
        return f"p = {built.order}, d = {built.near:g}, leaf {built.leaf}"


def warm_up(methods: list[Impinge]) -> None:
    """Compile, or load from the cache, what builds and queries."""
    for case in (sphere(4), foam(5_000)):
        points = random_points(case, 2_000)
        for method in methods:
            method.build(case.vertices, case.faces).contains(points)
