"""Points from NumPy's own files."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError, reason
from impinge.inside.pointfiles.source import PointSource, check_array
from impinge.untrusted import open_member, read_head


class NpyPoints(PointSource):
    """Points of a ``.npy`` file, mapped into memory."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            try:
                shape, self._fortran, self._dtype, self._offset = read_head(file)
            except Exception as error:  # a damaged head fails in many ways
                raise InputError(f"{path}: cannot be read as .npy ({reason(error)})") from None
        super().__init__(path, check_array(path, shape, self._dtype))
        held = (path.stat().st_size - self._offset) // (3 * self._dtype.itemsize)
        if held < shape[0]:
            raise InputError(f"{path}: ends early: it announces {shape[0]} rows, but holds {held}")

    def _read(self, size: int) -> Iterator[NDArray[np.float64]]:
        count = self.count
        if not count:
            return
        order: Any = "F" if self._fortran else "C"
        array = np.memmap(self.path, self._dtype, "r", self._offset, (count, 3), order)
        for start in range(0, count, size):
            yield _doubles(array[start : start + size])
            self.fraction = min(start + size, count) / count


class NpzPoints(PointSource):
    """Points of a member of an ``.npz`` file, unpacked as they are needed."""

    def __init__(self, path: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                self._member = self._choose(path, archive.namelist())
                with open_member(archive, self._member) as file:
                    shape, self._fortran, self._dtype, self._offset = head = read_head(file)
                room = archive.getinfo(self._member).file_size - self._offset
        except InputError:
            raise
        except Exception as error:  # a damaged head fails in many ways
            raise InputError(f"{path}: cannot be read as .npz ({reason(error)})") from None
        super().__init__(path, check_array(path, shape, self._dtype))
        if head.nbytes > room:
            raise InputError(f"{path}: ends early: it announces {shape[0]} rows, more than it has room for")

    @staticmethod
    def _choose(path: Path, members: list[str]) -> str:
        if "points.npy" in members:
            return "points.npy"
        if len(members) == 1:
            return members[0]
        names = reason(ValueError(", ".join(name.removesuffix(".npy") for name in members) or "(none)"))
        raise InputError(f"{path}: found the arrays {names}, expected one called points, or a single array")

    def _read(self, size: int) -> Iterator[NDArray[np.float64]]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                # In Fortran order the columns stand one after the other: one stream for each.
                streams = [archive.open(self._member) for _ in range(3 if self._fortran else 1)]
                yield from self._read_streams(streams, size)
        except InputError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.path}: is damaged ({reason(error)})") from None

    def _read_streams(self, streams: list[IO[bytes]], size: int) -> Iterator[NDArray[np.float64]]:
        count, width = self.count or 0, self._dtype.itemsize
        for column, stream in enumerate(streams):
            stream.seek(self._offset + column * count * width)
        columns = 3 // len(streams)
        for start in range(0, count, size):
            n = min(size, count - start)
            parts = []
            for stream in streams:
                data = stream.read(n * columns * width)
                if len(data) < n * columns * width:
                    raise EOFError(f"it announces {count} rows, but ends early")
                parts.append(np.frombuffer(data, self._dtype).reshape(n, columns))
            yield _doubles(np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0])
            self.fraction = (start + n) / count


def _doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return array.astype(np.float64, order="C")
