"""One step of a soft world: what it has to do, how much of it is taken, and what has changed after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impinge import _check
from impinge.bodies.soft.damping import Damped, damped, undamped
from impinge.bodies.soft.elements import Measures
from impinge.bodies.soft.impact import has_impact
from impinge.bodies.soft.impulse import impulse_step
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.penalty import default_stiffness, penalty_step
from impinge.bodies.soft.potential import Potential
from impinge.bodies.soft.step import Blocked, Known, Result, Step
from impinge.bodies.soft.task import KEEP_AWAY, RECOVER, SQUEEZE, Task
from impinge.errors import ConvergenceError, RunError
from impinge.run import softexplicit
from impinge.run.softblame import Blame
from impinge.run.softcontacts import touch_of, work_of

if TYPE_CHECKING:
    from impinge.run.soft import SoftWorld

__all__ = ["look_ahead", "take_step"]

_ATTEMPTS = 8  # halves of the time step
_LEAST_SHARE = 1e-3  # of a step that is worth taking
_RECOVERY = 10.0  # 1/s: pairs that are too near win this share of their distance per second
_FARTHEST = 1e100  # m: products of three coordinates have to be numbers
_GIVE = 1e-3  # of dt²/m: what limits of strain give way by where they cannot be kept


def take_step(world: SoftWorld) -> None:
    """One step of dt; shorter where that cannot be taken whole."""
    if world.response != "qp":
        _step_classically(world)
        return
    blame = Blame()
    for halvings in range(_ATTEMPTS):
        dt = world.dt / 2**halvings
        result = _try(world, dt, blame)
        if result is not None and world._before is not None and dt == world.dt and _is_impact(world, result, dt):
            world._before = None  # again, without looking back over the jump of velocities
            result = _try(world, dt, blame)
        if result is not None and result.is_free:
            _accept(world, result, result.positions, dt)
            return
        if result is not None and _accept_part(world, result, dt):
            return
    raise blame.error(world.time, dt)


def _try(world: SoftWorld, dt: float, blame: Blame) -> Result | None:
    """The end of a step, with less and less asked of pairs that are too near."""
    known = Known(world._touch.pairs, world._touch.forces, world._user_forces, world._bar_forces)
    for demand in (RECOVER, KEEP_AWAY, SQUEEZE):
        task = look_ahead(world, dt, demand)
        try:
            result = Step(world.surface, world._neighbours, world._structure, task).run(known)
        except Blocked as blocked:
            blame.pairs = world.surface.names(blocked.pairs)
            blame.rows = world._drivers.names(blocked.user, world.time, dt)[:20]
        except ConvergenceError as error:
            blame.left = str(error)
        else:
            if not result.is_free:
                blame.pairs, blame.rows = _touching(world, result), []
            return result
    return None


def look_ahead(world: SoftWorld, dt: float, demand: int = RECOVER) -> Task:
    """What a step has to do."""
    x, v, span, past = world._x, world._v, dt, world._x
    before = world._before if dt == world.dt else None
    if before is not None:  # BDF2 is implicit Euler over ⅔ dt from an extrapolated past
        span, past, v = 2 * dt / 3, (4 * x - before[0]) / 3, (4 * v - before[1]) / 3
    with np.errstate(over="ignore", invalid="ignore"):
        goal, elastic = past + span * v + span * span * world.gravity, world.integrator != "explicit"
    fixed, end = np.zeros((len(x), 3), np.bool_), x + dt * world._v
    world._drivers.place(x, world.time, dt, fixed, end)
    near = ((np.abs(goal) < _FARTHEST) & (np.abs(end) < _FARTHEST)).all(axis=1)
    if not near.all():
        node, step = int(np.flatnonzero(~near)[0]), f"a step of {dt:g} s from t = {world.time:g} s"
        raise RunError(f"node {node} leaves the range of numbers in {step}")
    if not elastic:
        goal += softexplicit.way(world, dt)
    wind = world.wind if not callable(world.wind) else _check.vector("wind", world.wind(world.time + dt))
    parts = _damped(world, span, None if before is None else before[0]) if elastic else undamped(world.elements)
    resistance = parts, world._drag, wind
    potential = Potential(world.elements, world._masses, span, x, past, goal, *resistance, elastic=elastic)
    give = 0.0 if demand == RECOVER else _GIVE * dt * dt / float(world._masses.mean())
    return Task(
        potential, world._whole(x, world.time), world._whole(end, world.time + dt), fixed,
        _RECOVERY * dt * world.surface.gap, demand, world._drivers.linear(x, world.time, dt),
        world._drivers.bars(world._edges, x, dt, give), world.friction,
    )  # fmt: skip


def _damped(world: SoftWorld, span: float, before: Floats | None) -> Damped:
    """Elastic parts with damping; before : positions before those of now, for BDF2."""
    x, elements = world._x, world.elements
    if not world._damping.any():
        return undamped(elements)
    strained, near = elements.measures(x), x
    if before is not None:
        both = zip(strained, elements.measures(before), strict=True)
        strained = Measures._make((4 * now - then) / 3 for now, then in both)
        near = 2 * x - before  # bending as it is at the end, to second order
    return damped(elements, world._damping / span, strained, near)


def _step_classically(world: SoftWorld) -> None:
    """One step of dt by penalties or impulses, which nothing certifies."""
    task = look_ahead(world, world.dt)
    if world.response == "penalty":
        stiffness = world.penalty or default_stiffness(world._masses, world.dt)
        end = penalty_step(world.surface, task, world._structure, stiffness)
    else:
        end = impulse_step(world.surface, task, world._structure, world._masses, world.dt).positions
    new = end[: len(world._x)].copy()
    world._v, world._x = (new - world._x) / world.dt, new
    world.time += world.dt
    world.steps += 1


def _accept_part(world: SoftWorld, result: Result, dt: float) -> bool:
    """Go up to before the first contact of a step that is not free, if that is certified to be free."""
    share, x = 0.9 * result.contact, world._x
    while share > _LEAST_SHARE:
        end = x + share * (result.positions[: len(x)] - x)
        start, whole = world._whole(x, world.time), world._whole(end, world.time + share * dt)
        if world.surface.is_free(start, whole):
            _accept(world, result, whole, share * dt)
            return True
        share *= 0.5
    return False


def _accept(world: SoftWorld, result: Result, whole: Floats, dt: float) -> None:
    """Take a step that is certified, or the part of one."""
    new, is_whole = whole[: len(world._x)].copy(), dt == world.dt
    potential = result.task.potential
    velocity = (new - potential.past) / potential.span if is_whole else (new - world._x) / dt
    start = world.vertices()
    world._touch = touch_of(result, start)
    world._work = world._work + work_of(result, world._touch, start, whole)
    world._user_forces, world._bar_forces, world._slack = result.user_forces, result.bar_forces, result.strain_slack()
    is_smooth = world.integrator == "bdf2" and is_whole and not _is_impact(world, result, dt)
    world._before = (world._x, world._v) if is_smooth else None
    world._v, world._x = velocity, new
    world.time += dt
    world.steps += 1
    world.scaled_steps += not is_whole
    world.friction_error = result.friction_error
    world.last = result


def _is_impact(world: SoftWorld, result: Result, dt: float) -> bool:
    return has_impact(result, world._v, dt, world.surface.gap)


def _touching(world: SoftWorld, result: Result) -> list[str]:
    """What is in contact in a step that is not free."""
    return world.surface.names(world.surface.near(world.vertices(), result.positions, 0.0))
