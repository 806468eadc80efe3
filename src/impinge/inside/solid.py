"""`Solid`: a mesh prepared to answer which points are inside, and how far from its surface."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check, _jit
from impinge.errors import InputError, MeshError, MeshWarning, reason
from impinge.facts import html_table
from impinge.inside import files
from impinge.inside.closest import ClosestTree
from impinge.inside.direct import Direct
from impinge.inside.grid import Axes, classify_grid, even_places, grid_points
from impinge.inside.multipole import Multipole
from impinge.inside.multipole.accuracy import COARSEST, FINEST
from impinge.inside.octree import Octree
from impinge.inside.view import SolidView
from impinge.shapes.mesh import Mesh

__all__ = ["Closest", "Solid", "contains"]

_MOST_GRID_POINTS = 2**40
_SCAN_FROM = 2  # points per triangle from which a scan of the triangles is faster than asking for each point
_GRID_BLOCK = 2**20  # points that are asked for at a time
METHODS = ("auto", "octree", "ray", "ray-exact", "direct", "multipole")


class Closest(NamedTuple):
    """Nearest points of a surface."""

    points: NDArray[np.float64]  # (n, 3), m
    faces: NDArray[np.int64]  # (n,) the face that holds it; the lowest number where several do
    distances: NDArray[np.float64]  # (n,), m, never negative


class _Method(Protocol):
    name: str

    def classify(self, points: NDArray[np.float64]) -> NDArray[np.int8]: ...
    def winding(self, points: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def nbytes(self) -> int: ...


def _prepare(method: str, mesh: Mesh, accuracy: float) -> _Method:
    if method == "octree":
        return Octree(mesh)
    if method == "multipole":
        return Multipole(mesh, accuracy=accuracy)
    if method == "direct":
        return Direct(mesh)
    from impinge.inside.ray import Ray, RayExact

    return Ray(mesh) if method == "ray" else RayExact(mesh)


class Solid:
    """A body given by its surface, prepared for many questions about points.

    Parameters
    ----------
    mesh : Mesh, trimesh.Trimesh, pyvista-like PolyData or (vertices, faces)
        Counter-clockwise faces seen from outside.
    method : {"auto", "octree", "ray", "ray-exact", "direct", "multipole"}
        "auto" takes "octree" for a closed mesh and "multipole" (with a warning) for any other.
    threads : int, optional
        Threads for building and for every later question; all cores by default. No answer depends on it.
    accuracy : float
        Largest error of the winding numbers of "multipole", from 1e-10 to 0.1; the other methods have none.

    Notes
    -----
    Inside is where the winding number is 1 or more, so regions covered several times are inside, and the
    whole of an inverted mesh is outside (with a warning). "ray" alone counts parity instead. Of a mesh that is not
    closed, inside is where the winding number is above 1/2.

    Examples
    --------
    >>> import impinge
    >>> solid = impinge.Solid(impinge.shapes.octasphere(5))
    >>> solid.contains([[0, 0, 0], [2, 0, 0]])
    array([ True, False])
    """

    def __init__(self, mesh: Any, method: str = "auto", threads: int | None = None, accuracy: float = 1e-3) -> None:
        _check.choice("method", method, METHODS)
        self._set_up(Mesh.of(mesh), threads, accuracy)
        start = time.perf_counter()
        with self._running():
            closed = self.mesh.is_closed
            self.method, self._why = _choose(method, closed, self.mesh)
            if closed and _is_inverted(self.mesh):
                warnings.warn(
                    "mesh: the faces are turned inwards (volume below 0); where that makes the winding number -1, "
                    "points are outside; mesh.flipped() turns the faces",
                    MeshWarning,
                    stacklevel=2,
                )
            self._inside: _Method = _prepare(self.method, self.mesh, self.accuracy)
        self.build_seconds = time.perf_counter() - start

    def _set_up(self, mesh: Mesh, threads: int | None, accuracy: float) -> None:
        self.mesh = mesh
        self.accuracy = _check.between("accuracy", accuracy, FINEST, COARSEST)
        self.threads = None if threads is None else _check.integer("threads", threads, 1)
        self._tree: ClosestTree | None = None
        with _jit.threads(self.threads):
            pass  # a wrong number is an error now, not at the first question

    @contextmanager
    def _running(self) -> Iterator[None]:
        with _jit.threads(self.threads):
            yield

    def classify(self, points: ArrayLike) -> NDArray[np.int8]:
        """Which points are outside (-1), exactly on the surface (0) or inside (+1).

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) int8
        """
        checked = _check.vectors("points", points, must_be_finite=False)
        with self._running():
            if not isinstance(self._inside, Octree):
                _check.finite("points", checked)
                return self._inside.classify(checked)
            # The octree looks for points that are not finite on its way, which saves a pass over them.
            classes = self._inside.classify(checked)
        if len(classes) and classes.min() < -1:
            _check.finite("points", checked)
        return classes

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points are inside or on the surface: (n,) bool, the same as ``classify(points) >= 0``."""
        return self.classify(points) >= 0

    def winding(self, points: ArrayLike) -> NDArray[np.float64]:
        """How often the surface winds around each point: (n,) float64.

        An integer for every point off a closed surface (by "multipole" to `accuracy`). On it: 1/2 in a face, the
        dihedral angle over 2π on an edge, the solid angle over 4π at a vertex [Muth2006] (8).
        """
        checked = _check.vectors("points", points)
        with self._running():
            return self._inside.winding(checked)

    def closest(self, points: ArrayLike) -> Closest:
        """Nearest point of the surface to each point: (points (n, 3), faces (n,), distances (n,))."""
        checked = _check.vectors("points", points)
        with self._running():
            return Closest(*self._closest_tree().query(checked))

    def distance(self, points: ArrayLike) -> NDArray[np.float64]:
        """Distance to the surface, negative inside and 0 exactly on it: (n,) float64, m."""
        checked = _check.vectors("points", points)
        with self._running():
            _, _, distances = self._closest_tree().query(checked)
            return _signed(distances, self._inside.classify(checked))

    def at(self, rotation: Any = None, translation: ArrayLike | None = None) -> SolidView:
        """The solid at rotation · x + translation: a view that answers the same questions, made in no time.

        Parameters
        ----------
        rotation : (3, 3) float64 or scipy.spatial.transform.Rotation, optional
            A proper rotation to 1e-6; where it is not one to rounding, the nearest rotation is taken.
        translation : (3,) float64, m, optional
        """
        return SolidView(self, rotation, translation)

    def grid(
        self, shape: int | tuple[int, int, int], bounds: ArrayLike | None = None, values: str = "inside"
    ) -> NDArray[Any]:
        """Occupancy or signed distance on a regular grid, several times faster than as single points.

        Parameters
        ----------
        shape : int or (nx, ny, nz)
            Number of grid points along each axis.
        bounds : ((x0, y0, z0), (x1, y1, z1)), m, optional
            First and last grid point; the bounds of the mesh by default.
        values : {"inside", "distance"}

        Returns
        -------
        (nx, ny, nz) bool ("inside": `contains`) or float64 ("distance": `distance`, to an ulp or two)
            Entry [i, j, k] belongs to the point (x[i], y[j], z[k]) of ``solid.grid_axes(shape, bounds)``.
        """
        _check.choice("values", values, ("inside", "distance"))
        axes = self.grid_axes(shape, bounds)
        with self._running():
            classes = self._classify_grid(axes)
            if values == "inside":
                return np.greater_equal(classes, 0, out=classes.view(np.bool_))  # in place: grids are large
            return _signed(self._closest_tree().grid_distance(*axes), classes)

    def grid_axes(self, shape: int | tuple[int, int, int], bounds: ArrayLike | None = None) -> Axes:
        """Coordinates along x, y and z of the points of `grid`, evenly spaced between the bounds."""
        counts = (shape,) * 3 if np.ndim(shape) == 0 else tuple(shape)  # type: ignore[arg-type]
        if len(counts) != 3:
            raise InputError(f"shape: found {shape!r}, expected one or three whole numbers")
        counts = tuple(_check.integer("shape", count, 0) for count in counts)
        box = _check.vectors("bounds", self.mesh.bounds if bounds is None else bounds)
        if box.shape != (2, 3) or (box[0] > box[1]).any():
            raise InputError(f"bounds: found {bounds!r}, expected a lower and an upper corner")
        if math.prod(counts) > _MOST_GRID_POINTS:
            raise InputError(
                f"shape: found {math.prod(counts):.3g} grid points, expected at most {_MOST_GRID_POINTS:.3g}"
            )
        x, y, z = (even_places(box[0, k], box[1, k], counts[k]) for k in range(3))
        return x, y, z

    def _classify_grid(self, axes: Axes) -> NDArray[np.int8]:
        count = math.prod(len(axis) for axis in axes)
        if self.method in ("octree", "ray-exact") and count > _SCAN_FROM * len(self.mesh.faces):
            return classify_grid(self.mesh, axes)
        x, y, z = axes
        classes = np.empty((len(x), len(y), len(z)), np.int8)
        rows = max(_GRID_BLOCK // max(len(y) * len(z), 1), 1)  # the points of the whole grid may not fit
        for i in range(0, len(x), rows):
            block = classes[i : i + rows]
            block[:] = self._inside.classify(grid_points(x[i : i + rows], y, z)).reshape(block.shape)
        return classes

    def _closest_tree(self) -> ClosestTree:
        if self._tree is None:
            self._tree = ClosestTree(self.mesh)
        return self._tree

    @property
    def nbytes(self) -> int:
        """Memory of the prepared solid in bytes, the mesh included."""
        tree = 0 if self._tree is None else self._tree.nbytes
        return self.mesh.vertices.nbytes + self.mesh.faces.nbytes + self._inside.nbytes + tree

    def describe(self) -> str:
        """Method and why it runs, size, memory and build time, in words."""
        faces = len(self.mesh.faces)
        details = f", {self._inside.describe()}" if isinstance(self._inside, Multipole) else ""
        return "\n".join(
            [
                f"Solid of {faces:,} triangles and {len(self.mesh.vertices):,} vertices",
                f"method: {self.method} ({self._why}){details}",
                f"memory: {self.nbytes / 1e6:,.1f} MB, {self.nbytes / faces:,.0f} bytes per triangle",
                f"build: {self.build_seconds:.3f} s",
            ]
        )

    def __repr__(self) -> str:
        return f"<impinge.Solid: {len(self.mesh.faces):,} triangles, method {self.method!r}>"

    def _repr_html_(self) -> str:
        facts = [("triangles", len(self.mesh.faces)), ("method", f"{self.method}: {self._why}"),
                 ("accuracy", self.accuracy if self.method == "multipole" else None),
                 ("memory [MB]", self.nbytes / 1e6), ("build [s]", round(self.build_seconds, 3))]  # fmt: skip
        return html_table("Solid", facts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the prepared solid to a file (NumPy's .npz) that `Solid.load` reads."""
        tree = self._inside.arrays() if isinstance(self._inside, Octree) else {}
        files.save_solid(path, self.mesh, self.method, {"accuracy": np.array(self.accuracy), **tree})

    @classmethod
    def load(cls, path: str | os.PathLike[str], threads: int | None = None) -> Solid:
        """Read a solid written by `save`."""
        start = time.perf_counter()
        mesh, method, tree = files.load_solid(path)
        solid = cls.__new__(cls)
        try:
            accuracy = tree.get("accuracy", np.empty(0))
            if method not in METHODS[1:] or accuracy.dtype != np.float64 or accuracy.shape != ():
                raise InputError("method, accuracy: found others than there are")
            solid._set_up(mesh, threads, float(accuracy))
            solid.method, solid._why = method, f"as saved in {os.fspath(path)}"
            _choose(method, mesh.is_closed, mesh)
            with solid._running():
                solid._inside = (
                    Octree.from_arrays(mesh, tree) if method == "octree" else _prepare(method, mesh, solid.accuracy)
                )
        except (InputError, MeshError) as error:
            if str(error).startswith("threads: "):
                raise
            raise InputError(
                f"path: {os.fspath(path)!r} is not a readable solid, or damaged ({reason(error)})"
            ) from None
        solid.build_seconds = time.perf_counter() - start
        return solid


def _is_inverted(mesh: Mesh) -> bool:
    """Whether the volume is below zero, also where it is too small or too large for a double."""
    if mesh.volume != 0 and math.isfinite(mesh.volume):
        return mesh.volume < 0
    return any(problem.kind == "inside out" for problem in mesh.problems())


def _choose(method: str, closed: bool, mesh: Mesh) -> tuple[str, str]:
    """The method to run, and why; an error or a warning if the mesh is not closed."""
    if closed:
        return ("octree", "the fastest exact one, for a closed mesh") if method == "auto" else (method, "as asked")
    if method in ("direct", "multipole"):
        return method, "as asked; the mesh is not closed"
    if method == "auto":
        warnings.warn(
            f"mesh: not closed ({mesh.problems()}); taking method 'multipole', where inside means a winding number "
            "above 1/2",
            MeshWarning,
            stacklevel=3,
        )
        return "multipole", "the mesh is not closed"
    raise MeshError(
        f"mesh: not closed ({mesh.problems()}), but method {method!r} needs a closed mesh; repair it or take "
        "method='multipole'"
    )


def _signed(distances: NDArray[np.float64], classes: NDArray[np.int8]) -> NDArray[np.float64]:
    """Negative inside, 0 on the surface; in place."""
    return np.multiply(distances, -classes, out=distances)


def contains(
    mesh: Any, points: ArrayLike, method: str = "auto", threads: int | None = None, accuracy: float = 1e-3
) -> NDArray[np.bool_]:
    """Which points are inside a mesh or on its surface, once; `Solid` answers further questions faster.

    Parameters
    ----------
    mesh : Mesh, trimesh.Trimesh, pyvista-like PolyData or (vertices, faces)
    points : (n, 3) float64, m
    method, threads, accuracy
        As for `Solid`.

    Returns
    -------
    (n,) bool
    """
    checked = _check.vectors("points", points)
    return Solid(mesh, method, threads, accuracy).contains(checked)
