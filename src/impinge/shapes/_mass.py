"""Kernels for extents and moments of a triangle mesh."""

import numpy as np

from impinge._jit import kernel


@kernel
def _bound_faces(vertices, faces, out):
    """out[0], out[1] = lowest and highest coordinates of the vertices that faces use."""
    for k in range(3):
        out[0, k] = np.inf
        out[1, k] = -np.inf
    used = np.zeros(len(vertices), np.bool_)
    for f in range(len(faces)):
        for k in range(3):
            used[faces[f, k]] = True
    for i in range(len(vertices)):
        if used[i]:
            for k in range(3):
                # Adding 0.0 makes −0.0 a 0.0, so that the result does not depend on the order.
                x = vertices[i, k] + 0.0
                out[0, k] = min(out[0, k], x)
                out[1, k] = max(out[1, k], x)


@kernel
def _sum_moments(vertices, faces, centre, scale, out):
    """Moments of the mesh in the coordinates y = (x − centre) / scale, by tetrahedra with the origin.

    With d = a · (b × c) for the corners a, b, c of a face and s = a + b + c:
    out[0] = area, out[1] = Σ |d| / 6, out[2] = volume = Σ d / 6, out[3:6] = ∫ y = Σ d s / 24,
    out[6:12] = ∫ y_i y_j = Σ d (s_i s_j + a_i a_j + b_i b_j + c_i c_j) / 120 for ij = 00, 11, 22, 01, 12, 20.
    Faces are summed in blocks, and blocks in order, which keeps the rounding error small.
    """
    out[:] = 0.0
    block = np.zeros(12)
    p = np.empty((3, 3))
    for f in range(len(faces)):
        for i in range(3):
            for k in range(3):
                p[i, k] = (vertices[faces[f, i], k] - centre[k]) / scale
        ux, uy, uz = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
        vx, vy, vz = p[2, 0] - p[0, 0], p[2, 1] - p[0, 1], p[2, 2] - p[0, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        d = p[0, 0] * nx + p[0, 1] * ny + p[0, 2] * nz
        block[0] += 0.5 * np.sqrt(nx * nx + ny * ny + nz * nz)
        block[1] += abs(d)
        block[2] += d
        for i in range(3):
            j = (i + 1) % 3
            si, sj = p[0, i] + p[1, i] + p[2, i], p[0, j] + p[1, j] + p[2, j]
            block[3 + i] += d * si
            block[6 + i] += d * (si * si + p[0, i] * p[0, i] + p[1, i] * p[1, i] + p[2, i] * p[2, i])
            block[9 + i] += d * (si * sj + p[0, i] * p[0, j] + p[1, i] * p[1, j] + p[2, i] * p[2, j])
        if f % 1024 == 1023 or f == len(faces) - 1:
            for i in range(12):
                out[i] += block[i]
                block[i] = 0.0
    out[1:3] /= 6.0
    out[3:6] /= 24.0
    out[6:12] /= 120.0
