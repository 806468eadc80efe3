"""`solve_qp`: every answer judged, on problems of all families; exact answers of tiny ones; bad input."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import impinge
from impinge.errors import ConvergenceError, InfeasibleError, InputError
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


# Contradictions


def test_certificate():
    J, c = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, -1.0]]), np.array([1.0, -1.0, -1.0, 7.0])
    with pytest.raises(InfeasibleError) as caught:
        impinge.solve_qp(np.eye(2), np.zeros(2), J, c)
    error = caught.value
    assert list(error.rows) == [0, 1, 2]
    assert list(error.equalities) == []
    assert (error.multipliers >= 0).all()
    assert error.multipliers @ J == pytest.approx([0, 0], abs=1e-9)
    assert error.multipliers @ c < 0
    assert "[0, 1, 2]" in str(error)


def test_contradiction_of_equalities():
    E, e = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 1.0, 2.0])
    with pytest.raises(InfeasibleError) as caught:
        impinge.solve_qp(np.eye(2), np.zeros(2), np.eye(2), np.full(2, 9.0), E=E, e=e)
    error = caught.value
    assert list(error.rows) == []
    assert list(error.equalities) == [0, 1, 2]
    assert error.equality_multipliers @ E == pytest.approx([0, 0], abs=1e-9)
    assert error.equality_multipliers @ e < 0


# Bad input


def _changed(matrix, i, j, value):
    matrix = np.array(matrix, float)
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": np.ones((2, 3))}, r"K: found shape \(2, 3\)"),
        ({"K": np.ones(3)}, "K: found"),
        ({"K": _changed(np.eye(3), 0, 1, 0.5)}, r"K: .*symmetric"),
        ({"K": sp.csc_matrix(_changed(np.eye(3), 2, 0, 0.5))}, r"K: .*symmetric"),
        ({"K": -np.eye(3)}, r"K: .*positive definite"),
        ({"K": np.ones((3, 3))}, r"K: .*positive definite"),
        ({"K": np.zeros((3, 3))}, r"K: .*positive definite"),
        ({"K": np.diag([1.0, 1.0, -1e-3])}, r"K: .*positive definite"),
        ({"K": _changed(np.eye(3), 1, 1, np.nan)}, r"K: .*\(1, 1\).*nan"),
        ({"K": "stiff"}, "K: found"),
        ({"K": np.eye(3) * 1e-310}, r"K: found entries of at most 1e-310"),
        ({"K": np.eye(3) * 1e300}, r"K: found entries of at most 1e\+300"),
        ({"K": np.eye(3) * 1j}, "K: found"),
        ({"b": np.ones(4)}, r"b: found shape \(4,\)"),
        ({"b": [0.0, np.inf, 0.0]}, "b: .*1.* inf"),
        ({"b": ["a", "b", "c"]}, "b: found"),
        ({"b": ["1", "2", "3"]}, "b: found text"),
        ({"b": np.ones(3) * 1j}, "b: found complex"),
        ({"c": np.ones(2) * 1j}, "c: found complex"),
        ({"J": np.ones((2, 4))}, r"J: found shape \(2, 4\)"),
        ({"J": _changed(np.ones((2, 3)), 1, 2, np.nan)}, r"J: .*\(1, 2\).*nan"),
        ({"J": None}, "J: "),
        ({"c": None}, "c: "),
        ({"c": np.ones(3)}, r"c: found shape \(3,\)"),
        ({"c": [1.0, np.nan]}, "c: .*1.* nan"),
        ({"c": [1.0, -np.inf]}, "c: .*1.* -inf"),
        ({"E": np.ones((1, 2))}, r"E: found shape \(1, 2\)"),
        ({"E": np.full((1, 3), np.inf)}, r"E: .*inf"),
        ({"E": None}, "E: "),
        ({"e": None}, "e: "),
        ({"e": np.ones(2)}, r"e: found shape \(2,\)"),
        ({"e": [np.inf]}, "e: .*0.* inf"),
        ({"J": np.diag([1.0, 1e-155, 1.0])[:2]}, r"J: row 1 has entries of at most 1e-155, expected 1e-100 to 1e\+100"),
        ({"E": np.full((1, 3), 1e155)}, r"E: row 0 has entries of at most 1e\+155"),
        ({"b": [0.0, -1e200, 0.0]}, r"b: entry 1 is -1e\+200, expected at most 1e\+100"),
        ({"c": [1.0, 1e200]}, r"c: entry 1 is 1e\+200"),
        ({"e": [1e200]}, r"e: entry 0 is 1e\+200"),
        ({"tol": 0.0}, "tol: found 0"),
        ({"tol": np.nan}, "tol: found nan"),
        ({"tol": "small"}, "tol: found 'small'"),
        ({"warm": 3}, "warm: found"),
        ({"warm": "hot"}, "warm: found"),
    ],
)
def test_bad_input(changes, message):
    arguments = {
        "K": np.eye(3), "b": np.ones(3), "J": np.ones((2, 3)), "c": np.ones(2), "E": np.ones((1, 3)), "e": np.ones(1)
    }  # fmt: skip
    impinge.solve_qp(**arguments)
    with pytest.raises(InputError, match=message):
        impinge.solve_qp(**arguments | changes)


@pytest.mark.parametrize("unit", [1e-99, 1e-30, 1.0, 1e30, 1e99])
@pytest.mark.parametrize("what", ["K", "J", "c"])
def test_units_do_not_matter(what, unit):
    """As far as they are allowed; a small entry beside a large one is none of them."""
    K, b, J, c = np.eye(3), np.ones(3), np.eye(3) + 1e-200, np.array([0.1, 0.2, 5.0])
    scales = {"K": (unit, unit, 1, 1), "J": (1, 1, unit, unit), "c": (1, unit, 1, unit)}[what]
    found = impinge.solve_qp(scales[0] * K, scales[1] * b, scales[2] * J, scales[3] * c)
    assert found.x == pytest.approx(np.array([0.1, 0.2, 1.0]) * (unit if what == "c" else 1.0), rel=1e-9)


def test_numbers_beyond_the_range_are_no_answer():
    """Those that are given are allowed, what they lead to is not."""
    with pytest.raises(ConvergenceError, match="too ill-conditioned"):
        impinge.solve_qp(1e100 * np.eye(2), np.ones(2), 1e-100 * np.eye(2), [-1e100, 1.0])
    with pytest.raises(ConvergenceError, match="x: found numbers beyond the range of floats"):
        impinge.solve_qp(np.diag([1.0, 1e-180]), [1.0, 1e100], np.eye(2), [1.0, np.inf])


def test_warm_start_keeps_the_order_of_elimination():
    """While K has the same pattern, and not a moment longer, even if its arrays are those of before."""
    n = 120
    # Far apart, so that there is no band.
    apart = sp.eye_array(n, k=n // 2, format="csc") + sp.eye_array(n, k=-n // 2, format="csc")
    K = sp.csc_array(3.0 * sp.eye_array(n) + apart)
    b, J, c = np.linspace(1, 2, n), -sp.eye_array(n, format="csr"), np.full(n, -0.3)
    first = impinge.solve_qp(K, b, J, c)
    assert first.structure is not None
    assert impinge.solve_qp(2 * K, b, J, c, warm=first).structure is first.structure
    order = np.random.default_rng(0).permutation(n)
    other = sp.csc_array(sp.csr_array(K)[order][:, order])
    other.sort_indices()
    assert other.nnz == K.nnz
    K.indptr[:], K.indices[:], K.data[:] = other.indptr, other.indices, other.data
    after = impinge.solve_qp(K, b, J, c, warm=first)
    assert after.structure is not first.structure
    assert after.x == pytest.approx(impinge.solve_qp(other, b, J, c).x, abs=1e-9)


@pytest.mark.parametrize("part", ["x", "multipliers"])
def test_warm_start_that_is_not_finite(part):
    problem = qp_problems.make("dense", 20)
    found = solve(problem)
    with pytest.raises(InputError, match="warm: found numbers that are not finite"):
        solve(problem, warm=replace(found, **{part: np.full(len(getattr(found, part)), np.nan)}))


def test_warm_start_of_another_shape():
    small, large = qp_problems.make("dense", 2), qp_problems.make("dense", 200)
    with pytest.raises(InputError, match="warm: "):
        solve(large, warm=solve(small))


@pytest.mark.parametrize("other", [0.0, 10.0, 1e3])
def test_rows_are_kept_whatever_the_size_of_unknowns_that_are_not_in_them(other: float) -> None:
    solution = impinge.solve_qp(np.diag([1e-9, 1e-9, 1.0]), [other, 10.0, 0.0], [[0, 1, -1]], [1.0])
    assert solution.x[1] - solution.x[2] == pytest.approx(1.0, abs=1e-9)
    assert solution.x[1] == pytest.approx(11.0, rel=1e-7)


@pytest.mark.parametrize("seed", range(100))
def test_rows_are_kept_to_the_size_of_their_own_terms(seed: int) -> None:
    """Unknowns that are 1e10 times as soft as others, and as large, must not hide what rows of small ones lack."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    K, b = np.diag(10.0 ** rng.uniform(-10, 0, n)), rng.normal(size=n) * 10 ** rng.uniform(-1, 3)
    J = np.zeros((int(rng.integers(1, 2 * n)), n))
    for row in J:
        row[rng.choice(n, 2, replace=False)] = 1, -1
    c = J @ rng.normal(size=n) * 10 + rng.exponential(size=len(J))
    x = impinge.solve_qp(K, b, J, c).x
    assert ((J @ x - c) <= 1e-9 * (np.abs(J) @ np.abs(x) + np.abs(c))).all()


def test_proofs_are_short_and_exact() -> None:
    """Two of many rows contradict each other: they alone are named, and cancel to the last digit."""
    rng, n = np.random.default_rng(0), 12
    J = np.vstack([rng.normal(size=(60, n)), np.eye(n)[3], -np.eye(n)[3]])
    c = np.append(rng.uniform(-1, 3, 60), [-1.0070969871841609, -0.37643961757289945])
    c[:60] = np.maximum(c[:60], J[:60] @ np.full(n, 0.1) + 1.0)
    with pytest.raises(impinge.errors.InfeasibleError) as caught:
        impinge.solve_qp(np.eye(n), rng.normal(size=n), J, c)
    assert caught.value.rows == [60, 61]
    assert caught.value.multipliers[60] == pytest.approx(caught.value.multipliers[61], rel=1e-15)
