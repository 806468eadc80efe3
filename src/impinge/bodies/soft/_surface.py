"""Kernels: how far pairs are to stay apart."""

from impinge._jit import kernel, parallel
from impinge.response._gaps import VERTEX_FACE, distance

_OF_REST = 0.9  # pairs of one body are never asked to keep more than this of their distance at rest


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


@parallel(grain=1000)
def find_distances(first, stop, rest, radii, body_of, kinds, corners, out):
    """What pairs keep between them: the sum of radii, or less if they are nearer at rest."""
    for k in range(first, stop):
        split, one, two = 1 if kinds[k] == VERTEX_FACE else 2, 0.0, 0.0
        for c in range(4):
            if c < split:
                one = max(one, radii[corners[k, c]])
            else:
                two = max(two, radii[corners[k, c]])
        out[k] = one + two
        if body_of[corners[k, 0]] == body_of[corners[k, 2]] and not _are_farther(
            rest, split, corners[k], out[k] / _OF_REST
        ):
            a, b, c, d = corners[k]
            out[k] = min(out[k], _OF_REST * distance(rest, kinds[k], a, b, c, d))
