"""The classical implicit step: one linearisation at its start, and one linear system [Baraff1998]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge import _check
from impinge.bodies.soft import _constraints
from impinge.bodies.soft.parts import Floats
from impinge.bodies.soft.potential import Potential
from impinge.response.contact_rows import Gaps, Pairs
from impinge.response.qp import _rows
from impinge.sparse.cholesky import Cholesky, Structure

__all__ = ["Ahead", "Contacts", "linear_step"]


class Ahead(NamedTuple):
    """What is known of a step before it is taken."""

    potential: Potential
    start: Floats  # (all vertices, 3) m, soft nodes first
    end: Floats  # the same; of obstacles and fixed nodes where they will be, of others a guess
    fixed: NDArray[np.bool_]  # (n, 3): coordinates of soft nodes whose end is given

    def given(self) -> Floats:
        """Positions with all that is given at its end, and all that is free still at its start."""
        x = self.end.copy()
        x[: len(self.fixed)][~self.fixed] = self.start[: len(self.fixed)][~self.fixed]
        return x


class Contacts(NamedTuple):
    """Pairs that springs push apart, with normals and weights of their nearest points."""

    pairs: Pairs
    gaps: Gaps
    distances: Floats  # (m,) m, that they are to keep


def linear_step(ahead: Ahead, factor: Cholesky, contacts: Contacts | None = None, stiffness: float = 0.0) -> Floats:
    """Positions of all vertices at the end of a step.

        (M − h² ∂f/∂x − h ∂f/∂v) Δv = h (f + h ∂f/∂x v)

    ([Baraff1998] (6); [Raghupathi2006] (1) as it must be), written for the ways h (v + Δv) of the nodes: it is the
    first step of Newton's method for the minimum of the potential. More of them would not be what the literature calls
    classical, and what penalties and impulses do to cables has other causes: with Newton's method to its end energy and
    strain were of the same size.

    Parameters
    ----------
    ahead : Ahead
    factor : Cholesky
        With the pattern of the elements.
    contacts : Contacts, optional
        Springs that push with stiffness × (distance − gap), also part of ∂f/∂x.
    stiffness : float, N/m
    """
    potential, start, _, fixed = ahead
    elements, flat, count = potential.elements, fixed.ravel(), len(fixed)
    x = start[:count]
    values, right = potential.hessian(x, keep=0.0), -potential.gradient(x)[0].ravel()
    known, out = (ahead.given()[:count] - x).ravel(), np.empty_like(values)
    _rows.fix(elements.indptr, elements.indices, _check.frozen(values), flat, known, right, out)
    if contacts is None or not len(contacts.distances):
        factor.factorise(out)
    else:
        factor = _push(ahead, contacts, stiffness, out, right)
    moved = factor.solve(right)
    moved[flat] = known[flat]
    end = ahead.end.copy()
    end[:count] = x + moved.reshape(-1, 3)
    return end


def _push(ahead: Ahead, contacts: Contacts, stiffness: float, values: Floats, right: Floats) -> Cholesky:
    """Add springs to the right side, and factorise the matrix with them."""
    pairs, gaps, distances = contacts
    elements, count = ahead.potential.elements, len(distances)
    indptr = np.zeros(count + 1, np.int32)
    indices, entries = np.empty(12 * count, np.int32), np.empty(12 * count)
    used = _constraints.fill_rows(pairs.corners, gaps.weights, gaps.normals, ahead.fixed, indptr, indices, entries)
    rows = _check.frozen(indptr), _check.frozen(indices[:used])
    factors = _check.frozen(entries[:used])
    forces = stiffness * (distances - gaps.at(ahead.given(), pairs))
    _rows.add_rows(*rows, factors, forces, -1.0, right)
    factor = Cholesky(Structure(elements.indptr, elements.indices, rows=rows, size=3))
    factor.factorise(values, factors, np.full(count, stiffness))
    return factor
