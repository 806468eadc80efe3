"""Points from the vertices of a ``.ply`` file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.inside.pointfiles.source import PointSource
from impinge.inside.pointfiles.text import LONGEST_LINE, Layout, TextPoints

_LONGEST_HEAD = 1 << 20
_MOST_PARTS = 10_000
_ENDIAN = {"binary_little_endian": "<", "binary_big_endian": ">"}
_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8", "int64": "i8", "uint64": "u8",
}  # fmt: skip


class _Element(NamedTuple):
    name: str
    rows: int
    fields: list[tuple[str, str]]  # name and type, "list" for a list


def _read_head(file: IO[bytes]) -> tuple[str, list[_Element], int]:
    """Format, elements and number of lines of the head; ValueError says what is wrong with it."""
    if file.readline(16).strip() != b"ply":
        raise ValueError("the first line is not 'ply'")
    kind, lines = "", 1
    elements: list[_Element] = []
    while True:
        raw = file.readline(_LONGEST_HEAD)
        lines += 1
        if not raw.endswith(b"\n") or file.tell() > _LONGEST_HEAD:
            raise ValueError("the head has no end")
        words = raw.decode("latin1").split()
        match words:
            case ["end_header"]:
                return kind, elements, lines
            case ["format", name, _]:
                kind = name
            case ["element", name, count] if re.fullmatch("[0-9]{1,18}", count):
                elements.append(_Element(name, int(count), []))
            case ["property", "list", count_type, type_, name] if elements and {count_type, type_} <= {*_TYPES}:
                elements[-1].fields.append((name, "list"))
            case ["property", type_, name] if elements and type_ in _TYPES:
                elements[-1].fields.append((name, _TYPES[type_]))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise ValueError(f"line {lines} of the head is {' '.join(words)[:60]!r}")
        if len(elements) > _MOST_PARTS or (elements and len(elements[-1].fields) > _MOST_PARTS):
            raise ValueError(f"more than {_MOST_PARTS} elements, or properties of one")


def open_ply(path: Path) -> PointSource:
    """Points of the element ``vertex`` of a ``.ply``, in any of its three formats."""
    with path.open("rb") as file:
        try:
            kind, elements, lines = _read_head(file)
        except ValueError as error:
            raise InputError(f"{path}: cannot be read as .ply ({error})") from None
        offset = file.tell()
    names = [element.name for element in elements]
    if "vertex" not in names:
        raise InputError(f"{path}: found the elements {', '.join(names) or '(none)'}, expected vertex")
    before, vertex = elements[: names.index("vertex")], elements[names.index("vertex")]
    fields = [name for name, _ in vertex.fields]
    missing = [name for name in "xyz" if name not in fields]
    if missing:
        raise InputError(f"{path}: the vertices have no property {missing[0]}, only {', '.join(fields)}")
    lists = [name for name, type_ in vertex.fields if type_ == "list"]
    if lists:
        raise InputError(f"{path}: the vertices have the list property {lists[0]}, expected numbers only")
    if len({*fields}) < len(fields):
        raise InputError(f"{path}: two properties of the vertices have the same name")
    if kind == "ascii":
        with path.open("rb") as file:
            file.seek(offset)
            skipped = sum(element.rows for element in before)
            if skipped > path.stat().st_size:
                raise InputError(f"{path}: ends early: it announces {skipped} rows before the vertices")
            for _ in range(skipped):
                file.readline(LONGEST_LINE)
            x, y, z = (fields.index(name) for name in "xyz")
            layout = Layout(file.tell(), lines + 1 + skipped, None, (x, y, z))
        return TextPoints(path, layout, vertex.rows)
    if kind not in _ENDIAN:
        expected = ", ".join(["ascii", *_ENDIAN])
        raise InputError(f"{path}: found the format {kind!r}, expected one of {expected}")
    for element in before:
        if any(type_ == "list" for _, type_ in element.fields):
            raise InputError(f"{path}: lists stand before the vertices, expected the vertices first")
        offset += element.rows * sum(np.dtype(type_).itemsize for _, type_ in element.fields)
    dtype = np.dtype([(name, _ENDIAN[kind] + type_) for name, type_ in vertex.fields])
    return _BinaryPly(path, vertex.rows, offset, dtype)


class _BinaryPly(PointSource):
    """Vertices of a binary ``.ply``, mapped into memory."""

    def __init__(self, path: Path, count: int, offset: int, dtype: np.dtype[Any]) -> None:
        super().__init__(path, count)
        self._offset = offset
        self._dtype = dtype
        held = max(path.stat().st_size - offset, 0) // dtype.itemsize
        if held < count:
            raise InputError(f"{path}: ends early: it announces {count} vertices, but holds {held}")

    def _read(self, size: int) -> Iterator[NDArray[np.float64]]:
        count = self.count
        if not count:
            return
        vertices = np.memmap(self.path, self._dtype, "r", self._offset, (count,))
        for start in range(0, count, size):
            part = vertices[start : start + size]
            points = np.empty((len(part), 3))
            for column, name in enumerate("xyz"):
                points[:, column] = part[name]
            yield points
            self.fraction = (start + len(part)) / count
