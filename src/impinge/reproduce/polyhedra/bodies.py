"""The bodies and the points of [Muth2006] 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impinge.shapes import Mesh, foam, octasphere

__all__ = ["FOAMS", "foams", "grid_points", "spheres"]

FOAMS = (28_952, 120_868, 494_124)  # triangles of the paper's meshes


def spheres(quick: bool) -> Iterator[Mesh]:
    """The series of 3.1: from 8 triangles on, four times as many each time."""
    return (octasphere(level) for level in range(7 if quick else 8))


def foams(quick: bool) -> Iterator[Mesh]:
    """Foams with about as many triangles as those of 3.2, which nobody but the authors has."""
    return (foam(faces) for faces in FOAMS[: 2 if quick else 3])


def grid_points(mesh: Mesh, along: int) -> NDArray[np.float64]:
    """(along³, 3) float64, m: a regular grid in the cube around a mesh, its sides included."""
    low, high = np.asarray(mesh.bounds)
    middle, half = 0.5 * (low + high), 0.5 * float((high - low).max())
    places = np.linspace(-half, half, along)
    return np.stack(np.meshgrid(places, places, places, indexing="ij"), axis=-1).reshape(-1, 3) + middle
