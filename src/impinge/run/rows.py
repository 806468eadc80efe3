"""Rows of spheres and rigid bodies as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies.dynamics import Dynamics
from impinge.errors import InputError
from impinge.output.arrays import with_z
from impinge.response.materials import Material
from impinge.shapes.rotations import checked_rotation

__all__ = ["LEAST_MASS", "MOST_MASS", "of_spheres", "per_row", "rotations", "without"]

LEAST_MASS, MOST_MASS = 1e-290, 1e290  # kg: beyond, forces are no numbers
_Floats = NDArray[np.float64]


def of_spheres(
    dynamics: Dynamics,
    centres: ArrayLike,
    radii: ArrayLike,
    material: Material,
    velocities: ArrayLike | None,
    spins: ArrayLike | None,
) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    """Centres in the box, radii, velocities and spins, with three axes."""
    d = dynamics.space.dimension
    x = _check.vectors("centres", centres, d)
    r = _check.sizes("radii", radii, len(x), "centres")
    bad = np.flatnonzero(r == 0)
    if len(bad):
        raise InputError(f"radii: row {bad[0]} is 0, expected more, as a sphere needs a mass")
    masses = dynamics.particles.masses(r, material.density) if isinstance(material, Material) else r
    bad = np.flatnonzero(~((masses > LEAST_MASS) & (masses < MOST_MASS)))
    if len(bad):
        raise InputError(f"radii: row {bad[0]} is {r[bad[0]]:g}, of mass {masses[bad[0]]:g} kg, beyond all numbers")
    v = per_row("velocities", velocities, len(x), d)
    w = per_row("spins", spins, len(x), 3 if d == 3 else 1)
    turning = w if d == 3 else np.column_stack([np.zeros((len(x), 2)), w])
    return dynamics.space.wrap(x), r, with_z(v), turning


def without(ids: ArrayLike, there: NDArray[np.int64], what: str) -> NDArray[np.int64]:
    """Rows that stay when those of some permanent numbers go; there : numbers of all rows."""
    numbers = _check.numbers("ids", ids, f"permanent numbers of {what}").ravel()
    if numbers.dtype.kind not in "iu" and len(numbers):
        raise InputError(f"ids: found {numbers.dtype}, expected permanent numbers of {what}, which are integers")
    gone = numbers.astype(np.int64)
    missing = np.setdiff1d(gone, there)
    if len(missing):
        raise InputError(f"ids: found {missing[0]}, expected numbers of {what} that are in the world")
    return np.flatnonzero(~np.isin(there, gone))


def per_row(name: str, value: ArrayLike | None, count: int, columns: int) -> _Floats:
    """(count, columns) from as many rows, from one row for all, or zeros."""
    if value is None:
        return np.zeros((count, columns))
    array = _check.numbers(name, value, f"numbers of shape ({count}, {columns}) or ({columns},)")
    if columns == 1 and array.ndim == 1 and len(array) == count:
        array = array[:, None]
    if array.shape not in ((columns,), (count, columns)) and not (columns == 1 and array.ndim == 0):
        raise InputError(f"{name}: found shape {array.shape}, expected ({count}, {columns}) or ({columns},)")
    rows = np.array(np.broadcast_to(array, (count, columns)), np.float64)
    _check.finite(name, rows)
    return rows


def rotations(value: Any, count: int) -> _Floats:
    """(count, 3, 3), each a rotation."""
    if value is None:
        return np.broadcast_to(np.eye(3), (count, 3, 3))
    given = value.as_matrix() if hasattr(value, "as_matrix") else value
    array = _check.numbers("rotations", given, f"rotation matrices, ({count}, 3, 3) or (3, 3), or a scipy Rotation")
    if array.shape not in ((3, 3), (count, 3, 3)):
        raise InputError(
            f"rotations: found shape {array.shape}, expected ({count}, 3, 3) or (3, 3); for quaternions pass "
            "scipy.spatial.transform.Rotation.from_quat(quaternions)"
        )
    rows = array.reshape(-1, 3, 3)
    turns = np.empty(rows.shape)
    for row, matrix in enumerate(rows):
        turns[row] = checked_rotation(matrix, f"rotations: row {row}")
    return np.broadcast_to(turns, (count, 3, 3))
