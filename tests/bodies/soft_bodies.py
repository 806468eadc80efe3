"""Meshes and materials that the tests of soft bodies share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CABLE = {"stretch": 50.0, "bend": 0.3, "mass_per_length": 0.2}
CLOTH = {"stretch": (80.0, 50.0), "shear": 30.0, "bend": 0.2, "density": 0.1}


def sheet(n: int, m: int, width: float = 1.0, height: float = 1.0, kind: str = "grid") -> tuple[Floats, Any]:
    """A flat mesh of n × m nodes: halves of rectangles, with one or both diagonals, or equilateral triangles."""
    i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    x = np.column_stack([i / (n - 1) * width, j / (m - 1) * height, np.zeros(n * m)])
    if kind == "equilateral":
        x = np.column_stack([i + 0.5 * (j % 2), j * np.sqrt(0.75), 0 * i]) * (width / (n - 1))
    cells = (i < n - 1) & (j < m - 1)
    a = (i * m + j)[cells]
    b, c, d = a + m, a + m + 1, a + 1
    turned = {"grid": 0 * a, "alternating": (i + j)[cells], "equilateral": 1 - j[cells]}[kind] % 2 == 1
    one = np.where(turned[:, None], np.column_stack([a, b, d]), np.column_stack([a, b, c]))
    other = np.where(turned[:, None], np.column_stack([b, c, d]), np.column_stack([a, c, d]))
    return x, np.concatenate([one, other])


def grid(n: int, height: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A square of 1 m, of triangles."""
    x, y = np.meshgrid(*2 * [np.linspace(-0.5, 0.5, n)])
    k = np.arange(n * n).reshape(n, n)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    return np.dstack([x, y, 0 * x + height]).reshape(-1, 3), np.dstack([a, b, c, a, c, d]).reshape(-1, 3)
