"""``impinge picture``: pictures and movies of a run, from its folder."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from impinge.cli.common import app, compiling_told, progress, reported

if TYPE_CHECKING:
    from impinge.show.picture import Pictures


@app.command()
def picture(
    folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder that `impinge run` has written.")],
    time: Annotated[float | None, typer.Option(help="In s; the nearest frame is drawn. Default: the last.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="A .png, .pdf or .svg; of a movie .mp4 or .gif. Default: picture.png, movie.mp4 in RUN_DIR.",
        ),
    ] = None,
    movie: Annotated[bool, typer.Option("--movie", help="A movie of all frames.")] = False,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Of a movie: every N-th frame.")] = 1,
    fps: Annotated[
        float | None, typer.Option(help="Of a movie: frames per second. Default: it lasts about 8 s.")
    ] = None,
    colour: Annotated[
        str | None,
        typer.Option(
            "--colour", "--color", help="What colours show: speed, radius, strain, …; any other name lists them all."
        ),
    ] = None,
    limits: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Values of the first and the last colour.")
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            metavar="AZIMUTH,ELEVATION", help="Where the eye is, in degrees; 0,0 is on the side of +x. Default: -60,20."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="WIDTH,HEIGHT", help="Most pixels. Default: 1500,1200, of a movie 1200,900."),
    ] = None,
    steady: Annotated[
        bool, typer.Option("--steady", help="Camera and colours as in a movie, the same whatever the time.")
    ] = False,
) -> None:
    """Draw a frame of the run in RUN_DIR, or a movie of all; also while it runs."""
    with reported(), compiling_told():
        from impinge.errors import InputError

        found = [name for name, value in (("--every", every != 1), ("--fps", fps is not None)) if value]
        if found and not movie:
            raise InputError(f"{', '.join(found)}: found without --movie")
        if time is not None and movie:
            raise InputError("--time: found with --movie, expected one of them")
        if fps is not None and not fps > 0:
            raise InputError(f"--fps: found {fps:g}, expected a positive number")
        if time is not None and not math.isfinite(time):
            raise InputError(f"--time: found {time:g}, expected a time in s")
        pair = _pair("--size", size)
        from impinge.show.picture import Pictures
        from impinge.show.recording import Recording

        pictures = Pictures(
            Recording(folder), colour, _pair("--view", view), pair and (int(pair[0]), int(pair[1])),
            _pair("--limits", limits),
        )  # fmt: skip
        with progress(after=1.0) as bar:
            task = bar.add_task("Drawing", total=1.0)
            if movie:
                text = _write_movie(pictures, out, every, fps, lambda done: bar.update(task, completed=done))
            else:
                text = _draw(pictures, out, time, steady)
    print(text)


def _pair(name: str, text: str | None) -> tuple[float, float] | None:
    """Two numbers with a comma between them."""
    from impinge.errors import InputError

    if text is None:
        return None
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise InputError(f"{name}: found {text!r}, expected two numbers with a comma between them") from None
    return first, second


def _target(out: Path | None, pictures: Pictures, name: str, endings: tuple[str, ...]) -> Path:
    """The file to be written."""
    from impinge.errors import InputError

    if out is None:
        return pictures.recording.folder / name
    if out.suffix.lower() not in endings:
        raise InputError(f"--out: found {str(out)!r}, expected an ending of {' or '.join(endings)}")
    if not out.absolute().parent.is_dir():
        raise InputError(f"--out: found {str(out)!r}, whose folder does not exist, expected one that does")
    return out


def _draw(pictures: Pictures, out: Path | None, time: float | None, steady: bool) -> str:
    recording = pictures.recording
    number = len(recording) - 1 if time is None else recording.nearest(time)
    name = "picture.png" if time is None else f"picture-{pictures.time(number)}s.png"
    target = _target(out, pictures, name, (".png", ".pdf", ".svg"))
    if steady:
        pictures.steady(range(len(recording)))
    pictures.draw(target, number)
    return f"written {target}: frame {number + 1} of {len(recording)}, t = {recording.times[number]:g} s"


def _write_movie(
    pictures: Pictures, out: Path | None, every: int, fps: float | None, tell: Callable[[float], None]
) -> str:
    from impinge.show.picture import write_movie

    target = _target(out, pictures, "movie.mp4", (".mp4", ".gif"))
    made = write_movie(target, pictures, range(0, len(pictures.recording), every), fps, tell)
    seconds, (width, height) = made.count / made.fps, made.size
    frames = "frame" if made.count == 1 else "frames"
    return f"written {target}: {made.count} {frames}, {seconds:.3g} s at {made.fps:g} per second, {width} × {height}"
