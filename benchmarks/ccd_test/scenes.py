"""Motions of the benchmark of continuous collision detection, the same for every method, and how much is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge import ccd

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Pairs = dict[str, Ints]  # by kind: (n, 2), a vertex and a face, or two edges

KINDS = ("vertex_triangle", "edge_edge")
MOTIONS = {"approach": 0.010, "impact": 0.025}  # m, by which the upper layer comes down
RADIUS = 0.01  # m, of the fold: the layers are twice as far apart
_RIPPLE = 0.001  # m
_WAVES = 25.0  # rad/m
_NOISE = 0.04  # of the distance of nodes
_MOVES_FROM = 0.52  # of the length, beyond the fold


@dataclass(frozen=True)
class Cloth:
    """A square sheet of 1 m², folded in the middle, and where its nodes are after a step."""

    motion: str
    side: int  # nodes along a side
    x0: Floats  # (side², 3), m
    x1: Floats
    edges: Ints  # (m, 2)
    faces: Ints  # (k, 3)

    @property
    def label(self) -> str:
        return f"{self.motion}, {self.side}² nodes"

    def corners(self, kind: str, pairs: Ints) -> NDArray[np.int64]:
        """Nodes of pairs of a vertex and a face, or of two edges: (n, 4)."""
        if kind == "vertex_triangle":
            return np.column_stack([pairs[:, :1], self.faces[pairs[:, 1]]]).astype(np.int64)
        return np.column_stack([self.edges[pairs[:, 0]], self.edges[pairs[:, 1]]]).astype(np.int64)


def _folded(along: Floats) -> tuple[Floats, Floats]:
    """Where a strip of length 1 is, x and z: flat, then around half a circle, and flat again above."""
    turn = np.pi * RADIUS
    angle = np.clip((along - 0.5) / RADIUS + np.pi / 2, 0, np.pi)
    beyond = np.maximum(np.abs(along - 0.5) - turn / 2, 0)  # distance from the fold
    return 0.5 - turn / 2 - beyond + RADIUS * np.sin(angle), RADIUS * (1 - np.cos(angle))


def cloth(side: int, motion: str) -> Cloth:
    """The folded sheet, slightly wavy; its upper layer comes down, and all nodes end a bit beside their aim."""
    rng = np.random.default_rng([side, sorted(MOTIONS).index(motion)])
    places = np.linspace(0, 1, side)
    along, across = (grid.ravel() for grid in np.meshgrid(places, places, indexing="ij"))
    x, z = _folded(along)
    x0 = np.column_stack([x, across, z + _RIPPLE * np.sin(_WAVES * across)])
    x1 = x0 + rng.normal(scale=_NOISE / side, size=x0.shape)
    x1[along > _MOVES_FROM, 2] -= MOTIONS[motion]
    node = np.arange(side * side, dtype=np.int32).reshape(side, side)
    a, b, c, d = (part.ravel() for part in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Cloth(motion, side, x0, x1, ccd.edges_of(faces), faces)


def random_queries(count: int, seed: int = 3) -> tuple[Floats, Floats]:
    """Four points each in the unit cube, displaced by up to 0.25 along every axis: (count, 4, 3), m."""
    rng = np.random.default_rng(seed)
    x0 = rng.uniform(0, 1, (count, 4, 3))
    return x0, x0 + rng.uniform(-0.25, 0.25, x0.shape)


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    side: int  # nodes along a side of the cloth
    rounds: int  # of alternating measurements
    method_seconds: float  # methods of no required figure that have used more sit out the other rounds
    broad_phases: tuple[str, ...]  # of ipctk
    asked: int  # candidates that the pair by pair calls get, evenly spaced
    judged: int  # of those that some method reports, and of those that none reports
    queries: int
    peer_queries: int  # of those, for calls from Python
    family_queries: int  # per family of hard queries, kind and gap, each timed alone
    retimed: int  # the slowest of them, timed again
    truth_stride: int  # every so many of the ground truth
    growth: tuple[int, ...]  # nodes along a side
    growth_seconds: float  # methods leave the growth part before a measurement longer than this


FULL = Sizes(
    side=200,
    rounds=9,
    method_seconds=5.0,
    broad_phases=("LBVH", "HashGrid", "SpatialHash", "SweepAndPrune"),
    asked=2_000_000,
    judged=2_000,
    queries=1_000_000,
    peer_queries=100_000,
    family_queries=1_000,
    retimed=300,
    truth_stride=1,
    growth=(50, 100, 200, 400, 800),
    growth_seconds=60.0,
)
QUICK = Sizes(
    side=200,
    rounds=3,
    method_seconds=0.5,
    broad_phases=("LBVH",),
    asked=100_000,
    judged=200,
    queries=100_000,
    peer_queries=5_000,
    family_queries=50,
    retimed=50,
    truth_stride=10,
    growth=(50, 100, 200),
    growth_seconds=10.0,
)
