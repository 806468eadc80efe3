"""Skins and methods that have proved the fastest: what `auto` goes by, measured while a search is used."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["Tuner"]

_FIRST_SKIN = 0.3  # of the mean size: before anything is known about the motion
_SKINS = 2.0 ** np.linspace(-7, 1, 33)  # tried by `auto`, in mean sizes
_TRIALS = (4, 40, 400, 4000)  # rebuilds at which `auto` tries another method


class Tuner:
    """Times and motions so far, and the skin and the method that they suggest. No pair that touches depends on it."""

    def __init__(self) -> None:
        self.first_skin = _FIRST_SKIN
        self.per_body = 0.0  # what a caller does for each body in a step, in pairs
        self._use = 0.0  # seconds per listed pair that the caller takes for a step, smoothed
        self._speed = 0.0  # by how much two bodies come nearer in a step, at most, smoothed
        self._seconds: dict[str, float] = {}  # for the last rebuild by each method, per body
        self._last = (0, 0, 0.0)  # bodies, pairs and skin of the last rebuild

    def note_use(self, seconds: float, pairs: int) -> None:
        if pairs > 0 and 0 < seconds < 10:
            use = seconds / (pairs + self.per_body * self._last[0])
            self._use = use if self._use == 0 else 0.9 * self._use + 0.1 * use

    def note_motion(self, moved: float, steps: int) -> None:
        if math.isfinite(moved) and steps > 0:
            speed = moved / steps
            self._speed = speed if self._speed == 0 else 0.5 * self._speed + 0.5 * speed

    def note_rebuild(self, method: str, seconds: float, bodies: int, pairs: int, skin: float) -> None:
        self._seconds[method] = seconds / max(bodies, 1)
        self._last = bodies, pairs, skin

    def best_skin(self, length: float, dimension: int) -> tuple[float, str]:
        """Least cost per step: rebuild / steps between rebuilds + use of all listed pairs.

        steps = skin / speed; pairs and time of a rebuild grow like the volume (length + skin)^d.
        """
        if self._speed == 0 or not self._seconds or length == 0:
            return self.first_skin * length, "a first guess, before the motion is known"
        bodies, pairs, skin = self._last
        skins = _SKINS * length
        growth = ((length + skins) / (length + skin)) ** dimension
        steps = np.maximum(np.floor(skins / self._speed), 1)
        rebuild = bodies * min(self._seconds.values())
        cost = rebuild * (0.5 + 0.5 * growth) / steps + self._use * max(pairs, 1) * growth
        best = float(skins[np.argmin(cost)])
        return min(max(best, skin / 2), 2 * skin if skin > 0 else best), "from the times of rebuilds and steps so far"

    def best_method(self, first: str, why: str, rebuilds: int, rival: str) -> tuple[str, str]:
        if rebuilds in _TRIALS or rebuilds - 1 in _TRIALS:  # twice: the first may have to start or compile
            return rival, "a trial, to compare times"
        ours, theirs = self._seconds.get(first, 0.0), self._seconds.get(rival, math.inf)
        if theirs < 0.9 * ours:
            return rival, f"{ours / theirs:.1f} times faster than {first} in a trial"
        return first, why
