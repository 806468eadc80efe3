"""How long explicit steps may be."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.parts import Floats, Parts

__all__ = ["longest_step"]

_ITERATIONS = 60  # the square of the frequency is then right to a few percent, and never too large


def longest_step(parts: Parts, x: Floats, damping: float, free: NDArray[np.bool_]) -> float:
    """The limit of stability of symplectic Euler with damping by the forces of the start, s; inf if nothing swings.

        h² + 2 γ h ≤ 4/ω²

    γ is the damping and ω the frequency of the fastest oscillation about x, from a few power iterations of M⁻¹K. They
    find at most what is there, so no step that is stable is longer than what is returned.

    Parameters
    ----------
    parts : Parts
        Of one body.
    x : (n, 3) float, m
    damping : float, s
    free : (n, 3) bool
        Coordinates that are not driven.
    """
    elements = Elements(parts)
    per_root = np.repeat(1.0 / np.sqrt(parts.masses), 3) * free.ravel()
    pattern = elements.indices, elements.indptr
    matrix = sp.csc_array((elements.hessian(x), *pattern), shape=(x.size, x.size))
    vector, largest = np.random.default_rng(0).normal(size=x.size) * free.ravel(), 0.0
    for _ in range(_ITERATIONS):
        size = float(np.linalg.norm(vector))
        if size == 0.0:
            return np.inf
        vector = vector / size
        vector = per_root * (matrix @ (per_root * vector))
        largest = max(largest, float(np.linalg.norm(vector)))
    return 4.0 / largest / (damping + float(np.sqrt(damping**2 + 4.0 / largest)))
