"""Movies: how many pictures, how large, in which colours; files that appear whole or not at all."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.output import Movie, draw_spheres, figure

ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]


def plain(colour: tuple[int, int, int], height: int = 48, width: int = 64) -> Any:
    return np.tile(np.array(colour, np.uint8), (height, width, 1))


def write(path: Path, *pictures: Any) -> None:
    with Movie(path, 5) as movie:
        for pixels in pictures:
            movie.add(pixels)


def pictures_of(path: Path, size: tuple[int, int]) -> Any:
    """(n, height, width, 3)"""
    command = [ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, size[1], size[0], 3)


@pytest.mark.parametrize("ending", [".mp4", ".gif", ".MP4"])
def test_movies(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    with Movie(path, fps=10) as movie:
        for colour in COLOURS:
            movie.add(plain(colour))
        assert not path.exists()
    assert (movie.count, movie.size) == (3, (64, 48))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    found = pictures_of(path, movie.size)
    assert len(found) == 3
    for pixels, colour in zip(found, COLOURS, strict=True):
        assert np.abs(pixels.mean(axis=(0, 1)) - colour).max() < 8
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert (frames, seconds) == (3, pytest.approx(0.3, abs=0.05))


def test_what_players_want(tmp_path: Path) -> None:
    """Even lengths, and colours at half the resolution."""
    with Movie(tmp_path / "a.mp4", fps=25) as movie:
        movie.add(plain(COLOURS[0], 51, 33))
    command = [ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", tmp_path / "a.mp4"]
    facts = subprocess.run(command, capture_output=True, text=True).stderr
    assert "h264" in facts
    assert "yuv420p" in facts
    assert "34x52" in facts
    pixels = pictures_of(tmp_path / "a.mp4", movie.size)[0]
    assert pixels[51, :].min() > 180  # what was added is white
    assert (tmp_path / "a.mp4").read_bytes().find(b"moov") < 100  # so that it plays before all is there


def test_pictures_of_a_moving_camera_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="64 × 50 pixels after others of 64 × 48"):
        write(tmp_path / "a.mp4", plain(COLOURS[0]), plain(COLOURS[0], 50))
    assert list(tmp_path.iterdir()) == []


def test_failures_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        write(tmp_path / "a.mp4", plain(COLOURS[0]), None)
    with pytest.raises(InputError, match="no pictures"):
        write(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_what_ffmpeg_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk it writes less, and nobody hears of it."""
    monkeypatch.setattr(ffmpeg, "count_frames_and_secs", lambda path: (1, 0.2))
    with pytest.raises(OSError, match="whole") as caught:
        write(tmp_path / "a.mp4", plain(COLOURS[0]), plain(COLOURS[1]))
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, str(tmp_path / "a.mp4"))
    assert list(tmp_path.iterdir()) == []


def test_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"'a\.avi', expected an ending of \.mp4 or \.gif"):
        Movie("a.avi", 5)
    with pytest.raises(InputError, match="fps"):
        Movie("a.mp4", 0)
    with pytest.raises(InputError, match="whose folder does not exist"):
        write(tmp_path / "nowhere" / "a.mp4", plain(COLOURS[0]))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r"pip install '.\[report\]'"):
        Movie("a.mp4", 5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_drawn_movies_have_one_camera(tmp_path: Path, dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sphere crosses the picture; the colour that it has at first is that of the lowest value."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setattr(figure, "SIZE", (300, 240))
    corners = np.array([[-1.0] * dimension, [1.0] * dimension])
    with Movie(tmp_path / "a.mp4", 5) as movie:
        for x in (-0.5, 0.0, 0.5):
            centre = np.zeros((1, dimension))
            centre[0, 0] = x
            draw_spheres(movie, centre, 0.2, [x], limits=(-0.5, 0.5), around=corners, label="x", title=f"{x}")
    right = 1000 if dimension == 2 else 300  # there begins the colour bar
    found = [pixels[:, :right].astype(int) for pixels in pictures_of(tmp_path / "a.mp4", movie.size)]
    middles = [np.nonzero(np.ptp(pixels, axis=2) > 40)[1].mean() for pixels in found]
    assert middles[1] - middles[0] == pytest.approx(middles[2] - middles[1], rel=0.1)
    assert middles[1] > middles[0] + 30
    first, last = (pixels[np.ptp(pixels, axis=2) > 40].mean(axis=0) for pixels in (found[0], found[2]))
    assert first[2] > first[1]  # violet
    assert last[1] > 1.5 * last[2]  # yellow
