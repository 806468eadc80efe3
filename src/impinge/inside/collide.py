"""Which nodes of two bodies lie inside the other: the collision test of [Muth2006]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView, used_vertices

__all__ = ["CollidingNodes", "colliding_nodes"]


class CollidingNodes(NamedTuple):
    """Nodes of two bodies that lie inside or on the other: rows of ``mesh.vertices``, sorted."""

    of_a: NDArray[np.int64]  # nodes of a inside b
    of_b: NDArray[np.int64]  # nodes of b inside a


def colliding_nodes(a: Solid | SolidView, b: Solid | SolidView) -> CollidingNodes:
    """Which nodes of each body lie inside the other or on its surface.

    Nodes outside the box around the other body, in its own frame, are discarded first ([Muth2006], Figure 2); the
    rest is asked by the other's method. Bodies whose edges and faces alone cross have no such nodes: this is the
    paper's test, for meshes that are fine where they meet.

    Parameters
    ----------
    a, b : Solid or SolidView
        ``solid.at(rotation, translation)`` is a body that has moved.

    Returns
    -------
    CollidingNodes : of_a, of_b, (k,) int64 each
        Rows of the bodies' ``mesh.vertices``, sorted; vertices that no face uses are no nodes. Inside means what
        `Solid.contains` says, and, where a mesh is not closed, that the node is in its box as well.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.Solid(impinge.shapes.box())
    >>> impinge.colliding_nodes(cube, cube.at(translation=[0.5, 0.5, 0.5]))
    CollidingNodes(of_a=array([7]), of_b=array([0]))
    """
    first, second = _view("a", a), _view("b", b)
    return CollidingNodes(_nodes_inside(first, second), _nodes_inside(second, first))


def _view(name: str, body: Solid | SolidView) -> SolidView:
    if isinstance(body, SolidView):
        return body
    if isinstance(body, Solid):
        return body.at()
    raise InputError(
        f"{name}: found {type(body).__name__}, expected an impinge.Solid or a view of one, solid.at(rotation, "
        "translation); impinge.Solid(mesh) makes one of a mesh"
    )


def _nodes_inside(body: SolidView, other: SolidView) -> NDArray[np.int64]:
    """Nodes of `body` inside or on `other`."""
    mesh = body.solid.mesh
    used = used_vertices(mesh)
    places = other.to_body(body.to_world(mesh.vertices[used]))
    low, high = other.solid.mesh.bounds
    near = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1))
    return used[near[other.solid.contains(places[near])]]
