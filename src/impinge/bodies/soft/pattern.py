"""Who is connected with whom: the pattern of the Hessian, and where each element finds its places in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft._elements import Pattern, Table
from impinge.bodies.soft.parts import Floats, Ints, Parts, Stencils
from impinge.errors import InputError

__all__ = ["compressed", "connect", "tabulate"]

Longs = NDArray[np.int64]


def connect(parts: Parts) -> Pattern:
    """Neighbours of all nodes, by any element, and the constant part of the Hessian, which is that of stencils."""
    count = len(parts.masses)
    pairs = [_pairs(k.nodes, count) for k in (parts.bends, parts.hinges, parts.springs, parts.membranes)]
    keys = np.unique(np.concatenate([np.arange(count) * (count + 1), *pairs]))
    if 9 * len(keys) > np.iinfo(np.int32).max:
        raise InputError(f"parts: found {len(keys)} pairs of connected nodes, more than a matrix can hold")
    # Element by element: so sums are the same for both orders of a pair.
    products = np.concatenate([_products(parts.bends), _products(parts.hinges)])
    places = np.searchsorted(keys, np.concatenate(pairs[:2]))
    constant = np.bincount(places, products, len(keys)).astype(np.float64)
    starts = np.searchsorted(keys, np.arange(count + 1) * count).astype(np.int64)
    neighbours = (keys % max(count, 1)).astype(np.int32)
    return Pattern(_check.frozen(starts), _check.frozen(neighbours), _check.frozen(constant))


def tabulate(nodes: Ints, weights: Floats, rest: Floats, stiffness: Floats, pattern: Pattern) -> Table:
    """Parts of one kind as kernels read them."""
    count = len(pattern.starts) - 1
    uses = np.argsort(nodes.ravel(), kind="stable").astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(nodes.ravel(), minlength=count))]).astype(np.int64)
    places = np.searchsorted(_keys(pattern), _pairs(nodes, count)).reshape(-1, nodes.shape[1])
    slots = (places - pattern.starts[nodes.ravel()][:, None]).astype(np.int32)
    arrays = (nodes, weights, rest, stiffness, starts, uses, slots)
    return Table._make(_check.frozen(np.ascontiguousarray(array)) for array in arrays)


def compressed(pattern: Pattern) -> tuple[Ints, Ints, Ints]:
    """The pattern as that of a matrix of numbers by columns: (indptr, indices, places of the diagonal)."""
    starts, degrees = pattern.starts[:-1], np.diff(pattern.starts)
    nodes = np.arange(len(degrees))
    indptr = np.concatenate([[0], np.cumsum(np.repeat(3 * degrees, 3))])
    rows = (3 * pattern.neighbours[:, None] + np.arange(3)).ravel()
    column_of = np.repeat(nodes, 9 * degrees)
    at = (np.arange(len(column_of)) - 9 * starts[column_of]) % (3 * degrees[column_of])  # the same in three columns
    indices = rows[3 * starts[column_of] + at]
    own = np.searchsorted(_keys(pattern), nodes * (len(nodes) + 1)) - starts
    diagonal = indptr[:-1] + (3 * own[:, None] + np.arange(3)).ravel()
    return indptr.astype(np.int32), indices.astype(np.int32), diagonal.astype(np.int32)


def _pairs(nodes: Ints, count: int) -> Longs:
    """A number, column × count + row, for all pairs of nodes of each element, with themselves and in both orders."""
    wide = nodes.astype(np.int64)
    return (wide[:, :, None] * count + wide[:, None, :]).ravel()


def _keys(pattern: Pattern) -> Longs:
    """The same number for all pairs of the pattern."""
    count = len(pattern.starts) - 1
    keys: Longs = np.repeat(np.arange(count), np.diff(pattern.starts)) * count + pattern.neighbours
    return keys


def _products(stencils: Stencils) -> Floats:
    """Products k wₐ w_b for all pairs of nodes of each stencil."""
    w = stencils.weights
    products: Floats = (stencils.stiffness[:, None, None] * (w[:, :, None] * w[:, None, :])).ravel()
    return products
