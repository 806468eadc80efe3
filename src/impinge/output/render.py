"""A picture of spheres and obstacles as an array of pixels, without any other program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from impinge.output import _render
from impinge.shapes.mesh import Mesh

__all__ = ["Picture", "render"]

_SAMPLES = 2  # per pixel and direction
_LIGHT = np.array([-0.45, 0.55, 0.70]) / np.linalg.norm([-0.45, 0.55, 0.70])  # right, up, towards the eye
_MESH_COLOUR = np.array([0.68, 0.75, 0.84])
_CLEARNESS = 0.85  # part of the light that passes one layer of a mesh
_SHARP = np.cos(np.radians(29.0))  # of no regular polygon: at 30, rounding chooses among the edges of a drum of 12
_MARGIN = 0.03
_SMALLEST = 1e-150  # m; what is smaller has no size


@dataclass(frozen=True)
class Picture:
    """Pixels, and where they are."""

    pixels: NDArray[np.uint8]  # (height, width, 3)
    extent: tuple[float, float, float, float]  # left, right, bottom, top, m, in the plane of the picture
    axes: NDArray[np.float64]  # (3, 2): right and up of the axes x, y and z


def render(
    spheres: NDArray[np.float64],
    colours: NDArray[np.float64],
    meshes: Sequence[Mesh],
    box: NDArray[np.float64] | None,
    view: tuple[float, float],
    size: tuple[int, int],
) -> Picture:
    """Draw spheres with their true radii behind transparent meshes, with parallel rays.

    Parameters
    ----------
    spheres : (n, 4) float64, m
        Centre and radius.
    colours : (n, 3) float64
        Red, green and blue, from 0 to 1.
    meshes : sequence of Mesh
    box : (2, 3) float64, m, optional
        Corners of a box whose edges are drawn.
    view : (azimuth, elevation), degrees
        Where the eye is: azimuth 0 on the side of +x, 90 of +y; elevation 90 above.
    size : (width, height)
        Most pixels; one of them is used in full.
    """
    frame = _frame(*view)
    lines = [] if box is None else [_box_edges(box)]
    low, high = _bounds(spheres, [mesh.vertices for mesh in meshes] + [edges.reshape(-1, 3) for edges in lines], frame)
    step = max((high - low)[:2] / size)
    width, height = (max(int(np.ceil(length / step)), 1) for length in (high - low)[:2])
    scene = _Scene(width * _SAMPLES, height * _SAMPLES)

    def place(points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns, rows and depths in samples."""
        moved = points @ frame.T - [low[0], high[1], low[2]]
        placed: NDArray[np.float64] = moved * ([1.0, -1.0, 1.0] * np.full(3, _SAMPLES / step))
        return placed

    # At least as wide as a sample, so that none falls between the samples.
    rows = np.column_stack([place(spheres[:, :3]), np.maximum(spheres[:, 3] * (_SAMPLES / step), 0.75)])
    scene.draw_spheres(rows)
    for mesh in meshes:
        normals = _normals(mesh)
        shades = 0.45 + 0.55 * np.abs(normals @ frame.T @ _LIGHT)  # both sides are seen
        scene.draw_triangles(place(mesh.vertices)[mesh.faces], shades)
        scene.draw_lines(place(_outlines(mesh, normals, frame[2])), _render.MESH_LINE)
    for edges in lines:
        scene.draw_lines(place(edges), _render.BOX_LINE)
    extent = float(low[0]), float(low[0] + width * step), float(high[1] - height * step), float(high[1])
    return Picture(scene.mix(rows, colours, width, height), extent, frame[:2].T.copy())


