"""Folders of runs, read back."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.output import Collection
from impinge.show.recording import Recording

from ..run.runs import rows
from .runs import folder_of


@pytest.fixture
def copy(tmp_path):
    return lambda name: shutil.copytree(folder_of(name), tmp_path / "copy")


def test_spheres():
    recording = Recording(folder_of("spheres"))
    assert len(recording) == 3
    np.testing.assert_allclose(recording.times, [0, 0.02, 0.04], atol=1e-3)
    first, *_, last = recording
    assert recording[-1].time == last.time == recording.times[-1]
    assert [frame.time for frame in recording[1:]] == recording.times[1:].tolist()
    assert first.bodies is None
    assert first.soft is None
    assert len(first.spheres.centres) == len(first.spheres.radii) == len(first.spheres.data["id"]) == 37
    assert len(last.spheres.radii) != 37  # a source and a sink
    assert len(first.obstacles) == 1
    assert np.abs(first.obstacles[0].vertices - last.obstacles[0].vertices).max() > 0.01
    assert recording.nearest(0.021) == 1
    with pytest.raises(IndexError):
        recording[3]


def test_bodies():
    recording = Recording(folder_of("bodies"))
    first, last = recording[0], recording[-1]
    assert len(first.spheres.radii) == 40
    meshes = first.bodies.meshes()
    assert len(meshes) == len(first.bodies.data["velocity"]) == 14
    model = recording.scene.build()
    for number, mesh in enumerate(meshes):
        expected = model.polyhedra.mesh(number)
        np.testing.assert_array_equal(mesh.vertices, expected.vertices)
        np.testing.assert_array_equal(mesh.faces, expected.faces)
    moved = last.bodies.vertices - first.bodies.vertices
    assert np.abs(moved).max() > 0.01


def test_cables_and_cloth():
    recording = Recording(folder_of("soft"))
    first, last = recording[0].soft, recording[-1].soft
    assert len(first.cables) == 2
    assert len(first.faces) == 50
    assert len(recording[0].obstacles) == 2
    assert np.abs(last.positions - first.positions).max() > 0.01


@pytest.mark.parametrize("name", ["spheres", "soft"])
def test_tables(name):
    recording = Recording(folder_of(name))
    expected = rows(folder_of(name) / "series.csv")
    assert list(recording.series) == list(expected[0])
    np.testing.assert_array_equal(recording.series["time [s]"], [row["time [s]"] for row in expected])
    assert recording.timings["steps"][-1] == recording.summary["steps"]
    assert recording.summary["finished"] is True


def test_tables_of_a_killed_run(copy):
    folder = copy("spheres")
    (folder / "summary.json").unlink()
    (folder / "timings.csv").unlink()
    whole = Recording(folder).series
    text = (folder / "series.csv").read_text()
    (folder / "series.csv").write_text(text + text.splitlines()[-1][:-1])  # as many columns, but a digit short
    recording = Recording(folder)
    np.testing.assert_array_equal(recording.series["contacts"], whole["contacts"])
    assert recording.summary == {}
    assert recording.timings == {}


def test_a_frame_of_which_one_kind_was_not_written(copy):
    folder = copy("bodies")
    count = len(Recording(folder))
    listed = Collection.read(folder / "polyhedra.pvd")
    listed.keep_until(listed.entries[-2][0])
    assert len(Recording(folder)) == count - 1


def test_not_a_run(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="holds no run, expected a folder that `impinge run` has written"):
            Recording(folder)


def test_no_frames(copy):
    folder = copy("discs")
    (folder / "spheres.pvd").unlink()
    with pytest.raises(InputError, match=r"holds no frames, expected some; say in the scene: \[output\] with frames"):
        Recording(folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "is missing, expected the frame that spheres.pvd names"),
        (lambda path: path.write_bytes(path.read_bytes()[:-2000]), "damaged file, expected one of impinge"),
        (lambda path: path.write_bytes(b""), "damaged file, expected one of impinge"),
        (lambda path: path.write_bytes(b"\0" * 5000), "damaged file, expected one of impinge"),
    ],
)
def test_damaged_frames(copy, damage, message):
    folder = copy("spheres")
    damage(folder / "frames" / "spheres_000001.vtp")
    recording = Recording(folder)
    recording[0]
    with pytest.raises(InputError, match=f"spheres_000001.vtp: .*{message}"):
        recording[1]


def test_frames_of_another_kind(copy):
    folder = copy("bodies")
    shutil.copy(folder / "frames" / "polyhedra_000000.vtp", folder / "frames" / "spheres_000000.vtp")
    with pytest.raises(InputError, match="found other things, expected spheres of impinge"):
        Recording(folder)[0]


def test_frames_that_contradict_themselves(copy):
    folder = copy("bodies")
    for name, kind in (("spheres", b'"radius"'), ("polyhedra", b'"material"')):
        path = folder / "frames" / f"{name}_000000.vtp"
        data = path.read_bytes()
        start = data.index(kind)
        path.write_bytes(data[:start] + data[start:].replace(b'offset="', b'offset="1', 1))  # another place in the file
        with pytest.raises(InputError, match=f"{name}_000000.vtp: found"):
            Recording(folder)[0]
        path.write_bytes(data)


def test_files_outside_of_the_folder(copy):
    folder = copy("discs")
    text = (folder / "spheres.pvd").read_text()
    (folder / "spheres.pvd").write_text(text.replace("frames/spheres_000000", "../../../spheres_000000"))
    with pytest.raises(InputError, match="expected a file in the folder"):
        Recording(folder)[0]


@pytest.mark.parametrize("text", ["[]", "{", "3"])
def test_damaged_summaries(copy, text):
    folder = copy("discs")
    (folder / "summary.json").write_text(text)
    with pytest.raises(InputError, match=r"summary.json: found something else"):
        Recording(folder).summary  # noqa: B018


def test_damaged_tables(copy):
    folder = copy("discs")
    for text in ("time [s],contacts\n0,a\n", "time [s],contacts\n0\n", "time [s]\n0,1\n"):
        (folder / "series.csv").write_text(text)
        with pytest.raises(InputError, match=r"series.csv: found other things, expected rows of numbers"):
            Recording(folder).series  # noqa: B018
    (folder / "series.csv").write_text("")
    assert Recording(folder).series == {}


def test_summary_is_plain(copy):
    assert Recording(folder_of("discs")).summary == json.loads((folder_of("discs") / "summary.json").read_text())
