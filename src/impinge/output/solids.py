"""Rigid bodies as triangles to be drawn: flat between sharp edges, smooth where they are meant to be round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from impinge.output.shading import Shading
from impinge.shapes.mesh import Mesh

__all__ = ["Solids"]


@dataclass(frozen=True)
class Solids:
    """Bodies, face by face."""

    corners: NDArray[np.float64]  # (m, 3, 3), m
    normals: NDArray[np.float64]  # (m, 3, 3): of length 1
    marks: NDArray[np.int32]  # (m, 2): which body, and which part of it that sharp edges go around

    @classmethod
    def of(cls, meshes: Sequence[Mesh]) -> Solids:
        """All bodies, in this order."""
        if not meshes:
            return cls(np.empty((0, 3, 3)), np.empty((0, 3, 3)), np.empty((0, 2), np.int32))
        first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
        vertices = np.concatenate([mesh.vertices for mesh in meshes])
        # Vertices of one place are one, but not those of different bodies, which may touch each other.
        faces = np.concatenate([mesh.merged_faces + start for mesh, start in zip(meshes, first, strict=False)])
        shading = Shading(vertices, faces.astype(np.int32), True)
        bodies = np.repeat(np.arange(len(meshes)), [len(mesh.faces) for mesh in meshes])
        marks = np.column_stack([bodies, _parts(shading.faces)]).astype(np.int32)
        return cls(vertices[faces], shading.normals(vertices)[shading.faces], marks)


def _parts(faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """(m,): faces that share vertices, directly or through others, have one number."""
    rows, columns = faces[:, [0, 1]].ravel(), faces[:, [1, 2]].ravel()
    count = int(faces.max(initial=-1)) + 1
    links = sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1])[faces[:, 0]]
