"""All pairs, one by one: what every other search is compared with."""

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.broad._near import near, shorter, touch


@exact
def are_near(bodies, i, j, gap, px, py, pz):
    """Whether bodies i and j are at most `gap` apart in a box with these periods, 0 for an open axis."""
    if bodies.shape[1] == 4:
        return near(
            shorter(bodies[i, 0] - bodies[j, 0], px),
            shorter(bodies[i, 1] - bodies[j, 1], py),
            shorter(bodies[i, 2] - bodies[j, 2], pz),
            (bodies[i, 3] + bodies[j, 3]) + gap,
        )
    return (
        _touch_around(bodies, i, j, 0, gap, px)
        and _touch_around(bodies, i, j, 1, gap, py)
        and _touch_around(bodies, i, j, 2, gap, pz)
    )


@exact
def _touch_around(bodies, i, j, k, gap, period):
    a, b, c, d = bodies[i, k], bodies[i, k + 3], bodies[j, k], bodies[j, k + 3]
    if touch(a, b, c, d, gap, 0.0):
        return True
    return period > 0.0 and (touch(a, b, c, d, gap, period) or touch(a, b, c, d, gap, -period))


@kernel
def _find_partners(bodies, i, gap, period, partners):
    """Partners with higher numbers of body i; returns how many."""
    px, py, pz = period[0], period[1], period[2]
    found = 0
    if bodies.shape[1] == 4 and px == 0.0 and py == 0.0 and pz == 0.0:  # most of the time: nothing to look up
        x, y, z, r = bodies[i, 0], bodies[i, 1], bodies[i, 2], bodies[i, 3]
        for j in range(i + 1, len(bodies)):
            partners[found] = j
            found += near(x - bodies[j, 0], y - bodies[j, 1], z - bodies[j, 2], (r + bodies[j, 3]) + gap)
    else:
        for j in range(i + 1, len(bodies)):
            partners[found] = j
            found += are_near(bodies, i, j, gap, px, py, pz)
    return found


@parallel(grain=128)
def count_partners(first, stop, bodies, gap, period, counts):
    """Number of partners with higher numbers of every body."""
    partners = np.empty(len(bodies) + 1, np.int64)
    for i in range(first, stop):
        counts[i] = _find_partners(bodies, i, gap, period, partners)


@parallel(grain=128)
def list_partners(first, stop, bodies, gap, period, starts, pairs):
    """The pairs, those of body i from starts[i] on."""
    partners = np.empty(len(bodies) + 1, np.int64)
    for i in range(first, stop):
        for k in range(_find_partners(bodies, i, gap, period, partners)):
            pairs[starts[i] + k, 0], pairs[starts[i] + k, 1] = i, partners[k]


@parallel(grain=4096)
def mark_near(first, stop, bodies, pairs, gap, period, marks):
    """Which of some pairs are at most `gap` apart."""
    px, py, pz = period[0], period[1], period[2]
    for k in range(first, stop):
        marks[k] = are_near(bodies, pairs[k, 0], pairs[k, 1], gap, px, py, pz)
