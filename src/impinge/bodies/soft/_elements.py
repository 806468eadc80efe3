"""Loops over elastic parts: energies by pieces of fixed size, derivatives node by node.

Each node gathers from all parts it belongs to, in the order of their numbers, and computes them anew for itself: so no
two threads write to the same place, sums do not depend on their number, and the Hessian is symmetric to the last bit,
as both sides of a pair add up the same numbers in the same order.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge._jit import parallel, part
from impinge.bodies.soft._elastic import lengthen, membrane, stretch

PIECE = 256  # elements whose energies one thread adds up


class Pattern(NamedTuple):
    """Neighbours of every node, itself among them: entries starts[i] to starts[i + 1], ascending."""

    starts: NDArray[np.int64]  # (n + 1,)
    neighbours: NDArray[np.int32]
    constant: NDArray[np.float64]  # q of the constant part q 1 of each pair's 3 × 3 block


class Table(NamedTuple):
    """Parts of one kind, and where their nodes find them."""

    nodes: NDArray[np.int32]  # (m, k)
    weights: NDArray[np.float64]  # (m, 0) of springs; (m, 6) of membranes: ∂F/∂x of corners 0, 1, 2 along u, v; (m, k)
    rest: NDArray[np.float64]  # (m, 1) length; (m, 3) |Fᵤ|, |Fᵥ|, Fᵤ·Fᵥ; (m, 0) of stencils
    stiffness: NDArray[np.float64]  # (m, 1) of springs and stencils; (m, 3) of membranes, times area
    starts: NDArray[np.int64]  # (n + 1,) entries of each node in `uses`
    uses: NDArray[np.int64]  # k × element + corner, ascending
    slots: NDArray[np.int32]  # (m k, k): which neighbours of that node the element's nodes are


@part
def _gradients(x, nodes, weights, t):
    """F of membrane t: its columns u and v."""
    i, j, k = np.uint64(nodes[t, 0]), np.uint64(nodes[t, 1]), np.uint64(nodes[t, 2])
    ju, jv, ku, kv = weights[t, 2], weights[t, 3], weights[t, 4], weights[t, 5]
    ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    return (
        ju * ax + ku * bx, ju * ay + ku * by, ju * az + ku * bz,
        jv * ax + kv * bx, jv * ay + kv * by, jv * az + kv * bz,
    )  # fmt: skip


@part
def curvature(x, nodes, weights, s):
    """κ = Σ w x of stencil s, and the size of what it is the sum of."""
    i, kx, ky, kz, size = np.uint64(nodes[s, 0]), 0.0, 0.0, 0.0, 0.0
    for a in range(1, nodes.shape[1]):
        j, w = np.uint64(nodes[s, a]), weights[s, a]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        kx, ky, kz = kx + w * dx, ky + w * dy, kz + w * dz
        size += abs(w) * math.sqrt(dx * dx + dy * dy + dz * dz)
    return kx, ky, kz, size


@parallel(grain=4)
def sum_springs(first, stop, x, springs, sums):
    """Energies of springs, by pieces."""
    nodes, rest, stiffness = springs.nodes, springs.rest, springs.stiffness
    for p in range(first, stop):
        total = 0.0
        for s in range(p * PIECE, min((p + 1) * PIECE, len(nodes))):
            i, j = nodes[s, 0], nodes[s, 1]
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            longer = math.sqrt(dx * dx + dy * dy + dz * dz) - rest[s, 0]
            total += 0.5 * stiffness[s, 0] * longer * longer
        sums[p] = total


@parallel(grain=4)
def sum_stencils(first, stop, x, stencils, sums):
    """Energies of stencils, by pieces."""
    for p in range(first, stop):
        total = 0.0
        for s in range(p * PIECE, min((p + 1) * PIECE, len(stencils.nodes))):
            dx, dy, dz, _ = curvature(x, stencils.nodes, stencils.weights, s)
            total += 0.5 * stencils.stiffness[s, 0] * (dx * dx + dy * dy + dz * dz)
        sums[p] = total


@parallel(grain=4)
def sum_membranes(first, stop, x, membranes, sums):
    """Energies of membranes, by pieces."""
    nodes, weights, rest, stiffness = membranes.nodes, membranes.weights, membranes.rest, membranes.stiffness
    for p in range(first, stop):
        total = 0.0
        for t in range(p * PIECE, min((p + 1) * PIECE, len(nodes))):
            ux, uy, uz, vx, vy, vz = _gradients(x, nodes, weights, t)
            warp = math.sqrt(ux * ux + uy * uy + uz * uz) - rest[t, 0]
            weft = math.sqrt(vx * vx + vy * vy + vz * vz) - rest[t, 1]
            cross = ux * vx + uy * vy + uz * vz - rest[t, 2]
            total += 0.5 * (
                stiffness[t, 0] * warp * warp + stiffness[t, 1] * weft * weft + stiffness[t, 2] * cross * cross
            )
        sums[p] = total


@parallel(grain=1024)
def measure_lengths(first, stop, x, nodes, lengths):
    """Lengths of edges or springs, (m, 1)."""
    for e in range(first, stop):
        i, j = nodes[e, 0], nodes[e, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        lengths[e, 0] = math.sqrt(dx * dx + dy * dy + dz * dz)


@parallel(grain=1024)
def measure_membranes(first, stop, x, nodes, weights, measures):
    """|Fᵤ|, |Fᵥ| and Fᵤ·Fᵥ of membranes."""
    for t in range(first, stop):
        ux, uy, uz, vx, vy, vz = _gradients(x, nodes, weights, t)
        measures[t, 0] = math.sqrt(ux * ux + uy * uy + uz * uz)
        measures[t, 1] = math.sqrt(vx * vx + vy * vy + vz * vz)
        measures[t, 2] = ux * vx + uy * vy + uz * vz


@parallel(grain=256)
def fill_gradient(first, stop, x, pattern, springs, membranes, out):
    """Derivative of the energy by the positions of each node."""
    starts, neighbours, constant = pattern.starts, pattern.neighbours, pattern.constant
    for n in range(np.uint64(first), np.uint64(stop)):
        after = n + np.uint64(1)
        px, py, pz = x[n, 0], x[n, 1], x[n, 2]
        gx, gy, gz = 0.0, 0.0, 0.0
        for s in range(np.uint64(starts[n]), np.uint64(starts[after])):
            # Differences, as rows have the sum 0: opposite for both of a pair, and along their line.
            q, j = constant[s], np.uint64(neighbours[s])
            gx, gy, gz = gx + q * (x[j, 0] - px), gy + q * (x[j, 1] - py), gz + q * (x[j, 2] - pz)
        for s in range(np.uint64(springs.starts[n]), np.uint64(springs.starts[after])):
            use = np.uint64(springs.uses[s])
            e = use >> np.uint64(1)
            j = np.uint64(springs.nodes[e, np.uint64(1) - (use & np.uint64(1))])
            dx, dy, dz = px - x[j, 0], py - x[j, 1], pz - x[j, 2]
            pull, _, _ = stretch(dx, dy, dz, springs.stiffness[e, 0], springs.rest[e, 0], 0.0)
            gx, gy, gz = gx + pull * dx, gy + pull * dy, gz + pull * dz
        for s in range(np.uint64(membranes.starts[n]), np.uint64(membranes.starts[after])):
            use = np.uint64(membranes.uses[s])
            t, a = use // np.uint64(3), use % np.uint64(3) * np.uint64(2)
            ux, uy, uz, vx, vy, vz = _gradients(x, membranes.nodes, membranes.weights, t)
            ku, kv, ks = membranes.stiffness[t, 0], membranes.stiffness[t, 1], membranes.stiffness[t, 2]
            ru, rv, rs = membranes.rest[t, 0], membranes.rest[t, 1], membranes.rest[t, 2]
            pull_u, pull_v, cross, _, _, _, _, _ = membrane(ux, uy, uz, vx, vy, vz, ku, kv, ks, ru, rv, rs, 0.0)
            wu, wv = membranes.weights[t, a], membranes.weights[t, a + np.uint64(1)]
            by_u, by_v = wu * pull_u + wv * cross, wu * cross + wv * pull_v
            gx, gy, gz = gx + (by_u * ux + by_v * vx), gy + (by_u * uy + by_v * vy), gz + (by_u * uz + by_v * vz)
        out[n, 0], out[n, 1], out[n, 2] = gx, gy, gz


@parallel(grain=256)
def fill_turning(first, stop, x, step, springs, membranes, out):
    """By which forces parts resist a straight step in second order: as they turn, their measures grow with its square.

    Σ k (½ stepᵀ ε″ step) ε′ of measures ε with energies ½ k (ε − ε₀)².
    """
    for n in range(np.uint64(first), np.uint64(stop)):
        after = n + np.uint64(1)
        gx, gy, gz = 0.0, 0.0, 0.0
        for s in range(np.uint64(springs.starts[n]), np.uint64(springs.starts[after])):
            use = np.uint64(springs.uses[s])
            e = use >> np.uint64(1)
            j = np.uint64(springs.nodes[e, np.uint64(1) - (use & np.uint64(1))])
            dx, dy, dz = x[n, 0] - x[j, 0], x[n, 1] - x[j, 1], x[n, 2] - x[j, 2]
            sx, sy, sz = step[n, 0] - step[j, 0], step[n, 1] - step[j, 1], step[n, 2] - step[j, 2]
            pull = lengthen(dx, dy, dz, sx, sy, sz, springs.stiffness[e, 0])
            gx, gy, gz = gx + pull * dx, gy + pull * dy, gz + pull * dz
        for s in range(np.uint64(membranes.starts[n]), np.uint64(membranes.starts[after])):
            use = np.uint64(membranes.uses[s])
            t, a = use // np.uint64(3), use % np.uint64(3) * np.uint64(2)
            ux, uy, uz, vx, vy, vz = _gradients(x, membranes.nodes, membranes.weights, t)
            px, py, pz, qx, qy, qz = _gradients(step, membranes.nodes, membranes.weights, t)
            pull_u = lengthen(ux, uy, uz, px, py, pz, membranes.stiffness[t, 0])
            pull_v = lengthen(vx, vy, vz, qx, qy, qz, membranes.stiffness[t, 1])
            cross = membranes.stiffness[t, 2] * (px * qx + py * qy + pz * qz)
            wu, wv = membranes.weights[t, a], membranes.weights[t, a + np.uint64(1)]
            by_u, by_v = wu * pull_u + wv * cross, wu * cross + wv * pull_v
            gx, gy, gz = gx + (by_u * ux + by_v * vx), gy + (by_u * uy + by_v * vy), gz + (by_u * uz + by_v * vz)
        out[n, 0], out[n, 1], out[n, 2] = gx, gy, gz


@part
def _add_block(data, at, stride, s, uu, uv, vu, vv, ux, uy, uz, vx, vy, vz):
    """Add s 1 + uu u uᵀ + vv v vᵀ + (uv u vᵀ + vu v uᵀ), by columns; transposed if uv and vu change places."""
    xx, yy, zz = ux * vx, uy * vy, uz * vz
    xy, yx, xz, zx, yz, zy = ux * vy, uy * vx, ux * vz, uz * vx, uy * vz, uz * vy
    data[at] += s + (uu * (ux * ux) + vv * (vx * vx)) + (uv * xx + vu * xx)
    data[at + np.uint64(1)] += (uu * (uy * ux) + vv * (vy * vx)) + (uv * yx + vu * xy)
    data[at + np.uint64(2)] += (uu * (uz * ux) + vv * (vz * vx)) + (uv * zx + vu * xz)
    at += stride
    data[at] += (uu * (uy * ux) + vv * (vy * vx)) + (uv * xy + vu * yx)
    data[at + np.uint64(1)] += s + (uu * (uy * uy) + vv * (vy * vy)) + (uv * yy + vu * yy)
    data[at + np.uint64(2)] += (uu * (uz * uy) + vv * (vz * vy)) + (uv * zy + vu * yz)
    at += stride
    data[at] += (uu * (uz * ux) + vv * (vz * vx)) + (uv * xz + vu * zx)
    data[at + np.uint64(1)] += (uu * (uz * uy) + vv * (vz * vy)) + (uv * yz + vu * zy)
    data[at + np.uint64(2)] += s + (uu * (uz * uz) + vv * (vz * vz)) + (uv * zz + vu * zz)


@part
def _add_springs(n, x, springs, keep, at, stride, data):
    """Add all springs of node n to its three columns."""
    for s in range(np.uint64(springs.starts[n]), np.uint64(springs.starts[n + np.uint64(1)])):
        use = np.uint64(springs.uses[s])
        e, end = use >> np.uint64(1), use & np.uint64(1)
        other = np.uint64(1) - end
        j = np.uint64(springs.nodes[e, other])
        dx, dy, dz = x[n, 0] - x[j, 0], x[n, 1] - x[j, 1], x[n, 2] - x[j, 2]
        _, side, along = stretch(dx, dy, dz, springs.stiffness[e, 0], springs.rest[e, 0], keep)
        for b, sign in ((end, 1.0), (other, -1.0)):
            place = at + np.uint64(3) * np.uint64(springs.slots[use, b])
            _add_block(data, place, stride, sign * side, sign * along, 0.0, 0.0, 0.0, dx, dy, dz, 0.0, 0.0, 0.0)


@part
def _add_membranes(n, x, membranes, keep, at, stride, data):
    """Add all membranes of node n to its three columns."""
    nodes, weights, rest, stiffness = membranes.nodes, membranes.weights, membranes.rest, membranes.stiffness
    for s in range(np.uint64(membranes.starts[n]), np.uint64(membranes.starts[n + np.uint64(1)])):
        use = np.uint64(membranes.uses[s])
        t, a = use // np.uint64(3), use % np.uint64(3) * np.uint64(2)
        ux, uy, uz, vx, vy, vz = _gradients(x, nodes, weights, t)
        shear = stiffness[t, 2]
        _, _, _, along_u, along_v, uu, uv, vv = membrane(
            ux, uy, uz, vx, vy, vz, stiffness[t, 0], stiffness[t, 1], shear, rest[t, 0], rest[t, 1], rest[t, 2], keep
        )
        cu, cv = weights[t, a], weights[t, a + np.uint64(1)]
        for b in range(np.uint64(3)):
            ru, rv = weights[t, np.uint64(2) * b], weights[t, np.uint64(2) * b + np.uint64(1)]
            in_uu, in_vv, ru_cv, rv_cu = ru * cu, rv * cv, ru * cv, rv * cu
            _add_block(
                data, at + np.uint64(3) * np.uint64(membranes.slots[use, b]), stride,
                (in_uu * uu + in_vv * vv) + (ru_cv + rv_cu) * uv, in_uu * along_u + in_vv * shear, rv_cu * shear,
                ru_cv * shear, in_vv * along_v + in_uu * shear, ux, uy, uz, vx, vy, vz,
            )  # fmt: skip


@parallel(grain=64)
def fill_hessian(first, stop, x, pattern, springs, membranes, keep, data):
    """Second derivatives of the energy, column by column of each node; with a share of what is negative."""
    starts, constant = pattern.starts, pattern.constant
    for n in range(np.uint64(first), np.uint64(stop)):
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + np.uint64(1)])
        at, stride = np.uint64(9) * begin, np.uint64(3) * (end - begin)
        for c in range(np.uint64(3)):
            place = at + c * stride
            for s in range(begin, end):
                data[place] = data[place + np.uint64(1)] = data[place + np.uint64(2)] = 0.0
                data[place + c] = constant[s]
                place += np.uint64(3)
        _add_springs(n, x, springs, keep, at, stride, data)
        _add_membranes(n, x, membranes, keep, at, stride, data)


@part
def _add_resistance(n, x, stencils, share, small, at, stride, data):
    """Add what resists the bending of all stencils of node n to its three columns."""
    nodes, weights, count = stencils.nodes, stencils.weights, np.uint64(stencils.nodes.shape[1])
    for e in range(np.uint64(stencils.starts[n]), np.uint64(stencils.starts[n + np.uint64(1)])):
        use = np.uint64(stencils.uses[e])
        s = use // count
        kx, ky, kz, size = curvature(x, nodes, weights, s)
        least_sq = (small * size) ** 2
        total = least_sq + (kx * kx + ky * ky + kz * kz)
        side, along = (least_sq / total, 1.0 / total) if total > 1e-200 else (1.0, 0.0)
        firm, own = share[s] * stencils.stiffness[s, 0], weights[s, use % count]
        for b in range(count):
            q = firm * (own * weights[s, b])
            place = at + np.uint64(3) * np.uint64(stencils.slots[use, b])
            _add_block(data, place, stride, q * side, q * along, 0.0, 0.0, 0.0, kx, ky, kz, 0.0, 0.0, 0.0)


@parallel(grain=64)
def fill_resistance(first, stop, x, pattern, bends, hinges, bend_shares, hinge_shares, small, data):
    """What resists bending, Σ shares k wₐ w_b (a² 1 + κ κᵀ)/(a² + κ²), a = small × the size of κ's terms."""
    for n in range(np.uint64(first), np.uint64(stop)):
        begin, end = np.uint64(pattern.starts[n]), np.uint64(pattern.starts[n + np.uint64(1)])
        at, stride = np.uint64(9) * begin, np.uint64(3) * (end - begin)
        data[at : np.uint64(9) * end] = 0.0
        _add_resistance(n, x, bends, bend_shares, small, at, stride, data)
        _add_resistance(n, x, hinges, hinge_shares, small, at, stride, data)
