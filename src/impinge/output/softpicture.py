"""Pictures of soft bodies in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.output.camera import Camera, box_edges
from impinge.output.colours import OBSTACLE, body_colours
from impinge.output.figure import (
    Scale,
    check_lengths,
    check_path,
    frame_picture,
    read_around,
    read_colours,
    read_corners,
    read_size,
    resolution,
    save_figure,
    style,
    view_angles,
)
from impinge.output.movie import Movie
from impinge.output.shading import Shading
from impinge.output.softframe import SoftFrame
from impinge.output.surface import Surface, render_surface
from impinge.output.tubes import Tubes

__all__ = ["draw_soft"]

_SIDES = 24
_THINNEST = 2.0  # samples: radius of cables that would be too thin to be seen


def draw_soft(
    path: str | os.PathLike[str] | Movie,
    frame: SoftFrame,
    values: str | ArrayLike | None = None,
    *,
    label: str = "",
    box: ArrayLike | None = None,
    title: str = "",
    view: tuple[float, float] | None = None,
    limits: tuple[float, float] | None = None,
    around: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
    obstacle_colours: Sequence[str | None] | None = None,
) -> None:
    """Draw cloths, cables with their true radii, and obstacles. Needs matplotlib.

    Parameters
    ----------
    path : path or Movie
        Ending in .png, .pdf or .svg, of which the last two have texts as letters and the rest as pixels; or a movie, of
        which this is the next picture.
    frame : SoftFrame
    values : str or (n,) numbers, optional
        What is shown as colours, with a colour bar: numbers of the nodes; or their name: "radius", "body", or any data
        of the frame, e.g. "strain". Of vectors the length is shown. Without it, each body has a colour.
    label : str
        What the values are, and their unit; their name by default.
    box : (3,) lengths from 0, or ((x0, y0, z0), (x1, y1, z1)), m, optional
        Its edges are drawn.
    title : str
    view : (azimuth, elevation), degrees, optional
        Where the eye is: azimuth 0 on the side of +x, 90 of +y; elevation 90 above. (−60, 20) by default.
    limits : (lowest, highest), optional
        Values of the first and the last colour. By default from the lowest, or from 0 of strains and the like by their
        label, to one that one value in 200 exceeds. The same limits let pictures be compared.
    around : (k, 3) float64, m, optional
        Places that the picture shows, e.g. two corners of a region, whatever is there; everything by default. The same
        places, view and size give pictures the same camera.
    size : (width, height), optional
        Most pixels, without title and colour bar; (1500, 1200) by default. Texts grow with it.
    obstacle_colours : sequence of str or None, optional
        Of the obstacles; grey by default.
    """
    check_path(path)
    with style():
        corners = read_corners(box, 3)
        vertices = [("obstacles", mesh.vertices) for mesh in frame.obstacles]
        check_lengths([("positions", frame.positions), ("radii", frame.radii), ("box", corners), *vertices])
        values_at = frame.node_values(values) if isinstance(values, str) else values
        known_as = values.replace("_", " ") if isinstance(values, str) else ""
        scale = Scale(values_at, len(frame.positions), label or known_as, limits)
        painted = read_colours("obstacle_colours", obstacle_colours, len(frame.obstacles))
        places, pixels = read_around(around, 3), read_size(size)
        colours = body_colours(frame.bodies) if values is None else scale.colours()
        camera = _camera(frame, corners, view_angles(view), pixels, places)
        picture = render_surface(_surface(frame, colours, painted, _THINNEST / camera.scale), camera, corners)
        save_figure(path, frame_picture(picture, scale, title, resolution(pixels)), trim=False)


def _camera(
    frame: SoftFrame,
    box: NDArray[np.float64] | None,
    view: tuple[float, float],
    size: tuple[int, int],
    around: NDArray[np.float64] | None,
) -> Camera:
    if around is not None:
        return Camera.showing(np.empty((0, 4)), [around], view, size)
    points = [mesh.vertices for mesh in frame.obstacles]
    points += [] if box is None else [box_edges(box).reshape(-1, 3)]
    return Camera.showing(np.column_stack([frame.positions, frame.radii]), points, view, size)


def _surface(
    frame: SoftFrame,
    colours: NDArray[np.float64],
    of_obstacles: Sequence[tuple[float, float, float] | None],
    thinnest: float,
) -> Surface:
    """All that is drawn, as triangles."""
    wide = replace(frame, radii=np.maximum(frame.radii, thinnest), point_data={"colour": colours})
    tubed = Tubes(_SIDES).of(wide)
    parts = [_part(tubed.positions, tubed.faces, tubed.point_data["colour"], creases=False)]
    for mesh, colour in zip(frame.obstacles, of_obstacles, strict=True):
        paint = np.tile(OBSTACLE if colour is None else colour, (len(mesh.vertices), 1))
        parts.append(_part(mesh.vertices, mesh.merged_faces, paint, creases=True))
    return Surface(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("corners", "normals", "colours"))
    )


def _part(
    vertices: NDArray[np.float64], faces: NDArray[np.int32], colours: NDArray[np.float64], creases: bool
) -> Surface:
    shading = Shading(vertices, faces, creases)
    return Surface(vertices[faces], shading.normals(vertices)[shading.faces], colours[faces])
