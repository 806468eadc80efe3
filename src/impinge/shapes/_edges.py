"""Kernels over the edges of a triangle mesh.

Half-edge 3 f + k runs from corner k of face f to corner k + 1. A half-edge whose two ends are the same vertex
is a loop; loops are no edges and are skipped everywhere.

The two directions of an edge are brought together by a counting sort: each half-edge goes to the bucket of
its lower end, and inside a bucket an array over all vertices tells the higher ends apart. All is linear in
the number of faces, whatever the valences. One thread: memory is the limit, and two threads gained nothing.
"""

import numpy as np

from impinge._jit import kernel

# Kinds of defects: counts[kind] is how often one occurs, examples[kind] has two numbers for the first few.
OPEN, CROWDED, UNBALANCED, FLIPPED, DUPLICATE, REPEATED, PINCHED, FLAT, UNUSED = range(9)
KINDS, EXAMPLES = 9, 5


@kernel
def note(counts, examples, kind, a, b):
    """Counts one more defect, and keeps it if it is among the first."""
    if counts[kind] < EXAMPLES:
        examples[kind, counts[kind], 0] = a
        examples[kind, counts[kind], 1] = b
    counts[kind] += 1


@kernel
def _bucket_ends(faces, count):
    """ends[v] = number of half-edges whose lower end is at most v."""
    ends = np.zeros(count + 1, np.int32)
    for f in range(len(faces)):
        tail = faces[f, 2]
        for k in range(3):
            head = faces[f, k]
            if tail != head:
                ends[min(tail, head)] += np.int32(1)
            tail = head
    total = np.int32(0)
    for v in range(count + 1):
        total += ends[v]
        ends[v] = total
    return ends


@kernel
def _is_closed(faces, count):
    """Whether every edge is used equally often in both directions; faces are rows of `count` vertices."""
    start = _bucket_ends(faces, count)
    # Twice the higher end, plus 1 if the half-edge runs down; each bucket is filled from its end.
    codes = np.empty(start[count], np.uint32)
    for f in range(len(faces)):
        tail = faces[f, 2]
        for k in range(3):
            head = faces[f, k]
            if tail != head:
                low = min(tail, head)
                at = start[low] - np.int32(1)
                start[low] = at
                codes[at] = 2 * max(tail, head) + (tail > head)
            tail = head
    net = np.zeros(count, np.int32)
    for v in range(count):
        for at in range(start[v], start[v + 1]):
            net[codes[at] >> 1] += np.int32(1) - np.int32(2) * np.int32(codes[at] & 1)
        for at in range(start[v], start[v + 1]):
            if net[codes[at] >> 1] != 0:
                return False
    return True


@kernel
def _link_edges(faces, count, mate, counts, examples):
    """Links all half-edges of one edge into a ring: mate[h] is the next higher one, the highest wraps round.

    Hence mate[h] = h if no other face has this edge, and mate[mate[h]] = h if just one has. Loops get −1.
    Counts edges that are OPEN (one face), CROWDED (more than two), UNBALANCED (crowded, and not used equally
    often in both directions) or FLIPPED (two faces, same direction); examples are the first half-edge and
    the last.
    """
    start = _bucket_ends(faces, count)
    # Half-edges by lower end, in ascending order; beside them twice the higher end, plus 1 if running down.
    halves = np.empty(start[count], np.int32)
    codes = np.empty(start[count], np.uint32)
    for f in range(len(faces) - 1, -1, -1):
        head = faces[f, 0]
        for k in range(2, -1, -1):
            tail = faces[f, k]
            if tail != head:
                low = min(tail, head)
                at = start[low] - np.int32(1)
                start[low] = at
                halves[at] = 3 * f + k
                codes[at] = 2 * max(tail, head) + (tail > head)
            else:
                mate[3 * f + k] = -1
            head = tail
    newest = np.full(count, -1, np.int32)
    net = np.zeros(count, np.int32)
    for v in range(count):
        for at in range(start[v], start[v + 1]):
            h, high = halves[at], codes[at] >> 1
            net[high] += np.int32(1) - np.int32(2) * np.int32(codes[at] & 1)
            old = newest[high]
            newest[high] = h
            if old < 0:
                mate[h] = h
            else:
                mate[h] = mate[old]
                mate[old] = h
        for at in range(start[v], start[v + 1]):
            high = codes[at] >> 1
            last = newest[high]
            if last < 0:
                continue
            newest[high] = -1
            first = mate[last]
            if first == last:
                note(counts, examples, OPEN, first, last)
            elif mate[first] != last:
                note(counts, examples, CROWDED, first, last)
                if net[high] != 0:
                    note(counts, examples, UNBALANCED, first, last)
            elif net[high] != 0:
                note(counts, examples, FLIPPED, first, last)
            net[high] = 0


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
