"""What comes into contact in a step, and first; and what is in contact at one time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check, _jit
from impinge.ccd._times import EDGE_EDGE, VERTEX_TRIANGLE
from impinge.ccd.candidates import Candidates, find_candidates
from impinge.ccd.moving import Floats, Ints, Moving, in_range, read_moving
from impinge.ccd.normal import normal_of
from impinge.ccd.queries import earliest, find_times, flat_times, upright
from impinge.facts import html_table

__all__ = ["Contact", "Contacts", "contacts", "first_contact", "is_free", "touching"]


class Contact(NamedTuple):
    """The first contact of a motion."""

    time: float  # from 0 to 1
    kind: str  # "vertex-face", "edge-edge", or "vertex-edge" in the plane
    pair: tuple[int, int]  # numbers of the two
    normal: Floats  # unit vector from the second to the first; 0 if it is not defined

    def _repr_html_(self) -> str:
        what = f"{self.kind} {self.pair[0]}, {self.pair[1]}"
        return html_table("Contact", [("time", self.time), ("between", what), ("normal", self.normal)])


class Contacts(NamedTuple):
    """All contacts of a motion."""

    pairs: Candidates
    times: tuple[Floats, Floats, Floats]  # of `vertex_faces`, `edge_edges` and `vertex_edges`

    @property
    def total(self) -> int:
        """Number of contacts."""
        return self.pairs.total

    def _repr_html_(self) -> str:
        kinds = zip(self.pairs._fields, self.pairs, self.times, strict=True)
        said = [(name.replace("_", "-"), f"{len(pairs):,}, the first at {times.min():.6g}")
                for name, pairs, times in kinds if len(pairs)]  # fmt: skip
        return html_table("Contacts", [("in all", self.total), *said])


def first_contact(
    x0: ArrayLike,
    x1: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float = 0.0,
    bodies: ArrayLike | None = None,
    threads: int | None = None,
) -> Contact | None:
    """The earliest contact while all vertices move linearly from x0 to x1; None if the motion is free.

    Parameters
    ----------
    x0, x1, edges, faces, gap, bodies, threads
        As for `candidates`. Contact is a distance of at most `gap` between a vertex and a face, or two edges, that have
        no vertex in common.

    Returns
    -------
    Contact or None
        `time`, never later than the truth; `kind` and `pair`, what touches; `normal`, a unit vector from the second of
        the pair to the first.

    Examples
    --------
    >>> from impinge import ccd
    >>> x0 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1]]
    >>> x1 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1]]
    >>> contact = ccd.first_contact(x0, x1, faces=[[0, 1, 2]])
    >>> contact.kind, contact.pair, round(contact.time, 9), contact.normal
    ('vertex-face', (3, 0), 0.5, array([0., 0., 1.]))
    """
    moving, gap = read_moving(x0, x1, edges, faces, bodies), _check.not_negative("gap", gap)
    with _jit.threads(threads):
        return _first(moving, gap)


def is_free(
    x0: ArrayLike,
    x1: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float = 0.0,
    bodies: ArrayLike | None = None,
    threads: int | None = None,
) -> bool:
    """Whether nothing touches while all vertices move linearly from x0 to x1.

    True is certain. False means a contact, or one missed by no more than rounding (about 1e-12 of the primitives and
    their motion). `exact_is_free` decides that too, slowly. Faces that pass through each other at the start already
    may do so without a contact: `self_intersections` finds them.

    Parameters
    ----------
    x0, x1, edges, faces, gap, bodies, threads
        As for `first_contact`.

    Examples
    --------
    >>> from impinge import ccd
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1], [3, 0.5]]
    >>> ccd.is_free(square, [[0, 0], [1, 0], [1, 1], [0, 1], [1.5, 0.5]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    True
    """
    moving, gap = read_moving(x0, x1, edges, faces, bodies), _check.not_negative("gap", gap)
    with _jit.threads(threads):
        return _earliest(moving, gap)[0] == math.inf


def contacts(
    x0: ArrayLike,
    x1: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float = 0.0,
    bodies: ArrayLike | None = None,
    threads: int | None = None,
) -> Contacts:
    """All pairs that come into contact while all vertices move linearly from x0 to x1, and when they first do.

    Parameters
    ----------
    x0, x1, edges, faces, gap, bodies, threads
        As for `first_contact`.

    Returns
    -------
    Contacts
        `pairs` as of `candidates`, ascending, and `times` of each.

    Examples
    --------
    >>> from impinge import ccd
    >>> x0 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1], [0.1, 0.1, 4]]
    >>> x1 = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.1, 0.1, -1]]
    >>> found = ccd.contacts(x0, x1, faces=[[0, 1, 2]])
    >>> found.pairs.vertex_faces[:, 0], found.times[0].round(9)
    (array([3, 4], dtype=int32), array([0.5, 0.8]))
    """
    moving, gap = read_moving(x0, x1, edges, faces, bodies), _check.not_negative("gap", gap)
    with _jit.threads(threads):
        near = find_candidates(moving, gap)
        times = _times_of(moving, near, gap)
    hits = [_ascending(pairs, np.isfinite(t)) for pairs, t in zip(near, times, strict=True)]
    pairs = Candidates(*(pairs[hit] for pairs, hit in zip(near, hits, strict=True)))
    return Contacts(pairs, (times[0][hits[0]], times[1][hits[1]], times[2][hits[2]]))


def touching(
    x: ArrayLike,
    edges: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    gap: float,
    bodies: ArrayLike | None = None,
    threads: int | None = None,
) -> Candidates:
    """All pairs at a distance of at most `gap` at one time: discrete detection, which misses what passes in between.

    Parameters
    ----------
    x : (n, 3) or (n, 2) float64, m
    edges, faces, gap, bodies, threads
        As for `first_contact`.

    Returns
    -------
    Candidates

    Examples
    --------
    >>> from impinge import ccd
    >>> x = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.01]]
    >>> ccd.touching(x, faces=[[0, 1, 2]], gap=0.02).vertex_faces
    array([[3, 0]], dtype=int32)
    """
    return contacts(x, x, edges, faces, gap=gap, bodies=bodies, threads=threads).pairs


def _ascending(pairs: Ints, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Places of the wanted pairs, in the order of their numbers."""
    places = np.flatnonzero(wanted)
    return places[np.lexsort(pairs[places].T[::-1])]


