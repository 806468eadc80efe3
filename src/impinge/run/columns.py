"""Rows of series.csv: names and values of everything that is written over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from impinge.run.mixing import mixing_index
from impinge.run.scene import models
from impinge.run.world import Spheres, World

__all__ = ["names", "values"]

Groups = Mapping[str, tuple[int, int]]
_ENERGIES = ("kinetic", "rotational", "elastic", "gravitational", "work", "dissipated", "total")


def names(scene: models.Particles, world: World) -> list[str]:
    """Names of the columns, with units."""
    axes = "xyz"[: world.dim]
    found = ["time [s]", *(f"{name} [J]" for name in _ENERGIES), "contacts", "coordination", "spheres"]
    if scene.has_polyhedra:
        found += ["polyhedra", "contact points"]
    for wall in world.walls:
        found += [f"{wall.name} force {axis} [N]" for axis in axes]
        found += [f"{wall.name} torque {axis} [N m]" for axis in (axes if world.dim == 3 else "z")]
    for number, sink in enumerate(scene.sinks):
        name = sink.name or f"sink {number + 1}"
        found += [f"{name} spheres", *([f"{name} polyhedra"] if scene.has_polyhedra else []), f"{name} mass [kg]"]
    for measure in scene.measures:
        found += (
            [f"{measure.name} spheres", f"{measure.name} mass [kg]"] if measure.kind == "beyond" else [measure.name]
        )
    return found


def values(scene: models.Particles, world: World, groups: Groups) -> list[float]:
    """A row: what the columns are now."""
    row: list[float] = [world.time, *world.energy(), len(world.contacts().depths), world.coordination()]
    spheres = world.spheres
    row.append(len(spheres))
    if scene.has_polyhedra:
        row += [len(world.polyhedra), len(world.body_contacts().depths)]
    for push in world.pushes().values():
        row += [*push.force.tolist(), *np.ravel(push.torque).tolist()]
    for sink in world.sinks:
        row += [sink.spheres, *([sink.polyhedra] if scene.has_polyhedra else []), sink.mass]
    for measure in scene.measures:
        row += _beyond(measure, spheres) if measure.kind == "beyond" else [_mixing(measure, spheres, groups)]
    return row


def _mixing(measure: models.Measure, spheres: Spheres, groups: Groups) -> float:
    assert measure.groups is not None
    assert measure.cell is not None
    first, second = (_members(spheres, groups[name]) for name in measure.groups)
    both = first | second
    volumes = spheres.radii[both] ** spheres.centres.shape[1]
    index = mixing_index(spheres.centres[both], volumes, first[both], measure.cell)
    return 1 - index if measure.kind == "segregation" else index


def _members(spheres: Spheres, group: tuple[int, int]) -> Any:
    return (spheres.ids >= group[0]) & (spheres.ids < group[1])


def _beyond(measure: models.Measure, spheres: Spheres) -> list[float]:
    """Number and mass of spheres whose centres are on one side of a plane."""
    beyond = (spheres.centres - np.array(measure.point)) @ np.array(measure.normal) > 0
    return [int(beyond.sum()), math.fsum(spheres.masses[beyond])]
