"""Whether a body may be put somewhere among others: cheap tests first, then the exact decision."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from impinge.errors import InputError
from impinge.inside.collide import Placed, meeting_faces, overlap
from impinge.inside.solid import Solid
from impinge.inside.view import SolidView, used_vertices
from impinge.shapes.mesh import Mesh

__all__ = ["MILLIMETRES", "Crowd", "Form", "Inside"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Inside = Callable[[Floats], ArrayLike]
MILLIMETRES = "if it is in millimetres, scale it by 1e-3"  # of a shape that is too large
_AT_ONCE = 64  # poses
_PAIRS = 200_000  # of edges that are looked at together
_PROBES, _BALLS = 4096, 24  # points among which the centres of balls in a body are chosen, and how many of them


class Form:
    """A shape and the ball around it.

    Attributes
    ----------
    corners : (n, 3) float64, m
        Vertices that faces use.
    middle, radius : (3,) float64, float, m
        Of the ball.
    """

    def __init__(self, mesh: Mesh, solid: Solid | None = None) -> None:
        # Decisions about closed meshes and surfaces need no method, so one that is prepared fast will do.
        method = "ray" if mesh.is_closed else "direct"
        self.mesh, self.solid = mesh, Solid(mesh, method) if solid is None else solid
        self.corners = mesh.vertices[used_vertices(mesh)]
        self.middle: Floats = 0.5 * (self.corners.min(axis=0) + self.corners.max(axis=0))
        self.radius = float(np.sqrt(((self.corners - self.middle) ** 2).sum(axis=1).max()))
        self.volume = mesh.volume

    @classmethod
    def of_surface(cls, mesh: Mesh) -> Form:
        """Of a mesh of which it does not matter which side is the inner one."""
        return cls(mesh.flipped() if mesh.is_closed and mesh.volume < 0 else mesh)

    @cached_property
    def edges(self) -> Ints:
        """(m, 2): rows of the vertices of the mesh, each edge once."""
        faces = self.mesh.merged_faces.astype(np.int64)
        ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
        return np.unique(np.sort(ends, axis=1), axis=0)

    @cached_property
    def balls(self) -> Floats:
        """(n, 4), m: centres and radii of balls within the body: where they overlap, bodies do."""
        low, high = self.corners.min(axis=0), self.corners.max(axis=0)
        points = low + np.random.Generator(np.random.PCG64(0)).random((_PROBES, 3)) * (high - low)
        depths = -(1 - 1e-9) * self.solid.distance(points)
        chosen: list[Floats] = []
        while len(chosen) < _BALLS and (depths > 0).any():
            k = int(np.argmax(depths))
            chosen.append(np.append(points[k], depths[k]))
            depths[((points - points[k]) ** 2).sum(axis=1) <= depths[k] ** 2] = 0.0
        return np.array(chosen).reshape(-1, 4)


class _Member(Placed):
    """A body in its place; or a surface, which has no inside."""

    def __init__(self, form: Form, turn: Floats, place: Floats, is_surface: bool) -> None:
        super().__init__(SolidView(form.solid, turn, place))
        self.form, self.is_surface = form, is_surface

    @cached_property
    def vertices(self) -> Floats:
        return self.view.vertices

    @cached_property
    def balls(self) -> Floats:
        balls = np.empty((0, 4)) if self.is_surface else self.form.balls.copy()
        balls[:, :3] = balls[:, :3] @ self.view.rotation.T + self.view.translation
        return balls


class Crowd:
    """Bodies, surfaces and spheres; gap : by more than which a new body must be apart from them, m."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self._members: list[_Member] = []
        self._balls = np.empty((16, 4))  # of the members; the first ones are used
        self._centres, self._radii = np.empty((0, 3)), np.empty(0)

    def add(self, form: Form, turn: Floats, place: Floats, is_surface: bool = False) -> None:
        """One more body; or a surface, `Form.of_surface`, which bodies may be on both sides of."""
        self._join(_Member(form, turn, place, is_surface))

    def add_spheres(self, centres: Floats, radii: Floats) -> None:
        self._centres = np.concatenate([self._centres, centres])
        self._radii = np.concatenate([self._radii, radii])

    def _join(self, member: _Member) -> None:
        count, form = len(self._members), member.form
        if count == len(self._balls):
            self._balls = np.concatenate([self._balls, np.empty_like(self._balls)])
        self._balls[count, :3] = member.view.rotation @ form.middle + member.view.translation
        self._balls[count, 3] = form.radius
        self._members.append(member)

    def count_near(self, middles: Floats, radius: float) -> Ints:
        """How many members and spheres may touch balls of a radius; middles : (k, 3)."""
        return self._near(middles, radius).sum(axis=1) + self._near_spheres(middles, radius).sum(axis=1)

    def _near(self, middles: Floats, radius: float) -> NDArray[np.bool_]:
        return _close(middles, self._balls[: len(self._members)], radius + self.gap)

    def _near_spheres(self, middles: Floats, radius: float) -> NDArray[np.bool_]:
        return _close(middles, np.column_stack([self._centres, self._radii]), radius + self.gap)

    def take(self, form: Form, turn: Floats, place: Floats) -> bool:
        """Add a body if it has room there; whether it had."""
        body = _Member(form, turn, place, is_surface=False)
        middle = (turn @ form.middle + place)[None]
        spheres = self._near_spheres(middle, form.radius)[0]
        if spheres.any() and (body.view.distance(self._centres[spheres]) <= self._radii[spheres] + self.gap).any():
            return False
        near = [self._members[k] for k in np.flatnonzero(self._near(middle, form.radius)[0])]
        balls = np.concatenate([np.empty((0, 4)), *(other.balls for other in near)])
        if near and _within(body.balls, balls, self.gap):
            return False
        if any(self._touch(body, other) for other in near):
            return False
        self._join(body)
        return True

    def take_somewhere(
        self, form: Form, low: Floats, high: Floats, rng: np.random.Generator, tries: int,
        turn: Floats | None = None, inside: Inside | None = None,
    ) -> tuple[Floats, Floats] | None:  # fmt: skip
        """Add a body wholly within a box, at a random place and turn, or the turn that is given; None if none is free.

        inside : of points, which of them are where all vertices of the body must be.
        """
        for _ in range(-(-tries // _AT_ONCE)):
            quaternions, shares = rng.normal(size=(_AT_ONCE, 4)), rng.random((_AT_ONCE, 3))
            turns = Rotation.from_quat(quaternions).as_matrix()
            if turn is not None:
                turns[:] = turn
            moved = form.corners @ turns.swapaxes(1, 2)
            least, most = low - moved.min(axis=1), high - moved.max(axis=1)
            fits = (least <= most).all(axis=1)
            places = least + shares * np.maximum(most - least, 0.0)
            fits &= _allowed(inside, moved + places[:, None])
            near = self.count_near(turns @ form.middle + places, form.radius)
            for k in np.argsort(near, kind="stable"):  # those that meet fewest others are tried first
                if fits[k] and self.take(form, turns[k], places[k]):
                    return turns[k].copy(), places[k].copy()
        return None

    def has_room(self, centre: Floats, radius: float) -> bool:
        """Whether a sphere is apart from all bodies and surfaces."""
        for k in np.flatnonzero(self._near(centre[None], radius)[0]):
            member = self._members[k]
            low, high = member.view.bounds
            if (centre + radius < low).any() or (centre - radius > high).any():
                continue
            surface = member.is_surface
            found = member.view.closest(centre[None]).distances if surface else member.view.distance(centre[None])
            if found[0] <= radius + self.gap:
                return False
        return True

    def _touch(self, body: _Member, other: _Member) -> bool:
        one, two = body.view.bounds, other.view.bounds
        if (one[0] > two[1] + self.gap).any() or (two[0] > one[1] + self.gap).any():
            return False
        if other.is_surface:
            return len(meeting_faces(body, other)) > 0 or body.holds(other.shells) or self._too_near(body, other)
        return overlap(body, other) or self._too_near(body, other)

    def _too_near(self, one: _Member, two: _Member) -> bool:
        """Whether surfaces that do not meet are at most the gap apart: at vertices, or where edges cross."""
        if self.gap == 0:
            return False
        for a, b in ((one, two), (two, one)):
            low, high = b.view.bounds
            points = a.vertices[used_vertices(a.mesh)]
            points = points[((points >= low - self.gap) & (points <= high + self.gap)).all(axis=1)]
            if len(points) and (np.abs(b.view.distance(points)) <= self.gap).any():
                return True
        lines_a, lines_b = (self._lines(a, b.view.bounds) for a, b in ((one, two), (two, one)))
        step = max(_PAIRS // max(len(lines_b), 1), 1)
        return any(self._cross(lines_a[k : k + step], lines_b) for k in range(0, len(lines_a), step))

    def _lines(self, member: _Member, bounds: Floats) -> Floats:
        """(k, 2, 3): both ends of the edges that are near a box."""
        lines = member.vertices[member.form.edges]
        near = (lines.min(axis=1) <= bounds[1] + self.gap) & (lines.max(axis=1) >= bounds[0] - self.gap)
        return lines[near.all(axis=1)]

    def _cross(self, lines_a: Floats, lines_b: Floats) -> bool:
        low_a, high_a = lines_a.min(axis=1) - self.gap, lines_a.max(axis=1) + self.gap
        low_b, high_b = lines_b.min(axis=1), lines_b.max(axis=1)
        near = (low_a[:, None] <= high_b) & (high_a[:, None] >= low_b)
        i, j = np.nonzero(near.all(axis=2))
        return bool((_distances_sq(lines_a[i], lines_b[j]) <= self.gap**2).any())


def _allowed(inside: Inside | None, corners: Floats) -> NDArray[np.bool_]:
    """Which poses have all their vertices, (k, n, 3), where they may be."""
    if inside is None:
        return np.ones(len(corners), np.bool_)
    answer = np.asarray(inside(corners.reshape(-1, 3)))
    if answer.shape != (corners.shape[0] * corners.shape[1],) or answer.dtype != np.bool_:
        found = f"{answer.dtype} of shape {answer.shape}"
        raise InputError(f"inside: found {found} for {corners.size // 3} points, expected as many booleans")
    allowed: NDArray[np.bool_] = np.all(answer.reshape(corners.shape[:2]), axis=1)
    return allowed


def _close(middles: Floats, balls: Floats, reach: float) -> NDArray[np.bool_]:
    """(k, n): which balls, rows of centre and radius, are within reach of points."""
    distance_sq = ((middles[:, None] - balls[:, :3]) ** 2).sum(axis=2)
    near: NDArray[np.bool_] = distance_sq <= (balls[:, 3] + reach) ** 2
    return near


def _within(balls: Floats, others: Floats, gap: float) -> bool:
    """Whether any two balls of both are at most the gap apart."""
    distance_sq = ((balls[:, None, :3] - others[:, :3]) ** 2).sum(axis=2)
    return bool((distance_sq <= (balls[:, None, 3] + others[:, 3] + gap) ** 2).any())


def _distances_sq(lines_a: Floats, lines_b: Floats) -> Floats:
    """(n,) m²: between the nearest points of segments, (n, 2, 3) each; where they are parallel, at most that of one.

    Nearest points that are ends of a segment are found by the distances of vertices, too, so only inner ones matter.
    """
    u, v, w = lines_a[:, 1] - lines_a[:, 0], lines_b[:, 1] - lines_b[:, 0], lines_a[:, 0] - lines_b[:, 0]
    uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
    uw, vw = (u * w).sum(axis=1), (v * w).sum(axis=1)
    size = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uv * vw - vv * uw) / size, (uu * vw - uv * uw) / size
    s, t = (np.clip(np.where(size > 0, x, 0.0), 0.0, 1.0) for x in (s, t))
    apart = w + s[:, None] * u - t[:, None] * v
    distance_sq: Floats = (apart**2).sum(axis=1)
    return distance_sq
