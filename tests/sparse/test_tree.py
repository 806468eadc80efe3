"""Pieces of the tree of fronts: whole subtrees, the same numbers whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from impinge import _jit
from impinge.sparse import cholesky, tree
from impinge.sparse.cholesky import Cholesky, Structure


def grid(side: int) -> sp.csc_array:
    """Nodes of a square grid, coupled with their neighbours."""
    line = sp.diags_array([-np.ones(side - 1), 4.5 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    other = sp.diags_array([-np.ones(side - 1), -np.ones(side - 1)], offsets=[-1, 1])
    return sp.csc_array(sp.kron(sp.eye_array(side), line) + sp.kron(other, sp.eye_array(side)))


def structure(matrix: sp.csc_array, threads: int) -> Structure:
    with _jit.threads(threads):
        return Structure(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), size=1)


@pytest.fixture
def no_tree_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_LITTLE", 0.0)
    monkeypatch.setattr(cholesky, "_LARGE", 0)
    monkeypatch.setattr(_jit, "_most_threads", 4)


@pytest.mark.usefixtures("no_tree_is_too_small")
@pytest.mark.parametrize("side", [3, 12, 40])
def test_the_factor_does_not_depend_on_pieces(side: int) -> None:
    matrix, right = grid(side), np.random.default_rng(side).normal(size=side * side)
    alone = Cholesky(structure(matrix, 1))
    assert alone.factorise(matrix.data) == -1
    x = alone.solve(right)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-12)
    for threads in (2, 3, 4):
        cut = structure(matrix, threads)
        assert len(cut.tree.starts) > 2 or side == 3
        shared = Cholesky(cut)
        with _jit.threads(threads):
            assert shared.factorise(matrix.data) == -1
            np.testing.assert_array_equal(shared.solve(right), x)
        np.testing.assert_array_equal(shared.solve(right), x)


@pytest.mark.usefixtures("no_tree_is_too_small")
def test_pieces_are_whole_subtrees_and_everything_is_done_once() -> None:
    found = structure(grid(40), 4)
    cut, parents = found.tree, found.parents
    np.testing.assert_array_equal(np.sort(cut.fronts), np.arange(len(parents)))
    for f in np.flatnonzero(cut.pieces >= 0):
        children = np.flatnonzero(parents == f)
        assert (cut.pieces[children] == cut.pieces[f]).all()
    place = np.argsort(cut.fronts)
    inside = np.flatnonzero(parents >= 0)
    assert (place[inside] < place[parents[inside]]).all()


@pytest.mark.usefixtures("no_tree_is_too_small")
def test_indefinite_matrices_are_found() -> None:
    matrix = grid(30)
    values = matrix.data.copy()
    values[matrix.indptr[450] : matrix.indptr[451]][
        matrix.indices[matrix.indptr[450] : matrix.indptr[451]] == 450
    ] = -1.0
    alone, shared = Cholesky(structure(matrix, 1)), Cholesky(structure(matrix, 3))
    bad = alone.factorise(values)
    assert bad >= 0
    with _jit.threads(3):
        assert shared.factorise(values) >= 0


def test_small_trees_are_not_cut() -> None:
    assert len(structure(grid(12), 2).tree.starts) == 2
