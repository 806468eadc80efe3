"""Sparse positive definite systems: order, factorise, solve."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.sparse import _factor, _fronts, _graph, _solve
from impinge.sparse.tree import cut

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

_LEAF = 48  # unknowns of parts that are not dissected any more
_LARGE = 1_000_000  # numbers of a factor, from which on threads share in solving
_NO_ROWS = _check.frozen(np.zeros(1, np.int32)), _check.frozen(np.empty(0, np.int32))
_NO_PAIRS = np.empty((0, 3), np.int32), np.empty(0, np.int32)


class Structure:
    """Where everything goes in a factorisation of matrices with one pattern: order of elimination and fronts.

    Parameters
    ----------
    indptr, indices : int32
        Columns of a matrix with a symmetric pattern; their rows sorted.
    rows : (indptr, indices) int32, optional
        Rows of J: products of their entries can be added to the matrix, H = K + Jᵀ W J.
    size : int, optional
        Unknowns that are always together, as 3 for points in space; without it found from the pattern.
    like : Structure, optional
        Of the same matrix with other rows, from which it is known where nodes are.
    """

    def __init__(
        self,
        indptr: Ints,
        indices: Ints,
        *,
        rows: tuple[Ints, Ints] | None = None,
        size: int | None = None,
        like: Structure | None = None,
    ) -> None:
        indptr, indices = _check.frozen(indptr), _check.frozen(indices)
        self.indptr, self.indices = indptr, indices
        self.n = len(indptr) - 1
        self.size = _find_size(indptr, indices) if size is None else size
        self.rows = _NO_ROWS if rows is None else (_check.frozen(rows[0]), _check.frozen(rows[1]))
        nodes = self.n // self.size
        starts, neighbours = self._graph(self.rows)
        # Where the matrix alone puts its nodes: rows are short cuts, which would fold up what is plane.
        self._embedding: tuple[Floats, bool] = _embed(*self._graph(_NO_ROWS)) if like is None else like._embedding
        points, is_connected = self._embedding
        if rows is not None and not is_connected:
            points = np.hstack([points, _embed(starts, neighbours)[0]])
        self.order, ends, parents = (np.empty(nodes, np.int32) for _ in range(3))
        leaf = max(_LEAF // self.size, 1)
        fronts = _graph.dissect(starts, neighbours, points, leaf, self.order, ends, parents)
        self.ends, self.parents = ends[:fronts].copy(), parents[:fronts].copy()
        self.place = np.empty(nodes, np.int32)
        self.place[self.order] = np.arange(nodes, dtype=np.int32)
        self._edges = len(neighbours)
        self._lay_out(starts, neighbours)

    def with_rows(self, rows: tuple[Ints, Ints]) -> Structure:
        """The structure for other rows: the same order, if they couple nothing that is not coupled already."""
        nodes = self.n // self.size
        pattern = self.indptr, self.indices, self.size, _check.frozen(rows[0]), _check.frozen(rows[1])
        room = _graph.node_graph(*pattern, np.zeros(nodes + 1, np.int64), np.empty(self._edges, np.int32))
        if room > self._edges:
            return Structure(self.indptr, self.indices, rows=rows, size=self.size, like=self)
        result = copy.copy(self)
        result.rows = _check.frozen(rows[0]), _check.frozen(rows[1])
        result._place_rows()
        return result

    def _graph(self, rows: tuple[Ints, Ints]) -> tuple[Longs, Ints]:
        starts, room = np.zeros(self.n // self.size + 1, np.int64), len(self.indices) // self.size
        while True:
            neighbours = np.empty(room, np.int32)
            room = _graph.node_graph(self.indptr, self.indices, self.size, *rows, starts, neighbours)
            if room <= len(neighbours):
                return starts, neighbours[:room]

    def _lay_out(self, starts: Longs, neighbours: Ints) -> None:
        fronts = len(self.ends)
        self.begins, self.borders = _fronts.find_borders(starts, neighbours, self.order, self.ends, self.parents)
        self.lifts = np.empty(len(self.borders), np.int32)
        self.panels, self.places = np.zeros(fronts + 1, np.int64), np.zeros(fronts, np.int64)
        self.tree = cut(self.size, self.ends, self.parents, self.begins)
        known = self.size, self.ends, self.parents, self.begins, self.borders, self.tree.pieces
        self.room = _fronts.lay_out(*known, self.lifts, self.panels, self.places)
        self.counts = np.zeros(fronts + 1, np.int64)
        sources, targets = np.empty(len(self.indices), np.int32), np.empty(len(self.indices), np.int32)
        shape = self.size, self.order, self.ends, self.begins, self.borders
        used = _fronts.place_entries(self.indptr, self.indices, *shape, self.counts, sources, targets)
        self.sources, self.targets = sources[:used], targets[:used]
        self._place_rows()

    def _place_rows(self) -> None:
        self.pair_counts = np.zeros(len(self.ends) + 1, np.int64)
        self.pairs, self.pair_targets = _NO_PAIRS
        if len(self.rows[0]) > 1:
            lengths = np.diff(self.rows[0]).astype(np.int64)
            count = int((lengths * (lengths + 1)).sum()) // 2
            self.pairs, self.pair_targets = np.empty((count, 3), np.int32), np.empty(count, np.int32)
            shape = self.size, self.order, self.ends, self.begins, self.borders
            _fronts.place_pairs(*self.rows, *shape, self.pair_counts, self.pairs, self.pair_targets)

    @property
    def permutation(self) -> Longs:
        """The unknowns in the order of elimination."""
        return (self.size * self.order[:, None].astype(np.int64) + np.arange(self.size)).ravel()


def _embed(starts: Longs, neighbours: Ints) -> tuple[Floats, bool]:
    """Places of the nodes of a graph, and whether it is connected."""
    places = np.zeros((len(starts) - 1, _graph.TRIED))
    return places, bool(_graph.embed(starts, neighbours, places) <= 1)


def _find_size(indptr: Ints, indices: Ints) -> int:
    """How many unknowns are always together: 3, 2 or 1."""
    n = len(indptr) - 1
    for size in (3, 2):
        if n % size == 0 and n > size:
            room = np.empty(0, np.int32)
            edges = _graph.node_graph(indptr, indices, size, *_NO_ROWS, np.zeros(n // size + 1, np.int64), room)
            if size * size * (edges + n // size) <= 1.5 * len(indices):
                return size
    return 1


class Cholesky:
    """The factor L of H = K + Jᵀ W J with a structure; factorise again and again with other values."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        panel, even, odd = structure.room
        self._panel = np.empty(panel + 16)
        self._rests = np.empty(even + 16), np.empty(odd + 16)
        self._permutation = structure.permutation

    def factorise(self, values: Floats, factors: Floats | None = None, weights: Floats | None = None) -> int:
        """Factorise; returns −1, or an unknown at which the matrix turns out not to be positive definite."""
        s, tree = self.structure, self.structure.tree
        nothing = np.empty(0)
        arguments = (
            s.size, s.ends, s.parents, s.begins, s.lifts, s.panels, s.places, tree.odds, tree.children, tree.siblings,
            s.counts, s.sources, s.targets, _check.frozen(values), s.pair_counts, s.pairs, s.pair_targets,
            _check.frozen(nothing if factors is None else factors), nothing if weights is None else weights,
            self._panel, *self._rests,
        )  # fmt: skip
        failed = np.full(len(tree.starts) - 2, -1, np.int64)
        _factor.factorise_pieces(len(failed), np.zeros(1, np.int64), failed, tree.starts, tree.fronts, *arguments)
        bad = failed[failed >= 0].min(initial=np.iinfo(np.int64).max)
        if bad == np.iinfo(np.int64).max:
            bad = _factor.factorise_some(tree.fronts[tree.starts[-2] :], *arguments)
        return -1 if bad < 0 else int(self._permutation[bad])

    def solve(self, right: Floats) -> Floats:
        """H⁻¹ times a vector."""
        s, tree, x = self.structure, self.structure.tree, right[self._permutation]
        arguments = (
            s.size, s.ends, s.begins, s.borders, s.lifts, s.panels, tree.children, tree.siblings, self._panel, x,
            np.empty(s.size * len(s.borders)),
        )  # fmt: skip
        pieces = len(tree.starts) - 2 if len(self._panel) > _LARGE else 0
        shared = pieces, tree.starts, tree.fronts, *arguments
        _solve.solve_pieces(pieces, np.zeros(1, np.int64), False, *shared)
        _solve.solve(tree.fronts[tree.starts[-2] if pieces else 0 :], *arguments)
        _solve.solve_pieces(pieces, np.zeros(1, np.int64), True, *shared)
        result = np.empty_like(x)
        result[self._permutation] = x
        return result

    def half_solver(self) -> tuple[int, Ints, Ints, Ints, Longs, Ints, Longs, Floats]:
        """What the kernels of `_solve` need to know about the factor."""
        s = self.structure
        return s.size, s.place, s.ends, s.parents, s.begins, s.borders, s.panels, self._panel


