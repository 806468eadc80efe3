"""Pairs of overlapping boxes of two sets, or of one, by trees of blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge._lanes import LANES
from impinge._scratch import borrow
from impinge.broad import _blocks
from impinge.broad._sweep import sort_digit
from impinge.broad.order import check_memory

__all__ = ["Blocks", "block_pairs", "make_blocks", "places", "usual_size"]

Floats = NDArray[np.float64]
_SAMPLE = 1024  # boxes, of which the usual size is taken
_LONG_RUN = 64  # boxes of the same code: more are sorted by a finer one
_CLASS_BITS = _blocks.CLASSES.bit_length()
_ROOM = 24 * LANES  # pairs per block that are found at once; more need a second search
_MOST_ROOM = 1 << 23  # pairs: 64 MB
_NO_BODIES = np.empty(0, np.int32)


class Blocks(NamedTuple):
    """Boxes in blocks of LANES, and the tree above them."""

    order: NDArray[np.int32]  # box of every place
    tree: Floats  # nodes, flat, level by level, the lowest first
    levels: NDArray[np.int64]  # node at which each level begins

    @property
    def number(self) -> int:
        """Number of blocks."""
        return -(-len(self.order) // LANES)


def make_blocks(lower: Floats, upper: Floats, order: NDArray[np.int32]) -> Blocks:
    """Blocks of boxes, (n, 3) corners each, in an order that keeps neighbours together."""
    counts = [-(-len(order) // LANES)]
    while len(counts) < 2 or counts[-1] > 1:
        counts.append(-(-counts[-1] // LANES))
    levels = np.cumsum([0, *counts[:-1]])
    tree = np.empty(sum(counts) * _blocks.NODE)
    _blocks.fill_lowest(counts[0], lower, upper, order, tree)
    for below, level, count, nodes in zip(levels[:-1], levels[1:], counts[:-1], counts[1:], strict=True):
        _blocks.fill_level(below, count, level, nodes, tree)
    return Blocks(order, tree, levels)


def usual_size(lower: Floats, upper: Floats) -> float:
    """Size that half of the boxes, of some, do not exceed."""
    every = -(-len(lower) // _SAMPLE) or 1
    with np.errstate(over="ignore"):  # larger than doubles are
        return float(np.median((upper[::every] - lower[::every]).max(axis=1))) if len(lower) else 0.0


def places(lower: Floats, upper: Floats) -> NDArray[np.int32]:
    """Order of boxes that keeps neighbours together: by size, then along Morton's curve."""
    return _places(lower, upper, np.arange(len(lower), dtype=np.int32), usual_size(lower, upper))


def _places(lower: Floats, upper: Floats, members: NDArray[np.int32], usual: float) -> NDArray[np.int32]:
    """Members in order; runs of equal codes by finer ones."""
    low, high = np.empty(3), np.empty(3)
    _blocks.measure(lower, upper, members, low, high)
    with np.errstate(over="ignore"):
        side = min(float((high - low).max(initial=0.0)), float(np.finfo(np.float64).max))
    if not side > 0:
        return members
    bits = min(len(members).bit_length() // 2 + 2, _blocks.MOST_BITS)
    codes = np.empty(len(members), np.uint64)
    _blocks.encode(len(members), lower, upper, members, low, 2.0**bits / side, bits, usual, codes)
    order, other_codes, other = members.copy(), np.empty_like(codes), np.empty_like(members)
    for digit in range((3 * bits + _CLASS_BITS) // 11 + 1):
        if sort_digit(codes, order, digit, other_codes, other):
            codes, other_codes, order, other = other_codes, codes, other, order
    ends = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    begins, ends = np.append(0, ends), np.append(ends, len(codes))
    for begin, end in zip(begins[ends - begins > _LONG_RUN], ends[ends - begins > _LONG_RUN], strict=True):
        if end - begin < len(members):
            order[begin:end] = _places(lower, upper, order[begin:end], usual)
    return order


def block_pairs(
    first: Blocks,
    second: Blocks | None,
    gap: float,
    corners: tuple[NDArray[np.int32], NDArray[np.int32]],
    bodies: tuple[NDArray[np.int32], NDArray[np.int32]] = (_NO_BODIES, _NO_BODIES),
) -> NDArray[np.int32]:
    """(m, 2) int32: pairs of boxes of two sets, or of one, at most `gap` apart along every axis.

    Their order depends on the boxes alone; in one set i < j. corners : (n, k) numbers for each set: pairs that have one
    in common are left out; bodies : number of a body for each, or none: pairs of the same are left out.
    """
    other = first if second is None else second
    if not len(first.order) or not len(other.order):
        return np.empty((0, 2), np.int32)
    tree = first.tree
    if gap > 0:
        tree = np.empty_like(tree)
        _blocks.enlarge(first.tree, gap, tree)
    search = (
        tree, first.order, first.levels[1], other.tree, other.order, other.levels, second is None,
        *map(_check.frozen, corners), *map(_check.frozen, bodies),
    )  # fmt: skip
    every, counts = np.arange(first.number), np.empty(first.number, np.int64)
    room = max(min(_ROOM, _MOST_ROOM // first.number), 1)
    with borrow() as scratch:
        found = scratch.empty("pairs of blocks", (first.number * room, 2), np.int32)
        _blocks.find_pairs(first.number, every, *search, every * room, room, found, counts)
        total = int(counts.sum())
        check_memory(total, "x0", "faces, their motion or the gap")
        starts, pairs = np.cumsum(counts) - counts, np.empty((total, 2), np.int32)
        _blocks.copy_pairs(first.number, room, found, counts, starts, pairs)
    rest = np.flatnonzero(counts > room)
    _blocks.find_pairs(len(rest), rest, *search, starts[rest], total, pairs, np.empty_like(rest))
    return pairs
