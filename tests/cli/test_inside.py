"""The command line: answers, summaries, exit codes, and nothing left behind after an error."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge import cli, shapes
from impinge.inside import solid
from impinge.inside.pointfiles import open_points

from ..command import invoke, refusal

POINTS = np.concatenate(
    [
        np.random.default_rng(3).uniform(-1.1, 1.1, (300, 3)),
        shapes.octasphere(2).vertices,
        [[0, 0, 0], [9, 9, 9]],
    ]
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a sphere, an open sphere and points, which is the current one."""
    monkeypatch.chdir(tmp_path)
    sphere = shapes.octasphere(2)
    sphere.save("sphere.ply")
    shapes.Mesh(sphere.vertices, sphere.faces[1:]).save("open.ply")
    sphere.flipped().save("flipped.off")
    np.save("points.npy", POINTS)
    return tmp_path


@pytest.fixture
def expected():
    return impinge.Solid(shapes.octasphere(2)).classify(POINTS)


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def refused(result, message, here, before):
    """Exit code 2, one line on stderr that holds the message, nothing on stdout, no new file."""
    assert message in refusal(result)
    assert listing(here) == before


def make_points(name):
    """A file of POINTS in the format of its ending."""
    ending = name.rpartition(".")[2]
    if ending == "npy":
        np.save(name, POINTS)
    elif ending == "npz":
        np.savez_compressed(name, points=POINTS)
    elif ending == "ply":
        head = f"ply\nformat binary_big_endian 1.0\nelement vertex {len(POINTS)}\n"
        head += "property double x\nproperty double y\nproperty double z\nend_header\n"
        with open(name, "wb") as file:
            file.write(head.encode() + POINTS.astype(">f8").tobytes())
    else:
        with open(name, "w") as file:
            file.writelines((",", " ")[ending == "xyz"].join(map(repr, row)) + "\n" for row in POINTS.tolist())


def read_classes(name):
    ending = name.rpartition(".")[2]
    if ending == "npy":
        return np.load(name)
    if ending == "npz":
        return np.load(name)["classification"]
    if ending == "ply":
        data = Path(name).read_bytes().partition(b"end_header\n")[2]
        return np.frombuffer(data, [("p", "<f8", 3), ("c", "i1")])["c"]
    rows = [line.replace(",", " ").split() for line in Path(name).read_text().splitlines()]
    return np.array([int(row[3]) for row in rows[ending == "csv" :]])


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "xyz", "ply"])
@pytest.mark.parametrize("chunk", [None, 7, 100])
def test_every_format(ending, chunk, here, expected):
    make_points(f"cloud.{ending}")
    result = invoke("inside", "sphere.ply", f"cloud.{ending}", *([] if chunk is None else ["--chunk", chunk]))
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(read_classes(f"cloud-inside.{ending}"), expected)
    if ending in ("csv", "xyz", "ply"):
        again = np.concatenate(list(open_points(f"cloud-inside.{ending}").chunks()))
        assert again.tobytes() == POINTS.tobytes()
    assert result.stderr == ""


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "xyz", "ply"])
def test_output_in_another_format(ending, here, expected):
    result = invoke("inside", "sphere.ply", "points.npy", "-o", f"answer.{ending}")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(read_classes(f"answer.{ending}"), expected)


def test_methods_are_those_of_solid():
    assert tuple(method.value for method in cli.inside.Method) == solid.METHODS


@pytest.mark.parametrize("method", solid.METHODS)
def test_every_method(method, here, expected):
    result = invoke("inside", "sphere.ply", "points.npy", "--method", method, "--threads", 1, "--json")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("points-inside.npy"), expected)
    facts = json.loads(result.stdout)
    assert facts["method"] == ("octree" if method == "auto" else method)
    assert facts["threads"] == 1


def test_summary(here, expected):
    result = invoke("inside", "sphere.ply", "points.npy")
    assert "128 triangles, closed" in result.stdout
    assert f"2 × 2 × 2, volume {shapes.octasphere(2).volume:.6g}" in result.stdout
    for name, value in (("inside", 1), ("on", 0), ("outside", -1)):
        words = next(line.split() for line in result.stdout.splitlines() if line.startswith(name + " "))
        assert words[1] == str(np.count_nonzero(expected == value))
    assert "points per second" in result.stdout
    assert "points-inside.npy (368 points)" in result.stdout


