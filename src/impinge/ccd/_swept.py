"""Boxes around what vertices, edges and faces sweep in a step, and their order in space."""

import numpy as np

from impinge._jit import kernel, parallel
from impinge.broad._blocks import CLASSES, size_class


@parallel(grain=4096)
def sweep_vertices(first, stop, x0, x1, lower, upper):
    """Boxes around the ways of vertices."""
    for i in range(first, stop):
        for axis in range(3):
            lower[i, axis], upper[i, axis] = min(x0[i, axis], x1[i, axis]), max(x0[i, axis], x1[i, axis])


@parallel(grain=2048)
def sweep_corners(first, stop, corners, lower_of, upper_of, lower, upper):
    """Boxes around edges or faces from those of their vertices."""
    for i in range(first, stop):
        for axis in range(3):
            low, high = lower_of[corners[i, 0], axis], upper_of[corners[i, 0], axis]
            for k in range(1, corners.shape[1]):
                low = min(low, lower_of[corners[i, k], axis])
                high = max(high, upper_of[corners[i, k], axis])
            lower[i, axis], upper[i, axis] = low, high


@kernel
def order_corners(corners, ranks, lower, upper, usual, order):
    """Edges or faces by size, then by the first of their vertices in space: one pass of sorting instead of several."""
    count = len(ranks)
    keys, starts = np.empty(len(corners), np.int64), np.zeros(CLASSES * count + 1, np.int64)
    for i in range(len(corners)):
        size = max(max(upper[i, 0] - lower[i, 0], upper[i, 1] - lower[i, 1]), upper[i, 2] - lower[i, 2])
        least = ranks[corners[i, 0]]
        for k in range(1, corners.shape[1]):
            least = min(least, ranks[corners[i, k]])
        keys[i] = size_class(size, usual) * count + least
        starts[keys[i] + 1] += 1
    for key in range(CLASSES * count):
        starts[key + 1] += starts[key]
    for i in range(len(corners)):
        order[starts[keys[i]]] = i
        starts[keys[i]] += 1
