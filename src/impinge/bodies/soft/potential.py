"""What an implicit step minimises: inertia, elastic energy and damping over the new positions."""

from __future__ import annotations

import numpy as np

from impinge import _check
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import Floats
from impinge.response.qp import _rows

__all__ = ["Potential"]

_ROUNDINGS = 1e7  # of positions times stiffness: a millionth of it is ten


class Potential:
    """Φ(x) = Σ m/(2h²) |x − goal|² + E(x) + (x − past)ᵀ C (x − past) / 2h + Σ d/(2h) |x − past − h wind|².

    Its minimum satisfies M a = −∂E/∂x − C v − d (v − wind) at the end of the step, with v = (x − past)/h and
    a = (x − goal)/h² relative to free flight.

    Parameters
    ----------
    elements : Elements
    masses : (n,) kg
    span : float, s
        h, the time step of implicit Euler.
    start, past, goal : (n, 3) m
        Positions at the start, or nearer to the end; where the velocity is measured from; and where free flight would
        end.
    damping : (n,) s
        C = damping × the Hessian of E at the start.
    drag : (n,) kg/s
    wind : (3,) m/s
    """

    def __init__(
        self,
        elements: Elements,
        masses: Floats,
        span: float,
        start: Floats,
        past: Floats,
        goal: Floats,
        damping: Floats,
        drag: Floats,
        wind: Floats,
        *,
        elastic: bool = True,
    ) -> None:
        self.elements, self._elastic = elements, elastic
        self._inertia, self._past, self._goal = masses[:, None] / span**2, past, goal
        self._drag, self._drift = drag[:, None] / span, past + span * wind
        self._damping: Floats | None = None
        values = elements.hessian(start)
        # Forces are compared with those that move a node by its way, and with rounding, where no force acts at all.
        stiffness = float(values[elements.diagonal].max()) + float(self._inertia.max())
        rounding = _ROUNDINGS * np.finfo(np.float64).eps * stiffness * float(np.abs(start).max())
        self._weight = max(float(np.abs(self._inertia * (goal - start)).max()), rounding)
        if elastic and damping.any():
            columns = np.repeat(damping / span, 3)
            self._damping = _check.frozen(values * np.repeat(columns, np.diff(elements.indptr)))

    def value(self, x: Floats) -> float:
        """Φ(x), J."""
        total = 0.5 * float((self._inertia * (x - self._goal) ** 2).sum())
        total += 0.5 * float((self._drag * (x - self._drift) ** 2).sum())
        if self._elastic:
            total += self.elements.energy(x)
        if self._damping is not None:
            moved = (x - self._past).ravel()
            total += 0.5 * float(moved @ self._damped(moved))
        return total

    def gradient(self, x: Floats) -> tuple[Floats, float]:
        """∇Φ, (n, 3), N, and the largest of the forces that it is the sum of."""
        inertia, drag = self._inertia * (x - self._goal), self._drag * (x - self._drift)
        result, largest = inertia + drag, max(self._weight, float(np.abs(inertia).max()), float(np.abs(drag).max()))
        if self._elastic:
            elastic = self.elements.gradient(x)
            largest = max(largest, float(np.abs(elastic).max()))
            result += elastic
        if self._damping is not None:
            result += self._damped((x - self._past).ravel()).reshape(-1, 3)
        return result, largest

    def hessian(self, x: Floats, *, keep: float) -> Floats:
        """∂²Φ/∂x², N/m, in the pattern of the elements: with a share of what is negative of it."""
        values = self.elements.hessian(x, keep=keep) if self._elastic else np.zeros(len(self.elements.indices))
        if self._damping is not None:
            values += self._damping
        values[self.elements.diagonal] += np.repeat((self._inertia + self._drag)[:, 0], 3)
        return values

    def _damped(self, moved: Floats) -> Floats:
        assert self._damping is not None
        out = np.empty(len(moved))
        _rows.times_symmetric(self.elements.indptr, self.elements.indices, self._damping, moved, out)
        return out
