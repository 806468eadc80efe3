"""Whether bodies overlap, decided exactly, and where: nodes inside, crossed edges, depths and normals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check, _jit
from impinge.broad.blocks import Blocks, block_pairs, make_blocks, places
from impinge.broad.once import box_pairs
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.inside import _collide
from impinge.inside._vertical import count_all_crossings
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView, used_vertices
from impinge.shapes.vectors import unit

__all__ = [
    "CollidingNodes", "Collision", "Collisions", "Placed", "collide", "colliding_nodes", "collisions", "meeting_faces",
    "overlap", "piercings",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_FLAT = 1e-9  # sine of the angle between faces from which on there is an edge
_ROUNDING = 1e-12  # of the size of a body: points nearer to a surface are on it, when it comes to directions


class CollidingNodes(NamedTuple):
    """Nodes of two bodies that lie inside or on the other: rows of ``mesh.vertices``, sorted."""

    of_a: Ints  # nodes of a inside b
    of_b: Ints  # nodes of b inside a


@dataclass(frozen=True, eq=False)
class Collision:
    """How two bodies overlap; true if they do."""

    overlap: bool  # whether they share a point, exactly
    faces: Ints  # (k, 2), ascending: faces of a and of b that share a point
    nodes: CollidingNodes  # of each body inside the other or on it
    points: Floats  # (n, 3), m: nodes of a in b, nodes of b in a, middles of edges of a in b, of edges of b in a
    depths: Floats  # (n,), m
    normals: Floats  # (n, 3), unit: a goes along normal · depth to get the point out of the other

    def __bool__(self) -> bool:
        return self.overlap

    def __repr__(self) -> str:
        if not self.overlap:
            return "<impinge.Collision: apart>"
        return (
            f"<impinge.Collision: {len(self.faces):,} pairs of faces meet, {len(self.points):,} contact points, "
            f"up to {self.depths.max(initial=0.0):.3g} m deep>"
        )

    def _repr_html_(self) -> str:
        nodes = f"{len(self.nodes.of_a):,} of a in b, {len(self.nodes.of_b):,} of b in a"
        facts = [("overlap", self.overlap), ("pairs of faces that meet", len(self.faces)), ("nodes", nodes),
                 ("contact points", len(self.points)), ("deepest [m]", self.depths.max(initial=0.0))]  # fmt: skip
        return html_table("Collision", facts)


class Collisions(NamedTuple):
    """Which of many bodies overlap, and how."""

    pairs: Ints  # (n, 2), i < j, ascending
    details: list[Collision]  # one for every pair, body i being a

    def _repr_html_(self) -> str:
        deepest = max((some.depths.max(initial=0.0) for some in self.details), default=None)
        points = sum(len(some.points) for some in self.details)
        facts = [("pairs that overlap", len(self.pairs)), ("contact points", points), ("deepest [m]", deepest)]
        return html_table("Collisions", facts)


def colliding_nodes(a: Solid | SolidView, b: Solid | SolidView) -> CollidingNodes:
    """Which nodes of each body lie inside the other or on its surface.

    Nodes outside the box around the other body, in its own frame, are discarded first ([Muth2006], Figure 2); the
    rest is asked by the other's method. Bodies whose edges and faces alone cross have no such nodes: this is the
    paper's test, for meshes that are fine where they meet. `collide` finds those too.

    Parameters
    ----------
    a, b : Solid or SolidView
        ``solid.at(rotation, translation)`` is a body that has moved.

    Returns
    -------
    CollidingNodes : of_a, of_b, (k,) int64 each
        Rows of the bodies' ``mesh.vertices``, sorted; vertices that no face uses are no nodes. Inside means what
        `Solid.contains` says, and, where a mesh is not closed, that the node is in its box as well.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.Solid(impinge.shapes.box())
    >>> impinge.colliding_nodes(cube, cube.at(translation=[0.5, 0.5, 0.5]))
    CollidingNodes(of_a=array([7]), of_b=array([0]))
    """
    first, second = _view("a", a), _view("b", b)
    return CollidingNodes(_nodes_inside(first, second), _nodes_inside(second, first))


def collide(a: Solid | SolidView, b: Solid | SolidView) -> Collision:
    """Whether two bodies share a point, and where.

    Exact: faces are compared by exact predicates, and where none meet, the winding number tells whether one body is
    inside the other. Touching is overlapping. All of that is about the doubles that ``view.vertices`` gives.

    Parameters
    ----------
    a, b : Solid or SolidView
        ``solid.at(rotation, translation)`` is a body that has moved. Of a mesh that is not closed, inside is what its
        method says.

    Returns
    -------
    Collision
        True if they overlap. Contact points are the nodes of each body inside the other (asked by the other's method)
        at their distance from its surface, and the middles of those parts of edges that are inside the other and have
        no node at an end. Where an edge crosses an edge, depth and normal are those of the two lines. If there is
        none of these, as where two edges just touch, places where edges meet faces are, with no depth.

    Examples
    --------
    >>> import impinge
    >>> bar = impinge.Solid(impinge.shapes.box((4, 1, 1)))
    >>> found = impinge.collide(bar, bar.at([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1, 0, 0.9]))
    >>> found.overlap, len(found.nodes.of_a), len(found.nodes.of_b)
    (True, 0, 0)
    >>> bool(impinge.collide(bar, bar.at(translation=[0, 0, 2])))
    False
    """
    first, second = Placed(_view("a", a)), Placed(_view("b", b))
    with _jit.threads(first.view.solid.threads):
        return _collide_placed(first, second)


def collisions(solids: Iterable[Solid | SolidView], *, threads: int | None = None) -> Collisions:
    """All pairs of many bodies that overlap: `box_pairs` of the boxes around them, and `collide` of each pair.

    Parameters
    ----------
    solids : Solid or SolidView, any number
    threads : int, optional
        All cores by default. The result does not depend on it.

    Returns
    -------
    Collisions : pairs (n, 2) int64, details

    Examples
    --------
    >>> import impinge
    >>> ball = impinge.Solid(impinge.shapes.icosphere(2))
    >>> impinge.collisions([ball.at(translation=[1.5 * k, 0, 0]) for k in range(3)]).pairs
    array([[0, 1],
           [1, 2]])
    """
    if isinstance(solids, (Solid, SolidView)):
        raise InputError("solids: found one body, expected several in a list")
    if not isinstance(solids, Iterable):
        raise InputError(f"solids: found {type(solids).__name__}, expected several bodies in a list")
    bodies = [Placed(_view(f"solids[{k}]", body)) for k, body in enumerate(solids)]
    if len(bodies) < 2:
        return Collisions(np.empty((0, 2), np.int64), [])
    bounds = np.stack([body.view.bounds for body in bodies])
    near = box_pairs(bounds[:, 0], bounds[:, 1], threads=threads)
    with _jit.threads(threads):
        found = [_collide_placed(bodies[i], bodies[j]) for i, j in near.tolist()]
    meet = np.array([detail.overlap for detail in found], np.bool_)
    return Collisions(near[meet], [detail for detail in found if detail.overlap])


def _view(name: str, body: Solid | SolidView) -> SolidView:
    if isinstance(body, SolidView):
        return body
    if isinstance(body, Solid):
        return body.at()
    raise InputError(
        f"{name}: found {type(body).__name__}, expected an impinge.Solid or a view of one, solid.at(rotation, "
        "translation); impinge.Solid(mesh) makes one of a mesh"
    )


def _nodes_inside(body: SolidView, other: SolidView) -> Ints:
    """Nodes of `body` inside or on `other`."""
    mesh = body.solid.mesh
    used = used_vertices(mesh)
    nodes = other.to_body(body.to_world(mesh.vertices[used]))
    low, high = other.solid.mesh.bounds
    near = np.flatnonzero(((nodes >= low) & (nodes <= high)).all(axis=1))
    return used[near[other.solid.contains(nodes[near])]]


class Placed:
    """A body and its triangles where it is, in the doubles that all decisions are about; made of a view."""

    def __init__(self, view: SolidView) -> None:
        self.view = view
        self.mesh = view.solid.mesh

    @cached_property
    def corners(self) -> Floats:
        """(m, 9)."""
        return _check.frozen(self.view.vertices[self.mesh.faces].reshape(-1, 9))

    @cached_property
    def boxes(self) -> tuple[Floats, Floats]:
        """(m, 3) each: around the faces."""
        corners = self.corners.reshape(-1, 3, 3)
        return corners.min(axis=1), corners.max(axis=1)

    @cached_property
    def shells(self) -> Floats:
        """(k, 3): one vertex of each connected part of the surface."""
        _, faces = np.unique(self.mesh.components(), return_index=True)
        return self.corners[faces, :3].copy()

    def faces_within(self, bounds: Floats) -> NDArray[np.int32]:
        """Faces whose boxes meet a box."""
        lower, upper = self.boxes
        return np.flatnonzero(((lower <= bounds[1]) & (upper >= bounds[0])).all(axis=1)).astype(np.int32)

    def blocks(self, faces: NDArray[np.int32]) -> Blocks:
        lower, upper = (corner[faces] for corner in self.boxes)
        return make_blocks(lower, upper, places(lower, upper))

    def holds(self, points: Floats) -> bool:
        """Whether one of some points, none of which is on the surface, is inside."""
        if not self.mesh.is_closed:
            return bool(self.view.contains(points).any())
        winding = np.empty(len(points))
        count_all_crossings(len(points), _check.frozen(points), self.corners, winding)
        inside = winding % 2 != 0 if self.view.solid.method == "ray" else winding >= 1
        return bool(inside.any())

    def has_edge(self, halves: Ints) -> NDArray[np.bool_]:
        """Whether the surface has an edge at sides 3 · face + k of faces: in flat parts it has none."""
        mates = self.mesh._link()[0][halves].astype(np.int64)
        bend = np.cross(self.normals_of(halves // 3), self.normals_of(mates // 3))
        bent: NDArray[np.bool_] = (np.abs(bend) > _FLAT).any(axis=1) | (mates == halves)
        return bent & (mates >= 0)

    def normals_of(self, faces: Ints) -> Floats:
        """Unit normals of faces; zero for those without area."""
        a, b, c = self.corners[faces].reshape(-1, 3, 3).swapaxes(0, 1)
        return unit(np.cross(unit(b - a), unit(c - a)))


def _collide_placed(a: Placed, b: Placed) -> Collision:
    none = np.empty(0, np.int64)
    apart = Collision(
        False, none.reshape(0, 2), CollidingNodes(none, none), np.empty((0, 3)), np.empty(0), np.empty((0, 3))
    )
    faces = meeting_faces(a, b)
    if not len(faces) and not _one_holds_other(a, b):
        return apart
    nodes = CollidingNodes(_nodes_inside(a.view, b.view), _nodes_inside(b.view, a.view))
    found = [_at_nodes(a, b, nodes.of_a), _at_nodes(b, a, nodes.of_b, turn=-1)]
    if len(faces):
        found += [_at_edges(a, b, faces), _at_edges(b, a, faces[:, ::-1], turn=-1)]
    if not any(len(points) for points, _, _ in found):  # they only touch, or overlap by less than rounding
        found = [_at_touches(a, b, faces), _at_touches(b, a, faces[:, ::-1], turn=-1)]
    points, depths, normals = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Collision(True, faces, nodes, points, depths, normals)


def overlap(a: Placed, b: Placed) -> bool:
    """Whether two bodies share a point: what `collide` decides, and no more."""
    return len(meeting_faces(a, b)) > 0 or _one_holds_other(a, b)


def _one_holds_other(a: Placed, b: Placed) -> bool:
    """Whether bodies share something though no faces meet: it has a whole part of one of the surfaces in it."""
    return _boxes_meet(a, b) and (a.holds(b.shells) or b.holds(a.shells))


def _boxes_meet(a: Placed, b: Placed) -> bool:
    return bool((a.view.bounds[0] <= b.view.bounds[1]).all() and (b.view.bounds[0] <= a.view.bounds[1]).all())


def meeting_faces(a: Placed, b: Placed) -> Ints:
    """(k, 2): faces of both that share a point, ascending."""
    if not _boxes_meet(a, b):
        return np.empty((0, 2), np.int64)
    of_a, of_b = a.faces_within(b.view.bounds), b.faces_within(a.view.bounds)
    none = tuple(np.empty((len(faces), 0), np.int32) for faces in (of_a, of_b))
    near = block_pairs(a.blocks(of_a), b.blocks(of_b), 0.0, (none[0], none[1]))
    pairs = np.column_stack([of_a[near[:, 0]], of_b[near[:, 1]]])
    meet = np.empty(len(pairs), np.bool_)
    _collide.find_meeting(len(pairs), a.corners, b.corners, _check.frozen(pairs), meet)
    found = pairs[meet].astype(np.int64)
    return found[np.lexsort(found.T[::-1])]


_Contacts = tuple[Floats, Floats, Floats]


def _at_points(points: Floats, other: Placed, turn: int) -> _Contacts:
    """Contacts at points inside `other`: out of it along the shortest way."""
    found = other.view.closest(points)
    away = found.points - points
    size = float(np.ptp(other.view.bounds, axis=0).max())
    on_surface = found.distances <= _ROUNDING * size
    away[on_surface] = other.normals_of(found.faces[on_surface])
    return points, found.distances, turn * unit(away)


def _at_nodes(body: Placed, other: Placed, nodes: Ints, turn: int = 1) -> _Contacts:
    return _at_points(body.view.vertices[nodes], other, turn)


class Piercings(NamedTuple):
    """Where edges of a body meet faces of another, edge by edge, in their order along each."""

    scale: float  # m: what lines are over
    lines: Floats  # (m, 6), both ends of edges
    edges: Ints  # (n,), rows of lines
    faces: Ints  # (n,), of the other body
    at: Floats  # (n,), in parts of the edge
    slopes: Floats  # (n,), cosine of the angle between edge and normal

    @property
    def points(self) -> Floats:
        """(n, 3), m."""
        points: Floats = self.scale * (self.lines[self.edges, :3] + self.at[:, None] * self.ways)
        return points

    @property
    def ways(self) -> Floats:
        """(n, 3): edges from one end to the other, as lines are."""
        ways: Floats = self.lines[self.edges, 3:] - self.lines[self.edges, :3]
        return ways


def piercings(body: Placed, other: Placed, faces: Ints) -> Piercings:
    """Of the edges of faces of `body` that meet faces of `other`; edges in the plane of a face do not pierce it."""
    ends = np.stack([body.mesh.merged_faces, np.roll(body.mesh.merged_faces, -1, axis=1)], axis=2)
    halves = (3 * faces[:, :1] + np.arange(3)).reshape(-1)
    keys = np.column_stack([np.sort(ends.reshape(-1, 2)[halves], axis=1), np.repeat(faces[:, 1], 3)])
    keys = np.unique(keys[body.has_edge(halves)], axis=0)
    edges, number = np.unique(keys[:, :2], axis=0, return_inverse=True)
    # In units in which no product of three lengths is beyond the numbers.
    scale = 2.0 ** (float(np.frexp(np.abs(other.view.bounds).max())[1]) - 1)
    lines = body.view.vertices[edges].reshape(-1, 6) / scale
    pairs = np.column_stack([number.reshape(-1), keys[:, 2]])
    at, slopes = np.empty(len(pairs)), np.empty(len(pairs))
    corners = _check.frozen(other.corners / scale)
    _collide.find_piercings(len(pairs), _check.frozen(lines), corners, _check.frozen(pairs), at, slopes)
    kept = np.flatnonzero(~np.isnan(at))
    kept = kept[np.lexsort((at[kept], pairs[kept, 0]))]
    return Piercings(scale, lines, pairs[kept, 0], pairs[kept, 1], at[kept], slopes[kept])


def _at_touches(body: Placed, other: Placed, faces: Ints, turn: int = 1) -> _Contacts:
    """Contacts, without depth, at the places where edges of `body` meet faces of `other`; normals as of all these."""
    found = piercings(body, other, faces)
    places, number = np.unique(found.points, axis=0, return_inverse=True)
    towards = np.zeros(places.shape)
    np.add.at(towards, number.reshape(-1), other.normals_of(found.faces))
    one = np.zeros(len(places), np.int64)
    one[number.reshape(-1)] = found.faces
    flat = (towards**2).sum(axis=1) < _FLAT  # faces back to back
    towards[flat] = other.normals_of(one[flat])
    return places, np.zeros(len(places)), turn * unit(towards)


def _at_edges(body: Placed, other: Placed, faces: Ints, turn: int = 1) -> _Contacts:
    """Contacts at the parts of edges of `body` that go in and out of `other` through its faces."""
    found = piercings(body, other, faces)
    scale, at, slopes, way = found.scale, found.at, found.slopes, found.ways
    inner = np.flatnonzero((found.edges[1:] == found.edges[:-1]) & (at[1:] > at[:-1]))
    start, way = found.lines[found.edges[inner], :3], way[inner]
    middles = scale * (start + (0.5 * (at[inner] + at[inner + 1]))[:, None] * way)
    inside = other.view.contains(middles)
    inner, way = inner[inside], way[inside]
    points, depths, normals = _at_points(middles[inside], other, 1)
    # Through two planes with normals n, n', of slopes c < 0 < c' along the edge: a shift s shortens the part inside by
    # s · g, g = n / |c| + n' / |c'|, which is at right angles to the edge, and to that in which the planes meet.
    into, out = np.abs(slopes[inner]), np.abs(slopes[inner + 1])
    length = scale * (at[inner + 1] - at[inner]) * np.linalg.norm(way, axis=1)
    # Only if no other face is nearer to the middle than those two.
    tent = 0.5 * length * np.minimum(into, out)
    crossed = (slopes[inner] < 0) & (slopes[inner + 1] > 0) & (depths >= tent * (1 - 1e-6)) & (tent > 0)
    g = other.normals_of(found.faces[inner])[crossed] / into[crossed, None]
    g += other.normals_of(found.faces[inner + 1])[crossed] / out[crossed, None]
    rate = np.linalg.norm(g, axis=1)
    some = np.flatnonzero(crossed)[rate > 0]
    depths[some], normals[some] = length[some] / rate[rate > 0], unit(g[rate > 0])
    return points, depths, turn * normals
