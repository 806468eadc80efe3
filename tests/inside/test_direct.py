"""The direct sum: the contract, open meshes, values on the surface, and the solid angle itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge import Mesh, Solid, shapes
from impinge.inside import _direct
from impinge.inside.direct import Direct, frozen

from .. import naive
from . import contract


class TestDirect(contract.InsideMethodContract):
    @staticmethod
    def prepare(mesh: Mesh) -> Any:
        return Direct(mesh)


def open_sphere(level: int) -> Mesh:
    """A sphere without the faces of one octant."""
    ball = shapes.octasphere(level)
    octant = (ball.vertices[ball.faces].mean(axis=1) > 0).all(axis=1)
    return Mesh(ball.vertices, ball.faces[~octant])


@pytest.mark.parametrize(
    "mesh", [shapes.octasphere(3), open_sphere(3), shapes.torus()], ids=["sphere", "open", "torus"]
)
def test_like_the_sum_of_arctangents(mesh: Mesh) -> None:
    points = np.random.default_rng(0).uniform(-1.3, 1.3, (300, 3))
    np.testing.assert_allclose(Direct(mesh).winding(points), naive.solid_angle_sum(mesh, points), rtol=0, atol=1e-13)


def test_open_sphere_is_seven_eighths_at_its_centre() -> None:
    found = Direct(open_sphere(4)).winding(np.zeros((1, 3)))
    np.testing.assert_allclose(found, [7 / 8], rtol=1e-14)
    assert Direct(open_sphere(4)).classify(np.zeros((1, 3))) == 1


def test_open_mesh_is_found_on_and_beside_its_surface() -> None:
    square = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    tiny = 5e-324
    points = np.array([[0.3, 0.3, 0], [0.3, 0.6, tiny], [0.3, 0.6, -tiny], [1, 0.5, 0], [2, 0.5, 0], [0.5, 0.5, 1e200]])
    found = Direct(square).winding(points)
    np.testing.assert_allclose(found, [0, -0.5, 0.5, 0, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(Direct(square).classify(points), [0, -1, -1, 0, -1, -1])


def test_far_from_an_open_mesh() -> None:
    """Beyond 2^20 sizes the dipole term is left: a unit square at distance r covers 1/4πr² of the sphere."""
    square = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    for distance in (1e3, 1e5, 1e7, 1e30):
        found = Direct(square).winding(np.array([[0.5, 0.5, -distance]]))
        np.testing.assert_allclose(found, 1 / (4 * math.pi * distance**2), rtol=1e-5, atol=1e-17)


@pytest.mark.parametrize("divisions", [1, 3])
@pytest.mark.parametrize("factor", [1.0, 2.0**-700, 2.0**700])
def test_values_on_a_cube(divisions: int, factor: float) -> None:
    """1/2 in a face (also on the edges of its triangles), 1/4 on an edge, 1/8 at a vertex."""
    box = shapes.box(2.0, lower=(-1, -1, -1), divisions=divisions)
    places = {
        (0.25, 0.5, 1): 1 / 2,
        (0, 0, 1): 1 / 2,
        (1, 0.3, 1): 1 / 4,
        (1, 1, 1): 1 / 8,
        (-1, 0, 0): 1 / 2,
    }
    points = np.array(list(places)) * factor
    found = Direct(Mesh(box.vertices * factor, box.faces)).winding(points)
    np.testing.assert_allclose(found, list(places.values()), rtol=1e-14)


def test_values_on_a_tetrahedron() -> None:
    regular = Mesh([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    dihedral, corner = math.acos(1 / 3), 3 * math.acos(1 / 3) - math.pi
    points = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], float)
    found = Direct(regular).winding(points)
    np.testing.assert_allclose(found, [dihedral / (2 * math.pi), corner / (4 * math.pi), 1], rtol=1e-15)


def test_small_part_in_a_huge_mesh() -> None:
    """A ball of 1e-120 in a ball of 1: eight factors of 1e-360 must not vanish."""
    ball = shapes.octasphere(2)
    mesh = ball + Mesh(ball.vertices * 1e-120, ball.faces)
    points = np.array([[0, 0, 0], [3e-121, 1e-121, 2e-121], [0.3, 0.2, 0.1], [2e-120, 0, 0], [0, 0, 1e-120], [3, 0, 0]])
    np.testing.assert_array_equal(Direct(mesh).winding(points)[[0, 1, 2, 3, 5]], [2, 2, 1, 1, 0])
    assert Direct(mesh).classify(points)[4] == 0


def test_sum_of_many_angles_is_an_integer() -> None:
    """Rounding to integers is safe: the sum before it is off by far less than a half."""
    mesh = shapes.octasphere(5)
    points = frozen(np.random.default_rng(1).uniform(-1, 1, (128, 3)))
    direct = Direct(mesh)
    winding, status = np.empty(128), np.empty(128, np.int8)
    _direct.sum_angles(
        1,
        points,
        direct._triangles,
        direct._scale(points),
        direct._scaled,
        direct._centre,
        direct._flux,
        winding,
        status,
    )
    assert np.abs(winding - np.rint(winding)).max() < 1e-13


# On a fine lattice: next to an edge the angle jumps, and rounding decides on which side a point is.
_COORDINATE = st.floats(-2, 2).map(lambda x: round(x * 2**20) / 2**20)


@given(st.lists(st.tuples(_COORDINATE, _COORDINATE, _COORDINATE), min_size=4, max_size=4), st.integers(-600, 600))
def test_solid_angle_properties(points: list[tuple[float, float, float]], exponent: int) -> None:
    """Odd under exchange of two vertices, the same in a cycle, independent of scale, within ±2π."""
    p, a, b, c = points
    angle = _direct.solid_angle(*p, *a, *b, *c)
    assert -2 * math.pi <= angle <= 2 * math.pi
    assert _direct.solid_angle(*p, *b, *c, *a) == pytest.approx(angle, abs=1e-6)
    assert _direct.solid_angle(*p, *a, *c, *b) == pytest.approx(-angle, abs=1e-6)
    scaled = [math.ldexp(x, exponent) for point in points for x in point]
    if all(math.ldexp(x, -exponent) == y for x, y in zip(scaled, [x for q in points for x in q], strict=True)):
        assert _direct.solid_angle(*scaled) == angle


def test_solid_angle_of_an_octant() -> None:
    octant = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    assert _direct.solid_angle(*octant) == pytest.approx(math.pi / 2)
    assert _direct.solid_angle(0.2, 0.2, 0.0, *octant[:9]) == 0


@pytest.mark.parametrize("away", [0.0, 1e-17, 1e-15, 1e-12, 1e-9, 1e-6])
def test_beside_edges_of_an_open_mesh(away: float) -> None:
    """Angles jump by 2π where an edge is crossed. Whole, the mesh has integers: what is missing is far away."""
    rng = np.random.default_rng(5)
    sphere = shapes.octasphere(3)
    whole = Mesh(sphere.vertices * rng.uniform(0.7, 1.4, (len(sphere.vertices), 1)), sphere.faces)
    missing = whole.vertices[whole.faces[:20]].reshape(-1, 9)
    points = whole.vertices[whole.faces[100:, :2]].mean(axis=1)
    points += away * rng.normal(size=points.shape)
    lost = sum(np.array([_direct.solid_angle(*p, *triangle) for p in points]) for triangle in missing)
    expected = Solid(whole, "octree").winding(points) - lost / (4 * math.pi)
    np.testing.assert_allclose(Direct(Mesh(whole.vertices, whole.faces[20:])).winding(points), expected, atol=1e-12)


@pytest.mark.parametrize("away", [1e-20, 1e-100, 1e-200])
def test_angle_next_to_an_edge_along_an_axis(away: float) -> None:
    """Where doubles can be that near: twice the angle between the face and the way to the point."""
    for turn in np.linspace(0.1, 6.2, 25):
        point = (0.4, away * math.cos(turn), away * math.sin(turn))
        angle = _direct.solid_angle(*point, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3, 1.0, 0.0)
        assert angle == pytest.approx(2 * (turn - math.pi), abs=1e-14)
