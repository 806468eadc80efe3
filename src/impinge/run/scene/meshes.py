"""Meshes of the obstacles that a scene describes by numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.run.scene import models
from impinge.shapes import generators
from impinge.shapes.mesh import Mesh

__all__ = ["block", "cone", "cylinder", "placed", "plate", "wedge"]

_Floats = NDArray[np.float64]
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
    lower, upper = np.array(table.lower), np.array(table.upper)
    if not (lower < upper).all():
        raise InputError(f"upper: found {table.upper}, expected more than lower, {table.lower}, along every axis")
    return generators.box(upper - lower, lower=lower)


def plate(table: models.Plate) -> Mesh:
    """A rectangle at z = 0."""
    x, y = (size / 2 for size in table.size)
    return _quads([[[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]])


def placed(mesh: Mesh, table: models.Obstacle) -> Mesh:
    """A mesh scaled, turned and moved to its place."""
    rotation = None
    if table.rotate is not None:
        rotation = _rotation(np.array(table.rotate.axis), math.radians(table.rotate.angle))
    return mesh.transformed(rotation, table.translate, table.scale)


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
