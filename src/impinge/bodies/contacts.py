"""Contacts of spheres at one moment: with each other, with walls and with rigid bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _survey

if TYPE_CHECKING:
    from impinge.bodies.dynamics import Dynamics

__all__ = ["Contacts", "find_contacts"]

_Floats = NDArray[np.float64]


class Contacts(NamedTuple):
    """Contacts of spheres at one moment, in the order of their permanent numbers, those with walls and bodies last."""

    ids: NDArray[np.int64]  # (m, 2) numbers of the spheres, or of the sphere and -1
    walls: NDArray[np.int64]  # (m,) number of the wall, or -1
    bodies: NDArray[np.int64]  # (m,) number of the polyhedron, or -1
    points: _Floats  # (m, d), m
    normals: _Floats  # (m, d), towards the first sphere
    depths: _Floats  # (m,), m
    forces: _Floats  # (m, d), N, on the first sphere
    energies: _Floats  # (m,), J, stored
    couples: _Floats  # (m, 3), N m, of rolling resistance, on the first sphere


def find_contacts(dynamics: Dynamics, poses: _Floats) -> Contacts:
    """All contacts, by lists that are good; poses : of all that spheres run into."""
    p, d = dynamics.particles, dynamics.space.dimension
    rows, found = _between_spheres(dynamics)
    wall_rows, at_walls = _at_walls(dynamics, poses)
    ids = p.ids[rows]
    one, other = np.lexsort((ids[:, 1], ids[:, 0])), np.lexsort((wall_rows[:, 1], p.ids[wall_rows[:, 0]]))
    table = np.concatenate([found[one], at_walls[other]])
    alone = np.column_stack([p.ids[wall_rows[other, 0]], np.full(len(other), -1)])
    numbers, count = wall_rows[other, 1], len(dynamics.planes) + len(dynamics.obstacles)
    return Contacts(
        np.concatenate([ids[one], alone]),
        np.concatenate([np.full(len(one), -1), np.where(numbers < count, numbers, -1)]),
        np.concatenate([np.full(len(one), -1), np.maximum(numbers - count, -1)]),
        table[:, _survey.POINT : _survey.POINT + d],
        table[:, _survey.TOWARDS : _survey.TOWARDS + d],
        table[:, _survey.DEPTH],
        table[:, _survey.FORCE : _survey.FORCE + d],
        table[:, _survey.ENERGY],
        table[:, _survey.COUPLE : _survey.COUPLE + 3],
    )


def _between_spheres(dynamics: Dynamics) -> tuple[NDArray[np.int64], _Floats]:
    """Rows of two spheres each, and what `_survey` says of them."""
    lists = dynamics.lists
    rows, found = _room(0)
    for _ in range(2):  # first they are counted
        count = _survey.list_pairs(
            *_spheres(dynamics), dynamics.particles.ids, *_laws(dynamics), dynamics.space.period, lists.pairs.starts,
            lists.partners, lists.pairs.known, lists.pairs.history, rows, found,
        )  # fmt: skip
        if count > len(found):
            rows, found = _room(count)
    return rows, found


def _at_walls(dynamics: Dynamics, poses: _Floats) -> tuple[NDArray[np.int64], _Floats]:
    """Rows of a sphere and a number each, of planes, obstacles and rigid bodies, numbered through; and the same."""
    lists, spheres, laws = dynamics.lists, _spheres(dynamics), _laws(dynamics)
    planes, patches = lists.walls, lists.patches
    rows, found = _room(len(planes.names))
    count = _survey.list_planes(
        *spheres, *laws, dynamics.planes, planes.starts, planes.names, planes.known, planes.history, rows, found
    )
    more_rows, more = _room(len(patches.names))
    further = _survey.list_obstacles(
        *spheres, *laws, lists.near, dynamics.surfaces, poses, patches.known, patches.history, more_rows, more
    )
    more_rows[:further, 1] += len(dynamics.planes)
    return np.concatenate([rows[:count], more_rows[:further]]), np.concatenate([found[:count], more[:further]])


def _spheres(dynamics: Dynamics) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    p = dynamics.particles
    return p.x, p.u, p.q, p.mass


def _laws(dynamics: Dynamics) -> tuple[NDArray[np.int64], int, _Floats, bool, float]:
    return dynamics.particles.kinds, dynamics.materials, dynamics.table, dynamics.rough, dynamics.dt


def _room(count: int) -> tuple[NDArray[np.int64], _Floats]:
    return np.empty((count, 2), np.int64), np.empty((count, _survey.CONTACT))
