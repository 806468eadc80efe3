"""Solid harmonics, moments of triangles and their translations: against definitions, quadrature and solid angles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import Legendre, leggauss
from numpy.typing import NDArray

from impinge import _jit, shapes
from impinge._lanes import LANES, load, store
from impinge.inside.multipole import _harmonics as harmonics
from impinge.inside.multipole import _near as near
from impinge.inside.multipole import _translations as translations

Floats = NDArray[np.float64]


# Kernels around parts of others


@_jit.kernel
def regular(order, point, out):
    harmonics.regular(order, point[0], point[1], point[2], out)


@_jit.kernel
def singular(order, point, out):
    harmonics.singular(order, point[0], point[1], point[2], out)


@_jit.kernel
def add_quadrature(order, points, weights, normal, row, out):
    for k in range(len(points)):
        harmonics.regular(order, points[k, 0], points[k, 1], points[k, 2], row)
        harmonics.add_dipole(order, normal[0], normal[1], normal[2], weights[k], row, out)


@_jit.kernel
def add_triangles(order, corners, circle, sums, re, im, out):
    for k in range(len(corners)):
        harmonics.add_triangle(
            order, corners[k, 0], corners[k, 1], corners[k, 2], corners[k, 3], corners[k, 4], corners[k, 5],
            corners[k, 6], corners[k, 7], corners[k, 8], circle, sums, re, im,
        )  # fmt: skip
    harmonics.finish_moments(order, circle, sums, out)


def row_of(kernel, order: int, point: Floats) -> Floats:
    out = np.full((order + 1) ** 2, np.nan)
    kernel(order, np.asarray(point, float), out)
    return out


def complex_of(row: Floats, n: int, m: int) -> complex:
    """X_n^m, for any sign of m."""
    if m == 0:
        return complex(row[n * n])
    value = complex(row[n * n + 2 * abs(m) - 1], row[n * n + 2 * abs(m)])
    return value if m > 0 else (-1) ** m * value.conjugate()


def moments(order: int, triangles: Floats, centre: Floats | float = 0.0) -> Floats:
    """In closed form; triangles : (k, 3, 3)."""
    out, n = np.zeros((order + 1) ** 2), order + 1
    corners = np.ascontiguousarray((triangles - centre).reshape(-1, 9))
    add_triangles(order, corners, harmonics.circle(order), np.zeros((n, n, 2)), np.empty(n), np.empty(n), out)
    return out


def moments_by_quadrature(order: int, triangles: Floats) -> Floats:
    """Conical Gauss rule, exact for polynomials of degree `order` − 1."""
    ticks, weights = leggauss(order // 2 + 1)
    ticks, weights = (ticks + 1) / 2, weights / 2
    u, v = np.meshgrid(ticks, ticks, indexing="ij")
    shares = (np.outer(weights, weights) * (1 - u)).ravel()
    out, row = np.zeros((order + 1) ** 2), np.empty((order + 1) ** 2)
    for a, b, c in triangles:
        cross = np.cross(b - a, c - a)
        points = a + u.ravel()[:, None] * (b - a) + ((1 - u) * v).ravel()[:, None] * (c - a)
        add_quadrature(order, points, shares, cross, row, out)
    return out


def solid_angle(triangles: Floats, point: Floats) -> float:
    """Over 4π, by van Oosterom and Strackee."""
    total = 0.0
    for a, b, c in triangles - point:
        la, lb, lc = (math.hypot(*side) for side in (a, b, c))
        total += math.atan2(a @ np.cross(b, c), la * lb * lc + (a @ b) * lc + (a @ c) * lb + (b @ c) * la)
    return total / (2 * math.pi)


def contracted(one: Floats, other: Floats, sign: int) -> float:
    """Re Σ_n Σ_m of products (sign = −1), or of one with the conjugate of the other (+1)."""
    order = math.isqrt(len(one)) - 1
    weights = np.array([1.0 if place == 0 else 2.0 if place % 2 else 2.0 * sign
                        for n in range(order + 1) for place in range(2 * n + 1)])  # fmt: skip
    return float((weights * one * other).sum())


# Harmonics

points = st.tuples(*[st.floats(-2, 2) for _ in range(3)]).map(np.array)


@given(points)
def test_regular_by_definition(point):
    """R_n^m = |x|^n P_n^(m)(cos θ) e^{imφ} sin^m θ / (n + m)!, where P^(m) is a derivative."""
    row, largest, length = row_of(regular, 8, point), np.abs(point).max(), math.hypot(*point)
    direction = point / largest if largest > 0 else np.array([0.0, 0.0, 1.0])  # first, as tiny lengths are rounded
    direction /= math.hypot(*direction)
    for n in range(9):
        for m in range(n + 1):
            slope = Legendre.basis(n).deriv(m)(direction[2]) if m else Legendre.basis(n)(direction[2])
            expected = length**n * slope * complex(direction[0], direction[1]) ** m / math.factorial(n + m)
            # Numbers below 1e-308 have fewer digits
            assert complex_of(row, n, m) == pytest.approx(expected, rel=1e-10, abs=1e-13 * length**n + 1e-320)


@given(points.filter(lambda point: math.hypot(*point) > 0.1))
def test_singular_by_definition(point):
    row, length = row_of(singular, 8, point), math.hypot(*point)
    direction = point / length
    for n in range(9):
        for m in range(n + 1):
            slope = Legendre.basis(n).deriv(m)(direction[2]) if m else Legendre.basis(n)(direction[2])
            expected = slope * complex(direction[0], direction[1]) ** m * math.factorial(n - m) / length ** (n + 1)
            scale = math.factorial(n) / length ** (n + 1)
            assert complex_of(row, n, m) == pytest.approx(expected, rel=1e-10, abs=1e-12 * scale)


@given(points, points.filter(lambda point: math.hypot(*point) > 0.1))
def test_expansion_of_the_kernel(near, far):
    near, far = near / 4, 4 * far / math.hypot(*far)
    value = contracted(row_of(singular, 26, far), row_of(regular, 26, near), 1)
    assert value == pytest.approx(1 / math.hypot(*(near - far)), rel=1e-12)


# Moments

corners = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).uniform(-0.5, 0.5, (4, 3, 3)))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7, 12, 20])
@settings(max_examples=10)
@given(triangles=corners)
def test_moments_in_closed_form(order, triangles):
    found, expected = moments(order, triangles), moments_by_quadrature(order, triangles)
    for n in range(order + 1):
        here = slice(n * n, (n + 1) ** 2)
        assert found[here] == pytest.approx(expected[here], abs=1e-12 * np.abs(expected[here]).max() + 1e-300)


def test_moments_of_a_closed_surface_vanish():
    sphere = shapes.octasphere(2)
    assert np.abs(moments(10, sphere.vertices[sphere.faces])).max() < 1e-14


@settings(max_examples=10)
@given(corners, st.integers(0, 2**32 - 1))
def test_moments_far_away(triangles, seed):
    """−1/4π Σ conj(S) M is the solid angle over 4π."""
    direction = np.random.default_rng(seed).normal(size=3)
    point = 8 * direction / math.hypot(*direction)
    value = -contracted(row_of(singular, 16, point), moments(16, triangles), 1) / (4 * math.pi)
    assert value == pytest.approx(solid_angle(triangles, point), abs=1e-14)


# Translations


def matrix_of(kernel, order: int, shift: Floats) -> Floats:
    size = (order + 1) ** 2
    matrix = np.full((size, size), np.nan)
    kernel(order, *np.asarray(shift, float), np.empty((2 * order + 1) ** 2), matrix)
    return matrix


@pytest.mark.parametrize("order", [1, 2, 5, 10])
@settings(max_examples=10)
@given(triangles=corners, shift=points)
def test_moments_about_the_father(order, triangles, shift):
    expected = moments(order, triangles)
    found = matrix_of(translations.moments_to_father, order, shift) @ moments(order, triangles, shift)
    assert found == pytest.approx(expected, abs=1e-12)


def local(order: int, triangles: Floats, centre: Floats) -> Floats:
    return matrix_of(translations.moments_to_local, order, centre) @ moments(order, triangles)


def at(coefficients: Floats, centre: Floats, point: Floats) -> float:
    order = math.isqrt(len(coefficients)) - 1
    return -contracted(row_of(regular, order, point - centre), coefficients, -1) / (4 * math.pi)


@pytest.mark.parametrize("order", [1, 2, 5, 10])
@settings(max_examples=10)
@given(triangles=corners, shift=st.tuples(*[st.sampled_from([-0.25, 0.25])] * 3).map(np.array))
def test_local_about_the_son(order, triangles, shift):
    """A polynomial, which is the same about any centre."""
    centre, point = np.array([2.0, 1.0, -2.0]), np.array([2.3, 0.8, -1.9])
    coefficients = local(order, triangles, centre)
    son = matrix_of(translations.local_to_son, order, shift) @ coefficients
    assert at(son, centre + shift, point) == pytest.approx(at(coefficients, centre, point), abs=1e-13)


def test_error_falls_with_the_order():
    """Boxes at the distance of d = 2: about three times per order, as measured in [Facts 1.6]."""
    rng = np.random.default_rng(0)
    errors = {}
    for order in (2, 4, 8, 12):
        worst = 0.0
        for _ in range(20):
            triangles, centre = rng.uniform(-0.5, 0.5, (4, 3, 3)), np.array([3.0, 0.0, 0.0])
            coefficients = local(order, triangles, centre)
            for point in centre + rng.uniform(-0.5, 0.5, (10, 3)):
                worst = max(worst, abs(at(coefficients, centre, point) - solid_angle(triangles, point)))
        errors[order] = worst
    assert errors[4] < errors[2] / 5
    assert errors[8] < errors[4] / 30
    assert errors[12] < errors[8] / 30
    assert errors[12] < 1e-7


@_jit.kernel
def _turns(re, im, out):
    store(out, np.uint64(0), near._turns(load(re, np.uint64(0)), load(im, np.uint64(0))))


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1e-7), (np.float64, 1e-14)])
def test_angles_of_products(dtype, error):
    """All around the circle, on the axes and diagonals, of any length; −0 is above the axis."""
    angles = np.concatenate([np.random.default_rng(0).uniform(-np.pi, np.pi, 2000), np.arange(-8, 8) * np.pi / 8])
    re, im = (np.array([np.cos(angles), np.sin(angles)]) * np.repeat([1.0, 1e-12, 1e12], 672)).astype(dtype)
    re = np.concatenate([re, [1, -1, 1, -1, 0, 0, *[1] * 10]]).astype(dtype)
    im = np.concatenate([im, [0, 0, -0.0, -0.0, 1, -1, *[1] * 10]]).astype(dtype)
    out = np.empty(LANES, dtype)
    for k in range(0, len(re), LANES):
        _turns(re[k : k + LANES], im[k : k + LANES], out)
        exact = np.arctan2(im[k : k + LANES].astype(float) + 0.0, re[k : k + LANES].astype(float)) / (2 * np.pi)
        np.testing.assert_allclose(out, exact, rtol=0, atol=error)
