"""What an implicit step minimises: inertia, elastic energy and damping over the new positions."""

from __future__ import annotations

import numpy as np

from impinge import _check
from impinge.bodies.soft import _potential
from impinge.bodies.soft._potential import Field
from impinge.bodies.soft.damping import Damped
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import Floats

__all__ = ["Potential"]

_ROUNDINGS = 1e7  # of positions times stiffness: a millionth of it is ten


class Potential:
    """Φ(x) = Σ m/(2h²) |x − goal|² + E(x) + D(x) + Σ d/(2h) |x − past − h wind|².

    E is the elastic energy, D what damping costs (`damping.py`). Its minimum satisfies M a = −∂E/∂x − ∂D/∂x −
    d (v − wind) at the end of the step, with v = (x − past)/h and a = (x − goal)/h² relative to free flight.

    Parameters
    ----------
    elements : Elements
    masses : (n,) kg
    span : float, s
        h, the time step of implicit Euler.
    start, past, goal : (n, 3) m
        Positions at the start; where the velocity is measured from; and where free flight would end.
    parts : Damped
        Elastic parts, with what resists a change of their strain in this step.
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
        parts: Damped,
        drag: Floats,
        wind: Floats,
        *,
        elastic: bool = True,
    ) -> None:
        self.elements, self.span, self.past = elements, span, past
        inertia = masses / span**2
        # Forces are compared with those that move a node by its way, and with rounding, where no force acts at all.
        stiffness = parts.stiffest + float(inertia.max())
        rounding = _ROUNDINGS * np.finfo(np.float64).eps * stiffness * float(np.abs(start).max())
        weight = max(float(np.abs(inertia[:, None] * (goal - start)).max()), rounding)
        drift = past + span * wind
        arrays = inertia, drag / span, goal, drift, past, parts.bending
        inertia, drag, goal, drift, past, bending = map(_check.frozen, arrays)
        work = np.zeros_like(past), np.zeros((elements.pieces, 5)), np.empty(len(past))
        self.field = Field(parts.arrays, elastic, inertia, drag, goal, drift, past, bending, weight, *work)

    def value(self, x: Floats) -> float:
        """Φ(x), J."""
        _potential.sum_energies(len(self.field.sums), self.field, x)
        return float(self.field.sums.sum())

    def gradient(self, x: Floats, out: Floats) -> float:
        """∇Φ, N, into out (n, 3), at the x of the last value; returns the largest of the forces it is the sum of."""
        _potential.fill_gradients(len(x), self.field, x, out)
        return float(self.field.largest.max())

    def turning(self, x: Floats, step: Floats, out: Floats) -> None:
        """By which forces, N, elastic parts resist a straight step (n, 3) in second order, into out (n, 3)."""
        _potential.fill_turnings(len(x), self.field, x, step, out)

    def forces(self, x: Floats) -> tuple[Floats, float]:
        """∇Φ, (n, 3), N, and the largest of the forces that it is the sum of."""
        self.value(x)
        out = np.empty_like(x)
        return out, self.gradient(x, out)

    def hessian(self, x: Floats, *, keep: float, out: Floats | None = None) -> Floats:
        """∂²Φ/∂x², N/m, in the pattern of the elements, into `out` if given: with a share of what is negative of it."""
        out = np.empty(len(self.elements.indices)) if out is None else out
        _potential.fill_hessians(len(x), self.field, x, keep, out)
        return out
