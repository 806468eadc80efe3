"""Spheres from files, and pairs to files: NumPy, comma-separated and XYZ."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError, RunWarning, reason
from impinge.fields import delimiter_of, expected_number, is_meant_as_number, split, value_of
from impinge.untrusted import check_file, read_npy, read_npz

__all__ = ["ENDINGS", "read_spheres", "write_pairs"]

ENDINGS = (".npy", ".npz", ".csv", ".xyz")
_CENTRES = ("centres", "centers", "positions", "points")
_RADII = ("radii", "radius", "r")


def read_spheres(path: Path, radius: float | None = None, dim: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Centres (n, 2) or (n, 3) and radii (n,) of a file.

    Parameters
    ----------
    path : Path
        - .npy: rows of x, y, z, radius or x, y, radius; only coordinates if a radius is given.
        - .npz: arrays "centres" and "radii".
        - .csv: columns named x, y, z and radius (or r), or without names as in .npy; separated by , ; tab or spaces.
        - .xyz: number of spheres, a comment, rows of name, x, y, z and, if there is one, the radius; a comment
          with "Properties=" (extended XYZ) says which columns are "pos" and "radius".
    radius : float, optional
        Of all spheres, instead of those in the file.
    dim : int, optional
        How many coordinates there should be; without it, a column that may be z or radius is warned about.
    """
    path = Path(path)
    readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv, ".xyz": _read_xyz}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path}: ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")
    check_file(path)
    try:
        centres, radii = readers[path.suffix.lower()](path, radius is not None)
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path}: found bytes that are no text (UTF-8), expected a file saved as that") from None
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise InputError(f"{path}: cannot be read as {path.suffix.lower()} ({reason(error)})") from None
    if dim is None and radius is None and centres.shape[1:] == (2,) and _has_no_names(path):
        found = "found three columns without names, taken for x, y and radius"
        warnings.warn(f"{path}: {found}; if they are x, y, z: --radius; else a first line x,y,radius", RunWarning, 2)
    if centres.ndim != 2:
        raise InputError(f"{path}: found centres of shape {centres.shape}, expected (n, 2) or (n, 3)")
    if radius is not None:
        radii = np.full(len(centres), float(radius))
    if radii is None:
        raise InputError(f"{path}: has no radii, expected a column for them (radius or r) or --radius")
    return centres, np.broadcast_to(radii, len(centres)) if radii.ndim == 0 else radii


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
    try:
        rows = read_npy(path)
    except ValueError:
        raise InputError(f"{path}: cannot be read as .npy, expected an array of numbers that NumPy saved") from None
    return _split(path, rows, only_centres)


