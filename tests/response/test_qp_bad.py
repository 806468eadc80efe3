"""Quadratic programs without a solution, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import impinge
from impinge.errors import ConvergenceError, InfeasibleError, InputError

from . import qp_problems
from .qp_judged import solve


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
