"""Kernels of the foam: a field that is positive in the struts, and its surface by marching tetrahedra.

The field is sampled on a body-centred cubic lattice. With whole i, j, k there is a node A at (i, j, k) and a
node B half a step below, at (i − ½, j − ½, k − ½). Two neighbouring B nodes and two neighbouring A nodes
between them make a tetrahedron, 12 per cell, all alike. The cube is [¼, n + ¼]³ in these coordinates, so that
its sides cut the edges of the lattice well inside; nodes 0 to n + 1 are needed, nodes 1 to n are in the cube.

Why marching tetrahedra: the surface is cut out of each tetrahedron on its own and meets its neighbours along
whole edges, so it is closed, manifold and free of self-intersections for any field, without ambiguous cases.
Its weakness, slivers, is cured by keeping cuts off the ends of an edge, which changes no sign.
"""

import numpy as np

from impinge._jit import kernel, parallel, prange

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
def _strut(x, y, z, seeds):
    """Third minus first distance from (x, y, z) to the seeds: 0 where three cells meet, on a strut's axis.

    There is one seed per unit cell, seeds[i, j, k] in the cell with lower corner (i − 2, j − 2, k − 2), at
    least 0.05 from its sides; then the three nearest are within two cells of the point's own.
    """
    ci, cj, ck = int(np.floor(x)) + 2, int(np.floor(y)) + 2, int(np.floor(z)) + 2
    first, second, third = np.inf, np.inf, np.inf
    for i in range(max(ci - 2, 0), min(ci + 3, len(seeds))):
        for j in range(max(cj - 2, 0), min(cj + 3, len(seeds))):
            for k in range(max(ck - 2, 0), min(ck + 3, len(seeds))):
                dx, dy, dz = x - seeds[i, j, k, 0], y - seeds[i, j, k, 1], z - seeds[i, j, k, 2]
                d = dx * dx + dy * dy + dz * dz
                if d < third:
                    third = d
                    if third < second:
                        second, third = third, second
                    if second < first:
                        first, second = second, first
    return np.sqrt(third) - np.sqrt(first)


@parallel
def _sample_struts(seeds, cells, n, out):
    """out[i, j, k, s] = `_strut` at node A (s = 0) or B (s = 1) of (i, j, k); a step is cells / n long."""
    step = cells / n
    for i in prange(n + 2):
        for j in range(n + 2):
            for k in range(n + 2):
                for s in range(2):
                    at = -0.25 - 0.5 * s
                    out[i, j, k, s] = _strut((i + at) * step, (j + at) * step, (k + at) * step, seeds)


@kernel
def _mark_inside(struts, level, inside):
    """Sets `inside` to 1 at the nodes within the cube and within `level` of a strut's axis."""
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
def _field(struts, level, step, node):
    """Above 0 inside the struts and the cube, in cell sizes."""
    i, j, k, s = node
    n = struts.shape[0] - 2
    low = min(i, j, k) - 0.5 * s - 0.25
    high = n + 0.25 - (max(i, j, k) - 0.5 * s)
    return min(level - struts[i, j, k, s], min(low, high) * step)


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
def _cut_edge(struts, level, step, a, b, known, vertices, count):
    """Number of the vertex where the surface cuts the edge from node a to node b; made if not known yet.

    Returns it with the new number of vertices. `known` keeps three layers of owners, by i modulo 3.
    """
    which, edge = _edge_owner(a, b)
    owner = a if which == 0 else b
    vertex = known[owner[0] % 3, owner[1], owner[2], edge]
    if vertex >= 0:
        return vertex, count
    known[owner[0] % 3, owner[1], owner[2], edge] = count
    fa, fb = _field(struts, level, step, a), _field(struts, level, step, b)
    t = min(max(fa / (fa - fb), _END), 1.0 - _END)
    n = struts.shape[0] - 2
    for d in range(3):
        xa, xb = a[d] - 0.5 * a[3], b[d] - 0.5 * b[3]
        # The bounds only take away rounding errors.
        vertices[count, d] = min(max(((1.0 - t) * xa + t * xb - 0.25) / n, 0.0), 1.0)
    return count, count + 1


@kernel
def _march(struts, inside, level, step, vertices, faces):
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
                            for p in range(3):
                                cut[p], count = _cut_edge(
                                    struts, level, step, nodes[order[0]], nodes[order[1 + p]],
                                    known, vertices, count,
                                )  # fmt: skip
                            outward = (case >> order[0]) & 1 == 1
                            faces[f, 0] = cut[0]
                            faces[f, 1] = cut[1] if outward else cut[2]
                            faces[f, 2] = cut[2] if outward else cut[1]
                        elif pieces == 2:
                            for p in range(4):
                                a, b = nodes[order[p // 2]], nodes[order[2 + ((p + 1) // 2) % 2]]
                                cut[p], count = _cut_edge(struts, level, step, a, b, known, vertices, count)
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
