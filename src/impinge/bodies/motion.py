"""How obstacles move: as given, whatever hits them.

A point p of an obstacle's own frame is at R p + T in space. Poses are computed from the time itself, never added up, so
that a run that goes on from a file has the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.errors import InputError
from impinge.shapes.rotations import checked_rotation

__all__ = ["Motion", "Pose", "PoseFunction", "pose_at"]

PoseFunction = Callable[[float], tuple[ArrayLike, ArrayLike]]
_STEP = 1e-6  # s, for the velocities of a function of time


class Pose(NamedTuple):
    """Where an obstacle is, and how it moves there."""

    rotation: NDArray[np.float64]  # (3, 3), R
    translation: NDArray[np.float64]  # (3,), m, T: where the origin of its frame is
    velocity: NDArray[np.float64]  # (3,), m/s, of that origin
    spin: NDArray[np.float64]  # (3,), rad/s


_REST = Pose(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class Motion:
    """Steady motion: along a line, around an axis, or both.

    Parameters
    ----------
    velocity : (3,) float, m/s
    rotation : pair of (3,) float, optional
        Axis times rate, rad/s, and a point on the axis at time 0, m; the axis moves with `velocity`.
    """

    velocity: Any = (0.0, 0.0, 0.0)
    rotation: Any = None

    def __post_init__(self) -> None:
        velocity = _check.vector("velocity", self.velocity)
        object.__setattr__(self, "velocity", tuple(velocity.tolist()))
        if self.rotation is not None:
            if not isinstance(self.rotation, tuple | list) or len(self.rotation) != 2:
                raise InputError(f"rotation: found {self.rotation!r}, expected a pair: axis times rate, centre")
            pair = _check.vector("rotation[0]", self.rotation[0]), _check.vector("rotation[1]", self.rotation[1])
            object.__setattr__(self, "rotation", tuple(tuple(part.tolist()) for part in pair))

    def pose_at(self, t: float) -> Pose:
        """Pose at time t [s]."""
        return Pose(*(part[0] for part in self.poses_at(np.array([t]))))

    def poses_at(self, times: NDArray[np.float64]) -> Pose:
        """Poses at some times, (m, …) each: R = exp(t [ω]×), T = v t + c − R c.

        Products are written out: the same time gives the same bits, whatever times come with it.
        """
        velocity = np.array(self.velocity)
        moved, still = times[:, None] * velocity, np.zeros((len(times), 3))
        if self.rotation is None:
            return Pose(np.eye(3) + np.zeros((len(times), 3, 3)), moved, velocity + still, still)
        spin, centre = np.array(self.rotation[0]), np.array(self.rotation[1])
        turned = _turn(spin, times)
        arm = turned[:, :, 0] * centre[0] + turned[:, :, 1] * centre[1] + turned[:, :, 2] * centre[2]
        around = spin[[1, 2, 0]] * arm[:, [2, 0, 1]] - spin[[2, 0, 1]] * arm[:, [1, 2, 0]]
        return Pose(turned, moved + (centre - arm), velocity - around, spin + still)


def pose_at(motion: Motion | PoseFunction | None, t: float, step: float = _STEP) -> Pose:
    """Pose at time t [s].

    Velocities of a function of time are central differences over t ± step, or from 0 on where t is below `step`:
    a function is never asked about times before 0.
    """
    if motion is None:
        return _REST
    if isinstance(motion, Motion):
        return motion.pose_at(t)
    translation, rotation = _ask(motion, t)
    before, after = max(t - step, 0.0), t + step
    (old_place, old_turn), (new_place, new_turn) = _ask(motion, before), _ask(motion, after)
    per = 1.0 / (after - before)
    spin = _rotation_vector(new_turn @ old_turn.T, before, after) * per
    return Pose(rotation, translation, (new_place - old_place) * per, spin)


def _turn(spin: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotations about `spin` by its length times t (Rodrigues), (m, 3, 3)."""
    rate = math.hypot(*spin)
    if rate == 0.0:
        return np.eye(3) + np.zeros((len(times), 3, 3))
    angles = [rate * t for t in times.tolist()]
    if not all(map(math.isfinite, angles)):
        found = f"found {rate:g} rad/s until t = {times.max():g} s, an angle beyond all numbers"
        raise InputError(f"rotation: {found}, expected a slower rotation")
    x, y, z = spin / rate
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # 1 − cos as 2 sin², so that small turns keep all digits; sines one by one, as those of arrays may have other bits
    sines = np.array([[math.sin(angle), 2.0 * math.sin(0.5 * angle) ** 2] for angle in angles])
    turned: NDArray[np.float64] = (
        np.eye(3) + sines[:, 0, None, None] * cross + sines[:, 1, None, None] * (cross @ cross)
    )
    return turned


def _ask(motion: PoseFunction, t: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a function of time says about t: translation and rotation, checked."""
    try:
        answer = motion(t)
    except Exception as error:
        error.add_note(f"in the motion of an obstacle, {getattr(motion, '__name__', motion)!r}, at t = {t:g} s")
        raise
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise InputError(
            f"motion: found {type(answer).__name__} at t = {t:g}, expected a pair: translation (3,), rotation (3, 3)"
        )
    translation = _check.vector(f"motion: translation at t = {t:g}", answer[0])
    return translation, checked_rotation(answer[1], f"motion: rotation at t = {t:g}")


def _rotation_vector(turned: NDArray[np.float64], before: float, after: float) -> NDArray[np.float64]:
    """Axis times angle of a rotation by less than a quarter turn."""
    sines = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    sine, cosine = math.hypot(*sines), 0.5 * (float(np.trace(turned)) - 1.0)
    if cosine <= 0.0:
        raise InputError(
            f"motion: found more than a quarter turn from t = {before:g} to {after:g}, expected a slower rotation"
        )
    return sines * (math.atan2(sine, cosine) / sine) if sine > 0.0 else sines
