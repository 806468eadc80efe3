"""Pictures and movies of a run, from its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.camera import box_edges, view_corners
from impinge.output.figure import read_corners, view_angles
from impinge.output.movie import Movie
from impinge.output.picture import draw_spheres
from impinge.output.planes import planes_seen
from impinge.output.softpicture import draw_soft
from impinge.run.scene import models
from impinge.shapes.mesh import Mesh
from impinge.show.recording import Frame, Recording
from impinge.show.shown import scalars_of

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
        Values of the first and the last colour; those of each frame by default.
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
        self._box = model.drawn_box
        self._planes = [(plane.point, plane.normal) for plane in getattr(model, "planes", []) if not plane.moves]
        self._corners: Floats | None = None  # (2, 3): of a box around all that is shown with one camera
        self._decimals = _decimals(recording.times)

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
        if frame.soft is not None:
            draw_soft(path, frame.soft, **options)
            return
        centres, radii = _spheres_of(frame)
        if self._flat:
            draw_spheres(path, centres[:, :2], radii, box=self._box, **options)
            return
        bodies = frame.bodies.meshes() if frame.bodies is not None else []
        meshes = [*frame.obstacles, *self._planes_of(_places(frame) if self._corners is None else [self._corners])]
        draw_spheres(path, centres, radii, box=self._box, meshes=meshes, bodies=bodies, **options)

    def steady(self, numbers: Sequence[int], tell: Callable[[float], None] = lambda done: None) -> None:
        """From now on show these frames with one camera and one scale of colours, which serve them all.

        `tell` is called with the part of them that has been looked at, from 0 to 1.
        """
        view = view_angles(self.view)
        around, low, high = np.empty((0, 3)), np.inf, -np.inf
        corners = [np.empty((0, 3))]
        for done, number in enumerate(numbers, 1):
            frame = self.recording[number]
            around = view_corners(*_extent(frame, around), view) if not self._flat else _flat_extent(frame, around)
            corners = [_corners(corners + _places(frame))]
            values = self._values(frame)[1]
            if values is not None:
                values = values[np.isfinite(values)]
                low, high = min(low, values.min(initial=np.inf)), max(high, values.max(initial=-np.inf))
            tell(done / len(numbers))
        if not self._flat:
            self._corners = corners[0]
            planes = [mesh.vertices for mesh in self._planes_of(corners)]
            around = view_corners(np.empty((0, 4)), [around, *planes], view) if planes else around
        if self._box is not None:
            box = read_corners(self._box, 2 if self._flat else 3)
            assert box is not None
            around = np.concatenate([around, box if self._flat else box_edges(box).reshape(-1, 3)])
        self.around = around if len(around) else None
        if self.limits is None and low <= high:
            self.limits = float(low), float(high)

    def _planes_of(self, places: list[Floats]) -> list[Mesh]:
        """What is seen of the planes of the scene, around some places."""
        return planes_seen(self._planes, places, view_angles(self.view))

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


def _places(frame: Frame) -> list[Floats]:
    """Places, (k, 3), that all of a frame is between."""
    spheres, points = _extent(frame, np.empty((0, 3)))
    return [spheres[:, :3] - spheres[:, 3:], spheres[:, :3] + spheres[:, 3:], *points]


def _corners(places: list[Floats]) -> Floats:
    """(2, 3): of the box around places; nothing around none."""
    shown = np.concatenate(places)
    return np.array([shown.min(axis=0), shown.max(axis=0)]) if len(shown) else shown


def _extent(frame: Frame, before: Floats) -> tuple[Floats, list[Floats]]:
    """Spheres (n, 4), and places, that a picture of a frame shows; those of the frames before are among them."""
    places = [before, *(mesh.vertices for mesh in frame.obstacles)]
    if frame.soft is not None:
        return np.column_stack([frame.soft.positions, frame.soft.radii]), places
    return np.column_stack(_spheres_of(frame)), places + ([] if frame.bodies is None else [frame.bodies.vertices])


def _flat_extent(frame: Frame, before: Floats) -> Floats:
    """(2, 2), m: lowest and highest coordinates of discs, and of those of the frames before."""
    centres, radii = _spheres_of(frame)
    places = np.concatenate([before[:, :2], centres[:, :2] - radii[:, None], centres[:, :2] + radii[:, None]])
    return np.array([places.min(axis=0), places.max(axis=0)]) if len(places) else places


def _decimals(times: Floats) -> int:
    """Digits after the point that tell the times of frames apart, so that titles do not jump."""
    apart = float(np.diff(times).min()) if len(times) > 1 else float(times[-1])
    for decimals in range(9):
        if np.abs(np.round(times, decimals) - times).max() <= 0.1 * apart:
            return decimals
    return 9
