"""Kernels of the foam: the distance to the axes of its struts, and their surface by marching tetrahedra.

The distance is sampled on a body-centred cubic lattice. With whole i, j, k there is a node A at (i, j, k) and
a node B half a step below, at (i − ½, j − ½, k − ½). Two neighbouring B nodes and two neighbouring A nodes
between them make a tetrahedron, 12 per cell, all alike. The cube is [¼, n + ¼]³ in these coordinates, so that
its sides cut the edges of the lattice well inside; nodes 0 to n + 1 are needed, nodes 1 to n are in the cube.

Why marching tetrahedra: the surface is cut out of each tetrahedron on its own and meets its neighbours along
whole edges, so it is closed, manifold and free of self-intersections for any values, without ambiguous cases.
Its weakness, slivers, is cured by keeping cuts off the ends of an edge, which changes no sign.
"""

import numpy as np

from impinge._jit import kernel

# How near to its end an edge may be cut, as a part of its length.
_END = 0.12

# Even permutations of a tetrahedron's nodes, by the set of nodes inside (bit i: node i), that bring the lone
# node, or the two inside, to the front.
_ORDER = np.array(
    [
        [0, 1, 2, 3], [0, 1, 2, 3], [1, 0, 3, 2], [0, 1, 2, 3],
        [2, 3, 0, 1], [0, 2, 3, 1], [1, 2, 0, 3], [3, 2, 1, 0],
        [3, 2, 1, 0], [0, 3, 1, 2], [1, 3, 2, 0], [2, 3, 0, 1],
        [2, 3, 0, 1], [1, 0, 3, 2], [0, 1, 2, 3], [0, 1, 2, 3],
    ],
    np.int64,
)  # fmt: skip
_TRIANGLES = np.array([0, 1, 1, 2, 1, 2, 2, 1, 1, 2, 2, 1, 2, 1, 1, 0], np.int64)


@kernel
def _segment_distance_sq(x, y, z, segment):
    """Squared distance from (x, y, z) to a segment, given by its ends."""
    ax, ay, az = segment[0, 0], segment[0, 1], segment[0, 2]
    ux, uy, uz = segment[1, 0] - ax, segment[1, 1] - ay, segment[1, 2] - az
    px, py, pz = x - ax, y - ay, z - az
    length_sq = ux * ux + uy * uy + uz * uz
    t = 0.0
    if length_sq > 0.0:
        t = min(max((px * ux + py * uy + pz * uz) / length_sq, 0.0), 1.0)
    px, py, pz = px - t * ux, py - t * uy, pz - t * uz
    return px * px + py * py + pz * pz


@kernel
def _sample_struts(segments, reach, n, out):
    """out[i, j, k, s] = distance of node A (s = 0) or B (s = 1) of (i, j, k) to the nearest segment.

    In steps, like the segments. Only what is below `reach` is right; the rest may be too high.
    """
    out[:] = np.inf
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for segment in segments:
        for s in range(2):
            for d in range(3):
                a, b = segment[0, d] + 0.5 * s, segment[1, d] + 0.5 * s
                low[d] = max(0, int(np.ceil(min(a, b) - reach)))
                high[d] = min(n + 1, int(np.floor(max(a, b) + reach)))
            for i in range(low[0], high[0] + 1):
                for j in range(low[1], high[1] + 1):
                    for k in range(low[2], high[2] + 1):
                        d_sq = _segment_distance_sq(i - 0.5 * s, j - 0.5 * s, k - 0.5 * s, segment)
                        out[i, j, k, s] = min(out[i, j, k, s], d_sq)
    for i in range(n + 2):
        for j in range(n + 2):
            for k in range(n + 2):
                for s in range(2):
                    out[i, j, k, s] = np.sqrt(out[i, j, k, s])


@kernel
def _mark_inside(struts, level, inside):
    """Sets `inside` to 1 at the nodes within the cube and within `level` steps of a strut's axis."""
    n = struts.shape[0] - 2
    inside[:] = 0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            for k in range(1, n + 1):
                for s in range(2):
                    inside[i, j, k, s] = struts[i, j, k, s] < level


@kernel
def _tetrahedron(i, j, k, axis, side, nodes):
    """The nodes (rows i, j, k, s) of a tetrahedron, positively oriented.

    B node (i, j, k), the next B node along `axis`, and two corners of the square of A nodes between them.
    """
    for p in range(4):
        nodes[p, 0], nodes[p, 1], nodes[p, 2], nodes[p, 3] = i, j, k, 1 - p // 2
    nodes[1, axis] += 1
    right, up = (axis + 1) % 3, (axis + 2) % 3
    for p in range(2):
        corner = (side + p) % 4
        nodes[2 + p, right] -= corner == 0 or corner == 3
        nodes[2 + p, up] -= corner == 0 or corner == 1


@kernel
def _case(inside, nodes):
    """Which of the four nodes are inside, as bits."""
    case = 0
    for p in range(4):
        case |= inside[nodes[p, 0], nodes[p, 1], nodes[p, 2], nodes[p, 3]] << p
    return case


@kernel
def _exists(i, j, k, axis, n):
    """Whether the four tetrahedra from B node (i, j, k) along `axis` are within the lattice."""
    last = (i, j, k)[axis] == n + 1
    return not (last or (axis != 0 and i == 0) or (axis != 1 and j == 0) or (axis != 2 and k == 0))


