"""Which bodies may touch which, and with what: lists that are good until something has moved too far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies import _planes
from impinge.bodies._obstacles import SHIFT
from impinge.bodies.rigid import _layout, _near, _steps
from impinge.bodies.rigid._distance import NEAR, PIECES
from impinge.bodies.rigid._layout import HIGH, LOW, RADIUS
from impinge.bodies.rigid.shape import Shapes
from impinge.broad.once import box_pairs

__all__ = ["Listed", "Lists", "world_boxes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_SKIN = 0.25  # of the radius of a body
_STALE = 0.75  # of the skin: pairs that have come so far are listed anew when others are


class Listed(NamedTuple):
    """Points and edges of all pairs, one after the other, and what they remember."""

    points: NDArray[np.int32]  # (n,), of the shape
    point_slots: NDArray[np.int32]  # a near triangle
    points_seen: Floats  # (n, POINT_SEEN)
    points_behind: NDArray[np.uint8]  # whether it has passed through an obstacle
    points_known: NDArray[np.uint8]
    point_history: Floats  # (n, 4): tangential spring, energy in it
    edges: NDArray[np.int32]  # (m,), of the shape
    edge_slots: NDArray[np.int32]  # (3, m): anywhere along the edge, at its first end, at the second
    edge_leaves: NDArray[np.int32]  # (m, 1 + NEAR): near triangles, see `_distance.list_leaves`
    edge_bounds: NDArray[np.float32]  # (m, NEAR), m
    edges_seen: Floats  # (m, EDGE_SEEN)
    edges_known: NDArray[np.uint8]  # (m · PIECES,)
    edge_history: Floats


def _room(points: int, edges: int) -> Listed:
    pieces = edges * PIECES
    return Listed(
        np.empty(points, np.int32), np.empty(points, np.int32), np.empty((points, _layout.POINT_SEEN)),
        np.zeros(points, np.uint8), np.zeros(points, np.uint8), np.empty((points, 4)),
        np.empty(edges, np.int32), np.empty((3, edges), np.int32), np.empty((edges, 1 + NEAR), np.int32),
        np.empty((edges, NEAR), np.float32),
        np.empty((edges, _layout.EDGE_SEEN)), np.zeros(pieces, np.uint8), np.empty((pieces, 4)),
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
        Pairs of every body, see `_layout.gather`.
    most : int
        Contacts of one pair, at most.
    ways : (n + 1,) float64, m
        How far any point of each body has come since lists were first made, at most; and of all that is no body.
    gone : (p,) float64, m
        By how much both sides of a pair may have come nearer to each other since it was listed, at most.
    clear_to : (p,) float64, m
        As long as `gone` is less, nothing of a pair touches; −inf where that is not known.
    boxed_at : (n + 1,) float64, m
        Ways when boxes that are near each other were looked for.
    skins : (p,) float64, m
        By so much a pair may come nearer to each other before what is near in it is listed again: by the radius of the
        smaller body, so that a large one does not make lists of small ones long. Other pairs stay as they are: in a
        pile that rests nothing is listed anew, however fast others are falling onto it.
    margins : (n + 1,) float64, m
        Around the boxes of all bodies, and of all that is no body: pairs whose boxes meet with them are looked at.
    """

    def __init__(self) -> None:
        self.pairs, self.spans = np.empty((0, 3), np.int64), np.empty((0, 6), np.int64)
        self.listed, self._ends = _room(0, 0), [0, 0]  # and how much of it is in use
        self.starts, self.sides = np.zeros(1, np.int64), np.empty(0, np.int64)
        self.most = 0
        self.ways = np.zeros(1)
        self.skins, self.margins = np.empty(0), np.zeros(1)
        self.rebuilds = 0
        self.gone, self.clear_to, self.boxed_at = np.empty(0), np.empty(0), np.zeros(1)
        self._good = False

    def forget(self, more: int = 0) -> None:
        """Bodies or walls are others; more : bodies that have come, so that obstacles have other numbers."""
        self._good = False
        kinds = self.pairs[:, _layout.KIND_OF]
        self.pairs[(kinds != _layout.SOLID) & (kinds != _layout.PLANE), _layout.OTHER] += more

    def take(self, rows: Ints, count: int) -> None:
        """Only these of so many bodies are left, in the same order; what is left of the lists stays as it is."""
        number = np.full(count, -1)
        number[rows] = np.arange(len(rows))
        body, kind, other = self.pairs.T
        solid = kind == _layout.SOLID
        others = np.where(kind == _layout.PLANE, other, other - count + len(rows))
        pairs = np.column_stack([number[body], kind, np.where(solid, number[np.where(solid, other, 0)], others)])
        kept = np.flatnonzero((pairs >= 0).all(axis=1))
        self.pairs, self.spans = pairs[kept], self.spans[kept]
        if self._good:
            self.gone, self.clear_to, self.skins = self.gone[kept], self.clear_to[kept], self.skins[kept]
            left = np.append(rows, count)
            self.ways, self.boxed_at, self.margins = self.ways[left], self.boxed_at[left], self.margins[left]
            self._list_sides(len(rows))

    @property
    def are_good(self) -> bool:
        """Whether nothing has moved too far."""
        return self._good and self._boxes_are_good and bool(_steps.pairs_are_good(self.gone, self.skins))

    @property
    def _boxes_are_good(self) -> bool:
        """Whether pairs that are not listed are not near."""
        return bool(_steps.boxes_are_good(self.ways, self.boxed_at, self.margins))

    def make(self, count: int, shapes: Shapes, forms: Ints, frames: Floats, planes: Floats) -> None:
        """New lists where they are not good any more; count : of the bodies, which are the first frames."""
        pairs, stale = self.pairs, np.ones(len(self.pairs), bool)
        if self._good:
            stale = self.gone > _STALE * self.skins
        else:
            self.ways = np.zeros(count + 1)
        if not self._good or not self._boxes_are_good:
            self.boxed_at, own = self.ways.copy(), _SKIN * shapes.sizes[forms[:count], RADIUS]
            self.margins = np.append(own, own.mean())
            pairs = _candidates(count, shapes, forms, frames, planes, self.margins, self.pairs)
        old_of = _rows_of(pairs, self.pairs)
        kept = np.flatnonzero((old_of >= 0) & ~np.append(stale, True)[old_of])
        anew = np.setdiff1d(np.arange(len(pairs)), kept, assume_unique=True)
        spans = np.empty((len(pairs), 6), np.int64)
        spans[kept] = self.spans[old_of[kept]]
        skins = _SKIN * shapes.sizes[forms[pairs[:, _layout.BODY]], RADIUS]
        both = pairs[:, _layout.KIND_OF] == _layout.SOLID
        others = _SKIN * shapes.sizes[forms[pairs[both, _layout.OTHER]], RADIUS]
        skins[both] = np.minimum(skins[both], others)
        spans[anew] = self._list(spans, kept, pairs[anew], old_of[anew], shapes, forms, frames, planes, skins[anew])
        gone, clear_to = np.zeros(len(pairs)), np.full(len(pairs), -np.inf)
        gone[kept], clear_to[kept] = self.gone[old_of[kept]], self.clear_to[old_of[kept]]
        self.pairs, self.spans, self.gone, self.clear_to = pairs, spans, gone, clear_to
        self.skins, self._good = skins, True
        counts = spans[:, [_layout.POINTS_A, _layout.POINTS_B]].sum(axis=1)
        lines = spans[:, [_layout.EDGES_A, _layout.EDGES_B]].sum(axis=1)
        self.most = int((counts + PIECES * lines).max(initial=0))
        self._list_sides(count)
        self.rebuilds += 1

    def _list(
        self, spans: Ints, kept: Ints, pairs: Ints, old_of: Ints, shapes: Shapes, forms: Ints, frames: Floats,
        planes: Floats, skins: Floats,
    ) -> Ints:  # fmt: skip
        """Spans of pairs that are listed anew, behind all that is listed; if there is no room left, all moves up.

        spans, kept : of all pairs, those that stay as they are; old_of : old number of those that do not, −1 of pairs
        that were not listed before.
        """
        columns = [_layout.POINTS, _layout.EDGES]
        points, edges = np.diff(shapes.ranges[:, columns], axis=0).max(axis=0, initial=0).tolist()
        old, new, ends, own = self.listed, self.listed, self._ends, np.empty((len(pairs), 6), np.int64)
        before = spans[kept]
        while True:
            taken = np.zeros(16, np.int64)
            taken[_near.POINTS_LEFT], taken[_near.EDGES_LEFT] = ends
            _near.list_near(
                len(pairs), pairs, 2 * points, 2 * edges, skins, shapes, forms, frames, planes, taken, own, new
            )
            needed = [int(taken[_near.POINTS_LEFT]), int(taken[_near.EDGES_LEFT])]
            if needed[0] <= len(new.points) and needed[1] <= len(new.edges):
                break
            wanted = [number - end for number, end in zip(needed, ends, strict=True)]
            spans[kept], ends = _packed(before)
            new = _room(*(2 * (end + number) + 64 for end, number in zip(ends, wanted, strict=True)))
        if new is not old:
            _near.keep(len(kept), before, old, spans[kept], new)
        _near.mark_behind(pairs, own, shapes, forms, frames, new)
        _near.carry(len(pairs), pairs, old_of, self.spans, old, own, new)
        self.listed, self._ends = new, needed
        return own

    def _list_sides(self, count: int) -> None:
        """Which pairs every body is in, and as which of the two."""
        numbers = np.arange(len(self.pairs))
        both = self.pairs[:, _layout.KIND_OF] == _layout.SOLID
        owners = np.concatenate([self.pairs[:, _layout.BODY], self.pairs[both, _layout.OTHER]])
        sides = np.concatenate([2 * numbers, 2 * numbers[both] + 1])
        self.sides = sides[np.lexsort((sides, owners))]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)

    def memories(self) -> dict[str, Any]:
        """What all listed things remember, as arrays: springs, and whether they are behind an obstacle.

        Rows of `things`: the pair, which of its two, whether it is an edge, its number, whether it is behind; of
        `contacts`: row in `things`, piece of an edge.
        """
        listed = self.listed
        known = listed.points_known != 0
        row, of_point, side = self._owners(known | (listed.points_behind != 0), _layout.FIRST_POINT, _layout.POINTS_A)
        points = np.column_stack(
            [row, 0 * row, of_point, side, listed.points[of_point], listed.points_behind[of_point]]
        )
        pieces = listed.edges_known.reshape(-1, PIECES) != 0
        row, of_edge, side = self._owners(pieces.any(axis=1), _layout.FIRST_EDGE, _layout.EDGES_A)
        edges = np.column_stack([row, 0 * row + 1, of_edge, side, listed.edges[of_edge], 0 * row])
        found = np.concatenate([points, edges])
        order = np.lexsort(found[:, 2::-1].T)  # by pair, points before edges
        place = np.argsort(order)  # of points and then edges, in this order
        at = known[of_point]
        edge, piece = np.nonzero(pieces[of_edge])
        contacts = np.concatenate([
            np.column_stack([place[: len(points)][at], 0 * of_point[at]]),
            np.column_stack([place[len(points) :][edge], piece]),
        ])  # fmt: skip
        history = np.concatenate([
            listed.point_history[of_point[at]], listed.edge_history[of_edge[edge] * PIECES + piece]
        ])  # fmt: skip
        sorted_contacts = np.lexsort(contacts[:, ::-1].T)
        found = found[order]
        return {
            "pairs": self.pairs, "things": np.column_stack([self.pairs[found[:, 0]], found[:, [3, 1, 4, 5]]]),
            "contacts": contacts[sorted_contacts], "history": history[sorted_contacts],
        }  # fmt: skip

    def _owners(self, some: NDArray[np.bool_], first: int, count: int) -> tuple[Ints, Ints, Ints]:
        """Which pairs some listed things belong to, their rows in `listed`, and which of the two bodies they are of."""
        counts = self.spans[:, count] + self.spans[:, count + 1]
        spans = np.flatnonzero(counts > 0)
        spans = spans[np.argsort(self.spans[spans, first])]
        if not len(spans):
            none = np.empty(0, np.int64)
            return none, none, none
        rows = np.flatnonzero(some)
        number = np.searchsorted(self.spans[spans, first], rows, side="right") - 1
        owner = spans[np.maximum(number, 0)]
        within = rows - self.spans[owner, first]
        used = (number >= 0) & (within < counts[owner])  # the others are left from before
        owner, within = owner[used], within[used]
        return owner, rows[used], (within >= self.spans[owner, count]).astype(np.int64)

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
        self.listed.points_behind[:] = things[~is_edge, 6]
        for those, first, a, items in (
            (~is_edge, _layout.FIRST_POINT, _layout.POINTS_A, self.listed.points),
            (is_edge, _layout.FIRST_EDGE, _layout.EDGES_A, self.listed.edges),
        ):
            at[those] = np.arange(int(those.sum()))  # things are in the order of pairs, sides and numbers
            items[:] = things[those, 5]
            np.add.at(self.spans, (number[those], a + side[those]), 1)
            counts = self.spans[:, a : a + 2].sum(axis=1)
            self.spans[:, first] = np.cumsum(counts) - counts
        self._ends = [len(self.listed.points), len(self.listed.edges)]
        for those, known, history, each in (
            (~is_edge, self.listed.points_known, self.listed.point_history, 1),
            (is_edge, self.listed.edges_known, self.listed.edge_history, PIECES),
        ):
            own = those[contacts[:, 0]]
            places = at[contacts[own, 0]] * each + contacts[own, 1]
            known[places] = _layout.LASTING
            history[places] = memory["history"][own]


