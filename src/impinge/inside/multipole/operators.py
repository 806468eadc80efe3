"""Matrices of the multipole method: between boxes of the two trees, for all offsets at which these meet."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from impinge._lanes import LANES
from impinge.inside.multipole import _translations as translations
from impinge.inside.multipole._walk import HALF_DIAGONAL, Operators
from impinge.inside.multipole.accuracy import is_dense

Floats = NDArray[np.float64]


class Sizes(NamedTuple):
    """How many numbers there are, and to how many they are padded."""

    coefficients: int  # (order + 1)²
    width: int  # of coefficients, for whole vectors
    rows: int  # of moments, which have no degree 0
    columns: int  # of coefficients, as columns of a matrix


def sizes(order: int) -> Sizes:
    size = (order + 1) ** 2
    return Sizes(size, _round_up(size, LANES), _round_up(size - 1, 4), _round_up(size, 4))


def _round_up(count: int, step: int) -> int:
    return -(-count // step) * step


def degrees(order: int) -> Floats:
    """Degree n of every coefficient."""
    return np.repeat(np.arange(order + 1.0), 2 * np.arange(order + 1) + 1)


def weights(order: int, sign: int) -> Floats:
    """What real and imaginary parts count in −1/4π Re Σ_n Σ_m: 1 for m = 0, else 2, and 2 · sign the imaginary."""
    rows = [[1.0] + [2.0, 2.0 * sign] * n for n in range(order + 1)]
    return np.concatenate(rows) / (-4 * math.pi)


def _mirrored(order: int) -> Floats:
    """(8, coefficients) signs of coefficients of what is mirrored along x (bit 0), y (1) and z (2).

    R_n^m turns into (−1)^m conj(R_n^m), conj(R_n^m) and (−1)^(n+m) R_n^m.
    """
    signs = np.ones((8, (order + 1) ** 2))
    for n in range(order + 1):
        for m in range(n + 1):
            for imaginary in range(2 if m else 1):
                conjugate, odd = (-1) ** imaginary, (-1) ** m
                place = n * n + max(2 * m - 1, 0) + imaginary
                for axis, sign in enumerate((odd * conjugate, conjugate, odd * (-1) ** n)):
                    signs[[octant for octant in range(8) if octant >> axis & 1], place] *= sign
    return signs


@lru_cache(maxsize=4)
def between_generations(order: int) -> tuple[Floats, Floats]:
    """(8, k, k) by octant of the son: moments to the father, and local coefficients to the son, in sides of each."""
    size, row = (order + 1) ** 2, np.empty((order + 1) ** 2)
    up, down = np.empty((8, size, size)), np.empty((8, size, size))
    for octant in range(8):
        x, y, z = (((octant >> axis & 1) - 0.5) / 2 for axis in range(3))
        translations.moments_to_father(order, x, y, z, row, up[octant])
        translations.local_to_son(order, x, y, z, row, down[octant])
    return up * 2.0 ** -(degrees(order) + 1), down * 2.0 ** -degrees(order)[:, None]


@lru_cache(maxsize=4)  # the same for every mesh
def operators(order: int, near: float, dtype: DTypeLike) -> Operators:
    """All matrices that the walk over the evaluation tree may need."""
    size, width, rows, columns = sizes(order)
    # Fathers are near each other, so that their middles are no further apart than this, in sides of the sons, and the
    # middles of sons are by a diagonal more. Overhanging triangles may need more, and are near then.
    reach = 2 * (near + 1) * HALF_DIAGONAL
    matrices: list[NDArray[Any]] = []
    imaginary: list[NDArray[Any]] = []
    equal = _offsets(order, near, 0.0, reach + 2 * HALF_DIAGONAL, dtype, matrices, imaginary)
    double = _offsets(order, near, 0.5, reach + HALF_DIAGONAL, dtype, matrices, imaginary)
    signs, moment_signs = np.ones((8, width), dtype), np.ones((8, rows), dtype)
    signs[:, :size] = _mirrored(order)
    moment_signs[:, : size - 1] = signs[:, 1:size]
    to_son, weighed = np.zeros((8, columns, width), dtype), np.zeros(width, dtype)
    to_son[:, :size, :size] = between_generations(order)[1].transpose(0, 2, 1)
    weighed[:size] = weights(order, -1)
    second = np.concatenate(imaginary) if imaginary else np.empty(0, dtype)
    flat = (to_son.ravel(), weighed, signs.ravel(), moment_signs.ravel())
    return Operators(np.concatenate(matrices), second, equal, double, *flat)


def _offsets(
    order: int, near: float, shift: float, reach: float, dtype: DTypeLike, matrices: list[NDArray[Any]],
    imaginary: list[NDArray[Any]],
) -> NDArray[np.int16]:  # fmt: skip
    """Append what offsets (x, y, z) + shift need; which one is whose.

    With shift 1/2 the cluster is twice as large as the cell: its moments are in sides of its own.
    """
    span = math.floor(reach) + 1
    numbers = np.full((span, span, span), -1, np.int16)
    for place in np.ndindex(numbers.shape):
        x, y, z = (float(k) + shift for k in place)
        # A cell's own radius alone keeps clusters of any size at the least distance.
        if near * HALF_DIAGONAL <= math.hypot(x, y, z) <= reach:
            numbers[place] = len(matrices)
            if not is_dense(order, near):
                re, im = _singular(order, x, y, z, dtype)
                matrices.append(re)
                imaginary.append(im)
            else:
                matrices.append(_matrix(order, x, y, z, 2.0 if shift else 1.0, dtype))
    return numbers


def _matrix(order: int, x: float, y: float, z: float, side: float, dtype: DTypeLike) -> NDArray[Any]:
    """From moments of a cluster, in units of its side, to local coefficients; padded and flat."""
    size, width, rows, _ = sizes(order)
    matrix, padded = np.empty((size, size)), np.zeros((rows, width), dtype)
    translations.moments_to_local(order, x, y, z, np.empty((2 * order + 1) ** 2), matrix)
    padded[: size - 1, :size] = (matrix * side ** (degrees(order) + 1))[:, 1:].T
    return padded.ravel()


def _singular(order: int, x: float, y: float, z: float, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """All S of an offset, real and imaginary parts."""
    size = (2 * order + 1) ** 2
    re, im = np.empty(size, dtype), np.empty(size, dtype)
    translations.fill_singular(order, x, y, z, np.empty(size), re, im)
    return re, im
