"""Kernels: the quadratic program in the space of its unknowns, by Newton's method on the proximal augmented Lagrangian.

    φ(x) = ½ xᵀKx − bᵀx + Σ (μ̂ + w s)+² / 2w,   s = J x − c         (without + for equalities)

Newton's step is H d = −∇φ with H = K + Jᵀ W J of the active rows, those with μ̂ + w s > 0. When they stay active the
step is exact; their pulls become the next μ̂, and what softness and rounding have left is removed with the same factor.
"""

import numpy as np

from impinge._jit import kernel
from impinge.response.qp._rows import add_rows, scales_of_row, sizes_of_unknowns, times_symmetric, values_of_rows
from impinge.response.qp._search import search

SOLVE, FACTORISE, DONE, INFEASIBLE, STUCK = range(5)  # what to do after `advance`
SOFTNESS, LEFT, STEPS, ROUNDS, FIELDS = range(5)  # of the state
_LEAST_SOFTNESS = 1e-7
_MOST_ROUNDS, _MOST_STEPS = 60, 500
_ROUNDING = 1e-15  # of the sum of terms, which no x in double precision gets below
_ROUNDED = 1e-7  # of the size of all unknowns: 1e-9 of it is what rounding may leave of a row whose terms are smaller
_NEXT_TO_NOTHING = 1e-10  # likewise, where rounding is luckier
_FAR = 1e8  # sizes of x within which nothing satisfies the rows: that is infeasible


@kernel
def measure(program, free, x, y):
    """Stationarity, violation and complementarity of a point with multipliers (see `Residuals`), ½ xᵀKx − bᵀx, and the
    largest of the three with next to no allowance for rounding: what to aim at.
    """
    indptr, indices, values, right, row_ptr, row_indices, factors, bounds, roots, least = program
    n, count = len(x), len(bounds)
    times, pull, terms = np.empty(n), np.zeros(n), np.empty(n)
    objective = 0.0
    for j in range(n):
        value, size = 0.0, abs(right[j])
        for e in range(indptr[j], indptr[j + 1]):
            term = values[e] * x[indices[e]]
            value += term
            size += abs(term)
        times[j], terms[j] = value, size
        objective += x[j] * (0.5 * value - right[j])
    for k in range(count):
        if y[k] != 0.0:
            for e in range(row_ptr[k], row_ptr[k + 1]):
                pull[row_indices[e]] += y[k] * factors[e]
                terms[row_indices[e]] += abs(y[k] * factors[e])
    size, worst, rounding = 1e-300, 0.0, 0.0
    for j in range(n):
        size = max(size, abs(times[j]), abs(right[j]), abs(pull[j]))
        off = abs(times[j] - right[j] + pull[j])
        worst, rounding = max(worst, off - _ROUNDING * terms[j]), max(rounding, min(off, _ROUNDING * terms[j]))
    violation, slack, aim = 0.0, 0.0, max(worst, rounding) / size
    sizes = pull  # whose room is free again
    sizes_of_unknowns(roots, least, x, sizes)
    for k in range(count):
        first, stop = row_ptr[k], row_ptr[k + 1]
        value = -bounds[k]
        for e in range(first, stop):
            value += factors[e] * x[row_indices[e]]
        off, push = abs(value) if free[k] == 1 else max(value, 0.0), 0.0
        if free[k] != 1 and y[k] > 0.0:
            for e in range(first, stop):
                push = max(push, abs(factors[e]))
            push *= y[k] / size * abs(value)
        if off > 0.0 or push > 0.0:
            own, others = scales_of_row(row_indices, factors, bounds[k], x, sizes, first, stop)
            scale = max(own, _ROUNDED * others)
            violation, slack = max(violation, off / scale), max(slack, push / scale)
            aim = max(aim, max(off, push) / max(own, _NEXT_TO_NOTHING * others))
    return worst / size, violation, slack, objective, aim


@kernel
def contradicts(row_ptr, row_indices, factors, bounds, free, x, change):
    """Whether multipliers that grow without moving anything prove that rows contradict each other (Farkas)."""
    gain, pull = 0.0, np.zeros(len(x))
    y = np.zeros(len(change))
    for k in range(len(change)):
        if change[k] > 0.0 or free[k] == 1:
            y[k] = change[k]
            if y[k] != 0.0:
                gain -= bounds[k] * y[k]
    add_rows(row_ptr, row_indices, factors, y, 1.0, pull)
    most = total = 0.0
    for j in range(len(x)):
        most = max(most, abs(x[j]))
        total += abs(pull[j])
    return gain > _FAR * total * most and gain > 0.0


