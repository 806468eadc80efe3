"""Kernels: nearest points of a vertex and a triangle, and of two edges, as weights of their corners."""

import numpy as np

from impinge._jit import kernel, parallel

VERTEX_FACE, EDGE_EDGE = 0, 1
KIND_BIT, NUMBER_BITS = 62, 31  # of keys of pairs
_SLIVER = 1e-8  # four times the square of the area, by the fourth power of the longest side


@kernel
def _clamp(value):
    return min(max(value, 0.0), 1.0)


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _minus(x, i, j):
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@kernel
def _on_segment(ab, ap):
    """Where on the segment from a to b the point nearest to p is, from 0 to 1."""
    length = _dot(ab, ab)
    return _clamp(_dot(ab, ap) / length) if length > 0.0 else 0.0


@kernel
def _region_of_triangle(x, p, a, b, c):
    """Barycentric coordinates of the point of triangle abc nearest to p [Ericson2005, 5.1.5]; not of a sliver."""
    ab, ac, ap = _minus(x, b, a), _minus(x, c, a), _minus(x, p, a)
    bp, cp, bc = _minus(x, p, b), _minus(x, p, c), _minus(x, c, b)
    d1, d2, d3, d4, d5, d6 = _dot(ab, ap), _dot(ac, ap), _dot(ab, bp), _dot(ac, bp), _dot(ab, cp), _dot(ac, cp)
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = _on_segment(ab, ap)
        return 1.0 - v, v, 0.0
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = _on_segment(ac, ap)
        return 1.0 - w, 0.0, w
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = _on_segment(bc, bp)
        return 0.0, 1.0 - w, w
    total = va + vb + vc
    if not total > 0.0:
        return 1.0, 0.0, 0.0
    return 1.0 - vb / total - vc / total, vb / total, vc / total


@kernel
def _distance_sq(x, p, a, b, c, u, v, w):
    """Of p from the point u a + v b + w c."""
    total = 0.0
    for axis in range(3):
        away = u * (x[a, axis] - x[p, axis]) + v * (x[b, axis] - x[p, axis]) + w * (x[c, axis] - x[p, axis])
        total += away * away
    return total


@kernel
def _weights_in_triangle(x, p, a, b, c):
    """Barycentric coordinates of the point of triangle abc nearest to p, whatever its shape."""
    u, v, w = _region_of_triangle(x, p, a, b, c)
    ab, ac, bc = _minus(x, b, a), _minus(x, c, a), _minus(x, c, b)
    longest = max(_dot(ab, ab), _dot(ac, ac), _dot(bc, bc))
    if _dot(ab, ab) * _dot(ac, ac) - _dot(ab, ac) ** 2 > _SLIVER * longest * longest:
        return u, v, w
    # The region is lost in rounding: the nearest point of the sides may be nearer, and is not far from the nearest one.
    best = _distance_sq(x, p, a, b, c, u, v, w)
    for side in range(3):
        i, j = (a, b) if side == 0 else (b, c) if side == 1 else (c, a)
        s = _on_segment(_minus(x, j, i), _minus(x, p, i))
        weights = (1.0 - s, s, 0.0) if side == 0 else (0.0, 1.0 - s, s) if side == 1 else (s, 0.0, 1.0 - s)
        distance_sq = _distance_sq(x, p, a, b, c, weights[0], weights[1], weights[2])
        if distance_sq < best:
            best = distance_sq
            u, v, w = weights
    return u, v, w


@kernel
def _weights_of_edges(x, a, b, c, d):
    """Where on edges ab and cd, from 0 to 1, their nearest points are [Ericson2005, 5.1.9]."""
    u, v, r = _minus(x, b, a), _minus(x, d, c), _minus(x, a, c)
    uu, vv, uv, ur, vr = _dot(u, u), _dot(v, v), _dot(u, v), _dot(u, r), _dot(v, r)
    if uu <= 0.0:
        return 0.0, _clamp(vr / vv) if vv > 0.0 else 0.0
    if vv <= 0.0:
        return _clamp(-ur / uu), 0.0
    across = uu * vv - uv * uv
    s = _clamp((uv * vr - ur * vv) / across) if across > 1e-14 * uu * vv else 0.5
    t = (uv * s + vr) / vv
    if t < 0.0:
        return _clamp(-ur / uu), 0.0
    if t > 1.0:
        return _clamp((uv - ur) / uu), 1.0
    return s, t


@kernel
def _key(kind, first, second):
    return np.int64(kind) << KIND_BIT | np.int64(first) << NUMBER_BITS | np.int64(second)


@kernel
def name_pairs(vertex_faces, edge_edges, keys):
    """A number for each pair."""
    count = len(vertex_faces)
    for k in range(count):
        keys[k] = _key(VERTEX_FACE, vertex_faces[k, 0], vertex_faces[k, 1])
    for k in range(len(edge_edges)):
        keys[count + k] = _key(EDGE_EDGE, edge_edges[k, 0], edge_edges[k, 1])


