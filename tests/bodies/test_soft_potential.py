"""What implicit steps minimise: value, gradient and Hessian against formulas and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from impinge.bodies.soft.damping import damped, undamped
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.potential import Potential

from .soft_bodies import Floats
from .soft_parts import ELEMENTS, PARTS, REST, deformed, naive_energies

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
        "damping": rng.uniform(0.0, 0.05, N),
        "drag": rng.uniform(0.0, 2.0, N),
        "wind": rng.normal(size=3),
    }


def made(of: dict[str, Any], **changes: Any) -> Potential:
    of = {"elastic": True} | of | changes
    parts = undamped(ELEMENTS)
    if of["elastic"]:
        parts = damped(ELEMENTS, of["damping"] / SPAN, ELEMENTS.measures(of["past"]), of["start"])
    places, air = (of["start"], of["past"], of["goal"]), (of["drag"], of["wind"])
    return Potential(ELEMENTS, of["masses"], SPAN, *places, parts, *air, elastic=of["elastic"])


def formula(of: dict[str, Any], x: Any, *, elastic: bool = True) -> Any:
    """Φ as the class says, with sums over everything, but for a constant; x may be complex."""
    total = sum(naive_energies(PARTS, x)) if elastic else 0.0
    total += (of["masses"][:, None] * (x - of["goal"]) ** 2).sum() / (2 * SPAN**2)
    total += (of["drag"][:, None] * (x - of["past"] - SPAN * of["wind"]) ** 2).sum() / (2 * SPAN)
    return total + (resisted(of, x) if elastic else 0.0)


def resisted(of: dict[str, Any], x: Any) -> Any:
    """What damping costs, element by element: ½ γ/h k (ε − ε of the past)²; of bending along κ at the start."""

    def length(d: Any) -> Any:
        return np.sqrt((d * d).sum())

    past, total = of["past"], 0.0
    for (i, j), k, _ in zip(*PARTS.springs, strict=True):
        total += of["damping"][i] * k * (length(x[j] - x[i]) - length(past[j] - past[i])) ** 2
    for nodes, w, k in [*zip(*PARTS.bends, strict=True), *zip(*PARTS.hinges, strict=True)]:
        bend, change = w @ of["start"][nodes], w @ (x - past)[nodes]
        a = 2e-3 * sum(abs(w[1:]) * np.linalg.norm(of["start"][nodes[1:]] - of["start"][nodes[0]], axis=1))
        along = (change @ bend) ** 2 + a * a * (change * change).sum()
        total += of["damping"][nodes[0]] * k * along / (a * a + bend @ bend)
    for nodes, rest, moduli in zip(*PARTS.membranes, strict=True):
        flat = (rest[1:] - rest[0]).T
        (u, v), (u0, v0) = (((y[nodes[1:]] - y[nodes[0]]).T @ np.linalg.inv(flat)).T for y in (x, past))
        changes = length(u) - length(u0), length(v) - length(v0), (u * v).sum() - (u0 * v0).sum()
        area = 0.5 * abs(np.linalg.det(flat))
        total += of["damping"][nodes[0]] * area * sum(k * change**2 for k, change in zip(moduli, changes, strict=True))
    return total / (2 * SPAN)


def dense(values: Floats) -> Floats:
    return sparse.csc_array((values, ELEMENTS.indices, ELEMENTS.indptr), shape=(3 * N, 3 * N)).toarray()


@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("size", [0.0, 0.1, 3.0])
def test_value_and_gradient_are_those_of_the_formula(size: float, elastic: bool) -> None:
    of, x = arguments(), deformed(REST, 9, size)
    field = made(of, elastic=elastic)
    found = field.value(x) - field.value(REST)
    assert found == pytest.approx(formula(of, x, elastic=elastic) - formula(of, REST, elastic=elastic), rel=1e-11)
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


def test_turning_is_what_measures_grow_by_in_second_order() -> None:
    """Along any direction d: Σ k (½ stepᵀ ε″ step) (ε′ d), with derivatives of all measures ε by differences."""
    rng, x = np.random.default_rng(0), deformed(REST, 4, 0.3)
    field, step, d = made(arguments() | {"damping": np.zeros(N)}), rng.normal(size=x.shape), rng.normal(size=x.shape)
    found, h, now = np.empty_like(x), 1e-4, ELEMENTS.measures(x)
    field.turning(x, step, found)
    expected = 0.0
    for k, table in enumerate((ELEMENTS.arrays.springs, ELEMENTS.arrays.membranes)):
        ahead, back = (ELEMENTS.measures(x + way * step)[k] for way in (h, -h))
        rise = (ELEMENTS.measures(x + h * d)[k] - ELEMENTS.measures(x - h * d)[k]) / (2 * h)
        expected += (table.stiffness * (ahead + back - 2 * now[k]) / (2 * h * h) * rise).sum()
    assert (found * d).sum() == pytest.approx(expected, rel=1e-5)
    made(arguments(), elastic=False).turning(x, step, found)
    assert not found.any()


def test_nothing_is_damped_without_damping() -> None:
    of, x = arguments(), deformed(REST, 6, 0.1)
    quiet = made(of, damping=np.zeros(N))
    rest = of["drag"], of["wind"]
    plain = Potential(ELEMENTS, of["masses"], SPAN, of["start"], of["past"], of["goal"], undamped(ELEMENTS), *rest)
    assert not len(plain.field.damping)
    assert quiet.value(x) == pytest.approx(plain.value(x), rel=1e-13)
    np.testing.assert_allclose(quiet.forces(x)[0], plain.forces(x)[0], rtol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.3])
def test_turning_as_a_whole_is_not_resisted(size: float) -> None:
    """Nor is moving: damping adds no force, but for what is of second order in the angle, of bending."""
    of, angle = arguments(), 1e-3
    x = deformed(REST, 7, size)
    turn = Rotation.from_rotvec(np.array([0.6, 0.0, 0.8]) * angle).as_matrix()
    still = of | {"start": x, "past": x, "goal": x, "drag": np.zeros(N), "wind": np.zeros(3)}
    end = x @ turn.T + [3.0, -1.0, 2.0]
    forces, quiet = (made(still, damping=d).forces(end)[0] for d in (np.full(N, 0.5), np.zeros(N)))
    largest = np.abs(made(still, damping=np.full(N, 0.5)).forces(x + (end - end.mean(axis=0)) * angle)[0]).max()
    assert np.abs(forces - quiet).max() < 2 * angle * largest
    assert np.abs(np.cross(end, forces - quiet).sum(axis=0)).max() < 2 * angle * largest


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
