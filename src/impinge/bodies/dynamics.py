"""Spheres, planes and the laws between them, step by step: the engine of a world, which trusts what it is given."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._interrupt import uninterrupted
from impinge._jit import thread_count
from impinge.bodies import _contact, _particles, _planes
from impinge.bodies.contacts import Contacts, find_contacts
from impinge.bodies.lists import Lists
from impinge.bodies.obstacles import Obstacle, combine, fastest_point, poses_over
from impinge.bodies.particles import Particles
from impinge.bodies.rigid._steps import fastest_plane
from impinge.bodies.rigid.dynamics import Found, Laws, Rigid
from impinge.bodies.rigid.shape import Form
from impinge.broad.search import NeighborSearch
from impinge.broad.space import Space
from impinge.response import _laws

__all__ = ["Dynamics", "Seen"]

_Floats = NDArray[np.float64]
INTEGRATORS = ("velocity", "position", "position-central")
_CORRECTIONS = 4  # of the velocity that dampers see, in "position-central"
_BLOCKS_PER_THREAD = 4  # at least, as threads wait for each other in every step
_POSES = 256  # of moving obstacles, made before a call
_SECONDS = 0.2  # of steps between two looks at what a user wants
_FIRST_SKIN = 0.1  # of the mean size, until the motion is known: packed spheres hardly move
_PAIRS_PER_BODY = 4.0  # what moving a sphere takes, in tests of pairs
_NO_PUSHES = (np.empty((0, 3)), np.empty((0, 2), np.int64))  # on planes, where there are no spheres


class Seen(NamedTuple):
    """Velocities at the time of the positions, in the order of memory."""

    velocities: _Floats  # (n, 3)
    spins: _Floats  # (n, 3)


class Dynamics:
    """State and laws of everything that moves."""

    def __init__(self, space: Space, search: NeighborSearch, gravity: _Floats, integrator: str) -> None:
        self.particles = Particles(space.dimension)
        self.rigid = Rigid()
        self.planes = np.empty((0, _planes.PLANE))
        self.lists = Lists(self.particles, space, search)
        search.tuner.per_body, search.tuner.first_skin = _PAIRS_PER_BODY, _FIRST_SKIN
        self.space, self.gravity, self.integrator = space, gravity, integrator
        self.table, self.materials = np.empty((0, _laws.COLUMNS)), 0
        self.obstacles: list[Obstacle] = []
        self.made_of: list[int] = []
        self.surfaces = combine([], [])
        self.dt = math.nan
        self.steps = 0
        self._since = (0, 0.0)  # step and time from which on the time step is what it is
        self.staggered = False  # whether v and w are half a step behind
        self._spare = (self.particles.x, self.particles.u, self.particles.q)
        self._shared = np.empty(0, np.int64)
        self._per_step = self._way = 0.0  # s, m: that a step took, and that the fastest went in it
        self._seen: Seen | None = None  # at this moment, if somebody has looked
        self._contacts: Contacts | None = None

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
    def _columns(self) -> int:
        """How many numbers pairs remember: tangential springs of linear contacts are enough to know their energy."""
        table = self.table
        slim = (table[:, _laws.KIND] == _laws.LINEAR).all() and not table[:, _laws.ROLLING].any()
        return 0 if not self.rough else 3 if slim else _contact.HISTORY

    @property
    def _damped(self) -> bool:
        """Whether anything depends on velocities."""
        return self.rough or bool(self.table[:, [_laws.DAMPING, _laws.BETA]].any())

    @property
    def time(self) -> float:
        """Simulated so far, s."""
        return self._time_of(self.steps)

    def _time_of(self, step: int) -> float:
        first, start = self._since
        return start + (step - first) * self.dt if step > first else start

    @uninterrupted
    def set_dt(self, dt: float) -> None:
        """Go on with another time step."""
        if dt != self.dt:
            if not math.isnan(self.dt):
                self.synchronise()
            self._since = self.steps, self.time
            self.dt = dt
            self._forget()

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

    def add_bodies(
        self,
        shape: int,
        places: _Floats,
        poses: _Floats,
        velocities: _Floats,
        spins: _Floats,
        density: float,
        kind: int,
    ) -> NDArray[np.int64]:
        """Add rigid bodies, see `Rigid.add`; returns their permanent numbers."""
        self._add_sheets()
        ids = self.rigid.add(shape, places, poses, velocities, spins, density, kind)
        if self.staggered:
            self.rigid.late[len(self.rigid) - len(ids) :, :3] -= 0.5 * self.dt * self.gravity
        self._combine()
        self._forget()
        return ids

    def take_bodies(self, rows: NDArray[np.int64]) -> None:
        """Keep these rigid bodies; rows : ascending."""
        fixed = len(self.obstacles)
        owners = np.full(fixed + len(self.rigid), -1)
        owners[np.append(np.arange(fixed), fixed + rows)] = np.arange(fixed + len(rows))
        self.lists.rename(owners)
        self.rigid.take(rows)
        self._combine()
        self._forget()

    def _add_sheets(self) -> None:
        """Prepare obstacles for rigid bodies, those that are not yet."""
        for number in range(len(self.rigid.sheets), len(self.obstacles)):
            self.rigid.add_sheet(Form(self.obstacles[number].mesh), self.made_of[number])

    def _combine(self) -> None:
        """What spheres run into."""
        rigid = self.rigid
        kinds = [*self.made_of, *rigid.kinds.tolist()]
        shapes = [shape.obstacle for shape in rigid.shapes]
        self.surfaces = combine(self.obstacles, kinds, shapes, rigid.forms, rigid.mass)
        self.lists.forget()

    def add_plane(self, row: _Floats) -> None:
        """Add a plane, see `_particles` for its columns."""
        self.planes = np.concatenate([self.planes, row[None]])
        self.lists.forget()
        self.rigid.lists.forget()

    def add_obstacle(self, obstacle: Obstacle, kind: int) -> None:
        """Add an obstacle made of a material."""
        bodies = np.append(np.zeros(len(self.obstacles), np.int64), np.ones(len(self.rigid), np.int64))
        self.lists.rename(np.arange(len(bodies)) + bodies, bodies * obstacle.patches)  # they come after obstacles
        self.obstacles.append(obstacle)
        self.made_of.append(kind)
        if len(self.rigid):
            self._add_sheets()
        self._combine()

    @uninterrupted
    def set_laws(self, table: _Floats, materials: int) -> None:
        """Set the laws of all pairs of materials."""
        columns, unseen = self._columns, self.materials > 0 and not self._damped
        springs = (self.table[:, _laws.TANGENTIAL] * self.table[:, _laws.STIFFNESS]).reshape(2 * (self.materials,))
        self.table, self.materials = table, materials
        self._forget()
        if unseen:
            self._set_seen_velocities()
        if self._columns != columns:
            if 0 < columns < self._columns:
                self.lists.note_stored(springs)
            self.lists.forget()

    @uninterrupted
    def state(self) -> dict[str, Any]:
        """All that changes, in the order of permanent numbers."""
        if self.materials > 0 and not self._damped:  # before laws are set all is as it was restored
            self._set_seen_velocities()
        if len(self.rigid):
            self._push_bodies()  # what has passed through an obstacle is known for where it is now
        return {
            "dt": self.dt, "steps": self.steps, "since": self._since, "staggered": self.staggered,
            "planes": self.planes, "particles": self.particles.state(), "memories": self.lists.memories(),
            "rigid": self.rigid.state(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.dt, self.steps, self._since = state["dt"], state["steps"], state["since"]
        self.staggered, self.planes = state["staggered"], state["planes"].copy()
        self.particles.restore(state["particles"])
        self.lists.restore(self.particles.ids, state["memories"])
        self._add_sheets()
        self.rigid.restore(state["rigid"])
        self._combine()

    def _set_seen_velocities(self) -> None:
        """Velocities that nobody has seen, as nothing was damped, are old: take those of half a step before."""
        self.particles.u[:], self.particles.q[:] = self.particles.v, self.particles.w

    def find_broken(self) -> tuple[int, _Floats]:
        """Row of the first sphere, by number, whose place or spin is no number any more, and where it was."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (self.particles.v**2).sum(axis=1) + (self.particles.w**2).sum(axis=1)
        bad = np.flatnonzero(~(squares < np.inf))
        if not len(bad):  # something else has gone; the fastest sphere, as it is not known
            bad = np.array([np.argmax(squares)])
        row = int(bad[np.argmin(self.particles.ids[bad])])
        return row, self.particles.x[row, :3]

    def advance(self, count: int) -> int:
        """Make some steps, at most `count`, and no more than take a moment; returns how many, 0 if something broke."""
        p = self.particles
        self._stagger()
        if len(self.rigid):
            return self._advance_with_bodies(count)
        if len(p) == 0:
            _planes.move_planes_alone(count, self.planes, *_NO_PUSHES, self.dt)
            self.steps += count
            return count
        self._refresh()
        self._forget()
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
        if self._obstacles_move:  # not many more poses than steps until lists run out
            left = (0.5 * self.lists.travel[1] - self.lists.travel[0]) / self._way if self._way > 0 else 0.0
            count = max(1, min(count, _POSES, int(left) + 2))
        travelled = float(self.lists.travel[0])
        reason = self._pass(count, self.dt, 0.0 if self.integrator == "position" else 0.5 * self.dt, True)
        done = int(self._shared[_particles.OPEN]) // self._passes
        if done % 2 and not self.rough:
            self._swap()
        seconds = time.perf_counter() - start
        self._per_step, self._way = seconds / done, (float(self.lists.travel[0]) - travelled) / done
        self.steps += done
        self.lists.note_steps(done, seconds)
        return 0 if reason == _particles.BROKEN else done

    def _advance_with_bodies(self, count: int) -> int:
        """The same where there are rigid bodies."""
        half = 0.0 if self.integrator == "position" else 0.5 * self.dt
        return self._advance_both(count, half) if len(self.particles) else self._advance_bodies(count, half)

    def _advance_bodies(self, count: int, half: float) -> int:
        """Steps of rigid bodies alone."""
        start = time.perf_counter()
        self._forget()
        count = min(count, _POSES if self._obstacles_move else count)
        count = max(1, min(count, int(_SECONDS / self._per_step))) if self._per_step > 0 else min(count, 10)
        poses = self._poses(count)
        walls = self._fastest_obstacle(poses)
        done, broken = 0, False
        while done < count and not broken:
            steps, broken = self.rigid.advance(
                count - done, self._laws, self.planes, poses[done:] if len(poses) > 1 else poses, walls, self.gravity,
                self.dt, half,
            )  # fmt: skip
            done += steps
            broken = broken or bool(self.rigid.are_lost.any())
            if not self.space.holds(self.rigid.place).all():
                break  # the world will end the run
        self.steps += done
        self._per_step = (time.perf_counter() - start) / done
        return 0 if broken else done

    def _advance_both(self, count: int, half: float) -> int:
        """Spheres and rigid bodies, one step after the other."""
        start = time.perf_counter()
        p, done = self.particles, 0
        while done < count and (done == 0 or time.perf_counter() - start < _SECONDS):
            poses = self._poses(1)
            self._forget()
            self.rigid.push(self._laws, self.planes, poses[0], self.dt, True)
            broken = self._step_spheres(half)
            self.rigid.move(self.gravity, self.dt, half)
            self.rigid.note_step(max(self._fastest_obstacle(poses), fastest_plane(self.planes)), self.dt)
            way = self.dt * self.rigid.fastest(float(p.x[:, 3].max() + self.lists.travel[1]))
            self.lists.travel[0] += way
            self.steps += 1
            done += 1
            if broken or not way < math.inf or self.rigid.are_lost.any():
                return 0
        return done

    def _step_spheres(self, half: float) -> bool:
        """One step of spheres and planes, and what they do to rigid bodies; returns whether something broke."""
        self._refresh()
        self._press_planes()
        reason = self._pass(1, self.dt, half, True)
        if not self.rough:
            self._swap()
        self.lists.note_steps(1, self._per_step)
        self.rigid.add_reactions(self.lists)
        return reason == _particles.BROKEN

    @property
    def _laws(self) -> Laws:
        return Laws(self.table, self.materials)

    def _push_bodies(self) -> None:
        """Forces on bodies now; nothing is kept."""
        self.rigid.push(self._laws, self.planes, self._poses(1)[0], self.dt, False)
        if len(self.particles):
            self._refresh()
            self._press_planes()
            self._pass(1, 0.0, 0.5 * self.dt, False)
            self.rigid.add_reactions(self.lists)

    def _press_planes(self) -> None:
        """Let planes under load feel bodies, too, where spheres move them."""
        if len(self.lists.loads):
            first = len(self.lists.wall_forces) - len(self.planes)
            self.lists.wall_forces[first:] = self.rigid.pushes_on(self.planes)[0]

    def _swap(self) -> None:
        """Take what a pass has left in spare rows."""
        p, spare = self.particles, self._spare
        self._spare = (p.x, p.u, p.q)
        p.x, p.u, p.q = spare

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
        poses = self._surface_poses(steps)
        fastest = np.zeros(blocks + 1)
        wall = self._fastest_obstacle(poses)
        fastest[-1] = wall * wall  # infinite if it is too large for a number
        travel = lists.travel if keep else np.array([0.0, np.inf])
        # Rough pairs are met in a pass of their own, after which each sphere can be moved in place.
        x, u, q = (p.x, p.u, p.q) if self.rough and keep else self._spare
        workers = max(min(thread_count(), blocks // _BLOCKS_PER_THREAD), 1)
        ahead = lists.apart // _particles.BLOCK + 1
        self._shared = np.zeros(_particles.TICKETS + 8 * workers, np.int64)
        self._passes = 2 if self.rough and workers > 1 else 1  # as in `advance`
        _particles.advance(
            workers, steps, self._shared, workers, ahead, lists.most_pairs, travel, fastest, p.x, x,
            p.u, u, p.q, q, p.v, p.w, p.mass, p.turning, p.kinds, self.materials, self.table, self.rough, self._damped,
            self.gravity, self.dt, move, half, keep, self.space.low, self.space.period, lists.pairs.starts,
            lists.partners, lists.pairs.known, lists.pairs.history, lists.own, lists.forces, lists.back_starts,
            lists.back, self.planes, lists.walls.starts, lists.walls.names, lists.walls.known, lists.walls.history,
            lists.wall_forces, lists.loads, lists.near, self.surfaces, poses, lists.patches.known,
            lists.patches.history, lists.reactions, p.lost, p.work,
        )  # fmt: skip
        return int(self._shared[_particles.STOP])

    def _forget(self) -> None:
        """What was seen is over."""
        self._seen, self._contacts = None, None

    def _refresh(self) -> None:
        if not self.lists.are_good:
            self._forget()
            poses = self._surface_poses(1)
            self.lists.refresh(self.planes, self.surfaces, poses[0], self._columns, self._longest_step(poses))

    def _longest_step(self, poses: _Floats) -> float:
        """The longest way of anything in the last step, at most."""
        speeds = [self.particles.v, self.planes[:, _planes.SPEED : _planes.SPEED + 3]]
        with np.errstate(over="ignore", invalid="ignore"):
            squares = max(float((vectors**2).sum(axis=1).max(initial=0.0)) for vectors in speeds)
        fastest = max(math.sqrt(squares), self._fastest_obstacle(poses))
        return fastest * self.dt if self.staggered and math.isfinite(fastest) else 0.0

    def obstacle_frames(self) -> _Floats:
        """Where all obstacles are now."""
        frames: _Floats = self._poses(1)[0]
        return frames

    def _poses(self, steps: int) -> _Floats:
        """Of all obstacles in the steps to come, or one for all if none moves."""
        times = [self._time_of(self.steps + k) for k in range(steps if self._obstacles_move else 1)]
        return poses_over(self.obstacles, np.array(times))

    def _surface_poses(self, steps: int) -> _Floats:
        """The same of all that spheres run into: obstacles and rigid bodies."""
        poses = self._poses(steps)
        return np.concatenate([poses, self.rigid.frames()[None]], axis=1) if len(self.rigid) else poses

    @property
    def _obstacles_move(self) -> bool:
        return any(obstacle.moves for obstacle in self.obstacles)

    def _fastest_obstacle(self, poses: _Floats) -> float:
        """Largest speed of a point within reach of a sphere."""
        if not self._obstacles_move:
            return 0.0
        reach = float(self.particles.x[:, 3].max(initial=0.0)) + float(self.lists.travel[1])
        return fastest_point(self.surfaces, poses, reach)

    def _stagger(self) -> None:
        """Velocities half a step back, v(−½) = v(0) − ½ a(0) dt."""
        if self.staggered:
            return
        p = self.particles
        if len(p):
            self._refresh()
            self._pass(1, 0.0, -0.5 * self.dt, False)
            p.v[:] = self._spare[1]
            if self.rough:
                p.w[:] = self._spare[2]
        if len(self.rigid):
            self._push_bodies()
            self.rigid.shift(self.gravity, -0.5 * self.dt)
        _planes.shift_planes(self.planes, *self._pushes(), -0.5 * self.dt)
        self.staggered = True

    @property
    def lightest_lid(self) -> float:
        """Mass of the lightest plane under load, kg; infinite if there is none."""
        loaded = np.isfinite(self.planes[:, _planes.LOAD])
        return float(self.planes[loaded, _planes.MASS].min(initial=math.inf))

    def _pushes(self) -> tuple[_Floats, NDArray[np.int64]]:
        """Forces at planes as they are moved by them, see `_planes`."""
        if len(self.particles):
            return self.lists.wall_forces, self.lists.loads
        return self.rigid.pushes_on(self.planes) if len(self.rigid) else _NO_PUSHES

    @uninterrupted
    def look(self) -> Seen:
        """Velocities now, v(n) = v(n − ½) + ½ a(n) dt. Changes nothing but the order of rows."""
        p = self.particles
        if not self.staggered or len(p) == 0:
            return Seen(p.v.copy(), p.w.copy())
        self._refresh()
        if self._seen is None:
            self._pass(1, 0.0, 0.5 * self.dt, False)
            self._seen = Seen(self._spare[1].copy(), self._spare[2].copy() if self.rough else p.w.copy())
        return self._seen

    @uninterrupted
    def look_at_bodies(self) -> _Floats:
        """(n, 6): velocities and spins of rigid bodies now."""
        if not self.staggered:
            return self.rigid.velocities(self.gravity, 0.0)
        self._push_bodies()
        return self.rigid.velocities(self.gravity, 0.5 * self.dt)

    @uninterrupted
    def body_contacts(self) -> Found:
        """All contacts of rigid bodies with each other and with walls now."""
        return self.rigid.contacts(self._laws, self.planes, self._poses(1)[0], self.dt)

    def synchronise(self) -> None:
        """Let v and w be velocities at the time of the positions again."""
        if self.staggered:
            seen, p = self.look(), self.particles
            if len(self.rigid):
                self._push_bodies()
                self.rigid.shift(self.gravity, 0.5 * self.dt)
            _planes.shift_planes(self.planes, *self._pushes(), 0.5 * self.dt)
            p.u[:], p.q[:], p.v[:], p.w[:] = seen.velocities, seen.spins, seen.velocities, seen.spins
            self.staggered = False
            self._forget()

    @uninterrupted
    def contacts(self) -> Contacts:
        """All contacts now."""
        self._refresh()
        if self._contacts is None:
            self._contacts = find_contacts(self, self._surface_poses(1)[0])
            for array in self._contacts:
                array.flags.writeable = False
        return self._contacts

    def pivots(self) -> _Floats:
        """(walls, d): the points about which torques on planes and obstacles are taken."""
        places = [obstacle.pivot_at(self.time) for obstacle in self.obstacles]
        return np.concatenate([self.planes[:, :3], np.array(places).reshape(-1, 3)])[:, : self.space.dimension]
