"""What implicit steps minimise: value, gradient and Hessian against formulas and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.potential import Potential

from .soft_bodies import Floats
from .test_soft_elements import ELEMENTS, PARTS, REST, deformed, naive_energies

N = len(REST)
SPAN = 0.07


def arguments(seed: int = 0) -> dict[str, Any]:
    """Everything that a potential is made of, all at random."""
    rng = np.random.default_rng(seed)
    return {
        "masses": rng.uniform(0.1, 1.0, N),
        "start": deformed(REST, seed + 1, 0.1),
        "past": deformed(REST, seed + 2, 0.1),
        "goal": deformed(REST, seed + 3, 0.1),
        "damping": np.full(N, 0.02),
        "drag": rng.uniform(0.0, 2.0, N),
        "wind": rng.normal(size=3),
    }


def made(of: dict[str, Any], **changes: Any) -> Potential:
    of = of | changes
    order = "start", "past", "goal", "damping", "drag", "wind"
    return Potential(ELEMENTS, of["masses"], SPAN, *(of[name] for name in order), elastic=of.get("elastic", True))


def formula(of: dict[str, Any], x: Any, *, elastic: bool = True) -> Any:
    """Φ as the class says, with sums over everything; x may be complex."""
    total = sum(naive_energies(PARTS, x)) if elastic else 0.0
    total += (of["masses"][:, None] * (x - of["goal"]) ** 2).sum() / (2 * SPAN**2)
    total += (of["drag"][:, None] * (x - of["past"] - SPAN * of["wind"]) ** 2).sum() / (2 * SPAN)
    if elastic:
        moved = (x - of["past"]).ravel()
        stiffness = dense(ELEMENTS.hessian(of["start"]))
        total += 0.02 / (2 * SPAN) * (moved @ stiffness @ moved)
    return total


def dense(values: Floats) -> Floats:
    return sparse.csc_array((values, ELEMENTS.indices, ELEMENTS.indptr), shape=(3 * N, 3 * N)).toarray()


@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("size", [0.0, 0.1, 3.0])
def test_value_and_gradient_are_those_of_the_formula(size: float, elastic: bool) -> None:
    of, x = arguments(), deformed(REST, 9, size)
    field = made(of, elastic=elastic)
    assert field.value(x) == pytest.approx(formula(of, x, elastic=elastic), rel=1e-12)
    expected = np.empty_like(x)
    for at in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        expected[at] = formula(of, moved, elastic=elastic).imag / 1e-30
    found, largest = field.forces(x)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    assert largest >= 0.3 * np.abs(found).max()


@pytest.mark.parametrize("elastic", [True, False])
def test_hessian_is_that_of_differences(elastic: bool) -> None:
    """With all of its negative part."""
    field = made(arguments(), elastic=elastic)
    for x in (REST, deformed(REST, 4, 0.3), 2.5 * REST):
        columns = []
        for at in np.ndindex(x.shape):
            d = np.zeros_like(x)
            d[at] = 1e-6
            columns.append((field.forces(x + d)[0] - field.forces(x - d)[0]).ravel() / 2e-6)
        found = dense(field.hessian(x, keep=1.0))
        np.testing.assert_allclose(found, np.array(columns), atol=1e-7 * np.abs(found).max())
        assert np.array_equal(found, found.T)


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0])
def test_hessian_without_its_negative_part_is_positive(size: float) -> None:
    of = arguments()
    found = dense(made(of).hessian(deformed(REST, 5, size), keep=0.0))
    assert np.linalg.eigvalsh(found)[0] >= of["masses"].min() / SPAN**2 * (1 - 1e-9)


def test_nothing_is_damped_without_damping() -> None:
    of = arguments()
    quiet = made(of, damping=np.zeros(N))
    assert not len(quiet.field.damping)
    x = deformed(REST, 6, 0.1)
    moved = (x - of["past"]).ravel()
    damped = 0.02 / (2 * SPAN) * (moved @ dense(ELEMENTS.hessian(of["start"])) @ moved)
    assert made(of).value(x) - quiet.value(x) == pytest.approx(damped)


@pytest.mark.parametrize("seed", range(5))
def test_no_diagonal_entry_is_larger_than_the_stiffest(seed: int) -> None:
    """Where nothing is longer than at rest: pressed together, or turned, or at rest."""
    rng = np.random.default_rng(seed)
    turned = REST @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    springs = PARTS.springs
    parts = PARTS._replace(
        springs=springs._replace(rest=np.linalg.norm(np.diff(REST[springs.nodes], axis=1)[:, 0], axis=1)),
        membranes=PARTS.membranes._replace(
            nodes=PARTS.membranes.nodes[:-1], rest=PARTS.membranes.rest[:-1], stiffness=PARTS.membranes.stiffness[:-1]
        ),
    )
    elements = Elements(parts)
    largest = 0.0
    for share in (1.0, 0.9, 0.5):
        for keep in (0.0, 1.0):
            diagonal = elements.hessian(share * turned, keep=keep)[elements.diagonal]
            assert diagonal.max() <= elements.stiffest * (1 + 1e-12)
            largest = max(largest, diagonal.max())
    assert largest > 0.2 * elements.stiffest  # not by far
