"""The rows of a step: what keeps pairs apart, and what users ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft import _constraints
from impinge.bodies.soft.parts import Floats, Ints
from impinge.response.contact_rows import Gaps, Pairs, join

__all__ = ["Held"]


@dataclass
class Held:
    """Pairs that are kept apart in a step, with the normals and weights of its start.

    targets : (m,) m, distance at the end that is asked for
    forces : (m,) N, multipliers of the last solve
    """

    pairs: Pairs
    gaps: Gaps
    targets: Floats
    forces: Floats
    known: NDArray[np.int64]  # keys of all pairs that these rows speak for
    spread: set[int] = field(default_factory=set)  # keys of pairs all corners of which are kept apart

    @staticmethod
    def nothing() -> Held:
        """No pairs."""
        none = np.empty(0)
        pairs = Pairs(np.empty(0, np.int8), np.empty((0, 2), np.int32), np.empty((0, 4), np.int32))
        return Held(pairs, Gaps(np.empty((0, 4)), np.empty((0, 3)), none), none, none, np.empty(0, np.int64))

    def add(self, pairs: Pairs, gaps: Gaps, targets: Floats, forces: Floats | None = None) -> None:
        """More rows."""
        self.pairs, self.gaps = join([self.pairs, pairs], [self.gaps, gaps])
        self.targets = np.concatenate([self.targets, targets])
        self.forces = np.concatenate([self.forces, np.zeros(len(targets)) if forces is None else forces])

    def lack(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Which pairs are not held yet."""
        return ~np.isin(pairs.keys, self.known)

    def rows(self, fixed: NDArray[np.bool_]) -> tuple[Ints, Ints, Floats]:
        """The rows −n · Σ w Δ ≤ distance − target over the free coordinates of soft nodes."""
        count = len(self.targets)
        indptr = np.zeros(count + 1, np.int32)
        indices, values = np.empty(12 * count, np.int32), np.empty(12 * count)
        used = _constraints.fill_rows(
            self.pairs.corners, self.gaps.weights, self.gaps.normals, fixed, indptr, indices, values
        )
        return _check.frozen(indptr), _check.frozen(indices[:used]), _check.frozen(values[:used])
