"""An open-cell foam of any number of faces, as a hard but clean test body."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.shapes._foam import _count_triangles, _march, _mark_inside, _sample_struts
from impinge.shapes.mesh import Mesh

__all__ = ["foam"]

# Radius of the struts, in cells: what is wanted, and what may be used to meet the number asked.
_LEVEL, _THINNEST, _THICKEST = 0.13, 0.1, 0.17
# Asked faces → cells along a side; below the first the struts would be coarser than the lattice.
_CELLS = ((5_000, 2), (8_000, 3), (20_000, 4))
_MOST = 20_000_000


def _cell_edges(cells: int, seed: int) -> NDArray[np.float64]:
    """(k, 2, 3) float64: edges of the Voronoi cells of jittered points, in cells, around [0, cells]³."""
    from scipy.spatial import Voronoi

    grid = np.stack(np.meshgrid(*[np.arange(-2, cells + 2)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    cell_faces = Voronoi(grid + np.random.default_rng(seed).uniform(0.05, 0.95, grid.shape))
    pairs = {
        (min(a, b), max(a, b))
        for polygon in cell_faces.ridge_vertices
        for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True)
    }
    ends = np.array(sorted(pair for pair in pairs if pair[0] >= 0))
    edges: NDArray[np.float64] = cell_faces.vertices[ends]
    near = (edges.min(axis=1) < cells + 1).all(axis=1) & (edges.max(axis=1) > -1).all(axis=1)
    return edges[near]


class _Struts:
    """The distance to the struts' axes on a lattice of n steps; levels are radii in cells."""

    def __init__(self, edges: NDArray[np.float64], cells: int, n: int) -> None:
        self.scale = n / cells
        self.values = np.empty((n + 2, n + 2, n + 2, 2))
        self.inside = np.empty(self.values.shape, np.uint8)
        # A node outside that matters is at most one step from a node inside.
        _sample_struts(edges * self.scale + 0.25, _THICKEST * self.scale + 1, n, self.values)

    def count(self, level: float) -> int:
        """Number of faces at this thickness."""
        _mark_inside(self.values, level * self.scale, self.inside)
        return int(_count_triangles(self.inside))

    def level_for(self, faces: int) -> float:
        """The thickness whose number of faces is nearest, by bisection."""
        thin, thick = _THINNEST, _THICKEST
        best = min(((level, self.count(level)) for level in (thin, thick)), key=lambda b: abs(b[1] - faces))
        for _ in range(16):
            level = (thin + thick) / 2
            count = self.count(level)
            best = min(best, (level, count), key=lambda b: abs(b[1] - faces))
            if abs(count - faces) <= 0.001 * faces:
                break
            thin, thick = (level, thick) if count < faces else (thin, level)
        return best[0]

    def mesh(self, level: float) -> Mesh:
        """The largest connected part of the surface."""
        count = self.count(level)
        vertices, faces = np.empty((count, 3)), np.empty((count, 3), np.int32)
        used = _march(self.values, self.inside, level * self.scale, vertices, faces)
        mesh = Mesh(vertices[:used], faces)
        labels = mesh.components()
        if labels.max() == 0:
            return mesh
        kept = faces[labels == np.bincount(labels).argmax()]
        number = np.zeros(used, np.int32)
        number[kept] = 1
        keep = number == 1
        number[keep] = np.arange(keep.sum(), dtype=np.int32)
        return Mesh(vertices[:used][keep], number[kept])


def foam(faces: int, seed: int = 0) -> Mesh:
    """Open-cell foam in the cube [0, 1]³: round struts along the edges of Voronoi cells.

    Connected, closed, manifold and free of self-intersections. Its genus (number of tunnels) is above 100
    from 25,000 faces on; a foam of less than 20,000 has fewer cells.

    Parameters
    ----------
    faces : int, 5,000 to 20,000,000
        Wanted number of faces; met within 3 %, mostly within 0.3 %.
    seed : int
        Another number gives another foam of the same kind.
    """
    faces = _check.integer("faces", faces, _CELLS[0][0], _MOST)
    seed = _check.integer("seed", seed, 0)
    cells = max(c for least, c in _CELLS if faces >= least)
    edges = _cell_edges(cells, seed)
    # The number of faces grows like n².
    n = 5 * cells
    for _ in range(2):
        n = max(2 * cells, round(n * (faces / _Struts(edges, cells, n).count(_LEVEL)) ** 0.5))

    def error(mesh: Mesh) -> float:
        return abs(len(mesh.faces) - faces) / faces

    best: Mesh | None = None
    for mesh in _tries(edges, cells, n, faces):
        best = mesh if best is None or error(mesh) < error(best) else best
        if error(best) <= 0.003:
            return best
    if best is None or error(best) > 0.03:
        raise InputError(f"faces: found {faces}, but seed {seed} gives no foam near it; try another seed")
    return best


def _tries(edges: NDArray[np.float64], cells: int, n: int, faces: int) -> Iterator[Mesh]:
    """Foams with about the wanted number of faces, the most promising first."""
    for steps in (n, n - 1, n + 1, n + 2):
        struts = _Struts(edges, cells, steps)
        wanted = faces
        for _ in range(3):
            mesh = struts.mesh(struts.level_for(wanted))
            yield mesh
            wanted += faces - len(mesh.faces)  # what was lost with the loose pieces
    # On a coarse lattice the number jumps with the thickness as pieces come loose.
    for steps in (n, n - 1, n + 1) if n < 10 * cells else ():
        struts = _Struts(edges, cells, steps)
        for level in np.linspace(_THINNEST, _THICKEST, 50):
            yield struts.mesh(float(level))
