"""Cables: a row of nodes with springs between neighbours, that resist bending."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge import _check
from impinge.bodies.soft.parts import NO_BENDS, NO_HINGES, NO_MEMBRANES, Edges, Floats, Ints, Parts, Springs, Stencils
from impinge.errors import InputError

__all__ = ["cable_parts"]


def cable_parts(points: Any, *, closed: bool = False, stretch: Any, bend: Any, mass_per_length: Any) -> Parts:
    """Parts of a cable that is at rest where it is long as given, and straight.

    A segment of length l₀ is a spring of stiffness EA/l₀. Two that meet, of lengths l₁ and l₂, resist the difference d
    of their directions, measured with the lengths at rest, so that the energy is quadratic:

        E = B/(l₁ + l₂) |d|²,    d = (x_k − x_j)/l₂ − (x_j − x_i)/l₁

    On an arc of radius R that is B/(2 R²) per length.

    Parameters
    ----------
    points : (n, 3) float, m
        The nodes, in order; at least two, or three of a closed cable.
    closed : bool
        Whether the last node is tied to the first.
    stretch : float, N
        EA, Young's modulus times the area of the cross section: the force that would double the length.
    bend : float, N m²
        B = EI, Young's modulus times the second moment of area; 0 for a chain.
    mass_per_length : float, kg/m
        Half of the mass of a segment goes to each of its ends.
    """
    x = _check.vectors("points", points)
    axial, flexural = _check.positive("stretch", stretch), _check.not_negative("bend", bend)
    density = _check.positive("mass_per_length", mass_per_length)
    least = 3 if _check.truth("closed", closed) else 2
    if len(x) < least:
        kind = "a closed cable" if closed else "a cable"
        raise InputError(f"points: found {len(x)} rows, expected at least {least} for {kind}")
    edges = _edges(x, closed)
    half = 0.5 * density * edges.rest
    masses = np.bincount(edges.nodes.ravel(), np.repeat(half, 2), len(x)).astype(np.float64)
    springs = Springs(edges.nodes, axial / edges.rest, edges.rest)
    bends = _bends(edges, closed, flexural) if flexural > 0 else NO_BENDS
    return Parts(masses, edges, springs, bends, NO_MEMBRANES, NO_HINGES)


def _edges(x: Floats, closed: bool) -> Edges:
    """Segments and their lengths."""
    start = np.arange(len(x) if closed else len(x) - 1, dtype=np.int32)
    nodes: Ints = np.column_stack([start, (start + 1) % len(x)]).astype(np.int32)
    with np.errstate(over="ignore"):
        length = np.linalg.norm(x[nodes[:, 1]] - x[nodes[:, 0]], axis=1)
    bad = np.flatnonzero(~((length > 0) & (length < np.inf)))
    if len(bad):
        i, j = nodes[bad[0]]
        raise InputError(f"points: rows {i} and {j} are {length[bad[0]]:g} m apart, expected segments with a length")
    return Edges(nodes, length)


def _bends(edges: Edges, closed: bool, bend: float) -> Stencils:
    """Stencils of all nodes where two segments meet."""
    second = np.arange(len(edges.rest)) if closed else np.arange(1, len(edges.rest))
    first = second - 1  # of a closed cable the first one begins at its last segment, −1
    l1, l2 = edges.rest[first], edges.rest[second]
    nodes: Ints = np.column_stack([edges.nodes[first], edges.nodes[second, 1]])
    return Stencils(nodes, np.column_stack([1 / l1, -(1 / l1 + 1 / l2), 1 / l2]), 2 * bend / (l1 + l2))
