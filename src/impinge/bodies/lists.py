"""Who may touch whom: lists for passes over all spheres, good until something has moved too far."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies import _contact, _lists, _particles, _planes
from impinge.bodies.obstacles import Near, Surfaces, combine, moved, near
from impinge.bodies.particles import Particles
from impinge.broad import _follow
from impinge.broad.search import NeighborSearch
from impinge.broad.space import Bodies, Space

__all__ = ["Lists", "Rows"]

_Floats = NDArray[np.float64]
_SORT_EVERY = 20  # rebuilds after which spheres are put in the order of space again


class Rows(NamedTuple):
    """Possible contacts of every sphere, and what those that are contacts remember."""

    starts: NDArray[np.int64]  # (n + 1,), those of sphere i are starts[i] to starts[i + 1] - 1
    names: NDArray[np.int64]  # (m,) permanent numbers of the other spheres, or of walls, ascending in every row
    known: NDArray[np.bool_]  # (m,) whether it was a contact in the last step
    history: NDArray[np.float64]  # (m, HISTORY), or (m, 3) of pairs that remember tangential springs only


def _no_rows() -> Rows:
    return Rows(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, bool), np.empty((0, _contact.HISTORY)))


class Lists:
    """Partners, walls and obstacles of every sphere.

    Attributes
    ----------
    pairs, walls, patches : Rows
    partners : (m,) int32
        Rows of the spheres in `pairs`: all partners, or where contacts are rough those of higher permanent number.
    back_starts, back : (n + 1,) int64, (m,) int32
        Of rough contacts: entries of `pairs` in which a sphere is the partner, by the numbers of their owners.
    own, forces : (n, SUMS), (m, 6) float64
        Work space for rough contacts.
    near : Near
        Triangles of `patches`.
    reactions : (m, 6) float64
        Force and torque of every entry of `near` on a rigid body, where there are some.
    reaction_starts, reaction_entries : (b + 1,), (k,) int64
        Which of them are of which body.
    travel : (2,) float64
        Way that the fastest has gone since lists were made, at most, and how far twice of it may be.
    """

    _REMEMBERED = ("pairs", "walls", "patches")

    def __init__(self, particles: Particles, space: Space, search: NeighborSearch) -> None:
        self._particles, self._space, self._search = particles, space, search
        self.pairs, self.walls, self.patches = _no_rows(), _no_rows(), _no_rows()
        self.partners = self.back = np.empty(0, np.int32)
        self.back_starts = np.zeros(1, np.int64)
        self.apart = self.most_pairs = 0  # rows, at most, between two partners; entries of a block
        self.own, self.forces = np.empty((0, _particles.SUMS)), np.empty((0, 6))
        self.near: Near = near(combine([], []), np.empty((0, 4)), 0.0, np.empty((0, 0)))
        self.reactions = np.empty((0, 6))
        self.reaction_starts, self.reaction_entries = np.zeros(1, np.int64), np.empty(0, np.int64)
        self.wall_forces = np.empty((0, 3))
        self.loads = np.empty((0, 2), np.int64)
        self.travel = np.zeros(2)
        self._ids = np.empty(0, np.int64)  # of the rows when the lists were made
        self._good = False
        self._steps = self._pairs = 0

    def forget(self) -> None:
        """Spheres or walls are others: make new lists before the next step."""
        self._good = False

    def rename(self, owners: NDArray[np.int64], patches: NDArray[np.int64] | int = 0) -> None:
        """Obstacles and rigid bodies have other numbers from now on, in the same order.

        owners : the new ones, −1 for those that are gone; patches : what is added to numbers of patches of each.
        """
        self.forget()
        starts, names, known, history = self.patches
        if len(known):  # else nothing is remembered
            before, patch = names >> 32, names & 0xFFFFFFFF
            stay = owners[before] >= 0
            names = (owners[before] << 32 | patch + np.broadcast_to(patches, owners.shape)[before])[stay]
            starts = np.append(0, np.cumsum(stay))[starts]
            self.patches = Rows(starts, names, known[stay], history[stay])

    def memories(self) -> dict[str, dict[str, NDArray[np.generic]]]:
        """What contacts remember, by the numbers of their spheres: enough to go on elsewhere."""
        there = np.isin(self._ids, self._particles.ids)
        return {name: _memory(self._ids, there, getattr(self, name)) for name in self._REMEMBERED}

    def restore(self, ids: NDArray[np.int64], memories: dict[str, dict[str, NDArray[np.generic]]]) -> None:
        """Go on with what contacts remembered; ids : of all spheres, ascending."""
        self.forget()
        self._ids = ids.copy()
        for name in self._REMEMBERED:
            setattr(self, name, _rows_of(ids, memories[name]))

    def note_stored(self, springs: _Floats) -> None:
        """Pairs have remembered their tangential springs only, and now need the energy in them too.

        springs : (materials, materials) their stiffness.
        """
        kinds = np.zeros(self._particles.next_id, np.int64)
        kinds[self._particles.ids] = self._particles.kinds
        entries = np.flatnonzero(self.pairs.known)
        owners = np.repeat(self._ids, np.diff(self.pairs.starts))[entries]
        held = self.pairs.history[entries]
        history = np.zeros((len(self.pairs.known), _contact.HISTORY))
        history[entries, :3] = held
        stiffnesses = springs[kinds[owners], kinds[self.pairs.names[entries]]]
        history[entries, _contact.STORED] = 0.5 * stiffnesses * (held**2).sum(axis=1)
        self.pairs = self.pairs._replace(history=history)

    def note_steps(self, steps: int, seconds: float) -> None:
        """Some steps were made, in that time."""
        self._steps += steps
        if steps:
            self._search.tuner.note_use(seconds / steps, self._pairs)

    @property
    def are_good(self) -> bool:
        """Whether nothing can have come nearer than they reach."""
        return self._good and bool(2 * self.travel[0] <= self.travel[1])

    def refresh(self, planes: _Floats, surfaces: Surfaces, poses: _Floats, columns: int, step: float) -> None:
        """Make the lists anew if something has come nearer than they reach.

        poses : of obstacles now; columns : of what pairs remember, 0 for nothing; step : way of the fastest in the last
        step, at most. Lists reach so far that what was a contact then is in them, and its end is not missed.
        """
        if self._good:
            first, second = self._search.growths(self._bodies())
            far = first + max(second, self._drift(planes, surfaces, poses))
            if far <= self.travel[1]:
                self.travel[0] = 0.5 * far
                return
            self._search.tuner.note_motion(far, self._steps)
        start = time.perf_counter()
        # A power of two, so that lists made step by step keep their reach.
        self._make(planes, surfaces, poses, columns, 2.0 ** math.ceil(math.log2(2.0001 * step)) if step > 0 else 0.0)
        stats = self._search.statistics
        seconds = time.perf_counter() - start
        self._search.tuner.note_rebuild(stats.method, seconds, len(self._ids), self._pairs, stats.skin)

    def _drift(self, planes: _Floats, surfaces: Surfaces, poses: _Floats) -> float:
        """The longest way of a plane or an obstacle, where spheres are near it, since lists were made."""
        way = float(np.linalg.norm(planes[:, :3] - self._planes[:, :3], axis=1).max(initial=0.0))
        reach = float(self._particles.x[:, 3].max(initial=0.0)) + self.travel[1]
        return max(way, moved(surfaces, self._poses, poses, reach))

    def _bodies(self) -> Bodies:
        rows = self._particles.x.copy()
        return Bodies(rows, rows, np.broadcast_to(rows[:, 3:], (len(rows), 3)), self._space)

    def _make(self, planes: _Floats, surfaces: Surfaces, poses: _Floats, columns: int, least: float) -> None:
        p, search = self._particles, self._search
        if not np.array_equal(p.ids, self._ids) or search.statistics.rebuilds % _SORT_EVERY == 0:
            search.forget()
            p.take(p.order_in_space())
        where = self._rows_before() if columns else np.empty(0, np.int64)
        pairs = search.rebuild(self._bodies(), least)
        self._pairs = len(pairs)
        skin = max(search.statistics.skin, least)
        self._list_pairs(pairs, where, columns)
        starts = np.empty(len(p) + 1, np.int64)
        count = _lists.list_walls(p.x, planes, skin, starts, np.empty(0, np.int64))
        names = np.empty(count, np.int64)
        _lists.list_walls(p.x, planes, skin, starts, names)
        full = _contact.HISTORY if columns else 0
        self.walls = self._carried(where, self.walls, starts, names, full)
        self.wall_forces = np.zeros((count + len(planes), 3))
        self.loads = _loaded_entries(planes, self.walls, p.ids)
        self.near = near(surfaces, p.x, skin, poses)
        names = self.near.owners.astype(np.int64) << 32 | self.near.patches
        self.patches = self._carried(where, self.patches, self.near.starts, names, full)
        self._list_reactions(surfaces)
        self.travel[:] = 0.0, search.statistics.skin
        self._planes, self._poses = planes.copy(), poses.copy()
        self._ids, self._good, self._steps = p.ids.copy(), True, 0

    def _list_reactions(self, surfaces: Surfaces) -> None:
        """Which entries of `near` every rigid body is in, by the numbers of the spheres."""
        near, ids, fixed = self.near, self._particles.ids, surfaces.fixed
        entries = np.flatnonzero(near.owners >= fixed)
        spheres = np.repeat(ids, np.diff(near.starts))[entries]
        order = np.lexsort((entries, spheres, near.owners[entries]))
        self.reaction_entries = entries[order]
        counts = np.bincount(near.owners[entries] - fixed, minlength=len(surfaces.roots) - fixed)
        self.reaction_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.reactions = np.zeros((len(near.owners) if len(surfaces.roots) > fixed else 0, 6))

    def _list_pairs(self, pairs: NDArray[np.int64], where: NDArray[np.int64], columns: int) -> None:
        """All partners of every sphere; where contacts are rough those of higher number, and the way back."""
        rough = columns > 0
        n, ids = len(self._particles), self._particles.ids
        blocks = -(-n // _lists.BLOCK)
        starts, partners = np.zeros(n + 2, np.int64), np.empty(len(pairs) * (1 if rough else 2), np.int32)
        if rough:
            _lists.list_owned(pairs, ids, starts, partners)
        else:
            _follow.list_partners(_check.frozen(pairs), starts, partners)
        names = np.empty(len(partners), np.int64)
        _lists.sort_partners(blocks, starts[:-1], ids, partners, names)
        self.pairs = self._carried(where, self.pairs, starts[:-1], names, columns)
        self.partners = partners
        ends = np.append(np.arange(0, n, _particles.BLOCK), n)
        self.most_pairs = int(np.diff(starts[ends]).max(initial=0))
        if rough:
            self.apart = int(np.abs(pairs[:, 0] - pairs[:, 1]).max(initial=0))
            self.own, self.forces = np.empty((n, _particles.SUMS)), np.empty((len(pairs), 6))
            back_starts, self.back = np.zeros(n + 2, np.int64), np.empty(len(partners), np.int32)
            owners = np.empty(len(partners), np.int32)
            _lists.list_back(starts[:-1], partners, back_starts, self.back, owners)
            self.back_starts = back_starts[:-1]
            _lists.sort_back(blocks, self.back_starts, ids, owners, self.back)

    def _carried(
        self, where: NDArray[np.int64], old: Rows, starts: NDArray[np.int64], names: NDArray[np.int64], columns: int
    ) -> Rows:
        """New rows with what the old ones remember."""
        if columns == 0:
            return _no_rows()._replace(starts=starts, names=names)
        if len(old.known) < len(old.names):  # nothing was remembered so far
            old = _no_rows()
            where = np.full(len(starts) - 1, -1)
        new = Rows(starts, names, np.empty(len(names), bool), np.empty((len(names), columns)))
        _lists.carry_history(-(-(len(starts) - 1) // _lists.BLOCK), where, *old, *new)
        return new

    def _rows_before(self) -> NDArray[np.int64]:
        """Row of every sphere in the lists so far, -1 for new ones."""
        ids = self._particles.ids
        if len(self._ids) == 0:
            return np.full(len(ids), -1)
        if np.array_equal(ids, self._ids):
            return np.arange(len(ids))
        order = np.argsort(self._ids)
        rows: NDArray[np.int64] = order[np.minimum(np.searchsorted(self._ids, ids, sorter=order), len(order) - 1)]
        return np.where(self._ids[rows] == ids, rows, -1)


def _memory(ids: NDArray[np.int64], there: NDArray[np.bool_], rows: Rows) -> dict[str, NDArray[np.generic]]:
    """Owner, other one and history of every contact, in the order of these numbers; there : owners that count."""
    counts = np.diff(rows.starts)
    known = np.flatnonzero(rows.known & np.repeat(there, counts)) if len(rows.known) else np.empty(0, np.int64)
    owners = np.repeat(ids, counts)[known]
    order = np.lexsort((rows.names[known], owners))
    return {"owners": owners[order], "names": rows.names[known][order], "history": rows.history[known[order]]}


def _rows_of(ids: NDArray[np.int64], memory: dict[str, NDArray[np.generic]]) -> Rows:
    """Rows of spheres with these numbers, ascending, that hold nothing but contacts."""
    counts = np.zeros(len(ids) + 1, np.int64)
    np.add.at(counts, np.searchsorted(ids, memory["owners"]) + 1, 1)
    names = np.ascontiguousarray(memory["names"], np.int64)
    return Rows(
        np.cumsum(counts), names, np.ones(len(names), bool), np.ascontiguousarray(memory["history"], np.float64)
    )


def _loaded_entries(planes: NDArray[np.float64], walls: Rows, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """(m, 2): plane and entry of contacts that planes under load may have, by plane and by number of the sphere.

    Entries after those of spheres are what all rigid bodies together do, one of each plane.
    """
    entries = np.flatnonzero(np.isfinite(planes[:, _planes.LOAD])[walls.names])
    owners = np.repeat(ids, np.diff(walls.starts))[entries]
    entries = entries[np.lexsort((owners, walls.names[entries]))]
    loaded = np.flatnonzero(np.isfinite(planes[:, _planes.LOAD]))
    of_bodies = np.column_stack([loaded, len(walls.names) + loaded])
    return np.concatenate([np.column_stack([walls.names[entries], entries]), of_bodies])
