"""Nodes of bodies inside each other, and whether they overlap, against questions for every node and face."""

from __future__ import annotations

import doctest
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import impinge
from impinge import Mesh, Solid, collide, colliding_nodes, collisions, shapes
from impinge.errors import InputError
from impinge.inside import CollidingNodes, Collision, SolidView

from .. import naive
from . import overlaps
from .contract import METHODS

Body = Solid | SolidView


@cache
def solid(name: str, method: str = "octree") -> Solid:
    mesh = {
        "box": lambda: shapes.box(2.0, divisions=2),
        "ball": lambda: shapes.octasphere(3),
        "torus": lambda: shapes.torus(1.0, 0.3, 24, 16),
        "speck": lambda: Mesh(shapes.octasphere(1).vertices / 8, shapes.octasphere(1).faces),
    }[name]()
    return Solid(mesh, method)


def vertices_of(body: Body) -> np.ndarray:
    return body.mesh.vertices if isinstance(body, Solid) else body.vertices


def ask_all(body: Body, other: Body) -> list[int]:
    """Every node of `body`, one after the other; no cull."""
    faces = (body if isinstance(body, Solid) else body.solid).mesh.faces
    places = vertices_of(body)
    return [node for node in sorted(set(faces.reshape(-1).tolist())) if other.contains(places[node][None])[0]]


def check(a: Body, b: Body) -> CollidingNodes:
    found = colliding_nodes(a, b)
    assert isinstance(found, CollidingNodes)
    assert found.of_a.dtype == found.of_b.dtype == np.int64
    assert found.of_a.tolist() == ask_all(a, b)
    assert found.of_b.tolist() == ask_all(b, a)
    return found


def test_examples() -> None:
    assert doctest.testmod(sys.modules["impinge.inside.collide"]).failed == 0


@pytest.mark.parametrize("method", METHODS)
@given(
    names=st.sampled_from([("box", "ball"), ("torus", "box"), ("ball", "torus")]),
    vector=st.tuples(*[st.floats(-4, 4)] * 3),
    shift=st.tuples(*[st.floats(-1.5, 1.5)] * 3),
)
def test_interpenetrating(
    method: str, names: tuple[str, str], vector: tuple[float, ...], shift: tuple[float, ...]
) -> None:
    a, b = solid(names[0], method), solid(names[1], method).at(Rotation.from_rotvec(vector), shift)
    found = colliding_nodes(a, b)
    np.testing.assert_array_equal(found.of_a, np.flatnonzero(b.contains(a.mesh.vertices)))
    np.testing.assert_array_equal(found.of_b, np.flatnonzero(a.contains(b.vertices)))
    turned = colliding_nodes(b, a)
    np.testing.assert_array_equal(turned.of_a, found.of_b)
    np.testing.assert_array_equal(turned.of_b, found.of_a)


@given(method=st.sampled_from(METHODS), shift=st.tuples(*[st.integers(-12, 12).map(lambda n: n / 4)] * 3))
def test_boxes_that_touch(method: str, shift: tuple[float, ...]) -> None:
    """Nodes in faces, on edges and at corners of the other box, by rational numbers."""
    box = solid("box", method)
    places = box.mesh.vertices
    moved = Mesh(places + shift, box.mesh.faces)
    found = colliding_nodes(box, box.at(translation=shift))
    np.testing.assert_array_equal(found.of_a, np.flatnonzero(naive.classify(moved, places) >= 0))
    np.testing.assert_array_equal(found.of_b, np.flatnonzero(naive.classify(box.mesh, moved.vertices) >= 0))


@pytest.mark.parametrize("method", METHODS)
def test_cases(method: str) -> None:
    box, ball, speck = (solid(name, method) for name in ("box", "ball", "speck"))
    turn = Rotation.from_rotvec([0.3, 0.2, -0.9])
    apart = check(ball, ball.at(turn, [3, 0, 0]))
    assert (len(apart.of_a), len(apart.of_b)) == (0, 0)
    beside = check(ball, speck.at(turn, [0.7, 0.7, 0.7]))  # in the box of the ball, but not in the ball
    assert (len(beside.of_a), len(beside.of_b)) == (0, 0)
    nested = check(speck.at(turn, [10, 0.1, 0]), ball.at(None, [10, 0, 0]))
    assert (len(nested.of_a), len(nested.of_b)) == (len(speck.mesh.vertices), 0)
    same = check(ball, ball)
    assert len(same.of_a) == len(same.of_b) == len(ball.mesh.vertices)
    corner = check(box, box.at(translation=[2, 2, 2]))
    assert (len(corner.of_a), len(corner.of_b)) == (1, 1)
    assert len(check(box, box.at(translation=[2, 0, 0])).of_a) == 9
    assert len(check(box, box.at(translation=[np.nextafter(2, 3), 0, 0])).of_a) == 0


