"""The minimum of a potential subject to rows, against programs that are solved otherwise and solutions by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from impinge import _check
from impinge.bodies.soft import minimum as module
from impinge.bodies.soft._rows import EQUALITY, INEQUALITY, Rows
from impinge.bodies.soft.cable import cable_parts
from impinge.bodies.soft.constraints import NO_BARS, NO_ROWS, Bars, Friction, Held, Linear, all_rows
from impinge.bodies.soft.damping import undamped
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.minimum import Minimum
from impinge.bodies.soft.parts import NOTHING, Stencils
from impinge.bodies.soft.potential import Potential
from impinge.errors import ConvergenceError
from impinge.response.contact_rows import Gaps, Pairs
from impinge.response.qp import solve_qp
from impinge.response.qp.program import Infeasible
from impinge.sparse.cholesky import Structure

from .soft_bodies import Floats

TIGHT = 1e-9, 1e-11
NO_FRICTION = Friction(np.empty(0), 1.0)


class Problem:
    """Masses that fly to their goals, held together by nothing or by stencils: Φ is a parabola."""

    def __init__(self, seed: int, nodes: int = 6, *, is_coupled: bool = True) -> None:
        self.rng = rng = np.random.default_rng(seed)
        parts = NOTHING._replace(masses=rng.uniform(0.1, 1.0, nodes))
        if is_coupled:
            triples = np.column_stack([np.arange(nodes - 2), np.arange(1, nodes - 1), np.arange(2, nodes)])
            weights = np.tile([1.0, -2.0, 1.0], (nodes - 2, 1))
            parts = parts._replace(bends=Stencils(triples.astype(np.int32), weights, rng.uniform(1, 50, nodes - 2)))
        self.elements, self.x = Elements(parts), rng.normal(size=(nodes, 3))
        self.potential = potential(self.elements, parts.masses, self.x, self.x + 0.1 * rng.normal(size=(nodes, 3)))
        self.structure = Structure(self.elements.indptr, self.elements.indices, size=3)

    def program(self) -> tuple[Any, Floats]:
        """K and b of Φ(x) = ½ xᵀKx − bᵀx + c."""
        values = self.potential.hessian(self.x, keep=1.0)
        K = sp.csc_array((values, self.elements.indices, self.elements.indptr))
        return K, K @ self.x.ravel() - self.potential.forces(self.x)[0].ravel()

    def random_rows(self, count: int, width: int = 6) -> tuple[Floats, Floats]:
        """A and bounds of A x ≥ bound, which goals violate and some x satisfy: about half of those will be active."""
        size, inside = self.x.size, self.x.ravel() + 0.1 * self.rng.normal(size=self.x.size)
        A = np.zeros((count, size))
        for row in A:
            row[self.rng.choice(size, min(width, size), replace=False)] = self.rng.normal(size=min(width, size))
        return A, A @ inside - 0.05 * self.rng.random(count)

    def minimise(self, rows: Rows, limits: tuple[float, float] = TIGHT) -> Minimum:
        nothing = np.zeros(len(rows.kind))
        found = Minimum(self.potential, rows, self.x, nothing, nothing, self.structure)
        found.run(*limits)
        return found


def potential(elements: Elements, masses: Floats, x: Floats, goal: Floats, span: float = 0.1) -> Potential:
    nothing = np.zeros(len(x))
    return Potential(elements, masses, span, x, x, goal, undamped(elements), nothing, np.zeros(3))


def linear(A: Any, bounds: Any, is_equality: Any = False) -> Linear:
    matrix = sp.csr_array(A)
    equal = np.broadcast_to(np.asarray(is_equality, np.bool_), len(bounds)).copy()
    return Linear(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data, np.array(bounds), equal)


def rows_of(x: Floats, rows: Linear = NO_ROWS, bars: Bars = NO_BARS, fixed: Any = None) -> Rows:
    fixed = np.zeros(x.shape, np.bool_) if fixed is None else fixed
    return all_rows(Held.nothing(), rows, bars, NO_FRICTION, x, x, fixed)


def check_against_program(
    problem: Problem, A: Floats, bounds: Floats, equal: Any, tolerance: float = 1e-6, limits: Any = TIGHT
) -> None:
    """Positions and forces of rows are those of `solve_qp`, whichever rows there are."""
    K, b = problem.program()
    equal = np.broadcast_to(np.asarray(equal, np.bool_), len(bounds))
    right = solve_qp(K, b, -A[~equal], -bounds[~equal], E=A[equal], e=bounds[equal], tol=1e-10)
    found = problem.minimise(rows_of(problem.x, linear(A, bounds, equal)), limits)
    scale = np.abs(right.x - problem.x.ravel()).max()
    np.testing.assert_allclose(found.x.ravel(), right.x, atol=tolerance * scale)
    sizes = np.abs(A).sum(axis=1) * scale
    off = (A @ found.x.ravel() - bounds) / sizes
    assert off.min(initial=0.0) > -1e-7
    assert np.abs(off[equal]).max(initial=0.0) < 1e-7
    # Forces of dependent rows are not unique: what they do together is.
    pushes = A.T @ found.forces()
    largest = max(np.abs(pushes).max(), np.abs(K @ (right.x - problem.x.ravel())).max())
    expected = A[~equal].T @ right.multipliers - A[equal].T @ right.equality_multipliers
    np.testing.assert_allclose(pushes, expected, atol=10 * tolerance * largest)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_coupled", [True, False])
@pytest.mark.parametrize(("count", "width"), [(0, 0), (3, 3), (9, 6), (30, 6), (180, 4), (180, 18)])
def test_rows_as_in_a_quadratic_program(seed: int, is_coupled: bool, count: int, width: int) -> None:
    """From none to ten times as many as unknowns."""
    problem = Problem(seed, is_coupled=is_coupled)
    check_against_program(problem, *problem.random_rows(count, width), False)


@pytest.mark.parametrize("seed", range(6))
def test_equalities(seed: int) -> None:
    problem = Problem(seed)
    A, bounds = problem.random_rows(20)
    equal = np.arange(20) < 5
    bounds[equal] = A[equal] @ (problem.x.ravel() + 0.01)
    bounds[~equal] = A[~equal] @ (problem.x.ravel() + 0.01) - 0.02 * problem.rng.random(15)
    check_against_program(problem, A, bounds, equal)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_depend_on_each_other(seed: int) -> None:
    """Copies, multiples, and rows that follow from others."""
    problem = Problem(seed)
    A, bounds = problem.random_rows(6)
    A = np.concatenate([A, A, 3.0 * A, A[:3] + A[3:]])
    bounds = np.concatenate([bounds, bounds, 3.0 * bounds, bounds[:3] + bounds[3:]])
    check_against_program(problem, A, bounds, False)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_meet_in_a_corner(seed: int) -> None:
    """More active rows than unknowns, all through one point: degenerate."""
    problem = Problem(seed, nodes=3)
    corner = problem.x.ravel() + 0.3 * problem.rng.normal(size=9)
    A = problem.rng.normal(size=(40, 9))
    goal = np.linalg.solve(problem.program()[0].toarray(), problem.program()[1])
    A *= np.sign(A @ (corner - goal))[:, None]
    check_against_program(problem, A, A @ corner, False, 1e-5, (1e-8, 1e-10))


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_very_different_sizes(seed: int) -> None:
    problem = Problem(seed)
    A, bounds = problem.random_rows(24)
    sizes = 10.0 ** problem.rng.uniform(-2, 2, 24)
    check_against_program(problem, A * sizes[:, None], bounds * sizes, False, tolerance=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_give_way(seed: int) -> None:
    """By δ y: a program with unknowns t more, A x + t ≥ bound, that cost t²/2δ; also where no x satisfies all rows."""
    problem = Problem(seed)
    A, bounds = problem.random_rows(20)
    A, bounds = np.concatenate([A, -A[:4]]), np.concatenate([bounds, -bounds[:4] + 0.1])
    give = 10.0 ** problem.rng.uniform(-4, 0, 24)
    K, b = problem.program()
    wide = sp.block_diag([K, sp.diags_array(1.0 / give)], format="csc")
    right = solve_qp(wide, np.append(b, np.zeros(24)), -np.hstack([A, np.eye(24)]), -bounds)
    found = problem.minimise(rows_of(problem.x, linear(A, bounds))._replace(give=_check.frozen(give)))
    np.testing.assert_allclose(found.x.ravel(), right.x[:18], atol=1e-6)
    np.testing.assert_allclose(found.forces(), right.multipliers, atol=1e-5 * right.multipliers.max())


@pytest.mark.parametrize("seed", range(3))
def test_fixed_coordinates_stay_where_they_are(seed: int) -> None:
    problem = Problem(seed)
    fixed = problem.rng.random((6, 3)) < 0.3
    A, bounds = problem.random_rows(12)
    bounds = A @ problem.x.ravel() - 0.01
    found = problem.minimise(rows_of(problem.x, linear(A, bounds), fixed=fixed))
    np.testing.assert_array_equal(found.x[fixed], problem.x[fixed])
    E = np.eye(18)[fixed.ravel()]
    right = solve_qp(*problem.program(), -A, -bounds, E=E, e=problem.x[fixed])
    np.testing.assert_allclose(found.x.ravel(), right.x, atol=1e-7)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_contradict_each_other(seed: int, equal: bool) -> None:
    problem = Problem(seed)
    A, bounds = problem.random_rows(8)
    A, bounds = np.concatenate([A, -A[2:3]]), np.append(bounds, -bounds[2] + 0.1)
    equal_rows = np.arange(9) == 8
    with pytest.raises(Infeasible) as caught:
        problem.minimise(rows_of(problem.x, linear(A, bounds, equal_rows if equal else False)))
    proof = caught.value.multipliers
    assert proof.shape == (9,)
    proof = proof / np.abs(proof).max()
    assert proof[:8].min() > -1e-9
    assert proof[2] > 0.1
    assert abs(proof[8]) > 0.1
    assert np.abs(A.T @ proof).max() < 1e-6
    assert np.abs(proof[[0, 1, 3, 4, 5, 6, 7]]).max() < 1e-6


# Bars


def cable(nodes: int = 8) -> tuple[Elements, Floats, Floats]:
    x = np.column_stack([np.linspace(0, 0.7, nodes), 0.05 * np.sin(np.arange(nodes)), np.zeros(nodes)])
    parts = cable_parts(x, stretch=5.0, bend=1e-3, mass_per_length=0.1)
    return Elements(parts), parts.masses, x


def bars_of(elements: Elements, x: Floats, upper: float, lower: float, give: float = 0.0) -> Bars:
    nodes = np.column_stack([np.arange(len(x) - 1), np.arange(1, len(x))]).astype(np.int32)
    rest = np.linalg.norm(np.diff(x, axis=0), axis=1)
    lengths = np.concatenate([(1 + upper) * rest, (1 - lower) * rest])
    nodes, rest, signs = np.tile(nodes, (2, 1)), np.tile(rest, 2), np.repeat([-1.0, 1.0], len(rest))
    return Bars(nodes, rest, lengths, lengths, signs, give)


def by_hand(field: Potential, x: Floats, bars: Bars, fixed: Any) -> Floats:
    """A slow and general method on the same problem."""
    free = ~fixed.ravel()

    def whole(u: Floats) -> Floats:
        out = x.ravel().copy()
        out[free] = u
        return out.reshape(-1, 3)

    def lengths(u: Floats) -> Floats:
        ends = whole(u)[bars.nodes]
        return bars.signs * (np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) - bars.lengths)

    scale = 1.0 / field.forces(x)[1]
    found = minimize(
        lambda u: scale * field.value(whole(u)), x.ravel()[free], method="SLSQP",
        jac=lambda u: scale * field.forces(whole(u))[0].ravel()[free],
        constraints=[{"type": "ineq", "fun": lengths}], options={"ftol": 1e-15, "maxiter": 1000},
    )  # fmt: skip
    return whole(found.x)


@pytest.mark.parametrize("seed", range(4))
def test_bars_hold_lengths(seed: int) -> None:
    """Thrown about within a step: some are as long as they may be, others as short, and turned."""
    elements, masses, x = cable()
    rng = np.random.default_rng(seed)
    goal = x + 0.01 * rng.normal(size=x.shape)
    goal[:, 0] += 0.04 * np.sin(9 * x[:, 0])  # pulls at both ends, and presses in the middle
    field = potential(elements, masses, x, goal, span=0.01)
    fixed = np.zeros(x.shape, np.bool_)
    fixed[0] = True
    bars = bars_of(elements, x, 0.02, 0.03)
    rows = rows_of(x, bars=bars, fixed=fixed)
    nothing = np.zeros(len(rows.kind))
    found = Minimum(field, rows, x, nothing, nothing, Structure(elements.indptr, elements.indices, size=3))
    found.run(*TIGHT)
    forces = found.forces()
    assert (forces[: len(x) - 1] > 0).any()
    assert (forces[len(x) - 1 :] > 0).any()
    right = by_hand(field, x, bars, fixed)
    assert field.value(found.x) <= field.value(right) + 1e-9 * abs(field.value(x) - field.value(right))
    np.testing.assert_allclose(found.x, right, atol=1e-5)
    assert found.steps < 40


def test_bars_that_cannot_be_held_give_way_alike() -> None:
    """Both ends of a straight cable are 20 % further apart than at rest: what limits of 10 % lack, all lack alike."""
    x = np.column_stack([np.linspace(0, 1, 6), np.zeros(6), np.zeros(6)])
    parts = cable_parts(x, stretch=5.0, mass_per_length=0.1, bend=0.0)
    elements, bars = Elements(parts), bars_of(Elements(parts), x, 0.1, 0.5)
    stretched = x * [1.2, 1, 1]
    fixed = np.zeros(x.shape, np.bool_)
    fixed[[0, -1]] = True
    structure = Structure(elements.indptr, elements.indices, size=3)
    field = potential(elements, parts.masses, x, x)
    start = np.where(fixed, stretched, x)
    nothing = np.zeros(10)
    with pytest.raises((Infeasible, ConvergenceError)):
        Minimum(field, rows_of(start, bars=bars, fixed=fixed), start, nothing, nothing, structure).run(1e-6, 1e-8)
    rows = rows_of(start, bars=bars._replace(give=1e-6), fixed=fixed)
    found = Minimum(field, rows, start, nothing, nothing, structure)
    found.run(1e-6, 1e-8)
    # Inertia pulls nodes back, so lengths differ by what such forces move them by with that give.
    np.testing.assert_allclose(found.x, stretched, atol=2e-3)
    np.testing.assert_allclose(found.forces()[:5], 0.02 / 1e-6, rtol=1e-2)


# Friction


def on_a_plane(pull: Floats, coefficient: float, *, creep: float = 1e-9) -> tuple[Minimum, float]:
    """One mass of 1 kg that is pushed into a plane with 10 N, and pulled along it; a step of 1 s."""
    x = np.array([[0.2, 0.1, 0.0]])
    elements = Elements(NOTHING._replace(masses=np.ones(1)))
    field = potential(elements, np.ones(1), x, x + [*pull, -10.0], span=1.0)
    corners = np.array([[0, 1, 2, 3]], np.int32)
    pairs = Pairs(np.zeros(1, np.int8), np.zeros((1, 2), np.int32), corners)
    gaps = Gaps(np.array([[1.0, -0.5, -0.3, -0.2]]), np.array([[0.0, 0.0, 1.0]]), np.array([0.01]))
    held = Held(pairs, gaps, np.array([0.01]), np.zeros(1), np.zeros(1), np.zeros(1, np.bool_))
    floor = np.array([[0, 0, -0.01], [1, 0, -0.01], [0, 1, -0.01]])
    start = np.concatenate([x, floor])
    friction = Friction(np.array([coefficient * 10.0]), creep)
    rows = all_rows(held, NO_ROWS, NO_BARS, friction, start, start, np.zeros((1, 3), np.bool_))
    found = Minimum(field, rows, x, np.zeros(1), np.zeros(1), Structure(elements.indptr, elements.indices, size=3))
    found.run(*TIGHT)
    return found, float(found.forces()[0])


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 9))
def test_a_mass_slides_as_far_as_friction_lets_it(angle: float) -> None:
    """A pull of 8 N against friction of 0.3 × 10 N: 5 N are left, in the direction of the pull."""
    along = np.array([np.cos(angle), np.sin(angle)])
    found, force = on_a_plane(8.0 * along, 0.3)
    assert force == pytest.approx(10.0)
    np.testing.assert_allclose(found.x[0], [0.2, 0.1, 0.0] + np.append(5.0 * along, 0.0), atol=1e-7)


def test_a_mass_sticks_and_creeps_a_little() -> None:
    """A pull of 2 N of 3 N: it goes a share of ⅔ of the way after which friction acts in full."""
    found, _ = on_a_plane(np.array([0.0, 2.0]), 0.3, creep=1e-6)
    np.testing.assert_allclose(found.x[0], [0.2, 0.1 + 2 / 3 * 1e-6, 0.0], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_friction_of_many_contacts_as_a_dense_method_finds_it(seed: int) -> None:
    """Masses coupled by stencils on a plane, some sliding and some not."""
    problem = Problem(seed, nodes=5)
    x, rng = problem.x, problem.rng
    x = np.column_stack([np.arange(5.0), 0.03 * x[:, 1], np.zeros(5)])
    goal = x + np.column_stack([0.1 * rng.normal(size=(5, 2)), np.full(5, -0.1)])
    field = potential(problem.elements, np.full(5, 0.3), x, goal)
    corners = np.column_stack([np.arange(5), np.tile([5, 6, 7], (5, 1))]).astype(np.int32)
    pairs = Pairs(np.zeros(5, np.int8), np.zeros((5, 2), np.int32), corners)
    weights, normals = np.tile([1.0, -1.0, 0.0, 0.0], (5, 1)), np.tile([0.0, 0.0, 1.0], (5, 1))
    held = Held(
        pairs, Gaps(weights, normals, np.full(5, 0.01)), np.full(5, 0.01), *np.zeros((2, 5)), np.zeros(5, np.bool_)
    )
    largest, creep = rng.uniform(1.0, 8.0, 5), 1e-4
    start = np.concatenate([x, [[0, 0, -0.01], [1, 0, -0.01], [0, 1, -0.01]]])
    rows = all_rows(held, NO_ROWS, NO_BARS, Friction(largest, creep), start, start, np.zeros((5, 3), np.bool_))
    found = Minimum(field, rows, x, np.zeros(5), np.zeros(5), problem.structure)
    found.run(*TIGHT)

    def energy(u: Floats) -> float:
        flat = np.column_stack([u.reshape(5, 2), np.zeros(5)])
        far = np.linalg.norm(flat - x, axis=1)
        return field.value(flat) + float(largest @ np.where(far < creep, 0.5 * far**2 / creep, far - 0.5 * creep))

    right = minimize(energy, found.x[:, :2].ravel(), method="Powell", options={"xtol": 1e-10, "ftol": 1e-14})
    assert energy(found.x[:, :2].ravel()) <= right.fun + 1e-9
    np.testing.assert_allclose(found.x[:, :2].ravel(), right.x, atol=1e-5)
    np.testing.assert_allclose(found.x[:, 2], 0.0, atol=1e-9)
    far = np.linalg.norm(found.x - x, axis=1)
    assert far.min() < creep < far.max()


# Paths


def both_paths(monkeypatch: pytest.MonkeyPatch, make: Any) -> tuple[Minimum, Minimum]:
    banded = make()
    monkeypatch.setattr(module, "_WIDEST", -1)
    general = make()
    assert len(banded._band)
    assert not len(general._band)
    return banded, general


@pytest.mark.parametrize("seed", range(3))
def test_banded_and_general_factors_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    elements, masses, x = cable(12)
    rng = np.random.default_rng(seed)
    field = potential(elements, masses, x, x + 0.03 * rng.normal(size=x.shape))
    A = np.zeros((10, x.size))
    for k, row in enumerate(A):
        row[3 * k : 3 * k + 5] = rng.normal(size=5)
    rows = linear(A, A @ x.ravel() - 0.01 * rng.random(10), np.arange(10) == 3)
    bars, structure = bars_of(elements, x, 0.03, 0.03), Structure(elements.indptr, elements.indices, size=3)

    def make() -> Minimum:
        every = rows_of(x, rows, bars)
        nothing = np.zeros(len(every.kind))
        found = Minimum(field, every, x, nothing, nothing, structure)
        found.run(1e-6, 1e-8)
        return found

    banded, general = both_paths(monkeypatch, make)
    assert banded.steps == general.steps
    np.testing.assert_allclose(banded.x, general.x, atol=1e-10)
    np.testing.assert_allclose(banded.forces(), general.forces(), atol=1e-6 * general.forces().max())


def test_kinds_of_rows() -> None:
    """Rows of which nothing is free are not used, whatever their kind."""
    x, fixed = np.zeros((2, 3)), np.array([[True] * 3, [False] * 3])
    rows = rows_of(x, linear(np.eye(6)[[0, 3, 4, 1]], np.zeros(4), [False, False, True, True]), fixed=fixed)
    assert rows.kind.tolist() == [-1, INEQUALITY, EQUALITY, -1]


def test_going_on_with_known_forces_is_fast_and_gives_the_same() -> None:
    problem = Problem(3)
    A, bounds = problem.random_rows(30)
    rows = rows_of(problem.x, linear(A, bounds))
    cold = problem.minimise(rows)
    warm = Minimum(problem.potential, rows, cold.x, cold.point.y, cold.point.z, problem.structure)
    warm.run(*TIGHT)
    assert warm.steps < cold.steps
    np.testing.assert_allclose(warm.x, cold.x, atol=1e-8)