def _times_of(moving: Moving, near: Candidates, gap: float) -> tuple[Floats, Floats, Floats]:
    """Times of all pairs."""
    gap, x0, x1 = in_range(gap, moving.x0, moving.x1)
    return (
        find_times(VERTEX_TRIANGLE, x0, x1, near.vertex_faces, moving.faces, gap),
        find_times(EDGE_EDGE, x0, x1, near.edge_edges, moving.edges, gap),
        flat_times(*_flat_queries(moving._replace(x0=x0, x1=x1), near.vertex_edges), gap),
    )


def _flat_queries(moving: Moving, pairs: Ints) -> tuple[Floats, Floats]:
    """Points and segments, (n, 3, 2), at the start and at the end."""
    corners = np.column_stack([pairs[:, 0], moving.edges[pairs[:, 1]]])
    return moving.x0[corners, :2], moving.x1[corners, :2]


def _earliest(moving: Moving, gap: float) -> tuple[float, str, tuple[int, int]]:
    """Time, kind and pair of the earliest contact; the time is inf if there is none."""
    near = find_candidates(moving, gap)
    gap, x0, x1 = in_range(gap, moving.x0, moving.x1)
    first = (math.inf, "", (-1, -1))
    if moving.is_flat:
        times = flat_times(*_flat_queries(moving._replace(x0=x0, x1=x1), near.vertex_edges), gap)
        if len(times) and times.min() < math.inf:
            first = float(times.min()), "vertex-edge", _pair(near.vertex_edges, int(times.argmin()))
        return first
    for kind, name, pairs, corners in (
        (VERTEX_TRIANGLE, "vertex-face", near.vertex_faces, moving.faces),
        (EDGE_EDGE, "edge-edge", near.edge_edges, moving.edges),
    ):
        time, at = earliest(kind, x0, x1, pairs, corners, gap, min(first[0], 1.0))
        if time < first[0]:
            first = time, name, _pair(pairs, at)
    return first


def _pair(pairs: Ints, at: int) -> tuple[int, int]:
    return int(pairs[at, 0]), int(pairs[at, 1])


def _first(moving: Moving, gap: float) -> Contact | None:
    time, kind, (i, j) = _earliest(moving, gap)
    if time == math.inf:
        return None
    if moving.is_flat:
        start, end = upright(*_flat_queries(moving, np.array([[i, j]], np.int32)))
        return Contact(time, kind, (i, j), normal_of(EDGE_EDGE, start[0], end[0], time)[:2])
    if kind == "vertex-face":
        corners = np.array([i, *moving.faces[j]])
        return Contact(time, kind, (i, j), normal_of(VERTEX_TRIANGLE, moving.x0[corners], moving.x1[corners], time))
    corners = np.array([*moving.edges[i], *moving.edges[j]])
    return Contact(time, kind, (i, j), normal_of(EDGE_EDGE, moving.x0[corners], moving.x1[corners], time))
