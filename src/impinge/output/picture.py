"""Pictures of spheres, discs and rigid bodies as PNG files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.errors import InputError
from impinge.output.arrays import read_spheres
from impinge.output.figure import (
    Scale,
    check_lengths,
    frame_picture,
    read_around,
    read_corners,
    read_size,
    resolution,
    save_figure,
    style,
    view_angles,
)
from impinge.output.movie import Movie
from impinge.output.render import render
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_spheres"]

_INCHES = 7.5, 6.0  # of a picture of discs, at most


def draw_spheres(
    path: str | os.PathLike[str] | Movie,
    centres: ArrayLike,
    radii: ArrayLike,
    values: ArrayLike | None = None,
    *,
    label: str = "",
    meshes: Sequence[Any] = (),
    box: ArrayLike | None = None,
    title: str = "",
    view: tuple[float, float] | None = None,
    bodies: Sequence[Any] = (),
    limits: tuple[float, float] | None = None,
    around: ArrayLike | None = None,
    size: tuple[int, int] | None = None,
) -> None:
    """Draw spheres, or discs in two dimensions, with their true radii, and bodies among them. Needs matplotlib.

    Parameters
    ----------
    path : path or Movie
        Ending in .png; or a movie, of which this is the next picture.
    centres : (n, 2) or (n, 3) float64, m
    radii : float or (n,) float64, m
    values : (n + b,) numbers, optional
        Shown as colours, with a colour bar: of the spheres, and after them of the bodies.
    label : str
        What the values are, and their unit.
    meshes : sequence of Mesh, or whatever Mesh.of takes
        Obstacles, drawn so that the spheres behind them can be seen; in three dimensions only.
    box : (d,) lengths from 0, or ((x0, …), (x1, …)), m, optional
        Its edges are drawn.
    title : str
    view : (azimuth, elevation), degrees, optional
        Where the eye is: azimuth 0 on the side of +x, 90 of +y; elevation 90 above. (−60, 20) by default. In three
        dimensions only.
    bodies : sequence of b Mesh, or whatever Mesh.of takes
        Drawn like spheres, opaque and coloured; in three dimensions only.
    limits : (lowest, highest), optional
        Values of the first and the last colour; those of the values by default. The same limits let pictures be
        compared.
    around : (k, d) float64, m, optional
        Places that the picture shows, e.g. two corners of a region, whatever is there; everything by default. The same
        places, view and size give pictures the same camera.
    size : (width, height), optional
        Most pixels, without title and colour bar; (1500, 1200) by default. Texts grow with it.
    """
    with style():
        points, sizes = read_spheres(centres, radii)
        corners = read_corners(box, points.shape[1])
        solids = [Mesh.of(mesh, f"meshes[{number}]") for number, mesh in enumerate(meshes)]
        opaque = [Mesh.of(mesh, f"bodies[{number}]") for number, mesh in enumerate(bodies)]
        vertices = [("meshes", mesh.vertices) for mesh in solids] + [("bodies", mesh.vertices) for mesh in opaque]
        check_lengths([("centres", points), ("radii", sizes), ("box", corners), *vertices])
        scale = Scale(values, len(points) + len(opaque), label, limits)
        places, pixels = read_around(around, points.shape[1]), read_size(size)
        if points.shape[1] == 2:
            if solids or opaque or view is not None:
                raise InputError("meshes, bodies, view: found one for discs, expected them for spheres in 3D only")
            save_figure(path, _draw_discs(points, sizes, scale, corners, title, places, resolution(pixels)), trim=True)
        else:
            spheres = np.column_stack([points, sizes])
            picture = render(spheres, scale.colours(), solids, corners, view_angles(view), pixels, opaque, places)
            save_figure(path, frame_picture(picture, scale, title, resolution(pixels)), trim=False)


def _draw_discs(
    centres: NDArray[np.float64],
    radii: NDArray[np.float64],
    scale: Scale,
    box: NDArray[np.float64] | None,
    title: str,
    around: NDArray[np.float64] | None,
    dpi: float,
) -> Figure:
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    edges = [centres - radii[:, None], centres + radii[:, None], np.empty((0, 2)) if box is None else box]
    everything = np.concatenate(edges) if around is None else around
    low, high = (everything.min(axis=0), everything.max(axis=0)) if len(everything) else (np.zeros(2), np.ones(2))
    margin = 0.02 * (max(high - low) or 1.0)
    lengths = high - low + 2 * margin
    slope = lengths[1] / lengths[0]
    labels = 0.8 + (1.0 if scale.values is not None else 0.0), 0.8  # inches around the axes
    height = float(np.clip((_INCHES[0] - labels[0]) * slope, 1.2, _INCHES[1] - labels[1]))
    width = float(np.clip(height / slope, 2.0, _INCHES[0] - labels[0]))
    figure = Figure(figsize=(labels[0] + width, labels[1] + height), layout="compressed", dpi=dpi)
    axes = figure.add_subplot(aspect="equal", xlabel="x [m]", ylabel="y [m]", title=title)
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    if box is not None:
        axes.add_patch(Rectangle(box[0], *(box[1] - box[0]), fill=False, edgecolor="0.4", linewidth=0.8))
    outline = 0.4 if len(centres) <= 5000 else 0.0
    discs = EllipseCollection(
        2 * radii, 2 * radii, np.zeros(len(radii)), units="xy", offsets=centres, offset_transform=axes.transData,
        facecolors=scale.colours(), edgecolors="0.15", linewidths=outline,
    )  # fmt: skip
    axes.add_collection(discs)
    if scale.values is not None:
        figure.colorbar(scale.mappable(), ax=axes, label=scale.label)
    return figure
