"""Obstacles: triangle meshes, fixed or moved as given, that spheres run into.

What a contact is
-----------------
Triangles that hang together across edges (equal vertices being merged) and lie in one plane (within 1e-9 of the size of
the mesh) form a *patch*, with one plane for all of them. Triangles without area only connect; those that touch no patch
are left out.

1. A sphere has at most one contact with a patch, at the point of the patch that is closest to its centre. Where the
   foot of the centre is in the patch, distance and normal are those of the shared plane: rolling over a triangulated
   floor is rolling over a plane. Elsewhere the closest point is on the border of the patch, and the normal goes from
   there to the centre.
2. Both sides act: a sphere is pushed to the side where its centre is, and along the patch's normal from right on it.
3. Of the patches that a sphere touches, the deepest counts, then the next deepest, and so on (of equals the one with
   the lower number), except those
   a. whose closest point is on the border, and on a triangle of another patch that comes nearer: sliding along that
      triangle the distance shrinks, so nothing is hit there. A sphere beside the edge of a box touches one face only;
   b. whose normal is less than 30° from that of one that counts. So an edge or a vertex, at which several patches have
      the same closest point, counts once, and the inside of a triangulated drum or cone acts as a smooth surface: the
      energy of the deepest contact, ½ k max(δ)², is continuous across its edges.
   The floor and the wall of a corner are two contacts.
4. Each obstacle is judged by itself: two that overlap both push.

A sphere in a hole of a thin flat plate thus touches the rim at one point at a time, as the rim is of one patch.

What a contact remembers belongs to its patch. A contact on a patch that was not touched before goes on with the memory
of one that ended on the same obstacle with a normal less than 30° away: so springs survive rolling over edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from impinge import _check
from impinge.bodies import _obstacles, _obstacles_build, _obstacles_near
from impinge.bodies._obstacles import Near, Surfaces
from impinge.bodies.motion import Motion, Pose, PoseFunction, pose_at
from impinge.errors import InputError
from impinge.inside import _closest, _closest_build
from impinge.shapes.mesh import Mesh

__all__ = ["Near", "Obstacle", "Surfaces", "combine", "fastest_point", "moved", "near", "poses_at", "poses_over"]

_FLATNESS = 1e-9  # of the size of a mesh: vertices nearer to a plane are in it
_ROUNDING = 2.0**-40  # of the largest coordinate: points nearer to a triangle are in it
_THINNEST = 2.0**-42  # of the largest coordinate: triangles less high have no area
_LARGEST, _SMALLEST = 1e60, 1e-60  # m: fourth powers of lengths stay in range


class Obstacle:
    """A triangle mesh that spheres run into: its flat patches, and a tree to find the near ones.

    Parameters
    ----------
    mesh : Mesh, or anything `Mesh.of` takes
        Open or closed, with any defect.
    motion : None, Motion or function
        None: fixed. A function gets the time [s] and gives translation (3,) [m] and rotation (3, 3) of the mesh;
        it is asked about times from 0 on.

    Attributes
    ----------
    patches : int
        Their number.
    patch_of : (m,) int32
        Patch of every face of the mesh, −1 for faces without area that are left out.
    planes : (patches, 4) float64
        Unit normal n and offset n · x of every patch.
    """

    def __init__(self, mesh: Any, motion: Motion | PoseFunction | None = None) -> None:
        self.mesh = Mesh.of(mesh)
        if not (motion is None or isinstance(motion, Motion) or callable(motion)):
            raise InputError(f"motion: found {motion!r}, expected None, a Motion or a function of time")
        self.motion = motion
        low, high = self.mesh.bounds
        size, greatest = math.hypot(*(high - low)), float(np.abs(self.mesh.bounds).max())
        if not (size >= _SMALLEST and greatest <= _LARGEST):
            raise InputError(
                f"mesh: found a size of {size:g} m and coordinates up to {greatest:g} m, expected {_SMALLEST:g} m at "
                f"least and {_LARGEST:g} m at most"
            )
        slack = _ROUNDING * greatest
        self._tolerances = np.array([slack, max(_FLATNESS * size, slack), greatest])
        self._find_patches(_THINNEST * greatest)
        self._make_tree()

    @property
    def moves(self) -> bool:
        """Whether it ever may."""
        return self.motion is not None

    def pose_at(self, t: float, step: float = 1e-6) -> Pose:
        """Where the obstacle is at time t [s], and its velocities; see `motion.pose_at`."""
        return pose_at(self.motion, t, step)

    def pivot_at(self, t: float) -> NDArray[np.float64]:
        """(3,), m: the centre of rotation at time t, or the origin of the frame where there is no rotation."""
        if isinstance(self.motion, Motion) and self.motion.rotation is not None:
            return np.array(self.motion.rotation[1]) + np.array(self.motion.velocity) * t
        return self.pose_at(t).translation

    def _find_patches(self, thin: float) -> None:
        vertices, faces = self.mesh.vertices, self.mesh.merged_faces
        mate, m = self.mesh._link()[0], len(faces)
        areas, kinds = np.empty(m), np.empty(m, np.uint8)
        _obstacles_build.sort_out_faces(vertices, faces, thin, areas, kinds)
        order = np.argsort(-areas, kind="stable")
        patch, flipped, borders = np.empty(m, np.int32), np.zeros(m, np.bool_), np.empty(m, np.uint8)
        flat = self._tolerances[_obstacles.FLAT]
        self.patches = _obstacles_build.grow_patches(vertices, faces, mate, order, areas, kinds, flat, patch, flipped)
        if self.patches == 0:
            raise InputError("mesh: found no face with an area, expected at least one")
        _obstacles_build.number_by_first_face(patch, self.patches)
        self.planes = np.empty((self.patches, 4))
        _obstacles_build.fit_planes(vertices, faces, patch, kinds, flipped, self.planes)
        _obstacles_build.mark_borders(faces, mate, patch, kinds, flipped, borders)
        self.patch_of = patch
        by_patch = np.argsort(patch, kind="stable")
        by_patch = by_patch[np.count_nonzero(patch < 0) :]
        corners, turned, flags = faces[by_patch], flipped[by_patch], borders[by_patch]
        corners[turned] = corners[turned][:, [0, 2, 1]]
        # Turned round, a triangle has its first edge where the last was.
        flags[turned] = flags[turned] & 0b1010 | (flags[turned] & 1) << 2 | flags[turned] >> 2 & 1
        self._corners = np.ascontiguousarray(vertices[corners].reshape(-1, 9))
        self._borders, self._patches = flags, patch[by_patch]

    def _make_tree(self) -> None:
        corners, width = self._corners, _closest.WIDTH
        m = len(corners)
        mid = np.ascontiguousarray((corners[:, 0:3] + corners[:, 3:6] + corners[:, 6:9]).T)
        self._order = np.arange(m, dtype=np.int32)
        ranges = np.empty((m // width + 2, width, 2), np.int32)
        children = np.empty((m // width + 2, width), np.int32)
        nodes, _ = _closest_build.split_faces(mid, self._order, ranges, children)
        self._ranges, self._children = ranges[:nodes].copy(), children[:nodes].copy()
        self._boxes = np.empty((nodes, width, 6))
        _obstacles_build.bound_children(nodes, corners, self._order, self._ranges, self._boxes)


def combine(
    obstacles: Sequence[Obstacle],
    materials: Iterable[int],
    bodies: Sequence[Obstacle] = (),
    shapes: Sequence[int] | NDArray[np.int64] = (),
    masses: Sequence[float] | NDArray[np.float64] = (),
) -> Surfaces:
    """All obstacles in flat arrays, and after them rigid bodies; patches are numbered through, in that order.

    Parameters
    ----------
    materials : ints
        Number of the material of every obstacle and body, -1 for that of the sphere that touches it.
    bodies, shapes, masses
        Surfaces of rigid bodies; which of them, and what mass, every body has.
    """
    forms = [*obstacles, *bodies]
    patches = np.cumsum([0] + [o.patches for o in forms], dtype=np.int32)
    triangles = np.cumsum([0] + [len(o._corners) for o in forms], dtype=np.int32)
    nodes = np.cumsum([0] + [len(o._children) for o in forms], dtype=np.int32)
    width, fixed = _closest.WIDTH, len(obstacles)
    kinds = np.array([_check.integer("materials", kind, -1) for kind in materials], np.int32)
    boxes = [
        np.concatenate([o._corners.reshape(-1, 3).min(axis=0), o._corners.reshape(-1, 3).max(axis=0)]) for o in forms
    ]
    form_of = np.concatenate([np.arange(fixed), fixed + np.asarray(shapes, np.int64)]).astype(np.int64)

    def joined(parts: list[NDArray[Any]], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        return np.concatenate([np.empty((0, *shape), dtype), *parts])

    return Surfaces(
        joined([o._corners for o in forms], (9,), np.float64),
        joined([o._borders for o in forms], (), np.uint8),
        joined([o._patches + first for o, first in zip(forms, patches, strict=False)], (), np.int32),
        joined([o.planes for o in forms], (4,), np.float64),
        kinds,
        np.concatenate([np.full(fixed, np.inf), np.asarray(masses, np.float64)]),
        fixed,
        np.array([o._tolerances for o in forms]).reshape(-1, 3)[form_of],
        np.array(boxes).reshape(-1, 6)[form_of],
        nodes[:-1][form_of],
        joined([o._boxes for o in forms], (width, 6), np.float64),
        joined(
            [
                np.where(o._children < 0, o._children, o._children + first)
                for o, first in zip(forms, nodes, strict=False)
            ],
            (width,),
            np.int32,
        ),
        joined([o._ranges + first for o, first in zip(forms, triangles, strict=False)], (width, 2), np.int32),
        joined([o._order + first for o, first in zip(forms, triangles, strict=False)], (), np.int32),
    )


def poses_at(obstacles: Sequence[Obstacle], t: float, step: float = 1e-6) -> NDArray[np.float64]:
    """(obstacles, POSE) float64: where all are at time t [s]."""
    poses: NDArray[np.float64] = poses_over(obstacles, np.array([t]), step)[0]
    return poses


def poses_over(obstacles: Sequence[Obstacle], times: NDArray[np.float64], step: float = 1e-6) -> NDArray[np.float64]:
    """(times, obstacles, POSE) float64: where all are at some times [s], as kernels read it."""
    poses = np.empty((len(times), len(obstacles), _obstacles.POSE))
    for column, obstacle in enumerate(obstacles):
        if isinstance(obstacle.motion, Motion):
            pose = obstacle.motion.poses_at(times)
        else:
            alone = [obstacle.pose_at(t, step) for t in (times if obstacle.moves else times[:1]).tolist()]
            pose = Pose(*(np.stack(parts) for parts in zip(*alone, strict=True)))
        poses[:, column, :9] = pose.rotation.reshape(-1, 9)
        poses[:, column, 9:] = np.concatenate([pose.translation, pose.velocity, pose.spin], axis=1)
    return poses


def near(surfaces: Surfaces, x: NDArray[np.float64], skin: float, poses: NDArray[np.float64]) -> Near:
    """Patches at most `skin` [m] from the surface of every sphere, with those of their triangles that matter.

    The lists are good until a sphere has moved by `skin` relative to an obstacle (see `moved`).

    Parameters
    ----------
    x : (n, 4) float64, m
        Centres and radii.
    poses : (obstacles, POSE) float64
    """
    n, s = len(x), surfaces
    blocks = -(-n // _obstacles_near.BLOCK)
    asked_starts, asked = _bodies_near(s, x, skin, poses)
    what = (
        s.fixed, asked_starts, asked, s.corners, s.borders, s.patches, s.planes, s.tolerances, s.roots, s.boxes,
        s.children, s.ranges, s.order,
    )  # fmt: skip
    starts, entry_starts = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    if len(s.roots):
        _obstacles_near.count_triangles(blocks, x, skin, poses, *what, starts)
    np.cumsum(starts, out=starts)
    owned, triangles = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int32)
    if len(triangles):
        _obstacles_near.fill_triangles(blocks, x, skin, poses, *what, starts, owned, entry_starts)
    most = int(entry_starts.max())
    np.cumsum(entry_starts, out=entry_starts)
    entries = int(entry_starts[-1])
    patches, owners, triangle_starts = np.empty(entries, np.int64), np.empty(entries, np.int32), np.empty(
        entries + 1, np.int64
    )  # fmt: skip
    triangle_starts[-1] = len(triangles)
    if len(triangles):
        _obstacles_near.fill_entries(
            blocks, starts, owned, s.patches, entry_starts, patches, owners, triangle_starts, triangles
        )
    return Near(entry_starts, patches, owners, triangle_starts, triangles, most)


def _bodies_near(
    surfaces: Surfaces, x: NDArray[np.float64], skin: float, poses: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rigid bodies whose balls come near every sphere: where those of each begin, and their numbers, ascending."""
    fixed, n = surfaces.fixed, len(x)
    if len(surfaces.roots) == fixed or n == 0:
        return np.zeros(n + 1, np.int64), np.empty(0, np.int64)
    bounds = np.abs(surfaces.bounds[fixed:])
    reach = np.linalg.norm(np.maximum(bounds[:, :3], bounds[:, 3:]), axis=1) + float(x[:, 3].max()) + skin
    places = poses[fixed:, _obstacles.SHIFT : _obstacles.SHIFT + 3]
    found = cKDTree(x[:, :3]).query_ball_point(places, reach * (1 + 1e-9) + 1e-9 * np.abs(places).max(axis=1))
    spheres = np.concatenate([np.empty(0, np.int64), *(np.array(rows, np.int64) for rows in found)])
    owners = np.repeat(np.arange(fixed, len(surfaces.roots)), [len(rows) for rows in found])
    order = np.lexsort((owners, spheres))
    starts = np.concatenate([[0], np.cumsum(np.bincount(spheres, minlength=n))]).astype(np.int64)
    return starts, owners[order].astype(np.int64)


