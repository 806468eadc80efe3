"""Meshes that move, as nodes, meshes and animations of glTF 2.0."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from impinge.output.colours import linear_light
from impinge.output.glb import Glb
from impinge.output.shading import Shading

__all__ = ["Part", "write_parts"]

_RIGID = 1e-6  # of the size of a body: what moves as a whole does so within this, about single precision
_Z_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # turns z to y


@dataclass(frozen=True)
class Part:
    """One mesh over time."""

    name: str
    colour: NDArray[np.float64]  # (3,): red, green and blue, from 0 to 1
    shading: Shading
    vertices: Sequence[NDArray[np.float64]]  # (n, 3) at each time, m
    centre: NDArray[np.float64]  # (3,), m, at the first time
    poses: tuple[NDArray[np.float64], NDArray[np.float64]] | None  # quaternions and places of the centre, if rigid

    @classmethod
    def of(
        cls, name: str, colour: NDArray[np.float64], shading: Shading, vertices: Sequence[NDArray[np.float64]]
    ) -> Part:
        """A part, and whether it moves as a whole."""
        used = np.unique(shading.sources)
        centre = vertices[0][used].mean(axis=0)
        return cls(name, colour, shading, vertices, centre, _poses([v[used] for v in vertices]))

    @property
    def deforms(self) -> bool:
        """Whether its shape changes."""
        return self.poses is None

    def at(self, numbers: NDArray[np.int64]) -> Part:
        """The part at some of the times only."""
        poses = self.poses and (self.poses[0][numbers], self.poses[1][numbers])
        return replace(self, vertices=[self.vertices[number] for number in numbers], poses=poses)


def _poses(
    shapes: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Rotations and centres that bring the first shape to all others, or None.

    R maximises the trace of R Σ a bᵀ over rotations, a and b about their means: R = V diag(1, 1, ±1) Uᵀ with
    Σ a bᵀ = U S Vᵀ [Kabsch1976].
    """
    centres = np.array([shape.mean(axis=0) for shape in shapes])
    first = shapes[0] - centres[0]
    size = np.abs(first).max() or 1.0
    turns = np.empty((len(shapes), 4))
    for number, (shape, centre) in enumerate(zip(shapes, centres, strict=True)):
        here = shape - centre
        if np.abs(here - first).max() <= 1e-14 * np.abs(shape).max():  # no turn, not even by rounding
            turns[number] = [0.0, 0.0, 0.0, 1.0]
            continue
        u, _, vt = np.linalg.svd((first / size).T @ (here / size))
        mirrored = np.linalg.det(u) * np.linalg.det(vt) < 0
        turn = vt.T @ np.diag([1.0, 1.0, -1.0 if mirrored else 1.0]) @ u.T
        if not np.abs(first @ turn.T - here).max() <= _RIGID * size:
            return None
        turns[number] = Rotation.from_matrix(turn).as_quat()
        if number and turns[number] @ turns[number - 1] < 0:  # the same turn, the short way from the one before
            turns[number] *= -1.0
    return turns, centres


def write_parts(path: str | os.PathLike[str], parts: Sequence[Part], times: NDArray[np.float64]) -> None:
    """Write parts that all have a shape for each of these times, s, the first of which is 0."""
    file = Glb()
    motion = _Motion(file, times)
    # Single precision is for what moves within the scene, wherever that is.
    origin = np.mean([part.centre for part in parts], axis=0) if parts else np.zeros(3)
    children = [_add_part(file, part, motion, origin) for part in parts]
    x, y, z = origin.tolist()
    root: dict[str, Any] = {"name": "impinge", "rotation": _Z_UP, "translation": [x, z, -y]}
    if children:
        root["children"] = children
    file.add("scenes", {"nodes": [file.add("nodes", root)]})
    motion.finish()
    file.write(path)


class _Motion:
    """The animation: what changes when."""

    def __init__(self, file: Glb, times: NDArray[np.float64]) -> None:
        self.file, self.times = file, times
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self._input: int | None = None
        self._weights: int | None = None

    def _sampler(self, values: NDArray[np.float64]) -> int:
        if self._input is None:
            self._input = self.file.numbers(self.times)
        self.samplers.append({"input": self._input, "output": self.file.numbers(values)})
        return len(self.samplers) - 1

    def _channel(self, sampler: int, node: int, what: str) -> None:
        self.channels.append({"sampler": sampler, "target": {"node": node, "path": what}})

    def change_shape(self, node: int) -> None:
        """Each target has its whole weight at its own time; the first time has none."""
        if self._weights is None:
            self._weights = self._sampler(np.eye(len(self.times))[:, 1:].ravel())
        self._channel(self._weights, node, "weights")

    def move(self, node: int, turns: NDArray[np.float64], places: NDArray[np.float64]) -> None:
        """A node at these places, turned by these quaternions."""
        for what, values in (("rotation", turns), ("translation", places)):
            if (values != values[0]).any():
                self._channel(self._sampler(values), node, what)

    def finish(self) -> None:
        """Put the animation into the file, if anything moves."""
        if self.channels:
            self.file.add("animations", {"name": "motion", "samplers": self.samplers, "channels": self.channels})


def _add_part(file: Glb, part: Part, motion: _Motion, origin: NDArray[np.float64]) -> int:
    """Node of a part, placed from the origin, with its mesh around the part's centre."""
    colour = [*linear_light(part.colour).tolist(), 1.0]
    surface = {"baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.7}
    material = file.add("materials", {"name": part.name, "pbrMetallicRoughness": surface, "doubleSided": True})
    shown = part.vertices if part.deforms else part.vertices[:1]
    arrays = _changes(part, shown)
    numbers = file.vertex_data(arrays)
    pairs = [{"POSITION": a, "NORMAL": b} for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    indices = file.indices(part.shading.faces)
    primitive: dict[str, Any] = {"attributes": pairs[0], "indices": indices, "material": material}
    mesh: dict[str, Any] = {"name": part.name, "primitives": [primitive]}
    if len(pairs) > 1:
        primitive["targets"] = pairs[1:]
        mesh["weights"] = [0.0] * len(pairs[1:])
        mesh["extras"] = {"targetNames": [f"{time:.6g} s" for time in motion.times[1:]]}  # Blender shows them
    place = (part.centre - origin).tolist()
    node = file.add("nodes", {"name": part.name, "mesh": file.add("meshes", mesh), "translation": place})
    if part.poses is None:
        motion.change_shape(node)
    else:
        motion.move(node, part.poses[0], part.poses[1] - origin)
    return node


def _changes(part: Part, shown: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float32]]:
    """Places and normals at the first time, then how they differ from these at each of the others."""
    shapes = ((vertices[part.shading.sources] - part.centre, part.shading.normals(vertices)) for vertices in shown)
    first = [rows.astype(np.float32) for rows in next(shapes)]
    later = [(rows - start).astype(np.float32) for shape in shapes for rows, start in zip(shape, first, strict=True)]
    return first + later
