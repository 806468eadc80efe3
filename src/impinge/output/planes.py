"""Planes in pictures, which have no end: the part of each that lies in what is shown, or is near it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.output.camera import towards_eye
from impinge.output.framing import NEAR
from impinge.shapes.mesh import Mesh

__all__ = ["near_part", "part_in_box", "planes_seen"]

_EDGES = [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
_ROOM = 1.08  # around what is shown


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


def near_part(
    corners: NDArray[np.float64], point: ArrayLike, normal: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """The part of a plane that is shown with a box, if it is near: as `part_in_box`, or below or beside the box."""
    part = part_in_box(corners, point, normal, _ROOM)
    if part is not None:
        return part
    towards = np.asarray(normal, np.float64) / np.linalg.norm(np.asarray(normal, np.float64))
    middle, half = corners.mean(axis=0), 0.5 * (corners[1] - corners[0])
    height = float((middle - np.asarray(point, np.float64)) @ towards)
    if abs(height) - float(half @ np.abs(towards)) > NEAR * 2 * half.max():
        return None
    return part_in_box(corners - height * towards, point, normal, _ROOM)


def planes_seen(
    planes: Iterable[tuple[ArrayLike, ArrayLike]], corners: NDArray[np.float64] | None, view: tuple[float, float]
) -> list[Mesh]:
    """What a picture shows of planes near a box: nothing of those seen from behind, which would hide the rest.

    Parameters
    ----------
    planes : iterable of (point, normal)
    corners : (2, 3) float64, m
        None around nothing, where there are no planes either.
    view : (azimuth, elevation), degrees
    """
    if corners is None:
        return []
    eye = towards_eye(view)
    parts = [near_part(corners, *plane) for plane in planes if np.asarray(plane[1], np.float64) @ eye > 0]
    return [Mesh(*part) for part in parts if part is not None]
