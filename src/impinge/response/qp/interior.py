"""Programs that are too ill-conditioned for the other ways: a primal-dual interior-point method on the whole system.

    K x − b + Jᵀ y = 0,   J x + s = c,   s y = μ → 0,   s, y > 0       (s = 0 for equalities)

after [Mehrotra1992]. Each iteration solves with

    ( K   Jᵀ  )
    ( J  −s/y )

as it is, factorised with pivots from anywhere. That is far slower than what G = J K⁻¹ Jᵀ or K + Jᵀ W J take, but both
of these square the condition of the rows.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from impinge.errors import ConvergenceError
from impinge.response.qp import _points
from impinge.response.qp.program import Floats, Infeasible, Kinds, Program

_STEPS = 100
_MORE = 10  # steps, once the tolerance is reached, to leave next to nothing
_TO_BORDER = 0.99
_PROXIMAL = 1e-16  # of equalities, which may depend on each other, in scaled units
_REFINEMENTS = 3
_LEAST = 1e-10  # stiffness that keeps unknowns where no row does, in scaled units


class _Scaled:
    """The rows that count, and unknowns, in units in which K has a diagonal of ones and rows a length of one."""

    def __init__(self, program: Program, kind: Kinds) -> None:
        n, self.used = len(program.right), np.flatnonzero(kind >= 0)
        K = sp.csc_array((program.values, program.indices, program.indptr), shape=(n, n))
        J = sp.csr_array((program.rows[2], program.rows[1], program.rows[0]), shape=(len(kind), n))[self.used]
        self.units = 1.0 / program.roots
        J = J @ sp.diags_array(self.units)
        length = np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
        self.per = 1.0 / np.where(length > 0.0, length, 1.0)
        self.J = sp.csr_array(sp.diags_array(self.per) @ J)
        self.K = sp.csc_array(sp.diags_array(self.units) @ K @ sp.diags_array(self.units))
        self.b, self.c = self.units * program.right, self.per * program.bounds[self.used]
        self.is_equal = kind[self.used] == 1

    def unscaled(self, x: Floats, y: Floats, count: int) -> tuple[Floats, Floats]:
        """Point and multipliers of the program."""
        multipliers = np.zeros(count)
        multipliers[self.used] = self.per * y
        return self.units * x, multipliers


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # points that are not finite end it
def solve_interior(program: Program, kind: Kinds, tol: float) -> tuple[Floats, Floats, int]:
    """Point, multipliers and iterations; raises Infeasible with a proof, or ConvergenceError.

    It goes on for a while where rounding may leave less.
    """
    scaled = _Scaled(program, kind)
    reached, least, best, last = np.inf, np.inf, None, _STEPS
    for number, (x, y) in enumerate(_iterate(scaled), 1):
        found = scaled.unscaled(x, y, len(kind))
        residuals, _, aim = program.measure(*found)
        reached = min(residuals.largest, reached)
        if residuals.largest <= tol and aim < least:
            last = last if best else number + _MORE
            least, best = aim, (*found, number)
        if least <= tol or number >= last:
            break
    if best:
        return *_without_idle(program, kind, tol, least, *best[:2]), best[2]
    _prove(program, kind, scaled)
    raise ConvergenceError(f"tol: reached {reached:.1e}, expected {tol:.1e}; the problem is too ill-conditioned")


def _without_idle(
    program: Program, kind: Kinds, tol: float, least: float, x: Floats, y: Floats
) -> tuple[Floats, Floats]:
    """The same with multipliers of exactly 0 where a row is farther from its bound than it pushes.

    The method keeps all multipliers above 0; what it leaves of those of rows that do not act is noise. They stay if
    without them more is left than `tol`, or than twice what is left with them.
    """
    slack = -program.row_values(x)
    indptr, indices, values = program.rows
    J = sp.csr_array((values**2 / program.roots[indices] ** 2, indices, indptr), shape=(len(kind), len(x)))
    idle = (kind == 0) & (y > 0.0) & (slack > J.sum(axis=1) * y)  # in units in which K has a diagonal of ones
    if not idle.any():
        return x, y
    trimmed = np.where(idle, 0.0, y)
    residuals, _, aim = program.measure(x, trimmed)
    return (x, trimmed) if residuals.largest <= tol and aim <= max(2.0 * least, tol) else (x, y)


class _System:
    """The equations of an iteration, factorised."""

    def __init__(self, p: _Scaled, gives: Floats) -> None:
        self._p, self._gives, self._n = p, np.where(p.is_equal, 0.0, gives), len(p.b)
        matrix = sp.block_array(
            [[p.K, p.J.T], [p.J, -sp.diags_array(np.where(p.is_equal, _PROXIMAL, gives))]], format="csc"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self._factor = splu(matrix)

    def solve(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Changes of x and y."""
        dx, dy = np.zeros(len(first)), np.zeros(len(second))
        p, n = self._p, self._n
        for _ in range(_REFINEMENTS):
            left = np.concatenate([first - p.K @ dx - p.J.T @ dy, second - p.J @ dx + self._gives * dy])
            more = self._factor.solve(left)
            dx, dy = dx + more[:n], dy + more[n:]
        return dx, dy


