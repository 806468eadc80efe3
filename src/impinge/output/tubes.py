"""Cables as triangles: tubes with round ends, with the same corners in every frame of an animation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.output.softframe import SoftFrame, join_data
from impinge.output.transport import directions_of, transported, turned

__all__ = ["Tubes"]

_Vectors = NDArray[np.float64]
_SHARPEST = 0.5  # cosine of half a bend; beyond it, outer sides of a bend are cut rather than drawn out


class Tubes:
    """Makes frames without cables: triangles of tubes take their place.

    One such object serves all frames of an animation, in their order. It keeps where the corners were, so that from
    frame to frame tubes turn around themselves as little as they can, and what is between two frames looks right.

    Parameters
    ----------
    sides : int
        Corners around a tube.
    """

    def __init__(self, sides: int = 12) -> None:
        self.sides = _check.integer("sides", sides, 3)
        self._sections: dict[int, _Section] = {}

    def of(self, frame: SoftFrame) -> SoftFrame:
        """The frame with tubes after its other nodes and faces; they have the data of their nodes and edges."""
        points: list[NDArray[Any]] = [frame.positions]
        faces: list[NDArray[Any]] = [frame.faces]
        nodes: list[NDArray[Any]] = [np.arange(len(frame.positions))]
        edges: list[NDArray[Any]] = [np.empty(0, np.int64)]
        first_node, first_edge = len(frame.positions), 0
        for number, cable in enumerate(frame.cables):
            section = _Section.of(frame.positions[cable], cable[0] == cable[-1], self._sections.get(number))
            self._sections[number] = section
            corners, shape = section.corners(frame.radii[cable], self.sides), _tube(len(cable), self.sides, section)
            points.append(corners)
            faces.append(shape.faces + first_node)
            nodes.append(cable[shape.nodes])
            edges.append(shape.edges + first_edge)
            first_node += len(corners)
            first_edge += len(cable) - 1
        edge_of = np.concatenate(edges)
        of_edges = {name: array[edge_of] for name, array in frame.edge_data.items()}
        node_of = np.concatenate(nodes)
        return replace(
            frame,
            positions=np.concatenate(points),
            faces=np.concatenate(faces),
            cables=(),
            radii=np.concatenate([frame.radii, np.zeros(first_node - len(frame.radii))]),
            bodies=frame.bodies[node_of],
            point_data={name: array[node_of] for name, array in frame.point_data.items()},
            edge_data={},
            face_data=join_data(frame.face_data, of_edges, (len(frame.faces), len(edge_of))),
        )


@dataclass(frozen=True)
class _Section:
    """A cable cut across at its nodes: the directions along it, and two across, turned with it and not around it."""

    points: _Vectors  # (k, 3), m; without the last of a closed cable, which is the first
    along: _Vectors  # (k, 3)
    across: _Vectors  # (k, 3)
    stretch: _Vectors  # (k, 3): offsets o become o + stretch (stretch · o), so that bends keep their width
    closed: bool
    twist: float  # rad, put in to make a closed tube meet itself

    @classmethod
    def of(cls, points: _Vectors, closed: bool, before: _Section | None) -> _Section:
        """Sections of a cable; corners stay near to those `before`, if there are any."""
        segments = directions_of(points)  # of unit length
        points = points[:-1] if closed else points
        coming = np.roll(segments, 1, axis=0) if closed else np.concatenate([segments[:1], segments])
        going = segments if closed else np.concatenate([segments, segments[-1:]])
        along = going + coming
        lengths = np.linalg.norm(along, axis=1, keepdims=True)
        along = np.where(lengths > 1e-9, along / np.maximum(lengths, 1e-9), going)  # not where it runs back
        bend = going - coming
        bends = np.linalg.norm(bend, axis=1, keepdims=True)
        widening = 1.0 / np.clip(0.5 * lengths, _SHARPEST, 1.0) - 1.0
        stretch = np.sqrt(widening) * bend / np.maximum(bends, 1e-9)
        across = transported(along)
        twist = 0.0
        if closed:
            across, twist = _close(points, along, across, before.twist if before else 0.0)
        if before is not None and before.across.shape == across.shape:
            # The angle that brings all to where they were, as near as one angle can.
            third = np.cross(along, across)
            angle = np.arctan2((before.across * third).sum(), (before.across * across).sum())
            across = turned(across, along, np.full(len(along), angle))
        return cls(points, along, across, stretch, closed, twist)

    def corners(self, radii: _Vectors, sides: int) -> _Vectors:
        """(m, 3): corners ring after ring; of an open cable, the tips and the rings of its round ends too."""
        angles = 2 * np.pi * np.arange(sides) / sides
        third = np.cross(self.along, self.across)
        circle = np.cos(angles)[:, None] * self.across[:, None] + np.sin(angles)[:, None] * third[:, None]
        bent = circle + self.stretch[:, None] * (circle @ self.stretch[:, :, None])
        rings = self.points[:, None] + radii[: len(self.points), None, None] * bent
        if self.closed:
            return rings.reshape(-1, 3)
        heights = _cap_angles(sides)
        parts = []
        for end, outwards in ((0, -self.along[0]), (-1, self.along[-1])):
            round_end = np.cos(heights)[:, None, None] * circle[end] + np.sin(heights)[:, None, None] * outwards
            cap = (self.points[end] + radii[end] * round_end).reshape(len(heights), sides, 3)
            tip = self.points[end] + radii[end] * outwards
            parts.append((cap, tip[None]))
        (first, first_tip), (last, last_tip) = parts
        return np.concatenate([
            first_tip, first[::-1].reshape(-1, 3), rings.reshape(-1, 3), last.reshape(-1, 3), last_tip
        ])  # fmt: skip


def _cap_angles(sides: int) -> _Vectors:
    """Angles of the rings of a round end, between its rim, 0, and its tip, 90 degrees."""
    count = max(sides // 4 - 1, 0)
    return 0.5 * np.pi * np.arange(1, count + 1) / (count + 1)


def _close(points: _Vectors, along: _Vectors, across: _Vectors, twist_before: float) -> tuple[_Vectors, float]:
    """Turn the directions across a closed cable so that the last goes over into the first; also by how much."""
    arrived = transported(np.concatenate([along[-1:], along[:1]]), across[-1])[1]
    missing = np.arctan2(np.cross(arrived, across[0]) @ along[0], arrived @ across[0])
    twist = missing + 2 * np.pi * np.round((twist_before - missing) / (2 * np.pi))  # no jumps over time
    steps = np.linalg.norm(np.diff(points, axis=0, append=points[:1]), axis=1)
    reached = np.concatenate([[0.0], np.cumsum(steps)])
    part = reached[:-1] / reached[-1] if reached[-1] > 0 else np.zeros(len(points))
    return turned(across, along, twist * part), float(twist)


@dataclass(frozen=True)
class _Tube:
    """Faces of a tube, and what its corners and faces belong to."""

    faces: NDArray[np.int64]  # (m, 3)
    nodes: NDArray[np.int64]  # (corners,): place in the cable
    edges: NDArray[np.int64]  # (m,): place in the cable


def _tube(count: int, sides: int, section: _Section) -> _Tube:
    """Faces for the corners that a section with these nodes, given with the last of a closed cable, has."""
    if section.closed:
        rings = count - 1
        faces, edge = _bands(rings, sides, closed=True)
        return _Tube(faces, np.repeat(np.arange(rings), sides), edge)
    caps = len(_cap_angles(sides))
    rings = count + 2 * caps
    bands, band = _bands(rings, sides, closed=False)
    side = np.arange(sides)
    following = (side + 1) % sides
    last = 1 + (rings - 1) * sides
    first_tip = np.column_stack([np.zeros_like(side), 1 + following, 1 + side])
    last_tip = np.column_stack([np.full_like(side, last + sides), last + side, last + following])
    edge = np.clip(band - caps, 0, count - 2)
    return _Tube(
        np.concatenate([first_tip, bands + 1, last_tip]),
        np.concatenate([[0], np.clip(np.repeat(np.arange(rings), sides) - caps, 0, count - 1), [count - 1]]),
        np.concatenate([np.zeros_like(side), edge, np.full_like(side, count - 2)]),
    )


def _bands(rings: int, sides: int, closed: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two triangles for each side of each band between two rings, and the number of the band of each."""
    ring, side = np.divmod(np.arange((rings if closed else rings - 1) * sides), sides)
    here, there = ring * sides, (ring + 1) % rings * sides
    following = (side + 1) % sides
    a, b, c, d = here + side, here + following, there + following, there + side
    return np.column_stack([a, b, c, a, c, d]).reshape(-1, 3), np.repeat(ring, 2)
