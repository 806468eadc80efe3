"""Classifying the points of a regular grid by where its lines along z meet the triangles.

On the way up a line the winding number changes by one at every triangle, so that one look at each triangle
answers for all points. The grid is cut across x into slabs, small enough for the changes in one to stay in the
cache: `place_faces` and `sort_faces` list the faces of every slab, `scan_slabs` goes through them.

Which lines a triangle meets is decided as in `_vertical.py`, so that every edge is seen alike from both sides;
where a line meets it only to a bound of the rounding error. Points that are nearer than that, and those beside
an edge or a triangle that a line grazes, are compared with the triangle exactly.
"""

import math

import numpy as np

from impinge._jit import exact, kernel, lowest_bit, parallel, prefetch
from impinge.exact._orient import BOUND_2D, EPSILON, LARGE, SMALL, orient2d_sign
from impinge.inside._vertical import ON, tie, vertical_crossing

CHUNK_BITS = 12
CHUNK = 1 << CHUNK_BITS  # faces that one thread sorts into slabs at a time
_AHEAD = 12  # faces whose corners are fetched before they are needed


@exact
def _fetch_corners(flat, faces, t):
    """Bring the corners of face t, if there is one, into the cache; `flat` are the vertices in one row."""
    if t < len(faces):
        for v in range(3):
            prefetch(flat, np.uint64(3) * np.uint64(faces[t, v]))


@exact
def _from(value, start, scale, error, count):
    """No place of an axis before this one has a number of at least `value`; the rest describes it, see `grid.py`."""
    place = math.ceil((0.5 * value - start) * scale - error)
    place = place if place > 0.0 else 0.0
    return place if place < count else count


@exact
def _to(value, start, scale, error, count):
    """No place of an axis from this one on has a number of at most `value`."""
    place = math.floor((0.5 * value - start) * scale + error) + 1.0
    place = place if place > 0.0 else 0.0
    return place if place < count else count


@kernel
def _find_places(corners, ruler, low, high):
    """Places of an axis between which those of triangles are, their corners (3, n) along this axis."""
    start, scale, error, count = ruler[0], ruler[1], ruler[2], ruler[3]
    a, b, c = corners[0], corners[1], corners[2]
    for t in range(len(low)):
        low[t] = np.int32(_from(min(a[t], b[t], c[t]), start, scale, error, count))
        high[t] = np.int32(_to(max(a[t], b[t], c[t]), start, scale, error, count))


@parallel(grain=1)
def place_faces(first, stop, flat, faces, rulers, shift, spans, counts):
    """Rows in x and in y of the lines that each face may meet; how many faces of a chunk are in each slab.

    A slab has 2^shift rows in x.
    """
    x, y = np.empty((3, CHUNK)), np.empty((3, CHUNK))
    for chunk in range(first, stop):
        begin, n = chunk * CHUNK, min(CHUNK, len(faces) - chunk * CHUNK)
        for t in range(n):
            _fetch_corners(flat, faces, begin + t + _AHEAD)
            for v in range(3):
                at = 3 * np.uint64(faces[begin + t, v])
                x[v, t], y[v, t] = flat[at], flat[at + np.uint64(1)]
        i0, i1, j0, j1 = spans[chunk, 0], spans[chunk, 1], spans[chunk, 2], spans[chunk, 3]
        _find_places(x, rulers[0], i0, i1)
        _find_places(y, rulers[1], j0, j1)
        for t in range(CHUNK):
            if t >= n or j0[t] >= j1[t]:
                i1[t] = i0[t]
            if i0[t] < i1[t]:
                for slab in range(i0[t] >> shift, ((i1[t] - 1) >> shift) + 1):
                    counts[chunk, slab] += 1


@parallel(grain=1)
def sort_faces(first, stop, spans, shift, starts, members):
    """The faces of every slab, in the order of their numbers, each chunk from its place in `starts` on."""
    for chunk in range(first, stop):
        i0, i1 = spans[chunk, 0], spans[chunk, 1]
        for t in range(CHUNK):
            if i0[t] < i1[t]:
                for slab in range(i0[t] >> shift, ((i1[t] - 1) >> shift) + 1):
                    members[starts[chunk, slab]] = chunk * CHUNK + t
                    starts[chunk, slab] += 1


@exact
def _tied_turn(x, y, ax, ay, bx, by, cx, cy):
    """(does the line touch the closed shadow of a, b, c; turn of a, b, c if the line moved by (ε, ε²) meets it)."""
    s0 = orient2d_sign(ax, ay, bx, by, x, y)
    s1 = orient2d_sign(bx, by, cx, cy, x, y)
    s2 = orient2d_sign(cx, cy, ax, ay, x, y)
    if s0 * s1 < 0 or s1 * s2 < 0 or s2 * s0 < 0:
        return False, 0
    s0 = s0 if s0 != 0 else tie(ax, ay, bx, by)
    s1 = s1 if s1 != 0 else tie(bx, by, cx, cy)
    s2 = s2 if s2 != 0 else tie(cx, cy, ax, ay)
    return True, s0 if s0 == s1 and s1 == s2 else 0


