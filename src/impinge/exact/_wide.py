"""Signs of the orientation determinants for any finite doubles, by integers of up to 6500 bits.

The last resort of ``_orient.py``, for coordinates so large or so small that expansions would over- or
underflow: slow (microseconds), but without any condition. The sign of a determinant does not change when
one axis is multiplied by a power of two, so each axis is scaled by its own to make all coordinates integers.

An integer is an int64 array of digits of 26 bits, lowest first. Digits may have any sign: a difference is
taken digit by digit, a product is a plain convolution, and carries are resolved once at the end. With at
most 84 digits below 2^27 in magnitude, two convolutions add up to less than 2 · 84 · 2^54 < 2^62.
"""

from __future__ import annotations

import math

import numpy as np

from impinge._jit import exact

BITS = 26
MASK = (1 << BITS) - 1
LARGEST = 4096  # above the exponent of any double


@exact
def _exponent(value):
    """Exponent e for which value, not 0, is an integer of 53 bits times 2^e."""
    return math.frexp(value)[1] - 53


@exact
def _add_double(sign, value, low, digits):
    """Add sign · value / 2^low to digits, where 2^low divides value."""
    if value == 0.0:
        return
    mantissa, exponent = math.frexp(value)
    integer = np.int64(mantissa * 9007199254740992.0)
    if integer < 0:
        integer = -integer
        sign = -sign
    shift = exponent - 53 - low
    place = shift // BITS
    shift -= place * BITS
    for _ in range(3):  # 53 bits, 26 at a time
        part = (integer & MASK) << shift
        digits[place] += sign * (part & MASK)
        digits[place + 1] += sign * (part >> BITS)
        integer >>= BITS
        place += 1


@exact
def _differences(a, b, c, d):
    """Digits of a - d, b - d and c - d, one row each, after scaling all by a common power of two."""
    low = LARGEST
    high = -LARGEST
    for value in (a, b, c, d):
        if value != 0.0:
            exponent = _exponent(value)
            low = min(low, exponent)
            high = max(high, exponent)
    length = 4 if high < low else (high - low) // BITS + 4
    result = np.zeros((3, length), np.int64)
    for i, value in enumerate((a, b, c)):
        _add_double(1, value, low, result[i])
        _add_double(-1, d, low, result[i])
    return result


@exact
def _add_product(sign, u, v, digits):
    """Add sign · u · v to digits, carries left open."""
    for i in range(len(u)):
        factor = sign * u[i]
        if factor != 0:
            for j in range(len(v)):
                digits[i + j] += factor * v[j]


@exact
def _carry(digits):
    """Bring all digits but the last into 0 … 2^26 - 1; the last then carries the sign."""
    carry = np.int64(0)
    last = len(digits) - 1
    for i in range(last):
        value = digits[i] + carry
        digits[i] = value & MASK
        carry = value >> BITS
    digits[last] += carry


@exact
def _minor(x, y, i, j):
    """x_i y_j - x_j y_i, carried."""
    digits = np.zeros(x.shape[1] + y.shape[1] + 2, np.int64)
    _add_product(1, x[i], y[j], digits)
    _add_product(-1, x[j], y[i], digits)
    _carry(digits)
    return digits


@exact
def _sign(digits):
    """Sign of a carried integer."""
    if digits[len(digits) - 1] < 0:
        return -1
    for i in range(len(digits)):
        if digits[i] != 0:
            return 1
    return 0


@exact
def orient2d_wide(ax, ay, bx, by, cx, cy):
    """Sign of (a - c) × (b - c) for any finite doubles."""
    x = _differences(ax, bx, cx, cx)
    y = _differences(ay, by, cy, cy)
    return _sign(_minor(x, y, 0, 1))


@exact
def orient3d_wide(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Sign of (a - d) · (b - d) × (c - d) for any finite doubles."""
    x = _differences(ax, bx, cx, dx)
    y = _differences(ay, by, cy, dy)
    z = _differences(az, bz, cz, dz)
    digits = np.zeros(x.shape[1] + y.shape[1] + z.shape[1] + 4, np.int64)
    _add_product(1, z[0], _minor(x, y, 1, 2), digits)
    _add_product(1, z[1], _minor(x, y, 2, 0), digits)
    _add_product(1, z[2], _minor(x, y, 0, 1), digits)
    _carry(digits)
    return _sign(digits)
