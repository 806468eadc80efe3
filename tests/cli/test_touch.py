"""`impinge touch`: answers, exit codes and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import impinge
from impinge import ccd, shapes

from ..command import invoke, refusal

SHEET = shapes.Mesh([[0, 0, 0], [2, 0, 0], [0, 2, 0]], [[0, 1, 2]])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return invoke("touch", *arguments)


def save_motion(shift0, shift1, ending="ply"):
    """A small triangle with a corner at the origin, which moves past the sheet, in before and after."""
    small = np.array([[0.5, 0.5, 0], [0.6, 0.5, 0.1], [0.5, 0.6, 0.1]])
    for name, shift in (("before", shift0), ("after", shift1)):
        (SHEET + shapes.Mesh(small + shift, [[0, 1, 2]])).save(f"{name}.{ending}")


@pytest.mark.parametrize("ending", ["ply", "obj", "off", "npz"])
def test_a_vertex_passes_a_face(ending, here):
    save_motion([0, 0, 1], [0, 0, -3], ending)
    result = run(f"before.{ending}", f"after.{ending}", "--json", "--threads", 1)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    facts = json.loads(result.stdout)
    assert facts["version"] == impinge.__version__
    assert (facts["before"], facts["after"]) == (f"before.{ending}", f"after.{ending}")
    assert (facts["vertices"], facts["edges"], facts["triangles"]) == (6, 6, 2)
    assert (facts["gap"], facts["threads"], facts["free"]) == (0, 1, False)
    assert facts["intersections_before"] == 0
    assert facts["contacts"] == {"total": 3, "vertex_faces": 3, "edge_edges": 0}
    assert facts["warnings"] == []
    assert {*facts["seconds"]} == {"reading", "loading", "searching", "intersecting"}
    first = facts["first_contact"]
    assert (first["kind"], first["pair"], first["vertices"]) == ("vertex-face", [3, 0], [[3], [0, 1, 2]])
    assert first["time"] == pytest.approx(0.25, abs=1e-12)
    assert first["time"] <= 0.25
    assert first["point"] == pytest.approx([0.5, 0.5, 0], abs=1e-9)
    assert first["normal"] == pytest.approx([0, 0, 1])


def test_edges_that_cross(here):
    """A wedge comes down edge first, across the edge of another one."""
    below = shapes.Mesh([[-1, 0, 0], [1, 0, 0], [0, 0, -1]], [[0, 1, 2]])
    for name, height in (("before", 1), ("after", -1)):
        above = shapes.Mesh([[0.25, -1, height], [0.25, 1, height], [0.25, 0, height + 1]], [[0, 1, 2]])
        (below + above).save(f"{name}.ply")
    result = run("before.ply", "after.ply", "--json")
    assert result.exit_code == 1
    first = json.loads(result.stdout)["first_contact"]
    assert (first["kind"], first["vertices"]) == ("edge-edge", [[0, 1], [3, 4]])
    assert first["point"] == pytest.approx([0.25, 0, 0], abs=1e-9)
    assert first["normal"] == pytest.approx([0, 0, -1], abs=1e-9)
    assert "edges of vertices 0, 1 and 3, 4" in run("before.ply", "after.ply").stdout


def test_a_free_motion(here):
    save_motion([0, 0, 1], [0, 0, 0.01])
    result = run("before.ply", "after.ply")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "free" in result.stdout
    assert "no faces intersect" in result.stdout
    facts = json.loads(run("before.ply", "after.ply", "--json").stdout)
    assert (facts["free"], facts["first_contact"], facts["contacts"]["total"]) == (True, None, 0)


def test_the_gap(here):
    save_motion([0, 0, 1], [0, 0, 0.01])
    assert run("before.ply", "after.ply", "--gap", 0.0099).exit_code == 0
    result = run("before.ply", "after.ply", "--gap", 0.0101, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["gap"] == 0.0101


def test_the_first_contact_is_that_of_the_library(here):
    ball = shapes.octasphere(3)
    turned = ball.transformed(translation=[0.3, 0.1, 2.5])
    (ball + turned).save("before.ply")
    (ball + turned.transformed(translation=[0, 0, -5])).save("after.ply")
    start, end = impinge.read_mesh("before.ply"), impinge.read_mesh("after.ply")
    contact = ccd.first_contact(start.vertices, end.vertices, faces=start.faces)
    first = json.loads(run("before.ply", "after.ply", "--json").stdout)["first_contact"]
    assert (first["time"], first["kind"], tuple(first["pair"])) == contact[:3]
    result = run("before.ply", "after.ply")
    assert f"at t = {contact.time:.9g}" in result.stdout
    assert result.exit_code == 1


def test_intersections_at_the_start(here):
    """Also if they stay: then no vertex meets a face, and no edge another."""
    save_motion([0, 0, -0.05], [0, 0, -0.06])
    result = run("before.ply", "after.ply")
    assert result.exit_code == 1
    assert "intersects itself, pairs of faces: 1" in result.stdout
    assert "free" not in result.stdout
    facts = json.loads(run("before.ply", "after.ply", "--json").stdout)
    assert (facts["free"], facts["first_contact"], facts["intersections_before"]) == (False, None, 1)


def test_quiet(here):
    save_motion([0, 0, 1], [0, 0, -3])
    result = run("before.ply", "after.ply", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "")


def test_vertices_that_are_not_shared_are_warned_about(here):
    shapes.octasphere(1).save("soup.stl")
    result = run("soup.stl", "soup.stl", "--json")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "soup.stl: 78 of 96 vertices are where others are" in result.stderr
    assert len(json.loads(result.stdout)["warnings"]) == 1


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.ply", "after.ply"], "nothing.ply: no such file"),
        (["before.ply", "nothing.ply"], "nothing.ply: no such file"),
        (["before.ply", "points.npy"], "points.npy: unknown ending '.npy'"),
        (["before.ply", "damaged.ply"], "damaged.ply: cannot be read as .ply"),
        (["before.ply", "fewer.ply"], "fewer.ply: found 3 vertices, expected 6, as in before.ply"),
        (["before.ply", "one.ply"], "one.ply: found 1 faces, expected 2, as in before.ply"),
        (["before.ply", "other.ply"], "other.ply: 1 of 2 faces are not those of before.ply; face 1: found [3, 5, 4], "),
        (["before.ply", "after.ply", "--gap", "-1"], "gap: found -1"),
        (["before.ply", "after.ply", "--gap", "nan"], "gap: found nan"),
        (["before.ply", "after.ply", "--threads", "100000"], "threads: found 100000"),
    ],
)
def test_bad_input(arguments, message, form, here):
    save_motion([0, 0, 1], [0, 0, -3])
    mesh = impinge.read_mesh("after.ply")
    SHEET.save("fewer.ply")
    shapes.Mesh(mesh.vertices, mesh.faces[:1]).save("one.ply")
    shapes.Mesh(mesh.vertices, [[0, 1, 2], [3, 5, 4]]).save("other.ply")
    np.save("points.npy", mesh.vertices)
    (here / "damaged.ply").write_bytes(b"nothing of the kind")
    assert message in refusal(run(*arguments, *form))


@pytest.mark.parametrize("arguments", [[], ["a.ply"], ["a.ply", "b.ply", "--gap", "near"], ["a", "b", "--fast"]])
def test_wrong_usage(arguments, here):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