@kernel
def _is_uniform(inside, i, j, k):
    """Whether all nodes of the 12 tetrahedra from B node (i, j, k) are inside, or none; i, j, k > 0."""
    n = inside.shape[0] - 2
    total = inside[i, j, k, 1]
    total += inside[min(i + 1, n + 1), j, k, 1] + inside[i, min(j + 1, n + 1), k, 1]
    total += inside[i, j, min(k + 1, n + 1), 1]
    for p in range(8):
        total += inside[i - (p & 1), j - ((p >> 1) & 1), k - (p >> 2), 0]
    return total == 0 or total == 12


@kernel
def _count_triangles(inside):
    """Number of triangles of the surface between the nodes inside and outside."""
    n = inside.shape[0] - 2
    nodes = np.empty((4, 4), np.int64)
    count = 0
    for i in range(n + 2):
        for j in range(n + 2):
            for k in range(n + 2):
                if min(i, j, k) > 0 and _is_uniform(inside, i, j, k):
                    continue
                for axis in range(3):
                    if _exists(i, j, k, axis, n):
                        for side in range(4):
                            _tetrahedron(i, j, k, axis, side, nodes)
                            count += _TRIANGLES[_case(inside, nodes)]
    return count


@kernel
def _depth(node, n):
    """How deep the node is inside the cube, in steps; negative outside."""
    i, j, k, s = node
    return min(min(i, j, k) - 0.5 * s - 0.25, n + 0.25 - (max(i, j, k) - 0.5 * s))


@kernel
def _cut_at(struts, level, a, b, n):
    """Where the surface cuts the edge from a node inside to one outside, as a part of its length.

    Struts and cube are cut each on its own and the nearer cut counts, which keeps the cube's sides flat.
    """
    t = 1.0
    fa, fb = level - struts[a[0], a[1], a[2], a[3]], level - struts[b[0], b[1], b[2], b[3]]
    if fb <= 0.0:
        t = fa / (fa - fb)
    fa, fb = _depth(a, n), _depth(b, n)
    if fb <= 0.0:
        t = min(t, fa / (fa - fb))
    return min(max(t, _END), 1.0 - _END)


@kernel
def _edge_owner(a, b):
    """Which of the two nodes owns the edge (0 or 1), and its number among the owner's 14 edges.

    The lower node owns an edge between nodes of one kind, 3 each; B nodes own those to their 8 corners.
    """
    if a[3] == b[3]:
        axis = 0
        while a[axis] == b[axis]:
            axis += 1
        return int(a[axis] > b[axis]), axis + 3 * a[3]
    owner = 0 if a[3] == 1 else 1
    p, q = (a, b) if owner == 0 else (b, a)
    return owner, 6 + (p[0] - q[0]) + 2 * (p[1] - q[1]) + 4 * (p[2] - q[2])


@kernel
def _cut_edge(struts, level, a, b, known, vertices, count):
    """Number of the vertex where the surface cuts the edge from node a to node b; made if not known yet.

    Returns it with the new number of vertices. `known` keeps three layers of owners, by i modulo 3.
    """
    which, edge = _edge_owner(a, b)
    owner = a if which == 0 else b
    vertex = known[owner[0] % 3, owner[1], owner[2], edge]
    if vertex >= 0:
        return vertex, count
    known[owner[0] % 3, owner[1], owner[2], edge] = count
    n = struts.shape[0] - 2
    t = _cut_at(struts, level, a, b, n)
    for d in range(3):
        xa, xb = a[d] - 0.5 * a[3], b[d] - 0.5 * b[3]
        # The bounds only take away rounding errors.
        vertices[count, d] = min(max(((1.0 - t) * xa + t * xb - 0.25) / n, 0.0), 1.0)
    return count, count + 1


@kernel
def _march(struts, inside, level, vertices, faces):
    """Fills the surface and returns its number of vertices; there is room for as many as faces."""
    n = struts.shape[0] - 2
    nodes = np.empty((4, 4), np.int64)
    cut = np.empty(4, np.int32)
    known = np.full((3, n + 2, n + 2, 14), -1, np.int32)
    count, f = 0, 0
    for i in range(n + 2):
        known[(i + 1) % 3] = -1
        for j in range(n + 2):
            for k in range(n + 2):
                if min(i, j, k) > 0 and _is_uniform(inside, i, j, k):
                    continue
                for axis in range(3):
                    if not _exists(i, j, k, axis, n):
                        continue
                    for side in range(4):
                        _tetrahedron(i, j, k, axis, side, nodes)
                        case = _case(inside, nodes)
                        pieces = _TRIANGLES[case]
                        order = _ORDER[case]
                        if pieces == 1:
                            outward = (case >> order[0]) & 1 == 1
                            lone = nodes[order[0]]
                            for p in range(3):
                                other = nodes[order[1 + p]]
                                a, b = (lone, other) if outward else (other, lone)
                                cut[p], count = _cut_edge(struts, level, a, b, known, vertices, count)
                            faces[f, 0] = cut[0]
                            faces[f, 1] = cut[1] if outward else cut[2]
                            faces[f, 2] = cut[2] if outward else cut[1]
                        elif pieces == 2:
                            for p in range(4):
                                a, b = nodes[order[p // 2]], nodes[order[2 + ((p + 1) // 2) % 2]]
                                cut[p], count = _cut_edge(struts, level, a, b, known, vertices, count)
                            # The shorter diagonal of the four-sided cut; inside one tetrahedron, so free.
                            across, along = 0.0, 0.0
                            for d in range(3):
                                across += (vertices[cut[0], d] - vertices[cut[2], d]) ** 2
                                along += (vertices[cut[1], d] - vertices[cut[3], d]) ** 2
                            p = 0 if across <= along else 1
                            for q in range(3):
                                faces[f, q] = cut[p + q]
                                faces[f + 1, q] = cut[(p + q + 2) % 4]
                        f += pieces
    return count
