"""The other libraries that find pairs of spheres, each a `competitors.Competitor`, imported when its class is called.

Seconds per candidate are those of a two-core machine, rounded up: only whether a peer is skipped depends on them.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import command
from benchmarks.neighbour_search.competitors import Answer, Forecast, Found, Impinge, only_near
from benchmarks.neighbour_search.systems import System, two_sizes


class _Peer:
    """Most peers: one call with the largest cutoff, in double precision, on one thread, then a filter by NumPy."""

    name = package = ""
    group = "general"
    has_threads = single = False
    candidate_seconds = 2e-7
    candidate_bytes = 50.0

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def candidates(self, forecast: Forecast) -> float:
        return forecast.largest_cutoff

    def prepare(self, system: System) -> Any:
        return system

    def find(self, prepared: Any, threads: int) -> Found:
        raise NotImplementedError


def _box(system: System) -> NDArray[np.float64]:
    """Edges of a box that is large enough: (3, 3)."""
    return np.diag(np.ptp(system.solid, axis=0) + 2 * system.cutoff)


class Vesin(_Peer):
    """Cells as long as the cutoff."""

    name = package = "vesin"
    has_threads = True

    def __init__(self) -> None:
        import vesin

        self._vesin = vesin

    def prepare(self, system: System) -> Any:
        return system, _box(system)

    def find(self, prepared: Any, threads: int) -> Found:
        system, box = prepared
        i, j = self.lists(system.solid, box, system.cutoff, threads)
        return only_near(system, i, j)

    def lists(self, points: NDArray[np.float64], box: NDArray[np.float64], cutoff: float, threads: int) -> Any:
        search = self._vesin.NeighborList(cutoff=cutoff, full_list=False, n_threads=threads)
        return search.compute(points=points, box=box, periodic=False, quantities="ij")


def _tree(points: NDArray[np.float64]) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points, balanced_tree=False, compact_nodes=False)  # faster so for one search


class Tree(_Peer):
    """SciPy's k-d tree, all pairs within the largest cutoff."""

    name, package = "cKDTree", "scipy"

    def find(self, prepared: System, threads: int) -> Found:
        found = _tree(prepared.centres).query_pairs(prepared.cutoff, output_type="ndarray")
        return only_near(prepared, found[:, 0], found[:, 1])


class TreeOwnRadius(_Peer):
    """SciPy's k-d tree, every sphere asking within twice its own radius; the larger one of a pair counts."""

    name, package = "cKDTree, own radii", "scipy"
    has_threads = True
    candidate_seconds = 6e-7
    candidate_bytes = 100.0

    def candidates(self, forecast: Forecast) -> float:
        return forecast.own_cutoff

    def find(self, prepared: System, threads: int) -> Found:
        centres, radii = prepared.centres, prepared.radii
        reach = 2 * radii + prepared.gap
        lists = _tree(centres).query_ball_point(centres, reach, workers=threads, return_sorted=False)
        counts = np.fromiter(map(len, lists), np.int64, len(lists))
        i, j = np.repeat(np.arange(len(radii)), counts), np.concatenate(lists).astype(np.int64)
        once = (radii[j] < radii[i]) | ((radii[j] == radii[i]) & (j < i))
        return only_near(prepared, i[once], j[once])


class _Warp(_Peer):
    package = "warp-lang"
    single = True

    def __init__(self) -> None:
        from benchmarks.neighbour_search import warp_kernels

        self._kernels = warp_kernels

    def prepare(self, system: System) -> Any:
        return self._kernels.Spheres(system.solid, system.radii + 0.5 * system.gap)


class WarpHashGrid(_Warp):
    """Warp on the CPU: a hash grid with cells of the largest diameter; counts, then lists."""

    name = "Warp HashGrid"
    candidate_seconds = 3e-9
    candidate_bytes = 0.0

    def candidates(self, forecast: Forecast) -> float:
        return forecast.largest_cells

    def find(self, prepared: Any, threads: int) -> Found:
        return self._kernels.pairs_by_grid(prepared)


class WarpBvh(_Warp):
    """Warp on the CPU: a tree of boxes; counts, then lists."""

    name = "Warp Bvh"

    def candidates(self, forecast: Forecast) -> float:
        return 0.0

    def find(self, prepared: Any, threads: int) -> Found:
        return self._kernels.pairs_by_tree(prepared)


class MDAnalysis(_Peer):
    """Cells, in single precision."""

    name = package = "MDAnalysis"
    single = True
    candidate_seconds = 3e-7

    def __init__(self) -> None:
        from MDAnalysis.lib.distances import self_capped_distance

        self._search = self_capped_distance

    def prepare(self, system: System) -> Any:
        return system, system.solid.astype(np.float32)

    def find(self, prepared: Any, threads: int) -> Found:
        system, points = prepared
        found = self._search(points, system.cutoff, method="nsgrid", return_distances=False)
        return only_near(system, found[:, 0], found[:, 1])


