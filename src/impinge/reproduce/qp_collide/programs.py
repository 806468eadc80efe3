"""The quadratic program of a step as in the paper: (1) to (4), with the contact rows of 4.2 and 4.3, as corrected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

from impinge.bodies.soft.damping import damped, undamped
from impinge.bodies.soft.elements import Elements
from impinge.bodies.soft.potential import Potential
from impinge.reproduce.qp_collide.scenes import DAMPING, Demo, Scene
from impinge.response._gaps import VERTEX_FACE
from impinge.response.contact_rows import Gaps, Pairs, distinct, measure

__all__ = ["Program", "program_of", "programs_along"]

Floats = NDArray[np.float64]


class Program(NamedTuple):
    """½ Δvᵀ K Δv − bᵀ Δv, J Δv ≤ c, over the coordinates of nodes that are not held, with velocities in m/s."""

    K: Any  # csc, kg
    b: Floats
    J: Any  # csr
    c: Floats


def program_of(scene: Scene, *, one_each: bool = False) -> Program:
    """The program of the next step.

        K = M − dt² ∂f/∂x − dt ∂f/∂v,   b = dt (f + dt ∂f/∂x v),   c = (g − distance)/dt − v_ij · n

    Rows are those of all pairs that come near each other in the step without them, of vertices and faces and of edges,
    which depend on each other (7.1); or, with `one_each`, one for each node, with the face nearest to it, which do not.
    """
    world, dt = scene.world, scene.world.dt
    x, v, masses = world.positions, world.velocities.ravel(), np.repeat(scene.cable.masses, 3)
    elements = world.elements
    hessian = sp.csc_array((elements.hessian(x), elements.indices, elements.indptr))
    damping = _damping(elements, x, dt)
    forces = masses * np.tile(world.gravity, len(x)) - elements.gradient(x).ravel() - damping @ v
    K = sp.csc_array(sp.diags_array(masses) + dt * dt * hessian + dt * damping)
    b = dt * (forces - dt * (hessian @ v))
    free = np.setdiff1d(np.arange(3 * len(x)), [3 * node + axis for node in scene.cable.held for axis in range(3)])
    change = np.zeros(3 * len(x))
    change[free] = spsolve(sp.csc_matrix(K[free][:, free]), b[free])
    J, c = _rows(scene, v, change, one_each)
    return Program(sp.csc_array(K[free][:, free]), b[free], sp.csr_array(J[:, free]), c)


def _damping(elements: Elements, x: Floats, dt: float) -> Any:
    """−∂f/∂v: what damping adds to the Hessian of a step that goes nowhere, times dt."""
    nothing, still = np.zeros(len(x)), np.zeros(3)
    parts = damped(elements, np.full(len(x), DAMPING / dt), elements.measures(x), x)
    with_it, without = (
        Potential(elements, nothing, dt, x, x, x, some, nothing, still).hessian(x, keep=0.0)
        for some in (parts, undamped(elements))
    )
    return sp.csc_array((dt * (with_it - without), elements.indices, elements.indptr))


def _rows(scene: Scene, v: Floats, change: Floats, one_each: bool) -> tuple[Any, Floats]:
    world, dt, count = scene.world, scene.world.dt, len(v) // 3
    start = world.vertices()
    end = start.copy()
    end[:count] += dt * (v + change).reshape(-1, 3)
    pairs = world.surface.near(start, end)
    gaps = measure(start, pairs)
    which = _nearest_faces(pairs, gaps, count) if one_each else distinct(pairs, gaps)
    pairs, gaps = pairs.take(which), gaps.take(which)
    entries = -gaps.weights[:, :, None] * gaps.normals[:, None, :]
    columns = 3 * pairs.corners[:, :, None].astype(np.int64) + np.arange(3)
    rows = np.broadcast_to(np.arange(len(which))[:, None, None], entries.shape)
    whole = sp.coo_array((entries.ravel(), (rows.ravel(), columns.ravel())), shape=(len(which), 3 * len(start)))
    J = sp.csr_array(whole)[:, : len(v)]  # obstacles do not move
    c = (gaps.gaps - np.minimum(world.surface.distances(pairs), gaps.gaps)) / dt - J @ v
    return J, c


def _nearest_faces(pairs: Pairs, gaps: Gaps, count: int) -> NDArray[np.int64]:
    """Places of the pairs of each node with the face that is nearest to it."""
    faces = np.flatnonzero((pairs.kinds == VERTEX_FACE) & (pairs.corners[:, 0] < count))
    ordered = faces[np.lexsort((gaps.gaps[faces], pairs.corners[faces, 0]))]
    result: NDArray[np.int64] = ordered[np.unique(pairs.corners[ordered, 0], return_index=True)[1]]
    return result


def programs_along(
    demo: Demo, dt: float, every: int, steps: int, *, one_each: bool, nodes: int = 60, stiffness: float | None = None
) -> Iterator[Program]:
    """Programs with rows, of every so many steps of a demo."""
    scene = demo.scene(dt, nodes=nodes, stiffness=stiffness)
    for step in range(steps):
        if step % every == 0:
            program = program_of(scene, one_each=one_each)
            if len(program.c):
                yield program
        scene.world.step()
