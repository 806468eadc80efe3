"""Closedness, manifoldness and the list of problems against naive versions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge import Mesh, read_mesh
from impinge.shapes import Problem, box, octasphere

from . import naive

MESHES = Path(__file__).parents[2] / "../shared/data/meshes"


def check(vertices, faces):
    """Everything about the mesh equals the naive version; examples are real."""
    mesh = Mesh(vertices, faces)
    counts, manifold = naive.problems(vertices, faces)
    assert mesh.is_closed == naive.is_closed(vertices, faces)
    assert mesh.is_manifold == manifold
    assert np.array_equal(mesh.merged_faces, naive.merged(vertices, faces))
    assert np.array_equal(mesh.components(), naive.components(vertices, faces))
    found = {p.kind: p for p in mesh.problems()}
    assert ("inside out" in found) == (mesh.is_closed and mesh.volume < 0)
    found.pop("inside out", None)
    assert {kind: p.count for kind, p in found.items()} == counts
    joined = naive.merged(vertices, faces)
    uses = naive.edges(joined)
    for kind, problem in found.items():
        assert len(problem.examples) == min(problem.count, 5)
        if kind != "flipped neighbours":  # two faces may have several edges in common
            assert len(set(problem.examples)) == len(problem.examples)
        for example in problem.examples:
            if kind in ("open edges", "non-manifold edges"):
                a, b, face = example
                assert {a, b} <= set(map(int, faces[face]))
                corner = {int(faces[face][k]): joined[face][k] for k in range(3)}
                ends = sorted((corner[a], corner[b]))
                assert (len(uses[tuple(ends)]) == 1) == (kind == "open edges")
            elif kind == "flipped neighbours":
                f, g = example
                assert any({f, g} == {h for h, _ in use} for use in uses.values())
            elif kind == "zero-area faces":
                assert naive.area_is_zero([vertices[i] for i in faces[example[0]]])
            elif kind == "duplicate faces":
                assert sorted(joined[example[0]]) == sorted(joined[example[1]])
            elif kind == "unreferenced vertices":
                assert not (np.asarray(faces) == example[0]).any()
    if not mesh.is_closed:
        assert "open" in str(mesh.problems()) or "turned" in str(mesh.problems()) or "equally" in str(mesh.problems())
    return mesh


COORDINATES = st.sampled_from([-0.0, 0.0, 1.0, 2.0])
POINTS = st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_random_small_meshes(data):
    points = data.draw(POINTS)
    index = st.integers(0, len(points) - 1)
    faces = data.draw(st.lists(st.tuples(index, index, index), min_size=1, max_size=14))
    check(np.array(points), np.array(faces))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_spheres(data):
    sphere = octasphere(1)
    faces = [list(map(int, face)) for face in sphere.faces]
    for f, damage in data.draw(
        st.lists(
            st.tuples(st.integers(0, 31), st.sampled_from(["drop", "flip", "twice", "turn", "move"])),
            max_size=5,
        )
    ):
        face = faces[f % len(faces)]
        if damage == "drop" and len(faces) > 1:
            faces.remove(face)
        elif damage == "flip":
            face.reverse()
        elif damage == "twice":
            faces.append(face[:])
        elif damage == "turn":
            faces.append(face[::-1])
        else:
            face[0] = data.draw(st.integers(0, 17))
    check(sphere.vertices, np.array(faces))


def test_clean_mesh_has_no_problems():
    problems = octasphere(2).problems()
    assert not problems
    assert len(problems) == 0
    assert str(problems) == "no problems found"


def test_words():
    sphere = octasphere(1)
    holed = Mesh(np.vstack([sphere.vertices, [[9, 9, 9]]]), sphere.faces[1:]).problems()
    assert isinstance(holed[0], Problem)
    assert [p.kind for p in holed] == ["open edges", "unreferenced vertices"]
    kind, count, examples, text = holed[0]
    assert (kind, count, len(examples)) == ("open edges", 3, 3)
    a, b, f = examples[0]
    assert text == str(holed[0]) == f"3 open edges (first: vertices {a}–{b} of face {f})"
    assert str(holed) == f"{text}; 1 vertex used by no face (first: vertex 18)"
    one = Mesh(sphere.vertices, np.vstack([sphere.faces, sphere.faces[3:4, ::-1]]))
    assert "1 duplicate face (first: face 32 repeats 3)" in str(one.problems())
    assert "3 edges with more than two faces" in str(one.problems())
    assert "3 of them not used equally often in both directions" in str(one.problems())
    turned = sphere.faces.copy()
    turned[5] = turned[5, ::-1]
    assert "3 pairs of neighbouring faces that are turned differently" in str(Mesh(sphere.vertices, turned).problems())
    assert str(box().flipped().problems()).startswith("inside out: ")
    assert "1 vertex where parts" in str((box() + box().transformed(translation=(1, 1, 1))).problems())


def test_area_is_judged_exactly():
    tiny = 2.0**-400
    corners = np.array([[0, 0, 0], [tiny, 0, 0], [0, tiny, 0], [0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.3, 0.6, 0.9]])
    mesh = Mesh(corners, [[0, 1, 2], [3, 4, 5], [3, 4, 4], [0, 3, 4]])
    expected = [f for f, face in enumerate(mesh.triangles) if naive.area_is_zero(face)]
    assert expected == [2, 3]
    zero = next(p for p in mesh.problems() if p.kind == "zero-area faces")
    assert zero.examples == ((2,), (3,))
    assert zero.text == "2 faces without area (first: face 2)"


@pytest.mark.parametrize("name", ["bunny.off", "cow.off", "decimated-knight.off", "suzanne.obj", "truck.obj"])
def test_meshes_from_the_world(name):
    if not (MESHES / name).exists():
        pytest.skip(f"{MESHES / name} is not there")
    mesh = read_mesh(MESHES / name)
    assert mesh.is_closed == naive.is_closed(mesh.vertices, mesh.faces.tolist())
    assert np.array_equal(mesh.components(), naive.components(mesh.vertices, mesh.faces.tolist()))
    if name.endswith(".off"):
        assert mesh.is_closed
        assert mesh.volume > 0
