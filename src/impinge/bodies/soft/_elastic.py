"""Elastic laws as functions of numbers: energies, their gradients, and Hessians without negative eigenvalues."""

import math

from impinge._jit import part

_NOTHING = 1e-200  # squares of lengths below have lost digits, and quotients would leave the range of numbers


@part
def stretch(x, y, z, stiffness, rest, keep):
    """Of E = k/2 (|d| − l₀)²: (pull, side, along), with gradient = pull d and Hessian = side 1 + along d dᵀ.

    The Hessian is k n nᵀ + k (1 − l₀/|d|) (1 − n nᵀ), n = d/|d|. Pressed together, the second part is negative; only a
    share of it is kept. At no length at all there is no direction: no force, and k 1, that of the
    least parabola on top of E.
    """
    length_sq = x * x + y * y + z * z
    if length_sq < _NOTHING:
        return 0.0, stiffness, 0.0
    length = math.sqrt(length_sq)
    pull = stiffness * (1.0 - rest / length)
    side = pull if pull >= 0.0 else keep * pull
    return pull, side, (stiffness - side) / length_sq


@part
def lengthen(x, y, z, dx, dy, dz, stiffness):
    """Of the same E, when d changes by Δ: the pull of what its length grows by beyond n·Δ, to second order.

    That is (Δ² − (n·Δ)²)/2|d|: what turns gets longer if it goes straight.
    """
    length_sq = x * x + y * y + z * z
    if length_sq < _NOTHING:
        return 0.0
    along = x * dx + y * dy + z * dz
    across_sq = max(dx * dx + dy * dy + dz * dz - along * along / length_sq, 0.0)
    return 0.5 * stiffness * across_sq / length_sq


@part
def positive(a, b, d):
    """The symmetric matrix [a b; b d], with a and d ≥ 0, less its negative eigenvalue if it has one."""
    if a * d >= b * b:
        return a, b, d
    middle = 0.5 * (a + d)
    radius = math.sqrt(0.25 * (a - d) * (a - d) + b * b)  # of the eigenvalues about the middle
    share, lift = (middle + radius) / (2.0 * radius), radius - middle
    return share * (a + lift), share * b, share * (d + lift)


@part
def membrane(ux, uy, uz, vx, vy, vz, warp, weft, shear, rest_u, rest_v, rest_cross, keep):
    """Of E = kᵤ/2 (|u| − rᵤ)² + kᵥ/2 (|v| − rᵥ)² + kₛ/2 (u·v − rₛ)²: what its derivatives by u and v are made of.

    (pull_u, pull_v, cross, along_u, along_v, uu, uv, vv), with the gradient (pull_u u + cross v, pull_v v + cross u)
    and the Hessian

        [uu 1  uv 1]   [along_u u uᵀ             ]      [v] [v]ᵀ
        [uv 1  vv 1] + [             along_v v vᵀ] + kₛ [u] [u] .

    It is exact where nothing is pressed together and tension prevails over shear: where the first term as it is,
    with uv = kₛ (u·v − rₛ), has no negative eigenvalue. Elsewhere only a share of what is negative is kept.
    """
    pull_u, side_u, along_u = stretch(ux, uy, uz, warp, rest_u, keep)
    pull_v, side_v, along_v = stretch(vx, vy, vz, weft, rest_v, keep)
    cross = shear * (ux * vx + uy * vy + uz * vz - rest_cross)
    uu, uv, vv = positive(max(side_u, 0.0), cross, max(side_v, 0.0))
    uu, uv, vv = uu + keep * (pull_u - uu), uv + keep * (cross - uv), vv + keep * (pull_v - vv)
    return pull_u, pull_v, cross, along_u, along_v, uu, uv, vv
