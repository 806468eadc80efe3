"""What frames show over time, as arrays that a viewer takes, made one frame after the other and as fine as needed.

Numbers are in single precision and lose the digits that nobody can see, so that they compress well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.colours import Span
from impinge.output.framing import Framing
from impinge.output.softframe import SoftFrame
from impinge.output.tubes import Tubes
from impinge.shapes.mesh import Mesh
from impinge.show.recording import Bodies, Frame, Spheres

__all__ = ["Movers", "Points", "Scalar", "Shown", "Skin", "frame_into", "rounded", "scalars_of"]

Singles = NDArray[np.float32]
_KNOWN_AS = {"velocity": ("speed", "m/s"), "spin": ("spin", "rad/s"), "contact_force": ("contact force", "N")}
_UNITS = {"radius": "m"}
_FINE, _FINER = 2.0**-14, 2.0**-18  # of the size of the scene: places of spheres, and of the corners of surfaces
_OF_RADIUS = 2.0**-5
_SHADES = 2.0**-7  # of the range of a scalar
_SIDES = 10  # of a cable
_TINY = 2.0**-20  # size of a body that is not there: of none it would not be known how it is turned


class Scalar(NamedTuple):
    """Something that colours may stand for."""

    name: str
    unit: str  # "" for numbers without
    low: float  # value of the first colour
    high: float  # of the last one
    beyond: bool  # whether some values are larger


def rounded(array: NDArray[Any], step: float) -> Singles:
    """Multiples of a power of two that is at most `step`: numbers with few digits, which compress well."""
    fine = 2.0 ** np.floor(np.log2(step)) if step > 0 else 0.0
    return np.ascontiguousarray(np.round(array / fine) * fine if fine else array, np.float32)


def scalars_of(part: Spheres | Bodies | SoftFrame) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """Units and values, by the names that people see: vectors by their lengths."""
    if isinstance(part, SoftFrame):
        names = dict.fromkeys(["velocity", *part.point_data, *part.face_data, *part.edge_data, "body"])
        found = {name: part.node_values(name) for name in names if name != "velocity" or name in part.point_data}
    else:
        found = dict(part.data)
        if isinstance(part, Spheres):
            found["radius"] = part.radii
    result = {}
    for name, rows in found.items():
        shown, unit = _KNOWN_AS.get(name, (name, _UNITS.get(name, "")))
        numbers = np.asarray(rows, np.float64)
        result[shown] = unit, numbers if numbers.ndim == 1 else np.linalg.norm(numbers, axis=1)
    return result


@dataclass
class Points:
    """Spheres, or discs: the same ones in the same rows at all times, without size where they are not there."""

    centres: list[Singles]  # (n, 3) at each time, m
    radii: list[Singles]  # (n,), or one for all times
    values: dict[str, list[Singles]]  # (n,) at each time, or once


@dataclass
class Movers:
    """Rigid bodies or obstacles, and where they are: tiny, where they are not there."""

    numbers: list[int]  # permanent ones
    shapes: list[tuple[Singles, NDArray[np.uint32]]]  # corners around their mean, m, and faces
    poses: list[Singles]  # (b, 4, 4) at each time
    values: dict[str, list[Singles]] = field(default_factory=dict)  # (b,) at each time


@dataclass
class Skin:
    """Cloth, and cables as tubes: one surface that deforms."""

    vertices: list[Singles]  # (v, 3) at each time, m
    faces: NDArray[np.uint32]
    values: dict[str, list[Singles]]  # (v,) at each time


@dataclass
class Shown:
    """All that a viewer shows."""

    times: list[float]  # s
    corners: NDArray[np.float64]  # (2, 3), m: around obstacles and most bodies at all times
    scalars: dict[str, Scalar]
    points: Points | None
    bodies: Movers | None
    skin: Skin | None
    obstacles: Movers | None
    left_out: int  # spheres that were there and are not shown

    @classmethod
    def of(cls, frames: Iterable[Frame], names: Sequence[str] | None = None, stride: int = 1) -> Shown:
        """What these frames show, of scalars only those of these names, and of spheres every `stride`-th by number."""
        collector = _Collector(names, stride)
        for frame in frames:
            collector.add(frame)
        return collector.finish()


class _Collector:
    """Takes frames one after the other, and keeps of each what is shown."""

    def __init__(self, names: Sequence[str] | None, stride: int) -> None:
        self.names, self.stride = names, stride
        self.times: list[float] = []
        self.framing = Framing(np.eye(3))
        self.ranges: dict[str, _Range] = {}
        self.spheres: list[tuple[NDArray[np.int64], Singles, Singles, dict[str, Singles]]] = []
        self.bodies, self.obstacles = _Rigid(), _Rigid()
        self.skin: Skin | None = None
        self.tubes = Tubes(_SIDES)
        self.size = 0.0  # m, of the first frame
        self.highest = -1  # number of a sphere

    def add(self, frame: Frame) -> None:
        self.times.append(frame.time)
        if frame.bodies is not None:
            self.bodies.add(frame.bodies, self._values(frame.bodies))
        frame_into(self.framing, frame)
        if not self.size and (corners := self.framing.bounds()) is not None:
            self.size = float((corners[1] - corners[0]).max())
        if frame.spheres is not None:
            self._add_spheres(frame.spheres)
        if frame.obstacles:
            self.obstacles.add_meshes(frame.obstacles)
        if frame.soft is not None:
            self._add_skin(frame.soft)

    def _values(self, part: Any, rows: Any = slice(None)) -> dict[str, Singles]:
        """Scalars that are asked for, of some rows; they widen the ranges."""
        values = {}
        for name, (unit, numbers) in scalars_of(part).items():
            if self.names is None or name in self.names:
                known = self.ranges.setdefault(name, _Range(unit))
                values[name] = known.shown(numbers[rows])
        return values

    def _add_spheres(self, spheres: Spheres) -> None:
        ids = np.asarray(spheres.data.get("id", np.arange(len(spheres.radii))), np.int64)
        rows = np.flatnonzero(ids % self.stride == 0)
        rows = rows[np.argsort(ids[rows], kind="stable")]
        radii = spheres.radii[rows]
        smallest = radii[radii > 0].min(initial=np.inf)
        step = min(self.size * _FINE, smallest * _OF_RADIUS)
        self.highest = max(self.highest, int(ids.max(initial=-1)))
        values = self._values(spheres, rows)
        self.spheres.append((ids[rows], rounded(spheres.centres[rows], step), radii.astype(np.float32), values))

    def _add_skin(self, soft: SoftFrame) -> None:
        shown = self.tubes.of(soft)
        used, faces = np.unique(shown.faces, return_inverse=True)  # nodes of cables are on no face
        if self.skin is None:
            self.skin = Skin([], faces.reshape(-1, 3).astype(np.uint32), {})
        if not np.array_equal(faces.reshape(-1, 3), self.skin.faces):
            raise InputError("frames: found one with other cables or cloth, expected those of the first frame")
        self.skin.vertices.append(rounded(shown.positions[used], self.size * _FINER))
        for name, column in self._values(shown, used).items():
            self.skin.values.setdefault(name, []).append(column)

    def finish(self) -> Shown:
        scalars = {name: known.scalar(name) for name, known in self.ranges.items()}
        points = _join(self.spheres) if any(len(ids) for ids, *_ in self.spheres) else None
        parts = [part.movers() for part in (self.bodies, self.obstacles)]
        if points is not None:
            _shade(points.values, scalars)
        for part in (*parts, self.skin):
            if part is not None:
                _shade(part.values, scalars)
        corners = self.framing.bounds()
        if corners is None:
            corners = np.array([np.zeros(3), np.ones(3)])
        left = self.highest + 1 - (self.highest // self.stride + 1) if self.highest >= 0 else 0
        return Shown(self.times, corners, scalars, points, parts[0], self.skin, parts[1], left)


def frame_into(framing: Framing, frame: Frame) -> None:
    """Let what a picture shows have room for a frame."""
    spheres, bodies = np.empty((0, len(framing.axes) + 1)), None
    if frame.spheres is not None:
        centres = frame.spheres.centres[:, : len(framing.axes)]
        spheres = np.column_stack([centres, frame.spheres.radii])
    if frame.bodies is not None:
        first = np.flatnonzero(np.diff(frame.bodies.numbers, prepend=-1))
        bodies = frame.bodies.vertices[frame.bodies.faces.ravel()], 3 * first
    places = [mesh.vertices for mesh in frame.obstacles]
    if frame.soft is not None:
        places.append(np.column_stack([frame.soft.positions, frame.soft.radii]))
    framing.add(spheres, bodies, places)


class _Range(Span):
    """Which values a scalar has."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def shown(self, values: NDArray[np.float64]) -> Singles:
        """Look at some; the same in single precision, with nothing where there is no number."""
        self.take(values)
        return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)

    def scalar(self, name: str) -> Scalar:
        """With the values of the first and the last colour."""
        low, high = self.limits(name)
        return Scalar(name, self.unit, low, high, self.highest > high * (1 + 1e-9))


