"""The direction in which two bodies touch."""

from __future__ import annotations

import numpy as np

from impinge.ccd._times import VERTEX_TRIANGLE
from impinge.ccd.moving import Floats

__all__ = ["normal_of"]

_CLEAR = 1e-9  # of all coordinates: the direction of a shorter way is made of rounding errors
_BACK = 1e-6  # sizes of the bodies: they are looked at so long before they touch, when there is a shortest way still
_ALIKE = 1e-3  # rad: the shortest way then is along the common normal


def normal_of(kind: int, start: Floats, end: Floats, time: float) -> Floats:
    """Unit vector from the second body to the first where they touch, (4, 3) corners given; 0 if there is none.

    The way along which they are nearest, or were just before. If they touch from the start on, the common normal
    against their relative motion.
    """
    exponent = -int(np.frexp(max(np.abs(start).max(), np.abs(end).max()))[1])
    start, end = np.ldexp(start, exponent), np.ldexp(end, exponent)  # so that products of four stay in range
    now = _vectors(kind, (1 - time) * start + time * end)
    _, e, f = now
    common, way = _unit(np.cross(e, f)), _shortest(kind, *now)
    clear = _CLEAR * np.abs([start - start[0], end - start[0]]).max()
    if np.linalg.norm(way) <= clear:
        motion = np.abs(np.subtract(_vectors(kind, end), _vectors(kind, start))).max()
        size = min((float(np.abs(side).max()) for side in (e, f) if side.any()), default=0.0)
        before = max(time - _BACK * (size / motion if motion > size else 1.0), 0.0)
        way = _shortest(kind, *_vectors(kind, (1 - before) * start + before * end))
    if np.linalg.norm(way) > 1e-3 * clear:
        way = _unit(way)
        is_common = common.any() and np.linalg.norm(np.cross(common, way)) < _ALIKE
        return np.copysign(1.0, common @ way) * common if is_common else way
    return _against_motion(kind, end - start, common, e if e @ e > f @ f else f)


def _against_motion(kind: int, motions: Floats, common: Floats, along: Floats) -> Floats:
    """The common normal, or what is perpendicular to bodies along one line, against the relative motion."""
    split = 1 if kind == VERTEX_TRIANGLE else 2
    motion = motions[:split].mean(axis=0) - motions[split:].mean(axis=0)
    if common.any():
        return -common if common @ motion > 0 else common
    line = _unit(along)
    return _unit((motion @ line) * line - motion)


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


def _shortest(kind: int, w: Floats, e: Floats, f: Floats) -> Floats:
    """Shortest vector from the second body to the first."""
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
