"""Planes as users give them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies import _planes
from impinge.errors import InputError

__all__ = ["read_plane"]


def read_plane(
    d: int,
    point: ArrayLike,
    normal: ArrayLike,
    velocity: ArrayLike | None,
    load: float | None,
    mass: float | None,
    mass_of_bodies: float,
) -> NDArray[np.float64]:
    """Check a plane; gives its row, see `_particles`, without a material."""
    row = np.zeros(_planes.PLANE)
    row[:d] = _check.vector("point", point, d)
    n = _check.vector("normal", normal, d)
    length = float(np.linalg.norm(n))
    if not 0 < length < np.inf:
        raise InputError(f"normal: found {normal!r}, expected a vector of any length above 0")
    row[_planes.NORMAL : _planes.NORMAL + d] = n / length
    row[_planes.LOAD] = np.nan
    if velocity is not None and load is not None:
        raise InputError("velocity, load: found both, expected one of them or none")
    if velocity is not None:
        row[_planes.SPEED : _planes.SPEED + d] = _check.vector("velocity", velocity, d)
    if mass is not None and load is None:
        raise InputError("mass: found it without load, expected both or none")
    if load is not None:
        row[_planes.LOAD] = _check.not_negative("load", load)
        if mass is None and mass_of_bodies == 0:
            raise InputError(
                "mass: found None in a world without bodies, expected a number, or spheres or polyhedra first"
            )
        row[_planes.MASS] = mass_of_bodies if mass is None else _check.positive("mass", mass)
    return row
