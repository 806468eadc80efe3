"""Energies of fine cables and cloth are those of curves and surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import spsolve

from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements

from .soft_bodies import CABLE, CLOTH, Floats, sheet


def square_integral(density: Any, nodes: int = 40) -> float:
    """Over the unit square, by Gauss."""
    at, weights = np.polynomial.legendre.leggauss(nodes)
    u, v = np.meshgrid(0.5 + 0.5 * at, 0.5 + 0.5 * at)
    return float((density(u, v) * np.outer(weights, weights)).sum() / 4)


def assert_second_order(errors: list[float]) -> None:
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates[-1] > 1.9, (errors, rates)


def test_energy_of_a_cable_stretched_unevenly():
    """EA/2 ∫ ε² ds, with nodes that are not evenly spaced."""
    errors = []
    for n in (40, 80, 160):
        s = np.linspace(0, 1, n + 1) ** 1.3
        parts = cable_parts(np.outer(s, [0, 0, 1]), **CABLE)
        x = np.outer(s + 0.2 * np.sin(2 * s), [0.6, 0.8, 0])
        at, weights = np.polynomial.legendre.leggauss(40)
        exact = 0.5 * 50 * (weights * (0.4 * np.cos(1 + at)) ** 2).sum() / 2
        errors.append(abs(Elements(parts).energies(x).stretch / exact - 1))
    assert_second_order(errors)
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("power", [1.0, 1.3])
def test_energy_of_a_bent_cable(power):
    """B/2 ∫ κ² ds, of an unevenly divided spring from its straight rest: also of a helix, where κ = r/(r² + p²)."""
    errors = []
    for n in (100, 200, 400):
        angle = np.linspace(0, 1, n + 1) ** power * 7
        x = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), 0.5 * angle])
        curvature = 2 / (4 + 0.25)
        exact = 0.5 * 0.3 * curvature**2 * 7 * np.sqrt(4 + 0.25)
        found = Elements(cable_parts(x, **CABLE)).energies(x).bend
        ends = 0.5 * (np.linalg.norm(x[1] - x[0]) + np.linalg.norm(x[-1] - x[-2]))  # half a segment has no bend
        errors.append(abs(found / exact / (1 - ends / (7 * np.sqrt(4.25))) - 1))
    assert_second_order(errors)
    assert errors[-1] < 1e-4


def test_energy_of_a_ring():
    """B π/R."""
    angle = np.arange(1000) * (2 * np.pi / 1000)
    ring = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), 0 * angle])
    parts = cable_parts(ring, closed=True, **CABLE)
    energies = Elements(parts).energies(ring)
    assert energies.bend == pytest.approx(0.3 * np.pi / 2, rel=1e-5)
    assert energies.stretch == 0


@pytest.mark.parametrize("kind", ["grid", "alternating"])
def test_energy_of_cloth_stretched_and_sheared_unevenly(kind):
    """∫ kᵤ/2 (|Fᵤ| − 1)² + kᵥ/2 (|Fᵥ| − 1)² + kₛ/2 (Fᵤ·Fᵥ)², of a curved surface with threads askew."""

    def place(u: Any, v: Any) -> Any:
        return np.stack([u + 0.2 * np.sin(2 * v), 1.1 * v + 0.1 * u * u, 0.3 * np.sin(u + 2 * v)], axis=-1)

    c, s = np.cos(0.4), np.sin(0.4)

    def density(u: Any, v: Any) -> Any:
        by_u = np.stack([1 + 0 * u, 0.2 * u, 0.3 * np.cos(u + 2 * v)], axis=-1)
        by_v = np.stack([0.4 * np.cos(2 * v), 1.1 + 0 * v, 0.6 * np.cos(u + 2 * v)], axis=-1)
        along, across = c * by_u + s * by_v, c * by_v - s * by_u
        warp, weft = np.linalg.norm(along, axis=-1) - 1, np.linalg.norm(across, axis=-1) - 1
        return 0.5 * (80 * warp**2 + 50 * weft**2 + 30 * (along * across).sum(axis=-1) ** 2)

    errors = []
    for n in (10, 20, 40):
        x, faces = sheet(n + 1, n + 1, kind=kind)
        parts = cloth_parts(x, faces, **CLOTH, warp=[c, s, 0])
        found = Elements(parts).energies(place(x[:, 0], x[:, 1])).membrane
        errors.append(abs(found / square_integral(density) - 1))
    assert_second_order(errors)
    assert errors[-1] < 1e-3


def bent(x: Floats, angle: float, radius: float) -> Floats:
    """A flat sheet rolled onto a cylinder, whose axis is at a right angle to the direction of the angle."""
    c, s = np.cos(angle), np.sin(angle)
    along, across = c * x[:, 0] + s * x[:, 1], c * x[:, 1] - s * x[:, 0]
    return np.column_stack([radius * np.sin(along / radius), across, radius * (1 - np.cos(along / radius))])


@pytest.mark.parametrize(
    ("kind", "degrees", "factor"),
    [("equilateral", d, 1.0) for d in (0, 10, 30, 45, 90)]
    + [("grid", 0, 1.0), ("grid", 90, 1.0), ("grid", 45, 3.0), ("grid", 135, 1.0)]
    + [("alternating", 0, 1.0), ("alternating", 90, 1.0), ("alternating", 45, 1.5)],
)
def test_energy_of_cloth_on_a_cylinder(kind, degrees, factor):
    """k_b/(2 R²) per area; times a factor where triangles are not equilateral and not bent along their sides."""
    x, faces = sheet(81, 81, 1.0, 1.0, kind)
    parts = cloth_parts(x, faces, **CLOTH)
    found = Elements(parts).energies(bent(x, np.radians(degrees), 2.0)).hinge
    area = parts.masses.sum() / 0.1
    assert found / area == pytest.approx(factor * 0.2 / (2 * 2.0**2), rel=0.03)


def sag(n: int, m: int, kind: str, width: float = 1.0, height: float = 1.0) -> float:
    """Of a sheet that is clamped along x = 0, under a small load, by the formula of a beam."""
    x, faces = sheet(n, m, width, height, kind)
    parts = cloth_parts(x, faces, **CLOTH | {"bend": 1.0})
    hinges, edge = parts.hinges, width / (n - 1)
    rows = np.repeat(np.arange(len(hinges.nodes)), 4)
    folds = sp.csr_array((hinges.weights.ravel(), (rows, hinges.nodes.ravel())), shape=(len(hinges.nodes), len(x)))
    stiffness = folds.T @ sp.diags_array(hinges.stiffness) @ folds
    free, tip = x[:, 0] > 1.01 * edge, x[:, 0] > (1 - 1e-9) * width
    down = np.zeros(len(x))
    down[free] = spsolve(stiffness.tocsc()[free][:, free], parts.masses[free])
    load = parts.masses.sum() / (width * height)
    return down[tip].mean() / (load * (width - edge / 2) ** 4 / 8)


@pytest.mark.parametrize(
    ("kind", "n", "m", "factor"),
    [("grid", 31, 31, 1.13), ("grid", 31, 7, 1.76), ("grid", 7, 31, 0.98)]
    + [("alternating", 31, 31, 1.19), ("alternating", 31, 7, 1.86), ("alternating", 7, 31, 0.98)],
)
def test_sag_of_cloth_depends_on_its_mesh(kind, n, m, factor):
    """As the table of docs/soft-elements.md says: free nodes find shapes that cost less than a cylinder."""
    assert sag(n, m, kind) == pytest.approx(factor, abs=0.006)


@pytest.mark.parametrize(("kind", "m", "stiffness"), [("grid", 21, 0.8), ("grid", 5, 0.52), ("alternating", 5, 0.53)])
def test_stiffness_of_narrow_strips(kind, m, stiffness):
    """Of squares, and of rectangles 1 : 5 that are long across the strip."""
    assert 1 / sag(101, m, kind, 1.0, 0.2) == pytest.approx(stiffness, abs=0.03)


def test_bent_cloth_of_rectangles_converges():
    errors = []
    for n in (20, 40, 80):
        x, faces = sheet(n + 1, 11, 1.0, 0.5)
        found = Elements(cloth_parts(x, faces, **CLOTH)).energies(bent(x, 0.0, 2.0)).hinge
        errors.append(abs(found / (0.5 * 0.2 / 8 * (1 - 1 / n)) - 1))  # half a row at each end has no bend
    assert_second_order(errors)


@given(st.lists(st.floats(0.1, 1), min_size=6, max_size=6), st.floats(-3, 3), st.booleans(), st.booleans())
def test_hinges_measure_the_fold(sizes, fold, flip, turn):
    """E = k_b/(2 (A₁ + A₂)) (2 L sin(θ/2))², for any two triangles folded along their edge, oriented in any way."""
    length, a, h, b, g, _ = sizes
    flat = np.array([[0, 0, 0], [length, 0, 0], [a - 0.3, h, 0], [b - 0.3, -g, 0]])
    faces = [[0, 1, 2][:: -1 if flip else 1], [1, 0, 3][:: -1 if turn else 1]]
    elements = Elements(cloth_parts(flat, faces, **CLOTH))
    assert elements.energies(flat).hinge < 1e-24
    folded = flat.copy()
    folded[3, 1:] = [-g * np.cos(fold), g * np.sin(fold)]
    expected = 0.2 / (length * (h + g)) * (2 * length * np.sin(fold / 2)) ** 2
    assert elements.energies(folded).hinge == pytest.approx(expected, rel=1e-10, abs=1e-20)
