"""ipctk, the peer: its broad phases, additive CCD and tight inclusion, with default settings where no others are named.

It is imported when the class is called. Meshes and positions come in its own types, made before the clock starts;
broad phases, narrow phases and what they fill are made anew in every call.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import command
from benchmarks.ccd_test.scenes import KINDS, Cloth, Floats, Pairs, cloth, random_queries

Arguments = tuple[Floats, ...]  # of a call for one query: four points at the start, four at the end

LBVH = "LBVH"
# Additive CCD reports contact when a part of the distance at the start is left, by default a tenth; strictly, 0.001.
ADDITIVE, STRICT, TIGHT = "ipctk additive CCD", "ipctk additive CCD, 0.999", "ipctk tight inclusion"
_CALLS = {"vertex_triangle": "point_triangle_ccd", "edge_edge": "edge_edge_ccd"}


def _make_narrow(ipctk: Any, name: str) -> Any:
    if name == STRICT:
        return ipctk.AdditiveCCD(conservative_rescaling=0.999)
    return ipctk.AdditiveCCD() if name == ADDITIVE else ipctk.TightInclusionCCD()


class OnCloth:
    """ipctk with a cloth as it takes it."""

    def __init__(self, ipctk: Any, scene: Cloth) -> None:
        self._ipctk = ipctk
        self._x0, self._x1 = np.asfortranarray(scene.x0), np.asfortranarray(scene.x1)
        self._mesh = ipctk.CollisionMesh(self._x0, scene.edges, scene.faces)

    def find_candidates(self, broad_phase: str) -> Any:
        found = self._ipctk.Candidates()
        found.build(self._mesh, self._x0, self._x1, 0.0, getattr(self._ipctk, broad_phase)())
        return found

    def find_earliest(self, found: Any, narrow_phase: str) -> float:
        """Largest step without contact of such candidates; 1 if there is none in the whole step."""
        narrow = _make_narrow(self._ipctk, narrow_phase)
        return float(found.compute_collision_free_stepsize(self._mesh, self._x0, self._x1, 0.0, narrow))

    def first_contact(self, broad_phase: str, narrow_phase: str) -> float:
        """Largest step without contact."""
        broad, narrow = getattr(self._ipctk, broad_phase)(), _make_narrow(self._ipctk, narrow_phase)
        step = self._ipctk.compute_collision_free_stepsize
        return float(step(self._mesh, self._x0, self._x1, 0.0, broad, narrow))


class Ipctk:
    """The library."""

    name = "ipctk"

    def __init__(self) -> None:
        import ipctk

        self._ipctk = ipctk
        ipctk.set_logger_level(ipctk.LoggerLevel.off)  # it would write a line for every contact at the start

    def version(self) -> str:
        return importlib.metadata.version("ipctk")

    def use(self, threads: int) -> None:
        self._ipctk.set_num_threads(threads)

    def on(self, scene: Cloth) -> OnCloth:
        return OnCloth(self._ipctk, scene)

    def ask(self, kind: str, queries: list[Arguments], narrow_phase: str) -> NDArray[np.bool_]:
        """Whether there is contact, by a call for each query."""
        call = getattr(_make_narrow(self._ipctk, narrow_phase), _CALLS[kind])
        return np.fromiter((call(*points)[0] for points in queries), bool, len(queries))

    def ask_timed(self, kind: str, query: Arguments, narrow_phase: str) -> tuple[bool, float]:
        """Whether there is contact, and seconds of the call."""
        call = getattr(_make_narrow(self._ipctk, narrow_phase), _CALLS[kind])
        start = time.perf_counter()
        hit, _ = call(*query)
        return bool(hit), time.perf_counter() - start


def pairs_of(found: Any) -> Pairs:
    """Candidates of ipctk as ours are: a vertex and a face, and two edges, the lower number first."""
    faces, edges = found.fv_candidates, found.ee_candidates
    vertex_faces = [number for pair in faces for number in (pair.vertex_id, pair.face_id)]
    edge_edges = [number for pair in edges for number in (pair.edge0_id, pair.edge1_id)]
    return {
        "vertex_triangle": np.array(vertex_faces, np.int32).reshape(-1, 2),
        "edge_edge": np.sort(np.array(edge_edges, np.int32).reshape(-1, 2), axis=1),
    }


def as_arguments(x0: Floats, x1: Floats) -> list[Arguments]:
    """Queries, (n, 4, 3) at the start and at the end, as arguments of the calls."""
    return [(*start, *end) for start, end in zip(x0, x1, strict=True)]


def _trial(peer: Ipctk) -> None:
    """Fails where this version lacks something, and warms up."""
    on_cloth = peer.on(cloth(20, "impact"))
    found = on_cloth.find_candidates(LBVH)
    pairs_of(found)
    for narrow in (ADDITIVE, STRICT, TIGHT):
        on_cloth.find_earliest(found, narrow)
        on_cloth.first_contact(LBVH, narrow)
    for kind in KINDS:
        peer.ask(kind, as_arguments(*random_queries(20)), ADDITIVE)


def load(names: Iterable[str]) -> tuple[Ipctk | None, dict[str, str]]:
    """The peer if it is wanted and there, and otherwise the reason."""
    ready, absent = command.load(names, {"ipctk": Ipctk}, _trial)
    return (ready[0] if ready else None), absent
