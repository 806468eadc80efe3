"""Which frames and which spheres a page shows, so that it stays below a size: found before anything is built."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.errors import InputError
from impinge.output.arrays import evenly
from impinge.show.recording import Recording
from impinge.show.shown import Shown

__all__ = ["Cost", "Plan", "cost_of", "plan"]

_FRAMES = 300  # at most: more are no smoother
_FEW = 60  # frames that are kept where leaving out spheres helps as well
_LEAST = 1000  # spheres that are kept at least
_TEXT = 4 / 3  # of bytes written as text
_SAMPLES = 3  # frames that are looked at


class Cost(NamedTuple):
    """Bytes in the page, of a frame."""

    spheres: float  # places and the scalar that is shown first
    rest: float  # bodies, cables and cloth, likewise
    others: float  # all other scalars


class Plan(NamedTuple):
    """What is shown."""

    frames: int
    stride: int  # of the numbers of the spheres
    others: bool  # whether there are other scalars to choose from


def cost_of(recording: Recording, scalar: str) -> Cost:
    """What a frame takes, judged by some of them."""
    costs = []
    for number in evenly(len(recording), _SAMPLES):
        shown = Shown.of([recording[int(number)]])
        of_spheres, of_rest, of_others = 0.0, 0.0, 0.0
        if shown.points:
            of_spheres = _packed([*shown.points.centres, *shown.points.radii, *shown.points.values.get(scalar, [])])
            of_others += _others(shown.points.values, scalar)
        if shown.skin:
            of_rest += _packed([*shown.skin.vertices, *shown.skin.values.get(scalar, [])])
            of_others += _others(shown.skin.values, scalar)
        for movers in (shown.bodies, shown.obstacles):
            of_rest += _packed(movers.poses) if movers else 0.0
        costs.append((of_spheres, of_rest, of_others))
    return Cost(*np.mean(costs, axis=0).tolist())


def _packed(arrays: Sequence[NDArray[np.float32]]) -> float:
    return _TEXT * sum(len(zlib.compress(array.tobytes(), 6)) for array in arrays)


def _others(values: Mapping[str, Sequence[NDArray[np.float32]]], scalar: str) -> float:
    return sum(_packed(columns) for name, columns in values.items() if name != scalar)


def plan(count: int, spheres: int, cost: Cost, room: float) -> Plan:
    """What fits into so many bytes.

    Frames beyond 300 go first, then other scalars, frames down to 60, spheres down to a thousand, and frames again.

    Parameters
    ----------
    count : int
        Number of frames.
    spheres : int
        How many there ever were.
    cost : Cost
    room : float
    """
    frames, few = min(count, _FRAMES), min(count, _FEW)
    shown = cost.spheres + cost.rest
    if frames * (shown + cost.others) <= room:
        return Plan(frames, 1, True)
    frames = max(min(frames, int(room / shown)), min(few, frames))
    if frames * shown <= room:
        return Plan(frames, 1, False)
    longest = max(spheres // _LEAST, 1)
    for_spheres = room / frames - cost.rest
    stride = min(math.ceil(cost.spheres / for_spheres) if for_spheres > 0 else longest, longest)
    fitting = int(room / (cost.spheres / stride + cost.rest))
    if fitting < min(2, count):
        need = math.ceil((2 * (cost.spheres / stride + cost.rest) - room) / 1e6)
        raise InputError(f"most_mb: too small for two frames, expected at least {need} MB more")
    return Plan(min(count, _FRAMES, fitting), stride, False)