def test_json(here, expected):
    result = invoke("inside", "sphere.ply", "points.npy", "--json", "-o", "a.npz")
    facts = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    assert facts["version"] == impinge.__version__
    assert facts["counts"] == {
        "inside": int((expected == 1).sum()),
        "on": int((expected == 0).sum()),
        "outside": int((expected == -1).sum()),
    }
    assert facts["counts"]["on"] == 66
    assert facts["points"] == {"path": "points.npy", "count": len(POINTS)}
    assert facts["output"] == "a.npz"
    mesh = facts["mesh"]
    assert (mesh["path"], mesh["vertices"], mesh["triangles"], mesh["closed"]) == (
        "sphere.ply",
        66,
        128,
        True,
    )
    assert mesh["volume"] == pytest.approx(shapes.octasphere(2).volume)
    assert mesh["bounds"] == [[-1, -1, -1], [1, 1, 1]]
    assert {*facts["seconds"]} == {"read_mesh", "load_code", "check_mesh", "build", "query", "total"}
    assert all(seconds >= 0 for seconds in facts["seconds"].values())
    assert facts["points_per_second"] > 0
    assert facts["solid_bytes"] > 0
    assert facts["warnings"] == []


def test_json_of_a_huge_mesh(here):
    shapes.octasphere(1, radius=1e200).save("huge.off")
    result = invoke("inside", "huge.off", "points.npy", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["mesh"]["volume"] is None
    assert facts["counts"]["inside"] == len(POINTS)
    assert invoke("inside", "huge.off", "points.npy").exit_code == 0


def test_quiet(here):
    result = invoke("inside", "sphere.ply", "points.npy", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert (here / "points-inside.npy").exists()


def test_output_stands_in_the_current_folder(here):
    (here / "data").mkdir()
    (here / "points.npy").rename(here / "data" / "points.npy")
    assert invoke("inside", "sphere.ply", "data/points.npy").exit_code == 0
    assert (here / "points-inside.npy").exists()


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "xyz", "ply"])
def test_no_points(ending, here, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "POINTS", np.empty((0, 3)))
    make_points(f"none.{ending}")
    result = invoke("inside", "sphere.ply", f"none.{ending}", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["counts"] == {"inside": 0, "on": 0, "outside": 0}
    assert facts["points_per_second"] is None
    assert len(read_classes(f"none-inside.{ending}")) == 0
    assert invoke("inside", "sphere.ply", f"none.{ending}").exit_code == 0


def test_open_mesh_is_warned_about(here):
    result = invoke("inside", "open.ply", "points.npy", "--json")
    assert result.exit_code == 0
    assert result.stderr.startswith("impinge: warning: ")
    assert result.stderr.count("\n") == 1
    assert "open edge" in result.stderr
    facts = json.loads(result.stdout)
    assert facts["method"] == "multipole"
    assert facts["mesh"]["closed"] is False
    assert len(facts["warnings"]) == 1


def test_inverted_mesh_is_warned_about(here):
    result = invoke("inside", "flipped.off", "points.npy", "-q")
    assert result.exit_code == 0
    assert result.stderr.startswith("impinge: warning: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("method", ["octree", "ray", "ray-exact"])
def test_open_mesh_is_refused(method, here):
    before = listing(here)
    refused(invoke("inside", "open.ply", "points.npy", "--method", method), "open edge", here, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.ply", "points.npy"], "nothing.ply: no such file"),
        (["sphere.ply", "nothing.npy"], "nothing.npy: no such file"),
        (["sphere.ply", "sphere.obj"], "sphere.obj: found points with the ending '.obj'"),
        (["points.npy", "points.npy"], "points.npy: unknown ending '.npy'"),
        (["damaged.stl", "points.npy"], "damaged.stl: "),
        (["damaged.npz", "points.npy"], "damaged.npz: "),
        (["sphere.ply", "damaged.npz"], "damaged.npz: cannot be read as .npz"),
        (["sphere.ply", "folder.csv"], "folder.csv: is a folder, not a file"),
        (["folder.csv", "points.npy"], "folder.csv: is a folder"),
        (["sphere.ply", "points.npy", "-o", "answer.txt"], "answer.txt: found output with the ending '.txt'"),
        (["sphere.ply", "points.npy", "-o", "no/answer.npy"], "no/answer.npy: cannot be written"),
        (["sphere.ply", "points.npy", "-o", "folder.csv"], "folder.csv: is not a regular file"),
        (["sphere.ply", "points.npy", "-o", "points.npy"], "points.npy: is the file of the points"),
        (["sphere.ply", "points.npy", "-o", "sphere.ply"], "sphere.ply: is the file of the mesh"),
        (["sphere.ply", "points.npy", "--threads", "100000"], "threads: found 100000"),
        (["sphere.ply", "wrong.npy"], "wrong.npy: found numbers of shape (5, 2), expected shape (n, 3)"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_bad_input(arguments, message, form, here):
    (here / "damaged.stl").write_bytes(b"nothing of the kind")
    (here / "damaged.npz").write_bytes(b"nothing of the kind")
    (here / "folder.csv").mkdir()
    np.save("wrong.npy", np.zeros((5, 2)))
    before = listing(here)
    refused(invoke("inside", *arguments, *form), message, here, before)


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "xyz", "ply"])
@pytest.mark.parametrize("chunk", [7, 64, 100_000])
def test_bad_row_in_any_chunk(ending, chunk, here, monkeypatch):
    """The row is that of the file; what was written before is not left behind."""
    points = POINTS.copy()
    points[200, 2] = np.nan
    monkeypatch.setattr(sys.modules[__name__], "POINTS", points)
    make_points(f"bad.{ending}")
    before = listing(here)
    result = invoke("inside", "sphere.ply", f"bad.{ending}", "--chunk", chunk)
    refused(result, f"bad.{ending}: row 200 ", here, before)


@pytest.mark.parametrize(
    "arguments",
    [
        ["inside"],
        ["inside", "sphere.ply"],
        ["inside", "sphere.ply", "points.npy", "--method", "guess"],
        ["inside", "sphere.ply", "points.npy", "--threads", "0"],
        ["inside", "sphere.ply", "points.npy", "--threads", "many"],
        ["inside", "sphere.ply", "points.npy", "--chunk", "0"],
        ["inside", "sphere.ply", "points.npy", "--fast"],
        ["nothing"],
    ],
)
def test_wrong_usage(arguments, here):
    before = listing(here)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert listing(here) == before


def test_unforeseen_errors_are_not_hidden(here, monkeypatch):
    def fail(self, points):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(solid.Solid, "classify", fail)
    result = invoke("inside", "sphere.ply", "points.npy")
    assert result.exit_code == 1
    assert isinstance(result.exception, ZeroDivisionError)


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "impinge", *map(str, arguments)], capture_output=True, text=True, **options
    )


