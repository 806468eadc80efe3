"""Part "winding": winding numbers of closed meshes and of meshes with holes, by expansions: time and error."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import impinge
from benchmarks.inside_test import cases
from benchmarks.inside_test.ours import Impinge, ImpingeMultipole
from benchmarks.measure import Timing, alternating, best, forget_garbage, timed
from benchmarks.report import progress

_Floats = NDArray[np.float64]

# Parameters that are tried, cheapest first, until the error is at most libigl's.
LADDER: tuple[dict[str, Any], ...] = (
    *({"order": 3, "near": near} for near in (2.0, 2.1, 2.2, 2.3, 2.4)),
    *({"order": order, "near": 2.0} for order in (4, 5, 6, 8)),
)
DEFAULT_ACCURACY = 1e-3
REFERENCE_ACCURACY = 1e-6  # far below all errors of the methods here
# Compared by required figures, so measured equally often: the best of more would be better by chance.
COMPARED = ("impinge matched", "impinge default", "libigl")


class Winder(Protocol):
    """One way to get winding numbers."""

    name: str

    def build(self, vertices: _Floats, faces: NDArray[np.int32]) -> Any: ...
    def winding(self, built: Any, points: _Floats) -> _Floats: ...
    def settings(self, built: Any) -> str: ...


def matched(threads: int, step: int) -> ImpingeMultipole:
    return ImpingeMultipole("matched", threads, **LADDER[step])


def default(threads: int) -> ImpingeMultipole:
    return ImpingeMultipole("default", threads, accuracy=DEFAULT_ACCURACY)


def _reference(threads: int) -> ImpingeMultipole:
    return ImpingeMultipole("reference", threads, accuracy=REFERENCE_ACCURACY)


def warm_up(threads: int) -> None:
    """Compile, or load from the cache, what this part times, and the octree, which knows the truth."""
    for case in (cases.sphere(4), cases.foam(5_000)):
        points = cases.random_points(case, 2_000)
        for method in (matched(threads, 0), matched(threads, -1), default(threads), _reference(threads)):
            method.winding(method.build(case.vertices, case.faces), points)
        Impinge("octree", threads).build(case.vertices, case.faces).winding(points)


# Errors


@dataclass(frozen=True)
class Truth:
    """Winding numbers of all points, and how they are known."""

    values: _Floats
    source: str
    direct_points: int = 0  # where the sum of all solid angles was compared
    direct_error: float | None = None  # largest difference from it


@dataclass(frozen=True)
class Errors:
    """How far winding numbers are from the truth."""

    largest: float
    rms: float
    wrong: int  # points that change sides: inside means more than 1/2

    @classmethod
    def of(cls, values: _Floats, truth: _Floats) -> Errors:
        difference = values - truth
        wrong = (values > 0.5) != (truth > 0.5)
        return cls(float(np.abs(difference).max()), float(np.sqrt(np.mean(difference**2))), int(wrong.sum()))

    def within(self, other: Errors) -> bool:
        return self.largest <= other.largest and self.rms <= other.rms


def _truth(case: cases.Case, points: _Floats, sizes: cases.Sizes, threads: int) -> Truth:
    mesh = impinge.Mesh(case.vertices, case.faces)
    if mesh.is_closed:
        return Truth(Impinge("octree", threads).build(case.vertices, case.faces).winding(points), "octree")
    reference = _reference(threads)
    values = reference.winding(reference.build(case.vertices, case.faces), points)
    rows = np.random.default_rng(9).permutation(len(points))[: sizes.direct_points]
    direct = Impinge("direct", threads).build(case.vertices, case.faces).winding(points[rows])
    return Truth(values, "reference", len(rows), float(np.abs(values[rows] - direct).max()))


# Time


@dataclass
class _Run:
    """Measurements of one method on one mesh."""

    method: Winder
    builds: list[Timing] = field(default_factory=list)
    queries: list[Timing] = field(default_factory=list)
    settings: str = ""
    values: _Floats | None = None

    @property
    def spent(self) -> float:
        return sum(timing.seconds for timing in itertools.chain(self.builds, self.queries))

    def go(self, case: cases.Case, points: _Floats) -> None:
        """Build afresh and ask once."""
        build, built = timed(self.method.build, case.vertices, case.faces)
        query, self.values = timed(self.method.winding, built, points)
        self.builds.append(build)
        self.queries.append(query)
        self.settings = self.method.settings(built)

    def row(self, case: cases.Case, truth: Truth) -> dict[str, Any]:
        assert self.values is not None
        query, errors = best(self.queries), Errors.of(self.values, truth.values)
        return {
            "mesh": case.label,
            "family": case.family,
            "triangles": len(case.faces),
            "points": len(truth.values),
            "method": self.method.name,
            "settings": self.settings,
            "build_s": best(self.builds).seconds,
            "query_s": query.seconds,
            "total_s": min(b.seconds + q.seconds for b, q in zip(self.builds, self.queries, strict=True)),
            "cores_used": query.cpu_seconds / query.seconds,
            "largest_error": errors.largest,
            "rms_error": errors.rms,
            "wrong": errors.wrong,
            "truth": truth.source,
            "direct_points": truth.direct_points,
            "direct_error": truth.direct_error,
            "all_builds_s": [timing.seconds for timing in self.builds],
            "all_queries_s": [timing.seconds for timing in self.queries],
        }


def match(case: cases.Case, points: _Floats, truth: Truth, limit: Errors | None, threads: int) -> ImpingeMultipole:
    """The first parameters of the ladder whose errors are within the limit; the last ones if none are."""
    for step, parameters in enumerate(LADDER):
        method = matched(threads, step)
        if limit is None or step == len(LADDER) - 1:
            break
        progress(f"winding: {case.label}, errors of {parameters}")
        values = method.winding(method.build(case.vertices, case.faces), points)
        if Errors.of(values, truth.values).within(limit):
            break
    return method


def measure_case(case: cases.Case, peers: list[Winder], sizes: cases.Sizes, threads: int) -> list[dict[str, Any]]:
    """One row per method."""
    points = cases.random_points(case, sizes.points)
    progress(f"winding: {case.label}, the truth")
    truth = _truth(case, points, sizes, threads)
    limit = None
    for peer in peers:
        if peer.name == "libigl":
            values = peer.winding(peer.build(case.vertices, case.faces), points)
            limit = Errors.of(values, truth.values)
    runs = [_Run(method) for method in (match(case, points, truth, limit, threads), default(threads), *peers)]
    forget_garbage()
    for number, run in alternating(runs, sizes.rounds):
        if number == 0 or run.method.name in COMPARED or run.spent < sizes.method_seconds:
            progress(f"winding: {case.label}, round {number + 1} of {sizes.rounds}, {run.method.name}")
            run.go(case, points)
    return [run.row(case, truth) for run in runs]


def measure(peers: list[Winder], sizes: cases.Sizes, threads: int) -> list[dict[str, Any]]:
    """One row per mesh and method."""
    rows = []
    for case in (cases.sphere(sizes.sphere_level), cases.foam(sizes.foam_faces)):
        for shown in (case, cases.with_holes(case)):
            rows += measure_case(shown, peers, sizes, threads)
    return rows
