"""Spheres, planes and the laws between them, step by step: the engine of a world, which trusts what it is given."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _particles, _survey
from impinge.bodies.lists import Lists
from impinge.bodies.particles import Particles
from impinge.broad.search import NeighborSearch
from impinge.broad.space import Space
from impinge.response import _laws

__all__ = ["Contacts", "Dynamics", "Seen"]

_Floats = NDArray[np.float64]
INTEGRATORS = ("velocity", "position", "position-central")
_CORRECTIONS = 4  # of the velocity that dampers see, in "position-central"
_SECONDS = 0.05  # of steps between two looks at what a user wants
_PAIRS_PER_BODY = 4.0  # what moving a sphere takes, in tests of pairs


class Contacts(NamedTuple):
    """Contacts at one moment, in the order of the spheres' permanent numbers, those with walls last."""

    ids: NDArray[np.int64]  # (m, 2) numbers of the spheres, or of the sphere and -1
    walls: NDArray[np.int64]  # (m,) number of the wall, or -1
    points: _Floats  # (m, d), m
    normals: _Floats  # (m, d), towards the first sphere
    depths: _Floats  # (m,), m
    forces: _Floats  # (m, d), N, on the first sphere
    energies: _Floats  # (m,), J, stored


class Seen(NamedTuple):
    """Velocities at the time of the positions, in the order of memory."""

    velocities: _Floats  # (n, 3)
    spins: _Floats  # (n, 3)


