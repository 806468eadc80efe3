"""Contacts of a step: kept for the next one, told to users, and their work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.soft import _constraints
from impinge.bodies.soft.parts import Floats, Ints
from impinge.bodies.soft.step import Result
from impinge.bodies.soft.surface import Surface
from impinge.ccd._times import EDGE_EDGE
from impinge.facts import html_table
from impinge.response.contact_rows import Pairs

__all__ = ["NO_TOUCH", "SoftContacts", "Touch", "contacts_of", "forces_on_vertices", "touch_of", "with_more", "work_of"]


class Touch(NamedTuple):
    """Pairs that push each other, with weights and normals of the start of the step."""

    kinds: NDArray[np.int8]  # of `Pairs`
    numbers: Ints
    corners: Ints
    weights: Floats  # (m, 4)
    normals: Floats  # (m, 3)
    forces: Floats  # (m,) N, along the normal on the first
    friction: Floats  # (m, 3) N, on the first

    @property
    def pairs(self) -> Pairs:
        """Without forces."""
        return Pairs(self.kinds, self.numbers, self.corners)


class SoftContacts(NamedTuple):
    """What touched in a step.

    A pair is a vertex and a face, or two edges, "vertex-face" or "edge-edge". Bodies are counted as in
    `SoftWorld.bodies`, and after them obstacles, in the order in which they were added.
    """

    kinds: list[str]
    bodies: Ints  # (m, 2)
    corners: Ints  # (m, 4) nodes and, after them, vertices of obstacles: vertex, face; or the ends of both edges
    points: Floats  # (m, 3) m, in the middle between the nearest points
    normals: Floats  # (m, 3) from the second to the first
    forces: Floats  # (m,) N, along the normal on the first, the opposite on the second
    friction: Floats  # (m, 3) N, on the first, at right angles to the normal

    def __len__(self) -> int:
        """How many there are."""
        return len(self.forces)

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.kinds.count(kind):,} {kind}" for kind in ("vertex-face", "edge-edge"))
        return f"<impinge.SoftContacts: {counts}, forces up to {self.forces.max(initial=0.0):.4g} N>"

    def _repr_html_(self) -> str:
        counts = [(kind, self.kinds.count(kind)) for kind in ("vertex-face", "edge-edge")]
        return html_table("SoftContacts", [*counts, ("largest force [N]", self.forces.max(initial=0.0))])


NO_TOUCH = Touch(
    np.empty(0, np.int8), np.empty((0, 2), np.int32), np.empty((0, 4), np.int32), np.empty((0, 4)), np.empty((0, 3)),
    np.empty(0), np.empty((0, 3)),
)  # fmt: skip


def touch_of(result: Result, start: Floats) -> Touch:
    """What pushes in a step from positions `start` of all vertices."""
    held, forces, creep = result.held, result.held.forces, result.friction.creep
    pulling = np.flatnonzero(forces > 0.0)
    pairs, gaps = held.pairs.take(pulling), held.gaps.take(pulling)
    friction = np.zeros((len(pulling), 3))
    if len(result.friction.forces):
        largest = np.zeros(len(forces))
        largest[: len(result.friction.forces)] = result.friction.forces
        slip = held.slips(result.positions - start)[pulling]
        far = np.linalg.norm(slip, axis=1)
        friction = -(largest[pulling] / np.maximum(far, creep))[:, None] * slip
    return Touch(*pairs, gaps.weights, gaps.normals, forces[pulling], friction)


def with_more(touch: Touch, soft: tuple[int, int, int], more: tuple[int, int, int]) -> Touch:
    """The same contacts once a body has been added: what belongs to obstacles is numbered after all that is soft.

    soft, more : vertices, edges and faces of soft bodies before, and of the new one
    """
    which = np.where((touch.kinds == EDGE_EDGE)[:, None], [1, 1], [0, 2])  # two edges, or a vertex and a face
    numbers = touch.numbers + np.where(touch.numbers >= np.array(soft)[which], np.array(more)[which], 0)
    corners = touch.corners + np.where(touch.corners >= soft[0], more[0], 0)
    return touch._replace(numbers=numbers.astype(np.int32), corners=corners.astype(np.int32))


def forces_on_vertices(touch: Touch, count: int) -> Floats:
    """(count, 3) N: what contacts push vertices with; others than the first `count` are left out."""
    forces = np.zeros((count, 3))
    _constraints.add_pushes(touch.corners, touch.weights, touch.forces, touch.normals, touch.friction, forces)
    return forces


def work_of(result: Result, touch: Touch, start: Floats, end: Floats) -> Floats:
    """Work of a step, J: of what drives nodes and obstacles, users' rows among it, and of the recovery of distances."""
    fixed, way = result.task.fixed, end - start
    count = len(fixed)
    forces = forces_on_vertices(touch, len(start))
    by_bars, won_by_bars = _work_of_bars(result, way)
    holding = np.where(fixed, result.rest - forces[:count] - by_bars, 0.0)
    pushed = float((holding * way[:count]).sum()) - float((forces[count:] * way[count:]).sum())
    free = np.where(fixed, 0.0, way[:count])  # rows that pull at what is driven leave it to the driver
    by_rows = float(result.user_forces @ result.task.linear.times(free.ravel()))
    won = np.maximum(result.held.targets - result.held.gaps.gaps, 0.0)
    return np.array([pushed + by_rows, float((result.held.forces * won).sum()) + won_by_bars])


def _work_of_bars(result: Result, way: Floats) -> tuple[Floats, float]:
    """(n, 3) N: what limits of lengths push nodes with; and the work of those that win energy, J."""
    bars, count = result.task.bars, len(result.task.fixed)
    if not len(bars.rest):
        return np.zeros((count, 3)), 0.0
    ends = result.positions[bars.nodes]
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)[:, None]
    pushes = (bars.signs * result.bar_forces)[:, None] * along / np.where(length > 0.0, length, 1.0)
    moved = way[bars.nodes]
    work = (pushes * (moved[:, 1] - moved[:, 0])).sum(axis=1)
    both = np.concatenate([-pushes, pushes])
    sums = [np.bincount(bars.nodes.T.ravel(), both[:, axis], count)[:count] for axis in range(3)]
    return np.column_stack(sums).astype(np.float64), float(np.maximum(work, 0.0).sum())


def contacts_of(touch: Touch, x: Floats, surface: Surface) -> SoftContacts:
    """Contacts for users, with all vertices at x now."""
    corners = x[touch.corners]
    points = 0.5 * (np.abs(touch.weights)[:, :, None] * corners).sum(axis=1)
    kinds = ["edge-edge" if kind else "vertex-face" for kind in touch.kinds]
    second = np.where(touch.kinds == 1, touch.corners[:, 2], touch.corners[:, 1])
    bodies = surface.body_of[np.column_stack([touch.corners[:, 0], second])].astype(np.int32)
    return SoftContacts(
        kinds, bodies, touch.corners.copy(), points, touch.normals.copy(), touch.forces.copy(), touch.friction.copy()
    )
