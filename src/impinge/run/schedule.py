"""When something is due in a run, decided by the simulated time alone: so no matter where a run was cut."""

from __future__ import annotations

import math

__all__ = ["Schedule", "reached"]

_ROUNDING = 1e-12


def reached(time: float, when: float) -> bool:
    """Whether a time has come, whatever the rounding of sums of time steps."""
    return time >= when * (1 - _ROUNDING)


class Schedule:
    """Moments 0, Δ, 2 Δ, …, each due at the first step at or after it.

    Parameters
    ----------
    interval : float, s, or None
        None: never.
    passed : int
        Number of moments that are over.
    """

    def __init__(self, interval: float | None, passed: int = 0) -> None:
        self.interval, self.passed = interval, passed

    @property
    def next(self) -> float:
        """The moment after those that are over, s."""
        return math.inf if self.interval is None else self.passed * self.interval

    def is_due(self, time: float) -> bool:
        """Whether the next moment has come."""
        return reached(time, self.next)

    def tick(self, time: float) -> None:
        """Go on to the first moment after a time."""
        if self.interval is not None:
            self.passed = max(self.passed, math.floor(time / self.interval * (1 - _ROUNDING)))
            while self.is_due(time):
                self.passed += 1
