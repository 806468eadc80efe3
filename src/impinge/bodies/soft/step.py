"""One time step of soft bodies: dynamics and all contacts together, certified free of collisions before it is taken.

Positions at the end of the step minimise the potential subject to rows that keep pairs apart. Rows are found by
following the trajectory; what comes too near along it joins them, and the minimum is sought again with them, until
nothing new is found and nothing touches on the way: that is the certificate. Where rows at nearest points do not
suffice, all corners of a pair are kept apart along its normal, which proves that the pair is free.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft.constraints import Held
from impinge.bodies.soft.parts import Floats, Ints
from impinge.bodies.soft.potential import Potential
from impinge.bodies.soft.surface import Surface
from impinge.errors import ConvergenceError
from impinge.response.contact_rows import Pairs, distinct, measure, spread
from impinge.response.qp import _rows
from impinge.response.qp.points import solve_points
from impinge.response.qp.program import Infeasible, Program
from impinge.response.qp.solve import solve_program
from impinge.sparse.cholesky import Cholesky, Structure

__all__ = ["KEEP_AWAY", "RECOVER", "SQUEEZE", "Blocked", "Result", "Step"]

_TOLERANCE = 1e-6  # of the largest force: what may be left of the equations of motion
_NEWTON = 200
_PASSES = 40
_QP = 1e-8
_DRIVEN = 1e-6  # of the distance that is asked for: what nodes that are driven together may lack
_SHORTEST, _LEAP = 1e-9, 3.0  # parts of Newton's steps
_NEAR = 0.1  # residual below which the whole Hessian is tried
_SHARE = 0.01  # of the distance that pairs keep: rows are satisfied within _QP of that

RECOVER, KEEP_AWAY, SQUEEZE = range(3)  # what pairs that are too near are asked for: to part, to stay, not to touch

Rows = tuple[Ints, Ints, Floats]


@dataclass
class Result:
    """Where a step ended."""

    positions: Floats
    held: Held
    passes: int
    newton: int
    residual: float
    contact: float  # when something first touches on the way, from 0 to 1; inf is certain: nothing does

    @property
    def is_free(self) -> bool:
        """Certified: nothing touches on the way."""
        return self.contact == np.inf


class Blocked(Exception):
    """Pairs that cannot all be kept apart."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__()
        self.pairs = pairs


