"""How long the time step of a world is, and why."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.dynamics import Dynamics
from impinge.bodies.rain import Rain
from impinge.bodies.rigid.dynamics import Laws
from impinge.errors import InputError, RunWarning
from impinge.response.materials import Material, shortest_contact
from impinge.run import watch
from impinge.run.flow import Source

__all__ = ["TimeStep"]

# For dt="auto", of the shortest contact: of spheres; of rigid bodies, whose contacts seldom are a quarter of a surface.
_STEPS_OF_SPHERES, _STEPS_OF_BODIES = 50, 12
_LONG = 2.5  # times that of "auto": a longer step is warned about
_LONGEST = 1e50  # s: what falls for longer leaves all space


class TimeStep:
    """The time step of a world.

    Attributes
    ----------
    asked : float, s, or None
        By the user; None for "auto".
    why : str
        Where it comes from.
    tightest : float, s
        Of all time steps that would have done, the shortest.
    """

    def __init__(self, asked: float | None) -> None:
        self.asked, self.why, self.tightest = asked, "", math.inf
        self._warned = math.nan  # the shortest contact that was looked at for warnings

    def choose(
        self, dynamics: Dynamics, table: NDArray[np.float64], materials: Sequence[Material], sources: Sequence[Source]
    ) -> float:
        """For what is in the world now, and may come, s; never longer than before, as a run from a file must go on.

        table : laws of all pairs of materials.
        """
        coming = _coming(dynamics, materials, sources)
        of_spheres, smallest = _of_spheres(dynamics, table, materials, sources)
        of_bodies = dynamics.rigid.shortest_contact(Laws(table, len(materials)), dynamics.lightest_lid, coming)
        shortest, steps = of_spheres, _STEPS_OF_SPHERES
        if of_bodies / _STEPS_OF_BODIES < of_spheres / _STEPS_OF_SPHERES:
            shortest, steps = of_bodies, _STEPS_OF_BODIES
        dt = float(np.fmin(shortest / steps, dynamics.dt)) if self.asked is None else self.asked
        if not 0 < dt < (_LONGEST if self.asked is None else math.inf):
            if len(dynamics.particles) == 0 and len(dynamics.rigid) == 0 and not sources:
                raise InputError("dt: found 'auto' in a world without bodies, expected a number, or bodies first")
            raise InputError(f"stiffness: found contacts of {shortest:g} s, expected a stiffness that fits the masses")
        if not self.why or shortest / steps < self.tightest:  # not longer ones, when something has gone
            self.tightest = shortest / steps
            self.why = f"{dt:.4g} s, 1/{steps} of the shortest contact ({shortest:.4g} s)"
            if self.asked is not None:
                self.why = f"{dt:.4g} s, as asked; the shortest contact takes {shortest / dt:.3g} steps"
        if shortest != self._warned:
            self._warned = shortest
            watch.warn_soft(dynamics, of_spheres, smallest)
            watch.warn_sinking(dynamics, table, len(materials), coming)
            if dt * steps > _LONG * shortest:
                found = f"{dt:.4g} s is {shortest / dt:.2g} steps for the shortest contact ({shortest:.4g} s)"
                wanted = f"expected at most {shortest / steps:.4g} s"
                warnings.warn(f"dt: {found}; {wanted}", RunWarning, stacklevel=5)
        return dt


def _coming(
    dynamics: Dynamics, materials: Sequence[Material], sources: Sequence[Source]
) -> dict[tuple[int, int], float]:
    """Masses of rigid bodies that may appear, by shape and material, kg."""
    shapes = dynamics.rigid.shapes
    return {
        (shape, source.material): materials[source.material].density * shapes[shape].volume
        for source in sources
        for shape in source.shapes
    }


def _of_spheres(
    dynamics: Dynamics, table: NDArray[np.float64], materials: Sequence[Material], sources: Sequence[Source]
) -> tuple[float, float]:
    """Duration of the shortest contact of spheres, s, and the radius of the smallest one."""
    particles, count = dynamics.particles, len(materials)
    lightest, radii = np.full(count, np.inf), np.full(count, np.inf)
    np.minimum.at(lightest, particles.kinds, particles.mass)
    np.minimum.at(radii, particles.kinds, particles.x[:, 3])
    for source in sources:
        if isinstance(source.rain, Rain):
            kind, r = source.material, source.rain.smallest
            lightest[kind] = min(lightest[kind], particles.masses(np.array([r]), materials[kind].density)[0])
            radii[kind] = min(radii[kind], r)
    lightest = np.where(np.isfinite(lightest), np.minimum(lightest, dynamics.lightest_lid), np.inf)
    return shortest_contact(table, lightest, radii), float(radii.min(initial=math.inf))