@exact
def _meet(x, y, ax, ay, az, bx, by, bz, cx, cy, cz):
    """How the line over (x, y) meets a triangle: (turn, low, high), the height being between low and high.

    turn is +1 or -1, the sign of the normal's z; 0 if it is not met. If low > high, it is not even touched.
    """
    apx, bpx, cpx = ax - x, bx - x, cx - x
    apy, bpy, cpy = ay - y, by - y, cy - y
    dx, dy = max(abs(apx), abs(bpx), abs(cpx)), max(abs(apy), abs(bpy), abs(cpy))
    least, most = min(az, bz, cz), max(az, bz, cz)
    if min(dx, dy) > SMALL and max(dx, dy) < LARGE and (most - least > SMALL or most == least):
        bound = BOUND_2D * (dx * dy)
        c_side = apx * bpy - apy * bpx
        a_side = bpx * cpy - bpy * cpx
        b_side = cpx * apy - cpy * apx
        low, high = min(a_side, b_side, c_side), max(a_side, b_side, c_side)
        if low < -bound and high > bound:
            return 0, 1.0, 0.0
        if low > bound or high < -bound:
            # z = a_z + (B (b_z − a_z) + C (c_z − a_z)) / (A + B + C), A, B, C the doubled areas opposite the
            # vertices, each wrong by at most `bound`: the weights B and C by 4 bound / |A + B + C| at most.
            area = a_side + b_side + c_side
            z = az + (b_side * (bz - az) + c_side * (cz - az)) / area
            error = 8.0 * bound / abs(area) * (most - least) + 32.0 * EPSILON * max(abs(least), abs(most))
            low, high = z - error, z + error
            # not `max` and `min`: NaN and infinite bounds, from heights beyond the range, must not be kept
            return (1 if area > 0.0 else -1), (low if low > least else least), (high if high < most else most)
    touched, turn = _tied_turn(x, y, ax, ay, bx, by, cx, cy)
    return (turn, least, most) if touched else (0, 1.0, 0.0)


@exact
def _mark(bits, k):
    bits[k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@kernel
def _enter(x, y, z, k, turn, low, high, ax, ay, az, bx, by, bz, cx, cy, cz, steps, stops, touched):
    """Enter the triangle that a line meets between low and high into its changes; z[k] is the first from low on."""
    while k < len(z) and z[k] <= high:
        crossing = ON if low == high else vertical_crossing(x, y, z[k], ax, ay, az, bx, by, bz, cx, cy, cz)
        if crossing == ON:
            _mark(touched, k)
        elif crossing == 0 and turn != 0:  # the point is above the triangle
            break
        k += 1
    steps[k] -= turn
    _mark(stops, k)


@parallel(grain=1)
def scan_slabs(first, stop, flat, faces, x, y, z, rulers, shift, spans, ends, members, classes):
    """+1 inside, 0 on the surface or -1 outside for all points (x[i], y[j], z[k]) of slabs."""
    width = 1 << shift
    start, scale, error, count = rulers[2, 0], rulers[2, 1], rulers[2, 2], rulers[2, 3]
    # Changes of the winding number just below a point; bits of where there are any, and of points on triangles.
    steps = np.zeros((width, len(y), len(z) + 1), np.int32)
    stops = np.zeros((width, len(y), len(z) // 64 + 1), np.uint64)
    touched = np.zeros((width, len(y), len(z) // 64 + 1), np.uint64)
    for slab in range(first, stop):
        row, last = slab * width, min((slab + 1) * width, len(x))
        for m in range(ends[slab], ends[slab + 1]):
            if m + _AHEAD < len(members):
                _fetch_corners(flat, faces, np.int64(members[m + _AHEAD]))
            t = members[m]
            span, at = spans[t >> CHUNK_BITS], t & (CHUNK - 1)
            a, b, c = 3 * np.uint64(faces[t, 0]), 3 * np.uint64(faces[t, 1]), 3 * np.uint64(faces[t, 2])
            ax, ay, az = flat[a], flat[a + 1], flat[a + 2]
            bx, by, bz = flat[b], flat[b + 1], flat[b + 2]
            cx, cy, cz = flat[c], flat[c + 1], flat[c + 2]
            for i in range(max(np.int64(span[0, at]), row), min(np.int64(span[1, at]), last)):
                for j in range(span[2, at], span[3, at]):
                    turn, low, high = _meet(x[i], y[j], ax, ay, az, bx, by, bz, cx, cy, cz)
                    if low <= high:
                        k = int(_from(low, start, scale, error, count))
                        while k < len(z) and z[k] < low:
                            k += 1
                        if k == len(z) or z[k] > high:
                            steps[i - row, j, k] -= turn
                            _mark(stops[i - row, j], k)
                        else:
                            _enter(
                                x[i], y[j], z, k, turn, low, high, ax, ay, az, bx, by, bz, cx, cy, cz,
                                steps[i - row, j], stops[i - row, j], touched[i - row, j],
                            )  # fmt: skip
        for i in range(row, last):
            for j in range(len(y)):
                _fill_line(steps[i - row, j], stops[i - row, j], touched[i - row, j], classes[i, j])


@kernel
def _fill_line(steps, stops, touched, classes):
    """Classes of the points of a line from what was entered for it, which is set back to 0."""
    begin, winding, n = 0, 0, len(classes)
    for word in range(len(stops)):
        bits = stops[word]
        stops[word] = 0
        while bits != 0:
            k = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            side = np.int8(1) if winding > 0 else np.int8(-1)
            for place in range(begin, k):
                classes[place] = side
            winding += steps[k]
            steps[k] = 0
            begin = k
    side = np.int8(1) if winding > 0 else np.int8(-1)
    for place in range(begin, n):
        classes[place] = side
    for word in range(len(touched)):
        bits = touched[word]
        touched[word] = 0
        while bits != 0:
            classes[64 * word + lowest_bit(bits)] = 0
            bits &= bits - np.uint64(1)
