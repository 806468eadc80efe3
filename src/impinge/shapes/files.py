"""Meshes from and to files.

trimesh reads all formats but ``.npz``; what it would trust in them is looked at before. Writing is done here where
trimesh would round: ``.npz``, ``.ply``, ``.obj`` and ``.off`` keep every bit of the coordinates; ``.stl`` and ``.glb``
hold single precision only.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from impinge.errors import InputError, reason
from impinge.shapes.mesh import Mesh
from impinge.untrusted import check_file, read_npz, within

__all__ = ["READABLE", "read_mesh", "save"]

READABLE = ("glb", "gltf", "npz", "obj", "off", "ply", "stl")  # trimesh reads more, some of it by other programs
_MOST_NODES = 20_000  # of a glTF scene; trimesh takes time that grows as their square
# Materials of an .obj, and where a solid of an .stl ends and the next begins: they do not matter here, and trimesh
# takes time that grows as their square.
_MATERIALS = re.compile(rb"^[ \t]*(?:usemtl|mtllib)\b[^\n]*$", re.MULTILINE)
_SOLIDS = re.compile(rb"^[ \t]*endsolid\b[^\n]*\n\s*solid\b[^\n]*$", re.MULTILINE | re.IGNORECASE)
_COPIES, _FEW = 10, 1_000_000  # vertices and corners that a glTF scene may show, for each byte of it, and besides


def _path(value: Any) -> Path:
    if not isinstance(value, str | PathLike):
        raise InputError(f"path: found {type(value).__name__}, expected the name of a file")
    return Path(os.fsdecode(value))


def _promised(data: bytes, ending: str) -> tuple[int, int] | None:
    """Numbers of vertices and faces that the head of a file announces, if the format does that.

    Of a .ply, an error if any of its elements is announced more often than the file has bytes.
    """
    head = data[: 1 << 16]
    if ending == "ply":
        if b"end_header" not in head:
            raise ValueError("its head has no end")
        counts: dict[bytes, int] = {}
        for name, count in re.findall(rb"^\s*element\s+(\S+)\s+(\S+)", head.partition(b"end_header")[0], re.MULTILINE):
            counts[name] = _count(count, len(data), name.decode("ascii", "replace"))
        return counts.get(b"vertex", 0), counts.get(b"face", 0)
    if ending == "off":
        words = re.sub(rb"#[^\n]*", b"", head).split()
        numbers = [word for word in words[:3] if word.isdigit()]
        if len(numbers) < 2:
            return None
        return _count(numbers[0], len(data), "vertices"), _count(numbers[1], len(data), "faces")
    return None


def _count(digits: bytes, room: int, what: str) -> int:
    """A number in the head of a file that has so many bytes."""
    if not digits.isdigit() or len(digits) > 18 or int(digits) > room:
        found = digits[:20].decode("ascii", "replace")
        raise InputError(f"ends early, or is damaged: it announces {found} as the number of {what}, in {room} bytes")
    return int(digits)


def _stl_size(data: bytes) -> int:
    """Bytes of a binary .stl, by its head."""
    return 84 + 50 * int.from_bytes(data[80:84], "little")


class _Beside(Mapping[str, bytes]):
    """Files that a .gltf names, which must be in its folder; each is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._read = folder, dict[str, bytes]()

    def __getitem__(self, name: str) -> bytes:
        if name not in self._read:
            path = within(self._folder, name)
            check_file(path)
            self._read[name] = path.read_bytes()
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


def _check_gltf(data: bytes, ending: str, beside: _Beside) -> None:
    """An error if a glTF scene would become much larger than its files: it may show the same mesh again and again."""
    tree: Any = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")] if ending == "glb" else data)
    names = {buffer["uri"] for buffer in tree.get("buffers", []) if "base64," not in buffer.get("uri", "base64,")}
    room = len(data) + sum(len(beside[name]) for name in names)
    accessors, nodes = tree.get("accessors", []), tree.get("nodes", [])
    if len(nodes) > _MOST_NODES:
        raise InputError(f"has {len(nodes)} nodes, expected at most {_MOST_NODES}")
    for accessor in accessors:
        if int(accessor["count"]) > room:
            raise InputError(f"ends early: it announces {int(accessor['count'])} rows, in {room} bytes")
    sizes = []
    for mesh in tree.get("meshes", []):
        parts = [part["attributes"]["POSITION"] for part in mesh["primitives"] if "POSITION" in part["attributes"]]
        parts += [part["indices"] for part in mesh["primitives"] if "indices" in part]
        sizes.append(sum(int(accessors[part]["count"]) for part in parts))
    shown = sum(sizes[node["mesh"]] for node in nodes if "mesh" in node)
    if shown > _COPIES * room + _FEW:
        raise InputError(f"shows {shown} vertices and corners, too many for {room} bytes")
    children = [child for node in nodes for child in node.get("children", [])]
    if len(set(children)) < len(children):
        raise InputError("has a node in two places, expected a tree of nodes")


