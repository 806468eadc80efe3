"""How deep surfaces without an inside are in rigid bodies that start across them: none of their points has passed."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from impinge.bodies._obstacles import SHIFT
from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid import _layout
from impinge.inside.collide import Placed, meeting_faces, piercings
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView, used_vertices

__all__ = ["depths_of_sheets"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST = 64  # piercings of a face between which is looked


def depths_of_sheets(dynamics: Dynamics, pairs: Ints) -> Floats:
    """(n,) m: how deep the sheets of pairs, as of contacts, are in the bodies; 0 where surfaces do not meet."""
    rigid, count = dynamics.rigid, len(dynamics.rigid)
    frames = rigid.frames(dynamics.obstacle_frames())
    turns, shifts = frames[:, :9].reshape(-1, 3, 3), frames[:, SHIFT : SHIFT + 3]

    @cache
    def sheet(number: int) -> Placed:
        mesh = dynamics.obstacles[number - count].mesh
        return Placed(SolidView(Solid(mesh, "ray" if mesh.is_closed else "direct"), turns[number], shifts[number]))

    @cache
    def solid(form: int) -> Solid:
        return Solid(rigid.shapes[form].obstacle.mesh, "ray")

    depths = np.zeros(len(pairs))
    for other in np.unique(pairs[:, _layout.OTHER]).tolist():
        rows = np.flatnonzero(pairs[:, _layout.OTHER] == other)
        bodies = pairs[rows, _layout.BODY]
        reaches = np.array([shape.reach for shape in rigid.shapes])[rigid.forms[bodies]]
        near = sheet(other).view.closest(shifts[bodies]).distances <= reaches
        for row, body in zip(rows[near].tolist(), bodies[near].tolist(), strict=True):
            view = SolidView(solid(int(rigid.forms[body])), turns[body], shifts[body])
            depths[row] = _depth(sheet(other), Placed(view))
    return depths


def _depth(sheet: Placed, body: Placed) -> float:
    """Of the deepest of some points of the sheet: its nodes, and between places where edges of one pierce the other."""
    faces = meeting_faces(sheet, body)
    if not len(faces):
        return 0.0
    nodes = sheet.view.vertices[used_vertices(sheet.mesh)]
    low, high = body.view.bounds
    points = [nodes[((nodes >= low) & (nodes <= high)).all(axis=1)]]
    into, out = piercings(body, sheet, faces[:, ::-1]), piercings(sheet, body, faces)
    for face in np.unique(into.faces):
        points.append(_between(into.points[into.faces == face]))
    for edge in np.unique(out.edges):
        points.append(_between(out.points[out.edges == edge]))
    return float(max(-body.view.distance(np.concatenate(points)).min(initial=0.0), 0.0))


def _between(points: Floats) -> Floats:
    """Middles of all pairs of some points."""
    points = points[:: -(-len(points) // _MOST)]
    i, j = np.triu_indices(len(points), 1)
    middles: Floats = 0.5 * (points[i] + points[j])
    return middles
