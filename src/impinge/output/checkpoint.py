"""Everything that a run needs to go on, in one HDF5 file that is whole, or known not to be.

The first 512 bytes, which HDF5 leaves to its users, say what the file holds and give a checksum of the rest. It is
verified before HDF5 sees the file, since damage inside can make HDF5 fail in any way. A checksum is no proof of who
wrote a file: what comes from it is limited and checked again. Tools for HDF5 open the file as
any other: dictionaries are groups, arrays data sets of the same name. Equal content gives equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from impinge import _check
from impinge.errors import InputError, reason
from impinge.output.atomic import replacing

__all__ = ["load", "save"]

_BLOCK = 512
_LEAVES = ("array", "bool", "float", "int", "none", "scalar", "str")
_DEEPEST = 32  # groups in groups
_LEAST = 16  # bytes of any value in a file
_HEAD = re.compile(rb"impinge checkpoint\nkind (\w+)\nversion (\d+)\nblake2b ([0-9a-f]{64})\n\0*")


def save(path: str | os.PathLike[str], content: Mapping[str, Any], kind: str, version: int) -> None:
    """Write a file in place of an older one, which stays as it is if that fails; then it is safe on the disk.

    Parameters
    ----------
    path : path
    content : mapping
        Names to arrays of real numbers or truth values, numbers, texts, None, and mappings, lists and tuples of these.
    kind : str
        What this is, in one word; `load` asks for it.
    version : int
        Of the meaning of the content.
    """
    target, label = _read_path(path), _label(kind, version)
    if not target.parent.is_dir():
        raise InputError(f"path: found {str(target)!r}, expected a file in a folder that exists")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=_BLOCK, track_order=True) as file:
        for name, value in content.items():
            _put(file, name, value, name)
    with buffer.getbuffer() as image:
        head = label + f"blake2b {_checksum(label, image[_BLOCK:])}\n".encode()
        image[:_BLOCK] = head.ljust(_BLOCK, b"\0")
        with replacing(target.resolve(), durable=True) as stream:  # a link stays one
            stream.write(image)


def load(path: str | os.PathLike[str], kind: str, version: int) -> dict[str, Any]:
    """Content of a file, with the types, shapes and bits that were saved; of this kind and version only."""
    name = _read_path(path)
    if not name.exists():
        raise InputError(f"path: found {str(name)!r}, which does not exist, expected a checkpoint of impinge")
    image = name.read_bytes()
    head = _HEAD.fullmatch(image[:_BLOCK])
    if head is None or len(image) < _BLOCK:
        raise InputError(f"{name}: found something else or a damaged file, expected a checkpoint of impinge")
    found_kind, found_version = head[1].decode(), int(head[2])
    if _checksum(image[: head.start(3) - len("blake2b ")], memoryview(image)[_BLOCK:]) != head[3].decode():
        raise InputError(f"{name}: found a damaged file (its checksum is wrong), expected a checkpoint of impinge")
    if found_kind != kind:
        raise InputError(f"{name}: found a checkpoint of kind {found_kind!r}, expected {kind!r}")
    if found_version != version:
        age = "a newer" if found_version > version else "an older"
        raise InputError(f"{name}: found version {found_version}, of {age} impinge, expected {version}")
    try:
        with h5py.File(io.BytesIO(image), "r") as file:
            return _Reader(len(image)).children(file, 0)
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{name}: found a damaged file ({reason(error)}), expected a checkpoint of impinge") from None


def _read_path(path: Any) -> Path:
    """The path of a file, or of nothing yet."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"path: found {path!r}, expected the path of a file")
    result = Path(text)
    if result.exists() and not result.is_file():
        kind = "a folder" if result.is_dir() else "a device"
        raise InputError(f"path: found {text!r}, which is {kind}, expected a file")
    return result


def _label(kind: str, version: int) -> bytes:
    if not isinstance(kind, str) or not re.fullmatch(r"[A-Za-z0-9_]{1,64}", kind):
        raise InputError(f"kind: found {kind!r}, expected a word")
    return f"impinge checkpoint\nkind {kind}\nversion {_check.integer('version', version, 0)}\n".encode()


