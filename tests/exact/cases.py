"""Cases for exact decisions, most of them exactly or nearly degenerate, and their check at any count.

A case is five points p, q, a, b, c: an array of shape (5, 3). `run` is what ``make verify`` calls with a
million; the tests use the same with a few hundred of each kind.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import exact
from impinge.exact._orient import normal_sign
from impinge.exact._triangles import crossing

from . import naive

Cases = NDArray[np.float64]
LEAST = 5e-324  # the smallest double above 0
MOST = float(np.finfo(np.float64).max)
TINY = float(np.finfo(np.float64).tiny)


def _random(rng: np.random.Generator, count: int) -> Cases:
    """No degeneracy but by chance."""
    return rng.uniform(-1, 1, (count, 5, 3))


def _lattice(rng: np.random.Generator, count: int) -> Cases:
    """Small integers: all degeneracies, exactly."""
    return rng.integers(-2, 3, (count, 5, 3)).astype(np.float64)


def _tenths(rng: np.random.Generator, count: int) -> Cases:
    """Tenths of small integers: degenerate up to the rounding of the coordinates."""
    return _lattice(rng, count) * 0.1


def _rounded(rng: np.random.Generator, points: Cases) -> Cases:
    """Half of the cases times a random number, so that rounding makes them nearly degenerate only."""
    factor = np.where(rng.random(len(points)) < 0.5, 1.0, rng.uniform(0.1, 10, len(points)))
    return points * factor[:, None, None]


def _collinear_integers(rng: np.random.Generator, count: int) -> Cases:
    start = rng.integers(-1000, 1001, (count, 1, 3))
    direction = rng.integers(-100, 101, (count, 1, 3)) * rng.integers(0, 2, (count, 1, 3))
    return (start + rng.integers(-3, 4, (count, 5, 1)) * direction).astype(np.float64)


def _collinear(rng: np.random.Generator, count: int) -> Cases:
    """All five points, or all but q, on a line."""
    points = _rounded(rng, _collinear_integers(rng, count))
    free = rng.random(count) < 0.5
    points[free, 1] = rng.integers(-1000, 1001, (int(free.sum()), 3))
    return points


def _coplanar_integers(rng: np.random.Generator, count: int) -> Cases:
    """P in the plane of a, b, c, often on its border; q there too in half of the cases."""
    a, b, c = (4 * rng.integers(-250, 251, (3, count, 3))).astype(np.float64)
    weight = rng.choice([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0], (2, 2, count, 1))
    p, q = (a + s * (b - a) + t * (c - a) for s, t in weight)
    off = rng.integers(0, 2, (count, 1)) * rng.integers(-1000, 1001, (count, 3))
    return np.stack([p, q + off, a, b, c], axis=1)


def _coplanar(rng: np.random.Generator, count: int) -> Cases:
    return _rounded(rng, _coplanar_integers(rng, count))


def _long_mantissas(rng: np.random.Generator, count: int) -> Cases:
    """Exactly coplanar points with all 53 bits in use: z equal to x, or to -y, or to a constant."""
    points = rng.uniform(-1, 1, (count, 5, 3)) * 2.0 ** rng.integers(-8, 9, (count, 5, 1))
    which = rng.integers(0, 3, count)
    points[which == 0, :, 2] = points[which == 0, :, 0]
    points[which == 1, :, 2] = -points[which == 1, :, 1]
    points[which == 2, :, 2] = points[which == 2, :1, 2]
    free = rng.random(count) < 0.3
    points[free, 1] = rng.uniform(-1, 1, (int(free.sum()), 3))
    return points


def _shared(rng: np.random.Generator, count: int) -> Cases:
    """Random points, some of them equal."""
    points = _random(rng, count)
    rows = np.arange(count)
    for _ in range(2):
        points[rows, rng.integers(0, 5, count)] = points[rows, rng.integers(0, 5, count)]
    return points


def _perturbed(rng: np.random.Generator, points: Cases) -> Cases:
    """A fifth of the coordinates moved to the next double, up or down."""
    toward = rng.choice([-np.inf, np.inf], points.shape)
    moved = np.where(np.abs(points) < MOST, np.nextafter(points, toward), points)
    return np.where(rng.random(points.shape) < 0.2, moved, points)


def _ulp(rng: np.random.Generator, count: int) -> Cases:
    """Degenerate cases of the other kinds, perturbed by one unit in the last place."""
    kinds = [_tenths, _collinear, _coplanar, _long_mantissas, _shared]
    parts = [make(rng, (count + i) // len(kinds)) for i, make in enumerate(kinds)]
    return _perturbed(rng, np.concatenate(parts))


def _magnitudes(rng: np.random.Generator, count: int) -> Cases:
    """Coordinates from 1e-150 to 1e150 within a case, with zeros and repetitions."""
    shape = (count, 5, 3)
    points = rng.uniform(-1, 1, shape) * 10.0 ** rng.uniform(-150, 150, shape)
    points[rng.random(shape) < 0.2] = 0.0
    repeat = rng.random((count, 3)) < 0.3
    points[:, 3][repeat] = points[:, 2][repeat]
    repeat = rng.random((count, 3)) < 0.3
    points[:, 0][repeat] = points[:, 4][repeat]
    return points


def _scaled_axes(rng: np.random.Generator, count: int) -> Cases:
    """Degenerate cases with each axis times a power of two between 1e-150 and 1e150."""
    kinds = [_coplanar_integers, _collinear_integers, _long_mantissas]
    points = np.concatenate([make(rng, (count + i) // len(kinds)) for i, make in enumerate(kinds)])
    # Half of the exponents are around those where the filters and the expansions end.
    border = rng.choice([-480, -350, -300, 300, 330], (count, 1, 3)) + rng.integers(-15, 10, (count, 1, 3))
    anywhere = rng.integers(-498, 484, (count, 1, 3))
    points = np.ldexp(points, np.where(rng.random((count, 1, 3)) < 0.5, border, anywhere))
    return np.where(rng.random((count, 1, 1)) < 0.5, points, _perturbed(rng, points))


def _far_scaled_axes(rng: np.random.Generator, count: int) -> Cases:
    """The same over the whole range of doubles, so that small axes are denormal."""
    points = np.ldexp(_coplanar_integers(rng, count), rng.integers(-1074, 1009, (count, 1, 3)))
    return np.where(rng.random((count, 1, 1)) < 0.5, points, _perturbed(rng, points))


def _denormal(rng: np.random.Generator, count: int) -> Cases:
    """Few units of the least double, some of them scaled up to normal numbers."""
    points = rng.integers(-2, 3, (count, 5, 3)) * LEAST
    return np.ldexp(points, rng.integers(0, 60, (count, 1, 1)) * rng.integers(0, 2, (count, 1, 1)))


def _huge(rng: np.random.Generator, count: int) -> Cases:
    """Up to the largest double: differences overflow."""
    points = rng.choice([MOST, MOST / 2, 0.0, -MOST / 2, -MOST], (count, 5, 3))
    lower = rng.random(points.shape) < rng.choice([0.0, 0.2], (count, 1, 1))
    return np.where(lower, np.nextafter(points, 0), points)


def _extreme(rng: np.random.Generator, count: int) -> Cases:
    """Few different numbers in a case, out of the least, the largest and ordinary ones."""
    positive = np.array([LEAST, 2 * LEAST, TINY, 1e-200, 1.0, 1.0 + 2.0**-52, 3.0, 1e200, MOST / 2, MOST])
    palette = rng.choice(np.concatenate([positive, -positive, np.zeros(4)]), (count, 4))
    return palette[np.arange(count)[:, None, None], rng.integers(0, 4, (count, 5, 3))]


KINDS: dict[str, Callable[[np.random.Generator, int], Cases]] = {
    "random": _random,
    "lattice": _lattice,
    "tenths": _tenths,
    "collinear": _collinear,
    "coplanar": _coplanar,
    "long mantissas": _long_mantissas,
    "shared points": _shared,
    "1 ulp": _ulp,
    "1e-150 to 1e150": _magnitudes,
    "scaled axes": _scaled_axes,
    "far scaled axes": _far_scaled_axes,
    "denormal": _denormal,
    "huge": _huge,
    "extreme": _extreme,
}


def generate(kind: str, count: int, seed: int) -> Cases:
    """`count` cases of a kind, shape (count, 5, 3)."""
    return KINDS[kind](np.random.default_rng([seed, *kind.encode()]), count)


def answers(points: Cases) -> list[list[Any]]:
    """What impinge says: one list per question, one answer per case."""
    p, q, a, b, c = (np.ascontiguousarray(points[:, i]) for i in range(5))
    x, y, z = (np.ascontiguousarray(v[:, :2]) for v in (p, a, b))
    rows = [[float(number) for number in row] for row in points.reshape(-1, 15).tolist()]
    return [
        exact.orient2d(x, y, z).tolist(),
        exact.orient3d(a, b, c, p).tolist(),
        [normal_sign(*row[6:]) for row in rows],
        exact.point_in_triangle(p, a, b, c).tolist(),
        exact.segment_triangle(p, q, a, b, c).tolist(),
        [crossing(*row) for row in rows],
    ]


def expected(points: Cases) -> list[list[Any]]:
    """The same by Python integers."""
    found = []
    for case in points.tolist():
        p, q, a, b, c = naive.integers(case)
        found.append(
            (
                naive.orient2d(p, a, b),
                naive.orient3d(a, b, c, p),
                naive.normal_sign(a, b, c),
                naive.point_in_triangle(p, a, b, c),
                naive.segment_triangle(p, q, a, b, c),
                naive.crossing(p, q, a, b, c),
            )
        )
    return [list(column) for column in zip(*found, strict=True)]


QUESTIONS = ("orient2d", "orient3d", "normal_sign", "point_in_triangle", "segment_triangle", "crossing")


def run(count: int, seed: int, block: int = 10_000) -> dict[str, Any]:
    """Ask all questions about `count` cases, divided among the kinds, and compare with the oracle.

    Returns the number of cases, of wrong answers (all questions together), the seconds taken, and for each
    kind its cases, wrong answers, and how many of them were exactly coplanar (orient3d = 0).
    """
    start = time.perf_counter()
    kinds: dict[str, dict[str, int]] = {}
    for i, kind in enumerate(KINDS):
        share = (count + i) // len(KINDS)
        result = {"cases": share, "wrong": 0, "coplanar": 0}
        for part, first in enumerate(range(0, share, block)):
            points = generate(kind, min(block, share - first), seed + 1000 * part)
            right = expected(points)
            for mine, true in zip(answers(points), right, strict=True):
                result["wrong"] += sum(m != t for m, t in zip(mine, true, strict=True))
            result["coplanar"] += right[1].count(0)
        kinds[kind] = result
    return {
        "cases": count,
        "wrong": sum(result["wrong"] for result in kinds.values()),
        "seconds": round(time.perf_counter() - start, 1),
        "questions": QUESTIONS,
        "kinds": kinds,
    }


if __name__ == "__main__":  # python -m tests.exact.cases 1000000 0
    outcome = run(int(sys.argv[1]), int(sys.argv[2]))
    for name, line in outcome.pop("kinds").items():
        print(name, line)
    print(outcome)
