"""Everything that a run needs to go on, in one HDF5 file that is whole, or known not to be.

Tools for HDF5 open the file as any other: dictionaries are groups, arrays data sets of the same name. Equal content
gives equal bytes. The first 512 bytes, which HDF5 leaves to its users, say what the file holds and give a checksum of
the rest, so that damage is found. Who means harm can write a checksum as well, and HDF5 itself does not withstand such
files: so it only writes. Behind what HDF5 has written stands an index, in JSON, of what is where in the file, and
`load` reads nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
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
_DTYPES = {
    np.dtype(f"{order}{kind}").str: np.dtype(f"{order}{kind}")
    for order in "<>" for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")
}  # fmt: skip
_HEAD = re.compile(
    rb"impinge checkpoint\nkind ([A-Za-z0-9_]{1,64})\nversion ([0-9]{1,9})\n(?:index ([0-9]{1,18})\n)?"
    rb"blake2b ([0-9a-f]{64})\n\0*"
)


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
        parts = {name: _put(file, name, value, name) for name, value in content.items()}
    label += f"index {buffer.seek(0, os.SEEK_END)}\n".encode()
    buffer.write(json.dumps(parts).encode())
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
    if _checksum(image[: head.start(4) - len("blake2b ")], memoryview(image)[_BLOCK:]) != head[4].decode():
        raise InputError(f"{name}: found a damaged file (its checksum is wrong), expected a checkpoint of impinge")
    if found_kind != kind:
        raise InputError(f"{name}: found a checkpoint of kind {found_kind!r}, expected {kind!r}")
    if found_version != version or head[3] is None:
        age = "a newer" if found_version > version else "an older"
        raise InputError(f"{name}: found version {found_version}, of {age} impinge, expected {version}")
    try:
        parts = json.loads(image[int(head[3]) :])
        return _Reader(image).content(parts)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
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


def _put(group: h5py.Group, name: Any, value: Any, path: str) -> Any:
    """Store a value with a note of its type; `path` is where it stands, for messages. Returns its entry in the index.

    That is [type, entries], in a dictionary by name; or of what holds no others [type, dtype, shape, offset].
    """
    if not isinstance(name, str) or not name.isprintable() or name in ("", ".") or "/" in name:
        raise InputError(f"content: found the name {path!r}, expected a text without '/'")
    if isinstance(value, Mapping | list | tuple):
        kind = "dict" if isinstance(value, Mapping) else "list" if isinstance(value, list) else "tuple"
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        node: Any = group.create_group(name, track_order=True)
        node.attrs["type"] = kind
        parts = {
            str(key): _put(node, str(key) if kind != "dict" else key, item, f"{path}/{key}") for key, item in items
        }
        return [kind, parts if kind == "dict" else list(parts.values())]
    kind, array = _leaf(value, path)
    node = group.create_dataset(name, data=array, track_times=False)
    node.attrs["type"] = kind
    return [kind, array.dtype.str, array.shape, node.id.get_offset() or 0]


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
    """Reads what the index of a file says; room : bytes that all numbers may have together."""

    def __init__(self, image: bytes) -> None:
        self.image, self.room = image, len(image)

    def content(self, parts: Any) -> dict[str, Any]:
        """Values by name."""
        if not isinstance(parts, dict):
            raise ValueError("an index of something else")
        return {name: self._value(*entry) for name, entry in parts.items()}

    def _value(self, kind: str, *rest: Any) -> Any:
        if kind == "dict":
            return self.content(*rest)
        if kind in ("list", "tuple"):
            items = [self._value(*entry) for entry in rest[0]]
            return items if kind == "list" else tuple(items)
        array = self._array(*rest)
        if kind == "array":
            return array
        if kind in ("int", "str"):
            text = array.tobytes().decode("utf-8", "surrogatepass")
            return int(text) if kind == "int" else text
        return {"none": lambda _: None, "scalar": lambda one: one[()], "bool": bool, "float": float}[kind](array)

    def _array(self, kind: str, shape: list[int], offset: int) -> Any:
        dtype = _DTYPES[kind]
        if offset < 0 or any(type(length) is not int or length < 0 for length in shape):
            raise ValueError(f"a shape of {shape}")
        size = math.prod(shape) * dtype.itemsize
        self.room -= size
        if self.room < 0 or offset + size > len(self.image):
            raise ValueError("more numbers than there is room for")
        if dtype.kind == "b":  # any other byte would be neither
            return np.asarray(np.frombuffer(self.image, np.uint8, size, offset).reshape(shape) != 0)
        return np.frombuffer(self.image, dtype, size // dtype.itemsize, offset).reshape(shape).copy()
