"""Which vertices and faces, and which edges, come near each other in a step: their swept boxes overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from impinge import _check, _jit
from impinge.broad.blocks import Blocks, block_pairs, make_blocks, places, usual_size
from impinge.ccd import _swept
from impinge.ccd.moving import Floats, Ints, Moving, read_moving

__all__ = ["Boxes", "Candidates", "candidates", "find_candidates", "no_corners"]


class Candidates(NamedTuple):
    """Pairs, (n, 2) int32 each."""

    vertex_faces: Ints  # vertex, face
    edge_edges: Ints  # two edges, i < j
    vertex_edges: Ints  # vertex, edge; in the plane, where there are no others

    @property
    def total(self) -> int:
        """Number of all pairs."""
        return sum(len(pairs) for pairs in self)


def candidates(
    x0: ArrayLike,
    x1: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float = 0.0,
    exclude_adjacent: bool = True,
    bodies: ArrayLike | None = None,
    threads: int | None = None,
) -> Candidates:
    """Pairs whose boxes, around all that they sweep from x0 to x1, overlap or are at most `gap` apart along every axis.

    Parameters
    ----------
    x0, x1 : (n, 3) or (n, 2) float64, m
        Positions of all vertices at the start and at the end of the step.
    edges : (m, 2) int, optional
        The sides of the faces by default.
    faces : (k, 3) int, optional
        None for cables, and in the plane.
    gap : float, m
    exclude_adjacent : bool
        Leave out pairs that have a vertex in common, which touch all the time.
    bodies : (n,) int, optional
        Number of the body of each vertex: only pairs of different bodies then. By default also bodies with themselves.
    threads : int, optional
        All cores by default. Neither the pairs nor their order depend on it.

    Returns
    -------
    Candidates
        `vertex_faces`, `edge_edges` and, in the plane, `vertex_edges`: (…, 2) int32.

    Examples
    --------
    >>> from impinge import ccd
    >>> x0 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1]]
    >>> x1 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1]]
    >>> ccd.candidates(x0, x1, faces=[[0, 1, 2]]).vertex_faces
    array([[3, 0]], dtype=int32)
    """
    moving = read_moving(x0, x1, edges, faces, bodies)
    with _jit.threads(threads):
        return find_candidates(moving, _check.not_negative("gap", gap), exclude_adjacent=bool(exclude_adjacent))


def no_corners(of: Ints) -> Ints:
    """For pairs that may have corners in common."""
    return np.empty((len(of), 0), np.int32)


class Boxes:
    """Boxes around what vertices sweep, and blocks of what is made of them."""

    def __init__(self, x0: Floats, x1: Floats) -> None:
        count = len(x0)
        self._lower, self._upper = np.empty((count, 3)), np.empty((count, 3))
        _swept.sweep_vertices(count, x0, x1, self._lower, self._upper)
        self._order, self._ranks = places(self._lower, self._upper), np.empty(count, np.int32)
        self._ranks[self._order] = np.arange(count, dtype=np.int32)

    def of_vertices(self) -> Blocks:
        """Blocks of all vertices."""
        return make_blocks(self._lower, self._upper, self._order)

    def blocks(self, corners: Ints) -> Blocks:
        """Blocks of edges or faces."""
        corners = _check.frozen(corners)
        lower, upper = np.empty((len(corners), 3)), np.empty((len(corners), 3))
        _swept.sweep_corners(len(corners), corners, self._lower, self._upper, lower, upper)
        order = np.empty(len(corners), np.int32)
        _swept.order_corners(corners, self._ranks, lower, upper, usual_size(lower, upper), order)
        return make_blocks(lower, upper, order)


def find_candidates(moving: Moving, gap: float, *, exclude_adjacent: bool = True) -> Candidates:
    """`candidates` of a checked motion."""

    def pairs(first: Blocks, corners: Ints, second: Blocks | None, others: Ints) -> Ints:
        shared = (corners, others) if exclude_adjacent else (no_corners(corners), no_corners(others))
        bodies = [moving.bodies[c[:, 0]] if len(moving.bodies) else moving.bodies for c in (corners, others)]
        return block_pairs(first, second, gap, shared, (bodies[0], bodies[1]))

    boxes, numbers = Boxes(moving.x0, moving.x1), np.arange(len(moving.x0), dtype=np.int32)[:, None]
    none, edges = np.empty((0, 2), np.int32), boxes.blocks(moving.edges)
    if moving.is_flat:
        return Candidates(none, none, pairs(boxes.of_vertices(), numbers, edges, moving.edges))
    faces = none
    if len(moving.faces):
        faces = pairs(boxes.of_vertices(), numbers, boxes.blocks(moving.faces), moving.faces)
    return Candidates(faces, pairs(edges, moving.edges, None, moving.edges), none)
