"""Points from text: ``.csv`` and ``.xyz``, and the rows of a ``.ply`` in ASCII."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError, reason
from impinge.fields import delimiter_of, expected_number, is_meant_as_number, split, value_of
from impinge.inside.pointfiles.source import PointSource, first_not_finite, not_finite

_BLOCK = 1 << 23  # bytes of text parsed at a time
LONGEST_LINE = _BLOCK  # bytes
_NAMES = (("x", "y", "z"), ("points:0", "points:1", "points:2"), ("points_0", "points_1", "points_2"))


class Layout(NamedTuple):
    """Where the numbers of a text file stand."""

    offset: int  # byte where the rows begin
    line: int  # number of the line there, counted from 1
    delimiter: str | None  # None: white space
    columns: tuple[int, int, int]  # of x, y and z, counted from 0


class TextPoints(PointSource):
    """Points of the rows of a text file.

    Parameters
    ----------
    path : Path
    layout : Layout
    count : int or None
        Number of rows, if the head of the file announces it.
    only : bool
        Whether nothing may follow after `count` rows.
    has_head : bool
        Whether it is an .xyz file that begins with a count and a comment.
    """

    def __init__(
        self, path: Path, layout: Layout, count: int | None = None, only: bool = False, has_head: bool = False
    ) -> None:
        super().__init__(path, count)
        self._layout = layout
        self._announced = count
        self._only = only
        self.has_head = has_head

    def _read(self, size: int) -> Iterator[NDArray[np.float64]]:
        done = 0
        for block, line in self._blocks():
            left = None if self._announced is None else self._announced - done
            if left == 0:
                if not self._only:
                    break
                if block.strip():
                    raise InputError(f"{self.path}: holds more than the {self._announced} rows it announces")
                continue
            points = self._parse(block, line, done, left)
            done += len(points)
            if len(points):
                yield points
        if self._announced is not None and done < self._announced:
            raise InputError(f"{self.path}: ends early: it announces {self._announced} rows, but holds {done}")

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        """Pieces of whole lines, with the number of the first."""
        total = max(self.path.stat().st_size, 1)
        line = self._layout.line
        with self.path.open("rb") as file:
            file.seek(self._layout.offset)
            rest = b""
            while data := file.read(_BLOCK):
                whole, newline, rest_of_data = data.rpartition(b"\n")
                if not newline and len(rest) + len(data) > _BLOCK:
                    raise InputError(f"{self.path}: line {line} has more than {_BLOCK} bytes; is it text?")
                block = rest + whole + newline if newline else b""
                rest = rest_of_data if newline else rest + data
                if block:
                    yield block, line
                    line += block.count(b"\n")
                self.fraction = file.tell() / total
            if rest:
                yield rest, line

    def _comments(self) -> str | None:
        # A line that begins with # cannot be a row if a coordinate stands first; otherwise it may be one.
        return "#" if min(self._layout.columns) == 0 else None

    def _parse(self, block: bytes, line: int, row: int, most: int | None) -> NDArray[np.float64]:
        delimiter, columns = self._layout.delimiter, self._layout.columns
        quoted = delimiter is not None and b'"' in block
        rows = None if most is None else min(most, block.count(b"\n") + 1)  # NumPy makes room for so many
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*input contained no data", UserWarning)
            try:
                points = np.loadtxt(
                    io.BytesIO(block), np.float64, self._comments(), delimiter, usecols=columns, ndmin=2,
                    encoding="latin1", max_rows=rows, quotechar='"' if quoted else None,
                )  # fmt: skip
            except ValueError as error:
                raise self._explain(block, line, row, reason(error)) from None
        points = points.reshape(-1, 3)
        bad = first_not_finite(points)
        if bad is not None:
            raise self._explain(block, line, row, "a number is not finite")
        if quoted and len(points) != sum(1 for _ in self._lines(block, line)):
            raise InputError(f"{self.path}: after line {line}: a text in quotes runs over the end of its line")
        if self._only and most is not None and len(points) == most:
            if sum(1 for _ in self._lines(block, line)) > most:
                raise InputError(f"{self.path}: holds more than the {self._announced} rows it announces")
        return points

    def _lines(self, block: bytes, line: int) -> Iterator[tuple[int, str]]:
        """Lines with a row in them, and their numbers."""
        comments = self._comments()
        for number, raw in enumerate(block.split(b"\n"), line):
            text = raw.decode("latin1")
            if comments is not None:
                text = text.partition(comments)[0]
            if text.strip():
                yield number, text

    def _explain(self, block: bytes, line: int, row: int, why: str) -> InputError:
        """The error for the first bad row of a block, found by reading it again, slowly."""
        for at, (number, text) in enumerate(self._lines(block, line), row):
            place = f"row {at} (line {number})"
            fields = split(text, self._layout.delimiter)
            if len(fields) <= max(self._layout.columns):
                return InputError(
                    f"{self.path}: {place} has {len(fields)} {'column' if len(fields) == 1 else 'columns'}, "
                    f"expected at least {max(self._layout.columns) + 1}"
                )
            values = []
            for column in self._layout.columns:
                value = value_of(fields[column])
                if value is None:
                    field = fields[column].encode("latin1").decode("utf-8", "replace")
                    return InputError(f"{self.path}: {place}: {expected_number(field)}")
                values.append(value)
            if not all(map(math.isfinite, values)):
                return not_finite(self.path, place, np.array(values))
        return InputError(f"{self.path}: cannot be read after line {line} ({why})")


def _named_columns(header: str) -> tuple[int, int, int] | None:
    lower = [name.strip("\"'").lower() for name in split(header, delimiter_of(header))]
    for wanted in _NAMES:
        if all(name in lower for name in wanted):
            x, y, z = (lower.index(name) for name in wanted)
            return x, y, z
    return None


def _next_line(file: IO[bytes], path: Path) -> str | None:
    raw = file.readline(_BLOCK)
    if len(raw) == _BLOCK:
        raise InputError(f"{path}: begins with a line of more than {_BLOCK} bytes; is it text?")
    return raw.decode("utf-8", "replace") if raw else None


def _skip_mark(file: IO[bytes], path: Path) -> None:
    """Skip the byte order mark that some programs put before the first line."""
    mark = file.read(3)
    if mark[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path}: found text in UTF-16, expected a file saved as UTF-8")
    if mark != b"\xef\xbb\xbf":
        file.seek(0)


def _is_header(row: str) -> bool:
    """Whether a line names the columns: none of its first three fields is a number."""
    return not any(is_meant_as_number(field) for field in split(row, delimiter_of(row))[:3])


def _find_rows(file: IO[bytes], path: Path) -> Layout:
    """The layout of the rows after comments and a header."""
    named: tuple[int, int, int] | None = None
    header, comment, line = False, "", 1
    offset = file.tell()
    while (text := _next_line(file, path)) is not None:
        row = text.strip()
        # Where another column stands first, a row may begin with anything.
        if row.startswith(("#", "//")) and (named is None or 0 in named):
            comment = row.lstrip("#/")
        elif row and not header and _is_header(row):
            header, named = True, _named_columns(row)
        elif row:
            break
        offset, line = file.tell(), line + 1
    if text is None:
        return Layout(offset, line, None, named or (0, 1, 2))
    delimiter = delimiter_of(text)
    if not header and len(split(comment, delimiter_of(comment))) == len(split(text, delimiter)):
        named = _named_columns(comment)
    columns = len(split(text, delimiter))
    if header and named is None and columns > 3:
        raise InputError(f"{path}: has {columns} columns, and its header names none of them x, y and z")
    return Layout(offset, line, delimiter, named or (0, 1, 2))


def open_csv(path: Path) -> TextPoints:
    """Points of a ``.csv``: columns named x, y and z, or the first three; separated by , ; tab or spaces."""
    with path.open("rb") as file:
        _skip_mark(file, path)
        layout = _find_rows(file, path)
    return TextPoints(path, layout)


def open_xyz(path: Path) -> TextPoints:
    """Points of an ``.xyz``: rows x y z; or, as chemists write it, a count, a comment and rows El x y z."""
    with path.open("rb") as file:
        _skip_mark(file, path)
        start = file.tell()
        first = _next_line(file, path)
        if first is None or not re.fullmatch(r"\s*[0-9]{1,18}\s*", first):
            file.seek(start)
            layout = _find_rows(file, path)
            return TextPoints(path, layout)
        comment = _next_line(file, path) or ""
        offset = file.tell()
        row = _next_line(file, path) or ""
    columns = _extended_columns(path, comment)
    if columns is None:
        columns = (1, 2, 3) if len(row.split()) != 3 else (0, 1, 2)
    return TextPoints(path, Layout(offset, 3, None, columns), int(first), only=True, has_head=True)


def _extended_columns(path: Path, comment: str) -> tuple[int, int, int] | None:
    """Where the positions stand by the comment of an extended XYZ: Properties=species:S:1:pos:R:3:…"""
    found = re.search(r'Properties="?([^\s"]+)', comment, re.IGNORECASE)
    if not found:
        return None
    parts = found.group(1).split(":")
    column = 0
    for name, width in zip(parts[::3], parts[2::3], strict=False):
        if name.lower() == "pos" and width == "3":
            return column, column + 1, column + 2
        column += int(width) if re.fullmatch("[0-9]{1,6}", width) else 1
    raise InputError(f"{path}: found Properties={found.group(1)} on line 2, expected pos:R:3 among them")
