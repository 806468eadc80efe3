"""Pictures of spheres, discs and rigid bodies in files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.errors import InputError
from impinge.output.arrays import read_spheres
from impinge.output.camera import box_edges, view_axes
from impinge.output.figure import (
    Scale,
    check_lengths,
    check_path,
    colour_bar,
    frame_picture,
    read_around,
    read_colours,
    read_corners,
    read_lines,
    read_size,
    resolution,
    save_figure,
    style,
    view_angles,
)
from impinge.output.framing import Framing, corners_of
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
    lines: ArrayLike | None = None,
    mesh_colours: Sequence[str | None] | None = None,
    names: Mapping[int, str] | None = None,
) -> None:
    """Draw spheres, or discs in two dimensions, with their true radii, and bodies among them. Needs matplotlib.

    Parameters
    ----------
    path : path or Movie
        Ending in .png, .pdf or .svg; or a movie, of which this is the next picture. In a .pdf or .svg discs and texts
        are lines and letters of any resolution, and spheres are pixels.
    centres : (n, 2) or (n, 3) float64, m
    radii : float or (n,) float64, m
    values : (n + b,) numbers, optional
        Shown as colours, with a colour bar: of the spheres, and after them of the bodies.
    label : str
        What the values are, and their unit.
    meshes : sequence of Mesh, or whatever Mesh.of takes
        Obstacles, drawn so that the spheres behind them can be seen, unless they have a colour; in three dimensions
        only.
    box : (d,) lengths from 0, or ((x0, …), (x1, …)), m, optional
        Its edges are drawn.
    title : str
    view : (azimuth, elevation), degrees, optional
        Where the eye is: azimuth 0 on the side of +x, 90 of +y; elevation 90 above. (−60, 20) by default. In three
        dimensions only.
    bodies : sequence of b Mesh, or whatever Mesh.of takes
        Drawn like spheres, opaque and coloured; in three dimensions only.
    limits : (lowest, highest), optional
        Values of the first and the last colour. By default from the lowest, or from 0 of speeds and the like by their
        label, to one that one value in 200 exceeds. The same limits let pictures be compared.
    around : (k, d) float64, m, optional
        Places that the picture shows, e.g. two corners of a region, whatever is there. By default everything but
        spheres and bodies that are far from most. The same places, view and size give pictures the same camera.
    size : (width, height), optional
        Most pixels, without title and colour bar; (1500, 1200) by default. Texts grow with it.
    lines : (k, 2, d) float64, m, optional
        Ends of lines that are drawn as edges of a box are.
    mesh_colours : sequence of str or None, optional
        Of the meshes; those that have one are opaque.
    names : mapping of integers to str, optional
        What whole numbers among the values stand for: they have a colour each, and no limits.
    """
    check_path(path)
    with style():
        points, sizes = read_spheres(centres, radii)
        dimension = points.shape[1]
        corners, segments = read_corners(box, dimension), read_lines(lines, dimension)
        if corners is not None:
            segments = np.concatenate([box_edges(corners), segments])
        solids = [Mesh.of(mesh, f"meshes[{number}]") for number, mesh in enumerate(meshes)]
        opaque = [Mesh.of(mesh, f"bodies[{number}]") for number, mesh in enumerate(bodies)]
        vertices = [("meshes", mesh.vertices) for mesh in solids] + [("bodies", mesh.vertices) for mesh in opaque]
        check_lengths([("centres", points), ("radii", sizes), ("box", corners), ("lines", segments), *vertices])
        scale = Scale(values, len(points) + len(opaque), label, limits, names)
        if dimension == 2 and (solids or opaque or view is not None):
            raise InputError("meshes, bodies, view: found one for discs, expected them for spheres in 3D only")
        pixels, angles = read_size(size), view_angles(view)
        spheres, places = np.column_stack([points, sizes]), read_around(around, dimension)
        if places is None:
            places = _shown(spheres, opaque, [*(mesh.vertices for mesh in solids), *segments], angles)
        if dimension == 2:
            save_figure(path, _draw_discs(points, sizes, scale, segments, title, places, resolution(pixels)), trim=True)
            return
        painted = read_colours("mesh_colours", mesh_colours, len(solids))
        clear = [mesh for mesh, colour in zip(solids, painted, strict=True) if colour is None]
        opaque += [mesh for mesh, colour in zip(solids, painted, strict=True) if colour is not None]
        paint = np.array([colour for colour in painted if colour is not None]).reshape(-1, 3)
        colours = np.concatenate([scale.colours(), paint])
        picture = render(spheres, colours, clear, segments, angles, pixels, opaque, places)
        save_figure(path, frame_picture(picture, scale, title, resolution(pixels)), trim=False)


def _shown(
    spheres: NDArray[np.float64],
    bodies: Sequence[Mesh],
    others: Sequence[NDArray[np.float64]],
    view: tuple[float, float],
) -> NDArray[np.float64] | None:
    """Corners of what a picture shows by itself."""
    framing = Framing(np.eye(2) if spheres.shape[1] == 3 else view_axes(*view))
    framing.add(spheres, corners_of(bodies), others)
    return framing.corners()


def _draw_discs(
    centres: NDArray[np.float64],
    radii: NDArray[np.float64],
    scale: Scale,
    lines: NDArray[np.float64],
    title: str,
    around: NDArray[np.float64] | None,
    dpi: float,
) -> Figure:
    from matplotlib.collections import EllipseCollection, LineCollection
    from matplotlib.figure import Figure

    low, high = (np.zeros(2), np.ones(2)) if around is None else (around.min(axis=0), around.max(axis=0))
    margin = 0.02 * (max(high - low) or 1.0)
    lengths = high - low + 2 * margin
    slope = lengths[1] / lengths[0]
    labels = 0.8 + (1.0 if scale.values is not None else 0.0), 0.8  # inches around the axes
    height = float(np.clip((_INCHES[0] - labels[0]) * slope, 1.2, _INCHES[1] - labels[1]))
    width = float(np.clip(height / slope, 2.0, _INCHES[0] - labels[0]))
    figure = Figure(figsize=(labels[0] + width, labels[1] + height), layout="compressed", dpi=dpi)
    axes = figure.add_subplot(aspect="equal", xlabel="x [m]", ylabel="y [m]", title=title)
    axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    axes.add_collection(LineCollection(list(lines), colors="0.4", linewidths=0.8), autolim=False)
    outline = 0.4 if len(centres) <= 5000 else 0.0
    discs = EllipseCollection(
        2 * radii, 2 * radii, np.zeros(len(radii)), units="xy", offsets=centres, offset_transform=axes.transData,
        facecolors=scale.colours(), edgecolors="0.15", linewidths=outline,
    )  # fmt: skip
    axes.add_collection(discs)
    if scale.values is not None:
        colour_bar(figure, scale, ax=axes)
    return figure
