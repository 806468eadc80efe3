"""Sparse factorisations against dense ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from impinge.sparse import _graph
from impinge.sparse.cholesky import Cholesky, Gram, Structure

Rng = np.random.Generator


def chain(n: int) -> Any:
    return sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])


def lattice(*sides: int) -> Any:
    graph = sp.eye_array(1)
    for side in sides:
        graph = sp.kron(graph, sp.eye_array(side)) + sp.kron(sp.eye_array(graph.shape[0]), chain(side))
    return graph


def scattered(rng: Rng, n: int, share: float) -> Any:
    return sp.random_array((n, n), density=share, rng=rng) + sp.eye_array(n)


PATTERNS: dict[str, Callable[[Rng], Any]] = {
    "one": lambda rng: sp.eye_array(1),
    "diagonal": lambda rng: sp.eye_array(37),
    "chain": lambda rng: chain(200),
    "ring": lambda rng: chain(150) + sp.coo_array(([1.0], ([0], [149])), shape=(150, 150)),
    "net": lambda rng: lattice(13, 17),
    "cube": lambda rng: lattice(6, 7, 5),
    "several": lambda rng: sp.block_diag([lattice(9, 9), chain(5), sp.eye_array(3), lattice(4, 20)]),
    "star": lambda rng: sp.coo_array((np.ones(80), (np.zeros(80, int), np.arange(80))), shape=(80, 80)),
    "scattered": lambda rng: scattered(rng, 150, 0.02),
    "dense": lambda rng: sp.csr_array(np.ones((70, 70))),
}


def matrix(rng: Rng, pattern: Any, size: int, shift: float = 0.1) -> Any:
    """Symmetric and positive definite, with blocks of `size` unknowns."""
    pattern = sp.coo_array(pattern)
    blocks = sp.kron(pattern, np.ones((size, size)), format="coo")
    part = sp.csc_array((rng.normal(size=blocks.nnz), (blocks.row, blocks.col)), shape=blocks.shape)
    both = part + part.T
    across = np.asarray(np.abs(both).sum(axis=1)).ravel()
    result = sp.csc_array(both + sp.diags_array(across + shift))
    result.sort_indices()
    return result


def structure(K: Any, **kw: Any) -> Structure:
    return Structure(K.indptr.astype(np.int32), K.indices.astype(np.int32), **kw)


def rows_of(rng: Rng, count: int, n: int, most: int = 6) -> Any:
    """Short rows, in CSR with indices of int32."""
    lengths = rng.integers(1, min(most, n) + 1, count)
    indices = np.concatenate([rng.choice(n, k, replace=False) for k in lengths] or [[]]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return sp.csr_array((rng.normal(size=len(indices)), indices, indptr), shape=(count, n))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", PATTERNS)
def test_solves_as_dense_ones_do(name, size):
    rng = np.random.default_rng([size, *name.encode()])
    K = matrix(rng, PATTERNS[name](rng), size)
    factor = Cholesky(structure(K))
    assert factor.factorise(K.data) == -1
    dense, right = K.toarray(), rng.normal(size=(3, K.shape[0]))
    eigenvalues = np.linalg.eigvalsh(dense)
    condition = eigenvalues[-1] / eigenvalues[0]
    for b, wanted in zip(right, np.linalg.solve(dense, right.T).T, strict=True):
        x = factor.solve(b)
        assert np.abs(K @ x - b).max() <= 1e-12 * np.abs(b).max() * max(1, condition * 1e-3)
        assert np.allclose(x, wanted, rtol=1e-9, atol=1e-9 * np.abs(x).max())


@pytest.mark.parametrize("name", PATTERNS)
def test_factorises_again_with_rows_added(name):
    """H = K + Jᵀ W J, also where rows couple what K does not."""
    rng = np.random.default_rng([*name.encode()])
    K = matrix(rng, PATTERNS[name](rng), 3)
    J = rows_of(rng, 20, K.shape[0])
    factor = Cholesky(structure(K, rows=(J.indptr, J.indices)))
    right = rng.normal(size=K.shape[0])
    for scale in (0.0, 1.0, 1e4):
        weights = scale * rng.random(20) * (rng.random(20) < 0.7)
        assert factor.factorise(K.data, J.data, weights) == -1
        H = K.toarray() + J.T.toarray() @ (weights[:, None] * J.toarray())
        assert np.allclose(H @ factor.solve(right), right, rtol=0, atol=1e-9 * np.abs(right).max())


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_other_rows_in_the_same_structure(name, inside):
    """As with a structure made for them: rows over what K couples already, and over anything."""
    rng = np.random.default_rng([*name.encode()])
    K = matrix(rng, PATTERNS[name](rng), 3)
    if inside:
        nodes = rng.integers(0, K.shape[0] // 3, 20)
        J = sp.csr_array(sp.kron(sp.csr_array((np.ones(20), (range(20), nodes))), rng.normal(size=(1, 3))))
        J.resize(20, K.shape[0])
        pattern = J.indptr.astype(np.int32), J.indices.astype(np.int32)
    else:
        J = rows_of(rng, 20, K.shape[0])
        pattern = J.indptr, J.indices
    plain = structure(K, size=3)
    others = plain.with_rows(pattern)
    assert len(plain.rows[0]) == 1  # it is as it was
    right, weights = rng.normal(size=K.shape[0]), 10.0 ** rng.uniform(-3, 3, 20)
    found = []
    for each in (others, structure(K, rows=pattern, size=3)):
        factor = Cholesky(each)
        assert factor.factorise(K.data, J.data, weights) == -1
        found.append(factor.solve(right))
    H = K.toarray() + J.T.toarray() @ (weights[:, None] * J.toarray())
    assert np.allclose(H @ found[0], right, rtol=0, atol=1e-9 * np.abs(right).max())
    assert np.allclose(found[0], found[1], rtol=0, atol=1e-9 * np.abs(found[1]).max())
    if inside:
        assert others.order is plain.order
    none = plain.with_rows((np.zeros(1, np.int32), np.empty(0, np.int32)))
    factor = Cholesky(none)
    assert factor.factorise(K.data) == -1
    assert np.allclose(K @ factor.solve(right), right, rtol=0, atol=1e-9 * np.abs(right).max())


@pytest.mark.parametrize("name", PATTERNS)
def test_gram_is_the_product(name):
    rng = np.random.default_rng([*name.encode()])
    K = matrix(rng, PATTERNS[name](rng), 3)
    J = rows_of(rng, 61, K.shape[0])
    factor = Cholesky(structure(K))
    factor.factorise(K.data)
    gram = Gram(factor, J.indptr, J.indices, J.data)
    gram.add(np.arange(0, 61, 3, dtype=np.int32))
    gram.add(np.array([1], np.int32))
    gram.add(np.arange(2, 61, 3, dtype=np.int32))
    used = np.flatnonzero(gram.rows >= 0)
    some = J.toarray()[gram.rows[used]]
    wanted = some @ np.linalg.solve(K.toarray(), some.T)
    assert sorted(gram.rows[used]) == sorted([*range(0, 61, 3), 1, *range(2, 61, 3)])
    assert np.allclose(gram.part(used), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert np.allclose(-gram.diagonal[used], np.diag(wanted))


@pytest.mark.parametrize("name", PATTERNS)
def test_says_where_a_matrix_is_not_positive_definite(name):
    rng = np.random.default_rng([*name.encode()])
    K = matrix(rng, PATTERNS[name](rng), 1).toarray()
    for bad in (0, len(K) // 2, len(K) - 1):
        for value in (-1.0, np.nan):
            spoiled = K.copy()
            spoiled[bad, bad] = value
            found = sp.csc_array(spoiled)
            assert Cholesky(structure(found)).factorise(found.data) >= 0


@pytest.mark.parametrize("name", PATTERNS)
def test_nodes_are_found_and_dissected(name):
    """Unknowns that are always together are; fronts cover all nodes once, children before parents."""
    rng = np.random.default_rng([*name.encode()])
    K = matrix(rng, PATTERNS[name](rng), 3)
    found = structure(K)
    if K.shape[0] > 3:
        assert found.size == 3
    assert sorted(found.order) == list(range(len(found.order)))
    assert (np.diff(found.ends) > 0).all()
    assert found.ends[-1] == len(found.order)
    parents = found.parents
    assert ((parents == -1) | (parents > np.arange(len(parents)))).all()


def test_separators_of_a_net_are_small():
    """A net of 40 × 40 is cut by lines of 40, not by its diagonals or more."""
    K = matrix(np.random.default_rng(0), lattice(40, 40), 1)
    found = structure(K, size=1)
    top = np.diff(found.ends, prepend=0)[found.parents == -1]
    assert top.sum() <= 45


def operations(found: Structure) -> float:
    pivots, border = (found.size * np.diff(each).astype(float) for each in (np.append(0, found.ends), found.begins))
    return float((pivots**3 / 3 + pivots**2 * border + pivots * border**2).sum())


def test_a_few_rows_across_a_net_cost_little():
    """Short cuts between far corners do not spoil the order of a net."""
    K = matrix(np.random.default_rng(0), lattice(40, 40), 1)
    alone = structure(K, size=1)
    ends = np.array([[i, 1599 - i] for i in range(12)], np.int32)
    rows = np.arange(0, 25, 2, dtype=np.int32), ends.ravel()
    for found in (alone.with_rows(rows), structure(K, rows=rows, size=1)):
        assert found.order is not alone.order
        assert operations(found) < 1.5 * operations(alone)


def test_two_nets_on_each_other_are_cut_across_both():
    """What only rows connect is not cut where they are, between the two."""
    two = sp.block_diag([lattice(20, 20)] * 2, format="csc")
    K = matrix(np.random.default_rng(0), two, 1)
    alone = structure(K, size=1)
    pairs = np.stack([np.arange(400), np.arange(400, 800)], axis=1).astype(np.int32)
    found = alone.with_rows((np.arange(0, 801, 2, dtype=np.int32), pairs.ravel()))
    assert operations(found) < 10 * operations(alone)


@given(st.integers(1, 40), st.floats(0, 0.4), st.integers(0, 2**32 - 1))
def test_any_pattern(n, share, seed):
    rng = np.random.default_rng(seed)
    K = matrix(rng, scattered(rng, n, share), int(rng.integers(1, 4)))
    factor = Cholesky(structure(K))
    assert factor.factorise(K.data) == -1
    right = rng.normal(size=K.shape[0])
    assert np.allclose(K @ factor.solve(right), right, rtol=0, atol=1e-8)


def test_same_bits_every_time():
    rng = np.random.default_rng(1)
    K = matrix(rng, lattice(20, 20), 3)
    right = rng.normal(size=K.shape[0])
    answers = []
    for _ in range(2):
        factor = Cholesky(structure(K))
        factor.factorise(K.data)
        answers.append(factor.solve(right))
    assert (answers[0] == answers[1]).all()


def test_graphs_have_no_loops_and_are_symmetric():
    K = matrix(np.random.default_rng(2), scattered(np.random.default_rng(3), 50, 0.05), 2)
    indptr, indices = K.indptr.astype(np.int32), K.indices.astype(np.int32)
    starts, neighbours = np.zeros(51, np.int64), np.empty(10_000, np.int32)
    none = np.zeros(1, np.int32), np.empty(0, np.int32)
    count = _graph.node_graph(indptr, indices, 2, *none, starts, neighbours)
    pairs = {(i, int(j)) for i in range(50) for j in neighbours[starts[i] : starts[i + 1]]}
    assert len(pairs) == count
    assert all(i != j and (j, i) in pairs for i, j in pairs)
