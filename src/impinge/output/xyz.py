"""Spheres for OVITO: extended XYZ, a file for every frame; OVITO opens the files of a folder as one animation.

Rows of this format are points: rigid bodies of other shapes are not in it, but in the files for ParaView.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.broad.space import read_space
from impinge.errors import InputError
from impinge.output.arrays import Arrays, read_arrays, read_spheres, with_z
from impinge.output.atomic import replacing

__all__ = ["write_xyz"]

_OVITO_NAMES = {"velocity": "velo"}
_CHUNK = 65536  # rows; texts take much more memory than numbers


def write_xyz(
    path: str | os.PathLike[str],
    centres: ArrayLike,
    radii: ArrayLike,
    arrays: Arrays,
    time: float,
    box: ArrayLike | None = None,
    periodic: bool | ArrayLike = False,
) -> None:
    """Write one frame. Numbers have as many digits as it takes to read the same ones back.

    Parameters
    ----------
    path : path
        Such as frame_000012.xyz.
    centres : (n, 2) or (n, 3) float64, m
        z = 0 in two dimensions.
    radii : float or (n,) float64, m
    arrays : mapping of names to (n,) or (n, k) numbers
        What else is known of every sphere. "id" counts from 0 if it is not among them; "velocity" gets the name
        that OVITO has for it.
    time : float, s
    box : (d,) lengths from 0, or ((x0, …), (x1, …)), m, optional
    periodic : bool or d of them
        Sides of the box.
    """
    points, sizes = read_spheres(centres, radii)
    data = read_arrays(arrays, len(points), "centres", {"pos", "radius"})
    ids = data.pop("id", np.arange(len(points)))
    if ids.ndim != 1 or ids.dtype.kind == "f":
        raise InputError(f"id: found {ids.dtype} of shape {ids.shape}, expected integers of shape ({len(points)},)")
    named = {"id": ids, "pos": with_z(points), "radius": sizes}
    for name, array in data.items():
        ovito_name = _OVITO_NAMES.get(name, name)
        if not re.fullmatch(r"\w+", name) or ovito_name in named:
            raise InputError(f"arrays: found the name {name!r}, expected letters, digits and underscores, once each")
        named[ovito_name] = array
    comment = [
        _lattice(box, periodic, points.shape[1]),
        "Properties=" + ":".join(f"{name}:{_letter(array)}:{_columns(array)}" for name, array in named.items()),
        f"Time={_check.not_negative('time', time)!r}",
    ]
    table = [column for array in named.values() for column in array.reshape(-1, _columns(array)).T]
    row = " ".join("%r" if column.dtype.kind == "f" else "%d" for column in table) + "\n"
    with replacing(path) as file:
        file.write(f"{len(points)}\n{' '.join(filter(None, comment))}\n".encode())
        for start in range(0, len(points), _CHUNK):
            columns = [column[start : start + _CHUNK].tolist() for column in table]
            file.write("".join([row % values for values in zip(*columns, strict=True)]).encode())


def _letter(array: NDArray[Any]) -> str:
    return "R" if array.dtype.kind == "f" else "I"


def _columns(array: NDArray[Any]) -> int:
    return 1 if array.ndim == 1 else array.shape[1]


def _lattice(box: ArrayLike | None, periodic: bool | ArrayLike, dimension: int) -> str:
    """The box, whose sides OVITO would take for periodic ones if nothing were said; a flat one gets a thickness."""
    space = read_space(box, periodic, dimension)
    if box is None:
        return ""
    low, lengths = space.low.copy(), space.lengths.copy()
    if dimension == 2:
        lengths[2] = lengths[:2].min()
        low[2] = -lengths[2] / 2
    cell = " ".join(map(repr, np.diag(lengths).ravel().tolist()))
    sides = " ".join("T" if period else "F" for period in space.period)
    return f'Lattice="{cell}" Origin="{" ".join(map(repr, low.tolist()))}" pbc="{sides}"'
