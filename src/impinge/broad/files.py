"""Spheres from files, and pairs to files: NumPy, comma-separated and XYZ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError

__all__ = ["ENDINGS", "read_spheres", "write_pairs"]

ENDINGS = (".npy", ".npz", ".csv", ".xyz")
_CENTRES = ("centres", "centers", "positions", "points")
_RADII = ("radii", "radius", "r")


def read_spheres(path: Path, radius: float | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Centres (n, 2) or (n, 3) and radii (n,) of a file.

    Parameters
    ----------
    path : Path
        - .npy: rows of x, y, z, radius or x, y, radius; only coordinates if a radius is given.
        - .npz: arrays "centres" and "radii".
        - .csv: columns named x, y, z and radius (or r), or without names as in .npy.
        - .xyz: number of spheres, a comment, rows of name, x, y, z and, if there is one, the radius; a comment
          with "Properties=" (extended XYZ) says which columns are "pos" and "radius".
    radius : float, optional
        Of all spheres, instead of those in the file.
    """
    path = Path(path)
    readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv, ".xyz": _read_xyz}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path}: ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")
    try:
        centres, radii = readers[path.suffix.lower()](path, radius is not None)
    except (ValueError, EOFError, KeyError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read as {path.suffix.lower()} ({error})") from None
    if radius is not None:
        radii = np.full(len(centres), float(radius))
    if radii is None:
        raise InputError(f"{path}: has no radii, expected a column for them or --radius")
    return centres, radii


def _split(path: Path, rows: NDArray[Any], only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Rows of numbers without names: the last one is the radius unless there are coordinates only."""
    allowed = (2, 3) if only_centres else (3, 4)
    if rows.ndim == 2 and rows.shape[1] in allowed:
        return (rows, None) if only_centres else (rows[:, :-1], rows[:, -1])
    if only_centres and rows.ndim == 2 and rows.shape[1] == 4:
        return rows[:, :3], None
    what = "x, y, (z)" if only_centres else "x, y, (z), radius; say --radius if the file has none"
    raise InputError(f"{path}: found numbers of shape {rows.shape}, expected rows of {what}")


def _read_npy(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    return _split(path, np.load(path, allow_pickle=False), only_centres)


def _read_npz(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with np.load(path, allow_pickle=False) as arrays:
        centres = next((arrays[name] for name in _CENTRES if name in arrays), None)
        radii = next((arrays[name] for name in _RADII if name in arrays), None)
    if centres is None:
        raise InputError(f"{path}: found arrays {', '.join(arrays.files) or 'none'}, expected 'centres' and 'radii'")
    return centres, radii


def _read_csv(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with path.open(encoding="utf-8-sig") as file:
        names = [name.strip().strip('"').lower() for name in file.readline().split(",")]
    if any(re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?|nan|[-+]?inf(inity)?", name) for name in names):
        return _split(path, np.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8-sig"), only_centres)
    if not {"x", "y"} <= set(names):
        raise InputError(f"{path}: found columns {', '.join(names)}, expected x, y, (z) and radius")
    wanted = [names.index(name) for name in ("x", "y", "z") if name in names]
    radius = next((names.index(name) for name in _RADII if name in names), None)
    columns = wanted if radius is None else [*wanted, radius]
    rows = np.loadtxt(path, delimiter=",", ndmin=2, skiprows=1, usecols=columns, encoding="utf-8-sig")
    rows = rows.reshape(-1, len(columns))
    return rows[:, : len(wanted)], None if radius is None else rows[:, -1]


def _read_xyz(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with path.open(encoding="utf-8") as file:
        count, comment = int(file.readline()), file.readline()
        rows = np.array([file.readline().split() for _ in range(count)], dtype=object)
    first: int = 1
    radius: int = 4
    described = re.search(r"Properties=(\S+)", comment)
    if described:
        fields = described[1].split(":")
        widths = [int(width) for width in fields[2::3]]
        places = dict(zip(fields[0::3], np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
        first, radius = places["pos"], places["radius"] if "radius" in places else len(rows[0]) if count else 0
    if count == 0:
        return np.empty((0, 3)), np.empty(0)
    if rows.ndim != 2 or rows.shape[1] < first + 3:
        raise InputError(
            f"{path}: found rows of different or too few columns, expected {count} of name, x, y, z, radius"
        )
    centres = rows[:, first : first + 3].astype(np.float64)
    return centres, rows[:, radius].astype(np.float64) if rows.shape[1] > radius and not only_centres else None


def write_pairs(path: Path, pairs: NDArray[np.int64]) -> None:
    """Pairs to .npy, (m, 2) int64, or .csv with columns i and j."""
    path = Path(path)
    if path.suffix.lower() == ".npy":
        np.save(path, pairs)
    elif path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8") as file:
            file.write("i,j\n")
            np.savetxt(file, pairs, fmt="%d", delimiter=",")
    else:
        raise InputError(f"{path}: ending {path.suffix!r}, expected .npy or .csv")
