"""Kernels: quadratic programs whose unknowns are coupled with near ones only, as those of cables."""

import numpy as np
from numpy import uint64

from impinge._jit import kernel
from impinge._lanes import LANES, load, store
from impinge.response.qp._points import FACTORISE, STUCK, advance, begin


@kernel
def bandwidth(indptr, indices, row_ptr, row_indices):
    """Largest distance of unknowns that K or a row couples; columns of K, which is symmetric, are sorted."""
    widest = 0
    for j in range(len(indptr) - 1):
        if indptr[j] < indptr[j + 1]:
            widest = max(widest, indices[indptr[j + 1] - 1] - j)
    for k in range(len(row_ptr) - 1):
        low = high = row_indices[row_ptr[k]] if row_ptr[k] < row_ptr[k + 1] else 0
        for e in range(row_ptr[k], row_ptr[k + 1]):
            low, high = min(low, row_indices[e]), max(high, row_indices[e])
        widest = max(widest, high - low)
    return widest


def room(unknowns, width):
    """An array for matrices with couplings up to `width`: entry (j + i, j) at [j, i], then zeros for whole vectors."""
    return np.empty((unknowns, width + LANES))


@kernel
def assemble(indptr, indices, values, band):
    """The lower half of K, whose columns are sorted."""
    band[:] = 0.0
    for j in range(len(indptr) - 1):
        e = indptr[j + 1] - 1
        while e >= indptr[j] and indices[e] >= j:
            band[j, indices[e] - j] = values[e]
            e -= 1


@kernel
def add_products(row_ptr, row_indices, factors, weights, band):
    """Add Jᵀ W J."""
    for k in range(len(weights)):
        weight = weights[k]
        if weight != 0.0:
            for p in range(row_ptr[k], row_ptr[k + 1]):
                for q in range(p, row_ptr[k + 1]):
                    low, high = row_indices[p], row_indices[q]
                    band[min(low, high), abs(high - low)] += weight * factors[p] * factors[q]


@kernel
def factorise(band):
    """L D Lᵀ in place: L D below the diagonal, D⁻¹ on it.

    Returns −1, or the first unknown at which the matrix is not positive definite.
    """
    n, stride = band.shape
    flat, wide = band.reshape(-1), stride - (LANES - 1)
    for j in range(n):
        own = uint64(stride * j)
        if not flat[own] > 0.0:
            return j
        inverse = 1.0 / flat[own]
        flat[own] = inverse
        for i in range(1, min(wide, n - j)):
            to, below = uint64(stride * (j + i)), own + uint64(i)
            factor = inverse * flat[below]
            for k in range(0, wide - i, LANES):
                store(flat, to + uint64(k), load(flat, to + uint64(k)) - load(flat, below + uint64(k)) * factor)
    return -1


@kernel
def solve(band, x):
    """H⁻¹ x, in place."""
    n, wide = band.shape[0], band.shape[1] - (LANES - 1)
    for j in range(n):
        value = x[j] * band[j, 0]
        for i in range(1, min(wide, n - j)):
            x[j + i] -= band[j, i] * value
    for j in range(n - 1, -1, -1):
        value = x[j]
        for i in range(1, min(wide, n - j)):
            value -= band[j, i] * x[j + i]
        x[j] = value * band[j, 0]


@kernel
def solve_banded(program, free, soft, state, tol, x, mu, s, y, active, rest, plain, band):
    """Solve the program; returns what `advance` said last. plain : K alone, assembled; band : room for another."""
    _, _, _, _, row_ptr, row_indices, factors, _, _, _ = program
    begin(program, free, soft, x, mu, s, y, active, rest)
    code, step, weights = FACTORISE, np.empty(len(x)), np.empty(len(soft))
    while code <= FACTORISE:
        if code == FACTORISE:
            for k in range(len(soft)):
                weights[k] = 1.0 / soft[k] if active[k] else 0.0
            band[:] = plain
            add_products(row_ptr, row_indices, factors, weights, band)
            if factorise(band) >= 0:
                return STUCK
        step[:] = rest
        solve(band, step)
        code = advance(program, free, soft, state, tol, x, mu, s, y, active, rest, step)
    return code