def _rows_of(pairs: Ints, others: Ints) -> Ints:
    """Where pairs are among others, −1 for those that are not; both ascending."""
    if len(others) == 0:
        return np.full(len(pairs), -1, np.int64)
    most = max(int(pairs.max(initial=0)), int(others.max())) + 1
    keys, known = (np.ravel_multi_index(tuple(some.T), (most, most, most)) for some in (pairs, others))
    rows = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[rows] == keys, rows, -1)


def _packed(spans: Ints) -> tuple[Ints, list[int]]:
    """The same spans, one after the other, and how many points and edges there are."""
    packed = spans.copy()
    points = spans[:, [_layout.POINTS_A, _layout.POINTS_B]].sum(axis=1)
    edges = spans[:, [_layout.EDGES_A, _layout.EDGES_B]].sum(axis=1)
    packed[:, _layout.FIRST_POINT] = np.cumsum(points) - points
    packed[:, _layout.FIRST_EDGE] = np.cumsum(edges) - edges
    return packed, [int(points.sum()), int(edges.sum())]


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


def _candidates(
    count: int, shapes: Shapes, forms: Ints, frames: Floats, planes: Floats, margins: Floats, known: Ints
) -> Ints:
    """Pairs whose boxes meet, with their margins around them; known : pairs so far."""
    lower, upper = world_boxes(shapes, forms, frames)
    lower[:count] -= margins[:count, None]
    upper[:count] += margins[:count, None]
    skin, found = margins[count], [np.empty((0, 3), np.int64)]
    pairs = box_pairs(lower[:count], upper[:count])
    found.append(np.column_stack([pairs[:, 0], np.full(len(pairs), _layout.SOLID), pairs[:, 1]]))
    for b in range(count, len(frames)):
        near = ((lower[:count] <= upper[b] + skin) & (upper[:count] >= lower[b] - skin)).all(axis=1)
        rows = np.flatnonzero(near)
        kinds = np.full(len(rows), _layout.SHEET)
        if shapes.sizes[forms[b], _layout.FILLED]:
            kinds = _sides_of(rows, b, shapes, forms, frames, known)
        found.append(np.column_stack([rows, kinds, np.full(len(rows), b)]))
    centre, half = 0.5 * (lower[:count] + upper[:count]), 0.5 * (upper[:count] - lower[:count])
    for p, plane in enumerate(planes):
        normal = plane[_planes.NORMAL : _planes.NORMAL + 3]
        rows = np.flatnonzero((centre - plane[:3]) @ normal - half @ np.abs(normal) < skin)
        found.append(np.column_stack([rows, np.full(len(rows), _layout.PLANE), np.full(len(rows), p)]))
    every = np.concatenate(found)
    return np.ascontiguousarray(every[np.lexsort((every[:, 2], every[:, 1], every[:, 0]))], np.int64)


def _sides_of(bodies: Ints, b: int, shapes: Shapes, forms: Ints, frames: Floats, known: Ints) -> Ints:
    """Whether an obstacle with an inside is a block for bodies, or hollow: as it was, and by where new ones are."""
    kinds = np.full(len(forms), -1)
    those = known[known[:, _layout.OTHER] == b]
    those = those[(those[:, _layout.KIND_OF] == _layout.BLOCK) | (those[:, _layout.KIND_OF] == _layout.HOLLOW)]
    kinds[those[:, _layout.BODY]] = those[:, _layout.KIND_OF]
    new = bodies[kinds[bodies] < 0]
    shares = np.empty(len(new))
    _near.measure_insides(len(new), new, b, shapes, forms, frames, shares)
    kinds[new] = np.where(shares > 0.5, _layout.HOLLOW, _layout.BLOCK)
    sides: Ints = kinds[bodies]
    return sides
