"""Prepared solids in files: NumPy's .npz without compression, so that loading is little more than reading."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.shapes.mesh import Mesh
from impinge.untrusted import read_npz

FORMAT = "impinge solid 1"
_LONGEST = 40  # characters of another format, in messages


def save_solid(path: str | os.PathLike[str], mesh: Mesh, method: str, tree: dict[str, NDArray[Any]]) -> None:
    """Write a mesh, the name of a method and its arrays; a killed program leaves no half file."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"path: the folder {str(target.parent)!r} does not exist")
    content: dict[str, NDArray[Any]] = {"vertices": mesh.vertices, "faces": mesh.faces, **tree}
    head = {"format": np.array(FORMAT), "method": np.array(method), "checksum": np.array(_checksum(content))}
    arrays = {**head, **content}
    partial = target.with_name(target.name + ".part")
    try:
        with partial.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _checksum(arrays: dict[str, NDArray[Any]]) -> int:
    """One number for names, types, shapes and contents of all arrays."""
    total = 0
    for name, array in sorted(arrays.items()):
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), total)
    return total


def load_solid(path: str | os.PathLike[str]) -> tuple[Mesh, str, dict[str, NDArray[Any]]]:
    """Read what `save_solid` wrote. The checksum detects damage, not malice: arrays are to be checked before use."""
    file = Path(path)
    if not file.exists():
        raise InputError(f"path: {os.fspath(path)!r} does not exist")
    try:
        arrays = read_npz(file)
        found = str(arrays.pop("format", "no format"))
        if found != FORMAT:
            what = "something else" if len(found) > _LONGEST else repr(found)
            raise InputError(f"path: {os.fspath(path)!r} holds {what}, expected {FORMAT!r} (written by Solid.save)")
        method, checksum = str(arrays.pop("method", "")), int(arrays.pop("checksum", np.array(-1)))
        if checksum != _checksum(arrays):
            raise ValueError
        return Mesh(arrays.pop("vertices"), arrays.pop("faces")), method, arrays
    except (ValueError, KeyError, TypeError) as error:
        if str(error).startswith("path: "):
            raise
        raise InputError(f"path: {os.fspath(path)!r} is not a readable solid, or damaged") from None
