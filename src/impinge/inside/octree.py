"""Exact inside test by an adaptive octree whose cells know their winding number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.inside import _octree_query as query
from impinge.inside._octree_grow import Tree, grow
from impinge.inside._octree_settle import settle_points
from impinge.inside.octreecheck import check_tree
from impinge.shapes.mesh import Mesh

_SAVED = ("low", "high", "scale", "origin", "inv", "depth", "shape", "codes", "words")


class Octree:
    """Octree of a closed mesh: exact answers for every finite input, the default method.

    Every cell without triangles knows its winding number; in a cell with triangles the signed crossings of
    the segment from the point to a reference point of the cell are added to the winding number there.
    Crossings are decided in single precision with a proven error bound, and by exact predicates with
    symbolic ties (docs/inside.md) where that leaves a doubt.

    Parameters
    ----------
    mesh : Mesh
        Closed; need not be connected, manifold or free of self-intersections.
    """

    name = "octree"

    def __init__(self, mesh: Mesh, tree: Tree | None = None) -> None:
        self._mesh = mesh
        self._tree = grow(mesh) if tree is None else tree

    def classify(self, points: NDArray[np.float64]) -> NDArray[np.int8]:
        """-1 outside, 0 exactly on the surface, +1 inside; -2 for points that are not finite."""
        classes = np.empty(len(points), np.int8)
        query.classify(_blocks(points), points, *self._tree[:-2], classes)
        if len(classes) and classes.min() == query.CLASS_DOUBTFUL:
            doubtful = np.flatnonzero(classes == query.CLASS_DOUBTFUL)
            classes[doubtful] = self.settle(points[doubtful], np.empty(0))
        return classes

    def winding(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Winding numbers; on the surface 1/2, dihedral angle/2π or solid angle/4π; NaN if not finite."""
        whole = np.empty(len(points), np.int32)
        query.find_windings(_blocks(points), points, *self._tree[:-2], whole)
        windings = whole.astype(np.float64)
        windings[whole == query.NOT_FINITE] = np.nan
        doubtful = np.flatnonzero(whole == query.DOUBTFUL)
        exact = np.empty(len(doubtful))
        self.settle(points[doubtful], exact)
        windings[doubtful] = exact
        return windings

    def settle(self, points: NDArray[np.float64], windings: NDArray[np.float64]) -> NDArray[np.int8]:
        """Classes and, where there is room for them, winding numbers of points that the quick kernels left in doubt."""
        classes = np.empty(len(points), np.int8)
        points.flags.writeable = False
        settle_points(len(points), points, *self._tree, windings, classes)
        return classes

    def __reduce__(self) -> tuple[Any, ...]:
        # The tree shares the arrays of the mesh, and sees one buffer as three types: not to be copied apart.
        return Octree.from_arrays, (self._mesh, self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` needs besides the mesh."""
        return {name: np.asarray(getattr(self._tree, name)) for name in _SAVED}

    @classmethod
    def from_arrays(cls, mesh: Mesh, arrays: dict[str, NDArray[Any]]) -> Octree:
        """The octree whose `arrays` these are; an error if they cannot be."""
        check_tree(mesh, arrays)
        fields: dict[str, Any] = {name: arrays[name] for name in _SAVED}
        fields |= {
            "inv": float(fields["inv"]),
            "depth": int(fields["depth"]),
        }
        words = fields["words"]
        tree = Tree(
            **fields, shorts=words.view(np.float32), ints=words.view(np.int32), vertices=mesh.vertices,
            faces=mesh.faces,
        )  # fmt: skip
        return cls(mesh, tree)

    @property
    def nbytes(self) -> int:
        """Memory of the prepared arrays, without the mesh."""
        return self._tree.codes.nbytes + self._tree.words.nbytes


def _blocks(points: NDArray[np.float64]) -> int:
    return -(-len(points) // query.BLOCK)