def _read_npz(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    arrays = read_npz(path)
    centres = next((arrays[name] for name in _CENTRES if name in arrays), None)
    radii = next((arrays[name] for name in _RADII if name in arrays), None)
    if centres is None:
        raise InputError(f"{path}: found arrays {', '.join(arrays) or 'none'}, expected 'centres' and 'radii'")
    return centres, radii


def _read_csv(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    names, lines, row = _head_of(path)
    if names is None and not row:
        raise InputError(f"{path}: holds no rows, expected x, y, (z) and radius")
    if names is None:
        return _split(path, _read_rows(path, lines, delimiter_of(row)), only_centres)
    wanted = [names.index(name) for name in ("x", "y", "z") if name in names]
    radius = next((names.index(name) for name in _RADII if name in names), None)
    columns = wanted if radius is None else [*wanted, radius]
    rows = _read_rows(path, lines, delimiter_of(row), columns) if row else np.empty((0, len(columns)))
    return rows[:, : len(wanted)], None if radius is None else rows[:, -1]


def _read_rows(path: Path, skip: int, delimiter: str | None, columns: list[int] | None = None) -> NDArray[np.float64]:
    """Numbers of all lines after the first ones, of some columns or all; errors tell line and field."""
    try:
        return np.loadtxt(path, delimiter=delimiter, ndmin=2, encoding="utf-8-sig", skiprows=skip, usecols=columns)
    except ValueError:
        _explain(path, skip, delimiter, columns)
        raise


def _explain(path: Path, skip: int, delimiter: str | None, columns: list[int] | None) -> None:
    """Raise an error about the first line that is wrong, found by reading them again, slowly."""
    with path.open(encoding="utf-8-sig") as file:
        width = 0
        for number, line in enumerate(file, 1):
            fields = split(line.partition("#")[0].strip(), delimiter)
            if number <= skip or not any(fields):
                continue
            width = width or len(fields)
            if len(fields) != width if columns is None else len(fields) <= max(columns):
                raise InputError(f"{path}: line {number}: found {len(fields)} columns, expected {width}")
            for field in fields if columns is None else [fields[column] for column in columns]:
                if value_of(field) is None:
                    raise InputError(f"{path}: line {number}: {expected_number(field)}")


def _head_of(path: Path) -> tuple[list[str] | None, int, str]:
    """The names of the columns, if there are any; how many lines stand before the rows; the first row."""
    names: list[str] | None = None
    with path.open(encoding="utf-8-sig") as file:
        for lines, line in enumerate(file):
            row = line.strip()
            text = row.lstrip("#").strip()
            fields = [field.strip('"').lower() for field in split(text, delimiter_of(text))]
            if not row:
                continue
            if not row.startswith("#") and (names is not None or is_meant_as_number(fields[0])):
                return names, lines, row
            if {"x", "y"} <= set(fields):
                names = fields
            elif not row.startswith("#"):
                raise InputError(f"{path}: found columns {', '.join(fields)}, expected x, y, (z) and radius")
    return names, 0, ""


def _has_no_names(path: Path) -> bool:
    """Whether a file may have names of its columns, but has not."""
    return path.suffix.lower() == ".csv" and _head_of(path)[0] is None


def _read_xyz(path: Path, only_centres: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with path.open(encoding="utf-8") as file:
        head, comment = file.readline().strip() or "0", file.readline()
        rows = [line.split() for line in file if line.strip()]
    if not head.isdigit():
        raise InputError(f"{path}: found {head!r} in the first line, expected the number of spheres alone")
    count = int(head)
    if len(rows) != count or len({len(row) for row in rows}) > 1:
        raise InputError(
            f"{path}: found {len(rows)} rows after a count of {count}, expected that many, of equal length"
        )
    if count == 0:
        return np.empty((0, 3)), np.empty(0)
    columns = len(rows[0])
    first, last, radius = 1, 4, 4 if columns == 5 else None  # further columns may be anything
    described = re.search(r"Properties=(\S+)", comment)
    if described:
        fields = described[1].split(":")
        ends = np.cumsum([0, *map(int, fields[2::3])]).tolist()
        places = dict(zip(fields[0::3], ends[:-1], strict=True))
        if "pos" not in places:
            raise InputError(f"{path}: found the properties {', '.join(places)}, expected pos among them")
        first, radius = places["pos"], places.get("radius")
        last = ends[ends.index(first) + 1]
    elif re.fullmatch(r"[-+]?\d*\.\d*([eE][-+]?\d+)?", rows[0][0]):  # whole numbers may be names
        raise InputError(f"{path}: found {rows[0][0]} in the first column, expected name, x, y, z and radius")
    if columns < last:
        raise InputError(f"{path}: found rows of {columns} columns, expected name, x, y, z and radius")
    table = np.array(rows, dtype=object)
    centres = table[:, first:last].astype(np.float64)
    return centres, None if radius is None or only_centres else table[:, radius].astype(np.float64)


def write_pairs(path: Path, pairs: NDArray[np.int64]) -> None:
    """Pairs to .npy, (m, 2) int64, or .csv with columns i and j."""
    path = Path(path)
    if path.exists() and not path.is_file():  # opening a pipe would wait for ever
        raise InputError(f"{path}: is not a regular file, so it cannot be replaced")
    if path.suffix.lower() == ".npy":
        with path.open("wb") as stream:  # NumPy would add another ending to .NPY
            np.save(stream, pairs)
    elif path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8") as file:
            file.write("i,j\n")
            np.savetxt(file, pairs, fmt="%d", delimiter=",")
    else:
        raise InputError(f"{path}: ending {path.suffix!r}, expected .npy or .csv")
