"""What files that mean harm are read by, and how they must be refused."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import impinge
from impinge.broad.files import read_spheres
from impinge.errors import InputError
from impinge.inside.pointfiles import open_points
from impinge.output.vtk import Collection, read_polydata
from impinge.run.scene import read_scene
from impinge.shapes.files import read_mesh

READERS: dict[str, Callable[[Path], Any]] = {
    "mesh": read_mesh,
    "points": lambda path: list(open_points(path).chunks()),
    "spheres": read_spheres,
    "scene": lambda path: read_scene(path).build(),
    "solid": impinge.Solid.load,
    "world": impinge.World.load,
    "soft": impinge.SoftWorld.load,
    "frame": read_polydata,
    "list": Collection.read,
}


def refused(reader: str, path: Path) -> str:
    """What is said of a file, in little time and memory."""
    start = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            READERS[reader](path)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 10
    said = str(caught.value)
    assert path.name in said
    assert said.isprintable()
    return said


def npy_head(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def glb(**tree: Any) -> bytes:
    text = json.dumps({"asset": {"version": "2.0"}, **tree}).encode()
    text += b" " * (-len(text) % 4)
    return (
        b"glTF" + (2).to_bytes(4, "little") + (20 + len(text)).to_bytes(4, "little")
        + len(text).to_bytes(4, "little") + b"JSON" + text
    )  # fmt: skip


HUGE = 10**15
