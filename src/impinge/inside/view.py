"""A solid that has moved: prepared once, asked where it is now."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check, _jit
from impinge.errors import InputError
from impinge.facts import html_table
from impinge.inside import _view
from impinge.shapes.mesh import Mesh
from impinge.shapes.rotations import checked_rotation

if TYPE_CHECKING:
    from impinge.inside.solid import Closest, Solid

__all__ = ["SolidView"]

_NO_SHIFT = _check.frozen(np.zeros(3))


class SolidView:
    """A `Solid` at x_world = R x + t, made by `Solid.at`: nothing is built again, queries move their points.

    Points are taken into the solid's own frame, Rᵀ (p − t), in doubles, and asked for there. That shifts them by some
    1e-15 of |p − t|, besides what p, as a double, has lost of the place it was meant to be at. So a point meant to be
    on the moved surface is found on it (class 0) only where nothing is rounded: the turn maps axes to axes, and
    p − t is a double. A point gets the same answer whatever points come with it.

    Parameters
    ----------
    solid : Solid
    rotation, translation
        As for `Solid.at`.
    """

    def __init__(self, solid: Solid, rotation: Any = None, translation: ArrayLike | None = None) -> None:
        self._solid = solid
        turn = np.eye(3) if rotation is None else checked_rotation(rotation)
        shift = np.zeros(3) if translation is None else _check.vector("translation", translation)
        self._rotation = _check.frozen(turn)
        self._inverse = _check.frozen(np.ascontiguousarray(turn.T))
        self._translation = _check.frozen(shift)

    @property
    def solid(self) -> Solid:
        """The solid in its own frame."""
        return self._solid

    @property
    def rotation(self) -> NDArray[np.float64]:
        """R, (3, 3) float64, read-only."""
        return self._rotation

    @property
    def translation(self) -> NDArray[np.float64]:
        """t, (3,) float64, m, read-only: where the origin of the solid's frame is."""
        return self._translation

    def at(self, rotation: Any = None, translation: ArrayLike | None = None) -> SolidView:
        """The solid moved on from here, to rotation · (R x + t) + translation; arguments as for `Solid.at`."""
        step = SolidView(self._solid, rotation, translation)
        shift = step._to_world("translation", self._translation[None])[0]
        # A product that rounding has taken off the rotations comes back to them: long chains do not drift.
        return SolidView(self._solid, step.rotation @ self._rotation, shift)

    def to_body(self, points: ArrayLike) -> NDArray[np.float64]:
        """Rᵀ (p − t): places in space, (n, 3) m, in the solid's own frame."""
        return self._move("points", points, self._translation, self._rotation, _NO_SHIFT)

    def to_world(self, points: ArrayLike) -> NDArray[np.float64]:
        """R x + t: points of the solid's own frame, (n, 3) m, as places in space."""
        return self._to_world("points", points)

    def _to_world(self, name: str, points: ArrayLike) -> NDArray[np.float64]:
        return self._move(name, points, _NO_SHIFT, self._inverse, self._translation)

    def _move(
        self,
        name: str,
        points: ArrayLike,
        before: NDArray[np.float64],
        matrix: NDArray[np.float64],
        after: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """(p − before) · matrix + after; `name` is what errors call the points."""
        checked = _check.vectors(name, points, must_be_finite=False)
        moved = np.empty(checked.shape)
        # Warnings come only with the compiler off; what they are about is found below.
        with _jit.threads(self._solid.threads), np.errstate(over="ignore", invalid="ignore"):
            _view.move_points(len(checked), checked, before, matrix, after, moved)
        try:
            _check.finite(name, moved)
        except InputError:
            _check.finite(name, checked)
            row = int(np.flatnonzero(~np.isfinite(moved).all(axis=1))[0])
            raise InputError(
                f"{name}: row {row} is {tuple(checked[row].tolist())}, which is beyond the range of numbers once it "
                f"is moved by {tuple(self._translation.tolist())}; expected places nearer to the origin"
            ) from None
        return moved

    def classify(self, points: ArrayLike) -> NDArray[np.int8]:
        """Which points are outside (-1), on the surface (0) or inside (+1) the moved solid: (n,) int8."""
        return self._solid.classify(self.to_body(points))

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points are inside or on the surface: (n,) bool, the same as ``classify(points) >= 0``."""
        return self._solid.contains(self.to_body(points))

    def winding(self, points: ArrayLike) -> NDArray[np.float64]:
        """How often the moved surface winds around each point: (n,) float64, as `Solid.winding`."""
        return self._solid.winding(self.to_body(points))

    def closest(self, points: ArrayLike) -> Closest:
        """Nearest point of the moved surface to each point, in space: (points (n, 3), faces (n,), distances (n,))."""
        found = self._solid.closest(self.to_body(points))
        return found._replace(points=self.to_world(found.points))

    def distance(self, points: ArrayLike) -> NDArray[np.float64]:
        """Distance to the moved surface, negative inside and 0 on it: (n,) float64, m."""
        return self._solid.distance(self.to_body(points))

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n, 3) float64, m: the moved vertices of the mesh; a new array at each call."""
        return self._to_world("vertices", self._solid.mesh.vertices)

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) float64, m, read-only: lowest and highest corner of the box around all moved faces."""
        mesh = self._solid.mesh
        corners = self._to_world("vertices", mesh.vertices[used_vertices(mesh)])
        return _check.frozen(np.stack([corners.min(axis=0), corners.max(axis=0)]))

    def _place(self) -> str:
        # |R − 1|² = 8 sin²(angle / 2)
        half = min(float(np.linalg.norm(self._rotation - np.eye(3))) / math.sqrt(8), 1.0)
        x, y, z = self._translation
        return f"turned by {math.degrees(2 * math.asin(half)):.4g}°, moved by ({x:g}, {y:g}, {z:g}) m"

    def describe(self) -> str:
        """What `Solid.describe` says, and where the solid is."""
        return f"{self._solid.describe()}\nplace: {self._place()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return SolidView, (self._solid, self._rotation, self._translation)  # arrays read-only there, too

    def __repr__(self) -> str:
        mesh, method = self._solid.mesh, self._solid.method
        return f"<impinge.SolidView: {len(mesh.faces):,} triangles, method {method!r}, {self._place()}>"

    def _repr_html_(self) -> str:
        mesh, method = self._solid.mesh, self._solid.method
        return html_table("SolidView", [("triangles", len(mesh.faces)), ("method", method), ("place", self._place())])


def used_vertices(mesh: Mesh) -> NDArray[np.int64]:
    """Rows of ``mesh.vertices`` that faces use, sorted."""
    is_used = np.zeros(len(mesh.vertices), np.bool_)
    is_used[mesh.faces] = True
    return np.flatnonzero(is_used)