def _shade(values: Mapping[str, list[Singles]], scalars: Mapping[str, Scalar]) -> None:
    """As many digits as there are colours; once for all times what never changes."""
    for name, columns in values.items():
        step = (scalars[name].high - scalars[name].low) * _SHADES
        columns[:] = [rounded(column, step) for column in columns]
        if all(np.array_equal(columns[0], column) for column in columns[1:]):
            del columns[1:]


def _join(frames: Sequence[tuple[NDArray[np.int64], Singles, Singles, dict[str, Singles]]]) -> Points:
    """The same rows in all frames; where a sphere comes or goes, it grows or shrinks in its place."""
    every = np.unique(np.concatenate([ids for ids, *_ in frames]))
    rows = [np.searchsorted(every, ids) for ids, *_ in frames]
    centres, radii = [], []
    values: dict[str, list[Singles]] = {name: [] for name in dict.fromkeys(name for *_, v in frames for name in v)}
    for number, (_, places, sizes, columns) in enumerate(frames):
        shown = np.zeros((len(every), 3), np.float32)
        for beside in (number - 1, number + 1):
            if 0 <= beside < len(frames):
                shown[rows[beside]] = frames[beside][1]
        shown[rows[number]] = places
        centres.append(shown)
        radii.append(_spread(sizes, rows[number], len(every)))
        for name, column in columns.items():
            values[name].append(_spread(column, rows[number], len(every)))
    if all(np.array_equal(radii[0], other) for other in radii[1:]):
        del radii[1:]
    return Points(centres, radii, values)


