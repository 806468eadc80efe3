"""SoftWorld: cables and cloth that move under forces, and never pass through anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge import _check, _jit
from impinge.bodies.motion import Motion, PoseFunction, pose_at
from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.implicit import Ahead
from impinge.bodies.soft.impulse import impulse_step
from impinge.bodies.soft.parts import Floats, Parts, join
from impinge.bodies.soft.penalty import default_stiffness, penalty_step
from impinge.bodies.soft.potential import Potential
from impinge.bodies.soft.step import KEEP_AWAY, RECOVER, SQUEEZE, Blocked, Result, Step
from impinge.bodies.soft.surface import Skin, Surface, skin_of
from impinge.errors import ConvergenceError, InfeasibleStep, InputError
from impinge.output.softframe import SoftFrame
from impinge.response.contact_rows import Pairs
from impinge.run import softstate, softview
from impinge.run.softstate import remembered
from impinge.shapes.mesh import Mesh
from impinge.sparse.cholesky import Cholesky, Structure

__all__ = ["SoftBody", "SoftWorld"]

INTEGRATORS = ("implicit-euler", "bdf2", "explicit")
RESPONSES = ("qp", "penalty", "impulse")
_ATTEMPTS = 8  # halves of the time step
_LEAST_SHARE = 1e-3  # of a step that is worth taking
_RECOVERY = 10.0  # 1/s: pairs that are too near win this share of their distance per second


@dataclass(frozen=True)
class SoftBody:
    """A cable or a cloth of a world."""

    name: str
    nodes: slice  # of the world's nodes


@dataclass
class _Obstacle:
    mesh: Mesh
    motion: Motion | PoseFunction | None

    def at(self, t: float) -> Floats:
        pose = pose_at(self.motion, t)
        return self.mesh.vertices @ pose.rotation.T + pose.translation


class SoftWorld:
    """Cables, cloth and obstacles."""

    def __init__(
        self,
        gravity: Any = (0.0, 0.0, -9.81),
        dt: float = 0.01,
        integrator: str = "implicit-euler",
        threads: int | None = None,
        response: str = "qp",
        penalty: float | None = None,
    ) -> None:
        self.gravity = _check.vector("gravity", gravity)
        self.dt = _check.positive("dt", dt)
        self.integrator = _check.choice("integrator", integrator, INTEGRATORS)
        self.response = _check.choice("response", response, RESPONSES)
        if response != "qp" and integrator != "implicit-euler":
            raise InputError(f"integrator: found {integrator!r}, expected 'implicit-euler' with response {response!r}")
        if penalty is not None and response != "penalty":
            raise InputError(f"penalty: found {penalty!r} with response {response!r}, expected response 'penalty'")
        self.penalty = None if penalty is None else _check.positive("penalty", penalty)
        self._threads = threads
        self.time = 0.0
        self.steps = self.scaled_steps = 0
        self._calls: list[tuple[str, dict[str, Any]]] = []  # that made this world, for files
        self._parts: list[Parts] = []
        self._skins: list[Skin] = []
        self._obstacles: list[_Obstacle] = []
        self._walls: list[Skin] = []
        self.bodies: list[SoftBody] = []
        self._x, self._v = np.empty((0, 3)), np.empty((0, 3))
        self._damping, self._drag = np.empty(0), np.empty(0)
        self._fixed: list[tuple[NDArray[np.int64], Any]] = []
        self._ready = False
        self._known = Pairs(np.empty(0, np.int8), np.empty((0, 2), np.int32), np.empty((0, 4), np.int32))
        self._forces = np.empty(0)
        self.last: Result | None = None
        self._before: tuple[Floats, Floats] | None = None  # positions and velocities of the step before
        self._in_the_way: list[str] = []

    @remembered
    def add_cable(
        self, points: Any, *, radius: float, stretch: float, bend: float = 0.0, mass_per_length: float,
        damping: float = 0.0, drag: float = 0.0, closed: bool = False, velocity: Any = (0.0, 0.0, 0.0), name: str = "",
    ) -> SoftBody:  # fmt: skip
        parts = cable_parts(points, closed=closed, stretch=stretch, bend=bend, mass_per_length=mass_per_length)
        x = _check.vectors("points", points)
        skin = Skin(x, parts.edges.nodes, np.empty((0, 3), np.int32), _check.positive("radius", radius))
        drag = _check.not_negative("drag", drag)
        return self._add(parts, skin, damping, drag * parts.masses / mass_per_length, velocity, name or "cable")

    @remembered
    def add_cloth(
        self, mesh: Any, *, stretch: Any, shear: float, bend: float = 0.0, density: float, thickness: float,
        damping: float = 0.0, drag: float = 0.0, warp: Any = None, velocity: Any = (0.0, 0.0, 0.0), name: str = "",
    ) -> SoftBody:  # fmt: skip
        mesh = Mesh.of(mesh)
        parts = cloth_parts(
            mesh.vertices, mesh.faces, stretch=stretch, shear=shear, bend=bend, density=density, warp=warp
        )
        skin = skin_of(mesh.vertices, mesh.faces, 0.5 * _check.positive("thickness", thickness))
        drag = _check.not_negative("drag", drag)
        return self._add(parts, skin, damping, drag * parts.masses / density, velocity, name or "cloth")

    def _add(self, parts: Parts, skin: Skin, damping: float, drag: Floats, velocity: Any, name: str) -> SoftBody:
        count, velocity = len(parts.masses), _check.vector("velocity", velocity)
        damping = _check.not_negative("damping", damping)
        body = SoftBody(f"{name} {len(self.bodies)}", slice(len(self._x), len(self._x) + count))
        self._parts.append(parts)
        self._skins.append(skin)
        self.bodies.append(body)
        self._x = np.concatenate([self._x, skin.positions])
        self._v = np.concatenate([self._v, np.broadcast_to(velocity, (count, 3))])
        self._damping = np.append(self._damping, np.full(count, damping))
        self._drag = np.append(self._drag, drag)
        self._ready = False
        return body

    @remembered
    def add_obstacle(self, mesh: Any, motion: Any = None, thickness: float = 0.0) -> None:
        mesh, thickness = Mesh.of(mesh), _check.not_negative("thickness", thickness)
        if not (motion is None or isinstance(motion, Motion) or callable(motion)):
            raise InputError(f"motion: found {motion!r}, expected None, a Motion or a function of time")
        self._obstacles.append(_Obstacle(mesh, motion))
        self._walls.append(skin_of(mesh.vertices, mesh.faces, 0.5 * thickness))
        self._ready = False

    @remembered
    def fix(self, nodes: Any, velocity: Any = 0.0) -> None:
        try:
            numbers = np.arange(len(self._x))[nodes]
        except IndexError as error:
            raise InputError(f"nodes: {error}, expected numbers of the {len(self._x)} nodes") from error
        if not callable(velocity):
            velocity = _check.vector("velocity", np.broadcast_to(velocity, 3) if np.ndim(velocity) == 0 else velocity)
        self._fixed.append((np.atleast_1d(numbers), velocity))

    @property
    def positions(self) -> Floats:
        return self._x.copy()

    def vertices(self) -> Floats:
        """Positions of all nodes, then of all vertices of obstacles, m, in the numbering of `surface`."""
        return self._whole(self._x, self.time)

    @property
    def velocities(self) -> Floats:
        return self._v.copy()

    def _prepare(self) -> None:
        if self._ready:
            return
        if not self._parts:
            raise InputError("world: found neither cables nor cloth, expected at least one")
        self._assemble()
        self.surface.check_start(self._whole(self._x, self.time))
        self._ready = True

    def _assemble(self) -> None:
        parts = join(self._parts)
        self._masses = parts.masses
        self.elements = Elements(parts)
        self._factor = Cholesky(Structure(self.elements.indptr, self.elements.indices, size=3))
        self.surface = Surface(self._skins, self._walls)

    def check(self) -> None:
        """Raise an error if the world cannot start, as something touches; the first step does so, too."""
        with _jit.threads(self._threads):
            self._prepare()

    def step(self, count: int = 1) -> None:
        """Advance by so many time steps."""
        with _jit.threads(self._threads):
            self._prepare()
            for _ in range(_check.integer("count", count, 0)):
                self._step() if self.response == "qp" else self._step_classically()

    def _whole(self, x: Floats, t: float) -> Floats:
        """Positions of soft nodes, then of all vertices of obstacles."""
        return np.concatenate([x, *(obstacle.at(t) for obstacle in self._obstacles)])

    def _step(self) -> None:
        """One step of dt; shorter where that cannot be taken whole."""
        dt, self._in_the_way = self.dt, []
        for _ in range(_ATTEMPTS):
            result = self._try(dt)
            if result is not None and result.is_free:
                self._accept(result, result.positions, dt)
                return
            if result is not None and self._accept_part(result, dt):
                return
            dt *= 0.5
        rows = self._in_the_way
        what = f": {rows[0]} are in each other's way" if rows else ""
        raise InfeasibleStep(f"no step from t = {self.time:g} s is free of collisions, down to {dt:g} s{what}", rows)

    def _try(self, dt: float) -> Result | None:
        """The end of a step, with less and less asked of pairs that are too near."""
        for demand in (RECOVER, KEEP_AWAY, SQUEEZE):
            try:
                result = self._search(dt, demand).run(self._known, self._forces)
            except Blocked as blocked:
                self._in_the_way = self.surface.names(blocked.pairs)
            except ConvergenceError:
                continue
            else:
                if not result.is_free:
                    self._in_the_way = self._touching(result)
                return result
        return None

    def _step_classically(self) -> None:
        """One step of dt by penalties or impulses, which nothing certifies."""
        ahead = self._look_ahead(self.dt)
        if self.response == "penalty":
            stiffness = self.penalty or default_stiffness(self._masses, self.dt)
            end = penalty_step(self.surface, ahead, self._factor, stiffness)
        else:
            end = impulse_step(self.surface, ahead, self._factor, self._masses, self.dt).positions
        new = end[: len(self._x)].copy()
        self._v, self._x = (new - self._x) / self.dt, new
        self.time += self.dt
        self.steps += 1

    def _search(self, dt: float, demand: int) -> Step:
        """The search for the end of a step."""
        potential, start, guess, fixed = self._look_ahead(dt)
        recovery = _RECOVERY * dt * self.surface.gap
        return Step(self.surface, potential, start, guess, fixed, self._factor, recovery, demand)

    def _look_ahead(self, dt: float) -> Ahead:
        """What is known of a step before it is taken."""
        x, v, span, past, near = self._x, self._v, dt, self._x, self._x
        if self._before is not None and dt == self.dt:  # BDF2 is implicit Euler over ⅔ dt from an extrapolated past
            span, past, v = 2 * dt / 3, (4 * x - self._before[0]) / 3, (4 * v - self._before[1]) / 3
            near = 2 * x - self._before[0]  # damping as it is at the end, to second order
        goal, elastic = past + span * v + span * span * self.gravity, self.integrator != "explicit"
        if not elastic:
            goal -= dt * dt * self._explicit_forces() / self._masses[:, None]
        fixed, end = np.zeros((len(x), 3), np.bool_), x + dt * self._v + dt * dt * self.gravity
        for nodes, velocity in self._fixed:
            now = velocity(self.time) if callable(velocity) else velocity
            fixed[nodes] = True
            end[nodes] = x[nodes] + dt * np.asarray(now, float)
        bodies = self.elements, self._masses
        resistance = self._damping, self._drag, np.zeros(3)
        potential = Potential(*bodies, span, near, past, goal, *resistance, elastic=elastic)
        self._span, self._past = span, past
        return Ahead(potential, self._whole(x, self.time), self._whole(end, self.time + dt), fixed)

    def _explicit_forces(self) -> Floats:
        """Elastic and damping forces at the start of a step, negative."""
        forces = self.elements.gradient(self._x)
        if self._damping.any():
            values, rates = self.elements.hessian(self._x), (self._damping[:, None] * self._v).ravel()
            forces += (sp.csc_array((values, self.elements.indices, self.elements.indptr)) @ rates).reshape(-1, 3)
        return forces

    def _accept_part(self, result: Result, dt: float) -> bool:
        """Go up to before the first contact of a step that is not free, if that is certified to be free."""
        share, x = 0.9 * result.contact, self._x
        while share > _LEAST_SHARE:
            end = x + share * (result.positions[: len(x)] - x)
            start, whole = self._whole(x, self.time), self._whole(end, self.time + share * dt)
            if self.surface.is_free(start, whole):
                self._accept(result, whole, share * dt)
                return True
            share *= 0.5
        return False

    def _accept(self, result: Result, whole: Floats, dt: float) -> None:
        """Take a step that is certified, or the part of one."""
        new, is_whole = whole[: len(self._x)].copy(), dt == self.dt
        velocity = (new - self._past) / self._span if is_whole else (new - self._x) / dt
        self._before = (self._x, self._v) if self.integrator == "bdf2" and is_whole else None
        self._v, self._x = velocity, new
        self.time += dt
        self.steps += 1
        self.scaled_steps += not is_whole
        pulling = np.flatnonzero(result.held.forces > 0)
        _, first = np.unique(result.held.pairs.keys[pulling], return_index=True)
        self._known, self._forces = result.held.pairs.take(pulling[first]), result.held.forces[pulling[first]]
        self.last = result

    def _touching(self, result: Result) -> list[str]:
        """What is in contact in a step that is not free."""
        start = self._whole(self._x, self.time)
        near = self.surface.near(start, result.positions)
        return self.surface.names(near.take(np.flatnonzero(self.surface.times(start, result.positions, near) < np.inf)))

    def energy(self) -> dict[str, float]:
        self._prepare()
        kinetic = 0.5 * float((self._masses[:, None] * self._v**2).sum())
        return {
            "kinetic": kinetic,
            "potential": -float(self._masses @ (self._x @ self.gravity)),
            "elastic": self.elements.energy(self._x),
        }

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
        """A world from a file of `save`.

        motions : functions of time, which no file holds, by name: "obstacle 0" of the first call of `add_obstacle`,
        "fix 0" of the first call of `fix`, and so on.
        """
        return softstate.load(cls, path, threads, motions or {})
