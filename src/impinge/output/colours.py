"""Colours of bodies and obstacles, the same in pictures and in files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["OBSTACLE", "body_colours", "linear_light"]

_BODIES = ("#c4553b", "#3f72af", "#e3a83b", "#5b9a68", "#8c6bb1", "#4fa8b8", "#d27ba0", "#8a7a5c")


def _numbers(text: str) -> NDArray[np.float64]:
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0


OBSTACLE = _numbers("#b9c2cc")


def body_colours(bodies: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 3): red, green and blue, from 0 to 1, of bodies with these numbers; they repeat after eight."""
    return np.array([_numbers(text) for text in _BODIES])[bodies % len(_BODIES)]


def linear_light(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same colours as amounts of light: screens and pictures (sRGB) give more steps to the dark ones."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