class Matscipy(_Peer):
    """Cells as long as the largest cutoff; takes radii, and delivers every pair twice."""

    name = package = "matscipy"
    candidate_seconds = 4e-7
    candidate_bytes = 0.0

    def __init__(self) -> None:
        from matscipy.neighbours import neighbour_list

        self._search = neighbour_list

    def prepare(self, system: System) -> Any:
        reach = system.cutoff if system.ratio == 1 else system.radii + 0.5 * system.gap
        return system.solid, _box(system), reach, np.ones(len(system), np.int32)

    def find(self, prepared: Any, threads: int) -> Found:
        points, box, reach, numbers = prepared
        i, j = self._search("ij", positions=points, cell=box, pbc=np.zeros(3, bool), cutoff=reach, numbers=numbers)
        once = i < j
        return i[once], j[once]


class Freud(_Peer):
    """A tree of boxes in single precision; delivers every pair twice. (Its LinkCell needs minutes.)"""

    name, package = "freud", "freud-analysis"
    has_threads = single = True
    candidate_seconds = 1.5e-6
    candidate_bytes = 160.0

    def __init__(self) -> None:
        import freud

        self._freud = freud

    def prepare(self, system: System) -> Any:
        box = self._freud.box.Box.cube(2 * float(np.diag(_box(system)).max()))
        centre = 0.5 * (system.solid.min(axis=0) + system.solid.max(axis=0))
        return system, box, (system.solid - centre).astype(np.float32)

    def find(self, prepared: Any, threads: int) -> Found:
        system, box, points = prepared
        self._freud.set_num_threads(threads)
        query = self._freud.locality.AABBQuery(box, points).query(points, {"r_max": system.cutoff, "exclude_ii": True})
        lists = query.toNeighborList()
        i, j = lists.query_point_indices, lists.point_indices
        once = i < j
        return only_near(system, i[once], j[once])


class SplitTrees(_Peer):
    """Two size classes by hand, a k-d tree for each."""

    name, package = "cKDTree, two classes", "scipy"
    group = "split"

    def candidates(self, forecast: Forecast) -> float:
        return 0.0

    def find(self, prepared: System, threads: int) -> Found:
        large, small = _classes(prepared)
        tree = _tree(prepared.centres[small])
        among = tree.query_pairs(2 * prepared.radii[small[0]] + prepared.gap, output_type="ndarray")
        return _together(prepared, large, small, among[:, 0], among[:, 1], tree, threads)


class SplitVesin(_Peer):
    """Two size classes by hand, cells for the small ones and k-d trees for the others."""

    name, package = "vesin + cKDTree, two classes", "vesin"
    group = "split"
    has_threads = True

    def __init__(self) -> None:
        self._vesin = Vesin()

    def candidates(self, forecast: Forecast) -> float:
        return 0.0

    def prepare(self, system: System) -> Any:
        return system, _box(system)

    def find(self, prepared: Any, threads: int) -> Found:
        system, box = prepared
        large, small = _classes(system)
        points = system.solid[small]
        i, j = self._vesin.lists(points, box, 2 * system.radii[small[0]] + system.gap, threads)
        return _together(system, large, small, i, j, _tree(points), threads)


def _classes(system: System) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    is_large = system.radii > 0.5 * (system.radii.min() + system.radii.max())
    return np.flatnonzero(is_large), np.flatnonzero(~is_large)


def _together(system: System, large: Any, small: Any, i: Any, j: Any, tree: Any, threads: int) -> Found:
    """Pairs among the small ones, and those with large ones: the tree of the small ones asked once per large one."""
    centres, gap = system.solid, system.gap
    among = _tree(centres[large]).query_pairs(system.cutoff, output_type="ndarray")
    reach = system.radii[large[0]] + system.radii[small[0]] + gap
    lists = tree.query_ball_point(system.centres[large], reach, workers=threads, return_sorted=False)
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    near = np.concatenate([np.array(one, np.int64) for one in lists])
    firsts = [small[i], large[among[:, 0]], np.repeat(large, counts)]
    seconds = [small[j], large[among[:, 1]], small[near]]
    return np.concatenate(firsts), np.concatenate(seconds)


PEERS: dict[str, Any] = {
    "vesin": Vesin,
    "scipy": Tree,
    "scipy-own": TreeOwnRadius,
    "warp": WarpHashGrid,
    "warp-bvh": WarpBvh,
    "mdanalysis": MDAnalysis,
    "matscipy": Matscipy,
    "freud": Freud,
    "scipy-split": SplitTrees,
    "vesin-split": SplitVesin,
}


def load(names: Iterable[str]) -> tuple[list[Any], dict[str, str]]:
    """The peers that work here, and for each other one the reason; loads what the libraries load late."""
    system = two_sizes(3, 20, 1_000, 0.25)
    truth = Answer.of(Impinge().find(system, 1), len(system))

    def trial(peer: Any) -> None:
        answer = Answer.of(peer.find(peer.prepare(system), 1), len(system))
        if answer != truth:
            raise RuntimeError(f"{answer.pairs} pairs where there are {truth.pairs}")

    ready, absent = command.load(names, PEERS, trial)
    return ready, {PEERS[name].name: reason for name, reason in absent.items()}
