"""The minimum of a potential subject to rows: `_interior` with the factor that fits."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from impinge.bodies.soft import _interior
from impinge.bodies.soft._interior import Arc, Point, Trial
from impinge.bodies.soft._rows import EQUALITY, UNUSED, Rows
from impinge.bodies.soft.constraints import Friction, Held, all_rows
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.potential import Potential
from impinge.bodies.soft.task import Task
from impinge.errors import ConvergenceError
from impinge.response.qp import _banded
from impinge.response.qp.program import Infeasible, Program
from impinge.response.qp.solve import solve_program
from impinge.sparse.cholesky import Cholesky, Structure

__all__ = ["PRODUCT", "TOLERANCE", "Minimum", "free_step", "what_is_left"]

TOLERANCE, PRODUCT = 1e-6, 1e-8  # what may be left of the equations of motion, and of slacks times forces

_WIDEST = 24  # couplings of unknowns in a band
_PROOF = 1e-8  # accuracy of the program that tells whether rows contradict each other
_VIOLATION = 1e-8  # of the sizes of rows: what may be left, as in `_interior`
_FEASIBLE = 1e-3  # of the sizes of rows


class Minimum:
    """The search for a minimum.

    Parameters
    ----------
    potential : Potential
    rows : Rows
    x : (n, 3) m
        Where to start.
    forces, slacks : (m,) N, m
        Of all rows but those of slip: those that are known, else 0.
    structure : Structure
        Of the Hessian.
    most : float, J
        No minimum is above: the search for one that is there is given up.
    must_prove : bool
        Whether to look for a proof, which takes long, that rows contradict each other, if nothing satisfies them.
    """

    def __init__(
        self,
        potential: Potential,
        rows: Rows,
        x: Floats,
        forces: Floats,
        slacks: Floats,
        structure: Structure,
        *,
        most: float = np.inf,
        must_prove: bool = True,
    ) -> None:
        count, unknowns = len(rows.kind), x.size
        self._potential, self._rows, self._structure = potential, rows, structure
        self.point = Point(
            x.ravel().copy(), forces.copy(), slacks.copy(), np.empty(count), np.empty(unknowns),
            np.empty(len(structure.indices)), np.zeros(len(rows.indptr) - 1), np.zeros(2 * len(rows.friction)),
            np.empty(unknowns), np.empty(count), np.empty(count), np.zeros(_interior.FIELDS),
        )  # fmt: skip
        self._trial = Trial(np.empty(unknowns), np.empty(count), np.empty(count), np.empty(count))
        self._arc = Arc(np.empty(unknowns), np.empty(count), np.empty(count))
        self.soft, self._pulls = np.empty(count), np.empty(count)
        self._band = np.empty((0, 0))
        wide = _banded.bandwidth(structure.indptr, structure.indices, rows.indptr, rows.indices)
        if wide <= _WIDEST:
            self._band = _banded.room(unknowns, wide)
        self._begun, self._must_prove, self._most = False, must_prove, most

    @property
    def x(self) -> Floats:
        """Positions, (n, 3)."""
        return self.point.x.reshape(-1, 3)

    @property
    def steps(self) -> int:
        """Iterations so far."""
        return int(self.point.state[_interior.STEPS])

    @property
    def residual(self) -> float:
        """What is left of the equations of motion, by the largest force."""
        return float(self.point.state[_interior.RESIDUAL])

    @property
    def is_feasible(self) -> bool:
        """Whether all rows are satisfied."""
        return bool(self.point.state[_interior.PRIMAL] <= _FEASIBLE)

    def forces(self) -> Floats:
        """Forces of all rows but those of slip; 0 of rows that do not act."""
        point, kind = self.point, self._rows.kind
        acts = (kind == EQUALITY) | ((kind >= 0) & (point.y * self.soft > point.z))
        return np.where(acts, point.y, 0.0)

    def run(self, tolerance: float, product: float) -> None:
        """Go on until forces are balanced to `tolerance` of the largest, and slacks times forces are below `product`
        of it times the size of a row.
        """
        limits = tolerance, product, self._most
        if len(self._band):
            work = self._trial, self._arc, self.soft, self._pulls, self._band, self._begun
            code = _interior.minimise_banded(self._potential.field, self._rows, self.point, *work, *limits)
        else:
            code = self._minimise(*limits)
        self._begun = True
        if code == _interior.STUCK:
            if self._must_prove:
                self._check_feasible()
            raise ConvergenceError(what_is_left(self.point.state, tolerance, product, self._most))

    def _minimise(self, tolerance: float, product: float, most: float) -> int:
        """What `minimise_banded` does, with a factor of any pattern, and all threads."""
        potential, rows, point, trial, pulls = self._potential, self._rows, self.point, self._trial, self._pulls
        arc = self._arc
        left, there = point.left.reshape(-1, 3), trial.x.reshape(-1, 3)
        energy = 0.0 if self._begun else potential.value(self.x)
        largest = potential.gradient(self.x, left)
        if not self._begun:
            _interior.begin(potential.field, rows, point, self.soft, energy, largest)
        while True:
            code = _interior.judge(rows, point, largest, tolerance, product, most)
            if code != _interior.FACTORISE:
                return int(code)
            if not self._factorise():
                return _interior.STUCK
            _interior.predict(rows, point, pulls)
            step = self._factor.solve(point.right)
            if len(pulls):
                _interior.correct(rows, point, pulls, step, product)
                step = self._factor.solve(point.right)
            _interior.set_out(rows, point, pulls, step, arc)
            _interior.try_out(rows, point, step, arc, trial)
            while not _interior.go_there(rows, point, trial, potential.value(there)):
                if _interior.should_bend(point.state):
                    self._bend(step)
                _interior.try_out(rows, point, step, arc, trial)
            largest = potential.gradient(self.x, left)

    def _bend(self, step: Floats) -> None:
        """Let the path along a step bend."""
        arc = self._arc
        self._potential.turning(self.x, step.reshape(-1, 3), arc.x.reshape(-1, 3))
        _interior.curve(self._rows, self.point, step, self._pulls, arc)
        arc.x[:] = self._factor.solve(self.point.right)
        _interior.bend(self._rows, self.point, step, self._pulls, arc)

    def _factorise(self) -> bool:
        """Factorise the matrix of the next iteration; false if it is not positive definite in any way."""
        rows, point = self._rows, self.point
        _interior.choose_curvature(point.state, False)
        while True:
            self._assemble()
            if self._factor.factorise(point.values, rows.values, point.weights) < 0:
                return True
            if not _interior.choose_curvature(point.state, True):
                return False

    def _assemble(self) -> None:
        point = self.point
        self._potential.hessian(self.x, keep=float(point.state[_interior.KEEP]), out=point.values)
        _interior.weigh(self._potential.elements.arrays, self._rows, point)

    @cached_property
    def _factor(self) -> Cholesky:
        return Cholesky(self._structure.with_rows((self._rows.indptr, self._rows.indices)))

    def _check_feasible(self) -> None:
        """Raise Infeasible if the rows contradict each other at this point."""
        rows, point, count = self._rows, self.point, len(self._rows.kind)
        point.state[_interior.KEEP] = 0.0
        self._assemble()
        indptr = rows.indptr[: count + 1].copy()
        matrix = indptr, rows.indices[: indptr[-1]].copy(), -rows.values[: indptr[-1]]
        equal = (rows.kind == EQUALITY).astype(np.int8)
        program = Program(
            self._structure.indptr, self._structure.indices, point.values, -point.left, matrix, point.s.copy(), equal
        )
        kind = np.where(rows.give > 0.0, np.int8(UNUSED), rows.kind)
        try:
            solve_program(program, kind, np.zeros(len(point.x)), np.maximum(point.y, 0.0), _PROOF)
        except ConvergenceError:
            return
        except Infeasible as found:
            least = np.where(kind == EQUALITY, -np.inf, 0.0)
            raise Infeasible(np.where(kind >= 0, np.maximum(found.multipliers, least), 0.0)) from None


def what_is_left(state: Floats, tolerance: float, product: float, most: float) -> str:
    """Of the state of a minimum that was not found, in words: by how much what failed."""
    residual, primal, products = (float(state[k]) for k in (_interior.RESIDUAL, _interior.PRIMAL, _interior.PRODUCT))
    found = []
    if not residual <= tolerance:
        found.append(f"the equations of motion are off by {residual:.1e} of the largest force")
    if not primal <= max(_VIOLATION, 1e-2 * tolerance):
        found.append(f"contacts, limits or rows are off by {primal:.1e} of their size")
    if not products <= product:
        found.append(f"rows push before they act, by {products:.1e} of the largest force times their size")
    return " and ".join(found) or f"the energy has risen beyond {most:.2g} J"


def free_step(task: Task, structure: Structure, held: Held) -> Floats:
    """Positions of all vertices at the end of a step in which nothing is looked for; pairs that are held may give way.

    The literature linearises a step once ([Baraff1998] (6), [Raghupathi2006] (1) as it must be). That turns segments
    without turning their forces: in the paper's second demo, with steps of 10 ms, it stretches the cable by 0.8 % while
    it still falls freely, where 0.05 % is right. What is to be compared is what responses to contact do, so all get the
    same equations of motion, solved as well.
    """
    n, end = len(task.fixed), task.end.copy()
    rows = all_rows(held, task.linear, task.bars, Friction(np.empty(0), 1.0), task.start, end, task.fixed)
    nothing = np.zeros(len(rows.kind))
    minimum = Minimum(task.potential, rows, end[:n], nothing, nothing, structure)
    minimum.run(TOLERANCE, PRODUCT)
    end[:n] = minimum.x
    return end
