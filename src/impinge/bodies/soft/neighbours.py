"""Pairs that may come near each other within the next few steps: they are looked for only when something moved on."""

from __future__ import annotations

import numpy as np

from impinge.bodies.soft import _neighbours
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.surface import Surface
from impinge.ccd.candidates import candidates
from impinge.response.contact_rows import Pairs, pairs_of

__all__ = ["Neighbours"]

_AHEAD = 2.0  # steps that boxes reach ahead
_MARGIN = 0.3  # of the distance that pairs keep, around boxes
_CROWDED = 60  # pairs for each vertex, from which on boxes are made as small as they may be


class Neighbours:
    """A list of pairs, made anew when a vertex leaves its box.

    Attributes
    ----------
    pairs : Pairs
    keys : (m,) int64, their numbers
    distances : (m,) m, what each pair keeps
    made : int
        How many lists there have been: numbers of pairs are valid as long as it stays.
    """

    def __init__(self, surface: Surface) -> None:
        self._surface, self.made = surface, 0
        self._low, self._high = np.empty((0, 3)), np.empty((0, 3))

    def cover(self, x0: Floats, x1: Floats) -> None:
        """See to it that no pair is missing that comes as near as its distance while all move from x0 to x1."""
        if self.made and _neighbours.inside(x0, x1, self._low, self._high):
            return
        margin = _MARGIN * self._surface.gap
        if not self._find(x0, x0 + _AHEAD * (x1 - x0), x1, margin):
            self._find(x0, x1, x1, 0.1 * margin)

    def _find(self, x0: Floats, ahead: Floats, x1: Floats, margin: float) -> bool:
        surface = self._surface
        self._low = np.minimum(np.minimum(x0, ahead), x1) - margin
        self._high = np.maximum(np.maximum(x0, ahead), x1) + margin
        found = candidates(self._low, self._high, surface.edges, surface.faces, gap=surface.gap, bodies=surface.labels)
        if found.total > _CROWDED * len(x0) and ahead is not x1:
            return False
        self.pairs: Pairs = pairs_of(found, surface.edges, surface.faces)
        self.keys, self.distances = self.pairs.keys, surface.distances(self.pairs)
        self.made += 1
        return True
