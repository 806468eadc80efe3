"""Growing the octree: triangles into the root lattice, then crowded cells into 4×4×4 children.

A cell's code is an int32 with a tag in its two lowest bits: EMPTY (winding number above the tag), LEAF (place
of the leaf's record) or NODE (number of a brick of 64 child codes). Lists of triangles stay sorted by face
number because every step keeps their order, so the tree does not depend on the number of threads.

"Tree space" is the space of the mesh times a power of two, which is exact; see octree.py.
"""

import numpy as np

from impinge._jit import exact, kernel, parallel
from impinge.exact._triangles import DOUBT, quick_crossing
from impinge.inside._octree_cover import cell_range, cover

EMPTY, LEAF, NODE = 0, 1, 2
LANES = 8  # triangles side by side in a block of a leaf record
HEADER_UNITS = 2  # sizes of leaf records in units of 32 bytes
BLOCK_UNITS = 11
UNKNOWN = -(2**29)  # winding number of a cell that double precision could not tell
SUM_BLOCK = 4096  # triangles whose sizes are added up in one piece
# Places on a shared side of two cells where a winding number may be taken: three coordinates each, the last into
# the cell that gets it (so that it is in that cell, and in its children, for good) and less than MARGIN of the other.
# Irregular numbers make it unlikely that a point lies on the surface.
_PLACES = np.array(
    [
        [0.4871, 0.5233, 0.0],
        [0.6113, 0.3907, 1.7e-4],
        [0.3319, 0.6481, 4.3e-4],
        [0.7477, 0.7129, 5.9e-4],
    ]
)


# Position of the lowest set bit by multiplication with a de Bruijn sequence.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.zeros(64, np.int64)
for _i in range(64):
    _BIT[((int(_DE_BRUIJN) << _i) & (2**64 - 1)) >> 58] = _i