class Step:
    """The search for the end of one step.

    Parameters
    ----------
    surface : Surface
    potential : Potential
    start, end : (all vertices, 3) m
        Positions at the start; of obstacles and fixed nodes also at the end, of others a guess.
    fixed : (n, 3) bool
        Coordinates of soft nodes whose end is given.
    recovery : float, m
        How much distance pairs that are too near may win in the step.
    demand : int
        RECOVER, KEEP_AWAY or SQUEEZE: what pairs that are too near are asked for.
    """

    def __init__(
        self,
        surface: Surface,
        potential: Potential,
        start: Floats,
        end: Floats,
        fixed: NDArray[np.bool_],
        factor: Cholesky,
        recovery: float,
        demand: int = RECOVER,
    ) -> None:
        self._surface, self._potential, self._factor = surface, potential, factor
        self._coupled: Cholesky | None = None
        self._start, self._end, self._fixed = start, end.copy(), fixed
        self._recovery, self._demand, self._n = recovery, demand, len(fixed)
        self._held = Held.nothing()
        self.newton = self.passes = 0
        self.residual, self._crawling = np.inf, False

    def run(self, known: Pairs, forces: Floats) -> Result:
        """Find the end, from pairs that were held in the last step and their forces."""
        self._hold(known, forces)
        self._add_violated(self._surface.near(self._start, self._end))  # of the guess
        for self.passes in range(1, _PASSES + 1):
            self._minimise()
            near = self._surface.near(self._start, self._end)
            if self._add_violated(near):
                continue
            times = self._surface.times(self._start, self._end, near)
            contact = float(times.min(initial=np.inf))
            if contact == np.inf or not self._spread(near.take(np.flatnonzero(times < np.inf))):
                break
        else:
            contact = float(self._surface.times(self._start, self._end, near).min(initial=np.inf))
        return Result(self._end, self._held, self.passes, self.newton, self.residual, contact)

    # Rows

    def _hold(self, pairs: Pairs, forces: Floats | None = None) -> None:
        """Keep pairs apart."""
        self._held.known = np.concatenate([self._held.known, pairs.keys])
        gaps = measure(self._start, pairs)
        which = distinct(pairs, gaps)
        pairs, gaps, forces = pairs.take(which), gaps.take(which), None if forces is None else forces[which]
        wanted = self._surface.distances(pairs)
        near = np.minimum(gaps.gaps, wanted)
        if self._demand == RECOVER:
            targets = np.minimum(wanted, gaps.gaps + self._recovery)
        else:
            targets = near if self._demand == KEEP_AWAY else np.minimum(0.1 * wanted, 0.5 * near)
        self._held.add(pairs, gaps, targets, forces)

    def _add_violated(self, near: Pairs) -> bool:
        """Hold pairs that end too near; whether there are any new ones."""
        new = near.take(self._held.lack(near))
        if not len(new.kinds):
            return False
        gaps = measure(self._start, new)
        distances = np.minimum(self._surface.distances(new), gaps.gaps)
        violated = np.flatnonzero(gaps.at(self._end, new) < distances * (1.0 - 1e-9))
        if len(violated):
            self._hold(new.take(violated))
        return bool(len(violated))

    def _spread(self, pairs: Pairs) -> bool:
        """Keep all corners of pairs apart; whether there are pairs for which that is new."""
        fresh = np.flatnonzero([int(key) not in self._held.spread for key in pairs.keys])
        pairs = pairs.take(fresh)
        self._held.spread.update(int(key) for key in pairs.keys)
        every, gaps = spread(pairs, measure(self._start, pairs))
        self._held.add(every, gaps, np.minimum(0.1 * self._surface.distances(every), 0.5 * gaps.gaps))
        return len(fresh) > 0

    # Minimum

    def _minimise(self) -> None:
        """Newton's method with all rows that are held."""
        rows = self._held.rows(self._fixed)
        kind = np.where(np.diff(rows[0]) > 0, np.int8(0), np.int8(-1))
        self._coupled = None
        x = self._end[: self._n]
        gradient, _ = self._potential.gradient(x)
        for count in itertools.count(1):
            self.newton += 1
            bounds = self._held.gaps.at(self._end, self._held.pairs) - self._held.targets
            driven = np.flatnonzero((kind < 0) & (bounds < -_DRIVEN * self._held.targets))
            if len(driven):  # no free node has a part in these
                raise Blocked(self._held.pairs.take(driven))
            try:
                step, forces = self._solve(x, gradient, rows, kind, bounds)
            except Infeasible as found:
                raise Blocked(self._held.pairs.take(np.flatnonzero(found.multipliers > 0))) from None
            x = self._go(x, step.reshape(-1, 3), bounds, forces, kind)
            self._end[: self._n] = x
            self._held.forces = forces
            gradient, largest = self._potential.gradient(x)
            left = gradient.ravel().copy()
            _rows.add_rows(*rows, forces, 1.0, left)
            left[self._fixed.ravel()] = 0.0
            before, self.residual = self.residual, float(np.abs(left).max() / max(largest, 1e-300))
            self._crawling = self.residual > 0.5 * before
            if self.residual <= _TOLERANCE:
                return
            if count > _NEWTON:
                raise ConvergenceError(f"the equations of motion are off by {self.residual:.1e} of the largest force")

    def _solve(
        self, x: Floats, gradient: Floats, rows: Rows, kind: NDArray[np.int8], bounds: Floats
    ) -> tuple[Floats, Floats]:
        """Newton's step and forces: near the end with the whole Hessian, if the rows that are active make up for what
        is negative of it; else without that, which is safe but slow.
        """
        start, forces = np.zeros(3 * self._n), self._held.forces
        if self.residual < _NEAR:
            program = self._program(x, gradient, rows, bounds, 1.0)
            found = solve_points(program, kind, start, forces, _QP, self._coupled_factor(rows))
            if found is not None:
                return found[0], found[1]
        program = self._program(x, gradient, rows, bounds, 0.0)
        self._factor.factorise(program.values)
        step, forces, _ = solve_program(program, kind, start, forces, _QP, self._factor)
        return step, forces

    def _coupled_factor(self, rows: Rows) -> Cholesky:
        """A factor with room for the products of rows, the same for all steps with the same rows."""
        if self._coupled is None:
            elements = self._potential.elements
            self._coupled = Cholesky(Structure(elements.indptr, elements.indices, rows=rows[:2], size=3))
        return self._coupled

    def _program(self, x: Floats, gradient: Floats, rows: Rows, bounds: Floats, keep: float) -> Program:
        elements, fixed = self._potential.elements, self._fixed.ravel()
        values, right = self._potential.hessian(x, keep=keep), -gradient.ravel()
        if fixed.any():
            out = np.empty_like(values)
            frozen = _check.frozen(values)
            _rows.fix(elements.indptr, elements.indices, frozen, fixed, np.zeros(len(right)), right, out)
            values = out
        free = np.zeros(len(bounds), np.int8)
        program = Program(elements.indptr, elements.indices, values, right, rows, bounds, free)
        # Steps become as small as rounding; what matters is a share of the distances that are kept.
        program.size = max(program.size, _SHARE * self._surface.gap * float(np.sqrt(program.diagonal.min())))
        return program

    def _go(self, x: Floats, step: Floats, bounds: Floats, forces: Floats, kind: NDArray[np.int8]) -> Floats:
        """As far along the step as lowers the potential and what rows are violated by, at the price of their forces."""
        price, used = 2.0 * float(forces.max(initial=0.0)), kind >= 0
        before = self._potential.value(x) + price * float(np.maximum(-bounds[used], 0.0).sum())

        def rises(far: float) -> float:
            whole = np.concatenate([x + far * step, self._end[self._n :]])
            left = self._held.gaps.at(whole, self._held.pairs) - self._held.targets
            return self._potential.value(whole[: self._n]) + price * float(np.maximum(-left[used], 0.0).sum()) - before

        far, least = 1.0, 1e-12 * abs(before)
        rise = rises(far)
        while rise > least and far > _SHORTEST:
            far *= 0.5
            rise = rises(far)
        while self._crawling and rise < -least and far >= 1.0 and (next_rise := rises(_LEAP * far)) < rise:
            far, rise = _LEAP * far, next_rise  # off a saddle, where steps are short for want of negative curvature
        return x + far * step
