"""Sources that let spheres fall into a simulation at a rate, and what all sources have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge import _check
from impinge.bodies.sizes import MOST, Filling, read_corners, read_sizes
from impinge.errors import InputError

__all__ = ["Rain", "Shower"]

_Floats = NDArray[np.float64]
_TRIES = 100  # places for a sphere in a step
_LATE = 1e-6  # of a step, by which rounding may have made the time too short
_HALF = 2**64


class Shower:
    """Bodies that appear one after the other in a box, at a rate: how many are due, and what is random about them.

    Arguments are those that `Rain` and `PolyhedraRain` have in common; `settings` are all that a source was made with.
    """

    settings: dict[str, Any]

    def __init__(
        self, lower: ArrayLike, upper: ArrayLike, rate: float, velocity: ArrayLike | None, seed: int, count: int | None
    ) -> None:
        self.lower, self.upper = read_corners(lower, upper)
        self.rate = _check.positive("rate", rate)
        d = len(self.lower)
        self.velocity = np.zeros(d) if velocity is None else _check.vector("velocity", velocity, d)
        self._most = math.inf if count is None else _check.integer("count", count, 0, MOST)
        self._rng = np.random.Generator(np.random.PCG64(_check.integer("seed", seed, 0)))
        self.settings = {
            "lower": np.array(lower), "upper": np.array(upper), "rate": rate, "seed": seed, "count": count,
            "velocity": None if velocity is None else np.array(velocity),
        }  # fmt: skip
        self._inserted = 0
        self.is_taken = False  # whether a world has it

    def __repr__(self) -> str:
        box = f"from {self.lower.tolist()} to {self.upper.tolist()} m"
        return f"<impinge.{type(self).__name__} {box}, {self.rate:g} per second: {self._inserted:,} so far>"

    @property
    def inserted(self) -> int:
        """How many bodies it has given so far."""
        return self._inserted

    @property
    def is_empty(self) -> bool:
        """Whether it has given all that it had."""
        return self._inserted >= self._most

    def waiting(self, time: float) -> int:
        """How many bodies were due by a time and have not appeared, as they found no room."""
        return max(int(min(time * self.rate, self._most, MOST)) - self._inserted, 0)

    def has_due(self, time: float, dt: float) -> bool:
        """Whether something is to be inserted in the step that ends at `time`, if there is room."""
        return self._inserted + 1 <= min((time + _LATE * dt) * self.rate, self._most)

    def state(self) -> dict[str, Any]:
        """All that changes over time, as numbers and an array, for a checkpoint."""
        inner: Any = self._rng.bit_generator.state
        words = [part for key in ("state", "inc") for part in divmod(inner["state"][key], _HALF)]
        return {"inserted": self._inserted, "random": np.array(words, np.uint64)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state` of a source made with the same arguments, bit by bit the same."""
        missing = set(self.state()) - set(state)
        if missing:
            raise InputError(f"state: found no {sorted(missing)[0]!r}, expected what {type(self).__name__}.state gives")
        words = np.asarray(state["random"])
        if words.shape != (4,) or words.dtype != np.uint64:
            raise InputError(f"state: found {words.dtype} of shape {words.shape} as 'random', expected 4 of uint64")
        self._inserted = _check.integer("state['inserted']", state["inserted"], 0)
        a, b, c, e = (int(word) for word in words)
        inner: Any = self._rng.bit_generator.state
        inner["state"] = {"state": a * _HALF + b, "inc": c * _HALF + e}
        self._rng.bit_generator.state = inner


