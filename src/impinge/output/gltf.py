"""Soft bodies and obstacles in motion as one glTF 2.0 file, for Blender, three.js, browsers and office programs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from impinge import _check
from impinge.errors import InputError, OutputWarning
from impinge.output.animation import Part, write_parts
from impinge.output.arrays import evenly
from impinge.output.colours import OBSTACLE, body_colours
from impinge.output.shading import Shading
from impinge.output.softframe import SoftFrame, body_names
from impinge.output.tubes import Tubes

__all__ = ["write_gltf"]

_PER_VERTEX = 24  # bytes: how place and normal change, in single precision
_LARGEST = 1e30  # m; squares are numbers in single precision too


def write_gltf(
    path: str | os.PathLike[str],
    frames: Sequence[SoftFrame],
    names: Sequence[str] = (),
    *,
    most_frames: int = 120,
    most_bytes: float = 50e6,
) -> None:
    """Write an animation; of many frames, as many as the limits allow, evenly spread, with a warning.

    Every body and obstacle is a mesh with a colour and smooth normals; cables are tubes. What keeps its shape moves as
    a whole; what does not has a morph target for each frame after the first, and an animation of their weights. Time
    starts at the first frame. The z axis points upwards, as y does in glTF: a node above all others turns it.

    Parameters
    ----------
    path : path
        Ending in .glb.
    frames : sequence of SoftFrame
        At least one; times grow, and all have the same faces, cables and obstacles. A sequence that reads files, as
        `SoftFiles`, is asked only for those that are written.
    names : sequence of str
        Of the bodies; others are called body_0, body_1 and so on. Obstacles are obstacle_0 and so on.
    most_frames : int
        At least 2.
    most_bytes : float
        Size of what changes over time, about; two frames are always written.
    """
    most_frames, most_bytes = _check.integer("most_frames", most_frames, 2), _check.positive("most_bytes", most_bytes)
    if not len(frames):
        raise InputError("frames: found none, expected at least one")
    tubes = Tubes()
    size = len(tubes.of(frames[0]).positions) * _PER_VERTEX
    chosen = evenly(len(frames), max(2, min(most_frames, int(most_bytes // max(size, 1)))))
    shown = [tubes.of(frames[int(number)]) for number in chosen]
    _check_alike(shown)
    parts = [*_soft_parts(shown, names), *_obstacle_parts(shown)]
    size = sum(len(part.shading.sources) * _PER_VERTEX for part in parts if part.deforms)
    kept = evenly(len(shown), max(2, int(most_bytes // max(size, 1))))  # obstacles that change their shape count too
    if len(kept) < len(frames):
        warnings.warn(
            f"animation: {len(kept)} of {len(frames)} frames are written, to have no more than {most_frames} and "
            f"about {most_bytes / 1e6:g} MB; what moves between them is interpolated",
            OutputWarning,
            stacklevel=2,
        )
    times = np.array([shown[number].time - shown[0].time for number in kept])
    write_parts(path, [part.at(kept) for part in parts], times)


def _check_alike(frames: Sequence[SoftFrame]) -> None:
    first = frames[0]
    for before, frame in pairwise(frames):
        if not np.float32(before.time - first.time) < np.float32(frame.time - first.time):
            raise InputError(f"frames: found times {before.time} and then {frame.time}, expected them to grow")
        same = (
            np.array_equal(frame.faces, first.faces)
            and np.array_equal(frame.bodies, first.bodies)
            and len(frame.obstacles) == len(first.obstacles)
            and all(
                np.array_equal(a.faces, b.faces) and len(a.vertices) == len(b.vertices)
                for a, b in zip(frame.obstacles, first.obstacles, strict=True)
            )
        )
        if not same:
            raise InputError(
                f"frames: found other faces, cables, bodies or obstacles at {frame.time} s, expected those of the first"
            )
    for frame in frames:
        for points in (frame.positions, *(mesh.vertices for mesh in frame.obstacles)):
            largest = np.abs(points).max(initial=0.0)
            if largest > _LARGEST:
                raise InputError(f"frames: found {largest} m at {frame.time} s, expected at most {_LARGEST} m")


def _soft_parts(frames: Sequence[SoftFrame], names: Sequence[str]) -> list[Part]:
    """Bodies that have faces."""
    first = frames[0]
    of_faces = first.bodies[first.faces[:, 0]]
    parts = []
    for body, name in enumerate(body_names(first, names)):
        faces = first.faces[of_faces == body]
        if len(faces):
            shading = Shading(first.positions, faces, creases=False)
            colour = body_colours(np.array([body]))[0]
            parts.append(Part.of(name, colour, shading, [frame.positions for frame in frames]))
    return parts


def _obstacle_parts(frames: Sequence[SoftFrame]) -> list[Part]:
    parts = []
    for number, mesh in enumerate(frames[0].obstacles):
        shading = Shading(mesh.vertices, mesh.merged_faces, creases=True)
        vertices = [frame.obstacles[number].vertices for frame in frames]
        parts.append(Part.of(f"obstacle_{number}", OBSTACLE, shading, vertices))
    return parts
