"""Meshes of the obstacles that a scene describes by numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.sizes import read_corners
from impinge.errors import InputError
from impinge.run.scene import models
from impinge.shapes import generators
from impinge.shapes.mesh import Mesh
from impinge.untrusted import check_room

__all__ = ["merged", "mesh_of", "placed", "placed_points", "rotation_of", "turn_of", "unit", "width"]

_Floats = NDArray[np.float64]
_FACE = 1000  # bytes of a face, with all that is made of it
_AXES = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}  # where the coordinates of a body about z go


def _quads(quads: list[list[list[float]]]) -> Mesh:
    """Two triangles for every quadrangle (4 points each)."""
    vertices = np.array(quads, np.float64).reshape(-1, 3)
    first = 4 * np.arange(len(quads))[:, None]
    return Mesh(vertices, np.concatenate([first + [0, 1, 2], first + [0, 2, 3]]))


def cone(table: models.Cone) -> Mesh:
    """A funnel about z, with its orifice at z = 0; its edges lie on the cone."""
    if not table.orifice < table.radius:
        raise InputError(f"orifice: found {table.orifice:g}, expected less than the radius, {table.radius:g}")
    angle = 2 * math.pi * np.arange(table.segments) / table.segments
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    profile = [(table.orifice, 0.0), (table.radius, table.height)]
    if table.rim > 0:
        profile.append((table.radius, table.height + table.rim))
    rings = [radius * circle + [0.0, 0.0, z] for radius, z in profile]
    quads = [
        np.stack([low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high], axis=1)
        for low, high in pairwise(rings)
    ]
    return _quads(np.concatenate(quads).tolist())


def wedge(table: models.Wedge) -> Mesh:
    """A hopper with a slot along y, its orifice at z = 0."""
    if not table.orifice < table.width:
        raise InputError(f"orifice: found {table.orifice:g}, expected less than the width, {table.width:g}")
    half = table.length / 2
    profile = [(table.orifice, 0.0), (table.width, table.height)]
    if table.rim > 0:
        profile.append((table.width, table.height + table.rim))
    quads = []
    for (x, z), (x_up, z_up) in pairwise(profile):
        for side in (1.0, -1.0):
            quads.append(
                [[side * x, -half, z], [side * x, half, z], [side * x_up, half, z_up], [side * x_up, -half, z_up]]
            )
            if table.ends:
                y = side * half
                quads.append([[-x, y, z], [x, y, z], [x_up, y, z_up], [-x_up, y, z_up]])
    return _quads(quads)


def cylinder(table: models.Cylinder) -> Mesh:
    """A drum around the origin; its edges lie on the cylinder."""
    mesh = generators.cylinder(table.radius, table.length, table.segments)
    faces = mesh.faces if table.ends else mesh.faces[: 2 * table.segments]
    return Mesh(mesh.vertices[:, _AXES[table.axis]], faces)


def block(table: models.Block) -> Mesh:
    """A box."""
    lower, upper = read_corners(table.lower, table.upper)
    return generators.box(upper - lower, lower=lower)


def plate(table: models.Plate) -> Mesh:
    """A rectangle at z = 0."""
    x, y = (size / 2 for size in table.size)
    return _quads([[[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]])


def torus(table: models.Torus) -> Mesh:
    """A ring about z; its vertices lie on it."""
    if not table.tube < table.radius:
        raise InputError(f"tube: found {table.tube:g}, expected less than the radius, {table.radius:g}")
    check_room("segments", 2 * table.segments * table.rings, "faces", _FACE)
    return generators.torus(table.radius, table.tube, table.segments, table.rings)


def prism(table: models.Prism) -> Mesh:
    """A polygon along z."""
    return generators.prism(table.outline, table.height)


def sphere(table: models.Sphere) -> Mesh:
    """A sphere around the origin; its vertices lie on it."""
    return generators.icosphere(table.level, table.radius)


def lathe(table: models.Lathe) -> Mesh:
    """A profile turned about z, in either sense; its edges lie on the body."""
    profile = np.array(table.profile)
    if (profile[:, 0] < 0).any() or (profile[1:-1, 0] == 0).any():
        raise InputError(f"profile: found {table.profile}, expected distances above 0, or 0 at an end")
    check_room("segments", 2 * table.segments * len(profile), "faces", _FACE)
    around = 2 * math.pi * np.arange(table.segments) / table.segments
    circle = np.stack([np.cos(around), np.sin(around), np.zeros_like(around)], axis=1)
    rings = profile[:, 0, None, None] * circle + profile[:, 1, None, None] * [0.0, 0.0, 1.0]
    number = np.arange(rings[:, :, 0].size).reshape(rings.shape[:2])
    number[profile[:, 0] == 0] = number[profile[:, 0] == 0, :1]  # one vertex on the axis
    low, high = number[:-1], number[1:]
    a, b, c, d = (side.ravel() for side in (low, np.roll(low, -1, axis=1), np.roll(high, -1, axis=1), high))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    used, numbered = np.unique(faces, return_inverse=True)
    mesh = Mesh(rings.reshape(-1, 3)[used], numbered.reshape(-1, 3))
    return mesh.flipped() if mesh.is_closed and mesh.volume < 0 else mesh


_MAKERS: dict[str, Any] = {
    "cone": cone,
    "wedge": wedge,
    "cylinder": cylinder,
    "sphere": sphere,
    "lathe": lathe,
    "block": block,
    "torus": torus,
    "prism": prism,
    "plate": plate,
}


def mesh_of(shape: str, table: models.Shaped | models.Closed) -> Mesh:
    """The mesh of one of models.SHAPES."""
    mesh: Mesh = _MAKERS[shape](getattr(table, shape))
    return mesh


def merged(mesh: Mesh) -> Mesh:
    """One vertex in place of equal ones, which some files have for each face; else cloth would fall apart there."""
    if mesh.merged_faces is mesh.faces:
        return mesh
    used, faces = np.unique(mesh.merged_faces, return_inverse=True)
    return Mesh(mesh.vertices[used], faces.reshape(-1, 3))


def rotation_of(table: models.Placed) -> _Floats | None:
    """Matrix of the rotation that brings a shape into place."""
    return turn_of(table.rotate)


def turn_of(turn: models.Turn | None) -> _Floats | None:
    """Matrix of a rotation."""
    return None if turn is None else _rotation(np.array(turn.axis), math.radians(turn.angle))


def placed(mesh: Mesh, table: models.Placed) -> Mesh:
    """A mesh scaled, turned and moved to its place."""
    return mesh.transformed(rotation_of(table), table.translate, table.scale)


def placed_points(points: _Floats, table: models.Placed) -> _Floats:
    """Points scaled, turned and moved to their places."""
    rotation = rotation_of(table)
    points = points * table.scale
    return (points if rotation is None else points @ rotation.T) + np.array(table.translate or [0.0, 0.0, 0.0])


def _rotation(axis: _Floats, angle: float) -> _Floats:
    """Matrix of a rotation (Rodrigues)."""
    x, y, z = unit("axis", axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix: _Floats = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * (cross @ cross)
    return matrix


def unit(name: str, vector: _Floats) -> _Floats:
    """A vector of length 1."""
    length = float(np.linalg.norm(vector))
    if not 0 < length < math.inf:
        raise InputError(f"{name}: found {vector.tolist()}, expected a vector of any length above 0")
    return vector / length


def width(points: _Floats) -> float:
    """Largest extent along an axis."""
    return float(np.ptp(points, axis=0).max())
