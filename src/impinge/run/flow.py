"""Where spheres come from, and where they and rigid bodies go, while a world moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.rain import Rain

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["EVERY", "Sink", "Source", "exchange"]

EVERY = 50  # steps after which sources and sinks are looked at; by number, so that it does not matter how a run is cut


class Source(NamedTuple):
    """Rain of a material."""

    rain: Rain
    material: int


class Sink:
    """A box in which spheres vanish, by their centres, and polyhedra, by their centres of mass."""

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        self.lower, self.upper = lower, upper
        self.spheres = self.polyhedra = 0  # that have vanished
        self.mass = 0.0  # kg, of all of them

    def __repr__(self) -> str:
        return f"<impinge.Sink: {self.spheres:,} spheres, {self.polyhedra:,} polyhedra, {self.mass:.6g} kg>"

    @property
    def count(self) -> int:
        """Spheres and polyhedra that have vanished."""
        return self.spheres + self.polyhedra

    def holds(self, centres: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of them are in it."""
        places = centres[:, : len(self.lower)]
        inside: NDArray[np.bool_] = np.all((places >= self.lower) & (places <= self.upper), axis=1)
        return inside


def exchange(world: World, sources: list[Source], sinks: list[Sink]) -> None:
    """Let spheres and polyhedra vanish, and spheres appear."""
    p, rigid, d = world._dynamics.particles, world._dynamics.rigid, world.dim
    for sink in sinks:
        inside = sink.holds(p.x)
        if inside.any():
            order = np.argsort(p.ids[inside])  # the same sum whatever the order in memory
            sink.spheres += int(inside.sum())
            sink.mass += float(p.mass[inside][order].sum())
            world._dynamics.take(np.flatnonzero(~inside))
        inside = sink.holds(rigid.place)
        if inside.any():
            sink.polyhedra += int(inside.sum())
            sink.mass += float(rigid.mass[inside].sum())
            world._dynamics.take_bodies(np.flatnonzero(~inside))
    for source in sources:
        rows = _with_images(p.x, world._dynamics.space.period)
        new = source.rain.due(world.time, EVERY * world._dynamics.dt, rows[:, :d], rows[:, 3])
        if len(new.radii):
            world._insert(new.centres, new.radii, world.materials[source.material], source.rain.velocity, None)


def _with_images(rows: NDArray[np.float64], period: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spheres, and their images one period away along periodic axes."""
    for axis in np.flatnonzero(period).tolist():
        shift = np.zeros(4)
        shift[axis] = period[axis]
        rows = np.concatenate([rows, rows + shift, rows - shift])
    return rows
