"""The classical penalty response: springs push apart what is too near, for comparison and teaching."""

from __future__ import annotations

import numpy as np

from impinge.bodies.soft.constraints import Held
from impinge.bodies.soft.minimum import free_step
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.step import Task
from impinge.bodies.soft.surface import Surface
from impinge.response.contact_rows import distinct, measure
from impinge.sparse.cholesky import Structure

__all__ = ["default_stiffness", "penalty_step"]


def default_stiffness(masses: Floats, dt: float) -> float:
    """Stiffness of penalty springs, N/m: the mean mass of the nodes by dt².

    A spring of m/dt² stops a node of mass m within about one step. Softer ones let nodes sink in by more than the
    g dt² that gravity moves them in a step; stiffer ones throw them out within a step, as nothing makes a spring that
    is compressed at the start of a step give way before its end.
    """
    return float(masses.mean()) / dt**2


def penalty_step(surface: Surface, task: Task, structure: Structure, stiffness: float) -> Floats:
    """Positions of all vertices at the end of a step in which springs push apart what is too near at its start.

    Pairs are looked for at the start of the step only, as it is classical, and their springs act throughout it, along
    the normals of the start. Nothing is certified. What moves further than its distance in a step is not seen and
    passes through; what has passed is pushed on, as the nearest points do not tell on which side it was before.
    """
    start = task.start
    pairs = surface.near(start, start)
    gaps, distances = measure(start, pairs), surface.distances(pairs)
    near = np.flatnonzero(gaps.gaps < distances)
    near = near[distinct(pairs.take(near), gaps.take(near))]
    nothing = np.zeros(len(near))
    springs = Held(
        pairs.take(near), gaps.take(near), distances[near], nothing, nothing, nothing > 0.0, give=1.0 / stiffness
    )
    return free_step(task, structure, springs)
