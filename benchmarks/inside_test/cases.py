"""Meshes and points of the inside benchmark, the same for every method and for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge import shapes

# The three foams of the paper.
FOAMS = (28_952, 120_868, 494_124)


@dataclass(frozen=True)
class Case:
    """A mesh as plain arrays that its user may write to, as other libraries get it."""

    family: str  # "sphere" or "foam", and " with holes"
    vertices: NDArray[np.float64]  # (n, 3), m
    faces: NDArray[np.int32]  # (m, 3)

    @property
    def label(self) -> str:
        return f"{self.family}, {len(self.faces):,} triangles"


def _case(family: str, mesh: shapes.Mesh) -> Case:
    return Case(family, np.array(mesh.vertices), np.array(mesh.faces, np.int32))


def sphere(level: int) -> Case:
    """Sphere of 8·4^level triangles."""
    return _case("sphere", shapes.octasphere(level))


def foam(faces: int) -> Case:
    """Open-cell foam of about `faces` triangles."""
    return _case("foam", shapes.foam(faces, seed=0))


def with_holes(case: Case, share: float = 0.05, seed: int = 5) -> Case:
    """The same mesh without this share of its faces, taken at random."""
    count = len(case.faces)
    kept = np.sort(np.random.default_rng(seed).permutation(count)[round(share * count) :])
    return Case(f"{case.family} with holes", case.vertices, case.faces[kept])


def size_of(vertices: NDArray[np.float64]) -> float:
    """Largest extent of the mesh along an axis, m."""
    return float(np.ptp(vertices, axis=0).max())


def random_points(case: Case, count: int, seed: int = 7) -> NDArray[np.float64]:
    """Uniform in the cube around the mesh, enlarged by 5 %: (count, 3), m."""
    centre = 0.5 * (case.vertices.min(axis=0) + case.vertices.max(axis=0))
    half = 0.5 * 1.05 * size_of(case.vertices)
    return centre + np.random.default_rng(seed).uniform(-half, half, (count, 3))


def near_points(case: Case, count: int, within: float = 1e-3, seed: int = 8) -> NDArray[np.float64]:
    """Close to the surface: (count, 3), m.

    Uniform on the surface by area, then moved along the normal of the face by a distance uniform in
    ±`within` times the size of the mesh.
    """
    rng = np.random.default_rng(seed)
    corners = case.vertices[case.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled_areas = np.linalg.norm(normals, axis=1)
    chosen = rng.choice(len(corners), count, p=doubled_areas / doubled_areas.sum())
    # The square root makes the points uniform in the triangle.
    u, v = np.sqrt(rng.uniform(size=count)), rng.uniform(size=count)
    weights = np.stack([1 - u, u * (1 - v), u * v], axis=1)
    feet = np.einsum("ij,ijk->ik", weights, corners[chosen])
    heights = within * size_of(case.vertices) * rng.uniform(-1, 1, count)
    return feet + (heights / doubled_areas[chosen])[:, None] * normals[chosen]


POINT_SETS: dict[str, Callable[[Case, int], NDArray[np.float64]]] = {
    "random": random_points,
    "near": near_points,
}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    points: int
    sphere_level: int  # of the speed and grid parts
    foam_faces: int
    rounds: int  # of alternating measurements
    least_rounds: int
    call_seconds: float  # longest single measurement; slower methods get a subset of the points
    method_seconds: float  # a method that has used more sits out the rounds after the least
    growth_levels: tuple[int, ...]
    growth_foams: tuple[int, ...]
    fit_from: int  # sphere level from which build time and memory must be linear
    curve_levels: tuple[int, ...]
    curve_points: tuple[int, ...]
    curve_seconds: float  # methods leave a curve before a measurement longer than this
    grid_inside: int  # grid points along an axis
    grid_distance: int
    direct_points: int  # for which the sum of all solid angles checks the winding numbers


FULL = Sizes(
    points=1_000_000,
    sphere_level=7,
    foam_faces=FOAMS[2],
    rounds=7,
    least_rounds=3,
    call_seconds=3.0,
    method_seconds=25.0,
    growth_levels=(3, 4, 5, 6, 7, 8, 9),
    growth_foams=FOAMS,
    fit_from=5,
    curve_levels=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    curve_points=(1, 10, 100, 1_000, 10_000, 100_000, 1_000_000),
    curve_seconds=20.0,
    grid_inside=200,
    grid_distance=100,
    direct_points=2_000,
)
QUICK = Sizes(
    points=100_000,
    sphere_level=5,
    foam_faces=FOAMS[0],
    rounds=3,
    least_rounds=2,
    call_seconds=0.3,
    method_seconds=1.0,
    growth_levels=(3, 4, 5, 6),
    growth_foams=FOAMS[:2],
    fit_from=4,
    curve_levels=(2, 5),
    curve_points=(1, 1_000, 100_000),
    curve_seconds=2.0,
    grid_inside=100,
    grid_distance=50,
    direct_points=500,
)
