"""Kernels that refine a sphere."""

import numpy as np

from impinge._jit import kernel


@kernel
def _split_faces(vertices, faces, mate, new_vertices, new_faces):
    """Splits every face into four and puts the new vertices, one per edge, on the unit sphere.

    `mate` comes from `_link_edges`; the mesh is closed and manifold, so there are 3 m / 2 edges.
    """
    n, m = len(vertices), len(faces)
    new_vertices[:n] = vertices
    middle = np.empty(3 * m, np.int32)
    count = n
    for h in range(3 * m):
        if mate[h] > h:
            middle[h] = count
            middle[mate[h]] = count
            a, b = faces[h // 3, h % 3], faces[h // 3, (h + 1) % 3]
            x, y, z = (
                vertices[a, 0] + vertices[b, 0],
                vertices[a, 1] + vertices[b, 1],
                vertices[a, 2] + vertices[b, 2],
            )
            length = np.sqrt(x * x + y * y + z * z)
            new_vertices[count, 0] = x / length
            new_vertices[count, 1] = y / length
            new_vertices[count, 2] = z / length
            count += 1
    for f in range(m):
        a, b, c = faces[f]
        ab, bc, ca = middle[3 * f], middle[3 * f + 1], middle[3 * f + 2]
        new_faces[4 * f, 0], new_faces[4 * f, 1], new_faces[4 * f, 2] = a, ab, ca
        new_faces[4 * f + 1, 0], new_faces[4 * f + 1, 1], new_faces[4 * f + 1, 2] = ab, b, bc
        new_faces[4 * f + 2, 0], new_faces[4 * f + 2, 1], new_faces[4 * f + 2, 2] = ca, bc, c
        new_faces[4 * f + 3, 0], new_faces[4 * f + 3, 1], new_faces[4 * f + 3, 2] = ab, bc, ca
