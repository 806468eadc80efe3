"""What a world shows: its spheres at one moment, its walls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check, _jit
from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid import _layout
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.run.measure import Push
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["BodyContacts", "Polyhedra", "Spheres", "Wall"]

_Floats = NDArray[np.float64]


class Wall:
    """A plane or an obstacle of a world."""

    def __init__(self, world: World, name: str) -> None:
        self._world, self.name = world, name

    def __repr__(self) -> str:
        return f"<impinge.Wall: {self.name}>"

    @property
    def point(self) -> _Floats:
        """(d,), m: a point of a plane now; of an obstacle its centre of rotation, or the origin of its frame."""
        number = self._world.walls.index(self)
        return self._world._dynamics.pivots()[number]

    @property
    def push(self) -> Push:
        """Force and torque of all bodies on it now."""
        return self._world.pushes()[self.name]


class Spheres:
    """The spheres of a world at this moment, in the order of their permanent numbers."""

    def __init__(self, world: World) -> None:
        dynamics = world._dynamics
        p, d = dynamics.particles, world.dim
        with _jit.threads(world._threads):
            seen = dynamics.look()  # first, as it may put rows in another order
        order = np.argsort(p.ids)
        self.ids: NDArray[np.int64] = p.ids[order]
        self.centres: _Floats = p.x[order, :d]
        self.radii: _Floats = p.x[order, 3]
        self.velocities: _Floats = seen.velocities[order, :d]
        self.spins: _Floats = seen.spins[order] if d == 3 else seen.spins[order, 2]
        self.masses: _Floats = p.mass[order]
        self.materials: NDArray[np.int64] = p.kinds[order]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<impinge.Spheres: {len(self):,}>"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Any]] = [("count", len(self))]
        if len(self):
            speeds = np.linalg.norm(self.velocities, axis=1)
            facts += [("radii [m]", f"{self.radii.min():.6g} to {self.radii.max():.6g}"),
                      ("mass [kg]", self.masses.sum()), ("lowest [m]", self.centres.min(axis=0)),
                      ("highest [m]", self.centres.max(axis=0)), ("largest speed [m/s]", speeds.max())]  # fmt: skip
        return html_table("Spheres", facts)


class Polyhedra:
    """The rigid bodies of a world at this moment, in the order of their permanent numbers.

    Attributes
    ----------
    ids : (n,) int64
        Permanent numbers.
    positions, rotations : (n, 3), (n, 3, 3) float64
        Where the frame of the mesh of every body is: a vertex x is at rotation · x + position.
    centres, velocities, spins : (n, 3) float64
        Centres of mass, their velocities, and spins.
    shapes, materials : (n,) int64
        Rows of `meshes`, and of the world's materials.
    masses : (n,) float64, kg
    meshes : list of Mesh
    """

    def __init__(self, world: World) -> None:
        rigid = world._dynamics.rigid
        with _jit.threads(world._threads):
            seen = world._dynamics.look_at_bodies()
        self.ids: NDArray[np.int64] = rigid.ids.copy()
        self.positions, self.rotations = rigid.mesh_poses()
        self.centres: _Floats = rigid.place.copy()
        self.velocities: _Floats = seen[:, :3]
        self.spins: _Floats = seen[:, 3:]
        self.masses: _Floats = rigid.mass.copy()
        self.materials: NDArray[np.int64] = rigid.kinds.copy()
        self.shapes: NDArray[np.int64] = rigid.forms.copy()
        self.meshes: list[Mesh] = [form.mesh for form in rigid.shapes]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<impinge.Polyhedra: {len(self):,} of {len(self.meshes)} shapes>"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Any]] = [("count", len(self)), ("shapes", len(self.meshes))]
        if len(self):
            speeds = np.linalg.norm(self.velocities, axis=1)
            facts += [("mass [kg]", self.masses.sum()), ("largest speed [m/s]", speeds.max())]
        return html_table("Polyhedra", facts)

    def mesh(self, number: int) -> Mesh:
        """The surface of a body where it is now, by its permanent number."""
        body = int(np.searchsorted(self.ids, _check.integer("number", number, 0)))
        if body == len(self) or self.ids[body] != number:
            raise InputError(f"number: found {number}, expected that of a body that is in the world")
        mesh = self.meshes[self.shapes[body]]
        return Mesh(mesh.vertices @ self.rotations[body].T + self.positions[body], mesh.faces)

    def surface(self) -> tuple[_Floats, NDArray[np.int32], NDArray[np.int64]]:
        """All surfaces as one: vertices (v, 3), m, faces (f, 3), and the permanent number of the body of every face."""
        corners = np.array([len(mesh.vertices) for mesh in self.meshes], np.int64)[self.shapes]
        counts = np.array([len(mesh.faces) for mesh in self.meshes], np.int64)[self.shapes]
        first_vertex, first_face = np.cumsum(corners) - corners, np.cumsum(counts) - counts
        vertices, faces = np.empty((corners.sum(), 3)), np.empty((counts.sum(), 3), np.int32)
        for shape, mesh in enumerate(self.meshes):
            rows = np.flatnonzero(self.shapes == shape)
            places = mesh.vertices @ self.rotations[rows].swapaxes(1, 2) + self.positions[rows, None]
            vertices[first_vertex[rows, None] + np.arange(len(mesh.vertices))] = places
            faces[first_face[rows, None] + np.arange(len(mesh.faces))] = mesh.faces + first_vertex[rows, None, None]
        return vertices, faces, np.repeat(self.ids, counts)


class BodyContacts(NamedTuple):
    """Contact points of rigid bodies at one moment, by the permanent numbers of the bodies; with walls last."""

    ids: NDArray[np.int64]  # (m, 2) numbers of the bodies, or of the body and -1
    walls: NDArray[np.int64]  # (m,) number of the wall, or -1
    points: _Floats  # (m, 3), m
    normals: _Floats  # (m, 3), towards the first body
    depths: _Floats  # (m,), m
    forces: _Floats  # (m, 3), N, on the first body
    energies: _Floats  # (m,), J, stored

    @classmethod
    def of(cls, dynamics: Dynamics) -> BodyContacts:
        """All of them now."""
        pairs, rows = dynamics.body_contacts()
        body, kind, other = pairs.T
        solid = kind == _layout.SOLID
        walls = np.where(kind == _layout.PLANE, other, other - len(dynamics.rigid) + len(dynamics.planes))
        ids = np.append(dynamics.rigid.ids, -1)[np.column_stack([body, np.where(solid, other, -1)])]
        order = np.argsort(~solid, kind="stable")
        rows = rows[order]
        return cls(
            ids[order], np.where(solid, -1, walls)[order], rows[:, :3], rows[:, _layout.PUSH : _layout.PUSH + 3],
            rows[:, _layout.DEPTH], rows[:, _layout.FORCE : _layout.FORCE + 3],
            rows[:, _layout.ENERGY] + rows[:, _layout.HELD],
        )  # fmt: skip
