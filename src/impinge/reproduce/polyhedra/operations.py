"""How often the multipole method does what, beside [Muth2006] Table 1, and what the depth of its trees does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from impinge import _jit
from impinge.inside import Multipole
from impinge.reproduce.polyhedra.bodies import grid_points
from impinge.reproduce.polyhedra.measure import shortest
from impinge.reproduce.polyhedra.series import exponent
from impinge.reproduce.statements import Progress
from impinge.shapes import octasphere

__all__ = ["MODES", "OPERATIONS", "Count", "Counts", "Depth", "count_operations", "measure_depths"]

MODES = ("pre-chosen", "well-chosen")


@dataclass(frozen=True)
class Operation:
    """A line of Table 1."""

    meaning: str
    paper: str  # its cost there, without the factors of p
    in_triangles: float  # power of N therein, logarithms left out
    in_points: float  # power of M


OPERATIONS = {
    "p2m": Operation("triangles to moments", "N", 1, 0),
    "m2m": Operation("moments to a father", "N_ω ~ N / log² N", 1, 0),
    "m2l": Operation("moments to local expansions", "c_d N_ω", 1, 0),
    "l2l": Operation("local expansions to sons", "N_σ ≤ c_d N_ω", 1, 0),
    "l2p": Operation("local expansions at points", "M", 0, 1),
    "m2p": Operation("moments at points", "–", 0, 1),
    "near": Operation("solid angles of near triangles", "M log² N", 0, 1),
}


@dataclass(frozen=True)
class Count:
    """Operations of one mesh and one grid."""

    mode: str
    triangles: int
    points: int
    counts: dict[str, int]  # by name in `OPERATIONS`


class Counts:
    """Operations over the number of triangles, with one grid, and over the number of points, with one mesh."""

    def __init__(self, over_triangles: list[Count], over_points: list[Count]) -> None:
        self.over_triangles, self.over_points = over_triangles, over_points

    def of(self, mode: str, over: str) -> list[Count]:
        """Those of a mode, over `triangles` or `points`."""
        return [count for count in getattr(self, f"over_{over}") if count.mode == mode]

    def growth(self, mode: str, over: str, name: str) -> float:
        """Exponent of an operation, from the last three numbers."""
        here = self.of(mode, over)
        return exponent([getattr(count, over) for count in here], [count.counts[name] for count in here], 3)


def _count(mode: str, level: int, along: int) -> Count:
    mesh = octasphere(level)
    counts = Multipole(mesh, mode=mode).operations(grid_points(mesh, along))._asdict()
    return Count(mode, len(mesh.faces), along**3, {name: counts[name] for name in OPERATIONS})


def count_operations(quick: bool, progress: Progress) -> Counts:
    """Counts for the sphere series."""
    levels, along = (range(1, 7), 20) if quick else (range(1, 8), 40)
    grids, level = ((10, 20, 40), 5) if quick else ((10, 20, 40, 80), 6)
    progress("counting operations")
    over_triangles = [_count(mode, one, along) for mode in MODES for one in levels]
    return Counts(over_triangles, [_count(mode, level, one) for mode in MODES for one in grids])


@dataclass(frozen=True)
class Depth:
    """Times of a fixed depth of both trees, chosen before the points are known."""

    triangles: int
    depth: int
    setup: float  # s
    queries: dict[int, float]  # s, by the number of points


def measure_depths(quick: bool, progress: Progress) -> list[Depth]:
    """Times over the depth, on one thread."""
    mesh = octasphere(5 if quick else 6)
    points = {along**3: grid_points(mesh, along) for along in ((10, 20, 40) if quick else (10, 20, 40, 80))}
    found = []
    with _jit.threads(1):
        for depth in range(1, 6) if quick else range(2, 7):
            progress(f"trees of depth {depth}")
            # Small leaves, so that only the depth ends the trees.
            setup, solid = shortest(partial(Multipole, mesh, mode="pre-chosen", depth=depth, leaf=4))
            queries = {count: shortest(partial(solid.classify, places))[0] for count, places in points.items()}
            found.append(Depth(len(mesh.faces), depth, setup, queries))
    return found
