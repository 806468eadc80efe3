"""Prepared solids in files: NumPy's .npz without compression, so that loading is little more than reading."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.shapes.mesh import Mesh

FORMAT = "impinge solid 1"


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
    """Read what `save_solid` wrote; the archive's checksums detect damage."""
    try:
        # An open file, since NumPy leaves one that it opened itself behind when the archive is damaged.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise InputError(f"path: {os.fspath(path)!r} does not exist") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise InputError(f"path: {os.fspath(path)!r} is not a readable solid, or damaged") from None
    found = str(arrays.pop("format", "no format"))
    if found != FORMAT:
        raise InputError(f"path: {os.fspath(path)!r} holds {found!r}, expected {FORMAT!r} (written by Solid.save)")
    method, checksum = str(arrays.pop("method", "")), int(arrays.pop("checksum", -1))
    if checksum != _checksum(arrays):  # kernels trust the tree: nothing in it may have changed
        raise InputError(f"path: {os.fspath(path)!r} is not a readable solid, or damaged")
    return Mesh(arrays.pop("vertices"), arrays.pop("faces")), method, arrays
