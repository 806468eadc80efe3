"""Kernels: the minimum of a potential subject to rows, by a primal-dual interior-point method.

    minimise Φ(x)  subject to  s(x) ≥ 0   (s(x) = 0 for equalities)

with slacks z > 0, forces y > 0 and their products driven to 0 together [Mehrotra1992]:

    ∇Φ − Aᵀ y = 0,  s(x) + δ y − z = 0,  y z = μ → 0,          A = ∂s/∂x, δ what a row gives way by

Each iteration linearises everything anew and needs one factor of H + Aᵀ D A, H = ∂²Φ/∂x², D = y / (z + δ y). Its number
hardly depends on how many rows there are, or which of them are active. Φ decreases along the way, with a price on what
rows are violated by.

Friction is part of the potential (`_rows.py`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel
from impinge.bodies.soft import _potential
from impinge.bodies.soft._rows import (
    EQUALITY,
    INEQUALITY,
    add_rows,
    friction_energy,
    lean_slips,
    slacks,
    stiffen_bars,
    turn_bars,
    turn_slips,
)
from impinge.response.qp import _banded

DONE, FACTORISE, STUCK = range(3)
RESIDUAL, LARGEST, PRIMAL, PRODUCT, MEAN, KEEP, ALLOWED, STEPS, TARGET, PLAIN, CRAWLED, ENERGY, FIELDS = range(13)

_TIE = 1e-3  # products of slacks and forces do not go further down than this share of what is left of the equations
_NEAR = 1.0  # residual below which the negative part of the Hessian is tried
_TO_BORDER = 0.99
_FIRMNESS = 1e6  # of equalities, by the stiffness of what they hold
_FIRMEST = 1e14  # likewise, of inequalities: beyond it rounding leaves nothing of that stiffness in a factor
_SHORTEST = 1e-6
_MOST_STEPS = 120
_AGAIN = 1e-4  # products to begin again with, when rows have joined: of the weight times the size of rows
_JOINED = 1e-2  # likewise: of the largest force times what the new rows lack
_VIOLATION = 1e-8  # of the size of a row

_Floats = NDArray[np.float64]


class Point(NamedTuple):
    """What changes: unknowns, and what belongs to them."""

    x: _Floats  # (3 n,)
    y: _Floats  # (m,) N
    z: _Floats  # (m,) m
    s: _Floats  # (m,) m
    left: _Floats  # (3 n,) N, ∇Φ − Aᵀ y
    values: _Floats  # of H
    weights: _Floats  # D of all rows
    lean: _Floats  # (2 f,) w
    right: _Floats  # (3 n,)
    dy: _Floats
    dz: _Floats
    state: _Floats


@kernel
def look(field, rows, point, tolerance, product):
    """Everything at a new x, y and z; what to do next."""
    state, x = point.state, point.x
    nodes = len(x) // 3
    turn_bars(rows, x)
    slacks(rows, x, point.s)
    state[LARGEST] = _potential.gradient(field, x.reshape((nodes, 3)), point.left.reshape((nodes, 3)))
    turn_slips(rows, x, point.lean, point.left, point.weights)
    point.right[:] = 0.0
    add_rows(rows, point.y, point.right)
    worst = 0.0
    for j in range(len(x)):
        point.left[j] = 0.0 if rows.fixed[j] else point.left[j] - point.right[j]
        worst = max(worst, abs(point.left[j]))
    primal = largest = total = 0.0
    count = 0
    for k in range(len(point.s)):
        if rows.kind[k] == INEQUALITY:
            both = point.y[k] * point.z[k]
            total += both
            count += 1
            largest = max(largest, both / rows.sizes[k])
            primal = max(primal, abs(point.z[k] - point.s[k] - rows.give[k] * point.y[k]) / rows.sizes[k])
        elif rows.kind[k] == EQUALITY:
            primal = max(primal, abs(point.s[k]) / rows.sizes[k])
    state[RESIDUAL], state[PRIMAL] = worst / state[LARGEST], primal
    state[PRODUCT], state[MEAN] = largest / state[LARGEST], total / max(count, 1)
    if (
        worst <= tolerance * state[LARGEST]
        and primal <= max(_VIOLATION, 1e-2 * tolerance)
        and state[PRODUCT] <= product
    ):
        return DONE
    return STUCK if state[STEPS] >= _MOST_STEPS or state[CRAWLED] > 3.0 else FACTORISE


@kernel
def _compliances(field, rows, out):
    """How far a force of 1 N moves what a row is about, if inertia alone resists."""
    for k in range(len(out)):
        out[k] = 0.0
        for e in range(rows.indptr[k], rows.indptr[k + 1]):
            node = rows.indices[e] // 3
            out[k] += rows.values[e] * rows.values[e] / (field.inertia[node] + field.drag[node])


@kernel
def _first_product(field, rows, point, soft):
    """The product of slacks and forces to begin with, J: as it is where both are known, else from forces."""
    nodes = len(point.x) // 3
    largest = _potential.gradient(field, point.x.reshape((nodes, 3)), point.left.reshape((nodes, 3)))
    known = wanted = logs = sizes = total = lacking = 0.0
    count = both = 0
    for k in range(len(soft)):
        if rows.kind[k] == INEQUALITY:
            known = max(known, point.y[k])
            wanted = max(wanted, -point.s[k] / soft[k])
            logs += np.log(soft[k])
            sizes += np.log(rows.sizes[k])
            count += 1
            if point.z[k] > 0.0:
                total += point.y[k] * point.z[k]
                both += 1
            else:
                lacking = max(lacking, -point.s[k])
    if count == 0:
        return 0.0
    size = np.exp(sizes / count)
    if both:
        return max(total / both, _AGAIN * field.weight * size, _JOINED * known * lacking)
    force = max(known if known > 0.0 else min(wanted, largest), 1e-6 * largest)
    return force * min(0.03 * size, force * np.exp(logs / count))


@kernel
def begin(field, rows, point, soft, tolerance, product):
    """First slacks and forces, from those that are known (0: of new rows); what to do next.

    soft : (m,) compliances, filled in
    """
    state, y, z, s = point.state, point.y, point.z, point.s
    state[:] = 0.0
    state[ALLOWED] = 1.0
    state[ENERGY] = _energy(field, rows, point.x)
    turn_bars(rows, point.x)
    slacks(rows, point.x, s)
    _compliances(field, rows, soft)
    for k in range(len(soft)):
        soft[k] = max(soft[k] + rows.give[k], 1e-300)
    mu = _first_product(field, rows, point, soft)
    for k in range(len(s)):
        if rows.kind[k] != INEQUALITY:
            continue
        if z[k] > 0.0:
            if y[k] * z[k] < mu:
                if y[k] * soft[k] > z[k]:
                    y[k] = max(y[k], np.sqrt(mu / soft[k]))
                    z[k] = mu / y[k]
                else:
                    z[k] = max(z[k], np.sqrt(mu * soft[k]))
                    y[k] = mu / z[k]
        elif y[k] > 0.0:
            y[k] = max(y[k], np.sqrt(mu / soft[k]))
            z[k] = mu / y[k]
        else:  # as if only this row were there: z = s + soft y
            root = np.sqrt(s[k] * s[k] + 4.0 * soft[k] * mu)
            y[k] = 2.0 * mu / (s[k] + root) if s[k] > 0.0 else (root - s[k]) / (2.0 * soft[k])
            z[k] = mu / y[k]
    return look(field, rows, point, tolerance, product)


@kernel
def assemble(field, rows, point):
    """H and D."""
    state, parts, values = point.state, field.elastic, point.values
    nodes = len(point.x) // 3
    _potential.hessian(field, point.x.reshape((nodes, 3)), state[KEEP], values)
    stiffen_bars(parts, rows, point.x, point.y, state[KEEP], values)
    for j in range(len(point.x)):
        for e in range(parts.indptr[j], parts.indptr[j + 1]):
            i = parts.indices[e]
            if i != j and (rows.fixed[i] or rows.fixed[j]):
                values[e] = 0.0
    for k in range(len(point.y)):
        point.weights[k] = 0.0
        if rows.kind[k] >= 0:
            soft = 1e-300
            for e in range(rows.indptr[k], rows.indptr[k + 1]):
                soft += rows.values[e] ** 2 / values[parts.diagonal[rows.indices[e]]]
            if rows.kind[k] == EQUALITY:
                point.weights[k] = _FIRMNESS / soft
            else:
                point.z[k] = max(point.z[k], point.y[k] * soft / _FIRMEST)
                point.weights[k] = point.y[k] / (point.z[k] + rows.give[k] * point.y[k])


@kernel
def choose_curvature(state, has_failed):
    """How much of the negative part of the Hessian is tried, first and after a failure; false if there is none left."""
    if not has_failed:
        state[STEPS] += 1.0
        state[KEEP] = state[ALLOWED] if state[RESIDUAL] < _NEAR and state[STEPS] > 1.0 else 0.0
        return True
    if state[KEEP] == 0.0:
        return False
    state[KEEP] = 0.5 * state[KEEP] if state[KEEP] > 0.2 else 0.0
    state[ALLOWED] = state[KEEP]
    return True


@kernel
def _raise_curvature(state):
    if state[KEEP] > 0.0:
        state[ALLOWED] = min(1.0, 1.25 * state[ALLOWED])
    else:
        state[ALLOWED] = min(1.0, max(2.0 * state[ALLOWED], 0.25))


@kernel
def _pull(rows, point, k, product):
    """What row k adds to the right side, by its values; product : that of y and z is to change by −product."""
    if rows.kind[k] == EQUALITY:
        return -point.s[k] * point.weights[k]
    off = point.z[k] - point.s[k] - rows.give[k] * point.y[k]
    return point.weights[k] * (off - product / point.y[k])


@kernel
def _fill_right(rows, point, products):
    """The right side −left + Aᵀ of what rows pull with."""
    for k in range(len(products)):
        products[k] = _pull(rows, point, k, products[k]) if rows.kind[k] >= 0 else 0.0
    point.right[:] = 0.0
    add_rows(rows, products, point.right)
    for j in range(len(point.left)):
        point.right[j] = 0.0 if rows.fixed[j] else point.right[j] - point.left[j]


@kernel
def _directions(rows, point, step, pulls):
    """Changes of y and z along a step of x; returns how far they can go until one is 0."""
    until = 1e300
    for k in range(len(pulls)):
        point.dy[k] = point.dz[k] = 0.0
        if rows.kind[k] < 0:
            continue
        along = 0.0
        for e in range(rows.indptr[k], rows.indptr[k + 1]):
            along += rows.values[e] * step[rows.indices[e]]
        point.dy[k] = pulls[k] - point.weights[k] * along
        if rows.kind[k] == INEQUALITY:
            off = point.z[k] - point.s[k] - rows.give[k] * point.y[k]
            point.dz[k] = along + rows.give[k] * point.dy[k] - off
            if point.dy[k] < 0.0:
                until = min(until, -point.y[k] / point.dy[k])
            if point.dz[k] < 0.0:
                until = min(until, -point.z[k] / point.dz[k])
    return until


@kernel
def predict(rows, point, pulls):
    """The right side for a step towards products of 0."""
    for k in range(len(pulls)):
        pulls[k] = point.y[k] * point.z[k]
    _fill_right(rows, point, pulls)


@kernel
def correct(rows, point, pulls, step, product):
    """From the predicted step the right side of the step to be taken: towards a common product, of second order."""
    state, y, z, dy, dz = point.state, point.y, point.z, point.dy, point.dz
    far = min(_directions(rows, point, step, pulls), 1.0)
    after, size, count = 0.0, 1e300, 0
    for k in range(len(y)):
        if rows.kind[k] == INEQUALITY:
            after += (y[k] + far * dy[k]) * (z[k] + far * dz[k])
            size = min(size, rows.sizes[k])
            count += 1
    share = after / max(count, 1) / max(state[MEAN], 1e-300)
    least = max(0.1 * product, _TIE * state[RESIDUAL]) * state[LARGEST] * size
    state[TARGET] = max(min(share**3, 1.0) * state[MEAN], min(least, state[MEAN]))
    for k in range(len(pulls)):
        second = dy[k] * dz[k] if state[PLAIN] == 0.0 else 0.0
        pulls[k] = y[k] * z[k] + second - state[TARGET]
    _fill_right(rows, point, pulls)


@kernel
def _energy(field, rows, x):
    """Φ with friction."""
    return _potential.value(field, x.reshape((len(x) // 3, 3))) + friction_energy(rows, x)


@kernel
def _price(rows, point, y, z, s, price):
    """What rows that are off cost at a trial of y, z and s: inequalities a price, and equalities what a step leaves of
    them, −y s + D s²/2 with the force of the step's begin; rows that give way are springs, with an energy of δ y²/2.
    """
    total, target = 0.0, point.state[TARGET]
    for k in range(len(s)):
        if rows.kind[k] == INEQUALITY:
            way = rows.give[k] * y[k]
            total += 0.5 * way * y[k] + price * abs(z[k] - s[k] - way) - target * np.log(z[k])
        elif rows.kind[k] == EQUALITY:
            total += (0.5 * point.weights[k] * s[k] - point.y[k]) * s[k]
    return total


@kernel
def advance(field, rows, point, pulls, step, tolerance, product):
    """Go along a step, as far as that is downhill; what to do next."""
    state, x, y, z = point.state, point.x, point.y, point.z
    far, price = min(_TO_BORDER * _directions(rows, point, step, pulls), 1.0), 0.0
    for k in range(len(y)):
        price = max(price, 2.0 * abs(y[k] + point.dy[k]))
    before, energy = state[ENERGY] + _price(rows, point, y, z, point.s, price), 0.0
    trial, force, slack, values = np.empty_like(x), np.empty_like(y), np.empty_like(z), np.empty_like(z)
    halvings = 0
    while True:
        for j in range(len(x)):
            trial[j] = x[j] if rows.fixed[j] else x[j] + far * step[j]
        for k in range(len(z)):
            force[k] = y[k] + far * point.dy[k]
            slack[k] = z[k] + far * point.dz[k]
        slacks(rows, trial, values)
        energy = _energy(field, rows, trial)
        after = energy + _price(rows, point, force, slack, values, price)
        if after <= before + 1e-10 * abs(before) or far < _SHORTEST:
            break
        far *= 0.5
        halvings += 1
    state[PLAIN] = 1.0 if halvings > 2 and state[PLAIN] == 0.0 else 0.0
    state[CRAWLED] = state[CRAWLED] + 1.0 if far < _SHORTEST else 0.0
    lean_slips(rows, x, trial, far, point.lean)
    x[:] = trial
    state[ENERGY] = energy
    for k in range(len(y)):
        y[k] = force[k]
        z[k] = slack[k]
    _raise_curvature(state)
    return look(field, rows, point, tolerance, product)


@kernel
def minimise_banded(field, rows, point, soft, pulls, band, has_begun, tolerance, product):
    """All of it, where unknowns are coupled with near ones only; returns what was said last."""
    parts, step = field.elastic, np.empty_like(point.x)
    if has_begun:
        code = look(field, rows, point, tolerance, product)
    else:
        code = begin(field, rows, point, soft, tolerance, product)
    matrix = parts.indptr, parts.indices, point.values, rows.indptr, rows.indices, rows.values, point.weights
    while code == FACTORISE:
        choose_curvature(point.state, False)
        assemble(field, rows, point)
        while _banded.factorise(*matrix, band) >= 0:
            if not choose_curvature(point.state, True):
                return STUCK
            assemble(field, rows, point)
        predict(rows, point, pulls)
        step[:] = point.right
        _banded.solve(band, step)
        if len(pulls):
            correct(rows, point, pulls, step, product)
            step[:] = point.right
            _banded.solve(band, step)
        code = advance(field, rows, point, pulls, step, tolerance, product)
    return code
