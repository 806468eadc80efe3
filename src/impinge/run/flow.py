"""Where spheres and rigid bodies come from, and where they go, while a world moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.rain import Rain
from impinge.bodies.rigid.rain import PolyhedraRain
from impinge.facts import counted
from impinge.run.room import Room

if TYPE_CHECKING:
    from impinge.run.world import World

__all__ = ["EVERY", "Sink", "Source", "exchange"]

EVERY = 50  # steps after which sources and sinks are looked at; by number, so that it does not matter how a run is cut


class Source(NamedTuple):
    """Rain of a material; shapes : numbers of those of rigid bodies, as the world knows them."""

    rain: Rain | PolyhedraRain
    material: int
    shapes: tuple[int, ...] = ()


class Sink:
    """A box in which spheres vanish, by their centres, and polyhedra, by their centres of mass."""

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        self.lower, self.upper = lower, upper
        self.spheres = self.polyhedra = 0  # that have vanished
        self.mass = 0.0  # kg, of all of them

    def __repr__(self) -> str:
        what = counted(self.spheres, "sphere"), counted(self.polyhedra, "polyhedron", "polyhedra")
        return f"<impinge.Sink: {', '.join(what)}, {self.mass:.6g} kg>"

    @property
    def count(self) -> int:
        """Spheres and polyhedra that have vanished."""
        return self.spheres + self.polyhedra

    def holds(self, centres: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of them are in it."""
        places = centres[:, : len(self.lower)]
        inside: NDArray[np.bool_] = np.all((places >= self.lower) & (places <= self.upper), axis=1)
        return inside


def exchange(world: World, sources: list[Source], sinks: list[Sink], room: Room) -> bool:
    """Let spheres and polyhedra vanish, and appear where there is room; returns whether some have appeared."""
    p, rigid = world._dynamics.particles, world._dynamics.rigid
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
    due = [source for source in sources if source.rain.has_due(world.time, EVERY * world._dynamics.dt)]
    before = p.next_id, rigid.next_id
    for source in due:
        if isinstance(source.rain, Rain):
            _let_spheres_come(world, source, source.rain, room)
        else:
            _let_polyhedra_come(world, source, source.rain, room)
    return (p.next_id, rigid.next_id) != before


def _let_spheres_come(world: World, source: Source, rain: Rain, room: Room) -> None:
    dynamics, d = world._dynamics, world.dim
    rows = _with_images(dynamics.particles.x, dynamics.space.period)
    crowd = room.crowd(rain.lower, rain.upper) if d == 3 else None

    def is_free(centre: NDArray[np.float64], radius: float) -> bool:
        in_front = bool(room.in_front(centre[None], radius)[0])
        return in_front and (crowd is None or crowd.has_room(centre, radius))

    new = rain.due(world.time, EVERY * dynamics.dt, rows[:, :d], rows[:, 3], is_free)
    if len(new.radii):
        world._insert(new.centres, new.radii, world.materials[source.material], rain.velocity, None)


def _let_polyhedra_come(world: World, source: Source, rain: PolyhedraRain, room: Room) -> None:
    dynamics = world._dynamics
    box = rain.lower, rain.upper
    crowd = room.crowd(*box)
    crowd.add_spheres(*room.spheres(*box))
    forms = [room.form_of(shape) for shape in source.shapes]
    for new in rain.due(world.time, EVERY * dynamics.dt, crowd, forms, room.in_front):
        shape, velocity = source.shapes[new.shape], rain.velocity[None]
        world._insert_bodies(shape, new.place[None], new.turn[None], source.material, velocity, np.zeros((1, 3)))


def _with_images(rows: NDArray[np.float64], period: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spheres, and their images one period away along periodic axes."""
    for axis in np.flatnonzero(period).tolist():
        shift = np.zeros(4)
        shift[axis] = period[axis]
        rows = np.concatenate([rows, rows + shift, rows - shift])
    return rows