@parallel(grain=4000)
def list_pairs(first, stop, keys, edges, faces, kinds, numbers, corners):
    """Pairs from their numbers."""
    for k in range(first, stop):
        kind = keys[k] >> KIND_BIT
        one, two = (keys[k] >> NUMBER_BITS) & ((1 << NUMBER_BITS) - 1), keys[k] & ((1 << NUMBER_BITS) - 1)
        kinds[k], numbers[k, 0], numbers[k, 1] = kind, one, two
        if kind == VERTEX_FACE:
            corners[k, 0] = one
            for c in range(3):
                corners[k, 1 + c] = faces[two, c]
        else:
            for c in range(2):
                corners[k, c], corners[k, 2 + c] = edges[one, c], edges[two, c]


@kernel
def nearest(x, kind, a, b, c, d):
    """Weights of the four corners in the difference of a pair's nearest points."""
    if kind == VERTEX_FACE:
        u, v, w = _weights_in_triangle(x, a, b, c, d)
        return 1.0, -u, -v, -w
    s, t = _weights_of_edges(x, a, b, c, d)
    return 1.0 - s, s, t - 1.0, -t


@kernel
def distance(x, kind, a, b, c, d):
    """How far a pair is apart."""
    _, second, third, fourth = nearest(x, kind, a, b, c, d)
    square = 0.0
    for axis in range(3):
        # Differences first: all four corners may be far from the origin.
        value = second * (x[b, axis] - x[a, axis]) + third * (x[c, axis] - x[a, axis])
        value += fourth * (x[d, axis] - x[a, axis])
        square += value * value
    return np.sqrt(square)


@parallel(grain=4000)
def measure_gaps(first, stop, x, kinds, corners, weights, normals, gaps):
    """Nearest points of pairs: weights, normals and their distance, normal · Σ weight x.

    weights : of the four corners, positive of the first of the pair and negative of the second
    normals : unit vectors from the second to the first
    """
    for k in range(first, stop):
        a, b, c, d = corners[k]
        weights[k, 0], weights[k, 1], weights[k, 2], weights[k, 3] = nearest(x, kinds[k], a, b, c, d)
        square = 0.0
        for axis in range(3):
            # Differences first: all four corners may be far from the origin.
            value = 0.0
            for corner in range(1, 4):
                value += weights[k, corner] * (x[corners[k, corner], axis] - x[a, axis])
            normals[k, axis] = value
            square += value * value
        gaps[k] = np.sqrt(square)
        for axis in range(3):
            normals[k, axis] = normals[k, axis] / gaps[k] if gaps[k] > 0.0 else 0.0


@kernel
def _separation(x, k, corners, weights, normals):
    value = 0.0
    for corner in range(1, 4):
        for axis in range(3):
            value += weights[k, corner] * normals[k, axis] * (x[corners[k, corner], axis] - x[corners[k, 0], axis])
    return value


@parallel(grain=4000)
def separations(first, stop, x, corners, weights, normals, out):
    """Distance of the points with the same weights along the same normals, elsewhere: normal · Σ weight x."""
    for k in range(first, stop):
        out[k] = _separation(x, k, corners, weights, normals)


@kernel
def _parts_sq(x0, x1, kind, a, b, c, d):
    """The square of how much two corners of a pair, one of each, move relative to each other, at most."""
    split, corners, most = 1 if kind == VERTEX_FACE else 2, (a, b, c, d), 0.0
    for one in range(split):
        for two in range(split, 4):
            i, j, total = corners[one], corners[two], 0.0
            for axis in range(3):
                total += ((x1[i, axis] - x0[i, axis]) - (x1[j, axis] - x0[j, axis])) ** 2
            most = max(most, total)
    return most


@parallel(grain=4000)
def find_ends(first, stop, x0, x1, kinds, corners, weights, normals, gaps, limits, ends, real):
    """Distances of pairs at the end of a motion: of the points nearest at its start, along their normals, and the real
    ones; inf for pairs that do not come down to their limits, as their corners move too little.
    """
    for k in range(first, stop):
        a, b, c, d = corners[k]
        ends[k] = real[k] = np.inf
        clear = gaps[k] - limits[k]
        if clear > 0.0 and clear * clear > _parts_sq(x0, x1, kinds[k], a, b, c, d):
            continue
        ends[k] = _separation(x1, k, corners, weights, normals)
        real[k] = distance(x1, kinds[k], a, b, c, d)


@kernel
def name_features(kinds, corners, weights, keys):
    """Numbers, the same for pairs whose nearest points are on the same corners, edges or faces, in either order.

    keys : (m, 3), filled: the corners that have weights, of the smaller side and then of the other, sorted on each, two
    in a number; and how many there are on both sides
    """
    names = np.empty(4, np.int64)
    for k in range(len(kinds)):
        split = 1 if kinds[k] == VERTEX_FACE else 2
        one = two = 0
        for c in range(4):
            if weights[k, c] != 0.0:
                at = one if c < split else one + two
                begin = 0 if c < split else one
                names[at] = corners[k, c]
                while at > begin and names[at - 1] > names[at]:
                    names[at - 1], names[at] = names[at], names[at - 1]
                    at -= 1
                if c < split:
                    one += 1
                else:
                    two += 1
        for c in range(one + two, 4):
            names[c] = 0
        if one > two or (one == two and names[0] > names[one]):  # the smaller side first
            for _ in range(one):
                front = names[0]
                for c in range(one + two - 1):
                    names[c] = names[c + 1]
                names[one + two - 1] = front
            one, two = two, one
        keys[k, 0] = names[0] << 31 | names[1]
        keys[k, 1] = names[2] << 31 | names[3]
        keys[k, 2] = 4 * one + two
