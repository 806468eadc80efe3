"""Kernels: the quadratic program in the space of its rows, by Newton's method on the proximal augmented Lagrangian.

With G = J H⁻¹ Jᵀ, the values s' = J x − c at multipliers μ̂, and weights w, find multipliers y with

    y = (μ̂ + w s)+,  s = s' − G (y − μ̂)           (y = μ̂ + w s for equalities)

which minimise the convex function ½ yᵀGy + Σ (μ̂ + w s)+² / 2w. Newton's step guesses which rows are active and solves
(G + 1/w) (y − μ̂) = … of those: the paper's exchange of all rows at once (Algorithm 1), which may cycle.
The function decreases in every step here, so no guess comes back.
"""

import numpy as np
from numpy import uint64

from impinge._jit import kernel
from impinge._lanes import load, spread, store, total
from impinge.response.qp._search import search
from impinge.sparse._panels import ROWS, STRIP, factorise_panel
from impinge.sparse._solve import backward, forward


@kernel
def multiply(squares, z, out):
    """Out = G z, of the squares of −G (`Gram.squares`); most of z is 0."""
    out[:] = 0.0
    place = uint64(0)
    used = np.empty(len(z) // ROWS, np.bool_)
    for s in range(len(used)):
        used[s] = (z[ROWS * s : ROWS * (s + 1)] != 0.0).any()
    for s in range(len(used)):
        own = load(z, uint64(ROWS * s))
        total_s = spread(z, 0.0)
        for t in range(s + 1):
            if not (used[s] or used[t]):
                place += uint64(ROWS * ROWS)
                continue
            for j in range(ROWS):
                column = load(squares, place)
                total_s = total_s - column * z[ROWS * t + j]
                if t < s:
                    out[ROWS * t + j] -= total(column * own)
                place += uint64(ROWS)
        store(out, uint64(ROWS * s), load(out, uint64(ROWS * s)) + total_s)


@kernel
def _solve_active(squares, slots, count, softness, panel, y, t):
    """(G + softness) y = y of the active slots, in place; false if that is not positive definite."""
    columns = (count + STRIP - 1) // STRIP * STRIP
    slabs = (count + ROWS - 1) // ROWS
    panel[: slabs * ROWS * columns] = 0.0
    first = 0
    while first < count:  # slab by slab of G, as they are in memory
        s, last = slots[first] // ROWS, first
        while last < count and slots[last] // ROWS == s:
            last += 1
        for j in range(last):
            column = 128 * s * (s + 1) + ROWS * slots[j]
            for i in range(max(first, j), last):
                panel[(i // ROWS) * ROWS * columns + ROWS * j + i % ROWS] = -squares[column + slots[i] % ROWS]
        first = last
    for j in range(count):
        panel[(j // ROWS) * ROWS * columns + ROWS * j + j % ROWS] += softness[slots[j]]
    if factorise_panel(panel, 0, slabs, count, columns, t) < count:
        return False
    y[count : ROWS * slabs] = 0.0
    forward(panel, 0, slabs, count, columns, y)
    y[count : ROWS * slabs] = 0.0
    backward(panel, 0, slabs, count, columns, y, np.empty(ROWS * columns))
    return True


@kernel
def _is_active(free, mu, s, softness):
    return free == 1 or (free == 0 and mu + s / softness > 0.0)


@kernel
def _step_length(change, goal, ds, s, mu, softness, free):
    """How far to go from a change of the multipliers towards another."""
    slope = curve = 0.0
    for k in range(len(s)):
        if free[k] >= 0:
            active = _is_active(free[k], mu[k], s[k], softness[k])
            slope += ds[k] * (s[k] / softness[k] - change[k] if active else -(mu[k] + change[k]))
            curve -= ds[k] * (goal[k] - change[k])
    return search(slope, curve, free, mu, softness, s, ds)


@kernel
def _noise(sizes, z):
    """What rounding leaves of G z, in the size of a row: |G_kj| is at most sizes[k] sizes[j]."""
    total = 0.0
    for k in range(len(z)):
        total += sizes[k] * abs(z[k])
    return 1e-15 * total


@kernel
def newton(squares, start, mu, softness, free, guess, most, change, s):
    """Changes y − mu of multipliers and values s of the rows; returns the number of steps, and whether it succeeded.

    start : s at y = mu; softness : 1 / w
    guess : the rows thought active, whose solution is where Newton's method starts; or empty: it starts from mu
    change : kept apart from mu, since a change far below the rounding of mu may move much
    free : 1 for equalities, 0 for inequalities, −1 for slots without a row
    """
    count = len(start)
    active = np.zeros(count, np.bool_)
    slots, t = np.empty(count, np.int64), np.zeros(STRIP * STRIP)
    at_goal, z = np.zeros(count), np.zeros(count)
    right, panel = np.zeros(count + ROWS), np.empty(0)
    sizes = np.empty(count)
    for k in range(count):
        sizes[k] = np.sqrt(-squares[128 * (k // ROWS) * (k // ROWS + 3) + 17 * (k % ROWS)])
    change[:] = 0.0
    s[:] = start
    is_guess = len(guess) > 0
    for step in range(1, most + 1):
        chosen = 0
        for k in range(count):
            active[k] = guess[k] if is_guess else _is_active(free[k], mu[k], s[k], softness[k])
            if active[k]:
                slots[chosen] = k
                chosen += 1
            z[k] = 0.0 if active[k] else -mu[k]
        multiply(squares, z, at_goal)
        for k in range(chosen):
            right[k] = start[slots[k]] - at_goal[slots[k]]
        needed = (chosen + ROWS) * (chosen + ROWS)
        if len(panel) < needed:
            panel = np.empty(needed)
        if not _solve_active(squares, slots, chosen, softness, panel, right, t):
            return step, False
        for k in range(chosen):
            z[slots[k]] = right[k]
        multiply(squares, z, at_goal)
        same, noise = True, _noise(sizes, z)
        for k in range(count):
            at_goal[k] = start[k] - at_goal[k]
            if active[k] != _is_active(free[k], mu[k], at_goal[k], softness[k]):
                same &= abs(mu[k] * softness[k] + at_goal[k]) <= noise * sizes[k]
        far = 1.0 if same or is_guess else _step_length(change, z, at_goal - s, s, mu, softness, free)
        if far >= 1.0 or far <= 0.0:  # nothing is downhill: rounding is all that is left
            change[:] = z
            s[:] = at_goal
        else:
            for k in range(count):
                change[k] += far * (z[k] - change[k])
                s[k] += far * (at_goal[k] - s[k])
        if same or far <= 0.0:
            return step, True
        is_guess = False
    return most, True
