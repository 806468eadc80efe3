"""Soft bodies and obstacles as OBJ files, which almost every program for shapes reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.output.atomic import replacing
from impinge.output.softframe import SoftFrame, body_names

__all__ = ["write_obj"]

_CHUNK = 65536  # rows; texts take much more memory than numbers


def write_obj(path: str | os.PathLike[str], frame: SoftFrame, names: Sequence[str] = ()) -> None:
    """Write one frame; frames of an animation have the same vertices in the same order.

    The vertices are the nodes of the frame, then those of the obstacles. Each body is an object with faces, and lines
    (``l``) for cables; pass ``Tubes().of(frame)`` to have cables as triangles. Coordinates have as many digits as it
    takes to read the same numbers back.

    Parameters
    ----------
    path : path
        Such as frame_000012.obj.
    frame : SoftFrame
    names : sequence of str
        Of the bodies; others are called body_0, body_1 and so on. Obstacles are obstacle_0 and so on.
    """
    with replacing(path) as file:
        file.write(f"# impinge, t = {frame.time!r} s\n".encode())
        for vertices in (frame.positions, *(mesh.vertices for mesh in frame.obstacles)):
            file.writelines(_rows("v %r %r %r\n", vertices))
        face_bodies = frame.bodies[frame.faces[:, 0]]
        for body, name in enumerate(body_names(frame, names)):
            file.write(f"o {name}\n".encode())
            file.writelines(_rows("f %d %d %d\n", frame.faces[face_bodies == body] + 1))
            for nodes in frame.cables:
                if frame.bodies[nodes[0]] == body:
                    file.write(f"l {' '.join(map(str, (nodes + 1).tolist()))}\n".encode())
        first = len(frame.positions) + 1
        for number, mesh in enumerate(frame.obstacles):
            file.write(f"o obstacle_{number}\n".encode())
            file.writelines(_rows("f %d %d %d\n", mesh.faces.astype(np.int64) + first))
            first += len(mesh.vertices)


def _rows(form: str, array: NDArray[Any]) -> Iterable[bytes]:
    """A line for every row, many at a time."""
    for start in range(0, len(array), _CHUNK):
        rows = array[start : start + _CHUNK].tolist()
        yield "".join([form % tuple(row) for row in rows]).encode()
