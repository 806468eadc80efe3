"""`impinge picture`: stills and movies from folders of runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.output import figure
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene
from impinge.run.scenery import Scenery
from impinge.show import picture
from impinge.show.picture import Pictures, write_movie
from impinge.show.recording import Recording
from tests.run.softscenes import SOFT_SMALL

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
from matplotlib import image

from ..command import invoke

ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
DISCS = """
[world]
dim = 2
gravity = [0, 0]
[run]
until = 0.04
[output]
frames = 0.01
[materials.m]
density = 1000
stiffness = 1000
[[spheres]]
material = "m"
centres = [[0, 0], [1, 0.2]]
radii = 0.1
velocity = [5, 0]
"""
BODIES = """
[world]
gravity = [0, 0, 0]
box = [1, 1, 1]
dt = 1e-3
[run]
until = 0.02
[output]
frames = 0.01
[materials.m]
density = 1000
stiffness = 1000
[[spheres]]
material = "m"
centres = [[0.2, 0.2, 0.2]]
radii = 0.1
spin = [0, 0, 3]
[[polyhedra]]
material = "m"
block = { lower = [-0.1, -0.1, -0.1], upper = [0.1, 0.1, 0.1] }
positions = [[0.7, 0.7, 0.7]]
velocity = [1, 0, 0]
[[obstacles]]
name = "floor"
material = "m"
plate = { size = [1, 1] }
translate = [0.5, 0.5, 0.0]
"""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that take less time."""
    monkeypatch.setattr(figure, "SIZE", (300, 240))
    monkeypatch.setattr(picture, "_MOVIE", (300, 240))


