"""Pictures of spheres and discs as PNG files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.broad.space import read_space
from impinge.errors import InputError
from impinge.output.arrays import read_spheres
from impinge.output.atomic import replacing
from impinge.output.render import Picture, render
from impinge.shapes.mesh import Mesh

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = ["draw_spheres"]

_DPI = 200
_SIZE = 1500, 1200  # pixels of a picture of spheres, at most
_PLAIN = "#d9b26f"  # spheres without values: sand
_UNKNOWN = "#bbbbbb"  # spheres whose value is not a number
_VIEW = -60.0, 20.0
_LARGEST = 1e150  # m
_STYLE: dict[Any, Any] = {"font.size": 9, "font.family": "DejaVu Sans", "axes.titlesize": 10}


def draw_spheres(
    path: str | os.PathLike[str],
    centres: ArrayLike,
    radii: ArrayLike,
    values: ArrayLike | None = None,
    *,
    label: str = "",
    meshes: Sequence[Any] = (),
    box: ArrayLike | None = None,
    title: str = "",
    view: tuple[float, float] | None = None,
) -> None:
    """Draw spheres, or discs in two dimensions, with their true radii. Needs matplotlib.

    Parameters
    ----------
    path : path
        Ending in .png.
    centres : (n, 2) or (n, 3) float64, m
    radii : float or (n,) float64, m
    values : (n,) numbers, optional
        Shown as colours, with a colour bar.
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
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError("picture: needs matplotlib; pip install 'impinge[report]'") from None
    points, sizes = read_spheres(centres, radii)
    corners = _corners(box, points.shape[1])
    solids = [Mesh.of(mesh, f"meshes[{number}]") for number, mesh in enumerate(meshes)]
    _check_size([("centres", points), ("radii", sizes), ("box", corners), *(("meshes", m.vertices) for m in solids)])
    scale = _Scale(values, len(points), label)
    with mpl.rc_context(_STYLE):
        if points.shape[1] == 2:
            if solids or view is not None:
                raise InputError("meshes, view: found one for discs, expected them for spheres in 3D only")
            figure = _draw_discs(points, sizes, scale, corners, title)
        else:
            angles = _VIEW if view is None else tuple(_check.vector("view", view, 2).tolist())
            picture = render(np.column_stack([points, sizes]), scale.colours(), solids, corners, angles, _SIZE)
            figure = _frame_picture(picture, scale, title)
        with replacing(path) as file:
            # Only of discs can margins be cut off: a picture keeps its pixels as they are.
            trim = "tight" if points.shape[1] == 2 else None
            figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None}, bbox_inches=trim)


class _Scale:
    """Colours of values."""

    def __init__(self, values: ArrayLike | None, count: int, label: str) -> None:
        self.values: NDArray[np.float64] | None = None
        self.count, self.label = count, label
        if values is not None:
            array = _check.numbers("values", values, f"{count} numbers, one for each row of centres")
            if array.shape != (count,):
                raise InputError(f"values: found shape {array.shape}, expected ({count},), a number for each sphere")
            self.values = array.astype(np.float64)

    def mappable(self) -> ScalarMappable:
        """What matplotlib makes colours and a colour bar of."""
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        known = self.values[np.isfinite(self.values)] if self.values is not None else np.empty(0)
        low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
        return ScalarMappable(Normalize(low, high), mpl.colormaps["viridis"].with_extremes(bad=_UNKNOWN))

    def colours(self) -> NDArray[np.float64]:
        """(n, 3): red, green and blue, from 0 to 1."""
        from matplotlib.colors import to_rgb

        if self.values is None:
            return np.tile(to_rgb(_PLAIN), (self.count, 1))
        return np.ascontiguousarray(self.mappable().to_rgba(np.ma.masked_invalid(self.values))[:, :3])


def _corners(box: ArrayLike | None, dimension: int) -> NDArray[np.float64] | None:
    """(2, d): lower and upper corner."""
    if box is None:
        return None
    space = read_space(box, False, dimension)
    return np.array([space.low, space.low + space.lengths])[:, :dimension]


