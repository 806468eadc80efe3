"""Pictures and movies of a run, from its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.camera import view_axes
from impinge.output.colours import Span
from impinge.output.figure import decimals, view_angles
from impinge.output.framing import Framing
from impinge.output.movie import Movie
from impinge.output.picture import draw_spheres
from impinge.output.softpicture import draw_soft
from impinge.run.scene import models
from impinge.run.scenery import Scenery
from impinge.show.recording import Frame, Recording
from impinge.show.shown import frame_into, scalars_of

__all__ = ["Pictures", "write_movie"]

Floats = NDArray[np.float64]
_MOVIE = 1200, 900  # pixels, at most; with title and colour bar it fits a screen of 1080 rows
_SECONDS = 8.0  # how long a movie lasts, unless that is too slow or too fast to be looked at
_LOOK = 0.1  # part of the time that a first look at all frames takes
_FEWEST, _MOST = 5.0, 30.0  # pictures per second


class Pictures:
    """Draws frames of a run, in the way of the picture at its end.

    Parameters
    ----------
    recording : Recording
    colour : str, optional
        What is shown as colours: "speed", "radius", or any other data of the frames, e.g. "spin" or "contact force"; of
        vectors the length. By default the speed of spheres and rigid bodies; cables and cloths have a colour each.
    view : (azimuth, elevation), degrees, optional
        Where the eye is, as `draw_spheres` takes it.
    size : (width, height), optional
        Most pixels, without title and colour bar; (1500, 1200), or (1200, 900) of movies, by default.
    limits : (lowest, highest), optional
        Values of the first and the last colour; by default from the lowest of each frame, or from 0 of speeds and the
        like, to one that one value in 200 exceeds.
    """

    def __init__(
        self,
        recording: Recording,
        colour: str | None = None,
        view: tuple[float, float] | None = None,
        size: tuple[int, int] | None = None,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.recording = recording
        model = recording.scene.model
        self._flat = model.is_flat
        if self._flat and view is not None:
            raise InputError(f"view: found {view}, expected none, as {recording.folder} holds discs in a plane")
        self.colour = colour or ("speed" if isinstance(model, models.Particles) else None)
        self.view, self.size, self.limits = view, size, limits
        self.around: Floats | None = None
        self._scenery = Scenery(model)
        self._names = _names_of(model, self.colour)
        self._bounds: Floats | None = None  # (2, d), m: of what is shown with one camera
        times = recording.times
        self._decimals = decimals(times, float(np.diff(times).min()) if len(times) > 1 else float(times[-1]))

    def time(self, number: int) -> str:
        """Of a frame, in s, with as many digits as tell it from the others."""
        return f"{self.recording.times[number]:.{self._decimals}f}"

    def draw(self, path: str | os.PathLike[str] | Movie, number: int) -> None:
        """Draw a frame into a file, or add it to a movie."""
        frame: Frame = self.recording[number]
        label, values = self._values(frame)
        options: dict[str, Any] = {
            "values": values, "label": label, "title": f"t = {self.time(number)} s",
            "view": self.view, "size": self.size, "limits": self.limits, "around": self.around,
        }  # fmt: skip
        painted = self._scenery.colours[: len(frame.obstacles)]
        if frame.soft is not None:
            draw_soft(path, frame.soft, obstacle_colours=painted, **options)
            return
        bounds = self._bounds
        if bounds is None:
            framing = self._framing()
            frame_into(framing, frame)
            bounds = framing.bounds()
        options |= {"lines": self._scenery.edges(bounds), "names": self._names}
        centres, radii = _spheres_of(frame)
        if self._flat:
            draw_spheres(path, centres[:, :2], radii, **options)
            return
        bodies = frame.bodies.meshes() if frame.bodies is not None else []
        walls = self._scenery.walls(bounds, view_angles(self.view), frame.time)
        colours = [*painted, *([None] * len(walls))]
        draw_spheres(
            path, centres, radii, meshes=[*frame.obstacles, *walls], mesh_colours=colours, bodies=bodies, **options
        )

    def _framing(self) -> Framing:
        """Along the axes of the world."""
        return Framing(np.eye(2 if self._flat else 3))

    def steady(self, numbers: Sequence[int], tell: Callable[[float], None] = lambda done: None) -> None:
        """From now on show these frames with one camera and one scale of colours, which serve them all.

        `tell` is called with the part of them that has been looked at, from 0 to 1.
        """
        view = view_angles(self.view)
        framing, span, name = self._framing(), Span(), ""
        seen = framing if self._flat else Framing(view_axes(*view))
        for done, number in enumerate(numbers, 1):
            frame = self.recording[number]
            frame_into(framing, frame)
            if seen is not framing:
                frame_into(seen, frame)
            name, values = self._values(frame)
            if values is not None:
                span.take(values)
            tell(done / len(numbers))
        self._bounds = framing.bounds()
        ends = [self.recording.times[number] for number in (numbers[0], numbers[-1])]
        walls = [mesh.vertices for time in ends for mesh in self._scenery.walls(self._bounds, view, time)]
        edges = self._scenery.edges(self._bounds)
        seen.add(np.empty((0, edges.shape[-1] + 1)), None, [*walls, edges.reshape(-1, edges.shape[-1])])
        self.around = seen.corners()
        if self.limits is None and span.low <= span.highest:
            self.limits = span.limits(name.partition(" [")[0])

    def _values(self, frame: Frame) -> tuple[str, Floats | None]:
        """What colours show, with the unit, and the values: of nodes, or of spheres and bodies; NaN where unknown."""
        if self.colour is None:
            return "", None
        known = [scalars_of(part) for part in (frame.soft, frame.spheres, frame.bodies) if part is not None]
        names = dict.fromkeys(name for some in known for name in some)
        name = self.colour if self.colour in names else self.colour.replace("_", " ")
        if name not in names:
            raise InputError(f"colour: found {self.colour!r}, expected one of {', '.join(names)}")
        unit = next(some[name][0] for some in known if name in some)
        counts = [len(next(iter(some.values()))[1]) for some in known]
        columns = [
            some[name][1] if name in some else np.full(count, np.nan) for some, count in zip(known, counts, strict=True)
        ]
        return name + (f" [{unit}]" if unit else ""), np.concatenate(columns)


def write_movie(
    path: str | os.PathLike[str],
    pictures: Pictures,
    numbers: Sequence[int],
    fps: float | None = None,
    tell: Callable[[float], None] = lambda done: None,
) -> Movie:
    """A movie of frames of a run, with one camera and one scale of colours; picture after picture, none is kept.

    Parameters
    ----------
    path : path
        Ending in .mp4 or .gif.
    pictures : Pictures
    numbers : sequence of integers
        Of the frames.
    fps : float, optional
        Frames per second; by default as many as make it last about eight seconds, from 5 to 30.
    tell : function
        Called with the part that is done, from 0 to 1.
    """
    with Movie(path, fps or float(np.clip(round(len(numbers) / _SECONDS), _FEWEST, _MOST))) as movie:
        pictures.steady(numbers, lambda done: tell(_LOOK * done))
        pictures.size = pictures.size or _MOVIE
        for done, number in enumerate(numbers, 1):
            pictures.draw(movie, number)
            tell(_LOOK + (1.0 - _LOOK) * done / len(numbers))
    return movie


def _spheres_of(frame: Frame) -> tuple[Floats, Floats]:
    if frame.spheres is None:
        return np.empty((0, 3)), np.empty(0)
    return frame.spheres.centres, frame.spheres.radii


def _names_of(model: Any, colour: str | None) -> dict[int, str] | None:
    """What numbers of groups stand for."""
    if colour != "group" or not isinstance(model, models.Particles):
        return None
    names = {number: group.name or f"spheres {number + 1}" for number, group in enumerate(model.spheres)}
    return ({-1: "from sources"} if model.sources else {}) | names or None
