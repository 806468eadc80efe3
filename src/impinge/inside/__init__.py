"""Which points are inside a solid, and how far from its surface."""

from impinge.inside.closest import ClosestTree
from impinge.inside.direct import Direct
from impinge.inside.octree import Octree
from impinge.inside.solid import Closest, Solid, contains

__all__ = ["Closest", "ClosestTree", "Direct", "Octree", "Solid", "contains"]