def _farthest(value: Floats, change: Floats) -> float:
    """How far values can go until one is 0."""
    down = change < 0.0
    return float((-value[down] / change[down]).min(initial=np.inf))


def _iterate(p: _Scaled) -> Iterator[tuple[Floats, Floats]]:
    """Points and multipliers, one after the other; ends where nothing can be solved any more."""
    some, count = ~p.is_equal, max(int((~p.is_equal).sum()), 1)
    x, y, s = np.zeros(len(p.b)), np.zeros(len(p.c)), np.zeros(len(p.c))
    try:
        x, y = _System(p, np.ones(len(p.c))).solve(p.b, p.c)
        # [Mehrotra1992], section 7: as far inside as what is violated
        s[some] = (p.c - p.J @ x)[some]
        for value in (s, y):
            value[some] += max(-1.5 * float(value[some].min(initial=0.0)), 0.0)
        product = float(s[some] @ y[some])
        for value, other in ((s, y), (y, s)):
            value[some] += 0.5 * product / max(float(other[some].sum()), 1e-300) + 1e-12
        for _ in range(_STEPS):
            mean = float(s[some] @ y[some]) / count
            gives = np.divide(s, y, out=np.zeros_like(s), where=some)
            system = _System(p, gives)
            first, second = p.b - p.K @ x - p.J.T @ y, p.c - p.J @ x - s
            step, target, extra = 1.0, 0.0, np.zeros_like(s)
            for is_last in (False, True):
                products = np.where(some, s * y + extra - target, 0.0)
                over = np.divide(products, y, out=np.zeros_like(s), where=some)
                dx, dy = system.solve(first, second + over)
                ds = np.where(some, -over - gives * dy, 0.0)
                step = min(_farthest(s[some], ds[some]), _farthest(y[some], dy[some]), 1.0 / _TO_BORDER)
                if not is_last:
                    step = min(step, 1.0)
                    after = float((s + step * ds)[some] @ (y + step * dy)[some]) / count
                    target, extra = mean * (after / max(mean, 1e-300)) ** 3, ds * dy
            step *= _TO_BORDER
            x, y, s = x + step * dx, y + step * dy, s + step * ds
            if not (np.isfinite(x).all() and np.isfinite(y).all()):
                return
            yield x, np.where(some, np.maximum(y, 0.0), y)
    except (RuntimeError, Warning):  # singular
        return


def _prove(program: Program, kind: Kinds, p: _Scaled) -> None:
    """Raise Infeasible if rows contradict each other: what the point that violates them least is pushed with."""
    n, m = len(p.b), len(p.c)
    q = copy.copy(p)
    q.K = sp.csc_array(sp.diags_array(np.concatenate([np.full(n, _LEAST), np.ones(m)])))
    q.J, q.b = sp.csr_array(sp.hstack([p.J, -sp.eye_array(m)])), np.zeros(n + m)
    for x, y in _iterate(q):
        pushes = _sharper(p, y)
        found = p.unscaled(x[:n], pushes, len(kind))
        if _points.contradicts(*program.rows, program.bounds, kind, *found):
            raise Infeasible(found[1])


def _sharper(p: _Scaled, y: Floats) -> Floats:
    """The nearest multipliers that move nothing, of those that are not too small."""
    chosen = np.flatnonzero(np.abs(y) > 1e-7 * np.abs(y).max(initial=0.0))
    result = np.zeros(len(y))
    if len(chosen):
        rows = p.J[chosen].toarray()
        result[chosen] = y[chosen] - rows @ np.linalg.lstsq(rows, y[chosen], rcond=1e-10)[0]
    return np.where(p.is_equal, result, np.maximum(result, 0.0))
