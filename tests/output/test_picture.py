"""Pictures in files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge import shapes
from impinge.errors import InputError
from impinge.output import draw_spheres
from impinge.output.figure import Scale, title_at

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
from matplotlib import colormaps, rcParams

from .pictures import read

pytestmark = pytest.mark.usefixtures("small")

RNG = np.random.default_rng(0)
CENTRES, RADII, VALUES = RNG.random((50, 3)), RNG.uniform(0.02, 0.05, 50), RNG.random(50)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("count", [0, 1, 50])
@pytest.mark.parametrize("valued", [False, True])
def test_pictures(tmp_path: Path, dimension: int, count: int, valued: bool) -> None:
    path = tmp_path / "a.png"
    draw_spheres(
        path, CENTRES[:count, :dimension], RADII[:count], VALUES[:count] if valued else None, label="speed [m/s]",
        box=[1] * dimension, title="Some",
    )  # fmt: skip
    pixels = read(path)
    assert min(pixels.shape[:2]) > 250
    viridis = np.abs(pixels - np.array(colormaps["viridis"](0.7)[:3])).max(axis=2) < 0.02
    assert viridis.any() == valued  # at least in the colour bar
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_discs_have_their_colours_and_sizes(tmp_path: Path) -> None:
    draw_spheres(tmp_path / "a.png", [[0, 0], [4, 0]], [2, 1], [0, 1], box=[[-2, -2], [6, 2]])
    pixels = read(tmp_path / "a.png")[:, :1250]  # without the colour bar
    first, second = (np.abs(pixels - np.array(colormaps["viridis"](x)[:3])).max(axis=2) < 0.01 for x in (0.0, 1.0))
    assert first.sum() / second.sum() == pytest.approx(4, rel=0.05)


def test_with_a_mesh_and_a_view(tmp_path: Path) -> None:
    torus = shapes.torus()
    draw_spheres(tmp_path / "a.png", CENTRES, RADII, meshes=[torus, (torus.vertices + 2, torus.faces)], view=(10, 80))
    draw_spheres(tmp_path / "b.png", CENTRES, RADII, meshes=[torus, (torus.vertices + 2, torus.faces)], view=(10, 20))
    one, other = read(tmp_path / "a.png"), read(tmp_path / "b.png")
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_bodies_have_the_same_scale_as_spheres(tmp_path: Path) -> None:
    bodies = [
        shapes.box().transformed(translation=[2, 0, 0]),
        (shapes.torus().vertices + [4, 0, 0], shapes.torus().faces),
    ]
    for values in ([0, 1, 0], [0, 0, 1], None):
        draw_spheres(tmp_path / "a.png", [[0, 0, 0]], 0.5, values, bodies=bodies, meshes=[shapes.box(3.0)])
        pixels = read(tmp_path / "a.png")[:, :400]  # without the colour bar
        yellow = ((pixels[:, :, :2] > 1.5 * pixels[:, :, 2:]).all(axis=2) & (pixels[:, :, 1] > 0.2)).sum()
        assert (yellow > 500) == (values is not None)
    draw_spheres(tmp_path / "a.png", np.empty((0, 3)), [], [3, 4], bodies=bodies)


def test_values_that_are_not_finite(tmp_path: Path) -> None:
    for dimension in (2, 3):
        for values in ([np.nan, 1, 2], [np.nan] * 3, [np.inf, -np.inf, 0], [5, 5, 5]):
            draw_spheres(tmp_path / "a.png", np.eye(3)[:, :dimension], 0.3, values)


def test_settings_of_the_user_stay(tmp_path: Path) -> None:
    before = dict(rcParams)
    draw_spheres(tmp_path / "a.png", CENTRES, RADII, VALUES)
    assert dict(rcParams) == before
    first = (tmp_path / "a.png").read_bytes()
    draw_spheres(tmp_path / "a.png", CENTRES, RADII, VALUES)
    assert (tmp_path / "a.png").read_bytes() == first


@pytest.mark.parametrize(
    ("centres", "options", "message"),
    [
        ([[0, 0, np.nan]], {}, "centres: row 0 is not finite"),
        ([[0, 0, 1e200]], {}, "centres: found 1e\\+200, expected lengths of at most"),
        ([[0, 1e200]], {}, "centres: found 1e\\+200, expected lengths of at most"),
        ([[0, 0, 0]], {"values": [1, 2]}, r"values: found shape \(2,\)"),
        ([[0, 0, 0]], {"values": ["a"]}, "values: found text"),
        ([[0, 0, 0]], {"box": [1, 1]}, "box: found"),
        ([[0, 0, 0]], {"view": (0, np.nan)}, "view: found"),
        ([[0, 0, 0]], {"view": 3}, "view: found"),
        ([[0, 0, 0]], {"meshes": ["a"]}, r"meshes\[0\]"),
        ([[0, 0, 0]], {"bodies": [shapes.box(), 3]}, r"bodies\[1\]"),
        ([[0, 0, 0]], {"bodies": [shapes.box()], "values": [1]}, r"values: found shape \(1,\), expected \(2,\)"),
        ([[0, 0, 0]], {"bodies": [shapes.box(1e200)]}, r"bodies: found 5e\+199, expected lengths"),
        ([[0, 0]], {"meshes": [shapes.box()]}, "meshes, bodies, view: found one for discs"),
        ([[0, 0]], {"bodies": [shapes.box()], "values": [0, 1]}, "meshes, bodies, view: found one for discs"),
        ([[0, 0]], {"view": (0, 0)}, "meshes, bodies, view: found one for discs"),
    ],
)
def test_bad_input(tmp_path: Path, centres: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_spheres(tmp_path / "a.png", centres, 1.0, **options)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '.\[report\]'"):
        draw_spheres(tmp_path / "a.png", CENTRES, RADII)


def test_pictures_around_the_same_places_have_the_same_camera(tmp_path: Path) -> None:
    corners = [[-2.0, -2, -2], [2, 2, 2]]
    shapes_found = set()
    for x in (-1.5, 0.0, 1.5):
        draw_spheres(tmp_path / "a.png", [[x, 0, 0]], 0.4, [x], limits=(-2, 2), around=corners, view=(-90, 0))
        pixels = read(tmp_path / "a.png")
        shapes_found.add(pixels.shape)
        coloured = np.ptp(pixels[:, :300], axis=2) > 0.15
        columns = np.nonzero(coloured)[1]
        assert np.ptp(columns) == pytest.approx(0.8 / 4.24 * 300, abs=4)
        assert columns.mean() == pytest.approx(150 + x / 4.24 * 300, abs=3)
    assert len(shapes_found) == 1
    draw_spheres(tmp_path / "b.png", [[9, 9, 9]], 0.4, around=corners)  # nothing to be seen
    assert (np.ptp(read(tmp_path / "b.png"), axis=2) < 0.1).all()


def test_discs_around_places(tmp_path: Path) -> None:
    for name, centres in (("a", [[0, 0]]), ("b", [[0, 0], [50, 50]])):
        draw_spheres(tmp_path / f"{name}.png", centres, 1, around=[[-2, -2], [2, 2]])
    assert np.abs(read(tmp_path / "a.png") - read(tmp_path / "b.png")).mean() < 1e-3


def test_limits_of_colours(tmp_path: Path) -> None:
    for name, values in (("a", [0.0, 5.0]), ("b", [0.0, 900.0])):
        draw_spheres(tmp_path / f"{name}.png", [[0, 0, 0], [1, 0, 0]], 0.4, values, limits=(0, 5))
    assert np.array_equal(read(tmp_path / "a.png"), read(tmp_path / "b.png"))


def test_texts_grow_with_the_size(tmp_path: Path) -> None:
    sizes = []
    for factor in (1, 2):
        draw_spheres(tmp_path / "a.png", CENTRES, RADII, VALUES, size=(200 * factor, 160 * factor), title="Some")
        sizes.append(np.array(read(tmp_path / "a.png").shape[:2]))
    assert sizes[1] == pytest.approx(2 * sizes[0], abs=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": (1, 0)}, r"limits: found \(1, 0\), expected the lowest value first"),
        ({"limits": (1, np.nan)}, "limits"),
        ({"size": (10, 100)}, r"size: found \(10, 100\), expected whole numbers from 50 to 20000"),
        ({"size": (100.5, 100)}, "size"),
        ({"around": np.empty((0, 3))}, "around: found no places"),
        ({"around": [[0, 0]]}, "around"),
        ({"around": [[1e200, 0, 0]]}, "around"),
    ],
)
def test_bad_limits_sizes_and_places(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_spheres(tmp_path / "a.png", CENTRES, RADII, VALUES, **options)
    assert list(tmp_path.iterdir()) == []


def test_pictures_show_where_most_spheres_are(tmp_path: Path) -> None:
    """One that has flown away makes the others no smaller."""
    for dimension in (2, 3):
        heap, away = RNG.random((200, dimension)), np.full((1, dimension), 30.0)
        shares = []
        for name, centres in (("a", heap), ("b", np.concatenate([heap, away]))):
            draw_spheres(tmp_path / f"{name}.png", centres, 0.03)
            shares.append(float((np.ptp(read(tmp_path / f"{name}.png"), axis=2) > 0.1).mean()))
        assert shares[1] == pytest.approx(shares[0], rel=0.3)


def test_obstacles_with_colours_are_opaque(tmp_path: Path) -> None:
    """A red wall hides the green ball behind it; a clear one does not."""
    wall, seen = shapes.box([4, 0.1, 4], lower=[-2, -2, -2]), []
    for colours in (None, [None], ["#ff0000"]):
        draw_spheres(
            tmp_path / "a.png", [[0, 0, 0]], 1.0, [1.0], limits=(0, 1), meshes=[wall], mesh_colours=colours,
            view=(-90, 0),
        )  # fmt: skip
        pixels = read(tmp_path / "a.png")
        pixels = pixels[:, : int(0.7 * pixels.shape[1])]
        red = ((pixels[:, :, 0] > 0.5) & (pixels[:, :, 1:] < 0.4).all(axis=2)).mean()
        yellow = ((pixels[:, :, :2] > 0.5).all(axis=2) & (pixels[:, :, 2] < 0.4)).mean()
        seen.append((red > 0.3, yellow > 0.05))
    assert seen == [(False, True), (False, True), (True, False)]
    for colours, message in (([], "found 0, expected 1"), (["mood"], "found 'mood', expected a colour")):
        with pytest.raises(InputError, match=message):
            draw_spheres(tmp_path / "a.png", CENTRES, RADII, meshes=[wall], mesh_colours=colours)


def test_lines(tmp_path: Path) -> None:
    for dimension in (2, 3):
        line = np.zeros((1, 2, dimension))
        line[0, 1, 0] = 3.0
        draw_spheres(tmp_path / "a.png", np.zeros((1, dimension)), 0.1, lines=line)
        draw_spheres(tmp_path / "b.png", np.zeros((1, dimension)), 0.1)
        shares = [(np.ptp(read(tmp_path / f"{name}.png"), axis=2) > 0.1).mean() for name in "ab"]
        assert shares[0] < 0.1 * shares[1]  # it is in the picture, so the ball is small
    with pytest.raises(InputError, match=r"lines: found shape \(1, 2, 2\), expected \(k, 2, 3\)"):
        draw_spheres(tmp_path / "a.png", CENTRES, RADII, lines=np.zeros((1, 2, 2)))


def test_speeds_begin_at_0_and_end_at_what_few_exceed() -> None:
    def limits(values: Any, label: str) -> tuple[float, float]:
        return Scale(values, len(values), label).limits

    assert limits([2.0] * 3, "speed [m/s]") == (0, 2)
    assert limits([0.0] * 3, "speed [m/s]") == (0, 1)
    assert limits([2.0, 3.0], "speed [m/s]") == (0, 3)
    assert limits([290.0, 300.0], "temperature [K]") == (290, 300)
    assert limits([-1.0, 1.0], "strain") == (-1, 1)
    many = np.append(np.linspace(0, 1, 999), 100.0)
    scale = Scale(many, 1000, "speed [m/s]")
    assert scale.limits[1] < 1.01
    assert scale.beyond
    assert not Scale(many, 1000, "speed [m/s]", (0, 5)).beyond
    assert Scale(None, 0, "").limits == (0, 1)


def test_names_have_a_colour_each(tmp_path: Path) -> None:
    values, names = np.arange(50) % 3 - 1, {-1: "from sources", 0: "sand", 1: "gravel"}
    colours = Scale(values, 50, "group", names=names).colours()
    assert len(np.unique(colours, axis=0)) == 3
    assert (colours[3:] == colours[:-3]).all()
    for dimension in (2, 3):
        draw_spheres(tmp_path / "a.png", CENTRES[:, :dimension], RADII, values, label="group", names=names)
        pixels = read(tmp_path / "a.png")
        for colour in colours[:3]:
            assert (np.abs(pixels - colour).max(axis=2) < 0.01).sum() > 50  # in the legend, without light and shadow


@pytest.mark.parametrize("ending", [".pdf", ".svg", ".PNG"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_files_are_what_they_are_called(tmp_path: Path, ending: str, dimension: int) -> None:
    heads = {".pdf": b"%PDF", ".svg": b"<?xml", ".PNG": b"\x89PNG"}
    for name in "ab":
        draw_spheres(tmp_path / f"{name}{ending}", CENTRES[:, :dimension], RADII, VALUES, title="Some")
    content = (tmp_path / f"a{ending}").read_bytes()
    assert content.startswith(heads[ending])
    assert content == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.parametrize("name", ["a", "a.jpg", "a.png.part"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected an ending of \.png or \.pdf or \.svg"):
        draw_spheres(tmp_path / name, CENTRES, RADII)
    with pytest.raises(InputError, match="whose folder does not exist"):
        draw_spheres(tmp_path / "nowhere" / "a.png", CENTRES, RADII)
    assert list(tmp_path.iterdir()) == []


def test_titles_have_round_times() -> None:
    assert title_at(0.50007, 0.5) == "t = 0.5 s"
    assert title_at(0.700004, 0.7) == "t = 0.7 s"
    assert title_at(1.234e-4, 2e-4) == "t = 0.0001234 s"
    assert title_at(12.0, 20.0) == "t = 12 s"
