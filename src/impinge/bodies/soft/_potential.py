"""Kernels: what an implicit step minimises, its gradient and its Hessian (see `potential.Potential`)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel, parallel, part
from impinge.bodies.soft._elements import (
    PIECE,
    Pattern,
    Table,
    fill_gradient,
    fill_hessian,
    fill_turning,
    sum_membranes,
    sum_springs,
    sum_stencils,
)

_fill_gradient, _fill_hessian, _fill_turning = fill_gradient.kernel, fill_hessian.kernel, fill_turning.kernel
_sum_springs, _sum_stencils, _sum_membranes = sum_springs.kernel, sum_stencils.kernel, sum_membranes.kernel

_Floats = NDArray[np.float64]


class Elastic(NamedTuple):
    """Elastic parts (`Elements`), and the pattern of their Hessian."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    diagonal: NDArray[np.int32]
    pattern: Pattern
    springs: Table
    membranes: Table
    bends: Table
    hinges: Table


class Field(NamedTuple):
    """A potential of n nodes."""

    elastic: Elastic
    is_elastic: bool  # whether elastic energy is in it; explicit steps have it in their goal
    inertia: _Floats  # (n,) m/h², N/m
    drag: _Floats  # (n,) d/h, N/m
    goal: _Floats  # (n, 3)
    drift: _Floats  # (n, 3) where the air around a node would end
    past: _Floats  # (n, 3)
    damping: _Floats  # C/h of bending in the pattern of the Hessian; empty for none
    weight: float  # N, the size of forces at least
    slowed: _Floats  # (n, 3) N, what damping resists with, C (x − past) / h, where `value` was asked for last
    sums: _Floats  # (pieces, 5) J, energies there
    largest: _Floats  # (n,) N, the largest of the forces on each node that the last gradient is the sum of


@kernel
def _stop(stop, nodes):
    """Where pieces of some kind of parts end, of those before `stop`."""
    return min(stop, (len(nodes) + PIECE - 1) // PIECE)


@part
def _slow_down(field, x, i):
    """What damping resists the motion of node i with: three columns of the matrix, side by side in blocks."""
    pattern, past, values = field.elastic.pattern, field.past, field.damping
    first, stop = np.uint64(pattern.starts[i]), np.uint64(pattern.starts[i + np.uint64(1)])
    one, stride = np.uint64(1), np.uint64(3) * (stop - first)
    at, sx, sy, sz = np.uint64(9) * first, 0.0, 0.0, 0.0
    for s in range(first, stop):
        j = np.uint64(pattern.neighbours[s])
        dx, dy, dz = x[j, 0] - past[j, 0], x[j, 1] - past[j, 1], x[j, 2] - past[j, 2]
        sx += values[at] * dx + values[at + one] * dy + values[at + np.uint64(2)] * dz
        second, third = at + stride, at + np.uint64(2) * stride
        sy += values[second] * dx + values[second + one] * dy + values[second + np.uint64(2)] * dz
        sz += values[third] * dx + values[third + one] * dy + values[third + np.uint64(2)] * dz
        at += np.uint64(3)
    field.slowed[i, 0], field.slowed[i, 1], field.slowed[i, 2] = sx, sy, sz


@parallel(grain=16)
def sum_energies(first, stop, field, x):
    """Φ by pieces: energies of elastic parts, and those of inertia, drag and damping."""
    parts, sums, slowed = field.elastic, field.sums, field.slowed
    springs, membranes, bends, hinges = parts.springs, parts.membranes, parts.bends, parts.hinges
    if field.is_elastic:
        _sum_springs(first, _stop(stop, springs.nodes), x, springs, sums[:, 0])
        _sum_membranes(first, _stop(stop, membranes.nodes), x, membranes, sums[:, 1])
        _sum_stencils(first, _stop(stop, bends.nodes), x, bends, sums[:, 2])
        _sum_stencils(first, _stop(stop, hinges.nodes), x, hinges, sums[:, 3])
    for p in range(first, stop):
        total = 0.0
        for i in range(np.uint64(p * PIECE), np.uint64(min((p + 1) * PIECE, len(x)))):
            if len(field.damping):
                _slow_down(field, x, i)
            for axis in range(3):
                away, blown = x[i, axis] - field.goal[i, axis], x[i, axis] - field.drift[i, axis]
                total += 0.5 * (field.inertia[i] * away * away + field.drag[i] * blown * blown)
                total += 0.5 * (x[i, axis] - field.past[i, axis]) * slowed[i, axis]
        sums[p, 4] = total


@parallel(grain=1024)
def fill_gradients(first, stop, field, x, out):
    """∇Φ of nodes, N, into out (n, 3), at the x for which energies were summed up last."""
    parts, largest = field.elastic, field.largest
    if field.is_elastic:
        _fill_gradient(first, stop, x, parts.pattern, parts.springs, parts.membranes, out)
    else:
        out[first:stop] = 0.0
    for i in range(first, stop):
        largest[i] = field.weight
        for axis in range(3):
            inertia = field.inertia[i] * (x[i, axis] - field.goal[i, axis])
            drag = field.drag[i] * (x[i, axis] - field.drift[i, axis])
            largest[i] = max(largest[i], abs(inertia), abs(drag), abs(out[i, axis]))
            out[i, axis] += inertia + drag + field.slowed[i, axis]


@parallel(grain=256)
def fill_hessians(first, stop, field, x, keep, out):
    """∂²Φ/∂x² of nodes, N/m, in the pattern of the elements: with a share of what is negative of it."""
    parts = field.elastic
    begin, end = parts.indptr[3 * first], parts.indptr[3 * stop]
    if field.is_elastic:
        _fill_hessian(first, stop, x, parts.pattern, parts.springs, parts.membranes, keep, out)
    else:
        out[begin:end] = 0.0
    if len(field.damping):
        out[begin:end] += field.damping[begin:end]
    for i in range(first, stop):
        for axis in range(3):
            out[parts.diagonal[3 * i + axis]] += field.inertia[i] + field.drag[i]


@parallel(grain=256)
def fill_turnings(first, stop, field, x, step, out):
    """By which forces, N, elastic parts resist a straight step in second order, into out (n, 3)."""
    if field.is_elastic:
        _fill_turning(first, stop, x, step, field.elastic.springs, field.elastic.membranes, out)
    else:
        out[first:stop] = 0.0


_sum_energies, _fill_gradients, _fill_hessians = sum_energies.kernel, fill_gradients.kernel, fill_hessians.kernel
_fill_turnings = fill_turnings.kernel


@kernel
def value(field, x):
    """Φ(x), J, by one thread."""
    _sum_energies(0, len(field.sums), field, x)
    return field.sums.sum()


@kernel
def gradient(field, x, out):
    """∇Φ, N, into out (n, 3), at the x of the last value, by one thread; returns the largest of all forces."""
    _fill_gradients(0, len(x), field, x, out)
    return field.largest.max()


@kernel
def hessian(field, x, keep, out):
    """∂²Φ/∂x², N/m, by one thread."""
    _fill_hessians(0, len(x), field, x, keep, out)


@kernel
def turning(field, x, step, out):
    """By which forces, N, elastic parts resist a straight step in second order, by one thread."""
    _fill_turnings(0, len(x), field, x, step, out)
