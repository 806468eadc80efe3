"""Scenes of the benchmark of soft bodies: plain numbers, from which each engine builds what it needs.

Two of cloth, and the two of cables that QP-Collide shows. There is no friction: neither that paper's contacts nor
MuJoCo's `ipc` and `passive` ones have any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from impinge import Mesh, ccd
from impinge.shapes import generators

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

GRAVITY = 9.81  # m/s², downwards along z


# Obstacles


@dataclass(frozen=True)
class Sphere:
    """A ball."""

    centre: tuple[float, float, float]
    radius: float  # m

    def mesh(self) -> Mesh:
        """Triangles around it: their planes touch the sphere or stay outside, by 0.3 % of its radius at most."""
        return _around(generators.icosphere(4), self.radius).transformed(translation=self.centre)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along y, so long that its ends do not matter."""

    centre: tuple[float, float, float]
    radius: float  # m
    length: float  # m

    def mesh(self) -> Mesh:
        """Triangles around it, by 0.1 % of its radius at most."""
        upright = generators.cylinder(1.0, self.length / self.radius, segments=64)
        lying = upright.transformed(rotation=[[1, 0, 0], [0, 0, 1], [0, -1, 0]])
        return _around(lying, self.radius).transformed(translation=self.centre)


@dataclass(frozen=True)
class Floor:
    """All below a height."""

    height: float  # m

    def mesh(self) -> Mesh:
        """A square of 8 m."""
        corners = [[x, y, self.height] for x, y in ((-4, -4), (4, -4), (4, 4), (-4, 4))]
        return Mesh(corners, [[0, 1, 2], [0, 2, 3]])


Obstacle = Sphere | Cylinder | Floor


def _around(unit: Mesh, radius: float) -> Mesh:
    """A mesh with corners on the unit sphere or cylinder, enlarged until the smooth one of this radius fits inside."""
    normals = np.cross(unit.triangles[:, 1] - unit.triangles[:, 0], unit.triangles[:, 2] - unit.triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    nearest = np.abs((normals * unit.triangles[:, 0]).sum(axis=1)).min()
    return unit.transformed(scale=radius / nearest)


# Bodies


@dataclass(frozen=True)
class Cloth:
    """A sheet that is at rest as given in its surface, and flat."""

    x: Floats  # (n, 3) nodes at the start, m
    faces: Ints  # (m, 3)
    stretch: float  # N/m, Young's modulus times thickness; its shear modulus is half of that, Poisson's ratio 0
    bend: float  # N m
    damping: float  # s, Rayleigh's: forces of rates of strain over those of strains
    density: float  # kg/m²
    thickness: float  # m, of contact

    @property
    def shear(self) -> float:
        return 0.5 * self.stretch

    @property
    def gap(self) -> float:
        """Distance that contacts of the middle surface with obstacles keep, m."""
        return 0.5 * self.thickness

    @cached_property
    def edges(self) -> Ints:
        return ccd.edges_of(self.faces)

    @cached_property
    def masses(self) -> Floats:
        """A third of each face at each of its corners, kg."""
        a, b, c = (self.x[self.faces[:, corner]] for corner in range(3))
        areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        shares = np.repeat(self.density * areas / 3, 3)
        return np.bincount(self.faces.ravel(), shares, len(self.x)).astype(np.float64)


@dataclass(frozen=True)
class Cable:
    """A row of nodes that is at rest with the lengths given, and straight."""

    x: Floats  # (n, 3) nodes at the start, m
    stretch: float  # N, Young's modulus times area
    bend: float  # N m²
    damping: float  # s
    mass_per_length: float  # kg/m
    radius: float  # m

    @property
    def gap(self) -> float:
        return self.radius

    @cached_property
    def edges(self) -> Ints:
        first = np.arange(len(self.x) - 1, dtype=np.int32)
        return np.column_stack([first, first + np.int32(1)])

    @cached_property
    def lengths(self) -> Floats:
        return np.linalg.norm(np.diff(self.x, axis=0), axis=1)

    @cached_property
    def masses(self) -> Floats:
        """Half of each segment at each of its ends, kg."""
        half = 0.5 * self.mass_per_length * self.lengths
        return np.append(half, 0.0) + np.append(0.0, half)


Body = Cloth | Cable


@dataclass(frozen=True)
class Scene:
    """One soft body and what it falls on."""

    name: str
    body: Body
    obstacles: tuple[Obstacle, ...]
    fixed: tuple[int, ...]  # nodes that stay
    duration: float = 1.0  # s


def _sheet(side: int) -> tuple[Floats, Ints]:
    """Square of 1 m around the origin, (side², 2), with diagonals that alternate, so that no direction is preferred."""
    places = np.linspace(-0.5, 0.5, side)
    u, v = (grid.ravel() for grid in np.meshgrid(places, places, indexing="ij"))
    node = np.arange(side * side, dtype=np.int32).reshape(side, side)
    a, b, c, d = (part.ravel() for part in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(side - 1), np.arange(side - 1), indexing="ij"))
    even = ((i + j) % 2 == 0)[:, None]
    first = np.where(even, np.column_stack([a, b, c]), np.column_stack([a, b, d]))
    second = np.where(even, np.column_stack([a, c, d]), np.column_stack([b, c, d]))
    return np.column_stack([u, v]), np.concatenate([first, second])


