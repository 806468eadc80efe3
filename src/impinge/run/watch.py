"""What must not happen in a world, and what to say when it does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid.dynamics import FARTHEST
from impinge.errors import RunError, RunWarning, SubjectError
from impinge.facts import counted

__all__ = ["FARTHEST", "check_box", "check_start", "explain_break", "warn_sinking", "warn_soft"]

_LARGE = 1.0  # m: hardly any sphere is as large, and one of 1 mm in millimetres is
_SOFT = 2.0  # radii: spheres that would sink in farther by their own weight fall through each other


def warn_soft(dynamics: Dynamics, shortest: float, smallest: float) -> None:
    """Warn of spheres so soft that they sink into each other by resting; mostly somebody has mistaken the unit.

    Parameters
    ----------
    dynamics : Dynamics
    shortest : float, s
        The shortest contact, π √(m* / k) by the reduced mass; under its weight a sphere sinks in by about g (t / π)².
    smallest : float, m
        Radius of the smallest sphere.
    """
    depth = float(np.linalg.norm(dynamics.gravity)) * (shortest / np.pi) ** 2
    if _SOFT * smallest < depth < np.inf:
        found = f"spheres so soft that the weight of one pushes it in by about {depth:.2g} m (radius {smallest:.4g} m)"
        hint = ", or lengths in m, if they are in millimetres" if smallest > _LARGE else ""
        warnings.warn(
            f"stiffness: found {found}, expected stiffer ones; N/m, or young in Pa{hint}", RunWarning, stacklevel=5
        )


def warn_sinking(
    dynamics: Dynamics, table: NDArray[np.float64], materials: int, coming: Mapping[tuple[int, int], float]
) -> None:
    """Warn of rigid bodies that push each other in by more than half their thickness, by resting.

    coming : masses of those that may appear, by shape and material.
    """
    rigid, pull = dynamics.rigid, float(np.linalg.norm(dynamics.gravity))
    for (form, kind), mass in sorted((rigid.masses_by_kind() | dict(coming)).items()):
        shape, stiffness = rigid.shapes[form], rigid.shapes[form].stiffest(table[kind * materials + kind])
        depth = mass * pull / stiffness if stiffness > 0 else np.inf
        if depth > 0.5 * shape.thickness:
            found = f"polyhedra so soft that the weight of one pushes it in by about {depth:.2g} m, more than half as "
            found += f"deep as it is thick ({shape.thickness:.4g} m)"
            warnings.warn(f"stiffness: {found}, expected stiffer ones; N/m, or young in Pa", RunWarning, stacklevel=6)
            return


def check_start(dynamics: Dynamics) -> None:
    """Refuse what is outside the box."""
    what, row, count, region = _outside(dynamics)
    if count:
        key = "centres" if what == "sphere" else "positions"
        number, place = _number_and_place(dynamics, what, row)
        raise SubjectError(
            f"{key}: {what} {number} is at {place}, expected a place in {region}; {_such(count, what)}",
            (what, number),
        )


def check_box(dynamics: Dynamics, why_dt: str) -> None:
    """End the run if something is not in the box any more."""
    what, row, count, region = _outside(dynamics)
    if count:
        number, place = _number_and_place(dynamics, what, row)
        raise RunError(
            f"{what} {number} has left {region} at step {dynamics.steps} (t = {dynamics.time:.6g} s), to {place}; "
            f"{_such(count, what)}. Likely cause: no wall there, or {_cause(why_dt)}"
        )


def _number_and_place(dynamics: Dynamics, what: str, row: int) -> tuple[int, str]:
    if what == "sphere":
        return int(dynamics.particles.ids[row]), _place(dynamics, dynamics.particles.x[row])
    return int(dynamics.rigid.ids[row]), _place(dynamics, dynamics.rigid.place[row])


def _such(count: int, what: str) -> str:
    return counted(count, f"such {what}", "such spheres" if what == "sphere" else "such polyhedra")


def _outside(dynamics: Dynamics) -> tuple[str, int, int, str]:
    """What is outside, spheres before polyhedra; the row of the first of them by number, how many, and of what."""
    space = dynamics.space
    region = "the box" if ((space.period == 0) & np.isfinite(space.lengths)).any() else "all space"
    p, rigid = dynamics.particles, dynamics.rigid
    for what, centres, ids in (("sphere", p.x[:, :3], p.ids), ("polyhedron", rigid.place, rigid.ids)):
        rows = np.flatnonzero(~(space.holds(centres) & (np.abs(centres) <= FARTHEST).all(axis=1)))
        if len(rows):
            return what, int(rows[np.argmin(ids[rows])]), len(rows), region
    return "", -1, 0, region


def explain_break(dynamics: Dynamics, why_dt: str) -> None:
    """Tell which body has no position any more."""
    rigid, row, before = dynamics.rigid, -1, np.empty(0)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of what is far or fast are no numbers
        sizes = [(state**2).sum(axis=1) for state in (rigid.place, rigid.pose, rigid.late, rigid.now)]
    bad = np.flatnonzero(~np.isfinite(sizes).all(axis=0) | rigid.are_lost)
    if not len(bad) and len(dynamics.particles):
        row, before = dynamics.find_broken()
    elif len(rigid):
        number = rigid.ids[bad[0] if len(bad) else np.argmax(sizes[2])]  # the fastest, if it is not known
        raise RunError(
            f"polyhedron {number} has no position or spin any more after step {dynamics.steps} "
            f"(t = {dynamics.time:.6g} s). Likely cause: {_cause(why_dt)}"
        )
    raise RunError(
        f"sphere {dynamics.particles.ids[row]} has no position or spin any more after step {dynamics.steps} "
        f"(t = {dynamics.time:.6g} s); it was last at {_place(dynamics, before)}. Likely cause: {_cause(why_dt)}"
    )


def _place(dynamics: Dynamics, row: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in row[: dynamics.space.dimension]) + ") m"


def _cause(why_dt: str) -> str:
    pushed = f"bodies pushed far into each other or into a wall, for example by too long a time step ({why_dt})"
    return f"{pushed}, or absurd velocities or spins"
