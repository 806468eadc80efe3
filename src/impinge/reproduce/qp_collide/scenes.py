"""The paper's two demos (Fig. 2): a stiff cable that falls off a pulley, and one suspended over a cylinder.

The paper tells neither sizes nor time steps; these are ours. Stiffness is that of a segment, N/m, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.run.soft import SoftWorld
from impinge.shapes import Mesh, cylinder

__all__ = ["DEMOS", "Cable", "Demo", "Scene"]

Floats = NDArray[np.float64]

RADIUS, DAMPING, BEND = 0.005, 1e-3, 1e-3
_SIDES = 48  # of cylinders


class Cable(NamedTuple):
    """A cable in front of a world."""

    points: Floats
    mass_per_length: float
    held: tuple[int, ...]  # nodes that stay where they are
    obstacle: Mesh

    @property
    def spacing(self) -> float:
        """Length of the first segment, m; all are alike."""
        return float(np.linalg.norm(self.points[1] - self.points[0]))

    @property
    def masses(self) -> Floats:
        """Of the nodes, kg."""
        half = 0.5 * self.mass_per_length * np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        result: Floats = np.append(half, 0) + np.append(0, half)
        return result


class Scene(NamedTuple):
    """A world with one cable, and what it was made of."""

    world: SoftWorld
    cable: Cable


class Demo(NamedTuple):
    """One of the paper's demos."""

    title: str
    stiffness: float  # N/m, of a segment
    duration: float  # s
    pictured: tuple[float, ...]  # s
    place: Callable[[int], Cable]

    def scene(self, dt: float, response: str = "qp", *, nodes: int = 60, stiffness: float | None = None) -> Scene:
        """A world to begin with."""
        cable = self.place(nodes)
        world = SoftWorld(dt=dt, response=response)
        stretch = (self.stiffness if stiffness is None else stiffness) * cable.spacing
        world.add_cable(
            cable.points, radius=RADIUS, stretch=stretch, bend=BEND, mass_per_length=cable.mass_per_length,
            damping=DAMPING,
        )  # fmt: skip
        world.add_obstacle(cable.obstacle)
        if cable.held:
            world.fix(list(cable.held))
        world.step(0)  # prepared, so that it can be measured
        return Scene(world, cable)


def _rod(radius: float) -> Mesh:
    """A cylinder along y."""
    upright = cylinder(radius, 0.3, _SIDES)
    return Mesh(upright.vertices[:, [1, 2, 0]], upright.faces)


def _over_pulley(nodes: int) -> Cable:
    """1.5 m of cable over a pulley, a tenth more on one side than on the other."""
    radius, length = 0.1, 1.5
    arc = radius + 1.2 * RADIUS
    s, quarter = np.linspace(-0.45 * length, 0.55 * length, nodes), 0.5 * np.pi * arc
    around = np.column_stack([arc * np.sin(s / arc), 0 * s, arc * np.cos(s / arc)])
    down = np.column_stack([np.sign(s) * arc, 0 * s, quarter - np.abs(s)])
    return Cable(np.where((np.abs(s) < quarter)[:, None], around, down), 0.1, (), _rod(radius))


def _over_cylinder(nodes: int) -> Cable:
    """A slack cable in an arch, held at both ends, that falls onto a cylinder."""
    x = np.linspace(-0.7, 0.7, 2001)
    arch = np.column_stack([x, 0 * x, 0.45 * (1 - (x / 0.7) ** 2)])
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(arch, axis=0), axis=1)))
    even = np.linspace(0.0, along[-1], nodes)
    points = np.column_stack([np.interp(even, along, column) for column in arch.T])
    return Cable(points, 0.2, (0, nodes - 1), _rod(0.2))


DEMOS = {
    "pulley": Demo("A stiff cable falls off a pulley (Fig. 2a)", 1e5, 1.5, (0.0, 0.6, 1.0, 1.3), _over_pulley),
    "cylinder": Demo(
        "A stiff cable, held at both ends, over a cylinder (Fig. 2b)", 2e5, 1.0, (0.0, 0.25, 0.4, 1.0), _over_cylinder
    ),
}
