"""Pairs of near bodies, once; `NeighborSearch` follows them over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check, _jit
from impinge._scratch import borrow
from impinge.broad import methods
from impinge.broad.methods import BOX_METHODS, METHODS, Settings, read_settings
from impinge.broad.space import Bodies, boxes, read_length, spheres

__all__ = ["box_pairs", "pairs"]


def pairs(
    centres: ArrayLike,
    radii: ArrayLike,
    *,
    method: str = "auto",
    gap: float = 0.0,
    box: ArrayLike | None = None,
    periodic: bool | ArrayLike = False,
    threads: int | None = None,
    cell_size: float | None = None,
    zone_radius: float | None = None,
) -> NDArray[np.int64]:
    """All pairs of spheres that touch or are at most `gap` apart: |c_i − c_j| ≤ r_i + r_j + gap.

    Parameters
    ----------
    centres : (n, 2) or (n, 3) float64, m
    radii : float or (n,) float64, m
        At least 0.
    method : {"auto", "brute", "verlet", "cells", "sweep", "levels"}
        All find the same pairs; "auto" takes the fastest.
    gap : float, m
    box : (d,) lengths from 0, or ((x0, …), (x1, …)), m, optional
        Needed for periodic axes. Spheres may be anywhere: outside, they are moved by whole periods along periodic
        axes, and found like all others along the rest.
    periodic : bool or d of them
    threads : int, optional
        All cores by default. The result does not depend on it.
    cell_size : float, m, optional
        Length of the cells of method "cells"; the largest diameter and the gap by default.
    zone_radius : float, m, optional
        Radius in which method "verlet" lists partners; five times the largest radius by default.

    Returns
    -------
    (m, 2) int64
        Rows i < j in ascending order.

    Examples
    --------
    >>> import impinge
    >>> impinge.pairs([[0, 0, 0], [2, 0, 0], [5, 0, 0]], radii=1.0)
    array([[0, 1]])
    """
    gap = read_length("gap", gap)
    _check.choice("method", method, ["auto", *METHODS])
    with _jit.threads(threads), borrow() as scratch:
        bodies = spheres(centres, radii, gap, box, periodic, scratch)
        return _find(method, bodies, gap, read_settings(method, cell_size, zone_radius))


def box_pairs(
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    method: str = "auto",
    gap: float = 0.0,
    box: ArrayLike | None = None,
    periodic: bool | ArrayLike = False,
    threads: int | None = None,
    cell_size: float | None = None,
) -> NDArray[np.int64]:
    """All pairs of axis-parallel boxes that touch or are at most `gap` apart along every axis.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) float64, m
        Corners, lower ≤ upper.
    method : {"auto", "brute", "cells", "sweep", "levels"}
    gap, box, periodic, threads, cell_size
        As for `pairs`.

    Returns
    -------
    (m, 2) int64
        Rows i < j in ascending order.

    Examples
    --------
    >>> import impinge
    >>> impinge.box_pairs([[0, 0], [1, 1], [3, 0]], [[1, 1], [2, 2], [4, 1]])
    array([[0, 1]])
    """
    gap = read_length("gap", gap)
    _check.choice("method", method, ["auto", *BOX_METHODS])
    with _jit.threads(threads):
        return _find(method, boxes(lower, upper, gap, box, periodic), gap, read_settings(method, cell_size))


def _find(method: str, bodies: Bodies, gap: float, settings: Settings) -> NDArray[np.int64]:
    chosen = methods.choose(bodies)[0] if method == "auto" else method
    return methods.find(chosen, bodies, gap, settings).pairs
