"""Pairs by NVIDIA Warp on the CPU: every item counts its partners of lower number, then lists them.

No postponed annotations here: Warp reads the types of its kernels.
"""

# ruff: noqa: UP018, RUF046 (int(0) is a variable for Warp, 0 a constant)
from typing import Any

import numpy as np
import warp as wp

wp.config.log_level = 30  # warnings, and no words about itself on standard output
wp.init()
_DEVICE = "cpu"


@wp.kernel
def _grid_count(
    grid: wp.uint64, x: wp.array(dtype=wp.vec3), r: wp.array(dtype=float), most: float, counts: wp.array(dtype=int)
):
    i = wp.tid()
    p = x[i]
    n = int(0)
    for j in wp.hash_grid_query(grid, p, r[i] + most):
        if j < i:
            s = r[i] + r[j]
            if wp.length_sq(p - x[j]) <= s * s:
                n += 1
    counts[i] = n


@wp.kernel
def _grid_list(
    grid: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    r: wp.array(dtype=float),
    most: float,
    begins: wp.array(dtype=int),
    a: wp.array(dtype=int),
    b: wp.array(dtype=int),
):
    i = wp.tid()
    p = x[i]
    k = begins[i]
    for j in wp.hash_grid_query(grid, p, r[i] + most):
        if j < i:
            s = r[i] + r[j]
            if wp.length_sq(p - x[j]) <= s * s:
                a[k] = i
                b[k] = j
                k += 1


@wp.kernel
def _tree_count(tree: wp.uint64, x: wp.array(dtype=wp.vec3), r: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    p = x[i]
    h = wp.vec3(r[i], r[i], r[i])
    n = int(0)
    j = int(0)
    query = wp.bvh_query_aabb(tree, p - h, p + h)
    while wp.bvh_query_next(query, j):
        if j < i:
            s = r[i] + r[j]
            if wp.length_sq(p - x[j]) <= s * s:
                n += 1
    counts[i] = n


@wp.kernel
def _tree_list(
    tree: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    r: wp.array(dtype=float),
    begins: wp.array(dtype=int),
    a: wp.array(dtype=int),
    b: wp.array(dtype=int),
):
    i = wp.tid()
    p = x[i]
    h = wp.vec3(r[i], r[i], r[i])
    k = begins[i]
    j = int(0)
    query = wp.bvh_query_aabb(tree, p - h, p + h)
    while wp.bvh_query_next(query, j):
        if j < i:
            s = r[i] + r[j]
            if wp.length_sq(p - x[j]) <= s * s:
                a[k] = i
                b[k] = j
                k += 1


@wp.kernel
def _boxes_count(
    tree: wp.uint64, low: wp.array(dtype=wp.vec3), high: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)
):
    i = wp.tid()
    n = int(0)
    j = int(0)
    query = wp.bvh_query_aabb(tree, low[i], high[i])
    while wp.bvh_query_next(query, j):
        if j < i:
            n += 1
    counts[i] = n


@wp.kernel
def _boxes_list(
    tree: wp.uint64,
    low: wp.array(dtype=wp.vec3),
    high: wp.array(dtype=wp.vec3),
    begins: wp.array(dtype=int),
    a: wp.array(dtype=int),
    b: wp.array(dtype=int),
):
    i = wp.tid()
    k = begins[i]
    j = int(0)
    query = wp.bvh_query_aabb(tree, low[i], high[i])
    while wp.bvh_query_next(query, j):
        if j < i:
            a[k] = i
            b[k] = j
            k += 1


def _vectors(rows: Any) -> Any:
    return wp.array(np.ascontiguousarray(rows, np.float32), dtype=wp.vec3, device=_DEVICE)


def _two_passes(n: int, count: Any, fill: Any, inputs: list[Any]) -> tuple[Any, Any]:
    counts = wp.zeros(n, dtype=int, device=_DEVICE)
    wp.launch(count, n, [*inputs, counts], device=_DEVICE)
    ends = np.cumsum(counts.numpy(), dtype=np.int64)
    begins = wp.array((ends - counts.numpy()).astype(np.int32), dtype=int, device=_DEVICE)
    a, b = (wp.empty(max(int(ends[-1]), 1), dtype=int, device=_DEVICE) for _ in range(2))
    wp.launch(fill, n, [*inputs, begins, a, b], device=_DEVICE)
    return a.numpy()[: ends[-1]], b.numpy()[: ends[-1]]


class Spheres:
    """Centres, and radii with half of the gap, in Warp's arrays."""

    def __init__(self, centres: Any, reach: Any) -> None:
        self.centres = _vectors(centres)
        self.reach = wp.array(reach.astype(np.float32), dtype=float, device=_DEVICE)
        self.lower, self.upper = _vectors(centres - reach[:, None]), _vectors(centres + reach[:, None])
        self.most = float(reach.max())
        self.cells = np.clip(np.ceil(np.ptp(centres, axis=0) / (2 * self.most)), 1, 256).astype(int).tolist()

    def __len__(self) -> int:
        return len(self.reach)


def pairs_by_grid(spheres: Spheres) -> tuple[Any, Any]:
    grid = wp.HashGrid(*spheres.cells, device=_DEVICE)
    grid.build(spheres.centres, 2 * spheres.most)
    inputs = [grid.id, spheres.centres, spheres.reach, spheres.most]
    return _two_passes(len(spheres), _grid_count, _grid_list, inputs)


def pairs_by_tree(spheres: Spheres) -> tuple[Any, Any]:
    tree = wp.Bvh(spheres.lower, spheres.upper)
    return _two_passes(len(spheres), _tree_count, _tree_list, [tree.id, spheres.centres, spheres.reach])


class Boxes:
    """Corners in Warp's arrays."""

    def __init__(self, lower: Any, upper: Any) -> None:
        self.lower, self.upper = _vectors(lower), _vectors(upper)


def box_pairs(boxes: Boxes) -> tuple[Any, Any]:
    tree = wp.Bvh(boxes.lower, boxes.upper)
    return _two_passes(len(boxes.lower), _boxes_count, _boxes_list, [tree.id, boxes.lower, boxes.upper])