def moved(surfaces: Surfaces, before: NDArray[np.float64], after: NDArray[np.float64], reach: float) -> float:
    """How far, at most, any point within `reach` [m] of an obstacle goes if it follows it from one pose to another, m.

    A sphere that has moved by d in space has moved by at most d + this relative to an obstacle; reach : radius + skin
    of the largest sphere. The displacement is a convex function of the place, so that corners of a box bound it.
    """
    change = (after - before)[:, : _obstacles.SPEED]
    moving = change.any(axis=1)
    ends = surfaces.bounds[moving].reshape(-1, 2, 3) + np.array([[-reach], [reach]])
    signs = np.indices((2, 2, 2)).reshape(3, -1).T
    corners = ends[:, signs, np.arange(3)]  # (o, 8, 3)
    turns = change[moving, :9].reshape(-1, 3, 3)
    ways = corners @ turns.swapaxes(1, 2) + change[moving, None, 9:]
    return float(np.sqrt((ways**2).sum(axis=2)).max(initial=0.0))


def fastest_point(surfaces: Surfaces, poses: NDArray[np.float64], reach: float) -> float:
    """Largest speed in these poses of any point so near to an obstacle, as if that was rigid with it."""
    bounds, frames = np.abs(surfaces.bounds[: surfaces.fixed]), poses[..., : surfaces.fixed, :]
    far = np.linalg.norm(np.maximum(bounds[:, :3], bounds[:, 3:]), axis=1)
    speeds = np.linalg.norm(frames[..., _obstacles.SPEED : _obstacles.SPEED + 3], axis=-1)
    spins = np.linalg.norm(frames[..., _obstacles.SPIN : _obstacles.SPIN + 3], axis=-1)
    return float((speeds + spins * (far + reach)).max())
