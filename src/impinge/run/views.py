"""What a world shows: its spheres at one moment, its walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impinge import _jit
from impinge.run.measure import Push

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["Spheres", "Wall"]

_Floats = NDArray[np.float64]


class Wall:
    """A plane or an obstacle of a world."""

    def __init__(self, world: World, name: str) -> None:
        self._world, self.name = world, name

    def __repr__(self) -> str:
        return f"<impinge.Wall: {self.name}>"

    @property
    def point(self) -> _Floats:
        """(d,), m: a point of a plane now; of an obstacle its centre of rotation, or the origin of its frame."""
        number = self._world.walls.index(self)
        return self._world._dynamics.pivots()[number]

    @property
    def push(self) -> Push:
        """Force and torque of all spheres on it now."""
        return self._world.pushes()[self.name]


class Spheres:
    """The spheres of a world at this moment, in the order of their permanent numbers."""

    def __init__(self, world: World) -> None:
        dynamics = world._dynamics
        p, d = dynamics.particles, world.dim
        with _jit.threads(world._threads):
            seen = dynamics.look()  # first, as it may put rows in another order
        order = np.argsort(p.ids)
        self.ids: NDArray[np.int64] = p.ids[order]
        self.centres: _Floats = p.x[order, :d]
        self.radii: _Floats = p.x[order, 3]
        self.velocities: _Floats = seen.velocities[order, :d]
        self.spins: _Floats = seen.spins[order] if d == 3 else seen.spins[order, 2]
        self.masses: _Floats = p.mass[order]
        self.materials: NDArray[np.int64] = p.kinds[order]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<impinge.Spheres: {len(self):,}>"
