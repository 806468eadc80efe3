"""What impinge does, in the steps that are timed."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.ccd_test.scenes import KINDS, Cloth, Floats, Ints, Pairs, cloth, random_queries
from impinge import _jit, ccd
from impinge.ccd._times import EDGE_EDGE, VERTEX_TRIANGLE
from impinge.ccd.queries import earliest, find_times

NAME, ALL_TIMES = "impinge", "impinge, all times"
_CODES = {"vertex_triangle": VERTEX_TRIANGLE, "edge_edge": EDGE_EDGE}


def _table(scene: Cloth, kind: str) -> Ints:
    """Corners of what the second numbers of pairs stand for."""
    return scene.faces if kind == "vertex_triangle" else scene.edges


def find_candidates(scene: Cloth, threads: int) -> ccd.Candidates:
    """All pairs whose swept boxes overlap, with the checks of the input."""
    return ccd.candidates(scene.x0, scene.x1, scene.edges, scene.faces, threads=threads)


def pairs_of(found: ccd.Candidates) -> Pairs:
    return {"vertex_triangle": found.vertex_faces, "edge_edge": found.edge_edges}


def find_earliest(scene: Cloth, pairs: Pairs, threads: int) -> tuple[float, str, int]:
    """Time, kind and place of the earliest contact of given pairs: the narrow phase of `ccd.first_contact`."""
    first = (math.inf, "", -1)
    with _jit.threads(threads):
        for kind, code in _CODES.items():
            limit = min(first[0], 1.0)
            time, at = earliest(code, scene.x0, scene.x1, pairs[kind], _table(scene, kind), 0.0, limit)
            if time < first[0]:
                first = time, kind, at
    return first


def all_times(scene: Cloth, pairs: Pairs, threads: int) -> dict[str, Floats]:
    """Times of contact of all given pairs: the narrow phase of `ccd.contacts`."""
    with _jit.threads(threads):
        return {
            kind: find_times(code, scene.x0, scene.x1, pairs[kind], _table(scene, kind), 0.0)
            for kind, code in _CODES.items()
        }


def first_contact(scene: Cloth, threads: int) -> float:
    """Time of first contact, from positions to the answer."""
    found = ccd.first_contact(scene.x0, scene.x1, scene.edges, scene.faces, threads=threads)
    return math.inf if found is None else found.time


def times_of(kind: str, x0: Floats, x1: Floats, threads: int, gap: float = 0.0) -> Floats:
    """Times of contact of single queries, (n, points, axes)."""
    found: Floats = getattr(ccd, kind)(x0, x1, gap=gap, threads=threads)
    return found


def warm_up(threads: list[int]) -> None:
    """Compile, or load from the cache, what is timed."""
    for motion in ("approach", "impact"):
        scene = cloth(30, motion)
        for count in threads:
            pairs = pairs_of(find_candidates(scene, count))
            find_earliest(scene, pairs, count)
            all_times(scene, pairs, count)
            first_contact(scene, count)
    x0, x1 = random_queries(100)
    for kind in KINDS:
        times_of(kind, x0, x1, 1)
    times_of("point_segment", np.ascontiguousarray(x0[:, :3, :2]), np.ascontiguousarray(x1[:, :3, :2]), 1)
