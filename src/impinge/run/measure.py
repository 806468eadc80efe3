"""What can be asked about everything that moves: energies, forces on walls, stress."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.contacts import Contacts
from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid import _layout, _motion
from impinge.facts import html_table

__all__ = ["Energy", "Push", "energy", "pushes", "stress"]

_Floats = NDArray[np.float64]


class Energy(NamedTuple):
    """Energies of a world, J; `total` is constant as long as no sphere is added or removed."""

    kinetic: float
    rotational: float
    elastic: float  # of all contacts, friction springs included
    gravitational: float
    work: float  # done on the spheres by walls and obstacles that move
    dissipated: float
    total: float  # all of them, less the work

    def _repr_html_(self) -> str:
        return html_table("Energy", [(f"{name} [J]", value) for name, value in self._asdict().items()])


class Push(NamedTuple):
    """What all spheres together do to a wall or an obstacle."""

    force: _Floats  # (d,), N
    torque: _Floats  # (3,), N m, about the wall's point; in two dimensions one number


def energy(dynamics: Dynamics) -> Energy:
    """All energies now; sums are exact, so that they depend on no order."""
    p, rigid = dynamics.particles, dynamics.rigid
    contacts, seen = dynamics.contacts(), dynamics.look()  # in this order: the first may put rows in another order
    at_bodies, moving = dynamics.body_contacts().rows, dynamics.look_at_bodies()
    with np.errstate(over="ignore", invalid="ignore"):  # spheres may be flying out of the range of numbers
        inertia = p.turning * p.mass * p.x[:, 3] ** 2
        turns = _motion.matrices(rigid.pose)
        turning = 0.5 * rigid.inertia * np.einsum("nij,ni->nj", turns, moving[:, 3:]) ** 2
        kinetic = _sum(
            0.5 * p.mass * (seen.velocities**2).sum(axis=1), 0.5 * rigid.mass * (moving[:, :3] ** 2).sum(axis=1)
        )
        rotational = _sum(0.5 * inertia * (seen.spins**2).sum(axis=1), turning.sum(axis=1))
        elastic = _sum(contacts.energies, at_bodies[:, _layout.ENERGY] + at_bodies[:, _layout.HELD])
        gravitational = _sum(
            -p.mass * (p.x[:, :3] * dynamics.gravity).sum(axis=1),
            -rigid.mass * (rigid.place * dynamics.gravity).sum(axis=1),
        )
        work, dissipated = _sum(p.work, rigid.work), _sum(p.lost, rigid.lost)
        total = _sum(np.array([kinetic, rotational, elastic, gravitational, dissipated, -work]))
    return Energy(kinetic, rotational, elastic, gravitational, work, dissipated, total)


def _sum(*parts: _Floats) -> float:
    """Exact, or as good as floats can tell where it is not finite."""
    values = np.concatenate(parts)
    rough = float(values.sum())
    try:
        return math.fsum(values.tolist()) if math.isfinite(rough) else rough
    except OverflowError:  # in this order a part of the sum is beyond all numbers
        return rough


def pushes(contacts: Contacts, of_bodies: Any, origins: _Floats) -> list[Push]:
    """Force and torque on every wall, about its origin (k, d)."""
    d = origins.shape[1]
    found = []
    for wall, origin in enumerate(origins):
        own = contacts.walls == wall
        forces, arms = -contacts.forces[own], contacts.points[own] - origin
        couples = contacts.couples[own] if d == 3 else contacts.couples[own, 2]
        torques = np.cross(arms, forces) if d == 3 else arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0]
        force, torque = forces.sum(axis=0), (torques - couples).sum(axis=0)
        own = of_bodies.walls == wall
        if own.any():
            forces, arms = -of_bodies.forces[own], of_bodies.points[own] - origin
            force, torque = force + forces.sum(axis=0), torque + np.cross(arms, forces).sum(axis=0)
        found.append(Push(force, torque))
    return found


def stress(dynamics: Dynamics, volume: float) -> _Floats:
    """Stress tensor (d, d), Pa (N/m in two dimensions), positive in compression.

    σ = (Σ f ⊗ l + Σ m v′ ⊗ v′) / V, over all contacts with force f on a body and l from its partner's centre, or
    from the point of contact with a wall, to its own; v′ : velocity less that of the centre of mass.
    """
    p, rigid, d = dynamics.particles, dynamics.rigid, dynamics.space.dimension
    contacts, velocities, masses = dynamics.contacts(), dynamics.look().velocities[:, :d], p.mass
    radii = np.zeros(p.next_id)
    radii[p.ids] = p.x[:, 3]
    first, second = contacts.ids.T
    reach = radii[first] + np.where(second >= 0, radii[second], 0.0)
    branches = contacts.normals * (reach - contacts.depths)[:, None]
    total = contacts.forces.T @ branches
    if len(rigid):
        on_bodies = contacts.bodies >= 0
        away = contacts.points[on_bodies] - rigid.place[rigid.rows_of(contacts.bodies[on_bodies])]
        total += contacts.forces[on_bodies].T @ away + _stress_of_bodies(dynamics)
        velocities = np.concatenate([velocities, dynamics.look_at_bodies()[:, :3]])
        masses = np.concatenate([masses, rigid.mass])
    fluctuations = velocities - np.average(velocities, axis=0, weights=masses) if len(masses) else velocities
    flow = (masses[:, None] * fluctuations).T @ fluctuations
    tensor: _Floats = (total + flow) / volume
    return tensor


def _stress_of_bodies(dynamics: Dynamics) -> _Floats:
    """Σ f ⊗ l of contacts of rigid bodies with each other and with walls."""
    rigid = dynamics.rigid
    pairs, rows = dynamics.body_contacts()
    points, forces = rows[:, _layout.PLACE : _layout.PLACE + 3], rows[:, _layout.FORCE : _layout.FORCE + 3]
    solid = pairs[:, _layout.KIND_OF] == _layout.SOLID
    starts = np.where(solid[:, None], rigid.place[np.where(solid, pairs[:, _layout.OTHER], 0)], points)
    tensor: _Floats = forces.T @ (rigid.place[pairs[:, _layout.BODY]] - starts)
    return tensor
