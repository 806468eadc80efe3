"""The direction in which two bodies touch."""

from __future__ import annotations

import numpy as np

from impinge.ccd._times import VERTEX_TRIANGLE
from impinge.ccd.moving import Floats

__all__ = ["normal_of"]

_BEFORE = 1e-6  # of the step: the bodies are looked at so long before they touch, when there is a shortest way still
_ALIKE = 1e-3  # rad: the shortest way then is along the common normal


def normal_of(kind: int, start: Floats, end: Floats, time: float) -> Floats:
    """Unit vector from the second body to the first where they touch, (4, 3) corners given; 0 if there is none.

    The way along which they were nearest just before. If they touch from the start on, the common normal against
    their relative motion.
    """
    exponent = -int(np.frexp(max(np.abs(start).max(), np.abs(end).max()))[1])
    start, end = np.ldexp(start, exponent), np.ldexp(end, exponent)  # so that products of four stay in range
    before = max(time - _BEFORE, 0.0)
    way = _shortest(kind, (1 - before) * start + before * end)
    _, e, f = _vectors(kind, (1 - time) * start + time * end)
    common = _unit(np.cross(e, f))
    if np.linalg.norm(way) > 1e-12 * np.ptp(np.concatenate([start, end]), axis=0).max():
        way = _unit(way)
        side = 1.0 if common @ way >= 0 else -1.0
        return side * common if np.linalg.norm(np.cross(common, way)) < _ALIKE and common.any() else way
    motion = sum((1.0 if k < (1 if kind == VERTEX_TRIANGLE else 2) else -1.0) * (end - start)[k] for k in range(4))
    if not common.any():
        return _unit(-np.asarray(motion))
    return -common if common @ motion > 0 else common


def _unit(vector: Floats) -> Floats:
    largest = np.abs(vector).max()
    if not largest > 0:
        return np.zeros(3)
    scaled = vector / largest
    return scaled / np.linalg.norm(scaled)


def _vectors(kind: int, x: Floats) -> tuple[Floats, Floats, Floats]:
    """w, e and f as the kernels have them."""
    if kind == VERTEX_TRIANGLE:
        return x[0] - x[1], x[2] - x[1], x[3] - x[1]
    return x[0] - x[2], x[1] - x[0], x[3] - x[2]


def _shortest(kind: int, x: Floats) -> Floats:
    """Shortest vector from the second body to the first."""
    w, e, f = _vectors(kind, x)
    if kind == VERTEX_TRIANGLE:
        ways = [_to_segment(w, e), _to_segment(w, f), _to_segment(w - e, f - e)]
        shares, whole = _solve(np.array([[e @ e, e @ f], [e @ f, f @ f]]), np.array([w @ e, w @ f]))
        inside, foot = min(shares) >= 0 and sum(shares) <= whole, (shares[0] * e + shares[1] * f)
    else:
        ways = [_to_segment(w, f), _to_segment(w + e, f), -_to_segment(-w, e), -_to_segment(f - w, e)]
        shares, whole = _solve(np.array([[e @ e, -(e @ f)], [-(e @ f), f @ f]]), np.array([-(w @ e), w @ f]))
        inside, foot = min(shares) >= 0 and max(shares) <= whole, (shares[1] * f - shares[0] * e)
    if whole > 0 and inside:
        ways.append(w - foot / whole)
    return min(ways, key=np.linalg.norm)


def _solve(matrix: Floats, right: Floats) -> tuple[Floats, float]:
    """Solution of two equations times the determinant, and the determinant."""
    (a, b), (c, d) = matrix
    return np.array([d * right[0] - b * right[1], a * right[1] - c * right[0]]), float(a * d - b * c)


def _to_segment(w: Floats, e: Floats) -> Floats:
    """Vector from the nearest point of segment 0, e to w."""
    length = float(e @ e)
    share = min(max(float(w @ e) / length, 0.0), 1.0) if length > 0 else 0.0
    return w - share * e
