"""Kernels: the minimum of a potential subject to rows, by a primal-dual interior-point method.

    minimise Φ(x)  subject to  s(x) ≥ 0   (s(x) = 0 for equalities)

with slacks z > 0, forces y > 0 and their products driven to 0 together [Mehrotra1992]:

    ∇Φ − Aᵀ y = 0,  s(x) + δ y − z = 0,  y z = μ → 0,          A = ∂s/∂x, δ what a row gives way by

Each iteration linearises everything anew and needs one factor of H + Aᵀ D A, H = ∂²Φ/∂x², D = y / (z + δ y). Its number
hardly depends on how many rows there are, or which of them are active. Φ decreases along the way, with a price on what
rows are violated by.

Steps p are straight, and what is stiff turns as it moves: a segment of length l that turns by an angle a gets longer by
l a²/2 on the way, which costs more than all else if it is stiff enough; steps would have to be as short as that allows.
So paths bend, x + t p + t² q: q undoes what lengths grow by in second order, with the same factor.

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
RESIDUAL, LARGEST, PRIMAL, PRODUCT, MEAN, KEEP, ALLOWED, STEPS, TARGET, PLAIN, CRAWLED = range(11)
ENERGY, FAR, PRICE, BEFORE, HALVINGS, FARTHEST, STRAIGHT, BENT, FIELDS = range(11, 20)

_TIE = 1e-3  # products of slacks and forces do not go further down than this share of what is left of the equations
_NEAR = 1.0  # residual below which the negative part of the Hessian is tried
_TO_BORDER = 0.99
_FIRMNESS = 1e6  # of equalities, by the stiffness of what they hold
_FIRMEST = 1e14  # likewise, of inequalities: beyond it rounding leaves nothing of that stiffness in a factor
_SHORTEST = 1e-6
_STRAIGHT = 3.0  # halvings of straight steps before paths bend: where one now and then is too long, half of it does
_MOST_STEPS = 200
_AGAIN = 1e-4  # products to begin again with, when rows have joined: of the weight times the size of rows
_JOINED = 1e-2  # likewise: of the largest force times what the new rows lack
_LACKING = 0.1  # likewise, also at first: of what rows lack times the force that wins it against inertia alone
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


class Arc(NamedTuple):
    """What a path goes astray by from a straight step, times the square of the share of the step."""

    x: _Floats
    y: _Floats
    z: _Floats


class Trial(NamedTuple):
    """A point that is tried."""

    x: _Floats
    y: _Floats
    z: _Floats
    s: _Floats


@kernel
def judge(rows, point, largest, tolerance, product, most):
    """What to do next, once ∇Φ is in `left`; largest : of the forces that it is the sum of; most : Φ above is none."""
    state, x = point.state, point.x
    state[LARGEST] = largest
    turn_bars(rows, x)
    slacks(rows, x, point.s)
    turn_slips(rows, x, point.lean, point.left, point.weights)
    point.right[:] = 0.0
    add_rows(rows, point.y, point.right)
    worst = 0.0
    for j in range(len(x)):
        point.left[j] = 0.0 if rows.fixed[j] else point.left[j] - point.right[j]
        worst = max(worst, abs(point.left[j]))
    primal = highest = total = 0.0
    count = 0
    for k in range(len(point.s)):
        if rows.kind[k] == INEQUALITY:
            both = point.y[k] * point.z[k]
            total += both
            count += 1
            highest = max(highest, both / rows.sizes[k])
            primal = max(primal, abs(point.z[k] - point.s[k] - rows.give[k] * point.y[k]) / rows.sizes[k])
        elif rows.kind[k] == EQUALITY:
            primal = max(primal, abs(point.s[k]) / rows.sizes[k])
    state[RESIDUAL], state[PRIMAL] = worst / largest, primal
    state[PRODUCT], state[MEAN] = highest / largest, total / max(count, 1)
    if worst <= tolerance * largest and primal <= max(_VIOLATION, 1e-2 * tolerance) and state[PRODUCT] <= product:
        return DONE
    is_hopeless = state[STEPS] >= _MOST_STEPS or state[CRAWLED] > 3.0 or (state[STEPS] > 0.0 and state[ENERGY] > most)
    return STUCK if is_hopeless else FACTORISE


@kernel
def _compliances(field, rows, out):
    """How far a force of 1 N moves what a row is about, if inertia alone resists."""
    for k in range(len(out)):
        out[k] = 0.0
        for e in range(rows.indptr[k], rows.indptr[k + 1]):
            node = rows.indices[e] // 3
            out[k] += rows.values[e] * rows.values[e] / (field.inertia[node] + field.drag[node])


@kernel
def _first_product(field, rows, point, soft, largest):
    """The product of slacks and forces to begin with, J: as it is where both are known, else from forces."""
    known = wanted = logs = sizes = total = lacking = most = 0.0
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
            elif point.s[k] < 0.0:
                lacking = max(lacking, -point.s[k])
                most = max(most, _LACKING * point.s[k] * point.s[k] / soft[k])
    if count == 0:
        return 0.0
    size = np.exp(sizes / count)
    if both:
        return max(total / both, _AGAIN * field.weight * size, _JOINED * known * lacking, most)
    force = max(known if known > 0.0 else min(wanted, largest), 1e-6 * largest)
    return max(force * min(0.03 * size, force * np.exp(logs / count)), most)


@kernel
def begin(field, rows, point, soft, energy, largest):
    """First slacks and forces, from those that are known (0: of new rows).

    soft : (m,) compliances, filled in
    energy, largest : Φ, and the largest of the forces that ∇Φ is the sum of
    """
    state, y, z, s = point.state, point.y, point.z, point.s
    state[:] = 0.0
    state[ALLOWED] = 1.0
    state[ENERGY] = energy + friction_energy(rows, point.x)
    turn_bars(rows, point.x)
    slacks(rows, point.x, s)
    _compliances(field, rows, soft)
    for k in range(len(soft)):
        soft[k] = max(soft[k] + rows.give[k], 1e-300)
    mu = _first_product(field, rows, point, soft, largest)
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


@kernel
def weigh(parts, rows, point):
    """D, and what bars add to H, whose values are those of ∂²Φ/∂x²; parts : `Elastic`, in whose pattern they are."""
    state, values = point.state, point.values
    stiffen_bars(parts, rows, point.x, point.y, state[KEEP], values)
    for j in range(len(point.x) if rows.fixed.any() else 0):
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
def _price(rows, point, y, z, s):
    """What rows that are off cost at a trial of y, z and s: inequalities a price, and equalities what a step leaves of
    them, −y s + D s²/2 with the force of the step's begin; rows that give way are springs, with an energy of δ y²/2.
    """
    total, target, price = 0.0, point.state[TARGET], point.state[PRICE]
    for k in range(len(s)):
        if rows.kind[k] == INEQUALITY:
            way = rows.give[k] * y[k]
            total += 0.5 * way * y[k] + price * abs(z[k] - s[k] - way) - target * np.log(z[k])
        elif rows.kind[k] == EQUALITY:
            total += (0.5 * point.weights[k] * s[k] - point.y[k]) * s[k]
    return total


@kernel
def set_out(rows, point, pulls, step, arc):
    """Prepare the search along a straight step: how far it can go at most, and what is to be undercut."""
    state, y = point.state, point.y
    state[FAR], state[PRICE] = min(_TO_BORDER * _directions(rows, point, step, pulls), 1.0), 0.0
    for k in range(len(y)):
        state[PRICE] = max(state[PRICE], 2.0 * abs(y[k] + point.dy[k]))
    state[BEFORE], state[HALVINGS] = state[ENERGY] + _price(rows, point, y, point.z, point.s), 0.0
    state[FARTHEST], state[BENT] = state[FAR], 0.0
    arc.x[:], arc.y[:], arc.z[:] = 0.0, 0.0, 0.0


@kernel
def try_out(rows, point, step, arc, trial):
    """The point as far along a step as is tried now."""
    far = point.state[FAR]
    for j in range(len(step)):
        trial.x[j] = point.x[j] if rows.fixed[j] else point.x[j] + far * (step[j] + far * arc.x[j])
    for k in range(len(point.y)):
        trial.y[k] = point.y[k] + far * (point.dy[k] + far * arc.y[k])
        trial.z[k] = point.z[k] + far * (point.dz[k] + far * arc.z[k])
        if rows.kind[k] == INEQUALITY:
            trial.y[k] = max(trial.y[k], (1.0 - _TO_BORDER) * point.y[k])
            trial.z[k] = max(trial.z[k], (1.0 - _TO_BORDER) * point.z[k])
    slacks(rows, trial.x, trial.s)


@kernel
def _bow(rows, x, step, k):
    """What row k grows by along a straight step in second order: as bars turn, they get longer."""
    b = k - len(rows.base)
    if b < 0:
        return 0.0
    i, j, square, along, way = 3 * rows.bars[b, 0], 3 * rows.bars[b, 1], 0.0, 0.0, 0.0
    for axis in range(3):
        away, moved = x[j + axis] - x[i + axis], step[j + axis] - step[i + axis]
        square, along, way = square + away * away, along + away * moved, way + moved * moved
    return 0.5 * rows.signs[b] * max(way - along * along / square, 0.0) / np.sqrt(square) if square > 0.0 else 0.0


@kernel
def should_bend(state):
    """Whether the path is to bend, once a trial has failed."""
    if state[BENT] == 0.0:
        state[STRAIGHT] += 1.0
    return state[BENT] == 0.0 and state[STRAIGHT] > _STRAIGHT


@kernel
def curve(rows, point, step, pulls, arc):
    """The right side for the arc of a path, from what elastic parts resist the step with, in `arc.x`."""
    for k in range(len(pulls)):
        pulls[k] = -point.weights[k] * _bow(rows, point.x, step, k) if rows.kind[k] >= 0 else 0.0
    point.right[:] = 0.0
    add_rows(rows, pulls, point.right)
    for j in range(len(point.left)):
        point.right[j] = 0.0 if rows.fixed[j] else point.right[j] - arc.x[j]


@kernel
def bend(rows, point, step, pulls, arc):
    """Begin the search anew, along a path with the arc that is in `arc.x`."""
    state = point.state
    state[FAR], state[HALVINGS], state[BENT] = state[FARTHEST], 0.0, 1.0
    for k in range(len(pulls)):
        if rows.kind[k] < 0:
            continue
        along = 0.0
        for e in range(rows.indptr[k], rows.indptr[k + 1]):
            along += rows.values[e] * arc.x[rows.indices[e]]
        arc.y[k] = pulls[k] - point.weights[k] * along
        if rows.kind[k] == INEQUALITY:
            arc.z[k] = along + _bow(rows, point.x, step, k) + rows.give[k] * arc.y[k]


@kernel
def go_there(rows, point, trial, energy):
    """Go to a trial if it is downhill, or hardly away at all; else return false, to try half of the way."""
    state = point.state
    energy += friction_energy(rows, trial.x)
    after = energy + _price(rows, point, trial.y, trial.z, trial.s)
    if after > state[BEFORE] + 1e-10 * abs(state[BEFORE]) and state[FAR] >= _SHORTEST:
        state[FAR] *= 0.5
        state[HALVINGS] += 1.0
        return False
    state[PLAIN] = 1.0 if state[HALVINGS] > 2.0 and state[PLAIN] == 0.0 else 0.0
    state[CRAWLED] = state[CRAWLED] + 1.0 if state[FAR] < _SHORTEST else 0.0
    lean_slips(rows, point.x, trial.x, state[FAR], point.lean)
    state[ENERGY] = energy
    point.x[:], point.y[:], point.z[:] = trial.x, trial.y, trial.z
    _raise_curvature(state)
    return True


@kernel
def minimise_banded(field, rows, point, trial, arc, soft, pulls, band, has_begun, tolerance, product, most):
    """All of it, where unknowns are coupled with near ones only; returns what was said last."""
    parts, step, nodes = field.elastic, np.empty_like(point.x), len(point.x) // 3
    x, there, left = point.x.reshape((nodes, 3)), trial.x.reshape((nodes, 3)), point.left.reshape((nodes, 3))
    energy = 0.0 if has_begun else _potential.value(field, x)
    largest = _potential.gradient(field, x, left)
    if not has_begun:
        begin(field, rows, point, soft, energy, largest)
    while True:
        code = judge(rows, point, largest, tolerance, product, most)
        if code != FACTORISE:
            return code
        choose_curvature(point.state, False)
        while True:
            _potential.hessian(field, x, point.state[KEEP], point.values)
            weigh(parts, rows, point)
            _banded.assemble(parts.indptr, parts.indices, point.values, band)
            _banded.add_products(rows.indptr, rows.indices, rows.values, point.weights, band)
            if _banded.factorise(band) < 0:
                break
            if not choose_curvature(point.state, True):
                return STUCK
        predict(rows, point, pulls)
        step[:] = point.right
        _banded.solve(band, step)
        if len(pulls):
            correct(rows, point, pulls, step, product)
            step[:] = point.right
            _banded.solve(band, step)
        set_out(rows, point, pulls, step, arc)
        try_out(rows, point, step, arc, trial)
        while not go_there(rows, point, trial, _potential.value(field, there)):
            if should_bend(point.state):
                _potential.turning(field, x, step.reshape((nodes, 3)), arc.x.reshape((nodes, 3)))
                curve(rows, point, step, pulls, arc)
                arc.x[:] = point.right
                _banded.solve(band, arc.x)
                bend(rows, point, step, pulls, arc)
            try_out(rows, point, step, arc, trial)
        largest = _potential.gradient(field, x, left)