def test_as_a_command(here, expected):
    done = command("inside", "sphere.ply", "points.npy", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"]["count"] == len(POINTS)
    np.testing.assert_array_equal(np.load("points-inside.npy"), expected)
    done = command("inside", "sphere.ply", "nothing.npy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "impinge: nothing.npy: no such file\n"


def test_version_and_help_are_quick():
    times = []
    for argument in ("--version", "--help", "--help"):
        started = time.perf_counter()
        done = command(argument)
        times.append(time.perf_counter() - started)
        assert done.returncode == 0
        assert "impinge" in done.stdout
    assert min(times) < 1.5
    assert command("--version").stdout == f"impinge {impinge.__version__}\n"


def test_progress_is_for_terminals_only(capsys):
    with cli.common.progress(after=0.0) as bar:
        task = bar.add_task("Work", total=1)
        time.sleep(0.05)
        bar.update(task, completed=1)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with cli.common.progress(after=0.0) as bar:
        bar.add_task("Work", total=1)
        time.sleep(0.3)
    shown = capsys.readouterr()
    assert "Work" in shown.err
    assert shown.out == ""
    with cli.common.progress(after=5.0) as bar:  # quick work shows none
        bar.add_task("Work", total=1)
    assert capsys.readouterr() == ("", "")


def test_warmup(monkeypatch):
    from impinge import _jit, _warmup

    done = []

    def run_none(workers, started, finished):
        assert workers >= 1
        for name, _ in _warmup.steps():
            started(name)
            finished(name)
            done.append(name)

    monkeypatch.setattr(_warmup, "run", run_none)
    result = invoke("warmup")
    assert result.exit_code == 0, result.output
    assert len(done) == len(_warmup.steps())
    assert "compiled in" in result.stdout
    assert str(_jit.cache_folder()) in result.stdout


def test_points_in_another_unit(here):
    np.savetxt("far.csv", [[1000.0, 2000, 3000], [0, 0, 1200]], delimiter=",")
    result = invoke("inside", "sphere.ply", "far.csv")
    assert result.exit_code == 0
    assert "far.csv: no point is in the box of the mesh, (-1, -1, -1) to (1, 1, 1)" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["inside"], ["nope"], ["inside", "a", "b", "--method", "fast"], ["inside", "a", "b", "--threads", "0"]],
)
def test_wrong_usage_is_one_line_too(arguments):
    done = subprocess.run([sys.executable, "-m", "impinge", *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("impinge: ")
    assert "Value error" not in done.stderr
