"""Evaluation of one cell of the multipole method for the points in it: its local expansion, and the leaves near it.

A leaf that is far from a point, at least d radii from the middle of its triangles, gives its moments; a nearer one its
triangles. Lanes are points of local expansions, and leaves whose moments are summed up.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import kernel, lowest_bit, part
from impinge._lanes import LANES, bits, choose, load, spread, sqrt, store, total
from impinge.inside.multipole._near import PERIOD, finish_products, multiply, settle, shorten, start_products

SCALES = 2.0 ** np.arange(64)  # sides of the root per side of a box, by level
ROOM = 256  # leaves at a time, of low orders; their rows should stay in the cache
PAD = ROOM + LANES  # numbers of a row: copies run over the end by less than LANES
# Rows of the leaves at hand, before those of their moments: a leaf's sides per side of the cell, the middle of its
# triangles, from the cell's, in its sides, and the squared distance from which it is far
PER, MIDDLE_X, MIDDLE_Y, MIDDLE_Z, FAR, MOMENTS = range(6)
# Columns of `Leaves.table`
LEVEL, PLACE_X, PLACE_Y, PLACE_Z, FIRST, BEGIN, END, IS_WIDE = range(8)


class Leaves(NamedTuple):
    """The leaves of the source tree in the order of their triangles."""

    table: NDArray[np.int64]  # (leaves, 8) level, place of the box, first chunk, triangles from and to, wide
    middles: NDArray[np.float64]  # (leaves, 3) of their triangles, in sides of the box, from the corner of the root
    far: NDArray[np.float64]  # squared distance from there from which points are far
    chunks: NDArray[Any]  # LANES triangles each, flat
    corners: NDArray[np.float64]  # (triangles, 9) as the user gave them
    moments: NDArray[Any]  # ((order + 1)² − 1, leaves + LANES), flat, times their weight
    constants: NDArray[Any]  # the noise at every level, and from how many sides of a cell on leaves may be far


class Scratch(NamedTuple):
    """Work space of one thread."""

    rows: NDArray[Any]  # (MOMENTS + (order + 1)² − 1, PAD) of the leaves at hand, flat
    at_hand: NDArray[np.int64]  # (PAD,) their numbers
    nearest: NDArray[np.int64]  # (PAD,) leaves near a point
    places: NDArray[Any]  # (3, LANES) points, flat


@part
def make_scratch(order, like):
    """Work space in the type of an array."""
    return Scratch(
        np.zeros((MOMENTS + (order + 1) * (order + 1) - 1) * PAD, like.dtype), np.zeros(PAD, np.int64),
        np.zeros(PAD, np.int64), np.zeros(3 * LANES, like.dtype),
    )  # fmt: skip


@part
def _sum_local(order, weights, locals, base, x, y, z):
    """J of a local expansion at LANES points: Σ R L, each times its weight."""
    square = x * x + y * y + z * z
    top_re, top_im = spread(weights, 1.0), spread(weights, 0.0)  # R_m^m
    result, zero = top_im, top_im
    for m in range(order + 1):
        if m > 0:
            a, b = top_re * (0.5 / m), top_im * (0.5 / m)
            top_re, top_im = a * x - b * y, a * y + b * x
        re, im, below_re, below_im = top_re, top_im, zero, zero  # R_n^m and R_{n−1}^m
        for n in range(m, order + 1):
            place = n * n + 2 * m
            at = max(place - 1, n * n)
            result = result + re * (weights[at] * locals[base + at])
            if m > 0:
                result = result + im * (weights[place] * locals[base + place])
            per = 1.0 / ((n + 1 + m) * (n + 1 - m))
            f, g = z * (per * (2 * n + 1)), square * per
            re, im, below_re, below_im = f * re - g * below_re, f * im - g * below_im, re, im
    return result


@part
def _sum_moments(order, rows, at, x, y, z, per):
    """Σ S M of LANES leaves, from column `at` on, at (x, y, z) from their middles; per : 1 / r²."""
    top_re, x, y, z = sqrt(per), x * per, y * per, z * per  # S_m^m
    zero, result = per * 0.0, per * 0.0
    top_im = zero
    re, below_re, up, sub = z * top_re, top_re, zero + 3.0, zero + 1.0  # S_n^m and S_{n−1}^m; 2 n + 1 and n² − m²
    for n in range(1, order + 1):
        result = result + load(rows, at + np.uint64((MOMENTS - 1 + n * n) * PAD)) * re
        re, below_re = (up * z) * re - (sub * per) * below_re, re
        up, sub = up + 2.0, sub + up
    grow = zero + 1.0  # 2 m − 1
    for m in range(1, order + 1):
        a, b = top_re * grow, top_im * grow
        top_re, top_im, grow = a * x - b * y, a * y + b * x, grow + 2.0
        re, im, below_re, below_im, up, sub = top_re, top_im, zero, zero, grow, zero
        for n in range(m, order + 1):
            row = at + np.uint64((MOMENTS - 2 + n * n + 2 * m) * PAD)
            result = result + load(rows, row) * re + load(rows, row + np.uint64(PAD)) * im
            f, g = up * z, sub * per
            re, im, below_re, below_im = f * re - g * below_re, f * im - g * below_im, re, im
            up, sub = up + 2.0, sub + up
    return result


@part
def _copy_moments(source, count, length, first, to, rows):
    """Rows of moments of LANES leaves from `first` on; too many at the end of a run, whose columns come later."""
    i, j = np.uint64(first), np.uint64(to + MOMENTS * PAD)
    for _ in range(count):
        store(rows, j, load(source, i))
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
def _room(order):
    return ROOM if order < 7 else 64


@part
def _are_few(order, at, chunks):
    """Whether leaves at hand are so few that their triangles cost less than a step of moments; in ns, as measured."""
    moments = 0.16 * (order + 1) * (order + 1)
    return 20.0 * chunks < moments * LANES * (-(-at // LANES))


@part
def _pad(at, rows):
    """Up to the next step: leaves far away without moments."""
    while at % LANES != 0:
        for row in range(len(rows) // PAD):
            rows[at + row * PAD] = 0.0
        rows[at + MIDDLE_X * PAD] = 16.0
        at += 1
    return at


@part
def _find_near(order, columns, px, py, pz, rows, at_hand, nearest):
    """J of the leaves at hand that are far from a point; how many are near, and which ones, in `nearest`."""
    result, count = spread(rows, 0.0), 0
    for at in range(0, columns, LANES):
        k = np.uint64(at)
        scale = load(rows, k)
        x = scale * px - load(rows, k + np.uint64(MIDDLE_X * PAD))
        y = scale * py - load(rows, k + np.uint64(MIDDLE_Y * PAD))
        z = scale * pz - load(rows, k + np.uint64(MIDDLE_Z * PAD))
        square = x * x + y * y + z * z
        near = square < load(rows, k + np.uint64(FAR * PAD))
        per = 1.0 / square
        if order == 5:  # of the default accuracy; loops are unrolled where the order is known
            sums = _sum_moments(5, rows, k, x, y, z, per)
        elif order == 3:
            sums = _sum_moments(3, rows, k, x, y, z, per)
        else:
            sums = _sum_moments(order, rows, k, x, y, z, per)
        result = result + choose(near, 0.0, sums)
        some = bits(near)
        while some != 0:
            nearest[count] = at_hand[at + lowest_bit(some)]
            count += 1
            some &= some - np.uint64(1)
    return total(result), count


@part
def _sum_locals(order, level, x, y, z, begin, end, points, places, weights, locals, base, scratch, winding):
    """Local expansion of a cell at its points."""
    scale = SCALES[level]
    for first in range(begin, end, LANES):
        here = min(LANES, end - first)
        for i in range(here):
            scratch[i] = points[first + i, 0] * scale - x
            scratch[LANES + i] = points[first + i, 1] * scale - y
            scratch[2 * LANES + i] = points[first + i, 2] * scale - z
        sums = _sum_local(
            order, weights, locals, base, load(scratch, np.uint64(0)), load(scratch, np.uint64(LANES)),
            load(scratch, np.uint64(2 * LANES)),
        )  # fmt: skip
        store(scratch, np.uint64(0), sums)
        for i in range(here):
            winding[places[first + i]] = scratch[i]


@kernel
def evaluate_cell(
    order, level, ix, iy, iz, begin, end, points, places, given, weights, locals, base, listed, start, count, table,
    middles, far, chunks, corners, moments, constants, rows, at_hand, nearest, scratch, winding, status,
):  # fmt: skip
    """Winding numbers of points begin to end, which lie in one cell; numbers of (point, leaf) and (point, triangle).

    points : in root coordinates, sorted; places : where they are in `given`; locals[base:] : coefficients of the cell;
    listed[start:][:count] : ranges of near leaves. The loop over near leaves has no function of its own: the compiler
    would count references to its arrays at every call.
    """
    scale, x, y, z = SCALES[level], ix + 0.5, iy + 0.5, iz + 0.5
    _sum_locals(order, level, x, y, z, begin, end, points, places, weights, locals, base, scratch, winding)
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
        columns = _pad(at, rows)
        for i in range(begin, end):
            rx, ry, rz, g, near = points[i, 0], points[i, 1], points[i, 2], places[i], at
            if not all_near:
                far_sum, near = _find_near(
                    order, columns, rx * scale - x, ry * scale - y, rz * scale - z, rows, at_hand, nearest
                )
                winding[g] += far_sum
                pairs += at
            if near == 0:
                continue
            re, im, wraps = start_products(rows)
            factors = 0
            for entry in range(near):
                n = nearest[entry]
                noise, side = constants[table[n, LEVEL]], SCALES[table[n, LEVEL]]
                px = rx * side - (table[n, PLACE_X] + 0.5)
                py = ry * side - (table[n, PLACE_Y] + 0.5)
                pz = rz * side - (table[n, PLACE_Z] + 0.5)
                chunk = table[n, FIRST]
                is_wide = table[n, IS_WIDE] != 0 or abs(px) + abs(py) + abs(pz) > 16.0
                triangles += table[n, END] - table[n, BEGIN]
                for t in range(table[n, BEGIN], table[n, END], LANES):
                    if is_wide:  # single factors may be large
                        re, im = shorten(re, im)
                    re, im, wraps, unclear = multiply(chunks, chunk, px, py, pz, noise, re, im, wraps)
                    if unclear != 0:
                        more, on_surface = settle(
                            given[g, 0], given[g, 1], given[g, 2], unclear, t, min(t + LANES, table[n, END]), corners
                        )
                        winding[g] += more
                        status[g] |= on_surface
                    chunk, factors = chunk + 1, factors + 1
                    if factors % PERIOD == 0 or is_wide:
                        re, im = shorten(re, im)
            winding[g] += finish_products(re, im, wraps)
    return pairs, triangles
