"""Errors of the multipole method over order p and near-field parameter d, beside [Muth2006] (26) and (27)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from impinge.inside import Multipole
from impinge.inside.direct import Direct
from impinge.reproduce.statements import Progress
from impinge.shapes import octasphere

__all__ = ["Error", "bound_26", "bound_27", "fall_per_order", "gradient_error", "measure_errors"]

_DEPTH = 3
_ANGLES = 721


@dataclass(frozen=True)
class Error:
    """One order and one d."""

    order: int
    near: float
    largest: float  # |J − J of the direct sum|
    rms: float
    bound: float  # (27) over 4π
    wrong: int  # decisions
    gradient: float  # worst error of the gradient of the series, r = 1
    gradient_bound: float  # (26), r = 1


def bound_26(order: int, near: float, radius: float) -> float:
    """(1 + π) / ((d − 1) r²) (p + 1 + d/(d − 1)) d^−(p + 2): of the normal derivative of the kernel."""
    return (1 + math.pi) / ((near - 1) * radius**2) * (order + 1 + near / (near - 1)) * near ** -(order + 2)


def bound_27(order: int, near: float, radius: float, area: float) -> float:
    """(26) times the area, over the 4π that the paper left out: of J."""
    return area * bound_26(order, near, radius) / (4 * math.pi)


def gradient_error(order: int, near: float) -> float:
    """Largest |∇ of Σ_{n > p} P_n(cos γ) |x|^n / |y|^(n+1)| over y, for |x| = 1 and |y| = d."""
    last = order + 1 + int(40 / math.log(near))  # beyond, nothing is left in doubles
    angle = np.linspace(0, math.pi, _ANGLES)
    values = np.polynomial.legendre.legvander(np.cos(angle), last)
    n = np.arange(order + 1, last + 1)
    size = near ** -(n + 2.0)
    radial = values[:, n] @ ((n + 1) * size)
    across = np.zeros_like(radial)  # at both ends; sin γ P_n' = n (P_(n−1) − cos γ P_n) / sin γ between
    inner = slice(1, -1)
    slopes = values[inner][:, n - 1] - np.cos(angle[inner])[:, None] * values[inner][:, n]
    across[inner] = slopes @ (n * size) / np.sin(angle[inner])
    return float(np.hypot(radial, across).max())


def measure_errors(quick: bool, progress: Progress) -> list[Error]:
    """A sphere of 2048 triangles, random points in its cube, trees of depth 3."""
    mesh = octasphere(4)
    points = np.random.default_rng(12).uniform(-1, 1, (1728, 3))
    exact = Direct(mesh).winding(points)
    found = []
    for near in (1.5, 2.0, 3.0):
        for order in (1, 2, 4, 8) if quick else (1, 2, 3, 4, 6, 8, 10, 12):
            progress(f"accuracy: order {order}, d = {near:g}")
            # The finest accuracy, so that nothing is rounded to single precision.
            method = Multipole(mesh, accuracy=1e-10, order=order, near=near, leaf=4, depth=_DEPTH)
            error = np.abs(method.winding(points) - exact)
            radius = math.sqrt(3) / 2 * float(np.ptp(mesh.bounds, axis=0).max()) / 2**method.levels
            found.append(
                Error(
                    order, near, float(error.max()), float(np.sqrt((error**2).mean())),
                    bound_27(order, near, radius, mesh.area), int((error >= 0.5).sum()),
                    gradient_error(order, near), bound_26(order, near, 1.0),
                )
            )  # fmt: skip
    return found


def fall_per_order(errors: list[Error], near: float) -> tuple[float, float]:
    """By which factor the largest error and the bound fall when p grows by one."""
    here = [error for error in errors if error.near == near]
    orders = [error.order for error in here]
    falls = [
        math.exp(-float(np.polyfit(orders, np.log(values), 1)[0]))
        for values in ([error.largest for error in here], [error.bound for error in here])
    ]
    return falls[0], falls[1]
