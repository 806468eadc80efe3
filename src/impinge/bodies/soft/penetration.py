"""How far things are in each other: the same measure for every response."""

from __future__ import annotations

from typing import NamedTuple

from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.surface import Surface
from impinge.ccd.intersections import self_intersections
from impinge.inside.solid import Solid
from impinge.response.contact_rows import measure
from impinge.shapes.mesh import Mesh

__all__ = ["Penetration", "measure_penetration"]


class Penetration(NamedTuple):
    """What a step did, and where it ended."""

    passed: int  # pairs that touch each other on the way
    crossing: int  # edges and faces that are in each other at the end
    overlap: float  # m: the most that a pair lacks of the distance it is to keep, at the end
    depth: float  # m: the most that a soft node is below the surface of a closed obstacle, at the end


def measure_penetration(surface: Surface, x0: Floats, x1: Floats) -> Penetration:
    """Penetration of a step from x0 to x1, positions of all vertices, (n, 3), m; its motion is linear.

    Edges that have passed through others leave no trace at the end: `passed` alone tells, summed up over all steps.
    """
    near = surface.near(x1, x1)
    lack = surface.distances(near) - measure(x1, near).gaps
    return Penetration(
        passed=len(surface.near(x0, x1, 0.0).kinds),
        crossing=_crossing(surface, x1),
        overlap=float(lack.max(initial=0.0)),
        depth=_depth(surface, x1),
    )


def _crossing(surface: Surface, x: Floats) -> int:
    """How many edges and faces are in each other; obstacles may be in each other as they like."""
    found = self_intersections(x, surface.edges, surface.faces)
    is_soft = (surface.faces[found.faces, 0] < surface.count).any(axis=1)
    return int(is_soft.sum()) + len(found.edge_faces) + len(found.edges)


def _depth(surface: Surface, x: Floats) -> float:
    """How deep the deepest node is in an obstacle that has an inside."""
    deepest = 0.0
    for vertices, faces in surface.obstacles():
        mesh = Mesh(x[vertices], faces)
        if mesh.is_closed:
            deepest = max(deepest, -float(Solid(mesh).distance(x[: surface.count]).min()))
    return deepest
