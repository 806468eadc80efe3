"""Rigid bodies of scenes: their shapes, where they are, and what random places keep clear of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge import _check
from impinge.bodies.rigid.apart import MILLIMETRES
from impinge.bodies.rigid.filling import Poses, fill_polyhedra
from impinge.bodies.rigid.shape import check_solid
from impinge.errors import InputError, MeshError
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView
from impinge.run.scene import meshes, models
from impinge.run.scene.plausible import WIDE, check_width
from impinge.run.scene.toml import Key
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from impinge.run.scene.build import Builder

__all__ = ["Bodies"]

_Floats = NDArray[np.float64]


class Bodies:
    """All tables of polyhedra of a scene; those at given positions are there before anything is put at random."""

    def __init__(self, builder: Builder, tables: list[models.Polyhedra]) -> None:
        self.builder, self.tables = builder, tables
        self.ends: list[int] = []  # numbers of bodies at which tables end
        self._meshes: list[Mesh] = []
        self._poses: list[Poses | None] = []
        for number, table in enumerate(tables):
            with builder.at("polyhedra", number):
                self._meshes.append(self.shape(table, ("polyhedra", number)))
                self._poses.append(self._given(table))

    def shape(self, table: models.Closed, key: Key) -> Mesh:
        """The mesh, to its size; errors about it are about what it is made of."""
        if self.builder.dim == 2:
            raise InputError("found polyhedra in a world of dim 2, expected spheres only, which are discs there")
        if (self.builder.space.period > 0).any():
            raise InputError("found polyhedra in a world with periodic sides, expected none there")
        (source,) = table.given("file", *models.CLOSED)
        try:
            if table.file is not None:
                mesh = self.builder.read_mesh(table.file)
            else:
                with self.builder.at(*key, source):
                    mesh = meshes.mesh_of(source, table)
            mesh = mesh.transformed(None, None, table.scale)
            check_solid(mesh)
            return mesh
        except MeshError as error:
            raise InputError(f"{source}: {re.sub('^mesh: ', '', str(error))}") from None

    def _given(self, table: models.Polyhedra) -> Poses | None:
        """Poses that the scene tells."""
        if table.positions is None:
            return None
        for row in table.positions:
            _check.vector("positions", row)
        places, turn = _check.vectors("positions", table.positions), self.turn(table)
        if table.rotations is None:
            return Poses(places, np.broadcast_to(turn, (len(places), 3, 3)))
        if len(table.rotations) != len(places):
            raise InputError(f"rotations: found {len(table.rotations)}, expected {len(places)}, one for each position")
        quaternions = np.array(table.rotations)
        lengths = np.linalg.norm(quaternions, axis=1)
        bad = np.flatnonzero(~((lengths > 0) & (lengths < math.inf)))
        if len(bad):
            raise InputError(f"rotations: row {bad[0]} is {table.rotations[bad[0]]}, expected a length above 0")
        return Poses(places, Rotation.from_quat(np.roll(quaternions, -1, axis=1)).as_matrix() @ turn)

    def turn(self, table: models.Closed) -> _Floats:
        """By which all bodies of a table are turned, but for random ones."""
        turn = meshes.turn_of(table.rotate)
        return np.eye(3) if turn is None else turn

    def clear(self, radius: float) -> Callable[[_Floats], NDArray[np.bool_]] | None:
        """Which points are farther than that from bodies at given positions; None if there are no such bodies."""
        views = self._views()
        if not views:
            return None

        def ask(points: _Floats) -> NDArray[np.bool_]:
            free = np.ones(len(points), np.bool_)
            for view in views:
                low, high = view.bounds
                near = ((points >= low - radius) & (points <= high + radius)).all(axis=1) & free
                free[near] = view.distance(points[near]) > radius
            return free

        return ask

    def _views(self) -> list[SolidView]:
        """All bodies whose poses are known."""
        views = []
        for mesh, poses in zip(self._meshes, self._poses, strict=True):
            if poses is not None:
                solid = Solid(mesh, "ray")
                views += [solid.at(turn, place) for place, turn in zip(*poses, strict=True)]
        return views

    def width(self, but: int | None = None) -> float:
        """How wide the bodies of any table are, m, or the region that they are put into; but : a table to leave out."""
        widths = [0.0]
        for number, table in enumerate(self.tables):
            if number != but:
                span = meshes.width(np.array(table.positions)) if table.random is None else _span(table.random)
                widths.append(span + meshes.width(self._meshes[number].vertices))
        return max(widths)

    def _check_width(self, mesh: Mesh, table: models.Polyhedra, number: int) -> None:
        """A warning if given bodies are so wide that they are probably in another unit; random ones have a region."""
        if table.file is not None and table.random is None:
            rest = max(self.builder.spheres_width(), self.width(but=number))
            most = math.inf if "scale" in table.model_fields_set else WIDE
            check_width(self.builder.document, ("polyhedra", number), meshes.width(mesh.vertices), rest, most)

    def add(self) -> dict[str, tuple[int, int]]:
        """Add them all, after spheres, walls and obstacles; names of groups, and their numbers from … to below …"""
        groups = {}
        for number, table in enumerate(self.tables):
            key: Key = ("polyhedra", number)
            first = self.ends[-1] if self.ends else 0
            with self.builder.at(*key):
                mesh = self._meshes[number]
                self._check_width(mesh, table, number)
                poses = self._poses[number] or self._fill(mesh, table, key)
                self._poses[number] = poses
                self.ends.append(first + len(poses.positions))
                self._add(mesh, poses, table)
            groups[table.name or f"polyhedra {number + 1}"] = first, self.ends[-1]
        return groups

    def _add(self, mesh: Mesh, poses: Poses, table: models.Polyhedra) -> None:
        velocities = np.zeros(poses.positions.shape)
        if table.velocity is not None:
            velocities += table.velocity
        velocities += self.builder.random_velocities(table.random_velocity, velocities.shape)
        try:
            self.builder.world.add_polyhedra(
                mesh, *poses, material=self.builder.materials[table.material], velocities=velocities, spins=table.spin,
                resolution=table.resolution, overlap=table.overlap,
            )  # fmt: skip
        except MeshError as error:
            raise InputError(str(error)) from None

    def _fill(self, mesh: Mesh, table: models.Polyhedra, key: Key) -> Poses:
        """Random poses, clear of all that is there at the start."""
        assert table.random is not None
        avoid: list[Any] = [*self.builder.all_obstacles(), *self._views(), self.builder.all_placed()]
        turn = None if table.random_turns else self.turn(table)
        with self.builder.at(*key, "random"):
            region = table.random.model_dump()
            inside = _behind(*self.builder.all_planes(), region["gap"])
            poses = fill_polyhedra(mesh, avoid=avoid, rotation=turn, inside=inside, **region)
        if not len(poses.positions):
            why = f"found less than half a body, {mesh.volume:.3g} m³, so there are none; {MILLIMETRES}"
            self.builder.document.warn((*key, "random", "fraction"), why)
        return poses


def _span(region: models.Random) -> float:
    """Largest extent along an axis, m."""
    return max(abs(high - low) for low, high in zip(region.lower, region.upper, strict=False))


def _behind(points: _Floats, normals: _Floats, gap: float) -> Callable[[_Floats], NDArray[np.bool_]] | None:
    """Which points are in front of all planes, and farther than the gap from them."""
    if not len(points):
        return None
    heights = (points * normals).sum(axis=1) + gap

    def ask(places: _Floats) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = (places @ normals.T > heights).all(axis=1)
        return free

    return ask
