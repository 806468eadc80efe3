"""Frames of soft bodies with shapes that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import shapes
from impinge.output import SoftFrame


def grid(n: int, size: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A flat square of n × n nodes around the origin, seen from above, and its triangles."""
    line = np.linspace(-size / 2, size / 2, n)
    x, y = np.meshgrid(line, line, indexing="ij")
    node = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x.ravel(), y.ravel(), np.zeros(n * n)]), faces


def turn(angle: float, axis: int = 2) -> NDArray[np.float64]:
    """Rotation around a coordinate axis, rad."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i], matrix[i, j] = np.sin(angle), -np.sin(angle)
    return matrix


def scene(time: float = 0.0, **changes: Any) -> SoftFrame:
    """A waving cloth, an open cable that swings, a ring that falls, a ball that rolls and a box that stands."""
    cloth, faces = grid(6)
    cloth = cloth + np.outer(0.1 * np.sin(3 * cloth[:, 0] + 5 * time), [0, 0, 1.0])
    s = np.linspace(0, 1, 9)
    cable = np.column_stack([s, 0.2 * np.sin(4 * s + 3 * time), 0.5 + 0.1 * s])
    angle = np.linspace(0, 2 * np.pi, 13)[:-1]
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.full(12, 2.0 - time)])
    points = np.concatenate([cloth, cable, ring])
    rng = np.random.default_rng(int(1000 * time))
    ball = shapes.icosphere(1, 0.3)
    content: dict[str, Any] = {
        "faces": faces,
        "cables": [np.arange(36, 45), np.append(np.arange(45, 57), 45)],
        "radii": np.repeat([0.01, 0.05, 0.1], [36, 9, 12]),
        "bodies": np.repeat([0, 1, 2], [36, 9, 12]),
        "point_data": {"velocity": rng.normal(size=points.shape), "contact_force": rng.random(len(points))},
        "edge_data": {"strain": rng.random(20)},
        "face_data": {"strain": rng.random(len(faces)), "bending": rng.random(len(faces))},
        "obstacles": [ball.transformed(turn(2 * time, 1), [time, 0, -1.0]), shapes.box(0.5, lower=[2, 2, 2])],
    }
    return SoftFrame(time, points, **{**content, **changes})
