"""Kernels: products with sparse matrices, and residuals of quadratic programs."""

import numpy as np

from impinge._jit import kernel

_SHORT = 64  # entries of a row


@kernel
def largest(values):
    """The largest of some numbers, whatever their sign; nan if one of them is not finite."""
    found, rest = 0.0, 0.0
    for value in values:
        found = max(found, abs(value))
        rest += value - value  # 0, or nan
    return found + rest


@kernel
def times_symmetric(indptr, indices, values, x, out):
    """Out = K x."""
    for j in range(len(x)):
        value = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            value += values[e] * x[indices[e]]
        out[j] = value


@kernel
def values_of_rows(indptr, indices, values, bounds, x, out):
    """Out = J x − c."""
    for k in range(len(bounds)):
        value = -bounds[k]
        for e in range(indptr[k], indptr[k + 1]):
            value += values[e] * x[indices[e]]
        out[k] = value


@kernel
def add_rows(indptr, indices, values, y, factor, out):
    """Out += factor Jᵀ y."""
    for k in range(len(y)):
        if y[k] != 0.0:
            for e in range(indptr[k], indptr[k + 1]):
                out[indices[e]] += factor * y[k] * values[e]


@kernel
def find_empty(indptr, values, out):
    """Which rows have no entries but zeros."""
    for k in range(len(out)):
        out[k] = True
        for e in range(indptr[k], indptr[k + 1]):
            if values[e] != 0.0:
                out[k] = False


@kernel
def energy_size(roots, x):
    """The largest √K_jj |x_j|: the size of unknowns whatever their units."""
    largest = 0.0
    for j in range(len(x)):
        largest = max(largest, roots[j] * abs(x[j]))
    return largest


@kernel
def sizes_of_unknowns(roots, least, x, out):
    """The sizes of unknowns: at most the largest |x| and what the largest √K_jj |x_j| makes of it.

    roots : √K_jj; least : the largest √K_jj |x_j|, if they are smaller
    """
    energy, largest = max(energy_size(roots, x), least), 0.0
    for j in range(len(x)):
        largest = max(largest, abs(x[j]))
    for j in range(len(x)):
        out[j] = min(max(largest, least / roots[j]), energy / roots[j])


@kernel
def scales_of_row(indices, values, bound, x, sizes, first, stop):
    """What the value of a row is compared with: the larger of |c| and Σ |J x|, and √(Σ J² size²) of its unknowns."""
    total = square = 0.0
    for e in range(first, stop):
        total += abs(values[e] * x[indices[e]])
        square += (values[e] * sizes[indices[e]]) ** 2
    return max(abs(bound), total, 1e-300), np.sqrt(square)


@kernel
def take_roots(indptr, indices, values, right, out):
    """√K_jj, or 1 where it is not positive, which the factorisation will find; the largest |b_j| / √K_jj."""
    largest = 0.0
    for j in range(len(out)):
        out[j] = 1.0
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] == j:
                if values[e] > 0.0:
                    out[j] = np.sqrt(values[e])
                break
        largest = max(largest, abs(right[j]) / out[j])
    return largest


@kernel
def is_symmetric(indptr, indices, values, size, most):
    """Whether K is its own transpose, but for `most` of √(K_ii K_jj), with the same pattern; columns are sorted."""
    place = np.empty(size, np.int64)  # of the next entry below the diagonal that has to have a partner
    roots = np.empty(size)  # √K_jj
    waiting = 0
    for j in range(size):
        e = indptr[j]
        while e < indptr[j + 1] and indices[e] < j:
            e += 1
        has_diagonal = e < indptr[j + 1] and indices[e] == j
        roots[j] = np.sqrt(abs(values[e])) if has_diagonal else 0.0
        for above in range(indptr[j], e):
            i = indices[above]
            if place[i] >= indptr[i + 1] or indices[place[i]] != j:
                return False
            if not abs(values[place[i]] - values[above]) <= most * roots[i] * roots[j]:
                return False
            place[i] += 1
            waiting -= 1
        place[j] = e + 1 if has_diagonal else e
        waiting += indptr[j + 1] - place[j]
    return waiting == 0


@kernel
def sort_rows(indptr, indices, values):
    """Sort the entries of each row by their columns, in place; whether no column is there twice.

    For short rows: SciPy takes as long as a whole solution with many of these, and is left to sort longer ones.
    """
    for k in range(len(indptr) - 1):
        if indptr[k + 1] - indptr[k] > _SHORT:
            return False
        for e in range(indptr[k] + 1, indptr[k + 1]):
            column, value, at = indices[e], values[e], e
            while at > indptr[k] and indices[at - 1] > column:
                indices[at], values[at] = indices[at - 1], values[at - 1]
                at -= 1
            indices[at], values[at] = column, value
        for e in range(indptr[k] + 1, indptr[k + 1]):
            if indices[e] == indices[e - 1]:
                return False
    return True


@kernel
def asymmetry(indptr, indices, values, size):
    """Largest difference of K and its transpose relative to √(K_ii K_jj): (difference, row, column, same pattern).

    Rows are sorted in each column.
    """
    place = indptr[:-1].copy()
    worst, at_row, at_column, same = 0.0, -1, -1, True
    diagonal = np.zeros(size)
    for j in range(size):
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] == j:
                diagonal[j] = abs(values[e])
    for j in range(size):  # columns in order: partners (j, i) come in the order of j in each column i
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            while place[i] < indptr[i + 1] and indices[place[i]] < j:  # without partner; seen from its own column
                place[i] += 1
            partner = 0.0
            if place[i] < indptr[i + 1] and indices[place[i]] == j:
                partner = values[place[i]]
            else:
                same = False
            if partner != values[e]:
                scale = np.sqrt(diagonal[i] * diagonal[j])
                difference = abs(partner - values[e]) / scale if scale > 0.0 else np.inf
                if difference > worst:
                    worst, at_row, at_column = difference, i, j
    return worst, at_row, at_column, same


@kernel
def fix(indptr, indices, values, fixed, x, right, out):
    """K without the rows and columns of fixed unknowns, but for their diagonal, and the right side that is left."""
    for j in range(len(x)):
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            out[e] = values[e]
            if i != j and (fixed[i] or fixed[j]):
                out[e] = 0.0
                if fixed[j] and not fixed[i]:
                    right[i] -= values[e] * x[j]
    for j in range(len(x)):
        if fixed[j]:
            right[j] = 0.0


@kernel
def fix_rows(indptr, indices, values, fixed, x, bounds, out):
    """J without the columns of fixed unknowns, and the bounds that are left."""
    for k in range(len(bounds)):
        for e in range(indptr[k], indptr[k + 1]):
            out[e] = values[e]
            if fixed[indices[e]]:
                bounds[k] -= values[e] * x[indices[e]]
                out[e] = 0.0


@kernel
def find_worst(indptr, indices, measured, most, out):
    """Mark rows that are violated more than all others at one of their unknowns.

    measured : by how much, in the sizes of rows; not positive for rows that are left out
    most : scratch, as many as there are unknowns
    """
    most[:] = 0.0
    for k in range(len(measured)):
        for e in range(indptr[k], indptr[k + 1]) if measured[k] > 0.0 else range(0):
            most[indices[e]] = max(most[indices[e]], measured[k])
    for k in range(len(measured)):
        out[k] = False
        for e in range(indptr[k], indptr[k + 1]) if measured[k] > 0.0 else range(0):
            if measured[k] >= most[indices[e]]:
                out[k] = True
