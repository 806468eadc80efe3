"""Arithmetic of many vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["unit"]

Floats = NDArray[np.float64]


def unit(vectors: Floats) -> Floats:
    """(n, 3) of length 1, however long or short they are; zero for zero."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    return np.divide(scaled, np.linalg.norm(scaled, axis=1, keepdims=True), out=scaled, where=largest > 0)