@kernel
def estimate_compliance(roots, row_ptr, row_indices, factors, out):
    """J diag(K)⁻¹ Jᵀ, the diagonal of J K⁻¹ Jᵀ or less."""
    for k in range(len(out)):
        out[k] = 0.0
        for e in range(row_ptr[k], row_ptr[k + 1]):
            out[k] += (factors[e] / roots[row_indices[e]]) ** 2


@kernel
def _rounding(row_ptr, row_indices, factors, bounds, x, k):
    """What rounding may leave of the value of a row."""
    terms = abs(bounds[k])
    for e in range(row_ptr[k], row_ptr[k + 1]):
        terms += abs(factors[e] * x[row_indices[e]])
    return _ROUNDING * terms


@kernel
def _pulls(program, free, soft, x, s, mu, y, active):
    """Multipliers that rows ask for; returns whether the same rows are active as before, but for rounding."""
    _, _, _, _, row_ptr, row_indices, factors, bounds, _, _ = program
    same = True
    for k in range(len(s)):
        pull = mu[k] + s[k] / soft[k] if free[k] >= 0 else 0.0
        now = free[k] == 1 or (free[k] == 0 and pull > 0.0)
        if now != active[k]:
            same = same and abs(pull) * soft[k] <= _rounding(row_ptr, row_indices, factors, bounds, x, k)
        active[k] = now
        y[k] = pull if now else 0.0
    return same


@kernel
def begin(program, free, soft, x, mu, s, y, active, rest):
    """The first active rows, their pulls y, and what is left to do, `rest` = −∇φ = b − K x − Jᵀ y."""
    indptr, indices, values, right, row_ptr, row_indices, factors, bounds, _, _ = program
    values_of_rows(row_ptr, row_indices, factors, bounds, x, s)
    _pulls(program, free, soft, x, s, mu, y, active)
    times_symmetric(indptr, indices, values, x, rest)
    for j in range(len(x)):
        rest[j] = right[j] - rest[j]
    add_rows(row_ptr, row_indices, factors, y, -1.0, rest)


@kernel
def _next_round(program, free, soft, state, tol, x, mu, s, y, active, rest):
    """What to do at the minimum of φ: nothing any more, or to go on from multipliers y."""
    _, _, _, _, row_ptr, row_indices, factors, bounds, _, _ = program
    state[ROUNDS] += 1
    stationarity, violation, slack, _, left = measure(program, free, x, y)
    before = state[LEFT]
    state[LEFT] = left
    if left <= tol or (max(stationarity, violation, slack) <= tol and not left < 0.1 * before):
        return DONE
    if contradicts(row_ptr, row_indices, factors, bounds, free, x, y - mu):
        y -= mu
        return INFEASIBLE
    if state[ROUNDS] > _MOST_ROUNDS:
        return STUCK
    harder = not left < 0.1 * before and state[SOFTNESS] > _LEAST_SOFTNESS
    if harder:
        state[SOFTNESS] *= 0.1
        soft *= 0.1
    mu[:] = y
    were = active.copy()
    begin(program, free, soft, x, mu, s, y, active, rest)
    return SOLVE if not harder and (were == active).all() else FACTORISE


@kernel
def advance(program, free, soft, state, tol, x, mu, s, y, active, rest, step):
    """Take Newton's step H⁻¹ rest, and say what comes next. All arrays from x to rest are changed."""
    _, _, _, _, row_ptr, row_indices, factors, bounds, _, _ = program
    state[STEPS] += 1
    after, goal, were = np.empty(len(s)), x + step, active.copy()
    values_of_rows(row_ptr, row_indices, factors, bounds, goal, after)
    if _pulls(program, free, soft, goal, after, mu, y, active):
        x[:] = goal
        return _next_round(program, free, soft, state, tol, x, mu, s, y, active, rest)
    if state[STEPS] > _MOST_STEPS:
        return STUCK
    slope = 0.0
    for j in range(len(x)):
        slope -= step[j] * rest[j]
    curve = -slope  # dᵀKd = dᵀHd less what the active rows add to it
    for k in range(len(s)):
        after[k] -= s[k]
        if were[k]:
            curve -= after[k] * after[k] / soft[k]
    far = search(slope, max(curve, 0.0), free, mu, soft, s, after)
    for j in range(len(x)):
        x[j] += far * step[j]
    if far <= 0.0:  # nothing is downhill: rounding is all that is left
        return _next_round(program, free, soft, state, tol, x, mu, s, y, active, rest)
    begin(program, free, soft, x, mu, s, y, active, rest)
    return FACTORISE