class Dynamics:
    """State and laws of everything that moves."""

    def __init__(self, space: Space, search: NeighborSearch, gravity: _Floats, integrator: str) -> None:
        self.particles = Particles(space.dimension)
        self.planes = np.empty((0, _particles.PLANE))
        self.lists = Lists(self.particles, space, search)
        search.tuner.per_body = _PAIRS_PER_BODY
        self.space, self.gravity, self.integrator = space, gravity, integrator
        self.table, self.materials = np.empty((0, _laws.COLUMNS)), 0
        self.dt = math.nan
        self.staggered = False  # whether v and w are half a step behind
        self._spare = (self.particles.x, self.particles.u, self.particles.q)
        self._shared = np.zeros(_particles.SHARED, np.int64)
        self._per_step = 0.0  # s

    @property
    def rough(self) -> bool:
        """Whether contacts have a memory, and spheres turn."""
        table = self.table
        return bool(
            table[:, _laws.FRICTION].any()
            or table[:, _laws.ROLLING].any()
            or (table[:, _laws.KIND] == _laws.PLASTIC).any()
        )

    @property
    def _damped(self) -> bool:
        """Whether anything depends on velocities."""
        return self.rough or bool(self.table[:, [_laws.DAMPING, _laws.BETA]].any())

    def add(
        self, centres: _Floats, radii: _Floats, density: float, kind: int, velocities: _Floats, spins: _Floats
    ) -> NDArray[np.int64]:
        """Add spheres; returns their permanent numbers."""
        ids = self.particles.add(centres, radii, density, kind, velocities, spins)
        if self.staggered:  # nothing but gravity has pulled them so far
            self.particles.v[len(self.particles) - len(ids) :] -= 0.5 * self.dt * self.gravity
        self.lists.forget()
        return ids

    def take(self, rows: NDArray[np.int64]) -> None:
        """Keep these spheres."""
        self.particles.take(rows)
        self.lists.forget()

    def add_plane(self, row: _Floats) -> None:
        """Add a plane, see `_particles` for its columns."""
        self.planes = np.concatenate([self.planes, row[None]])
        self.lists.forget()

    def set_laws(self, table: _Floats, materials: int) -> None:
        """Set the laws of all pairs of materials."""
        rough = self.rough
        self.table, self.materials = table, materials
        if self.rough != rough:
            self.lists.forget()

    def find_broken(self) -> tuple[int, _Floats]:
        """Row of the first sphere, by number, whose place is no number any more, and where it was."""
        bad = np.flatnonzero(~np.isfinite(self.particles.v).all(axis=1))
        row = int(bad[np.argmin(self.particles.ids[bad])])
        before = self._spare[0][row, :3]
        return row, before

    def advance(self, count: int) -> int:
        """Make some steps, at most `count`, and no more than take a moment; returns how many, 0 if something broke."""
        p = self.particles
        if len(p) == 0:
            self.planes[:, :3] += count * self.dt * self.planes[:, _particles.SPEED : _particles.SPEED + 3]
            return count
        self._stagger()
        self.lists.refresh(self.planes, self.rough)
        start = time.perf_counter()
        if self.integrator == "position-central" and self._damped:
            count = 1
            for _ in range(_CORRECTIONS):  # u(n) = v(n − ½) + ½ a(n) dt, where a(n) depends on u(n)
                self._pass(1, 0.0, 0.5 * self.dt, False)
                self.particles.u, self.particles.q = self._swap_velocities()
        if self._per_step > 0:
            count = max(1, min(count, int(_SECONDS / self._per_step)))
        elif count > 10:
            count = 10
        reason = self._pass(count, self.dt, 0.0 if self.integrator == "position" else 0.5 * self.dt, True)
        done = int(self._shared[_particles.OPEN])
        if done % 2:
            spare = self._spare
            self._spare = (p.x, p.u, p.q)
            p.x, p.u, p.q = spare
        seconds = time.perf_counter() - start
        self._per_step = seconds / done
        self.lists.note_steps(done, seconds)
        return 0 if reason == _particles.BROKEN else done

    def _swap_velocities(self) -> tuple[_Floats, _Floats]:
        p, (x, u, q) = self.particles, self._spare
        self._spare = (x, p.u, p.q)
        return u, q if self.rough else p.q

    def _pass(self, steps: int, move: float, half: float, keep: bool) -> int:
        """Steps with lists that are good; or a look at the state (keep = False), which comes to stand in spare rows."""
        p, lists = self.particles, self.lists
        if self._spare[0].shape != p.x.shape or self._spare[0] is p.x:
            self._spare = (p.x.copy(), p.u.copy(), p.q.copy())
        blocks = -(-len(p) // _particles.BLOCK)
        self._shared[:] = 0
        travel = lists.travel if keep else np.array([0.0, np.inf])
        _particles.advance(
            blocks, steps, self._shared, travel, np.zeros(blocks), p.x, self._spare[0], p.u, self._spare[1], p.q,
            self._spare[2], p.v, p.w, p.mass, p.turning, p.kinds, self.materials, self.table, self.rough, self._damped,
            self.gravity, self.dt, move, half, keep, self.space.low, self.space.period, lists.pairs.starts,
            lists.partners, lists.pairs.known, lists.pairs.history, self.planes, lists.walls.starts, lists.walls.names,
            lists.walls.known, lists.walls.history, lists.wall_forces, lists.loads, p.lost, p.work,
        )  # fmt: skip
        return int(self._shared[_particles.STOP])

    def _stagger(self) -> None:
        """Velocities half a step back, v(−½) = v(0) − ½ a(0) dt."""
        if self.staggered:
            return
        self.lists.refresh(self.planes, self.rough)
        self._pass(1, 0.0, -0.5 * self.dt, False)
        p = self.particles
        p.v[:] = self._spare[1]
        if self.rough:
            p.w[:] = self._spare[2]
        self.staggered = True

    def look(self) -> Seen:
        """Velocities now, v(n) = v(n − ½) + ½ a(n) dt. Changes nothing."""
        p = self.particles
        if not self.staggered or len(p) == 0:
            return Seen(p.v.copy(), p.w.copy())
        self.lists.refresh(self.planes, self.rough)
        self._pass(1, 0.0, 0.5 * self.dt, False)
        return Seen(self._spare[1].copy(), self._spare[2].copy() if self.rough else p.w.copy())

    def synchronise(self) -> None:
        """Let v and w be velocities at the time of the positions again."""
        if self.staggered:
            seen = self.look()
            p = self.particles
            p.u[:], p.q[:], p.v[:], p.w[:] = seen.velocities, seen.spins, seen.velocities, seen.spins
            self.staggered = False

    def contacts(self) -> Contacts:
        """All contacts now."""
        p, d = self.particles, self.space.dimension
        self.lists.refresh(self.planes, self.rough)
        common = (p.kinds, self.materials, self.table, self.rough, self.dt)
        pairs, walls = self.lists.pairs, self.lists.walls
        rows, found = np.empty((0, 2), np.int64), np.empty((0, _survey.CONTACT))
        for _ in range(2):  # first they are counted
            count = _survey.list_pairs(
                p.x, p.u, p.q, p.mass, p.ids, *common, self.space.period, pairs.starts, self.lists.partners,
                pairs.known, pairs.history, rows, found,
            )  # fmt: skip
            if count > len(found):
                rows, found = np.empty((count, 2), np.int64), np.empty((count, _survey.CONTACT))
        at_walls, also = np.empty((len(walls.names), 2), np.int64), np.empty((len(walls.names), _survey.CONTACT))
        count = _survey.list_planes(
            p.x, p.u, p.q, p.mass, *common, self.planes, walls.starts, walls.names, walls.known, walls.history,
            at_walls, also,
        )  # fmt: skip
        at_walls, also = at_walls[:count], also[:count]
        ids = p.ids[rows]
        one, other = np.lexsort((ids[:, 1], ids[:, 0])), np.lexsort((at_walls[:, 1], p.ids[at_walls[:, 0]]))
        table = np.concatenate([found[one], also[other]])
        alone = np.column_stack([p.ids[at_walls[other, 0]], np.full(count, -1)])
        return Contacts(
            np.concatenate([ids[one], alone]),
            np.concatenate([np.full(len(one), -1), at_walls[other, 1]]),
            table[:, _survey.POINT : _survey.POINT + d],
            table[:, _survey.TOWARDS : _survey.TOWARDS + d],
            table[:, _survey.DEPTH],
            table[:, _survey.FORCE : _survey.FORCE + d],
            table[:, _survey.ENERGY],
        )
