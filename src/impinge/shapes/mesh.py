"""Triangle meshes: immutable, validated, and able to say what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError, MeshError
from impinge.shapes._edges import _is_closed, _label_faces, _link_edges
from impinge.shapes._mass import _bound_faces, _sum_moments
from impinge.shapes._merge import _first_equal, _renumber

__all__ = ["Mesh"]

_Value = TypeVar("_Value")


def _can_change(value: Any, array: NDArray[Any]) -> bool:
    """Whether someone who holds `value` can still write into `array`, which was made from it."""
    if isinstance(value, list | tuple):
        return False
    if isinstance(value, np.ndarray) and not np.may_share_memory(value, array):
        return False
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return base is not None


def _own(value: Any, array: NDArray[Any]) -> NDArray[Any]:
    """`array` (made from `value`), copied if it could still change, and made read-only."""
    if _can_change(value, array):
        array = array.copy()
    array.flags.writeable = False
    return array


class Mesh:
    """A triangle mesh that does not change.

    Parameters
    ----------
    vertices : (n, 3) float64, m
        Any real numbers that are finite; copied unless nobody can write them any more.
    faces : (m, 3) int32
        Three rows of `vertices` per face, counter-clockwise seen from outside.

    A mesh need not be closed, connected or free of defects; `problems` lists what is wrong with it.
    """

    __slots__ = ("__weakref__", "_cache", "_faces", "_vertices")
    _vertices: NDArray[np.float64]
    _faces: NDArray[np.int32]
    _cache: dict[str, Any]

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        checked = _check.vectors("vertices", vertices)
        if not len(checked):
            raise InputError("vertices: found no rows, expected at least one; a mesh cannot be empty")
        triples = _check.triples("faces", faces, len(checked), "vertices")
        if not len(triples):
            raise InputError("faces: found no rows, expected at least one; a mesh cannot be empty")
        self._vertices = _own(vertices, checked)
        self._faces = _own(faces, triples)
        self._cache = {}

    @classmethod
    def of(cls, anything: Any, name: str = "mesh") -> Mesh:
        """A Mesh from a Mesh, a trimesh.Trimesh, a pyvista-like PolyData or a (vertices, faces) pair.

        `name` is what errors call the argument.
        """
        if isinstance(anything, Mesh):
            return anything
        if isinstance(anything, tuple | list) and len(anything) == 2:
            vertices, faces = anything
        elif hasattr(anything, "points") and hasattr(anything, "faces"):
            vertices, faces = anything.points, _regular_faces(anything, name)
        elif hasattr(anything, "vertices") and hasattr(anything, "faces"):
            vertices, faces = anything.vertices, anything.faces
        else:
            raise InputError(
                f"{name}: found {type(anything).__name__}, expected an impinge.Mesh, a trimesh.Trimesh, a "
                "pyvista.PolyData or a pair (vertices, faces); impinge.read_mesh(path) reads a file"
            )
        try:
            return cls(vertices, faces)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    def _cached(self, key: str, compute: Callable[[], _Value]) -> _Value:
        if key not in self._cache:
            self._cache[key] = compute()
        value: _Value = self._cache[key]
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (self._vertices, self._faces)

    def __repr__(self) -> str:
        return f"Mesh({len(self._vertices)} vertices, {len(self._faces)} faces)"

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n, 3) float64, m, read-only."""
        return self._vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """(m, 3) int32, read-only: rows of `vertices`, counter-clockwise seen from outside."""
        return self._faces

    @property
    def triangles(self) -> NDArray[np.float64]:
        """(m, 3, 3) float64, m: the corners of every face; a new array at each call."""
        corners: NDArray[np.float64] = self._vertices[self._faces]
        return corners

    # Vertices at the same place

    def _merge(self) -> tuple[NDArray[np.int32], int]:
        first = np.empty(len(self._vertices), np.int32)
        distinct = _first_equal(self._vertices, self._vertices.view(np.uint64), first)
        if distinct == len(first):
            return self._faces, distinct
        merged = np.empty_like(self._faces)
        _renumber(self._faces, first, merged)
        merged.flags.writeable = False
        return merged, distinct

    @property
    def merged_faces(self) -> NDArray[np.int32]:
        """(m, 3) int32: `faces` with the first of all bitwise equal vertices in place of each (−0.0 is 0.0).

        Still rows of `vertices`; the same array as `faces` if all vertices differ.
        """
        return self._cached("merged", self._merge)[0]

    @property
    def distinct_vertices(self) -> int:
        """Number of different positions in `vertices`."""
        return self._cached("merged", self._merge)[1]

    # What kind of surface it is

    def _find_closed(self) -> bool:
        count, parts = len(self._vertices), min(numba.get_num_threads(), 16)
        # Edges that balance before equal vertices are merged still do afterwards.
        if bool(_is_closed(self._faces, count, parts)):
            return True
        return self.merged_faces is not self._faces and bool(_is_closed(self.merged_faces, count, parts))

    @property
    def is_closed(self) -> bool:
        """Whether every edge is used equally often in both directions, equal vertices being merged.

        Such a surface has an inside. It may still have several parts, overlap itself, be inside out or meet
        itself along an edge: see `is_manifold` and `volume`.
        """
        return self._cached("closed", self._find_closed)

    def _mates(self) -> NDArray[np.int32]:
        """(3 m,) int32: half-edges of one edge in a ring, as `_link_edges` makes it; merged vertices."""

        def compute() -> NDArray[np.int32]:
            mate = np.empty(self._faces.size, np.int32)
            _link_edges(self.merged_faces, len(self._vertices), mate)
            return mate

        return self._cached("mates", compute)

    def components(self) -> NDArray[np.int32]:
        """(m,) int32: the number of the connected part each face belongs to, counted by first face.

        Faces are connected if they share an edge, equal vertices being merged; a shared vertex is not enough.
        """
        label = np.empty(len(self._faces), np.int32)
        _label_faces(self._mates(), label)
        return label

    # Measures

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) float64, m, read-only: lowest and highest corner of the box around all faces."""

        def compute() -> NDArray[np.float64]:
            box = np.empty((2, 3))
            _bound_faces(self._vertices, self._faces, box)
            box.flags.writeable = False
            return box

        return self._cached("bounds", compute)

    def _moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Moments as `_sum_moments` gives them, with the centre and the scale used."""

        def compute() -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
            half = self.bounds / 2
            extent = float((half[1] - half[0]).max())
            # A power of two near the extent: products neither overflow nor vanish, and scaling is exact.
            scale = float(2.0 ** np.clip(np.frexp(extent)[1], -1021, 1023)) if extent > 0 else 1.0
            moments = np.empty(12)
            _sum_moments(self._vertices, self._faces, half.sum(axis=0), scale, moments)
            return moments, half.sum(axis=0), scale

        return self._cached("moments", compute)

    @property
    def area(self) -> float:
        """Area of all faces, m²."""
        moments, _, scale = self._moments()
        return float(moments[0] * scale * scale)

    @property
    def volume(self) -> float:
        """Signed volume, m³: Σ a · (b × c) / 6 over the faces (a, b, c), the origin in the middle of `bounds`.

        Positive for a closed mesh whose faces are counter-clockwise seen from outside. For an open mesh it
        is that of the faces joined to the middle of `bounds`.
        """
        moments, _, scale = self._moments()
        return float(moments[2] * scale * scale * scale)

    def _solid_moments(self, asked: str) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        moments, centre, scale = self._moments()
        # The sum carries a rounding error of some 1e-16 of the sum of the absolute values.
        if not abs(moments[2]) > 1e-14 * moments[1]:
            raise MeshError(f"{asked}: the mesh encloses no volume, so it has none")
        return moments, centre, scale

    @property
    def centroid(self) -> NDArray[np.float64]:
        """(3,) float64, m: centre of mass of the enclosed body at constant density.

        By signed tetrahedra like `volume`, so it is a body's centre only if the mesh is closed.
        """
        moments, centre, scale = self._solid_moments("centroid")
        result: NDArray[np.float64] = centre + scale * (moments[3:6] / moments[2])
        return result

    @property
    def inertia(self) -> NDArray[np.float64]:
        """(3, 3) float64, m⁵: inertia about `centroid` for density 1, ∫ (|r|² I − r rᵀ), r from the centroid.

        Multiply by the density to get kg m². By signed tetrahedra like `volume`: negative if inside out.
        """
        moments, _, scale = self._solid_moments("inertia")
        xx, yy, zz, xy, yz, zx = moments[6:12]
        second = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        second -= np.outer(moments[3:6], moments[3:6]) / moments[2]
        result: NDArray[np.float64] = (np.trace(second) * np.eye(3) - second) * scale**3 * scale**2
        return result

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the mesh to a file; the ending decides the format (see `impinge.shapes.files.save`)."""
        from impinge.shapes.files import save

        save(self, path)


def _regular_faces(anything: Any, name: str) -> Any:
    """(m, 3) indices from the padded list [3, i, j, k, 3, …] or the (m, 4) rows of a pyvista-like object."""
    faces = np.asarray(anything.faces)
    if faces.ndim == 2 and faces.shape[1] == 3:
        return faces
    padded = faces.reshape(-1)
    if padded.dtype.kind not in "iu" or len(padded) % 4 or (padded[::4] != 3).any():
        raise InputError(
            f"{name}: found faces that are not all triangles, expected triangles only; "
            "triangulate first, e.g. mesh.triangulate()"
        )
    return padded.reshape(-1, 4)[:, 1:]
