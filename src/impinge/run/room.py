"""What is in the way of bodies that sources let appear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _planes
from impinge.bodies._obstacles import SHIFT
from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid.apart import Crowd, Form

__all__ = ["Room"]

Floats = NDArray[np.float64]


class Room:
    """What is in a world now, seen from the box of a source; shapes are prepared once.

    Spheres, rigid bodies and obstacles, which may be around the box or have bodies on both sides, and planes.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._shapes: list[Form] = []
        self._obstacles: list[Form] = []

    def form_of(self, shape: int) -> Form:
        """Of a shape of rigid bodies."""
        shapes = self._dynamics.rigid.shapes
        self._shapes += [Form(some.mesh) for some in shapes[len(self._shapes) :]]
        return self._shapes[shape]

    def crowd(self, low: Floats, high: Floats) -> Crowd:
        """Rigid bodies and obstacles that may be in a box."""
        dynamics, crowd = self._dynamics, Crowd(0.0)
        rigid = dynamics.rigid
        self._obstacles += [Form.of_surface(some.mesh) for some in dynamics.obstacles[len(self._obstacles) :]]
        forms = [self.form_of(shape) for shape in rigid.forms.tolist()] + self._obstacles
        frames, (places, turns) = dynamics.obstacle_frames(), rigid.mesh_poses()
        turns = np.concatenate([turns, frames[:, :9].reshape(-1, 3, 3)])
        places = np.concatenate([places, frames[:, SHIFT : SHIFT + 3]])
        middles = np.array([form.middle for form in forms]).reshape(-1, 3)
        middles = (turns @ middles[:, :, None])[:, :, 0] + places
        away = np.maximum(np.maximum(low - middles, middles - high), 0.0)
        reach = np.array([form.radius for form in forms])
        for row in np.flatnonzero((away**2).sum(axis=1) <= reach**2).tolist():
            crowd.add(forms[row], turns[row], places[row], is_surface=row >= len(rigid))
        return crowd

    def spheres(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Centres and radii of spheres that may be in a box."""
        rows = self._dynamics.particles.x
        reach = rows[:, 3:]
        rows = rows[((rows[:, :3] + reach >= low) & (rows[:, :3] - reach <= high)).all(axis=1)]
        return rows[:, :3].copy(), rows[:, 3].copy()

    def in_front(self, points: Floats, distance: float = 0.0) -> NDArray[np.bool_]:
        """Which points are farther than that in front of all planes."""
        planes = self._dynamics.planes
        normals = planes[:, _planes.NORMAL : _planes.NORMAL + 3]
        heights = (planes[:, :3] * normals).sum(axis=1)
        front: NDArray[np.bool_] = (points @ normals[:, : points.shape[1]].T > heights + distance).all(axis=1)
        return front
