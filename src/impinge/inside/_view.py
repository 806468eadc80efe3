"""Compiled loop that takes points from one frame into another."""

from impinge._jit import parallel


@parallel(grain=4096)
def move_points(first, stop, points, before, matrix, after, moved):
    """(Point − before) · matrix + after, row by row.

    Written out: the bits of a row do not depend on the rows around it, as those of a matrix product may.
    """
    x0, y0, z0 = before[0], before[1], before[2]
    for i in range(first, stop):
        x, y, z = points[i, 0] - x0, points[i, 1] - y0, points[i, 2] - z0
        for k in range(3):
            moved[i, k] = x * matrix[0, k] + y * matrix[1, k] + z * matrix[2, k] + after[k]
