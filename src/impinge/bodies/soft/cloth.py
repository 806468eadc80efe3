"""Cloth: triangles that resist stretch along warp and weft and shear between them, and edges that resist bending."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft.parts import NO_BENDS, NO_HINGES, NO_SPRINGS, Edges, Floats, Ints, Membranes, Parts, Stencils
from impinge.errors import InputError

__all__ = ["cloth_parts"]

_FLATTEST = 1e-10  # area of a face by its longest side squared: less is no area
_STEEPEST = 1e-6  # sine of the angle between warp and normal: less gives no direction in the face


def cloth_parts(
    vertices: Any, faces: Any, *, stretch: Any, shear: Any, bend: Any, density: Any, warp: Any = None
) -> Parts:
    """Parts of a cloth whose triangles are at rest as given, and that is at rest flat.

    See `Membranes` for the energy in the surface. Bending is the isometric quadratic model [Bergou2006]: across an edge
    whose faces have the areas A₁ and A₂

        E = k_b/(2 (A₁ + A₂)) |Σ qₐ xₐ|²

    over the ends i, j of the edge and the corners k, l opposite to it; q_i is the sum of the cotangents of both faces'
    angles at j, q_j of those at i, and q_k the negative sum of the cotangents of its face's angles at i and j. The sum
    vanishes where both faces are in one plane, and is L 2 sin(θ/2) long where they are folded by θ along an edge of
    length L. A sheet on a cylinder of radius R has k_b/(2 R²) per area if its triangles are equilateral, or halves of
    rectangles rolled up along a side; the paper's factor, three times ours, gives three times that. Askew to their
    sides halves of squares have up to 1.5 times that if diagonals alternate, 3 times if they do not. Nodes that are
    free find shapes with less: strips of such meshes are softer, of thin triangles down to half
    (docs/soft-elements.md).

    Parameters
    ----------
    vertices, faces : (n, 3) float, m; (m, 3) int
        A triangle mesh; faces may be oriented in any way. An edge may have two faces at most.
    stretch : float or (warp, weft), N/m
        Stiffness along the threads, force per width: Young's modulus times thickness.
    shear : float, N/m
        Stiffness between warp and weft: shear modulus times thickness.
    bend : float, N m
        Bending stiffness k_b, couple per width by curvature; 0 for none.
    density : float, kg/m²
        Mass per area; a third of the mass of a face goes to each of its corners.
    warp : (3,) float or None
        Direction of the warp threads, projected to each face; of faces at right angles to it their longest side is
        taken. None: x.
    """
    x = _check.vectors("vertices", vertices)
    corners = _check.indices("faces", faces, 3, len(x), "vertices")
    along = _stretch(stretch)
    moduli = np.array([*along, _check.not_negative("shear", shear)])
    flexural, surface = _check.not_negative("bend", bend), _check.positive("density", density)
    direction = _check.vector("warp", [1.0, 0.0, 0.0] if warp is None else warp)
    if not direction.any():
        raise InputError(f"warp: found {warp!r}, expected a direction")
    direction /= np.abs(direction).max()
    areas, normals = _areas(x, corners)
    sides, pairs = _sides(corners)
    masses = np.bincount(corners.ravel(), np.repeat(surface * areas / 3, 3), len(x)).astype(np.float64)
    if not masses.all():
        unused = np.flatnonzero(masses == 0)
        raise InputError(f"vertices: row {unused[0]} is in no face and has no mass; {len(unused)} such rows in all")
    edges = Edges(sides, np.linalg.norm(x[sides[:, 1]] - x[sides[:, 0]], axis=1))
    rest = _flattened(x, corners, normals, direction / np.linalg.norm(direction))
    membranes = Membranes(corners, rest, np.tile(moduli, (len(corners), 1)))
    hinges = _hinges(x, corners, areas, pairs, flexural) if flexural > 0 else NO_HINGES
    return Parts(masses, edges, NO_SPRINGS, NO_BENDS, membranes, hinges)


def _stretch(value: Any) -> tuple[float, float]:
    """Stiffness along warp and weft."""
    if _check.numbers("stretch", value, "a number, or those of warp and weft").ndim == 0:
        both = _check.positive("stretch", value)
        return both, both
    warp, weft = _check.vector("stretch", value, 2)
    return _check.positive("stretch of the warp", warp), _check.positive("stretch of the weft", weft)


def _areas(x: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """Areas and unit normals of faces."""
    if len(faces) == 0:
        raise InputError("faces: found none, expected one at least")
    a, b, c = x[faces[:, 0]], x[faces[:, 1]], x[faces[:, 2]]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        cross = np.cross(b - a, c - a)
        twice = np.linalg.norm(cross, axis=1)
        longest_sq = np.max([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
        bad = np.flatnonzero(~((0.5 * twice > _FLATTEST * longest_sq) & (longest_sq < np.inf)))
    if len(bad):
        f = bad[0]
        raise InputError(
            f"faces: row {f} is ({', '.join(map(str, faces[f]))}) with an area of {0.5 * twice[f]:g} m² and a longest "
            f"side of {np.sqrt(longest_sq[f]):g} m, expected faces with an area; {len(bad)} such rows in all"
        )
    return 0.5 * twice, cross / twice[:, None]


def _flattened(x: Floats, faces: Ints, normals: Floats, warp: Floats) -> Floats:
    """(m, 3, 2) coordinates of corners in the plane of each face; the first is the origin, u is along the warp."""
    corners = x[faces]
    sides = np.roll(corners, -1, axis=1) - corners
    longest = sides[np.arange(len(faces)), (sides**2).sum(axis=2).argmax(axis=1)]
    u = warp - (normals @ warp)[:, None] * normals
    u = np.where(np.linalg.norm(u, axis=1)[:, None] > _STEEPEST, u, longest)
    u /= np.linalg.norm(u, axis=1)[:, None]
    v = np.cross(normals, u)
    from_first = corners - corners[:, :1]
    return np.stack([(from_first * u[:, None]).sum(axis=2), (from_first * v[:, None]).sum(axis=2)], axis=2)


def _sides(faces: Ints) -> tuple[Ints, NDArray[np.intp]]:
    """All edges, ascending, and for each of them that has two faces the half-edges: 3 × face + corner opposite."""
    halves = np.sort(faces[:, [1, 2, 2, 0, 0, 1]].reshape(-1, 2), axis=1)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    edges, starts, counts = np.unique(halves[order], axis=0, return_index=True, return_counts=True)
    crowded = np.flatnonzero(counts > 2)
    if len(crowded):
        e = crowded[0]
        rows = ", ".join(str(h // 3) for h in order[starts[e] : starts[e] + counts[e]])
        i, j = edges[e]
        raise InputError(
            f"faces: rows {rows} share the edge ({i}, {j}), expected at most two faces at an edge; {len(crowded)} such "
            f"edges in all"
        )
    first = starts[counts == 2]
    pairs = np.column_stack([order[first], order[first + 1]])
    opposite = faces.ravel()[pairs]
    same = np.flatnonzero(opposite[:, 0] == opposite[:, 1])
    if len(same):
        one, other = pairs[same[0]] // 3
        raise InputError(f"faces: rows {one} and {other} have the same corners, expected each face once")
    return edges, pairs


def _hinges(x: Floats, faces: Ints, areas: Floats, pairs: NDArray[np.intp], bend: float) -> Stencils:
    """Stencils of all edges with two faces, with cotangents of the angles there."""
    face, corner = pairs // 3, pairs % 3
    k, l = faces[face, corner].T
    i, j = faces[face[:, 0], (corner[:, 0] + 1) % 3], faces[face[:, 0], (corner[:, 0] + 2) % 3]
    weights = np.zeros((len(pairs), 4))
    along = x[j] - x[i]
    for side, opposite in enumerate((k, l)):
        twice = 2 * areas[face[:, side]]
        at_i = ((x[opposite] - x[i]) * along).sum(axis=1) / twice
        at_j = -((x[opposite] - x[j]) * along).sum(axis=1) / twice
        weights[:, 0] += at_j
        weights[:, 1] += at_i
        weights[:, 2 + side] = -(at_i + at_j)
    nodes: Ints = np.column_stack([i, j, k, l])
    return Stencils(nodes, weights, bend / areas[face].sum(axis=1))
