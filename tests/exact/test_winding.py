"""winding(p) = winding(q + e) + Σ crossing, on lattice solids where every tie occurs.

The solid is a union of unit cubes, sheared by an integer matrix. Its winding number at q + e is known without
any crossing: map q + (ε, ε², ε³), with ε a small rational number, back and look up the cube that it is in.
"""

from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pytest

from impinge.exact._triangles import crossing

SMALL = Fraction(1, 10**4)
# Integer matrices of determinant 1, with their inverses.
SHEARS = {
    "none": (np.eye(3, dtype=int), np.eye(3, dtype=int)),
    "sheared": (
        np.array([[1, 1, 0], [0, 1, 0], [0, -1, 1]]),
        np.array([[1, -1, 0], [0, 1, 0], [0, 1, 1]]),
    ),
    "cyclic": (
        np.array([[0, 0, 1], [1, 0, 0], [-1, 1, 0]]),
        np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0]]),
    ),
}


def surface(cubes, matrix, rng):
    """Triangles between full and empty cubes, outward, each square cut along a random diagonal."""
    triangles = []
    for cube in cubes:
        for axis, side in product(range(3), (0, 1)):
            neighbour = list(cube)
            neighbour[axis] += 2 * side - 1
            if tuple(neighbour) in cubes:
                continue
            u, v = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
            corner = np.array(cube) + side * np.eye(3, dtype=int)[axis]
            square = [corner, corner + u, corner + u + v, corner + v]
            if side == 0:
                square.reverse()
            first = rng.integers(0, 4)
            a, b, c, d = (matrix @ square[(first + i) % 4] for i in range(4))
            triangles += [(a, b, c), (a, c, d)]
    return [[float(x) for x in np.concatenate(triangle)] for triangle in triangles]


def mapped(matrix, point):
    return [sum(int(m) * x for m, x in zip(row, point, strict=True)) for row in matrix]


def winding_near(cubes, inverse, q):
    """Winding number at q + (ε, ε², ε³)."""
    moved = [Fraction(x) + SMALL ** (i + 1) for i, x in enumerate(q)]
    return int(tuple(floor(x) for x in mapped(inverse, moved)) in cubes)


def winding(cubes, inverse, p):
    """Winding number at p, or None on the surface: where the cubes that touch p are not all alike."""
    place = mapped(inverse, [Fraction(x) for x in p])
    ranges = [range(ceil(x) - 1, floor(x) + 1) for x in place]
    found = {int(cube in cubes) for cube in product(*ranges)}
    return found.pop() if len(found) == 1 else None


@pytest.mark.parametrize("shear", SHEARS)
@pytest.mark.parametrize("seed", range(3))
def test_lattice_solids(shear, seed):
    rng = np.random.default_rng(seed)
    matrix, inverse = SHEARS[shear]
    assert (matrix @ inverse == np.eye(3, dtype=int)).all()
    cubes = {tuple(cube) for cube in rng.integers(0, 3, (10, 3)).tolist()}
    triangles = surface(cubes, matrix, rng)
    degenerate = [float(x) for x in (5, 5, 5, 6, 6, 6, 7, 7, 7)]
    on_surface = 0
    for p, q in rng.integers(-1, 8, (120, 2, 3)) / 2:
        p, q = (mapped(matrix, [float(x) for x in point]) for point in (p, q))
        found = [crossing(*p, *q, *triangle) for triangle in [*triangles, degenerate]]
        right = winding(cubes, inverse, p)
        if right is None:
            on_surface += 1
            assert 2 in found
        else:
            assert 2 not in found
            assert winding_near(cubes, inverse, q) + sum(found) == right
    assert on_surface > 10


def test_triangle_without_area():
    """Never crossed, but a point on it is on the surface."""
    needle = [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    assert crossing(1.0, 1.0, 0.0, 1.0, 1.0, 2.0, *needle) == 0
    assert crossing(0.5, 0.5, 0.5, 1.0, 1.0, 2.0, *needle) == 2
    assert crossing(3.0, 3.0, 3.0, 1.0, 1.0, 1.0, *needle) == 0
    assert crossing(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, *[1.0] * 9) == 2
