"""What is around a picture: its title, a colour bar, a scale bar and the directions of the axes. Needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.broad.space import read_space
from impinge.errors import InputError, install
from impinge.output.atomic import check_target, replacing
from impinge.output.camera import Picture
from impinge.output.colours import Span, body_colours
from impinge.output.movie import Movie

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = [
    "ENDINGS",
    "SIZE",
    "Scale",
    "check_lengths",
    "check_path",
    "colour_bar",
    "decimals",
    "frame_picture",
    "read_around",
    "read_colours",
    "read_corners",
    "read_lines",
    "read_size",
    "resolution",
    "save_figure",
    "style",
    "title_at",
    "view_angles",
]

ENDINGS = {".png": "Software", ".pdf": "CreationDate", ".svg": "Date"}  # and what would differ between equal pictures
SIZE = 1500, 1200  # pixels of a picture, at most
_DPI = 200  # of a picture of this size; others have their texts larger or smaller with them
_SIZES = 50, 20_000  # pixels: what is asked for by mistake
_PLAIN = "#d9b26f"  # without values: sand
_UNKNOWN = "#bbbbbb"  # where a value is not a number
_VIEW = -60.0, 20.0
_LARGEST = 1e150  # m
_OF_RUN = 0.01  # of its time: what a title must tell apart
_STYLE: dict[Any, Any] = {
    "font.size": 9, "font.family": "DejaVu Sans", "axes.titlesize": 10, "svg.hashsalt": "impinge",
}  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """Our settings of matplotlib inside the block; the user's are back after it."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError(f"picture: needs matplotlib; {install('report')}") from None
    with mpl.rc_context(_STYLE):
        yield


def check_path(path: str | os.PathLike[str] | Movie) -> None:
    """Raise an error about what cannot be written, before anything is drawn."""
    if not isinstance(path, Movie):
        check_target(path, ENDINGS)


def save_figure(path: str | os.PathLike[str] | Movie, figure: Figure, trim: bool) -> None:
    """Write a file, without its margins if asked; a picture of pixels keeps them as they are. Or add to a movie."""
    if isinstance(path, Movie):
        path.add(_pixels(figure))
        return
    ending = Path(path).suffix.lower()
    with replacing(path) as file:
        figure.savefig(
            file, format=ending[1:], dpi="figure", metadata={ENDINGS[ending]: None},
            bbox_inches="tight" if trim else None,
        )  # fmt: skip


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
    """Colours of values, or of names that whole numbers stand for."""

    def __init__(
        self,
        values: ArrayLike | None,
        count: int,
        label: str,
        limits: tuple[float, float] | None = None,
        names: Mapping[int, str] | None = None,
    ) -> None:
        self.values: NDArray[np.float64] | None = None
        self.count, self.label, self.names = count, label, dict(sorted((names or {}).items()))
        self.beyond = False  # whether there are values that only the last colour stands for
        if values is not None:
            array = _check.numbers("values", values, f"{count} numbers, one for each body")
            if array.shape != (count,):
                raise InputError(f"values: found shape {array.shape}, expected ({count},), a number for each body")
            self.values = array.astype(np.float64)
        if limits is not None:
            low, high = _check.vector("limits", limits, 2).tolist()
            if low > high:
                raise InputError(f"limits: found ({low:g}, {high:g}), expected the lowest value first")
            self.limits = low, high
        else:
            span = Span()
            if self.values is not None:
                span.take(self.values)
            self.limits = span.limits(label.partition(" [")[0])
            self.beyond = bool(span.highest > self.limits[1] + 1e-9 * abs(self.limits[1]))

    def mappable(self) -> ScalarMappable:
        """What matplotlib makes colours and a colour bar of."""
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize

        if self.names:
            numbers = np.array([*self.names])
            colours = ListedColormap(body_colours(np.arange(len(numbers)))).with_extremes(bad=_UNKNOWN)
            edges = [numbers[0] - 0.5, *(0.5 * (numbers[1:] + numbers[:-1])), numbers[-1] + 0.5]
            return ScalarMappable(BoundaryNorm(edges, len(numbers)), colours)
        return ScalarMappable(Normalize(*self.limits), mpl.colormaps["viridis"].with_extremes(bad=_UNKNOWN))

    def colours(self) -> NDArray[np.float64]:
        """(n, 3): red, green and blue, from 0 to 1."""
        from matplotlib.colors import to_rgb

        if self.values is None:
            return np.tile(to_rgb(_PLAIN), (self.count, 1))
        return np.ascontiguousarray(self.mappable().to_rgba(np.ma.masked_invalid(self.values))[:, :3])


def colour_bar(figure: Figure, scale: Scale, **place: Any) -> None:
    """What the colours of a figure say: a bar of values, or of names."""
    if not scale.names:
        figure.colorbar(scale.mappable(), label=scale.label, extend="max" if scale.beyond else "neither", **place)
        return
    bar = figure.colorbar(scale.mappable(), label=scale.label, spacing="uniform", drawedges=True, **place)
    edges = bar.norm.boundaries  # type: ignore[attr-defined]
    bar.set_ticks(0.5 * (edges[1:] + edges[:-1]), labels=[*scale.names.values()])
    bar.ax.tick_params(which="both", length=0)


def decimals(times: ArrayLike, apart: float) -> int:
    """Digits after the point that tell times apart which are about so far from each other, so that titles do not jump.

    Times of frames are those of whole steps: 0.50007 s is 0.5 s, if the next is 0.52 s.
    """
    shown = np.asarray(times, np.float64)
    for digits in range(9):
        if np.abs(np.round(shown, digits) - shown).max() <= 0.1 * apart:
            return digits
    return 9


def title_at(time: float, until: float) -> str:
    """The title of a picture of a run that ends then: times of steps are not round, those that are asked for are."""
    return f"t = {time:.{decimals([time], _OF_RUN * until)}f} s"


def read_lines(lines: ArrayLike | None, dimension: int) -> NDArray[np.float64]:
    """(k, 2, d): ends of lines; none by default."""
    if lines is None:
        return np.empty((0, 2, dimension))
    array = _check.numbers("lines", lines, f"numbers of shape (k, 2, {dimension})").astype(np.float64)
    if array.shape[1:] != (2, dimension) or not np.isfinite(array).all():
        raise InputError(f"lines: found shape {array.shape}, expected (k, 2, {dimension}), finite numbers")
    return array


def read_colours(
    name: str, colours: Sequence[str | None] | None, count: int
) -> list[tuple[float, float, float] | None]:
    """Of each of so many things a colour, or None."""
    from matplotlib.colors import is_color_like, to_rgb

    found = [None] * count if colours is None else list(colours)
    if len(found) != count:
        raise InputError(f"{name}: found {len(found)}, expected {count}, a colour or None for each")
    for colour in found:
        if colour is not None and not is_color_like(colour):
            raise InputError(f'{name}: found {colour!r}, expected a colour such as "#c4553b", or None')
    return [None if colour is None else to_rgb(colour) for colour in found]


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
    longest = max((len(name) for name in scale.names.values()), default=0)
    right = max(1.1, 0.6 + 0.075 * longest) if scale.values is not None else 0.0
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
        colour_bar(figure, scale, cax=bar)
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
