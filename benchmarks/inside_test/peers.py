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
        return built.winding_number(points, 2.0) > 0.5


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


PEERS: dict[str, Any] = {"open3d": Open3D, "libigl": Libigl, "trimesh": TrimeshEmbree, "cgal": Cgal}


def _try(peer: Method) -> None:
    """Ask for two points in a tetrahedron; also loads what the library loads late."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
    built = peer.build(corners, faces)
    answers = peer.contains(built, peer.prepare(np.array([[0.2, 0.23, 0.21], [1.7, 0.9, 0.8]])))
    if answers.tolist() != [True, False]:
        raise RuntimeError(f"wrong answers for a tetrahedron: {answers.tolist()}")


def load(names: Iterable[str], threads: int) -> tuple[list[Method], dict[str, str]]:
    """The peers that work here, and for each other one the reason."""
    ready, absent = command.load(names, {name: partial(peer, threads) for name, peer in PEERS.items()}, _try)
    return ready, {PEERS[name].name: reason for name, reason in absent.items()}
