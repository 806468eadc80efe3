"""Boxes filled with bodies of any shape: nothing overlaps, the same seed gives the same, and what is said if not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge import Mesh, Solid, shapes
from impinge.bodies.rigid.apart import Crowd, Form
from impinge.errors import InputError, MeshError

L = shapes.prism([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)])
U = shapes.prism([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)])
RING = shapes.torus(1.0, 0.3, 16, 8)
LOW, HIGH = np.zeros(3), np.full(3, 11.0)


def views(meshes: list[Mesh], found: list[Any]) -> list[Any]:
    solids = [Solid(mesh) for mesh in meshes]
    return [
        solid.at(turn, place)
        for solid, poses in zip(solids, found, strict=True)
        for place, turn in zip(*poses, strict=True)
    ]


def test_nothing_overlaps() -> None:
    """Bodies, among themselves, with spheres, with a solid, and with a surface that has bodies on both sides."""
    meshes = [L, U, RING]
    spheres = np.array([[3.0, 3.0, 3.0], [8.0, 8.0, 2.0]]), np.array([1.0, 1.5])
    there = Solid(shapes.box((2, 2, 2))).at(translation=[8, 3, 8])
    shell = shapes.icosphere(2, 3.0).transformed(translation=[5.5, 5.5, 5.5])
    found = impinge.fill_polyhedra(meshes, LOW, HIGH, count=24, seed=1, avoid=[spheres, there, shell.flipped()])
    assert [len(poses.positions) for poses in found] == [8, 8, 8]
    bodies = views(meshes, found)
    assert not len(impinge.collisions([*bodies, there]).pairs)
    surface, sides = Solid(shell), set()
    for body in bodies:
        low, high = body.bounds
        assert (low >= LOW).all()
        assert (high <= HIGH).all()
        assert (body.distance(spheres[0]) > spheres[1]).all()
        inside = surface.contains(body.vertices)
        assert inside.all() == inside.any()
        assert not len(impinge.collide(body, surface).faces)
        sides.add(bool(inside.any()))
    assert sides == {False, True}


def test_gap_seed_and_turn() -> None:
    turn = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    one = impinge.fill_polyhedra(U, LOW, HIGH, count=16, seed=3, gap=0.3, rotation=turn)
    other = impinge.fill_polyhedra(U, LOW, HIGH, count=16, seed=3, gap=0.3, rotation=turn)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)
    assert (one.rotations == turn).all()
    fine = shapes.prism([(0, 0), (1, 0), (2, 0), (3, 0), (3, 1.5), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)])
    bodies = views([fine], [one])
    for k, body in enumerate(bodies):
        for after in bodies[k + 1 :]:
            assert (body.distance(after.vertices) > 0.3 - 1e-9).all()
    again = impinge.fill_polyhedra(U, LOW, HIGH, count=16, seed=4)
    assert (again.positions != one.positions).any()


def test_fraction_and_inside() -> None:
    poses = impinge.fill_polyhedra(
        Solid(L), LOW, HIGH, fraction=0.05, inside=lambda points: points[:, 0] + points[:, 2] < 12.0
    )
    assert len(poses.positions) == round(0.05 * 11**3 / L.volume)
    for body in views([L], [poses]):
        assert (body.vertices[:, 0] + body.vertices[:, 2] < 12.0).all()


def test_surfaces_may_be_open() -> None:
    funnel = shapes.cylinder(4.0, 11.0, 24)
    funnel = Mesh(funnel.vertices, funnel.faces[: 2 * 24]).transformed(translation=[5.5, 5.5, 5.5])
    poses = impinge.fill_polyhedra(L, LOW, HIGH, count=20, seed=1, gap=0.1, avoid=[funnel])
    radii = [np.hypot(*(body.vertices[:, :2] - 5.5).T) for body in views([L], [poses])]
    inside = np.array([r.max() < 4.0 for r in radii])
    assert inside.any()
    assert not inside.all()
    assert all(r.min() > 3.9 for r, within in zip(radii, inside, strict=True) if not within)


@pytest.mark.parametrize("height", [0.15, 0.25])
def test_the_gap_counts_where_edges_cross(height: float) -> None:
    """Two bars that cross at right angles, edge over edge: no vertex is near the other."""
    bar = shapes.prism([(0, 0.1), (-0.1, 0), (0, -0.1), (0.1, 0)], 4.0)
    form, crowd = Form(bar), Crowd(0.2)
    along, across = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0.0]]), np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]])
    assert crowd.take(form, along, np.zeros(3))
    assert crowd.take(form, across, np.array([0, 0, 0.2 + height])) == (height > 0.2)


def test_interlocked_bodies_fit() -> None:
    """A ring in a ring: what only an exact decision allows."""
    form, crowd = Form(RING), Crowd(0.0)
    upright = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]])
    assert crowd.take(form, np.eye(3), np.zeros(3))
    assert not crowd.take(form, np.eye(3), np.array([0.5, 0, 0]))
    assert crowd.take(form, upright, np.array([1.0, 0, 0]))


def refused(match: str, shape: Any = L, lower: Any = LOW, upper: Any = HIGH, **options: Any) -> None:
    with pytest.raises((InputError, MeshError), match=match):
        impinge.fill_polyhedra(shape, lower, upper, **({"count": 3} | options))


def test_what_is_bad() -> None:
    refused(r"^shapes\[1\]: found 3 open edges .* at \(", [L, Mesh(L.vertices, L.faces[1:])])
    refused(r"^shapes: found it inside out, of volume -", L.flipped())
    refused("^shapes: found none", [])
    refused("^lower: found 2 numbers, expected 3", L, [0, 0], [1, 1])
    refused("^fraction, count: found both", fraction=0.1)
    refused("^fraction, count: found neither", count=None)
    refused("^count: found 2 numbers, expected 1", [L], count=[1, 2])
    refused("^count: found 2 numbers, expected 1", [L], count=np.array([1, 2]))
    refused("^fraction: found 2", count=None, fraction=2)
    refused("^gap: ", gap=-1)
    refused("^avoid: found Solid, expected a list", avoid=Solid(L))
    refused(r"^avoid\[0\]: found int", avoid=[3])
    refused("^inside: found int", inside=3)
    refused("^inside: found float64 of shape", inside=lambda points: points[:, 0])
    refused("^rotation: ", rotation=2 * np.eye(3))
    refused(
        r"^upper: found a box of 0.5 × 0.5 × 0.5 m, .* larger one: .* if it is in millimetres, scale",
        upper=[0.5, 0.5, 0.5],
    )
    refused(
        "^fraction, count: found 200 bodies, of which [1-9][0-9]* have a place; no free one", count=200, upper=[6, 6, 6]
    )


@pytest.mark.verify
def test_five_hundred() -> None:
    sides: NDArray[np.float64] = np.full(3, 26.0)
    found = impinge.fill_polyhedra([L, U, RING], LOW, sides, count=500)
    assert not len(impinge.collisions(views([L, U, RING], found)).pairs)
