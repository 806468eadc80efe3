"""The judge of runs of cables and cloth: what the stored states of a world say about it, and nothing else.

Between two states that follow each other every vertex, of bodies and of obstacles, moves in a straight line. The motion
is free if no vertex meets a face and no edge an edge that it has no vertex in common with; pairs of obstacles do not
count. Nothing can be missed:

- A pair whose swept boxes are apart cannot meet. `ccd.candidates` compares their sides, which are doubles, without
  rounding, so it leaves out no other pair.
- A pair is apart at all times if one plane's direction n parts it at the start and at the end, with the same of the two
  on the same side: for every corner p of the one and q of the other (p − q)·n is linear in t. In doubles the products
  are off by less than `_ROUNDING` of the sum of their sizes; only what is farther apart than that is left out.
- All others are handed to `ccd.exact_is_free`, pair by pair, which decides in integers.

So a run that is judged to be free is free, unless the exact judge is wrong. A pair that shares a vertex cannot be
judged by its motion; `ccd.self_intersections` looks at these, at every state. And a linking number that stays tells
that closed cables have not passed through each other, by an integral that knows nothing of motions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge import ccd
from impinge.run.soft import SoftWorld

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_ROUNDING = 64 * np.finfo(np.float64).eps  # of a sum of three products, each of a rounded difference: 8 would do
_WHOLE = 1e-6  # how far from a whole number a linking number may be found


@dataclass
class Judge:
    """Looks at a world again and again, after each of its steps.

    Attributes
    ----------
    failures : list of str
        What is wrong, in words.
    judged : int
        Pairs that the exact judge was asked about.
    looks : int
        Pairs of states that have been judged.
    """

    world: SoftWorld
    failures: list[str] = field(default_factory=list)
    judged: int = 0
    looks: int = 0

    def __post_init__(self) -> None:
        self._closed = [cable[:-1] for cable in self.world.frame().cables if cable[0] == cable[-1]]
        self._x = self.world.vertices()
        self._links = self._linking_numbers()
        self._check_state()

    def look(self) -> None:
        """Judge the motion since the last look."""
        x0, self._x = self._x, self.world.vertices()
        self.looks += 1
        surface, soft = self.world.surface, len(self.world.positions)
        doubtful = undecided(x0, self._x, surface.edges, surface.faces, soft)
        self.judged += len(doubtful)
        for pair in doubtful:
            if not pair.is_free(x0, self._x):
                self._fail(f"{pair} meet on the way")
        self._check_state()
        links = self._linking_numbers()
        if links != self._links:
            self._fail(f"linking numbers are {links}, and were {self._links}")

    def run(self, steps: int) -> Judge:
        """Take steps, and look after each of them."""
        for _ in range(steps):
            self.world.step()
            self.look()
        return self

    def _fail(self, what: str) -> None:
        self.failures.append(f"step {self.world.steps} to t = {self.world.time:g}: {what}")

    def _check_state(self) -> None:
        """What passes through each other now, but for obstacles among themselves."""
        surface, soft = self.world.surface, len(self.world.positions)
        faces, edge_faces, edges = ccd.self_intersections(self._x, surface.edges, surface.faces)
        for pairs, one, other in (
            (faces, surface.faces, surface.faces),
            (edge_faces, surface.edges, surface.faces),
            (edges, surface.edges, surface.edges),
        ):
            for i, j in pairs:
                if min(one[i].min(), other[j].min()) < soft:
                    self._fail(f"{one[i].tolist()} and {other[j].tolist()} pass through each other")

    def _linking_numbers(self) -> list[int]:
        """Of all pairs of closed cables."""
        found = []
        for one, other in itertools.combinations(self._closed, 2):
            number = linking_number(self._x[one], self._x[other])
            if abs(number - round(number)) > _WHOLE:
                self._fail(f"a linking number is {number}, which is not whole")
            found.append(round(number))
        return found


@dataclass(frozen=True)
class Pair:
    """A vertex and a face, or two edges, by their four corners."""

    corners: Ints
    split: int  # that many of them are the first

    def __str__(self) -> str:
        return f"{self.corners[: self.split].tolist()} and {self.corners[self.split :].tolist()}"

    def is_free(self, x0: Floats, x1: Floats) -> bool:
        """Whether they do not meet, exactly."""
        edges, faces = ([[0, 1], [2, 3]], None) if self.split == 2 else (np.empty((0, 2), int), [[1, 2, 3]])
        return ccd.exact_is_free(x0[self.corners], x1[self.corners], edges, faces)


def undecided(x0: Floats, x1: Floats, edges: Ints, faces: Ints, soft: int) -> list[Pair]:
    """Pairs that may meet while all vertices move: all others are certain not to. The first `soft` are of bodies."""
    labels = np.append(np.arange(1, 1 + soft), np.zeros(len(x0) - soft, int))
    near = ccd.candidates(x0, x1, edges, faces, bodies=labels)
    at_faces = np.column_stack([near.vertex_faces[:, 0], faces[near.vertex_faces[:, 1]]])
    of_edges = np.column_stack([edges[near.edge_edges[:, 0]], edges[near.edge_edges[:, 1]]])
    return [
        Pair(corners, split)
        for split, every in ((1, at_faces), (2, of_edges))
        for corners in every[~parted(x0, x1, every, split)]
    ]


def parted(x0: Floats, x1: Floats, corners: Ints, split: int) -> NDArray[np.bool_]:
    """Which pairs, of `split` corners and of the others, are certainly apart at all times.

    Directions that are tried: between the middles of both, across the pair, and both of these turned to where it is at
    the end. Any direction proves; these do so often.
    """
    first = tuple(x[corners[:, :split]] for x in (x0, x1))
    second = tuple(x[corners[:, split:]] for x in (x0, x1))
    done = np.zeros(len(corners), np.bool_)
    for normal in _directions(first, second, split):
        beyond = [_least_apart(p, q, normal) for p, q in zip(first, second, strict=True)]
        before = [_least_apart(q, p, normal) for p, q in zip(first, second, strict=True)]
        done |= (beyond[0] & beyond[1]) | (before[0] & before[1])
    return done


def _least_apart(high: Floats, low: Floats, normal: Floats) -> NDArray[np.bool_]:
    """Whether all corners of the one are beyond all of the other along the normal, whatever rounding does."""
    apart = high[:, :, None] - low[:, None, :]
    products = apart * normal[:, None, None]
    return (products.sum(axis=-1) > _ROUNDING * np.abs(products).sum(axis=-1)).all(axis=(1, 2))


def _directions(first: Any, second: Any, split: int) -> Iterator[Floats]:
    for p, q in zip(first, second, strict=True):
        yield p.mean(axis=1) - q.mean(axis=1)
        along = p[:, 1] - p[:, 0] if split == 2 else q[:, 2] - q[:, 0]
        yield np.cross(along, q[:, 1] - q[:, 0])
    # Across the one edge or side, towards the other: for pairs that are near their borders.
    for p, q in zip(first, second, strict=True):
        towards = p.mean(axis=1) - q.mean(axis=1)
        for one, other in itertools.combinations(range(q.shape[1]), 2):
            yield _without(towards, q[:, one] - q[:, other])
        if split == 2:
            yield _without(towards, p[:, 1] - p[:, 0])


def _without(vector: Floats, along: Floats) -> Floats:
    """The part of a vector at right angles to another."""
    size_sq = np.maximum((along * along).sum(axis=1), np.finfo(np.float64).tiny)
    return vector - ((vector * along).sum(axis=1) / size_sq)[:, None] * along


def linking_number(one: Floats, other: Floats) -> float:
    """How often a closed polygon winds around another: Gauss' integral, by the solid angles of all pairs of sides."""
    a, c = one[:, None], other[None]
    b, d = np.roll(one, -1, axis=0)[:, None], np.roll(other, -1, axis=0)[None]
    normals = [np.cross(p, q) for p, q in itertools.pairwise((c - a, d - a, d - b, c - b, c - a))]
    sizes = [np.linalg.norm(normal, axis=-1, keepdims=True) for normal in normals]
    unit = [normal / np.maximum(size, np.finfo(np.float64).tiny) for normal, size in zip(normals, sizes, strict=True)]
    sines = [np.clip((p * q).sum(axis=-1), -1, 1) for p, q in itertools.pairwise([*unit, unit[0]])]
    side = np.sign((np.cross(d - c, b - a) * (c - a)).sum(axis=-1))
    return float((side * np.arcsin(sines).sum(axis=0)).sum() / (4 * np.pi))