def _check_size(named: list[tuple[str, NDArray[np.float64] | None]]) -> None:
    for name, array in named:
        if array is not None and array.size and np.abs(array).max() > _LARGEST:
            raise InputError(f"{name}: found {np.abs(array).max()}, expected lengths of at most {_LARGEST} m")


def _draw_discs(
    centres: NDArray[np.float64],
    radii: NDArray[np.float64],
    scale: _Scale,
    box: NDArray[np.float64] | None,
    title: str,
) -> Figure:
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    edges = [centres - radii[:, None], centres + radii[:, None], np.empty((0, 2)) if box is None else box]
    everything = np.concatenate(edges)
    low, high = (everything.min(axis=0), everything.max(axis=0)) if len(everything) else (np.zeros(2), np.ones(2))
    margin = 0.02 * (max(high - low) or 1.0)
    lengths = high - low + 2 * margin
    width = 6.5
    figure = Figure(
        figsize=(width, float(np.clip(width * lengths[1] / lengths[0], 2.0, 7.5)) + 0.6), layout="compressed"
    )
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


def _frame_picture(picture: Picture, scale: _Scale, title: str) -> Figure:
    """A figure with one pixel for each of the picture, a colour bar, a scale bar and the directions of the axes."""
    from matplotlib.figure import Figure

    height, width = np.array(picture.pixels.shape[:2]) / _DPI
    right = 1.1 if scale.values is not None else 0.0
    top, bottom = 0.4 if title else 0.0, 0.62
    total_width, total_height = width + right, height + top + bottom

    def part(left: float, low: float, wide: float, high: float) -> tuple[float, float, float, float]:
        return left / total_width, low / total_height, wide / total_width, high / total_height

    figure = Figure(figsize=(total_width, total_height))
    axes = figure.add_axes(part(0, bottom, width, height))
    axes.imshow(picture.pixels, extent=picture.extent, interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    figure.text(width / 2 / total_width, (bottom + height + top / 2) / total_height, title,
                ha="center", va="center", fontsize=10)  # fmt: skip
    _draw_directions(figure.add_axes(part(0.08, 0.0, 0.8, 0.8)), picture.axes)
    _draw_scale_bar(figure.add_axes(part(1.0, 0.0, width - 1.0, bottom)), picture, width)
    if scale.values is not None:
        bar = figure.add_axes(part(width + 0.1, bottom + 0.15 * height, 0.16, 0.7 * height))
        figure.colorbar(scale.mappable(), cax=bar, label=scale.label)
    return figure


def _draw_directions(axes: Any, directions: NDArray[np.float64]) -> None:
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.2, 1.8))
    axes.set_axis_off()
    for name, (x, y) in zip("xyz", directions, strict=True):
        if np.hypot(x, y) > 0.1:  # not one that points to the eye
            axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": "0.25", "lw": 0.8,
                                                          "shrinkA": 0, "shrinkB": 0})  # fmt: skip
            axes.text(1.3 * x, 1.3 * y, name, ha="center", va="center", fontsize=8, color="0.25")


def _draw_scale_bar(axes: Any, picture: Picture, inches: float) -> None:
    """A line of a round length, at most a third as long as the picture is wide."""
    from matplotlib.ticker import EngFormatter

    per_inch = (picture.extent[1] - picture.extent[0]) / inches
    longest = per_inch * inches / 3
    power = 10.0 ** np.floor(np.log10(longest))
    length = max(step * power for step in (1, 2, 5) if step * power <= longest)
    axes.set(xlim=(0, per_inch * (inches - 1.0)), ylim=(0, 1))
    axes.set_axis_off()
    axes.plot([0.05 * per_inch, 0.05 * per_inch + length], [0.35, 0.35], color="0.25", lw=2, solid_capstyle="butt")
    axes.text(0.05 * per_inch + length / 2, 0.48, EngFormatter("m")(length), ha="center", va="bottom", color="0.25")
