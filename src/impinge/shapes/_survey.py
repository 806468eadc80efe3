"""Kernels that look for defects of a mesh. All are linear in the number of faces."""

import numpy as np

from impinge._jit import kernel
from impinge.exact._orient import normal_sign
from impinge.shapes._edges import CROWDED, DUPLICATE, FLAT, PINCHED, REPEATED, UNUSED, note


@kernel
def _repeats(faces, f):
    """Whether face f has a vertex twice."""
    return faces[f, 0] == faces[f, 1] or faces[f, 1] == faces[f, 2] or faces[f, 2] == faces[f, 0]


@kernel
def _find_twins(faces, count, mate, twin):
    """twin[f] = an earlier face with the vertices of face f, if any: by the third vertices at each edge."""
    seen = np.full(count, -1, np.int32)
    for last in range(len(mate)):
        if mate[last] >= last or mate[last] < 0:
            continue
        h = mate[last]
        while True:
            f, third = h // 3, faces[h // 3, (h + 2) % 3]
            if not _repeats(faces, f):
                if seen[third] >= 0:
                    twin[f] = seen[third]
                else:
                    seen[third] = f
            if h == last:
                break
            h = mate[h]
        while True:
            seen[faces[h // 3, (h + 2) % 3]] = -1
            h = mate[h]
            if h == last:
                break


@kernel
def _survey_faces(faces, count, mate, counts, examples):
    """Finds faces with a vertex twice, and faces with the same three vertices, whichever way round.

    `faces` are merged; `mate` and `counts` come from `_link_edges`. Examples of duplicates: the face, an
    earlier one. Faces that repeat a vertex do not count as duplicates.
    """
    twin = np.full(len(faces), -1, np.int32)
    if counts[CROWDED] > 0:
        _find_twins(faces, count, mate, twin)
    else:
        # Each edge has at most two faces, so twins have all three edges in common.
        for f in range(len(faces)):
            other = mate[3 * f] // 3
            if other < f and other == mate[3 * f + 1] // 3 and other == mate[3 * f + 2] // 3:
                twin[f] = other
    for f in range(len(faces)):
        if _repeats(faces, f):
            note(counts, examples, REPEATED, f, 0)
        elif twin[f] >= 0:
            note(counts, examples, DUPLICATE, f, twin[f])


@kernel
def _walk(faces, mate, v, start, exit_edge):
    """Number of faces passed when turning about v, the tail of half-edge `start`, out through `exit_edge`.

    Ends at a border, or at `start` again: then the number is negative. `start` itself is not counted.
    """
    passed = 0
    while True:
        h = mate[exit_edge]
        if h == exit_edge:
            return passed
        f, k = h // 3, h % 3
        if faces[f, k] == v:
            corner, exit_edge = h, 3 * f + (k + 2) % 3
        else:
            corner = 3 * f + (k + 1) % 3
            exit_edge = corner
        passed += 1
        if corner == start:
            return -passed


@kernel
def _skip_crowded(faces, mate, valence):
    """Makes the valence of the ends of crowded edges negative for good."""
    for h in range(len(mate)):
        if mate[h] >= 0 and mate[mate[h]] != h:
            valence[faces[h // 3, h % 3]] = -len(mate)
            valence[faces[h // 3, (h + 1) % 3]] = -len(mate)


@kernel
def _survey_vertices(faces, count, mate, counts, examples):
    """Finds vertices where the faces do not form one fan.

    Vertices with a crowded edge or a face that repeats them are left out: they are reported for that.
    """
    valence = np.zeros(count, np.int32)
    start = np.empty(count, np.int32)
    if counts[CROWDED] > 0:
        _skip_crowded(faces, mate, valence)
    for f in range(len(faces)):
        repeats = _repeats(faces, f)
        for k in range(3):
            v = faces[f, k]
            start[v] = 3 * f + k
            valence[v] = -len(mate) if repeats else valence[v] + 1
    for v in range(count):
        if valence[v] <= 0:
            continue
        h = start[v]
        passed = _walk(faces, mate, v, h, h)
        if passed >= 0:
            passed += 1 + _walk(faces, mate, v, h, h // 3 * 3 + (h + 2) % 3)
        if abs(passed) != valence[v]:
            note(counts, examples, PINCHED, v, 0)


@kernel
def _suspect_areas(vertices, faces, flat):
    """flat[f] = 0 if face f has an area, 1 if two of its corners are equal, 2 if rounding hides the answer.

    Returns whether there is a 2.
    """
    unsure = False
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        bx, by, bz = vertices[b, 0], vertices[b, 1], vertices[b, 2]
        cx, cy, cz = vertices[c, 0], vertices[c, 1], vertices[c, 2]
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        p, q, r, s, t, w = uy * vz, uz * vy, uz * vx, ux * vz, ux * vy, uy * vx
        # Rounding is below 1e-15 (|p| + |q|) unless the products leave the range of normal numbers.
        if (
            abs(p - q) > 1e-14 * (abs(p) + abs(q)) + 1e-290
            or abs(r - s) > 1e-14 * (abs(r) + abs(s)) + 1e-290
            or abs(t - w) > 1e-14 * (abs(t) + abs(w)) + 1e-290
        ):
            flat[f] = 0
        elif (
            (ax == bx and ay == by and az == bz)
            or (bx == cx and by == cy and bz == cz)
            or (cx == ax and cy == ay and cz == az)
        ):
            flat[f] = 1
        else:
            flat[f] = 2
            unsure = True
    return unsure


@kernel
def _decide_areas(vertices, faces, flat):
    """Settles the unsure entries of `_suspect_areas` exactly. Apart, because it is slow to compile."""
    for f in range(len(faces)):
        if flat[f] == 2:
            a, b, c = vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]]
            flat[f] = normal_sign(a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]) == 0


@kernel
def _survey_areas(flat, counts, examples):
    """Notes the faces without area."""
    for f in range(len(flat)):
        if flat[f] == 1:
            note(counts, examples, FLAT, f, 0)


@kernel
def _survey_unused(faces, count, counts, examples):
    """Finds vertices that no face uses."""
    used = np.zeros(count, np.bool_)
    for f in range(len(faces)):
        for k in range(3):
            used[faces[f, k]] = True
    for v in range(count):
        if not used[v]:
            note(counts, examples, UNUSED, v, 0)
