"""½ xᵀKx − bᵀx where most of its digits cancel."""

from __future__ import annotations

import numpy as np

from impinge.response.qp.program import Floats, Program

__all__ = ["accurate_objective"]

_ROUNDING = 2.0**-52
_SPLIT = 2.0**27 + 1.0
_ENOUGH = 1e-10  # of the objective: what rounding may leave, at worst; it leaves a thousand times less, as a rule


def accurate_objective(program: Program, x: Floats, plain: float) -> float:
    """½ xᵀKx − bᵀx for the x that is stored, from the same without care; that is returned where it is good enough.

    K may be so stiff that Kx has no more digits than x has errors; x is good for all that, as the objective does not
    change with the errors of the minimum in first order.
    """
    if not _may_cancel(program, x, plain):
        return plain
    columns = np.repeat(np.arange(len(x)), np.diff(program.indptr))
    with np.errstate(over="ignore", invalid="ignore"):
        first, first_rest = _product(program.values, x[program.indices])
        second, second_rest = _product(first, x[columns])
        linear, linear_rest = _product(program.right, x)
        terms = np.concatenate([0.5 * second, -linear])
        rests = 0.5 * float((second_rest + first_rest * x[columns]).sum()) - float(linear_rest.sum())
        result = _sum(terms, rests)
    return result if np.isfinite(result) else plain


def _may_cancel(program: Program, x: Floats, plain: float) -> bool:
    """Whether rounding may leave more: |K_ij x_i x_j| ≤ ½ (K_ii x_i² + K_jj x_j²), as K is positive definite."""
    entries = int(np.diff(program.indptr).max())
    terms = entries * float(((program.roots * x) ** 2).sum()) + float(np.abs(program.right * x).sum())
    return not _ROUNDING * terms <= _ENOUGH * abs(plain)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Products and what rounding takes from them ([Dekker1971])."""
    product = a * b
    high_a, high_b = _SPLIT * a, _SPLIT * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _sum(terms: Floats, rest: float) -> float:
    """The sum of terms and a rest, as if with twice the digits ([Ogita2005]), by halves."""
    while len(terms) > 1:
        half = len(terms) // 2
        a, b, odd = terms[:half], terms[half : 2 * half], terms[2 * half :]
        total = a + b
        back = total - a
        rest += float(((a - (total - back)) + (b - back)).sum())
        terms = np.concatenate([total, odd])
    return float(terms.sum()) + rest
