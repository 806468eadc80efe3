"""Kernels: how far pairs are to stay apart."""

import numpy as np

from impinge._jit import kernel, parallel
from impinge.response._gaps import VERTEX_FACE, distance

_OF_REST = 0.9  # pairs of one body are never asked to keep more than this of their distance at rest
_FAR = 2.0  # times what pairs keep


@kernel
def _are_farther(x, split, corners, most):
    """Whether the boxes of the first and of the second of a pair are farther apart, along an axis."""
    for axis in range(3):
        low, high = x[corners[0], axis], x[corners[0], axis]
        for c in range(1, split):
            low, high = min(low, x[corners[c], axis]), max(high, x[corners[c], axis])
        other_low, other_high = x[corners[split], axis], x[corners[split], axis]
        for c in range(split + 1, 4):
            other_low, other_high = min(other_low, x[corners[c], axis]), max(other_high, x[corners[c], axis])
        if other_low - high > most or low - other_high > most:
            return True
    return False


@parallel(grain=4000)
def find_distances(first, stop, rest, radii, body_of, kinds, corners, distances, spares):
    """What pairs keep between them: the sum of radii, or less if they are nearer at rest.

    spares : by how much they are farther apart at rest; inf for much, and for pairs of different bodies
    """
    for k in range(first, stop):
        split, one, two = 1 if kinds[k] == VERTEX_FACE else 2, 0.0, 0.0
        for c in range(4):
            if c < split:
                one = max(one, radii[corners[k, c]])
            else:
                two = max(two, radii[corners[k, c]])
        distances[k], spares[k] = one + two, np.inf
        is_same = body_of[corners[k, 0]] == body_of[corners[k, 2]]
        if is_same and not _are_farther(rest, split, corners[k], _FAR * distances[k]):
            a, b, c, d = corners[k]
            at_rest = distance(rest, kinds[k], a, b, c, d)
            distances[k] = min(distances[k], _OF_REST * at_rest)
            spares[k] = at_rest - distances[k]
