"""What pictures, movies and reports show: obstacles, and where most bodies are; boxes and planes that are near that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.output.camera import box_corners, box_edges
from impinge.shapes.mesh import Mesh

__all__ = ["NEAR", "Framing", "corners_of", "near_edges"]

Floats = NDArray[np.float64]
NEAR = 0.5  # of the size of what is shown: how far from it planes, and sides of a box, may be
_BEYOND = 0.05  # part of the bodies that may be beyond either side
_MARGIN = 0.4  # of where the others are: those that are no farther are shown as well


class Framing:
    """Finds what a picture shows of frames that are given one after the other, along some axes.

    That is all places, and at each time all bodies but those that are far from most.

    Parameters
    ----------
    axes : (d, d) float64
        Directions as rows, of length 1.
    """

    def __init__(self, axes: Floats) -> None:
        self.axes = axes
        self._low, self._high = np.full(len(axes), np.inf), np.full(len(axes), -np.inf)

    def add(
        self, spheres: Floats, bodies: tuple[Floats, NDArray[np.int64]] | None = None, places: Iterable[Floats] = ()
    ) -> None:
        """A frame: spheres (n, d + 1), m, of bodies corners and which is the first of each, and all other places, m.

        Places are points (k, d), or spheres (k, d + 1), which are all shown.
        """
        lows, highs = self._ends(spheres)
        if bodies is not None and len(bodies[1]):
            turned = bodies[0] @ self.axes.T
            lows = np.concatenate([lows, np.minimum.reduceat(turned, bodies[1])])
            highs = np.concatenate([highs, np.maximum.reduceat(turned, bodies[1])])
        if len(lows):
            self._widen(_most(lows, highs))
        for rows in places:
            if len(rows):
                self._widen(np.concatenate(self._ends(rows)))

    def _ends(self, rows: Floats) -> tuple[Floats, Floats]:
        """Lowest and highest coordinates of spheres or points."""
        d = len(self.axes)
        middles, radii = rows[:, :d] @ self.axes.T, rows[:, d:].sum(axis=1, keepdims=True)
        return middles - radii, middles + radii

    def _widen(self, coordinates: Floats) -> None:
        self._low = np.minimum(self._low, coordinates.min(axis=0))
        self._high = np.maximum(self._high, coordinates.max(axis=0))

    def bounds(self) -> Floats | None:
        """(2, d), m: lowest and highest coordinates along the axes; None around nothing."""
        return np.array([self._low, self._high]) if np.isfinite(self._high - self._low).all() else None

    def corners(self) -> Floats | None:
        """(2^d, d), m: corners of what is shown, which stands straight along the axes; None around nothing."""
        bounds = self.bounds()
        return None if bounds is None else box_corners(bounds) @ self.axes


def _most(lows: Floats, highs: Floats) -> Floats:
    """(2, d): lowest and highest coordinates of most bodies, by how much of a picture they take; of all, if few."""
    areas = ((highs - lows).mean(axis=1)) ** 2
    first = np.array([_quantile(column, areas) for column in lows.T])
    last = np.array([-_quantile(-column, areas) for column in highs.T])
    room = _MARGIN * (last - first)
    lowest = np.where(lows >= first - room, lows, np.inf).min(axis=0)
    highest = np.where(highs <= last + room, highs, -np.inf).max(axis=0)
    return np.array([lowest, highest])


def _quantile(values: Floats, weights: Floats) -> float:
    """The lowest value that no more than a part of all, by weight, is below."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(sums, _BEYOND * sums[-1])]])


def corners_of(bodies: Sequence[Mesh]) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices of all bodies, and which is the first of each."""
    counts = np.array([len(body.vertices) for body in bodies], np.int64)
    return np.concatenate([np.empty((0, 3)), *(body.vertices for body in bodies)]), np.cumsum(counts) - counts


def near_edges(box: Floats, shown: Floats, periodic: ArrayLike = False) -> Floats:
    """(k, 2, d), m: what is drawn of the edges of a box, (2, d), with what is shown, (2, d).

    Sides that are near, as far as something is shown; along axes along which the box repeats they are never far.
    """
    room = NEAR * float((shown[1] - shown[0]).max())
    far = np.array([box[0] < shown[0] - room, box[1] > shown[1] + room]) & ~np.asarray(periodic, bool)
    ends = box_edges(np.array([np.zeros(box.shape[1]), np.ones(box.shape[1])])).astype(int)
    of_far = (ends[:, 0] == ends[:, 1]) & far[ends[:, 0], np.arange(box.shape[1])]  # edges (k,) of sides (d,)
    return box_edges(np.where(far, shown, box))[~of_far.any(axis=1)]