class Rain(Shower):
    """Spheres that appear at random places of a box, one after the other, at a rate.

    The n-th sphere (n = 1, 2, …) is due at n / rate. In every step up to 100 random places are tried for the next one
    that is due; if none is free, it and those after it wait for the next step, so that none is lost and the order of
    radii is kept: a crowded source delivers less than its rate, and catches up when there is room.

    Parameters
    ----------
    lower, upper : (d,) float64, m
        Corners of the box, d = 2 or 3; spheres are wholly in it when they appear.
    radii : float, (n,) float64, or a distribution, m
        As for `fill_random`; after n given ones the source is empty.
    rate : float, 1/s
        Spheres per second.
    velocity : (d,) float64, m/s, optional
        That the spheres should start with, for the caller; at rest by default.
    seed : int
    count : int, optional
        Number of spheres after which the source is empty.

    Attributes
    ----------
    settings : dict
        The arguments, from which an equal source can be made: ``Rain(**rain.settings)``.

    Examples
    --------
    >>> from impinge.bodies.rain import Rain
    >>> rain = Rain((0, 0, 1), (1, 1, 2), 0.05, rate=100)
    >>> [len(rain.due(0.01 * step, 0.01, [], []).radii) for step in (1, 2, 5, 6)]
    [1, 1, 3, 1]
    """

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        radii: Any,
        rate: float,
        *,
        velocity: ArrayLike | None = None,
        seed: int = 0,
        count: int | None = None,
    ) -> None:
        super().__init__(lower, upper, rate, velocity, seed, count)
        self._sizes = read_sizes(radii)
        if self._sizes.given is not None:
            self._most = min(self._most, len(self._sizes.given))
        shortest = float((self.upper - self.lower).min())
        if 2 * self._sizes.high > shortest:
            raise InputError(
                f"radii: found up to {self._sizes.high:g}, expected at most {shortest / 2:g}, half the box"
            )
        self.settings["radii"] = list(radii) if isinstance(radii, tuple | list) else np.array(radii)
        self._waiting = 0.0  # radius of the next sphere, once drawn

    @property
    def smallest(self) -> float:
        """m: no radius is smaller."""
        return self._sizes.low

    def due(
        self,
        time: float,
        dt: float,
        centres_near: ArrayLike,
        radii_near: ArrayLike,
        is_free: Callable[[_Floats, float], bool] | None = None,
    ) -> Filling:
        """The spheres to be inserted in the step that ends at `time`.

        Parameters
        ----------
        time, dt : float, s
            End and length of the step.
        centres_near : (m, d) float64, m
        radii_near : float or (m,) float64, m
            Spheres that must not be touched: all, or at least those near the box (and, in a periodic world, images of
            spheres that reach into it). Their order does not matter.
        is_free : function of centre (d,) and radius, optional
            Whether there is room for a sphere besides, among things that are no spheres.

        Returns
        -------
        Filling
            centres (k, d) and radii (k,), in most steps none.
        """
        d = len(self.lower)
        _check.not_negative("time", time)
        _check.not_negative("dt", dt)
        if not self.has_due(time, dt):
            return Filling(np.empty((0, d)), np.empty(0))
        there = _check.vectors("centres_near", centres_near, d)
        rows = np.column_stack([there, _check.sizes("radii_near", radii_near, len(there), "centres_near")])
        reach = rows[:, d:]
        rows = rows[((rows[:, :d] + reach >= self.lower) & (rows[:, :d] - reach <= self.upper)).all(axis=1)]
        new: list[_Floats] = []
        while self.has_due(time, dt):
            sphere = self._place(rows, is_free)
            if sphere is None:
                break
            new.append(sphere)
            rows = np.concatenate([rows, sphere[None]])
            self._inserted += 1
        found = np.array(new).reshape(-1, d + 1)
        return Filling(np.ascontiguousarray(found[:, :d]), np.ascontiguousarray(found[:, d]))

    def _place(self, rows: _Floats, is_free: Callable[[_Floats, float], bool] | None) -> _Floats | None:
        """The next sphere, (d + 1,) centre and radius, apart from all rows (m, d + 1); None if it has to wait."""
        d = len(self.lower)
        if self._sizes.given is not None:
            self._waiting = float(self._sizes.given[self._inserted])
        elif self._waiting == 0:
            self._waiting = float(self._sizes.take(self._rng, 1)[0])
        r = self._waiting
        low, high = self.lower + r, self.upper - r
        for place in low + (high - low) * self._rng.random((_TRIES, d)):
            place = np.clip(place, low, high)
            distance_sq = ((rows[:, :d] - place) ** 2).sum(axis=1)
            if not (distance_sq <= (rows[:, d] + r) ** 2).any() and (is_free is None or is_free(place, r)):
                self._waiting = 0.0
                return np.append(place, r)
        return None

    def state(self) -> dict[str, Any]:
        """All that changes over time, as numbers and an array, for a checkpoint."""
        return super().state() | {"waiting": self._waiting}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state` of a source made with the same arguments, bit by bit the same."""
        super().restore(state)
        self._waiting = _check.not_negative("state['waiting']", state["waiting"])
