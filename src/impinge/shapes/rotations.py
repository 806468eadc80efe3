"""Rotations as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError

__all__ = ["checked_rotation"]

_TOLERANCE = 1e-6  # of RᵀR: matrices of single precision are rotations too
_ROUNDING = 4e-15  # of RᵀR: a rotation about as good as doubles have them


def checked_rotation(value: Any, name: str = "rotation") -> NDArray[np.float64]:
    """A rotation matrix as given, or the nearest one if it is a rotation to `_TOLERANCE` only."""
    wanted = "a 3 × 3 rotation matrix or a scipy.spatial.transform.Rotation"
    given = value.as_matrix() if hasattr(value, "as_matrix") else value
    array = _check.numbers(name, given, wanted)
    if array.shape != (3, 3):
        hints = {
            (4,): "; for a quaternion pass Rotation.from_quat(quaternion), which knows the order of its parts",
            (3,): "; for axis times angle pass Rotation.from_rotvec(vector)",
            (4, 4): "; for a transformation matrix T pass T[:3, :3] and the translation T[:3, 3]",
        }
        raise InputError(f"{name}: found shape {array.shape}, expected {wanted}{hints.get(array.shape, '')}")
    matrix = np.array(array, np.float64, order="C")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: found {matrix.tolist()}, expected {wanted}, of finite numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        excess = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if not excess <= _TOLERANCE:
        raise InputError(
            f"{name}: found {matrix.tolist()}, whose RᵀR differs from the identity by up to {excess:.3g}, expected "
            f"{wanted}, good to {_TOLERANCE:g}: no scale, no shear"
        )
    if np.linalg.det(matrix) < 0:
        raise InputError(f"{name}: found {matrix.tolist()}, a reflection (determinant −1), expected {wanted}")
    if excess > _ROUNDING:
        for _ in range(2):  # Newton's iteration to the nearest rotation squares the error: 1e-6, 1e-12, 0
            matrix = matrix @ (1.5 * np.eye(3) - 0.5 * matrix.T @ matrix)
    return matrix
