"""The limit of stability of explicit steps, against all eigenvalues of the matrix of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.cloth import cloth_parts
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import Parts
from impinge.bodies.soft.stability import longest_step

from .soft_bodies import sheet


def cable(bend: float, uneven: float) -> tuple[Parts, Any]:
    x = np.column_stack([np.linspace(0, 1, 12), np.zeros((12, 2))])
    x[:, 0] += uneven * np.sin(9 * x[:, 0])
    return cable_parts(x, stretch=100.0, bend=bend, mass_per_length=0.1), x


def cloth(stretch: Any, bend: float) -> tuple[Parts, Any]:
    x, faces = sheet(5, 4, 1.0, 1.0, "alternating")
    return cloth_parts(x, faces, stretch=stretch, shear=30.0, bend=bend, density=0.2), x


BODIES = [cable(0.0, 0.0), cable(1.0, 0.0), cable(0.01, 0.03), cloth(100.0, 0.0), cloth((300.0, 10.0), 1.0)]


def growth(parts: Parts, x: Any, damping: float, free: Any, h: float) -> float:
    """Largest size of an eigenvalue of the step (x, v) → (x + h v', v'), v' = v − h M⁻¹ K (x + γ v)."""
    elements = Elements(parts)
    stiffness = sp.csc_array((elements.hessian(x), elements.indices, elements.indptr)).toarray()
    matrix = (stiffness / np.repeat(parts.masses, 3)[:, None])[np.ix_(free.ravel(), free.ravel())]
    one = np.eye(len(matrix))
    faster = np.hstack([-h * matrix, one - h * damping * matrix])
    step = np.vstack([np.hstack([one, 0 * one]) + h * faster, faster])
    return float(np.abs(np.linalg.eigvals(step)).max())


@pytest.mark.parametrize("damping", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("held", [0, 3])
@pytest.mark.parametrize("body", BODIES)
def test_steps_below_it_are_stable_and_those_above_are_not(body: tuple[Parts, Any], held: int, damping: float) -> None:
    parts, x = body
    free = np.ones(x.shape, np.bool_)
    free[:held] = False
    limit = longest_step(parts, x, damping, free)
    assert growth(parts, x, damping, free, 0.95 * limit) < 1 + 1e-6
    assert growth(parts, x, damping, free, 1.001 * limit) > 1 + 1e-4


def test_nothing_swings_where_all_is_driven() -> None:
    parts, x = BODIES[0]
    assert longest_step(parts, x, 0.0, np.zeros(x.shape, np.bool_)) == np.inf
