"""Pairs that may come near each other within the next few steps: they are looked for only when something moved on."""

from __future__ import annotations

import numpy as np

from impinge.bodies.soft import _neighbours
from impinge.bodies.soft.parts import Floats, Ints
from impinge.bodies.soft.surface import Surface
from impinge.ccd.candidates import candidates
from impinge.response.contact_rows import Pairs, pairs_of

__all__ = ["Neighbours"]

# Steps that boxes reach ahead (0: only this step is looked at), margins around them in distances that pairs keep, and
# pairs for each vertex that are too many for that.
_REACHES = (8.0, 1.0, 10), (2.0, 0.3, 60), (0.0, 0.03, np.inf)
_PATIENCE = 16  # lists after which a longer reach is tried again


class Neighbours:
    """A list of pairs, made anew when a vertex leaves its boxes.

    A vertex may start anywhere in one box and end anywhere in another. Both are around its way in the next few steps;
    but where that is too much, around where it starts and ends now, and only pairs are kept that come near then.

    Attributes
    ----------
    pairs : Pairs
    keys : (m,) int64, their numbers
    distances, spares : (m,) m, what each pair keeps, and how much farther apart it is at rest
    made : int
        How many lists there have been: numbers of pairs are valid as long as it stays.
    """

    def __init__(self, surface: Surface) -> None:
        self._surface, self.made, self._reach = surface, 0, 0
        self._boxes: list[tuple[Floats, Floats]] = []

    def cover(self, x0: Floats, x1: Floats) -> None:
        """See to it that no pair is missing that comes as near as its distance while all move from x0 to x1."""
        if self.made and all(_neighbours.inside(x, *box) for x, box in zip((x0, x1), self._boxes, strict=True)):
            return
        self._reach = 0 if self.made % _PATIENCE == 0 else self._reach
        while not self._find(x0, x1, *_REACHES[self._reach]):
            self._reach += 1

    def _find(self, x0: Floats, x1: Floats, steps: float, share: float, most: float) -> bool:
        """Make the list, unless it has too many pairs."""
        surface, ahead = self._surface, x0 + steps * (x1 - x0)
        margin = share * surface.gap
        low, high = np.minimum(np.minimum(x0, ahead), x1) - margin, np.maximum(np.maximum(x0, ahead), x1) + margin
        found = candidates(low, high, surface.edges, surface.faces, gap=surface.gap, bodies=surface.labels)
        if found.total > most * len(x0):
            return False
        if steps:
            self._boxes = [(low, high)] * 2
        else:
            self._boxes = [(x - margin, x + margin) for x in (x0, x1)]
            found = found._replace(
                vertex_faces=self._near(x0, x1, found.vertex_faces, surface.faces, margin),
                edge_edges=self._near(x0, x1, found.edge_edges, surface.edges, margin),
            )
        self.pairs: Pairs = pairs_of(found, surface.edges, surface.faces)
        self.keys, (self.distances, self.spares) = self.pairs.keys, surface.distances_and_spares(self.pairs)
        self.made += 1
        return True

    def _near(self, x0: Floats, x1: Floats, pairs: Ints, corners: Ints, margin: float) -> Ints:
        """Those of some pairs that may come near while vertices move from x0 to x1, or nearly so."""
        near = np.empty(len(pairs), np.bool_)
        _neighbours.find_near(len(pairs), x0, x1, pairs, corners, self._surface.gap, margin, near)
        return pairs[near]
