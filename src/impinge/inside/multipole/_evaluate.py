"""Evaluation of one cell of the multipole method for the points in it: its local expansion, and the leaves near it.

A leaf that is far from a point, at least d radii from the middle of its box, gives its moments; a nearer one its
triangles. All lanes of a loop are independent, points or leaves, so that the compiler makes vectors of them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import LANES, kernel, part
from impinge.inside.multipole._near import PERIOD, finish_products, multiply, settle, shorten, start_products

SCALES = 2.0 ** np.arange(64)  # sides of the root per side of a box, by level
BLOCK = 64  # leaves that are evaluated side by side: several vectors, since each step waits for the one before
ROOM = 256  # leaves at a time, of low orders; their rows should stay in the cache
PAD = ROOM + LANES  # numbers of a row: copies run over the end by less than LANES
# Rows of the leaves at hand, before those of their moments: a leaf's sides per side of the cell, the middle of its
# box, from the cell's, in its sides, and the squared distance from which it is far
PER, MIDDLE_X, MIDDLE_Y, MIDDLE_Z, FAR, MOMENTS = range(6)
# Columns of `Leaves.table`
LEVEL, PLACE_X, PLACE_Y, PLACE_Z, FIRST, BEGIN, END, IS_WIDE = range(8)
# Rows of BLOCK lanes
RE, IM, BELOW_RE, BELOW_IM, TOP_RE, TOP_IM, X, Y, Z, SQUARE, TOTAL, SUM = (np.uint64(row * BLOCK) for row in range(12))


class Leaves(NamedTuple):
    """The leaves of the source tree in the order of their triangles."""

    table: NDArray[np.int64]  # (leaves, 8) level, place of the box, first chunk, triangles from and to, wide
    middles: NDArray[np.float64]  # (leaves, 3) of their triangles, in sides of the box, from the corner of the root
    far: NDArray[np.float64]  # squared distance from there from which points are far
    chunks: NDArray[Any]  # LANES triangles each, flat
    corners: NDArray[np.float64]  # (triangles, 9) as the user gave them
    moments: NDArray[Any]  # ((order + 1)² − 1, leaves + LANES), flat, times their weight
    constants: NDArray[Any]  # 0, 1, the noise at every level, and from how many sides of a cell on leaves may be far


class Scratch(NamedTuple):
    """Work space of one thread, flat, so that the compiler knows that rows do not overlap."""

    rows: NDArray[Any]  # (MOMENTS + (order + 1)² − 1, PAD) of the leaves at hand
    at_hand: NDArray[np.int64]  # (PAD,) their numbers
    lanes: NDArray[Any]  # (SUM + 1, BLOCK)
    flags: NDArray[np.int32]  # (BLOCK,)
    nearest: NDArray[np.int64]  # (PAD,) leaves near a point
    products: NDArray[Any]  # (3, LANES) of `_near`
    numbers: NDArray[Any]  # (3,)


@part
def make_scratch(order, like):
    """Work space in the type of an array."""
    return Scratch(
        np.zeros((MOMENTS + (order + 1) * (order + 1) - 1) * PAD, like.dtype), np.zeros(PAD, np.int64),
        np.zeros(12 * BLOCK, like.dtype), np.zeros(BLOCK, np.int32), np.zeros(PAD, np.int64),
        np.zeros(3 * LANES, like.dtype), np.zeros(3, like.dtype),
    )  # fmt: skip


# Local expansion: lanes are points


@part
def _start_regular(s, one, zero):
    for i in range(np.uint64(LANES)):
        x, y, z = s[X + i], s[Y + i], s[Z + i]
        s[SQUARE + i] = x * x + y * y + z * z
        s[RE + i], s[IM + i], s[BELOW_RE + i], s[BELOW_IM + i] = one, zero, zero, zero
        s[TOP_RE + i], s[TOP_IM + i], s[TOTAL + i] = one, zero, zero


@part
def _raise_regular_order(s, half, zero):
    """R_m^m from R_{m−1}^{m−1}."""
    for i in range(np.uint64(LANES)):
        a, b = s[TOP_RE + i] * half, s[TOP_IM + i] * half
        re, im = a * s[X + i] - b * s[Y + i], a * s[Y + i] + b * s[X + i]
        s[TOP_RE + i], s[TOP_IM + i], s[RE + i], s[IM + i] = re, im, re, im
        s[BELOW_RE + i], s[BELOW_IM + i] = zero, zero


@part
def _raise_regular_degree(s, c, d, up, sub):
    """Add c Re R_n^m + d Im R_n^m; then R_{n+1}^m from R_n^m and R_{n−1}^m."""
    for i in range(np.uint64(LANES)):
        a, b = s[RE + i], s[IM + i]
        s[TOTAL + i] += c * a + d * b
        f, g = up * s[Z + i], sub * s[SQUARE + i]
        s[RE + i] = f * a - g * s[BELOW_RE + i]
        s[IM + i] = f * b - g * s[BELOW_IM + i]
        s[BELOW_RE + i], s[BELOW_IM + i] = a, b


@part
def _sum_local(order, weights, locals, base, lanes, one, zero):
    """J of a local expansion at LANES points, in row TOTAL: Σ R L, each times its weight."""
    _start_regular(lanes, one, zero)
    for m in range(order + 1):
        if m > 0:
            _raise_regular_order(lanes, one / (one * np.float32(2 * m)), zero)
        for n in range(m, order + 1):
            place = n * n + 2 * m
            first = max(place - 1, n * n)
            c, d = weights[first] * locals[base + first], weights[place] * locals[base + place] if m > 0 else zero
            per = one / (one * np.float32((n + 1 + m) * (n + 1 - m)))
            _raise_regular_degree(lanes, c, d, per * np.float32(2 * n + 1), per)


# Moments of leaves: lanes are leaves


@part
def _start_singular(rows, at, px, py, pz, s, flags, one, zero):
    """Where a point is, seen from leaves and in their sides, S_0^0 and S_1^0; not 0 if leaves are near."""
    some = np.int32(0)
    for k in range(np.uint64(BLOCK)):
        scale = rows[at + k]
        x = px * scale - rows[at + k + np.uint64(MIDDLE_X * PAD)]
        y = py * scale - rows[at + k + np.uint64(MIDDLE_Y * PAD)]
        z = pz * scale - rows[at + k + np.uint64(MIDDLE_Z * PAD)]
        square = x * x + y * y + z * z
        flag = np.int32(square < rows[at + k + np.uint64(FAR * PAD)])
        flags[k] = flag
        some |= flag
        per = one / square
        top = math.sqrt(per)
        s[X + k], s[Y + k], s[Z + k], s[SQUARE + k] = x, y, z, per
        s[TOP_RE + k], s[TOP_IM + k], s[RE + k], s[BELOW_RE + k], s[TOTAL + k] = top, zero, z * per * top, top, zero
    return some


@part
def _raise_zonal_degree(rows, at, s, up, sub):
    """Add S_n^0, which is real, times a row of moments; then S_{n+1}^0 from S_n^0 and S_{n−1}^0."""
    for k in range(np.uint64(BLOCK)):
        a, per = s[RE + k], s[SQUARE + k]
        s[TOTAL + k] += rows[at + k] * a
        s[RE + k] = up * s[Z + k] * per * a - sub * per * s[BELOW_RE + k]
        s[BELOW_RE + k] = a


@part
def _raise_singular_order(s, f, zero):
    """S_m^m from S_{m−1}^{m−1}."""
    for k in range(np.uint64(BLOCK)):
        q = s[SQUARE + k] * f
        a, b = s[TOP_RE + k] * q, s[TOP_IM + k] * q
        re, im = a * s[X + k] - b * s[Y + k], a * s[Y + k] + b * s[X + k]
        s[TOP_RE + k], s[TOP_IM + k], s[RE + k], s[IM + k] = re, im, re, im
        s[BELOW_RE + k], s[BELOW_IM + k] = zero, zero


@part
def _raise_singular_degree(rows, at, s, up, sub):
    """Add Re and Im of S_n^m times two rows of moments; then S_{n+1}^m from S_n^m and S_{n−1}^m."""
    for k in range(np.uint64(BLOCK)):
        a, b, per = s[RE + k], s[IM + k], s[SQUARE + k]
        s[TOTAL + k] += rows[at + k] * a + rows[at + np.uint64(PAD) + k] * b
        f, g = up * s[Z + k] * per, sub * per
        s[RE + k] = f * a - g * s[BELOW_RE + k]
        s[IM + k] = f * b - g * s[BELOW_IM + k]
        s[BELOW_RE + k], s[BELOW_IM + k] = a, b


@part
def _add_far(flags, s, zero):
    for k in range(np.uint64(BLOCK)):
        s[SUM + k] += s[TOTAL + k] if flags[k] == 0 else zero


@part
def _sum_third_order(rows, at, px, py, pz, s, flags, one, zero):
    """The same of LANES leaves for order 3, written out: all stays in registers, which halves its time."""
    some = np.int32(0)
    three, four, five = one * np.float32(3), one * np.float32(4), one * np.float32(5)
    for k in range(np.uint64(LANES)):
        r = at + k
        scale = rows[r]
        x = px * scale - rows[r + np.uint64(MIDDLE_X * PAD)]
        y = py * scale - rows[r + np.uint64(MIDDLE_Y * PAD)]
        z = pz * scale - rows[r + np.uint64(MIDDLE_Z * PAD)]
        square = x * x + y * y + z * z
        flag = np.int32(square < rows[r + np.uint64(FAR * PAD)])
        flags[k] = flag
        some |= flag
        per = one / square
        top = math.sqrt(per)
        x, y, z = x * per, y * per, z * per
        s10, s11, t11 = z * top, x * top, y * top  # S_1^0, and real and imaginary part of S_1^1
        total = rows[r + np.uint64(5 * PAD)] * s10
        total += rows[r + np.uint64(6 * PAD)] * s11 + rows[r + np.uint64(7 * PAD)] * t11
        f = three * z
        s20, s21, t21 = f * s10 - per * top, f * s11, f * t11
        s22, t22 = three * (x * s11 - y * t11), three * (x * t11 + y * s11)
        total += rows[r + np.uint64(8 * PAD)] * s20
        total += rows[r + np.uint64(9 * PAD)] * s21 + rows[r + np.uint64(10 * PAD)] * t21
        total += rows[r + np.uint64(11 * PAD)] * s22 + rows[r + np.uint64(12 * PAD)] * t22
        f, g = five * z, three * per
        total += rows[r + np.uint64(13 * PAD)] * (f * s20 - four * per * s10)
        total += rows[r + np.uint64(14 * PAD)] * (f * s21 - g * s11) + rows[r + np.uint64(15 * PAD)] * (
            f * t21 - g * t11
        )
        total += rows[r + np.uint64(16 * PAD)] * (f * s22) + rows[r + np.uint64(17 * PAD)] * (f * t22)
        total += rows[r + np.uint64(18 * PAD)] * (five * (x * s22 - y * t22))
        total += rows[r + np.uint64(19 * PAD)] * (five * (x * t22 + y * s22))
        s[SUM + k] += total if flag == 0 else zero
    return some


@part
def _sum_of_lanes(s):
    """Sum of row SUM, halved by vectors first."""
    for k in range(np.uint64(32)):
        s[SUM + k] += s[SUM + k + np.uint64(32)]
    for k in range(np.uint64(16)):
        s[SUM + k] += s[SUM + k + np.uint64(16)]
    for k in range(np.uint64(8)):
        s[SUM + k] += s[SUM + k + np.uint64(8)]
    return (
        (s[SUM] + s[SUM + np.uint64(1)]) + (s[SUM + np.uint64(2)] + s[SUM + np.uint64(3)])
        + (s[SUM + np.uint64(4)] + s[SUM + np.uint64(5)]) + (s[SUM + np.uint64(6)] + s[SUM + np.uint64(7)])
    )  # fmt: skip


@part
def _sum_moments(order, rows, at, px, py, pz, lanes, flags, one, zero):
    """Add Σ S M of BLOCK leaves, from column `at` on, to row SUM; not 0 if some are near, and left out here."""
    some = _start_singular(rows, at, px, py, pz, lanes, flags, one, zero)
    for n in range(1, order + 1):
        row = at + np.uint64((MOMENTS - 1 + n * n) * PAD)
        _raise_zonal_degree(rows, row, lanes, one * np.float32(2 * n + 1), one * np.float32(n * n))
    for m in range(1, order + 1):
        _raise_singular_order(lanes, one * np.float32(2 * m - 1), zero)
        for n in range(m, order + 1):
            row = at + np.uint64((MOMENTS - 2 + n * n + 2 * m) * PAD)
            up, sub = one * np.float32(2 * n + 1), one * np.float32(n * n - m * m)
            _raise_singular_degree(rows, row, lanes, up, sub)
    _add_far(flags, lanes, zero)
    return some


@part
def _copy_moments(source, count, length, first, to, rows):
    """Rows of moments of LANES leaves from `first` on; too many at the end of a run, whose columns come later."""
    i, j = np.uint64(first), np.uint64(to + MOMENTS * PAD)
    for _ in range(count):
        for k in range(np.uint64(LANES)):
            rows[j + k] = source[i + k]
        i += np.uint64(length)
        j += np.uint64(PAD)


@part
def _take_leaves(begin, end, at, level, x, y, z, table, middles, far, moments, blur, rows, at_hand):
    """Columns at, at + 1, ... become leaves begin to end; (x, y, z) : middle of the cell, in its sides."""
    count, length = len(rows) // PAD - MOMENTS, len(table) + LANES
    for first in range(begin, end, LANES):
        _copy_moments(moments, count, length, first, at + first - begin, rows)
    for leaf in range(begin, end):
        scale = SCALES[table[leaf, LEVEL]] / SCALES[level]
        rows[at] = scale
        rows[at + MIDDLE_X * PAD] = middles[leaf, 0] - x * scale
        rows[at + MIDDLE_Y * PAD] = middles[leaf, 1] - y * scale
        rows[at + MIDDLE_Z * PAD] = middles[leaf, 2] - z * scale
        rows[at + FAR * PAD] = max(far[leaf], (blur * scale) * (blur * scale))
        at_hand[at] = leaf
        at += 1


@part
def _step(order):
    return LANES if order == 3 else BLOCK


@part
def _room(order):
    return ROOM if order < 7 else BLOCK


@part
def _are_few(order, at, chunks):
    """Whether leaves at hand are so few that their triangles cost less than a step of moments; in ns, as measured."""
    moments = 2.5 if order == 3 else 0.25 * (order + 1) * (order + 1)
    return 20.0 * chunks < moments * _step(order) * (-(-at // _step(order)))


@part
def _pad(order, at, rows):
    """Up to the next step: leaves far away without moments."""
    while at % _step(order) != 0:
        for row in range(len(rows) // PAD):
            rows[at + row * PAD] = 0.0
        rows[at + MIDDLE_X * PAD] = 16.0
        at += 1
    return at


@part
def _find_near(order, columns, px, py, pz, rows, at_hand, lanes, flags, nearest, one, zero):
    """J of the leaves at hand that are far from a point; how many are near, and which ones, in `nearest`."""
    for k in range(np.uint64(BLOCK)):
        lanes[SUM + k] = zero
    count = 0
    step = _step(order)
    for at in range(0, columns, step):
        if order == 3:
            some = _sum_third_order(rows, np.uint64(at), px, py, pz, lanes, flags, one, zero)
        else:
            some = _sum_moments(order, rows, np.uint64(at), px, py, pz, lanes, flags, one, zero)
        if some != 0:
            for k in range(step):
                if flags[k] != 0:
                    nearest[count] = at_hand[at + k]
                    count += 1
    return _sum_of_lanes(lanes), count


@part
def _sum_locals(order, level, x, y, z, begin, end, points, places, weights, locals, base, lanes, winding, one, zero):
    """Local expansion of a cell at its points."""
    scale = SCALES[level]
    for first in range(begin, end, LANES):
        here = min(LANES, end - first)
        for i in range(here):
            j = np.uint64(i)
            lanes[X + j] = points[first + i, 0] * scale - x
            lanes[Y + j] = points[first + i, 1] * scale - y
            lanes[Z + j] = points[first + i, 2] * scale - z
        _sum_local(order, weights, locals, base, lanes, one, zero)
        for i in range(here):
            winding[places[first + i]] = lanes[TOTAL + np.uint64(i)]


@kernel
def evaluate_cell(
    order, level, ix, iy, iz, begin, end, points, places, given, weights, locals, base, listed, start, count, table,
    middles, far, chunks, corners, moments, constants, rows, at_hand, lanes, flags, nearest, products, numbers, winding,
    status,
):  # fmt: skip
    """Winding numbers of points begin to end, which lie in one cell; numbers of (point, leaf) and (point, triangle).

    points : in root coordinates, sorted; places : where they are in `given`; locals[base:] : coefficients of the cell;
    listed[start:][:count] : ranges of near leaves. The loop over near leaves has no function of its own: the compiler
    would count references to its arrays at every call.
    """
    zero, one, scale = constants[0], constants[1], SCALES[level]
    x, y, z = ix + 0.5, iy + 0.5, iz + 0.5
    _sum_locals(order, level, x, y, z, begin, end, points, places, weights, locals, base, lanes, winding, one, zero)
    item, last, pairs, triangles = start, start + count, 0, 0
    leaf = listed[start, 0] if count > 0 else 0
    while item < last:
        at, taken = 0, 0
        while item < last and at < _room(order):
            stop = min(listed[item, 1], leaf + _room(order) - at)
            taken += (
                table[stop - 1, FIRST]
                - table[leaf, FIRST]
                + -(-(table[stop - 1, END] - table[stop - 1, BEGIN]) // LANES)
            )
            _take_leaves(leaf, stop, at, level, x, y, z, table, middles, far, moments, constants[-1], rows, at_hand)
            at, leaf = at + stop - leaf, stop
            if stop == listed[item, 1]:
                item += 1
                leaf = listed[item, 0] if item < last else 0
        all_near = _are_few(order, at, taken)
        for k in range(at):
            nearest[k] = at_hand[k]
        columns = _pad(order, at, rows)
        for i in range(begin, end):
            rx, ry, rz, g, near = points[i, 0], points[i, 1], points[i, 2], places[i], at
            if not all_near:
                numbers[0], numbers[1], numbers[2] = rx * scale - x, ry * scale - y, rz * scale - z
                total, near = _find_near(
                    order, columns, numbers[0], numbers[1], numbers[2], rows, at_hand, lanes, flags, nearest, one, zero
                )
                winding[g] += total
                pairs += at
            if near == 0:
                continue
            start_products(products, one, zero)
            factors = 0
            for entry in range(near):
                n = nearest[entry]
                noise, side = constants[2 + table[n, LEVEL]], SCALES[table[n, LEVEL]]
                numbers[0] = rx * side - (table[n, PLACE_X] + 0.5)
                numbers[1] = ry * side - (table[n, PLACE_Y] + 0.5)
                numbers[2] = rz * side - (table[n, PLACE_Z] + 0.5)
                px, py, pz, chunk = numbers[0], numbers[1], numbers[2], table[n, FIRST]
                is_wide = table[n, IS_WIDE] != 0 or abs(px) + abs(py) + abs(pz) > 16.0
                triangles += table[n, END] - table[n, BEGIN]
                for t in range(table[n, BEGIN], table[n, END], LANES):
                    if is_wide:  # single factors may be large
                        shorten(products, one)
                    if multiply(chunks, chunk, px, py, pz, products, one, zero, noise) != 0:
                        more, on_surface = settle(
                            given[g, 0], given[g, 1], given[g, 2], px, py, pz, chunks, chunk, t,
                            min(t + LANES, table[n, END]), corners, one, noise,
                        )  # fmt: skip
                        winding[g] += more
                        status[g] |= on_surface
                    chunk, factors = chunk + 1, factors + 1
                    if factors % PERIOD == 0 or is_wide:
                        shorten(products, one)
            winding[g] += finish_products(products, one, zero)
    return pairs, triangles
