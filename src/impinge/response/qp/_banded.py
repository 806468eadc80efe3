"""Kernels: quadratic programs whose unknowns are coupled with near ones only, as those of cables."""

import numpy as np

from impinge._jit import kernel
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


@kernel
def factorise(indptr, indices, values, row_ptr, row_indices, factors, weights, band):
    """L of K + Jᵀ W J, L(j + i, j) in band[j, i] and 1/L(j, j) in band[j, 0].

    Returns −1, or the first unknown at which the matrix is not positive definite.
    """
    n, wide = len(indptr) - 1, band.shape[1]
    band[:] = 0.0
    for j in range(n):
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] >= j:
                band[j, indices[e] - j] = values[e]
    for k in range(len(weights)):
        weight = weights[k]
        if weight != 0.0:
            for p in range(row_ptr[k], row_ptr[k + 1]):
                for q in range(p, row_ptr[k + 1]):
                    low, high = row_indices[p], row_indices[q]
                    band[min(low, high), abs(high - low)] += weight * factors[p] * factors[q]
    for j in range(n):
        if not band[j, 0] > 0.0:
            return j
        scale = 1.0 / np.sqrt(band[j, 0])
        band[j, 0] = scale
        for i in range(1, wide):
            band[j, i] *= scale
        for i in range(1, min(wide, n - j)):
            factor = band[j, i]
            for k in range(wide - i):
                band[j + i, k] -= factor * band[j, i + k]
    return -1


@kernel
def solve(band, x):
    """H⁻¹ x, in place."""
    n, wide = band.shape
    for j in range(n):
        x[j] *= band[j, 0]
        for i in range(1, min(wide, n - j)):
            x[j + i] -= band[j, i] * x[j]
    for j in range(n - 1, -1, -1):
        value = x[j]
        for i in range(1, min(wide, n - j)):
            value -= band[j, i] * x[j + i]
        x[j] = value * band[j, 0]


@kernel
def solve_banded(program, free, soft, state, tol, x, mu, s, y, active, rest, band):
    """Solve the program; returns what `advance` said last."""
    indptr, indices, values, _, row_ptr, row_indices, factors, _, _, _ = program
    begin(program, free, soft, x, mu, s, y, active, rest)
    code, step, weights = FACTORISE, np.empty(len(x)), np.empty(len(soft))
    while code <= FACTORISE:
        if code == FACTORISE:
            for k in range(len(soft)):
                weights[k] = 1.0 / soft[k] if active[k] else 0.0
            if factorise(indptr, indices, values, row_ptr, row_indices, factors, weights, band) >= 0:
                return STUCK
        step[:] = rest
        solve(band, step)
        code = advance(program, free, soft, state, tol, x, mu, s, y, active, rest, step)
    return code
