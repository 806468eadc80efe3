"""Kernels: contact rows as sparse rows over the coordinates of soft nodes."""

from impinge._jit import kernel


@kernel
def fill_rows(corners, weights, normals, fixed, indptr, indices, values):
    """Rows −n · Σ w Δ over the coordinates that are free, three per corner; returns how many entries there are.

    fixed : (n, 3) bool; corners from n on belong to obstacles
    """
    count = 0
    for k in range(len(corners)):
        for c in range(4):
            node = corners[k, c]
            if node < len(fixed) and weights[k, c] != 0.0:
                for axis in range(3):
                    if not fixed[node, axis] and normals[k, axis] != 0.0:
                        indices[count] = 3 * node + axis
                        values[count] = -weights[k, c] * normals[k, axis]
                        count += 1
        indptr[k + 1] = count
    return count
