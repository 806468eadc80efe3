"""Kernels: rows of a minimum at a point: their values, those of them that turn, and what friction adds.

Friction is part of the potential: F h(|u|) of the slip u of contacts in the step, with h a parabola up to a slip of ε
and the length of u beyond. Newton's method leaps from one side of such a kink to the other; so the direction w of the
force, |w| ≤ 1, is an unknown of its own, max(|u|, ε) w = u, whose linear part makes the Hessian [Chan1999]:

    F / |u| (1 − (w uᵀ + u wᵀ) / 2|u|)  where |u| > ε,  else F / ε
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel

INEQUALITY, EQUALITY, UNUSED = 0, 1, -1

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int32]


class Rows(NamedTuple):
    """Rows s(x) = base + A (x − origin), then bars, s = sign (l − length), then two rows of slip per contact."""

    indptr: _Ints
    indices: _Ints
    values: _Floats  # those of bars and slip are filled in anew at each x
    base: _Floats  # of the first rows
    kind: NDArray[np.int8]  # of all but those of slip
    sizes: _Floats  # m: what values of rows are compared with
    give: _Floats  # m/N: what rows give way by
    bars: _Ints  # (k, 2) nodes
    lengths: _Floats  # (k,)
    signs: _Floats  # (k,)
    tangents: _Floats  # values of two rows of slip along fixed directions, as many as those that turn
    slip_base: _Floats  # (2 f,) of those
    friction: _Floats  # (f,) N, the largest force
    creep: float  # m, ε
    origin: _Floats  # (3 n,)
    fixed: NDArray[np.bool_]  # (3 n,)


@kernel
def slacks(rows, x, out):
    """Values of all rows but those of slip."""
    linear = len(rows.base)
    for k in range(linear):
        value = rows.base[k]
        for e in range(rows.indptr[k], rows.indptr[k + 1]):
            j = rows.indices[e]
            value += rows.values[e] * (x[j] - rows.origin[j])
        out[k] = value
    for b in range(len(rows.bars)):
        i, j, square = 3 * rows.bars[b, 0], 3 * rows.bars[b, 1], 0.0
        for axis in range(3):
            square += (x[j + axis] - x[i + axis]) ** 2
        out[linear + b] = rows.signs[b] * (np.sqrt(square) - rows.lengths[b])


@kernel
def turn_bars(rows, x):
    """Fill in the rows of bars."""
    for b in range(len(rows.bars)):
        i, j, at, square = 3 * rows.bars[b, 0], 3 * rows.bars[b, 1], rows.indptr[len(rows.base) + b], 0.0
        for axis in range(3):
            square += (x[j + axis] - x[i + axis]) ** 2
        factor = rows.signs[b] / np.sqrt(square) if square > 0.0 else 0.0
        for axis in range(3):
            value = factor * (x[j + axis] - x[i + axis])
            rows.values[at + axis] = 0.0 if rows.fixed[i + axis] else -value
            rows.values[at + 3 + axis] = 0.0 if rows.fixed[j + axis] else value


@kernel
def _slip(rows, x, c):
    """Slip of contact c along both of its tangents, and where their values begin."""
    m = len(rows.kind)
    first = rows.indptr[m + 2 * c] - rows.indptr[m]
    a, b = rows.slip_base[2 * c], rows.slip_base[2 * c + 1]
    count = rows.indptr[m + 2 * c + 1] - rows.indptr[m + 2 * c]
    for e in range(count):
        j = rows.indices[rows.indptr[m + 2 * c] + e]
        moved = x[j] - rows.origin[j]
        a += rows.tangents[first + e] * moved
        b += rows.tangents[first + count + e] * moved
    return a, b, first, count


@kernel
def friction_energy(rows, x):
    total = 0.0
    for c in range(len(rows.friction)):
        a, b, _, _ = _slip(rows, x, c)
        far = np.sqrt(a * a + b * b)
        total += rows.friction[c] * (0.5 * far * far / rows.creep if far < rows.creep else far - 0.5 * rows.creep)
    return total


@kernel
def turn_slips(rows, x, lean, out, weights):
    """Fill in the rows of slip with their weights, along the axes of the Hessian of friction; and add to the gradient.

    The Hessian is F/|u| (1 − M), M = (w uᵀ + u wᵀ)/2|u| with the values (w·u/|u| ± |w|)/2 along its axes.
    """
    m = len(rows.kind)
    for c in range(len(rows.friction)):
        a, b, first, count = _slip(rows, x, c)
        far = np.sqrt(a * a + b * b)
        stiffness, cos, sin, low, high = rows.friction[c] / max(far, rows.creep), 1.0, 0.0, 0.0, 0.0
        if far > rows.creep:
            p, q = lean[2 * c] * a / far, lean[2 * c + 1] * b / far
            across = 0.5 * (lean[2 * c] * b + lean[2 * c + 1] * a) / far
            angle = 0.5 * np.arctan2(2.0 * across, p - q)
            size = np.sqrt(lean[2 * c] ** 2 + lean[2 * c + 1] ** 2)
            cos, sin, high, low = np.cos(angle), np.sin(angle), 0.5 * (p + q + size), 0.5 * (p + q - size)
        at = rows.indptr[m + 2 * c]
        for e in range(count):
            one, two = rows.tangents[first + e], rows.tangents[first + count + e]
            rows.values[at + e] = cos * one + sin * two
            rows.values[at + count + e] = cos * two - sin * one
            out[rows.indices[at + e]] += stiffness * (a * one + b * two)
        weights[m + 2 * c] = stiffness * max(1.0 - high, 0.0)
        weights[m + 2 * c + 1] = stiffness * max(1.0 - low, 0.0)


@kernel
def lean_slips(rows, x, trial, far, lean):
    """Turn the forces of friction on the way from x to `trial`, a share `far` of a step."""
    for c in range(len(rows.friction)):
        a, b, _, _ = _slip(rows, x, c)
        after_a, after_b, _, _ = _slip(rows, trial, c)
        slip = np.sqrt(a * a + b * b)
        if slip > rows.creep:
            v, w = lean[2 * c], lean[2 * c + 1]
            along = ((after_a - a) * a + (after_b - b) * b) / slip
            v += (far * (a - slip * v) + after_a - a - v * along) / slip
            w += (far * (b - slip * w) + after_b - b - w * along) / slip
        else:
            v, w = after_a / rows.creep, after_b / rows.creep
        size = max(np.sqrt(v * v + w * w), 1.0)
        lean[2 * c], lean[2 * c + 1] = v / size, w / size


@kernel
def add_rows(rows, y, out):
    """Out += Aᵀ y, of all rows but those of slip."""
    for k in range(len(y)):
        if y[k] != 0.0:
            for e in range(rows.indptr[k], rows.indptr[k + 1]):
                out[rows.indices[e]] += y[k] * rows.values[e]


@kernel
def _find(parts, column, row):
    """Where a row is in a column of the Hessian, from the begin of the column."""
    low, high = parts.indptr[column], parts.indptr[column + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if parts.indices[middle] <= row:
            low = middle
        else:
            high = middle
    return low - parts.indptr[column]


@kernel
def stiffen_bars(parts, rows, x, y, keep, values):
    """Add what the forces of bars change by as bars turn, − y ∂²s/∂x², with a share of what is negative of it.

    parts : `Elastic`, in whose pattern the values are; y : forces of all rows; keep : the share
    """
    away = np.empty(3)
    for b in range(len(rows.bars)):
        i, j, square = 3 * rows.bars[b, 0], 3 * rows.bars[b, 1], 0.0
        for axis in range(3):
            away[axis] = x[j + axis] - x[i + axis]
            square += away[axis] ** 2
        tension = -rows.signs[b] * y[len(rows.base) + b]
        if tension < 0.0:
            tension *= keep
        if tension == 0.0 or square == 0.0:
            continue
        places = _find(parts, i, i), _find(parts, i, j), _find(parts, j, i), _find(parts, j, j)
        for a in range(3):
            first, second = parts.indptr[i + a], parts.indptr[j + a]
            for c in range(3):
                value = tension * ((1.0 if a == c else 0.0) - away[a] * away[c] / square) / np.sqrt(square)
                values[first + places[0] + c] += value
                values[first + places[1] + c] -= value
                values[second + places[2] + c] -= value
                values[second + places[3] + c] += value
