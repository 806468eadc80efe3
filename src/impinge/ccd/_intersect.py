"""Exact decisions whether faces and edges of one mesh have more in common than their vertices."""

from impinge._jit import exact, parallel, part
from impinge.exact._orient import orient2d_sign, orient3d_sign
from impinge.exact._segments import segment_meets_triangle, segments_meet
from impinge.exact._triangles import point_in_triangle, point_on_segment


@part
def _segment_face(x, p, q, a, b, c):
    """Whether segment p, q and triangle a, b, c, numbers of vertices, meet."""
    return segment_meets_triangle(
        x[p, 0], x[p, 1], x[p, 2], x[q, 0], x[q, 1], x[q, 2], x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2],
        x[c, 0], x[c, 1], x[c, 2],
    )  # fmt: skip


@part
def _segments(x, p, q, a, b):
    return segments_meet(
        x[p, 0], x[p, 1], x[p, 2], x[q, 0], x[q, 1], x[q, 2], x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2]
    )


SAME, UNKNOWN = 1, 0


@exact
def _sides(px, py, qx, qy, ux, uy, vx, vy):
    """Whether p and q of the plane are on the same side of line u, v; unknown if one is on it."""
    return orient2d_sign(ux, uy, vx, vy, px, py) * orient2d_sign(ux, uy, vx, vy, qx, qy)


@part
def _folded(x, p, q, u, v):
    """Whether triangles u, v, p and u, v, q lie on each other: in one plane, on the same side of their common edge."""
    px, py, pz, qx, qy, qz = x[p, 0], x[p, 1], x[p, 2], x[q, 0], x[q, 1], x[q, 2]
    ux, uy, uz, vx, vy, vz = x[u, 0], x[u, 1], x[u, 2], x[v, 0], x[v, 1], x[v, 2]
    sides = _sides(px, py, qx, qy, ux, uy, vx, vy)
    if sides == UNKNOWN:
        sides = _sides(py, pz, qy, qz, uy, uz, vy, vz)
    if sides == UNKNOWN:
        sides = _sides(pz, px, qz, qx, uz, ux, vz, vx)
    return sides == SAME and orient3d_sign(ux, uy, uz, vx, vy, vz, px, py, pz, qx, qy, qz) == 0


@part
def _beyond(x, a, b, c, q, r):
    """Whether, along an axis, b and c are beyond a, and q and r are not: nothing but a is common to a b c and a q r."""
    is_beyond = False
    for axis in range(3):
        t = x[a, axis]
        is_beyond |= min(x[b, axis], x[c, axis]) > t and max(x[q, axis], x[r, axis]) <= t
        is_beyond |= max(x[b, axis], x[c, axis]) < t and min(x[q, axis], x[r, axis]) >= t
    return is_beyond


@exact
def _turned(a, b, c, p, q, r):
    """Both triangles turned so that common vertices come first, and their number: (a, b, c, p, q, r, common)."""
    common = (a in (p, q, r)) + 0
    common += b in (p, q, r)
    common += c in (p, q, r)
    for _ in range(3):
        first, second = a in (p, q, r), b in (p, q, r)
        if (common == 1 and first) or (common == 2 and first and second):
            break
        a, b, c = b, c, a
    for _ in range(3):
        if (common == 1 and a == p) or (common == 2 and r != a and r != b):
            break
        p, q, r = q, r, p
    return a, b, c, p, q, r, common


@parallel(grain=64)
def find_faces(first, stop, x, faces, pairs, meet):
    """Which pairs of faces meet elsewhere than in common vertices and edges.

    Triangles with one common vertex: what they share beyond it is convex and holds it, so that a ray from it leaves one
    of them inside the other, through the edge opposite of the vertex.
    """
    for k in range(first, stop):
        i, j = pairs[k, 0], pairs[k, 1]
        a, b, c, p, q, r, common = _turned(faces[i, 0], faces[i, 1], faces[i, 2], faces[j, 0], faces[j, 1], faces[j, 2])
        found, tests = common == 3, 6 if common == 0 else 0
        if common == 1 and not (_beyond(x, a, b, c, q, r) or _beyond(x, a, q, r, b, c)):
            tests = 2
        for _ in range(tests):
            found = found or _segment_face(x, b, c, p, q, r)
            a, b, c, p, q, r = p, q, r, b, c, a
        if common == 2:
            found = _folded(x, c, r, a, b)
        meet[k] = found


@parallel(grain=64)
def find_edge_faces(first, stop, x, edges, faces, pairs, meet):
    """Which edges meet faces elsewhere than in a common vertex; sides of faces do not count."""
    for k in range(first, stop):
        i, j = pairs[k, 0], pairs[k, 1]
        p, q, a, b, c = edges[i, 0], edges[i, 1], faces[j, 0], faces[j, 1], faces[j, 2]
        if p in (a, b, c):
            p, q = q, p
        for _ in range(2):  # a common vertex becomes q and a
            if a != q and (b == q or c == q):
                a, b, c = b, c, a
        if a == q:
            found = _segments(x, p, q, b, c) or point_in_triangle(
                x[p, 0], x[p, 1], x[p, 2], x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1],
                x[c, 2],
            )  # fmt: skip
        else:
            found = _segment_face(x, p, q, a, b, c)
        meet[k] = found


@part
def _on_segment(x, p, a, b):
    return point_on_segment(x[p, 0], x[p, 1], x[p, 2], x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2])


@parallel(grain=64)
def find_edges(first, stop, x, edges, pairs, meet):
    """Which edges meet elsewhere than in a common vertex."""
    for k in range(first, stop):
        i, j = pairs[k, 0], pairs[k, 1]
        a, b, p, q = edges[i, 0], edges[i, 1], edges[j, 0], edges[j, 1]
        if a in (p, q):
            a, b = b, a
        if b == q:
            p, q = q, p
        if b == p:  # the common vertex
            found = a == q or _on_segment(x, a, p, q) or _on_segment(x, q, a, b)
        else:
            found = _segments(x, a, b, p, q)
        meet[k] = found
