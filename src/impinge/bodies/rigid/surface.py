"""What of a surface feels contact: points that each stand for an area, and sharp edges.

Points depend on the surface alone, not on how it is cut into triangles. Space is divided into cells as large as the
resolution; what of a smooth part of the surface is in a cell, and faces the same way, is one point: in its middle, with
its area. Smooth parts end at edges bent by more than `SHARP`. Convex edges of that kind are lines of their own, as they
touch first, and may cross others between all points; straight ones that continue each other are one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from impinge.bodies.rigid import _sampling
from impinge.ccd.intersections import self_intersections
from impinge.inside.closest import ClosestTree
from impinge.inside.octree import Octree
from impinge.shapes.mesh import Mesh
from impinge.shapes.vectors import unit

__all__ = [
    "SHARP",
    "Edges",
    "Samples",
    "find_edges",
    "find_inside_out",
    "find_rims",
    "is_convex",
    "is_filled",
    "sample",
    "usual_resolution",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARP = math.radians(20.0)  # angle between the normals of two faces
_STRAIGHT = 1e-6  # sine of the angle up to which edges are one line
_AHEAD = 1e-9  # of the size of a mesh
_POINTS = 2400  # about so many for a body: with four times as many impacts take as long to some percent
_OFFSET = (0.377, 0.523, 0.661)  # of a cell, between the middle of a body and a corner: faces are not on borders


class Samples(NamedTuple):
    """Points of a surface."""

    points: Floats  # (n, 3), m
    normals: Floats  # (n, 3), unit, outwards
    areas: Floats  # (n,), m²


class Edges(NamedTuple):
    """Sharp convex edges of a surface."""

    ends: Floats  # (n, 6), m
    bends: Floats  # (n,), angle between the normals of the faces
    inward: Floats  # (n, 3), unit, between the faces


class _Sides(NamedTuple):
    """Pairs of faces with a common edge."""

    first: Ints  # faces
    second: Ints
    vertices: Ints  # (n, 2), merged, as the first face goes along it
    bends: Floats  # angle between normals, negative where the surface is concave


def usual_resolution(mesh: Mesh) -> float:
    """The resolution at which a body has some two thousand points, m."""
    return math.sqrt(mesh.area / _POINTS)


def _normals(mesh: Mesh) -> Floats:
    a, b, c = mesh.triangles.swapaxes(0, 1)
    return unit(np.cross(b - a, c - a))


def _sides(mesh: Mesh, normals: Floats) -> _Sides:
    """Every edge at which two faces meet, once for each pair."""
    faces = mesh.merged_faces.astype(np.int64)
    mates = mesh._link()[0].reshape(-1).astype(np.int64)
    halves = np.flatnonzero((mates > np.arange(len(mates))) & (mates >= 0))
    first, second = halves // 3, mates[halves] // 3
    a, b = faces[first, halves % 3], faces[first, (halves + 1) % 3]
    n, m = normals[first], normals[second]
    along = unit(mesh.vertices[b] - mesh.vertices[a])
    bends = np.arctan2((np.cross(n, m) * along).sum(axis=1), (n * m).sum(axis=1))
    return _Sides(first, second, np.column_stack([a, b]), bends)


def _rims(mesh: Mesh) -> _Sides:
    """Edges with one face only, as if the surface turned round there."""
    faces = mesh.merged_faces.astype(np.int64)
    mates = mesh._link()[0].reshape(-1)
    halves = np.flatnonzero((mates < 0) | (mates == np.arange(len(mates))))
    face = halves // 3
    vertices = np.column_stack([faces[face, halves % 3], faces[face, (halves + 1) % 3]])
    return _Sides(face, face, vertices, np.full(len(face), math.pi))


def find_rims(mesh: Mesh) -> Floats:
    """(n, 6): both ends of edges with one face only."""
    return mesh.vertices[_rims(mesh).vertices].reshape(-1, 6)


def sample(mesh: Mesh, resolution: float) -> Samples:
    """Points of the surface of a closed mesh, about `resolution` [m] apart."""
    normals = _normals(mesh)
    sides = _sides(mesh, normals)
    smooth = np.abs(sides.bends) < SHARP
    count = len(mesh.faces)
    links = coo_array((np.ones(smooth.sum()), (sides.first[smooth], sides.second[smooth])), shape=(count, count))
    parts, region = connected_components(links, directed=False)
    # A thin part that is round is smooth from one side to the other: which way it faces tells them apart. Rounding
    # must not: a normal halfway between axes is of the first of them.
    steep = np.abs(normals) * [1.0 + 2e-6, 1.0 + 1e-6, 1.0]
    axis = steep.argmax(axis=1)
    facing = 2 * axis + (normals[np.arange(count), axis] > 0)
    groups = region.astype(np.int64) * 6 + facing
    middle, extent = mesh.bounds.mean(axis=0), np.ptp(mesh.bounds, axis=0)
    cells = np.ceil(0.5 * extent / resolution).astype(np.int64) + 1
    low = middle - (cells + np.array(_OFFSET)) * resolution
    shape = np.array([*(2 * cells + 2), 6 * parts], np.int64)
    corners = np.ascontiguousarray(mesh.triangles.reshape(-1, 9))
    keys, rows = np.empty(0, np.int64), np.empty((0, _sampling.PART))
    found = _sampling.cut(corners, normals, groups, low, resolution, shape, keys, rows)
    keys, rows = np.empty(found, np.int64), np.empty((found, _sampling.PART))
    _sampling.cut(corners, normals, groups, low, resolution, shape, keys, rows)
    _, number = np.unique(keys, return_inverse=True)
    sums = np.empty((int(number.max()) + 1, rows.shape[1]))
    for column in range(rows.shape[1]):
        sums[:, column] = np.bincount(number, rows[:, column])
    areas = sums[:, _sampling.AREA]
    middles = sums[:, _sampling.MOMENT : _sampling.MOMENT + 3] / areas[:, None]
    points = ClosestTree(mesh).query(np.ascontiguousarray(middles))[0]
    return Samples(points, unit(sums[:, _sampling.NORMAL : _sampling.NORMAL + 3]), areas)


def is_convex(mesh: Mesh) -> bool:
    """Whether a closed mesh is the surface of one convex body: in one part, and nowhere bent inwards."""
    bends = _sides(mesh, _normals(mesh)).bends
    return bool(bends.min(initial=0.0) >= -_STRAIGHT and mesh.components().max() == 0)


def find_inside_out(mesh: Mesh) -> int | None:
    """A face of a whole part of a closed surface that is inside out and not a hollow in another; None without such."""
    parts = mesh.components()
    a, b, c = (mesh.triangles - mesh.bounds.mean(axis=0)).swapaxes(0, 1)
    volumes = np.bincount(parts, (np.cross(a, b) * c).sum(axis=1))
    faces, windings = _windings_ahead(mesh)
    highest = np.full(len(volumes), -math.inf)
    np.maximum.at(highest, parts[faces], windings)
    turned = np.flatnonzero((volumes < 0) & (highest < 0))
    return int(np.flatnonzero(parts == turned[0])[0]) if len(turned) else None


def _windings_ahead(mesh: Mesh) -> tuple[Ints, Floats]:
    """How often a closed surface winds around places just in front of its faces; and these faces, all with an area."""
    normals = _normals(mesh)
    faces = np.flatnonzero(normals.any(axis=1))
    ahead = _AHEAD * float(np.ptp(mesh.bounds, axis=0).max()) * normals[faces]
    points = mesh.triangles[faces].mean(axis=1) + ahead
    points.flags.writeable = False  # as all that users ask for: one kernel is compiled, not two
    return faces, Octree(mesh).winding(points)


def find_edges(mesh: Mesh, *, solid: bool = True) -> Edges:
    """Sharp convex edges of a closed mesh, straight ones joined; if it is no solid all sharp ones, and rims."""
    normals = _normals(mesh)
    sides = _sides(mesh, normals)
    sharp = np.flatnonzero((sides.bends if solid else np.abs(sides.bends)) >= SHARP)
    ends, bends, faces = sides.vertices[sharp], np.abs(sides.bends[sharp]), (sides.first[sharp], sides.second[sharp])
    if not solid:
        rims = _rims(mesh)
        ends = np.concatenate([ends, rims.vertices])
        bends = np.concatenate([bends, rims.bends])
        faces = np.concatenate([faces[0], rims.first]), np.concatenate([faces[1], rims.second])
    if not len(ends):
        return Edges(np.empty((0, 6)), np.empty(0), np.empty((0, 3)))
    ways = unit(mesh.vertices[ends[:, 1]] - mesh.vertices[ends[:, 0]])
    # Which edges end at a vertex: where two alike do, straight behind each other, they go on as one.
    vertices, edges = ends.T.reshape(-1), np.tile(np.arange(len(ends)), 2)
    order = np.argsort(vertices, kind="stable")
    vertices, edges = vertices[order], edges[order]
    begins = np.flatnonzero(np.append(True, vertices[1:] != vertices[:-1])) if len(vertices) else vertices
    counts = np.diff(np.append(begins, len(vertices)))
    one, other = edges[begins[counts == 2]], edges[begins[counts == 2] + 1]
    turn = np.linalg.norm(np.cross(ways[one], ways[other]), axis=1)
    alike = (turn < _STRAIGHT) & (np.abs(bends[one] - bends[other]) < _STRAIGHT)
    links = coo_array((np.ones(alike.sum()), (one[alike], other[alike])), shape=(len(ends), len(ends)))
    _, line = connected_components(links, directed=False)
    owners, firsts = np.unique(line, return_index=True)
    places, owner = mesh.vertices[ends.reshape(-1)], np.repeat(line, 2)
    order = np.lexsort(((places * ways[firsts][owner]).sum(axis=1), owner))
    starts = np.searchsorted(owner[order], owners)
    stops = np.append(starts[1:], len(order)) - 1
    inward = -unit(normals[faces[0]] + normals[faces[1]])
    return Edges(np.hstack([places[order[starts]], places[order[stops]]]), bends[firsts], inward[firsts])


def is_filled(mesh: Mesh) -> bool:
    """Whether a mesh bounds one inside, all of whose surface has it behind it: so normals tell where that is.

    That is not so where parts of a surface touch or overlap, nor where one is within the other and faces the same way.
    A mesh that is inside out is filled all around.
    """
    if not mesh.is_closed or len(self_intersections(mesh.vertices, faces=mesh.merged_faces).faces):
        return False
    _, windings = _windings_ahead(mesh)
    return len(windings) > 0 and bool((windings == windings[0]).all())
