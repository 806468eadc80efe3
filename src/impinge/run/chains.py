"""Force chains: lines through a world along which forces are passed on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.contacts import Contacts
from impinge.run.views import BodyContacts, Spheres
from impinge.run.world import World

__all__ = ["force_chains"]

_Floats = NDArray[np.float64]


def force_chains(world: World) -> tuple[_Floats, _Floats, dict[str, NDArray[Any]]]:
    """Starts and ends (m, d) of lines, m, and of each "force" and "normal_force", N, and "wall", -1 for none.

    Spheres that touch have a line from centre to centre. With walls and rigid bodies lines go from the centre of mass
    to the point of contact, and on from there to that of the other body, if it is one: two lines of the same force.
    """
    contacts = world.contacts()
    starts, ends = _of_spheres(world.spheres, contacts)
    lines = [_lines(starts, ends, contacts, np.arange(len(starts)))]
    if len(world._dynamics.rigid):
        centres, points = world.polyhedra.centres, world.body_contacts()
        at_body, pairs = np.flatnonzero(contacts.bodies >= 0), np.flatnonzero(points.ids[:, 1] >= 0)
        lines += [
            _lines(ends[at_body], centres[contacts.bodies[at_body]], contacts, at_body),
            _lines(centres[points.ids[:, 0]], points.points, points, np.arange(len(points.ids))),
            _lines(points.points[pairs], centres[points.ids[pairs, 1]], points, pairs),
        ]
    joined = [np.concatenate(column) for column in zip(*lines, strict=True)]
    return joined[0], joined[1], dict(zip(("force", "normal_force", "wall"), joined[2:], strict=True))


def _of_spheres(spheres: Spheres, contacts: Contacts) -> tuple[_Floats, _Floats]:
    """From centres to other centres, or to points of contact with walls and bodies."""
    first, second = np.searchsorted(spheres.ids, contacts.ids).T
    alone = contacts.ids[:, 1] < 0
    reach = spheres.radii[first] + np.where(alone, 0.0, spheres.radii[np.where(alone, 0, second)])
    starts = spheres.centres[first]
    # Not the other centre itself, which may be at the other side of a periodic box.
    return starts, starts - contacts.normals * (reach - contacts.depths)[:, None]


def _lines(
    starts: _Floats, ends: _Floats, found: Contacts | BodyContacts, rows: NDArray[np.integer[Any]]
) -> tuple[NDArray[Any], ...]:
    """Lines, size of the forces of these rows, their part along the normals, and walls."""
    forces, normals = found.forces[rows], found.normals[rows]
    return starts, ends, np.sqrt((forces**2).sum(axis=1)), (forces * normals).sum(axis=1), found.walls[rows]
