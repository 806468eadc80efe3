"""Kernels over the edges of a triangle mesh.

Half-edge 3 f + k runs from corner k of face f to corner k + 1. A half-edge whose two ends are the same vertex
is a loop; loops are no edges and are skipped everywhere.

The two directions of an edge are brought together by a counting sort: each half-edge goes to the bucket of one
of its ends, the *owner*, and inside a bucket an array over all vertices tells the other ends apart. All is
linear in the number of faces, whatever the valences.
"""

import numpy as np

from impinge._jit import kernel, parallel, prange


@kernel
def _owns(tail, head):
    """Whether the tail of the half-edge owns the edge: the lower end if the sum is even, else the higher.

    The same end for both directions, and half of each vertex's edges on average, so that ranges of vertices
    own about equally many (the lower end alone would burden the low numbers).
    """
    return (tail < head) ^ (((tail + head) & 1) == 1)


@kernel
def _closed_range(faces, count, low, high):
    """Whether each edge owned by a vertex in [low, high) is used equally often in both directions."""
    start = np.zeros(high - low + 1, np.int32)
    for f in range(len(faces)):
        tail = faces[f, 2]
        for k in range(3):
            head = faces[f, k]
            owner = tail if _owns(tail, head) else head
            if low <= owner < high and tail != head:
                start[owner - low] += np.int32(1)
            tail = head
    total = np.int32(0)
    for i in range(len(start)):
        total += start[i]
        start[i] = total
    # Twice the other end, plus 1 if the owner is the head; filled from the end of each bucket.
    codes = np.empty(total, np.uint32)
    for f in range(len(faces)):
        tail = faces[f, 2]
        for k in range(3):
            head = faces[f, k]
            forward = _owns(tail, head)
            owner = tail if forward else head
            if low <= owner < high and tail != head:
                at = start[owner - low] - np.int32(1)
                start[owner - low] = at
                codes[at] = 2 * head if forward else 2 * tail + 1
            tail = head
    net = np.zeros(count, np.int32)
    for i in range(high - low):
        for at in range(start[i], start[i + 1]):
            net[codes[at] >> 1] += np.int32(1) - np.int32(2) * np.int32(codes[at] & 1)
        for at in range(start[i], start[i + 1]):
            if net[codes[at] >> 1] != 0:
                return False
    return True


@parallel
def _is_closed(faces, count, parts):
    """Whether every edge is used equally often in both directions; `count` vertices in `parts` ranges."""
    closed = np.ones(parts, np.bool_)
    for p in prange(parts):
        closed[p] = _closed_range(faces, count, count * p // parts, count * (p + 1) // parts)
    return closed.all()


@kernel
def _link_edges(faces, count, mate):
    """Links all half-edges of one edge into a ring: mate[h] is the next higher one, the highest wraps round.

    Hence mate[h] = h if no other face has this edge, and mate[mate[h]] = h if just one has. Loops get −1.
    """
    start = np.zeros(count + 1, np.int32)
    for f in range(len(faces)):
        tail = faces[f, 2]
        for k in range(3):
            head = faces[f, k]
            if tail != head:
                start[tail if _owns(tail, head) else head] += np.int32(1)
            tail = head
    total = np.int32(0)
    for i in range(count + 1):
        total += start[i]
        start[i] = total
    bucket = np.empty(total, np.int32)
    for f in range(len(faces) - 1, -1, -1):
        for k in range(2, -1, -1):
            tail, head = faces[f, k], faces[f, (k + 1) % 3]
            if tail != head:
                owner = tail if _owns(tail, head) else head
                start[owner] -= np.int32(1)
                bucket[start[owner]] = 3 * f + k
            else:
                mate[3 * f + k] = -1
    newest = np.full(count, -1, np.int32)
    for i in range(count):
        for at in range(start[i], start[i + 1]):
            h = bucket[at]
            f, k = h // 3, h % 3
            other = faces[f, k] + faces[f, (k + 1) % 3] - i
            old = newest[other]
            if old < 0:
                mate[h] = h
            else:
                mate[h] = mate[old]
                mate[old] = h
            newest[other] = h
        for at in range(start[i], start[i + 1]):
            h = bucket[at]
            f, k = h // 3, h % 3
            newest[faces[f, k] + faces[f, (k + 1) % 3] - i] = -1


@kernel
def _label_faces(mate, label):
    """label[f] = number of the part that face f belongs to, counted by first face; returns how many.

    Faces that share an edge are in one part. Union-find with path halving; the lowest face is the root.
    """
    m = len(label)
    for f in range(m):
        label[f] = f
    for h in range(3 * m):
        if mate[h] <= h:
            continue
        a, b = h // 3, mate[h] // 3
        while label[a] != a:
            label[a] = label[label[a]]
            a = label[a]
        while label[b] != b:
            label[b] = label[label[b]]
            b = label[b]
        if a < b:
            label[b] = a
        else:
            label[a] = b
    # A parent is never above its child, so one pass in ascending order turns roots into numbers.
    count = 0
    for f in range(m):
        if label[f] == f:
            label[f] = count
            count += 1
        else:
            label[f] = label[label[f]]
    return count
