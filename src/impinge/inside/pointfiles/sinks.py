"""Classified points to files."""

from __future__ import annotations

import io
import os
import secrets
import zipfile
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.inside.pointfiles.source import PointSource

_Rows = Callable[[NDArray[np.float64], NDArray[np.int8]], bytes]
_DIGITS = 20  # places kept free for the number of points


class _Format(NamedTuple):
    """The head for a number of points, as long for any number; and the bytes of some rows."""

    head: Callable[[int], bytes]
    rows: _Rows


def _npy_head(count: int) -> bytes:
    buffer = io.BytesIO()
    npy_format.write_array_header_1_0(buffer, {"descr": "|i1", "fortran_order": False, "shape": (count,)})
    return buffer.getvalue()


def _text_rows(template: str) -> _Rows:
    def rows(points: NDArray[np.float64], classes: NDArray[np.int8]) -> bytes:
        # repr gives the shortest number that reads back as the same double.
        columns = zip(*points.T.tolist(), classes.tolist(), strict=True)
        return "".join([template % row for row in columns]).encode()

    return rows


def _xyz_head(count: int) -> bytes:
    # Extended XYZ, which viewers of molecules and particles read.
    return f"{count}\nProperties=pos:R:3:classification:I:1{' ' * (_DIGITS - len(str(count)))}\n".encode()


def _ply_head(count: int) -> bytes:
    space = " " * (_DIGITS - len(str(count)))
    return (
        f"ply\nformat binary_little_endian 1.0\ncomment written by impinge{space}\n"
        f"element vertex {count}\nproperty double x\nproperty double y\nproperty double z\n"
        "property char classification\nend_header\n"
    ).encode()


def _ply_rows(points: NDArray[np.float64], classes: NDArray[np.int8]) -> bytes:
    rows = np.empty(len(points), [("points", "<f8", 3), ("classes", "i1")])
    rows["points"], rows["classes"] = points, classes
    return rows.tobytes()


_NPY = _Format(_npy_head, lambda points, classes: classes.tobytes())
_XYZ_ROWS = _text_rows("%r %r %r %d\n")
_FORMATS = {
    ".npy": _NPY,
    ".npz": _NPY,  # zipped when all is there
    ".csv": _Format(lambda count: b"x,y,z,classification\n", _text_rows("%r,%r,%r,%d\n")),
    ".xyz": _Format(lambda count: b"", _XYZ_ROWS),
    ".ply": _Format(_ply_head, _ply_rows),
}


class Sink:
    """Writes classified points to a file, which appears when the ``with`` block has ended without an error.

    Until then the answers go to a file of another name beside it, so that no half file can be
    mistaken for a whole one.
    """

    def __init__(self, path: Path, form: _Format) -> None:
        self.path = path
        self.count = 0
        self._form = form
        self._target = path.resolve()  # a link stays a link
        self._temporary = self._target.with_name(f".{self._target.name}.{secrets.token_hex(4)}.part")
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Sink:
        try:
            self._file = self._temporary.open("xb")
            self._file.write(self._form.head(0))
        except OSError as error:
            self._drop()
            raise self._failed(error) from None
        return self

    def write(self, points: NDArray[np.float64], classes: NDArray[np.int8]) -> None:
        """Append rows: points (n, 3) float64, m, and their classes (n,) int8."""
        if self._file is None:
            raise RuntimeError("a sink is written to inside its with block")
        if len(points) != len(classes):
            raise InputError(f"classes: found {len(classes)} for {len(points)} points, expected one each")
        try:
            self._file.write(self._form.rows(points, classes))
        except OSError as error:
            raise self._failed(error) from None
        self.count += len(points)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or self._file is None:
            self._drop()
            return
        try:
            self._file.seek(0)
            self._file.write(self._form.head(self.count))
            self._file.close()
            if self._target.suffix.lower() == ".npz":
                self._zip()
            os.replace(self._temporary, self._target)
        except OSError as problem:
            raise self._failed(problem) from None
        finally:
            self._drop()

    def _zip(self) -> None:
        packed = self._temporary.with_suffix(".zip")
        try:
            with zipfile.ZipFile(packed, "x", zipfile.ZIP_DEFLATED) as archive:
                archive.write(self._temporary, "classification.npy")
            os.replace(packed, self._temporary)
        finally:
            packed.unlink(missing_ok=True)

    def _drop(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # what it still had to write is not wanted any more
                self._file.close()
            self._file = None
        self._temporary.unlink(missing_ok=True)

    def _failed(self, error: OSError) -> InputError:
        return InputError(f"{self.path}: cannot be written ({error.strerror or error})")


def open_sink(path: str | PathLike[str], source: PointSource | None = None) -> Sink:
    """A `Sink` for a file; the ending decides the format.

    Parameters
    ----------
    path : str or path
        Must not be the file that `source` reads. An older file of this name is replaced.
    source : PointSource
        Where the points come from; an .xyz with a count and a comment gives one with them.
    """
    file = Path(path)
    form = _FORMATS.get(file.suffix.lower())
    if form is None:
        known = ", ".join(_FORMATS)
        raise InputError(f"{file}: found output with the ending {file.suffix!r}, expected one of {known}")
    if file.exists() and not file.is_file():
        raise InputError(f"{file}: is not a regular file, so it cannot be replaced")
    if source is not None and file.exists() and file.samefile(source.path):
        raise InputError(f"{file}: is the file of the points, expected another for the output")
    has_head: Any = getattr(source, "has_head", False)
    if has_head and file.suffix.lower() == ".xyz":
        form = _Format(_xyz_head, _XYZ_ROWS)
    return Sink(file, form)
