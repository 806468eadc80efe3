"""What is prepared once for every shape, in the frame of its principal axes: mass, tree, points, edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.obstacles import Obstacle
from impinge.bodies.rigid import _distance, _layout, _touch
from impinge.bodies.rigid._layout import RANGES, SIZES
from impinge.bodies.rigid.surface import (
    find_edges,
    find_inside_out,
    find_rims,
    is_convex,
    is_filled,
    sample,
    usual_resolution,
)
from impinge.errors import InputError, MeshError, MeshWarning
from impinge.inside import _closest, _closest_build
from impinge.response import _laws
from impinge.shapes.mesh import Mesh
from impinge.shapes.vectors import unit

__all__ = ["Form", "Parts", "Shape", "Shapes", "check_solid", "join"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_GROUP = 16  # points or edges that are looked at together
_QUARTER = 0.25  # of the surface in contact, at most, when the time step is chosen
_WIDE = 2.0  # of the usual resolution: edges bent by a right angle
_FINEST, _COARSER, _COARSEST = 1 / 64, 1.3, 0.5  # of the resolution: parts of edges at their ends, from one to the next
_DEEPEST = 0.5  # of the radius: so far, at most, points can be behind the surface of an obstacle
_MOST_POINTS = 10_000_000  # of a body
_MOST_ALONG = 1000  # points along a body, unless a resolution is asked for
_PROBES = 64  # points in a body, at most
_LEAST_MOMENT = 1e-14  # of the largest: less is lost in rounding
_SMALLEST, _LARGEST = 1e-30, 1e30  # m: eighth powers of lengths stay in range


class Parts(NamedTuple):
    """Points or edges in groups."""

    rows: Floats  # (n, columns)
    groups: Floats  # (g, 4), m: centre and radius
    starts: Ints  # (g + 1,)


class Form:
    """A surface in its own frame: a tree of its triangles, points and edges.

    Attributes
    ----------
    points : Parts
        Rows: place, area, normal, half the thickness of the body there. Behind those of the surface there are
        `on_edges` groups of points on edges, which obstacles without an inside are felt by.
    edges : Parts
        Rows: both ends, width, into the body.
    rims : Parts
        Rows: both ends of edges with one face only.
    bounds : (2, 3) float64
    arms : (3,) float64, m
        How far from each axis points are.
    reach, radius, width : float, m
        Of the farthest point, of the ball of the same volume, of edges bent by a right angle.
    bumpy : bool
        Whether it is not known to be convex.
    filled : bool
        Whether it has an inside, and its normals tell where.
    """

    radius = math.inf
    width = 1.0
    bumpy = True

    def __init__(self, mesh: Mesh) -> None:
        corners = mesh.vertices[mesh.merged_faces]
        self.bounds = np.array([corners.min(axis=(0, 1)), corners.max(axis=(0, 1))])
        squares = corners**2
        self.reach = float(np.sqrt(squares.sum(axis=2).max()))
        self.arms = np.sqrt((squares.sum(axis=2)[..., None] - squares).max(axis=(0, 1)))
        self._make_tree(mesh)
        self.filled = is_filled(mesh)
        self.points, self.edges = _no_parts(_layout.POINT), self._find_edges(mesh)
        self.on_edges, self.rims = 0, self._find_rims(mesh)

    def _make_tree(self, mesh: Mesh) -> None:
        m, width = len(mesh.faces), _closest.WIDTH
        order = np.sort(mesh.merged_faces, axis=1).astype(np.int64)
        corners = mesh.vertices[order].reshape(m, 9)
        mid = np.ascontiguousarray((corners[:, 0:3] + corners[:, 3:6] + corners[:, 6:9]).T)
        rows = np.arange(m, dtype=np.int32)
        ranges = np.empty((m // width + 2, width, 2), np.int32)
        children = np.empty((m // width + 2, width), np.int32)
        n_nodes, n_leaves = _closest_build.split_faces(mid, rows, ranges, children)
        self.children = children[:n_nodes].copy()
        self.nodes, self.leaves = np.empty(n_nodes * _closest.NODE), np.empty(n_leaves * _closest.LEAF)
        self.faces = np.empty(n_leaves * width, np.int32)
        tree = self.children, self.nodes, self.leaves, self.faces
        _closest_build.bound_nodes(n_nodes, corners, rows, ranges, *tree)
        self.normals = _normals(mesh, order)
        self.boxes = _boxes(self.nodes, self.children)

    @property
    def tree(self) -> tuple[Floats, NDArray[np.int32], Floats, NDArray[np.int32], Floats, Floats, float]:
        """What `_distance.signed_distance` reads."""
        return self.nodes, self.children, self.leaves, self.faces, self.normals, self.boxes, 1.0

    def _find_edges(self, mesh: Mesh) -> Parts:
        ends, bends, inward = find_edges(mesh, solid=False)
        rows = np.column_stack([ends, 2 * np.sin(0.5 * bends) ** 2, inward])
        half = 0.5 * np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1)
        return _grouped(rows, 0.5 * (ends[:, :3] + ends[:, 3:]), half)

    def _find_rims(self, mesh: Mesh) -> Parts:
        ends = find_rims(mesh)
        half = 0.5 * np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1)
        return _grouped(ends, 0.5 * (ends[:, :3] + ends[:, 3:]), half)


class Shape(Form):
    """A closed mesh as rigid bodies need it.

    Attributes
    ----------
    mesh, asked : Mesh, and resolution
        As given.
    centre, axes : (3,), (3, 3) float64
        Where the centre of mass is in the frame of the mesh, and the principal axes, as columns.
    volume, area, radius : float
    turning : (3,) float64, m²
        Principal moments of inertia over the mass.
    obstacle : Obstacle
        What spheres run into.
    """

    def __init__(self, mesh: Mesh, resolution: float | None = None) -> None:
        self.mesh, self.asked = mesh, resolution
        check_solid(mesh)
        self.volume, self.area = mesh.volume, mesh.area
        self.radius = math.cbrt(0.75 * self.volume / math.pi)
        self.resolution = _fit_for_needles(mesh) if resolution is None else _checked_resolution(resolution, mesh)
        self.centre = mesh.centroid
        moments, axes = np.linalg.eigh(mesh.inertia / self.volume)
        self.turning, self.axes = moments, axes * np.linalg.det(axes)
        self.width = _WIDE * usual_resolution(mesh)
        self.bumpy = not is_convex(mesh)
        own = Mesh((mesh.vertices - self.centre) @ self.axes, mesh.faces)
        super().__init__(own)
        if not self.filled:
            _check_parts(mesh)
            warnings.warn(
                "mesh: found a surface that meets itself, or has parts within each other that face the same way; "
                "expected one inside. What is inside twice has twice the mass, contacts there are not felt, and runs "
                "that go on from a file may differ",
                MeshWarning,
                stacklevel=4,
            )
        self.obstacle = Obstacle(own)  # what spheres run into
        if not moments[0] > _LEAST_MOMENT * moments[2]:
            raise MeshError(
                f"mesh: found moments of inertia of {moments[0]:.3g} to {moments[2]:.3g} m² times the mass, expected "
                f"the least above {_LEAST_MOMENT:g} of the largest: it is too thin for its length, or meets itself"
            )
        self._add_points(own)

    @property
    def face_points(self) -> Floats:
        """Rows of the points that stand for the surface."""
        return self.points.rows[: self.points.starts[len(self.points.groups) - self.on_edges]]

    @cached_property
    def probes(self) -> Floats:
        """(n, 4): points in the middle of the body, seen from points of its surface, and the volume each stands for."""
        rows = self.face_points[:: -(-len(self.face_points) // _PROBES)]
        places, areas, normals, deep = rows[:, :3], rows[:, 3], rows[:, 4:7], rows[:, 7]
        return np.column_stack([places - deep[:, None] * normals, areas * deep])

    @cached_property
    def thickness(self) -> float:
        """Of half of its surface the body is thinner than that, m."""
        rows = self.face_points[np.argsort(self.face_points[:, _layout.POINT_DEEP])]
        half = np.searchsorted(np.cumsum(rows[:, _layout.POINT_AREA]), 0.5 * rows[:, _layout.POINT_AREA].sum())
        return 2 * float(rows[min(int(half), len(rows) - 1), _layout.POINT_DEEP])

    @property
    def liveliest(self) -> float:
        """Mass of the body over that which reacts to pushes along the normals of points, of the most lively quarter.

        Springs k_i with normals n_i at r_i shake a body with ω² ≤ Σ k_i (1 / m + (r_i × n_i)ᵀ I⁻¹ (r_i × n_i)), the sum
        of all eigenvalues; of all quarters of the surface this is the one for which that is the most.
        """
        rows = self.face_points
        areas = rows[:, 3]
        arms = np.cross(rows[:, :3], rows[:, 4:7])
        lively = 1 + (arms**2 / self.turning).sum(axis=1)
        order = np.argsort(-lively, kind="stable")
        shares = np.diff(np.minimum(np.cumsum(areas[order]), _QUARTER * self.area), prepend=0.0)
        return float((shares * lively[order]).sum() / (_QUARTER * self.area))

    def stiffest(self, law: Floats) -> float:
        """Stiffness of contact with a quarter of the surface, N/m."""
        per_area = _touch.stiffness_per_area(law[_laws.KIND], law[_laws.STIFFNESS], self.radius)
        return _QUARTER * self.area * float(per_area)

    def _thickness(self, points: Floats, inward: Floats) -> Floats:
        """Half of that of the body at points of its surface."""
        thickness = np.empty(len(points))
        _distance.measure_thickness(self.tree, points, inward, 2 * _DEEPEST * self.radius, thickness)
        return 0.5 * thickness

    def _add_points(self, mesh: Mesh) -> None:
        points, normals, areas = sample(mesh, self.resolution)
        depths = self._thickness(points, -normals)
        on_faces = _grouped(np.column_stack([points, areas, normals, depths]), points, np.zeros(len(points)))
        rows = self._points_on_edges()
        on_edges = _grouped(rows, rows[:, :3], np.zeros(len(rows)))
        self.points, self.on_edges = _together(on_faces, on_edges), len(on_edges.groups)

    def _find_edges(self, mesh: Mesh) -> Parts:
        ends, bends, inward = find_edges(mesh)
        widths = self.width * 2 * np.sin(0.5 * bends) ** 2
        half = 0.5 * np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1)
        return _grouped(np.column_stack([ends, widths, inward]), 0.5 * (ends[:, :3] + ends[:, 3:]), half)

    def _points_on_edges(self) -> Floats:
        """Points in the middle of parts of edges, which are the shorter the nearer they are to an end.

        Ends touch first; so what a part is off by is a share of what has touched, however little that is.
        """
        found = [np.empty((0, _layout.POINT - 1))]
        for row in self.edges.rows:
            start, way, width, inward = row[:3], row[3:6] - row[:3], row[_layout.EDGE_WIDE], row[_layout.EDGE_INWARD :]
            cuts = _parts(float(np.linalg.norm(way)) / self.resolution)
            places = start + 0.5 * (cuts[1:] + cuts[:-1])[:, None] * way
            areas = width * np.diff(cuts) * np.linalg.norm(way)
            found.append(np.column_stack([places, areas, np.tile(-inward, (len(places), 1))]))
        rows = np.concatenate(found)
        # Of each by itself: towards the ends of an edge bodies get thin.
        places, outward = rows[:, :3], rows[:, _layout.POINT_NORMAL : _layout.POINT_DEEP]
        return np.column_stack([rows, self._thickness(np.ascontiguousarray(places), np.ascontiguousarray(-outward))])


class Shapes(NamedTuple):
    """All shapes of a world in flat arrays."""

    ranges: Ints  # (s + 1, RANGES)
    sizes: Floats  # (s, SIZES)
    nodes: Floats
    children: NDArray[np.int32]
    leaves: Floats
    faces: NDArray[np.int32]
    normals: Floats
    boxes: Floats
    points: Floats
    point_groups: Floats
    point_starts: Ints
    edges: Floats
    edge_groups: Floats
    edge_starts: Ints
    rims: Floats
    rim_groups: Floats
    rim_starts: Ints


def join(shapes: Sequence[Form]) -> Shapes:
    """All shapes, one after the other; numbers in trees and groups stay those of each alone."""
    kinds = [
        ([s.points for s in shapes], _layout.POINT), ([s.edges for s in shapes], _layout.EDGE),
        ([s.rims for s in shapes], 6),
    ]  # fmt: skip
    trees = [[len(s.children), len(s.leaves) // _closest.LEAF, len(s.normals)] for s in shapes]
    lengths = np.array(trees, np.int64).reshape(-1, 3)
    for parts, _ in kinds:
        sizes = [[len(p.rows), len(p.groups)] for p in parts]
        lengths = np.hstack([lengths, np.array(sizes, np.int64).reshape(-1, 2)])
    ranges = np.zeros((len(shapes) + 1, RANGES), np.int64)
    np.cumsum(lengths, axis=0, out=ranges[1:, : _layout.EDGE_POINTS])
    for number, shape in enumerate(shapes):
        on_faces = len(shape.points.groups) - shape.on_edges
        first = ranges[number, [_layout.POINTS, _layout.POINT_GROUPS]]
        ranges[number, _layout.EDGE_POINTS :] = first + [shape.points.starts[on_faces], on_faces]
    measures = np.array([[*s.bounds.reshape(-1), s.reach, s.radius, s.width, s.bumpy, s.filled] for s in shapes])

    def together(parts: list[NDArray[Any]], empty: tuple[int, ...], kind: type) -> NDArray[Any]:
        return np.concatenate([np.empty(empty, kind), *parts])

    flat: list[Any] = []
    for parts, columns in kinds:
        flat.append(together([p.rows for p in parts], (0, columns), np.float64))
        flat.append(together([p.groups for p in parts], (0, 4), np.float64))
        flat.append(np.cumsum(np.concatenate([[0], *[np.diff(p.starts) for p in parts]])).astype(np.int64))
    return Shapes(
        ranges, measures.reshape(-1, SIZES),
        together([s.nodes for s in shapes], (0,), np.float64),
        together([s.children for s in shapes], (0, _closest.WIDTH), np.int32),
        together([s.leaves for s in shapes], (0,), np.float64),
        together([s.faces for s in shapes], (0,), np.int32),
        together([s.normals for s in shapes], (0, _distance.NORMALS, 3), np.float64),
        together([s.boxes for s in shapes], (0, _closest.BOX), np.float64),
        *flat,
    )  # fmt: skip


def _fit_for_needles(mesh: Mesh) -> float:
    """The usual resolution; of bodies that are very long and thin a part of the length, or points would be too many."""
    return max(usual_resolution(mesh), float(np.ptp(mesh.bounds, axis=0).max()) / _MOST_ALONG)


def _checked_resolution(resolution: float, mesh: Mesh) -> float:
    """Refuse one that asks for more points than there is room for."""
    ends, _, _ = find_edges(mesh)
    edges = float(np.linalg.norm(ends[:, 3:] - ends[:, :3], axis=1).sum())
    # The least h with area / h² + edges / h points.
    least = (edges + math.sqrt(edges * edges + 4 * _MOST_POINTS * mesh.area)) / (2 * _MOST_POINTS)
    if resolution < least:
        raise InputError(
            f"resolution: found {resolution:g} m, expected at least {least:.3g} m, which is {_MOST_POINTS:,} points of "
            f"a surface of {mesh.area:g} m² with edges of {edges:g} m"
        )
    return resolution


def check_solid(mesh: Mesh, name: str = "mesh") -> None:
    """Refuse what is not the surface of a solid; name : what errors call it."""
    size = float(np.ptp(mesh.bounds, axis=0).max())
    if not _SMALLEST <= size <= _LARGEST:
        raise MeshError(f"{name}: found a size of {size:g} m, expected {_SMALLEST:g} to {_LARGEST:g} m")
    if not mesh.is_closed:
        problem = next(p for p in mesh.problems() if p.kind != "inside out")
        where = ""
        if len(problem.examples[0]) == 3:
            place = mesh.vertices[list(problem.examples[0][:2])].mean(axis=0)
            where = " at ({:.6g}, {:.6g}, {:.6g}) m".format(*place)
        raise MeshError(
            f"{name}: found {problem.text}{where}, expected a closed surface, as a rigid body has an inside"
        )
    if not abs(mesh.volume) > 0:
        raise MeshError(f"{name}: found a surface that encloses no volume, expected the surface of a body")
    if mesh.volume < 0:
        raise MeshError(
            f"{name}: found it inside out, of volume {mesh.volume:.6g} m³, expected faces that are counter-clockwise "
            "seen from outside; mesh.flipped() turns them"
        )


def _check_parts(mesh: Mesh) -> None:
    """Refuse a closed surface with a whole part that is inside out."""
    face = find_inside_out(mesh)
    if face is not None:
        place = "({:.6g}, {:.6g}, {:.6g})".format(*mesh.triangles[face].mean(axis=0))
        raise MeshError(
            f"mesh: found a part of the surface, that of face {face} at {place} m, inside out and in no other part; "
            "expected faces that are counter-clockwise seen from outside"
        )


def _boxes(nodes: Floats, children: NDArray[np.int32]) -> Floats:
    """(n, BOX), m: boxes around the leaves, as they are in the nodes above them."""
    rows = nodes.reshape(-1, _closest.BOX, _closest.WIDTH).transpose(0, 2, 1)
    leaves = (children < 0) & (rows[..., 0] != _closest.NOWHERE)
    boxes = np.empty((int(leaves.sum()), _closest.BOX))
    boxes[~children[leaves]] = rows[leaves]
    return boxes


def _normals(mesh: Mesh, order: Ints) -> Floats:
    """(m, NORMALS, 3): see `_distance`; order : vertices of every face, ascending."""
    faces, count = mesh.merged_faces.astype(np.int64), len(mesh.vertices)
    corners = mesh.vertices[faces]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    own = unit(crossed)
    at_vertices = np.zeros((count, 3))
    for k in range(3):
        to, back = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
        angle = np.arctan2(np.linalg.norm(np.cross(to, back), axis=1), (to * back).sum(axis=1))
        np.add.at(at_vertices, faces[:, k], angle[:, None] * own)
    normals = np.empty((len(faces), _distance.NORMALS, 3))
    normals[:, _distance.FACE] = own
    normals[:, _distance.VERTICES :] = unit(at_vertices)[order]
    sides = np.stack([order[:, [0, 1]], order[:, [0, 2]], order[:, [1, 2]]], axis=1)
    keys = sides[..., 0] * count + sides[..., 1]
    _, number = np.unique(keys.reshape(-1), return_inverse=True)
    at_edges = np.zeros((number.max() + 1, 3))
    np.add.at(at_edges, number, np.repeat(own, 3, axis=0))
    normals[:, _distance.EDGES : _distance.VERTICES] = unit(at_edges)[number].reshape(-1, 3, 3)
    return normals


def _parts(length: float) -> Floats:
    """Where an edge of some length (over the resolution) is cut into parts, from 0 to 1."""
    sizes: list[float] = []
    size = _FINEST
    while 2 * (sum(sizes) + size) < length:
        sizes.append(size)
        size = min(size * _COARSER, _COARSEST)
    half = np.concatenate([[0.0], np.cumsum(sizes), [0.5 * length]]) / length
    return np.concatenate([half, 1 - half[-2::-1]])


def _together(one: Parts, other: Parts) -> Parts:
    return Parts(
        np.concatenate([one.rows, other.rows]), np.concatenate([one.groups, other.groups]),
        np.concatenate([one.starts, one.starts[-1] + other.starts[1:]]),
    )  # fmt: skip


def _no_parts(columns: int) -> Parts:
    return _grouped(np.empty((0, columns)), np.empty((0, 3)), np.empty(0))


def _grouped(rows: Floats, places: Floats, extents: Floats) -> Parts:
    """Rows in groups of neighbours; extents : of each beyond its place."""
    groups: list[Ints] = []
    waiting = [np.arange(len(rows))] if len(rows) else []
    while waiting:
        some = waiting.pop()
        if len(some) <= _GROUP:
            groups.append(some)
            continue
        axis = int(np.argmax(np.ptp(places[some], axis=0)))
        half = len(some) // 2
        some = some[np.argsort(places[some, axis], kind="stable")]
        waiting += [some[half:], some[:half]]
    balls = np.empty((len(groups), 4))
    for ball, some in zip(balls, groups, strict=True):
        ball[:3] = 0.5 * (places[some].min(axis=0) + places[some].max(axis=0))
        ball[3] = (np.linalg.norm(places[some] - ball[:3], axis=1) + extents[some]).max()
    order = np.concatenate([np.empty(0, np.int64), *groups])
    starts = np.cumsum([0] + [len(some) for some in groups])
    return Parts(np.ascontiguousarray(rows[order]), balls, starts)
