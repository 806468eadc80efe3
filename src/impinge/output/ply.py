"""Soft bodies and obstacles as binary PLY files, small and quick to read."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.output.atomic import replacing
from impinge.output.softframe import SoftFrame

__all__ = ["write_ply"]

_NAMES = {"f4": "float", "f8": "double", "i4": "int", "u1": "uchar"}


def write_ply(path: str | os.PathLike[str], frame: SoftFrame) -> None:
    """Write one frame; frames of an animation have the same vertices in the same order.

    Vertices are the nodes of the frame, then those of the obstacles, in double precision, each with its radius and the
    number of its body: 0, 1, 2… for soft bodies, −1, −2… for obstacles. Faces are triangles; edges of cables are PLY
    edges. Few programs show edges: pass ``Tubes().of(frame)`` to have cables as triangles.

    Parameters
    ----------
    path : path
        Such as frame_000012.ply.
    frame : SoftFrame
    """
    points, bodies = [frame.positions], [frame.bodies]
    faces: list[NDArray[Any]] = [frame.faces]
    for number, mesh in enumerate(frame.obstacles):
        faces.append(mesh.faces + sum(map(len, points)))
        points.append(mesh.vertices)
        bodies.append(np.full(len(mesh.vertices), -1 - number))
    elements = [
        ("vertex", _vertices(np.concatenate(points), np.concatenate(bodies), frame.radii)),
        ("face", _faces(np.concatenate(faces))),
        ("edge", _edges(frame.edges)),
    ]
    head = ["ply", "format binary_little_endian 1.0", f"comment impinge, t = {frame.time!r} s"]
    for name, table in elements:
        head += [f"element {name} {len(table)}", *_properties(table.dtype)]
    with replacing(path) as file:
        file.write("\n".join([*head, "end_header\n"]).encode())
        for _, table in elements:
            file.write(table.tobytes())


def _vertices(points: NDArray[np.float64], bodies: NDArray[np.int64], radii: NDArray[np.float64]) -> NDArray[np.void]:
    table = np.zeros(len(points), [("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("radius", "<f4"), ("body", "<i4")])
    table["x"], table["y"], table["z"] = points.T
    table["radius"][: len(radii)] = radii
    table["body"] = bodies
    return table


def _faces(faces: NDArray[Any]) -> NDArray[np.void]:
    table = np.empty(len(faces), [("count", "u1"), ("vertex_indices", "<i4", (3,))])
    table["count"], table["vertex_indices"] = 3, faces
    return table


def _edges(edges: NDArray[np.int32]) -> NDArray[np.void]:
    table = np.empty(len(edges), [("vertex1", "<i4"), ("vertex2", "<i4")])
    table["vertex1"], table["vertex2"] = edges.T
    return table


def _properties(dtype: np.dtype[Any]) -> list[str]:
    """Lines of the header; a count is that of the list that follows."""
    lines = []
    for name in dtype.names or ():
        base, shape = dtype[name].base, dtype[name].shape
        if shape:
            lines.append(f"property list uchar {_NAMES[base.str[1:]]} {name}")
        elif name != "count":
            lines.append(f"property {_NAMES[base.str[1:]]} {name}")
    return lines