class Gram:
    """J H⁻¹ Jᵀ of a growing set of rows of J, dense.

    Rows are kept in sets of 16, filled up with −1: `rows` says which row each of `len(rows)` slots has. `squares` holds
    the product, negative, in the layout of `_panels`.
    """

    def __init__(self, factor: Cholesky, indptr: Ints, indices: Ints, values: Floats) -> None:
        self._factor = factor
        self._matrix = _check.frozen(indptr), _check.frozen(indices), _check.frozen(values)
        self.rows = np.empty(0, np.int32)
        self.squares = np.empty(0)
        self._starts, self._kept = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._segments, self._half = np.empty((0, 3), np.int64), np.empty(0)

    @property
    def diagonal(self) -> Floats:
        """Of the squares, in the order of the slots."""
        slot = np.arange(len(self.rows))
        return self.squares[128 * (slot // 16) * (slot // 16 + 3) + 17 * (slot % 16)]

    def part(self, slots: Longs) -> Floats:
        """J H⁻¹ Jᵀ of some slots, sorted."""
        i, j = np.maximum(slots[:, None], slots), np.minimum(slots[:, None], slots)
        return -self.squares[128 * (i // 16) * (i // 16 + 1) + 256 * (j // 16) + 16 * (j % 16) + i % 16]

    def add(self, rows: Ints) -> None:
        """Add rows that are not in it yet."""
        structure = self._factor.structure
        indptr, indices, _ = self._matrix
        lead = structure.place[indices[np.minimum(indptr[rows], len(indices) - 1)] // structure.size]
        filled = np.full(-(-len(rows) // 16) * 16, -1, np.int32)
        filled[: len(rows)] = rows[np.argsort(lead, kind="stable")]
        new, old = len(filled) // 16, len(self._starts) - 1
        solver = self._factor.half_solver()
        starts, kept = np.empty(new + 1, np.int64), np.empty(new + 1, np.int64)
        starts[0], kept[0] = self._starts[-1], self._kept[-1]
        _solve.count_reach(solver[0], solver[1], solver[2], solver[3], indptr, indices, filled, starts, kept)
        self._segments = _longer(self._segments, int(kept[-1]))
        self._half = _longer(self._half, 16 * int(starts[-1]))
        _solve.half_solve(*solver, *self._matrix, filled, starts, kept, self._segments, self._half)
        self._starts, self._kept = np.append(self._starts, starts[1:]), np.append(self._kept, kept[1:])
        sets = old + new
        squares = np.zeros(128 * sets * (sets + 1))
        squares[: len(self.squares)] = self.squares
        _solve.multiply_halves(old, self._kept, self._segments, self._half, squares)
        self.squares = squares
        self.rows = np.append(self.rows, filled)


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The same array with more rows; their values do not matter."""
    result = np.empty((length, *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result
