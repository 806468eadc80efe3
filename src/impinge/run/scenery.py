"""What pictures and reports show of a scene besides what moves in it: its box, its planes, colours of its obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.output.figure import read_corners
from impinge.output.framing import near_edges
from impinge.output.planes import planes_seen
from impinge.shapes.mesh import Mesh

__all__ = ["Scenery"]

Floats = NDArray[np.float64]


class Scenery:
    """Box, planes and colours of a scene.

    Parameters
    ----------
    model : Particles or Soft
        What a scene says.

    Attributes
    ----------
    box : (2, d) float64, m, or None
        Corners of its box.
    periodic : (d,) bool
        Along which axes it repeats.
    planes : list of models.Plane
    colours : list of str or None
        Of the obstacles.
    """

    def __init__(self, model: Any) -> None:
        self.dimension = 2 if model.is_flat else 3
        self.box = read_corners(model.drawn_box, self.dimension)
        self.periodic = np.broadcast_to(getattr(model.world, "periodic", False), self.dimension)
        self.planes = list(getattr(model, "planes", []))
        self.colours: list[str | None] = [obstacle.colour for obstacle in model.obstacles]

    def edges(self, bounds: Floats | None) -> Floats:
        """(k, 2, d), m: what is drawn of the edges of the box around what is shown, (2, d)."""
        if self.box is None:
            return np.empty((0, 2, self.dimension))
        return near_edges(self.box, self.box if bounds is None else bounds, self.periodic)

    def walls(
        self, bounds: Floats | None, view: tuple[float, float], time: float, known: Sequence[ArrayLike] = ()
    ) -> list[Mesh]:
        """What is seen of the planes at a time; of those under load only if points of all planes are known."""
        if self.dimension == 2:
            return []
        points = [plane.point_at(time) for plane in self.planes] if not len(known) else known
        placed = [(x, plane.normal) for x, plane in zip(points, self.planes, strict=True) if x is not None]
        return planes_seen(placed, bounds, view)
