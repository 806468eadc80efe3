"""Forces of friction from pass to pass, until they are what the contacts ask for."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from impinge.bodies.soft.parts import Floats

__all__ = ["SETTLED", "Passes"]

SETTLED = 1e-3  # of the largest force of friction: what nodes may feel of what it lacks
_WHOLE = 4  # passes in which forces go all of their way; then half of it, lest they go to and fro
_KEPT = 6  # passes that are looked back at
_WORSE = 3.0  # than the best of the last passes: looking back has led astray
_LOOKED_AT = 4  # of these passes
_DEPENDENT = 1e-12  # of the largest eigenvalue of products of changes: directions that are known already


class _Pass(NamedTuple):
    """The largest forces of friction of all rows in a pass, what they lacked, and what nodes felt of that, N."""

    forces: Floats
    lacks: Floats
    felt: Floats

    def grown(self, count: int) -> _Pass:
        """With rows that have joined since."""
        more = np.zeros(count - len(self.forces))
        return _Pass(np.append(self.forces, more), np.append(self.lacks, more), self.felt)


class Passes:
    """The search for F = μ f(F), with f the normal forces of the minimum with friction F, by [Anderson1965].

    Of all combinations of the last passes it takes that which lacks least, and goes on from there by half of what that
    lacks. What is lacking is measured by what nodes feel: what rows that depend on each other push with is not unique.
    """

    def __init__(self) -> None:
        self._kept: list[_Pass] = []
        self._errors: list[float] = []
        self._number = 0

    def forget(self) -> None:
        """Rows are no longer what they were."""
        self._kept, self._errors = [], []

    def follow(self, forces: Floats, lacks: Floats, felt: Floats, error: float) -> Floats:
        """Forces of the next pass, from those of this one, and by how much these are off."""
        self._number += 1
        if self._errors and error > _WORSE * min(self._errors):
            self.forget()
        self._kept = [*(one.grown(len(forces)) for one in self._kept), _Pass(forces, lacks, felt)][-_KEPT:]
        self._errors = [*self._errors, error][-_LOOKED_AT:]
        if self._number <= _WHOLE:
            return forces + lacks
        best = forces + 0.5 * lacks
        changes = [
            _Pass._make(new - old for old, new in zip(*two, strict=True)) for two in itertools.pairwise(self._kept)
        ]
        for share, change in zip(self._shares(changes, felt), changes, strict=True):
            best -= share * (change.forces + 0.5 * change.lacks)
        return np.maximum(best, 0.0)

    @staticmethod
    def _shares(changes: list[_Pass], felt: Floats) -> Floats:
        """Of the changes between passes, to take back: those with which least is felt."""
        # Sums, not products of matrices, the bits of which may depend on the number of threads.
        products = np.array([[(one.felt * other.felt).sum() for other in changes] for one in changes])
        right = np.array([(change.felt * felt).sum() for change in changes])
        if not products.any():
            return np.zeros(len(changes))
        shares: Floats = np.linalg.lstsq(products, right, rcond=_DEPENDENT)[0]
        return shares
