"""Solid harmonics R and S, and moments of triangles, as rows of real numbers.

    1/|x − y| = Σ_n Σ_m conj(S_n^m(y)) R_n^m(x),   |x| < |y|        no phase (−1)^m anywhere

Only m ≥ 0 is stored, as X_n^−m = (−1)^m conj(X_n^m) for R, S, and for moments and local coefficients of real
potentials: Re X_n^0 in place n², Re X_n^m in n² + 2 m − 1 and Im X_n^m in n² + 2 m; (p + 1)² numbers up to order p.
The recurrences need no angles, and hold at the poles and, of R, in the origin.
"""

import math

import numpy as np

from impinge._jit import exact, part


@exact
def size(order):
    """How many numbers there are up to an order."""
    return (order + 1) * (order + 1)


@part
def regular(order, x, y, z, out):
    """R_n^m of a point, for n up to `order`."""
    square = x * x + y * y + z * z
    re, im = 1.0, 0.0  # R_m^m
    for m in range(order + 1):
        if m > 0:
            re, im = (re * x - im * y) / (2.0 * m), (re * y + im * x) / (2.0 * m)
        below_re, below_im, now_re, now_im = 0.0, 0.0, re, im
        for n in range(m, order + 1):
            at = n * n + 2 * m
            if m > 0:
                out[at - 1], out[at] = now_re, now_im
            else:
                out[at] = now_re
            # R_{n+1}^m = [(2n + 1) z R_n^m − |x|² R_{n−1}^m] / ((n + 1 + m)(n + 1 − m)), where R_{m−1}^m = 0
            per = 1.0 / ((n + 1.0 + m) * (n + 1.0 - m))
            up, sub = (2.0 * n + 1.0) * z * per, square * per
            below_re, below_im, now_re, now_im = (
                now_re, now_im, up * now_re - sub * below_re, up * now_im - sub * below_im,
            )  # fmt: skip


@part
def singular(order, x, y, z, out):
    """S_n^m of a point other than the origin, for n up to `order`."""
    per = 1.0 / (x * x + y * y + z * z)
    re, im = math.sqrt(per), 0.0  # S_m^m
    for m in range(order + 1):
        if m > 0:
            f = (2.0 * m - 1.0) * per
            re, im = f * (re * x - im * y), f * (re * y + im * x)
        below_re, below_im, now_re, now_im = 0.0, 0.0, re, im
        for n in range(m, order + 1):
            at = n * n + 2 * m
            if m > 0:
                out[at - 1], out[at] = now_re, now_im
            else:
                out[at] = now_re
            # S_{n+1}^m = [(2n + 1) z S_n^m − (n² − m²) S_{n−1}^m] / |y|²
            up, sub = (2.0 * n + 1.0) * z * per, (1.0 * n * n - 1.0 * m * m) * per
            below_re, below_im, now_re, now_im = (
                now_re, now_im, up * now_re - sub * below_re, up * now_im - sub * below_im,
            )  # fmt: skip


@part
def add_dipole(order, nx, ny, nz, weight, row, out):
    """Add weight · n·∇R_n^m at a point to moments; row : R_n^m there.

    ∂1 R_n^m = (R_{n−1}^{m−1} − R_{n−1}^{m+1}) / 2,  ∂2 R_n^m = i (R_{n−1}^{m−1} + R_{n−1}^{m+1}) / 2,
    ∂3 R_n^m = R_{n−1}^m
    """
    for n in range(1, order + 1):
        base = (n - 1) * (n - 1)
        for m in range(n + 1):
            # R_{n−1}^{m−1}, with R^−1 = −conj(R^1)
            a_re, a_im, b_re, b_im, c_re, c_im = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            if m > 1:
                a_re, a_im = row[base + 2 * m - 3], row[base + 2 * m - 2]
            elif m == 1:
                a_re = row[base]
            elif n > 1:
                a_re, a_im = -row[base + 1], row[base + 2]
            if m + 1 <= n - 1:
                b_re, b_im = row[base + 2 * m + 1], row[base + 2 * m + 2]
            if m <= n - 1:
                c_re = row[base + 2 * m - 1] if m > 0 else row[base]
                c_im = row[base + 2 * m] if m > 0 else 0.0
            re = 0.5 * nx * (a_re - b_re) - 0.5 * ny * (a_im + b_im) + nz * c_re
            im = 0.5 * nx * (a_im - b_im) + 0.5 * ny * (a_re + b_re) + nz * c_im
            at = n * n + 2 * m
            if m > 0:
                out[at - 1] += weight * re
                out[at] += weight * im
            else:
                out[at] += weight * re


