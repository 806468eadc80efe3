"""Where things are in a picture: seen from far away, with parallel rays; and where the light comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIGHT", "SAMPLES", "Camera", "Picture", "box_corners", "box_edges", "towards_eye", "view_axes"]

LIGHT = np.array([-0.45, 0.55, 0.70]) / np.linalg.norm([-0.45, 0.55, 0.70])  # right, up, towards the eye
SAMPLES = 2  # per pixel and direction
_MARGIN = 0.03
_SMALLEST = 1e-150  # m; what is smaller has no size
_CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])  # of a box: low or high


@dataclass(frozen=True)
class Picture:
    """Pixels, and where they are."""

    pixels: NDArray[np.uint8]  # (height, width, 3)
    extent: tuple[float, float, float, float]  # left, right, bottom, top, m, in the plane of the picture
    axes: NDArray[np.float64]  # (3, 2): right and up of the axes x, y and z


@dataclass(frozen=True)
class Camera:
    """A view of some things that shows all of them.

    Attributes
    ----------
    frame : (3, 3) float64
        The directions right, up and towards the eye.
    corner : (3,) float64, m
        Left, top and back, in these directions.
    step : float, m
        Size of a pixel.
    width, height : int
        Pixels.
    """

    frame: NDArray[np.float64]
    corner: NDArray[np.float64]
    step: float
    width: int
    height: int

    @classmethod
    def showing(
        cls,
        spheres: NDArray[np.float64],
        points: Sequence[NDArray[np.float64]],
        view: tuple[float, float],
        size: tuple[int, int],
    ) -> Camera:
        """A camera for spheres (n, 4) and points (n, 3), m.

        `view` is where the eye is, in degrees: azimuth 0 on the side of +x, 90 of +y; elevation 90 above. `size` gives
        the most pixels, width and height; one of them is used in full.
        """
        frame = view_axes(*view)
        low, high = _with_room(*_bounds(spheres, points, frame))
        step = float(max((high - low)[:2] / size))
        width, height = (max(int(np.ceil(length / step)), 1) for length in (high - low)[:2])
        return cls(frame, np.array([low[0], high[1], low[2]]), step, width, height)

    @property
    def scale(self) -> float:
        """Samples per metre."""
        return SAMPLES / self.step

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns, rows and depths of points (…, 3), in samples."""
        moved = points @ self.frame.T - self.corner
        placed: NDArray[np.float64] = moved * ([1.0, -1.0, 1.0] * np.full(3, self.scale))
        return placed

    def picture(self, pixels: NDArray[np.uint8]) -> Picture:
        """These pixels, with their place."""
        left, top = float(self.corner[0]), float(self.corner[1])
        extent = left, left + self.width * self.step, top - self.height * self.step, top
        return Picture(pixels, extent, self.frame[:2].T.copy())


def view_axes(azimuth: float, elevation: float) -> NDArray[np.float64]:
    """(3, 3): the directions right, up and towards the eye."""
    a, e = np.radians(azimuth), np.radians(elevation)
    right = [-np.sin(a), np.cos(a), 0.0]
    towards = [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
    return np.array([right, np.cross(towards, right), towards])


def towards_eye(view: tuple[float, float]) -> NDArray[np.float64]:
    """(3,): the direction from what is seen to the eye."""
    eye: NDArray[np.float64] = view_axes(*view)[2]
    return eye


def _bounds(
    spheres: NDArray[np.float64], points: Sequence[NDArray[np.float64]], frame: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest coordinates in the picture."""
    centres, radii = spheres[:, :3] @ frame.T, spheres[:, 3:]
    corners = np.concatenate([centres - radii, centres + radii, *(rows @ frame.T for rows in points)])
    if not len(corners):
        corners = np.zeros((1, 3))
    return corners.min(axis=0), corners.max(axis=0)


def _with_room(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """These bounds with a margin; neither too slender nor without size."""
    lengths = high - low
    if lengths.max() < _SMALLEST:
        lengths = np.ones(3)
    wanted = np.maximum(lengths, [0.4 * lengths[1], 0.25 * lengths[0], 0.0]) + 2 * _MARGIN * lengths.max()
    middle = low + 0.5 * (high - low)
    return middle - 0.5 * wanted, middle + 0.5 * wanted


def box_corners(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2^d, d): all corners of a box with these two."""
    dimension = box.shape[1]
    corners: NDArray[np.float64] = box[_CORNERS[:: 2 ** (3 - dimension), :dimension], np.arange(dimension)]
    return corners


def box_edges(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k, 2, d): the edges of a box with these two corners."""
    corners = box_corners(box)
    sides = box_corners(np.array([np.zeros(box.shape[1]), np.ones(box.shape[1])]))
    edges = [(a, b) for a in range(len(sides)) for b in range(a) if np.abs(sides[a] - sides[b]).sum() == 1]
    return corners[np.array(edges)]
