"""A picture of spheres and obstacles as an array of pixels, without any other program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from impinge.output import _render, _surface
from impinge.output.camera import LIGHT, SAMPLES, Camera, Picture
from impinge.output.shading import SHARP, unit_normals
from impinge.output.solids import Solids
from impinge.shapes.mesh import Mesh

__all__ = ["render"]

_MESH_COLOUR = np.array([0.68, 0.75, 0.84])
_CLEARNESS = 0.85  # part of the light that passes one layer of a mesh


def render(
    spheres: NDArray[np.float64],
    colours: NDArray[np.float64],
    meshes: Sequence[Mesh],
    lines: NDArray[np.float64] | None,
    view: tuple[float, float],
    size: tuple[int, int],
    bodies: Sequence[Mesh] = (),
    around: NDArray[np.float64] | None = None,
) -> Picture:
    """Draw spheres with their true radii and bodies behind transparent meshes, with parallel rays.

    Parameters
    ----------
    spheres : (n, 4) float64, m
        Centre and radius.
    colours : (n + b, 3) float64
        Red, green and blue, from 0 to 1; of the spheres, and of the bodies.
    meshes : sequence of Mesh
    lines : (k, 2, 3) float64, m, optional
        Ends of lines, such as the edges of a box.
    view : (azimuth, elevation), degrees
        Where the eye is: azimuth 0 on the side of +x, 90 of +y; elevation 90 above.
    size : (width, height)
        Most pixels; one of them is used in full.
    bodies : sequence of b Mesh
        Opaque ones.
    around : (k, 3) float64, m, optional
        Places that the picture shows, instead of all things.
    """
    segments = np.empty((0, 2, 3)) if lines is None else lines
    if around is None:
        points = [mesh.vertices for mesh in (*meshes, *bodies)] + [segments.reshape(-1, 3)]
        camera = Camera.showing(spheres, points, view, size)
    else:
        camera = Camera.showing(np.empty((0, 4)), [around], view, size)
    scene = _Scene(camera.width * SAMPLES, camera.height * SAMPLES)
    # At least as wide as a sample, so that none falls between the samples.
    rows = np.column_stack([camera.place(spheres[:, :3]), np.maximum(spheres[:, 3] * camera.scale, 0.75)])
    solids = Solids.of(bodies)
    faces, normals = camera.place(solids.corners), solids.normals @ camera.frame.T * [1.0, -1.0, 1.0]
    scene.draw_bodies(rows, faces, normals, solids.marks)
    for mesh in meshes:
        across = unit_normals(mesh.triangles)
        shades = 0.45 + 0.55 * np.abs(across @ camera.frame.T @ LIGHT)  # both sides are seen
        scene.draw_triangles(camera.place(mesh.vertices)[mesh.faces], shades)
        scene.draw_lines(camera.place(_outlines(mesh, across, camera.frame[2])), _render.MESH_LINE)
    scene.draw_lines(camera.place(segments), _render.BOX_LINE)
    of_faces = colours[len(rows) :][solids.marks[:, _render.BODY]]
    return camera.picture(scene.mix(np.concatenate([colours[: len(rows)], of_faces]), camera.width, camera.height))


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

    def draw_bodies(
        self,
        rows: NDArray[np.float64],
        faces: NDArray[np.float64],
        normals: NDArray[np.float64],
        marks: NDArray[np.int32],
    ) -> None:
        """Opaque things: spheres, and faces of bodies with a normal at each corner; owners count in this order."""
        self.rows, self.faces, self.normals, self.marks = rows, faces, normals, marks
        _surface.draw_surface(self.bands, faces, self.depth, self.owner)
        self.owner[self.owner != _render.NOTHING] += len(rows)
        _render.draw_spheres(self.bands, rows, self.depth, self.owner)
        self.radius = _typical_radius(rows, faces, marks[:, _render.BODY])

    def draw_triangles(self, triangles: NDArray[np.float64], shades: NDArray[np.float64]) -> None:
        _render.draw_triangles(self.bands, triangles, shades, self.depth, self.layers, self.brightness)

    def draw_lines(self, segments: NDArray[np.float64], value: int) -> None:
        _render.draw_lines(self.bands, segments, value, self.depth, self.lines)

    def mix(self, colours: NDArray[np.float64], width: int, height: int) -> NDArray[np.uint8]:
        """The colours of the pixels, from those of the spheres and faces."""
        pixels = np.empty((height, width, 3), np.uint8)
        gap = max(0.1 * self.radius, 3.0)
        _render.mix_colours(
            height, self.rows, self.faces, self.normals, self.marks, gap, colours, self.owner, self.depth,
            self._open_sky(), self.layers, self.brightness, self.lines, LIGHT * [1.0, -1.0, 1.0], _MESH_COLOUR,
            _CLEARNESS, pixels,
        )  # fmt: skip
        return pixels

    def _open_sky(self) -> NDArray[np.float32]:
        """How bright each sample is: those that lie deeper than what is around them get less light."""
        seen = (self.owner != _render.NOTHING).astype(np.float32)
        if not seen.any():
            return seen
        width = int(np.clip(3 * self.radius, 5, 151))
        filled = np.where(seen > 0, self.depth, np.float32(0))
        share = np.maximum(ndimage.uniform_filter(seen, width), 1e-6)
        around = ndimage.uniform_filter(filled, width) / share
        hidden = np.clip((around - filled) / (2.5 * self.radius), 0.0, 1.0) * share**2  # few others hide little
        return (1.0 - 0.65 * hidden).astype(np.float32)


def _typical_radius(rows: NDArray[np.float64], faces: NDArray[np.float64], bodies: NDArray[np.int32]) -> float:
    """Median of the radii of the spheres, and of half the mean lengths of the bodies along the axes."""
    first = np.flatnonzero(np.diff(bodies, prepend=-1))
    if len(first):
        low, high = (f.reduceat(g(faces, axis=1), first) for f, g in ((np.minimum, np.min), (np.maximum, np.max)))
        sizes = 0.5 * (high - low).mean(axis=1)
    else:
        sizes = np.empty(0)
    return float(np.median(np.concatenate([rows[:, 3], sizes]))) if len(rows) + len(sizes) else 1.0


def _outlines(mesh: Mesh, normals: NDArray[np.float64], towards: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k, 2, 3): edges that show the shape: free ones, sharp ones, and those where the surface turns away."""
    ends = np.sort(mesh.merged_faces.astype(np.int64)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    keys = ends[:, 0] * len(mesh.vertices) + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    keys, faces = keys[order], order // 3
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    one, other = normals[faces[first]], normals[faces[np.minimum(first + 1, len(faces) - 1)]]
    sharp = (one * other).sum(axis=1) < SHARP
    turning = (one @ towards) * (other @ towards) < 0
    shown = (counts != 2) | sharp | turning
    return mesh.vertices[ends[order[first[shown]]]]
