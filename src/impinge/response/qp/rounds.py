"""Rounds of solving for the rows that matter, and of removing what softness and rounding have left.

K is factorised once. Rows that are violated or held are brought together in G = J K⁻¹ Jᵀ, where Newton's method finds
those that are active (`_newton.py`); rows that were left out and are violated then join them. All rows give way a
little to their multipliers, so that dependent rows do no harm: the proximal method of multipliers [Rockafellar1976].
Each round starts from the residuals of the last, so that neither softness nor rounding leaves a trace in the answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.errors import ConvergenceError
from impinge.response.qp import _newton, _points, _rows
from impinge.response.qp.program import Floats, Infeasible, Kinds, Program
from impinge.sparse.cholesky import Cholesky, Gram, Structure

_SOFTNESS = 1e-6  # of G_kk, at first
_LEAST_SOFTNESS, _MOST_SOFTNESS = 1e-14, 1.0
_FASTER, _SOFTER = 0.01, 3e4  # factors of softness, for slow rounds and for spoiled ones
_BALANCED = 0.01  # of the tolerance: what may be left of K x = b − Jᵀμ at the start of a round
_ROUNDS = 100
_STEPS = 200  # of Newton's method in one round
_FEW, _FEWER = 32, 16  # violated rows that are taken together, and of more the part that is, at least
_NO_GUESS = np.empty(0, np.bool_)
Flags = NDArray[np.bool_]


class Rounds:
    """The rounds of one program; rows with a kind below 0 are left out."""

    def __init__(self, program: Program, kind: Kinds, tol: float, factor: Cholesky | None = None) -> None:
        self.program, self.tol, self.iterations = program, tol, 0
        self._kind = kind
        if factor is None:
            factor = Cholesky(Structure(program.indptr, program.indices))
            if factor.factorise(program.values) >= 0:
                raise ConvergenceError("K is not positive definite")
        self._factor = factor
        self._gram = Gram(self._factor, *program.rows)
        self._in_gram = np.zeros(len(program.free), np.bool_)
        self._softness = _SOFTNESS
        compliance = np.empty(len(kind))
        _points.estimate_compliance(program.roots, *program.rows, compliance)
        self._sizes = np.sqrt(np.maximum(compliance, 1e-300))

    def count(self, x: Floats, mu: Floats) -> int:
        """How many rows pull; if it is not known, how many are violated without any pull."""
        matter = self._pulling(mu) if mu.any() else self.program.row_values(self._relaxed(x, mu)) > 0.0
        return int(((self._kind >= 0) & matter).sum())

    def _relaxed(self, x: Floats, mu: Floats) -> Floats:
        """Where the pulls lead to: K x = b − Jᵀμ."""
        program = self.program
        return x + self._factor.solve(program.right - program.times(x) - program.from_rows(mu))

    def solve(self, x: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Minimiser and multipliers, from a guess of them."""
        best, kept = np.inf, (x, mu)
        good, nearest = None, np.inf
        reached = balance = np.inf  # balance : what is left of K x = b − Jᵀμ
        for _ in range(_ROUNDS):
            x, after = self._round(x if balance < _BALANCED * self.tol else self._relaxed(x, mu), mu)
            residuals, _, aim = self.program.measure(x, after)
            reached, balance = min(residuals.largest, reached), residuals.stationarity
            # Complementarity does not tell: multipliers that are still far too small make it small.
            left = max(balance, residuals.violation)
            if residuals.largest <= self.tol:
                if aim <= self.tol or not aim < 0.1 * nearest:
                    return x, after
                good = x, after
            elif good:  # rounding leaves no less
                return good
            nearest = aim
            if not left < 0.1 * best:
                change, now = (np.abs(values).max(initial=0.0) for values in (after - mu, after))
                if change > 0.5 * now:  # they grow, or have just begun
                    self._check_feasible(x, after - mu)
            mu = after
            if left < best:
                best, kept = left, (x, mu)
                self._softness = max(_FASTER * self._softness, _LEAST_SOFTNESS)
            elif left > 10.0 * best:  # rounding has spoiled it: back, and softer
                (x, mu), self._softness, balance = kept, _SOFTER * self._softness, np.inf
                if self._softness > _MOST_SOFTNESS:
                    break
        found = f"reached {reached:.1e}, expected {self.tol:.1e}"
        raise ConvergenceError(f"tol: {found}; the problem is too ill-conditioned")

    def _round(self, x: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Point and multipliers after one round from those before, which are balanced."""
        program, solved = self.program, False
        start = values = program.row_values(x)
        moved, y = x, mu
        # A guess that is a bit off violates half of its rows, so at first what pulls says more than what is violated.
        guess = self._pulling(mu) if mu.any() else _NO_GUESS
        while True:
            new = ~self._in_gram & (self._kind >= 0) & self._pulling(mu)
            if solved or not len(guess):
                new |= self._worst(values)
            if new.any():
                guess = guess | new if solved else guess
                self._gram.add(np.flatnonzero(new).astype(np.int32))
                self._in_gram |= new
            elif solved or not len(self._gram.rows):
                return moved, y
            change = self._newton(start, mu, guess)
            y = np.where(self._kind == 1, mu + change, np.maximum(mu + change, 0.0))
            moved = x - self._factor.solve(program.from_rows(change))
            values = program.row_values(moved)
            guess, solved = self._pulling(y), True

    def _pulling(self, mu: Floats) -> Flags:
        """Rows that pull, and equalities."""
        return (self._kind == 1) | (mu > 0.0)

    def _worst(self, values: Floats) -> Flags:
        """Rows that are violated; of many only the worst, since most of the others will be satisfied with them."""
        violated = (values > 0.0) & (self._kind >= 0) & ~self._in_gram
        count = int(violated.sum())
        if count <= _FEW:
            return violated
        measured = np.where(violated, values / self._sizes, -np.inf)
        worst = np.empty(len(measured), np.bool_)
        _rows.find_worst(*self.program.rows[:2], measured, np.empty(len(self.program.right)), worst)
        limit = -(-count // _FEWER)  # rows may have all unknowns in common
        worst |= measured >= np.partition(measured, -limit)[-limit]
        return worst

    def _newton(self, start: Floats, mu: Floats, guess: Flags) -> Floats:
        """How the multipliers change, from those before and the values of the rows with them; guess : active rows."""
        slots, squares = self._gram.rows, self._gram.squares
        used = slots >= 0
        kind = np.where(used, self._kind[slots], np.int8(-1))
        compliance = -self._gram.diagonal
        out = np.empty(len(slots)), np.empty(len(slots))
        chosen = used & guess[slots] if len(guess) else _NO_GUESS
        before, at = np.where(used, mu[slots], 0.0), np.where(used, start[slots], 0.0)
        while True:
            softness = np.where(used, self._softness * compliance, 1.0)
            steps, solved = _newton.newton(squares, at, before, softness, kind, chosen, _STEPS, *out)
            self.iterations += steps
            if solved:
                break
            self._softness *= 100.0  # rounding has made G indefinite
        result = np.zeros(len(mu))
        result[slots[used]] = out[0][used]
        return result

    def _check_feasible(self, x: Floats, y: Floats) -> None:
        """Multipliers that grow without moving anything prove that rows contradict each other (Farkas)."""
        program = self.program
        for _ in range(4):
            if _points.contradicts(*program.rows, program.bounds, self._kind, x, y):
                raise Infeasible(y)
            y = self._sharper(y)

    def _sharper(self, y: Floats) -> Floats:
        """Multipliers that move less: (G + a little)⁻¹ y, of those that are not too small."""
        slots = self._gram.rows
        signed = np.where(self._kind == 1, np.abs(y), y)
        chosen = np.flatnonzero((slots >= 0) & (signed[slots] > 1e-7 * np.abs(y).max()))
        result = np.zeros(len(y))
        if len(chosen):
            compliance = self._gram.part(chosen)
            compliance[np.diag_indices(len(chosen))] *= 1.0 + 1e-13
            found = np.linalg.solve(compliance, y[slots[chosen]])
            result[slots[chosen]] = found / max(np.abs(found).max(), 1e-300)
        return result
