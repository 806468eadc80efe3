"""What is around a picture: its title, a colour bar, a scale bar and the directions of the axes. Needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.broad.space import read_space
from impinge.errors import InputError, install
from impinge.output.atomic import replacing
from impinge.output.camera import Picture
from impinge.output.movie import Movie

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = [
    "SIZE",
    "Scale",
    "check_lengths",
    "frame_picture",
    "read_around",
    "read_corners",
    "read_size",
    "resolution",
    "save_figure",
    "style",
    "view_angles",
]

SIZE = 1500, 1200  # pixels of a picture, at most
_DPI = 200  # of a picture of this size; others have their texts larger or smaller with them
_SIZES = 50, 20_000  # pixels: what is asked for by mistake
_PLAIN = "#d9b26f"  # without values: sand
_UNKNOWN = "#bbbbbb"  # where a value is not a number
_VIEW = -60.0, 20.0
_LARGEST = 1e150  # m
_STYLE: dict[Any, Any] = {"font.size": 9, "font.family": "DejaVu Sans", "axes.titlesize": 10}


@contextmanager
def style() -> Iterator[None]:
    """Our settings of matplotlib inside the block; the user's are back after it."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError(f"picture: needs matplotlib; {install('report')}") from None
    with mpl.rc_context(_STYLE):
        yield


def save_figure(path: str | os.PathLike[str] | Movie, figure: Figure, trim: bool) -> None:
    """Write a PNG file, without its margins if asked; a picture of pixels keeps them as they are. Or add to a movie."""
    if isinstance(path, Movie):
        path.add(_pixels(figure))
        return
    with replacing(path) as file:
        figure.savefig(
            file, format="png", dpi="figure", metadata={"Software": None}, bbox_inches="tight" if trim else None
        )


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    """(height, width, 3): what a figure shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def read_size(size: Any) -> tuple[int, int]:
    """Width and height, in pixels."""
    if size is None:
        return SIZE
    width, height = _check.vector("size", size, 2).tolist()
    if not all(_SIZES[0] <= length <= _SIZES[1] and length == int(length) for length in (width, height)):
        raise InputError(f"size: found ({width:g}, {height:g}), expected whole numbers from {_SIZES[0]} to {_SIZES[1]}")
    return int(width), int(height)


def resolution(size: tuple[int, int]) -> float:
    """Pixels per inch, with which texts have the same share of every picture."""
    return _DPI * min(size[0] / SIZE[0], size[1] / SIZE[1])


def read_around(around: ArrayLike | None, dimension: int) -> NDArray[np.float64] | None:
    """(k, d): places, at least one."""
    if around is None:
        return None
    places = _check.vectors("around", around, dimension)
    if not len(places):
        raise InputError("around: found no places, expected at least one")
    check_lengths([("around", places)])
    return places


def view_angles(view: tuple[float, float] | None) -> tuple[float, float]:
    """Azimuth and elevation, in degrees."""
    if view is None:
        return _VIEW
    azimuth, elevation = _check.vector("view", view, 2).tolist()
    return azimuth, elevation


class Scale:
    """Colours of values."""

    def __init__(
        self, values: ArrayLike | None, count: int, label: str, limits: tuple[float, float] | None = None
    ) -> None:
        self.values: NDArray[np.float64] | None = None
        self.limits: tuple[float, float] | None = None
        if limits is not None:
            low, high = _check.vector("limits", limits, 2).tolist()
            if low > high:
                raise InputError(f"limits: found ({low:g}, {high:g}), expected the lowest value first")
            self.limits = low, high
        self.count, self.label = count, label
        if values is not None:
            array = _check.numbers("values", values, f"{count} numbers, one for each body")
            if array.shape != (count,):
                raise InputError(f"values: found shape {array.shape}, expected ({count},), a number for each body")
            self.values = array.astype(np.float64)

    def mappable(self) -> ScalarMappable:
        """What matplotlib makes colours and a colour bar of."""
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        return ScalarMappable(Normalize(*self._span()), mpl.colormaps["viridis"].with_extremes(bad=_UNKNOWN))

    def _span(self) -> tuple[float, float]:
        """Values of the first and the last colour."""
        if self.limits is not None:
            return self.limits
        known = self.values[np.isfinite(self.values)] if self.values is not None else np.empty(0)
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)

    def colours(self) -> NDArray[np.float64]:
        """(n, 3): red, green and blue, from 0 to 1."""
        from matplotlib.colors import to_rgb

        if self.values is None:
            return np.tile(to_rgb(_PLAIN), (self.count, 1))
        return np.ascontiguousarray(self.mappable().to_rgba(np.ma.masked_invalid(self.values))[:, :3])


def read_corners(box: ArrayLike | None, dimension: int) -> NDArray[np.float64] | None:
    """(2, d): lower and upper corner."""
    if box is None:
        return None
    space = read_space(box, False, dimension)
    return np.array([space.low, space.low + space.lengths])[:, :dimension]


def check_lengths(named: list[tuple[str, NDArray[np.float64] | None]]) -> None:
    """Raise an error about arrays whose numbers are too large to be squared."""
    for name, array in named:
        if array is not None and array.size and np.abs(array).max() > _LARGEST:
            raise InputError(f"{name}: found {np.abs(array).max()}, expected lengths of at most {_LARGEST} m")


def frame_picture(picture: Picture, scale: Scale, title: str, dpi: float) -> Figure:
    """A figure with one pixel for each of the picture, a colour bar, a scale bar and the directions of the axes."""
    from matplotlib.figure import Figure

    height, width = np.array(picture.pixels.shape[:2]) / dpi
    right = 1.1 if scale.values is not None else 0.0
    top, bottom = 0.4 if title else 0.0, 0.62
    total_width, total_height = width + right, height + top + bottom

    def part(left: float, low: float, wide: float, high: float) -> tuple[float, float, float, float]:
        return left / total_width, low / total_height, wide / total_width, high / total_height

    figure = Figure(figsize=(total_width, total_height), dpi=dpi)
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
