"""Movies: pictures one after the other in a file. Needs imageio-ffmpeg, which brings the program ffmpeg along."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError, install
from impinge.output.atomic import check_target, replacing

__all__ = ["Movie"]

_WHITE = 255
# H.264 with 4:2:0 and its table of contents in front plays everywhere, in browsers and slides too. Unless told so,
# ffmpeg rounds white to grey, and leaves it to players to guess what the colours are.
_EXACT = "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int"
# A palette for each picture keeps no more than one of them in memory; ordered dithering does not flicker.
_PALETTES = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=bayer"
_FORMATS: dict[str, dict[str, Any]] = {
    ".mp4": {"quality": 7, "macro_block_size": 2,
             "output_params": ["-f", "mp4", "-movflags", "+faststart", "-vf", _EXACT]},
    ".gif": {"codec": "gif", "pix_fmt_out": "pal8", "quality": None, "macro_block_size": 1,
             "output_params": ["-f", "gif", "-vf", _PALETTES]},
}  # fmt: skip


class Movie:
    """A file that `draw_spheres` and `draw_soft` add pictures to, in place of the path of a picture.

    They should have the same `around`, `limits` and `size`: then one camera and one scale of colours serve them all.
    The file appears when the ``with`` block ends; none does if it fails. ::

        with Movie("fall.mp4", fps=25) as movie:
            for _ in range(100):
                world.run(until=world.time + 0.01)
                draw_spheres(movie, world.spheres.centres, world.spheres.radii, around=[[0, 0, 0], [1, 1, 1]])

    Parameters
    ----------
    path : path
        Ending in .mp4 (H.264) or .gif.
    fps : float
        Pictures per second.

    Attributes
    ----------
    count : int
        Pictures so far.
    size : (width, height)
        Of each, in pixels; (0, 0) before the first.
    """

    def __init__(self, path: str | os.PathLike[str], fps: float) -> None:
        self.path, self.fps = Path(path), _check.positive("fps", fps)
        self.count, self.size = 0, (0, 0)
        check_target(path, _FORMATS)
        try:
            import imageio_ffmpeg
        except ModuleNotFoundError:
            raise InputError(f"movie: needs imageio-ffmpeg; {install('report')}") from None
        self._ffmpeg = imageio_ffmpeg
        self._stack = ExitStack()
        self._writer: Generator[None, Any, None] | None = None

    def __enter__(self) -> Movie:
        self._file = self._stack.enter_context(replacing(self.path))
        self._stack.push(self._finish)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def add(self, pixels: NDArray[np.uint8]) -> None:
        """The next picture, (height, width, 3), as large as the first; H.264 makes its lengths even."""
        height, width = (length + length % 2 for length in pixels.shape[:2])
        if self._writer is None:
            self.size = width, height
            options = _FORMATS[self.path.suffix.lower()]
            self._writer = self._ffmpeg.write_frames(
                self._file.name, self.size, fps=self.fps, ffmpeg_log_level="error", **options
            )
            self._writer.send(None)
        if (width, height) != self.size:
            raise InputError(f"movie: found a picture of {width} × {height} pixels after others of "
                             f"{self.size[0]} × {self.size[1]}, expected the same; give `around`")  # fmt: skip
        padded = np.full((height, width, 3), _WHITE, np.uint8)
        padded[: pixels.shape[0], : pixels.shape[1]] = pixels
        try:
            self._writer.send(padded)
        except OSError:
            raise self._failed() from None
        self.count += 1

    def _finish(self, kind: Any, *_: Any) -> None:
        """End the file; an error if there is less in it than was added, of which ffmpeg alone does not tell."""
        if self._writer is not None:
            with suppress(OSError):
                self._writer.close()
        if kind is not None:
            return
        if not self.count:
            raise InputError("movie: found no pictures, expected at least one")
        try:
            there = self._ffmpeg.count_frames_and_secs(self._file.name)[0]
        except RuntimeError:
            there = 0
        if there < self.count:
            raise self._failed()

    def _failed(self) -> OSError:
        return OSError(errno.EIO, "could not be written whole by ffmpeg", str(self.path))