@pytest.fixture(scope="module", params=["discs", "bodies", "soft"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of({"discs": DISCS, "bodies": BODIES, "soft": SOFT_SMALL}[request.param], tmp_path_factory)


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(BODIES, tmp_path_factory)


def run_of(scene: str, factory: pytest.TempPathFactory) -> Path:
    here = factory.mktemp("run")
    (here / "scene.toml").write_text(scene)
    run_scene(read_scene(here / "scene.toml"), here / "out", threads=1)
    return here / "out"


def call(*arguments: Any) -> Any:
    return invoke("picture", *arguments)


def test_the_last_frame(folder: Path) -> None:
    result = call(folder)
    assert result.exit_code == 0, result.output
    count = len(Recording(folder))
    assert result.stdout.startswith(f"written {folder / 'picture.png'}: frame {count} of {count}, t = ")
    assert np.ptp(image.imread(folder / "picture.png")[:, :, :3], axis=2).max() > 0.2


def test_the_nearest_frame(folder: Path) -> None:
    times = Recording(folder).times
    result = call(folder, "--time", 0.4 * times[0] + 0.6 * times[1])
    assert result.exit_code == 0, result.output
    assert f"frame 2 of {len(times)}, t = {times[1]:g} s" in result.stdout
    assert (folder / f"picture-{Pictures(Recording(folder)).time(1)}s.png").is_file()


@pytest.mark.parametrize("ending", [".mp4", ".gif"])
def test_movies(folder: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    result = call(folder, "--movie", "-o", path)
    assert result.exit_code == 0, result.output
    count = len(Recording(folder))
    assert f"{path}: {count} frames, {count / 5:.3g} s at 5 per second" in result.stdout
    assert ffmpeg.count_frames_and_secs(str(path))[0] == count


def test_some_frames(bodies: Path) -> None:
    result = call(bodies, "--movie", "--every", 2, "--fps", 4)
    assert result.exit_code == 0, result.output
    assert f"{bodies / 'movie.mp4'}: 2 frames, 0.5 s at 4 per second" in result.stdout


def test_one_scale_and_one_camera(bodies: Path, tmp_path: Path) -> None:
    pictures = Pictures(Recording(bodies))
    told: list[float] = []
    write_movie(tmp_path / "a.mp4", pictures, range(3), tell=told.append)
    assert pictures.limits == pytest.approx((0, 1))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    assert pictures.around is not None
    assert (np.ptp(pictures.around, axis=0) > 1).all()
    sizes = {image.imread(path).shape for path in (drawn(pictures, k, tmp_path) for k in range(3))}
    assert len(sizes) == 1


def test_the_floor_is_shown_and_stays_where_it_is(tmp_path: Path) -> None:
    text = DISCS.replace("dim = 2\ngravity = [0, 0]", "gravity = [0, 0, 0]").replace("[5, 0]", "[5, 0, 0]")
    text = text.replace("[[0, 0], [1, 0.2]]", "[[0, 0, 0.1], [1, 0.2, 0.1]]")
    covered = []
    for plane in ("", "[[planes]]\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n"):
        (tmp_path / "s.toml").write_text(text + plane)
        run_scene(read_scene(tmp_path / "s.toml"), tmp_path / "out", overwrite=True)
        pictures = Pictures(Recording(tmp_path / "out"), view=(-60, 50))
        pictures.steady(range(3))
        sizes = {image.imread(drawn(pictures, k, tmp_path)).shape for k in range(3)}
        assert len(sizes) == 1
        assert pictures.around is not None
        covered.append(float((image.imread(drawn(pictures, 0, tmp_path))[:, :, :3] < 0.99).any(axis=2).mean()))
    assert covered[1] > 2 * covered[0]


FALL = """
[world]
gravity = [0, 0, 0]
dt = 1e-3
[run]
until = 0.02
[output]
frames = 0.01
[materials.m]
density = 1000
stiffness = 1000
[[spheres]]
name = "one"
material = "m"
centres = [[0, 0, 1]]
radii = 0.2
[[spheres]]
material = "m"
centres = [[1, 1, 1]]
radii = 0.2
velocity = [1, 0, 0]
[[obstacles]]
plate = { size = [1, 1] }
translate = [0.5, 0.5, 0.9]
colour = "#ff0000"
"""


def recording_of(scene: str, folder: Path) -> Recording:
    (folder / "s.toml").write_text(scene)
    run_scene(read_scene(folder / "s.toml"), folder / "out", overwrite=True)
    return Recording(folder / "out")


def test_obstacles_have_the_colours_of_the_scene(tmp_path: Path) -> None:
    run = recording_of(FALL.replace("frames =", "picture = true\nframes ="), tmp_path)
    pictures = Pictures(run)
    pictures.steady(range(3))
    for path in (drawn(pictures, 0, tmp_path), tmp_path / "out" / "picture.png"):
        pixels = image.imread(path)[:, :, :3]
        assert ((pixels[:, :, 0] > 0.6) & (pixels[:, :, 1:] < 0.4).all(axis=2)).mean() > 0.03


def test_planes_that_move_are_where_they_are(tmp_path: Path) -> None:
    """A floor that comes nearer; one under load is not known beforehand, but at the end of a run it is."""
    run = recording_of(FALL + "[[planes]]\npoint = [0, 0, 0.5]\nnormal = [0, 0, 2]\nvelocity = [1, 0, 5]\n", tmp_path)
    pictures = Pictures(run)
    bounds = np.array([[-0.2, -0.2, 0.8], [1.2, 1.2, 1.2]])
    for time, height in ((0.0, 0.5), (0.02, 0.6)):
        (floor,) = pictures._scenery.walls(bounds, (-60, 20), time)
        assert floor.vertices[:, 2] == pytest.approx(np.full(4, height))
    pressed = Scenery(read_scene_of(FALL + "[[planes]]\npoint = [0, 0, 0.5]\nnormal = [0, 0, 1]\nload = 1\n", tmp_path))
    assert pressed.walls(bounds, (-60, 20), 0.0) == []
    (floor,) = pressed.walls(bounds, (-60, 20), 0.0, [[0, 0, 0.7]])
    assert floor.vertices[:, 2] == pytest.approx(np.full(4, 0.7))


def read_scene_of(scene: str, folder: Path) -> Any:
    (folder / "t.toml").write_text(scene)
    return read_scene(folder / "t.toml").model


def test_a_floor_below_the_scene_is_in_the_picture(tmp_path: Path) -> None:
    heights = []
    for height in (0.5, -5.0):
        run = recording_of(FALL + f"[[planes]]\npoint = [0, 0, {height}]\nnormal = [0, 0, 1]\n", tmp_path)
        pictures = Pictures(run)
        pictures.steady(range(3))
        assert pictures.around is not None
        heights.append(float(pictures.around[:, 2].min()))
    assert heights[0] < heights[1] - 0.1


def test_groups_have_names(tmp_path: Path) -> None:
    run = recording_of(FALL, tmp_path)
    assert Pictures(run, "group")._names == {0: "one", 1: "spheres 2"}
    assert Pictures(run, "speed")._names is None
    Pictures(run, "group").draw(tmp_path / "group.svg", 0)
    assert (tmp_path / "group.svg").stat().st_size > 1000
    rain = '[[sources]]\nmaterial = "m"\nlower = [3, 3, 3]\nupper = [4, 4, 4]\nradii = 0.1\nrate = 1\n'
    assert Pictures(recording_of(FALL + rain, tmp_path), "group")._names == {
        -1: "from sources",
        0: "one",
        1: "spheres 2",
    }


def drawn(pictures: Pictures, number: int, folder: Path) -> Path:
    pictures.draw(folder / f"{number}.png", number)
    return folder / f"{number}.png"


def test_steady_stills_do_not_depend_on_the_time(folder: Path, tmp_path: Path) -> None:
    sizes = set()
    for number, time in enumerate(Recording(folder).times[:2]):
        assert call(folder, "--time", time, "--steady", "-o", tmp_path / f"{number}.png").exit_code == 0
        sizes.add(image.imread(tmp_path / f"{number}.png").shape)
    assert len(sizes) == 1


def test_colours_view_limits_and_size(bodies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure, "SIZE", (1500, 1200))  # so that texts are as small as the picture
    options = ["--view", "-30,60", "--limits", "0,2", "--size", "400,300", "-o", tmp_path / "a.png"]
    for colour in ("spin", "radius", "id"):  # bodies have no radius: they are grey
        result = call(bodies, "--colour", colour, *options)
        assert result.exit_code == 0, result.output
    assert 250 < max(image.imread(tmp_path / "a.png").shape) < 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--colour", "mood"], "colour: found 'mood', expected one of id, speed, spin, material, "),
        (["--view", "1"], "--view: found '1', expected two numbers with a comma between them"),
        (["--limits", "2,1"], "limits: found (2, 1), expected the lowest value first"),
        (["--size", "3,4"], "size: found (3, 4)"),
        (["--fps", "5"], "--fps: found without --movie"),
        (["--movie", "--time", "1"], "--time: found with --movie"),
        (["--movie", "--fps", "-1"], "--fps: found -1, expected a positive number"),
        (["--movie", "-o", "a.avi"], "--out: found 'a.avi', expected an ending of .mp4 or .gif"),
        (["-o", "a.mp4"], "--out: found 'a.mp4', expected an ending of .png or .pdf or .svg"),
        (["-o", "nowhere/a.png"], "--out: found 'nowhere/a.png', whose folder does not exist"),
        (["--time", "nan"], "--time: found nan"),
    ],
)
def test_bad_arguments(
    bodies: Path, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(bodies, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_run(tmp_path: Path) -> None:
    result = call(tmp_path)
    assert result.exit_code == 2
    assert "holds no run, expected a folder that `impinge run` has written" in result.stderr


def test_discs_have_no_view(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(InputError, match="discs in a plane"):
        Pictures(Recording(run_of(DISCS, tmp_path_factory)), view=(0, 0))


@pytest.mark.parametrize(("package", "arguments"), [("matplotlib", []), ("imageio_ffmpeg", ["--movie"])])
def test_without_the_extra(
    bodies: Path, package: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = call(bodies, *arguments, "-o", tmp_path / ("a.mp4" if arguments else "a.png"))
    assert result.exit_code == 2
    assert "pip install '.[report]'" in result.stderr


def test_a_new_run_removes_pictures_of_the_old_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = run_of(DISCS, tmp_path_factory)
    assert call(folder, "--time", 0.02).exit_code == call(folder, "--movie", "--every", 3).exit_code == 0
    assert drawings(folder) == {f"picture-{Pictures(Recording(folder)).time(2)}s.png", "movie.mp4"}
    run_scene(read_scene(folder.parent / "scene.toml"), folder, threads=1, overwrite=True)
    assert drawings(folder) == set()


def drawings(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in (".png", ".mp4")}
