"""SoftWorld: cables and cloth that move under forces, and never pass through anything."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from impinge import _check, _jit
from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.drivers import Drivers, driven_nodes, unit_direction, user_rows
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.neighbours import Neighbours
from impinge.bodies.soft.parts import Floats, Parts, join
from impinge.bodies.soft.step import Result
from impinge.bodies.soft.surface import Skin, Surface, skin_of
from impinge.errors import InputError, RunWarning
from impinge.facts import html_table
from impinge.output.softframe import SoftFrame
from impinge.run import softexplicit, softstate, softview
from impinge.run.softbody import SoftBody, free_name, node_numbers, start_velocities
from impinge.run.softcontacts import NO_TOUCH, SoftContacts, Touch, contacts_of, with_more
from impinge.run.softmotion import take_step
from impinge.run.softobstacle import SoftObstacle
from impinge.run.softsettings import Setting, wind_of
from impinge.run.softstate import remembered
from impinge.shapes.mesh import Mesh
from impinge.sparse.cholesky import Structure

__all__ = ["SoftBody", "SoftWorld"]

INTEGRATORS = ("implicit-euler", "bdf2", "explicit")
RESPONSES = ("qp", "penalty", "impulse")
_UNSETTLED = 0.05  # of the largest force of friction: what is worth a warning


class SoftWorld:
    """Cables, cloth and obstacles.

    Every step solves the equations of motion and all contacts together. It is certified before it is taken: nothing
    touches anything while all vertices move straight from where they are to where they will be. Where no such step of
    `dt` is found, a shorter one is taken (`scaled_steps`), of the whole world; where none is found at all,
    `InfeasibleStep` is raised, and the world is as it was after the last step.

    Parameters
    ----------
    gravity : (3,) float, m/s²
    dt : float, s
        Time step.
    integrator : "implicit-euler", "bdf2" or "explicit"
        Implicit Euler damps fast motion and takes any dt; BDF2 is of second order in dt and damps less; explicit
        (symplectic Euler) needs small steps, of less than 2/ω of the fastest oscillation.
    threads : int, optional
        All cores by default. Results do not depend on it.
    friction : float
        Coefficient of Coulomb friction of all contacts.
    wind : (3,) float, m/s, or a function of time that gives it
        Velocity of the air; what resists it is `drag` of a body. That of the end of a step acts in all of it.
    response : "qp", "penalty" or "impulse"
        What contacts do. The classical responses are for comparison: they certify nothing, and let things pass.
    penalty : float, N/m
        Stiffness of the springs of response "penalty"; by default the mean mass of nodes by dt².

    Attributes
    ----------
    time : float, s
    steps, scaled_steps, unsettled_steps : int
        Steps so far; those of them that were shorter than `dt`; and those in which friction was off by more than 5 %.
    friction_error : float
        In the last step: the most that a node felt of what friction lacked, by the largest force of friction.
    bodies : list of SoftBody

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> world = impinge.SoftWorld(dt=0.01)
    >>> cable = world.add_cable(np.linspace([0, 0, 0], [1, 0, 0], 21), radius=0.005, stretch=1000, mass_per_length=0.1)
    >>> world.fix([0, 20])
    >>> world.step(100)
    >>> bool(world.positions[10, 2] < 0)
    True
    """

    gravity, friction, wind = Setting(_check.vector), Setting(_check.not_negative), Setting(wind_of)
    _before: tuple[Floats, Floats] | None  # positions and velocities of the step before

    def __init__(
        self,
        gravity: Any = (0.0, 0.0, -9.81),
        dt: float = 0.01,
        integrator: str = "implicit-euler",
        threads: int | None = None,
        *,
        friction: float = 0.0,
        wind: Any = (0.0, 0.0, 0.0),
        response: str = "qp",
        penalty: float | None = None,
    ) -> None:
        self.gravity, self.dt, self.friction, self.wind = gravity, dt, friction, wind
        self.integrator = _check.choice("integrator", integrator, INTEGRATORS)
        self.response = _check.choice("response", response, RESPONSES)
        if response != "qp":
            if integrator != "implicit-euler":
                raise InputError(f"integrator: found {integrator!r}, expected 'implicit-euler' with {response!r}")
            if friction:
                raise InputError(f"friction: found {friction!r}, expected 0 with response {response!r}")
        if penalty is not None and response != "penalty":
            raise InputError(f"penalty: found {penalty!r} with response {response!r}, expected response 'penalty'")
        self.penalty = None if penalty is None else _check.positive("penalty", penalty)
        with _jit.threads(threads):
            self._threads = threads
        self.time = 0.0
        self.steps = self.scaled_steps = self.unsettled_steps = 0
        self.friction_error = 0.0
        self._calls: list[tuple[str, dict[str, Any]]] = []  # that made this world, for files
        self._parts: list[Parts] = []
        self._skins: list[Skin] = []
        self._obstacles: list[SoftObstacle] = []
        self.bodies: list[SoftBody] = []
        self._x, self._v = np.empty((0, 3)), np.empty((0, 3))
        self._damping, self._drag = np.empty(0), np.empty(0)
        self._drivers = Drivers()
        self._ready = False
        self._touch: Touch = NO_TOUCH  # contacts of the last step, from which the next one starts
        self._user_forces, self._bar_forces = np.empty(0), np.empty(0)
        self._work = np.zeros(2)  # J, of drivers and of recovery
        self._slack = 0.0
        self._stable: tuple[float, int] | None = None  # time step and number of calls that were found to be stable
        self.last: Result | None = None

    def __repr__(self) -> str:
        cables = sum(len(skin.faces) == 0 for skin in self._skins)
        counts = {"cable": cables, "cloth": len(self._skins) - cables, "obstacle": len(self._obstacles)}
        counts["node"] = len(self._x)
        said = [f"{count:,} {what}{'s' * (count != 1)}" for what, count in counts.items() if count]
        said.append(f"t = {self.time:.6g} s")
        if self.unsettled_steps:
            some = f"{self.unsettled_steps:,} of {self.steps:,} steps"
            said.append(f"friction off by more than {_UNSETTLED:.0%} in {some}")
        return f"<impinge.SoftWorld: {', '.join(said)}>"

    def _repr_html_(self) -> str:
        sizes = [f"{body.name}: {body.nodes.stop - body.nodes.start:,} nodes" for body in self.bodies]
        scaled = f"{self.scaled_steps:,} cut short before a contact"
        facts = [("time [s]", self.time), ("steps", f"{self.steps:,}, {scaled}"),
                 ("unsettled steps", self.unsettled_steps or None), ("time step [s]", self.dt),
                 ("integrator", self.integrator), ("response", self.response), ("bodies", sizes or None),
                 ("nodes", len(self._x)), ("obstacles", len(self._obstacles)),
                 ("contacts", len(self._touch.forces)), ("friction", self.friction)]  # fmt: skip
        return html_table("SoftWorld", facts)

    @property
    def dt(self) -> float:
        """Time step, s; may be changed between steps."""
        return self._dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self._dt = _check.positive("dt", dt)
        self._before = None  # BDF2 needs a step of the same length before

    @remembered
    def add_cable(
        self, points: Any, *, radius: float, stretch: float, bend: float = 0.0, mass_per_length: Any,
        damping: float = 0.0, drag: float = 0.0, closed: bool = False, velocity: Any = (0.0, 0.0, 0.0), name: str = "",
    ) -> SoftBody:  # fmt: skip
        """Add a cable that is at rest as given, and at rest straight.

        Parameters
        ----------
        points : (n, 3) float, m
        radius : float, m
        stretch : float, N
            Axial stiffness EA: a segment of length l is a spring of EA/l.
        bend : float, N m²
            Bending stiffness EI.
        mass_per_length : float, kg/m
        damping : float, s
            Damping of strain: forces of this times the rate of change of elastic forces.
        drag : float, kg/(s m)
            Force per length and velocity relative to the wind.
        closed : bool
            Whether the last point is joined with the first one.
        velocity : (3,) or (n, 3) float, m/s
        name : str, optional

        Returns
        -------
        SoftBody
        """
        parts = cable_parts(points, closed=closed, stretch=stretch, bend=bend, mass_per_length=mass_per_length)
        x = _check.vectors("points", points)
        skin = Skin(x, parts.edges.nodes, np.empty((0, 3), np.int32), _check.positive("radius", radius))
        halves = np.repeat(0.5 * parts.edges.rest, 2)
        lengths = np.bincount(parts.edges.nodes.ravel(), halves, len(x)).astype(np.float64)
        drag = _check.not_negative("drag", drag)
        return self._add(parts, skin, damping, drag * lengths, velocity, free_name(name, "cable", self.bodies))

    @remembered
    def add_cloth(
        self, mesh: Any, *, stretch: Any, shear: float, bend: float = 0.0, density: float, thickness: float,
        damping: float = 0.0, drag: float = 0.0, warp: Any = None, velocity: Any = (0.0, 0.0, 0.0), name: str = "",
    ) -> SoftBody:  # fmt: skip
        """Add a cloth whose triangles are at rest as given, and that is at rest flat.

        Parameters
        ----------
        mesh : Mesh, or (vertices, faces)
        stretch : float or (warp, weft), N/m
            Stiffness along the threads, force per width: Young's modulus times thickness.
        shear : float, N/m
            Stiffness between warp and weft.
        bend : float, N m
            Bending stiffness, couple per width by curvature.
        density : float, kg/m²
        thickness : float, m
            What layers keep between their middles.
        damping : float, s
            As of cables.
        drag : float, kg/(s m²)
            Force per area and velocity relative to the wind.
        warp : (3,) float, optional
            Direction of the warp threads; x by default.
        velocity : (3,) or (n, 3) float, m/s
        name : str, optional

        Returns
        -------
        SoftBody
        """
        mesh = Mesh.of(mesh)
        parts = cloth_parts(
            mesh.vertices, mesh.faces, stretch=stretch, shear=shear, bend=bend, density=density, warp=warp
        )
        skin = skin_of(mesh.vertices, mesh.faces, 0.5 * _check.positive("thickness", thickness))
        drag = _check.not_negative("drag", drag)
        name = free_name(name, "cloth", self.bodies)
        return self._add(parts, skin, damping, drag * parts.masses / density, velocity, name)

    def _add(self, parts: Parts, skin: Skin, damping: float, drag: Floats, velocity: Any, name: str) -> SoftBody:
        count, damping = len(parts.masses), _check.not_negative("damping", damping)
        velocities = start_velocities(velocity, count)
        node, edge = (self.bodies[-1].nodes.stop, self.bodies[-1].edges.stop) if self.bodies else (0, 0)
        body = SoftBody(name, slice(node, node + count), slice(edge, edge + len(parts.edges.rest)))
        with self._adding("mesh" if len(skin.faces) else "points"):
            sizes = [(len(own.positions), len(own.edges), len(own.faces)) for own in (*self._skins, skin)]
            soft = np.array(sizes[:-1], np.int64).reshape(-1, 3).sum(axis=0)
            self._touch = with_more(self._touch, tuple(soft.tolist()), sizes[-1])
            self._parts.append(parts)
            self._skins.append(skin)
            self.bodies.append(body)
            self._x = np.concatenate([self._x, skin.positions])
            self._v = np.concatenate([self._v, velocities])
            self._damping = np.append(self._damping, np.full(count, damping))
            self._drag = np.append(self._drag, drag)
            self._before = None  # what is new has no step before
        return body

    @contextmanager
    def _adding(self, argument: str) -> Iterator[None]:
        """Whatever is added within. In a world that has moved, what touches anything is taken out again, by an error:
        it would leave no step to take. At the start all may be put in its place, one after the other.
        """
        kept = [(name, value, list(value) if isinstance(value, list) else None) for name, value in vars(self).items()]
        yield
        self._ready = False
        if not self.steps:
            return
        try:
            with _jit.threads(self._threads):
                self._prepare(argument)
        except BaseException:
            for name, value, items in kept:
                if items is not None:
                    value[:] = items
                vars(self)[name] = value
            raise

    @remembered
    def add_obstacle(self, mesh: Any, motion: Any = None, thickness: float = 0.0) -> None:
        """Add what soft bodies cannot pass, and do not move.

        Parameters
        ----------
        mesh : Mesh, or (vertices, faces)
        motion : Motion, function or (frames, n, 3) float, optional
            A steady motion; a function of time that gives translation and rotation; or positions of all vertices at
            times 0, dt, 2 dt and so on, linear in between, at rest after the last. None: it stands still.
        thickness : float, m
            Added to what soft bodies keep from it, half of it.
        """
        mesh, thickness = Mesh.of(mesh), _check.not_negative("thickness", thickness)
        obstacle = SoftObstacle(mesh, motion, thickness, self.dt)
        obstacle.at(self.time)  # an error, if a function says what is no motion
        with self._adding("mesh"):
            self._obstacles.append(obstacle)

    @remembered
    def fix(self, nodes: Any, velocity: Any = 0.0, direction: Any = None, until: float | None = None) -> None:
        """Drive nodes, from now on, and not as they were driven before; only directions that differ add up.

        Parameters
        ----------
        nodes : SoftBody, int, or anything that chooses from an array of all nodes of the world
        velocity : float or (3,) or (k, 3) float, m/s, or a function of time that gives it
            0 holds them where they are. With a direction: the velocity along it. Functions are asked for the middle of
            every step.
        direction : (3,) float, optional
            Drive them along this direction only; at right angles to it they stay free.
        until : float, s, optional
            Time at which they are let go: no step that begins then or later drives them. See also `release`.
        """
        numbers = node_numbers(nodes, self.bodies, len(self._x))
        if direction is not None:
            direction = unit_direction(direction)
        if until is not None and not _check.positive("until", until) > self.time:
            raise InputError(f"until: found {until!r}, expected a time after now, {self.time:g} s")
        if not callable(velocity):
            velocity = _check.numbers("velocity", velocity, "a number, or numbers of shape (3,) or (k, 3)").copy()
        driven = driven_nodes(numbers, velocity, direction, until)
        driven.displacement(self.time, self.dt)  # an error, if it is none
        self._drivers.drive(driven)
        self._before = None  # velocities may jump

    @remembered
    def release(self, nodes: Any, direction: Any = None) -> None:
        """Let nodes go that `fix` drives: from now on they move as forces tell. Others stay as they are.

        Parameters
        ----------
        nodes : as of `fix`
        direction : (3,) float, optional
            Undo only what drives them along this direction. None: all that drives them.
        """
        numbers = node_numbers(nodes, self.bodies, len(self._x))
        self._drivers.release(numbers, None if direction is None else unit_direction(direction))

    @remembered
    def limit_strain(self, upper: float | None = None, lower: float | None = None, bodies: Any = None) -> None:
        """Keep the lengths l of edges between (1 − lower) and (1 + upper) times those at rest.

        Where that cannot be kept, for what is driven or in the way, limits give way as little as possible: see
        `strain_slack`.

        Parameters
        ----------
        upper, lower : float, optional
            Largest strain and largest compression, both ≥ 0; lower < 1. None: no limit.
        bodies : SoftBody or list of them, optional
            All bodies there are by default.
        """
        if upper is None and lower is None:
            raise InputError("upper, lower: found None, expected at least one limit")
        limits = {}
        if upper is not None:
            limits["upper"] = _check.not_negative("upper", upper)
        if lower is not None:
            limits["lower"] = _check.not_negative("lower", lower)
            if limits["lower"] >= 1.0:
                raise InputError(f"lower: found {lower!r}, expected a number of at least 0 and below 1")
        self._limit(bodies, **limits)

    @remembered
    def limit_strain_rate(self, rate: float, bodies: Any = None) -> None:
        """Let the strain of no edge change by more than `rate` per second, 1/s; bodies as of `limit_strain`."""
        self._limit(bodies, rate=_check.positive("rate", rate))

    def _limit(self, bodies: Any, **limits: float) -> None:
        if not self.bodies:
            raise InputError("bodies: found none in this world, expected that they are added before they are limited")
        chosen = self.bodies if bodies is None else bodies if isinstance(bodies, list | tuple) else [bodies]
        for body in chosen:
            if not any(body is own for own in self.bodies):
                raise InputError(f"bodies: found {body!r}, expected bodies of this world")
        for body in chosen:
            self._drivers.limit(body.edges, **limits)

    @remembered
    def add_constraint(self, J: Any, bound: Any, *, of: str = "velocities", equal: bool = False) -> None:
        """Add rows J v ≤ bound of your own, which hold in every step, together with all contacts.

        Parameters
        ----------
        J : (m, 3 n) sparse or dense
            Columns 3 i, 3 i + 1 and 3 i + 2 belong to node i; nodes that are added later have none.
        bound : float, (m,) float, or a function of time that gives it
            May be inf.
        of : "velocities" or "positions"
            What J is multiplied with. Rows of positions hold at the end of a step, with the bound of that time; a
            velocity is the way of a step by its time, and its bound that of the middle.
        equal : bool
            J v = bound instead.
        """
        rows = user_rows(J, bound, of, equal, len(self._x))
        rows.bounds(self.time)  # raises an error if there are not as many
        self._drivers.rows.append(rows)

    @property
    def positions(self) -> Floats:
        """(n, 3) m, of all nodes, a copy."""
        return self._x.copy()

    @property
    def velocities(self) -> Floats:
        """(n, 3) m/s, of all nodes, a copy."""
        return self._v.copy()

    @property
    def strain_slack(self) -> float:
        """By how much more than allowed an edge was strained in the last step, at most."""
        return self._slack

    def vertices(self) -> Floats:
        """Positions of all nodes, then of all vertices of obstacles, m, in the numbering of `surface`."""
        return self._whole(self._x, self.time)

    def contacts(self) -> SoftContacts:
        """What touched in the last step: where, along which normals, and with which forces."""
        self._prepare()
        return contacts_of(self._touch, self.vertices(), self.surface)

    def energy(self) -> dict[str, float]:
        """Energies, J: kinetic, potential (in the field of gravity) and elastic; and the work done since the start by
        what drives nodes and obstacles ("driven"), and by the recovery of distances and lengths ("recovery").
        """
        self._prepare()
        return {
            "kinetic": 0.5 * float((self._masses[:, None] * self._v**2).sum()),
            "potential": -float(self._masses @ (self._x @ self.gravity)),
            "elastic": self.elements.energy(self._x),
            "driven": float(self._work[0]),
            "recovery": float(self._work[1]),
        }

    def strains(self) -> Floats:
        """Strain of all edges, l/l₀ − 1."""
        self._prepare()
        return self.elements.strains(self._x).edges

    def _prepare(self, argument: str = "start") -> None:
        if self._ready:
            return
        if not self._parts:
            raise InputError("world: found neither cables nor cloth, expected at least one")
        self._assemble()
        self.surface.check_start(self.vertices(), argument)
        self._ready = True

    def _assemble(self) -> None:
        parts = join(self._parts)
        self._masses, self._edges = parts.masses, parts.edges
        self.elements = Elements(parts)
        self._structure = Structure(self.elements.indptr, self.elements.indices, size=3)
        self.surface = Surface(self._skins, [obstacle.skin for obstacle in self._obstacles])
        self._neighbours = Neighbours(self.surface)

    def check(self) -> None:
        """Raise an error if the world cannot start, as something touches, or explicit steps are too long.

        The first step does so, too.
        """
        with _jit.threads(self._threads):
            self._prepare()
            self._check_stability()

    def _check_stability(self) -> None:
        now = self.dt, len(self._calls)  # each of which may change what is stable
        if self.integrator == "explicit" and self._stable != now:
            softexplicit.check_time_step(self)
            self._stable = now

    def step(self, count: int = 1) -> None:
        """Take so many time steps; those that are scaled are shorter than `dt`."""
        with _jit.threads(self._threads):
            self._prepare()
            self._check_stability()
            for _ in range(_check.integer("count", count, 0)):
                take_step(self)
                self._look_at_friction()

    def _look_at_friction(self) -> None:
        """Count steps in which friction did not settle, and warn of the first."""
        if self.friction_error <= _UNSETTLED:
            return
        self.unsettled_steps += 1
        if self.unsettled_steps == 1:
            off = f"friction did not settle before t = {self.time:.6g} s: it is off by {self.friction_error:.2g}"
            more = "of its largest force; take shorter steps. More such steps are counted, in unsettled_steps"
            warnings.warn(f"{off} {more}", RunWarning, stacklevel=3)

    def _whole(self, x: Floats, t: float) -> Floats:
        """Positions of soft nodes, then of all vertices of obstacles."""
        return np.concatenate([x, *(obstacle.at(t) for obstacle in self._obstacles)])

    def frame(self) -> SoftFrame:
        """Everything as it is now, for `impinge.output`: SoftFiles, write_gltf, draw_soft and so on."""
        return softview.frame_of(self)

    def save(self, path: str | Path) -> None:
        """Write everything to a file, from which `SoftWorld.load` goes on with the same bits."""
        softstate.save(path, self)

    @classmethod
    def load(
        cls, path: str | Path, *, threads: int | None = None, motions: softstate.Motions | None = None
    ) -> SoftWorld:
        """A world from a file of `save`, or from the checkpoint.h5 of a run.

        motions : functions of time, which no file holds, by name: "obstacle 0" of the first call of `add_obstacle`,
        "fix 0" of the first call of `fix`, and so on.
        """
        return softstate.load(cls, path, threads, motions or {})
