"""Error-free arithmetic on doubles: sums and products as expansions [Shewchuk1997].

An expansion is a list of doubles, ordered by growing magnitude and without overlapping bits, whose exact sum
is the value; its sign is the sign of the last component. Zero components are left out as they arise, so
that exactly degenerate input stays short. All of this is exact as long as nothing over- or underflows.
No fused multiply-add is used: the compiler may not introduce one under the flags of ``_jit.exact``.
"""

from __future__ import annotations

from impinge._jit import exact

SPLITTER = 134217729.0  # 2^27 + 1: cuts a double into two halves of 26 bits [Dekker1971]


@exact
def two_sum(a, b):
    """(x, y) with x + y = a + b exactly and x = fl(a + b) [Shewchuk1997] Theorem 7."""
    x = a + b
    virtual = x - a
    return x, (a - (x - virtual)) + (b - virtual)


@exact
def fast_two_sum(a, b):
    """Like `two_sum`, for |a| ≥ |b| [Shewchuk1997] Theorem 6."""
    x = a + b
    return x, b - (x - a)


@exact
def two_difference(a, b):
    """(x, y) with x + y = a - b exactly and x = fl(a - b)."""
    x = a - b
    virtual = a - x
    return x, (a - (x + virtual)) + (virtual - b)


@exact
def split(a):
    """(high, low) with high + low = a, each of at most 26 bits [Shewchuk1997] Theorem 17."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


@exact
def two_product(a, b):
    """(x, y) with x + y = a b exactly and x = fl(a b) [Shewchuk1997] Theorem 18."""
    x = a * b
    a1, a0 = split(a)
    b1, b0 = split(b)
    return x, a0 * b0 - (((x - a1 * b1) - a0 * b1) - a1 * b0)


@exact
def expansion_minor(ax, ay, bx, by, h):
    """Write ax by - bx ay into `h`; return the number of components (always 4, zeros included)."""
    p1, p0 = two_product(ax, by)
    q1, q0 = two_product(bx, ay)
    i, h[0] = two_difference(p0, q0)
    j, k = two_sum(p1, i)
    i, h[1] = two_difference(k, q1)
    h[3], h[2] = two_sum(j, i)
    return 4


@exact
def expansion_sum(e, e_count, f, f_count, h):
    """Write e + f into `h` (not e or f), zeros left out; return the number of components, at least 1."""
    i = 0
    j = 0
    count = 0
    total = 0.0
    for _ in range(e_count + f_count):
        if j >= f_count or (i < e_count and abs(e[i]) < abs(f[j])):
            term = e[i]
            i += 1
        else:
            term = f[j]
            j += 1
        total, tail = two_sum(total, term)
        if tail != 0.0:
            h[count] = tail
            count += 1
    if total != 0.0 or count == 0:
        h[count] = total
        count += 1
    return count


@exact
def expansion_scale(e, e_count, b, h):
    """Write b e into `h` (not e), zeros left out; return the number of components, at least 1."""
    total = 0.0
    count = 0
    for i in range(e_count):
        product, low = two_product(e[i], b)
        middle, tail = two_sum(total, low)
        if tail != 0.0:
            h[count] = tail
            count += 1
        total, tail = fast_two_sum(product, middle)
        if tail != 0.0:
            h[count] = tail
            count += 1
    if total != 0.0 or count == 0:
        h[count] = total
        count += 1
    return count
