"""From what a scene file says to a world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.filling import fill_lattice, fill_random
from impinge.bodies.rain import Rain
from impinge.bodies.rigid.rain import PolyhedraRain
from impinge.bodies.sizes import read_sizes
from impinge.broad.files import read_spheres
from impinge.broad.space import Space, read_space
from impinge.errors import InputError
from impinge.response.materials import Material, law_table
from impinge.run.scene import meshes, models
from impinge.run.scene.bodies import Bodies
from impinge.run.scene.builder import Builder as Base
from impinge.run.scene.plausible import check_width
from impinge.run.scene.toml import Document, Key
from impinge.run.world import World
from impinge.shapes.mesh import Mesh

__all__ = ["Builder", "Built", "build"]

_Floats = NDArray[np.float64]
_FASTEST = 1e300  # m/s: twice as much is a number still
_MADE_OF = "spheres", "polyhedra", "planes", "boxes", "obstacles", "sources"


class Built(NamedTuple):
    """A world, and which spheres belong to which group."""

    world: World
    groups: dict[str, tuple[int, int]]  # permanent numbers from … to below …


def build(scene: models.Particles, document: Document, threads: int | None) -> Built:
    """Make the world of a scene."""
    return Builder(scene, document).build(threads)


class Builder(Base):
    """Adds one thing after the other; errors name the line of what they are about."""

    def __init__(self, scene: models.Particles, document: Document) -> None:
        super().__init__(document)
        self.scene = scene
        self.materials: dict[str, Material] = {}
        self.placed: list[tuple[_Floats, _Floats]] = []  # centres and radii of all spheres so far

    @contextmanager
    def drawing(self, distribution: Any) -> Iterator[None]:
        """Errors about radii are about the distribution that they are drawn from, if there is one."""
        try:
            yield
        except InputError as error:
            if distribution is None:
                raise
            raise InputError(re.sub("^radii", "distribution", str(error))) from None

    def key_of(self, kind: str, name: int | str) -> Key:
        """Where a sphere or a polyhedron, by its number, or a material comes from."""
        if kind == "material":
            return "materials", name
        if kind == "polyhedron":
            return "polyhedra", int(np.searchsorted(self.bodies.ends, name, side="right"))
        ends = np.cumsum([len(radii) for _, radii in self.placed])
        return "spheres", int(np.searchsorted(ends, name, side="right"))

    def build(self, threads: int | None) -> Built:
        scene, settings = self.scene, self.scene.world.model_dump()
        if scene.world.dt == "auto" and not (scene.spheres or scene.polyhedra or scene.sources):
            found = "found no [[spheres]], [[polyhedra]] or [[sources]], expected something that moves"
            raise self.document.error((), f"{found}, or a time step (world.dt) without")
        self.dim = scene.world.dim
        with self.at("world"):
            self.space = read_space(scene.world.box, scene.world.periodic, self.dim)
            self.world = World(**settings, threads=threads)
        for name, material in scene.materials.items():
            with self.at("materials", name):
                self.materials[name] = Material(name=name, **material.model_dump(exclude_unset=True))
        self._add_contacts()
        self.bodies = Bodies(self, scene.polyhedra)
        groups = {}
        for number, spheres in enumerate(scene.spheres):
            with self.at("spheres", number):
                ids = self._add_spheres(spheres, ("spheres", number))
            first = int(ids[0]) if len(ids) else 0
            groups[spheres.name or f"spheres {number + 1}"] = first, first + len(ids)
        self._add_walls()
        for number, obstacle in enumerate(scene.obstacles):
            with self.at("obstacles", number):
                self._add_obstacle(obstacle, ("obstacles", number))
        self.bodies.add()
        self._add_sources_and_sinks()
        with self.at("world"):
            self.world.check()
        return Built(self.world, groups)

    def _add_contacts(self) -> None:
        """Laws of pairs; and whether all that can meet have one, before anything takes long."""
        laws: dict[tuple[str, ...], Material] = {}
        for number, contact in enumerate(self.scene.contacts):
            with self.at("contacts", number):
                pair = tuple(sorted(contact.materials))
                if pair in laws:
                    raise InputError(f"materials: found {contact.materials} twice, expected one law for each pair")
                one, other = (self.materials[name] for name in contact.materials)
                law = Material(density=1.0, **contact.model_dump(exclude_unset=True, exclude={"materials"}))
                self.world.set_contact(one, other, law)
                laws[pair] = law
        used = {thing.material for kind in _MADE_OF for thing in getattr(self.scene, kind)}
        names = [name for name in self.materials if name in used]
        numbers = {name: number for number, name in enumerate(names)}
        given = {(numbers[a], numbers[b]): law for (a, b), law in laws.items() if a in numbers and b in numbers}
        with self.at("materials"):
            law_table([self.materials[name] for name in names], given)

    def _add_spheres(self, spheres: models.Spheres, key: Key) -> NDArray[np.int64]:
        centres, radii = self._places(spheres, key)
        if centres.shape[1] != self.dim:
            raise InputError(f"file: found {centres.shape[1]} coordinates per sphere, expected {self.dim}")
        self.placed.append((centres, radii))
        velocities = np.zeros(centres.shape)
        if spheres.velocity is not None:
            velocities += _check.vector("velocity", spheres.velocity, self.dim)
        velocities += self.random_velocities(spheres.random_velocity, centres.shape)
        return self.world.add_spheres(
            centres, radii, self.materials[spheres.material], velocities, self._spin(spheres.spin)
        )

    def random_velocities(self, wanted: models.RandomVelocity | None, shape: tuple[int, ...]) -> _Floats:
        """Uniform in a cube; zeros if none are wanted."""
        if wanted is None:
            return np.zeros(shape)
        largest = abs(_check.between("random_velocity.largest", wanted.largest, 0.0, _FASTEST))  # −0 is 0, too
        return np.random.Generator(np.random.PCG64(wanted.seed)).uniform(-largest, largest, shape)

    def _places(self, spheres: models.Spheres, key: Key) -> tuple[_Floats, _Floats]:
        """Centres and radii, (n, d) and (n,)."""
        sizes: Any = spheres.radii if spheres.distribution is None else spheres.distribution.arguments
        if spheres.file is not None:
            return self._read_spheres(spheres)
        if spheres.random is not None:
            region = spheres.random.model_dump()
            with self.at(*key, "random"), self.drawing(spheres.distribution):
                self._check_corners(spheres.random)
                return fill_random(
                    radii=sizes, avoid=self.all_placed(), periodic=self._periodic_in(spheres.random),
                    inside=self.bodies.clear(read_sizes(sizes).high + spheres.random.gap), **region,
                )  # fmt: skip
        if spheres.lattice is not None:
            with self.at(*key, "lattice"), self.drawing(spheres.distribution):
                self._check_corners(spheres.lattice)
                return fill_lattice(radii=sizes, **spheres.lattice.model_dump())
        for row in spheres.centres or []:
            _check.vector("centres", row, self.dim)
        centres = _check.vectors("centres", spheres.centres, self.dim)
        return centres, _check.sizes("radii", spheres.radii, len(centres), "centres")

    def _read_spheres(self, spheres: models.Spheres) -> tuple[_Floats, _Floats]:
        assert spheres.file is not None
        radius = spheres.radii if isinstance(spheres.radii, float) else None
        try:
            centres, radii = read_spheres(self.document.beside(spheres.file), radius, self.dim)
            centres = _check.vectors("centres", centres, centres.shape[1])
            sizes = _check.sizes("radii", radii if radius is None else radius, len(centres), "centres")
            with np.errstate(over="ignore"):  # what is no number any more is found as spheres are added
                return spheres.scale * centres, spheres.scale * sizes if radius is None else sizes
        except InputError as error:
            raise InputError(f"file: {str(error).replace('--radius', 'the key radii')}") from None

    def _check_corners(self, region: models.Random | models.Lattice | models.Source | models.Sink) -> None:
        _check.vector("lower", region.lower, self.dim)
        _check.vector("upper", region.upper, self.dim)

    def all_placed(self) -> tuple[_Floats, _Floats]:
        """Centres and radii of all spheres so far."""
        none = (np.empty((0, self.dim)), np.empty(0))
        centres, radii = zip(none, *self.placed, strict=True)
        return np.concatenate(centres), np.concatenate(radii)

    def spheres_width(self) -> float:
        """How wide all spheres so far are together, m; 0 if there are none."""
        centres, radii = self.all_placed()
        return meshes.width(centres) + 2 * float(radii.max()) if len(radii) else 0.0

    def all_planes(self) -> tuple[_Floats, _Floats]:
        """Points and unit normals of all planes and sides of boxes."""
        rows = [(plane.point, meshes.unit("normal", np.array(plane.normal))) for plane in self.scene.planes]
        for box in self.scene.boxes:
            rows += [(corner, sign * axis) for corner, sign in ((box.lower, 1), (box.upper, -1)) for axis in np.eye(3)]
        points, normals = (np.array([row[k] for row in rows], np.float64).reshape(-1, self.dim) for k in (0, 1))
        return points, normals

    def all_obstacles(self) -> list[Mesh]:
        """All obstacles, where they are at the start."""
        return [
            meshes.placed(self.shape_of(obstacle, ("obstacles", number)), obstacle)
            for number, obstacle in enumerate(self.scene.obstacles)
        ]

    def _periodic_in(self, region: models.Random) -> list[bool]:
        """Along which axes a region is the whole of a periodic box."""
        space: Space = self.space
        return [
            space.period[axis] > 0
            and region.lower[axis] == space.low[axis]
            and region.upper[axis] == space.low[axis] + space.lengths[axis]
            for axis in range(self.dim)
        ]

    def _spin(self, spin: Any) -> Any:
        if spin is not None and self.dim == 3:
            return _check.vector("spin", spin)
        return spin

    def _made_of(self, name: str | None) -> Material | None:
        return None if name is None else self.materials[name]

    def _add_walls(self) -> None:
        for number, plane in enumerate(self.scene.planes):
            with self.at("planes", number):
                values = plane.model_dump(exclude={"material"})
                self.world.add_plane(material=self._made_of(plane.material), **values)
        for number, box in enumerate(self.scene.boxes):
            with self.at("boxes", number):
                self.world.add_box(box.lower, box.upper, self._made_of(box.material))

    def _add_obstacle(self, obstacle: models.Obstacle, key: Key) -> None:
        mesh, motion = meshes.placed(self.shape_of(obstacle, key), obstacle), self.motion_of(obstacle, key)
        self.world.add_obstacle(mesh, self._made_of(obstacle.material), motion, name=obstacle.name)
        if obstacle.file is not None:
            boxes = [meshes.width(np.array([source.lower, source.upper])) for source in self.scene.sources]
            moving = max(self.spheres_width(), self.bodies.width(), *boxes)
            check_width(self.document, key, meshes.width(mesh.vertices), moving)

    def _rain(self, source: models.Source, key: Key) -> Rain | PolyhedraRain:
        options = source.model_dump(include={"lower", "upper", "rate", "velocity", "seed", "count"})
        if not source.is_of_polyhedra:
            sizes: Any = source.radii if source.distribution is None else source.distribution.arguments
            return Rain(radii=sizes, **options)
        mesh, turn = self.bodies.shape(source, key), None if source.random_turns else self.bodies.turn(source)
        return PolyhedraRain(shapes=mesh, rotation=turn, resolution=source.resolution, **options)

    def _add_sources_and_sinks(self) -> None:
        for number, source in enumerate(self.scene.sources):
            with self.at("sources", number), self.drawing(source.distribution):
                self._check_corners(source)
                self.world.add_source(self._rain(source, ("sources", number)), self.materials[source.material])
        for number, sink in enumerate(self.scene.sinks):
            with self.at("sinks", number):
                self.world.add_sink(sink.lower, sink.upper)
