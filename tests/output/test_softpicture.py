"""Pictures of soft bodies in files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge import shapes
from impinge.errors import InputError
from impinge.output import SoftFrame, draw_soft
from tests.output.softscenes import scene

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
from matplotlib import colormaps

from .pictures import read

pytestmark = pytest.mark.usefixtures("small")

FRONT = (-90.0, 0.0)


def reddish(pixels: Any) -> Any:
    return (pixels[:, :, 0] > 1.5 * pixels[:, :, 2]) & (pixels[:, :, 0] > 0.3)


@pytest.mark.parametrize("values", [None, "strain", "velocity", "contact_force", "bending", "radius", "body"])
def test_pictures(tmp_path: Path, values: str | None) -> None:
    draw_soft(tmp_path / "a.png", scene(), values, label="what [unit]", title="Some", box=[[-1] * 3, [3] * 3])
    pixels = read(tmp_path / "a.png")
    assert min(pixels.shape[:2]) > 250
    viridis = np.abs(pixels - np.array(colormaps["viridis"](0.7)[:3])).max(axis=2) < 0.02
    assert viridis.any() == (values is not None)  # at least in the colour bar
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_bodies_have_their_colours(tmp_path: Path) -> None:
    lines = np.array([[[0, 0, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 1.0]]]).reshape(4, 3)
    draw_soft(
        tmp_path / "a.png", SoftFrame(0, lines, cables=[[0, 1], [2, 3]], radii=0.1, bodies=[0, 0, 1, 1]), view=FRONT
    )
    pixels = read(tmp_path / "a.png")
    red, blue = reddish(pixels), pixels[:, :, 2] > 1.3 * pixels[:, :, 0]
    assert np.nonzero(red)[0].mean() > np.nonzero(blue)[0].mean() + 50  # rows run downwards
    assert red.sum() == pytest.approx(blue.sum(), rel=0.1)


@pytest.mark.parametrize("radius", [0.05, 0.15])
def test_cables_have_their_width(tmp_path: Path, radius: float) -> None:
    frame = SoftFrame(0, [[0, 0, 0], [2, 0, 0]], cables=[[0, 1]], radii=radius)
    draw_soft(tmp_path / "a.png", frame, view=FRONT, box=[[-0.5, 0, -0.5], [2.5, 0.1, 0.5]])
    shown = reddish(read(tmp_path / "a.png"))
    columns = np.flatnonzero(shown.any(axis=0))
    thickness = shown[:, (columns[0] + columns[-1]) // 2].sum()
    length = columns[-1] - columns[0] + 1
    assert thickness / length == pytest.approx(2 * radius / (2 + 2 * radius), rel=0.15)


def test_thin_cables_are_seen(tmp_path: Path) -> None:
    frame = SoftFrame(0, [[0, 0, 0], [1, 0, 1]], cables=[[0, 1]], radii=0.0)
    draw_soft(tmp_path / "a.png", frame, view=FRONT)
    assert reddish(read(tmp_path / "a.png")).sum() > 200


def test_obstacles_hide_what_is_behind(tmp_path: Path) -> None:
    line = [[-1, 0, 0], [1, 0, 0]]
    seen = []
    for y in (2.0, -2.0):  # the eye is at negative y
        ball = shapes.icosphere(3, 0.5)
        frame = SoftFrame(0, line, cables=[[0, 1]], radii=0.05, obstacles=[(ball.vertices + [0, y, 0], ball.faces)])
        draw_soft(tmp_path / "a.png", frame, view=FRONT)
        seen.append(reddish(read(tmp_path / "a.png")).sum())
    assert seen[1] < 0.65 * seen[0]


def test_nothing_and_little(tmp_path: Path) -> None:
    for frame in (SoftFrame(0, []), SoftFrame(0, [[1, 2, 3]]), SoftFrame(0, [[0] * 3] * 3, [[0, 1, 2]])):
        draw_soft(tmp_path / "a.png", frame)
        draw_soft(tmp_path / "a.png", frame, "body")


def test_same_frame_same_bytes(tmp_path: Path) -> None:
    draw_soft(tmp_path / "a.png", scene(), "strain")
    draw_soft(tmp_path / "b.png", scene(), "strain")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (scene(), {"values": "nothing"}, "values: found 'nothing', expected one of radius, body"),
        (scene(), {"view": (0, np.nan)}, "view: found"),
        (scene(), {"box": [1, 1]}, "box: found"),
        (SoftFrame(0, [[1e200, 0, 0]]), {}, r"positions: found 1e\+200, expected lengths of at most"),
    ],
)
def test_bad_input(tmp_path: Path, frame: SoftFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_soft(tmp_path / "a.png", frame, **options)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '.\[report\]'"):
        draw_soft(tmp_path / "a.png", scene())


def test_numbers_as_values_and_a_fixed_camera(tmp_path: Path) -> None:
    frame = scene()
    draw_soft(tmp_path / "a.png", frame, "strain")
    draw_soft(tmp_path / "b.png", frame, frame.node_values("strain"), label="strain")
    assert np.array_equal(read(tmp_path / "a.png"), read(tmp_path / "b.png"))
    shapes_found = set()
    for time in (0.0, 0.7):
        draw_soft(tmp_path / "c.png", scene(time), "strain", limits=(0, 2), around=[[-3.0] * 3, [4.0] * 3])
        shapes_found.add(read(tmp_path / "c.png").shape)
    assert len(shapes_found) == 1


def test_obstacles_have_colours(tmp_path: Path) -> None:
    frame, shares = scene(), []
    colours: list[str | None] = ["#00ff00"] * len(frame.obstacles)
    assert colours
    for chosen in (None, colours):
        draw_soft(tmp_path / "a.png", frame, obstacle_colours=chosen)
        pixels = read(tmp_path / "a.png")
        shares.append(float(((pixels[:, :, 1] > 0.3) & (pixels[:, :, [0, 2]] < 0.2).all(axis=2)).mean()))
    assert shares[0] == 0
    assert shares[1] > 0.01
    with pytest.raises(InputError, match="obstacle_colours: found 0"):
        draw_soft(tmp_path / "a.png", frame, obstacle_colours=[])
