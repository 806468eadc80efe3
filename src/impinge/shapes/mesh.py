"""Triangle meshes: immutable, validated, and able to say what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError, MeshError
from impinge.facts import html_table
from impinge.shapes import _edges, _survey
from impinge.shapes._mass import _bound_faces, _sum_moments
from impinge.shapes._merge import _first_equal, _renumber
from impinge.shapes.problems import Problems, describe
from impinge.shapes.rotations import checked_rotation

__all__ = ["Mesh"]

_Value = TypeVar("_Value")
# Rounding error of the volume, as a part of the sum of the absolute values of all terms; some 1e-16 in fact.
_VOLUME_ERROR = 1e-14
_QUICK = 200_000  # faces that are looked at for problems in no time


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

    Notes
    -----
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
        triples = _check.indices("faces", faces, 3, len(checked), "vertices")
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
        elif hasattr(anything, "vertices") and hasattr(anything, "triangles"):  # Open3D
            vertices, faces = np.asarray(anything.vertices), np.asarray(anything.triangles)
        else:
            found = type(anything).__name__
            if isinstance(anything, tuple | list):
                found += f" of {len(anything)}"
            raise InputError(
                f"{name}: found {found}, expected an impinge.Mesh, a trimesh.Trimesh, a "
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

    def _repr_html_(self) -> str:
        facts = [("vertices", len(self._vertices)), ("faces", len(self._faces)), ("lower corner [m]", self.bounds[0]),
                 ("upper corner [m]", self.bounds[1])]  # fmt: skip
        if len(self._faces) > _QUICK:
            return html_table("Mesh", [*facts, ("problems", "not looked for, as it is large; see problems()")])
        volume = self.volume if self.is_closed else None
        facts += [("area [m²]", self.area), ("closed", self.is_closed), ("volume [m³]", volume),
                  ("problems", str(self.problems()))]  # fmt: skip
        return html_table("Mesh", facts)

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
        with np.errstate(over="ignore"):  # the hash wraps round; noticed only with the compiler off
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
        count = len(self._vertices)
        # Edges that balance before equal vertices are merged still do afterwards.
        if bool(_edges._is_closed(self._faces, count)):
            return True
        return self.merged_faces is not self._faces and bool(_edges._is_closed(self.merged_faces, count))

    @property
    def is_closed(self) -> bool:
        """Whether every edge is used equally often in both directions, equal vertices being merged.

        Such a surface has an inside. It may still have several parts, overlap itself, be inside out or meet
        itself along an edge: see `is_manifold` and `volume`.
        """
        return self._cached("closed", self._find_closed)

    def _link(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The rings of half-edges that `_link_edges` makes, and counts and examples of defects of edges."""

        def compute() -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
            mate = np.empty(self._faces.size, np.int32)
            counts = np.zeros(_edges.KINDS, np.int64)
            examples = np.zeros((_edges.KINDS, _edges.EXAMPLES, 2), np.int64)
            _edges._link_edges(self.merged_faces, len(self._vertices), mate, counts, examples)
            return mate, counts, examples

        return self._cached("links", compute)

    def _survey_topology(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Counts and examples of the defects of edges, of faces as triples of vertices, and of vertices."""

        def compute() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            mate, counts, examples = self._link()
            counts, examples = counts.copy(), examples.copy()
            _survey._survey_faces(self.merged_faces, len(self._vertices), mate, counts, examples)
            _survey._survey_vertices(self.merged_faces, len(self._vertices), mate, counts, examples)
            return counts, examples

        return self._cached("topology", compute)

    @property
    def is_manifold(self) -> bool:
        """Whether the mesh is a surface: no edge has more than two faces, and those at a vertex form one fan.

        Equal vertices are merged first. Borders are allowed, and neighbours may be turned differently; a face
        with the same vertex twice is not.
        """
        counts, _ = self._survey_topology()
        return not counts[[_edges.CROWDED, _edges.REPEATED, _edges.PINCHED]].any()

    def problems(self) -> Problems:
        """What is wrong with the mesh: a list of `Problem` (kind, count, examples, text), empty if nothing.

        ``print(mesh.problems())`` says it in words. Edges are judged after merging equal vertices; areas
        are zero only if they are exactly zero. See `impinge.shapes.Problem` for the kinds.
        """

        def compute() -> Problems:
            counts, examples = (array.copy() for array in self._survey_topology())
            flat = np.empty(len(self._faces), np.uint8)
            if _survey._suspect_areas(self._vertices, self._faces, flat):
                _survey._decide_areas(self._vertices, self._faces, flat)
            _survey._survey_areas(flat, counts, examples)
            _survey._survey_unused(self._faces, len(self._vertices), counts, examples)
            moments, _, _ = self._moments()
            inside_out = self.is_closed and moments[2] < -_VOLUME_ERROR * moments[1]
            return describe(self._faces, counts, examples, self.volume if inside_out else None)

        return self._cached("problems", compute)

    def components(self) -> NDArray[np.int32]:
        """(m,) int32: the number of the connected part each face belongs to, counted by first face.

        Faces are connected if they share an edge, equal vertices being merged; a shared vertex is not enough.
        """
        label = np.empty(len(self._faces), np.int32)
        _edges._label_faces(self._link()[0], label)
        return label

    # Other meshes from this one

    def split(self) -> list[Mesh]:
        """The connected parts (see `components`), each with only the vertices it uses, in their old order."""
        labels = self.components()
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels))
        parts = []
        for rows in np.split(self._faces[order], ends[:-1]):
            used, numbers = np.unique(rows, return_inverse=True)
            parts.append(Mesh(self._vertices[used], numbers.reshape(-1, 3)))
        return parts

    def flipped(self) -> Mesh:
        """The mesh with every face turned round, so that inside and outside change places."""
        return Mesh(self._vertices, self._faces[:, ::-1])

    def transformed(self, rotation: Any = None, translation: ArrayLike | None = None, scale: float = 1.0) -> Mesh:
        """The mesh at scale · rotation · x + translation, for each vertex x.

        Parameters
        ----------
        rotation : (3, 3) float64, or scipy.spatial.transform.Rotation
            No reflection, no shear.
        translation : (3,) float64, m
        scale : float
        """
        vertices = self._vertices * _check.positive("scale", scale)
        if rotation is not None:
            vertices = vertices @ checked_rotation(rotation).T
        if translation is not None:
            vertices = vertices + _check.vector("translation", translation)
        return Mesh(vertices, self._faces)

    @staticmethod
    def concatenate(meshes: Iterable[Any]) -> Mesh:
        """One mesh with the faces of all (anything `Mesh.of` accepts), nothing merged."""
        parts = [Mesh.of(mesh, f"meshes[{i}]") for i, mesh in enumerate(meshes)]
        if not parts:
            raise InputError("meshes: found none, expected at least one")
        first = np.cumsum([0] + [len(part.vertices) for part in parts])
        faces = [part.faces + start for part, start in zip(parts, first, strict=False)]
        return Mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))

    def __add__(self, other: Any) -> Mesh:
        return Mesh.concatenate([self, other]) if isinstance(other, Mesh) else NotImplemented

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
        return float(moments[0]) * scale * scale

    @property
    def volume(self) -> float:
        """Signed volume, m³: Σ a · (b × c) / 6 over the faces (a, b, c) from the middle of `bounds`.

        Positive for a closed mesh whose faces are counter-clockwise seen from outside. For an open mesh it
        is that of the faces joined to the middle of `bounds`.
        """
        moments, _, scale = self._moments()
        return float(moments[2]) * scale * scale * scale

    def _solid_moments(self, asked: str) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        moments, centre, scale = self._moments()
        if not abs(moments[2]) > _VOLUME_ERROR * moments[1]:
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
        result: NDArray[np.float64] = np.trace(second) * np.eye(3) - second
        with np.errstate(over="ignore", under="ignore"):
            for _ in range(5):
                result *= scale
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
