"""What must not happen in a world, and what to say when it does."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid.dynamics import FARTHEST
from impinge.errors import RunError, RunWarning, SubjectError
from impinge.facts import counted

__all__ = ["FARTHEST", "check_box", "check_start", "explain_break", "warn_soft"]

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


def check_start(dynamics: Dynamics) -> None:
    """Refuse spheres outside the box."""
    row, count, what = _outside(dynamics)
    if count:
        sphere = int(dynamics.particles.ids[row])
        place = _place(dynamics, dynamics.particles.x[row])
        raise SubjectError(
            f"centres: sphere {sphere} is at {place}, expected a place in {what}; {counted(count, 'such sphere')}",
            ("sphere", sphere),
        )


def check_box(dynamics: Dynamics, why_dt: str) -> None:
    """End the run if a sphere is not in the box any more."""
    row, count, what = _outside(dynamics)
    if count:
        p = dynamics.particles
        raise RunError(
            f"sphere {p.ids[row]} has left {what} at step {dynamics.steps} (t = {dynamics.time:.6g} s), to "
            f"{_place(dynamics, p.x[row])}; {counted(count, 'such sphere')}. "
            f"Likely cause: no wall there, or {_cause(why_dt)}"
        )


def _outside(dynamics: Dynamics) -> tuple[int, int, str]:
    """Row of the first sphere, by number, that is outside, how many there are, and of what."""
    space, p = dynamics.space, dynamics.particles
    closed = (space.period == 0) & np.isfinite(space.lengths)
    low = np.where(closed, space.low, -FARTHEST)
    high = np.where(closed, space.low + space.lengths, FARTHEST)
    out = ~((p.x[:, :3] >= low) & (p.x[:, :3] <= high)).all(axis=1)
    row = int(np.flatnonzero(out)[np.argmin(p.ids[out])]) if out.any() else -1
    return row, int(out.sum()), "the box" if closed.any() else "all space"


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
