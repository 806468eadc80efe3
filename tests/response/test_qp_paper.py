"""The paper's own solvers: right where they can be, and failing where its text says or FACTS show that they do."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from impinge.errors import InputError
from impinge.response import qp_paper

from . import qp_judge, qp_problems
from .qp_problems import Problem

VARIANTS = {
    "algorithm 1": qp_paper.algorithm_1,
    "Schur": qp_paper.schur_cg,
    "Schur, plain": partial(qp_paper.schur_cg, preconditioned=False),
    "MINRES": qp_paper.matrix_free,
    "MINRES, plain": partial(qp_paper.matrix_free, preconditioned=False),
    "projected CG": partial(qp_paper.matrix_free, method="projected-cg"),
    "projected CG, plain": partial(qp_paper.matrix_free, method="projected-cg", preconditioned=False),
    "perturbed": partial(qp_paper.perturbed, size=1e-11),
}
WITH_DEPENDENT_ROWS = {name: solve for name, solve in VARIANTS.items() if name != "algorithm 1"}

# Found by search among small whole numbers: blocks that come up again.
CYCLING = Problem(
    np.eye(3),
    np.zeros(3),
    np.array([[2.0, -1.0, -1.0], [3.0, -2.0, -1.0], [-2.0, 0.0, 1.0]]),
    np.array([-4.0, -1.0, 5.0]),
    np.zeros((0, 3)),
    np.zeros(0),
)


def solve(variant, problem: Problem, **options) -> qp_paper.PaperSolution:
    return variant(problem.K, problem.b, problem.J, problem.c, **options)


def check(problem: Problem, solution: qp_paper.PaperSolution, tol: float = 1e-8) -> None:
    assert solution.status == "solved"
    assert (solution.multipliers >= 0).all()
    assert set(np.flatnonzero(solution.multipliers)) <= set(solution.active)
    found = qp_judge.residuals(problem, solution.x, solution.multipliers, np.zeros(0))
    assert found.largest <= tol, found


def independent(seed: int, n: int = 4, m: int = 4, condition: float = 30.0) -> Problem:
    """As many random rows as unknowns."""
    rng = np.random.default_rng([seed, n, m])
    K, J = qp_problems._matrix(rng, n, condition), rng.normal(size=(m, n))
    return Problem(K, rng.normal(size=n), J, rng.normal(size=m), np.zeros((0, n)), np.zeros(0))


def figure_1(number: int = 5) -> Problem:
    """[Raghupathi2006] Figure 1 and (22): edges whose rows are sums of those of their ends."""
    return qp_problems.make("figure 1", number)


@pytest.mark.parametrize("name", VARIANTS)
def test_independent_rows(name):
    for seed in range(25):
        problem = independent(seed)
        solution = solve(VARIANTS[name], problem)
        check(problem, solution)
        exact = np.array(qp_judge.exact_solution(problem), float)
        assert solution.x == pytest.approx(exact, abs=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("name", VARIANTS)
def test_no_rows(name):
    problem = qp_problems.make("without rows", 8)
    solution = solve(VARIANTS[name], problem)
    check(problem, solution)
    assert solution.iterations == 1
    assert not len(solution.active)


@pytest.mark.parametrize("name", WITH_DEPENDENT_ROWS)
def test_rows_that_depend_on_each_other(name):
    for problem in (figure_1(), qp_problems.make("cable", 30), qp_problems.make("cloth", 16)):
        problem = Problem(problem.K, problem.b, problem.J, problem.c, np.zeros((0, problem.n)), np.zeros(0))
        check(problem, solve(WITH_DEPENDENT_ROWS[name], problem))


def test_counts_and_toggles():
    solution = solve(qp_paper.algorithm_1, CYCLING)
    first, *others = solution.exchanges
    assert first.came.tolist() == [0, 1]  # violated by the x without rows, which is 0
    assert len(others) == solution.iterations
    held = np.zeros(3, bool)
    for exchange in solution.exchanges:
        assert not held[exchange.came].any()
        assert held[exchange.went].all()
        held[exchange.came], held[exchange.went] = True, False
    assert np.flatnonzero(held).tolist() == solution.active.tolist()
    came = np.bincount(np.concatenate([exchange.came for exchange in solution.exchanges]), minlength=3)
    assert solution.toggles.tolist() == np.maximum(came - 1, 0).tolist()


# 5.12: cycling


def test_blocks_that_come_up_again():
    assert solve(qp_paper.algorithm_1, CYCLING, safeguard=False).status == "cycled"
    solution = solve(qp_paper.algorithm_1, CYCLING)
    check(CYCLING, solution)
    assert any(exchange.is_single for exchange in solution.exchanges)
    assert solution.toggles.any()
    assert solution.x == pytest.approx(np.array(qp_judge.exact_solution(CYCLING), float))


@pytest.mark.parametrize("name", VARIANTS)
def test_safeguard_in_every_variant(name):
    assert solve(VARIANTS[name], CYCLING, safeguard=False).status == "cycled"
    check(CYCLING, solve(VARIANTS[name], CYCLING))


def test_cycles_found_by_search():
    """Some of a hundred ill-conditioned problems cycle or toggle, and the safeguard solves all."""
    cycled = toggled = 0
    for seed in range(100):
        problem = independent(seed, 6, 6, 1e6)
        plain = solve(qp_paper.algorithm_1, problem, safeguard=False)
        cycled += plain.status == "cycled"
        toggled += plain.status == "solved" and bool(plain.toggles.any())
        check(problem, solve(qp_paper.algorithm_1, problem))
    assert cycled >= 5
    assert toggled >= 20


# 5.10: plain CG


def test_plain_cg_breaks_down():
    """K = J = 1, b = 1, c = −½: the first direction has no curvature, as (8) is indefinite."""
    problem = Problem(np.eye(1), np.ones(1), np.eye(1), np.array([-0.5]), np.zeros((0, 1)), np.zeros(0))
    assert solve(qp_paper.matrix_free, problem, method="cg").status == "broke down"
    for variant in VARIANTS.values():
        solution = solve(variant, problem)
        check(problem, solution)
        assert solution.x == pytest.approx([-0.5])
        assert solution.multipliers == pytest.approx([1.5])
    matrix = qp_paper.kkt_matrix(problem.K, problem.J).toarray()
    direction = np.array([1.0, 0.5])
    assert direction @ matrix @ direction == 0


def test_plain_cg_goes_through_by_luck():
    problem = independent(1)
    check(problem, solve(qp_paper.matrix_free, problem, method="cg"))


# 7.1: dependent rows and the perturbation


def test_dependent_rows_are_singular():
    problem = figure_1()
    assert solve(qp_paper.algorithm_1, problem).status == "singular"
    rows = problem.J[:3]
    assert np.linalg.matrix_rank(rows.toarray()) == 2
    assert qp_paper.condition_number(qp_paper.kkt_matrix(problem.K, rows)) > 1e15


def test_perturbation_makes_them_quasi_definite():
    problem = figure_1()
    rows, n = problem.J[:3], problem.n
    size = 1e-6
    L = size * qp_paper.schur_diagonal(problem.K, rows)
    matrix = qp_paper.kkt_matrix(problem.K, rows, L)
    assert qp_paper.condition_number(matrix) < 1e3 * np.linalg.cond(problem.K.toarray()) / size
    values = np.linalg.eigvalsh(matrix.toarray())
    assert ((values > 0).sum(), (values < 0).sum()) == (n, 3)
    printed = np.linalg.eigvalsh(qp_paper.kkt_matrix(problem.K, rows, -L).toarray())
    assert ((printed > 0).sum(), (printed < 0).sum()) == (n + 1, 2)  # the dependent row is on the wrong side


def test_perturbed_rows_are_compliant():
    problem = independent(0)
    L = 1e-3 * qp_paper.schur_diagonal(problem.K, problem.J)
    solution = solve(qp_paper.perturbed, problem, size=1e-3)
    held = solution.active
    assert len(held)
    found = problem.J[held] @ solution.x - problem.c[held]
    assert found == pytest.approx(L[held] * solution.multipliers[held])
    assert found.max() > 1e-5
    errors = [
        np.abs(solve(qp_paper.perturbed, problem, size=size).x - solve(qp_paper.algorithm_1, problem).x).max()
        for size in (1e-3, 1e-6, 1e-9)
    ]
    assert errors[0] > 500 * errors[1] > 250_000 * errors[2]


def test_printed_sign_can_be_singular():
    """K = J = L = 1: (23) as printed is [1 −1; −1 1]; with the other sign its condition is below 3."""
    one = np.eye(1)
    problem = Problem(one, np.ones(1), one, np.zeros(1), np.zeros((0, 1)), np.zeros(0))
    assert solve(qp_paper.perturbed, problem, size=1.0, printed_sign=True).status == "singular"
    assert solve(qp_paper.perturbed, problem, size=1.0).status == "solved"
    assert qp_paper.condition_number(qp_paper.kkt_matrix(one, one, np.array([-1.0]))) > 1e15
    assert qp_paper.condition_number(qp_paper.kkt_matrix(one, one, np.array([1.0]))) < 3


# Parts


def test_product_is_that_of_the_matrix():
    problem = figure_1()
    vector = np.random.default_rng(1).normal(size=problem.n + len(problem.c))
    for L in (None, np.random.default_rng(2).uniform(size=len(problem.c))):
        matrix = qp_paper.kkt_matrix(problem.K, problem.J, L)
        assert qp_paper.kkt_operator(problem.K, problem.J, L) @ vector == pytest.approx(matrix @ vector)
        assert abs(matrix - matrix.T).max() == 0


def test_schur_diagonal():
    problem = qp_problems.make("cable", 12)
    wanted = problem.J @ np.linalg.solve(problem.K.toarray(), problem.J.T.toarray())
    assert qp_paper.schur_diagonal(problem.K, problem.J) == pytest.approx(wanted.diagonal())


def test_preconditioners_save_iterations():
    """Rows in units of their own: the diagonal puts them right."""
    base = independent(5, 12, 12)
    units = 10.0 ** np.linspace(-3, 3, 12)
    problem = Problem(base.K, base.b, units[:, None] * base.J, units * base.c, base.E, base.e)
    first, second = (solve(qp_paper.schur_cg, problem, preconditioned=answer) for answer in (True, False))
    check(problem, first)
    assert first.inner_iterations < second.inner_iterations or second.status != "solved"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": np.ones((2, 3))}, r"K: found shape \(2, 3\)"),
        ({"J": np.ones((4, 5))}, r"J: found shape \(4, 5\), expected \(m, 4\)"),
        ({"b": [1.0, np.nan, 0.0, 0.0]}, "b: found"),
        ({"c": [1.0]}, r"c: found shape \(1,\)"),
    ],
)
def test_bad_input(changes, message):
    problem = independent(0)
    arguments = {"K": problem.K, "b": problem.b, "J": problem.J, "c": problem.c} | changes
    with pytest.raises(InputError, match=message):
        qp_paper.algorithm_1(**arguments)


def test_bad_options():
    problem = independent(0)
    with pytest.raises(InputError, match="method: found 'gauss'"):
        solve(qp_paper.matrix_free, problem, method="gauss")
    with pytest.raises(InputError, match="size: found -1"):
        solve(qp_paper.perturbed, problem, size=-1)
