"""Frames: files that show a world at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.output import Collection, draw_spheres, write_chains, write_mesh, write_spheres, write_xyz
from impinge.output.figure import title_at, view_angles
from impinge.output.framing import Framing, corners_of
from impinge.run.chains import force_chains
from impinge.run.scene import models
from impinge.run.scenery import Scenery
from impinge.run.world import Spheres, World
from impinge.shapes.mesh import Mesh

__all__ = ["Frames", "draw", "lists", "obstacle_meshes"]

_COLLECTIONS = ("spheres", "polyhedra", "obstacles", "chains")


class Frames:
    """Writes frames into a folder: ``frames/spheres_000012.vtp`` and so on, and ``spheres.pvd`` that lists them.

    Rigid bodies go to ``frames/polyhedra_000012.vtp``. Files of what can never be there are not written.

    Parameters
    ----------
    folder : Path
    scene : models.Particles
    groups : mapping
        Permanent numbers of the spheres of every group.
    written : int
        Number of frames that are there already.
    time : float, s
        Files that show a later time are not listed any more.
    """

    def __init__(
        self, folder: Path, scene: models.Particles, groups: Mapping[str, tuple[int, int]], written: int, time: float
    ) -> None:
        self.folder, self.scene, self.groups, self.written = folder, scene, groups, written
        self.collections = {name: Collection(folder / f"{name}.pvd") for name in _COLLECTIONS}
        for name, collection in self.collections.items():
            if written and collection.path.exists():
                self.collections[name] = Collection.read(collection.path)
                self.collections[name].keep_until(time)

    def write(self, world: World) -> None:
        """Write the next frame."""
        spheres = world.spheres
        arrays = {"id": spheres.ids, "velocity": spheres.velocities, "spin": spheres.spins,
                  "material": spheres.materials, "group": self._groups_of(spheres)}  # fmt: skip
        if "vtp" in self.scene.output.formats:
            if "spheres.pvd" in lists(self.scene):
                path = self._path("spheres")
                write_spheres(path, spheres.centres, spheres.radii, arrays)
                self.collections["spheres"].add(world.time, path)
            if "polyhedra.pvd" in lists(self.scene):
                self._write_polyhedra(world)
            self._write_obstacles(world)
        if "xyz" in self.scene.output.formats:
            write_xyz(
                self.folder / "frames" / f"frame_{self.written:06d}.xyz", spheres.centres, spheres.radii, arrays,
                world.time, self.scene.world.box, self.scene.world.periodic,
            )  # fmt: skip
        if self.scene.output.chains:
            path = self._path("chains")
            write_chains(path, *force_chains(world))
            self.collections["chains"].add(world.time, path)
        self.written += 1

    def finish(self) -> None:
        """All is written: nothing is made of several frames."""

    def _path(self, name: str) -> Path:
        return self.folder / "frames" / f"{name}_{self.written:06d}.vtp"

    def _groups_of(self, spheres: Spheres) -> NDArray[np.int64]:
        """Number of the group of every sphere, −1 for those from sources."""
        found = np.full(len(spheres), -1)
        for number, (first, stop) in enumerate(self.groups.values()):
            found[(spheres.ids >= first) & (spheres.ids < stop)] = number
        return found

    def _write_polyhedra(self, world: World) -> None:
        """All rigid bodies where they are now, with what is known of each at all its faces."""
        bodies = world.polyhedra
        vertices, faces, ids = bodies.surface()
        rows = np.searchsorted(bodies.ids, ids)
        # Half as many digits, as they stand there again and again.
        arrays = {"id": bodies.ids.astype(np.int32), "shape": bodies.shapes.astype(np.int32),
                  "material": bodies.materials.astype(np.int32), "velocity": bodies.velocities.astype(np.float32),
                  "spin": bodies.spins.astype(np.float32)}  # fmt: skip
        path = self._path("polyhedra")
        write_mesh(path, vertices, faces, {name: array[rows] for name, array in arrays.items()})
        self.collections["polyhedra"].add(world.time, path)

    def _write_obstacles(self, world: World) -> None:
        """All obstacles where they are now; only once if none moves."""
        obstacles = world._dynamics.obstacles
        moves = any(obstacle.moves for obstacle in obstacles)
        if not obstacles or (self.written and not moves):
            return
        shown = obstacle_meshes(world)
        path = self._path("obstacles")
        mesh = Mesh.concatenate(shown)
        numbers = np.repeat(np.arange(len(shown)), [len(part.faces) for part in shown])
        write_mesh(path, mesh.vertices, mesh.faces, {"obstacle": numbers})
        self.collections["obstacles"].add(world.time, path)


def lists(scene: models.Particles) -> list[str]:
    """Names of the files that list frames and are there as soon as one is; of what was there, or may come."""
    if "vtp" not in scene.output.formats:
        return []
    return ["spheres.pvd"] * scene.may_have_spheres + ["polyhedra.pvd"] * scene.has_polyhedra


def obstacle_meshes(world: World) -> list[Mesh]:
    """All obstacles of a world where they are now."""
    placed = []
    for obstacle in world._dynamics.obstacles:
        pose = obstacle.pose_at(world.time)
        placed.append(obstacle.mesh.transformed(pose.rotation, pose.translation) if obstacle.moves else obstacle.mesh)
    return placed


def draw(path: Path, scene: models.Particles, world: World) -> None:
    """A picture of a world as it is now, coloured by speed."""
    spheres, bodies, scenery = world.spheres, world.polyhedra, Scenery(scene)
    options: dict[str, Any] = {}
    framing = Framing(np.eye(world.dim))
    if world.dim == 3:
        meshes, solids = obstacle_meshes(world), [bodies.mesh(number) for number in bodies.ids]
        framing.add(np.column_stack([spheres.centres, spheres.radii]), corners_of(solids), [m.vertices for m in meshes])
        points = [wall.point for wall in world.walls[: len(scene.planes)]]
        walls = scenery.walls(framing.bounds(), view_angles(None), world.time, points)
        colours = [*scenery.colours, *([None] * len(walls))]
        options = {"meshes": [*meshes, *walls], "bodies": solids, "mesh_colours": colours}
    else:
        framing.add(np.column_stack([spheres.centres, spheres.radii]))
    speeds = [np.sqrt((some.velocities**2).sum(axis=1)) for some in (spheres, bodies)]
    draw_spheres(
        path, spheres.centres, spheres.radii, np.concatenate(speeds), label="speed [m/s]",
        lines=scenery.edges(framing.bounds()), title=title_at(world.time, scene.run.until), **options,
    )  # fmt: skip
