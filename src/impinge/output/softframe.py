"""What soft bodies, and the obstacles between them, look like at one moment: plain arrays, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.output.arrays import read_arrays
from impinge.shapes.mesh import Mesh

__all__ = ["SoftFrame", "body_names", "join_data"]

_TAKEN = {"radius", "body"}


@dataclass(frozen=True, eq=False)
class SoftFrame:
    """Cloths as triangles, cables as lines with a radius, and obstacles, at one time.

    Parameters
    ----------
    time : float, s
    positions : (n, 3) float64, m
        Nodes of all soft bodies.
    faces : (f, 3) integers
        Triangles of cloths, as rows of `positions`.
    cables : sequence of (k,) integers
        Nodes of each cable from one end to the other; a closed one ends with the node that it begins with.
    radii : float or (n,) float64, m
        Half the thickness: how far matter reaches around each node.
    bodies : int or (n,) integers
        Number of the body that each node belongs to, from 0.
    point_data : mapping of names to (n,) or (n, k) numbers
        What else is known of every node, e.g. "velocity" and "contact_force".
    edge_data : mapping of names to (e,) or (e, k) numbers
        What is known of every edge of the cables, e.g. "strain", in the order of `edges`.
    face_data : mapping of names to (f,) or (f, k) numbers
        What is known of every face. A name may be in `edge_data` too.
    obstacles : sequence of Mesh, or whatever Mesh.of takes
        Where they are at this time.
    """

    time: float
    positions: NDArray[np.float64]
    faces: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 3), np.int32))
    cables: Sequence[NDArray[np.int32]] = ()
    radii: NDArray[np.float64] = field(default_factory=lambda: np.zeros(()))
    bodies: NDArray[np.int64] = field(default_factory=lambda: np.zeros((), np.int64))
    point_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    edge_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    face_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    obstacles: Sequence[Mesh] = ()

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {"time": _check.not_negative("time", self.time)}
        points = _check.vectors("positions", self.positions)
        count = len(points)
        checked["positions"] = points
        checked["faces"] = _check.indices("faces", self.faces, 3, count, "positions")
        checked["cables"] = tuple(_read_cable(f"cables[{i}]", nodes, count) for i, nodes in enumerate(self.cables))
        checked["radii"] = _check.sizes("radii", self.radii, count, "positions")
        checked["bodies"] = _read_bodies(self.bodies, count)
        edges = sum(len(nodes) - 1 for nodes in checked["cables"])
        checked["point_data"] = read_arrays(self.point_data, count, "positions", _TAKEN)
        checked["edge_data"] = read_arrays(self.edge_data, edges, "edges of cables", _TAKEN)
        checked["face_data"] = read_arrays(self.face_data, len(checked["faces"]), "faces", _TAKEN)
        for name in set(checked["edge_data"]) & set(checked["face_data"]):
            found, wanted = (checked[key][name].shape[1:] for key in ("edge_data", "face_data"))
            if found != wanted:
                raise InputError(f"edge_data: found {name!r} of columns {found}, expected {wanted} as in face_data")
        checked["obstacles"] = tuple(Mesh.of(mesh, f"obstacles[{i}]") for i, mesh in enumerate(self.obstacles))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @cached_property
    def edges(self) -> NDArray[np.int32]:
        """(e, 2): ends of the edges of all cables, one cable after the other."""
        pairs = [np.column_stack([nodes[:-1], nodes[1:]]) for nodes in self.cables]
        return np.concatenate([np.empty((0, 2), np.int32), *pairs])

    def node_values(self, name: str) -> NDArray[np.float64]:
        """(n,): what is known by this name, at the nodes.

        Vectors give their lengths; edges and faces give the mean of what is known around a node, NaN where there is
        nothing.
        """
        if name == "radius":
            return self.radii
        if name == "body":
            return self.bodies.astype(np.float64)
        if name in self.point_data:
            return _lengths(self.point_data[name])
        if name not in self.edge_data and name not in self.face_data:
            known = ["radius", "body", *self.point_data, *dict.fromkeys([*self.edge_data, *self.face_data])]
            raise InputError(f"values: found {name!r}, expected one of {', '.join(known)}")
        total, parts = np.zeros(len(self.positions)), np.zeros(len(self.positions))
        for cells, data in ((self.edges, self.edge_data), (self.faces, self.face_data)):
            if name in data:
                corners = cells.shape[1]
                values = np.repeat(_lengths(data[name]), corners)
                total += np.bincount(cells.ravel(), values, minlength=len(total))
                parts += np.bincount(cells.ravel(), minlength=len(total))
        return np.divide(total, parts, out=np.full(len(total), np.nan), where=parts > 0)


def _read_cable(name: str, nodes: Any, count: int) -> NDArray[np.int32]:
    column = _check.numbers(name, nodes, "integers of shape (k,)")
    if column.ndim != 1 or len(column) < 2:
        raise InputError(f"{name}: found shape {column.shape}, expected (k,), at least two rows of positions")
    return _check.indices(name, column[:, None], 1, count, "positions")[:, 0]


def _read_bodies(bodies: Any, count: int) -> NDArray[np.int64]:
    wanted = f"one integer or {count}, numbers of bodies from 0 to {max(count - 1, 0)}"
    array = _check.numbers("bodies", bodies, wanted)
    if array.ndim == 0:
        array = np.full(count, array)
    if array.shape != (count,) or (count and array.dtype.kind == "f"):
        raise InputError(f"bodies: found {array.dtype} of shape {array.shape}, expected {wanted}")
    if count and not (array.min() >= 0 and array.max() < count):
        row = int(np.flatnonzero((array < 0) | (array >= count))[0])
        raise InputError(f"bodies: row {row} is {array[row]}, expected {wanted}")
    return np.ascontiguousarray(array, np.int64)


def _lengths(rows: NDArray[Any]) -> NDArray[np.float64]:
    numbers = rows.astype(np.float64)
    return numbers if numbers.ndim == 1 else np.asarray(np.linalg.norm(numbers, axis=1))


def join_data(
    first: Mapping[str, NDArray[Any]], second: Mapping[str, NDArray[Any]], counts: tuple[int, int]
) -> dict[str, NDArray[Any]]:
    """Rows of the first, then of the second, by name; `counts` rows each, NaN where a name is in one of them only."""
    result = {}
    for name in dict.fromkeys([*first, *second]):
        found = first.get(name), second.get(name)
        columns = next(array.shape[1:] for array in found if array is not None)
        parts = [
            np.full((count, *columns), np.nan) if array is None else array
            for array, count in zip(found, counts, strict=True)
        ]
        result[name] = np.concatenate([part for part in parts if len(part)] or parts)  # NaN would make integers real
    return result


def body_names(frame: SoftFrame, names: Sequence[str]) -> list[str]:
    """A name for each body: those given, in signs that all formats take, and body_2 after its number for the rest."""
    result: list[str] = []
    for body in range(int(frame.bodies.max(initial=-1)) + 1):
        given = str(names[body]) if body < len(names) else ""
        name = "".join(c if c.isprintable() and not c.isspace() else "_" for c in given) or f"body_{body}"
        result.append(name if name not in result else f"{name}_{body}")
    return result
