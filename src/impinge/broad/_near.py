"""Who is near whom: the two decisions that all searches share, and places in periodic boxes."""

import math

from impinge._jit import exact, parallel

SLACK = 2.0**-48  # of coordinates, sizes and periods: more than the rounding of all that decides who is near
BLOCK = 8192  # spheres read by one thread at a time
TINY = 1e-150  # shorter lengths have squares that are not doubles, and count as 0


@exact
def near(dx, dy, dz, reach):
    """Whether a difference of centres is at most `reach` long: touching counts.

    |c_i − c_j|² ≤ (r_i + r_j + gap)²

    Called by every search with c_i − c_j or its negative and with (r_i + r_j) + gap, so that all agree to the
    last bit. Lengths from 1e-150 to 1e150 (and 0), so that no square leaves the range of doubles.
    """
    return dx * dx + dy * dy + dz * dz <= reach * reach


@exact
def touch(low_i, high_i, low_j, high_j, gap, shift):
    """Whether two intervals, the first moved back by `shift`, are at most `gap` apart: touching counts."""
    return ((low_i - high_j) - shift <= gap) & ((low_j - high_i) + shift <= gap)


@exact
def shorter(d, period):
    """The difference d of two places in [0, period) on a circle, the short way round; period 0: on a line."""
    if period == 0.0:
        return d
    half = 0.5 * period
    return d - period if d > half else (d + period if d < -half else d)


@exact
def wrap(x, low, period):
    """The place in [low, low + period) that x is at on a circle; x itself if the period is 0."""
    if period == 0.0:
        return x
    y = x - period * math.floor((x - low) / period)
    return y if y < low + period and y >= low else low  # what rounding brought to the end is the start


@parallel(grain=1)
def make_spheres(first, stop, centres, radii, low, period, largest, rows, good):
    """Rows of centre and radius from centres (n, 2) or (n, 3), moved into the periodic box; z = 0 in 2D.

    good : for every block whether all coordinates are numbers up to `largest`.
    """
    px, py, pz = period[0], period[1], period[2]
    deep = centres.shape[1] == 3
    for block in range(first, stop):
        all_good = True
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(centres))):
            x, y, z = centres[i, 0], centres[i, 1], centres[i, 2] if deep else 0.0
            all_good = all_good & (abs(x) <= largest) & (abs(y) <= largest) & (abs(z) <= largest)
            rows[i, 0], rows[i, 1], rows[i, 2] = wrap(x, low[0], px), wrap(y, low[1], py), wrap(z, low[2], pz)
            rows[i, 3] = radii[i]
        good[block] = all_good
