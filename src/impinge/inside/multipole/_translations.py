"""Moments and local coefficients about other centres, as matrices of real numbers (`_harmonics` has their order).

moments about the father: M_n^m += Σ_s Σ_t R_s^t(d) M_{n−s}^{m−t}, with d from the father's centre to this one; exact
local from moments: L_n^m += (−1)^n Σ_s Σ_t conj(S_{n+s}^{m+t}(d)) M_s^t, d to the centre of L; cut off at the order
local about the son: L_n^m += Σ_s Σ_t R_{s−n}^{t−m}(d) L_s^t over s ≥ n, d to the son's centre; exact
"""

import numpy as np

from impinge._jit import kernel, part
from impinge.inside.multipole._harmonics import regular, singular


@part
def _entry(row, n, m):
    """X_n^m of a row, for any sign of m; 0 beyond n."""
    if abs(m) > n:
        return 0.0, 0.0
    if m == 0:
        return row[n * n], 0.0
    re, im = row[n * n + 2 * abs(m) - 1], row[n * n + 2 * abs(m)]
    if m > 0:
        return re, im
    return (re, -im) if m % 2 == 0 else (-re, im)


@part
def _add(matrix, n, m, k, q, re, im):
    """Add to the rows of X_n^m, m ≥ 0, a complex factor of the columns of X_k^q, q of any sign."""
    sign = 1.0 if q >= 0 or q % 2 == 0 else -1.0
    real, imaginary = n * n + max(2 * m - 1, 0), n * n + 2 * m
    column = k * k + max(2 * abs(q) - 1, 0)
    matrix[real, column] += sign * re
    if m > 0:
        matrix[imaginary, column] += sign * im
    if q != 0:
        turn = sign if q > 0 else -sign
        matrix[real, column + 1] -= turn * im
        if m > 0:
            matrix[imaginary, column + 1] += turn * re


@kernel
def moments_to_father(order, x, y, z, row, matrix):
    """Fill the matrix; row : work space of (order + 1)² numbers."""
    regular(order, x, y, z, row)
    matrix[:] = 0.0
    for n in range(order + 1):
        for m in range(n + 1):
            for s in range(n + 1):
                for t in range(-s, s + 1):
                    if abs(m - t) <= n - s:
                        re, im = _entry(row, s, t)
                        _add(matrix, n, m, n - s, m - t, re, im)


@kernel
def moments_to_local(order, x, y, z, row, matrix):
    """Fill the matrix; row : work space of (2 order + 1)² numbers."""
    singular(2 * order, x, y, z, row)
    matrix[:] = 0.0
    for n in range(order + 1):
        sign = 1.0 if n % 2 == 0 else -1.0
        for m in range(n + 1):
            for s in range(order + 1):
                for t in range(-s, s + 1):
                    re, im = _entry(row, n + s, m + t)
                    _add(matrix, n, m, s, t, sign * re, -sign * im)


@kernel
def local_to_son(order, x, y, z, row, matrix):
    """Fill the matrix; row : work space of (order + 1)² numbers."""
    regular(order, x, y, z, row)
    matrix[:] = 0.0
    for n in range(order + 1):
        for m in range(n + 1):
            for s in range(n, order + 1):
                for t in range(-s, s + 1):
                    if abs(t - m) <= s - n:
                        re, im = _entry(row, s - n, t - m)
                        _add(matrix, n, m, s, t, re, im)


# High orders: matrices would be too many and too large, and are never written down.


@part
def expand(order, row, re, im):
    """X_n^m of a row, for −n ≤ m ≤ n, in place n² + n + m of two arrays."""
    for n in range(order + 1):
        for m in range(-n, n + 1):
            re[n * n + n + m], im[n * n + n + m] = _entry(row, n, m)


@kernel
def fill_singular(order, x, y, z, row, re, im):
    """All S of an offset that `add_converted` needs; row : work space of (2 order + 1)² numbers."""
    singular(2 * order, x, y, z, row)
    expand(2 * order, row, re, im)


@part
def add_converted(order, s_re, s_im, start, m_re, m_im, l_re, l_im):
    """L_n^m += (−1)^n Σ_s Σ_t conj(S_{n+s}^{m+t}) M_s^t for m ≥ 0; all in places of `expand`, S from `start` on."""
    for n in range(order + 1):
        sign = 1.0 if n % 2 == 0 else -1.0
        for s in range(1, order + 1):
            for t in range(-s, s + 1):
                a, b = sign * m_re[s * s + s + t], sign * m_im[s * s + s + t]
                at, to = np.uint64(start + (n + s) * (n + s) + n + s + t), np.uint64(n * n + n)
                for m in range(np.uint64(n + 1)):
                    l_re[to + m] += s_re[at + m] * a + s_im[at + m] * b
                    l_im[to + m] += s_re[at + m] * b - s_im[at + m] * a
