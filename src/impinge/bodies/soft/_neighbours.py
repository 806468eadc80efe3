"""Kernels: whether boxes still hold what moves, which pairs stay apart, and which have to be held."""

import math

from impinge._jit import kernel, parallel, part

NOTHING, NEW, UNSURE, TURNED = range(4)

_SLACK = 1e-9  # of a distance: what does not count as too near
LATE = 0.8  # of its distance: what a pair must keep that is found too near only at the end; the next step holds it
_TURNED, TURNS = 1e-3, 5  # what a pair may lack that is held along old normals, and how often these are renewed


@kernel
def inside(x, low, high):
    """Whether all vertices are in their boxes."""
    for i in range(len(x)):
        for axis in range(3):
            if not (x[i, axis] >= low[i, axis] and x[i, axis] <= high[i, axis]):
                return False
    return True


@part
def _distance(x, i, j, k, m, edges, nx, ny, nz):
    """How far the two of a pair are apart along a direction: (the first above the second, the second above the first).

    edges : whether the pair is of the edges (i, j) and (k, m), or of the vertex i and the face (j, k, m)
    """
    a = x[i, 0] * nx + x[i, 1] * ny + x[i, 2] * nz
    b = x[j, 0] * nx + x[j, 1] * ny + x[j, 2] * nz
    c = x[k, 0] * nx + x[k, 1] * ny + x[k, 2] * nz
    d = x[m, 0] * nx + x[m, 1] * ny + x[m, 2] * nz
    if edges:
        return min(a, b) - max(c, d), min(c, d) - max(a, b)
    return a - max(b, c, d), min(b, c, d) - a


@part
def _stays_apart(x0, x1, i, j, k, m, edges, nx, ny, nz, limit):
    """Whether a pair is apart by more than a limit along a direction, all the time while it moves.

    Distances of corners are linear in time, so the least of them is concave: it is least at one of both ends.
    """
    above, below = _distance(x0, i, j, k, m, edges, nx, ny, nz)
    if above > limit:
        above, _ = _distance(x1, i, j, k, m, edges, nx, ny, nz)
        return above > limit
    if below > limit:
        _, below = _distance(x1, i, j, k, m, edges, nx, ny, nz)
        return below > limit
    return False


@part
def _between(x, i, j, k, m, edges, axis):
    """From the middle of the second of a pair to that of the first, along an axis."""
    if edges:
        return 0.5 * ((x[i, axis] + x[j, axis]) - (x[k, axis] + x[m, axis]))
    return x[i, axis] - (x[j, axis] + x[k, axis] + x[m, axis]) / 3.0


@parallel(grain=4096)
def find_near(first, stop, x0, x1, pairs, corners, limit, spare, near):
    """Mark pairs that may come as near as a limit: those that do not stay apart along an axis or between their middles.

    pairs, corners : numbers of pairs of edges, and their ends; or of vertices and faces, and the corners of faces
    limit, spare : m, and by how much each coordinate of a vertex may be off
    """
    edges = corners.shape[1] == 2
    least, most = limit + 2.0 * spare, limit + 2.0 * math.sqrt(3.0) * spare
    for p in range(first, stop):
        if edges:
            i, j = corners[pairs[p, 0], 0], corners[pairs[p, 0], 1]
            k, m = corners[pairs[p, 1], 0], corners[pairs[p, 1], 1]
        else:
            i, j = pairs[p, 0], corners[pairs[p, 1], 0]
            k, m = corners[pairs[p, 1], 1], corners[pairs[p, 1], 2]
        nx = _between(x0, i, j, k, m, edges, 0) + _between(x1, i, j, k, m, edges, 0)
        ny = _between(x0, i, j, k, m, edges, 1) + _between(x1, i, j, k, m, edges, 1)
        nz = _between(x0, i, j, k, m, edges, 2) + _between(x1, i, j, k, m, edges, 2)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        near[p] = not (
            (size > 0.0 and _stays_apart(x0, x1, i, j, k, m, edges, nx / size, ny / size, nz / size, most))
            or _stays_apart(x0, x1, i, j, k, m, edges, 1.0, 0.0, 0.0, least)
            or _stays_apart(x0, x1, i, j, k, m, edges, 0.0, 1.0, 0.0, least)
            or _stays_apart(x0, x1, i, j, k, m, edges, 0.0, 0.0, 1.0, least)
        )


@parallel(grain=8192)
def sort_ends(first, stop, ends, real, least, distances, margins, reach, share, is_held, turns, out):
    """What becomes of pairs by their distances at the end, along their normals of the start, and real ones.

    least, distances : m, what each pair has to keep, and what pairs of its kind keep
    margins, reach : m, and the share of it that a pair may be farther away and still be held
    share : of its distance, which a pair may come down to, but not from below
    out : NEW, not held and too near in both ways; UNSURE, too near along its normal alone, so that it is to be held if
    it touches on the way; TURNED, too near although its normal says otherwise, and to be held once more if it does not
    """
    for k in range(first, stop):
        low = min(least[k], share * distances[k]) * (1.0 - _SLACK)
        high = low + reach * margins[k]
        out[k] = NOTHING
        if not is_held[k] and ends[k] < high:
            out[k] = NEW if real[k] < (low if ends[k] < low else high) else UNSURE
        elif turns[k] < TURNS and real[k] < min(least[k], LATE * distances[k]) * (1.0 - _TURNED):
            out[k] = TURNED