@pytest.mark.parametrize("a", METHODS)
@pytest.mark.parametrize("b", METHODS)
def test_methods_mix(a: str, b: str) -> None:
    turn, shift = Rotation.from_rotvec([1.0, 0.2, 0.3]), [0.8, 0.4, 0.1]
    found = colliding_nodes(solid("box", a), solid("torus", b).at(turn, shift))
    wanted = colliding_nodes(solid("box"), solid("torus").at(turn, shift))
    assert len(wanted.of_a) > 0
    assert len(wanted.of_b) > 0
    np.testing.assert_array_equal(found.of_a, wanted.of_a)
    np.testing.assert_array_equal(found.of_b, wanted.of_b)


def test_nodes_outside_the_box_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure 2 of the paper; the box is that of the body in its own frame."""
    asked = []
    contains = Solid.contains
    monkeypatch.setattr(Solid, "contains", lambda body, points: asked.append(len(points)) or contains(body, points))
    ball, far = solid("ball"), solid("ball").at(translation=[1.5, 0, 0])
    colliding_nodes(ball, far)
    x = ball.mesh.vertices[:, 0]
    assert asked == [(x >= 0.5).sum(), (x <= -0.5).sum()]
    assert 0 < max(asked) < len(x) / 2


def test_vertices_without_faces_are_no_nodes() -> None:
    box = shapes.box()
    loose = Mesh(np.vstack([[[0, 0, 0], [1e308, 0, 0]], box.vertices, [[0, 0, 0]]]), box.faces + 2)
    found = colliding_nodes(Solid(loose).at(Rotation.from_rotvec([0, 0, 1])), solid("box"))
    assert found.of_a.tolist() == list(range(2, 10))


def test_equal_vertices_are_all_told() -> None:
    """A mesh of corners, as from an STL file."""
    box = shapes.box()
    corners = Mesh(box.triangles.reshape(-1, 3), np.arange(36).reshape(-1, 3))
    found = check(Solid(corners), solid("box").at(translation=[1.25, 1.25, 1.25]))
    np.testing.assert_array_equal(found.of_a, np.flatnonzero((corners.vertices == 0.5).all(axis=1)))
    assert len(found.of_a) > 1


def test_open_meshes() -> None:
    """Inside is a winding number above 1/2, and a place in the box."""
    ball = solid("ball").mesh
    cup = Solid(Mesh(ball.vertices, ball.faces[ball.triangles[:, :, 2].max(axis=1) <= 0.4]), "direct")
    speck = solid("speck")
    assert len(check(cup, speck.at(translation=[0.1, 0, -0.5])).of_b) == len(speck.mesh.vertices)
    below_the_rim = [0, 0, 0.22]  # where the winding number passes 1/2
    found = check(cup, speck.at(translation=below_the_rim)).of_b
    windings = cup.winding(speck.mesh.vertices + below_the_rim)
    np.testing.assert_array_equal(found, np.flatnonzero(windings > 0.5))
    assert 0 < len(found) < len(windings)


def test_open_meshes_reach_no_further_than_their_box() -> None:
    """Sheets on top of each other wind more than half around points beside them."""
    sheet = Mesh([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 2, 1], [0, 3, 2]])
    sheets = Solid(Mesh.concatenate([sheet] * 3), "direct")
    speck = solid("speck").at(translation=[0, 0, 0.5])
    assert sheets.contains(speck.vertices).all()
    assert colliding_nodes(sheets, speck).of_b.tolist() == []


def test_threads_do_not_matter() -> None:
    meshes = shapes.octasphere(5), shapes.torus(1.0, 0.3, 80, 60)
    turn, shift = Rotation.from_rotvec([1.0, 0.2, 0.3]), [0.5, 0.4, 0.1]
    one, all_cores = (
        colliding_nodes(Solid(meshes[0], threads=n), Solid(meshes[1], threads=n).at(turn, shift)) for n in (1, None)
    )
    np.testing.assert_equal(tuple(one), tuple(all_cores))
    assert len(one.of_a) > 50
    assert len(one.of_b) > 50


@pytest.mark.parametrize("wrong", [None, 3, "ball", shapes.box(), np.zeros((3, 3)), Solid])
def test_bad_bodies(wrong: object) -> None:
    with pytest.raises(InputError, match=r"^a: found .*expected an impinge\.Solid"):
        colliding_nodes(wrong, solid("box"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^b: found .*expected an impinge\.Solid"):
        colliding_nodes(solid("box"), wrong)  # type: ignore[arg-type]


def test_a_move_beyond_the_range_of_numbers() -> None:
    with pytest.raises(InputError, match="beyond the range of numbers"):
        colliding_nodes(solid("box").at(translation=[-1.7e308, 0, 0]), solid("box").at(translation=[1.7e308, 0, 0]))


def test_public_names() -> None:
    assert impinge.colliding_nodes is impinge.inside.colliding_nodes is colliding_nodes


def check_overlap(a: Body, b: Body) -> Collision:
    found = collide(a, b)
    first, second = (overlaps.placed(body if isinstance(body, SolidView) else body.at()) for body in (a, b))
    np.testing.assert_array_equal(found.faces, overlaps.meeting_faces(first, second))
    assert found.overlap == bool(found) == overlaps.overlap(first, second)
    count = len(found.points)
    assert found.depths.shape == (count,)
    assert found.normals.shape == (count, 3)
    assert (found.depths >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1, rtol=1e-12)
    if not found:
        assert count == len(found.nodes.of_a) == len(found.nodes.of_b) == 0
    return found


def test_random_pairs() -> None:
    """`make verify` compares 10,000 of them."""
    found = [check_overlap(*overlaps.random_pair(seed)) for seed in range(200)]
    kinds = [(c.overlap, len(c.faces) > 0, len(c.nodes.of_a) + len(c.nodes.of_b) > 0) for c in found]
    # Apart, crossing with and without nodes inside, and nested
    assert {(False, False, False), (True, True, True), (True, True, False), (True, False, True)} <= set(kinds)


def test_bars_that_cross() -> None:
    bar = Solid(shapes.box((4.0, 1.0, 1.0)))
    found = check_overlap(bar, bar.at(overlaps.QUARTERS[0], [0.25, 0, 0.75]))
    assert found
    cross = check_overlap(bar, bar.at([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0.25, 0, 0.75]))
    assert cross
    assert len(cross.nodes.of_a) == len(cross.nodes.of_b) == 0
    np.testing.assert_allclose(cross.depths, 0.25)
    np.testing.assert_allclose(cross.normals, [[0, 0, -1]] * len(cross.normals), atol=1e-12)
    touch = check_overlap(bar, bar.at([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0.25, 0, 1]))
    assert touch
    assert not check_overlap(bar, bar.at([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0.25, 0, np.nextafter(1, 2)]))


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**-285, 2.0**285, 2.0**500])
def test_contacts_of_bodies_of_any_size(scale: float) -> None:
    """Products of three lengths are beyond the numbers there."""
    mesh = shapes.box((4.0, 1.0, 1.0))
    for rotation, shift in ((overlaps.QUARTERS[0], [1.0, 0, 0.875]), (np.eye(3), [0, 0, 1.0])):
        usual, other = (
            collide(bar, bar.at(rotation, np.array(shift) * size))
            for size in (1.0, scale)
            for bar in [Solid(Mesh(mesh.vertices * size, mesh.faces))]
        )
        assert len(usual.points) > 0
        np.testing.assert_allclose(other.points / scale, usual.points, atol=1e-14)
        np.testing.assert_allclose(other.depths / scale, usual.depths, atol=1e-14)
        np.testing.assert_allclose(other.normals, usual.normals, atol=1e-14)


@pytest.mark.parametrize("depth", [1e-9, 1e-4, 0.1])
@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_edges_that_cross(depth: float, turn: float) -> None:
    """The edges of two cubes, at right angles and not: depth and normal are those of the two lines."""
    cube = Solid(shapes.box())
    below = cube.at(Rotation.from_euler("x", 45, degrees=True))
    roof = Rotation.from_euler("z", turn) * Rotation.from_euler("y", 45, degrees=True)
    found = check_overlap(below, cube.at(roof, [0, 0, np.sqrt(2) - depth]))
    assert len(found.nodes.of_a) == len(found.nodes.of_b) == 0
    assert len(found.points) == 2
    np.testing.assert_allclose(found.depths, depth, rtol=1e-5)
    np.testing.assert_allclose(found.normals, [[0, 0, -1]] * 2, atol=1e-5)


def test_nested_and_linked() -> None:
    ring, ball, speck = Solid(shapes.torus(1.0, 0.3, 12, 8)), Solid(shapes.octasphere(2)), solid("speck")
    assert not check_overlap(ring, speck)  # in the hole
    linked = ring.at(Rotation.from_euler("x", 90, degrees=True), [1, 0, 0])
    assert not check_overlap(ring, linked)
    assert check_overlap(ring, linked.at(translation=[0.5, 0, 0]))
    inner = collide(ball, speck)
    assert inner
    assert len(inner.faces) == 0
    np.testing.assert_allclose(inner.depths.max(), ball.distance(speck.mesh.vertices).max() * -1, rtol=0.2)
    assert collide(speck, ball)
    shell = Solid(shapes.box(4.0) + shapes.box(3.0).flipped())
    assert not check_overlap(shell, ball)
    assert check_overlap(shell, speck.at(translation=[1.75, 0, 0]))


def test_to_get_out_move_along_the_normal() -> None:
    ball = solid("ball")
    found = collide(ball, ball.at(translation=[1.9, 0, 0]))
    assert len(found.points) > 4
    assert (found.normals[:, 0] < -0.8).all()
    assert found.depths.max() < 0.1
    assert not collide(ball.at(translation=[-0.11, 0, 0]), ball.at(translation=[1.9, 0, 0]))


@pytest.mark.parametrize("method", METHODS)
def test_collide_by_any_method(method: str) -> None:
    turn, shift = Rotation.from_rotvec([1.0, 0.2, 0.3]), [0.8, 0.4, 0.1]
    found = collide(solid("box", method), solid("torus", method).at(turn, shift))
    wanted = collide(solid("box"), solid("torus").at(turn, shift))
    np.testing.assert_equal(tuple(found.nodes), tuple(wanted.nodes))
    np.testing.assert_array_equal(found.faces, wanted.faces)
    np.testing.assert_array_equal(found.points, wanted.points)
    assert collide(solid("ball", method), solid("speck", method))


def test_many_bodies() -> None:
    rng = np.random.default_rng(5)
    many = [
        body.at(Rotation.random(rng=rng), rng.uniform(-5, 5, 3)) for body in overlaps.bodies().values() for _ in "1234"
    ]
    found = collisions(many)
    every = [(i, j) for i in range(len(many)) for j in range(i + 1, len(many))]
    assert found.pairs.tolist() == [list(pair) for pair in every if collide(many[pair[0]], many[pair[1]])]
    assert 5 < len(found.pairs) == len(found.details) < len(every) / 2
    for (i, j), detail in zip(found.pairs, found.details, strict=True):
        alone = collide(many[i], many[j])
        np.testing.assert_array_equal(detail.faces, alone.faces)
        np.testing.assert_array_equal(detail.normals, alone.normals)
    one = collisions(iter(many), threads=1)
    assert one.pairs.tolist() == found.pairs.tolist()
    assert collisions([]).pairs.shape == collisions(many[:1]).pairs.shape == (0, 2)


def test_open_meshes_collide() -> None:
    """Surfaces that meet overlap; what is inside of an open surface its method says."""
    ball = solid("ball").mesh
    cup = Solid(Mesh(ball.vertices, ball.faces[ball.triangles[:, :, 2].max(axis=1) <= 0.4]), "direct")
    speck = solid("speck")
    assert collide(cup, speck.at(translation=[0, 0, -1]))
    assert collide(cup, speck.at(translation=[0, 0, -0.5]))
    assert not collide(cup, speck.at(translation=[0, 0, 0.9]))


def test_bad_bodies_to_collide() -> None:
    box = solid("box")
    with pytest.raises(InputError, match=r"^b: found Mesh, expected an impinge\.Solid"):
        collide(box, box.mesh)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^solids\[1\]: found int"):
        collisions([box, 3])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"^solids: found one body"):
        collisions(box)  # type: ignore[arg-type]
    assert "apart" in repr(collide(box, box.at(translation=[9, 0, 0])))
    assert "pairs of faces meet" in repr(collide(box, box.at(translation=[1, 0, 0])))
