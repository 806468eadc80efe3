"""Systems of spheres and boxes, and how they move: shared by the tests and by `make verify`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

SYSTEMS = {
    "gas": lambda rng, n, d: (rng.random((n, d)), 0.05 * n ** (-1 / d)),
    "dense": lambda rng, n, d: (rng.random((n, d)), rng.uniform(0.5, 1.5, n) * 0.4 * n ** (-1 / d)),
    "wide": lambda rng, n, d: (rng.random((n, d)), 10 ** rng.uniform(-4, -1.4, n)),
    "two-sizes": lambda rng, n, d: (rng.random((n, d)), np.where(rng.random(n) < 0.01, 0.12, 0.12 / 30)),
    "clusters": lambda rng, n, d: (
        np.concatenate([rng.random((n // 2, d)) * 1e-3, rng.random((n - n // 2, d)) * 1e3]), 1e-4),
    "outlier": lambda rng, n, d: (np.concatenate([rng.random((n - 1, d)), np.full((1, d), 1e12)]), 0.02),
    "far-away": lambda rng, n, d: (rng.random((n, d)) + 1e9, 0.02),
    "line": lambda rng, n, d: (rng.random((n, 1)) * np.eye(d)[0], 2.0 / n),
    "plane": lambda rng, n, d: (rng.random((n, d)) * np.array([1.0, 1.0, 0.0])[:d], 0.3 / n**0.5),
    "duplicates": lambda rng, n, d: (np.repeat(rng.random((n // 4, d)), 4, axis=0), 0.0),
    "one-place": lambda rng, n, d: (np.zeros((min(n, 60), d)), rng.random(min(n, 60))),
    "points": lambda rng, n, d: (rng.random((n, d)), 0.0),
    "huge": lambda rng, n, d: (rng.random((n, d)) * 1e149, 1e147),
    "tiny": lambda rng, n, d: (rng.random((n, d)) * 1e-140, 1e-142),
}  # fmt: skip


def rods(rng: np.random.Generator, n: int, aspect: float) -> tuple[Points, Points]:
    """Boxes around thin rods of random orientation."""
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    length = 2 * n ** (-1 / 3)
    half = 0.5 * length * np.abs(axis) + 0.5 * length / aspect
    centres = rng.random((n, 3))
    return centres - half, centres + half


def walk(n: int, dimension: int, steps: int, seed: int, size: float = 1.0) -> Iterator[tuple[Points, Points]]:
    """Spheres that fly, bounce and now and then jump or change their size."""
    rng = np.random.default_rng(seed)
    centres, radii = rng.random((n, dimension)) * size, rng.uniform(0.2, 1, n) * 0.5 * size * n ** (-1 / dimension)
    speeds = rng.normal(size=(n, dimension)) * 0.01 * size
    for _ in range(steps):
        yield centres.copy(), radii.copy()
        centres += speeds
        speeds[(centres < 0) | (centres > size)] *= -1
        if rng.random() < 0.05:
            centres[rng.integers(n)] = rng.random(dimension) * size
        if rng.random() < 0.05:
            radii[rng.integers(n)] *= rng.uniform(0.5, 1.2)
