"""`solve_qp`: every answer judged, on problems of all families; exact answers of tiny ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import impinge
from impinge.sparse.cholesky import Cholesky

from . import qp_judge, qp_judged, qp_problems
from .qp_judged import TOL, Tally, solve
from .qp_problems import Problem

PER_FAMILY = 12
BODIES = ("cable", "cloth")
SMOOTH = ("dense", "sparse", "bounds", "equalities", "duplicates", "figure 1", "degenerate", "scaled units", *BODIES)


def close(problem: Problem, one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two x are the same up to the tolerance, in the norm of K, of which the solution is the nearest point."""
    K = problem.K.toarray() if sp.issparse(problem.K) else problem.K
    off = one - other
    size = max(one @ K @ one, problem.b @ np.linalg.solve(K, problem.b))
    return bool(np.sqrt(off @ K @ off) <= 1e-6 * np.sqrt(size))


# Answers


@pytest.mark.parametrize("family", qp_problems.FAMILIES)
def test_every_answer_is_right(family):
    tally = Tally()
    for number in range(0, 25 * PER_FAMILY, 25):
        qp_judged.judge(qp_problems.make(family, number, seed=1), tally)
    assert not tally.failures
    assert tally.infeasible == (tally.cases if family.startswith("infeasible") else 0)


def test_whole_numbers_next_to_the_exact_solution():
    tally = Tally()
    for number in range(150):
        qp_judged.judge_exactly(qp_problems.lattice(number), tally)
    assert not tally.failures
    assert 30 < tally.infeasible < 120


@given(st.data())
def test_small_problems_next_to_the_exact_solution(data):
    n, m, p = (data.draw(st.integers(low, high)) for low, high in ((1, 3), (0, 5), (0, 2)))
    draw = st.integers(-2, 2)

    def array(*shape):
        values = data.draw(st.lists(draw, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        return np.array(values, float).reshape(shape)

    root = array(n, n)
    problem = Problem(root @ root.T + np.eye(n), array(n), array(m, n), array(m), array(p, n), array(p))
    tally = Tally()
    qp_judged.judge_exactly(problem, tally)
    assert not tally.failures


def test_what_a_solution_tells():
    problem = qp_problems.make("dense", 60)
    solution = solve(problem)
    assert solution.x.shape == (problem.n,)
    assert solution.multipliers.shape == problem.c.shape
    assert (solution.multipliers >= 0).all()
    assert solution.equality_multipliers.shape == (0,)
    assert solution.active.tolist() == np.flatnonzero(solution.multipliers > 0).tolist()
    assert solution.objective == pytest.approx(qp_judge.objective(problem, solution.x), rel=1e-12)
    assert solution.iterations >= 1
    assert solution.residuals.largest <= TOL
    told = solution.residuals
    assert told.largest == max(told.stationarity, told.violation, told.complementarity)


@pytest.mark.parametrize("family", SMOOTH)
def test_residuals_are_told_as_they_are(family):
    """Up to rounding, and up to what the judge forgives."""
    problem = qp_problems.make(family, 40)
    solution = solve(problem)
    judged = qp_judge.residuals(problem, solution.x, solution.multipliers, solution.equality_multipliers)
    assert judged.stationarity == pytest.approx(solution.residuals.stationarity, rel=0.1, abs=10 * judged.rounding)
    assert judged.violation == pytest.approx(solution.residuals.violation, rel=1e-3, abs=1e-13)


@pytest.mark.parametrize("number", [126, 322])
def test_multipliers_may_have_to_grow_for_long(number):
    """Rows that nearly contradict each other: rounds were taken for spoiled, since complementarity grew with them."""
    problem = qp_problems.make("sparse", number, 20261115)
    assert solve(problem).residuals.largest <= TOL


def uneven_chain(seed: int, n: int = 24, m: int = 10) -> Problem:
    """Springs from 1e-5 to 1e5, with rows of three unknowns that all pass through one point."""
    rng = np.random.default_rng(seed)
    k = 10.0 ** rng.uniform(-5, 5, size=n - 1)
    K = sp.diags_array([-k, np.append(k, 0) + np.append(0, k) + 1e-5, -k], offsets=[-1, 0, 1], format="csc")
    J = np.zeros((m, n))
    for row in J:
        row[rng.choice(n, 3, replace=False)] = rng.normal(size=3)
    return Problem(K, rng.normal(size=n), J, J @ rng.normal(size=n), np.zeros((0, n)), np.zeros(0))


def test_rows_that_do_not_push_are_not_active():
    """Interior points push with every row a little."""
    for seed in range(30):
        problem = uneven_chain(seed)
        solution = solve(problem)
        slack, terms = problem.c - problem.J @ solution.x, np.abs(problem.J) @ np.abs(solution.x)
        assert (slack <= 1e-6 * terms)[solution.active].all(), seed
        found = qp_judge.residuals(problem, solution.x, solution.multipliers, np.zeros(0))
        assert found.largest <= TOL, seed


@pytest.mark.parametrize("seed", range(8))
def test_the_objective_is_that_of_the_answer(seed):
    """Where Kx has lost half of its digits."""
    problem = uneven_chain(seed)
    for solution in (solve(problem), impinge.solve_qp(problem.K, problem.b)):
        x = [Fraction(float(value)) for value in solution.x]
        entries = problem.K.tocoo()
        exact = sum(
            Fraction(float(value)) * x[i] * x[j]
            for i, j, value in zip(entries.row, entries.col, entries.data, strict=True)
        )
        exact = exact / 2 - sum(Fraction(float(value)) * own for value, own in zip(problem.b, x, strict=True))
        assert abs(Fraction(solution.objective) - exact) <= 1e-10 * abs(exact)


def test_nothing_is_the_answer_of_rows_that_all_pass_through_it(monkeypatch):
    """Rounding of rows of next to nothing is not worth hundreds of factors."""
    factors, factorise = [], Cholesky.factorise
    monkeypatch.setattr(Cholesky, "factorise", lambda *given: factors.append(1) or factorise(*given))
    rng = np.random.default_rng(11)
    n, m = 25, 500
    A, J = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    c = np.abs(rng.normal(size=m)) * (rng.random(m) < 0.5)
    problem = Problem(A @ A.T + 0.01 * np.eye(n), 100 * rng.normal(size=n), J, c, np.zeros((0, n)), np.zeros(0))
    solution = solve(problem)
    found = qp_judge.residuals(problem, solution.x, solution.multipliers, np.zeros(0))
    assert found.largest <= TOL
    assert np.abs(solution.x).max() < 1e-12
    assert len(factors) < 150


def test_figure_1():
    """An edge on two triangles and the side they share: three rows of rank two, a third of the weight each way."""
    normal = np.array([0.6, 0.0, 0.8])
    J = np.kron(np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]]), normal)
    assert np.linalg.matrix_rank(J) == 2
    fall = np.concatenate([normal, normal])
    solution = impinge.solve_qp(np.eye(6), fall, J, np.zeros(3))
    assert solution.x == pytest.approx(np.zeros(6), abs=1e-9)
    assert J.T @ solution.multipliers == pytest.approx(fall)