class _Scene:
    """What each sample shows."""

    def __init__(self, width: int, height: int) -> None:
        shape = height, width
        self.bands = -(-height // _render.BAND)
        self.depth = np.full(shape, -np.inf, np.float32)
        self.owner = np.full(shape, _render.NOTHING, np.int32)
        self.layers = np.zeros(shape, np.int32)
        self.brightness = np.zeros(shape, np.float32)
        self.lines = np.zeros(shape, np.int8)

    def draw_spheres(self, rows: NDArray[np.float64]) -> None:
        _render.draw_spheres(self.bands, rows, self.depth, self.owner)

    def draw_triangles(self, triangles: NDArray[np.float64], shades: NDArray[np.float64]) -> None:
        _render.draw_triangles(self.bands, triangles, shades, self.depth, self.layers, self.brightness)

    def draw_lines(self, segments: NDArray[np.float64], value: int) -> None:
        _render.draw_lines(self.bands, segments, value, self.depth, self.lines)

    def mix(
        self, rows: NDArray[np.float64], colours: NDArray[np.float64], width: int, height: int
    ) -> NDArray[np.uint8]:
        """The colours of the pixels."""
        pixels = np.empty((height, width, 3), np.uint8)
        _render.mix_colours(
            height, rows, colours, self.owner, self._open_sky(rows), self.layers, self.brightness, self.lines,
            _LIGHT * [1.0, -1.0, 1.0], _MESH_COLOUR, _CLEARNESS, pixels,
        )  # fmt: skip
        return pixels

    def _open_sky(self, rows: NDArray[np.float64]) -> NDArray[np.float32]:
        """How bright each sample is: those that lie deeper than what is around them get less light."""
        seen = (self.owner != _render.NOTHING).astype(np.float32)
        if not seen.any():
            return seen
        radius = float(np.median(rows[:, 3]))
        width = int(np.clip(3 * radius, 5, 151))
        filled = np.where(seen > 0, self.depth, np.float32(0))
        share = np.maximum(ndimage.uniform_filter(seen, width), 1e-6)
        around = ndimage.uniform_filter(filled, width) / share
        hidden = np.clip((around - filled) / (2.5 * radius), 0.0, 1.0) * share**2  # few others hide little
        return (1.0 - 0.65 * hidden).astype(np.float32)


def _frame(azimuth: float, elevation: float) -> NDArray[np.float64]:
    """(3, 3): the directions right, up and towards the eye."""
    a, e = np.radians(azimuth), np.radians(elevation)
    right = [-np.sin(a), np.cos(a), 0.0]
    towards = [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
    return np.array([right, np.cross(towards, right), towards])


def _bounds(
    spheres: NDArray[np.float64], points: list[NDArray[np.float64]], frame: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest coordinates in the picture, with a margin; neither too slender nor without size."""
    centres, radii = spheres[:, :3] @ frame.T, spheres[:, 3:]
    corners = np.concatenate([centres - radii, centres + radii, *(rows @ frame.T for rows in points)])
    if not len(corners):
        corners = np.zeros((1, 3))
    low, high = corners.min(axis=0), corners.max(axis=0)
    lengths = high - low
    if lengths.max() < _SMALLEST:
        lengths = np.ones(3)
    wanted = np.maximum(lengths, [0.4 * lengths[1], 0.25 * lengths[0], 0.0]) + 2 * _MARGIN * lengths.max()
    middle = low + 0.5 * (high - low)
    return middle - 0.5 * wanted, middle + 0.5 * wanted


def _box_edges(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """(12, 2, 3): the edges of a box with these two corners."""
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    edges = [(a, b) for a in range(8) for b in range(a) if np.abs(corners[a] - corners[b]).sum() == 1]
    return box[corners, [0, 1, 2]][np.array(edges)]


def _normals(mesh: Mesh) -> NDArray[np.float64]:
    """(m, 3): unit normals; zero for faces without area."""
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)


def _outlines(mesh: Mesh, normals: NDArray[np.float64], towards: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k, 2, 3): edges that show the shape: free ones, sharp ones, and those where the surface turns away."""
    ends = np.sort(mesh.merged_faces.astype(np.int64)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    keys = ends[:, 0] * len(mesh.vertices) + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    keys, faces = keys[order], order // 3
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    one, other = normals[faces[first]], normals[faces[np.minimum(first + 1, len(faces) - 1)]]
    sharp = (one * other).sum(axis=1) < _SHARP
    turning = (one @ towards) * (other @ towards) < 0
    shown = (counts != 2) | sharp | turning
    return mesh.vertices[ends[order[first[shown]]]]