def _spread(column: Singles, rows: NDArray[np.int64], count: int) -> Singles:
    if len(rows) == count:
        return column
    result = np.zeros(count, np.float32)
    result[rows] = column
    return result


class _Rigid:
    """Bodies that keep their shape: how each has turned and moved since it was first there.

    R maximises the trace of R Σ a bᵀ over rotations, a and b the corners around their means then and now: R = V diag(1,
    1, ±1) Uᵀ with Σ a bᵀ = U S Vᵀ [Kabsch1976].
    """

    def __init__(self) -> None:
        self._parts: dict[int, tuple[NDArray[Any], NDArray[np.uint32]]] = {}  # corners around their mean, faces
        self._frames: list[tuple[NDArray[np.int64], Singles, Mapping[str, Singles]]] = []
        self._last: Sequence[Mesh] | None = None

    def add(self, bodies: Bodies, values: Mapping[str, Singles]) -> None:
        """Where they are at the next time; some may have come, and some gone."""
        ids = np.asarray(bodies.data.get("id", np.unique(bodies.numbers)), np.int64)
        if not self._frames or not np.array_equal(ids, self._frames[-1][0]):
            self._meet(ids, bodies)
        if len(bodies.vertices) != len(self._local) or not np.isfinite(bodies.vertices).all():
            raise InputError(
                "frames: found one with other rigid bodies, expected those of the first frame, at finite places"
            )
        self._frames.append((ids, self._poses(bodies.vertices), values))

    def _meet(self, ids: NDArray[np.int64], bodies: Bodies) -> None:
        """From now on there are these."""
        parts = np.split(bodies.faces, np.flatnonzero(np.diff(bodies.numbers)) + 1)[: len(ids)]
        firsts = [int(faces.min()) for faces in parts]
        for number, faces, first, last in zip(ids.tolist(), parts, firsts, [*firsts[1:], None], strict=False):
            if number not in self._parts:
                corners = bodies.vertices[first:last]
                self._parts[number] = corners - corners.mean(axis=0), (faces - first).astype(np.uint32)
        local = [self._parts[number][0] for number in ids.tolist()]
        self._counts = np.array([len(corners) for corners in local], np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._local = np.concatenate([np.empty((0, 3)), *local])

    def _poses(self, vertices: NDArray[Any]) -> Singles:
        poses = np.tile(np.eye(4, dtype=np.float32), (len(self._counts), 1, 1))
        if len(poses):
            means = np.add.reduceat(vertices, self._starts) / self._counts[:, None]
            now = vertices - np.repeat(means, self._counts, axis=0)
            products = np.add.reduceat(self._local[:, :, None] * now[:, None, :], self._starts)
            u, _, vt = np.linalg.svd(products)
            u[:, :, 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[:, None]
            poses[:, :3, :3] = np.swapaxes(u @ vt, 1, 2)
            poses[:, :3, 3] = means
        return poses

    def add_meshes(self, meshes: Sequence[Mesh]) -> None:
        """The same, of obstacles; most never move, and are given as the same meshes again."""
        if meshes is self._last:
            self._frames.append(self._frames[-1])
        else:
            self._last = meshes
            whole = Mesh.concatenate(meshes)
            numbers = np.repeat(np.arange(len(meshes)), [len(mesh.faces) for mesh in meshes])
            self.add(Bodies(whole.vertices, whole.faces.astype(np.int64), numbers, {}), {})

    def movers(self) -> Movers | None:
        """The same bodies at all times, tiny where they are not there; None if there never is one."""
        every = np.array(sorted(self._parts), np.int64)
        if not len(every):
            return None
        frames = self._frames[:1] if all(frame is self._frames[0] for frame in self._frames) else self._frames
        rows = [np.searchsorted(every, ids) for ids, *_ in frames]
        places, shown = np.empty((len(every), 4, 4), np.float32), []
        for those, (_, poses, _) in zip(reversed(rows), reversed(frames), strict=True):
            places[those] = poses  # in the end, where each is first
        for those, (_, poses, _) in zip(rows, frames, strict=True):
            places[those] = poses
            gone = np.setdiff1d(np.arange(len(every)), those)
            shown.append(places.copy())
            shown[-1][gone, :3, :3] *= _TINY
        values = {
            name: [_spread(columns[name], those, len(every)) for those, (*_, columns) in zip(rows, frames, strict=True)]
            for name in frames[0][2]
        }
        return Movers(
            every.tolist(), [(a.astype(np.float32), b) for _, (a, b) in sorted(self._parts.items())], shown, values
        )
