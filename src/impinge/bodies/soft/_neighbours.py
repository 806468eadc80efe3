"""Kernels: whether boxes still hold what moves."""

from impinge._jit import kernel


@kernel
def inside(x0, x1, low, high):
    """Whether all vertices stay in their boxes while they move from x0 to x1."""
    for i in range(len(x0)):
        for axis in range(3):
            if not (min(x0[i, axis], x1[i, axis]) >= low[i, axis] and max(x0[i, axis], x1[i, axis]) <= high[i, axis]):
                return False
    return True
