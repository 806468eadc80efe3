"""Reading files that may be damaged or mean harm: what their heads say is compared with what there is before use.

No reader of impinge runs code from a file, takes much more memory than the file is large, or opens other files than
those that it was told to.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from impinge.errors import InputError, reason

__all__ = ["Head", "check_file", "check_room", "memory", "open_member", "read_head", "read_npy", "read_npz", "within"]

_HEADS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
_LONGEST = 1 << 16  # bytes of a head
_KINDS = "fiubU"  # no objects, which are code
_MOST = 1 << 28  # bytes that arrays of any small archive may have
_PACKED = 100  # times the size of an archive that its arrays may have, if that is more
_USUAL = 8 << 30  # bytes of memory
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes; others unpack without bounds


class Head(NamedTuple):
    """What a .npy file, or a member of an .npz, says of itself."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int  # bytes before the first number

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers; a Python integer, which does not overflow."""
        count = self.dtype.itemsize
        for length in self.shape:
            count *= length
        return count


def check_file(path: Path) -> None:
    """An error unless this is a regular file: a pipe or a device may have no end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no such file" if missing else f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(f"{path}: {why}") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{path}: is {'a folder, not a file' if stat.S_ISDIR(mode) else 'not a regular file'}")


def within(folder: Path, name: str, hint: str = "") -> Path:
    """A file that another file in `folder` names; an error if it is elsewhere, or links lead there."""
    path = folder / name
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # no name of a file, or links in a circle
        is_inside = False
    if not is_inside:
        raise InputError(f"found {name!r}, expected a file in the folder {str(folder)!r} or below{hint}")
    return path


def memory() -> int:
    """Bytes that this process may have: those of the machine, or fewer where a limit is set (ulimit)."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ImportError, OSError, ValueError):
        return _USUAL  # not all systems tell
    return there if limit == resource.RLIM_INFINITY else min(limit, there)


def check_room(name: str, count: float, what: str, each: int) -> None:
    """An error if so many things, of so many bytes each, are more than this machine has room for."""
    if not count * each <= memory():
        raise InputError(f"{name}: found {count:.3g} {what} in it, more than this machine has memory for")


def read_head(file: IO[bytes]) -> Head:
    """Head of a .npy file; then the file stands at the first number. ValueError says what is wrong."""
    version = npy_format.read_magic(file)
    if version not in _HEADS:
        raise ValueError(f"version {version} of the format")
    size = file.read(2 * version[0])
    length = int.from_bytes(size, "little")
    if length > _LONGEST:
        raise ValueError(f"a head of {length} bytes")
    with _only_value_errors():
        shape, fortran, dtype = _HEADS[version](io.BytesIO(size + file.read(length)))
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"a shape of {shape}")
    return Head(shape, fortran, dtype, file.tell())


@contextmanager
def _only_value_errors() -> Iterator[None]:
    """Libraries fail in every possible way on damaged files; all of them mean the same."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(reason(error)) from None


def _array(file: IO[bytes], room: int) -> NDArray[Any]:
    """The array of a .npy file whose numbers have `room` bytes."""
    head = read_head(file)
    if head.dtype.kind not in _KINDS or not head.dtype.itemsize:
        raise ValueError(f"found {'Python objects' if head.dtype.hasobject else head.dtype}, expected numbers")
    if head.nbytes > room - head.offset:
        raise ValueError(f"ends early: it announces an array of shape {head.shape}, but is too short for it")
    data = bytearray(head.nbytes)
    if file.readinto(data) < len(data):  # type: ignore[attr-defined]
        raise ValueError("ends early")
    flat = np.frombuffer(data, head.dtype)
    return flat.reshape(head.shape[::-1]).T if head.fortran else flat.reshape(head.shape)


def read_npy(path: Path) -> NDArray[Any]:
    """The array of a .npy file, numbers or texts. ValueError says what is wrong."""
    check_file(path)
    with _only_value_errors(), path.open("rb") as file:
        return _array(file, os.fstat(file.fileno()).st_size)


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """A member of an archive, if it is packed as NumPy packs."""
    info = archive.getinfo(name)
    if info.compress_type not in _METHODS or info.flag_bits & 1:
        raise ValueError(f"{name} is packed or encrypted in a way that NumPy does not write")
    with _only_value_errors():
        return archive.open(info)


def read_npz(path: Path, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Arrays of an .npz file: all, or those of some names that it has. ValueError says what is wrong."""
    check_file(path)
    with _only_value_errors(), path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("is damaged, or no .npz file")
        room = max(_MOST, _PACKED * os.fstat(file.fileno()).st_size)
        with zipfile.ZipFile(file) as archive:
            there = {name.removesuffix(".npy"): name for name in archive.namelist()}
            found = {}
            for name in there if names is None else [name for name in names if name in there]:
                size = archive.getinfo(there[name]).file_size
                room -= size
                if room < 0:
                    raise ValueError("its arrays are far larger than the file; pack them less")
                with open_member(archive, there[name]) as member:
                    found[name] = _array(member, size)
            return found
