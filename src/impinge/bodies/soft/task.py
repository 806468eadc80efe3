"""What one time step has to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.bodies.soft.constraints import NO_BARS, NO_ROWS, Bars, Linear
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.potential import Potential

__all__ = ["KEEP_AWAY", "RECOVER", "SQUEEZE", "Task"]

RECOVER, KEEP_AWAY, SQUEEZE = range(3)  # what pairs that are too near are asked for: to part, to stay, not to touch


@dataclass
class Task:
    """What a step has to do.

    start, end : (all vertices, 3) m
        Positions at the start; of obstacles and fixed coordinates also at the end, of others a guess.
    fixed : (n, 3) bool
        Coordinates of soft nodes whose end is given.
    recovery : float, m
        How much distance pairs that are too near may win in the step.
    linear, bars : rows of users; all limits of lengths, of which those are taken that matter
    friction : float, coefficient
    """

    potential: Potential
    start: Floats
    end: Floats
    fixed: NDArray[np.bool_]
    recovery: float
    demand: int = RECOVER
    linear: Linear = NO_ROWS
    bars: Bars = NO_BARS
    friction: float = 0.0
