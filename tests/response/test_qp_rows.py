"""Kernels of quadratic programs: symmetry, bands and their factors, products with G, which violated rows are taken, and
how far steps go.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from impinge import _check
from impinge.response.qp import _banded, _newton, _rows, _search


def random_matrix(rng: np.random.Generator) -> sp.csc_array:
    """A small matrix: of any kind, symmetric, or nearly so."""
    n, kind = int(rng.integers(1, 7)), int(rng.integers(3))
    dense = np.where(rng.random((n, n)) < rng.random(), rng.normal(size=(n, n)), 0.0)
    dense = dense + dense.T if kind else dense
    if kind == 2:
        dense[rng.integers(n), rng.integers(n)] += 1e-9
    return sp.csc_array(dense)


@pytest.mark.parametrize("most", [0.0, 1e-9])
def test_symmetry_is_told_but_for_what_may_be(most: float) -> None:
    rng, told = np.random.default_rng(0), []
    for _ in range(500):
        matrix = random_matrix(rng)
        pattern = (_check.frozen(array.astype(np.int32)) for array in (matrix.indptr, matrix.indices))
        told.append(bool(_rows.is_symmetric(*pattern, _check.frozen(matrix.data), matrix.shape[0], most)))
        dense = matrix.toarray()
        roots = np.sqrt(np.abs(np.diag(dense)))
        near = np.abs(dense - dense.T) <= most * roots[:, None] * roots
        assert told[-1] == bool((near & ((dense != 0) == (dense.T != 0))).all())
    assert 100 < sum(told) < 400


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_sorted_as_scipy_does(seed: int) -> None:
    """And entries that are there twice are told of."""
    rng = np.random.default_rng(seed)
    J = sp.random_array((9, 12), density=0.3, format="csr", rng=rng)
    wanted = J.copy()
    for row in range(9):
        part = slice(J.indptr[row], J.indptr[row + 1])
        order = rng.permutation(J.indptr[row + 1] - J.indptr[row])
        J.indices[part], J.data[part] = J.indices[part][order], J.data[part][order]
    wanted.sort_indices()
    arrays = J.indptr.astype(np.int32), J.indices.astype(np.int32), J.data
    assert _rows.sort_rows(_check.frozen(arrays[0]), *arrays[1:])
    assert np.array_equal(arrays[1], wanted.indices)
    assert np.array_equal(arrays[2], wanted.data)
    row = int(np.flatnonzero(np.diff(J.indptr) > 1)[0])
    arrays[1][J.indptr[row] + 1] = arrays[1][J.indptr[row]]
    assert not _rows.sort_rows(_check.frozen(arrays[0]), *arrays[1:])


def test_symmetry_of_entries_that_are_zero() -> None:
    """What counts is also where entries are: a factor takes the pattern of one triangle for that of both."""
    lone = sp.csc_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    pattern = (_check.frozen(array.astype(np.int32)) for array in (lone.indptr, lone.indices))
    assert not _rows.is_symmetric(*pattern, _check.frozen(lone.data), 2, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_worst_rows_are_those_at_one_of_their_unknowns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J = sp.random_array((30, 12), density=0.2, format="csr", rng=rng)
    measured = rng.normal(size=30)
    out = np.empty(30, np.bool_)
    pattern = _check.frozen(J.indptr.astype(np.int32)), _check.frozen(J.indices.astype(np.int32))
    _rows.find_worst(*pattern, measured, np.empty(12), out)
    uses = J.toarray() != 0
    for k in range(30):
        beaten = [(measured[uses[:, j]] > measured[k]).any() for j in np.flatnonzero(uses[k])]
        assert out[k] == (measured[k] > 0 and bool(beaten) and not all(beaten))


def test_the_width_of_a_band_does_not_depend_on_the_order_in_a_row() -> None:
    """What a row couples has to be in the band, from its first unknown to its last, wherever these are in the row."""
    diagonal = _check.frozen(np.arange(11, dtype=np.int32)), _check.frozen(np.arange(10, dtype=np.int32))
    for order in ([2, 5, 9], [5, 2, 9], [9, 5, 2], [5, 9, 2]):
        indptr, indices = np.array([0, 0, 3, 3], np.int32), np.array(order, np.int32)
        assert _banded.bandwidth(*diagonal, _check.frozen(indptr), _check.frozen(indices)) == 7


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_products_with_squares_are_those_with_the_matrix(share: float) -> None:
    """Also where most factors are 0, and whole squares are left out."""
    rng, sets = np.random.default_rng(7), 6
    n = 16 * sets
    root = rng.normal(size=(n, n))
    G = root @ root.T
    squares = np.zeros(128 * sets * (sets + 1))
    for i in range(n):
        for j in range(16 * (i // 16 + 1)):
            squares[128 * (i // 16) * (i // 16 + 1) + 16 * j + i % 16] = -G[i, j]
    z = np.where(rng.random(n) < share, rng.normal(size=n), 0.0)
    out = np.full(n, np.nan)
    _newton.multiply(squares, z, out)
    np.testing.assert_allclose(out, G @ z, atol=1e-11 * np.abs(G).max())


@pytest.mark.parametrize("width", [0, 1, 8, 15, 16, 17, 24])
def test_factors_of_bands_next_to_dense_ones(width: int) -> None:
    """Also where a column is longer than one vector."""
    rng, n = np.random.default_rng(width), 40
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width
    dense = np.where(near, rng.normal(size=(n, n)), 0.0)
    K = dense + dense.T + 4 * (width + 2) * np.eye(n)
    J, weights = sp.csr_array(np.eye(n)[::3] + 0.5 * np.eye(n, k=min(width, 2))[::3]), rng.uniform(0, 9, -(-n // 3))
    band, right = _banded.room(n, width), rng.normal(size=n)
    columns, rows = sp.csc_array(K), (J.indptr.astype(np.int32), J.indices.astype(np.int32), J.data)
    _banded.assemble(columns.indptr.astype(np.int32), columns.indices.astype(np.int32), columns.data, band)
    _banded.add_products(*rows, weights, band)
    assert _banded.factorise(band) == -1
    found = right.copy()
    _banded.solve(band, found)
    H = K + J.toarray().T @ np.diag(weights) @ J.toarray()
    assert found == pytest.approx(np.linalg.solve(H, right), rel=1e-9, abs=1e-12)
    _banded.assemble(*(array.astype(np.int32) for array in (columns.indptr, columns.indices)), -columns.data, band)
    assert _banded.factorise(band) == 0


@pytest.mark.parametrize("seed", range(40))
def test_steps_end_where_the_function_is_least(seed: int) -> None:
    """Next to values on a fine grid of ½ curve t² + slope t + Σ ½ soft (pulls)²."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    free, mu, s, ds = (
        rng.integers(-1, 2, count).astype(np.int8),
        rng.exponential(size=count),
        *rng.normal(size=(2, count)),
    )
    soft, curve = rng.uniform(0.01, 1, count), rng.exponential()
    starts = np.where(free == 1, mu + s / soft, np.maximum(mu + s / soft, 0.0))
    slope = -rng.exponential()  # of all, rows included
    t = np.linspace(0, 1, 200_001)
    pulls = mu + (s + t[:, None] * ds) / soft
    pulls = np.where(free == 1, pulls, np.maximum(pulls, 0.0))
    rises = np.where(free >= 0, 0.5 * soft * (pulls**2 - starts**2) - starts * ds * t[:, None], 0.0)
    values = slope * t + 0.5 * curve * t**2 + rises.sum(axis=1)
    far = _search.search(slope, curve, free, mu, soft, s, ds)
    if far == 1.0:
        assert values[-1] <= 0.0
    else:
        assert far == pytest.approx(t[values.argmin()], abs=2e-5)
