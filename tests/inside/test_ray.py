"""Ray crossing: the contract for both variants, outcomes of the paper's procedure, re-shooting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge import Mesh, _check, shapes
from impinge.inside import _ray
from impinge.inside.direct import Direct
from impinge.inside.ray import Outcome, Ray, RayExact

from . import contract, scenes


class TestRay(contract.InsideMethodContract):
    counts_parity = True

    @staticmethod
    def prepare(mesh: Mesh) -> Any:
        return Ray(mesh)


class TestRayExact(contract.InsideMethodContract):
    @staticmethod
    def prepare(mesh: Mesh) -> Any:
        return RayExact(mesh)


@pytest.mark.parametrize("name", scenes.SMALL)
def test_agree_with_the_direct_sum(name: str) -> None:
    mesh = scenes.SMALL[name]()
    direct, exact, ray = Direct(mesh), RayExact(mesh), Ray(mesh)
    for kind, points in scenes.points(mesh, 40, seed=7):
        checked = _check.vectors("points", points)
        sign, number = direct.classify(checked), direct.winding(checked)
        np.testing.assert_array_equal(exact.classify(checked), sign, err_msg=kind)
        np.testing.assert_allclose(exact.winding(checked), number, rtol=0, atol=1e-12, err_msg=kind)
        parity = np.where(sign == 0, 0, np.where(np.rint(number) % 2 == 1, 1, -1))
        np.testing.assert_array_equal(ray.classify(checked), parity, err_msg=kind)


def test_outcomes_on_a_cube() -> None:
    cube = Ray(shapes.box(2.0, lower=(-1, -1, -1)))
    places = {
        (0.1, 0.2, 0.3): Outcome.INSIDE,
        (0.1, 0.2, 1.0): Outcome.ON_FACE,
        (1.0, 0.2, 1.0): Outcome.ON_EDGE,
        (1.0, 1.0, -1.0): Outcome.ON_VERTEX,
        (0.1, 0.2, 1.5): Outcome.OUTSIDE_BOX,
    }
    outcome, shots = cube.outcomes(np.array(list(places)))
    assert [Outcome(code) for code in outcome] == list(places.values())
    np.testing.assert_array_equal(shots, [1, 1, 1, 1, 0])
    corner = Ray(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    outcome, _ = corner.outcomes(np.array([[0.9, 0.9, 0.9]]))
    assert Outcome(outcome[0]) is Outcome.OUTSIDE


def test_point_on_a_face_without_area() -> None:
    """A thorn: two faces without area stand out of a cube; points on them are on the surface."""
    cube = shapes.box(2.0, lower=(-1, -1, -1))
    tip = len(cube.vertices)
    a = int(np.flatnonzero((cube.vertices == 1).all(axis=1))[0])
    mesh = Mesh(np.vstack([cube.vertices, [[3, 3, 3], [2, 2, 2]]]), np.vstack([cube.faces, [[a, tip, tip + 1]]]))
    outcome, _ = Ray(mesh).outcomes(np.array([[1.5, 1.5, 1.5], [2, 2, 2], [2.5, 2.5, 2.25], [0, 0, 0]]))
    assert [Outcome(code) for code in outcome] == [
        Outcome.ON_EDGE,
        Outcome.ON_VERTEX,
        Outcome.OUTSIDE,
        Outcome.INSIDE,
    ]


def test_degenerate_rays_are_told_from_misses() -> None:
    """Steps 3 and 4 of docs/inside.md: through an edge, a vertex, in the plane; 0 with + and − is a miss."""
    a, b, c = (0, 0, 0), (2, 0, 0), (0, 2, 0)
    cases = {
        ((0.5, 0.5, 1), (0.5, 0.5, -1)): _ray.CROSSED,
        ((0.5, 0.5, -1), (0.5, 0.5, 1)): _ray.CROSSED,
        ((1, 0, 1), (1, 0, -1)): _ray.DEGENERATE,
        ((0, 0, 1), (0, 0, -1)): _ray.DEGENERATE,
        ((3, 0, 1), (3, 0, -1)): _ray.MISSED,  # in the line of an edge, outside: 0, + and −
        ((-5, 1, 0), (5, 1, 0)): _ray.DEGENERATE,
        ((0.5, 0.5, 1), (0.5, 0.5, 0.5)): _ray.MISSED,
        ((0.5, 0.5, 1), (9, 9, 1)): _ray.MISSED,
        ((0.5, 0.5, 0), (9, 9, 1)): _ray.ON_FACE,
        ((1, 1, 0), (9, 9, 1)): _ray.ON_EDGE,
        ((0, 2, 0), (9, 9, 1)): _ray.ON_VERTEX,
        ((2, 2, 0), (9, 9, 1)): _ray.MISSED,
    }
    for (p, r), wanted in cases.items():
        floats = [float(x) for x in (*p, *r, *a, *b, *c)]
        assert _ray.meet_face(*floats) == wanted, (p, r)
        p1, r1 = floats[:3], floats[3:6]
        assert _ray.meet_face(*p1, *r1, *map(float, (*a, *c, *b))) == wanted, "mirrored"


def test_directions_are_uniform_and_depend_on_the_point() -> None:
    bits = np.random.default_rng(0).uniform(-1, 1, (4000, 3)).view(np.uint64)
    with np.errstate(over="ignore"):
        found = np.array([_ray._random_direction(*row, 0) for row in bits])
        again = np.array([_ray._random_direction(*row, 1) for row in bits[:100]])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-14)
    assert np.abs(found.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose((found**2).mean(axis=0), 1 / 3, atol=0.03)
    assert np.abs(again - found[:100]).max(axis=1).min() > 1e-6


def test_bodies_as_large_as_doubles_fall_back() -> None:
    """There is no room for a point R outside the box: the exact variant decides."""
    ball = shapes.octasphere(1)
    mesh = Mesh(ball.vertices * 1.7e308, ball.faces)
    points = np.array([[0, 0, 0], [1e308, 1e308, 1e308], [1.7e308, 0, 0], [1e-300, 1e300, 0]])
    outcome, shots = Ray(mesh).outcomes(points)
    np.testing.assert_array_equal(shots, 16)
    np.testing.assert_array_equal(Ray(mesh).classify(points), Direct(mesh).classify(points))
    assert Outcome(outcome[0]) is Outcome.INSIDE


def test_grid_stays_small_with_faces_of_all_sizes() -> None:
    mesh = scenes.uneven() + shapes.box(2000.0)
    exact = RayExact(mesh)
    assert len(exact._members) <= 12 * len(mesh.faces) + 64
    points = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    np.testing.assert_array_equal(exact.winding(points), Direct(mesh).winding(points))
