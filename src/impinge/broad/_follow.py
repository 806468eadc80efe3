"""Following bodies between rebuilds: how far they have come, and the lists of each body's partners."""

import math

from impinge._jit import exact, kernel, parallel
from impinge.broad._near import SLACK, shorter

BLOCK = 4096  # bodies looked at by one thread at a time


@exact
def _growth(before, now, i, px, py, pz):
    """By how much body i may have come nearer to any other since `before`: its way, and what its size grew."""
    if before.shape[1] == 4:
        dx = shorter(now[i, 0] - before[i, 0], px)
        dy = shorter(now[i, 1] - before[i, 1], py)
        dz = shorter(now[i, 2] - before[i, 2], pz)
        size = abs(now[i, 0]) + abs(now[i, 1]) + abs(now[i, 2]) + now[i, 3] + px + py + pz
        return math.sqrt(dx * dx + dy * dy + dz * dz) + max(now[i, 3] - before[i, 3], 0.0) + SLACK * size
    most = 0.0
    for k in range(3):
        period = px if k == 0 else (py if k == 1 else pz)
        lower, upper = now[i, k] - before[i, k], now[i, k + 3] - before[i, k + 3]
        turn = lower - shorter(lower, period)  # both corners go round together
        slack = SLACK * (abs(now[i, k]) + abs(now[i, k + 3]) + period)
        most = max(most, max(turn - lower, upper - turn) + slack)
    return most


@parallel(grain=1)
def two_largest(first, stop, before, now, period, largest):
    """For every block of bodies the largest and the second largest `_growth`."""
    px, py, pz = period[0], period[1], period[2]
    for block in range(first, stop):
        one, two = 0.0, 0.0
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(now))):
            grown = _growth(before, now, i, px, py, pz)
            if grown > two:
                one, two = max(one, grown), min(one, grown)
        largest[block, 0], largest[block, 1] = one, two


@kernel
def list_partners(pairs, starts, partners):
    """Partners of every body, ascending, from sorted pairs: those of body i before starts[i + 1].

    As the pairs are sorted, a body meets its lower partners in ascending order, and after them its higher ones.
    """
    for k in range(len(pairs)):
        starts[pairs[k, 0] + 2] += 1
        starts[pairs[k, 1] + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        partners[starts[i + 1]] = j
        starts[i + 1] += 1
        partners[starts[j + 1]] = i
        starts[j + 1] += 1
