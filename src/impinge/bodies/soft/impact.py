"""Impacts: steps in which rows stop motion at once.

Velocities jump there, and a formula that looks back over the jump, as that of BDF2, takes it for an acceleration: what
has just stopped would fly back as fast as it came.
"""

from __future__ import annotations

import numpy as np

from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.step import Result

__all__ = ["has_impact"]

_HEAD_ON = 0.01  # of the relative velocity: part that is stopped; below it is what slides along a curved surface
_ROUNDED = 1e-6  # of thickness and dt: velocities below it are what the solver leaves at rest


def has_impact(result: Result, velocities: Floats, dt: float, gap: float) -> bool:
    """Whether anything that acts in a step of dt stops what moves at its start.

    velocities : (n, 3) m/s, of soft nodes; gap : m, distance that pairs keep
    """
    task, least = result.task, _ROUNDED * gap / dt
    now = (task.end - task.start) / dt  # of obstacles, and of what is driven
    now[: len(velocities)] = np.where(task.fixed, now[: len(velocities)], velocities)

    pushing = np.flatnonzero(result.held.forces > 0.0)
    pairs, gaps = result.held.pairs.take(pushing), result.held.gaps.take(pushing)
    apart = (gaps.weights[:, :, None] * now[pairs.corners]).sum(axis=1)
    by_pairs = -(apart * gaps.normals).sum(axis=1), np.linalg.norm(apart, axis=1)

    bars = task.bars.take(np.flatnonzero(result.bar_forces > 0.0))
    along, apart = (ends[bars.nodes[:, 1]] - ends[bars.nodes[:, 0]] for ends in (task.start, now))
    by_bars = -bars.signs * (along * apart).sum(axis=1) / bars.rest, np.linalg.norm(apart, axis=1)

    linear, acts = task.linear, (result.user_forces > 0.0) & ~task.linear.is_equality
    soft, x = now[: len(velocities)].ravel(), task.start[: len(velocities)].ravel()
    lacking = (linear.bounds - linear.times(x)) / dt - linear.times(soft)
    sizes = linear._replace(values=np.abs(linear.values)).times(np.abs(soft))
    by_rows = lacking[acts], sizes[acts]

    return any(
        bool((stopped > np.maximum(least, _HEAD_ON * speed)).any()) for stopped, speed in (by_pairs, by_bars, by_rows)
    )
