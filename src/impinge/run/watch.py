"""What must not happen in a world, and what to say when it does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rigid import _layout
from impinge.errors import RunError, SubjectError

__all__ = ["check_body_overlaps", "check_box", "check_overlaps", "check_start", "explain_break"]

_DEEP = 0.1  # of the radius of the smaller body: so deep in each other, two were put there by mistake
FARTHEST = 1e100  # m: beyond, squares of distances soon are no numbers any more


def check_overlaps(dynamics: Dynamics, walls: list[str]) -> None:
    """Refuse a start from which nothing sensible follows; walls : names of planes and obstacles."""
    contacts, p = dynamics.contacts(), dynamics.particles
    radii = np.zeros(p.next_id)
    radii[p.ids] = p.x[:, 3]
    one, other = contacts.ids.T
    limit = np.minimum(radii[one], np.where(other >= 0, radii[other], np.inf))
    bad = np.flatnonzero(contacts.depths > limit)
    if len(bad):
        first = bad[0]
        wall = contacts.walls[first]
        body = contacts.bodies[first]
        what = f"sphere {other[first]}" if wall < 0 and body < 0 else f"polyhedron {body}" if wall < 0 else walls[wall]
        raise SubjectError(
            f"centres: sphere {one[first]} and {what} overlap by {contacts.depths[first]:.4g} m, expected at most "
            f"{limit[first]:.4g} m, the smaller radius; {len(bad)} such pairs in all",
            ("sphere", int(one[first])),
        )


def check_body_overlaps(dynamics: Dynamics, walls: list[str], allowed: set[int]) -> None:
    """The same for rigid bodies, unless they are allowed to."""
    pairs, rows = dynamics.body_contacts()
    radii = np.array([dynamics.rigid.shapes[form].radius for form in dynamics.rigid.forms])
    solid = pairs[:, _layout.KIND_OF] == _layout.SOLID
    one, other = pairs[:, _layout.BODY], pairs[:, _layout.OTHER]
    limit = _DEEP * np.minimum(radii[one], np.where(solid, radii[np.where(solid, other, 0)], np.inf))
    free = np.isin(one, list(allowed)) | (solid & np.isin(other, list(allowed)))
    _check_same_places(dynamics, allowed)
    bad = np.flatnonzero((rows[:, _layout.DEPTH] > limit) & ~free)
    if len(bad):
        first = bad[np.argmax(rows[bad, _layout.DEPTH])]
        b, kind = int(other[first]), pairs[first, _layout.KIND_OF]
        number = b if kind == _layout.PLANE else b - len(dynamics.rigid) + len(dynamics.planes)
        what = f"polyhedron {b}" if kind == _layout.SOLID else walls[number]
        count = len(np.unique(pairs[bad], axis=0))
        raise SubjectError(
            f"positions: polyhedron {one[first]} and {what} are {rows[first, _layout.DEPTH]:.4g} m deep in each other, "
            f"expected at most {limit[first]:.4g} m, a tenth of the smaller radius; {count} such pairs in all. With "
            "overlap=True they may be",
            ("polyhedron", int(one[first])),
        )


def _check_same_places(dynamics: Dynamics, allowed: set[int]) -> None:
    """Two of a shape in the same pose have no points in each other: all are on the surface."""
    rigid = dynamics.rigid
    poses = np.where(rigid.pose[:, :1] < 0, -rigid.pose, rigid.pose)
    for form in np.unique(rigid.forms):
        own, size = np.flatnonzero(rigid.forms == form), rigid.shapes[form].radius
        keys = np.round(np.hstack([rigid.place[own] / (1e-6 * size), poses[own] / 1e-6]))
        _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[number.reshape(-1)] != np.arange(len(own)))
        for row in again:
            one, other = int(own[first[number.reshape(-1)[row]]]), int(own[row])
            if not {one, other} & allowed:
                raise SubjectError(
                    f"positions: polyhedron {one} and polyhedron {other} are at the same place, expected at most "
                    f"{_DEEP * size:.4g} m deep in each other, a tenth of the smaller radius; {len(again)} such "
                    "pairs in all. With overlap=True they may be",
                    ("polyhedron", one),
                )


def check_start(dynamics: Dynamics) -> None:
    """Refuse spheres outside the box."""
    row, count, what = _outside(dynamics)
    if count:
        sphere = int(dynamics.particles.ids[row])
        place = _place(dynamics, dynamics.particles.x[row])
        raise SubjectError(
            f"centres: sphere {sphere} is at {place}, expected a place in {what}; {count} such spheres",
            ("sphere", sphere),
        )


def check_box(dynamics: Dynamics, why_dt: str) -> None:
    """End the run if a sphere is not in the box any more."""
    row, count, what = _outside(dynamics)
    if count:
        p = dynamics.particles
        raise RunError(
            f"sphere {p.ids[row]} has left {what} at step {dynamics.steps} (t = {dynamics.time:.6g} s), to "
            f"{_place(dynamics, p.x[row])}; {count} such spheres. Likely cause: no wall there, or {_cause(why_dt)}"
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
    bad = np.flatnonzero(~np.isfinite(sizes).all(axis=0))
    if not len(bad) and len(dynamics.particles):
        row, before = dynamics.find_broken()
    elif len(rigid):
        number = bad[0] if len(bad) else np.argmax(sizes[2])  # the fastest, if it is not known
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
    pushed = f"spheres pushed far into each other or into a wall, for example by too long a time step ({why_dt})"
    return f"{pushed}, or absurd velocities or spins"
