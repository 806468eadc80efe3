"""Rigid bodies, step by step: the engine of a world's polyhedra, which trusts what it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import thread_count
from impinge.bodies import _planes
from impinge.bodies._obstacles import POSE
from impinge.bodies.lists import Lists as SphereLists
from impinge.bodies.rigid import _layout, _motion, _steps, _touch
from impinge.bodies.rigid.lists import Lists
from impinge.bodies.rigid.shape import Form, Shape, join
from impinge.response import _laws

__all__ = ["FARTHEST", "Found", "Laws", "Rigid"]

FARTHEST = 1e100  # m: beyond, squares of distances soon are no numbers any more

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_STATE = ("ids", "kinds", "forms", "mass", "inertia", "place", "pose", "late", "now", "lost", "work")
_NOTHING = np.empty((0, POSE))
_PIECES = 8  # of the pairs, for each thread


class Found(NamedTuple):
    """Contacts of bodies, in the order of their pairs."""

    pairs: Ints  # (m, 3): columns of `_layout`
    rows: Floats  # (m, CONTACT)


class Laws(NamedTuple):
    """Laws of all pairs of materials."""

    rows: Floats  # (materials², COLUMNS)
    materials: int

    @property
    def rough(self) -> bool:
        """Whether contacts have a memory."""
        return bool(self.rows[:, _laws.FRICTION].any())


class Rigid:
    """State of all rigid bodies of a world, in the order of their permanent numbers.

    Attributes
    ----------
    ids, kinds, forms : (n,) int64
        Permanent numbers; numbers of materials and of shapes.
    mass, inertia : (n,), (n, 3) float64
        Moments about the principal axes.
    place, pose : (n, 3), (n, 4) float64
        Centre of mass; quaternion w, x, y, z from the principal axes to space.
    late : (n, 6) float64
        Velocity and angular momentum, half a time step before where the world is staggered.
    now : (n, 6) float64
        Velocity and spin at the time of the places, as dampers and friction see them.
    lost, work : (n,) float64, J
        Energy lost at contacts so far, and work done by what is driven.
    forces : (n, 6) float64
        Force and torque about the centre of mass, without gravity.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.sheets: list[Form] = []  # of obstacles
        self.sheet_kinds: list[int] = []
        self._joined = join([])
        self.ids, self.kinds, self.forms = (np.empty(0, np.int64) for _ in range(3))
        self.next_id = 0
        self.mass, self.inertia = np.empty(0), np.empty((0, 3))
        self.place, self.pose = np.empty((0, 3)), np.empty((0, 4))
        self.late, self.now = np.empty((0, 6)), np.empty((0, 6))
        self.lost, self.work = np.empty(0), np.empty(0)
        self.forces = np.empty((0, 6))
        self.lists = Lists()
        self.wrenches = np.empty((0, _layout.WRENCH))

    def __len__(self) -> int:
        return len(self.mass)

    def add_shape(self, shape: Shape) -> int:
        """One more shape; returns its number."""
        self.shapes.append(shape)
        self._join()
        return len(self.shapes) - 1

    def add_sheet(self, form: Form, kind: int) -> None:
        """The surface of one more obstacle."""
        self.sheets.append(form)
        self.sheet_kinds.append(kind)
        self._join()

    def _join(self) -> None:
        self._joined = join([*self.shapes, *self.sheets])
        self.lists.forget()

    def add(
        self, shape: int, places: Floats, poses: Floats, velocities: Floats, spins: Floats, density: float, kind: int
    ) -> Ints:
        """Bodies of a shape, with the centre of mass and the pose of the principal axes of each; their numbers."""
        n, form = len(places), self.shapes[shape]
        mass = density * form.volume
        inertia = np.broadcast_to(mass * form.turning, (n, 3))
        turns = _motion.matrices(poses)
        momenta = np.einsum("nij,nj,nkj,nk->ni", turns, inertia, turns, spins)
        ids = np.arange(self.next_id, self.next_id + n)
        rows = {
            "ids": ids, "kinds": np.full(n, kind), "forms": np.full(n, shape), "mass": np.full(n, mass),
            "inertia": inertia.copy(),  # else, joined to that of one body, of another order: all kernels once more
            "place": places, "pose": poses, "late": np.hstack([velocities, momenta]),
            "now": np.hstack([velocities, spins]), "lost": np.zeros(n), "work": np.zeros(n),
        }  # fmt: skip
        for name in _STATE:
            setattr(self, name, np.concatenate([getattr(self, name), rows[name]]))
        self.forces = np.zeros((len(self), 6))
        self.lists.forget(n)
        self.next_id += n
        return ids

    def take(self, rows: Ints) -> None:
        """Keep these bodies; rows : ascending."""
        self.lists.take(rows, len(self))
        for name in _STATE:
            setattr(self, name, getattr(self, name)[rows])
        self.forces = np.zeros((len(self), 6))

    @property
    def are_lost(self) -> NDArray[np.bool_]:
        """Which bodies are so far away that nothing can be told of them."""
        lost: NDArray[np.bool_] = np.abs(self.place).max(axis=1, initial=0.0) > FARTHEST
        return lost

    def rows_of(self, ids: Ints) -> Ints:
        """Where bodies with these permanent numbers are."""
        rows: Ints = np.searchsorted(self.ids, ids)
        return rows

    def frames(self, obstacles: Floats = _NOTHING) -> Floats:
        """Of all bodies and obstacles now; obstacles : rows of `_obstacles` poses."""
        frames = np.empty((len(self) + len(obstacles), POSE))
        _motion.write_frames(len(self), self.place, self.pose, self.now, frames)
        frames[len(self) :] = obstacles
        return frames

    def mesh_poses(self) -> tuple[Floats, Floats]:
        """Where the frames of the meshes of all bodies are: positions (n, 3) and rotations (n, 3, 3)."""
        axes = np.array([shape.axes for shape in self.shapes]).reshape(-1, 3, 3)[self.forms]
        middles = np.array([shape.centre for shape in self.shapes]).reshape(-1, 3)[self.forms]
        rotations = _motion.matrices(self.pose) @ axes.swapaxes(1, 2)
        return self.place - (rotations @ middles[:, :, None])[:, :, 0], rotations

    @property
    def _all_forms(self) -> Ints:
        sheets = np.arange(len(self.sheets)) + len(self.shapes)
        return np.concatenate([self.forms, sheets])

    @property
    def _all_kinds(self) -> Ints:
        return np.concatenate([self.kinds, np.array(self.sheet_kinds, np.int64)])

    def push(self, table: Laws, planes: Floats, obstacles: Floats, dt: float, keep: bool) -> None:
        """Find what touches now, and all forces; keep : whether contacts remember that."""
        if not len(self):
            return
        frames = self.frames(obstacles)
        self._refresh(planes, frames)
        lists = self.lists
        self.wrenches = np.empty((len(lists.pairs), _layout.WRENCH))
        _touch.meet_pairs(
            len(lists.pairs), lists.pairs, lists.spans, self._all_kinds, planes, table.rows, table.materials,
            table.rough, dt, lists.skins, keep, lists.most, self._joined, self._all_forms, frames, self.mass,
            lists.listed, lists.gone, lists.clear_to, self.wrenches,
        )  # fmt: skip
        _touch.gather(len(self), lists.starts, lists.sides, self.wrenches, self.forces, keep, self.lost, self.work)

    def _refresh(self, planes: Floats, frames: Floats) -> None:
        if not self.lists.are_good:
            self.lists.make(len(self), self._joined, self._all_forms, frames, planes)

    def contacts(self, table: Laws, planes: Floats, obstacles: Floats, dt: float) -> Found:
        """All contacts now."""
        if not len(self):
            return Found(np.empty((0, 3), np.int64), np.empty((0, _layout.CONTACT)))
        frames = self.frames(obstacles)
        self._refresh(planes, frames)
        lists = self.lists
        owners, rows = np.empty(0, np.int64), np.empty((0, _layout.CONTACT))
        for _ in range(2):  # first they are counted
            count = _touch.list_contacts(
                lists.pairs, lists.spans, self._all_kinds, planes, table.rows, table.materials, table.rough, dt,
                lists.skins, lists.most, self._joined, self._all_forms, frames, self.mass, lists.listed, owners, rows,
            )  # fmt: skip
            if count > len(rows):
                owners, rows = np.empty(count, np.int64), np.empty((count, _layout.CONTACT))
        return Found(lists.pairs[owners], rows)

    def move(self, gravity: Floats, dt: float, half: float) -> None:
        """One step with the forces that were found; half : of a step, by which dampers see velocities ahead."""
        _motion.move_bodies(
            len(self), self.place, self.pose, self.late, self.now, self.mass, self.inertia, self.forces, gravity, dt,
            half,
        )  # fmt: skip

    def note_step(self, walls: float, dt: float) -> None:
        """Bodies have moved by a step; walls : speed of the fastest of all that is no body."""
        lists = self.lists
        _steps.add_all_ways(
            lists.pairs, self.late, self.inertia, self._reaches(), walls, dt, np.empty(len(self)), lists.ways,
            lists.gone,
        )  # fmt: skip

    def fastest(self, beyond: float) -> float:
        """Speed of the fastest point of what goes with bodies, so far beyond them, at most; infinite if one broke."""
        ways, turning = np.zeros(len(self) + 1), np.empty(len(self))
        return float(_motion.add_ways(self.late, self.inertia, self._reaches(beyond), 0.0, 0.0, turning, ways))

    def _reaches(self, beyond: float = 0.0) -> Floats:
        """(n,) m: of the farthest point of what goes with bodies, so far beyond them; less where these are thin.

        A point at the distance r_k from axis k, with |L_k| ≤ |L|, has the speed Σ r_k |L_k| / I_k at most, which is
        |L| √(Σ r_k² / I_k²); this is how far the point would be if the body turned about its thinnest axis alone.
        """
        reaches = np.empty(len(self.shapes))
        for number, shape in enumerate(self.shapes):
            arms = (shape.arms + beyond) * (shape.turning.min() / shape.turning)
            reaches[number] = min(shape.reach + beyond, float(np.sqrt((arms**2).sum())) * (1 + 1e-9))
        found: Floats = reaches[self.forms]
        return found

    def advance(
        self, count: int, table: Laws, planes: Floats, poses: Floats, walls: float, gravity: Floats, dt: float,
        half: float,
    ) -> tuple[int, bool]:  # fmt: skip
        """Steps where there are no spheres, `count` or until lists do not reach: how many, and whether one broke."""
        frames, lists = self.frames(poses[0]), self.lists
        self._refresh(planes, frames)
        self.wrenches = np.empty((len(lists.pairs), _layout.WRENCH))
        shared, workers = np.zeros(_steps.SHARED, np.int64), thread_count()
        size = max(1, -(-len(lists.pairs) // (_PIECES * workers)))
        wall_forces = np.zeros((len(planes), 3))
        _steps.advance(
            min(workers, max(1, len(lists.pairs))), count, shared, size, lists.pairs, lists.spans, self._all_kinds,
            planes, _loaded(planes), table.rows, table.materials, table.rough, dt, half, gravity, lists.skins,
            lists.margins, lists.most, self._joined, self._all_forms, poses, walls, self._reaches(), self.place,
            self.pose, self.late, self.now, self.mass, self.inertia, frames, lists.listed, lists.starts, lists.sides,
            self.wrenches, self.forces, wall_forces, self.lost, self.work, np.empty(len(self)), lists.ways, lists.gone,
            lists.boxed_at, lists.clear_to,
        )  # fmt: skip
        return int(shared[_steps.OPEN]) // 2, shared[_steps.STOP] == _steps.BROKEN

    def add_reactions(self, lists: SphereLists) -> None:
        """Add what spheres do to bodies."""
        _touch.gather_reactions(len(self), lists.reaction_starts, lists.reaction_entries, lists.reactions, self.forces)

    def pushes_on(self, planes: Floats) -> tuple[Floats, Ints]:
        """Force of every plane on the bodies, and which of them are under load: as `_planes` reads it."""
        forces = np.zeros((len(planes), 3))
        at_planes = self.lists.pairs[:, _layout.KIND_OF] == _layout.PLANE
        np.add.at(forces, self.lists.pairs[at_planes, _layout.OTHER], self.wrenches[at_planes, :3])
        return forces, _loaded(planes)

    def shift(self, gravity: Floats, by: float) -> None:
        """Let velocities be those some time later, as forces are now."""
        self.late[:, :3] += by * (self.forces[:, :3] / self.mass[:, None] + gravity)
        self.late[:, 3:] += by * self.forces[:, 3:]

    def velocities(self, gravity: Floats, by: float) -> Floats:
        """(n, 6): velocities and spins now; by : how much later that is than what is stored."""
        seen = self.late.copy()
        seen[:, :3] += by * (self.forces[:, :3] / self.mass[:, None] + gravity)
        seen[:, 3:] += by * self.forces[:, 3:]
        turns = _motion.matrices(self.pose)
        seen[:, 3:] = np.einsum("nij,nj,nkj,nk->ni", turns, 1 / self.inertia, turns, seen[:, 3:])
        return seen

    def masses_by_kind(self) -> dict[tuple[int, int], float]:
        """Mass of a body of each shape and material that there are, kg."""
        kinds = zip(self.forms.tolist(), self.kinds.tolist(), strict=True)
        return dict(zip(kinds, self.mass.tolist(), strict=True))

    def shortest_contact(self, laws: Laws, lid: float, coming: Mapping[tuple[int, int], float]) -> float:
        """Duration of the shortest contact, s: π √(m / K), of a quarter of a surface with something fixed.

        m : the mass that reacts to pushes along the normals of points, the least of all quarters; lid : mass of the
        lightest plane under load, which a body may push like that as well; coming : masses of bodies that may appear,
        by shape and material.
        """
        shortest = math.inf
        for (form, kind), mass in sorted((self.masses_by_kind() | dict(coming)).items()):
            for law in laws.rows.reshape(laws.materials, laws.materials, -1)[kind]:
                stiffness = self.shapes[form].stiffest(law)
                if stiffness == 0:  # too soft for a number: it takes for ever
                    continue
                light = min(mass / self.shapes[form].liveliest, lid)
                stiffness *= max(1.0, 3.5 * law[_laws.TANGENTIAL] if law[_laws.FRICTION] > 0 else 0.0)
                stiff = max(1.0, law[_laws.DAMPING] / (2 * math.sqrt(light * stiffness)))
                shortest = min(shortest, math.pi * math.sqrt(0.5 * light / stiffness) / stiff)
        return shortest

    def state(self) -> dict[str, Any]:
        """All that changes."""
        rows = {name: getattr(self, name) for name in _STATE}
        return {"next_id": self.next_id} | rows | {"memory": self.lists.memories()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; shapes and obstacles are there already."""
        self.next_id = state["next_id"]
        for name in _STATE:
            setattr(self, name, state[name].copy())
        self.forces = np.zeros((len(self), 6))
        self.lists.restore(state["memory"])


def _loaded(planes: Floats) -> Ints:
    """Which planes are under load, as `_planes` reads it."""
    rows = np.flatnonzero(np.isfinite(planes[:, _planes.LOAD]))
    return np.column_stack([rows, rows])
