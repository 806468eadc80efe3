"""Kernels: how far to go along Newton's step, of the pulls (μ̂ + w s)+ of all rows along it.

All is computed from differences along the step: multipliers may be huge, and what they change tiny.
"""

from impinge._jit import kernel

_MOST = 40  # values of the slope
_CLOSE = 1e-9  # of the way: near enough to where it is least
_NOTHING = 1e-12  # of the step: no way at all


@kernel
def _rise(free, mu, soft, s, ds, t):
    """How much more a row pulls at t."""
    start, growth = mu + s / soft, t * ds / soft
    if free == 1 or (start > 0.0 and start + growth > 0.0):
        return growth
    return max(start + growth, 0.0) - max(start, 0.0)


@kernel
def _whole_rise(free, mu, soft, s, ds):
    """The integral of that from 0 to 1."""
    start, growth = mu + s / soft, ds / soft
    end = start + growth
    if free == 1 or (start > 0.0 and end > 0.0):
        return 0.5 * growth
    if start > 0.0:
        until = -start / growth
        return -start * (1.0 - 0.5 * until)
    return 0.5 * end * end / growth if end > 0.0 else 0.0


@kernel
def search(slope, curve, free, mu, soft, s, ds):
    """Part of a step: 1 if it is downhill enough, else where the function is least.

    slope, curve : of the function at the start, and what its slope grows by without the rows
    s, ds : values of the rows, and what the step adds to them; rows with free < 0 are left out
    """
    change = slope + 0.5 * curve
    for k in range(len(s)):
        if free[k] >= 0 and ds[k] != 0.0:
            change += ds[k] * _whole_rise(free[k], mu[k], soft[k], s[k], ds[k])
    if change <= 1e-4 * slope:
        return 1.0
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(_MOST):  # Newton's method on what is made of straight lines, inside of the bounds known so far
        value, growth = slope + t * curve, curve
        for k in range(len(s)):
            if free[k] >= 0 and ds[k] != 0.0:
                value += ds[k] * _rise(free[k], mu[k], soft[k], s[k], ds[k], t)
                if free[k] == 1 or mu[k] + (s[k] + t * ds[k]) / soft[k] > 0.0:
                    growth += ds[k] * ds[k] / soft[k]
        if value > 0.0:
            high = t
        else:
            low = t
        after = t - value / growth if growth > 0.0 else -1.0
        if not low < after < high:
            after = 0.5 * (low + high)
        before, t = t, after
        if abs(t - before) <= _CLOSE * t or t < _NOTHING:
            break
    return t if t >= _NOTHING else 0.0