def _checksum(label: bytes, rest: memoryview) -> str:
    digest = hashlib.blake2b(label, digest_size=32)
    digest.update(rest)
    return digest.hexdigest()


def _put(group: h5py.Group, name: Any, value: Any, path: str) -> None:
    """Store a value with a note of its type; `path` is where it stands, for messages."""
    if not isinstance(name, str) or not name.isprintable() or name in ("", ".") or "/" in name:
        raise InputError(f"content: found the name {path!r}, expected a text without '/'")
    if isinstance(value, Mapping | list | tuple):
        kind = "dict" if isinstance(value, Mapping) else "list" if isinstance(value, list) else "tuple"
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        node: Any = group.create_group(name, track_order=True)
        for key, item in items:
            _put(node, str(key) if kind != "dict" else key, item, f"{path}/{key}")
    else:
        kind, array = _leaf(value, path)
        node = group.create_dataset(name, data=array, track_times=False)
    node.attrs["type"] = kind


def _leaf(value: Any, path: str) -> tuple[str, Any]:
    """Type and array of a value that holds no others."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind in "fiub" and array.dtype.itemsize <= 8:
            return "array" if isinstance(value, np.ndarray) else "scalar", array
        raise InputError(f"{path}: found an array of {array.dtype}, expected real numbers or truth values")
    if value is None:
        return "none", np.zeros(0, np.uint8)
    if isinstance(value, bool):
        return "bool", np.array(value)
    if isinstance(value, int):  # of any size, as random generators have them
        return "int", _bytes(str(value))
    if isinstance(value, float):
        return "float", np.array(value)
    if isinstance(value, str):
        return "str", _bytes(value)
    raise InputError(f"{path}: found {type(value).__name__}, expected arrays, numbers, texts and None")


def _bytes(text: str) -> Any:
    # Not a text of HDF5, which may not hold the character 0.
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


class _Reader:
    """Reads what `_put` has written, and nothing else that HDF5 can do; room : bytes that all of it may have."""

    def __init__(self, room: int) -> None:
        self.room = room

    def children(self, group: Any, depth: int) -> dict[str, Any]:
        """Values by name."""
        if depth > _DEEPEST:
            raise ValueError("groups in groups without end")
        return {name: self._get(group, name, depth + 1) for name in group}

    def _get(self, group: Any, name: str, depth: int) -> Any:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"a link called {name!r}")  # to another file, or around in a circle
        node, self.room = group[name], self.room - _LEAST
        if self.room < 0:
            raise ValueError("more than there is room for")
        kind = node.attrs["type"]
        if isinstance(node, h5py.Group):
            items = self.children(node, depth)
            if kind == "dict":
                return items
            if kind in ("list", "tuple"):
                parts = [items[str(number)] for number in range(len(items))]
                return parts if kind == "list" else tuple(parts)
        elif isinstance(node, h5py.Dataset) and kind in _LEAVES:
            return self._leaf(node, kind)
        raise ValueError(f"a value of type {kind!r}")

    def _leaf(self, node: h5py.Dataset, kind: str) -> Any:
        is_plain = node.chunks is None and node.external is None and not node.is_virtual
        if not is_plain or node.dtype.kind not in "fiub" or node.dtype.itemsize > 8:
            raise ValueError(f"data of {node.dtype}, or not in one piece")
        self.room -= node.size * node.dtype.itemsize
        if self.room < 0:
            raise ValueError("more numbers than there is room for")
        value = node[()]
        if kind == "array":
            return np.asarray(value, node.dtype)
        if kind in ("int", "str"):
            text = np.asarray(value, np.uint8).tobytes().decode("utf-8", "surrogatepass")
            return int(text) if kind == "int" else text
        if kind == "none":
            return None
        scalar = np.asarray(value, node.dtype)[()]
        return scalar if kind == "scalar" else {"bool": bool, "float": float}[kind](scalar)
