"""Elastic energies of cables and cloth over the positions of their nodes, with gradients and Hessians."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from impinge import _check
from impinge.bodies.soft import _elements
from impinge.bodies.soft._potential import Elastic
from impinge.bodies.soft.parts import Edges, Floats, Ints, Membranes, Parts, Springs, Stencils
from impinge.bodies.soft.pattern import compressed, connect, tabulate
from impinge.errors import InputError

__all__ = ["Elements", "Energies", "Measures", "Strains"]

_Kind = TypeVar("_Kind", Edges, Springs, Stencils, Membranes)


class Energies(NamedTuple):
    """Elastic energies by kind, J."""

    stretch: float  # of springs
    bend: float  # of cables
    membrane: float  # stretch and shear of cloth
    hinge: float  # bending of cloth


class Strains(NamedTuple):
    """How much longer than at rest everything is, as a share."""

    edges: Floats  # (m,) l/l₀ − 1 of all edges, those of cables being their springs
    warp: Floats  # (k,) |Fᵤ| − 1 of membranes
    weft: Floats  # (k,) |Fᵥ| − 1
    shear: Floats  # (k,) Fᵤ·Fᵥ


class Measures(NamedTuple):
    """What strains are measured by; it does not change when a body turns."""

    springs: Floats  # (m, 1) lengths, m
    membranes: Floats  # (k, 3) |Fᵤ|, |Fᵥ|, Fᵤ·Fᵥ


class Elements:
    """The elastic energy of soft bodies.

        E(x) = Σ springs k/2 (l − l₀)² + Σ stencils k/2 |Σ w x|²
             + Σ membranes A (kᵤ/2 (|Fᵤ| − 1)² + kᵥ/2 (|Fᵥ| − 1)² + kₛ/2 (Fᵤ·Fᵥ)²)

    Results do not depend on the number of threads.

    Parameters
    ----------
    parts : Parts
        Of one body, or several as `join` puts them together.

    Attributes
    ----------
    count : int
        Number of nodes n.
    indptr, indices : (3 n + 1,) and (nnz,) int32
        Pattern of the Hessian, in compressed columns with ascending rows: 3 × 3 blocks of all nodes and of all pairs
        that share an element. The three columns of a node have the same rows.
    diagonal : (3 n,) int32
        Where the diagonal is among the values.
    arrays : Elastic
        All of it, for kernels.
    pieces : int
        In how many pieces energies are summed up.
    stiffest : float, N/m
        No diagonal entry of the Hessian is larger where nothing is longer than at rest.
    """

    def __init__(self, parts: Parts) -> None:
        self.count = len(parts.masses)
        kinds = [_read(name, getattr(parts, name), self.count) for name in Parts._fields[1:]]
        parts = Parts._make([parts.masses, *kinds])
        self._edges = parts.edges
        self._pattern = connect(parts)
        springs, membranes = parts.springs, parts.membranes
        weights, areas = _rest_weights(membranes)
        lengths, stiffness = springs.rest[:, None], springs.stiffness[:, None]
        self._springs = tabulate(springs.nodes, np.empty((len(lengths), 0)), lengths, stiffness, self._pattern)
        rest, stiffness = np.tile([1.0, 1.0, 0.0], (len(areas), 1)), membranes.stiffness * areas[:, None]
        self._membranes = tabulate(membranes.nodes, weights, rest, stiffness, self._pattern)
        self._bends, self._hinges = (
            tabulate(kind.nodes, kind.weights, np.empty((len(kind.nodes), 0)), kind.stiffness[:, None], self._pattern)
            for kind in (parts.bends, parts.hinges)
        )
        self.indptr, self.indices, self.diagonal = (_check.frozen(array) for array in compressed(self._pattern))
        tables = self._springs, self._membranes, self._bends, self._hinges
        self.arrays = Elastic(self.indptr, self.indices, self.diagonal, self._pattern, *tables)
        self.stiffest = self._find_stiffest(parts)
        longest = max(len(nodes) for nodes in (parts.masses, *(kind.nodes for kind in kinds)))
        self.pieces = -(-longest // _elements.PIECE)

    def _find_stiffest(self, parts: Parts) -> float:
        own = self._pattern.constant[
            self._pattern.neighbours == np.repeat(np.arange(self.count), np.diff(self._pattern.starts))
        ]
        total = own.copy()
        springs, membranes = parts.springs, self._membranes
        np.add.at(total, springs.nodes, springs.stiffness[:, None])
        weights = (membranes.weights.reshape(-1, 3, 2) ** 2).sum(axis=2)
        np.add.at(total, membranes.nodes, weights * membranes.stiffness.sum(axis=1)[:, None])
        return float(total.max(initial=0.0))

    def energies(self, x: Any) -> Energies:
        """Energies by kind, J, at positions (n, 3)."""
        x = self._positions(x)
        return Energies(
            _total(_elements.sum_springs, x, self._springs),
            _total(_elements.sum_stencils, x, self._bends),
            _total(_elements.sum_membranes, x, self._membranes),
            _total(_elements.sum_stencils, x, self._hinges),
        )

    def energy(self, x: Any) -> float:
        """All elastic energy, J, at positions (n, 3)."""
        return sum(self.energies(x))

    def gradient(self, x: Any, out: Floats | None = None) -> Floats:
        """∂E/∂x at positions (n, 3), the negative of the forces, N: (n, 3), into `out` if it is given."""
        x = self._positions(x)
        out = _result("out", out, (self.count, 3))
        _elements.fill_gradient(self.count, x, self._pattern, self._springs, self._membranes, out)
        return out

    def hessian(self, x: Any, data: Floats | None = None, *, keep: float = 0.0) -> Floats:
        """∂²E/∂x² at positions (n, 3) without what is negative of it, N/m: (nnz,) values, into `data` if given.

        It is positive semi-definite but for rounding, and symmetric to the last bit. It is exact where no spring or
        membrane is pressed together along its length, warp or weft, and tension prevails over shear: where, with
        Tᵤ = kᵤ (1 − 1/|Fᵤ|) and Tᵥ likewise, Tᵤ Tᵥ ≥ (kₛ Fᵤ·Fᵥ)². Elsewhere the negative part of what is due to the
        turning of elements is left out, or a share of it kept: all of it with keep = 1.
        """
        x = self._positions(x)
        data = _result("data", data, self.indices.shape)
        _elements.fill_hessian(self.count, x, self._pattern, self._springs, self._membranes, float(keep), data)
        return data

    def strains(self, x: Any) -> Strains:
        """Strains of edges and membranes at positions (n, 3)."""
        x = self._positions(x)
        nodes, rest = self._edges
        membranes = self._measure_membranes(x) - [1.0, 1.0, 0.0]
        return Strains(_lengths(x, nodes)[:, 0] / rest - 1.0, *membranes.T)

    def measures(self, x: Any) -> Measures:
        """What strains of springs and membranes are measured by, at positions (n, 3)."""
        x = self._positions(x)
        return Measures(_lengths(x, self._springs.nodes), self._measure_membranes(x))

    def _measure_membranes(self, x: Floats) -> Floats:
        found = np.empty((len(self._membranes.nodes), 3))
        _elements.measure_membranes(len(found), x, self._membranes.nodes, self._membranes.weights, found)
        return found

    def _positions(self, x: Any) -> Floats:
        # May be not finite: a step that went too far has to be seen by its energy.
        positions = _check.vectors("x", x, must_be_finite=False)
        if len(positions) != self.count:
            raise InputError(f"x: found {len(positions)} rows, expected {self.count}, one for each node")
        return positions


def _total(kernel: Any, x: Floats, table: _elements.Table) -> float:
    """Sum of energies; each piece is summed up by one thread, so it does not matter how many there are."""
    sums = np.zeros(-(-len(table.nodes) // _elements.PIECE))
    kernel(len(sums), x, table, sums)
    return float(sums.sum())


def _lengths(x: Floats, nodes: Ints) -> Floats:
    """Distances of two nodes each, (m, 1)."""
    found = np.empty((len(nodes), 1))
    _elements.measure_lengths(len(found), x, nodes, found)
    return found


def _result(name: str, out: Floats | None, shape: tuple[int, ...]) -> Floats:
    if out is None:
        return np.empty(shape)
    if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous or not out.flags.writeable:
        raise InputError(f"{name}: found {out.dtype} of shape {out.shape}, expected writable float64 of shape {shape}")
    return out


def _rest_weights(membranes: Membranes) -> tuple[Floats, Floats]:
    """(m, 6) weights w of F = Σ xₐ wₐᵀ, and areas at rest."""
    first, second = (membranes.rest[:, a] - membranes.rest[:, 0] for a in (1, 2))
    twice = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    bad = np.flatnonzero(~((np.abs(twice) > 0) & (np.abs(twice) < np.inf)))
    if len(bad):
        raise InputError(f"membranes.rest: row {bad[0]} has an area of {0.5 * abs(twice[bad[0]]):g} m²")
    weights = np.empty((len(twice), 3, 2))
    weights[:, 1] = np.column_stack([second[:, 1], -second[:, 0]]) / twice[:, None]
    weights[:, 2] = np.column_stack([-first[:, 1], first[:, 0]]) / twice[:, None]
    weights[:, 0] = -(weights[:, 1] + weights[:, 2])
    return weights.reshape(-1, 6), 0.5 * np.abs(twice)


def _read(name: str, kind: _Kind, count: int) -> _Kind:
    """One kind of parts, with arrays that fit together, read-only."""
    nodes = _check.indices(f"{name}.nodes", kind.nodes, kind.nodes.shape[1], count, "the nodes")
    ordered = np.sort(nodes, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(bad):
        row = ", ".join(map(str, nodes[bad[0]]))
        raise InputError(f"{name}.nodes: row {bad[0]} is ({row}), expected different nodes")
    numbers: list[Floats] = []
    for field in kind._fields[1:]:
        least = 0.0 if field == "stiffness" else -np.inf
        array = np.ascontiguousarray(getattr(kind, field), np.float64)
        if len(array) != len(nodes) or not ((array >= least) & (np.abs(array) < np.inf)).all():
            wanted = "finite numbers" + (" of at least 0" if least == 0 else "")
            raise InputError(f"{name}.{field}: found shape {array.shape}, expected {len(nodes)} rows of {wanted}")
        numbers.append(_check.frozen(array))
    return type(kind)._make([_check.frozen(nodes), *numbers])