def test_bounds_beyond_all_numbers():
    """Rows with c = inf forbid nothing."""
    problem = qp_problems.make("dense", 30)
    J, c = np.vstack([problem.J, -problem.J]), np.r_[problem.c, np.full(len(problem.c), np.inf)]
    solution = solve(replace(problem, J=J, c=c))
    assert close(problem, solution.x, solve(problem).x)
    assert (solution.multipliers[len(problem.c) :] == 0).all()


def test_nothing_but_k():
    problem = qp_problems.make("sparse", 40)
    x = impinge.solve_qp(problem.K, problem.b).x
    assert problem.K @ x == pytest.approx(problem.b, abs=1e-9 * np.abs(problem.b).max())


def test_fixed_unknowns_are_exact():
    problem = qp_problems.make("cable", 31)
    E = sp.csr_matrix((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(3, problem.n))
    e = np.array([0.1, -0.2, 0.3])
    solution = impinge.solve_qp(problem.K, problem.b, E=E, e=e)
    assert solution.x[:3].tolist() == e.tolist()


def test_tolerance():
    problem = qp_problems.make("cloth", 100)
    loose, tight = (solve(problem, tol=tol) for tol in (1e-4, 1e-12))
    assert loose.residuals.largest <= 1e-4
    assert tight.residuals.largest <= 1e-12
    assert loose.iterations <= tight.iterations


# The same in other words


@pytest.mark.parametrize("family", SMOOTH)
def test_same_again(family):
    """To the last bit, also after another problem."""
    problem = qp_problems.make(family, 45)
    first = solve(problem)
    solve(qp_problems.make("dense", 33))
    second = solve(problem)
    for name in ("x", "multipliers", "equality_multipliers", "active"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert first.iterations == second.iterations


@pytest.mark.parametrize("family", SMOOTH)
def test_warm_start(family):
    for number in (20, 70, 120):
        problem = qp_problems.make(family, number)
        rng = np.random.default_rng(number)
        cold = solve(problem)
        nearby = replace(problem, b=problem.b * (1 + 0.05 * rng.normal(size=problem.n)))
        far = replace(problem, b=-3 * problem.b)
        for other in (problem, nearby, far):
            warm = solve(problem, warm=solve(other))
            assert warm.residuals.largest <= TOL
            assert close(problem, warm.x, cold.x)
        assert solve(problem, warm=cold).iterations <= cold.iterations + 1


@pytest.mark.parametrize("family", ["nasty", "without rows", "dependent equalities", "mixture", "cable", "cloth"])
def test_warm_start_from_anywhere(family):
    """A guess that is worth nothing costs time, but changes nothing."""
    for number in range(10, 130, 8):
        problem = qp_problems.make(family, number)
        rng = np.random.default_rng(number)
        if not problem.b.any():  # the answer may be 0, of which nothing is small in its own size
            continue
        cold = solve(problem)
        noise = [rng.normal(size=len(part)) * 10.0 ** rng.integers(-6, 9) for part in (problem.b, problem.c, problem.e)]
        guess = replace(cold, x=noise[0], multipliers=np.abs(noise[1]), equality_multipliers=noise[2])
        warm = solve(problem, warm=guess)
        found, before = (
            qp_judge.residuals(problem, each.x, each.multipliers, each.equality_multipliers) for each in (warm, cold)
        )
        assert found.largest <= TOL
        assert found.rounding <= max(1e-9, 1e3 * before.rounding)
        size = abs(cold.objective) + np.abs(problem.b) @ np.abs(cold.x)
        assert warm.objective == pytest.approx(cold.objective, abs=1e-6 * size)


def test_rows_hold_in_their_own_size():
    """Not in that of unknowns that have nothing to do with them, in whatever units."""
    found = impinge.solve_qp(np.diag([1e4, 1e-4, 1.0]), [1e4, 0, 1.0], E=[[1, 1, 1.0]], e=[1.0])
    assert found.x.sum() == pytest.approx(1.0, abs=2e-9)
    for number in range(60):
        rng = np.random.default_rng(number)
        units = 10.0 ** rng.uniform(-4, 4, 6)
        K = (np.eye(6) + 0.1 * np.ones((6, 6))) * units[:, None] * units
        E, e = rng.normal(size=(3, 6)), rng.normal(size=3)
        found = impinge.solve_qp(K, rng.normal(size=6), E=E, e=e)
        assert (np.abs(E @ found.x - e) <= 1e-8 * (np.abs(E) @ np.abs(found.x))).all()


@pytest.mark.parametrize("family", SMOOTH)
def test_order_of_rows_and_unknowns(family):
    for number in (15, 60, 110):
        problem = qp_problems.make(family, number)
        rng = np.random.default_rng(number)
        unknowns, rows, equalities = (rng.permutation(k) for k in (problem.n, len(problem.c), len(problem.e)))
        K, J, E = (sp.csr_matrix(matrix) for matrix in (problem.K, problem.J, problem.E))
        shuffled = Problem(
            K[unknowns][:, unknowns], problem.b[unknowns], J[rows][:, unknowns], problem.c[rows],
            E[equalities][:, unknowns], problem.e[equalities],
        )  # fmt: skip
        first, second = solve(problem), solve(shuffled)
        assert close(shuffled, first.x[unknowns], second.x)


@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "coo", "csr_array", "float32", "unsorted"])
def test_kinds_of_matrices(kind):
    problem = qp_problems.make("combinations", 41)
    parts = [matrix.copy() for matrix in (problem.K, problem.J, problem.E)]
    if kind == "float32":
        parts[0] = np.round(parts[0] * 2**12) / 2**12
        problem = replace(problem, K=parts[0])
        parts[0] = parts[0].astype(np.float32)
    elif kind == "unsorted":
        parts = [_unsorted(part) for part in parts]
    elif kind != "dense":
        parts = [getattr(sp, kind if "array" in kind else f"{kind}_matrix")(part) for part in parts]
    K, J, E = parts
    solution = impinge.solve_qp(K, problem.b.tolist(), J, tuple(problem.c), E=E, e=problem.e)
    assert solution.x.tobytes() == solve(problem).x.tobytes()


def _unsorted(part):
    """The entries of each row from right to left, the first in two halves."""
    matrix = sp.coo_matrix(part)
    order = np.lexsort([-matrix.col, matrix.row])
    rows, columns, values = (np.r_[array[order], array[order][:1]] for array in (matrix.row, matrix.col, matrix.data))
    if len(values):
        values[[0, -1]] /= 2
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=part.shape[0]))]
    inside = np.argsort(rows, kind="stable")
    return sp.csr_matrix((values[inside], columns[inside], indptr), shape=part.shape)


def test_arguments_stay_as_they_are():
    for family in ("cable", "dense", "dependent equalities"):
        problem = qp_problems.make(family, 50)
        before = [part.copy() for part in problem.arrays()]
        solve(problem)
        for part, kept in zip(problem.arrays(), before, strict=True):
            assert part.size == 0 or abs(part - kept).max() == 0
