"""What soft bodies are made of: arrays of elastic parts between nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Edges", "Membranes", "Parts", "Springs", "Stencils", "join"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class Edges(NamedTuple):
    """Lines between two nodes, whether they are elastic or not: what touches others, and whose strain is limited."""

    nodes: Ints  # (m, 2)
    rest: Floats  # (m,) length at rest, m


class Springs(NamedTuple):
    """E = k/2 (l − l₀)², l the distance of two nodes."""

    nodes: Ints  # (m, 2)
    stiffness: Floats  # (m,) k, N/m
    rest: Floats  # (m,) l₀ > 0, m


class Stencils(NamedTuple):
    """E = k/2 |Σ wₐ xₐ|² over a few nodes, with weights whose sum is 0: resistance to bending."""

    nodes: Ints  # (m, 3) of cables, (m, 4) of cloth
    weights: Floats  # w, as many
    stiffness: Floats  # (m,) k, N m with weights in 1/m, N/m with weights without a unit


class Membranes(NamedTuple):
    """E = A (kᵤ/2 (|Fᵤ| − 1)² + kᵥ/2 (|Fᵥ| − 1)² + kₛ/2 (Fᵤ·Fᵥ)²), F = ∂x/∂(u, v), of triangles of area A at rest.

    The measures of strain are those of [Baraff1998].
    """

    nodes: Ints  # (m, 3)
    rest: Floats  # (m, 3, 2) coordinates of the corners along warp u and weft v at rest, m
    stiffness: Floats  # (m, 3) kᵤ, kᵥ, kₛ, N/m


class Parts(NamedTuple):
    """A body, or several: masses of its nodes, and all that holds them together."""

    masses: Floats  # (n,) kg
    edges: Edges
    springs: Springs
    bends: Stencils  # of cables: three nodes
    membranes: Membranes
    hinges: Stencils  # of cloth: both ends of an edge, then the corners opposite to it


NO_EDGES = Edges(np.empty((0, 2), np.int32), np.empty(0))
NO_SPRINGS = Springs(np.empty((0, 2), np.int32), np.empty(0), np.empty(0))
NO_BENDS = Stencils(np.empty((0, 3), np.int32), np.empty((0, 3)), np.empty(0))
NO_MEMBRANES = Membranes(np.empty((0, 3), np.int32), np.empty((0, 3, 2)), np.empty((0, 3)))
NO_HINGES = Stencils(np.empty((0, 4), np.int32), np.empty((0, 4)), np.empty(0))
NOTHING = Parts(np.empty(0), NO_EDGES, NO_SPRINGS, NO_BENDS, NO_MEMBRANES, NO_HINGES)


def join(bodies: Sequence[Parts]) -> Parts:
    """All parts of several bodies, whose nodes are counted on from one body to the next."""
    moved, first = [NOTHING], 0
    for body in bodies:
        kinds = [kind._replace(nodes=kind.nodes + np.int32(first)) for kind in body[1:]]
        moved.append(Parts._make([body.masses, *kinds]))
        first += len(body.masses)
    together: Parts = _stacked(moved)
    return together


def _stacked(alike: Sequence[Any]) -> Any:
    """Arrays one after the other, or tuples of arrays field by field."""
    if isinstance(alike[0], np.ndarray):
        return np.concatenate(alike)
    return alike[0]._make(map(_stacked, zip(*alike, strict=True)))
