"""What is wrong with a mesh, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from impinge.shapes import _edges

__all__ = ["Problem", "Problems"]


class Problem(NamedTuple):
    """One kind of defect of a mesh.

    Attributes
    ----------
    kind : str
        ``open edges``, ``non-manifold edges``, ``flipped neighbours``, ``pinched vertices``,
        ``zero-area faces``, ``duplicate faces``, ``unreferenced vertices`` or ``inside out``.
    count : int
        How many there are.
    examples : tuple of tuples of int
        The first few: (vertex, vertex, face) for an edge, (face, face) for neighbours and duplicates,
        (face,) or (vertex,) otherwise.
    text : str
        The same in words.
    """

    kind: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    examples: tuple[tuple[int, ...], ...]
    text: str

    def __str__(self) -> str:
        return self.text


class Problems(Sequence[Problem]):
    """The defects of a mesh, one entry per kind; empty, and so false, if none were found."""

    def __init__(self, found: Sequence[Problem]) -> None:
        self._found = tuple(found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Problem]: ...
    def __getitem__(self, index: int | slice) -> Problem | Sequence[Problem]:
        return self._found[index]

    def __str__(self) -> str:
        return "; ".join(map(str, self._found)) if self._found else "no problems found"

    def __repr__(self) -> str:
        return f"<Problems: {self}>"


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def describe(
    faces: NDArray[np.int32],
    counts: NDArray[np.int64],
    examples: NDArray[np.int64],
    negative_volume: float | None,
) -> Problems:
    """Words for what the kernels counted; `faces` as the user gave them."""

    def shown(kind: int) -> NDArray[np.int64]:
        return examples[kind, : min(int(counts[kind]), _edges.EXAMPLES)]

    def edges(kind: int) -> tuple[tuple[int, ...], ...]:
        return tuple((int(faces[h // 3, h % 3]), int(faces[h // 3, (h + 1) % 3]), int(h // 3)) for h, _ in shown(kind))

    def rows(kind: int, columns: int, divisor: int = 1) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(int(i) // divisor for i in row[:columns]) for row in shown(kind))

    def at(edge: tuple[int, ...]) -> str:
        return f"(first: vertices {edge[0]}–{edge[1]} of face {edge[2]})"

    found = []
    if n := int(counts[_edges.OPEN]):
        e = edges(_edges.OPEN)
        found.append(Problem("open edges", n, e, f"{_many(n, 'open edge', 'open edges')} {at(e[0])}"))
    if n := int(counts[_edges.CROWDED]):
        e = edges(_edges.CROWDED)
        words = f"{_many(n, 'edge', 'edges')} with more than two faces {at(e[0])}"
        if unbalanced := int(counts[_edges.UNBALANCED]):
            words += f", {unbalanced:,} of them not used equally often in both directions"
        found.append(Problem("non-manifold edges", n, e, words))
    if n := int(counts[_edges.FLIPPED]):
        e = rows(_edges.FLIPPED, 2, divisor=3)
        words = f"{_many(n, 'pair', 'pairs')} of neighbouring faces that are turned differently"
        words += f" (first: faces {e[0][0]} and {e[0][1]})"
        found.append(Problem("flipped neighbours", n, e, words))
    if n := int(counts[_edges.PINCHED]):
        e = rows(_edges.PINCHED, 1)
        words = f"{_many(n, 'vertex', 'vertices')} where parts of the surface touch in a point only"
        found.append(Problem("pinched vertices", n, e, f"{words} (first: vertex {e[0][0]})"))
    if n := int(counts[_edges.FLAT]):
        e = rows(_edges.FLAT, 1)
        words = f"{_many(n, 'face', 'faces')} without area (first: face {e[0][0]})"
        found.append(Problem("zero-area faces", n, e, words))
    if n := int(counts[_edges.DUPLICATE]):
        e = rows(_edges.DUPLICATE, 2)
        words = f"{_many(n, 'duplicate face', 'duplicate faces')}"
        found.append(Problem("duplicate faces", n, e, f"{words} (first: face {e[0][0]} repeats {e[0][1]})"))
    if n := int(counts[_edges.UNUSED]):
        e = rows(_edges.UNUSED, 1)
        words = f"{_many(n, 'vertex', 'vertices')} used by no face (first: vertex {e[0][0]})"
        found.append(Problem("unreferenced vertices", n, e, words))
    if negative_volume is not None:
        words = f"inside out: the faces are clockwise seen from outside (volume {negative_volume:.6g})"
        found.append(Problem("inside out", 1, (), words))
    return Problems(found)
