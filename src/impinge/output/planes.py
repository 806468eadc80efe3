"""Planes in pictures, which have no end: the part of each that lies in a box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.output.camera import towards_eye
from impinge.shapes.mesh import Mesh

__all__ = ["part_in_box", "planes_seen"]

_EDGES = [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
_ROOM = 1.04  # around what is shown


def part_in_box(
    corners: NDArray[np.float64], point: ArrayLike, normal: ArrayLike, room: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Vertices and faces of the part of a plane that is in a box, or at its side; None if none is.

    Parameters
    ----------
    corners : (2, 3) float64, m
        Of the box.
    point : (3,) float64, m
        On the plane.
    normal : (3,) float64
        Of any length; the faces are turned to its side.
    room : float
        The box is made larger by this factor.
    """
    middle, half = corners.mean(axis=0), room * 0.5 * (corners[1] - corners[0])
    towards = np.asarray(normal, np.float64) / np.linalg.norm(np.asarray(normal, np.float64))
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    places = middle + signs * half
    heights = (places - np.asarray(point, np.float64)) @ towards
    ends = [(a, b) for a, b in _EDGES if (heights[a] < 0) != (heights[b] < 0)]
    if len(ends) < 3:
        return None
    rim = np.array([places[a] + heights[a] / (heights[a] - heights[b]) * (places[b] - places[a]) for a, b in ends])
    first = rim[0] - rim.mean(axis=0)
    second = np.cross(towards, first)
    rim = rim[np.argsort(np.arctan2((rim - rim.mean(axis=0)) @ second, (rim - rim.mean(axis=0)) @ first))]
    return rim, np.array([[0, k, k + 1] for k in range(1, len(rim) - 1)])


def planes_seen(
    planes: Iterable[tuple[ArrayLike, ArrayLike]], places: Sequence[NDArray[np.float64]], view: tuple[float, float]
) -> list[Mesh]:
    """What a picture shows of planes around some places: nothing of those seen from behind, which would hide the rest.

    Parameters
    ----------
    planes : iterable of (point, normal)
    places : sequence of (k, 3) float64, m
    view : (azimuth, elevation), degrees
    """
    shown = np.concatenate([np.empty((0, 3)), *places])
    if not len(shown):
        return []
    corners, eye = np.array([shown.min(axis=0), shown.max(axis=0)]), towards_eye(view)
    before = [plane for plane in planes if np.asarray(plane[1], np.float64) @ eye > 0]
    parts = [part_in_box(corners, *plane, _ROOM) for plane in before]
    return [Mesh(*part) for part in parts if part is not None]
