"""All that can touch: vertices, edges and faces of soft bodies, and after them those of obstacles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from impinge import _check
from impinge.bodies.soft import _surface
from impinge.bodies.soft.features import Features
from impinge.bodies.soft.parts import Floats, Ints
from impinge.ccd._times import EDGE_EDGE, VERTEX_TRIANGLE
from impinge.ccd.contacts import contacts
from impinge.ccd.intersections import self_intersections
from impinge.ccd.moving import edges_of
from impinge.ccd.queries import find_times
from impinge.errors import InputError
from impinge.facts import counted
from impinge.response.contact_rows import Pairs, pairs_of

__all__ = ["Skin", "Surface"]


class Skin(NamedTuple):
    """What a body or an obstacle touches with."""

    positions: Floats  # (n, 3) at rest, m
    edges: Ints  # (m, 2)
    faces: Ints  # (k, 3)
    radius: float  # half of the distance that it keeps from its like, m


class Surface:
    """Vertices, edges and faces in one numbering: soft bodies first, then obstacles, which do not touch each other.

    Parameters
    ----------
    soft, obstacles : sequences of Skin

    Attributes
    ----------
    edges, faces : (m, 2), (k, 3) int32
    labels : (vertices,) int
        Pairs with equal labels do not touch: those of obstacles.
    gap : float, m
        The largest distance that any pair keeps.
    """

    def __init__(self, soft: Sequence[Skin], obstacles: Sequence[Skin]) -> None:
        skins = [*soft, *obstacles]
        sizes = [len(skin.positions) for skin in skins]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self.count, self._soft, self._first = int(first[len(soft)]), len(soft), first
        self.edges = _stack([skin.edges + at for skin, at in zip(skins, first[:-1], strict=True)], 2)
        self.faces = _stack([skin.faces + at for skin, at in zip(skins, first[:-1], strict=True)], 3)
        self._rest = np.concatenate([skin.positions for skin in skins]) if skins else np.empty((0, 3))
        self._radii = np.repeat([skin.radius for skin in skins], sizes) if skins else np.empty(0)
        self.body_of = np.repeat(np.arange(len(skins)), sizes)
        self.labels = np.arange(1, first[-1] + 1)
        self.labels[self.count :] = 0
        self.gap = 2.0 * float(self._radii.max(initial=0.0))
        self.features = Features(self._rest, self.body_of, self.edges, self.faces, self.count)

    def near(self, x0: Floats, x1: Floats, gap: float | None = None) -> Pairs:
        """Pairs that come as near as `gap` while all vertices move linearly."""
        gap = self.gap if gap is None else gap
        found = contacts(x0, x1, self.edges, self.faces, gap=gap, bodies=self.labels)
        return pairs_of(found.pairs, self.edges, self.faces)

    def times(self, x0: Floats, x1: Floats, pairs: Pairs, gap: float) -> Floats:
        """When pairs first come as near as `gap`, from 0 to 1; inf if they do not. Never later than the truth."""
        times = np.full(len(pairs.kinds), np.inf)
        for kind, corners in ((VERTEX_TRIANGLE, self.faces), (EDGE_EDGE, self.edges)):
            which = np.flatnonzero(pairs.kinds == kind)
            if len(which):
                times[which] = find_times(kind, x0, x1, pairs.numbers[which], corners, gap)
        return times

    def obstacles(self) -> Iterator[tuple[slice, Ints]]:
        """Vertices of each obstacle, and its faces in their numbering."""
        for first, stop in itertools.pairwise(self._first[self._soft :]):
            faces = self.faces[(self.faces[:, 0] >= first) & (self.faces[:, 0] < stop)]
            yield slice(first, stop), faces - first

    def is_free(self, x0: Floats, x1: Floats) -> bool:
        """Whether nothing touches while all vertices move linearly; true is certain."""
        return not len(self.near(x0, x1, 0.0).kinds)

    def check_start(self, x: Floats, argument: str = "start") -> None:
        """Raise an error that names what touches or passes through each other, and the argument that is to blame."""
        touching = self.near(x, x, 0.0)
        if len(touching.kinds):
            raise InputError(
                f"{argument}: {self.describe(touching, 0)} touch; {counted(len(touching.kinds), 'such pair')} in all"
            )
        crossing = self_intersections(x, self.edges, self.faces)
        kinds = ("face", self.faces, "face", self.faces), ("edge", self.edges, "face", self.faces)
        for pairs, (one, of, other, others) in zip(crossing, kinds, strict=False):
            for i, j in pairs:
                if min(of[i, 0], others[j, 0]) < self.count:
                    names = f"{one} {self._name(of[i])} and {other} {self._name(others[j])}"
                    raise InputError(
                        f"{argument}: {names} pass through each other; {counted(len(pairs), 'such pair')} in all"
                    )

    def names(self, pairs: Pairs) -> list[str]:
        """Up to twenty pairs in words."""
        return [self.describe(pairs, k) for k in range(min(len(pairs.kinds), 20))]

    def describe(self, pairs: Pairs, k: int) -> str:
        """A pair in words."""
        corners = pairs.corners[k]
        if pairs.kinds[k] == EDGE_EDGE:
            return f"edge {self._name(corners[:2])} and edge {self._name(corners[2:])}"
        return f"vertex {self._name(corners[:1])} and face {self._name(corners[1:])}"

    def _name(self, corners: Ints) -> str:
        body = int(self.body_of[corners[0]])
        numbers = ", ".join(str(int(corner - self._first[body])) for corner in corners)
        whose = f"body {body}" if body < self._soft else f"obstacle {body - self._soft}"
        return f"({numbers}) of {whose}"

    def distances(self, pairs: Pairs) -> Floats:
        """What pairs keep between them: the sum of radii, or less if they are nearer at rest."""
        return self.distances_and_spares(pairs)[0]

    def distances_and_spares(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """What pairs keep between them, and by how much they are farther apart at rest; inf for much."""
        distances, spares = np.empty(len(pairs.kinds)), np.empty(len(pairs.kinds))
        at_rest = self._rest, self._radii, self.body_of
        _surface.find_distances(len(distances), *at_rest, pairs.kinds, pairs.corners, distances, spares)
        return distances, spares


def _stack(arrays: Sequence[Ints], columns: int) -> Ints:
    empty = np.empty((0, columns), np.int32)
    return _check.frozen(np.concatenate([empty, *arrays]).astype(np.int32))


def skin_of(vertices: Floats, faces: Ints, radius: float) -> Skin:
    """The skin of a mesh."""
    return Skin(vertices, edges_of(faces), faces, radius)
