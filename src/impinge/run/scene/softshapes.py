"""Nodes of the cables and cloth that a scene describes by numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from impinge.run.scene import softmodels
from impinge.shapes.mesh import Mesh
from impinge.untrusted import check_room

__all__ = ["circle", "helix", "line", "sheet"]

_Floats = NDArray[np.float64]
_NODE = 4000  # bytes of a node, with its part of the equations


def line(table: softmodels.Line) -> _Floats:
    """Nodes at equal distances."""
    check_room("nodes", table.nodes, "nodes", _NODE)
    return np.linspace(table.start, table.end, table.nodes)


def circle(table: softmodels.Circle) -> _Floats:
    """Nodes around z, the first of which is not repeated."""
    check_room("nodes", table.nodes, "nodes", _NODE)
    return _winding(table.radius, 2 * math.pi * np.arange(table.nodes) / table.nodes, 0.0)


def helix(table: softmodels.Helix) -> _Floats:
    """Nodes that rise with the angle."""
    check_room("nodes", table.nodes, "nodes", _NODE)
    angles = np.linspace(0.0, 2 * math.pi * table.turns, table.nodes)
    return _winding(table.radius, angles, table.height / (2 * math.pi * table.turns))


def _winding(radius: float, angles: _Floats, rise: float) -> _Floats:
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), rise * angles])


def sheet(table: softmodels.Sheet) -> Mesh:
    """A flat rectangle seen from above, cut into triangles along one diagonal of a cell and the other of the next."""
    n, m = table.nodes
    check_room("nodes", n * m, "nodes", _NODE)
    x, y = (np.linspace(-0.5 * size, 0.5 * size, count) for size, count in zip(table.size, table.nodes, strict=True))
    node = np.arange(n * m).reshape(n, m)
    a, b, c, d = (node[i : n - 1 + i, j : m - 1 + j].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    turned = np.add.outer(np.arange(n - 1), np.arange(m - 1)).reshape(-1, 1) % 2 == 1
    first = np.where(turned, np.column_stack([a, b, d]), np.column_stack([a, b, c]))
    second = np.where(turned, np.column_stack([b, c, d]), np.column_stack([a, c, d]))
    vertices = np.column_stack([np.repeat(x, m), np.tile(y, n), np.zeros(n * m)])
    return Mesh(vertices, np.concatenate([first, second]))
