"""Kernels: what an implicit step minimises, its gradient and its Hessian (see `potential.Potential`)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel
from impinge.bodies.soft._elements import (
    PIECE,
    Pattern,
    Table,
    fill_gradient,
    fill_hessian,
    sum_membranes,
    sum_springs,
    sum_stencils,
)
from impinge.response.qp._rows import times_symmetric

_fill_gradient, _fill_hessian = fill_gradient.kernel, fill_hessian.kernel
_sum_springs, _sum_stencils, _sum_membranes = sum_springs.kernel, sum_stencils.kernel, sum_membranes.kernel

_Floats = NDArray[np.float64]
_Stencil = tuple[NDArray[np.int32], _Floats, _Floats]


class Elastic(NamedTuple):
    """Elastic parts (`Elements`), and the pattern of their Hessian."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    diagonal: NDArray[np.int32]
    pattern: Pattern
    springs: Table
    membranes: Table
    bends: _Stencil
    hinges: _Stencil


class Field(NamedTuple):
    """A potential of n nodes."""

    elastic: Elastic
    is_elastic: bool  # whether elastic energy is in it; explicit steps have it in their goal
    inertia: _Floats  # (n,) m/h², N/m
    drag: _Floats  # (n,) d/h, N/m
    goal: _Floats  # (n, 3)
    drift: _Floats  # (n, 3) where the air around a node would end
    past: _Floats  # (n, 3)
    damping: _Floats  # C/h in the pattern of the Hessian; empty for none
    weight: float  # N, the size of forces at least


@kernel
def _elastic_energy(parts, x):
    springs, membranes, bends, hinges = parts.springs, parts.membranes, parts.bends, parts.hinges
    longest = max(len(springs.nodes), len(membranes.nodes), len(bends[0]), len(hinges[0]))
    sums, total = np.empty((longest + PIECE - 1) // PIECE), 0.0
    count = (len(springs.nodes) + PIECE - 1) // PIECE
    _sum_springs(0, count, x, springs.nodes, springs.weights, springs.stiffness, sums)
    total += sums[:count].sum()
    count = (len(membranes.nodes) + PIECE - 1) // PIECE
    _sum_membranes(0, count, x, membranes.nodes, membranes.weights, membranes.stiffness, sums)
    total += sums[:count].sum()
    count = (len(bends[0]) + PIECE - 1) // PIECE
    _sum_stencils(0, count, x, bends[0], bends[1], bends[2], sums)
    total += sums[:count].sum()
    count = (len(hinges[0]) + PIECE - 1) // PIECE
    _sum_stencils(0, count, x, hinges[0], hinges[1], hinges[2], sums)
    return total + sums[:count].sum()


@kernel
def value(field, x):
    """Φ(x), J."""
    total = _elastic_energy(field.elastic, x) if field.is_elastic else 0.0
    for i in range(len(x)):
        for axis in range(3):
            away, blown = x[i, axis] - field.goal[i, axis], x[i, axis] - field.drift[i, axis]
            total += 0.5 * (field.inertia[i] * away * away + field.drag[i] * blown * blown)
    if len(field.damping):
        moved = (x - field.past).reshape(-1)
        slowed = np.empty_like(moved)
        times_symmetric(field.elastic.indptr, field.elastic.indices, field.damping, moved, slowed)
        total += 0.5 * (moved * slowed).sum()
    return total


@kernel
def gradient(field, x, out):
    """∇Φ, N, into out (n, 3); returns the largest of the forces that it is the sum of."""
    parts, largest = field.elastic, field.weight
    if field.is_elastic:
        _fill_gradient(0, len(x), x, parts.pattern, parts.springs, parts.membranes, out)
    else:
        out[:] = 0.0
    for i in range(len(x)):
        for axis in range(3):
            inertia = field.inertia[i] * (x[i, axis] - field.goal[i, axis])
            drag = field.drag[i] * (x[i, axis] - field.drift[i, axis])
            largest = max(largest, abs(inertia), abs(drag), abs(out[i, axis]))
            out[i, axis] += inertia + drag
    if len(field.damping):
        moved = (x - field.past).reshape(-1)
        slowed = np.empty_like(moved)
        times_symmetric(parts.indptr, parts.indices, field.damping, moved, slowed)
        out += slowed.reshape((len(x), 3))
    return largest


@kernel
def hessian(field, x, keep, out):
    """∂²Φ/∂x², N/m, in the pattern of the elements: with a share of what is negative of it."""
    parts = field.elastic
    if field.is_elastic:
        _fill_hessian(0, len(x), x, parts.pattern, parts.springs, parts.membranes, keep, out)
    else:
        out[:] = 0.0
    if len(field.damping):
        out += field.damping
    for i in range(len(x)):
        for axis in range(3):
            out[parts.diagonal[3 * i + axis]] += field.inertia[i] + field.drag[i]