def _read_trimesh(path: Path, ending: str) -> tuple[Any, Any]:
    import trimesh

    data = path.read_bytes()
    promised = _promised(data, ending)
    options: dict[str, Any] = {"skip_materials": True} if ending in ("obj", "ply", "glb", "gltf") else {}
    if ending in ("glb", "gltf"):
        options["resolver"] = beside = _Beside(path.parent)
        _check_gltf(data, ending, beside)
    elif ending == "obj":
        options["maintain_order"] = True
        data = _MATERIALS.sub(b"", data.replace(b"\r\n", b"\n").replace(b"\\\n", b""))
    elif ending == "stl" and data[:5].lower() == b"solid" and len(data) != _stl_size(data):
        data = _SOLIDS.sub(b"", data)
    mesh = trimesh.load_mesh(io.BytesIO(data), file_type=ending, process=False, **options)
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if promised is not None and promised[1] > 0 and (len(vertices) < promised[0] or len(faces) < promised[1]):
        raise InputError(
            f"ends early: it announces {promised[0]} vertices and {promised[1]} faces, "
            f"but holds {len(vertices)} and {len(faces)}"
        )
    if not len(faces):
        raise InputError("holds no triangles; it may be cut short, or hold only points")
    return vertices, faces


def read_mesh(path: str | PathLike[str]) -> Mesh:
    """Reads a mesh from a file; the ending decides the format.

    ``.ply``, ``.obj``, ``.off``, ``.stl``, ``.glb``, ``.gltf``, and ``.npz`` with arrays ``vertices`` and ``faces``.
    Polygons are cut into triangles, the parts of a scene put together. No vertex is merged or moved, and no face
    removed. A file that is cut short is an error wherever the format tells (``.obj`` does not). Nothing but the file is
    opened, besides the buffers of a ``.gltf`` in its own folder: materials and textures are not looked at.
    """
    file = _path(path)
    ending = file.suffix.lower().removeprefix(".")
    check_file(file)
    if ending not in READABLE:
        known = ", ".join(f".{name}" for name in READABLE)
        raise InputError(f"{file}: unknown ending {file.suffix!r}, expected one of {known}")
    if file.stat().st_size == 0:
        raise InputError(f"{file}: is empty")
    try:
        if ending == "npz":
            return _of_arrays(read_npz(file, ("vertices", "faces")))
        return Mesh(*_read_trimesh(file, ending))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    except MemoryError:
        raise
    except Exception as error:
        # Readers of damaged files fail in every possible way; all of them mean the same to the user.
        why = "damaged, or in another format" if isinstance(error, ImportError) else reason(error)
        raise InputError(f"{file}: cannot be read as .{ending} ({why})") from None


def _of_arrays(arrays: dict[str, Any]) -> Mesh:
    for name in ("vertices", "faces"):
        if name not in arrays:
            raise InputError(f"has no array called {name}, expected vertices and faces")
    return Mesh(arrays["vertices"], arrays["faces"])


def _to_npz(mesh: Mesh) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, vertices=mesh.vertices, faces=mesh.faces)
    return buffer.getvalue()


def _to_ply(mesh: Mesh) -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\ncomment written by impinge\n"
        f"element vertex {len(mesh.vertices)}\nproperty double x\nproperty double y\nproperty double z\n"
        f"element face {len(mesh.faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.empty(len(mesh.faces), [("corners", "u1"), ("vertices", "<i4", 3)])
    faces["corners"], faces["vertices"] = 3, mesh.faces
    return head.encode() + mesh.vertices.astype("<f8").tobytes() + faces.tobytes()


def _to_text(mesh: Mesh, head: str, vertex: str, face: str, first: int) -> bytes:
    """One line per vertex and face; repr gives the shortest number that reads back as the same double."""
    lines = [head, *(vertex % tuple(row) for row in mesh.vertices.tolist())]
    lines += [face % tuple(row) for row in (mesh.faces + np.int64(first)).tolist()]
    return "".join(lines).encode()


def _to_obj(mesh: Mesh) -> bytes:
    return _to_text(mesh, "# written by impinge\n", "v %r %r %r\n", "f %d %d %d\n", 1)


def _to_off(mesh: Mesh) -> bytes:
    head = f"OFF\n{len(mesh.vertices)} {len(mesh.faces)} 0\n"
    return _to_text(mesh, head, "%r %r %r\n", "3 %d %d %d\n", 0)


def _with_trimesh(ending: str) -> Callable[[Mesh], bytes]:
    def write(mesh: Mesh) -> bytes:
        import trimesh

        data: Any = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(file_type=ending)
        return bytes(data)

    return write


_WRITERS: dict[str, Callable[[Mesh], bytes]] = {
    "npz": _to_npz,
    "ply": _to_ply,
    "obj": _to_obj,
    "off": _to_off,
    "stl": _with_trimesh("stl"),
    "glb": _with_trimesh("glb"),
}


def save(mesh: Mesh, path: str | PathLike[str]) -> None:
    """Writes a mesh to a file; the ending decides the format: .npz, .ply, .obj, .off (exact), .stl, .glb.

    The file appears at once and whole: it is written under another name and then renamed.
    """
    file = _path(path)
    ending = file.suffix.lower().removeprefix(".")
    if ending not in _WRITERS:
        known = ", ".join(f".{name}" for name in _WRITERS)
        raise InputError(f"{file}: unknown ending {file.suffix!r}, expected one of {known}")
    data = _WRITERS[ending](Mesh.of(mesh))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            # mkstemp makes files that only the owner may read; give this one the usual rights.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, file)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})") from None
