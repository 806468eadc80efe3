"""Directions across a curve that turn with it, and not around it (parallel transport)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["directions_of", "transported", "turned"]

_Vectors = NDArray[np.float64]


def directions_of(points: _Vectors) -> _Vectors:
    """(k − 1, 3): unit vectors from point to point; where two are one, the direction of a neighbour."""
    steps = np.diff(points, axis=0)
    largest = np.abs(steps).max(axis=1, keepdims=True)
    steps = np.divide(steps, largest, out=np.zeros_like(steps), where=largest > 0)  # whose squares are numbers
    lengths = np.linalg.norm(steps, axis=1)
    known = np.flatnonzero(lengths)
    if not len(known):
        return np.tile([1.0, 0.0, 0.0], (len(steps), 1))
    last_known = np.maximum(np.searchsorted(known, np.arange(len(steps)), side="right") - 1, 0)
    return (steps[known] / lengths[known, None])[last_known]


def transported(along: _Vectors, first: _Vectors | None = None) -> _Vectors:
    """(k, 3): a unit vector across each direction of (k, 3), every one turned out of the one before.

    Parameters
    ----------
    along : (k, 3) float64
        Unit vectors.
    first : (3,) float64, optional
        The vector across along[0]; without it, any.
    """
    start = _any_across(along[:1])[0] if first is None else first
    rotations = _prefix_products(_rotations(along))
    across = _rotate(rotations, start)
    across -= (across * along).sum(axis=1, keepdims=True) * along  # rounding has added up
    result: _Vectors = across / np.linalg.norm(across, axis=1, keepdims=True)
    return result


def turned(across: _Vectors, along: _Vectors, angles: _Vectors) -> _Vectors:
    """Each vector across turned around its own direction, rad."""
    return np.cos(angles)[:, None] * across + np.sin(angles)[:, None] * np.cross(along, across)


def _any_across(along: _Vectors) -> _Vectors:
    """Some unit vector across each."""
    axis = np.eye(3)[np.abs(along).argmin(axis=1)]
    across = np.cross(along, axis)
    result: _Vectors = across / np.linalg.norm(across, axis=1, keepdims=True)
    return result


def _rotations(along: _Vectors) -> _Vectors:
    """(k, 4): unit quaternions, the scalar last, that turn each direction into the next; the first turns nothing."""
    result = np.zeros((len(along), 4))
    result[0, 3] = 1.0
    a, b = along[:-1], along[1:]
    vector, scalar = np.cross(a, b), 1.0 + (a * b).sum(axis=1, keepdims=True)
    back = scalar[:, 0] < 1e-12  # half a turn, around anything
    vector[back], scalar[back] = _any_across(a[back]), 0.0
    both = np.concatenate([vector, scalar], axis=1)
    result[1:] = both / np.linalg.norm(both, axis=1, keepdims=True)
    return result


def _prefix_products(rotations: _Vectors) -> _Vectors:
    """Row i becomes the rotation by row 0, then 1, up to i; in some log2(k) passes over all rows."""
    result, reach = rotations.copy(), 1
    while reach < len(result):
        result[reach:] = _after(result[reach:], result[:-reach])
        reach *= 2
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    return result


def _after(second: _Vectors, first: _Vectors) -> _Vectors:
    """Quaternions of one rotation after another."""
    v, w, a, b = second[:, :3], second[:, 3:], first[:, :3], first[:, 3:]
    return np.concatenate([w * a + b * v + np.cross(v, a), w * b - (v * a).sum(axis=1, keepdims=True)], axis=1)


def _rotate(rotations: _Vectors, vector: _Vectors) -> _Vectors:
    """One vector by every rotation."""
    v, w = rotations[:, :3], rotations[:, 3:]
    twice = 2.0 * np.cross(v, vector[None])
    return vector + w * twice + np.cross(v, twice)
