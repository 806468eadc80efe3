"""How well two kinds of spheres are mixed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["mixing_index"]


def mixing_index(
    centres: NDArray[np.float64], volumes: NDArray[np.float64], is_first: NDArray[np.bool_], cell: float
) -> float:
    """Lacey's index M = (S0² − S²) / (S0² − Sr²), 0 for kinds that are apart, about 1 for a random mixture [Lacey1954].

    S² is the variance of the share p of the first kind among cells, where spheres count with their volume: cells
    weigh as much as is in them. S0² = p (1 − p) is that of kinds that are apart; Sr² = Σ v² (g − p)² / V_cell over all
    spheres, g being 1 or 0, divided by the whole volume, that of spheres put anywhere at random. For equal spheres
    this is p (1 − p) / n with n spheres per cell. Not a number if one kind is missing, or all have cells of their own.

    Parameters
    ----------
    centres : (n, d) float64, m
    volumes : (n,) float64
    is_first : (n,) bool
        Whether a sphere is of the first kind.
    cell : float, m
        Edge of the cells.
    """
    if not len(centres):
        return math.nan
    rows = np.floor(centres / cell).astype(np.int64)
    _, cells = np.unique(rows, axis=0, return_inverse=True)
    whole = volumes.sum()
    share = float(volumes[is_first].sum() / whole)
    off = volumes * (is_first - share)
    per_cell = np.bincount(cells, volumes)
    found = float((np.bincount(cells, off) ** 2 / per_cell).sum() / whole)
    at_random = float((np.bincount(cells, off**2) / per_cell).sum() / whole)
    apart = share * (1 - share)
    return (apart - found) / (apart - at_random) if apart > at_random else math.nan
