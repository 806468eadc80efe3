"""The classical impulse response: a step without contacts, mended by impulses, for comparison and teaching.

As in [Provot1997] and [Bridson2002]: velocities are changed where pairs collide on the way, in sweeps, since each
impulse may cause other collisions; where sweeps do not end, whatever still collides is made rigid. Nodes are moved
whatever becomes of the strain: the response knows nothing of the forces inside the bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from impinge.bodies.soft import _impulse
from impinge.bodies.soft.constraints import Held
from impinge.bodies.soft.minimum import free_step
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.step import Task
from impinge.bodies.soft.surface import Surface
from impinge.response.contact_rows import Gaps, Pairs, distinct, measure
from impinge.sparse.cholesky import Structure

__all__ = ["Mended", "impulse_step"]

_SWEEPS = 20
_ZONES = 20  # times that zones grow
_BEFORE = 0.9  # of the time to a collision: when normals are taken, while there still is a shortest way
_REPULSION = 0.1  # of what pairs lack of their distance, won in a step [Bridson2002]

Longs = NDArray[np.int64]


class Mended(NamedTuple):
    """A step after impulses."""

    positions: Floats  # of all vertices, m
    sweeps: int
    rigid: int  # nodes in rigid zones
    left: int  # collisions on the way that are left


def impulse_step(surface: Surface, task: Task, structure: Structure, masses: Floats, dt: float) -> Mended:
    """An implicit step without contacts, then impulses on the velocities that it needs.

    Pairs that are too near at the start are pushed apart first, as in [Bridson2002]: with a tenth of what they lack
    per step, the most that is allowed there (the spring below it would need a stiffness). Then up to 20 sweeps: all
    pairs that touch on the way, the earliest first, lose the speed with which they approach each other, inelastically,
    in proportion to weights and masses. What touches after that is joined in zones that move like rigid bodies with
    the same momentum and angular momentum [Provot1997], which grow up to 20 times; then the step is taken as it is.
    """
    response = _Response(surface, task, masses, dt)
    response.velocities[:] = (free_step(task, structure, Held.nothing()) - task.start) / dt
    response.repel()
    return response.mend()


class _Response:
    """Velocities over a step, and what is done to them."""

    def __init__(self, surface: Surface, task: Task, masses: Floats, dt: float) -> None:
        self._surface, self._start, self._dt = surface, task.start, dt
        self._mobility = np.zeros((len(task.start), 3))
        self._mobility[: len(masses)] = np.where(task.fixed, 0.0, 1.0 / masses[:, None])
        self._masses = np.append(masses, np.zeros(len(task.start) - len(masses)))
        self._is_given = (self._mobility == 0.0).any(axis=1)
        self.velocities = np.zeros_like(task.start)

    def repel(self) -> None:
        """Push apart what is too near at the start."""
        pairs = self._surface.near(self._start, self._start)
        gaps = measure(self._start, pairs)
        lack = self._surface.distances(pairs) - gaps.gaps
        near = np.flatnonzero(lack > 0.0)
        near = near[distinct(pairs.take(near), gaps.take(near))]
        self._apply(np.arange(len(near)), pairs.take(near), gaps.take(near), _REPULSION / self._dt * lack[near])

    def mend(self) -> Mended:
        """Sweeps, then zones."""
        joined, is_rigid = np.empty((0, 2), np.int64), np.zeros(len(self._start), np.bool_)
        for sweep in range(_SWEEPS + _ZONES + 1):
            end = self._start + self._dt * self.velocities
            pairs = self._surface.near(self._start, end, 0.0)
            if not len(pairs.kinds) or sweep == _SWEEPS + _ZONES:
                break
            if sweep < _SWEEPS:
                self._stop(pairs, end)
            else:
                joined = np.concatenate([joined, *(pairs.corners[:, [0, other]] for other in (1, 2, 3))])
                is_rigid = self._join(joined)
        return Mended(end, min(sweep, _SWEEPS), int(is_rigid[~self._is_given].sum()), len(pairs.kinds))

    def _stop(self, pairs: Pairs, end: Floats) -> None:
        """One sweep of inelastic impulses."""
        times = self._surface.times(self._start, end, pairs, 0.0)
        when = _BEFORE * np.minimum(times, 1.0)[:, None, None]
        way = end - self._start
        then = (self._start[pairs.corners] + when * way[pairs.corners]).reshape(-1, 3)
        single = Pairs(pairs.kinds, pairs.numbers, np.arange(len(then), dtype=np.int32).reshape(-1, 4))
        gaps = measure(then, single)
        self._apply(np.argsort(times, kind="stable"), pairs, gaps, np.zeros(len(times)))

    def _apply(self, order: Longs, pairs: Pairs, gaps: Gaps, speeds: Floats) -> None:
        _impulse.apply_impulses(
            order, pairs.corners, gaps.weights, gaps.normals, speeds, self._mobility, self.velocities
        )

    def _join(self, joined: Longs) -> NDArray[np.bool_]:
        """Make zones of vertices that are joined rigid; which vertices are in one."""
        count = len(self._start)
        graph = sp.coo_array((np.ones(len(joined)), joined.T), shape=(count, count))
        _, zones = connected_components(graph, directed=False)
        is_rigid = np.bincount(zones)[zones] > 1
        for zone in np.unique(zones[is_rigid]):
            self._make_rigid(np.flatnonzero(zones == zone))
        return is_rigid

    def _make_rigid(self, nodes: Longs) -> None:
        """Move vertices together: with the momentum and the angular momentum they have, or, without turning, with those
        among them whose motion is given.

        The turn is a whole one [Bridson2002], not v + ω × r, which would stretch what turns fast. On the way from the
        start to its end the zone is an affine image of itself, without mirroring: nothing in it touches anything in it.
        """
        given = self._is_given[nodes]
        if given.any():
            self.velocities[nodes[~given]] = self.velocities[nodes[given]].mean(axis=0)
            return
        masses = self._masses[nodes, None]
        total = masses.sum()
        velocity = (masses * self.velocities[nodes]).sum(axis=0) / total
        arms = self._start[nodes] - (masses * self._start[nodes]).sum(axis=0) / total
        spin = (masses * np.cross(arms, self.velocities[nodes])).sum(axis=0)
        inertia = (masses * arms**2).sum() * np.eye(3) - (masses * arms).T @ arms
        turn = self._dt * np.linalg.lstsq(inertia, spin, rcond=1e-12)[0]  # straight cables have none around themselves
        self.velocities[nodes] = velocity + (Rotation.from_rotvec(turn).apply(arms) - arms) / self._dt
