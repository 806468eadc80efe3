"""The other libraries, each as a `share.Method`. A library is imported when its class is called.

Conversions of the mesh count as building. Those of the points (Open3D wants float32, CGAL objects of its own)
are left out, in favour of these libraries: `prepare` makes them before the clock starts.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import command
from benchmarks.inside_test.share import Method

_Points = NDArray[np.float64]
_Faces = NDArray[np.int32]
_ANY_NUMBER = 10**9


def _centre(vertices: _Points) -> _Points:
    """A point that no bounding box answers for: (1, 3). Libraries that make their tree late make it now."""
    return 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))[None]


class Open3D:
    """Embree's tree in single precision, parity of the hits of one fixed ray."""

    name = "Open3D"
    most_points = _ANY_NUMBER

    def __init__(self, threads: int) -> None:
        import open3d

        self._open3d, self._threads = open3d, threads

    def version(self) -> str:
        return str(self._open3d.__version__)

    def build(self, vertices: _Points, faces: _Faces) -> Any:
        tensor = self._open3d.core.Tensor
        scene = self._open3d.t.geometry.RaycastingScene(nthreads=self._threads)
        scene.add_triangles(tensor(vertices.astype(np.float32)), tensor(faces.astype(np.uint32)))
        self.contains(scene, self.prepare(_centre(vertices)))
        return scene

    def prepare(self, points: _Points) -> Any:
        return self._open3d.core.Tensor(points.astype(np.float32))

    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]:
        return built.compute_occupancy(points, nthreads=self._threads).numpy() > 0.5


class Libigl:
    """Fast winding number: a tree of clusters, second-order expansions, accuracy 2 (the default)."""

    name = "libigl"
    most_points = _ANY_NUMBER

    def __init__(self, threads: int) -> None:
        import igl  # takes its threads from IGL_NUM_THREADS

        self._igl = igl

    def version(self) -> str:
        return importlib.metadata.version("libigl")

    def build(self, vertices: _Points, faces: _Faces) -> Any:
        tree = self._igl.FastWindingNumberBVH()
        tree.init(vertices, faces.astype(np.int64), 2)
        return tree

    def prepare(self, points: _Points) -> Any:
        return points

    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]:
        return self.winding(built, points) > 0.5

    def winding(self, built: Any, points: Any) -> _Points:
        return np.asarray(built.winding_number(points, 2.0))

    def settings(self, built: Any) -> str:
        return "order 2, accuracy 2"


class TrimeshEmbree:
    """trimesh with the rays of Embree (embreex): hits collected by Python, one thread."""

    name = "trimesh + Embree"
    most_points = 100_000  # it keeps every hit of every ray

    def __init__(self, threads: int) -> None:
        import trimesh
        import trimesh.ray.ray_pyembree  # fails without embreex

        self._trimesh, self._embree = trimesh, trimesh.ray.ray_pyembree

    def version(self) -> str:
        return f"{self._trimesh.__version__}, embreex {importlib.metadata.version('embreex')}"

    def build(self, vertices: _Points, faces: _Faces) -> Any:
        mesh = self._trimesh.Trimesh(vertices, faces, process=False)
        if not isinstance(mesh.ray, self._embree.RayMeshIntersector):
            raise RuntimeError(f"trimesh took {type(mesh.ray)} instead of Embree")
        mesh.contains(_centre(vertices))
        return mesh

    def prepare(self, points: _Points) -> Any:
        return points

    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]:
        return np.asarray(built.contains(points))


