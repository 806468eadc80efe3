"""`impinge report`, as far as it can be judged without a browser: what the page holds, its size, errors."""

from __future__ import annotations

import base64
import builtins
import json
import os
import re
import shutil
import sys
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from impinge.errors import InputError, RunWarning
from impinge.run.loop import run_scene
from impinge.run.scene import read_scene
from impinge.show import report as module
from impinge.show.recording import Recording
from impinge.show.report import MOST_MB, report
from impinge.show.scene3d import plot_of
from impinge.show.shown import Shown

from ..command import invoke
from ..run.runs import Killed, stop_at
from ..run.scenes import FULL, SMALL, write
from .runs import content_of, folder_of

pytest.importorskip("k3d")


def made(name, folder, **options):
    return report(folder_of(name), folder / "page.html", **options)


def objects_of(page):
    """What k3d will show, as its own snapshot holds it."""
    import msgpack

    (data,) = re.findall(r"var data = '([^']*)'", page.read_text("utf-8"))
    return msgpack.unpackb(zlib.decompress(base64.b64decode(data)), strict_map_key=False)["objects"]


def array_of(packed):
    return np.frombuffer(packed["data"], packed["dtype"]).reshape(packed["shape"])


class Loads(HTMLParser):
    """What a page would load from elsewhere."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "img", "iframe", "link", "source", "object", "embed") or "src" in given:
            self.found += [given[name] for name in ("src", "href", "data", "srcset") if name in given]


@pytest.mark.parametrize("name", ["spheres", "discs", "bodies", "soft"])
def test_a_page_needs_nothing_else(tmp_path, name):
    page = made(name, tmp_path)
    text = page.read_text("utf-8")
    loads = Loads()
    loads.feed(text)
    assert loads.found == []
    own = re.sub(r"<script id='[a-z0-9]+'>.*?</script>", "", text, flags=re.DOTALL)  # without k3d and its helpers
    own = re.sub(r'<script type="application/json".*?</script>', "", own, flags=re.DOTALL)
    assert not re.search(r"@import|url\(|import\(|fetch\(|XMLHttpRequest", own)
    assert set(re.findall(r"https?://[^\s\"']*", own)) <= {"http://www.w3.org/2000/svg"}
    assert text.count("<title>") == 1
    assert "<title>out · impinge</title>" in text
    assert "[DATA]" not in text
    assert "[ADDITIONAL]" not in text


def test_what_a_page_says(tmp_path):
    content = content_of(made("spheres", tmp_path))
    folder = folder_of("spheres")
    assert content["scene"] == (folder / "scene.toml").read_text()
    assert content["about"] == "Beads rain into a box."
    assert content["state"]["finished"] is True
    assert content["state"]["text"].startswith("finished at 0.04")
    assert ["frames", "3"] in content["facts"]
    assert content["times"] == pytest.approx(Recording(folder).times.tolist())
    titles = [chart["title"] for chart in content["charts"]]
    assert titles == ["Energy", "Contacts", "Steps per second", "List rebuilds", "More"]
    lines = {line["name"] for chart in content["charts"] for line in chart["lines"]}
    assert {"kinetic", "dissipated", "total", "contacts", "mixing", "paddle force z [N]"} <= lines
    assert {scalar["name"]: scalar["unit"] for scalar in content["scalars"]}["speed"] == "m/s"
    assert content["scalar"] == "speed"
    (versions,) = content["versions"].values()
    assert {"impinge", "python", "numpy", "numba"} <= set(versions)
    assert content["summary"]["steps"] > 0
    assert "last part" not in content["summary"]  # it is the only one
    assert str(tmp_path) not in json.dumps(content)
    assert str(folder) not in json.dumps(content)


def test_spheres_have_their_radii(tmp_path):
    objects = {each["name"]: each for each in objects_of(made("discs", tmp_path))}
    assert set(objects) == {"box", "discs"}
    discs, frame = objects["discs"], Recording(folder_of("discs"))[2].spheres
    np.testing.assert_allclose(array_of(discs["point_sizes"]), 2 * frame.radii, rtol=1e-6)
    np.testing.assert_allclose(array_of(discs["positions"]["2"]), frame.centres, atol=1e-4)
    assert discs["shader"] == "flat"
    assert {"speed", "spin", "radius", "id"} <= set(discs["custom_data"]["scalars"])


def test_bodies_and_obstacles(tmp_path):
    objects = {each["name"]: each for each in objects_of(made("bodies", tmp_path))}
    assert {"box", "spheres", "body 0", "body 13", "obstacle 0", "plane"} <= set(objects)
    body, frame = objects["body 1"], Recording(folder_of("bodies"))[-1].bodies
    last = str(len(body["model_matrix"]) - 1)
    matrix = array_of(body["model_matrix"][last])
    found = array_of(body["vertices"]) @ matrix[:3, :3].T + matrix[:3, 3]
    np.testing.assert_allclose(found, frame.meshes()[1].vertices, atol=1e-5)
    assert len(set(body["color"].values())) > 1
    assert objects["obstacle 0"]["opacity"] < 1
    assert len(objects["obstacle 0"]["model_matrix"]) == int(last) + 1


def test_cables_and_cloth(tmp_path):
    page = made("soft", tmp_path)
    objects = {each["name"]: each for each in objects_of(page)}
    assert {"cables and cloth", "obstacle 0", "obstacle 1"} == set(objects)
    vertices = objects["cables and cloth"]["vertices"]
    assert len(vertices) == len(content_of(page)["times"])
    assert np.abs(array_of(vertices["0"]) - array_of(vertices["6"])).max() > 0.01
    assert content_of(page)["scalar"] == "strain"


def test_planes_and_colours():
    """A plane that moves is seen where it is; obstacles with a colour are opaque; boxes end where nothing is."""
    frames = Recording(folder_of("bodies"))
    count = len(frames[0].obstacles)
    tall = [[0, 0, 0], [0.3, 0.3, 90]]
    still, moving, far = (
        ([0, 0, -0.1], [0, 0, 3], [0, 0, 0]),
        ([0, 0, -0.1], [0, 0, 3], [4, 0, 2]),
        ([0, 0, -9], [0, 0, 1], [0] * 3),
    )
    plot = plot_of(frames, planes=[still, moving, far], colours=["#c4553b"] + [None] * count, box=tall)
    walls = [each for each in plot.objects if each.name == "plane"]
    assert len(walls) == 2
    matrices = walls[1].model_matrix
    assert len(matrices) == len(frames)
    np.testing.assert_allclose(matrices[str(len(frames) - 1)][:3, 3], [0, 0, 2 * frames.times[-1]], rtol=1e-6)
    np.testing.assert_array_equal(walls[0].model_matrix, np.eye(4))
    objects = {each.name: each for each in plot.objects}
    assert (objects["obstacle 0"].color, objects["obstacle 0"].opacity) == (0xC4553B, 1.0)
    assert objects["box"].vertices[:, 2].max() < 1
    for each in plot.objects:
        each.close()


def test_plots_for_others():
    """What notebooks use."""
    frames = Recording(folder_of("bodies"))
    plot = plot_of(frames[:1], "spin", box=[[0, 0, 0], [0.3, 0.3, 0.3]])
    assert len(plot.objects) == 1 + 1 + 14 + 1
    assert plot.objects[1].custom_data == {}
    with pytest.raises(InputError, match="frames: found none"):
        plot_of([])


# Size


@pytest.fixture
def random_frames(tmp_path, monkeypatch):
    """A run with many frames of many spheres that move at random, in a folder where only their list is real."""
    folder = shutil.copytree(folder_of("discs"), tmp_path / "copy")
    recording = Recording(folder)
    frame = recording[0]
    count = 4000
    read = []

    def get(self, number):
        read.append(number)
        generator = np.random.default_rng(number)
        data = {"id": np.arange(count), "velocity": generator.normal(size=(count, 3))}
        spheres = frame.spheres._replace(centres=generator.random((count, 3)), radii=np.full(count, 0.01), data=data)
        return frame._replace(time=self.times[number], spheres=spheres)

    real = Recording.__init__

    def begin(self, folder):
        real(self, folder)
        self.times = np.linspace(0, 1, 200)

    monkeypatch.setattr(Recording, "__init__", begin)
    monkeypatch.setattr(Recording, "__getitem__", get)
    return folder, read


@pytest.mark.parametrize(("most", "frames", "stride"), [(2.2, 50, 2), (6, 60, 1)])
def test_pages_stay_below_their_size(tmp_path, random_frames, most, frames, stride):
    folder, read = random_frames
    page = report(folder, tmp_path / "page.html", most_mb=most)
    assert page.stat().st_size <= most * 1e6
    content = content_of(page)
    assert frames <= len(content["times"]) < 200
    assert (content["times"][0], content["times"][-1]) == (0, 1)
    notes = " ".join(content["notes"])
    assert f"{len(content['times'])} of 200 frames are shown, evenly spread, to stay below {most:g} MB." in notes
    assert ("are left out" in notes) == (stride > 1)
    assert len(read) < 3 * len(content["times"])  # frames that are not shown are not read


def test_frames_are_taken_one_by_one(random_frames):
    folder, _ = random_frames
    recording, alive = Recording(folder), []

    class Spy(Shown):
        @classmethod
        def of(cls, frames, names=None, stride=1):
            def watched():
                for frame in frames:
                    alive.append(len(frame.spheres.radii))
                    yield frame

            return super().of(watched(), names, stride)

    assert len(Spy.of(recording[number] for number in (0, 5)).times) == 2
    assert alive == [4000, 4000]


@pytest.mark.parametrize("most", [1.9, 0, -3, np.nan, "much"])
def test_sizes_that_cannot_be(tmp_path, most):
    with pytest.raises(InputError, match="most_mb: found"):
        made("discs", tmp_path, most_mb=most)


# Runs that have not ended well


def test_a_killed_run(tmp_path):
    scene = read_scene(write(tmp_path, FULL))
    with pytest.raises(Killed):
        run_scene(scene, tmp_path / "out", tell=lambda world: stop_at(1)(world) if world.time > 0.045 else None)
    with (tmp_path / "out" / "series.csv").open("a") as file:
        file.write("0.05,1")
    page = report(tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    state = content_of(page)["state"]
    assert state["finished"] is False
    assert state["text"].startswith("unfinished: the run is going on, or was killed; shown until 0.04")
    assert content_of(page)["summary"] == {}


def test_a_run_whose_end_was_raised(tmp_path):
    run_scene(read_scene(write(tmp_path, SMALL)), tmp_path / "out")
    text = (tmp_path / "out" / "scene.toml").read_text()
    (tmp_path / "out" / "scene.toml").write_text(text.replace("until = 0.02", "until = 0.04"))
    assert content_of(report(tmp_path / "out"))["state"]["finished"] is False


def test_a_run_without_tables(tmp_path):
    scene = read_scene(write(tmp_path, SMALL.replace("series = 0.001\n", "")))
    run_scene(scene, tmp_path / "out")
    (tmp_path / "out" / "timings.csv").unlink()
    content = content_of(report(tmp_path / "out"))
    assert content["charts"] == []
    notes = " ".join(content["notes"])
    assert "no series.csv" in notes
    assert "no timings.csv" in notes


def test_one_frame(tmp_path):
    scene = read_scene(write(tmp_path, SMALL.replace("frames = 0.005", "frames = 1.0")))
    with pytest.warns(RunWarning, match="a frame of the start only"):
        run_scene(scene, tmp_path / "out")
    assert len(content_of(report(tmp_path / "out"))["times"]) == 1


def test_a_scene_that_would_end_the_script(tmp_path):
    evil = "# </script><script>alert(1)</script> <!-- & \u2028 \\u003c\n"
    scene = read_scene(write(tmp_path, evil + SMALL))
    run_scene(scene, tmp_path / "<b>&")
    page = report(tmp_path / "<b>&")
    text = page.read_text("utf-8")
    assert "alert(1)</script>" not in text
    assert "<title>&lt;b>&amp; · impinge</title>" in text
    assert content_of(page)["scene"] == evil + SMALL


# Errors


def test_without_k3d(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.split(".")[0] == "k3d":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"report: needs k3d; .* pip install '.\[report\]'"):
        made("discs", tmp_path)
    result = invoke("run", str(folder_of("discs").parent / "scene.toml"), "--report")
    assert result.exit_code == 2
    assert "needs k3d" in result.stderr


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    folder = folder_of("discs")
    with pytest.raises(InputError, match="is a folder, expected the name of a file"):
        report(folder, tmp_path)
    with pytest.raises(InputError, match="cannot be written, as there is no folder"):
        report(folder, tmp_path / "none" / "page.html")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(InputError, match="is not writable"):
        report(folder, tmp_path / "page.html")


def test_another_k3d(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["k3d.plot"].Plot, "get_snapshot", lambda *some: "<html></html>")
    with pytest.raises(InputError, match=r"this version of k3d makes other pages than expected"):
        made("discs", tmp_path)
    assert list(tmp_path.iterdir()) == []


# The command line


def test_command(tmp_path):
    result = invoke("report", folder_of("discs"), "-o", tmp_path / "page.html", "--most-mb", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"written to {tmp_path / 'page.html'}\n"
    assert (tmp_path / "page.html").stat().st_size < 3e6
    result = invoke("report", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == (f"impinge: {tmp_path}: holds no run, expected a folder that `impinge run` has written\n")


def test_default_of_the_command_is_that_of_the_function():
    assert sys.modules["impinge.cli.report"].report.__defaults__[1] == MOST_MB == module.MOST_MB


def test_run_with_a_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SMALL)
    result = invoke("run", "scene.toml", "--report")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1].split() == ["report", "scene-out/report.html"]
    assert content_of(tmp_path / "scene-out" / "report.html")["state"]["finished"] is True
    assert invoke("run", "scene.toml", "--overwrite", "-q").exit_code == 0
    assert not (tmp_path / "scene-out" / "report.html").exists()  # of the older run
    result = invoke("run", "scene.toml", "--resume", "--report", "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "scene-out" / "report.html").exists()


def test_run_with_a_report_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for old, new in [("frames = 0.005\n", ""), ("frames = 0.005", 'frames = 0.005\nformats = ["xyz"]')]:
        write(tmp_path, SMALL.replace(old, new))
        result = invoke("run", "scene.toml", "--report")
        assert result.exit_code == 2
        assert result.stderr.startswith(
            "impinge: scene.toml: found no frames, which a report needs; expected in [output]"
        )
        assert not (tmp_path / "scene-out").exists()
