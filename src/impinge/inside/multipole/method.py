"""`Multipole`: the winding number of any surface by two trees of boxes, to the accuracy asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge._scratch import borrow
from impinge.errors import InputError
from impinge.inside.direct import signs
from impinge.inside.multipole import _plan, _points, _walk
from impinge.inside.multipole._evaluate import LEVEL, Leaves
from impinge.inside.multipole._sources import DEEPEST
from impinge.inside.multipole._walk import Model, Operators
from impinge.inside.multipole.accuracy import COARSEST, FARTHEST, FINEST, HIGHEST, NEAREST, choose, model
from impinge.inside.multipole.operators import operators
from impinge.inside.multipole.sources import Frame, Sources, deepest, frame, grow, noise
from impinge.inside.multipole.starts import all_starts, sort_by_start, start_cells
from impinge.shapes.mesh import Mesh

__all__ = ["Multipole", "Operations"]

Floats = NDArray[np.float64]
MODES = ("well-chosen", "pre-chosen")
_FEW_LAYERS = 1.5  # how often the surface may cover itself at the error that was measured
_SAMPLES = 25  # points near the surface at which the error is measured, besides those of `_sample_shares`
_SAFE = 0.5  # of the accuracy: the largest error there is larger than the largest of few
_LARGEST_PLAN = 4e9  # bytes
_STEPS = (0.35, 0.5, 0.7, 1.001, 1.2, 1.5)  # distances from which a leaf is far: errors are largest there


class Operations(NamedTuple):
    """How often each operation of the method was done, [Muth2006] Table 1."""

    p2m: int  # triangles to moments
    m2m: int  # moments to those of a father
    m2l: int  # moments to a local expansion
    l2l: int  # a local expansion to a son's
    l2p: int  # a local expansion at a point
    m2p: int  # moments of a leaf at a point
    near: int  # solid angle of a triangle at a point


class Multipole:
    """Winding number J by the double-layer potential and a fast multipole method [Muth2006], adaptive in both trees.

    Works on open and broken surfaces, where J is the generalised winding number.

    Parameters
    ----------
    mesh : Mesh, trimesh.Trimesh, pyvista-like PolyData or (vertices, faces)
        Any triangle mesh.
    accuracy : float
        Largest error of J, from 1e-10 to 0.1: chooses order, near and leaf where they are not given.
    order : int, optional
        Degree p of the expansions, from 1 to 24.
    near : float, optional
        d, how many radii away a cluster of triangles is far, from 1.2 to 10.
    leaf : int, optional
        Clusters of more triangles are split.
    depth : "auto" or int
        Levels of both trees: as many as pay, or down to this one wherever clusters are near.
    mode : {"well-chosen", "pre-chosen"}
        Evaluation tree made anew from the points of each call, refined where they are; or once, for any points, from
        the number of triangles alone, which makes calls with few points faster.
    """

    name = "multipole"

    def __init__(
        self,
        mesh: Any,
        *,
        accuracy: float = 1e-3,
        order: int | None = None,
        near: float | None = None,
        leaf: int | None = None,
        depth: int | str = "auto",
        mode: str = "well-chosen",
    ) -> None:
        self._mesh = Mesh.of(mesh)
        self.mode = _check.choice("mode", mode, MODES)
        is_auto = isinstance(depth, str) and depth == "auto"
        self.depth = "auto" if is_auto else _check.integer("depth", depth, 0, DEEPEST)
        self.accuracy = _check.between("accuracy", accuracy, FINEST, COARSEST)
        given = (
            None if order is None else _check.integer("order", order, 1, HIGHEST),
            None if near is None else _check.between("near", near, NEAREST, FARTHEST),
            None if leaf is None else _check.integer("leaf", leaf, 1, 2**31),
        )
        self._levels = -1 if self.depth == "auto" else int(self.depth)
        self._frame = frame(self._mesh)
        self._plan: _Plan | None = None
        self._prepare(given, order is not None)
        if mode == "pre-chosen":
            self._plan = _make_plan(self.order, self._sources, self._operators, self._model)

    def _prepare(self, given: tuple[int | None, float | None, int | None], is_final: bool) -> None:
        """Choose parameters and make what depends on them; finer ones if the error turns out too large."""
        finer = self.accuracy
        while True:
            self._make(finer, given)
            if is_final or self.order == HIGHEST:
                return
            if finer == self.accuracy and self._sources.layers > _FEW_LAYERS:
                finer /= self._sources.layers  # J and its error are as many times larger
                continue
            error = self._sample_error()
            if error <= _SAFE * self.accuracy:
                return
            finer *= min(0.5, _SAFE * self.accuracy / error)

    def _make(self, accuracy: float, given: tuple[int | None, float | None, int | None]) -> None:
        """Make what a choice of parameters needs."""
        try:
            self._choice = choose(accuracy, *given)
        except InputError:
            if accuracy == self.accuracy:
                raise
            self._choice = choose(accuracy, HIGHEST, *given[1:])
        self._sources = self._grow(accuracy)
        self._operators = operators(self.order, self.near, np.float32 if self._choice.single else np.float64)
        self._model = model(self._choice, float(len(self._mesh.faces)), self._levels)

    def _sample_error(self) -> float:
        """Largest difference from the sum of all angles, at points in the box, near the surface, on axes and diagonals.

        Errors of symmetric bodies add up in the middle and there.
        """
        mesh, rng = self._mesh, np.random.default_rng(0)
        if not len(mesh.faces):
            return 0.0
        (low, high), share = mesh.bounds, _sample_shares()
        some = mesh.vertices[mesh.faces[rng.integers(len(mesh.faces), size=_SAMPLES)]]
        with np.errstate(over="ignore", invalid="ignore"):
            away = np.ptp(some, axis=1).max(axis=1)[:, None] * 2.0 ** rng.uniform(0, 4, (_SAMPLES, 1))
            near = some.mean(axis=1) + away * rng.normal(size=(_SAMPLES, 3))
            poles = _before_poles(self._sources.leaves, self._frame)
            points = np.concatenate([(1 - share) * low + share * high, near, poles])
        points = points[np.isfinite(points).all(axis=1)]
        finer = max(0.2 * self.accuracy, FINEST)
        truth = Multipole(mesh, accuracy=finer, order=1, near=FARTHEST, depth=0)  # a sum of all angles
        return float(np.abs(self._evaluate(points)[0] - truth._evaluate(points)[0]).max(initial=0.0))

    def _grow(self, accuracy: float) -> Sources:
        depth = deepest(accuracy) if self._levels < 0 else self._levels
        angles = noise(accuracy, self._choice.single)
        return grow(self._mesh, self._frame, self.order, self.near, self.leaf, depth, angles)

    @property
    def order(self) -> int:
        """p, the degree of the expansions."""
        return self._choice.order

    @property
    def near(self) -> float:
        """d, how many radii away a cluster is far."""
        return self._choice.near

    @property
    def leaf(self) -> int:
        """Clusters of more triangles are split."""
        return self._choice.leaf

    @property
    def levels(self) -> int:
        """Depth of the source tree."""
        return int(self._sources.levels[-1])

    def winding(self, points: ArrayLike) -> Floats:
        """J of every point, to `accuracy`.

        On the surface 1/2 in a face, the dihedral angle over 2π on an edge, the solid angle over 4π at a vertex.

        Parameters
        ----------
        points : (n, 3) float64, m

        Returns
        -------
        (n,) float64
        """
        return self._evaluate(_check.vectors("points", points))[0]

    def classify(self, points: ArrayLike) -> NDArray[np.int8]:
        """−1 outside, 0 exactly on the surface, +1 inside, which means J > 1/2: (n,) int8."""
        winding, status, _ = self._evaluate(_check.vectors("points", points))
        return signs(winding, status != 0)

    def operations(self, points: ArrayLike) -> Operations:
        """How often each operation is done for these points, the preparation included."""
        counts = self._evaluate(_check.vectors("points", points))[2]
        if self._plan is not None:
            counts = counts + self._plan.counts
        m2l, l2l, l2p, m2p, near = (int(counts[k]) for k in range(5))
        return Operations(len(self._mesh.faces), len(self._sources.levels) - 1, m2l, l2l, l2p, m2p, near)

    def describe(self) -> str:
        """Parameters, in words."""
        return (
            f"to {self.accuracy:g}: order {self.order}, clusters far from {self.near:g} radii on, {self.levels + 1} "
            f"levels, leaves of up to {self.leaf} triangles, {self.mode} evaluation tree"
        )

    @property
    def nbytes(self) -> int:
        """Memory of the prepared arrays, without the mesh and the matrices, which all meshes share."""
        plan = () if self._plan is None else self._plan
        return sum(array.nbytes for array in (*self._sources.far, *self._sources.leaves, *plan))

    def _evaluate(self, points: Floats) -> tuple[Floats, NDArray[np.int8], NDArray[np.int64]]:
        """Winding numbers, which points are on the surface, and counts of operations."""
        winding, status = np.empty(len(points)), np.zeros(len(points), np.int8)
        if not len(points):
            return winding, status, np.zeros(8, np.int64)
        points = _check.frozen(points)
        evaluate = self._evaluate_well_chosen if self._plan is None else self._evaluate_pre_chosen
        return winding, status, evaluate(points, winding, status)

    def _evaluate_well_chosen(self, points: Floats, winding: Floats, status: NDArray[np.int8]) -> NDArray[np.int64]:
        with borrow() as scratch:
            starts, roots, places, outside = sort_by_start(points, self._frame, start_cells(self._levels), scratch)
            counts = np.zeros((len(starts), 8), np.int64)
            _walk.walk(
                len(counts), self.order, starts, roots, places, points, self._sources.far, self._sources.leaves,
                self._operators, self._model, winding, status, counts,
            )  # fmt: skip
            self._evaluate_outside(outside, roots, places, winding)
        return counts.sum(axis=0)

    def _evaluate_pre_chosen(self, points: Floats, winding: Floats, status: NDArray[np.int8]) -> NDArray[np.int64]:
        plan = self._plan
        assert plan is not None
        roots, cells = self._frame.place(points), np.empty(len(points), np.int64)
        _plan.find_cells(len(points), roots, plan.keys, cells)
        places = np.argsort(cells, kind="stable")
        cells, roots = cells[places], roots[places]
        used, begins = np.unique(cells, return_index=True)
        inside = int(np.searchsorted(cells, len(plan.keys)))
        if len(used) and used[-1] == len(plan.keys):
            used, begins = used[:-1], begins[:-1]
        counts = np.zeros((len(used), 8), np.int64)
        _plan.evaluate_plan(
            len(used), self.order, used, np.append(begins, inside), roots, places, points, plan.places,
            self._operators.weights, plan.locals, plan.ends, plan.ranges, self._sources.leaves, winding, status, counts,
        )  # fmt: skip
        self._evaluate_outside(len(points) - inside, roots, places, winding)
        return counts.sum(axis=0)

    def _evaluate_outside(self, count: int, roots: Floats, places: NDArray[np.int64], winding: Floats) -> None:
        """The last points: those far from the whole mesh."""
        _points.evaluate_outside(count, self.order, len(roots) - count, roots, places, self._sources.root, winding)


def _sample_shares() -> Floats:
    """(39, 3) shares of the sides of a box: a grid in it, and points before its sides."""
    grid = np.stack(np.meshgrid(*[(0.17, 0.5, 0.83)] * 3), axis=-1).reshape(-1, 3)
    before = np.full((3, 4, 3), 0.5)
    before[range(3), :, range(3)] = (-1.0, -0.4, 1.4, 2.0)
    return np.concatenate([grid, before.reshape(-1, 3)])


def _before_poles(leaves: Leaves, frame: Frame) -> Floats:
    """(168, 3) points of the axes and diagonals of the box, where the first and last leaf on them become far.

    There the error of a leaf is largest, and in symmetric bodies that of its mirror images is the same.
    """
    sides = 0.5 ** leaves.table[:, LEVEL]
    centres, reaches = leaves.middles * sides[:, None] - 0.5, np.sqrt(leaves.far) * sides
    points = []
    for line in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1)):
        way = np.array(line) / np.linalg.norm(line)
        along = centres @ way
        aside = np.linalg.norm(centres - along[:, None] * way, axis=1)
        nearest = np.argsort(aside, kind="stable")[:16]
        for leaf in (nearest[along[nearest].argmin()], nearest[along[nearest].argmax()]):
            half = np.sqrt(max(reaches[leaf] ** 2 - aside[leaf] ** 2, 0.0))
            points += [0.5 + (along[leaf] + sign * step * half) * way for step in _STEPS for sign in (-1, 1)]
    return frame.find(np.array(points))


class _Plan(NamedTuple):
    """Evaluation tree made before the points are known."""

    keys: NDArray[np.int64]  # where cells begin along Morton's curve, ascending
    places: NDArray[np.int64]  # (cells, 4) level and place
    locals: NDArray[Any]  # coefficients, flat
    ends: NDArray[np.int64]  # where the ranges of a cell end
    ranges: NDArray[np.int64]  # (n, 2) of near leaves
    counts: NDArray[np.int64]  # operations


def _make_plan(order: int, sources: Sources, operators: Operators, model: Model) -> _Plan:
    starts = all_starts(model.depth)
    offsets, counts = np.zeros((len(starts), 2), np.int64), np.zeros((len(starts), 8), np.int64)

    def run(cells: int, ranges: int, has_room: bool) -> _Plan:
        plan = _Plan(
            np.empty(cells, np.int64), np.empty((cells, 4), np.int64),
            np.empty(cells * len(operators.weights), operators.weights.dtype), np.empty(cells, np.int64),
            np.empty((ranges, 2), np.int64), counts,
        )  # fmt: skip
        _plan.plan(len(starts), order, starts, sources.far, operators, model, has_room, offsets, *plan)
        return plan

    run(0, 0, False)
    totals = counts[:, 6:].sum(axis=0)
    size = int(totals[0]) * (48 + operators.weights.nbytes) + 16 * int(totals[1])
    if size > _LARGEST_PLAN:
        raise InputError(
            f"mode: found pre-chosen, which takes {size / 1e9:.0f} GB for {int(totals[0]):,} cells, "
            "expected well-chosen or a smaller depth"
        )
    offsets[1:] = np.cumsum(counts[:-1, 6:], axis=0)
    return run(int(totals[0]), int(totals[1]), True)._replace(counts=counts.sum(axis=0))
