"""From the accuracy that a user asks for to order, near field and leaves of the multipole method."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from impinge.errors import InputError
from impinge.inside.multipole._walk import Model

FINEST, COARSEST = 1e-10, 0.1
HIGHEST = 24  # order
NEAREST, FARTHEST = 1.2, 10.0  # near: the series hardly converge below, and all is near above
# Error that an order stays below: half as much again as the largest one measured on spheres, foams, scanned meshes,
# meshes with missing and with flipped faces, triangle soups, and bodies of very different size; a million points each
# for orders up to 7, thousands for the others. The bounds (26), (27) of [Muth2006] are far larger.
_ERRORS = {
    2.0: {3: 8e-3, 4: 3e-3, 5: 1e-3, 6: 4e-4, 7: 1.6e-4},
    3.0: {
        6: 3e-5, 7: 1e-5, 8: 6e-6, 9: 1e-6, 10: 5e-7, 11: 1.2e-7, 12: 3e-8, 13: 8e-9, 14: 2e-9, 15: 6e-10, 16: 2e-10,
        17: 6e-11, 18: 2e-11, 20: 3e-12, 22: 5e-13, 24: 1e-13,
    },
}  # fmt: skip
_SINGLE = 1.6e-4  # from here on single precision is enough: it loses about 1e-6
_HIGHEST_SINGLE = 8  # order, whose S, up to (2 order)!, stay in the range of single precision


class Choice(NamedTuple):
    """Parameters of the method."""

    order: int  # p: degree of the expansions
    near: float  # d: how many radii away a cluster is far
    leaf: int  # triangles of a leaf, at most
    single: bool  # whether numbers are of single precision


def is_dense(order: int, near: float) -> bool:
    """Whether there is a matrix for every offset: at most 200 MB of them in double precision."""
    offsets = 4 * (near + 2) ** 3  # about as many, those of twice as large clusters included
    return 8 * offsets * (order + 1) ** 4 <= 2e8


def _fall(near: float) -> float:
    """How many times smaller the error becomes with each order, as measured at 1.2, 1.5, 2 and 3."""
    return float(np.interp(near, [1.2, 1.5, 2.0, 3.0], [1.5, 2.2, 2.9, 4.6]))


def _order(accuracy: float, near: float) -> int:
    """The lowest order that is enough."""
    known = max((d for d in _ERRORS if d <= near), default=2.0)  # what is enough for less is enough for more
    order = next((p for p, error in _ERRORS[known].items() if error <= accuracy), None)
    if order is None:
        last, error = list(_ERRORS[known].items())[-1]
        order = last + math.ceil(math.log(error / accuracy) / math.log(_fall(known)))
    if near < known:
        order = 1 + math.ceil(order * math.log(_fall(known)) / math.log(_fall(near)))
    if order > HIGHEST:
        raise InputError(f"near: found {near:g}, expected more for an accuracy of {accuracy:g}, which 3 is enough for")
    return order


def choose(accuracy: float, order: int | None, near: float | None, leaf: int | None) -> Choice:
    """What is not given, from the accuracy."""
    single = accuracy >= _SINGLE and (order is None or order <= _HIGHEST_SINGLE)
    wanted = near if near is not None else 2.0 if single else 3.0
    if order is None:
        order = _order(accuracy, wanted)
        single &= order <= _HIGHEST_SINGLE
    if leaf is None:
        # Moments of a leaf should cost less than its triangles, and reading large matrices pays for many triangles.
        leaf = 16 * max(round((order + 1) ** 2 / (50 if single else 25)), 1)
    return Choice(order, wanted, leaf, single)


def model(choice: Choice, points: float, depth: int) -> Model:
    """Costs in ns, measured on one core with vectors of 512 bits; only their ratios matter."""
    size, slower = (choice.order + 1) ** 2, 1.0 if choice.single else 2.0
    matrix = 0.06 * size * size * slower if is_dense(choice.order, choice.near) else 0.4 * size * size
    return Model(0.11 * size * slower, 5.0 + size * slower, 25.0 + matrix, points, depth)