@exact
def _lowest(mask):
    """Number of the lowest set bit of a non-zero mask."""
    return _BIT[((mask & (~mask + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


@exact
def _corner(vertices, faces, triangle, corner, scale, ox, oy, oz, inv):
    """Corner of a triangle in units of a lattice with origin o (tree space) and cell size 1/inv."""
    v = faces[triangle, corner]
    x = (vertices[v, 0] * scale[0] - ox) * inv
    y = (vertices[v, 1] * scale[1] - oy) * inv
    z = (vertices[v, 2] * scale[2] - oz) * inv
    return x, y, z


@parallel(grain=4)
def sum_sizes(first, stop, vertices, faces, scale, sums):
    """Sums of area and extents along x, y, z, in tree space, of each block of SUM_BLOCK triangles."""
    for block in range(first, stop):
        area, long_x, long_y, long_z = 0.0, 0.0, 0.0, 0.0
        for t in range(block * SUM_BLOCK, min((block + 1) * SUM_BLOCK, faces.shape[0])):
            ax, ay, az = _corner(vertices, faces, t, 0, scale, 0.0, 0.0, 0.0, 1.0)
            bx, by, bz = _corner(vertices, faces, t, 1, scale, ax, ay, az, 1.0)
            cx, cy, cz = _corner(vertices, faces, t, 2, scale, ax, ay, az, 1.0)
            nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
            area += 0.5 * np.sqrt(nx * nx + ny * ny + nz * nz)
            long_x += max(bx, cx, 0.0) - min(bx, cx, 0.0)
            long_y += max(by, cy, 0.0) - min(by, cy, 0.0)
            long_z += max(bz, cz, 0.0) - min(bz, cz, 0.0)
        sums[block, 0], sums[block, 1], sums[block, 2], sums[block, 3] = area, long_x, long_y, long_z


@parallel(grain=1)
def count_root(first, stop, vertices, faces, scale, origin, inv, shape, counts):
    """Add up, per bin of triangles and root cell, the triangles that meet the cell; counts (bins, cells)."""
    m, bins = faces.shape[0], counts.shape[0]
    for i in range(first, stop):
        begin, end = m * i // bins, m * (i + 1) // bins
        _sort_root(vertices, faces, scale, origin, inv, shape, begin, end, counts[i], counts[i], False)


@parallel(grain=1)
def fill_root(first, stop, vertices, faces, scale, origin, inv, shape, starts, entries):
    """Write the triangles of every root cell behind one another; starts (bins, cells) is used up."""
    m, bins = faces.shape[0], starts.shape[0]
    for i in range(first, stop):
        begin, end = m * i // bins, m * (i + 1) // bins
        _sort_root(vertices, faces, scale, origin, inv, shape, begin, end, starts[i], entries, True)


@kernel
def _sort_root(vertices, faces, scale, origin, inv, shape, begin, end, slots, entries, write):
    sx, sy, sz = shape[0], shape[1], shape[2]
    for t in range(begin, end):
        ax, ay, az = _corner(vertices, faces, t, 0, scale, origin[0], origin[1], origin[2], inv)
        bx, by, bz = _corner(vertices, faces, t, 1, scale, origin[0], origin[1], origin[2], inv)
        cx, cy, cz = _corner(vertices, faces, t, 2, scale, origin[0], origin[1], origin[2], inv)
        x0, x1 = cell_range(ax, bx, cx, sx)
        y0, y1 = cell_range(ay, by, cy, sy)
        z0, z1 = cell_range(az, bz, cz, sz)
        thin = (x0 == x1) + (y0 == y1) + (z0 == z1) >= 2
        for z in range(z0, z1 + 1, 4):
            for y in range(y0, y1 + 1, 4):
                for x in range(x0, x1 + 1, 4):
                    ex, ey, ez = min(x + 3, x1), min(y + 3, y1), min(z + 3, z1)
                    mask = cover(ax, ay, az, bx, by, bz, cx, cy, cz, thin, x, ex, y, ey, z, ez)
                    while mask != 0:
                        bit = _lowest(mask)
                        mask &= mask - np.uint64(1)
                        cell = (x + (bit & 3)) + sx * ((y + ((bit >> 2) & 3)) + sy * (z + (bit >> 4)))
                        slot = slots[cell]
                        if write:
                            entries[slot] = t
                        slots[cell] = slot + 1


@kernel
def start_root(counts, starts):
    """Turn counts (bins, cells) into places; starts (cells + 1,) gets the first place of every cell."""
    total = 0
    for cell in range(counts.shape[1]):
        starts[cell] = total
        for piece in range(counts.shape[0]):
            n = counts[piece, cell]
            counts[piece, cell] = total
            total += n
    starts[counts.shape[1]] = total


@exact
def _crossings(vertices, faces, scale, entries, begin, end, px, py, pz, qx, qy, qz):
    """Signed crossings of the segment from p to q + e with the listed triangles, UNKNOWN in doubt."""
    px, py, pz, qx, qy, qz = px * scale[0], py * scale[1], pz * scale[2], qx * scale[0], qy * scale[1], qz * scale[2]
    total = 0
    for k in range(begin, end):
        t = entries[k]
        ax, ay, az = _corner(vertices, faces, t, 0, scale, 0.0, 0.0, 0.0, 1.0)
        bx, by, bz = _corner(vertices, faces, t, 1, scale, 0.0, 0.0, 0.0, 1.0)
        cx, cy, cz = _corner(vertices, faces, t, 2, scale, 0.0, 0.0, 0.0, 1.0)
        sign = quick_crossing(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
        if sign == DOUBT:
            return UNKNOWN
        total += sign
    return total


@exact
def _side_point(x, y, z, axis, up, place, origin, size, unscale):
    """A point at the lower side, across `axis`, of the cell (x, y, z), in it or (up = 0) in the cell below.

    As a double of the mesh's space.
    """
    u, v, w = _PLACES[place, 0], _PLACES[place, 1], (2 * up - 1) * _PLACES[place, 2]
    if axis == 0:
        dx, dy, dz = w, u, v
    elif axis == 1:
        dx, dy, dz = v, w, u
    else:
        dx, dy, dz = u, v, w
    px = (origin[0] + size * (x + dx)) * unscale[0]
    py = (origin[1] + size * (y + dy)) * unscale[1]
    pz = (origin[2] + size * (z + dz)) * unscale[2]
    return px, py, pz


@exact
def _step(vertices, faces, scale, entries, begin, end, qx, qy, qz, winding, x, y, z, axis, up, origin, size, unscale):
    """Point on the side between a listed cell and its neighbour, and the winding number there or UNKNOWN.

    The listed cell has the reference q with the given winding number; (x, y, z) is the upper of the two
    cells, and the neighbour if up = 1. Moves the point a little where it is on the surface or too near.
    """
    if winding != UNKNOWN:
        for place in range(_PLACES.shape[0]):
            px, py, pz = _side_point(x, y, z, axis, up, place, origin, size, unscale)
            crossings = _crossings(vertices, faces, scale, entries, begin, end, px, py, pz, qx, qy, qz)
            if crossings != UNKNOWN:
                return px, py, pz, winding + crossings
    px, py, pz = _side_point(x, y, z, axis, up, 0, origin, size, unscale)
    return px, py, pz, UNKNOWN


@parallel(grain=64)
def label_root(first, stop, vertices, faces, scale, origin, size, shape, starts, entries, references, windings):
    """References (cells, 3) and winding numbers there (or UNKNOWN), row by row from outside."""
    sx, sy = shape[0], shape[1]
    unscale = 1.0 / scale
    for row in range(first, stop):
        y, z = row % sy, row // sy
        winding = np.int64(0)
        last = np.int64(-1)  # the cell before, if it is occupied
        for x in range(sx):
            cell = x + sx * row
            px, py, pz = _side_point(x, y, z, 0, 1, 0, origin, size, unscale)
            if last >= 0:
                px, py, pz, winding = _step(
                    vertices, faces, scale, entries, starts[last], starts[last + 1],
                    references[last, 0], references[last, 1], references[last, 2], winding,
                    x, y, z, 0, 1, origin, size, unscale,
                )  # fmt: skip
            windings[cell] = winding
            references[cell, 0], references[cell, 1], references[cell, 2] = px, py, pz
            last = cell if starts[cell + 1] > starts[cell] else np.int64(-1)


@parallel(grain=16)
def cover_nodes(first, stop, vertices, faces, scale, origin, child, cells, starts, entries, most, masks, counts, sums):
    """Children of every node that each of its triangles meets.

    masks: (entries,) bits of children; counts: (nodes, 64) triangles per child; sums: (nodes, 4) entries of
    all children, sum of their squares, leaves and units of leaf records, crowded children (above `most`).
    """
    inv = 1.0 / child
    for node in range(first, stop):
        ox = origin[0] + (4 * child) * cells[node, 0]
        oy = origin[1] + (4 * child) * cells[node, 1]
        oz = origin[2] + (4 * child) * cells[node, 2]
        tally = counts[node]
        tally[:] = 0
        for k in range(starts[node, 0], starts[node, 1]):
            t = entries[k]
            ax, ay, az = _corner(vertices, faces, t, 0, scale, ox, oy, oz, inv)
            bx, by, bz = _corner(vertices, faces, t, 1, scale, ox, oy, oz, inv)
            cx, cy, cz = _corner(vertices, faces, t, 2, scale, ox, oy, oz, inv)
            x0, x1 = cell_range(ax, bx, cx, 4)
            y0, y1 = cell_range(ay, by, cy, 4)
            z0, z1 = cell_range(az, bz, cz, 4)
            thin = (x0 == x1) + (y0 == y1) + (z0 == z1) >= 2
            mask = cover(ax, ay, az, bx, by, bz, cx, cy, cz, thin, x0, x1, y0, y1, z0, z1)
            shift = x0 + 4 * y0 + 16 * z0
            mask = mask << np.uint64(shift & 63)
            masks[k] = mask
            while mask != 0:
                tally[_lowest(mask)] += 1
                mask &= mask - np.uint64(1)
        total, squares, leaves, units, crowded = 0, 0, 0, 0, 0
        for c in range(64):
            n = np.int64(tally[c])
            total += n
            squares += n * n
            if n > most:
                crowded += 1
            elif n > 0:
                leaves += 1
                units += leaf_units(n)
        sums[node, 0], sums[node, 1], sums[node, 2], sums[node, 3], sums[node, 4] = (
            total,
            squares,
            leaves,
            units,
            crowded,
        )


@exact
def leaf_units(n):
    """Size of the record of a leaf with n triangles, in units of 32 bytes."""
    return HEADER_UNITS + BLOCK_UNITS * ((n + LANES - 1) // LANES)


@parallel(grain=16)
def split_nodes(
    first, stop, vertices, faces, scale, origin, child, nodes, cells, starts, entries, masks, counts, node_refs,
    node_windings, places, most, out_entries, codes, leaf_spans, leaf_places, leaf_refs, leaf_windings,
    next_cells, next_spans, next_refs, next_windings, next_slots,
):  # fmt: skip
    """Make the bricks of the nodes to be split: children's lists, winding numbers, references and codes.

    places: (nodes, 4) first entry, leaf, unit of leaf records and crowded child of every node.
    """
    unscale = 1.0 / scale
    for i in range(first, stop):
        node = nodes[i]
        fill = np.empty(65, np.int64)
        fill[0] = places[i, 0]
        for c in range(64):
            fill[c + 1] = fill[c] + counts[node, c]
        slots = fill[:64].copy()
        for k in range(starts[node, 0], starts[node, 1]):
            mask = masks[k]
            while mask != 0:
                c = _lowest(mask)
                mask &= mask - np.uint64(1)
                out_entries[slots[c]] = entries[k]
                slots[c] += 1
        refs = np.empty((64, 3))
        windings = np.empty(64, np.int32)
        base = 4 * cells[node]
        _label_brick(
            vertices, faces, out_entries, fill, origin, child, scale, unscale, base, node_refs[node],
            node_windings[node], refs, windings,
        )  # fmt: skip
        leaf, unit, crowded, code = places[i, 1], places[i, 2], places[i, 3], 64 * i
        for c in range(64):
            n = fill[c + 1] - fill[c]
            if n == 0:
                codes[code + c] = (windings[c] << 2) | EMPTY
            elif n <= most:
                codes[code + c] = (unit << 2) | LEAF
                leaf_spans[leaf, 0] = fill[c]
                leaf_spans[leaf, 1] = fill[c + 1]
                leaf_places[leaf] = unit
                leaf_refs[leaf] = refs[c]
                leaf_windings[leaf] = windings[c]
                leaf += 1
                unit += leaf_units(n)
            else:
                next_cells[crowded, 0] = base[0] + (c & 3)
                next_cells[crowded, 1] = base[1] + ((c >> 2) & 3)
                next_cells[crowded, 2] = base[2] + (c >> 4)
                next_spans[crowded, 0] = fill[c]
                next_spans[crowded, 1] = fill[c + 1]
                next_refs[crowded] = refs[c]
                next_windings[crowded] = windings[c]
                next_slots[crowded] = code + c
                crowded += 1


@kernel
def _label_brick(
    vertices,
    faces,
    entries,
    fill,
    origin,
    child,
    scale,
    unscale,
    base,
    node_ref,
    node_winding,
    refs,
    windings,
):
    """Winding numbers of the 64 children, and reference points of the occupied ones.

    From the child that holds the node's own reference outwards over common sides: an empty child passes its
    number on for nothing; an occupied one is crossed (at the price of its triangles) only when no empty one
    is left to go on from.
    """
    known = np.zeros(64, np.bool_)
    windings[:] = UNKNOWN
    for c in range(64):
        x, y, z = base[0] + (c & 3), base[1] + ((c >> 2) & 3), base[2] + (c >> 4)
        refs[c, 0], refs[c, 1], refs[c, 2] = _side_point(x, y, z, 0, 1, 0, origin, child, unscale)
    free, occupied = np.empty(64, np.int64), np.empty(64, np.int64)
    n_free, n_occupied = 0, 0
    at = np.int64(0)
    for axis in range(3):
        here = np.int64(np.floor((node_ref[axis] * scale[axis] - origin[axis]) / child)) - base[axis]
        at += min(max(here, 0), 3) << (2 * axis)
    known[at] = True
    windings[at] = node_winding
    refs[at] = node_ref
    if fill[at + 1] == fill[at]:
        free[0] = at
        n_free = 1
    else:
        occupied[0] = at
        n_occupied = 1
    while n_free + n_occupied > 0:
        is_free = n_free > 0
        if is_free:
            n_free -= 1
            j = free[n_free]
        else:
            n_occupied -= 1
            j = occupied[n_occupied]
        for axis in range(3):
            where = (j >> (2 * axis)) & 3
            for up in range(2):
                if where + 2 * up - 1 < 0 or where + 2 * up - 1 > 3:
                    continue
                k = j + ((2 * up - 1) << (2 * axis))
                if known[k]:
                    continue
                upper = k if up == 1 else j
                x, y, z = base[0] + (upper & 3), base[1] + ((upper >> 2) & 3), base[2] + (upper >> 4)
                if is_free:
                    px, py, pz = _side_point(x, y, z, axis, up, 0, origin, child, unscale)
                    winding = np.int64(windings[j])
                else:
                    px, py, pz, winding = _step(
                        vertices, faces, scale, entries, fill[j], fill[j + 1], refs[j, 0], refs[j, 1], refs[j, 2],
                        np.int64(windings[j]), x, y, z, axis, up, origin, child, unscale,
                    )  # fmt: skip
                if winding == UNKNOWN:
                    continue  # another neighbour may know better
                known[k] = True
                windings[k] = winding
                refs[k, 0], refs[k, 1], refs[k, 2] = px, py, pz
                if fill[k + 1] == fill[k]:
                    free[n_free] = k
                    n_free += 1
                else:
                    occupied[n_occupied] = k
                    n_occupied += 1
