"""Long runs of granular flows, for the verification: discharge of hoppers, segregation in a drum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import impinge
from impinge.run.columns import names, values
from impinge.run.scene.meshes import cone
from impinge.run.scene.models import Cone

from . import examples

DIAMETER = 0.006  # m, of the beads
GLASS = impinge.Material(density=2500, stiffness=400, restitution=0.5, friction=0.5)
ORIFICES = (6.0, 7.0, 8.0, 9.0, 10.0, 11.0)  # diameters of orifices, in those of beads
MIXED, SEGREGATED = 0.02, 0.08  # index of segregation in the drum: below the one at first, above the other at last
_BEADS = 5000
_SETTLED = 500  # beads have left: the bed has come down, and all of it flows
_COUNTED = 2200  # the rate is taken until so many have left; the bed is still higher than the orifice is wide


class Line(NamedTuple):
    """A straight line through points."""

    slope: float
    zero: float  # where it is 0
    r_sq: float


def discharge_rate(orifice: float) -> float:
    """Steady flow out of a funnel, kg/s; orifice : its diameter, in those of beads."""
    world = impinge.World()
    mesh = cone(Cone(orifice=orifice * DIAMETER / 2, radius=0.066, height=0.066 - orifice * DIAMETER / 2, rim=0.3))
    world.add_obstacle(mesh, GLASS)
    half = 0.044
    start = impinge.fill_random([-half, -half, 0.06], [half, half, 0.21], DIAMETER / 2, count=_BEADS, seed=1)
    world.add_spheres(*start, GLASS)
    sink = world.add_sink([-1.0, -1.0, -1.0], [1.0, 1.0, -0.05])
    times, masses = [], []

    def note(world: impinge.World) -> None:
        if _SETTLED <= sink.count <= _COUNTED:
            times.append(world.time)
            masses.append(sink.mass)

    while sink.count < _COUNTED:
        world.run(world.time + 0.05, every=0.005, callback=note)
    return float(np.polyfit(times, masses, 1)[0])


def line_through(x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
    """Least squares."""
    slope, height = np.polyfit(x, y, 1)
    rest = y - slope * x - height
    return Line(float(slope), float(-height / slope), float(1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum()))


def segregation_in_drum() -> NDArray[np.float64]:
    """Rows (time, segregation) of examples/drum.toml at full length."""
    scene = examples.scene("drum", {})
    world, groups = scene.build_with_groups()
    column = names(scene.model, world).index("segregation")
    rows = []

    def note(world: impinge.World) -> None:
        rows.append((world.time, values(scene.model, world, groups)[column]))

    note(world)
    world.run(scene.model.run.until, every=0.1, callback=note)
    return np.array(rows)
