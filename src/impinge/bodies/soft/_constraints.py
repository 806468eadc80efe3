"""Kernels: rows over the free coordinates of soft nodes; what is given of the end of a step goes into their base."""

import numpy as np

from impinge._jit import kernel


@kernel
def _fill(corners, weights, direction, fixed, start, end, k, has_zeros, count, indices, values):
    """Row k, n · Σ w Δ over the coordinates that are free; returns where it ends, and the value of what is given.

    has_zeros : whether entries are kept where they are 0
    """
    given = 0.0
    for c in range(4):
        node, weight = corners[k, c], weights[k, c]
        if weight != 0.0:
            for axis in range(3):
                value = weight * direction[axis]
                if node >= len(fixed) or fixed[node, axis]:
                    given += value * (end[node, axis] - start[node, axis])
                elif has_zeros or value != 0.0:
                    indices[count] = 3 * node + axis
                    values[count] = value
                    count += 1
    return count, given


@kernel
def contact_rows(corners, gaps, targets, fixed, start, end):
    """Rows n · Σ w x − target ≥ 0: (indptr, indices, values, base)."""
    weights, normals, distances = gaps
    rows = len(corners)
    indptr, base = np.zeros(rows + 1, np.int32), np.empty(rows)
    indices, values = np.empty(12 * rows, np.int32), np.empty(12 * rows)
    count = 0
    for k in range(rows):
        count, given = _fill(corners, weights, normals[k], fixed, start, end, k, False, count, indices, values)
        indptr[k + 1] = count
        base[k] = distances[k] - targets[k] + given
    return indptr, indices[:count], values[:count], base


@kernel
def slip_rows(corners, gaps, rows, fixed, start, end):
    """Two rows t · Σ w Δ along tangents t of each of the first contacts: (indptr, indices, values, base)."""
    weights, normals, _ = gaps
    indptr, base = np.zeros(2 * rows + 1, np.int32), np.empty(2 * rows)
    indices, values = np.empty(24 * rows, np.int32), np.empty(24 * rows)
    one, two = np.empty(3), np.empty(3)
    count = 0
    for k in range(rows):
        n = normals[k]
        least = np.argmin(np.abs(n))
        for axis in range(3):
            one[axis] = (1.0 if axis == least else 0.0) - n[least] * n[axis]
        one /= np.sqrt((one * one).sum())
        for axis in range(3):
            two[axis] = n[(axis + 1) % 3] * one[(axis + 2) % 3] - n[(axis + 2) % 3] * one[(axis + 1) % 3]
        for side in range(2):
            tangent = one if side == 0 else two  # both rows have the same pattern
            count, given = _fill(corners, weights, tangent, fixed, start, end, k, True, count, indices, values)
            base[2 * k + side] = given
            indptr[2 * k + side + 1] = count
    return indptr, indices[:count], values[:count], base


@kernel
def user_rows(linear, fixed, start, end):
    """Rows A x − bound: (indptr, indices, values, base)."""
    indptr, indices, values, bounds, _ = linear
    out_ptr, base = np.zeros(len(bounds) + 1, np.int32), np.empty(len(bounds))
    out_indices, out = np.empty(len(indices), np.int32), np.empty(len(indices))
    count = 0
    for k in range(len(bounds)):
        total = -bounds[k]
        for e in range(indptr[k], indptr[k + 1]):
            j = indices[e]
            total += values[e] * (end[j] if fixed[j] else start[j])
            if not fixed[j] and values[e] != 0.0:
                out_indices[count] = j
                out[count] = values[e]
                count += 1
        out_ptr[k + 1] = count
        base[k] = total
    return out_ptr, out_indices[:count], out[:count], base


@kernel
def add_pushes(corners, weights, forces, normals, friction, out):
    """Add to the first vertices, as many as `out` has, what contacts push them with."""
    for k in range(len(forces)):
        for c in range(4):
            if corners[k, c] < len(out):
                for axis in range(3):
                    push = forces[k] * normals[k, axis] + friction[k, axis]
                    out[corners[k, c], axis] += weights[k, c] * push