@part
def _power_sums(order, ar, ai, br, bi, cr, ci, re, im):
    """h_k(a, b, c) for k below `order`: complete homogeneous symmetric polynomials of three complex numbers."""
    re[0], im[0] = 1.0, 0.0
    for k in range(1, order):  # of a alone: its powers
        re[k], im[k] = re[k - 1] * ar - im[k - 1] * ai, re[k - 1] * ai + im[k - 1] * ar
    for k in range(1, order):
        re[k], im[k] = re[k] + br * re[k - 1] - bi * im[k - 1], im[k] + br * im[k - 1] + bi * re[k - 1]
    for k in range(1, order):
        re[k], im[k] = re[k] + cr * re[k - 1] - ci * im[k - 1], im[k] + cr * im[k - 1] + ci * re[k - 1]


@part
def add_triangle(order, x1, y1, z1, x2, y2, z2, x3, y3, z3, circle, sums, re, im):
    """Add what a triangle gives to the sums of its cluster: Σ_m M_n^m u^m on half of the unit circle.

    At u it is n·a h_{n−1}(α1, α2, α3) / (n + 1)!, with n the cross product of two sides, twice the area long,
    a = ((u − 1/u) / 2, i (u + 1/u) / 2, 1) and α_i = a · corner i: exact for every n, without quadrature. At −u it is
    the conjugate, as moments are those of a real potential.

    Corners are relative to the centre; circle : (order + 1, 2) the u, cos and sin of π j / (order + 1);
    sums : (order + 1, order + 1, 2) for every u and n, real and imaginary; re, im : (order,) work space.
    """
    ux, uy, uz, vx, vy, vz = x2 - x1, y2 - y1, z2 - z1, x3 - x1, y3 - y1, z3 - z1
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    for j in range(order + 1):
        s, c = circle[j, 1], circle[j, 0]
        # a = (i sin φ, i cos φ, 1)
        _power_sums(order, z1, s * x1 + c * y1, z2, s * x2 + c * y2, z3, s * x3 + c * y3, re, im)
        head_re, head_im, f = nz, s * nx + c * ny, 1.0
        for n in range(1, order + 1):
            f /= n + 1.0  # 1 / (n + 1)!
            sums[j, n, 0] += f * (head_re * re[n - 1] - head_im * im[n - 1])
            sums[j, n, 1] += f * (head_re * im[n - 1] + head_im * re[n - 1])


@part
def finish_moments(order, circle, sums, out):
    """Moments from the sums over a cluster's triangles: a Fourier transform of every n."""
    per = 1.0 / (order + 1.0)
    for n in range(1, order + 1):
        for m in range(n + 1):
            re, im = 0.0, 0.0
            for j in range(order + 1):
                # u^−m (f + (−1)^m conj f) / 2: the real part of f for even m, i times the imaginary one for odd m
                turns = (m * j) % (2 * (order + 1))
                sign = 1.0 if turns <= order else -1.0
                at = turns % (order + 1)
                cosine, sine = sign * circle[at, 0], sign * circle[at, 1]
                f = sums[j, n, m % 2]
                if m % 2 == 0:
                    re, im = re + cosine * f, im - sine * f
                else:
                    re, im = re + sine * f, im + cosine * f
            at = n * n + 2 * m
            if m > 0:
                out[at - 1], out[at] = per * re, per * im
            else:
                out[at] = per * re


def circle(order):
    """Half of the unit circle: cos and sin of π j / (order + 1)."""
    angles = np.pi * np.arange(order + 1) / (order + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])
