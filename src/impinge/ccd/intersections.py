"""Does a mesh pass through itself: exact decisions at one time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from impinge import _check, _jit
from impinge.broad.blocks import block_pairs
from impinge.ccd import _intersect
from impinge.ccd.candidates import Boxes, no_corners
from impinge.ccd.moving import Ints, edges_of, keys_of, read_moving

__all__ = ["Intersections", "self_intersections"]


class Intersections(NamedTuple):
    """Pairs that have more than vertices and edges of the mesh in common, (n, 2) int32 each, ascending."""

    faces: Ints
    edge_faces: Ints  # of edges that are not sides of a face
    edges: Ints  # of such edges, or of all in the plane

    @property
    def total(self) -> int:
        """Number of all pairs."""
        return sum(len(pairs) for pairs in self)


def self_intersections(
    x: ArrayLike, edges: ArrayLike | None = None, faces: ArrayLike | None = None, *, threads: int | None = None
) -> Intersections:
    """Where a mesh passes through itself or touches itself, decided exactly on the doubles given.

    Parameters
    ----------
    x : (n, 3) or (n, 2) float64, m
    edges : (m, 2) int, optional
        Those that are not sides of faces, cables say, are tested too.
    faces : (k, 3) int, optional
        Two faces with a common vertex must not meet anywhere else, with a common edge not lie on each other. Faces that
        name a vertex twice are left out.
    threads : int, optional
        All cores by default. The result does not depend on it.

    Returns
    -------
    Intersections
        Pairs of `faces`; `edge_faces` and `edges`, of loose edges.

    Examples
    --------
    >>> from impinge import ccd
    >>> x = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0.5, 0.5, -1], [0.5, 0.5, 1], [3, 3, 0]]
    >>> ccd.self_intersections(x, faces=[[0, 1, 2], [3, 4, 5]]).faces
    array([[0, 1]], dtype=int32)
    """
    mesh = read_moving(x, x, edges, faces)
    triangles = mesh.faces
    proper = np.flatnonzero(
        (triangles[:, 0] != triangles[:, 1])
        & (triangles[:, 1] != triangles[:, 2])
        & (triangles[:, 2] != triangles[:, 0])
    ).astype(np.int32)
    loose = np.empty(0, np.int32) if edges is None else _loose(mesh.edges, triangles)  # by default all are sides
    with _jit.threads(threads):
        boxes = Boxes(mesh.x0, mesh.x1)
        face_blocks, edge_blocks = boxes.blocks(triangles[proper]), boxes.blocks(mesh.edges[loose])
        none = (no_corners(proper), no_corners(loose))
        tables = (triangles[proper], mesh.edges[loose])
        face_pairs = block_pairs(face_blocks, None, 0.0, (none[0], none[0]))
        edge_faces = block_pairs(edge_blocks, face_blocks, 0.0, (none[1], none[0]))
        edge_pairs = block_pairs(edge_blocks, None, 0.0, (none[1], none[1]))
        return Intersections(
            _that_meet(_intersect.find_faces, (mesh.x0, tables[0]), face_pairs, proper, proper),
            _that_meet(_intersect.find_edge_faces, (mesh.x0, tables[1], tables[0]), edge_faces, loose, proper),
            _that_meet(_intersect.find_edges, (mesh.x0, tables[1]), edge_pairs, loose, loose),
        )


def _loose(edges: Ints, faces: Ints) -> Ints:
    """Edges, of different ends, that are not sides of faces."""
    is_side = np.isin(keys_of(edges), keys_of(edges_of(faces)))
    return np.flatnonzero(~is_side & (edges[:, 0] != edges[:, 1])).astype(np.int32)


def _that_meet(decide: Callable[..., None], mesh: tuple[Any, ...], pairs: Ints, first: Ints, second: Ints) -> Ints:
    """Pairs for which a kernel finds that they meet, in the numbers of the user, ascending."""
    meet = np.empty(len(pairs), np.bool_)
    decide(len(pairs), *map(_check.frozen, mesh), pairs, meet)
    found = pairs[meet]
    rows = np.column_stack([first[found[:, 0]], second[found[:, 1]]])
    return rows[np.lexsort(rows.T[::-1])]
