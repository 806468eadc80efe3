"""A world of spheres and rigid bodies: what is in it, how it moves, and what can be asked about it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from impinge import _check, _jit
from impinge._interrupt import uninterrupted
from impinge.bodies import _planes
from impinge.bodies.contacts import Contacts
from impinge.bodies.dynamics import INTEGRATORS, Dynamics
from impinge.bodies.motion import Motion, PoseFunction
from impinge.bodies.obstacles import Obstacle
from impinge.bodies.rain import Rain
from impinge.bodies.rigid.rain import PolyhedraRain
from impinge.bodies.rigid.shape import Shape
from impinge.bodies.sizes import read_corners
from impinge.broad.search import NeighborSearch, Statistics
from impinge.broad.space import check_room, read_space
from impinge.errors import InputError, RunWarning
from impinge.facts import counted, html_table
from impinge.inside.solid import Solid
from impinge.response.materials import Material, law_table
from impinge.run import measure, overlaps, planes, rows, state, watch
from impinge.run.flow import EVERY, Sink, Source, exchange
from impinge.run.measure import Energy, Push
from impinge.run.room import Room
from impinge.run.timestep import TimeStep
from impinge.run.views import BodyContacts, Polyhedra, Spheres, Wall
from impinge.shapes.mesh import Mesh

__all__ = ["World"]

_MOST_STEPS = 2.0**53  # that are counted at once
_Floats = NDArray[np.float64]


class World:
    """Spheres (discs in two dimensions) and rigid bodies between walls, in motion.

    Parameters
    ----------
    gravity : (d,) float64, m/s², optional
        9.81 down the last axis by default.
    dt : float, s, or "auto"
        Time step; "auto" takes a fiftieth of the shortest contact of spheres, or a twelfth of that of rigid bodies if
        that is less; `why_dt` says which.
    dim : {3, 2}
        Spheres, or discs.
    search : {"auto", "brute", "verlet", "cells", "sweep", "levels"}
        How neighbours are found; results do not depend on it.
    skin, box, periodic
        As for `impinge.NeighborSearch`. What leaves the box with its centre, along an axis that is not periodic, ends
        the run.
    integrator : {"velocity", "position", "position-central"}
        Velocity Verlet; the position Verlet scheme of [Muth2007b], whose dampers see the velocity half a step before;
        the same with the central difference, found by iteration. Without damping and friction they are the same.
    threads : int, optional
        All cores by default; results do not depend on it.

    Examples
    --------
    >>> import impinge
    >>> world = impinge.World()
    >>> glass = impinge.Material(density=2500, stiffness=1e5, restitution=0.9)
    >>> ids = world.add_spheres([[0, 0, 0.02]], 0.01, glass)
    >>> floor = world.add_plane([0, 0, 0], [0, 0, 1])
    >>> world.run(until=0.1)
    >>> world.energy().dissipated > 0
    True
    """

    def __init__(
        self,
        gravity: ArrayLike | None = None,
        dt: float | str = "auto",
        dim: int = 3,
        search: str = "auto",
        *,
        skin: float | str = "auto",
        box: ArrayLike | None = None,
        periodic: bool | ArrayLike = False,
        integrator: str = "velocity",
        threads: int | None = None,
    ) -> None:
        self.dim = _check.integer("dim", dim, 2, 3)
        pull = np.zeros(3)
        pull[: self.dim] = _check.vector(
            "gravity", [0.0] * (self.dim - 1) + [-9.81] if gravity is None else gravity, self.dim
        )
        if isinstance(dt, str):
            _check.choice("dt", dt, ["auto"])
        self._timestep = TimeStep(None if isinstance(dt, str) else _check.positive("dt", dt))
        _check.choice("integrator", integrator, INTEGRATORS)
        space = read_space(box, periodic, self.dim)
        self._search = NeighborSearch(search, skin, box, periodic, threads=threads)
        self._dynamics = Dynamics(space, self._search, pull, integrator)
        self._threads = threads
        self._settings = {
            "gravity": pull[: self.dim].copy(), "dt": dt, "dim": self.dim, "search": search, "skin": skin,
            "box": None if box is None else np.array(box), "periodic": np.array(periodic), "integrator": integrator,
        }  # fmt: skip
        self._materials: list[Material] = []
        self._laws: dict[tuple[int, int], Material] = {}
        self._planes: list[Wall] = []
        self._obstacles: list[Wall] = []
        self._sources: list[Source] = []
        self.sinks: list[Sink] = []
        self._room = Room(self._dynamics)
        self._may_overlap: set[int] = set()  # bodies that may start in others
        self._ready = False  # whether laws and time step are those of what is in the world
        self._unchecked = False  # whether something was added that may overlap
        self._known = overlaps.Known()  # what is not looked at again then

    def __repr__(self) -> str:
        dynamics = self._dynamics
        what = [
            counted(len(dynamics.particles), "sphere" if self.dim == 3 else "disc"),
            counted(len(dynamics.rigid), "polyhedron", "polyhedra"),
            counted(len(self.walls), "wall"),
        ]
        return f"<impinge.World: {', '.join(what)}, t = {self.time:.6g} s>"

    def _repr_html_(self) -> str:
        dynamics, d = self._dynamics, self.dim
        space, flows = dynamics.space, bool(self._sources or self.sinks)
        box = None
        if np.isfinite(space.lengths[:d]).all():
            box = f"from {space.low[:d].tolist()} to {(space.low + space.lengths)[:d].tolist()}"
        facts = [("time [s]", self.time), ("steps", self.steps), ("time step", self.why_dt or None),
                 ("spheres" if d == 3 else "discs", len(dynamics.particles)), ("polyhedra", len(dynamics.rigid)),
                 ("materials", len(self._materials)), ("walls", [wall.name for wall in self.walls] or None),
                 ("sources, sinks", f"{len(self._sources)}, {len(self.sinks)}" if flows else None),
                 ("gravity [m/s²]", dynamics.gravity[:d]), ("box [m]", box)]  # fmt: skip
        return html_table("World", facts)

    # What is in it

    @uninterrupted
    def add_spheres(
        self,
        centres: ArrayLike,
        radii: ArrayLike,
        material: Material,
        velocities: ArrayLike | None = None,
        spins: ArrayLike | None = None,
    ) -> NDArray[np.int64]:
        """Add spheres, or discs in two dimensions; returns their permanent numbers.

        Parameters
        ----------
        centres : (n, d) float64, m
        radii : float or (n,) float64, m
        material : Material
        velocities : (n, d) or (d,) float64, m/s, optional
        spins : (n, 3) or (3,) float64, 1/s, optional
            In two dimensions (n,) or one number.
        """
        ids = self._insert(centres, radii, material, velocities, spins)
        self._unchecked = True
        return ids

    def _insert(
        self,
        centres: ArrayLike,
        radii: ArrayLike,
        material: Material,
        velocities: ArrayLike | None,
        spins: ArrayLike | None,
    ) -> NDArray[np.int64]:
        x, r, v, w = rows.of_spheres(self._dynamics, centres, radii, material, velocities, spins)
        kind = self._number_of(material)
        ids = self._dynamics.add(x, r, material.density, kind, v, w)
        self._ready = False
        return ids

    @uninterrupted
    def add_polyhedra(
        self,
        mesh: Any,
        positions: ArrayLike,
        rotations: Any = None,
        *,
        material: Material,
        velocities: ArrayLike | None = None,
        spins: ArrayLike | None = None,
        resolution: float | None = None,
        overlap: bool = False,
    ) -> NDArray[np.int64]:
        """Add rigid bodies of one shape, convex or not; returns their permanent numbers. Three dimensions only.

        Parameters
        ----------
        mesh : Mesh, Solid, or anything `Mesh.of` takes
            Closed, with outward normals; its density is that of the material.
        positions : (n, 3) float64, m
            Where the origin of the frame of the mesh is to be.
        rotations : (n, 3, 3) or (3, 3) float64, or scipy.spatial.transform.Rotation, optional
            How the mesh is turned about its origin.
        material : Material
            With a stiffness k: κ = k / (π R²) [N/m³] times area and depth is the force of a contact, R being the radius
            of the ball of the same volume, of the smaller body; with Young's modulus κ = E* / R.
        velocities, spins : (n, 3) or (3,) float64, m/s and 1/s, optional
            Of the centres of mass.
        resolution : float, m, optional
            Distance of the points of the surface that feel contact; some two thousand points by default.
        overlap : bool
            Whether these bodies may start deep in each other, or in a wall.
        """
        self._check_polyhedra("mesh")
        body = mesh.mesh if isinstance(mesh, Solid) else Mesh.of(mesh)
        fine = None if resolution is None else _check.positive("resolution", resolution)
        x = _check.vectors("positions", positions)
        far = np.flatnonzero((np.abs(x) > watch.FARTHEST).any(axis=1))
        if len(far):
            raise InputError(f"positions: row {far[0]} is {x[far[0]].tolist()}, expected at most {watch.FARTHEST:g} m")
        turns = rows.rotations(rotations, len(x))
        v = rows.per_row("velocities", velocities, len(x), 3)
        w = rows.per_row("spins", spins, len(x), 3)
        kind = self._number_of(material)
        self._warn_of_laws(material)
        ids = self._insert_bodies(self._shape_of(body, fine), x, turns, kind, v, w)
        self._unchecked = True
        self._may_overlap.update(ids.tolist() if overlap else [])
        return ids

    def _check_polyhedra(self, name: str) -> None:
        """An error if there can be no rigid bodies here."""
        if self.dim == 2:
            raise InputError(f"{name}: found a polyhedron in a world of dim 2, expected discs there")
        if (self._dynamics.space.period > 0).any():
            raise InputError(f"{name}: found a polyhedron in a world with periodic sides, expected none there")
        if self._dynamics.integrator == "position-central":
            raise InputError(f"{name}: found a polyhedron with integrator 'position-central', expected 'velocity'")

    def _warn_of_laws(self, material: Material) -> None:
        """Warn of what a material has and rigid bodies have not."""
        for name in ("cohesion", "unloading", "pull"):  # rolling resistance is for what a sphere stands for, not these
            if getattr(material, name):
                found = f"material: found {name}, which rigid bodies do not have; they do as if it was not there"
                warnings.warn(found, RunWarning, stacklevel=5)

    def _shape_of(self, mesh: Mesh, resolution: float | None) -> int:
        """Number of a shape, which is prepared once; the same arrays are the same shape, whatever object has them."""
        rigid = self._dynamics.rigid
        for number, known in enumerate(rigid.shapes):
            both = (known.mesh.vertices, mesh.vertices), (known.mesh.faces, mesh.faces)
            if known.asked == resolution and all(one is other or np.array_equal(one, other) for one, other in both):
                return number
        return rigid.add_shape(Shape(mesh, resolution))

    def _insert_bodies(
        self, shape: int, positions: _Floats, turns: _Floats, kind: int, velocities: _Floats, spins: _Floats
    ) -> NDArray[np.int64]:
        form = self._dynamics.rigid.shapes[shape]
        poses = Rotation.from_matrix(turns @ form.axes).as_quat(scalar_first=True).reshape(-1, 4)
        places = positions + turns @ form.centre
        self._ready = False
        density = self._materials[kind].density
        return self._dynamics.add_bodies(shape, places, poses, velocities, spins, density, kind)

    @uninterrupted
    def remove(self, ids: ArrayLike) -> None:
        """Take spheres out of the world; ids : their permanent numbers."""
        self._dynamics.take(rows.without(ids, self._dynamics.particles.ids, "spheres"))

    @uninterrupted
    def remove_polyhedra(self, ids: ArrayLike) -> None:
        """Take rigid bodies out of the world; ids : their permanent numbers, which are not used again."""
        self._dynamics.take_bodies(rows.without(ids, self._dynamics.rigid.ids, "polyhedra"))

    @uninterrupted
    def add_plane(
        self,
        point: ArrayLike,
        normal: ArrayLike,
        material: Material | None = None,
        *,
        velocity: ArrayLike | None = None,
        load: float | None = None,
        mass: float | None = None,
        name: str | None = None,
    ) -> Wall:
        """Add a wall that spheres and polyhedra feel from the side of its normal.

        Parameters
        ----------
        point, normal : (d,) float64
        material : Material, optional
            By default that of the sphere that touches it.
        velocity : (d,) float64, m/s, optional
            It moves steadily.
        load : float, N, optional
            Instead: it is pressed along its normal with this force, and gives way to bodies along its normal.
        mass : float, kg, optional
            Inertia of a wall under load; by default that of all spheres and polyhedra that are in the world now.
        name : str, optional
            For forces in tables; "wall 1" and so on by default.
        """
        bodies = math.fsum([*self._dynamics.particles.mass, *self._dynamics.rigid.mass])
        row = planes.read_plane(self.dim, point, normal, velocity, load, mass, bodies)
        row[_planes.MADE_OF] = -1 if material is None else self._number_of(material)
        across = np.flatnonzero((row[_planes.NORMAL : _planes.NORMAL + 3] != 0) & (self._dynamics.space.period > 0))
        if len(across):
            raise InputError(
                f"normal: found {normal!r}, expected none along {'xyz'[across[0]]}, as that axis is periodic"
            )
        wall = Wall(self, self._new_name(name, "wall", len(self._planes)))
        self._dynamics.add_plane(row)
        self._planes.append(wall)
        self._ready, self._unchecked = False, True
        return wall

    @uninterrupted
    def add_obstacle(
        self,
        mesh: Any,
        material: Material | None = None,
        motion: Motion | PoseFunction | None = None,
        *,
        name: str | None = None,
    ) -> Wall:
        """Add a triangle mesh that bodies run into, spheres from both sides; three dimensions only.

        One that is closed, and does not meet itself, is solid for polyhedra, or hollow around those that start in it.

        Parameters
        ----------
        mesh : Mesh, or anything `Mesh.of` takes
        material : Material, optional
            By default that of the sphere that touches it.
        motion : Motion, or function of time, optional
            `impinge.Motion(velocity, rotation)`; a function gets the time, s, and gives translation (3,), m, and
            rotation matrix (3, 3).
        name : str, optional
            For forces in tables; "obstacle 1" and so on by default.
        """
        if self.dim == 2:
            raise InputError("mesh: found an obstacle in a world of dim 2, expected planes there")
        obstacle = Obstacle(mesh, motion)
        wall = Wall(self, self._new_name(name, "obstacle", len(self._obstacles)))
        self._dynamics.add_obstacle(obstacle, -1 if material is None else self._number_of(material))
        self._obstacles.append(wall)
        self._ready, self._unchecked = False, True
        return wall

    @property
    def sources(self) -> list[Rain | PolyhedraRain]:
        """What lets spheres and rigid bodies appear; `inserted` of each tells how many have."""
        return [source.rain for source in self._sources]

    @property
    def walls(self) -> list[Wall]:
        """Planes, and after them obstacles: what the numbers in `contacts().walls` mean."""
        return self._planes + self._obstacles

    def _restore_walls(self, planes: list[str], obstacles: list[str]) -> None:
        self._planes = [Wall(self, name) for name in planes]
        self._obstacles = [Wall(self, name) for name in obstacles]

    def _new_name(self, name: str | None, kind: str, number: int) -> str:
        taken = {wall.name for wall in self.walls}
        if name is None:
            while f"{kind} {number + 1}" in taken:
                number += 1
            return f"{kind} {number + 1}"
        if not isinstance(name, str) or not name or name in taken:
            raise InputError(f"name: found {name!r}, expected a text that no other wall has")
        return name

    @uninterrupted
    def add_box(self, lower: ArrayLike, upper: ArrayLike, material: Material | None = None) -> list[Wall]:
        """Walls around a box, felt from inside; none along periodic axes."""
        low, high = read_corners(lower, upper, self.dim)
        walls = []
        for axis in range(self.dim):
            if self._dynamics.space.period[axis] == 0:
                normal = np.eye(self.dim)[axis]
                walls += [self.add_plane(low, normal, material), self.add_plane(high, -normal, material)]
        return walls

    @uninterrupted
    def add_source(self, rain: Rain | PolyhedraRain, material: Material) -> None:
        """Let spheres appear, `impinge.Rain`, or rigid bodies, `impinge.PolyhedraRain`; looked at every 50 steps.

        They appear where there is room among all that is there then, walls included.
        """
        if not isinstance(rain, Rain | PolyhedraRain):
            raise InputError(f"rain: found {rain!r}, expected an impinge.Rain or impinge.PolyhedraRain")
        shapes: tuple[int, ...] = ()
        if isinstance(rain, PolyhedraRain):
            self._check_polyhedra("rain")
        elif len(rain.lower) != self.dim:
            raise InputError(f"rain: found a box of {len(rain.lower)} dimensions, expected {self.dim}")
        if rain.is_taken:
            other = f"{type(rain).__name__}(**rain.settings)"
            raise InputError(f"rain: found one that a world has already, expected another: impinge.{other}")
        kind = self._number_of(material)
        rain.is_taken = True
        if isinstance(rain, PolyhedraRain):
            self._warn_of_laws(material)
            shapes = tuple(self._shape_of(mesh, rain.resolution) for mesh in rain.meshes)
        self._sources.append(Source(rain, kind, shapes))
        self._ready = False

    @uninterrupted
    def add_sink(self, lower: ArrayLike, upper: ArrayLike) -> Sink:
        """Let what is in a box vanish, looked at every 50 steps; the sink counts it.

        Spheres are in it if their centres are, polyhedra if their centres of mass are.
        """
        low, high = read_corners(lower, upper, self.dim)
        self.sinks.append(Sink(low, high))
        return self.sinks[-1]

    @uninterrupted
    def set_contact(self, one: Material, other: Material, law: Material) -> None:
        """Let two materials meet as spheres of a third would, instead of by the rule of means."""
        pair = sorted([self._number_of(one), self._number_of(other)])
        if not isinstance(law, Material):
            raise InputError(f"law: found {law!r}, expected an impinge.Material")
        self._laws[pair[0], pair[1]] = law
        self._ready = False

    def _number_of(self, material: Material) -> int:
        if not isinstance(material, Material):
            raise InputError(f"material: found {material!r}, expected an impinge.Material")
        if material not in self._materials:
            self._materials.append(material)
        return self._materials.index(material)

    # How it moves

    @property
    def time(self) -> float:
        """Simulated so far, s."""
        return self._dynamics.time

    @property
    def steps(self) -> int:
        """Number of time steps so far."""
        return self._dynamics.steps

    @property
    def dt(self) -> float:
        """Time step, s."""
        self._prepare()
        return self._dynamics.dt

    @property
    def why_dt(self) -> str:
        """How long the time step is, and where that comes from; empty before it is known."""
        return self._timestep.why

    def step(self, count: int = 1) -> None:
        """Move everything by some time steps."""
        left = _check.integer("count", count, 0)
        with _jit.threads(self._threads):
            self._prepare()
            while left > 0:
                left -= self._advance(left)

    def run(self, until: float, *, every: float | None = None, callback: Callable[[World], Any] | None = None) -> None:
        """Move on to a time, and call a function at intervals.

        Parameters
        ----------
        until : float, s
            The first time step at or after it is the last.
        every : float, s, optional
            Interval of the calls; every step by default. The last call is at the end.
        callback : function of the world, optional
        """
        until = _check.not_negative("until", until)
        if callback is not None and not callable(callback):
            raise InputError(f"callback: found {callback!r}, expected a function of the world")
        interval = self.dt if every is None else _check.positive("every", every)
        while self._steps_to(until) > 0:
            count = self._steps_to(until)
            if callback is not None:
                next_call = (math.floor(min(self.time / interval * (1 + 1e-12), _MOST_STEPS)) + 1) * interval
                count = max(min(count, self._steps_to(next_call)), 1)
            self.step(count)
            if callback is not None:
                callback(self)

    def _steps_to(self, when: float) -> int:
        return max(math.ceil(min((when - self.time) / self.dt - 1e-9, _MOST_STEPS)), 0)

    def _prepare(self) -> None:
        """Laws and time step for what is in the world now."""
        if self._ready:
            return
        dynamics, table = self._dynamics, law_table(self._materials, self._laws)
        dt = self._timestep.choose(dynamics, table, self._materials, self._sources)
        with _jit.threads(self._threads):
            dynamics.set_laws(
                table, len(self._materials)
            )  # first: all that is there has laws before anybody looks at it
            dynamics.set_dt(dt)
        self._ready = True

    def check(self) -> None:
        """Raise an error if nothing sensible can follow, as bodies overlap too much; done before the first step.

        And again when something has been added: then for what is new, with all that is there.
        """
        radii, space = self._dynamics.particles.x[:, 3], self._dynamics.space
        check_room("radii", "sphere", np.broadcast_to(radii[:, None], (len(radii), self.dim)), 0.0, space)
        with _jit.threads(self._threads):
            self._prepare()
            watch.check_start(self._dynamics)
            names = [wall.name for wall in self.walls]
            overlaps.check_spheres(self._dynamics, names, self._known)
            overlaps.check_bodies(self._dynamics, names, self._may_overlap, self._known)
        self._note_checked()

    def _note_checked(self) -> None:
        self._known, self._unchecked = overlaps.Known.all_of(self._dynamics), False

    @uninterrupted
    def _advance(self, count: int) -> int:
        """Some steps, as many as take a moment, and what sources and sinks do after the last; returns how many."""
        dynamics, rebuilds = self._dynamics, self.rebuilds
        flows = bool(self._sources or self.sinks)
        if self._unchecked:
            self.check()
        done = dynamics.advance(min(count, EVERY - self.steps % EVERY) if flows else count)
        if done == 0:
            watch.explain_break(dynamics, self.why_dt)
        if self.rebuilds > rebuilds:
            watch.check_box(dynamics, self.why_dt)
        if flows and self.steps % EVERY == 0:
            if exchange(self, self._sources, self.sinks, self._room):
                self._note_checked()  # they are where there was room
            self._prepare()
        return done

    # What can be asked about it

    @property
    def spheres(self) -> Spheres:
        """All spheres now: centres, velocities, spins, radii, masses, materials, ids."""
        self._prepare_if_possible()
        return Spheres(self)

    @property
    def polyhedra(self) -> Polyhedra:
        """All rigid bodies now: positions, rotations, centres, velocities, spins, masses, materials, shapes, meshes."""
        self._prepare_if_possible()
        return Polyhedra(self)

    @property
    def materials(self) -> list[Material]:
        """All materials, in the order of the numbers in `spheres.materials`."""
        return list(self._materials)

    def contacts(self) -> Contacts:
        """All contacts now."""
        with _jit.threads(self._threads):
            self._prepare_if_possible()
            return self._dynamics.contacts()

    def body_contacts(self) -> BodyContacts:
        """All contact points of rigid bodies now, with each other and with walls."""
        with _jit.threads(self._threads):
            self._prepare_if_possible()
            return BodyContacts.of(self._dynamics)

    def energy(self) -> Energy:
        """All energies now."""
        with _jit.threads(self._threads):
            self._prepare_if_possible()
            return measure.energy(self._dynamics)

    def pushes(self) -> dict[str, Push]:
        """Force and torque of all bodies on every wall now, by its name."""
        found = measure.pushes(self.contacts(), self.body_contacts(), self._dynamics.pivots())
        return {wall.name: push for wall, push in zip(self.walls, found, strict=True)}

    def stress(self, volume: float) -> _Floats:
        """Stress tensor (d, d) now, Pa, positive in compression; volume : of the space that the bodies fill, m³."""
        with _jit.threads(self._threads):
            self._prepare_if_possible()
            return measure.stress(self._dynamics, _check.positive("volume", volume))

    def coordination(self) -> float:
        """Mean number of contacts of a sphere with others."""
        count = len(self._dynamics.particles)
        return 2 * int((self.contacts().ids[:, 1] >= 0).sum()) / count if count else 0.0

    @property
    def statistics(self) -> Statistics:
        """What the neighbour search has done."""
        return self._search.statistics

    @property
    def rebuilds(self) -> int:
        """How often lists of neighbours have been made, of spheres and of polyhedra."""
        return self.statistics.rebuilds + self._dynamics.rigid.lists.rebuilds

    def _prepare_if_possible(self) -> None:
        if len(self._dynamics.particles) or len(self._dynamics.rigid) or self._timestep.asked is not None:
            self._prepare()

    # Files

    def save(self, path: str | Path) -> None:
        """Write everything to a file, from which `World.load` goes on with the same bits."""
        state.save(path, self)

    @classmethod
    def load(
        cls, path: str | Path, *, threads: int | None = None, motions: Mapping[str, PoseFunction] | None = None
    ) -> World:
        """A world from a file of `save`, or from the checkpoint.h5 of a run.

        motions : functions of time of obstacles, by name, which no file holds.
        """
        return state.load(cls, path, threads, motions or {})
