"""The judge of quadratic programs itself: it sees what is wrong, and passes what is right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from . import qp_judge, qp_problems
from .qp_problems import Problem


def tiny() -> Problem:
    """½|x|² − (1, 1)x, x₁ ≤ ½, x₁ + x₂ ≤ 3, x₂ = 2: x = (½, 2), μ = (½, 0), ν = −1."""
    J, E = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 1.0]])
    return Problem(np.eye(2), np.ones(2), J, np.array([0.5, 3.0]), E, np.array([2.0]))


RIGHT = np.array([0.5, 2.0]), np.array([0.5, 0.0]), np.array([-1.0])


def test_right_answer():
    assert qp_judge.residuals(tiny(), *RIGHT).largest <= 0
    assert qp_judge.exact_solution(tiny()) == [Fraction(1, 2), Fraction(2)]
    assert qp_judge.objective(tiny(), RIGHT[0]) == 0.125 + 2 - 2.5


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (([0.5, 2.0], [0.5 + 1e-8, 0.0], [-1.0]), "stationarity"),
        (([0.5, 2.0], [0.5, 0.0], [-1.0 + 1e-8]), "stationarity"),
        (([0.5 + 1e-8, 2.0], [0.5 - 1e-8, 0.0], [-1.0]), "violation"),
        (([0.5, 2.0 + 1e-7], [0.5, 0.0], [-1.0 - 1e-7]), "violation"),
        (([0.5, 2.0], [0.5 - 1e-7, 1e-7], [-1.0 - 1e-7]), "complementarity"),
        (([0.5, 2.0], [0.5 + 1e-7, -1e-7], [-1.0 + 1e-7]), "negative"),
        (([np.nan, 2.0], [0.5, 0.0], [-1.0]), "stationarity"),
    ],
)
def test_wrong_answers_are_seen(wrong, name):
    found = qp_judge.residuals(tiny(), *(np.array(part) for part in wrong))
    assert getattr(found, name) > 1e-9
    assert found.largest > 1e-9


def test_rows_without_bound_forbid_nothing():
    problem = tiny()
    J, c = np.vstack([problem.J, [[5.0, 5.0]]]), np.r_[problem.c, np.inf]
    x, mu, nu = RIGHT
    assert (
        qp_judge.residuals(Problem(problem.K, problem.b, J, c, problem.E, problem.e), x, np.r_[mu, 0.0], nu).largest
        <= 0
    )


def test_certificates():
    J, c = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, -1.0, 5.0])
    problem = Problem(np.eye(2), np.ones(2), J, c, np.zeros((0, 2)), np.zeros(0), is_feasible=False)
    nothing = np.zeros(0)
    assert qp_judge.excluded(problem, np.array([1.0, 1.0, 0.0]), nothing) == np.inf
    assert qp_judge.excluded(problem, np.array([1.0, 1.0 + 1e-6, 0.0]), nothing) == pytest.approx(2e6, rel=1e-3)
    for wrong in ([1.0, 0.5, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 0.0]):
        assert qp_judge.excluded(problem, np.array(wrong), nothing) < 10
    assert qp_judge.exact_solution(problem) is None


def test_certificate_of_a_row_without_entries():
    problem = Problem(np.eye(1), np.ones(1), np.zeros((1, 1)), np.array([-1.0]), np.zeros((0, 1)), np.zeros(0))
    assert qp_judge.excluded(problem, np.ones(1), np.zeros(0)) == np.inf
    assert qp_judge.exact_solution(problem) is None


def test_exact_solver_of_equations():
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert qp_judge.solve_exactly([[Fraction(0), half], [third, Fraction(1)]], [Fraction(1), Fraction(3)]) == [3, 2]
    assert qp_judge.solve_exactly([[half, third], [half, third]], [half, half]) is None


@pytest.mark.parametrize("family", qp_problems.FAMILIES)
def test_problems_are_what_they_say(family):
    """Symmetric and positive definite, the same again for the same number, and with the planted point if any."""
    for number in (0, 1, 7, 60, 385):
        problem = qp_problems.make(family, number)
        K, J = (matrix.toarray() if hasattr(matrix, "toarray") else matrix for matrix in (problem.K, problem.J))
        assert (K == K.T).all()
        np.linalg.cholesky(K)
        assert J.shape == (len(problem.c), problem.n)
        again = qp_problems.make(family, number)
        for one, other in zip(problem.arrays(), again.arrays(), strict=True):
            assert one.shape == other.shape
            assert one.size == 0 or abs(one - other).max() == 0
        assert problem.is_feasible is not family.startswith("infeasible")


def test_other_numbers_and_seeds_are_other_problems():
    first = qp_problems.make("dense", 50)
    for other in (qp_problems.make("dense", 51), qp_problems.make("dense", 50, seed=1)):
        assert first.b.shape != other.b.shape or (first.b != other.b).any()
    arguments = qp_problems.some(60, seed=3)
    assert len(set(arguments)) == 60
    assert {family for family, _, _ in arguments} == set(qp_problems.FAMILIES)