def _cotton(x: Floats, faces: Ints) -> Cloth:
    """0.2 kg/m², as a sturdy cotton; 2 N/m of it hang from its edge with 0.2 % of strain."""
    return Cloth(x, faces, stretch=1000.0, bend=1e-4, damping=2e-3, density=0.2, thickness=4e-3)


def cloth_on_sphere(side: int = 30) -> Scene:
    """A cloth falls from 1 mm above a sphere, a bit off its centre, and hangs down around it."""
    uv, faces = _sheet(side)
    x = np.column_stack([uv + [0.002, 0.001], np.full(len(uv), 0.303)])
    return Scene("cloth on sphere", _cotton(x, faces), (Sphere((0.0, 0.0, 0.0), 0.3),), ())


def self_collapse(side: int = 30) -> Scene:
    """A cloth that stands upright, slightly wavy, falls onto the floor and folds onto itself."""
    uv, faces = _sheet(side)
    across, up = uv.T
    wave = 0.01 * np.sin(9.0 * up + 0.8 * across) + 0.004 * np.sin(23.0 * up - 2.0 * across)
    x = np.column_stack([across, wave, up + 0.505])
    return Scene("self-collapse", _cotton(x, faces), (Floor(0.0),), ())


def _rope(x: Floats) -> Cable:
    """1 cm thick and stiff: springs of 2e5 N/m where segments are 2 cm long."""
    return Cable(x, stretch=4000.0, bend=5e-3, damping=1e-3, mass_per_length=0.2, radius=5e-3)


def cable_off_pulley(segments: int = 60) -> Scene:
    """A stiff cable lies across a pulley, with more of it on one side, bends down and slides off.

    It lies a bit aslant, so that its halves hang beside each other.
    """
    along = np.linspace(-0.5, 0.7, segments + 1)
    x = np.column_stack([np.cos(0.25) * along, np.sin(0.25) * along, np.full_like(along, 0.106)])
    return Scene("cable off pulley", _rope(x), (Cylinder((0.0, 0.0, 0.0), 0.1, 0.4),), ())


def cable_over_cylinder(segments: int = 60) -> Scene:
    """A stiff cable, fixed at both ends, falls as an arch onto a cylinder between them and hangs down beside it."""
    angle = np.linspace(np.pi, 0.0, segments + 1)
    x = 1.2 / np.pi * np.column_stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)])
    return Scene("cable over cylinder", _rope(x), (Cylinder((0.03, 0.0, 0.1), 0.1, 0.4),), (0, segments))


SCENES: dict[str, Callable[[int], Scene]] = {
    "sphere": cloth_on_sphere,
    "collapse": self_collapse,
    "pulley": cable_off_pulley,
    "suspended": cable_over_cylinder,
}
CLOTHS = ("sphere", "collapse")


# How much is measured


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    side: int  # nodes along a side of the cloths
    segments: int  # of the cables
    duration: float  # s, of the scenes
    rounds: int  # of alternating runs
    setting_seconds: float  # settings that have used more sit out the other rounds
    run_seconds: float  # runs end after this
    growth: tuple[int, ...]  # nodes along a side of the cloth
    growth_most: int  # of peers
    growth_seconds: float  # runs of the growth part end after this

    def scene(self, part: str) -> Scene:
        made = SCENES[part](self.side if part in CLOTHS else self.segments)
        return replace(made, duration=self.duration)


FULL = Sizes(
    side=30,
    segments=60,
    duration=1.0,
    rounds=3,
    setting_seconds=5.0,
    run_seconds=60.0,
    growth=(30, 100, 200),
    growth_most=100,
    growth_seconds=600.0,
)
QUICK = Sizes(
    side=16,
    segments=30,
    duration=0.3,
    rounds=1,
    setting_seconds=0.0,
    run_seconds=5.0,
    growth=(16, 30),
    growth_most=30,
    growth_seconds=10.0,
)
