"""Obstacles of soft worlds: fixed, moving, or a sequence of positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge import _check
from impinge.bodies.motion import Motion, pose_at
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.surface import Skin, skin_of
from impinge.errors import InputError
from impinge.shapes.mesh import Mesh

__all__ = ["SoftObstacle"]


class SoftObstacle:
    """A mesh that moves as given (see `SoftWorld.add_obstacle`)."""

    def __init__(self, mesh: Mesh, motion: Any, thickness: float, dt: float) -> None:
        self.mesh, self._motion, self._dt = mesh, motion, dt
        self._frames: Floats | None = None
        vertices = mesh.vertices
        if not (motion is None or isinstance(motion, Motion) or callable(motion)):
            wanted = f"None, a Motion, a function of time, or positions of shape (frames, {len(vertices)}, 3)"
            self._frames = _check.numbers("motion", motion, wanted).astype(np.float64)
            if self._frames.ndim != 3 or self._frames.shape[1:] != vertices.shape or not len(self._frames):
                raise InputError(f"motion: found shape {self._frames.shape}, expected {wanted}")
            _check.finite("motion", self._frames.reshape(-1, 3))
            vertices = self._frames[0]
        self.skin: Skin = skin_of(vertices, mesh.faces, 0.5 * thickness)

    def at(self, t: float) -> Floats:
        """Positions of its vertices at a time, (n, 3) m."""
        if self._frames is not None:
            when = min(max(t / self._dt, 0.0), len(self._frames) - 1.0)
            # Times of whole steps are sums of dt, and rounded: they mean the frame itself.
            first = round(when) if abs(when - round(when)) < 1e-9 * max(when, 1.0) else int(when)
            share = max(when - first, 0.0) if first + 1 < len(self._frames) else 0.0
            if share < 1e-9 * max(when, 1.0):
                return self._frames[first]
            between: Floats = self._frames[first] + share * (self._frames[first + 1] - self._frames[first])
            return between
        if self._motion is None:
            return self.mesh.vertices
        pose = pose_at(self._motion, t)
        moved: Floats = self.mesh.vertices @ pose.rotation.T + pose.translation
        return moved
