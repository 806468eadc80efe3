"""Soft bodies for ParaView, and back: cloths as triangles and cables as lines in one file, obstacles in another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.softframe import SoftFrame, join_data
from impinge.output.vtk import read_polydata, write_mesh, write_polydata
from impinge.shapes.mesh import Mesh

__all__ = ["read_obstacles", "read_soft", "write_obstacles", "write_soft"]


def write_soft(path: str | os.PathLike[str], frame: SoftFrame) -> None:
    """Cloths and cables of a frame; its obstacles go to a file of their own.

    Nodes have a "radius", a "body" and the frame's point data; edges of cables, which are cells of two points, and
    faces have their "body" and the frame's edge and face data, NaN where there is none. In ParaView the filter "Tube"
    draws cables with their radius.

    Parameters
    ----------
    path : path
        Ending in .vtp.
    frame : SoftFrame
    """
    points = {"radius": frame.radii, "body": frame.bodies, **frame.point_data}
    of_cells = frame.bodies[np.concatenate([frame.edges[:, 0], frame.faces[:, 0]])]
    data = join_data(frame.edge_data, frame.face_data, (len(frame.edges), len(frame.faces)))
    cells = {"Lines": frame.edges, "Polys": frame.faces}
    write_polydata(path, frame.positions, cells, points, {"body": of_cells, **data})


def read_soft(path: str | os.PathLike[str], time: float, obstacles: Sequence[Mesh] = ()) -> SoftFrame:
    """A frame from a file of `write_soft`; the time and the obstacles, which are not in it, are given."""
    content = read_polydata(path)
    try:
        edges = content["Lines"]["connectivity"].reshape(-1, 2)
        faces = content["Polys"]["connectivity"].reshape(-1, 3)
        radii, bodies = content["PointData"].pop("radius"), content["PointData"].pop("body")
        of_cells = content["CellData"].pop("body")[: len(edges)]
        points = content["Points"]["Points"]
        return SoftFrame(
            time, points, faces, _cables(edges, of_cells), radii, bodies, content["PointData"],
            {name: array[: len(edges)] for name, array in content["CellData"].items()},
            {name: array[len(edges) :] for name, array in content["CellData"].items()},
            obstacles,
        )  # fmt: skip
    except (KeyError, ValueError):
        raise InputError(f"{path}: found other things, expected cloths and cables of impinge") from None


def _cables(edges: NDArray[Any], bodies: NDArray[Any]) -> list[NDArray[Any]]:
    """Edges that follow each other, within one body, make a cable."""
    starts = np.flatnonzero((edges[1:, 0] != edges[:-1, 1]) | (bodies[1:] != bodies[:-1])) + 1
    return [np.append(part[:, 0], part[-1, 1]) for part in np.split(edges, starts) if len(part)]


def write_obstacles(path: str | os.PathLike[str], obstacles: Sequence[Mesh]) -> None:
    """All obstacles, at least one, with the number of its "obstacle" at each face.

    Parameters
    ----------
    path : path
        Ending in .vtp.
    obstacles : sequence of Mesh
    """
    mesh = Mesh.concatenate(obstacles)
    numbers = np.repeat(np.arange(len(obstacles)), [len(part.faces) for part in obstacles])
    write_mesh(path, mesh.vertices, mesh.faces, {"obstacle": numbers})


def read_obstacles(path: str | os.PathLike[str]) -> list[Mesh]:
    """The meshes in a file of `write_obstacles`; vertices that no face uses may have gone to a neighbour."""
    content = read_polydata(path)
    try:
        faces, numbers = content["Polys"]["connectivity"].reshape(-1, 3), content["CellData"]["obstacle"]
        vertices = content["Points"]["Points"]
        ends = np.flatnonzero(np.diff(numbers)) + 1  # one obstacle after the other, counted from 0
        if len(numbers) != len(faces) or not np.array_equal(numbers[[0, *ends]], np.arange(len(ends) + 1)):
            raise ValueError
        parts = np.split(faces, ends)
        firsts = [0, *(int(part.min()) for part in parts[1:]), len(vertices)]
        return [Mesh(vertices[a:b], part - a) for a, b, part in zip(firsts, firsts[1:], parts, strict=False)]
    except (KeyError, ValueError, IndexError):
        raise InputError(f"{path}: found other things, expected obstacles of impinge") from None
