"""From the accuracy that a user asks for to order, near field and leaves of the multipole method."""

from __future__ import annotations

import math
from typing import NamedTuple

from impinge.inside.multipole._walk import HIGHEST_DENSE, Model

FINEST, COARSEST = 1e-10, 0.1
HIGHEST = 24  # order
NEAREST = 1.2  # near: the series hardly converge below
_SINGLE = 1e-4  # from here on single precision is enough: it loses about 1e-6


class Choice(NamedTuple):
    """Parameters of the method."""

    order: int  # p: degree of the expansions
    near: float  # d: how many radii away a cluster is far
    leaf: int  # triangles of a leaf, at most
    single: bool  # whether numbers are of single precision


def choose(accuracy: float, order: int | None, near: float | None, leaf: int | None) -> Choice:
    """What is not given, from the accuracy."""
    near = 2.0 if near is None else near
    if order is None:
        # Measured: the largest error on spheres, foams and broken meshes falls by about d + 1 per order at d = 2
        order = max(2, math.ceil(math.log(0.25 / accuracy) / math.log(near + 0.9)))
    single = accuracy >= _SINGLE
    if leaf is None:
        leaf = 16 * max(round((order + 1) ** 2 / 50), 1)  # moments of a leaf cost about as much as its triangles
    return Choice(order, near, leaf, single)


def model(choice: Choice, points: float, depth: int) -> Model:
    """Costs in ns, measured on one core with vectors of 512 bits; only their ratios matter."""
    size, slower = (choice.order + 1) ** 2, 1.0 if choice.single else 2.0
    pair = 2.5 if choice.order == 3 else 0.25 * size * slower
    matrix = 0.06 * size * size * slower if choice.order <= HIGHEST_DENSE else 0.4 * size * size
    return Model(pair, 5.0 + size * slower, 25.0 + matrix, points, depth)
