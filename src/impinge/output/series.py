"""Numbers over time as comma-separated text, a row at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import FileIO
from typing import Any

import numpy as np

from impinge import _check
from impinge.errors import InputError

__all__ = ["Series"]


class Series:
    """A .csv file that grows: every row is in the file when `append` returns.

    Parameters
    ----------
    path : path
        Overwritten if it exists; see `resume`.
    columns : sequence of str
        Names for the first line, with their units, e.g. "time [s]".
    """

    def __init__(self, path: str | os.PathLike[str], columns: Sequence[str]) -> None:
        head = _head(columns)
        with open(path, "wb", buffering=0) as file:
            _write(file, head)
        self._open(path, len(columns), 0)

    @classmethod
    def resume(cls, path: str | os.PathLike[str], columns: Sequence[str], rows: int) -> Series:
        """Continue a file after its first `rows` rows; later ones, and a last one cut short, are removed."""
        _cut(path, _head(columns), _check.integer("rows", rows, 0))
        result = cls.__new__(cls)
        result._open(path, len(columns), rows)
        return result

    def _open(self, path: str | os.PathLike[str], columns: int, rows: int) -> None:
        # Without a buffer: what a full disk did not take is not tried again later.
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115, closed by `close`
        self._columns = columns
        self.rows = rows
        """Number of rows below the names."""

    def append(self, values: Sequence[Any]) -> None:
        """Add a row: one number for each column, written so that the same number is read back."""
        if len(values) != self._columns:
            raise InputError(f"values: found {len(values)}, expected {self._columns}, one for each column")
        _write(self._file, (",".join(map(_text, values)) + "\n").encode())
        self.rows += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Series:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _head(columns: Sequence[str]) -> bytes:
    if isinstance(columns, str) or not columns:
        raise InputError(f"columns: found {columns!r}, expected a list of at least one name")
    for name in columns:
        if not isinstance(name, str) or not name.isprintable() or not name.strip() or set(name) & set(',"'):
            raise InputError(f"columns: found {name!r}, expected a name without commas and quotes")
    return (",".join(columns) + "\n").encode()


def _text(value: Any) -> str:
    """The shortest text that reads back as the same number."""
    number = value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError(f"values: found {value!r}, expected a number")
    return repr(number)


def _write(file: FileIO, line: bytes) -> None:
    while line:
        line = line[file.write(line) :]


def _cut(path: str | os.PathLike[str], head: bytes, rows: int) -> None:
    """Check the first line, and remove all behind the first `rows` rows."""
    with open(path, "r+b") as file:
        found = file.readline()
        if found != head:
            names = found.decode(errors="replace").strip()
            raise InputError(f"{os.fspath(path)}: found the columns {names!r}, expected {head.decode().strip()!r}")
        for row in range(rows):
            if not file.readline().endswith(b"\n"):
                raise InputError(f"{os.fspath(path)}: found {row} rows, expected at least {rows}")
        file.truncate(file.tell())
