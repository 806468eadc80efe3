"""Explicit steps of soft worlds: how far forces of the start move nodes, and whether steps are short enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impinge.bodies.soft.damping import damped
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.potential import Potential
from impinge.bodies.soft.stability import longest_step
from impinge.errors import InputError, RunError

if TYPE_CHECKING:
    from impinge.run.soft import SoftWorld

__all__ = ["check_time_step", "way"]

_WILD = 100.0  # longest edges: in steps that are stable no force moves a node as far, unless strains are enormous


def check_time_step(world: SoftWorld) -> None:
    """Raise an error if steps are too long for a body, at rest as it was given."""
    fixed = np.zeros(world._x.shape, np.bool_)
    world._drivers.place(world._x, world.time, world.dt, fixed, np.empty_like(world._x))
    for body, parts, skin in zip(world.bodies, world._parts, world._skins, strict=True):
        damping = float(world._damping[body.nodes.start])
        limit = longest_step(parts, skin.positions, damping, ~fixed[body.nodes])
        if world.dt > limit:
            raise InputError(
                f"dt: found {world.dt:g} s, expected less than {limit:.3g} s, the limit of stability of {body.name!r} "
                "with integrator 'explicit'; take shorter steps, less stiffness or damping, or another integrator"
            )


def way(world: SoftWorld, dt: float) -> Floats:
    """How far elastic and damping forces of the start move nodes in a step, (n, 3) m."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved: Floats = -dt * dt * _gradient(world, dt) / world._masses[:, None]
        far = np.abs(moved).max(axis=1)
    wild = np.flatnonzero(~(far <= _WILD * world._edges.rest.max()))  # also where it is no number
    if len(wild):
        raise RunError(
            f"explicit steps of {dt:g} s are not stable at t = {world.time:g} s: forces would move node {wild[0]} by "
            f"{far[wild[0]]:g} m in one of them; take shorter steps, or another integrator"
        )
    return moved


def _gradient(world: SoftWorld, dt: float) -> Floats:
    """Elastic and damping forces at the start of a step, negative; strains change as in the step before."""
    elements, x = world.elements, world._x
    if not world._damping.any():
        return elements.gradient(x)
    past, nothing = x - dt * world._v, np.zeros(len(x))
    parts = damped(elements, world._damping / dt, elements.measures(past), x)
    return Potential(elements, nothing, dt, x, past, x, parts, nothing, np.zeros(3)).forces(x)[0]
