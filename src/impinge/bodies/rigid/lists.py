"""Which bodies may touch which, and with what: lists that are good until something has moved too far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _planes
from impinge.bodies._obstacles import SHIFT
from impinge.bodies.rigid import _edges, _near, _touch
from impinge.bodies.rigid._layout import EDGES as EDGE_RANGE
from impinge.bodies.rigid._layout import HIGH, LOW, POINTS
from impinge.bodies.rigid.shape import Shapes
from impinge.broad.once import box_pairs

__all__ = ["Listed", "Lists", "world_boxes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Listed(NamedTuple):
    """Points and edges of all pairs, one after the other, and what they remember."""

    points: NDArray[np.int32]  # (n,), of the shape
    point_slots: NDArray[np.int32]  # a near triangle
    points_seen: Floats  # (n, 4): where a point was last, in the frame of the other, and how far from it
    points_behind: NDArray[np.uint8]  # whether it has passed through an obstacle
    points_known: NDArray[np.uint8]
    point_history: Floats  # (n, 4): tangential spring, energy in it
    edges: NDArray[np.int32]  # (m,)
    edge_slots: NDArray[np.int32]
    edges_seen: Floats  # (m, 7): both ends, and how far from the other
    edges_behind: NDArray[np.uint8]  # of their first ends
    edges_known: NDArray[np.uint8]  # (m · PIECES,)
    edge_history: Floats


def _room(points: int, edges: int) -> Listed:
    pieces = edges * _edges.PIECES
    return Listed(
        np.empty(points, np.int32), np.empty(points, np.int32), np.empty((points, 4)), np.zeros(points, np.uint8),
        np.zeros(points, np.uint8), np.empty((points, 4)), np.empty(edges, np.int32), np.empty(edges, np.int32),
        np.empty((edges, 7)), np.zeros(edges, np.uint8), np.zeros(pieces, np.uint8), np.empty((pieces, 4)),
    )  # fmt: skip


class Lists:
    """Pairs of bodies and of bodies with planes and obstacles.

    Attributes
    ----------
    pairs : (p, 3) int64
        Body, kind, the other's frame or plane, ascending: columns of `_touch`.
    spans : (p, 6) int64
        Where in `listed` their points and edges are.
    starts, sides : (n + 1,), (m,) int64
        Pairs of every body, see `_touch.gather`.
    most : int
        Contacts of one pair, at most.
    """

    def __init__(self) -> None:
        self.pairs, self.spans = np.empty((0, 3), np.int64), np.empty((0, 6), np.int64)
        self.listed = _room(0, 0)
        self.starts, self.sides = np.zeros(1, np.int64), np.empty(0, np.int64)
        self.most = 0
        self.travel = 0.0  # way of the fastest since lists were made, at most
        self.skin = 0.0
        self.rebuilds = 0
        self._good = False

    def forget(self) -> None:
        """Bodies or walls are others."""
        self._good = False

    @property
    def are_good(self) -> bool:
        """Whether nothing has moved too far: two bodies may come nearer by twice the way of the fastest."""
        return self._good and 2 * self.travel <= self.skin

    def make(self, count: int, shapes: Shapes, forms: Ints, frames: Floats, planes: Floats, skin: float) -> None:
        """New lists; count : of the bodies, which are the first frames."""
        old = self.pairs, self.spans, self.listed
        self.skin, self.travel, self._good = skin, 0.0, True
        self.pairs = _candidates(count, shapes, forms, frames, planes, skin)
        points, edges = np.diff(shapes.ranges[:, POINTS]), np.diff(shapes.ranges[:, EDGE_RANGE])
        most_points, most_edges = 2 * int(points.max(initial=0)), 2 * int(edges.max(initial=0))
        self.spans = np.empty((len(self.pairs), 6), np.int64)
        room = [len(self.listed.points), len(self.listed.edges)]
        while True:
            new, taken = _room(*room), np.zeros(16, np.int64)
            _near.list_near(
                len(self.pairs), self.pairs, most_points, most_edges, skin, shapes, forms, frames, planes, taken,
                self.spans, new.points, new.point_slots, new.points_seen, new.edges, new.edge_slots, new.edges_seen,
            )  # fmt: skip
            needed = [int(taken[_near.POINTS_LEFT]), int(taken[_near.EDGES_LEFT])]
            if needed[0] <= room[0] and needed[1] <= room[1]:
                break
            room = [int(1.2 * number) + 64 for number in needed]
        counts = self.spans[:, [_touch.POINTS_A, _touch.POINTS_B]].sum(axis=1)
        lines = self.spans[:, [_touch.EDGES_A, _touch.EDGES_B]].sum(axis=1)
        self.most = int((counts + _edges.PIECES * lines).max(initial=0))
        _near.mark_behind(
            self.pairs, self.spans, shapes, forms, frames, new.points, new.points_seen, new.points_behind, new.edges,
            new.edges_seen, new.edges_behind,
        )  # fmt: skip
        self._carry(old, new)
        self.listed = new
        self._list_sides(count)
        self.rebuilds += 1

    def _carry(self, old: tuple[Ints, Ints, Listed], new: Listed) -> None:
        """Let pairs go on with what they remember."""
        pairs, spans, listed = old
        rows = {tuple(pair): row for row, pair in enumerate(pairs.tolist())}
        old_of = np.array([rows.get(tuple(pair), -1) for pair in self.pairs.tolist()], np.int64)
        _near.carry(
            len(self.pairs), old_of, spans, listed.points, listed.points_seen, new.points_seen, listed.points_behind,
            listed.points_known, listed.point_history, listed.edges, listed.edges_seen, new.edges_seen,
            listed.edges_behind, listed.edges_known, listed.edge_history, self.spans, new.points, new.points_behind,
            new.points_known, new.point_history, new.edges, new.edges_behind, new.edges_known, new.edge_history,
        )  # fmt: skip

    def _list_sides(self, count: int) -> None:
        """Which pairs every body is in, and as which of the two."""
        numbers = np.arange(len(self.pairs))
        both = self.pairs[:, _touch.KIND_OF] == _touch.SOLID
        owners = np.concatenate([self.pairs[:, _touch.BODY], self.pairs[both, _touch.OTHER]])
        sides = np.concatenate([2 * numbers, 2 * numbers[both] + 1])
        self.sides = sides[np.lexsort((sides, owners))]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)

    def memories(self) -> dict[str, Any]:
        """What all listed things remember, as arrays: springs, and whether they are behind an obstacle.

        Rows of `things`: the pair, which of its two, whether it is an edge, its number, whether it is behind; of
        `contacts`: row in `things`, piece of an edge.
        """
        things: list[list[int]] = []
        contacts: list[list[int]] = []
        history = [np.empty((0, 4))]
        listed, pieces = self.listed, _edges.PIECES
        for pair, (first, points_a, points_b, first_edge, edges_a, edges_b) in zip(
            self.pairs.tolist(), self.spans.tolist(), strict=True
        ):
            for k in range(first, first + points_a + points_b):
                if listed.points_known[k] or listed.points_behind[k]:
                    side = int(k >= first + points_a)
                    if listed.points_known[k]:
                        contacts.append([len(things), 0])
                        history.append(listed.point_history[k : k + 1])
                    things.append([*pair, side, 0, int(listed.points[k]), int(listed.points_behind[k])])
            for k in range(first_edge, first_edge + edges_a + edges_b):
                known = np.flatnonzero(listed.edges_known[k * pieces : (k + 1) * pieces])
                if len(known) or listed.edges_behind[k]:
                    contacts += [[len(things), int(piece)] for piece in known]
                    history.append(listed.edge_history[k * pieces + known])
                    side = int(k >= first_edge + edges_a)
                    things.append([*pair, side, 1, int(listed.edges[k]), int(listed.edges_behind[k])])
        return {
            "pairs": self.pairs, "things": np.array(things, np.int64).reshape(-1, 7),
            "contacts": np.array(contacts, np.int64).reshape(-1, 2), "history": np.concatenate(history),
        }  # fmt: skip

    def restore(self, memory: dict[str, Any]) -> None:
        """Go on with what was remembered."""
        self.forget()
        self.pairs, things, contacts = memory["pairs"].copy(), memory["things"], memory["contacts"]
        rows = {tuple(pair): row for row, pair in enumerate(self.pairs.tolist())}
        number = np.array([rows[tuple(pair)] for pair in things[:, :3].tolist()], np.int64)
        side, is_edge = things[:, 3], things[:, 4] == 1
        self.listed = _room(int((~is_edge).sum()), int(is_edge.sum()))
        self.listed.points_seen[:], self.listed.edges_seen[:] = np.nan, np.nan
        self.spans = np.zeros((len(self.pairs), 6), np.int64)
        at = np.empty(len(things), np.int64)  # row among points, or among edges
        for those, first, a, items, behind in (
            (~is_edge, _touch.FIRST_POINT, _touch.POINTS_A, self.listed.points, self.listed.points_behind),
            (is_edge, _touch.FIRST_EDGE, _touch.EDGES_A, self.listed.edges, self.listed.edges_behind),
        ):
            at[those] = np.arange(int(those.sum()))  # things are in the order of pairs, sides and numbers
            items[:], behind[:] = things[those, 5], things[those, 6]
            np.add.at(self.spans, (number[those], a + side[those]), 1)
            counts = self.spans[:, a : a + 2].sum(axis=1)
            self.spans[:, first] = np.cumsum(counts) - counts
        for those, known, history, each in (
            (~is_edge, self.listed.points_known, self.listed.point_history, 1),
            (is_edge, self.listed.edges_known, self.listed.edge_history, _edges.PIECES),
        ):
            own = those[contacts[:, 0]]
            places = at[contacts[own, 0]] * each + contacts[own, 1]
            known[places] = _touch.LASTING
            history[places] = memory["history"][own]


def world_boxes(shapes: Shapes, forms: Ints, frames: Floats) -> tuple[Floats, Floats]:
    """(n, 3) lower and upper corners of boxes along the axes of space, around frames."""
    sizes = shapes.sizes[forms]
    middle, half = 0.5 * (sizes[:, LOW : LOW + 3] + sizes[:, HIGH : HIGH + 3]), 0.5 * (
        sizes[:, HIGH : HIGH + 3] - sizes[:, LOW : LOW + 3]
    )  # fmt: skip
    turns = frames[:, :9].reshape(-1, 3, 3)
    centre = (turns @ middle[:, :, None])[:, :, 0] + frames[:, SHIFT : SHIFT + 3]
    reach = (np.abs(turns) @ half[:, :, None])[:, :, 0] * (1 + 1e-12)
    return centre - reach, centre + reach


def _candidates(count: int, shapes: Shapes, forms: Ints, frames: Floats, planes: Floats, skin: float) -> Ints:
    """Pairs whose boxes are near each other."""
    lower, upper = world_boxes(shapes, forms, frames)
    found = [np.empty((0, 3), np.int64)]
    pairs = box_pairs(lower[:count], upper[:count], gap=skin)
    found.append(np.column_stack([pairs[:, 0], np.full(len(pairs), _touch.SOLID), pairs[:, 1]]))
    for b in range(count, len(frames)):
        near = ((lower[:count] <= upper[b] + skin) & (upper[:count] >= lower[b] - skin)).all(axis=1)
        rows = np.flatnonzero(near)
        found.append(np.column_stack([rows, np.full(len(rows), _touch.SHEET), np.full(len(rows), b)]))
    centre, half = 0.5 * (lower[:count] + upper[:count]), 0.5 * (upper[:count] - lower[:count])
    for p, plane in enumerate(planes):
        normal = plane[_planes.NORMAL : _planes.NORMAL + 3]
        rows = np.flatnonzero((centre - plane[:3]) @ normal - half @ np.abs(normal) < skin)
        found.append(np.column_stack([rows, np.full(len(rows), _touch.PLANE), np.full(len(rows), p)]))
    every = np.concatenate(found)
    return np.ascontiguousarray(every[np.lexsort((every[:, 2], every[:, 1], every[:, 0]))], np.int64)
