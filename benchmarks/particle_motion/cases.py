"""The cases of the particle benchmark: spheres in a box with walls, the same numbers for every code.

Five dilute ones without friction or damping: the paper's equal spheres (3.2) at two sizes, its fracture series at the
fifth refinement (3.3), and two sizes of ratio 10 and 30 with half of the volume each. Velocities are uniform, of a size
that moves a sphere by 2e-4 to 1e-3 of the smallest radius in a step. One dense case with friction: packing.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.neighbour_search import systems
from benchmarks.particle_motion.contact import Contact

_Array = NDArray[np.float64]
_GRAVITY = 9.81


@dataclass(frozen=True)
class State:
    """Where the spheres are and how they move: (n, 3) each; m, m/s, 1/s."""

    centres: _Array
    velocities: _Array
    spins: _Array


@dataclass(frozen=True)
class Case:
    """Spheres with all that a code needs to move them; SI units."""

    label: str
    start: State
    radii: _Array  # (n,)
    box: _Array  # (3,), upper corner; the lower one is the origin
    density: float
    contact: Contact
    gravity: float
    dt: float
    steps: int  # of a timed window
    skins: tuple[float, ...]  # list distances to try, in smallest radii

    def __len__(self) -> int:
        return len(self.radii)

    @property
    def is_dense(self) -> bool:
        return self.contact.is_rough

    @cached_property
    def smallest(self) -> float:
        return float(self.radii.min())

    @cached_property
    def masses(self) -> _Array:
        return 4 / 3 * np.pi * self.density * self.radii**3

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """1 for small spheres, 2 for large ones: (n,)."""
        return np.where(self.radii > 1.5 * self.smallest, 2, 1)


def _moving(centres: _Array, speed: float) -> State:
    velocities = np.random.default_rng(7).uniform(-speed, speed, centres.shape)
    return State(centres, velocities, np.zeros_like(centres))


def equal(count: int, steps: int) -> Case:
    """The paper's 3.2: R = 0.5 mm, 27 % of the space. No gravity, which would press spheres this heavy flat."""
    system = systems.equal(count)
    radius = 5e-4
    length = systems.PITCH * radius * round(count ** (1 / 3))
    return Case(
        system.label,
        _moving(system.centres * radius, 0.01),
        system.radii * radius,
        np.full(3, length),
        density=1e10,
        contact=Contact(1e5),
        gravity=0.0,
        dt=1e-5,
        steps=steps,
        skins=(0.1, 0.2, 0.3, 0.5, 0.8),
    )


def _two_sizes(system: systems.System, fraction: float, steps: int) -> Case:
    """Large spheres have R = 1 cm; the time step follows the contact time of the small ones."""
    ratio = system.ratio
    radius = 0.01 / ratio
    radii = system.radii * radius
    return Case(
        system.label,
        _moving(system.centres * radius, 5.0),
        radii,
        np.full(3, (4 / 3 * np.pi * (radii**3).sum() / fraction) ** (1 / 3)),
        density=7000.0,
        contact=Contact(4e6),
        gravity=_GRAVITY,
        dt=4e-7 * (5 / ratio) ** 1.5,
        steps=steps,
        skins=(0.1, 0.2, 0.4, 0.7, 1.0),
    )


def fracture(parts: int, steps: int) -> Case:
    return replace(_two_sizes(systems.fracture(parts), 0.12, steps), dt=4e-7)


def halves(ratio: float, count: int, steps: int) -> Case:
    return _two_sizes(systems.halves(ratio, count), 0.30, steps)


def dense(count: int, steps: int) -> Case:
    """Equal spheres that fill 58 % of a box half as high as wide, with friction, in no order: see packing.settled.

    R = 5 mm, t_c = 57 dt, overlaps of 0.3 % of a radius on average, 4.5 contacts per sphere.
    """
    radius, fraction = 5e-3, 0.58
    wide = (2 * count * 4 / 3 * np.pi * radius**3 / fraction) ** (1 / 3)
    box = np.array([wide, wide, 0.5 * wide])
    return Case(
        f"dense, {count:,}",
        _moving(_scattered(count, box), 0.0),
        np.full(count, radius),
        box,
        density=2500.0,
        contact=Contact(2e4, restitution=0.9, friction=0.5),
        gravity=_GRAVITY,
        dt=1e-5,
        steps=steps,
        skins=(0.02, 0.05, 0.1, 0.2, 0.4),
    )


def _scattered(count: int, box: _Array) -> _Array:
    """Points anywhere in the box, one in each of `count` places of a lattice, in its order: (count, 3)."""
    pitch = (box.prod() / count) ** (1 / 3)
    while True:
        counts = (box / pitch).astype(int)
        if counts.prod() >= count:
            break
        pitch *= 0.999
    rng = np.random.default_rng(8)
    chosen = np.sort(rng.choice(counts.prod(), count, replace=False))
    sites = np.stack(np.unravel_index(chosen, counts), axis=1)
    return (sites + rng.uniform(size=sites.shape)) * (box / counts)
