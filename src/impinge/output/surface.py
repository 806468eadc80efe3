"""A picture of opaque surfaces as an array of pixels: smooth, seen from both sides, in light and shadow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.output import _render, _surface
from impinge.output.camera import LIGHT, SAMPLES, Camera, Picture, box_edges

__all__ = ["Surface", "render_surface"]

_MAP_SIZE = 2048  # cells of the shadow map, at most, in each direction
_REACH = 0.04  # of the picture: how near things must be to take light from each other
_LOOKS = 32  # places around each sample where such things are looked for


@dataclass(frozen=True)
class Surface:
    """Triangles, corner by corner."""

    corners: NDArray[np.float64]  # (m, 3, 3), m
    normals: NDArray[np.float64]  # (m, 3, 3): of length 1
    colours: NDArray[np.float64]  # (m, 3, 3): red, green and blue, from 0 to 1


def render_surface(surface: Surface, camera: Camera, box: NDArray[np.float64] | None) -> Picture:
    """Draw triangles, and the edges of a box with these two corners, (2, 3), m."""
    shape = camera.height * SAMPLES, camera.width * SAMPLES
    depth = np.full(shape, -np.inf, np.float32)
    owner = np.full(shape, _render.NOTHING, np.int32)
    triangles = camera.place(surface.corners)
    bands = -(-shape[0] // _render.BAND)
    _surface.draw_surface(bands, triangles, depth, owner)
    lines = np.zeros(shape, np.int8)
    if box is not None:
        _render.draw_lines(bands, camera.place(box_edges(box)), _render.BOX_LINE, depth, lines)
    light = LIGHT * [1.0, -1.0, 1.0]
    to_map, shadow_map, cell = _shadow_map(triangles, light)
    pixels = np.empty((camera.height, camera.width, 3), np.uint8)
    _surface.mix_surface(
        camera.height, triangles, surface.normals @ camera.frame.T * [1.0, -1.0, 1.0], surface.colours, depth, owner,
        _places_around(_REACH * max(shape)), lines, light, to_map, shadow_map, (_surface.SOFTNESS + 1.5) * cell, pixels,
    )  # fmt: skip
    return camera.picture(pixels)


def _shadow_map(
    triangles: NDArray[np.float64], light: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float32], float]:
    """What the light sees: the way from places to cells (3, 4), how near to the light it is, and the size of a cell."""
    across = np.cross(light, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    frame = np.array([across, np.cross(light, across), light])
    turned = triangles @ frame.T
    points = turned.reshape(-1, 3) if len(turned) else np.zeros((1, 3))
    low = points.min(axis=0)
    lengths = (points.max(axis=0) - low)[:2]
    cell = max(float(lengths.max()) / _MAP_SIZE, 0.25)
    width, height = (int(length / cell) + 1 for length in lengths)
    depth = np.full((height, width), -np.inf, np.float32)
    owner = np.full((height, width), _render.NOTHING, np.int32)
    _surface.draw_surface(-(-height // _render.BAND), (turned - low) / cell, depth, owner)
    return np.column_stack([frame, -low]) / cell, depth, cell


def _places_around(reach: float) -> NDArray[np.float64]:
    """(n, 2): offsets of columns and rows, evenly spread over a disc, on a spiral by the golden angle."""
    number = np.arange(1, _LOOKS + 1)
    angle, radius = number * np.pi * (3.0 - np.sqrt(5.0)), reach * np.sqrt(number / _LOOKS)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
