"""The double-layer potential by a fast multipole method."""

from impinge.inside.multipole.method import MODES, Multipole, Operations

__all__ = ["MODES", "Multipole", "Operations"]
