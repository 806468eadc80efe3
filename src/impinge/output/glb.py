"""The container of glTF 2.0: tables in JSON, and the numbers that they tell of in one binary block.

See the Khronos Group's "glTF 2.0 Specification", sections 3.6 (binary data) and 4.4 (GLB files).
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.atomic import replacing

__all__ = ["Glb"]

_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}  # by columns
_FLOAT, _UINT32 = 5126, 5125
_VERTEX_DATA, _INDEX_DATA = 34962, 34963
_LARGEST = 2**32 - 1  # bytes, as files give their lengths in 32 bits


class Glb:
    """A file in the making."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self._blocks: list[bytes] = []
        self._size = 0

    def add(self, table: str, entry: dict[str, Any]) -> int:
        """Append an entry, e.g. to "nodes"; its number."""
        rows = self.tables.setdefault(table, [])
        rows.append(entry)
        return len(rows) - 1

    def vertex_data(self, arrays: list[NDArray[np.float32]]) -> list[int]:
        """Numbers of accessors of arrays (n, 3) of one length, for vertices and their changes."""
        view = self._view(b"".join(array.astype("<f4").tobytes() for array in arrays), _VERTEX_DATA, stride=12)
        return [self._accessor(view, array, _FLOAT, k * array.nbytes) for k, array in enumerate(arrays)]

    def indices(self, faces: NDArray[np.int32]) -> int:
        """Number of the accessor of the corners of triangles."""
        corners = faces.ravel().astype("<u4")
        return self._accessor(self._view(corners.tobytes(), _INDEX_DATA), corners, _UINT32)

    def numbers(self, array: NDArray[Any]) -> int:
        """Number of the accessor of (n,) or (n, k) real numbers, for animations."""
        values = array.astype("<f4")
        return self._accessor(self._view(values.tobytes()), values, _FLOAT)

    def _view(self, data: bytes, target: int | None = None, stride: int | None = None) -> int:
        """A part of the binary block; all numbers have four bytes, so that parts stay aligned."""
        view = {"buffer": 0, "byteOffset": self._size, "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        if stride is not None:
            view["byteStride"] = stride
        self._blocks.append(data)
        self._size += len(data)
        return self.add("bufferViews", view)

    def _accessor(self, view: int, array: NDArray[Any], component: int, offset: int = 0) -> int:
        columns = array.reshape(len(array), -1)
        entry = {"bufferView": view, "byteOffset": offset, "componentType": component, "count": len(array),
                 "type": _KINDS[columns.shape[1]], "min": columns.min(axis=0).tolist(),
                 "max": columns.max(axis=0).tolist()}  # fmt: skip
        return self.add("accessors", entry)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        document = {"asset": {"version": "2.0", "generator": "impinge"}, "scene": 0, **self.tables}
        if self._size:
            document["buffers"] = [{"byteLength": self._size}]
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = [(b"JSON", [text], len(text))]
        if self._size:
            chunks.append((b"BIN\0", self._blocks, self._size))
        total = 12 + sum(8 + size for _, _, size in chunks)
        if total > _LARGEST:
            raise InputError(f"frames: found {total / 1e9:.1f} GB to write, expected at most 4.2 GB; have fewer frames")
        with replacing(path) as file:
            file.write(b"glTF" + np.array([2, total], "<u4").tobytes())
            for kind, blocks, size in chunks:
                file.write(np.array(size, "<u4").tobytes() + kind)
                file.writelines(blocks)