class Cgal:
    """Side_of_triangle_mesh: tree and exact predicates, one thread. The binding asks point by point."""

    name = "CGAL"
    most_points = _ANY_NUMBER

    def __init__(self, threads: int) -> None:
        from CGAL import CGAL_Kernel, CGAL_Polygon_mesh_processing, CGAL_Polyhedron_3

        self._kernel, self._processing = CGAL_Kernel, CGAL_Polygon_mesh_processing
        self._polyhedron = CGAL_Polyhedron_3.Polyhedron_3

    def version(self) -> str:
        return importlib.metadata.version("cgal")

    def build(self, vertices: _Points, faces: _Faces) -> Any:
        points, polygons = self._processing.Point_3_Vector(), self._processing.Polygon_Vector()
        points.reserve(len(vertices))
        for point in self.prepare(vertices):
            points.append(point)
        for triple in faces.tolist():
            polygon = self._processing.Int_Vector()
            for corner in triple:
                polygon.append(corner)
            polygons.append(polygon)
        body = self._polyhedron()
        self._processing.polygon_soup_to_polygon_mesh(points, polygons, body)
        side = self._processing.Side_of_triangle_mesh(body)
        side.bounded_side(self.prepare(_centre(vertices))[0])
        return body, side  # the second refers to the first

    def prepare(self, points: _Points) -> Any:
        point = self._kernel.Point_3
        return [point(x, y, z) for x, y, z in points.tolist()]

    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]:
        side_of, outside = built[1].bounded_side, self._kernel.ON_UNBOUNDED_SIDE
        return np.fromiter((side_of(point) != outside for point in points), bool, len(points))


# Corners' weights of points that integrate polynomials of degree 1 (one point) and 2 (three) over a triangle.
_QUADRATURES = {1: np.full((1, 3), 1 / 3), 3: np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4]]) / 6}


class Fmm3d:
    """Fast multipole method for points: dipoles on the triangles, which are too coarse close to the surface.

    Every call makes its trees anew. It takes its threads from OMP_NUM_THREADS; the wheel is compiled without.
    """

    most_points = _ANY_NUMBER
    _EPS = 1e-3  # of the method; where the dipoles are too coarse a surface, the error is larger

    def __init__(self, per_triangle: int, threads: int) -> None:
        import fmm3dpy

        self._fmm3d, self._per_triangle = fmm3dpy, per_triangle
        self.name = self.name_of(per_triangle)

    @staticmethod
    def name_of(per_triangle: int) -> str:
        return f"FMM3D, {per_triangle} per triangle"

    def version(self) -> str:
        return importlib.metadata.version("fmm3dpy")

    def build(self, vertices: _Points, faces: _Faces) -> Any:
        corners = vertices[faces]
        areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        weights = _QUADRATURES[self._per_triangle]
        sources = np.asfortranarray((weights @ corners).reshape(-1, 3).T)
        # FMM3D takes the gradient over the place of the source, so that dipoles point inwards.
        return sources, np.asfortranarray(np.repeat(-areas / len(weights), len(weights), axis=0).T)

    def prepare(self, points: _Points) -> Any:
        return points

    def contains(self, built: Any, points: Any) -> NDArray[np.bool_]:
        return self.winding(built, points) > 0.5

    def winding(self, built: Any, points: Any) -> _Points:
        sources, dipoles = built
        found = self._fmm3d.lfmm3d(eps=self._EPS, sources=sources, dipvec=dipoles, targets=points.T, pgt=1)
        return np.asarray(found.pottarg)

    def settings(self, built: Any) -> str:
        return f"eps {self._EPS:g}"


# Those that answer which points are inside, and those that give winding numbers.
INSIDE: dict[str, Any] = {"open3d": Open3D, "libigl": Libigl, "trimesh": TrimeshEmbree, "cgal": Cgal}
WINDING: dict[str, Any] = {"libigl": Libigl, "fmm3d-1": partial(Fmm3d, 1), "fmm3d-3": partial(Fmm3d, 3)}
_NAMES = {name: peer.name for name, peer in INSIDE.items()} | {f"fmm3d-{n}": Fmm3d.name_of(n) for n in _QUADRATURES}


def _try(peer: Method) -> None:
    """Ask for two points in a tetrahedron; also loads what the library loads late."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
    built = peer.build(corners, faces)
    answers = peer.contains(built, peer.prepare(np.array([[0.2, 0.23, 0.21], [1.7, 0.9, 0.8]])))
    if answers.tolist() != [True, False]:
        raise RuntimeError(f"wrong answers for a tetrahedron: {answers.tolist()}")


def load(names: Iterable[str], kinds: dict[str, Any], threads: int) -> tuple[list[Any], dict[str, str]]:
    """The peers of these kinds that work here, and for each other one the reason."""
    wanted = [name for name in names if name in kinds]
    ready, absent = command.load(wanted, {name: partial(kinds[name], threads) for name in wanted}, _try)
    return ready, {_NAMES[name]: reason for name, reason in absent.items()}
