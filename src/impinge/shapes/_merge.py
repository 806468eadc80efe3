"""Kernels that find vertices at the same place."""

import numpy as np

from impinge._jit import kernel

_MINUS_ZERO = np.uint64(1 << 63)


@kernel
def _mix(x, y, z):
    """A well-spread 64-bit number from the bits of three coordinates; −0.0 counts as 0.0."""
    if x == _MINUS_ZERO:
        x = np.uint64(0)
    if y == _MINUS_ZERO:
        y = np.uint64(0)
    if z == _MINUS_ZERO:
        z = np.uint64(0)
    # Round numbers differ only in their high bits, so these must reach the low ones before each product.
    h = (x ^ (x >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h = (h + (y ^ (y >> np.uint64(32)))) * np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(32)
    h = (h + (z ^ (z >> np.uint64(32)))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@kernel
def _first_equal(vertices, bits, first):
    """first[i] = lowest j with vertices[j] == vertices[i]; returns the number of distinct vertices.

    Open addressing in a table at most half full; `bits` is `vertices` seen as uint64.
    """
    n = len(vertices)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int32)
    distinct = 0
    for i in range(n):
        slot = _mix(bits[i, 0], bits[i, 1], bits[i, 2]) & mask
        while True:
            j = table[slot]
            if j < 0:
                table[slot] = i
                first[i] = i
                distinct += 1
                break
            if (
                vertices[i, 0] == vertices[j, 0]
                and vertices[i, 1] == vertices[j, 1]
                and vertices[i, 2] == vertices[j, 2]
            ):
                first[i] = j
                break
            slot = (slot + np.uint64(1)) & mask
    return distinct


@kernel
def _renumber(faces, number, out):
    """Fills out with number[faces]."""
    for f in range(len(faces)):
        for k in range(3):
            out[f, k] = number[faces[f, k]]
