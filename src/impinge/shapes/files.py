"""Meshes from and to files.

trimesh reads all formats but ``.npz``. Writing is done here where trimesh would round: ``.npz``, ``.ply``,
``.obj`` and ``.off`` keep every bit of the coordinates; ``.stl`` and ``.glb`` hold single precision only.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from impinge.errors import InputError
from impinge.shapes.mesh import Mesh

__all__ = ["read_mesh", "save"]


def _path(value: Any) -> Path:
    if not isinstance(value, str | PathLike):
        raise InputError(f"path: found {type(value).__name__}, expected the name of a file")
    return Path(os.fsdecode(value))


def _readable() -> list[str]:
    """Endings of files with meshes that can be read here; some need packages that may be missing."""
    from trimesh.exchange.load import mesh_formats

    # Point clouds, and a second name that is no file's ending.
    return sorted(({*mesh_formats()} - {"xyz", "stl_ascii"}) | {"npz"})


def _promised(path: Path, ending: str) -> tuple[int, int] | None:
    """Numbers of vertices and faces that the head of the file announces, if the format does that."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if ending == "ply":
        counts = [re.search(rb"element\s+%s\s+(\d+)" % what, head) for what in (b"vertex", b"face")]
        vertices, faces = (int(found.group(1)) if found else 0 for found in counts)
        return vertices, faces
    if ending == "off":
        words = re.sub(rb"#[^\n]*", b"", head).split()
        numbers = [word for word in words[:3] if word.isdigit()]
        return (int(numbers[0]), int(numbers[1])) if len(numbers) >= 2 else None
    return None


def _read_npz(path: Path) -> tuple[Any, Any]:
    if not zipfile.is_zipfile(path):
        raise InputError("is damaged, or no .npz file")
    # np.load forgets to close a file that it cannot read, so it gets an open one.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        missing = [key for key in ("vertices", "faces") if key not in data]
        if missing:
            raise InputError(f"has no array called {missing[0]}, only {', '.join(data) or 'nothing'}")
        return data["vertices"], data["faces"]


def _read_trimesh(path: Path, ending: str) -> tuple[Any, Any]:
    import trimesh

    options: dict[str, Any] = {"maintain_order": True} if ending == "obj" else {}
    mesh = trimesh.load_mesh(str(path), process=False, **options)
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    promised = _promised(path, ending)
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

    ``.ply``, ``.obj``, ``.off``, ``.stl``, ``.glb``, ``.gltf`` and whatever else the installed trimesh reads,
    and ``.npz`` with arrays ``vertices`` and ``faces``. Polygons are cut into triangles, the parts of a scene
    put together. No vertex is merged or moved, and no face removed. A file that is cut short is an error
    wherever the format tells (``.obj`` does not).
    """
    file = _path(path)
    ending = file.suffix.lower().removeprefix(".")
    if not file.is_file():
        found = "is a folder, not a file" if file.is_dir() else "no such file"
        raise InputError(f"{file}: {found}")
    if file.stat().st_size == 0:
        raise InputError(f"{file}: is empty")
    try:
        vertices, faces = _read_npz(file) if ending == "npz" else _read_trimesh(file, ending)
        return Mesh(vertices, faces)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    except NotImplementedError:
        known = ", ".join(f".{name}" for name in _readable())
        raise InputError(f"{file}: unknown ending {file.suffix!r}, expected one of {known}") from None
    except Exception as error:
        # Readers of damaged files fail in every possible way; all of them mean the same to the user.
        why = str(error).split("\n")[0]
        if isinstance(error, ImportError):
            known_here = ending in _readable()
            why = "damaged, or in another format" if known_here else f"{why}; install it to read .{ending}"
        raise InputError(f"{file}: cannot be read as .{ending} ({why or type(error).__name__})") from None


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
