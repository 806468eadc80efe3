"""Damping of strain and of bending, which does not resist turning.

Damping of strain is to do with the rates of the measures ε that elastic energies are functions of, not with those of
positions. Over a time step h a damping γ costs, with s = γ/h,

    ½ k s (ε − ε_past)²,  and  ½ k (ε − ε₀)² + ½ k s (ε − ε_past)² = ½ k (1 + s) (ε − ε*)² + a constant,

    ε* = (ε₀ + s ε_past)/(1 + s):

it is the energy of firmer parts that are at rest in between. Bending is measured by vectors κ, which turn with the
body. Only their changes along κ are resisted, and all changes where there is hardly any bending, as nothing turns then:

    ½ k s (κ − κ_past)ᵀ P (κ − κ_past),    P = (a² 1 + κ κᵀ)/(a² + κ²)  at the start, a a small bend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from impinge import _check
from impinge.bodies.soft import _elements
from impinge.bodies.soft._elements import Table
from impinge.bodies.soft._potential import Elastic
from impinge.bodies.soft.elements import Elements, Measures
from impinge.bodies.soft.parts import Floats

__all__ = ["Damped", "damped", "undamped"]

_SMALL = 2e-3  # a by the size of what κ is the sum of: about half of it is an angle


class Damped(NamedTuple):
    """Elastic parts with what resists a change of their strain."""

    arrays: Elastic
    bending: Floats  # C/h of bending, N/m, in the pattern of the Hessian; empty for none
    stiffest: float  # N/m, as of `Elements`


def undamped(elements: Elements) -> Damped:
    """Elastic parts as they are."""
    return Damped(elements.arrays, np.empty(0), elements.stiffest)


def damped(elements: Elements, shares: Floats, past: Measures, start: Floats) -> Damped:
    """Elastic parts that resist changes of strain.

    Parameters
    ----------
    elements : Elements
    shares : (n,) float
        s = γ/h of nodes; parts have that of their first node.
    past : Measures
        What strains were.
    start : (n, 3) m
        Where directions of bending are taken.
    """
    arrays = elements.arrays
    bending = np.empty(0)
    if len(arrays.bends.nodes) + len(arrays.hinges.nodes):
        own = (shares[kind.nodes[:, 0]] for kind in (arrays.bends, arrays.hinges))
        bending = np.empty(len(elements.indices))
        tables = arrays.pattern, arrays.bends, arrays.hinges
        _elements.fill_resistance(elements.count, start, *tables, *own, _SMALL, bending)
    firmer = arrays._replace(
        springs=_firmer(arrays.springs, shares, past.springs),
        membranes=_firmer(arrays.membranes, shares, past.membranes),
    )
    return Damped(firmer, bending, elements.stiffest * (1.0 + float(shares.max())))


def _firmer(table: Table, shares: Floats, past: Floats) -> Table:
    share = shares[table.nodes[:, 0]][:, None]
    rest, stiffness = (table.rest + share * past) / (1.0 + share), table.stiffness * (1.0 + share)
    # Read-only as those of `Elements`: kernels are compiled for one kind of arrays.
    return table._replace(rest=_check.frozen(rest), stiffness=_check.frozen(stiffness))
