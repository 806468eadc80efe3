"""An implicit step under elastic forces, and springs between pairs; nothing is held apart or certified."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft.parts import Floats, Ints
from impinge.bodies.soft.potential import Potential
from impinge.response.contact_rows import Gaps, Pairs
from impinge.response.qp import _rows
from impinge.sparse.cholesky import Cholesky, Structure

__all__ = ["Ahead", "Springs", "implicit_step"]

_TOLERANCE = 1e-6  # of the largest force: what may be left of the equations of motion
_NEWTON = 100
_SHORTEST = 1e-9  # part of a Newton step


class Ahead(NamedTuple):
    """What is known of a step before it is taken."""

    potential: Potential
    start: Floats  # (all vertices, 3) m, soft nodes first
    end: Floats  # the same; of obstacles and fixed nodes where they will be, of others a guess
    fixed: NDArray[np.bool_]  # (n, 3): coordinates of soft nodes whose end is given

    def given(self) -> Floats:
        """Positions with all that is given at its end, and all that is free still at its start."""
        x = self.end.copy()
        x[: len(self.fixed)][~self.fixed] = self.start[: len(self.fixed)][~self.fixed]
        return x


class Springs(NamedTuple):
    """Springs with energy k/2 (distance − gap)² between pairs that are nearer than their distance."""

    pairs: Pairs
    gaps: Gaps  # normals and weights of the nearest points at the start
    distances: Floats  # (m,) m
    stiffness: float  # k, N/m

    def compressed(self, x: Floats) -> Floats:
        """By how much, m, with all vertices at x."""
        result: Floats = np.maximum(self.distances - self.gaps.at(x, self.pairs), 0.0)
        return result

    def rows(self, fixed: NDArray[np.bool_]) -> tuple[Ints, Ints, Floats]:
        """Derivatives of the compressions, as sparse rows over the coordinates of soft nodes that are free."""
        corners, count = self.pairs.corners, len(fixed)
        values = -self.gaps.weights[:, :, None] * self.gaps.normals[:, None, :]
        is_free = (corners < count)[:, :, None] & ~fixed[np.minimum(corners, count - 1)]
        indices: Ints = (3 * corners[:, :, None] + np.arange(3))[is_free].astype(np.int32)
        indptr: Ints = np.append(0, np.cumsum(is_free.sum(axis=(1, 2)))).astype(np.int32)
        return _check.frozen(indptr), _check.frozen(indices), _check.frozen(values[is_free])


def implicit_step(ahead: Ahead, factor: Cholesky, springs: Springs | None = None) -> Floats:
    """Positions of all vertices at the end of a step of implicit Euler.

    Newton's method for the minimum of the potential and of the energy of the springs. The literature takes its first
    step only, one linear system ([Baraff1998] (6), [Raghupathi2006] (1) as it must be). That turns segments without
    turning their forces: in the paper's second demo, with steps of 10 ms, it stretches the cable by 0.8 % while it
    still falls freely, where 0.05 % is right. What is to be compared is what responses to contact do, so that all get
    the same equations of motion, solved as well.

    Parameters
    ----------
    ahead : Ahead
    factor : Cholesky
        With the pattern of the elements.
    springs : Springs, optional
    """
    if springs is not None and not len(springs.distances):
        springs = None
    return _Search(ahead, factor, springs).run()


class _Search:
    """Newton's method."""

    def __init__(self, ahead: Ahead, factor: Cholesky, springs: Springs | None) -> None:
        self._potential, self._springs, self._factor = ahead.potential, springs, factor
        self._fixed, self._end = ahead.fixed.ravel(), ahead.given()
        self._x = self._end[: len(ahead.fixed)]  # a view: what moves
        if springs is not None:
            elements, self._rows = ahead.potential.elements, springs.rows(ahead.fixed)
            self._factor = Cholesky(Structure(elements.indptr, elements.indices, rows=self._rows[:2], size=3))

    def run(self) -> Floats:
        for _ in range(_NEWTON):
            gradient, largest = self._gradient()
            if np.abs(gradient).max(initial=0.0) <= _TOLERANCE * largest:
                break
            self._go(self._direction(gradient).reshape(-1, 3))
        return self._end

    def _gradient(self) -> tuple[Floats, float]:
        """What is left of the equations of motion of free coordinates, and the largest force in them, N."""
        gradient, largest = self._potential.gradient(self._x)
        left = gradient.ravel()
        if self._springs is not None:
            forces = self._springs.stiffness * self._springs.compressed(self._end)
            _rows.add_rows(*self._rows, forces, 1.0, left)
            largest = max(largest, float(forces.max()))
        left[self._fixed] = 0.0
        return left, largest

    def _direction(self, gradient: Floats) -> Floats:
        """Newton's step; without what is negative of the Hessian where the whole of it is not positive definite."""
        elements = self._potential.elements
        for keep in (1.0, 0.0):
            values, right = self._potential.hessian(self._x, keep=keep), -gradient
            out, nothing = np.empty_like(values), np.zeros(len(right))
            frozen = _check.frozen(values)
            _rows.fix(elements.indptr, elements.indices, frozen, self._fixed, nothing, right, out)
            if self._factorise(out) < 0:
                break
        return self._factor.solve(right)

    def _factorise(self, values: Floats) -> int:
        if self._springs is None:
            return self._factor.factorise(values)
        weights = np.where(self._springs.compressed(self._end) > 0.0, self._springs.stiffness, 0.0)
        return self._factor.factorise(values, self._rows[2], weights)

    def _go(self, step: Floats) -> None:
        """As far along the step as lowers the energy."""
        start, before, far = self._x.copy(), self._value(), 1.0
        self._x[:] = start + step
        while self._value() > before + 1e-12 * abs(before) and far > _SHORTEST:
            far *= 0.5
            self._x[:] = start + far * step

    def _value(self) -> float:
        value = self._potential.value(self._x)
        if self._springs is not None:
            value += 0.5 * self._springs.stiffness * float((self._springs.compressed(self._end) ** 2).sum())
        return value
