"""Spheres and discs: their state, in the order in which they lie in space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Particles"]

_Floats = NDArray[np.float64]
_ROWS = ("ids", "kinds", "mass", "x", "u", "q", "v", "w", "lost", "work")


class Particles:
    """State of all spheres of a world.

    Rows are in the order of memory, which changes now and then so that neighbours in space stay neighbours there;
    `ids` are permanent.

    Attributes
    ----------
    ids, kinds : (n,) int64
        Permanent numbers, and numbers of materials.
    mass : (n,) float64, kg
    x : (n, 4) float64, m
        Centres and radii.
    u, q : (n, 3) float64, m/s and 1/s
        Velocities and spins at the time of the positions, as far as dampers and friction need them.
    v, w : (n, 3) float64
        The same half a time step before.
    lost, work : (n,) float64, J
        Energy lost at contacts so far, and work done by what is driven.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.ids, self.kinds, self.mass = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        self.x, self.u, self.q = np.empty((0, 4)), np.empty((0, 3)), np.empty((0, 3))
        self.v, self.w, self.lost, self.work = np.empty((0, 3)), np.empty((0, 3)), np.empty(0), np.empty(0)
        self.next_id = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def turning(self) -> float:
        """Moment of inertia over m r²."""
        return 0.4 if self.dimension == 3 else 0.5

    def masses(self, radii: _Floats, density: float) -> _Floats:
        """Of spheres, kg/m³ · m³, or of discs, kg/m² · m²."""
        volumes: _Floats = 4 / 3 * math.pi * radii**3 if self.dimension == 3 else math.pi * radii**2
        return density * volumes

    def add(
        self, centres: _Floats, radii: _Floats, density: float, kind: int, velocities: _Floats, spins: _Floats
    ) -> NDArray[np.int64]:
        """Add spheres, given with three axes each; returns their permanent numbers."""
        n = len(centres)
        mass = self.masses(radii, density)
        ids = np.arange(self.next_id, self.next_id + n)
        rows = {
            "ids": ids, "kinds": np.full(n, kind), "mass": mass, "x": np.column_stack([centres, radii]),
            "u": velocities, "q": spins, "v": velocities, "w": spins, "lost": np.zeros(n), "work": np.zeros(n),
        }  # fmt: skip
        for name in _ROWS:
            setattr(self, name, np.concatenate([getattr(self, name), rows[name]]))
        self.next_id += n
        return ids

    def take(self, rows: NDArray[np.int64]) -> None:
        """Keep these rows, in this order."""
        for name in _ROWS:
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[rows]))

    def order_in_space(self) -> NDArray[np.int64]:
        """Rows in the order of layers across the longest axis, one sphere thick, and of lines in them.

        Partners are then few rows apart, which is what decides how fast they are found in memory.
        """
        if len(self) == 0:
            return np.empty(0, np.int64)
        low = self.x[:, :3].min(axis=0)
        extent = self.x[:, :3].max(axis=0) - low
        long, middle, short = np.argsort(-extent, kind="stable")
        axes = max(int(np.count_nonzero(extent)), 1)
        spacing = float(np.exp(np.log(extent[extent > 0]).sum() / axes)) / len(self) ** (1 / axes)
        cells = np.floor(np.minimum((self.x[:, :3] - low) / max(spacing, 1e-300), 2.0**40))
        return np.lexsort((self.x[:, short], cells[:, middle], cells[:, long]))

    def state(self) -> dict[str, Any]:
        """All of it, in the order of permanent numbers."""
        order = np.argsort(self.ids)
        return {"next_id": self.next_id} | {name: getattr(self, name)[order] for name in _ROWS}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.next_id = state["next_id"]
        for name in _ROWS:
            setattr(self, name, state[name].copy())
