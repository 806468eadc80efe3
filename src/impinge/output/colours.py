"""Colours of bodies, obstacles and values, the same in pictures, reports and files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["OBSTACLE", "Span", "body_colours", "linear_light"]

_BODIES = ("#c4553b", "#3f72af", "#e3a83b", "#5b9a68", "#8c6bb1", "#4fa8b8", "#d27ba0", "#8a7a5c")
_FROM_ZERO = "speed", "spin", "contact force", "strain", "shear"  # what is 0 at rest
_MOST = 0.995  # of all values have a colour of their own; what is beyond has the last one


class Span:
    """Finds which values the first and the last colour stand for, from values that are given one after the other."""

    def __init__(self) -> None:
        self.low, self.most, self.highest = np.inf, -np.inf, -np.inf

    def take(self, values: NDArray[np.float64]) -> None:
        """Look at some; what is not finite is not looked at."""
        known = values[np.isfinite(values)]
        if len(known):
            self.low = min(self.low, float(known.min()))
            self.most = max(self.most, float(np.quantile(known, _MOST, method="higher")))
            self.highest = max(self.highest, float(known.max()))

    def limits(self, name: str) -> tuple[float, float]:
        """From the lowest value, or from 0 of speeds and the like, to one that few exceed; from 0 to 1 of none."""
        if not np.isfinite(self.low):
            return 0.0, 1.0
        low = 0.0 if self.low >= 0 and name in _FROM_ZERO else self.low
        high = self.most if self.most > low else self.highest
        return low, high if high > low else low + (abs(low) or 1.0)


def _numbers(text: str) -> NDArray[np.float64]:
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0


OBSTACLE = _numbers("#b9c2cc")


def body_colours(bodies: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 3): red, green and blue, from 0 to 1, of bodies with these numbers; they repeat after eight."""
    return np.array([_numbers(text) for text in _BODIES])[bodies % len(_BODIES)]


def linear_light(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same colours as amounts of light: screens and pictures (sRGB) give more steps to the dark ones."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
