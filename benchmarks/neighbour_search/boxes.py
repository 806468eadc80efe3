"""Part "boxes": pairs of the boxes around rods, next to other libraries and, with fewer of them, by our other methods.

Left out: python-fcl and coal, which go through one Python object per box and do not tell which boxes a pair is made of.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import impinge
from benchmarks import command
from benchmarks.measure import forget_garbage, timed
from benchmarks.neighbour_search import systems
from benchmarks.neighbour_search.competitors import Answer, Found, judge
from benchmarks.neighbour_search.race import Entry, enter, race
from benchmarks.neighbour_search.sizes import Sizes

_Corners = tuple[NDArray[np.float64], NDArray[np.float64]]
_METHODS = ("brute", "sweep", "cells", "levels")
_TRIAL = 20  # part of the boxes by which the time of a peer is estimated


class ImpingeBoxes:
    """`impinge.box_pairs`."""

    group = "ours"
    has_threads, single = True, False

    def __init__(self, method: str = "auto") -> None:
        self.method = method
        self.name = "impinge" if method == "auto" else f"impinge {method}"

    def version(self) -> str:
        return impinge.__version__

    def prepare(self, corners: _Corners) -> _Corners:
        return corners

    def find(self, prepared: _Corners, threads: int) -> Found:
        found = impinge.box_pairs(*prepared, method=self.method, threads=threads)
        return found[:, 0], found[:, 1]


class Rtree:
    """An R-tree packed at once, then every box asking in one call."""

    name, group = "rtree", "general"
    has_threads = single = False

    def __init__(self) -> None:
        from rtree import index

        self._index = index

    def version(self) -> str:
        return importlib.metadata.version("rtree")

    def prepare(self, corners: _Corners) -> _Corners:
        return corners

    def find(self, prepared: _Corners, threads: int) -> Found:
        lower, upper = prepared
        rows = np.arange(len(lower))
        tree = self._index.Index((rows, lower, upper), properties=self._index.Property(dimension=lower.shape[1]))
        j, counts = tree.intersection_v(lower, upper)
        i = np.repeat(rows, counts.astype(np.int64))
        once = i < j
        return i[once], j[once]


class WarpBoxes:
    """Warp on the CPU: a tree of boxes in single precision; counts, then lists."""

    name, group = "Warp Bvh", "general"
    has_threads, single = False, True

    def __init__(self) -> None:
        from benchmarks.neighbour_search import warp_kernels

        self._kernels = warp_kernels

    def version(self) -> str:
        return importlib.metadata.version("warp-lang")

    def prepare(self, corners: _Corners) -> Any:
        return self._kernels.Boxes(*corners)

    def find(self, prepared: Any, threads: int) -> Found:
        return self._kernels.box_pairs(prepared)


PEERS: dict[str, Any] = {"rtree": Rtree, "warp-bvh": WarpBoxes}


def load(names: Iterable[str]) -> tuple[list[Any], dict[str, str]]:
    """The peers that work here, and for each other one the reason."""
    corners = systems.rods(200)
    truth = Answer.of(ImpingeBoxes().find(corners, 1), 200)

    def trial(peer: Any) -> None:
        answer = Answer.of(peer.find(peer.prepare(corners), 1), 200)
        if answer != truth:
            raise RuntimeError(f"{answer.pairs} pairs where there are {truth.pairs}")

    ready, absent = command.load([name for name in names if name in PEERS], PEERS, trial)
    return ready, {f"{PEERS[name].name} for boxes": reason for name, reason in absent.items()}


def _too_long(peer: Any, count: int, sizes: Sizes) -> str:
    part = systems.rods(max(100, count // _TRIAL))
    seconds = 1.5 * _TRIAL * timed(peer.find, peer.prepare(part), 1)[0].seconds
    return f"skipped: would take about {seconds:.0f} s" if seconds > sizes.call_seconds else ""


def _rows(label: str, corners: _Corners, entries: list[Entry]) -> list[dict[str, Any]]:
    truth = entries[0].answer
    if truth is None:
        raise RuntimeError(f"impinge {entries[0].failure}")
    extent = float(max(np.abs(side).max() for side in corners))

    def count(change: float) -> int:  # boxes that shrink or grow by half of it on every side
        lower, upper = corners[0] - 0.5 * change, corners[1] + 0.5 * change
        return len(impinge.box_pairs(lower, upper))

    about = {"system": label, "n": len(corners[0]), "true_pairs": truth.pairs}
    return [
        about
        | entry.row()
        | {"differs": judge(entry.answer, truth, entry.competitor.single, extent, count) if entry.answer else ""}
        for entry in entries
    ]


def measure(peers: list[Any], sizes: Sizes, threads: list[int]) -> list[dict[str, Any]]:
    """One row per number of rods, competitor and number of threads."""
    rows: list[dict[str, Any]] = []
    for count, others in (
        (sizes.rods, peers),
        (sizes.own_rods, [ImpingeBoxes(method) for method in _METHODS]),
    ):
        label = f"boxes around {count:,} rods"
        corners = systems.rods(count)
        ours = ImpingeBoxes()
        entries = enter(ours, threads, corners, count)
        left_out = []
        for other in others:
            reason = _too_long(other, count, sizes) if other.group != "ours" else ""
            if reason:
                row = {"method": other.name, "group": other.group, "threads": None, "skipped": reason}
                left_out.append({"system": label, "n": count} | row)
            else:
                entries += enter(other, threads, corners, count)
        forget_garbage()
        race(f"boxes: {count:,} rods", entries, sizes.rounds, sizes.method_seconds)
        made = _rows(label, corners, entries)
        rows += made + [{"true_pairs": made[0]["true_pairs"]} | row for row in left_out]
    return rows
