"""How many pairs linked cells test, before they do."""

from __future__ import annotations

from impinge import _check
from impinge.errors import InputError

__all__ = ["cell_tests", "cell_tests_random"]


def cell_tests(bodies: int, cells: int, dimension: int = 3) -> float:
    """P ≈ [3^d n_c² / 2 − n_c / 2] m^d,  n_c = n / m^d:  [Muth2007b] (3).

    Tests of n bodies in m cells along each of d axes, if every cell holds n_c of them; for n_c of at least 1.

    Examples
    --------
    >>> cell_tests(1000, 10, 2)
    44500.0
    """
    n, m, d = _checked(bodies, cells, dimension)
    per_cell = n / m**d
    return (3**d * per_cell**2 / 2 - per_cell / 2) * m**d


def cell_tests_random(bodies: int, cells: int, dimension: int = 3, *, periodic: bool = False) -> float:
    """P = 3^d n (n − 1) / (2 m^d) in a periodic box,  (3 m − 2)^d n (n − 1) / (2 m^(2 d)) between walls.

    The mean over random positions, where numbers differ from cell to cell, and cells at walls have fewer
    neighbours; a periodic box needs at least three cells along each axis.

    Examples
    --------
    >>> cell_tests_random(1000, 10, 2)
    39160.8
    """
    n, m, d = _checked(bodies, cells, dimension)
    if periodic and m < 3:
        raise InputError(f"cells: found {m}, expected at least 3 in a periodic box, where others would be met twice")
    pairs = n * (n - 1) / 2
    return pairs * 3**d / m**d if periodic else pairs * ((3 * m - 2) / m**2) ** d


def _checked(bodies: int, cells: int, dimension: int) -> tuple[int, int, int]:
    return (
        _check.integer("bodies", bodies, 0),
        _check.integer("cells", cells, 1),
        _check.integer("dimension", dimension, 1, 3),
    )
